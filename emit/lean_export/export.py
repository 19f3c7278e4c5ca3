"""All files of one export."""

from __future__ import annotations

from ...core.errors import CompactProofsError
from . import parts
from .certificate import Certificate
from .claim import claim_text
from .readback import compare
from .weights import weights_text


def render(certificate: Certificate) -> tuple[dict[str, str], int]:
    """Path in the folder -> text, and how many numbers were read back. Errors: LEAN_CLAIM, LEAN_READBACK."""
    _exported(certificate)
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


def _exported(certificate: Certificate) -> None:
    """Refuse claims for which Network.lean has no definitions. Errors: LEAN_CLAIM."""
    claim = certificate.claim
    if "log_loss" in claim["quantity"]:
        what, instead = "claim.quantity.log_loss", "certify a count above a margin instead (quantity.margin_above)"
    elif isinstance(claim["distribution"], dict):
        what = "claim.distribution.parts (mixtures and given answers)"
        instead = "certify one distribution without given answers instead"
    else:
        return
    raise CompactProofsError(
        "LEAN_CLAIM", f"{what} is not exported to Lean; nothing was written; {instead}; the checker covers the claim"
    )
