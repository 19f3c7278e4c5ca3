"""The command `compactproofs import`: from a torch checkpoint to a safetensors file."""

from __future__ import annotations

import sys

import click

from ..core.errors import CompactProofsError, printable
from ..core.importer import Imported, import_checkpoint

BAD_INPUT = 2


EPILOG = """\b
Examples:
  # then: certify --exact my_model.safetensors -o cert.json
  compactproofs import checkpoint.pth -o my_model.safetensors
"""


@click.command("import", epilog=EPILOG)
@click.argument("file", type=click.Path())
@click.option("-o", "--output", required=True, type=click.Path(), help="The safetensors file to write.")
@click.option("--force", is_flag=True, help="Overwrite the output if it exists.")
def import_(file: str, output: str, force: bool) -> None:
    """Read the torch checkpoint FILE (.pt, .pth, .ckpt) and write its model as safetensors.

    FILE is a state dict, a dict with key "model" or "model_state_dict", or a Lightning checkpoint. It is read
    weights-only: pickled objects are refused, never run. Exit status: 0 written and compared, 2 bad input.
    """
    try:
        imported = import_checkpoint(file, output, overwrite=force)
    except CompactProofsError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(BAD_INPUT)
    for line in _summary(imported, output):
        click.echo(printable(line))


def _summary(imported: Imported, output: str) -> list[str]:
    """What was written, in words."""
    model = imported.model
    formats = ", ".join(sorted({t.dtype for t in model.tensors}))
    lines = [
        f"wrote {output}",
        f"layout: {imported.layout}",
        f"model: {model.d_vocab} tokens in, {model.d_vocab_out} out, {model.n_ctx} positions, "
        f"d_model {model.d_model}, d_head {model.d_head}, {formats}",
        f"sha256: {model.sha256}",
    ]
    if imported.ignored:
        lines.append(f"ignored keys: {', '.join(imported.ignored)}")
    if imported.dropped:
        lines.append(f"dropped buffers: {', '.join(imported.dropped)}")
    return lines
