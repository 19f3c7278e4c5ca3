"""The task: which sequences a claim is about, and how they fall into classes (query, maximum)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Literal

from .errors import CompactProofsError
from .model import Model

Region = tuple[tuple[int, int, int], ...]
"""Classes as spans (m, low, high): queries low..high-1 of maximum m, ascending and disjoint."""


@dataclass(frozen=True, slots=True)
class Task:
    """The largest (smallest) of `length` tokens out of 0..tokens-1; with `eos`, that token follows as the query.

    For "min" tokens are renumbered in reverse, so that every formula below speaks of a maximum.
    """

    kind: Literal["max", "min"]
    length: int
    tokens: int
    eos: int | None = None
    masses: tuple[tuple[int, ...], ...] | None = None
    """Weight of each token (in the order of the task) at each of the `length` positions; None: all 1."""
    maxima: tuple[int, ...] | None = None
    """The maxima that inputs are restricted to, ascending; None: any."""

    @property
    def free(self) -> int:
        """Positions that do not hold the query."""
        return self.length - 1 if self.eos is None else self.length

    def mass(self, position: int) -> tuple[int, ...]:
        """Weights of the tokens at a position."""
        return (1,) * self.tokens if self.masses is None else self.masses[position]

    def below(self, m: int) -> list[int]:
        """Entry i: mass of tokens 0..m-1 at the free positions i, i+1, ...; the last entry is 1."""
        result = [1]
        for position in reversed(range(self.free)):
            result.append(result[-1] * (m if self.masses is None else sum(self.masses[position][:m])))
        return result[::-1]

    def own_mass(self, q: int) -> int:
        """Weight of the query."""
        return 1 if self.masses is None or self.eos is not None else self.masses[self.free][q]

    @property
    def total(self) -> int:
        """Mass of all sequences: their number, if all weights are 1."""
        every = [self.mass(position) for position in range(self.length)]
        if self.maxima is None:
            return prod(map(sum, every))
        return sum(prod(sum(row[: m + 1]) for row in every) - prod(sum(row[:m]) for row in every) for m in self.maxima)

    def possible(self) -> tuple[int, ...]:
        """The maxima of inputs that the claim is about."""
        return tuple(range(self.tokens)) if self.maxima is None else self.maxima

    def queries(self, m: int) -> int:
        """Queries of maximum m are 0..queries(m)-1; the end-of-sequence token is query 0."""
        return m + 1 if self.eos is None else 1

    def holds_max(self, q: int, m: int) -> bool:
        """Is the query token itself the maximum?"""
        return self.eos is None and q == m

    def own_row(self, q: int) -> int:
        """Row of the query's token among the token rows."""
        return q if self.eos is None else self.tokens

    def class_size(self, q: int, m: int) -> int:
        """Mass of the sequences with query q and maximum m."""
        free = self.below(m + 1)[0] - (0 if self.holds_max(q, m) else self.below(m)[0])
        return free * self.own_mass(q)

    def mass_of(self, region: Region) -> int:
        """Mass of the sequences of some classes."""
        return sum(self.class_size(q, m) for q, m in pairs(region))

    def token_rows(self) -> list[int]:
        """Embedding rows in the order used throughout: tokens, then the end-of-sequence token."""
        order = list(range(self.tokens))
        if self.kind == "min":
            order.reverse()
        return order if self.eos is None else [*order, self.eos]

    def query_tokens(self) -> list[int]:
        """The embedding row of each query."""
        rows = self.token_rows()
        return rows[: self.tokens] if self.eos is None else rows[self.tokens :]

    def require_uniform(self, strategy: str) -> None:
        """Errors: NOT_UNIFORM, for strategies that count sequences by their shape."""
        if self.masses is not None:
            text = f"{strategy} counts inputs of the uniform distribution only; use margin-tree or margin-convolution"
            raise CompactProofsError("NOT_UNIFORM", text)

    def output_columns(self, outputs: int) -> list[int]:
        """Unembedding columns: the label of each token in the same order, then the other outputs."""
        return self.token_rows()[: self.tokens] + list(range(self.tokens, outputs))

    def whole(self) -> Region:
        """All classes."""
        return tuple((m, 0, self.queries(m)) for m in self.possible())


def pairs(region: Region) -> Iterator[tuple[int, int]]:
    """The classes (q, m) of a region."""
    for m, low, high in region:
        for q in range(low, high):
            yield q, m


def region_of(classes: Iterable[tuple[int, int]]) -> Region:
    """The region of some classes (q, m), in any order."""
    spans: list[tuple[int, int, int]] = []
    for m, q in sorted((m, q) for q, m in classes):
        if spans and (m, q) == (spans[-1][0], spans[-1][2]):
            spans[-1] = (m, spans[-1][1], q + 1)
        else:
            spans.append((m, q, q + 1))
    return tuple(spans)


def task_for(
    model: Model, kind: Literal["max", "min"] = "max", tokens: int | None = None, eos: int | None = None
) -> Task:
    """The task that fits a model's sizes; `tokens` defaults to the vocabulary without an end-of-sequence token.

    Errors: TASK_TOKENS, TASK_EOS, TASK_LENGTH.
    """
    if tokens is None:
        tokens = min(model.d_vocab, model.d_vocab_out) if eos is None else min(eos, model.d_vocab_out)
    if eos is not None and not max(tokens, 1) <= eos < model.d_vocab:
        raise CompactProofsError("TASK_EOS", _wrong_end(model, tokens, eos), model.source)
    if not 1 <= tokens <= min(model.d_vocab, model.d_vocab_out):
        raise CompactProofsError("TASK_TOKENS", _wrong_tokens(model, tokens), model.source)
    length = model.n_ctx - (0 if eos is None else 1)
    if length < 1:
        text = f"{model.n_ctx} positions leave no token beside the query"
        raise CompactProofsError("TASK_LENGTH", text, model.source)
    return Task(kind, length, tokens, eos)


def _wrong_tokens(model: Model, tokens: int) -> str:
    """Why a claim cannot be about that many tokens."""
    limit = min(model.d_vocab, model.d_vocab_out)
    text = f"the claim is about {tokens} tokens, {f'0..{tokens - 1}' if tokens else 'that is none'}"
    text += f"; the model has {limit}, 0..{limit - 1}: write 'of {limit} tokens' or fewer, or leave it out to mean all"
    return text


def _wrong_end(model: Model, tokens: int, eos: int) -> str:
    """Why a token cannot be the query that ends every input: the model lacks it, or it is one of those compared."""
    last = model.d_vocab - 1
    fewer = f"compare fewer tokens, as in 'of {last} tokens with query token {last}'"
    if eos > last and last < model.d_vocab_out:
        text = f"this model has no extra token that could be the query: its tokens are 0..{last}, and all are compared"
        return f"{text}; leave out 'with query token {eos}', or {fewer}"
    if eos > last:
        return f"this model has no token {eos}, its tokens are 0..{last}; write 'with query token {last}'"
    if eos == 0:
        return f"the tokens below the query token are compared, and there are none below 0; {fewer}"
    text = f"query token {eos} is one of the tokens 0..{tokens - 1} that are compared"
    return f"{text}; write 'of {eos} tokens with query token {eos}'"
