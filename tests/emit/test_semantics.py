"""certify --semantics: claims about floating-point programs, named in every report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_certify import MODEL, SMALL, certify, check, run


@pytest.mark.parametrize("strategy", ["margin-tree", "brute-force", "cubic", "subcubic:7"])
def test_float32_is_certified_and_costs_little(tmp_path: Path, strategy: str) -> None:
    real = certify(tmp_path, "--strategy", strategy, "--claim", SMALL, name="real.json")
    words = ("--semantics", "float32", "--exp-ulp", "2")
    floating = certify(tmp_path, "--strategy", strategy, "--claim", SMALL, *words)
    assert int(floating["lower"][0]) <= int(real["lower"][0])
    assert int(real["upper"][0]) <= int(floating["upper"][0])
    assert floating["semantics"] == {"format": "binary32", "exp_ulp": 2, "underflow": "flush"}
    done = check(tmp_path / "cert.json", "--model", str(MODEL), "--json")
    verdict = json.loads(done.stdout)
    assert done.returncode == 0
    assert "in every binary32 evaluation" in verdict["claim"]
    assert "exp within 2 ulp" in verdict["claim"]
    assert "over the real numbers" not in verdict["claim"]
    assert verdict["semantics"] == {"format": "binary32", "exp_ulp": 2, "underflow": "flush"}
    assert json.loads(check(tmp_path / "real.json", "--json").stdout)["semantics"] == "real"


def test_explain_shows_the_parts_of_the_error(tmp_path: Path) -> None:
    certify(tmp_path, "--strategy", "cubic", "--claim", SMALL, "--semantics", "float32")
    steps = json.loads((tmp_path / "cert.json").read_text("ascii"))["proof"]
    number = next(i for i, step in enumerate(steps) if step["rule"] == "float_error")
    text = check(tmp_path / "cert.json", "--explain", str(number)).stdout
    for word in ("scores", "softmax", "values", "unembedding", "logits off by at most"):
        assert word in text


def test_a_format_that_cannot_hold_the_weights(tmp_path: Path) -> None:
    done = run("--exact", str(MODEL), "-o", str(tmp_path / "cert.json"), "--semantics", "bfloat16")
    assert done.returncode != 0
    assert "FLOAT_FORMAT" in done.stderr
    assert not (tmp_path / "cert.json").exists()
