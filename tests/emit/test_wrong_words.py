"""What a person may get wrong on a command line, and the next step that they are told; all within this process."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.files import check_target
from compactproofs.emit.cli import compactproofs
from compactproofs.emit.console import guarded
from made import MODEL


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        ("certify --exact text.json -o out.json", 2, "looks like JSON, perhaps a certificate, which `check` reads"),
        ("certify --exact short.txt -o out.json", 2, "is this a safetensors file?"),
        ("certify --exact MODEL -o out.json --strategy cubic --at-least 90%", 2, "a goal is for auto or margin-conv"),
        ("sweep MODEL -o short.txt", 2, "short.txt: NOT_A_FOLDER: a sweep writes many files and needs a folder"),
        ("sweep MODEL -o out --table short.txt/table.csv", 2, "NOT_A_FOLDER: the table needs a folder"),
        ("sweep MODEL -o out --strategy all", 2, "'all' is a table made by certify, not one strategy"),
        ("join none.json -o out.json", 2, "none.json: NOT_VERIFIED: the checker says MALFORMED: UNREADABLE"),
        ("join none.json -o none/out.json", 2, "there is no folder"),
        ("audit none.json", 2, "none.json: UNREADABLE"),
        ("check none.json", 2, "none.json: UNREADABLE"),
        ("check", 2, "arguments are required: certificate"),
        ("check --help", 0, "usage: check [--model FILE]"),
        ("chek none.json", 2, "check"),
    ],
)
def test_wrong_words(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: str,
    status: int,
    text: str,
) -> None:
    (tmp_path / "text.json").write_text('{"format": "compactproofs certificate"}')
    (tmp_path / "short.txt").write_text("mine")
    monkeypatch.chdir(tmp_path)
    try:
        found = guarded(compactproofs, [str(MODEL) if word == "MODEL" else word for word in words.split()])
    except SystemExit as end:
        found = int(end.code or 0)
    said = capfd.readouterr()
    assert (found, text in said.out + said.err) == (status, True), said
    assert (tmp_path / "short.txt").read_text() == "mine" and not (tmp_path / "out.json").exists()


def test_a_folder_without_permission_is_told_before_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # for root every folder can be written to
    with pytest.raises(CompactProofsError, match="FILE_WRITE: cannot write: no permission"):
        check_target(tmp_path / "out.json", False)
