"""A disk that is full: the message names the file, nothing is left half written, and what was there stays as it was."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from made import MODEL, run

SIZE = 128 << 10


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 128 KiB of its own."""
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", tmp_path], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted: {mounted.stderr!r}")
    yield tmp_path
    subprocess.run(["umount", tmp_path], check=True)


def fill(disk: Path) -> None:
    """Leave no room but for names."""
    with open(disk / "ballast", "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            return


def contents(disk: Path) -> dict[str, bytes]:
    return {str(path.relative_to(disk)): path.read_bytes() for path in disk.rglob("*") if path.is_file()}


@pytest.mark.slow
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("semantics", [(), ("--semantics", "float32")], ids=["real", "float32"])
def test_certify_on_a_full_disk(disk: Path, force: bool, semantics: tuple[str, ...]) -> None:
    model = disk / "model.safetensors"
    model.write_bytes(MODEL.read_bytes())
    out = disk / "cert.json"
    if force:
        out.write_bytes(b"an older certificate\n")
    fill(disk)
    before = contents(disk)
    done = run("certify", "--exact", model, "-o", out, *semantics, *(["--force"] if force else []))
    assert done.returncode == 2, done.stderr
    assert "FILE_WRITE" in done.stderr and str(out) in done.stderr and "No space left" in done.stderr, done.stderr
    assert "Traceback" not in done.stderr
    assert contents(disk) == before


@pytest.mark.slow
def test_with_room_the_same_command_succeeds(disk: Path) -> None:
    out = disk / "cert.json"
    assert run("certify", "--exact", MODEL, "-o", out).returncode == 0
    assert out.stat().st_size > MODEL.stat().st_size
    assert [path.name for path in disk.iterdir()] == ["cert.json"]
