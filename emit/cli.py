"""The command `compactproofs` with its sub-commands."""

from __future__ import annotations

import sys

import click

from .audit_cmd import audit
from .certify_cmd import certify
from .check_cmd import check
from .completion_cmd import completion
from .console import guarded
from .import_cmd import import_
from .join_cmd import join
from .lean_cmd import lean
from .reproduce import reproduce
from .sweep_cmd import sweep
from .train_cmd import train


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="compactproofs")
def compactproofs() -> None:
    """Proofs about trained models that a stranger can check."""


compactproofs.add_command(reproduce)
compactproofs.add_command(audit)
compactproofs.add_command(certify)
compactproofs.add_command(check)
compactproofs.add_command(completion)
compactproofs.add_command(import_)
compactproofs.add_command(lean)
compactproofs.add_command(join)
compactproofs.add_command(sweep)
compactproofs.add_command(train)


def main() -> None:
    """Entry point of `compactproofs`."""
    sys.exit(guarded(compactproofs))
