"""The report: README.md with tables, pictures and the comparison, and every table as CSV."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ...core.files import write_atomically
from .bounds import PUBLISHED, SOUND, TIGHT
from .circuits_figures import attention_figure, gaps_figure, residuals_figure, summary_figure, values_figure
from .claims import claims, gap_shares
from .collect import StudyResult, collect, problems
from .frontier import all_points_figure, dimensions_figure, frontier_figure, panels_figure
from .pages import ablation_table, page, refinement_table, sampling_table
from .ratio import ratio_figure, ratio_panels_figure
from .studies import Plan
from .tables import STATISTICS, Table, bounds_table, grid_table, summary_table

Draw = Callable[[Path], None]


def write_report(plan: Plan, folder: Path) -> list[Path]:
    """Tables, figures and README.md; the files written. Errors: REPRODUCE_MISSING, REPRODUCE_MATPLOTLIB."""
    results = collect(plan)
    folder.mkdir(parents=True, exist_ok=True)
    tables = list(_tables(results))
    written = []
    for table in tables:
        path = folder / f"{table.name}.csv"
        write_atomically(path, table.csv().encode("utf-8"), overwrite=True)
        written.append(path)
    figures = []
    for name, draw in _figures(plan, results):
        draw(folder / name)
        figures.append(name)
        written += [path for suffix in (".png", ".svg") if (path := folder / f"{name}{suffix}").exists()]
    text = page(plan, results, tables, figures, claims(results))
    write_atomically(folder / "README.md", text.encode("utf-8"), overwrite=True)
    return [*written, folder / "README.md"]


def _tables(results: list[StudyResult]) -> Iterator[Table]:
    for result in results:
        yield bounds_table(result)
    main = results[0]
    yield summary_table(main)[0]
    for result in results:
        if result.main.rows:
            yield grid_table(result.main, result.study.name)
    if main.main.ablations:
        yield ablation_table(main)
    if main.main.edition(TIGHT):
        yield refinement_table(results)
    yield sampling_table(results)


def _figures(plan: Plan, results: list[StudyResult]) -> Iterator[tuple[str, Draw]]:
    """Names and drawing functions; figures whose data were not measured are left out."""
    main, larger = results[0], [r for r in results[1:] if any(m.edition(SOUND) for m in r.models)]
    models = problems(plan, main.study)
    first = models[main.main.seed]
    if main.main.edition(SOUND):
        yield "figure-3", lambda path: frontier_figure(main, path)
        yield "figure-4", lambda path: ratio_figure(main, path)
        yield "figure-5", lambda path: dimensions_figure(main, path)
    if larger:
        yield "figure-6", lambda path: panels_figure(larger, path)
        yield "figure-7", lambda path: ratio_panels_figure(larger, path)
    yield "figure-9", lambda path: attention_figure(first, path)
    yield "figure-10", lambda path: values_figure(first, path)
    shares = gap_shares(main.main)
    if shares:
        yield "figure-20", lambda path: gaps_figure(shares, path, f"best sub-cubic proof of seed {main.main.seed}")
    yield "figure-21", lambda path: residuals_figure(first, path)
    if main.main.edition(SOUND):
        yield "figure-22", lambda path: all_points_figure(main, path)
    estimated = tuple(m for m in main.models if len(m.edition(PUBLISHED)) == len(m.edition(SOUND)) > 0)
    if estimated:
        loose = StudyResult(main.study, estimated)
        yield "figure-3-as-published", lambda path: frontier_figure(loose, path, PUBLISHED)
    _, shown = summary_table(main)
    for name, title in STATISTICS:
        if name in shown:
            yield f"table-6-{name}", _summary(main, name, title, plan)


def _summary(main: StudyResult, name: str, title: str, plan: Plan) -> Draw:
    from .tables import statistic

    _, shown = summary_table(main)
    values, models = statistic(main, name), problems(plan, main.study)
    return lambda path: summary_figure(title, shown[name], values, models, path)
