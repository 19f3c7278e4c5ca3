"""Print the table of docs/TRUST.md: which lines of checker/ a reader trusts for which kind of proof.

python docs/trusted_lines.py [--write]
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHECKER = ROOT / "checker"
PAGE = ROOT / "docs" / "TRUST.md"
START, END = "<!-- trusted lines -->", "<!-- end -->"
# explain.py prints what people read and takes no part in a verdict; safetensors.py is for --model only
NOT_DECIDING = ("explain.py", "safetensors.py")
PROOFS = {
    "margin-tree (exact counts)": ("margin_tree",),
    "cubic": ("pure_sequences",),
    "brute force": ("enumerate",),
    "margin-convolution": ("margin_convolution",),
    "sub-cubic": ("approximations", "gap_classes"),
    "floating point, besides the count that it carries over": ("float_error",),
}


def lines(path: Path) -> int:
    """Lines of a file."""
    return len(path.read_text().splitlines())


def closure(names: tuple[str, ...]) -> set[str]:
    """Rule modules that the given ones import, themselves included."""
    found: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found.add(name)
        for node in ast.walk(ast.parse((CHECKER / "rules" / f"{name}.py").read_text())):
            if isinstance(node, ast.ImportFrom) and node.level == 1 and node.module:
                todo.append(node.module)
    return found


def table() -> str:
    """The lines of the table."""
    kernel = [path for path in sorted(CHECKER.glob("*.py")) if path.name not in NOT_DECIDING]
    core = sum(map(lines, kernel)) + lines(CHECKER / "rules" / "__init__.py")
    rows = [f"| every proof: the kernel ({', '.join(path.stem for path in kernel)}) | {core} |"]
    shared = closure(("circuits", "ending", "margins"))
    for name, modules in PROOFS.items():
        used = sorted(closure(modules) | shared)
        count = sum(lines(CHECKER / "rules" / f"{module}.py") for module in used)
        rows.append(f"| {name}: {', '.join(used)} | {core} + {count} |")
    rows.append(f"| with `--model`, besides: safetensors | {lines(CHECKER / 'safetensors.py')} |")
    total = sum(map(lines, CHECKER.rglob("*.py")))
    return "\n".join(["| proof: modules | lines |", "|---|---|", *rows, f"| all of `checker/` | {total} |"])


def rendered(page: str) -> str:
    """The page with a fresh table."""
    before, _, rest = page.partition(START)
    return f"{before}{START}\n{table()}\n{END}{rest.partition(END)[2]}"


def main() -> None:
    """Print, or write into the page."""
    if "--write" in sys.argv:
        PAGE.write_text(rendered(PAGE.read_text()))
    else:
        print(table())


if __name__ == "__main__":
    main()
