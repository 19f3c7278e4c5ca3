"""Removes each `raise` of the checker in turn, and asks whether the corpus notices.

`python -m tests.checker.bite` prints the checks that nothing misses. A check is missed by nobody if with `pass` in its
place every file of the corpus gets the same verdict and code as before. Each variant lives in a folder of its own and
runs in a process of its own; the checker that is under test is never touched.
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data"

UNREACHABLE: dict[str, str] = {
    "numbers.py: raise Rejected('SHAPE', f'product of {height}x{inner} and {inner_right}x{width}')": (
        "every rule multiplies matrices whose sides agree by the shapes of the tensors or the lengths of vectors"
    ),
    "numbers.py: raise Rejected('SHAPE', f'sum of {left.shape} and {right.shape}')": "as for products",
}
"""Checks that no file can reach, with the reason; "file: source line" -> reason."""

# runs in a subprocess: argv[1] holds the variant; prints one line for every file of the corpus
RUNNER = """
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
from variant import __main__ as command
from variant.errors import Refusal
from variant.kernel import check, read_document
from variant.safetensors import compare, read_safetensors
data, rows = sys.argv[2], json.load(open(sys.argv[2] + "/index.json"))
if len(sys.argv) > 3:
    wanted = set(json.loads(sys.argv[3]))
    rows = [row for row in rows if row["file"] in wanted]

def outcome(row):
    try:
        certificate = row.get("options", {}).get("certificate", row["file"])
        document = read_document(open(f"{data}/{certificate}", "rb").read())
        if "options" in row:
            compare(document.model, read_safetensors(open(f"{data}/{row['file']}", "rb").read()))
        check(document, 10**8, lambda rule, fact: None)
    except Refusal as refusal:
        return [refusal.verdict, refusal.code]
    except Exception as fault:
        return ["INTERNAL", type(fault).__name__]
    return ["VERIFIED", ""]

differ = 0
for row in rows:
    if outcome(row) != [row["verdict"], row["code"]]:
        differ += 1
        break

def status(*argv):
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        try:
            code = command.decide([*argv, "--json"])
        except BaseException as fault:
            return type(fault).__name__
    report = json.loads(out.getvalue())
    return [code, report["verdict"], report.get("code")]

commands = json.load(open(sys.argv[1] + "/commands.json"))
found = [status(*argv) for argv in commands["argv"]] if not differ else []  # missed already
print(json.dumps({"corpus": differ, "commands": found}))
"""

COMMANDS = [
    ["{good}"],
    ["{good}", "--at-least", "1"],
    ["{good}", "--at-least", "most"],
    ["{good}", "--at-least", "1/0"],
    ["{good}", "--at-least", "101%"],
    ["{good}", "--at-most", "1"],
    ["{weighted}", "--at-least", "0"],
    ["{weighted}", "--at-least", "0", "--weighted"],
    ["{loss}", "--at-least", "0"],
    ["{below}", "--at-least", "0"],
    ["{loss}", "--at-most", "100"],
    ["{loss}", "--at-most", "0"],
    ["{loss}", "--at-most", "1/0"],
    ["{model}"],
    ["{good}", "--explain", "1000"],
    ["{good}", "--explain", "-1"],
    ["{good}", "--version"],
    ["{answers}"],
    ["{good}", "--timeout=-1"],
    ["{good}", "--max-bytes", "10"],
    ["{good}", "--max-operations", "10"],
    ["{nodes}"],
    ["{long}"],
    ["{missing}"],
    ["{folder}"],
    ["{device}"],
    ["{matrix}"],
    ["{unreadable}"],
    ["{growing}"],
    ["{steps}"],
    ["{slow}", "--timeout", "1"],
]
"""Checks of the command line and of the file system; the status and the verdict must not change."""


@dataclass(frozen=True)
class Check:
    """One raise statement of the checker."""

    file: str
    line: int
    text: str

    @property
    def name(self) -> str:
        return f"{self.file}: {self.text}"


def source_folder() -> Path:
    import compactproofs.checker

    return Path(compactproofs.checker.__file__).parent


def checks(source: Path) -> list[Check]:
    """Every raise that states a reason (a bare or re-raised exception is no check)."""
    result = []
    for path in sorted(source.rglob("*.py")):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)):
            if (
                isinstance(node, ast.Raise)
                and isinstance(node.exc, ast.Call)
                and ast.unparse(node.exc).count('"') + ast.unparse(node.exc).count("'")
            ):
                result.append(Check(str(path.relative_to(source)), node.lineno, ast.unparse(node)[:100]))
    return sorted(result, key=lambda check: (check.file, check.line))


class Without(ast.NodeTransformer):
    """Puts `pass` in the place of the raise on one line."""

    def __init__(self, line: int) -> None:
        self.line = line

    def visit_Raise(self, node: ast.Raise) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node) if node.lineno == self.line else node


class Bench:
    """A folder with the inputs of the commands, in which variants are built and run."""

    def __init__(self, folder: Path, source: Path) -> None:
        self.folder, self.source = folder, source
        self._inputs()

    def _inputs(self) -> None:
        from certificates import certify, golden, planted, spelled, step_of
        from test_limits import many_answers, many_steps, many_tokens

        good = self.folder / "good.json"
        good.write_bytes(spelled(golden("enumerate")))
        (self.folder / "nodes.json").write_bytes(b"[" + b"0," * 2_100_000 + b"0]\n")
        (self.folder / "long.json").write_bytes(b"[" + b"9" * 30 + b"]\n")
        (self.folder / "matrix.json").write_bytes(many_tokens())
        (self.folder / "steps.json").write_bytes(many_steps((1 << 14) + 1))
        (self.folder / "answers.json").write_bytes(many_answers())
        slow = certify(planted(vocab=16, context=5), "cubic")
        step_of(slow, "pure_sequences").update(rule="enumerate", digits=64, logit_bits=64, wrong="0")
        (self.folder / "slow.json").write_bytes(spelled(slow))
        (self.folder / "below.json").write_bytes(spelled(certify(planted(noise=1), "margin-tree", None, (-3, 0))))
        names = {
            "good": good,
            "answers": self.folder / "answers.json",
            "weighted": DATA / "accept" / "weighted.json",
            "model": DATA / "accept" / "enumerate.safetensors",
            "below": self.folder / "below.json",
            "loss": DATA / "accept" / "log_loss.json",
            "nodes": self.folder / "nodes.json",
            "long": self.folder / "long.json",
            "missing": self.folder / "missing.json",
            "folder": self.folder,
            "device": Path("/dev/null"),
            "matrix": self.folder / "matrix.json",
            "unreadable": Path("/proc/self/mem"),
            "growing": Path("/proc/version"),  # no bytes by its size, some when it is read
            "steps": self.folder / "steps.json",
            "slow": self.folder / "slow.json",
        }
        lines = [[word.format(**{k: str(v) for k, v in names.items()}) for word in line] for line in COMMANDS]
        (self.folder / "commands.json").write_text(json.dumps({"argv": lines}))

    def run(self, number: int, check: Check | None) -> str:
        """What the corpus and the commands say without one check (None: with all)."""
        home = self.folder / f"v{number}"
        shutil.copytree(self.source, home / "variant", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(self.folder / "commands.json", home)
        if check is not None:
            path = home / "variant" / check.file
            tree = Without(check.line).visit(ast.parse(path.read_text("utf-8")))
            path.write_text(ast.unparse(tree), "utf-8")
        try:
            done = subprocess.run(
                [sys.executable, "-c", RUNNER, str(home), str(DATA)],
                capture_output=True,
                text=True,
                check=False,
                timeout=300,
                preexec_fn=_small,
            )
            return done.stdout if done.returncode == 0 else f"died with {done.returncode}: {done.stderr[-300:]}"
        except subprocess.TimeoutExpired:
            return "hangs"
        finally:
            shutil.rmtree(home)


def _small() -> None:
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))


def survivors(jobs: int = 2) -> tuple[list[Check], list[Check]]:
    """Checks that nobody misses, and all checks."""
    source = source_folder()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), source)
        normal = bench.run(0, None)
        if '"corpus": 0' not in normal:
            raise ValueError(f"the unchanged checker does not pass: {normal}")
        every = checks(source)
        with ThreadPoolExecutor(jobs) as pool:
            results = list(pool.map(bench.run, range(1, len(every) + 1), every))
    return [check for check, result in zip(every, results, strict=True) if result == normal], every


def main() -> int:
    """Print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    left, every = survivors(parser.parse_args().jobs)
    for check in left:
        print(f"{check.file}:{check.line}: {check.text}{'  (unreachable)' if check.name in UNREACHABLE else ''}")
    print(f"{len(every)} checks, {len(left)} survive")
    return 1 if any(check.name not in UNREACHABLE for check in left) else 0


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.exit(main())
