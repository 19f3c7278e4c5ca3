"""How many lines of the checker a reader trusts for which proof. docs/trusted_lines.py reads this file, too."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

NOT_DECIDING = ("explain.py", "safetensors.py")
"""explain.py prints what people read and takes no part in a verdict; safetensors.py is for --model only."""
ALWAYS = ("circuits", "ending", "margins")
"""Modules of rules that every proof uses."""


def lines(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text(encoding="utf-8").splitlines())


def kernel(checker: Path) -> list[Path]:
    """What every proof depends on besides the modules of its rules."""
    own = sorted(path for path in checker.glob("*.py") if path.name not in NOT_DECIDING)
    return [*own, checker / "rules" / "__init__.py"]


def closure(checker: Path, names: Iterable[str]) -> list[str]:
    """Modules of rules that the given ones import, themselves included."""
    found: set[str] = set()
    todo = [*names, *ALWAYS]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse((checker / "rules" / f"{name}.py").read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                todo.append(node.module)
    return sorted(found)


def modules_of(checker: Path, rules: Iterable[str]) -> list[str]:
    """The modules of rules, by the table in rules/__init__.py, with what they import."""
    tree = ast.parse((checker / "rules" / "__init__.py").read_text(encoding="utf-8"))
    home = {
        alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module
        for alias in node.names
    }
    table = next(node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    functions = {
        key.value: value.id
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, ast.Constant) and isinstance(value, ast.Name)
    }
    return closure(checker, [home[functions[rule]] for rule in rules if rule in functions])


def counts(checker: Path, rules: Iterable[str]) -> dict[str, int]:
    """Lines of the kernel, of the modules of some rules, and of everything."""
    used = sum(lines(checker / "rules" / f"{name}.py") for name in modules_of(checker, rules))
    every = sum(map(lines, checker.rglob("*.py")))
    return {"kernel": sum(map(lines, kernel(checker))), "rules used": used, "all of the checker": every}
