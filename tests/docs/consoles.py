"""Console blocks of a page: commands, what the page shows under them, and whether that is what happens."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"```console\n(.*?)```", re.DOTALL)


def commands(page: Path) -> list[tuple[str, list[str]]]:
    """Each command with the lines that the page shows under it."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def pattern(lines: list[str]) -> str:
    """Lines as a regular expression: `...` alone stands for any lines, `...` or `…` inside a line for any text."""
    texts = (re.escape(line).replace(r"\.\.\.", ".*").replace("…", ".*") + r"\n" for line in lines)
    return "".join(r"(.*\n)*?" if line == "..." else text for line, text in zip(lines, texts, strict=True))


def run(page: Path) -> None:
    """Run the commands in order, since later ones use the files of earlier ones, and compare what they print."""
    (ROOT / "build").mkdir(exist_ok=True)
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    for command, expected in commands(page):
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert re.fullmatch(pattern(expected), done.stdout), f"{page.name}: $ {command}\n{done.stdout}"
