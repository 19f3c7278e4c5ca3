"""The certificate, after the checker has verified the same bytes."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...core.errors import CompactProofsError
from ...core.files import reason
from ...core.model import Model, Tensor, build
from ..auditing.verdict import Verdict, judge


@dataclass(frozen=True, slots=True, eq=False)
class Certificate:
    """What the export is written from."""

    digest: str
    words: str
    model: Model
    claim: dict[str, Any]
    steps: tuple[dict[str, Any], ...]


def read(path: str) -> tuple[Verdict, Certificate | None]:
    """The checker's verdict and, if it is VERIFIED, the certificate. Errors: CERT_UNREADABLE, CERT_CHANGED."""
    before = _bytes(path)
    verdict = judge(path)
    if not verdict.verified:
        return verdict, None
    if _bytes(path) != before:
        raise CompactProofsError("CERT_CHANGED", "the file changed while it was checked; try again", path)
    return verdict, decode(before, str(verdict.report["claim"]))


def decode(data: bytes, words: str) -> Certificate:
    """From the bytes of a certificate that the checker has verified, and its words for the claim."""
    value = json.loads(data)
    tensors = [
        Tensor(t["name"], t["dtype"], tuple(t["shape"]), base64.b64decode(t["data"])) for t in value["model"]["tensors"]
    ]
    return Certificate(
        digest=hashlib.sha256(data).hexdigest(),
        words=words,
        model=build("certificate", tensors, {}),
        claim=value["claim"],
        steps=tuple(value["proof"]),
    )


def _bytes(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise CompactProofsError("CERT_UNREADABLE", f"cannot read: {reason(error)}", path) from None
