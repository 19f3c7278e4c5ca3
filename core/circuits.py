"""The five circuits of a one-layer attention-only transformer (paper section 3), exactly.

All are multiplied out in the same order of tokens and outputs (see Task): EU queries x outputs, EVOU token rows x
outputs, PVOU positions x outputs, EQKE queries x token rows, EQKP queries x positions. The raw forms: nothing is
averaged over positions. Biases are folded: b_K drops out of the softmax, b_V, b_O and b_U go to EU.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .exact import Exact
from .model import Model
from .task import Task

ATTENTION = "blocks.0.attn."


@dataclass(frozen=True, slots=True)
class Circuits:
    """The exact circuits with the head width that scales the scores by 1 / sqrt(d_head)."""

    eu: Exact
    evou: Exact
    pvou: Exact
    eqke: Exact
    eqkp: Exact
    d_head: int


@dataclass(frozen=True, slots=True)
class Factors:
    """The exact tensors as matrices, rows and columns in the order of the task; absent biases are zero rows."""

    token: Exact
    query: Exact
    position: Exact
    w_q: Exact
    w_k: Exact
    w_v: Exact
    w_o: Exact
    w_u: Exact
    b_q: Exact
    direct: Exact  # (b_V W_O + b_O) W_U + b_U: what attention cannot change


def tensor(model: Model, name: str, width: int) -> Exact:
    """A stored tensor as a matrix of rows of its last dimension; a row of `width` zeros if it is absent."""
    if not model.has(name):
        return Exact(np.zeros((1, width), dtype=object), 0)
    stored = model.tensor(name)
    flat, exponent = stored.exact()
    return Exact(np.array(flat, dtype=object).reshape(-1, stored.shape[-1]), exponent)


def factors(model: Model, task: Task) -> Factors:
    """Exact factors of the circuits."""
    d_model, d_head, outputs = model.d_model, model.d_head, model.d_vocab_out
    columns = task.output_columns(outputs)
    embed = tensor(model, "embed.W_E", d_model)
    token = Exact(embed.ints[task.token_rows()], embed.exponent)
    position = tensor(model, "pos_embed.W_pos", d_model)
    first, last = (0, task.tokens) if task.eos is None else (task.tokens, task.tokens + 1)
    query = Exact(token.ints[first:last], token.exponent) + Exact(position.ints[-1:], position.exponent)
    unembed = tensor(model, "unembed.W_U", outputs)
    w_u = Exact(unembed.ints[:, columns], unembed.exponent)
    b_u = tensor(model, "unembed.b_U", outputs)
    w_o = tensor(model, ATTENTION + "W_O", d_model)
    through = tensor(model, ATTENTION + "b_V", d_head) @ w_o + tensor(model, ATTENTION + "b_O", d_model)
    return Factors(
        token=token,
        query=query,
        position=position,
        w_q=tensor(model, ATTENTION + "W_Q", d_head),
        w_k=tensor(model, ATTENTION + "W_K", d_head),
        w_v=tensor(model, ATTENTION + "W_V", d_head),
        w_o=w_o,
        w_u=w_u,
        b_q=tensor(model, ATTENTION + "b_Q", d_head),
        direct=through @ w_u + Exact(b_u.ints[:, columns], b_u.exponent),
    )


def circuits(model: Model, task: Task) -> Circuits:
    """The raw circuits of a model for a task."""
    f = factors(model, task)
    key = (f.query @ f.w_q + f.b_q) @ f.w_k.transposed
    through = f.w_v @ f.w_o @ f.w_u
    return Circuits(
        eu=f.query @ f.w_u + f.direct,
        evou=f.token @ through,
        pvou=f.position @ through,
        eqke=key @ f.token.transposed,
        eqkp=key @ f.position.transposed,
        d_head=model.d_head,
    )
