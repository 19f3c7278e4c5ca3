"""The command certify, from the model file to the certificate that the checker accepts."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MODEL = ROOT / "models" / "max_of_4_v64_seed519.safetensors"
BIN = Path(sys.executable).parent
SMALL = "accuracy of max of 12 tokens"


def run(*words: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """certify as a user would call it."""
    command = [str(BIN / "certify"), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env={**os.environ, **(environment or {})}
    )


def certify(tmp_path: Path, *words: str, model: Path = MODEL, name: str = "cert.json") -> dict[str, Any]:
    """A certificate that was made and checked; the report of --json."""
    done = run("--exact", str(model), "-o", str(tmp_path / name), "--json", *words)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def check(path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The checker from the source folder, without the installed package."""
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom checker.__main__ import main\nmain()",
    ]
    return subprocess.run([*command, str(path), *words], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("strategy", ["auto", "margin-tree", "brute-force", "cubic"])
def test_strategies_end_in_verified(tmp_path: Path, strategy: str) -> None:
    report = certify(tmp_path, "--strategy", strategy, "--claim", SMALL)
    done = check(tmp_path / "cert.json", "--model", str(MODEL), "--json")
    verdict = json.loads(done.stdout)
    assert done.returncode == 0
    assert report["lower"] == [verdict["lower"], verdict["total"]]
    assert verdict["total"] == str(12**4)


def test_exact_strategies_agree_and_the_cubic_bound_lies_below(tmp_path: Path) -> None:
    exact = {
        certify(tmp_path, "--strategy", s, "--claim", SMALL, name=s)["lower"][0] for s in ("margin-tree", "brute-force")
    }
    cubic = certify(tmp_path, "--strategy", "cubic", "--claim", SMALL, name="cubic")
    assert len(exact) == 1
    assert int(cubic["lower"][0]) <= int(exact.pop())


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    for name, seed in (("a", "0"), ("b", "1")):
        done = run(
            "--exact", str(MODEL), "-o", str(tmp_path / name), "--claim", SMALL, environment={"PYTHONHASHSEED": seed}
        )
        assert done.returncode == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_without_exact_nothing_is_proved_or_written(tmp_path: Path) -> None:
    done = run(str(MODEL), "--strategy", "cubic", "--claim", SMALL)
    assert done.returncode == 0
    assert "this is no proof" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--exact"], "--exact needs -o FILE"),
        (["--exact", "-o", "OUT", "--strategy", "magic"], "magic"),
        (["--exact", "-o", "OUT", "--claim", "accuracy of maximum"], "CLAIM_SYNTAX: column 16"),
        (["--exact", "-o", "OUT", "--strategy", "cubic", "--claim", "accuracy when query in {3}"], "NOT_UNIFORM"),
        (["--exact", "-o", str(MODEL), "--force"], "FILE_IS_INPUT"),
        (["--exact", "-o", "/nowhere/cert.json"], "FILE_WRITE"),
    ],
)
def test_wrong_calls_end_with_status_2_and_say_why(tmp_path: Path, words: list[str], text: str) -> None:
    before = MODEL.read_bytes()
    out = str(tmp_path / "cert.json")
    done = run(str(MODEL), *(out if word == "OUT" else word for word in words))
    assert done.returncode == 2
    assert text in done.stderr
    assert not Path(out).exists()
    assert MODEL.read_bytes() == before


def test_an_existing_certificate_is_kept(tmp_path: Path) -> None:
    (tmp_path / "cert.json").write_text("mine")
    done = run("--exact", str(MODEL), "-o", str(tmp_path / "cert.json"), "--claim", SMALL)
    assert done.returncode == 2
    assert "FILE_EXISTS" in done.stderr
    assert (tmp_path / "cert.json").read_text() == "mine"


def test_a_missing_model_is_named(tmp_path: Path) -> None:
    done = run("--exact", str(tmp_path / "none.safetensors"), "-o", str(tmp_path / "cert.json"))
    assert done.returncode == 2
    assert "none.safetensors" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_weights_of_tokens_reach_the_claim(tmp_path: Path) -> None:
    claim = "accuracy of max of 6 tokens when query ~ 3/4 {5} + 1/4 {0..4} and position 0 in {1, 2}"
    report = certify(tmp_path, "--claim", claim)
    assert report["lower"][1] == str(20 * 6 * 6 * 2)
    brute = certify(tmp_path, "--claim", claim, "--strategy", "brute-force", name="brute")
    assert brute["lower"] == report["lower"]
