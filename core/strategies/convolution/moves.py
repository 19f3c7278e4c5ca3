"""Ways to refine one maximum: other items in place of one, or certain failures of one more output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...exact import Floats
from ...problem import Problem
from .block import Block, Draft, Found
from .terms import Indices, View, harmless

COARSE, MIDDLE, FINE, FINEST = 1 / 4, 1 / 32, 1 / 64, 1 / 1024
SAMPLES = 3000


@dataclass(frozen=True, slots=True)
class Move:
    """Items to leave out, and drafts to evaluate."""

    gone: tuple[int, ...]
    drafts: tuple[Draft, ...]


@dataclass(frozen=True, slots=True)
class Samples:
    """A guide for the search: among sampled inputs of one maximum, how often each output wins, and the share wrong."""

    wins: npt.NDArray[np.int64]
    wrong: float


def sample(problem: Problem, view: View) -> Samples:
    """Random inputs that hold the maximum."""
    m, floats, task = view.m, problem.floats, problem.task
    generator = np.random.default_rng(m)
    tokens = generator.integers(0, m + 1, (SAMPLES, task.length))
    place = generator.integers(0, task.length, SAMPLES)
    rows = np.arange(SAMPLES)
    tokens[rows, place] = np.where((tokens == m).any(axis=1), tokens[rows, place], m)
    query = tokens[:, -1] if task.eos is None else np.zeros(SAMPLES, dtype=np.int64)
    spoken = tokens if task.eos is None else np.column_stack([tokens, np.full(SAMPLES, task.tokens)])
    score = np.take_along_axis(floats.token[query], spoken, axis=1)
    weights = np.exp(score - score.max(axis=1, keepdims=True)) * floats.position[query]
    weights /= weights.sum(axis=1, keepdims=True)
    logits = floats.direct[query] + weights @ floats.positions
    for i in range(spoken.shape[1]):
        logits += weights[:, i, None] * floats.values[spoken[:, i]]
    wins = logits + floats.shift >= logits[:, m : m + 1]
    wins[:, m] = False
    return Samples(wins.sum(axis=0), float(wins.any(axis=1).mean()))


def rank(block: Block, queries: Indices, outputs: tuple[int, ...]) -> tuple[int, ...]:
    """Outputs by a Chernoff bound of their own count, the most dangerous first."""
    view, ends, chosen = block.view, block.view.ends_of(queries), np.array(outputs)
    base = view.direct[queries][:, chosen].max(axis=0) + view.positions[:, chosen].mean(axis=0)
    value = view.values[:, chosen] + base
    term = np.where(value >= 0, ends.token_high[:, None], ends.token_low[:, None]) * value / block.scale
    best: Floats = np.full(len(chosen), np.inf)
    for rate in (0.03, 0.3, 1.0, 4.0):
        x = rate * term
        top = x.max(axis=0)
        e = np.exp(x - top)
        rest, all_ = e[:-1].sum(axis=0), e.sum(axis=0)
        with_m = np.log1p(-np.minimum((rest / all_) ** max(view.free, 1), 1 - 1e-16))
        best = np.minimum(best, view.free * (top + np.log(all_ / (view.m + 1))) + with_m)
    return tuple(int(o) for o in chosen[np.argsort(-best, kind="stable")])


def split_screen(block: Block, queries: Indices, outputs: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Outputs that no query can lose to, and the others in the given order."""
    off = harmless(block.view, queries, np.array(outputs))
    screened = tuple(o for o, flag in zip(outputs, off, strict=True) if flag)
    return screened, tuple(o for o, flag in zip(outputs, off, strict=True) if not flag)


def query_parts(block: Block, queries: Indices, parts: int) -> list[Indices]:
    """Queries cut by the token whose weight ratio varies most among those that count."""
    ratio = block.view.ratio[queries]
    spread = np.abs(ratio).mean(axis=0) * np.exp(np.clip(ratio, -3, 3)).mean(axis=0)
    order = np.argsort(ratio[:, int(spread.argmax())], kind="stable")
    return [np.sort(part) for part in np.array_split(queries[order], parts) if len(part)]


def output_parts(outputs: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """The leading outputs one by one and the rest in chunks; all one by one if they are few."""
    chunks = [outputs[i : i + 16] for i in range(8, len(outputs), 16)]
    yield [*((o,) for o in outputs[:8]), *chunks]
    if len(outputs) <= 40:
        yield [(o,) for o in outputs]


def opening(block: Block) -> Iterator[Move]:
    """First items of a maximum: all outputs covered for all queries."""
    queries = np.arange(block.view.queries)
    outputs = tuple(o for o in range(block.view.values.shape[1]) if o != block.view.m)
    if not outputs:
        return
    ranked = rank(block, queries, outputs)
    screened, rest = split_screen(block, queries, ranked)
    if screened:
        base = (Draft("screen", queries, screened),)
        if not rest:
            yield Move((), base)
            return
        for step in (COARSE, MIDDLE):
            yield Move((), (*base, Draft("upper", queries, rest, step)))
            for parts in output_parts(rest) if len(rest) > 1 else ():
                yield Move((), (*base, *(Draft("upper", queries, part, step) for part in parts)))
    for step in (1.0, COARSE, MIDDLE):
        for cut in (0, 1, 3, 8):
            if cut < len(ranked):
                alone = (Draft("upper", queries, (o,), step) for o in ranked[:cut])
                yield Move((), (*alone, Draft("upper", queries, ranked[cut:], step)))


def refinements(block: Block, found: Found) -> Iterator[Move]:
    """Finer items in place of one."""
    draft, gone = found.draft, (found.number,)
    queries, outputs, step, kind = draft.queries, draft.outputs, draft.step, draft.kind
    if kind == "screen":
        return
    if step > FINEST:
        yield Move(gone, (Draft(kind, queries, outputs, step / 2),))
    if kind != "upper":
        if len(queries) > 1:
            yield Move(gone, tuple(Draft(kind, part, outputs, step) for part in query_parts(block, queries, 2)))
        return
    if step > 1 / 128:
        yield Move(gone, (Draft(kind, queries, outputs, step / 8),))
    if len(outputs) > 1:
        yield from _by_outputs(block, draft, gone)
    if len(queries) > 1:
        yield from _by_queries(block, draft, gone)


def _by_outputs(block: Block, draft: Draft, gone: tuple[int, ...]) -> Iterator[Move]:
    queries, step = draft.queries, draft.step
    ranked = rank(block, queries, draft.outputs)
    for cut in sorted({1, max(1, len(ranked) // 4)}):
        yield Move(gone, (Draft("upper", queries, ranked[:cut], step), Draft("upper", queries, ranked[cut:], step)))
    screened, rest = split_screen(block, queries, ranked)
    base = (Draft("screen", queries, screened),) if screened else ()
    if screened:
        yield Move(gone, (*base, *((Draft("upper", queries, rest, step),) if rest else ())))
    if len(rest) > 4:
        for parts in output_parts(rest):
            for finer in sorted({step, min(step, MIDDLE)}):
                yield Move(gone, (*base, *(Draft("upper", queries, part, finer) for part in parts)))
    if len(ranked) > 4:
        alone = (Draft("upper", queries, (o,), step) for o in ranked[:3])
        yield Move(gone, (*alone, Draft("upper", queries, ranked[3:], step)))


def _by_queries(block: Block, draft: Draft, gone: tuple[int, ...]) -> Iterator[Move]:
    queries, outputs, step = draft.queries, draft.outputs, draft.step
    if len(queries) >= 12:
        yield Move(gone, tuple(Draft("upper", part, outputs, step) for part in query_parts(block, queries, 6)))
    order = np.argsort(block.view.direct[queries, outputs[0]], kind="stable")
    halves = [np.sort(part) for part in np.array_split(queries[order], 2)]
    for parts in (query_parts(block, queries, 2), halves):
        yield Move(gone, tuple(Draft("upper", part, outputs, step) for part in parts))


def deep(block: Block, found: Found | None) -> Iterator[Move]:
    """Many steps at once, for maxima where single steps show no gain: query parts, each screened, the rest singly."""
    queries, gone, step = np.arange(block.view.queries), tuple[int, ...](), FINE
    outputs = tuple(o for o in range(block.view.values.shape[1]) if o != block.view.m)
    if found is not None:
        queries, outputs, step = found.draft.queries, found.draft.outputs, min(found.draft.step, FINE)
        gone = (found.number,)
    for parts in (4, 12):
        if len(queries) >= 2 * parts:
            drafts: list[Draft] = []
            for part in query_parts(block, queries, parts):
                screened, rest = split_screen(block, part, outputs)
                if screened:
                    drafts.append(Draft("screen", part, screened))
                ranked = rank(block, part, rest) if rest else ()
                groups = [*((o,) for o in ranked[:24]), *(ranked[i : i + 8] for i in range(24, len(ranked), 8))]
                drafts.extend(Draft("upper", part, group, step) for group in groups)
            yield Move(gone, tuple(drafts))


def certain(block: Block, samples: Samples) -> Iterator[Move]:
    """Certain failures of one more output; from the second on, also what it shares with those before."""
    used = list(dict.fromkeys(each.draft.outputs[0] for each in block.of("lower")))
    order = (int(o) for o in np.argsort(-samples.wins, kind="stable") if samples.wins[o] > 0)
    for output in [o for o in order if o not in used][:3]:
        for parts in (1, 4, 12):
            if parts <= block.view.queries:
                step = MIDDLE if parts < 12 else FINE
                cut = query_parts(block, np.arange(block.view.queries), parts)
                alone = tuple(Draft("lower", part, (output,), step) for part in cut)
                yield Move((), alone)
                if used:
                    shared = (Draft("both", part, (other, output), step) for other in used[:3] for part in cut)
                    yield Move((), (*alone, *shared))
