"""Write measurements into docs/float.md, between its markers, and the undecided inputs into a file beside it.

python benchmarks/float_page.py FILE     # of float_reality.py --json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent.parent / "docs"
PAGE, LIST = DOCS / "float.md", DOCS / "float_undecided.txt"


def replace(block: str, text: str) -> None:
    """The lines between `<!-- block -->` and the next `<!-- end -->`."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(f"<!-- {block} -->\n", 1)
    after = rest.split("<!-- end -->", 1)[1]
    PAGE.write_text(f"{before}<!-- {block} -->\n{text}\n<!-- end -->{after}", encoding="utf-8")


def tables(rows: list[dict[str, Any]]) -> str:
    """One table of models, one of runs."""
    models = [
        "| model | inputs | 2ε | undecided | of them: answer differs between runs | from the real one | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    runs = [
        "| model | program | inputs | max abs(float32 − real) | of ε | certified but wrong |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        inputs = f"{row['inputs']:,}, {'all' if row['exhaustive'] else 'sampled'}"
        counts = f"{len(row['undecided'])} | {row['differ_between_runs']} | {row['differ_from_real']}"
        models.append(f"| {row['model']} | {inputs} | {row['two_eps']:.5f} | {counts} | {row['seconds']:.0f} |")
        for name, item in row["runs"].items():
            off = f"{item['worst']:.2e} | {100 * item['ratio']:.3f} %"
            runs.append(f"| {row['model']} | {name} | {item['inputs']:,} | {off} | {item['certified_but_wrong']} |")
    return "\n".join([*models, "", *runs])


def listing(rows: list[dict[str, Any]]) -> str:
    """Every undecided input, nearest first: its real margin, the least and the largest float32 margin."""
    text = [
        "# model; tokens; margin over the real numbers; least and largest float32 margin of the runs; answer in float32"
    ]
    for row in rows:
        for note in row["undecided"]:
            values = note["float32"].values()
            right = {value > 0 for value in values}
            answer = "differs" if len(right) > 1 else "right" if True in right else "wrong"
            ends = f"{min(values):+.9e}; {max(values):+.9e}"
            text.append(f"{row['model']}; {' '.join(map(str, note['tokens']))}; {note['real']:+.9e}; {ends}; {answer}")
    return "\n".join(text) + "\n"


def put(rows: list[dict[str, Any]]) -> None:
    """Both files."""
    replace("reality", tables(rows))
    LIST.write_text(listing(rows), encoding="utf-8")


if __name__ == "__main__":
    put(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))
