"""Hostile files under 512 MB and 10 seconds of processor time, hostile environments, and verdicts that agree."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
import zipapp
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from certificates import STATUS, certify, golden, planted, random_model, resign, run_command, spelled, step_of
from compactproofs.checker import reader
from compactproofs.checker.errors import Malformed
from compactproofs.core.checkpoint import encode as safetensors

ROOT = Path(__file__).resolve().parents[2]
MEMORY, SECONDS = 512 << 20, 10
PATIENCE = 120  # of the clock, which other processes share
CHECK = [sys.executable, "-m", "compactproofs.checker"]


def limited() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def check(*argv: str, command: list[str] | None = None, **more: object) -> tuple[int, str, str]:
    """Status, last line of stdout and stderr of a process with the limits; a hang fails the test."""
    options = {"capture_output": True, "text": True, "timeout": PATIENCE, "preexec_fn": limited, "cwd": ROOT, **more}
    done = subprocess.run([*(command or CHECK), *argv], check=False, **options)  # type: ignore[call-overload]
    lines = done.stdout.splitlines()
    verdict = lines[-1] if lines else ""
    assert STATUS.get(verdict) == done.returncode, (done.returncode, done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    return done.returncode, verdict, done.stderr


@pytest.fixture(scope="session")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("good") / "good.json"
    path.write_bytes(spelled(golden("enumerate")))
    return path


@pytest.fixture
def weights_file(tmp_path: Path) -> Path:
    path = tmp_path / "good.safetensors"
    path.write_bytes(safetensors(random_model(1)))
    return path


# --- hostile contents ----------------------------------------------------------------------------------


def many_tokens() -> bytes:
    """A model of 65,536 tokens: matrices of four thousand million entries."""
    import base64

    value = golden("part")
    vocab = 1 << 16
    for tensor in value["model"]["tensors"]:
        shape = [vocab if size == 3 else 1 if size == 2 and i else size for i, size in enumerate(tensor["shape"])]
        if tensor["name"] == "unembed.W_U":
            shape = [1, vocab]
        if tensor["name"].startswith("blocks"):
            shape = [1, 1, 1]
        if tensor["name"].startswith("pos"):
            shape = [2, 1]
        count = 1
        for size in shape:
            count *= size
        tensor.update(shape=shape, data=base64.b64encode(bytes(2 * count)).decode())
    value["claim"]["task"]["tokens"] = vocab
    value["claim"]["bounds"] = {"lower": "0", "upper": f"{vocab**2:x}", "total": f"{vocab**2:x}"}
    return spelled(resign(value))


def many_answers() -> bytes:
    """Given answers of 256 parts, times 1,024 positions: more than can be summed in time."""
    import base64

    value = certify(planted(vocab=18, context=1), "brute-force")
    positions = next(tensor for tensor in value["model"]["tensors"] if tensor["name"].startswith("pos"))
    positions.update(shape=[1024, 2], data=base64.b64encode(bytes(2 * 1024 * 2)).decode())
    value["claim"]["task"]["length"] = 1024
    part = {"answers": list(range(17)), "positions": "uniform", "share": "1"}
    value["claim"]["distribution"] = {"parts": [part] * 256}
    return spelled(resign(value))


def many_steps(count: int) -> bytes:
    """As many valid first steps as fit."""
    value = golden("enumerate")
    value["proof"] = [{"rule": "circuit", "name": "PVOU", "centre": None}] * count
    value["end"] = count
    return spelled(value)


def endless_digits() -> bytes:
    return spelled(golden("enumerate")).replace(b'"version":1}', b'"version":' + b"9" * 10**7 + b"}")


def hex_digits() -> bytes:
    value = golden("enumerate")
    value["claim"]["bounds"]["lower"] = "f" * 10**7
    return spelled(value)


def highest_precision() -> bytes:
    value = golden("enumerate")
    step_of(value, "weights").update(bits=4096, grid=512)
    step_of(value, "enumerate").update(digits=1024, logit_bits=2048)
    return spelled(value)


CONTENTS: dict[str, tuple[Callable[[], bytes], set[str]]] = {
    "depth_a_million": (lambda: b"[" * 10**6 + b"]" * 10**6, {"MALFORMED"}),
    "depth_a_million_objects": (lambda: b'{"a":' * 10**6, {"MALFORMED"}),
    "ten_million_digits": (endless_digits, {"MALFORMED"}),
    "ten_million_hex_digits": (hex_digits, {"MALFORMED"}),
    "exponent": (lambda: b'{"a":1e99999999999}\n', {"MALFORMED"}),
    "fraction_of_digits": (lambda: b'{"a":0.' + b"1" * 10**7 + b"}\n", {"MALFORMED"}),
    "three_million_numbers": (lambda: b"[" + b"0," * 3_000_000 + b"0]\n", {"RESOURCE"}),
    "two_million_keys": (lambda: b"{" + b'"a":0,' * 1_500_000 + b'"a":0}\n', {"RESOURCE"}),
    "nearly_two_million_numbers": (lambda: b"[" + b"0," * 1_900_000 + b"0]\n", {"MALFORMED", "RESOURCE"}),
    "nearly_a_million_short_keys": (
        lambda: b"{" + b",".join(b'"%d":0' % i for i in range(950_000)) + b"}\n",
        {"MALFORMED", "RESOURCE"},
    ),
    "sixty_megabytes_of_text": (lambda: b'"' + b"a" * 60_000_000 + b'"\n', {"MALFORMED", "RESOURCE"}),
    "sixty_megabytes_of_blanks": (lambda: b" " * 60_000_000, {"MALFORMED", "RESOURCE"}),
    "sixty_megabytes_of_nul": (lambda: bytes(60_000_000), {"MALFORMED", "RESOURCE"}),
    "sixty_megabytes_of_quotes": (lambda: b'"' * 60_000_000, {"MALFORMED", "RESOURCE"}),
    "sixty_megabytes_of_backslashes": (lambda: b'"' + b"\\\\" * 30_000_000 + b'"', {"MALFORMED", "RESOURCE"}),
    "a_string_of_escapes_that_does_not_end": (lambda: b'"' + b'\\"' * 3_900_000, {"MALFORMED", "RESOURCE"}),
    "many_keys_of_which_the_last_is_double": (
        lambda: b"{" + b"".join(b'"%x":0,' % key for key in range(600_000)) + b'"927bf":0}\n',
        {"MALFORMED"},
    ),
    "huge_vocabulary": (many_tokens, {"RESOURCE", "REJECTED"}),
    "all_the_steps_there_may_be": (lambda: many_steps(1 << 14), {"REJECTED"}),
    "one_step_more": (lambda: many_steps((1 << 14) + 1), {"MALFORMED"}),
    "answers_times_positions": (many_answers, {"RESOURCE"}),
    "highest_precision": (highest_precision, {"VERIFIED"}),
}


SLOW = {name for name in CONTENTS if name.startswith(("sixty", "nearly", "all", "fraction", "two", "huge"))}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in CONTENTS]
)
def test_hostile_contents(name: str, tmp_path: Path) -> None:
    make, wanted = CONTENTS[name]
    path = tmp_path / "hostile.json"
    path.write_bytes(make())
    _, verdict, message = check(str(path))
    assert verdict in wanted, message
    assert len(message) < 2000


def test_many_sequences_exhaust_the_operations_before_they_are_walked(tmp_path: Path) -> None:
    value = certify(planted(vocab=16, context=3), "cubic")
    tree = step_of(value, "pure_sequences")
    tree["rule"] = "enumerate"
    tree.update(digits=64, logit_bits=64, wrong="0")
    path = tmp_path / "long.json"
    path.write_bytes(spelled(value))
    _, verdict, message = check(str(path), "--max-operations", "50000")
    assert verdict == "RESOURCE"
    assert "TOO_MANY_OPERATIONS" in message


def slow_certificate() -> bytes:
    """Eight million sequences, one by one."""
    value = certify(planted(vocab=24, context=5), "cubic")
    step_of(value, "pure_sequences").update(rule="enumerate", digits=64, logit_bits=64, wrong="0")
    return spelled(value)


def test_timeout_is_resource(tmp_path: Path) -> None:
    path = tmp_path / "slow.json"
    path.write_bytes(slow_certificate())
    _, verdict, message = check(str(path), "--timeout", "1")
    assert (verdict, "TIMEOUT" in message) == ("RESOURCE", True)


def test_memory_limit_of_the_command_is_resource(tmp_path: Path) -> None:
    path = tmp_path / "numbers.json"
    path.write_bytes(b"[" + b"[0,0]," * 600_000 + b"0]\n")
    _, verdict, message = check(str(path), "--max-memory", "60")
    assert (verdict, "MEMORY" in message) == ("RESOURCE", True)


# --- hostile files ---------------------------------------------------------------------------------------


@pytest.fixture(params=["certificate", "model"])
def place(request: pytest.FixtureRequest, good: Path) -> Callable[[Path], list[str]]:
    """The hostile file as certificate, or as --model of a good one."""
    return lambda path: [str(path)] if request.param == "certificate" else [str(good), "--model", str(path)]


Place = Callable[[Path], list[str]]


def test_sparse_gigabyte(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    _, verdict, message = check(*place(path))
    assert (verdict, "FILE_TOO_LARGE" in message) == ("RESOURCE", True)


def test_sparse_gigabyte_with_a_higher_cap(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "sparse"
    with path.open("wb") as file:
        file.truncate(1 << 30)
    assert check(*place(path), "--max-bytes", str(1 << 40))[1] in ("RESOURCE", "MALFORMED")


@pytest.mark.parametrize(
    "device", ["/dev/zero", "/dev/null", "/dev/random", "/dev/stdin", "/proc/self/mem", "/proc/cpuinfo"]
)
def test_devices(place: Place, device: str) -> None:
    if not os.path.exists(device):
        pytest.skip(f"no {device} here")
    assert check(*place(Path(device)), stdin=subprocess.DEVNULL)[1] == "MALFORMED"


def test_fifo_does_not_block(place: Place, tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    _, verdict, message = check(*place(path))
    assert (verdict, "NOT_A_FILE" in message) == ("MALFORMED", True)


def test_symbolic_links(place: Place, tmp_path: Path, good: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert check(*place(loop))[1] == "MALFORMED"
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "nowhere")
    assert check(*place(dangling))[1] == "MALFORMED"
    link = tmp_path / "link"
    link.symlink_to(good)
    assert check(str(link))[1] == "VERIFIED"


def test_folder_missing_file_and_odd_names(place: Place, tmp_path: Path) -> None:
    assert check(*place(tmp_path))[1] == "MALFORMED"
    assert check(*place(tmp_path / "missing"))[1] == "MALFORMED"
    assert check(*place(tmp_path / ("x" * 5000)))[1] == "MALFORMED"
    _, verdict, message = check(*place(tmp_path / "line\nVERIFIED\n\x1b[8m"))
    assert verdict == "MALFORMED"
    assert "\nVERIFIED" not in message
    assert "\x1b" not in message


def test_file_that_grows_or_shrinks_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "changing"
    path.write_bytes(b"x" * 100)
    real = os.fstat

    def later(handle: int) -> os.stat_result:
        result = real(handle)
        if sizes:
            os.truncate(path, sizes.pop())
        return result

    sizes = [101, 99]
    monkeypatch.setattr(reader.os, "fstat", later)
    for _ in range(2):
        with pytest.raises(Malformed, match="CHANGED"):
            reader.read_bytes(str(path), 10**6)
        path.write_bytes(b"x" * 100)


def test_file_rewritten_all_the_time(tmp_path: Path, good: Path) -> None:
    """Whatever is read is judged as it was read; a torn file never verifies and never crashes."""
    path = tmp_path / "restless.json"
    contents = good.read_bytes()
    path.write_bytes(contents)
    stop = threading.Event()

    def rewrite() -> None:
        while not stop.is_set():
            path.write_bytes(contents)
            path.write_bytes(contents[:1000])

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        seen = set()
        for _ in range(200):
            status, out, _ = run_command(str(path))
            seen.add(out.splitlines()[-1])
            assert STATUS[out.splitlines()[-1]] == status
    finally:
        stop.set()
        writer.join()
    assert seen <= {"VERIFIED", "MALFORMED"}


def test_unreadable_file(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_bytes(b"{}\n")
    path.chmod(0)
    assert check(str(path))[1] == "MALFORMED"  # for root the file is readable, and is no certificate


# --- environments -------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checker as one file, built as a user would."""
    import shutil

    import compactproofs.checker

    folder = tmp_path_factory.mktemp("zipapp")
    source = Path(compactproofs.checker.__file__).parent
    shutil.copytree(source, folder / "stage" / "checker", ignore=shutil.ignore_patterns("__pycache__"))
    zipapp.create_archive(folder / "stage", folder / "check.pyz", main="checker.__main__:main")
    return folder / "check.pyz"


ENVIRONMENTS: dict[str, tuple[list[str], dict[str, str]]] = {
    "plain": ([], {}),
    "optimised": (["-O"], {}),
    "optimised_twice": (["-OO"], {}),
    "hash_seed": ([], {"PYTHONHASHSEED": "12345"}),
    "int_digits_640": ([], {"PYTHONINTMAXSTRDIGITS": "640"}),
    "int_digits_0": ([], {"PYTHONINTMAXSTRDIGITS": "0"}),
    "turkish": ([], {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}),
    "turkish_latin": ([], {"LC_ALL": "tr_TR"}),
    "c_locale": ([], {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),
    "ascii_output": ([], {"PYTHONIOENCODING": "ascii:strict"}),
    "utf_16_output": (["-W", "error"], {}),
    "development_mode": (["-X", "dev"], {}),
}


@pytest.mark.parametrize("how", ENVIRONMENTS)
def test_environment_changes_no_verdict(how: str, good: Path, tmp_path: Path) -> None:
    flags, environment = ENVIRONMENTS[how]
    bad = tmp_path / "bad.json"
    value = golden("enumerate")
    value["claim"]["bounds"].update(lower="7", upper="7")
    bad.write_bytes(spelled(value))
    malformed = tmp_path / "malformed.json"
    malformed.write_bytes(good.read_bytes() + b"\n")
    command = [sys.executable, *flags, "-m", "compactproofs.checker"]
    env = {**os.environ, **environment}
    for path, verdict in ((good, "VERIFIED"), (bad, "REJECTED"), (malformed, "MALFORMED")):
        assert check(str(path), command=command, env=env)[1] == verdict


@pytest.mark.parametrize("flags", [[], ["-I", "-S"], ["-I", "-S", "-O"], ["-I", "-S", "-OO", "-B"]], ids=" ".join)
def test_archive_runs_alone(archive: Path, flags: list[str], good: Path, tmp_path: Path) -> None:
    command = [sys.executable, *flags, str(archive)]
    bad = tmp_path / "bad.json"
    bad.write_bytes(good.read_bytes()[:-1])
    for path, verdict in ((good, "VERIFIED"), (bad, "MALFORMED")):
        assert check(str(path), command=command, cwd=tmp_path)[1] == verdict


def test_numbers_of_thousands_of_digits_are_printed_under_any_digit_limit(tmp_path: Path) -> None:
    value = golden("enumerate")
    value["claim"]["bounds"].update(lower="f" * 8000, upper="f" * 8000)
    path = tmp_path / "long.json"
    path.write_bytes(spelled(value))
    for limit in ("640", "0", "4300"):
        env = {**os.environ, "PYTHONINTMAXSTRDIGITS": limit}
        assert check(str(path), env=env)[1] == "MALFORMED"
        assert check(str(path), "--json", env=env, command=[*SHELL, *CHECK])[1] == "MALFORMED"


# prints the verdict of a JSON report on a line of its own, so that `check` can compare it with the status
SHELL = [
    sys.executable,
    "-c",
    "import json, subprocess, sys; d = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, text=True);"
    "print(json.loads(d.stdout)['verdict']); sys.exit(d.returncode)",
]


def shell(line: str, **more: object) -> subprocess.CompletedProcess[str]:
    options = {"capture_output": True, "text": True, "timeout": PATIENCE, "cwd": ROOT, **more}
    return subprocess.run(["bash", "-c", line], check=False, **options)  # type: ignore[call-overload, no-any-return]


CLOSED = f"{sys.executable} -m compactproofs.checker"


@pytest.mark.parametrize("extra", ["", "--json", "--show", "--explain 3"])
def test_closed_or_full_stdout_is_no_success(good: Path, extra: str) -> None:
    assert shell(f"{CLOSED} {good} {extra} >&-").returncode == 3
    assert shell(f"{CLOSED} {good} {extra} >/dev/full").returncode == 3


def test_reader_that_went_away_is_no_success(good: Path) -> None:
    done = shell(f"(sleep 0.5; {CLOSED} {good}; echo status $? >&2) | true")
    assert "status 3" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_stderr_changes_nothing(good: Path, tmp_path: Path) -> None:
    done = shell(f"{CLOSED} {good} 2>&-")
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "VERIFIED")
    missing = shell(f"{CLOSED} {tmp_path}/missing --json 2>&-")
    assert (missing.returncode, json.loads(missing.stdout)["verdict"]) == (2, "MALFORMED")
    assert shell(f"{CLOSED} {good} <&- >/dev/null 2>&-").returncode == 0


def test_stuck_reader_and_timeout_end_without_verdict(good: Path) -> None:
    """The alarm may strike while the verdict is being written: then there is none, and the status says so."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    try:
        while True:
            os.write(write, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write, True)
    process = subprocess.Popen([*CHECK, str(good), "--timeout", "2"], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    _, message = process.communicate(timeout=PATIENCE)
    os.close(read)
    assert process.returncode == 3
    assert "Traceback" not in message


def test_interrupt_gives_130_and_no_verdict(tmp_path: Path) -> None:
    path = tmp_path / "slow.json"
    path.write_bytes(slow_certificate())
    process = subprocess.Popen(
        [*CHECK, str(path), "--show"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline()  # it has read the file and begins to check
    process.send_signal(signal.SIGINT)
    out, message = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert not any(line in STATUS for line in out.splitlines())
    assert "Traceback" not in message


def test_model_name_that_cannot_be_printed(good: Path, tmp_path: Path) -> None:
    odd = os.fsencode(tmp_path) + b"/\xff\n\x1b[8m.safetensors"
    with open(odd, "wb") as file:
        file.write(safetensors(random_model(1)))
    done = subprocess.run([*CHECK, str(good), "--model", odd], capture_output=True, check=False, timeout=PATIENCE)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, b"VERIFIED")
    assert b"\x1b" not in done.stdout
    assert done.stdout.count(b"\n") == 5


def test_read_only_folder_needs_nothing_written(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "frozen"
    folder.mkdir()
    copy = folder / "good.json"
    copy.write_bytes(good.read_bytes())
    copy.chmod(0o444)
    folder.chmod(0o555)
    before = copy.stat()
    try:
        assert check(str(copy), cwd=folder)[1] == "VERIFIED"
        assert sorted(path.name for path in folder.iterdir()) == ["good.json"]
        after = copy.stat()
        assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)
    finally:
        folder.chmod(0o755)


# --- the command line -------------------------------------------------------------------------------------

USAGE: dict[str, list[str]] = {
    "nothing": [],
    "unknown_option": ["{good}", "--trust-me"],
    "abbreviated_option": ["{good}", "--js"],
    "abbreviated_at_least": ["{good}", "--at", "0"],
    "two_certificates": ["{good}", "{good}"],
    "negative_timeout": ["{good}", "--timeout", "-1"],
    "huge_timeout": ["{good}", "--timeout", "9" * 30],
    "huge_memory": ["{good}", "--max-memory", "9" * 30],
    "negative_explain": ["{good}", "--explain", "-1"],
    "explain_beyond": ["{good}", "--explain", "1000"],
    "explain_a_word": ["{good}", "--explain", "last"],
    "explain_underscore": ["{good}", "--explain", "1_0"],
    "at_least_words": ["{good}", "--at-least", "most"],
    "at_least_zero_denominator": ["{good}", "--at-least", "1/0"],
    "at_least_exponent": ["{good}", "--at-least", "1e-9"],
    "at_least_negative": ["{good}", "--at-least=-1"],
    "at_least_long": ["{good}", "--at-least", "0." + "9" * 500],
    "at_least_full_width": ["{good}", "--at-least", "１/２"],
    "at_least_infinity": ["{good}", "--at-least", "inf"],
}


@pytest.mark.parametrize("name", USAGE)
def test_wrong_usage_is_malformed(name: str, good: Path) -> None:
    status, out, message = run_command(*(word.replace("{good}", str(good)) for word in USAGE[name]))
    assert (status, out.splitlines()[-1]) == (2, "MALFORMED")
    assert "USAGE" in message


AT_LEAST: list[tuple[str, int]] = [
    *((text, 0) for text in ("0", "6/9", "2/3", "66.6%", "0.6", "0/1", "0.666666666666666666666666", "00.5")),
    *((text, 1) for text in ("7/9", "66.7%", "1", "100%", "0.6666666666666666666666667", "67/100", "9/9")),
]


@pytest.mark.parametrize(("bound", "status"), AT_LEAST)
def test_at_least_is_exact(bound: str, status: int, good: Path) -> None:
    """The certificate proves 6 of 9."""
    found, out, message = run_command(str(good), "--at-least", bound)
    assert (found, out.splitlines()[-1]) == (status, "REJECTED" if status else "VERIFIED")
    assert ("AT_LEAST" in message) == bool(status)


def test_limits_accept_large_but_sane_numbers(good: Path) -> None:
    assert check(str(good), "--timeout", "999999999999")[1] == "VERIFIED"
    assert check(str(good), "--max-memory", "999999999999")[1] == "VERIFIED"


def outcomes(good: Path, tmp_path: Path) -> Iterator[tuple[list[str], int]]:
    """A command line for every verdict that can be had without a bug."""
    rejected, malformed = tmp_path / "rejected.json", tmp_path / "malformed.json"
    value = golden("enumerate")
    value["claim"]["bounds"].update(lower="7", upper="7")
    rejected.write_bytes(spelled(value))
    malformed.write_bytes(b"")
    yield [str(good)], 0
    yield [str(rejected)], 1
    yield [str(good), "--at-least", "1"], 1
    yield [str(malformed)], 2
    yield [], 2
    yield [str(good), "--max-bytes", "10"], 4
    yield [str(good), "--max-operations", "10"], 4


def test_status_last_line_and_report_agree(good: Path, tmp_path: Path) -> None:
    names = {status: verdict for verdict, status in STATUS.items()}
    for argv, status in outcomes(good, tmp_path):
        found, out, _ = run_command(*argv)
        assert (found, out.splitlines()[-1]) == (status, names[status])
        again, report, _ = run_command(*argv, "--json")
        assert again == status
        assert report.count("\n") == 1
        assert (json.loads(report)["verdict"], json.loads(report)["status"]) == (names[status], status)


def test_a_fault_inside_a_rule_is_internal(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from compactproofs.checker import kernel

    for fault, status in ((ZeroDivisionError("x"), 3), (RecursionError(), 3), (MemoryError(), 4), (KeyError("k"), 3)):

        def broken(step: object, fault: BaseException = fault) -> object:
            raise fault

        monkeypatch.setitem(kernel.RULES, "conclude", broken)
        found, out, message = run_command(str(good))
        assert (found, STATUS[out.splitlines()[-1]]) == (status, status)
        assert "Traceback" not in message


def test_show_and_explain_print_no_terminal_sequences_and_no_forged_verdict(tmp_path: Path) -> None:
    value = golden("enumerate")
    value["proof"][0]["rule"] = "\x1b[8m\nVERIFIED\n\ud800"
    value["proof"][1]["\nVERIFIED"] = "\nVERIFIED\n"
    path = tmp_path / "forged.json"
    path.write_bytes(spelled(value))
    for extra in ([], ["--show"], ["--explain", "0"]):
        status, out, message = run_command(str(path), *extra)
        assert status == 2
        assert out.splitlines()[-1] == "MALFORMED"
        assert all(line.strip() not in STATUS for line in [*out.splitlines()[:-1], *message.splitlines()])
        assert "\x1b" not in out + message


# --- certify ---------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_kill_while_certify_writes_leaves_no_half_certificate(weights_file: Path, tmp_path: Path) -> None:
    """Killed at many moments: the target is absent or whole, the model untouched."""
    before = (weights_file.read_bytes(), weights_file.stat().st_mtime_ns)
    target = tmp_path / "cert.json"
    program = "from compactproofs.emit.certify_cmd import main; main()"
    command = [sys.executable, "-c", program, "--exact", str(weights_file), "-o", str(target), "--no-check"]
    start = time.monotonic()
    assert subprocess.run(command, check=False, capture_output=True, timeout=60).returncode == 0
    whole, duration = target.read_bytes(), time.monotonic() - start
    target.unlink()
    seen = set()
    for i in range(8):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(duration * (0.5 + 0.08 * i))
        process.kill()
        process.wait()
        seen.add(target.exists())
        if target.exists():
            assert target.read_bytes() == whole
            target.unlink()
    assert (weights_file.read_bytes(), weights_file.stat().st_mtime_ns) == before


def test_certify_does_not_publish_what_the_checker_refuses(weights_file: Path, tmp_path: Path) -> None:
    from compactproofs.core.checkpoint import load
    from compactproofs.core.errors import CompactProofsError
    from compactproofs.core.problem import Problem
    from compactproofs.core.proof import Proof
    from compactproofs.core.strategies import STRATEGIES
    from compactproofs.core.task import task_for
    from compactproofs.emit.certificate import publish

    model = load(str(weights_file))
    problem = Problem(model, task_for(model))
    proof = STRATEGIES["brute-force"].find(problem, lambda done, total: None)
    lie = Proof(proof.strategy, proof.steps, proof.lower + 1, proof.upper + 1, 0)
    target = tmp_path / "lie.json"
    with pytest.raises(CompactProofsError, match="REJECTED"):
        publish(problem, lie, str(target))
    assert [path.name for path in tmp_path.iterdir() if "lie" in path.name] == []
