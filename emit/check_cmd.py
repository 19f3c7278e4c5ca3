"""The command `compactproofs check`: the independent checker in a process of its own, for whoever looks for it here."""

from __future__ import annotations

import subprocess
import sys

import click

CHECKER = (sys.executable, "-I", "-m", "compactproofs.checker")
"""The independent checker: isolated, and never imported."""


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False}, add_help_option=False
)
@click.argument("words", nargs=-1, type=click.UNPROCESSED)
def check(words: tuple[str, ...]) -> None:
    """Decide whether a certificate proves its claim (the same as `check`)."""
    done = subprocess.run([*CHECKER, *words], check=False)
    sys.exit(done.returncode)
