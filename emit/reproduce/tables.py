"""Tables 1-6 as rows of text, and how a table becomes Markdown or CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...core.cost import BRUTE_FORCE_CLASS, CUBIC_CLASS, power_of_two, subcubic_class
from ...core.grid import EU_OPTIONS, GROUPS, choice
from .bounds import CUBIC, OURS, PUBLISHED, SOUND, TIGHT, TREE, BoundRow, paper_costs
from .collect import ModelResult, StudyResult
from .numbers import Summary, eleven, spread

SVD_EU = EU_OPTIONS.index("svd_query+max_diff")
DROP = 1  # combination without mean+diff
ROW_NAMES = (
    "Sub-cubic", "Low-rank QK", "Low-rank EU", "Low-rank QK & EU", "Quadratic QK", "Quadratic QK & EU",
)  # fmt: skip
"""The paper's names of the groups, in the order of GROUPS."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table with its caption; every row has one cell per column."""

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        lines = [self.columns, tuple("---" for _ in self.columns), *self.rows]
        return "".join("| " + " | ".join(cells) + " |\n" for cells in lines)

    def csv(self) -> str:
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([self.columns, *self.rows])
        return buffer.getvalue()


COLUMNS = (
    "proof",
    "complexity",
    "bound",
    "as published (no proof)",
    "FLOPs",
    "unexplained dimensions",
    "checker operations",
    "certificate, kB",
)

Filter = Callable[[int], bool]
"""Does a strategy, by its number, belong to a row?"""


def bounds_table(result: StudyResult) -> Table:
    """Tables 1-5: one row per kind of proof; of a group, per model the best bound."""
    rows = [_brute_force(result), _ours(result), _cubic(result)]
    for name, group in zip(ROW_NAMES, GROUPS, strict=True):
        rows.append(_group(result, name, lambda n, g=group: choice(n).group == g))  # type: ignore[misc]
        if name == "Sub-cubic":
            rows.append(_group(result, "— without mean+diff", _plain(group)))
        if name in ("Low-rank QK", "Low-rank EU", "Low-rank QK & EU"):
            rows.append(_group(result, "— SVD only", _svd_only(group)))
    study, count = result.study, len(result.models)
    caption = (
        f"{study.title}, {count} seeds. Bound: share of all inputs proved right, mean ± standard deviation over "
        "models; of a group the best strategy of each model. As published: the same with the published rules, which "
        "are not sound and whose numbers are estimates. FLOPs and dimensions by the paper's counting (of the chosen "
        "strategies, geometric mean, as powers of two); checker operations and certificate size are measured."
    )
    return Table(f"table-{study.table}" if study.table else study.name, caption, COLUMNS, tuple(rows))


def _svd_only(group: str) -> Filter:
    """The row "SVD only": no max-row-diff trick in the attention, or a singular vector for the query."""

    def chosen(number: int) -> bool:
        c = choice(number)
        attention = "attention" not in group or c.error == 0
        return c.group == group and attention and ("direct" not in group or c.eu == SVD_EU)

    return chosen


def _plain(group: str) -> Filter:
    return lambda number: choice(number).group == group and choice(number).combination == DROP


def _brute_force(result: StudyResult) -> tuple[str, ...]:
    """The paper's row: accuracy itself, exactly, or from proved bounds and samples."""
    flops, dimensions = paper_costs(result.study.sizes, "brute-force")
    share = spread([m.accuracy.share for m in result.models]).text()
    if not all(m.accuracy.proved for m in result.models):
        share += " (sampled)"
    elif not all(m.accuracy.exact for m in result.models):
        share += " (middle of proved bounds)"
    return ("Brute force", BRUTE_FORCE_CLASS, share, "", _power(flops), _power(dimensions), "", "")


def _ours(result: StudyResult) -> tuple[str, ...]:
    """Our exact count, or our bounds from both sides where that is too large."""
    rows = [m.rows[OURS, SOUND] for m in result.models if (OURS, SOUND) in m.rows]
    if not rows:
        return ("Margin convolution (ours)", "depends on the model", "not measured", "", "", "", "", "")
    bound = spread([r.share for r in rows]).text()
    if all(r.strategy == TREE for r in rows):
        return ("Margin tree (ours), exact", "depends on the model", bound, "", "", "", *_measured(rows))
    bound += f", at most {spread([r.upper / r.total for r in rows]).text()}"
    if len(rows) < len(result.models):
        bound += f" ({len(rows)} seed{'s' if len(rows) > 1 else ''})"
    return ("Margin convolution (ours), two-sided", "depends on the model", bound, "", "", "", *_measured(rows))


def _cubic(result: StudyResult) -> tuple[str, ...]:
    rows = [m.rows[CUBIC, SOUND] for m in result.models]
    bound = spread([r.share for r in rows]).text()
    flops, dimensions = paper_costs(result.study.sizes, CUBIC)
    return ("Cubic", CUBIC_CLASS, bound, "", _power(flops), _power(dimensions), *_measured(rows))


def _group(result: StudyResult, name: str, chosen: Filter) -> tuple[str, ...]:
    best = [row for m in result.models if (row := best_row(m, SOUND, chosen)) is not None]
    loose = [row for m in result.models if (row := best_published(m, chosen)) is not None]
    if not best:
        return (name, *("not measured" for _ in COLUMNS[1:]))
    classes = sorted({subcubic_class(choice(int(row.strategy))) for row in best}, key=len)
    members = [row for m in result.models for row in m.edition(SOUND) if chosen(int(row.strategy))]
    flops = sum(power_of_two(row.flops) for row in best) / len(best)
    dimensions = sum(power_of_two(row.dimensions) for row in best) / len(best)
    published = spread([row.share for row in loose]).text() if loose else ""
    if 0 < len(loose) < len(best):
        published += f" ({len(loose)} seed{'s' if len(loose) > 1 else ''})"
    return (
        name, classes[-1], spread([row.share for row in best]).text(), published, f"2^{flops:.0f}",
        f"2^{dimensions:.0f}", *_measured(members),
    )  # fmt: skip


def best_row(model: ModelResult, edition: str, chosen: Filter) -> BoundRow | None:
    """The best bound of an edition among chosen strategies."""
    return max((r for r in model.edition(edition) if chosen(int(r.strategy))), key=lambda r: r.lower, default=None)


def best_published(model: ModelResult, chosen: Filter) -> BoundRow | None:
    """The best published number, of a model of which all chosen ones were estimated."""
    estimated = {row.strategy for row in model.edition(PUBLISHED)}
    if any(row.strategy not in estimated for row in model.edition(SOUND) if chosen(int(row.strategy))):
        return None
    return best_row(model, PUBLISHED, chosen)


def _power(number: int) -> str:
    return f"2^{power_of_two(number):.0f}"


def _measured(rows: Sequence[BoundRow]) -> tuple[str, str]:
    """Mean checker operations of the rows that were checked, and mean certificate size."""
    checked = [row.operations for row in rows if row.operations]
    operations = f"{spread([float(n) for n in checked]).mean / 1e6:.2f} M" if checked else ""
    sizes = [row.bytes / 1000 for row in rows if row.bytes]
    return operations, f"{spread(sizes).mean:.0f}" if sizes else ""


def grid_table(model: ModelResult, title: str) -> Table:
    """All 100 strategies of one model: the sound bound, and the published estimate."""
    by_number = {int(row.strategy): row for row in model.edition(SOUND)}
    published = {int(row.strategy): row for row in model.edition(PUBLISHED)}
    tight = {int(row.strategy): row for row in model.edition(TIGHT)}
    rows = []
    for number, row in sorted(by_number.items()):
        c, loose, best = choice(number), published.get(number), tight.get(number)
        eu, _, error = c.name.split(",")
        rows.append((
            str(number), eu, "mean" if c.combination == 0 else "none", error, f"{row.share:.6f}",
            f"{loose.share:.6f}" if loose else "", f"{loose.repaired / loose.total:.6f}" if loose else "",
            f"{best.share:.6f}" if best else "", f"{row.flops / 1e6:.2f} M", str(row.dimensions),
            f"{row.operations / 1e6:.2f} M" if row.operations else "", str(row.bytes), f"{row.seconds:.2f}",
        ))  # fmt: skip
    columns = (
        "number", "EU", "query pivot", "error of EQKE", "sound bound", "as published", "… count repaired", "tight",
        "FLOPs", "dimensions", "checker operations", "bytes", "seconds to prove",
    )  # fmt: skip
    return Table(f"strategies-{title}", f"All sub-cubic strategies on seed {model.seed}.", columns, tuple(rows))


STATISTICS: tuple[tuple[str, str], ...] = (
    ("ratio", "σ₁ / σ₂ of EQKE"),
    ("accuracy", "true accuracy"),
    ("cubic", "cubic bound / true accuracy"),
    ("subcubic", "best sub-cubic bound / true accuracy"),
)
"""Table 6: short name and title of each statistic."""


def statistic(result: StudyResult, name: str) -> dict[int, float]:
    """A statistic of Table 6 for every model that has it, by seed."""
    found = {}
    for m in result.models:
        best = best_row(m, SOUND, lambda number: True)
        values = {
            "ratio": m.statistics.ratio,
            "accuracy": m.accuracy.share,
            "cubic": m.normalised(m.rows[CUBIC, SOUND]),
            "subcubic": m.normalised(best) if best else None,
        }
        value = values[name]
        if value is not None:
            found[m.seed] = value
    return found


def summary_table(result: StudyResult) -> tuple[Table, dict[str, list[Summary]]]:
    """Table 6 without its pictures, and the rows that the pictures show."""
    rows, shown = [], {}
    for name, title in STATISTICS:
        values = statistic(result, name)
        if not values:
            continue
        shown[name] = eleven(values)
        rows += [(title, s.name, f"{s.value:.5g}", str(s.seed), f"{s.of_seed:.5g}") for s in shown[name]]
        rows.append((title, "standard deviation", f"{spread(list(values.values())).std:.3g}", "", ""))
    count = len(result.models)
    caption = f"{result.study.title}, {count} seeds: eleven numbers of each statistic, and the nearest model."
    return Table("table-6", caption, ("statistic", "number", "value", "nearest seed", "its value"), tuple(rows)), shown
