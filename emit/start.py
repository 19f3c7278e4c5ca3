"""The console scripts: Ctrl-C while the packages of a command are loaded ends it as quietly as later."""

from __future__ import annotations

import sys
from importlib import import_module

INTERRUPTED = 130
"""Exit status after Ctrl-C."""


def _run(module: str) -> None:
    """Load a command and run it."""
    try:
        import_module(f".{module}", __package__).main()
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def compactproofs() -> None:
    _run("cli")


def certify() -> None:
    _run("certify_cmd")


def audit() -> None:
    _run("audit_cmd")


def sweep() -> None:
    _run("sweep_cmd")
