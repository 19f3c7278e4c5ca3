"""All files of one export."""

from __future__ import annotations

from . import parts
from .certificate import Certificate
from .claim import claim_text
from .readback import compare
from .weights import weights_text


def render(certificate: Certificate) -> tuple[dict[str, str], int]:
    """Path in the folder -> text, and how many numbers were read back. Errors: LEAN_READBACK."""
    used = frozenset(str(step["rule"]) for step in certificate.steps)
    numbers = {
        "Export/Weights.lean": weights_text(certificate.model, certificate.digest),
        "Export/Claim.lean": claim_text(certificate),
    }
    count = compare(certificate, numbers)
    files = {
        "lakefile.toml": parts.lakefile(),
        "lean-toolchain": parts.toolchain(),
        "Export/Network.lean": parts.network(),
        "Export/Bridge.lean": parts.bridge(),
        "Export/Rules.lean": parts.rules(used, certificate.claim["task"]["eos"] is not None),
        **numbers,
        **parts.library(),
    }
    return files, count
