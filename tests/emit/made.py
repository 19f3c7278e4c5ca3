"""Certificates of a shipped model, made once for all tests of the folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
MODELS = ROOT / "models"
MODEL = MODELS / "max_of_4_v64_seed519.safetensors"
BIN = Path(sys.executable).parent
SMALL = "accuracy of max of 12 tokens"


def run(
    command: str, *words: object, cwd: Path | None = None, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """A command as a user would call it."""
    line = [str(BIN / "compactproofs"), command, *map(str, words)]
    env = {**os.environ, **(environment or {})}
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=cwd, env=env)


def certificate(folder: Path, strategy: str, claim: str = SMALL, model: Path = MODEL) -> Path:
    """A certificate, made if it is not there."""
    path = folder / f"{strategy.replace(':', '-')}.json"
    if not path.exists():
        done = run("certify", "--exact", model, "-o", path, "--strategy", strategy, "--claim", claim)
        assert done.returncode == 0, done.stderr
    return path


def audit_json(*words: object) -> dict[str, Any]:
    """What `audit --json` says of certificates that are VERIFIED."""
    done = run("audit", "--json", *words)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def falsified(path: Path, target: Path, change: str = "right") -> Path:
    """The certificate with a stated result one higher, in canonical spelling: REJECTED."""
    document = json.loads(path.read_bytes())
    step = next(step for step in document["proof"] if isinstance(step.get(change), str))
    step[change] = f"{int(step[change], 16) + 1:x}"
    bounds = document["claim"]["bounds"]
    bounds["lower"] = f"{int(bounds['lower'], 16) + 1:x}"
    bounds["upper"] = f"{max(int(bounds['upper'], 16), int(bounds['lower'], 16)):x}"
    target.write_text(json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n")
    return target
