"""What a claim is about: the real numbers, or a floating-point program and what is assumed about its machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from .errors import CompactProofsError, shown

STORED: Final = {"binary16": "F16", "bfloat16": "BF16", "binary32": "F32", "binary64": "F64"}
"""Format of every operation -> the dtype of its numbers."""

NAMES: Final = {"float16": "binary16", "bfloat16": "bfloat16", "float32": "binary32", "float64": "binary64"}
"""As users say it -> as certificates say it."""


@dataclass(frozen=True, slots=True)
class Semantics:
    """Round to nearest in `format`, exp within `exp_ulp` units of the last place, `underflow` "gradual" or "flush".

    "flush" allows both. Errors: SEMANTICS.
    """

    format: str
    exp_ulp: int = 4
    underflow: str = "flush"

    def __post_init__(self) -> None:
        if self.format not in STORED or self.underflow not in ("gradual", "flush") or not 1 <= self.exp_ulp <= 1 << 20:
            text = f"{shown(self)}; formats are {', '.join(STORED)}, underflow is gradual or flush, exp_ulp at least 1"
            raise CompactProofsError("SEMANTICS", text)


def semantics(name: str, exp_ulp: int = 4, underflow: str = "flush") -> Semantics | None:
    """The semantics of a name: "real" (none), or one of NAMES. Errors: SEMANTICS."""
    return None if name == "real" else Semantics(NAMES.get(name, name), exp_ulp, underflow)
