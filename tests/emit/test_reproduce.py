"""The command `compactproofs reproduce` on a tiny configuration: measured, resumed, reported, refused."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from dataclasses import replace
from math import comb
from pathlib import Path

import pytest
from click.testing import CliRunner
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.proof import Proof
from compactproofs.core.task import Task
from compactproofs.emit.reproduce import reproduce
from compactproofs.emit.reproduce.bounds import BoundRow, paper_costs
from compactproofs.emit.reproduce.command import execute
from compactproofs.emit.reproduce.gaps import certified_by_gap, decode
from compactproofs.emit.reproduce.numbers import correlation, eleven, fit, frontier, spread
from compactproofs.emit.reproduce.store import Store
from compactproofs.emit.reproduce.studies import STUDIES, Counts, Plan, Study, first_seeds
from compactproofs.emit.reproduce.tables import Table

TINY = Study("tiny", 3, 6, 1, width=6, steps=60)
LARGER = replace(TINY, name="larger", length=4, table=2, panel="a")


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Plan:
    pytest.importorskip("torch")
    cache = tmp_path_factory.mktemp("cache")
    return Plan((TINY, LARGER), Counts(2), cache, strategies=(3, 61, 69, 89), samples=2000)


@pytest.fixture(scope="module")
def report(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("report")
    execute(plan, folder)
    return folder


def test_the_report_has_tables_figures_and_the_comparison(report: Path) -> None:
    text = (report / "README.md").read_text(encoding="utf-8")
    assert "| # | what | paper says | we get |" in text
    for name in ("table-1", "table-2", "table-6", "ablations", "sampling"):
        assert (report / f"{name}.csv").exists()
    for link in re.findall(r"\(([^)]+\.(?:png|svg|csv))\)", text):
        assert (report / link).stat().st_size > 0, link
    for number in (3, 4, 5, 6, 7, 9, 10, 21, 22):
        assert f"figure-{number}.png" in text


def test_sound_bounds_never_exceed_the_exact_accuracy(plan: Plan, report: Path) -> None:
    for study in plan.studies:
        for seed in plan.seeds_of(study):
            folder = plan.cache / "results" / study.name / f"seed{seed}"
            exact = json.loads((folder / "ours--sound.json").read_text())["value"]
            for path in folder.glob("*--sound.json"):
                row = BoundRow(**json.loads(path.read_text())["value"])
                assert row.lower <= exact["lower"]
                if row.strategy.isdecimal():
                    assert sum(row.gaps.values()) <= row.lower
                    assert row.verified == (seed == 123)


def test_finished_results_are_kept(plan: Plan, report: Path, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in plan.cache.rglob("*.json")}
    execute(plan, tmp_path, measure_only=True)
    assert before == {path: path.stat().st_mtime_ns for path in plan.cache.rglob("*.json")}


@pytest.mark.slow
def test_the_same_results_give_the_same_report(plan: Plan, report: Path, tmp_path: Path) -> None:
    execute(plan, tmp_path, report_only=True)
    for path in report.iterdir():
        assert path.read_bytes() == (tmp_path / path.name).read_bytes(), path.name


def test_a_report_of_missing_results_says_what_is_missing(plan: Plan, report: Path, tmp_path: Path) -> None:
    with pytest.raises(CompactProofsError, match="REPRODUCE_MISSING"):
        execute(replace(plan, strategies=(1,)), tmp_path, report_only=True)


def test_results_of_another_model_are_not_used(tmp_path: Path) -> None:
    Store(tmp_path, "a" * 64).write("x", {"n": 1 << 130})
    assert Store(tmp_path, "a" * 64).read("x") == {"n": 1 << 130}
    assert Store(tmp_path, "b" * 64).read("x") is None
    (tmp_path / "x.json").write_text("{")
    assert Store(tmp_path, "a" * 64).read("x") is None


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--count", "0"], "choose 1 to 151"),
        (["--published", "max-of-4=152"], "choose 0 to 151"),
        (["--count", "max-of-4"], "write a number"),
        (["--checked", "max-of-9=3"], "write a number"),
        (["--study", "max-of-9"], "max-of-9"),
    ],
)
def test_wrong_options_are_usage_errors(arguments: list[str], text: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(reproduce, [*arguments, "-o", str(tmp_path / "out")])
    assert result.exit_code == 2
    assert text in result.output


def test_interruption_exits_with_130(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("compactproofs.emit.reproduce.command.execute", interrupted)
    result = CliRunner().invoke(reproduce, ["-o", str(tmp_path)])
    assert result.exit_code == 130
    assert "goes on from there" in result.output


def test_seeds_start_with_the_main_one() -> None:
    assert first_seeds(3) == (123, 50, 104)
    assert len(set(first_seeds(151))) == 151


def test_each_study_has_its_place_in_the_paper() -> None:
    assert [s.table for s in STUDIES] == [1, 2, 3, 4, 5]


def test_costs_of_strategies_that_are_not_the_papers() -> None:
    assert paper_costs(STUDIES[0].sizes, "ours") == (0, 0)


def test_gap_tables_decode_as_they_are_written() -> None:
    assert list(decode("1v" + "x0" + "0")) == [1, 31, 32, 0]
    task = Task("max", 2, 3)
    step = {"rule": "gap_classes", "gaps": ["0", "01", "012"]}
    found = certified_by_gap(task, Proof("x", (step,), 0, 9, 0))
    expected: Counter[int] = Counter()
    for m, q, i, gap in ((1, 1, 0, 1), (2, 1, 0, 1), (2, 2, 0, 2)):
        n = i + (q == m)
        expected[gap] += comb(1, n) * (m - gap + 1) ** n
    assert found == {str(g): n for g, n in expected.items()}


def test_frontier_keeps_what_nothing_beats_twice() -> None:
    assert frontier([(1, 0.5), (2, 0.4), (2, 0.6), (2, 0.6), (1, 0.4)]) == [True, False, True, True, True]


def test_fit_and_correlation() -> None:
    line = fit([0, 1, 2], [1, 3, 5])
    assert line is not None
    assert (line.slope, line.intercept, line.r_squared) == pytest.approx((2, 1, 1))
    assert fit([1, 1, 1], [1, 2, 3]) is None
    assert correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)


def test_spread_prints_two_digits_of_the_deviation() -> None:
    assert spread([0.9991, 0.9993, 0.9992]).text() == "0.999200 ± 0.000082"
    assert spread([94.0, 95.0]).text(1, "%") == "94.50 ± 0.50 %"
    assert spread([3.4e-6, 3.3e-6]).text() == "(3.35 ± 0.05)·10^-6"
    assert spread([]).text() == "—"


def test_eleven_numbers_name_the_nearest_seed() -> None:
    rows = {row.name: row for row in eleven({7: 0.0, 8: 1.0, 9: 5.0})}
    assert (rows["minimum"].seed, rows["50 %"].seed, rows["maximum"].seed, rows["mean"].seed) == (7, 8, 9, 8)
    assert len(rows) == 10


def test_tables_become_csv() -> None:
    table = Table("t", "c", ("a", "b"), (("1", "x, y"),))
    assert list(csv.reader(table.csv().splitlines())) == [["a", "b"], ["1", "x, y"]]
    assert table.markdown().splitlines()[1] == "| --- | --- |"
