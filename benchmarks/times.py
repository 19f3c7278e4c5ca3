"""The times that the README states, as wall-clock seconds on this machine.

python benchmarks/times.py            a mean log-loss: finding its proof, and checking it
python benchmarks/times.py --tests    also the default tests, as `make test` runs them
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
MODEL = "models/max_of_4_v64_seed123.safetensors"


def show(what: str, command: Sequence[str]) -> None:
    """Run a command, and print a line about it."""
    start = time.perf_counter()
    status = subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, check=False).returncode
    print(f"{what}: {time.perf_counter() - start:.0f} s" + (f", exit status {status}" if status else ""), flush=True)


def main() -> None:
    """Command line."""
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before the start", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        target = str(Path(folder) / "loss.json")
        certify = [str(BIN / "certify"), "--exact", MODEL, "--claim", "E[log-loss]", "-o", target, "--no-check"]
        show("E[log-loss], finding the proof", certify)
        show("E[log-loss], checking it", [str(BIN / "check"), target])
    if "--tests" in sys.argv:
        tests = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadfile", "-m", "not slow"]
        show("the default tests", tests)


if __name__ == "__main__":
    main()
