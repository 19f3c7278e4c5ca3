"""The Lean export: its text against golden files and a grammar, what changes it, and the command.

`python tests/emit/test_lean_export.py` writes the golden files again.
"""

from __future__ import annotations

import base64
import json
import re
import struct
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from compactproofs.checker.rules import RULES
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.model import Tensor
from compactproofs.emit.certificate import encode
from compactproofs.emit.lean_cmd import lean
from compactproofs.emit.lean_export import readback
from compactproofs.emit.lean_export.certificate import Certificate, decode
from compactproofs.emit.lean_export.export import render
from compactproofs.emit.lean_export.folder import write_folder
from compactproofs.emit.lean_export.numerals import Table, decimal, number_text, table, tensor_text
from hypothesis import given, settings
from hypothesis import strategies as st
from lark import Lark
from lark.exceptions import UnexpectedInput

DATA = Path(__file__).resolve().parents[1] / "data"
GOLDEN = DATA / "lean"
REFUSED = ("given", "log_loss", "log_loss_mixture", "mixture", "mixture_convolution", "program_mixture")  # LEAN_CLAIM
ACCEPTED = sorted(path for path in (DATA / "accept").glob("*.json") if path.stem not in REFUSED)
SMALL = ("enumerate", "gap_classes")
WORDS = "the checker's words"
NUMBERS = ("Export/Weights.lean", "Export/Claim.lean")


@cache
def grammar() -> Lark:
    return Lark(Path(__file__).with_name("lean_export.lark").read_text("utf-8"), parser="lalr")


def certificate(path: Path) -> Certificate:
    return decode(path.read_bytes(), WORDS)


def document(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_bytes())
    return value


def rendered(value: dict[str, Any]) -> dict[str, str]:
    return render(decode(encode(value), WORDS))[0]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(lean, [str(a) for a in arguments])


# --- the text --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_golden_files(name: str) -> None:
    files, _ = render(certificate(GOLDEN / f"{name}.json"))
    for path in NUMBERS:
        stored = GOLDEN / name / Path(path).name
        assert files[path] == stored.read_text("utf-8"), f"run: python {Path(__file__).name}"


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_every_exported_file_parses(path: Path) -> None:
    files, count = render(certificate(path))
    assert count > 40
    for name, text in files.items():
        if name.startswith("Export/"):
            tree = grammar().parse(text)
            stubs = len(list(tree.find_data("stub")))
            assert stubs == text.count("sorry") - sum(c.count("sorry") for c in re.findall(r"/-.*?-/", text, re.S))
            assert (stubs > 0) == (name == "Export/Claim.lean")


@pytest.mark.parametrize("name", REFUSED)
def test_claims_that_are_not_exported_are_refused(name: str, tmp_path: Path) -> None:
    done = run(DATA / "accept" / f"{name}.json", "-o", tmp_path / "out")
    assert done.exit_code and "LEAN_CLAIM" in f"{done.output}{done.exception!r}{getattr(done.exception, 'code', '')}"
    assert not (tmp_path / "out").exists()


def test_every_kind_of_proof_is_among_them() -> None:
    rules = {step["rule"] for path in ACCEPTED for step in document(path)["proof"]}
    assert rules == set(RULES) - {"log_loss", "mixture"}


@pytest.mark.parametrize("path", ACCEPTED, ids=lambda path: path.stem)
def test_there_is_a_lemma_for_each_rule_used_and_no_other(path: Path) -> None:
    rules = {step["rule"] for step in document(path)["proof"]} - {"float_error"}
    text = rendered(document(path))["Export/Rules.lean"]
    stated = set(re.findall(r"^theorem Rule\.(\w+)", text, re.M))
    assert stated == rules | {"circuit", "conclude"}
    for rule in stated:
        assert f"CompactProofs.Rule.{rule}" in text


def test_stubs_are_listed_with_their_steps_and_the_digest() -> None:
    read = certificate(DATA / "accept" / "union.json")
    text = render(read)[0]["Export/Claim.lean"]
    head = text[: text.index("-/\nnamespace")]
    stubs = re.findall(r"^theorem (\w+) : .* := sorry$", text, re.M)
    assert re.findall(r"^\* `(\w+)`$", head, re.M) == stubs and len(stubs) == 6
    assert read.digest in head and read.model.sha256 in head and "not** been run" in head
    assert "Step 20, `enumerate`, with the arithmetic of the steps 0 to 19 that lead to it." in text


BROKEN: list[tuple[str, str]] = [
    (":= sorry", ":= sorr"),
    ("[⟨0, 0, 1⟩", "[⟨0, 0, 1"),
    ("def lower : ℕ := ", "def lower : ℕ := 0"),
    ("def upper", "def more : ℕ := 1\ndef upper"),
    ("end CompactProofs.Export", ""),
    ("theorem step_20 :", "theorem :"),
    ("def total : ℕ", "axiom total : ℕ"),
    ("  length := length\n", "  length :=\n"),
    ("(fun x => lower", "(fun x lower"),
]


@pytest.mark.parametrize(("old", "new"), BROKEN)
def test_malformed_text_does_not_parse_or_does_not_read_back(old: str, new: str) -> None:
    read = certificate(GOLDEN / "enumerate.json")
    text = render(read)[0]["Export/Claim.lean"]
    assert old in text
    with pytest.raises((UnexpectedInput, CompactProofsError, AssertionError)):
        tree = grammar().parse(text.replace(old, new, 1))
        readback.compare(read, {"": text.replace(old, new, 1), "w": render(read)[0]["Export/Weights.lean"]})
        assert len(list(tree.find_data("stub"))) == 1


# --- what changes the text ---------------------------------------------------------------------------------


def differing(a: dict[str, str], b: dict[str, str]) -> list[tuple[str, str]]:
    """Lines that differ, digests aside."""
    found = []
    for name in a:
        lines = (a[name].splitlines(), b[name].splitlines())
        assert len(lines[0]) == len(lines[1]), name
        found += [(name, new) for old, new in zip(*lines, strict=True) if old != new and "sha256" not in old]
    return found


CHANGES: list[tuple[str, Callable[[dict[str, Any]], None], str]] = [
    ("lower", lambda d: d["claim"]["bounds"].update(lower="5"), "def lower : ℕ := 5"),
    ("upper", lambda d: d["claim"]["bounds"].update(upper="7"), "def upper : ℕ := 7"),
    ("total", lambda d: d["claim"]["bounds"].update(total="b"), "def total : ℕ := 11"),
    ("right", lambda d: d["proof"][20].update(right="5"), "def step_20_right : ℕ := 5"),
    ("wrong", lambda d: d["proof"][20].update(wrong="2"), "def step_20_wrong : ℕ := 2"),
    ("span", lambda d: d["proof"][20]["region"][0].__setitem__(2, 9), "[⟨0, 0, 9⟩, ⟨1, 0, 2⟩, ⟨2, 0, 3⟩]"),
    (
        "margin",
        lambda d: d["claim"]["quantity"].update(margin_above="-3", exponent=-70),
        f"(Int.cast (-3) : ℝ) / (2 : ℝ) ^ ({70} : ℕ)",
    ),
    ("tokens", lambda d: d["claim"]["task"].update(tokens=2), "def tokens : ℕ := 2"),
]


@pytest.mark.parametrize(("name", "change", "line"), CHANGES, ids=[name for name, _, _ in CHANGES])
def test_one_number_changes_the_text_accordingly(name: str, change: Callable[[Any], None], line: str) -> None:
    value = document(GOLDEN / "enumerate.json")
    before = rendered(value)
    change(value)
    lines = differing(before, rendered(value))
    assert lines and all(file == "Export/Claim.lean" for file, _ in lines) and any(line in new for _, new in lines)
    assert len(lines) <= 2


@pytest.mark.parametrize("index", range(7))
def test_one_weight_changes_one_number(index: int) -> None:
    value = document(GOLDEN / "enumerate.json")
    before = rendered(value)
    tensor = value["model"]["tensors"][index]
    data = bytearray(base64.b64decode(tensor["data"]))
    code = "<" + readback.UNPACK[tensor["dtype"]]
    struct.pack_into(code, data, 0, struct.unpack_from(code, data)[0] + 1)
    tensor["data"] = base64.b64encode(bytes(data)).decode()
    after = rendered(value)
    assert before["Export/Claim.lean"].count("\n") == after["Export/Claim.lean"].count("\n")
    name = "tensor_" + tensor["name"].rpartition(".")[2]
    tables = [readback.definitions(files["Export/Weights.lean"]) for files in (before, after)]
    changed = [key for key in tables[0] if tables[0][key] != tables[1][key]]
    assert changed == [name]
    first: Any = [values[name] for values in tables]
    assert first[1][0][0] == first[0][0][0] + 1 and first[0][0][1:] == first[1][0][1:] and first[0][1:] == first[1][1:]


# --- numbers -------------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(-(2**90), 2**90), min_size=2, max_size=2), min_size=1, max_size=3),
    st.integers(-1100, 80),
)
def test_tables_are_read_back(rows: list[list[int]], exponent: int) -> None:
    value = table(rows, exponent)
    read = readback.definitions(tensor_text("a", value) + "\n")["a"]
    assert read == value.fractions() == [[n * Fraction(2) ** exponent for n in row] for row in rows]


@settings(max_examples=60)
@given(st.integers(-(2**200), 2**200), st.integers(0, 1100))
def test_numbers_are_read_back(n: int, power: int) -> None:
    text = number_text("a", Fraction(n, 1 << power)) + "\n"
    assert readback.definitions(text) == {"a": Fraction(n, 1 << power)}


def test_numerals_of_any_length() -> None:
    for n in (0, 1, -1, 10**4000 - 1, 10**4000, -(10**8001) - 7, 1 << 32768):
        assert readback.integer(decimal(n)) == n
    assert decimal(2**70) == "1180591620717411303424"
    for text in ("", "-", "007", "+1", "1_0", "٣"):
        with pytest.raises(ValueError):
            readback.integer(text)


@pytest.mark.parametrize(("dtype", "data", "value"), [
    ("BF16", b"\xc0\x3f", Fraction(3, 2)),
    ("F16", b"\x01\x00", Fraction(1, 1 << 24)),
    ("F64", struct.pack("<d", 5e-324), Fraction(1, 1 << 1074)),
    ("F32", struct.pack("<f", -(2.0**70)), Fraction(-(2**70))),
])  # fmt: skip
def test_both_ways_of_reading_weights_agree(dtype: str, data: bytes, value: Fraction) -> None:
    tensor = Tensor("unembed.b_U", dtype, (1,), data)
    flat, exponent = tensor.exact()
    assert readback.floats(tensor) == [[value]] == table([flat], exponent).fractions()


def test_a_wrong_numeral_stops_everything(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = "compactproofs.emit.lean_export.weights.tensor_text"
    monkeypatch.setattr(
        wrong, lambda name, value: tensor_text(name, Table(value.denominator, ((0,) * 2,) * len(value.rows)))
    )
    result = run(GOLDEN / "enumerate.json", "-o", tmp_path / "out")
    assert isinstance(result.exception, CompactProofsError) and result.exception.code == "LEAN_READBACK"
    assert list(tmp_path.iterdir()) == []


# --- the command -----------------------------------------------------------------------------------------------


def test_command_writes_a_lake_project(tmp_path: Path) -> None:
    out = tmp_path / "out"
    result = run(GOLDEN / "enumerate.json", "-o", out)
    assert (result.exit_code, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert lines[0].endswith("on exactly 6 of 9 inputs (66.666666 %)") and lines[1].startswith("stubs: 1,")
    assert lines[2].endswith("numbers read back") and lines[3].startswith(f"wrote {out}: ")
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert files >= {"lakefile.toml", "lean-toolchain", "Export/Claim.lean", "CompactProofs/Soundness.lean"}
    assert "CompactProofs/Foundation.lean" not in files
    for path in out.glob("CompactProofs/*.lean"):
        assert path.read_bytes() == (DATA.parents[1] / "lean" / "CompactProofs" / path.name).read_bytes()
        for module in re.findall(r"^import (\S+)", path.read_text("utf-8"), re.M):
            assert f"{module.replace('.', '/')}.lean" in files
    again = tmp_path / "again"
    run(GOLDEN / "enumerate.json", "-o", again)
    assert all((again / name).read_bytes() == (out / name).read_bytes() for name in files)


def test_command_refuses_what_the_checker_refuses(tmp_path: Path) -> None:
    for path in ("reject/lower_one_too_high.json", "malformed/no_such_file.json", "."):
        result = run(DATA / path, "-o", tmp_path / "out")
        if path == "reject/lower_one_too_high.json":
            assert result.exit_code == 1 and result.stdout == "REJECTED\n" and "BOUND" in result.stderr
        else:
            assert isinstance(result.exception, CompactProofsError) and result.exception.code == "CERT_UNREADABLE"
    assert list(tmp_path.iterdir()) == []


def test_force_replaces_an_export_and_nothing_else(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(GOLDEN / "enumerate.json", "-o", out)
    first = (out / "Export/Claim.lean").read_bytes()
    result = run(GOLDEN / "gap_classes.json", "-o", out)
    assert isinstance(result.exception, CompactProofsError) and result.exception.code == "FOLDER_EXISTS"
    assert (out / "Export/Claim.lean").read_bytes() == first
    (out / ".lake" / "packages").mkdir(parents=True)
    (out / ".lake" / "packages" / "built").write_text("x")
    assert run(GOLDEN / "gap_classes.json", "-o", out, "--force").exit_code == 0
    assert (out / "Export/Claim.lean").read_bytes() != first
    assert (out / ".lake" / "packages" / "built").read_text() == "x"
    (out / "Export" / "mine.txt").write_text("x")
    for target in (out, tmp_path, GOLDEN / "enumerate.json"):
        result = run(GOLDEN / "enumerate.json", "-o", target, "--force")
        assert isinstance(result.exception, CompactProofsError) and result.exception.code == "FOLDER_FOREIGN"
    assert (out / "Export" / "mine.txt").exists() and [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_failing_write_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out"
    write_folder(str(out), {"Export/Claim.lean": "old"})

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CompactProofsError) as caught:
        write_folder(str(out), {"Export/Claim.lean": "new"}, force=True)
    assert caught.value.code == "FILE_WRITE"
    assert (out / "Export/Claim.lean").read_text() == "old" and [path.name for path in tmp_path.iterdir()] == ["out"]


def test_help_has_examples() -> None:
    text = run("--help").stdout
    assert "Examples:" in text and "--force" in text and "compactproofs lean cert.json -o" in text


def write_golden() -> None:
    """Write the golden files."""
    for name in SMALL:
        files, _ = render(certificate(GOLDEN / f"{name}.json"))
        (GOLDEN / name).mkdir(exist_ok=True)
        for path in NUMBERS:
            (GOLDEN / name / Path(path).name).write_text(files[path], "utf-8")


if __name__ == "__main__":
    write_golden()
