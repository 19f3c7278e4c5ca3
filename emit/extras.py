"""Packages that only some commands need: looked for before the work, not after it."""

from __future__ import annotations

from importlib.util import find_spec

from ..core.errors import CompactProofsError
from ..core.extras import installing


def require(code: str, module: str, extra: str, otherwise: str = "") -> None:
    """Errors: the code, with the command that installs the module."""
    if find_spec(module) is None:
        install = installing(extra) if extra else f"pip install {module}"
        raise CompactProofsError(code, f"needs {module}; run: {install}{otherwise}")
