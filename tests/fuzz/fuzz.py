"""Coverage-guided fuzzing of the checker with atheris (`pip install atheris`), from the valid certificates.

    python tests/fuzz/fuzz.py reader --seconds 300          any bytes, into the reader
    python tests/fuzz/fuzz.py certificates --seconds 300    certificates changed as JSON, into the kernel

No input may crash the checker, and none may be VERIFIED with a claim of its own unless the second checker says so too
(without python-flint: unless exhaustive evaluation finds it true). Results that a certificate states are settled first,
as an attacker would do: refusals name the derived ones. A failing input is written to `crash-*` in the
working folder; put it into tests/fuzz/found, where a test runs it for ever. The seeds are tests/data/accept; what a run
adds to them stays in a temporary folder. Executions and coverage are printed at the end, by libFuzzer.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(TESTS), str(TESTS / "checker")]
ACCEPT = TESTS / "data" / "accept"
LIMIT = 10**6  # operations: an input that is only slow teaches nothing


def seeds() -> list[bytes]:
    """The valid certificates, the small ones first."""
    return sorted((path.read_bytes() for path in ACCEPT.glob("*.json")), key=lambda data: (len(data), data))


def claim_of(data: bytes) -> tuple[str, str]:
    """The claim and the model, as text."""
    value = json.loads(data)
    return json.dumps(value["claim"], sort_keys=True), value["model"]["sha256"]


class Oracle:
    """What must hold for every input."""

    def __init__(self) -> None:
        self.known = {claim_of(data) for data in seeds()}
        self.runs = self.verified = self.new = 0

    def reader(self, data: bytes) -> None:
        """Bytes are read or refused, and nothing else happens."""
        from compactproofs.checker.errors import Refusal
        from compactproofs.checker.reader import parse, spell

        try:
            value = parse(data)
        except Refusal:
            return
        if spell(value) != data:
            raise AssertionError("a document was read from bytes that are not its spelling")

    def certificates(self, data: bytes) -> None:
        """A verdict, and a true one."""
        from certificates import judge, spelled
        from test_random_proofs import settle

        self.runs += 1
        if self.runs % 1000 == 0:
            print(
                f"{self.runs} certificates, {self.verified} accepted, {self.new} of them with other claims", flush=True
            )
        outcome = judge(data, LIMIT)
        if outcome.code in ("STATED_RESULT", "BOUND"):
            value = json.loads(data)
            try:
                outcome = settle(value)
            except AssertionError:  # it went on for too long
                return
            data = spelled(value)
        if outcome.verdict == "INTERNAL":
            raise AssertionError(f"INTERNAL: {outcome.text}")
        if outcome.verdict != "VERIFIED":
            return
        self.verified += 1
        if claim_of(data) not in self.known:
            self.new += 1
            if not confirmed(data):
                raise AssertionError("VERIFIED, but not by the second checker")


def confirmed(data: bytes) -> bool:
    """Whether somebody else accepts the claim, too."""
    try:
        from second_checker import verdict
    except ImportError:
        from mutate import true_claim

        return true_claim(data)
    return verdict(data) == "VERIFIED"


# --- changes of certificates -----------------------------------------------------------------------------


def places(value: Any, holder: Any = None, key: Any = None) -> list[tuple[Any, Any]]:
    """Every value below the top, by what holds it and where."""
    found = [] if holder is None else [(holder, key)]
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for k, item in entries:
        found += places(item, value, k)
    return found


def other(old: Any, pool: list[Any], rng: random.Random) -> Any:
    """Another value of the same kind, mostly."""
    kind = rng.random()
    if kind < 0.15:
        return json.loads(json.dumps(rng.choice(pool)))
    if isinstance(old, int) and not isinstance(old, bool):
        return old + rng.choice((-1, 1, -2, 2, 8, 64, -64)) if kind < 0.8 else rng.choice((0, 1, -1, 8, 4096, 10**9))
    if isinstance(old, str) and old and set(old) <= set("0123456789abcdef-") and len(old) < 64:
        try:
            n = int(old, 16) + rng.choice((-1, 1, 2, -16, 256))
        except ValueError:
            return old
        return f"{n:x}" if kind < 0.8 else f"{-n:x}" if kind < 0.9 else f"{n << 8:x}"
    if isinstance(old, list) and old:
        new = list(old)
        if kind < 0.5:
            new.pop(rng.randrange(len(new)))
        elif kind < 0.8:
            new.insert(rng.randrange(len(new) + 1), json.loads(json.dumps(rng.choice(new))))
        else:
            rng.shuffle(new)
        return new
    return rng.choice((None, True, "", "0", [], {}, old))


def changed(data: bytes, maximum: int, seed: int, others: list[bytes]) -> bytes:
    """A certificate with one to three values changed, its length and digest restated; the mutator of atheris."""
    from certificates import resign

    rng = random.Random(seed)
    try:
        value = json.loads(data)
        if not isinstance(value, dict) or rng.random() < 0.02:
            raise ValueError
    except (ValueError, RecursionError):
        value = json.loads(rng.choice(others))
    if rng.random() < 0.1 and isinstance(value.get("proof"), list):
        value["proof"] += json.loads(rng.choice(others))["proof"]  # steps of another kind
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        found = places({key: value[key] for key in value if key not in ("model", "format", "version")})
        if rng.random() < 0.15:
            weight(value, rng)
        elif found:
            holder, key = rng.choice(found)
            old = holder[key]
            if key in value and holder is not value and old is value.get(key):
                holder = value
            if isinstance(holder, list) and rng.random() < 0.1:
                holder.pop(key)
            else:
                holder[key] = other(old, [h[k] for h, k in found], rng)
    if isinstance(value.get("proof"), list) and rng.random() < 0.95:
        value["end"] = len(value["proof"])
    with suppress(KeyError, TypeError, ValueError, AttributeError):
        resign(value)
    result = (json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode()
    return result if len(result) <= maximum else data[:maximum]


def weight(value: dict[str, Any], rng: random.Random) -> None:
    """One byte of one weight."""
    try:
        tensor = rng.choice(value["model"]["tensors"])
        raw = bytearray(base64.b64decode(tensor["data"]))
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        tensor["data"] = base64.b64encode(raw).decode()
    except (KeyError, TypeError, ValueError, IndexError, AttributeError):
        return


# --- running ----------------------------------------------------------------------------------------------


def main() -> None:
    """Instrument the checker and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=("reader", "certificates"))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--runs", type=int, default=-1, help="at most so many executions")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder is None:  # libFuzzer ends the process itself, so another one cleans up
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            again = [sys.executable, __file__, *sys.argv[1:], "--folder", folder]
            sys.exit(subprocess.run(again, check=False).returncode)
    import atheris

    with atheris.instrument_imports(include=["compactproofs.checker"]):
        importlib.import_module("compactproofs.checker.__main__")
    oracle, others = Oracle(), seeds()
    test: Callable[[bytes], None] = getattr(oracle, options.target)
    for number, data in enumerate(others):
        (options.folder / f"seed-{number}").write_bytes(data)
    arguments = [sys.argv[0], f"-max_total_time={options.seconds}", f"-runs={options.runs}", "-print_final_stats=1"]
    arguments += ["-max_len=20000", "-timeout=60", "-rss_limit_mb=4096", str(options.folder)]

    def mutate(data: bytes, maximum: int, seed: int) -> bytes:
        return changed(data, maximum, seed, others)

    more = {"custom_mutator": mutate} if options.target == "certificates" else {}
    atheris.Setup(arguments, test, **more)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
