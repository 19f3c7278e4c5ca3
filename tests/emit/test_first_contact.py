"""What a newcomer meets first: typing errors, folders that are not there, Ctrl-C, and numbers that look alike."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from compactproofs.core.claim import parse, task_of
from compactproofs.core.decimals import ends
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.problem import Problem
from compactproofs.core.strategies import prove
from compactproofs.emit import certify, circuits, load
from made import MODEL, MODELS, ROOT, SMALL, run


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        (["--strategy", "margin-tre"], ["did you mean margin-tree", "all"]),
        (["--strategy", "subcubic:max_dif,mean_query+diff,svd"], ["did you mean max_diff?"]),
        (["--strategy", "subcubic:max_diff"], ["svd_query+max_diff", "mean_query+diff", "mean+max_diff_subproduct"]),
        (["--claim", "accuracy <= 99%"], ["accuracy >= 99%"]),
        (["--claim", "accuracy of Max"], ["small letters"]),
        (["--claim", "accurracy"], ["'accuracy', 'E[log-loss]', 'P(margin > ...)'"]),
        (["--at-least", "99.9", "--exact", "-o", "never-written.json"], ["did you mean 99.9%?"]),
        (["--budget", "1e-6", "--exact", "-o", "never-written.json"], ["between 1 and"]),
        (["--semantics", "float16", "--exact", "-o", "never-written.json"], ["FLOAT_FORMAT"]),
        (["--semantics", "float32"], ["add --exact -o FILE"]),
        (["--gap", "1%"], ["add --exact -o FILE"]),
    ],
)
def test_advice(words: list[str], texts: list[str]) -> None:
    done = run("certify", MODEL, *words)
    assert done.returncode == 2
    assert all(text in done.stderr for text in texts), done.stderr


def test_places_are_checked_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for out, words, code in (
        ("none/cert.json", (), "FILE_WRITE"),
        ("file", ("--strategy", "all"), "NOT_A_FOLDER"),
        ("file", (), "FILE_EXISTS"),
    ):
        done = run("certify", "--exact", tmp_path / "no model", "-o", tmp_path / out)
        if words:  # the strategies are known only with the model
            done = run("certify", "--exact", MODEL, "-o", tmp_path / out, *words)
        assert done.returncode == 2 and code in done.stderr and "Traceback" not in done.stderr
    assert (tmp_path / "file").read_text() == "mine"


def test_the_bound_of_a_claim_counts_from_python_too() -> None:
    with pytest.raises(CompactProofsError, match="CLAIM_NOT_REACHED"):
        certify(MODEL, f"{SMALL} >= 100%", "cubic")


def test_an_estimate_is_by_the_strategy_that_would_prove() -> None:
    done = run("certify", MODEL, "--claim", SMALL)
    exact = certify(MODEL, SMALL)
    assert done.stdout.startswith(f"estimate by margin-tree in floating point: {exact.proof.lower} of ")


def test_an_exact_bound_is_one_number() -> None:
    assert ends(2, 2, 3) == ("66.666666 %", "66.666666 %")
    assert ends(1, 2, 3) == ("33.333333 %", "66.666667 %")
    assert repr(certify(MODEL, SMALL)).startswith("Certificate(margin-tree: exactly ")


def test_things_show_themselves_in_a_line() -> None:
    assert all(len(repr(thing)) < 200 for thing in (load(MODEL), circuits(MODEL)))


PRESS = """
import os, signal, sys
from compactproofs.core.strategies.convolution.search import Search
from compactproofs.emit.cli import main
search = Search.run
def run(self, watch):
    def pressed(state):
        watch(state)
        os.kill(os.getpid(), signal.SIGINT)
    return search(self, pressed)
Search.run = run
main()
"""
"""A search in which Ctrl-C is pressed as soon as there is something."""


@pytest.mark.parametrize(("words", "kept"), [((), False), (("--keep-best",), True)])
def test_ctrl_c_says_what_became_of_the_work(tmp_path: Path, words: tuple[str, ...], kept: bool) -> None:
    out = tmp_path / "cert.json"
    line = ["certify", "--exact", str(MODELS / "max_of_20_v64_seed123.safetensors"), "-o", str(out), *words]
    started = subprocess.run([sys.executable, "-c", PRESS, *line], capture_output=True, text=True, check=False)
    text = started.stderr
    assert started.returncode == 130
    assert text.splitlines()[-1].startswith("interrupted; ")
    assert out.exists() == kept and ("nothing was written" in text) != kept
    assert "Traceback" not in text


def test_import_refuses_before_it_needs_torch(tmp_path: Path) -> None:
    np.savez(tmp_path / "m.npz", a=np.zeros(3))
    done = run("import", tmp_path / "m.npz", "-o", tmp_path / "m.safetensors")
    assert done.returncode == 2 and "save_safetensors(load(dict(numpy.load(FILE)))" in done.stderr
    (tmp_path / "any.pth").write_bytes(b"any")
    done = run("import", tmp_path / "any.pth", "-o", tmp_path / "none" / "m.safetensors")
    assert done.returncode == 2 and "there is no folder" in done.stderr


def test_join_names_the_certificates_that_overlap(tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        assert run("certify", "--exact", MODEL, "--claim", SMALL, "-o", tmp_path / name).returncode == 0
    done = run("join", tmp_path / "a.json", tmp_path / "b.json", "-o", tmp_path / "c.json")
    assert done.returncode == 2 and "JOIN_OVERLAP" in done.stderr
    assert "a.json" in done.stderr and "b.json" in done.stderr


def test_audit_counts_the_lines_of_trust_md(tmp_path: Path) -> None:
    assert run("certify", "--exact", MODEL, "--claim", SMALL, "-o", tmp_path / "a.json").returncode == 0
    shown = run("audit", "--quick", tmp_path / "a.json").stdout
    kernel, used, every = re.findall(r"you trust: (\d+) lines of kernel and (\d+) .* out of (\d+) lines", shown)[0]
    page = (ROOT / "docs" / "TRUST.md").read_text()
    assert re.search(rf"^\| margin-tree .* \| {kernel} \+ {used} \|$", page, re.MULTILINE)
    assert f"| all of `checker/` | {every} |" in page


@pytest.mark.parametrize("strategy", ["cubic", "brute-force", "margin-tree", "margin-convolution"])
def test_the_bound_is_seen_to_grow(strategy: str) -> None:
    class Watch:
        def __init__(self) -> None:
            self.notes: list[str] = []

        def __call__(self, done: int, total: int) -> None: ...

        def note(self, text: str) -> None:
            self.notes.append(text)

    model, claim, watch = load(MODEL), parse(SMALL), Watch()
    proof = prove(strategy, Problem(model, task_of(claim, model)), watch)
    if strategy != "margin-convolution":  # whose search is in doubles
        watch.notes.append(f"at least {100 * proof.lower / 12**4:.4f} % so far")
    found = [float(re.findall(r"[0-9.]+", text)[0]) for text in watch.notes]
    assert len(found) > 2 and found == sorted(found)


@pytest.mark.parametrize(
    ("module", "words", "install"),
    [
        ("joblib", ["certify", "--exact", "none", "-o", "c.json", "--jobs", "2"], '-e ".[report]"'),
        ("joblib", ["sweep", "none", "-o", "out", "--jobs", "2"], '-e ".[report]"'),
        ("distributed", ["sweep", "none", "-o", "out", "--scheduler", "tcp://none:1"], '-e ".[dask]"'),
        ("pyarrow", ["sweep", "none", "-o", "out", "--table", "t.parquet"], "pip install pyarrow"),
        ("jinja2", ["audit", "none", "--html", "page.html"], '-e ".[report]"'),
        ("matplotlib", ["reproduce", "-o", "out", "--cache", "cache"], '-e ".[report]"'),
    ],
)
def test_a_missing_extra_is_told_before_the_work(tmp_path: Path, module: str, words: list[str], install: str) -> None:
    hide = f"import sys; sys.modules[{module!r}] = None; from compactproofs.emit.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", hide, *words], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert done.returncode == 2 and install in done.stderr and "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_goal_that_was_missed_is_told(tmp_path: Path) -> None:
    # one strategy, for time; test_progress.py has the tries of auto
    words = ["--claim", "accuracy of max of 4 tokens", "--strategy", "margin-convolution", "--at-least", "99.99%"]
    done = run("certify", "--exact", MODEL, "-o", tmp_path / "a.json", *words)
    assert done.returncode == 2 and "GOAL_NOT_REACHED" in done.stderr and not (tmp_path / "a.json").exists()
    done = run("certify", "--exact", MODEL, "-o", tmp_path / "b.json", *words, "--keep-best")
    assert done.returncode == 1 and "the goal was NOT reached" in done.stderr and (tmp_path / "b.json").exists()
    done = run("certify", "--exact", MODEL, "-o", tmp_path / "c.json", *words[:4], "--budget", "10")
    assert done.returncode == 2 and "BUDGET_TOO_SMALL" in done.stderr
    done = run("certify", "--exact", MODEL, "-o", tmp_path / "d.json", *words[:4], "--budget", "1e6", "--keep-best")
    assert done.returncode == 0, done.stderr
