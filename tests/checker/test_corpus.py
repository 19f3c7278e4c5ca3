"""The corpus: every bad file is refused for the stated reason, and its neighbour, one change away, is accepted."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from certificates import STATUS, command_outcome, judge
from compactproofs.checker.reader import parse

DATA = Path(__file__).resolve().parent.parent / "data"
INDEX: list[dict[str, Any]] = json.loads((DATA / "index.json").read_text("ascii"))
BAD = [row for row in INDEX if row["verdict"] != "VERIFIED"]
GOOD = [row for row in INDEX if row["verdict"] == "VERIFIED"]


def arguments(row: dict[str, Any]) -> list[str]:
    """The command line of a row: the file itself, or its certificate with the file as --model."""
    file = str(DATA / row["file"])
    if "options" in row:
        return [str(DATA / row["options"]["certificate"]), "--model", file]
    return [file]


def name(row: dict[str, Any]) -> str:
    return str(row["file"])


@pytest.mark.parametrize("row", INDEX, ids=name)
def test_verdict_and_code_are_the_stated_ones(row: dict[str, Any]) -> None:
    outcome = command_outcome(*arguments(row))
    assert (outcome.verdict, outcome.code) == (row["verdict"], row["code"]), outcome.text


def test_the_corpus_is_large_and_its_names_are_its_files() -> None:
    files = {row["file"] for row in INDEX}
    assert len(files) == len(INDEX)
    present = {
        str(path.relative_to(DATA))
        for folder in ("accept", "reject", "malformed")
        for path in (DATA / folder).iterdir()
    }
    assert present == files
    assert len(BAD) >= 300
    assert sum(path.stat().st_size for path in DATA.rglob("*.*")) < 2_000_000


def test_every_bad_file_has_an_accepted_neighbour() -> None:
    good = {row["file"] for row in GOOD}
    assert {row["neighbour"] for row in BAD} <= good
    assert all((DATA / row["file"]).read_bytes() != (DATA / row["neighbour"]).read_bytes() for row in BAD)


def test_the_folder_says_the_verdict() -> None:
    folders = {"VERIFIED": "accept", "REJECTED": "reject", "MALFORMED": "malformed", "RESOURCE": "malformed"}
    assert all(row["file"].startswith(folders[row["verdict"]] + "/") for row in INDEX)


def test_committed_files_are_the_generated_ones() -> None:
    done = subprocess.run(
        [sys.executable, str(DATA / "make.py"), "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


# --- baselines: checkers that are no checkers must fail on this corpus -----------------------------------


def always_accept(row: dict[str, Any]) -> str:
    return "VERIFIED"


def always_reject(row: dict[str, Any]) -> str:
    return "REJECTED"


def always_malformed(row: dict[str, Any]) -> str:
    return "MALFORMED"


def parse_only(row: dict[str, Any]) -> str:
    """Accepts whatever is canonical JSON."""
    try:
        parse((DATA / row["file"]).read_bytes())
    except Exception:
        return "MALFORMED"
    return "VERIFIED"


def claim_echo(row: dict[str, Any]) -> str:
    """Accepts whatever reads as a document; applies no rule."""
    from compactproofs.checker.kernel import read_document

    try:
        read_document((DATA / row["file"]).read_bytes())
    except Exception:
        return "MALFORMED"
    return "VERIFIED"


def real(row: dict[str, Any]) -> str:
    return judge((DATA / row["file"]).read_bytes()).verdict


@pytest.mark.parametrize(
    ("baseline", "fooled", "false_alarms"),
    [
        (always_accept, 300, 0),
        (always_reject, 200, 15),
        (always_malformed, 60, 15),
        (parse_only, 200, 0),
        (claim_echo, 100, 0),
    ],
    ids=lambda value: value.__name__ if callable(value) else str(value),
)
def test_baselines_fail(baseline: Callable[[dict[str, Any]], str], fooled: int, false_alarms: int) -> None:
    """At least so many bad files get the wrong verdict, and so many good ones."""
    rows = [row for row in INDEX if "options" not in row]
    wrong_bad = sum(baseline(row) != row["verdict"] for row in rows if row["verdict"] != "VERIFIED")
    wrong_good = sum(baseline(row) != "VERIFIED" for row in rows if row["verdict"] == "VERIFIED")
    assert wrong_bad >= fooled
    assert wrong_good >= false_alarms


def test_the_real_checker_passes_where_the_baselines_fail() -> None:
    assert all(real(row) == row["verdict"] for row in INDEX if "options" not in row)
    assert set(STATUS) == {"VERIFIED", "REJECTED", "MALFORMED", "INTERNAL", "RESOURCE"}
