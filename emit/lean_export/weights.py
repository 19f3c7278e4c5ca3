"""Weights.lean: the tensors of the certificate as integers over powers of two."""

from __future__ import annotations

from ...core.model import SHAPES, Model
from .numerals import Table, natural_text, table, tensor_text

FIELDS = {name: name.rpartition(".")[2] for name in SHAPES}
"""blocks.0.attn.W_Q -> W_Q: fields of `Network` and names of tensors have the same last part."""


def tables(model: Model) -> dict[str, Table]:
    """Last part of the name -> its numbers, row by row of the last dimension."""
    found = {}
    for tensor in model.tensors:
        flat, exponent = tensor.exact()
        width = tensor.shape[-1]
        found[FIELDS[tensor.name]] = table([flat[i : i + width] for i in range(0, len(flat), width)], exponent)
    return found


def weights_text(model: Model, digest: str) -> str:
    """The file."""
    values = tables(model)
    count = sum(len(row) for value in values.values() for row in value.rows)
    fields = "\n".join(f"  {field} := {_entry(field, field in values)}" for field in FIELDS.values())
    definitions = "\n".join(tensor_text(f"tensor_{name}", value) for name, value in values.items())
    return f"""\
import Export.Network
/-!
# The weights of the certificate

{count} numbers, each exactly the floating-point number that the certificate holds: an integer over a power of two.

* certificate: sha256 {digest}
* weights: sha256 {model.sha256}
-/
namespace CompactProofs.Export
noncomputable section

{definitions}
{natural_text("d_model", model.d_model)}{natural_text("d_head", model.d_head)}
def network : Network where
  d_model := d_model
  d_head := d_head
{fields}
end
end CompactProofs.Export
"""


def _entry(field: str, present: bool) -> str:
    """A matrix, or a bias; absent biases are zero."""
    if not field.startswith("b_"):
        return f"fun i j => tensor_{field}.at i j"
    return f"fun j => tensor_{field}.at 0 j" if present else "fun _ => 0"
