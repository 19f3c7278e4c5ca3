"""Print the table of docs/TRUST.md: which lines of checker/ a reader trusts for which kind of proof.

python docs/trusted_lines.py [--write]
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
CHECKER = ROOT / "checker"
PAGE = ROOT / "docs" / "TRUST.md"
START, END = "<!-- trusted lines -->", "<!-- end -->"
PROOFS = {
    "margin-tree (exact counts)": ("margin_tree",),
    "cubic": ("pure_sequences",),
    "brute force": ("enumerate",),
    "margin-convolution": ("margin_convolution",),
    "sub-cubic": ("approximations", "gap_classes"),
    "floating point, besides the count that it carries over": ("float_error",),
    "mean log-loss, besides the counts that it is made of": ("log_loss",),
}


def _counting() -> ModuleType:
    """What `audit` counts with, so that both say the same."""
    spec = importlib.util.spec_from_file_location("trusted", ROOT / "emit" / "auditing" / "trusted.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError("trusted.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def table() -> str:
    """The lines of the table."""
    count = _counting()
    kernel = [path.stem for path in count.kernel(CHECKER)[:-1]]
    core = sum(map(count.lines, count.kernel(CHECKER)))
    rows = [f"| every proof: the kernel ({', '.join(kernel)}) | {core} |"]
    for name, modules in PROOFS.items():
        used = count.closure(CHECKER, modules)
        rules = sum(count.lines(CHECKER / "rules" / f"{module}.py") for module in used)
        rows.append(f"| {name}: {', '.join(used)} | {core} + {rules} |")
    rows.append(f"| with `--model`, besides: safetensors | {count.lines(CHECKER / 'safetensors.py')} |")
    total = sum(map(count.lines, CHECKER.rglob("*.py")))
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
