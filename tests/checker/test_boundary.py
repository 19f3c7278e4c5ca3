"""What the checker may not contain, and who may import whom."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CHECKER = sorted((ROOT / "checker").rglob("*.py"))
REST = sorted(path for folder in ("core", "emit") for path in (ROOT / folder).rglob("*.py"))
MATH = {"comb", "gcd", "isqrt", "prod"}
FORBIDDEN_CALLS = {
    "float",
    "eval",
    "exec",
    "compile",
    "complex",
    "round",
    "__import__",
    "getattr",
    "setattr",
    "globals",
    "vars",
}
ENVIRONMENT = {"environ", "getenv", "environb"}
CLOCKS = {
    "time",
    "datetime",
    "random",
    "secrets",
    "socket",
    "subprocess",
    "pickle",
    "ctypes",
    "decimal",
    "fractions",
    "statistics",
}
FUNCTION_LINES, FILE_LINES = 45, 250


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def imports(path: Path) -> Iterator[str]:
    """Absolute names of imported modules; relative ones as the folder of the project that they lead to."""
    folder = path.relative_to(ROOT).parts[:-1]
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module or ""
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1]
            target = [*base, *(node.module or "").split(".")] if node.module else list(base)
            for alias in node.names:
                yield ".".join(["compactproofs", *target] + ([alias.name] if not base else []))


def calls(path: Path) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node.lineno


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_checker_imports_the_standard_library_and_itself(path: Path) -> None:
    for module in imports(path):
        inside = module.startswith("compactproofs.checker")
        assert inside or module.split(".")[0] in sys.stdlib_module_names, f"{name(path)} imports {module}"
        assert module.split(".")[0] not in CLOCKS, f"{name(path)} imports {module}"


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_checker_has_no_floats_and_no_assertions(path: Path) -> None:
    for node in ast.walk(tree(path)):
        line = f"{name(path)}:{getattr(node, 'lineno', 0)}"
        assert not (isinstance(node, ast.Constant) and isinstance(node.value, float | complex)), (
            f"{line}: float literal"
        )
        assert not isinstance(node, ast.Assert), f"{line}: assert vanishes under -O"
        assert not (isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div)), (
            f"{line}: / gives a float"
        )
        assert not isinstance(node, ast.Global | ast.Nonlocal), f"{line}: global state"
        if isinstance(node, ast.Attribute):
            assert node.attr not in ENVIRONMENT, f"{line}: environment variable"
            if isinstance(node.value, ast.Name) and node.value.id == "math":
                assert node.attr in MATH, f"{line}: math.{node.attr}"
        if isinstance(node, ast.ImportFrom) and node.module == "math":
            assert {alias.name for alias in node.names} <= MATH, f"{line}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_checker_calls_nothing_that_hides_a_value(path: Path) -> None:
    found = [f"{name(path)}:{line}: {called}" for called, line in calls(path) if called in FORBIDDEN_CALLS]
    allowed = {"checker/reader.py": {"getattr"}}  # O_NONBLOCK and O_CLOEXEC where the system has them
    assert [entry for entry in found if entry.split(": ")[1] not in allowed.get(name(path), set())] == []


def _called_names(node: ast.AST) -> set[str]:
    """Names that are called in a body: plain, or as methods of self."""
    result = set()
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call):
            if isinstance(inner.func, ast.Name):
                result.add(inner.func.id)
            elif (
                isinstance(inner.func, ast.Attribute)
                and isinstance(inner.func.value, ast.Name)
                and inner.func.value.id == "self"
            ):
                result.add(f"self.{inner.func.attr}")
    return result


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_checker_does_not_recurse(path: Path) -> None:
    """No cycle in the graph of calls of a module (functions, and methods of one class)."""
    graph: dict[str, set[str]] = {}
    for node in tree(path).body:
        if isinstance(node, ast.FunctionDef):
            graph[node.name] = _called_names(node)
        elif isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    prefix = f"{node.name}." if isinstance(method, ast.FunctionDef) else ""
                    called = {f"{node.name}.{c[5:]}" if c.startswith("self.") else c for c in _called_names(method)}
                    graph[prefix + method.name] = called
    for start in graph:
        seen, stack = set(), [*graph[start] & graph.keys()]
        while stack:
            here = stack.pop()
            assert here != start, f"{name(path)}: {start} calls itself"
            if here not in seen:
                seen.add(here)
                stack += graph[here] & graph.keys()


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_checker_is_short(path: Path) -> None:
    assert len(path.read_text("utf-8").splitlines()) <= FILE_LINES
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= FUNCTION_LINES, f"{name(path)}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_success_is_built_in_one_place(path: Path) -> None:
    """Only the kernel makes a Verified, at the end of check; only the command line says the word."""
    made = [line for called, line in calls(path) if called == "Verified"]
    assert len(made) == (1 if name(path) == "checker/kernel.py" else 0)
    code = [node for node in ast.walk(tree(path)) if isinstance(node, ast.Constant) and node.value == "VERIFIED"]
    assert len(code) == (1 if name(path) == "checker/__main__.py" else 0)


@pytest.mark.parametrize("path", CHECKER, ids=name)
def test_no_swallowed_exception(path: Path) -> None:
    """Every handler raises, or belongs to the two functions that turn a fault into a verdict."""
    allowed = {"judge", "decide"}
    for function in (n for n in ast.walk(tree(path)) if isinstance(n, ast.FunctionDef)):
        for handler in (n for n in ast.walk(function) if isinstance(n, ast.ExceptHandler)):
            raises = any(isinstance(n, ast.Raise) for n in ast.walk(handler))
            assert raises or function.name in allowed, f"{name(path)}:{handler.lineno}: swallowed"


@pytest.mark.parametrize("path", REST, ids=name)
def test_core_and_emit_do_not_import_the_checker(path: Path) -> None:
    assert [module for module in imports(path) if module.startswith("compactproofs.checker")] == []


@pytest.mark.parametrize("path", [path for path in REST if path.is_relative_to(ROOT / "core")], ids=name)
def test_core_does_not_import_emit(path: Path) -> None:
    assert [module for module in imports(path) if module.startswith("compactproofs.emit")] == []
