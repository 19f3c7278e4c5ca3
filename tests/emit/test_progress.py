"""Long searches say what they try, how many tries there are at most, the best so far; and the bar never goes back."""

from __future__ import annotations

import io
import re
from fractions import Fraction

import pytest
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import parse, task_of
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.problem import Problem
from compactproofs.core.proof import Proof
from compactproofs.core.question import question_of
from compactproofs.emit import towards
from compactproofs.emit.bar import Left, Tick, drawn
from compactproofs.emit.certificate import enforce
from compactproofs.emit.goals import wish
from compactproofs.emit.parts import prove_parts
from compactproofs.emit.towards import prove_towards
from made import MODEL, SMALL
from rich.console import Console
from rich.progress import Task, TaskID

FEW, FIVE = "accuracy of max of 3 tokens", "accuracy of max of 5 tokens"


class Watch:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.shares: list[float] = []
        self.notes: list[str] = []

    def __call__(self, done: int, total: int) -> None:
        self.shares.append(done / total)

    def note(self, text: str) -> None:
        self.notes.append(text)


def problem(text: str = SMALL) -> Problem:
    claim, model = parse(text), load(MODEL)
    return Problem(model, task_of(claim, model), claim.threshold or (0, 0))


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lengths of proofs without a process each, and two sub-cubic strategies."""
    monkeypatch.setattr(towards, "operations_of", lambda problem, proof: len(proof.steps) * 1000 + proof.lower)
    monkeypatch.setattr(towards, "SUBCUBIC", (44, 2))


@pytest.mark.parametrize(("text", "least", "budget"), [(SMALL, "30%", None), (FIVE, None, 300_000)])
def test_tries_are_numbered_and_the_bar_never_goes_back(text: str, least: str | None, budget: int | None) -> None:
    watch = Watch()
    prove_towards("auto", problem(text), wish(None, least, budget, keep_best=False), watch)
    assert watch.shares == sorted(watch.shares) and watch.shares[0] == 0 < watch.shares[-1] <= 1
    numbers = [int(re.match(r"try (\d+) of at most [67], ", text)[1]) for text in watch.notes]  # type: ignore[index]
    assert numbers == sorted(numbers) and set(numbers) <= set(range(1, 8)) and len(set(numbers)) > 4
    assert budget or any(re.search(r"margin-convolution: .*\d % to \d.* %$", text) for text in watch.notes)
    assert re.search(r"; best so far [0-9.]+ % in \d+ operations$", watch.notes[-1])


def test_a_mean_loss_counts_its_thresholds() -> None:
    watch = Watch()
    model = load(MODEL)
    question = question_of(parse("E[log-loss] of max of 3 tokens"), model)
    prove_parts(question, "margin-tree", None, 1, watch)
    assert watch.shares == sorted(watch.shares)
    told = [
        m for text in watch.notes if (m := re.match(r"threshold (\d+) of at most (\d+) \((.*)\), margins above", text))
    ]
    most = [int(m[2]) for m in told]
    assert most == sorted(most, reverse=True)  # what is left is an upper bound that shrinks
    assert all(int(m[1]) <= int(m[2]) for m in told)
    assert re.fullmatch(r"mean log-loss [0-9.]+ to [0-9.]+", told[-1][3])
    uppers = [float(m[3].split()[-1]) for m in told]
    assert uppers == sorted(uppers, reverse=True) and len(set(uppers)) > 3


def test_parts_of_a_mixture_are_numbered() -> None:
    watch = Watch()
    question = question_of(parse("accuracy of max of 3 tokens when 1/2 (uniform) + 1/2 (query in {1})"), load(MODEL))
    prove_parts(question, "auto", None, 1, watch)
    assert watch.shares == sorted(watch.shares)
    assert {text.split(" of the")[0] for text in watch.notes} == {"part 1 of 2", "part 2 of 2"}


def test_ctrl_c_between_tries_keeps_the_best() -> None:
    calls = 0

    class Pressed(Watch):
        def note(self, text: str) -> None:
            if text.startswith("try 3"):
                raise KeyboardInterrupt

    for keep in (True, False):
        wanted = wish(None, "1%", None, keep_best=keep)
        if keep:
            assert prove_towards("auto", problem(), wanted, Pressed()).lower > 0
        else:
            with pytest.raises(KeyboardInterrupt):
                prove_towards("auto", problem(), wanted, Pressed())

    def stopped() -> bool:
        nonlocal calls
        calls += 1
        return True

    prove_towards("auto", problem(), wish(None, "1%", None, keep_best=True), Watch(), stopped)
    assert calls == 1


def test_a_goal_that_is_missed_says_what_to_do() -> None:
    with pytest.raises(CompactProofsError) as caught:
        prove_towards("auto", problem(FIVE), wish(None, "99.99%", None, keep_best=False), Watch())
    words = (
        r"a lower bound of 99.99 % was not reached; the best found is (\d+\.\d{6} %), and no proof can reach it: at "
    )
    found = re.match(rf"{words}most (\d+\.\d+ %) are right; add --keep-best", caught.value.text)
    assert found is not None and found[1] == found[2]
    with pytest.raises(CompactProofsError) as caught:
        prove_towards("auto", problem(FIVE), wish(None, None, 7, keep_best=False), Watch())
    least = re.search(
        r"no proof within 7 operations .* takes (\d+) and proves .* write it with --budget (\d+),", str(caught.value)
    )
    assert least is not None and least[1] == least[2]
    assert prove_towards("auto", problem(FIVE), wish(None, None, int(least[1]), keep_best=False), Watch())
    for words_, advice in (((None, "100%", None), "--keep-best to write that"), ((None, None, 7), "allow more")):
        with pytest.raises(CompactProofsError, match=advice):
            prove_towards("margin-convolution", problem(FIVE), wish(*words_, keep_best=False), Watch())


@pytest.mark.parametrize(
    ("lower", "upper", "words"),
    [
        (
            50,
            100,
            "asks for at least 99.5 %, this proof by cubic reaches 61.728395 %.* Try another --strategy, ask for",
        ),
        (50, 60, "No proof can do it: at most 74.074075 % are right; ask for less, or leave out the bound"),
        (50, 50, "No proof can do it: at most 61.728395 % are right"),
    ],
)
def test_a_claim_that_is_not_reached_says_what_to_do(lower: int, upper: int, words: str) -> None:
    asked = problem(FEW)
    assert asked.task.total == 81
    with pytest.raises(CompactProofsError, match=words):
        enforce(Fraction("0.995"), asked, Proof("cubic", (), lower, min(upper, 81), 0))


def test_the_bar_has_words_above_it_and_its_clock_runs_until_the_end() -> None:
    screen = io.StringIO()
    with drawn(Console(file=screen, force_terminal=True, width=80)) as bar:
        tick = Tick(bar, "proving")
        tick.note("try 1 of at most 3, " + "a long description " * 3)
        tick(5, 5)
        assert not bar.finished
        bar.refresh()
    lines = screen.getvalue().splitlines()
    assert any(line.rstrip().endswith("left") and "so far" in line and "try" not in line for line in lines)
    assert any("try 1 of at most 3" in line for line in lines)


@pytest.mark.parametrize(
    ("done", "total", "words"), [(1, 4, "about 0:00:30 left"), (0, 4, "about ? left"), (0, None, "")]
)
def test_the_time_that_is_left_is_at_the_pace_so_far(done: int, total: int | None, words: str) -> None:
    task = Task(TaskID(0), "", total, done, _get_time=lambda: 10.0)
    task.start_time = 0.0
    assert Left().render(task).plain == words
