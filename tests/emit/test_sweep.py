"""sweep: tables, resumption, killed workers, a Dask cluster; and proofs in pieces."""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from compactproofs.core.checkpoint import load
from compactproofs.core.claim import parse, task_of
from compactproofs.core.errors import CompactProofsError
from compactproofs.core.problem import Problem
from compactproofs.core.sharding import join, split
from compactproofs.core.strategies import brute_force, cubic
from compactproofs.core.task import pairs
from compactproofs.emit import parallel, sweep_cmd
from compactproofs.emit.certificate import publish
from compactproofs.emit.console import guarded
from compactproofs.emit.parallel import run_pieces
from compactproofs.emit.shards import prove_sharded
from made import BIN, MODEL, MODELS, SMALL, run

OTHER = MODELS / "max_of_4_v64_seed123.safetensors"
needs_joblib = pytest.mark.skipif(importlib.util.find_spec("joblib") is None, reason="needs joblib")


def sweep(folder: Path, *words: object) -> dict[str, Any]:
    done = run("sweep", "-o", folder, "--claim", SMALL, "--json", *words)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def problem_of(text: str) -> Problem:
    model = load(MODEL)
    return Problem(model, task_of(parse(text), model))


def test_a_table_and_resumption(tmp_path: Path) -> None:
    words = (MODEL, OTHER, "--strategy", "cubic", "--strategy", "subcubic:1")
    first = sweep(tmp_path, *words)
    rows = list(csv.DictReader((tmp_path / "results.csv").open()))
    assert [(Path(row["model"]).name, row["strategy"]) for row in rows] == [
        (model.name, strategy) for model in (MODEL, OTHER) for strategy in ("cubic", "subcubic:1")
    ]
    assert first["reused"] == 0
    times = {path: path.stat().st_mtime_ns for path in (tmp_path / "certificates").iterdir()}
    changed, gone = sorted(times)[:2]
    changed.write_text("{}\n")
    gone.unlink()
    again = sweep(tmp_path, *words)
    assert again["reused"] == 2
    untouched = [path for path in times if path not in (changed, gone)]
    assert all(path.stat().st_mtime_ns == times[path] for path in untouched)
    assert [row["lower"] for row in again["rows"]] == [row["lower"] for row in first["rows"]]
    for path in times:
        assert run("audit", "--quick", "--json", path).returncode == 0


def test_failures_are_rows_and_tried_again(tmp_path: Path) -> None:
    words = ("sweep", OTHER, "-o", tmp_path, "--strategy", "brute-force", "--strategy", "cubic", "--json")
    claim = ("--claim", "accuracy of max of 60 tokens when query in {1}")
    for _ in range(2):
        done = run(*words[:1], *words[1:], *claim)
        report = json.loads(done.stdout)
        assert done.returncode == 1
        assert "NOT_UNIFORM" in report["rows"][1]["error"]


def test_bad_names_are_refused_before_any_work(tmp_path: Path) -> None:
    for words in (("--strategy", "cubik"), ("--claim", "acuracy"), ("--table", "x.xls")):
        done = run("sweep", MODEL, "-o", tmp_path / "out", *words)
        assert done.returncode == 2
        assert not (tmp_path / "out").exists()


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    sweep(tmp_path, MODEL, "--strategy", "cubic", "--table", tmp_path / "t.parquet")
    (row,) = parquet.read_table(tmp_path / "t.parquet").to_pylist()
    assert row["total"] == str(12**4) and 0 < row["share"] < 1


def suicide(piece: tuple[str, int]) -> int:
    """Kills its worker the first time that it sees the number 3."""
    folder, number = piece
    marker = Path(folder) / f"{number}-{os.getpid()}-{time.time_ns()}"
    marker.touch()
    if number == 3 and len(list(Path(folder).glob("3-*"))) == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.05)
    return number * number


@needs_joblib
def test_a_killed_worker_costs_only_its_piece(tmp_path: Path) -> None:
    found = dict(run_pieces(suicide, [(str(tmp_path), n) for n in range(12)], jobs=2))
    assert found == {n: n * n for n in range(12)}
    assert len(list(tmp_path.glob("3-*"))) == 2


@pytest.mark.slow
def test_two_dask_workers_one_of_them_killed(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed", reason="needs distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        pids = sorted(client.run(os.getpid).values())
        words = [str(BIN / "compactproofs"), "sweep", str(MODEL), str(OTHER), "-o", str(tmp_path), "--json"]
        for number in (1, 4, 9, 31, 70):
            words += ["--strategy", f"subcubic:{number}"]
        words += ["--scheduler", cluster.scheduler_address]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while not list(tmp_path.glob("rows/*.json")) and time.monotonic() < deadline:
            time.sleep(0.05)
        os.kill(pids[0], signal.SIGKILL)
        output, _ = process.communicate(timeout=300)
        assert sorted(client.run(os.getpid).values()) != pids
    assert process.returncode == 0
    rows = json.loads(output)["rows"]
    assert len(rows) == 10 and not any(row["error"] for row in rows)
    assert len(list((tmp_path / "certificates").glob("[!.]*.json"))) == 10


def test_no_scheduler_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("distributed", reason="needs distributed")
    monkeypatch.setattr(parallel, "PATIENCE", 0.5)
    words = [str(MODEL), "-o", str(tmp_path), "--scheduler", "tcp://127.0.0.1:9"]
    assert guarded(sweep_cmd.sweep, words) == 2
    assert "SCHEDULER" in capsys.readouterr().err


@pytest.mark.parametrize("text", [SMALL, "accuracy of max of 7 tokens with query token 63"])
@pytest.mark.parametrize("parts", [1, 2, 5, 1000])
def test_regions_cover_every_class_once(text: str, parts: int) -> None:
    task = problem_of(text).task
    regions = split(task, parts)
    assert len(regions) <= parts
    classes = [each for region in regions for each in pairs(region)]
    assert sorted(classes) == sorted(pairs(task.whole()))
    whole = split(task, parts, whole_maxima=True)
    assert sum(len({m for m, _, _ in region}) for region in whole) == task.tokens
    if parts == 5:
        sizes = [sum(task.class_size(q, m) for q, m in pairs(region)) for region in regions]
        largest = max(task.class_size(q, m) for q, m in classes)
        assert max(sizes) <= task.total / parts + largest


def test_joined_pieces_prove_what_the_whole_proves(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 9 tokens")
    whole = brute_force.brute_force(problem)
    pieces = [brute_force.brute_force(problem, region=region) for region in split(problem.task, 4)]
    joined = join(problem, pieces)
    assert (joined.lower, joined.upper) == (whole.lower, whole.upper)
    # the circuits and weights stand once: three more counts and their union
    assert len(joined.steps) == len(whole.steps) + 4
    for number, proof in enumerate((joined, join(problem, pieces[1:3]))):
        _, report = publish(problem, proof, tmp_path / f"{number}.json")
        assert report is not None and report["verdict"] == "VERIFIED"


def test_overlapping_pieces_are_refused_by_the_checker(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 6 tokens")
    left, _ = split(problem.task, 2)
    doubled = join(problem, [brute_force.brute_force(problem, region=region) for region in (left, left[:1])])
    with pytest.raises(CompactProofsError, match="OVERLAP"):
        publish(problem, doubled, tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()


@needs_joblib
def test_certify_in_processes(tmp_path: Path) -> None:
    words = ("--exact", MODEL, "--strategy", "brute-force", "--claim", SMALL, "--json")
    one = json.loads(run("certify", *words, "-o", tmp_path / "1.json").stdout)
    two = json.loads(run("certify", *words, "-o", tmp_path / "2.json", "--jobs", 2).stdout)
    assert (one["lower"], one["upper"]) == (two["lower"], two["upper"])
    assert two["checked"]["verdict"] == "VERIFIED"
    words = ("--exact", MODEL, "--strategy", "margin-convolution", "--claim", SMALL, "--json", "--jobs", 2)
    parts = json.loads(run("certify", *words, "-o", tmp_path / "4.json").stdout)
    assert parts["checked"]["verdict"] == "VERIFIED"
    assert int(parts["lower"][0]) <= int(one["lower"][0]) <= int(parts["upper"][0])
    done = run("certify", "--exact", MODEL, "--strategy", "cubic", "--jobs", 2, "-o", tmp_path / "3.json")
    assert done.returncode == 2 and "NOT_SHARDED" in done.stderr


def test_stopped_early_it_proves_what_is_finished(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 20 tokens")

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    whole = brute_force.brute_force(problem)
    proof = prove_sharded(problem, "brute-force", 1, stop)
    assert 0 < proof.lower < whole.lower and proof.upper > whole.upper
    _, report = publish(problem, proof, tmp_path / "part.json")
    assert report is not None and report["verdict"] == "VERIFIED"
    with pytest.raises(CompactProofsError, match="NOTHING_TO_JOIN"):
        join(problem, [])
    assert cubic.cubic(problem).lower <= whole.lower


def test_certificates_of_parts_are_joined(tmp_path: Path) -> None:
    problem = problem_of("accuracy of max of 9 tokens")
    whole = brute_force.brute_force(problem)
    files = []
    for number, region in enumerate(split(problem.task, 3)):
        files.append(tmp_path / f"{number}.json")
        publish(problem, brute_force.brute_force(problem, region=region), files[-1])
    done = run("join", *files, "-o", tmp_path / "all.json", "--json")
    report = json.loads(done.stdout)
    assert report["lower"] == [str(whole.lower), str(problem.task.total)]
    assert report["checked"]["verdict"] == "VERIFIED"
    other = problem_of("accuracy of max of 8 tokens")
    publish(other, brute_force.brute_force(other), tmp_path / "other.json")
    for words, code in (((files[0], tmp_path / "other.json"), "JOIN_DIFFERS"), ((files[0], files[0]), "JOIN_OVERLAP")):
        done = run("join", *words, "-o", tmp_path / "x.json")
        assert done.returncode == 2 and code in done.stderr
        assert not (tmp_path / "x.json").exists()


def test_a_bound_in_a_claim_that_is_missed_is_an_error(tmp_path: Path) -> None:
    done = run("sweep", "-o", tmp_path, MODEL, "--claim", f"{SMALL} >= 100%", "--strategy", "cubic")
    assert done.returncode == 1
    assert "CLAIM_NOT_REACHED" in done.stdout
    assert "0 of 1 VERIFIED" in done.stdout
