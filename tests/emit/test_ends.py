"""How commands end that cannot go on: Ctrl-C while they are loaded, and an output that takes nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from made import BIN, MODEL, SMALL, certificate

LOADING = """
import os, signal, sys
from compactproofs.emit import start
class Press:
    def find_spec(self, name, path, target=None):
        if name == "click":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Press())
getattr(start, sys.argv[1])()
"""
"""A console script in which Ctrl-C is pressed when it loads click."""

full = pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is full")


@pytest.mark.parametrize("command", ["compactproofs", "certify", "audit", "sweep"])
def test_ctrl_c_while_a_command_is_loaded(command: str) -> None:
    done = subprocess.run([sys.executable, "-c", LOADING, command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "interrupted\n")


@pytest.fixture(scope="module")
def lines(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """Commands that print."""
    path = certificate(tmp_path_factory.mktemp("ends"), "margin-tree")
    return [["audit", "--quick", str(path)], ["certify", str(MODEL), "--claim", SMALL], ["certify", "--help"]]


@full
def test_a_full_output_is_one_line_and_no_verdict(lines: list[list[str]]) -> None:
    for name, *words in lines:
        with open("/dev/full", "w") as target:
            done = subprocess.run([BIN / name, *words], stdout=target, stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == 3
        assert done.stderr == "error: the output cannot be written: No space left on device\n"


def test_a_reader_that_went_away_is_no_verdict(lines: list[list[str]]) -> None:
    for name, *words in lines:
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([BIN / name, *words], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
        os.close(write)
        assert (done.returncode, done.stderr) == (3, "")


def test_check_says_once_that_its_reader_went_away(tmp_path: Path) -> None:
    path = certificate(tmp_path, "brute-force", "accuracy of max of 2 tokens")
    read, write = os.pipe()
    os.close(read)
    line = [sys.executable, "-u", "-m", "compactproofs.checker", path, "--show"]
    done = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert done.returncode == 3
    assert done.stderr.count("\n") == 1 and done.stderr.startswith("check: the verdict cannot be written: ")
