"""Ways to start the checker, and what it says to those who hold it wrong."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKER = ROOT / "checker"
GOOD = ROOT / "tests" / "data" / "accept" / "enumerate.json"
MODEL = ROOT / "models" / "max_of_4_v64_seed519.safetensors"


def check(*words: object, start: tuple[str, ...] = ("-I", "-S", str(CHECKER))) -> subprocess.CompletedProcess[str]:
    """The folder, run as a stranger would."""
    line = [sys.executable, *start, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)


def digest() -> str:
    """find checker -name '*.py' | LC_ALL=C sort | xargs cat | sha256sum"""
    paths = sorted(CHECKER.rglob("*.py"), key=lambda path: str(path.relative_to(CHECKER)))
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


@pytest.mark.parametrize(
    "start", [("-I", "-S", str(CHECKER)), ("-S", "-m", "checker"), ("-m", "compactproofs.checker")]
)
def test_every_start_is_the_same_program(start: tuple[str, ...]) -> None:
    done = check(GOOD, start=start)
    assert done.returncode == 0 and done.stdout.splitlines()[-1] == "VERIFIED"
    shown = check("--version", start=start)
    assert shown.returncode == 0 and shown.stdout.endswith(f"version 1; this program sha256:{digest()}\n")
    bad = check(MODEL, start=start)
    assert bad.returncode == 2 and bad.stdout == "MALFORMED\n"


def test_the_folder_may_have_another_name_and_hides_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "received"
    shutil.copytree(CHECKER, folder)
    (tmp_path / "json.py").write_text("raise SystemExit('a neighbour was imported')")
    (folder / "argparse.py").write_text("raise SystemExit('a module of the folder was imported')")
    done = check(GOOD, start=("-I", "-S", str(folder)))
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "VERIFIED")


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["GOOD", "--at-least", "99.9"], "99.9% has a per cent sign"),
        (["GOOD", "--at-least", "101%"], "more than all inputs"),
        (["MODEL"], "looks like a safetensors file"),
        (["CUT"], "the end of the file is missing\n"),
        (["CUT_IN_TEXT"], "the end of the file is missing\n"),
        (["EMPTY"], "NOT_JSON: the file is empty\n"),
        (["MORE"], "Extra data: line 1 column 4 (char 3)\n"),
        (["PYTHON"], "Expecting value: line 1 column 1 (char 0)\n"),
        (["PRETTY"], "edited or reformatted"),
        (["GOOD", "--model", "MODEL"], f"--model {MODEL}: "),
        (["GOOD", "--max-operations", "5"], "--max-operations"),
    ],
)
def test_advice(tmp_path: Path, words: list[str], text: str) -> None:
    data = GOOD.read_bytes()
    (tmp_path / "cut").write_bytes(data[:-100])
    (tmp_path / "cut_in_text").write_bytes(data[: data.index(b'"compactproofs') + 5])
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "more").write_text("{} and more")
    (tmp_path / "python").write_text("import os\n")
    (tmp_path / "pretty").write_text(json.dumps(json.loads(data), indent=1))
    names = {"GOOD": GOOD, "MODEL": MODEL, **{path.name.upper(): path for path in tmp_path.iterdir()}}
    done = check(*(names.get(word, word) for word in words))
    assert done.returncode != 0 and text in done.stderr
    if "--model" in words:
        assert str(GOOD) not in done.stderr


def test_show_prints_no_python() -> None:
    done = check(GOOD, "--show")
    assert "no end token" in done.stdout and "None" not in done.stdout


@pytest.mark.parametrize(("dtype", "one"), [("F32", "0000803f"), ("BF16", "803f"), ("U8", "01")])
def test_a_mask_may_be_stored_in_any_type(tmp_path: Path, dtype: str, one: str) -> None:
    data = GOOD.with_suffix(".safetensors").read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:end])
    size, start = header["pos_embed.W_pos"]["shape"][0], len(data) - end
    for keep, verdict in ((lambda i, j: j <= i, 0), (lambda i, j: True, 1)):
        mask = b"".join(
            bytes.fromhex(one) * keep(i, j) or bytes(len(one) // 2) for i in range(size) for j in range(size)
        )
        entry = {"dtype": dtype, "shape": [size, size], "data_offsets": [start, start + len(mask)]}
        text = json.dumps({**header, "blocks.0.attn.mask": entry}).encode()
        (tmp_path / "m.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + data[end:] + mask)
        assert check(GOOD, "--model", tmp_path / "m.safetensors").returncode == verdict


@pytest.mark.parametrize("word", ["--version", "--help", "-h"])
def test_beside_a_file_status_0_is_only_for_verified(word: str) -> None:
    assert check(word).returncode == 0
    done = check(GOOD, word)
    assert done.returncode == 2 and done.stdout == "MALFORMED\n"


@pytest.mark.parametrize("options", [["--at-least", "99%", "--at-least=1%"], ["--at-most", "1", "--at-most", "2"]])
def test_what_is_insisted_on_is_said_once(options: list[str]) -> None:
    done = check(GOOD, *options)
    assert done.returncode == 2 and options[0] in done.stderr


def test_json_names_the_task() -> None:
    report = json.loads(check(GOOD, "--json").stdout)
    assert (report["task"], report["quantity"], report["threshold"], report["eos"]) == ("max", "margin", ["0", 0], None)
    task = json.loads(GOOD.read_bytes())["claim"]["task"]
    assert (report["length"], report["tokens"]) == (task["length"], task["tokens"])
