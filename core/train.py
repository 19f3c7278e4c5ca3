"""Training of the paper's one-layer attention-only Max-of-k models, and the file they are kept in.

A bare re-implementation in PyTorch of the published configuration (one head, no layer norm, no MLP, no
effective biases, AdamW, 3000 steps of 128 uniform sequences). PyTorch is an optional extra and imported
only while training; reading a finished file's configuration needs the standard library only.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .arrays import from_arrays
from .checkpoint import load, save_safetensors
from .errors import CompactProofsError, shown
from .extras import installing
from .model import Model
from .seeds import derive

Tensor: TypeAlias = Any
"""torch.Tensor. Named `Any` because the types must also check where the optional torch is absent."""

Weights: TypeAlias = Mapping[str, NDArray[np.float32]]
Progress: TypeAlias = Callable[[int, float], None]
"""Called after every step with the number of finished steps and that step's loss (nats per sequence)."""

BATCH: Final = 128
SUMMARY_STEPS: Final = 100
LEARNING_RATE: Final = 1e-3
BETAS: Final = (0.9, 0.999)
EPSILON: Final = 1e-8
WEIGHT_DECAY: Final = 0.01
MAX_WEIGHTS: Final = 1_000_000
"""Largest model that is trained: some 3 GB of working memory; the published ones have about 10,000."""

W_E: Final = "embed.W_E"
W_POS: Final = "pos_embed.W_pos"
W_Q: Final = "blocks.0.attn.W_Q"
W_K: Final = "blocks.0.attn.W_K"
W_V: Final = "blocks.0.attn.W_V"
W_O: Final = "blocks.0.attn.W_O"
W_U: Final = "unembed.W_U"


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One training run. `width` is the residual and the head width; `length` counts the query position."""

    length: int = 4
    vocabulary: int = 64
    width: int = 32
    steps: int = 3000
    seed: int = 123
    threads: int = 1

    def __post_init__(self) -> None:
        """Raise TRAIN_SETTING for a value outside its range or a model above MAX_WEIGHTS."""
        settings = (
            ("length", self.length, 1),
            ("vocabulary", self.vocabulary, 2),
            ("width", self.width, 1),
            ("steps", self.steps, 1),
            ("seed", self.seed, 0),
            ("threads", self.threads, 1),
        )
        for name, value, least in settings:
            if value < least:
                raise CompactProofsError("TRAIN_SETTING", f"is {value}, must be at least {least}", place=name)
        if self.weights > MAX_WEIGHTS:
            text = (
                f"length {self.length}, vocabulary {self.vocabulary} and width {self.width} make "
                f"{self.weights} weights, at most {MAX_WEIGHTS} are trained; choose smaller ones"
            )
            raise CompactProofsError("TRAIN_SETTING", text)

    @property
    def weights(self) -> int:
        """Number of trained real parameters."""
        return (2 * self.vocabulary + self.length) * self.width + 4 * self.width**2


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished run: float32 weights under TransformerLens names, mean loss and accuracy of each step."""

    config: TrainConfig
    weights: Weights
    losses: tuple[float, ...]
    accuracies: tuple[float, ...]
    torch_version: str

    @property
    def loss(self) -> float:
        """Mean training loss of the last SUMMARY_STEPS steps, in nats per sequence."""
        return math.fsum(self.losses[-SUMMARY_STEPS:]) / len(self.losses[-SUMMARY_STEPS:])

    @property
    def accuracy(self) -> float:
        """Mean training accuracy (largest logit is the right token's) of the last SUMMARY_STEPS steps."""
        return math.fsum(self.accuracies[-SUMMARY_STEPS:]) / len(self.accuracies[-SUMMARY_STEPS:])


def train_model(config: TrainConfig, progress: Progress | None = None) -> Trained:
    """Train one model on the CPU.

    The same configuration gives the same bytes on one kind of processor and one torch version. Raises
    TRAIN_TORCH if torch is missing and TRAIN_DIVERGED if the loss stops being finite. Global torch
    settings are restored.
    """
    torch = _torch()
    seeds = derive(config.seed)
    losses: list[float] = []
    accuracies: list[float] = []
    with _cpu_settings(torch, config.threads):
        weights = _initial_weights(torch, config, seeds.model)
        # The fused and foreach variants round differently; the published runs used the plain loop.
        optimiser = torch.optim.AdamW(
            list(weights.values()), lr=LEARNING_RATE, betas=BETAS, eps=EPSILON, weight_decay=WEIGHT_DECAY,
            foreach=False, fused=False,
        )  # fmt: skip
        stream = torch.Generator(device="cpu").manual_seed(seeds.train)
        for step in range(1, config.steps + 1):
            loss, accuracy = _step(torch, config, weights, optimiser, stream)
            if not math.isfinite(loss):
                text = f"the loss is {loss} at step {step}; nothing is kept, choose another seed or shape"
                raise CompactProofsError("TRAIN_DIVERGED", text, place=f"seed {config.seed}")
            losses.append(loss)
            accuracies.append(accuracy)
            if progress is not None:
                progress(step, loss)
    arrays = {name: np.asarray(tensor.detach().numpy(), dtype=np.float32) for name, tensor in weights.items()}
    version = str(torch.__version__)
    return Trained(config, arrays | _zero_biases(config), tuple(losses), tuple(accuracies), version)


def metadata(trained: Trained) -> dict[str, str]:
    """What a model file says about its training; every value is a string, as safetensors demands."""
    seeds = derive(trained.config.seed)
    return _identity(trained.config) | {
        "model_seed": str(seeds.model),
        "dataset_seed": str(seeds.dataset),
        "train_seed": str(seeds.train),
        "test_seed": str(seeds.test),
        "threads": str(trained.config.threads),
        "torch": trained.torch_version,
        "train_accuracy_last_100": repr(trained.accuracy),
        "train_loss_last_100": repr(trained.loss),
    }


def write_model(trained: Trained, path: Path, *, overwrite: bool = False) -> None:
    """Write weights and metadata as safetensors; the file appears whole or not at all.

    Raises as checkpoint.save_safetensors does: FILE_EXISTS without `overwrite`, FILE_WRITE.
    """
    model = from_arrays(trained.weights, source=str(path), metadata=metadata(trained))
    save_safetensors(model, path, overwrite=overwrite)


def difference(path: Path, config: TrainConfig) -> str | None:
    """Why the file does not hold the model of `config`, or None if it does.

    Thread count and torch version are not compared: they change the last bits, not which model is meant.
    Raises as checkpoint.load does.
    """
    found = load(path).metadata
    for key, wanted in _identity(config).items():
        if key not in found:
            return f"its metadata has no {key}"
        if found[key] != wanted:
            return f"its {key} is {shown(found[key])}, not {wanted!r}"
    return None


def file_name(config: TrainConfig) -> str:
    """Name of the model's file; width and steps appear only where they are not the published ones."""
    default = TrainConfig()
    width = "" if config.width == default.width else f"_d{config.width}"
    steps = "" if config.steps == default.steps else f"_steps{config.steps}"
    return f"max_of_{config.length}_v{config.vocabulary}{width}{steps}_seed{config.seed}.safetensors"


def _identity(config: TrainConfig) -> dict[str, str]:
    """The part of the metadata that says which model is meant."""
    betas = f"{BETAS[0]},{BETAS[1]}"
    return {
        "task": "max",
        "length": str(config.length),
        "vocabulary": str(config.vocabulary),
        "width": str(config.width),
        "steps": str(config.steps),
        "batch": str(BATCH),
        "optimiser": f"AdamW lr={LEARNING_RATE} betas={betas} eps={EPSILON} weight_decay={WEIGHT_DECAY}",
        "seed": str(config.seed),
    }


def blank_model(config: TrainConfig) -> Model:
    """A model of the sizes that training would give, all weights zero."""
    shapes = _matrix_shapes(config)
    return from_arrays({name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()})


def require_torch() -> None:
    """Raise TRAIN_TORCH if torch is missing, without the seconds that an import takes."""
    if find_spec("torch") is None:
        raise _no_torch()


def _torch() -> ModuleType:
    """Import torch, or raise TRAIN_TORCH saying how to install it."""
    try:
        return importlib.import_module("torch")
    except ImportError:
        raise _no_torch() from None


def _no_torch() -> CompactProofsError:
    text = f"training needs PyTorch, which is not installed; run: {installing('train')}"
    return CompactProofsError("TRAIN_TORCH", text)


@contextmanager
def _cpu_settings(torch: ModuleType, threads: int) -> Iterator[None]:
    """Fix the thread count and the deterministic kernels, and restore both afterwards."""
    old_threads = torch.get_num_threads()
    old_deterministic = torch.are_deterministic_algorithms_enabled()
    try:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True)
        yield
    finally:
        torch.set_num_threads(old_threads)
        torch.use_deterministic_algorithms(old_deterministic)


def _initial_weights(torch: ModuleType, config: TrainConfig, seed: int) -> dict[str, Tensor]:
    """Draw every matrix from N(0, (0.8/sqrt(width))**2), from one generator.

    The order of the draws is the order in which the published library registers its parameters (O before
    K and V); another order is another model.
    """
    generator = torch.Generator(device="cpu").manual_seed(seed)
    spread = 0.8 / math.sqrt(config.width)
    return {
        name: torch.empty(shape, dtype=torch.float32, device="cpu")
        .normal_(0.0, spread, generator=generator)
        .requires_grad_()
        for name, shape in _matrix_shapes(config).items()
    }


def _matrix_shapes(config: TrainConfig) -> dict[str, tuple[int, ...]]:
    """The matrices in the order in which the published library registers them."""
    v, d = config.vocabulary, config.width
    return {
        W_E: (v, d),
        W_POS: (config.length, d),
        W_Q: (1, d, d),
        W_O: (1, d, d),
        W_K: (1, d, d),
        W_V: (1, d, d),
        W_U: (d, v),
    }


def _zero_biases(config: TrainConfig) -> dict[str, NDArray[np.float32]]:
    """The biases that the architecture has and the published runs freeze at zero."""
    d = config.width
    shapes: dict[str, tuple[int, ...]] = {
        "blocks.0.attn.b_Q": (1, d),
        "blocks.0.attn.b_K": (1, d),
        "blocks.0.attn.b_V": (1, d),
        "blocks.0.attn.b_O": (d,),
        "unembed.b_U": (config.vocabulary,),
    }
    return {name: np.zeros(shape, dtype=np.float32) for name, shape in shapes.items()}


def _step(
    torch: ModuleType, config: TrainConfig, weights: Mapping[str, Tensor], optimiser: Any, stream: Any
) -> tuple[float, float]:
    """One optimiser step on the next BATCH sequences of the stream; returns its loss and accuracy."""
    # One draw of a whole batch takes the same numbers from the generator as sequence after sequence.
    tokens = torch.randint(0, config.vocabulary, (BATCH, config.length), generator=stream, device="cpu")
    target = tokens.amax(dim=-1)
    logits = _last_logits(weights, tokens)
    loss = _cross_entropy(logits, target)
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    hits = int((logits.argmax(dim=-1) == target).sum())
    return float(loss.detach()), hits / BATCH


def _last_logits(weights: Mapping[str, Tensor], tokens: Tensor) -> Tensor:
    """Logits at the query position: tokens [batch, length] -> [batch, vocabulary].

    y = x_q U + (sum_i w_i x_i) V O U  with  w = softmax_i((x_q Q) . (x_i K) / sqrt(width)). Only the last
    row of attention is computed. Products are taken in the order of the published model (keys and values
    per position first): a cheaper order is the same function, but its rounding leads to other weights.
    """
    residual = weights[W_E][tokens] + weights[W_POS]
    last = residual[:, -1]
    query = (last @ weights[W_Q][0]).unsqueeze(-1)
    scores = (residual @ weights[W_K][0] @ query).squeeze(-1) / math.sqrt(last.shape[-1])
    pattern = scores.softmax(dim=-1).unsqueeze(1)
    attended = (pattern @ (residual @ weights[W_V][0])).squeeze(1)
    return (last + attended @ weights[W_O][0]) @ weights[W_U]


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Mean of -log softmax(logits)[target], accurate where the probability is close to 1.

    The largest logit's own exponential is 1 exactly and enters through log1p, so a loss far below the
    spacing of float32 numbers near 1 keeps its digits. The maximum must stay in the graph: without the
    excluded term the expression is not invariant under a shift, and detaching it would lose a gradient.
    """
    largest, index = logits.max(dim=-1, keepdim=True)
    shifted = logits - largest
    others = shifted.exp().scatter(-1, index, 0.0).sum(dim=-1, keepdim=True)
    return (others.log1p() - shifted.gather(-1, target.unsqueeze(-1))).mean()
