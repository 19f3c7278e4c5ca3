"""Print the table of codes in docs/FORMAT.md, section 8, from the checker's source.

python docs/error_codes.py [--write]
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "FORMAT.md"
START, END = "<!-- codes -->", "<!-- end of codes -->"
VERDICTS = {"Rejected": "REJECTED", "Malformed": "MALFORMED", "Exhausted": "RESOURCE", "Refusal": "INTERNAL"}


def codes() -> dict[tuple[str, str], set[str]]:
    """(verdict, code) -> modules that raise it."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in sorted((ROOT / "checker").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in VERDICTS):
                continue
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found.setdefault((VERDICTS[node.func.id], first.value), set()).add(path.stem)
    return found


def table() -> str:
    """The lines of the table."""
    found = sorted(codes().items())
    rows = [f"| `{code}` | {verdict} | {', '.join(sorted(where))} |" for (verdict, code), where in found]
    return "\n".join(["| code | verdict | raised in |", "|---|---|---|", *rows])


def rendered(page: str) -> str:
    """The page with a fresh table."""
    before, _, rest = page.partition(START)
    after = rest.partition(END)[2] if END in rest else rest
    return f"{before}{START}\n{table()}\n{END}{after}"


def main() -> None:
    """Print, or write into the page."""
    if "--write" in sys.argv:
        PAGE.write_text(rendered(PAGE.read_text()))
    else:
        print(table())


if __name__ == "__main__":
    main()
