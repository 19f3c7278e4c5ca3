"""Write docs/reference.md from docstrings and from --help: the Python API and all commands.

python docs/make_reference.py
"""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import Any

import click
import compactproofs.emit as api
from compactproofs.emit.cli import compactproofs

PAGE = Path(__file__).resolve().parent / "reference.md"


def page() -> str:
    """The page."""
    lines = ["# Reference", "", "Made from docstrings and `--help` by `docs/make_reference.py`.", "", "## Python", ""]
    lines += ["    from compactproofs.emit import " + ", ".join(api.__all__), ""]
    for name in sorted(api.__all__, key=lambda name: (name[0].isupper(), name)):
        lines += _entry(name, getattr(api, name))
    lines += ["## Commands", ""]
    for name in sorted(compactproofs.commands):
        command = compactproofs.commands[name]
        # -h comes from the settings of a command, or from those of its group
        group = click.Context(compactproofs, info_name="compactproofs", **compactproofs.context_settings)
        settings = {**command.context_settings, "max_content_width": 110, "terminal_width": 110}
        parent = None if _shown(name) == name else group
        context = click.Context(command, parent=parent, info_name=name, **settings)
        lines += [f"### `{_shown(name)}`", "", "```text", command.get_help(context).rstrip(), "```", ""]
    lines += ["`check` is a program of its own: `check --help`.", ""]
    return "\n".join(lines)


def _shown(name: str) -> str:
    """The console script if there is one."""
    return name if name in ("certify", "audit", "sweep") else f"compactproofs {name}"


def _entry(name: str, item: Any) -> list[str]:
    """A function or class with its own public members."""
    doc = inspect.getdoc(item) or ""
    if not inspect.isclass(item):
        return [f"### `{name}{inspect.signature(item)}`".replace("'", ""), "", doc, ""]
    lines = [f"### class `{name}`", "", doc, ""]
    for key, member in vars(item).items():
        function = member.fget if isinstance(member, property) else member
        if key.startswith("_") or not inspect.isfunction(function):
            continue
        text = "" if isinstance(member, property) else str(inspect.signature(function)).replace("self, ", "")
        text = text.replace("(self)", "()").replace("'", "")
        lines.append(f"* `{key}{text}`: {' '.join((inspect.getdoc(function) or '').split())}")
    return [*lines, ""]


def main() -> None:
    """Write."""
    os.environ["COLUMNS"] = "110"
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
