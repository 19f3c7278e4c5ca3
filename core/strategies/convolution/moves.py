"""Ways to refine one maximum: other items in place of one, or certain failures of one more output."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...exact import Floats
from ...problem import Problem
from .block import Block, Draft, Found
from .items import Rest
from .terms import Indices, View, harmless

COARSE, MIDDLE, FINE, FINEST = 1 / 4, 1 / 32, 1 / 64, 2.0**-20
FINER = (2, 8, 64)
SAMPLES = 2000
EVEN = 16  # a full share
SHARES = (4, 8, 16, 24)
MOST_REST = 3


Sort = tuple[str | float, ...]


@dataclass(frozen=True, slots=True)
class Move:
    """Items to leave out, and drafts to evaluate."""

    gone: tuple[int, ...]
    drafts: tuple[Draft, ...]

    def sort(self, found: Found | None) -> Sort:
        """What is changed, and at last how many items must be evaluated."""
        first, last, n = self.drafts[0], self.drafts[-1], len(self.drafts)
        if found is None:
            return last.kind, n
        old = found.draft
        outputs = min(len(old.outputs), 2)
        if last.outputs == old.outputs:
            leans = last.rest[-1][1] if len(last.rest) > len(old.rest) else 0
            return old.kind, outputs, old.step / last.step, leans, n
        return old.kind, outputs, first.kind, len(last.rest) > len(old.rest), min(n, 9)


@dataclass(frozen=True, slots=True)
class Samples:
    """A guide for the search: among sampled inputs of one maximum, how often each output wins, and the share wrong."""

    wins: npt.NDArray[np.int64]
    wrong: float


def sample(problem: Problem, view: View) -> Samples:
    """Random inputs that hold the maximum."""
    m, floats, task = view.m, problem.floats, problem.task
    generator, rows = np.random.default_rng(m), np.arange(SAMPLES)
    own = view.weight if view.weight.any() else np.ones(view.queries)
    columns = [generator.choice(m + 1, SAMPLES, p=share) for share in view.share]
    if task.eos is None:
        columns.append(generator.choice(m + 1, SAMPLES, p=own / own.sum()))
    tokens = np.column_stack(columns)
    place = generator.integers(0, task.length, SAMPLES)
    tokens[rows, place] = np.where((tokens == m).any(axis=1), tokens[rows, place], m)
    query = tokens[:, -1] if task.eos is None else np.zeros(SAMPLES, dtype=np.int64)
    spoken = tokens if task.eos is None else np.column_stack([tokens, np.full(SAMPLES, task.tokens)])
    with np.errstate(divide="ignore"):  # both factors of every weight may vanish, hardly their product
        score = np.take_along_axis(floats.token[query], spoken, axis=1) + np.log(floats.position[query])
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    spread = np.zeros((SAMPLES, len(floats.values)))
    np.add.at(spread, (rows[:, None], spoken), weights)
    logits = floats.direct[query] + weights @ floats.positions + spread @ floats.values
    wins = logits + floats.shift >= logits[:, m : m + 1]
    wins[:, m] = False
    return Samples(wins.sum(axis=0), float(wins.any(axis=1).mean()))


def rank(block: Block, queries: Indices, outputs: tuple[int, ...]) -> tuple[int, ...]:
    """Outputs by a Chernoff bound of their own count, the most dangerous first."""
    view, ends, chosen = block.view, block.view.ends_of(queries), np.sort(np.array(outputs))
    direct, _, values, positions = view.differences(queries, chosen)
    value = values + direct.max(axis=0) + positions.mean(axis=0)
    term = np.maximum(ends.token_high[:, None] * value, ends.token_low[:, None] * value) / block.scale
    best: Floats = np.full(len(chosen), np.inf)
    for rate in (0.03, 0.3, 1.0, 4.0):
        x = rate * term
        top = x.max(axis=0)
        e = np.exp(x - top)
        rest, all_ = e[:-1].sum(axis=0), e.sum(axis=0)
        with_m = np.log1p(-np.minimum((rest / all_) ** max(view.free, 1), 1 - 1e-16))
        best = np.minimum(best, view.free * (top + np.log(all_ / (view.m + 1))) + with_m)
    return tuple(int(o) for o in chosen[np.argsort(-best, kind="stable")])


def split_screen(
    block: Block, queries: Indices, outputs: tuple[int, ...], rest: Rest = ()
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Outputs that no query can lose to (unless it loses to the rest), and the others in the given order."""
    if not outputs:
        return (), ()
    chosen = np.sort(np.array(outputs))
    off = set(chosen[harmless(block.view, queries, chosen, rest)].tolist())
    return tuple(o for o in outputs if o in off), tuple(o for o in outputs if o not in off)


def query_parts(block: Block, queries: Indices, parts: int) -> list[Indices]:
    """Queries cut by the token whose weight ratio varies most among those that count."""
    ratio = block.view.ratio[queries]
    spread = np.abs(ratio).mean(axis=0) * np.exp(np.clip(ratio, -3, 3)).mean(axis=0)
    order = np.argsort(ratio[:, int(spread.argmax())], kind="stable")
    return [np.sort(part) for part in np.array_split(queries[order], parts) if len(part)]


def output_parts(outputs: tuple[int, ...]) -> Iterator[list[tuple[int, ...]]]:
    """The leading outputs one by one and the rest in chunks; all one by one if they are few."""
    size = max(16, len(outputs) // 8)
    chunks = [outputs[i : i + size] for i in range(8, len(outputs), size)]
    yield [*((o,) for o in outputs[:8]), *chunks]
    if len(outputs) <= 40:
        yield [(o,) for o in outputs]


def opening(block: Block) -> Iterator[Move]:
    """First items of a maximum: all outputs covered for all queries."""
    queries = np.arange(block.view.queries)
    outputs = block.view.others
    if not outputs:
        return
    for step in (COARSE, MIDDLE):
        yield Move((), (Draft("upper", queries, (), step),))
    yield from _covers(block, Draft("upper", queries, outputs), ())


def _covers(block: Block, draft: Draft, gone: tuple[int, ...]) -> Iterator[Move]:
    """All outputs of a draft together, or the leading ones apart, or the harmless ones screened off."""
    ranked = rank(block, draft.queries, draft.outputs)
    for step in (1.0, COARSE, MIDDLE):
        for cut in (0, 1, 3, 8):
            if cut < len(ranked):
                yield Move(gone, _apart(replace(draft, step=step), ranked, cut))
    screened, rest = split_screen(block, draft.queries, ranked, draft.rest)
    if screened:
        yield from _screened(draft, screened, rest, gone)
    if rest:
        yield Move(gone, chain(block, replace(draft, step=MIDDLE)))


def _screened(draft: Draft, screened: tuple[int, ...], rest: tuple[int, ...], gone: tuple[int, ...]) -> Iterator[Move]:
    base = replace(draft, kind="screen", outputs=screened)
    if not rest:
        yield Move(gone, (base,))
        return
    for step in (COARSE, MIDDLE):
        upper = replace(draft, outputs=rest, step=step)
        yield Move(gone, (base, upper))
        for parts in output_parts(rest) if len(rest) > 1 else ():
            yield Move(gone, (base, *_parts(upper, parts)))


def _parts(draft: Draft, parts: Iterable[tuple[int, ...]]) -> tuple[Draft, ...]:
    """An item cut by outputs; the levels keep the order, so that later parts may lean on earlier ones."""
    return tuple(replace(draft, outputs=part, level=(*draft.level, i)) for i, part in enumerate(parts))


def _apart(draft: Draft, ranked: tuple[int, ...], cut: int) -> tuple[Draft, ...]:
    """The leading outputs one by one, the others together."""
    return _parts(draft, [*((o,) for o in ranked[:cut]), ranked[cut:]])


def chain(block: Block, draft: Draft) -> tuple[Draft, ...]:
    """The most dangerous output alone; then what the others can add to it.

    If o wins and p does not, the sum of o less any part of that of p is not negative. Mostly few outputs are left then.
    """
    queries, step = draft.queries, draft.step
    ranked = rank(block, queries, draft.outputs)
    first, others = ranked[0], ranked[1:]
    drafts = [replace(draft, outputs=(first,), level=(*draft.level, 0))]
    for share in SHARES:
        rest = (*draft.rest, (first, share))
        screened, others = split_screen(block, queries, others, rest)
        if screened:
            level = (*draft.level, len(drafts))
            drafts.append(Draft("screen", queries, screened, 1.0, rest, level))
    rest = (*draft.rest, (first, EVEN))
    size = max(8, len(others) // 8)
    groups = [*((o,) for o in others[:8]), *(others[i : i + size] for i in range(8, len(others), size))]
    for group in groups:
        drafts.append(Draft("upper", queries, group, step, rest, (*draft.level, len(drafts))))
    return tuple(drafts)


def refinements(block: Block, found: Found) -> Iterator[Move]:
    """Finer items in place of one."""
    draft, gone = found.draft, (found.number,)
    if draft.kind == "screen":
        return
    for finer in FINER:
        if draft.step >= finer * FINEST:
            yield Move(gone, (replace(draft, step=draft.step / finer),))
    if draft.kind != "upper":
        if len(draft.queries) > 1:
            yield Move(gone, _split(draft, query_parts(block, draft.queries, 2)))
        return
    yield from _leaning(block, draft, gone)
    if not draft.outputs:
        outputs = block.view.others
        yield from _covers(block, replace(draft, outputs=outputs, rest=()), gone)
    if len(draft.outputs) > 1:
        yield from _by_outputs(block, draft, gone)
    if len(draft.queries) > 1:
        yield from _by_queries(block, draft, gone)


def _split(draft: Draft, parts: Iterable[Indices]) -> tuple[Draft, ...]:
    return tuple(replace(draft, queries=part) for part in parts)


def _leaning(block: Block, draft: Draft, gone: tuple[int, ...]) -> Iterator[Move]:
    """The same outputs, assuming that the most dangerous ones before them do not win."""
    if len(draft.rest) >= MOST_REST:
        return
    used = {*draft.outputs, *(p for p, _ in draft.rest)}
    before = [each for each in block.of("upper") if each.draft.level < draft.level]
    member = np.zeros(block.view.queries)
    member[draft.queries] = 1.0
    weights: dict[int, float] = {}
    for each in before:
        for p in each.draft.outputs if len(each.draft.outputs) <= 4 else ():
            weights[p] = weights.get(p, 0.0) + float(each.share @ member[each.draft.queries])
    ranked = sorted((p for p in weights if p not in used and weights[p] > 0), key=lambda p: -weights[p])
    for p in [p for p in ranked if block.covered(p, draft.queries, draft.level)][:2]:
        for share in SHARES:
            yield Move(gone, (replace(draft, rest=(*draft.rest, (p, share))),))


def _by_outputs(block: Block, draft: Draft, gone: tuple[int, ...]) -> Iterator[Move]:
    queries, step = draft.queries, draft.step
    ranked = rank(block, queries, draft.outputs)
    for cut in sorted({1, max(1, len(ranked) // 4)}):
        yield Move(gone, _parts(draft, (ranked[:cut], ranked[cut:])))
    yield Move(gone, chain(block, draft))
    screened, rest = split_screen(block, queries, ranked, draft.rest)
    base = (replace(draft, kind="screen", outputs=screened),) if screened else ()
    if screened:
        yield Move(gone, (*base, *((replace(draft, outputs=rest),) if rest else ())))
    if len(rest) > 4:
        for parts in output_parts(rest):
            for finer in sorted({step, min(step, MIDDLE)}):
                yield Move(gone, (*base, *_parts(replace(draft, step=finer), parts)))
    if len(ranked) > 4:
        yield Move(gone, _apart(draft, ranked, 3))


def _by_queries(block: Block, draft: Draft, gone: tuple[int, ...]) -> Iterator[Move]:
    queries = draft.queries
    if len(queries) >= 12:
        yield Move(gone, _split(draft, query_parts(block, queries, 6)))
    direct = block.view.differences(queries, np.array(draft.outputs[:1] or block.view.others))[0]
    order = np.argsort(direct.max(axis=1), kind="stable")
    halves = [np.sort(part) for part in np.array_split(queries[order], 2)]
    yield Move(gone, _split(draft, query_parts(block, queries, 2)))
    yield Move(gone, _split(draft, halves))


def deep(block: Block, found: Found | None) -> Iterator[Move]:
    """Many steps at once, for maxima where single steps show no gain: query parts, in each a chain of outputs."""
    outputs = block.view.others
    draft = Draft("upper", np.arange(block.view.queries), outputs)
    gone: tuple[int, ...] = ()
    if found is not None:
        draft, gone = replace(found.draft, outputs=found.draft.outputs or outputs), (found.number,)
    draft = replace(draft, step=min(draft.step, FINE))
    for parts in (1, 4, 12):
        if len(draft.queries) >= 2 * parts or parts == 1:
            yield Move(gone, tuple(_deep(block, draft, query_parts(block, draft.queries, parts))))


def _deep(block: Block, draft: Draft, parts: Iterable[Indices]) -> Iterator[Draft]:
    for part in parts:
        screened, others = split_screen(block, part, draft.outputs, draft.rest)
        if screened:
            yield replace(draft, kind="screen", queries=part, outputs=screened)
        if others:
            yield from chain(block, replace(draft, queries=part, outputs=others))


def certain(block: Block, samples: Samples, without: Collection[int]) -> Iterator[Move]:
    """Certain failures of one more output; from the second on, also what it shares with those before.

    Of all queries but those that have items of their own.
    """
    queries = np.array([q for q in range(block.view.queries) if q not in without], dtype=np.int64)
    used = list(dict.fromkeys(each.draft.outputs[0] for each in block.of("lower")))
    order = (int(o) for o in np.argsort(-samples.wins, kind="stable") if samples.wins[o] > 0)
    for output in [o for o in order if o not in used][:3]:
        for parts in (1, 4, 12):
            if parts <= len(queries):
                step = MIDDLE if parts < 12 else FINE
                cut = query_parts(block, queries, parts)
                alone = tuple(Draft("lower", part, (output,), step) for part in cut)
                yield Move((), alone)
                for share in (EVEN // 2, EVEN, EVEN * 2) if used else ():
                    shared = (Draft("both", part, (output,), step, ((p, share),)) for p in used[:3] for part in cut)
                    yield Move((), (*alone, *shared))
