"""The trainer on tiny models: determinism, draws, loss, and the file."""

from __future__ import annotations

import importlib
import importlib.util
import math
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from compactproofs.core import train
from compactproofs.core.checkpoint import load
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.seeds import derive
from compactproofs.core.train import TrainConfig, Trained

needs_torch = pytest.mark.skipif(
    importlib.util.find_spec("torch") is None,
    reason='PyTorch is missing (pip install "compactproofs[train]")',
)
TINY = TrainConfig(length=3, vocabulary=5, width=4, steps=7, seed=123)
MODELS = Path(__file__).parents[2] / "models"


@pytest.fixture
def torch() -> ModuleType:
    module: ModuleType = pytest.importorskip("torch")
    return module


def untrained(config: TrainConfig = TINY) -> Trained:
    """A model that no step has touched, so that the file's tests need no torch."""
    generator = np.random.default_rng(1)
    v, d = config.vocabulary, config.width
    shapes = {
        train.W_E: (v, d), train.W_POS: (config.length, d), train.W_U: (d, v),
        train.W_Q: (1, d, d), train.W_K: (1, d, d), train.W_V: (1, d, d), train.W_O: (1, d, d),
    }  # fmt: skip
    weights = {name: generator.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    weights |= {
        "blocks.0.attn.b_Q": np.zeros((1, d), np.float32),
        "blocks.0.attn.b_K": np.zeros((1, d), np.float32),
        "blocks.0.attn.b_V": np.zeros((1, d), np.float32),
        "blocks.0.attn.b_O": np.zeros(d, np.float32),
        "unembed.b_U": np.zeros(v, np.float32),
    }
    return Trained(config, weights, (1.5,) * 7, (0.25,) * 7, "none")


@needs_torch
def test_same_configuration_gives_the_same_bytes(tmp_path: Path) -> None:
    runs = [train.train_model(TINY) for _ in range(2)]
    for number, run in enumerate(runs):
        train.write_model(run, tmp_path / str(number))
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()
    assert runs[0].losses == runs[1].losses


@needs_torch
def test_another_seed_gives_another_model() -> None:
    other = train.train_model(TrainConfig(3, 5, 4, 7, seed=519))
    assert not np.array_equal(train.train_model(TINY).weights[train.W_E], other.weights[train.W_E])


@needs_torch
def test_training_ignores_and_keeps_global_state(torch: ModuleType) -> None:
    expected = train.train_model(TINY).losses
    torch.manual_seed(99)
    state, threads = torch.get_rng_state(), torch.get_num_threads()
    assert train.train_model(TINY).losses == expected
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    assert not torch.are_deterministic_algorithms_enabled()


@needs_torch
def test_initial_draws_follow_the_published_order(torch: ModuleType) -> None:
    config, seed = TrainConfig(), derive(123).model
    found = train._initial_weights(torch, config, seed)
    torch.manual_seed(seed)
    for name in (train.W_E, train.W_POS, train.W_Q, train.W_O, train.W_K, train.W_V, train.W_U):
        drawn = torch.empty(found[name].shape)
        torch.nn.init.normal_(drawn, std=0.8 / math.sqrt(32))
        assert torch.equal(drawn, found[name]), name


@needs_torch
def test_a_batch_drawn_at_once_is_the_stream_drawn_one_by_one(torch: ModuleType) -> None:
    one, many = (torch.Generator().manual_seed(derive(123).train) for _ in range(2))
    batches = torch.cat([torch.randint(0, 63, (128, 3), generator=many) for _ in range(2)])
    singles = torch.stack([torch.randint(0, 63, (3,), generator=one) for _ in range(256)])
    assert torch.equal(batches, singles)


@needs_torch
def test_logits_are_those_of_the_formula(torch: ModuleType) -> None:
    weights = untrained().weights
    tokens = np.array([[0, 4, 2], [3, 3, 1]])
    found = train._last_logits({n: torch.tensor(w) for n, w in weights.items()}, torch.tensor(tokens)).numpy()
    e, p, u = (weights[name].astype(float) for name in (train.W_E, train.W_POS, train.W_U))
    q, k, v, o = (weights[name][0].astype(float) for name in (train.W_Q, train.W_K, train.W_V, train.W_O))
    for row, sequence in enumerate(tokens):
        x = e[sequence] + p
        scores = np.exp((x[-1] @ q) @ (x @ k).T / 2)
        expected = x[-1] @ u + (scores / scores.sum()) @ x @ v @ o @ u
        np.testing.assert_allclose(found[row], expected, rtol=1e-4, atol=1e-4)


@needs_torch
def test_loss_is_accurate_where_the_probability_rounds_to_one(torch: ModuleType) -> None:
    logits = torch.tensor([[0.0, 40.0, -3.0]])
    loss = train._cross_entropy(logits, torch.tensor([1]))
    assert float(loss) == pytest.approx(math.exp(-40) + math.exp(-43), rel=1e-6)


@needs_torch
def test_loss_and_gradient_agree_with_the_library_in_float64(torch: ModuleType) -> None:
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn((9, 5), generator=generator, dtype=torch.float64).requires_grad_()
    target = torch.arange(9) % 5
    (ours,) = torch.autograd.grad(train._cross_entropy(logits, target), logits)
    library = torch.nn.functional.cross_entropy(logits, target)
    (theirs,) = torch.autograd.grad(library, logits)
    assert torch.allclose(train._cross_entropy(logits, target), library)
    assert torch.allclose(ours, theirs)


@needs_torch
def test_training_learns_the_maximum() -> None:
    run = train.train_model(TrainConfig(length=2, vocabulary=4, width=8, steps=400))
    assert run.accuracy > 0.95
    assert run.loss < run.losses[0] / 4


@needs_torch
def test_progress_sees_every_step() -> None:
    seen: list[tuple[int, float]] = []
    run = train.train_model(TINY, lambda step, loss: seen.append((step, loss)))
    assert seen == list(enumerate(run.losses, start=1))


@needs_torch
def test_a_loss_that_is_not_finite_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(train, "_step", lambda *_: (math.nan, 0.0))
    with pytest.raises(CompactProofsError, match=r"seed 123: TRAIN_DIVERGED: the loss is nan at step 1"):
        train.train_model(TINY)


def test_missing_torch_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> ModuleType:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib, "import_module", absent)
    with pytest.raises(CompactProofsError, match=r"TRAIN_TORCH: .*pip install"):
        train.train_model(TINY)


@pytest.mark.parametrize(
    ("field", "value"),
    [("length", 0), ("vocabulary", 1), ("width", 0), ("steps", 0), ("seed", -1), ("threads", 0)],
)
def test_a_value_out_of_range_is_named(field: str, value: int) -> None:
    with pytest.raises(CompactProofsError, match=rf"{field}: TRAIN_SETTING: is {value}, must be at least"):
        TrainConfig(**{field: value})


def test_a_model_too_large_is_refused() -> None:
    with pytest.raises(CompactProofsError, match=r"TRAIN_SETTING: .*vocabulary 1000000"):
        TrainConfig(vocabulary=1_000_000)


def test_number_of_weights_of_the_main_model() -> None:
    assert TrainConfig().weights == 8320


def test_file_reads_back_in_this_program_and_in_the_library(tmp_path: Path) -> None:
    safetensors = pytest.importorskip("safetensors.numpy")
    run, path = untrained(), tmp_path / "model.safetensors"
    train.write_model(run, path)
    library = safetensors.load_file(path)
    assert library.keys() == run.weights.keys()
    assert all(np.array_equal(library[name], run.weights[name]) for name in library)
    notes = load(path).metadata
    assert notes == train.metadata(run)
    assert (notes["length"], notes["vocabulary"], notes["width"], notes["steps"]) == ("3", "5", "4", "7")
    assert (notes["seed"], notes["model_seed"], notes["train_loss_last_100"]) == ("123", "613947648", "1.5")


def test_an_existing_file_is_replaced_only_on_demand(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"precious")
    with pytest.raises(CompactProofsError, match=r"model\.safetensors: FILE_EXISTS"):
        train.write_model(untrained(), path)
    assert path.read_bytes() == b"precious"
    train.write_model(untrained(), path, overwrite=True)
    assert train.difference(path, TINY) is None
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.safetensors"]


def test_difference_names_the_first_setting_that_differs(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    train.write_model(untrained(), path)
    assert train.difference(path, TINY) is None
    assert train.difference(path, TrainConfig(3, 5, 4, 7, seed=123, threads=2)) is None
    assert train.difference(path, TrainConfig(3, 5, 4, 8, seed=123)) == "its steps is '7', not '8'"


def test_file_names() -> None:
    assert train.file_name(TrainConfig()) == "max_of_4_v64_seed123.safetensors"
    assert train.file_name(TrainConfig(10, 128, seed=5)) == "max_of_10_v128_seed5.safetensors"
    assert train.file_name(TINY) == "max_of_3_v5_d4_steps7_seed123.safetensors"


@pytest.mark.parametrize("path", sorted(MODELS.glob("*.safetensors")), ids=lambda path: path.stem)
def test_shipped_model_is_what_its_name_says(path: Path) -> None:
    notes = load(path).metadata
    config = TrainConfig(
        length=int(notes["length"]), vocabulary=int(notes["vocabulary"]), width=int(notes["width"]),
        steps=int(notes["steps"]), seed=int(notes["seed"]),
    )  # fmt: skip
    assert train.file_name(config) == path.name
    assert train.difference(path, config) is None
