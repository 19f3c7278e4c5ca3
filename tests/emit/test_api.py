"""The Python API, its displays, and what the commands say of themselves."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.checkpoint import load as load_file
from compactproofs.core.checkpoint import save_safetensors
from compactproofs.core.errors import CompactProofsError
from compactproofs.emit import Certificate, audit, certify, check, circuits, load
from compactproofs.emit.display import diverging, png
from made import BIN, MODEL, ROOT, SMALL, run


@pytest.fixture(scope="module")
def made() -> Certificate:
    return certify(MODEL, SMALL, "cubic")


def test_load_takes_files_arrays_and_models() -> None:
    model = load(str(MODEL))
    assert load(MODEL).sha256 == load(model).sha256 == model.sha256
    arrays = {t.name: np.frombuffer(t.data, np.float32).reshape(t.shape) for t in model.tensors}
    assert load(arrays).sha256 == model.sha256
    with pytest.raises(CompactProofsError, match="CONFIG_OBJECT"):
        load(3)


def test_certify_check_save(made: Certificate, tmp_path: Path) -> None:
    verdict = check(made)
    assert verdict and verdict.verdict == "VERIFIED"
    assert (verdict.lower, verdict.total) == (made.proof.lower, 12**4)
    made.save(tmp_path / "cert.json")
    assert check(tmp_path / "cert.json") == verdict
    assert load_file(MODEL).sha256 == made.question.model.sha256
    with pytest.raises(CompactProofsError, match="FILE_EXISTS"):
        made.save(tmp_path / "cert.json")
    assert "VERIFIED" in verdict._repr_html_() and "at least" in made._repr_html_()
    assert "not checked" in repr(made)


def test_a_false_certificate_is_false(made: Certificate, tmp_path: Path) -> None:
    bad = Certificate(made.question, made.proof, made.data.replace(b'"length":4', b'"length":3'))
    verdict = check(bad)
    assert not verdict and verdict.message
    assert "at least" not in verdict._repr_html_()
    with pytest.raises(CompactProofsError, match="NOT_VERIFIED"):
        audit(bad)


def test_audit(made: Certificate, tmp_path: Path) -> None:
    report = audit(made, certify(MODEL, SMALL, "margin-tree"))
    text = str(report)
    assert "where the bound loses, by maximum" in text and "side by side" in text
    html = report._repr_html_()
    assert html.count("data:image/png") == 2 and "VERIFIED" in html
    pytest.importorskip("jinja2", reason="the page needs jinja2")
    report.save_html(tmp_path / "page.html")
    assert "VERIFIED" in (tmp_path / "page.html").read_text()


def test_circuits_show_themselves() -> None:
    shown = circuits(MODEL)._repr_html_()
    assert re.findall(r"<b>(\w+)", shown) == ["EQKE", "EQKP", "EVOU", "PVOU", "EU"]


def test_pictures_hold_the_colours() -> None:
    colours = diverging(np.array([[-1.0, 0.0, 1.0], [0.5, -0.5, 0.0]]))
    data = base64.b64decode(png(colours).partition(",")[2])
    start = data.index(b"IDAT") + 4
    rows = zlib.decompress(data[start : data.index(b"IEND") - 8])
    assert rows == b"".join(b"\x00" + row.tobytes() for row in colours)
    assert tuple(colours[0, 1]) == (247, 247, 247)
    assert colours[0, 0, 2] > colours[0, 0, 0] and colours[0, 2, 0] > colours[0, 2, 2]


def test_importing_stays_light() -> None:
    code = (
        "import sys, compactproofs.emit; print([m for m in ('numpy', 'jinja2', 'rich', 'click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", ["certify", "audit", "sweep", "completion", "import", "train"])
def test_help_has_examples(command: str) -> None:
    done = run(command, "--help")
    assert done.returncode == 0
    if command not in ("import", "train"):
        assert "Examples:" in done.stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    done = run("completion", shell)
    assert done.returncode == 0
    for name in ("certify", "audit", "sweep", "compactproofs"):
        assert f"_{name.upper()}_COMPLETE" in done.stdout


def test_completion_completes() -> None:
    environment = {"_COMPACTPROOFS_COMPLETE": "bash_complete", "COMP_WORDS": "compactproofs au", "COMP_CWORD": "1"}
    done = subprocess.run([str(BIN / "compactproofs")], capture_output=True, text=True, env=environment, check=False)
    assert "plain,audit" in done.stdout


def test_completion_knows_strategies() -> None:
    for start, names in (("mar", ["margin-convolution", "margin-tree"]), ("subcubic:9", ["subcubic:9", "subcubic:90"])):
        words = {"COMP_WORDS": f"certify --strategy {start}", "COMP_CWORD": "2", "_CERTIFY_COMPLETE": "bash_complete"}
        done = subprocess.run([str(BIN / "certify")], capture_output=True, text=True, env=words, check=False)
        assert done.stdout.split()[:2] == [f"plain,{name}" for name in names]


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (lambda: certify(MODEL, 5), "CLAIM_SYNTAX"),  # type: ignore[arg-type]
        (lambda: certify(MODEL, strategy=5), "STRATEGY_NAME"),  # type: ignore[arg-type]
        (lambda: load(3), "CONFIG_OBJECT: 3 is no model"),
        (audit, "NOTHING_TO_AUDIT"),
    ],
)
def test_what_is_of_the_wrong_kind_is_told(wrong: Callable[[], object], code: str) -> None:
    with pytest.raises(CompactProofsError, match=code):
        wrong()


def test_a_file_that_exists_is_told_in_the_words_of_the_caller(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    save_safetensors(load(MODEL), path)
    with pytest.raises(CompactProofsError, match=r"FILE_EXISTS: .* pass overwrite=True$"):
        save_safetensors(load(MODEL), path)
    done = run("certify", "--exact", MODEL, "-o", path)
    assert done.returncode == 2 and done.stderr.endswith("or add --force\n")


def test_the_rules_of_the_page_are_those_of_the_format() -> None:
    assert (ROOT / "emit" / "auditing" / "FORMAT.md").read_bytes() == (ROOT / "docs" / "FORMAT.md").read_bytes()


def test_the_mean_loss_is_in_nats_and_no_share() -> None:
    made = certify(MODEL, "E[log-loss] of max of 6 tokens <= 8", "margin-tree")
    verdict = check(made)
    assert verdict and verdict.quantity == "log-loss"
    assert 0 < made.lower < made.upper <= 8
    assert "nats" in repr(made) and "nats" in made._repr_html_() and "nats" in verdict._repr_html_()
    with pytest.raises(CompactProofsError, match="CLAIM_NOT_REACHED"):
        certify(MODEL, "E[log-loss] of max of 6 tokens <= 1/1000000000", "margin-tree")


def test_a_mixture_from_python() -> None:
    made = certify(MODEL, "accuracy of max of 6 tokens when 1/2 (uniform) + 1/2 (maximum in {2})", "margin-tree")
    assert check(made) and "mixture of 2" in check(made).claim
