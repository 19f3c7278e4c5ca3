"""Every console block of the README is run, and its output compared; `...` stands for any lines, `…` for any text."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands() -> list[tuple[str, list[str]]]:
    """Each command with the lines that the README shows under it."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall((ROOT / "README.md").read_text()):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> str:
    """Lines as a regular expression."""
    escaped = (re.escape(line).replace("…", ".*") for line in lines)
    return "".join(r"(.*\n)*?" if line == "..." else text + r"\n" for line, text in zip(lines, escaped, strict=True))


@pytest.mark.slow
def test_console_blocks() -> None:
    """In order, since later commands use the files of earlier ones."""
    (ROOT / "build").mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command, expected in commands():
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert re.fullmatch(pattern(expected), done.stdout), f"$ {command}\n{done.stdout}"


def test_there_are_commands() -> None:
    """A README without console blocks would make the test above empty."""
    assert len(commands()) >= 4
