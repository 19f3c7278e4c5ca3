"""The task: which sequences a claim is about, and how they fall into classes (query, maximum)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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

    @property
    def free(self) -> int:
        """Positions that do not hold the query."""
        return self.length - 1 if self.eos is None else self.length

    @property
    def total(self) -> int:
        """Number of sequences."""
        return int(self.tokens**self.length)

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
        """Sequences with query q and maximum m."""
        return int((m + 1) ** self.free - (0 if self.holds_max(q, m) else m**self.free))

    def token_rows(self) -> list[int]:
        """Embedding rows in the order used throughout: tokens, then the end-of-sequence token."""
        order = list(range(self.tokens))
        if self.kind == "min":
            order.reverse()
        return order if self.eos is None else [*order, self.eos]

    def output_columns(self, outputs: int) -> list[int]:
        """Unembedding columns: the label of each token in the same order, then the other outputs."""
        return self.token_rows()[: self.tokens] + list(range(self.tokens, outputs))

    def whole(self) -> Region:
        """All classes."""
        return tuple((m, 0, self.queries(m)) for m in range(self.tokens))


def pairs(region: Region) -> Iterator[tuple[int, int]]:
    """The classes (q, m) of a region."""
    for m, low, high in region:
        for q in range(low, high):
            yield q, m


def task_for(
    model: Model, kind: Literal["max", "min"] = "max", tokens: int | None = None, eos: int | None = None
) -> Task:
    """The task that fits a model's sizes; `tokens` defaults to the vocabulary without an end-of-sequence token.

    Errors: TASK_TOKENS, TASK_EOS, TASK_LENGTH.
    """
    if tokens is None:
        tokens = min(model.d_vocab, model.d_vocab_out) if eos is None else min(eos, model.d_vocab_out)
    if not 1 <= tokens <= min(model.d_vocab, model.d_vocab_out):
        limit = min(model.d_vocab, model.d_vocab_out)
        raise CompactProofsError("TASK_TOKENS", f"{tokens} tokens, the model has {limit}", model.source)
    if eos is not None and not tokens <= eos < model.d_vocab:
        text = f"end token {eos} must lie in {tokens}..{model.d_vocab - 1}; use --tokens and --eos to fit the model"
        raise CompactProofsError("TASK_EOS", text, model.source)
    length = model.n_ctx - (0 if eos is None else 1)
    if length < 1:
        raise CompactProofsError("TASK_LENGTH", f"{model.n_ctx} positions leave no token beside the query", model.source)
    return Task(kind, length, tokens, eos)
