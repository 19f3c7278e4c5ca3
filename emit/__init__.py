"""Certificates, reports and commands. The functions of `api` are here for notebooks, loaded when first used."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .api import Audit, Certificate, Circuits, Verdict, audit, certify, check, circuits, load

__all__ = ["Audit", "Certificate", "Circuits", "Verdict", "audit", "certify", "check", "circuits", "load"]


def __getattr__(name: str) -> object:
    # a command must not pay for what it does not use: `certify --help` would load the whole of the audit
    if name in __all__:
        return getattr(importlib.import_module(".api", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
