"""The checker's word on a file, from a process of its own."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..check_cmd import CHECKER
from . import trusted

STATUS = {"VERIFIED": 0, "REJECTED": 1, "MALFORMED": 2, "INTERNAL": 3, "RESOURCE": 4}


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the checker said; `report` is its JSON object, `message` what it wrote beside it."""

    verdict: str
    status: int
    message: str
    report: dict[str, Any]

    @property
    def verified(self) -> bool:
        """The only verdict after which anything else may be shown."""
        return self.verdict == "VERIFIED" and self.status == 0


def judge(path: str) -> Verdict:
    """Run the checker. A process that ends without a verdict counts as INTERNAL."""
    command = [*CHECKER, "--json", "--", path]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    try:
        report = dict(json.loads(done.stdout))
    except ValueError:
        report = {}
    verdict = str(report.get("verdict", "INTERNAL"))
    if STATUS.get(verdict) != done.returncode:
        message = done.stderr.strip() or f"the checker ended with status {done.returncode} and no verdict"
        return Verdict("INTERNAL", STATUS["INTERNAL"], message, report)
    return Verdict(verdict, done.returncode, done.stderr.strip(), report)


def trusted_lines(rules: list[str]) -> dict[str, int]:
    """Lines of the checker by what a reader of this proof must trust: its kernel, and the modules of rules."""
    spec = importlib.util.find_spec("compactproofs.checker")  # found, not imported
    if spec is None or spec.origin is None:
        return {}
    return trusted.counts(Path(spec.origin).parent, rules)
