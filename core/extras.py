"""How to install what only some commands need."""

from __future__ import annotations


def installing(extra: str) -> str:
    """The command, for the installed package and for a checkout of its repository."""
    return f'pip install "compactproofs[{extra}]" (in a checkout: pip install -e ".[{extra}]")'
