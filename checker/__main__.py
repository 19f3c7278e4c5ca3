"""The command `check`: a verdict as the last line on stdout, and an exit status that agrees with it."""

import argparse
import json
import os
import re
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

from .claim import percent, words
from .errors import Exhausted, Malformed, Refusal, Rejected
from .explain import explain, show
from .facts import Fact
from .kernel import Document, Verified, check, read_document
from .model import compare, read_safetensors
from .reader import read_bytes

EPILOG = """\
verdicts and exit status: VERIFIED 0, REJECTED 1, MALFORMED 2 (also usage), INTERNAL 3, RESOURCE 4; 130 on Ctrl-C

examples:
  check cert.json --model max_of_4.safetensors --at-least 99.9%
  check cert.json --show
  check cert.json --explain 12
"""


class Parser(argparse.ArgumentParser):
    """A wrong command line is MALFORMED like a wrong file."""

    def error(self, message: str) -> NoReturn:
        raise Malformed("USAGE", f"{message}; see check --help")


def parser() -> Parser:
    """The command line; limits are limits, not tuning."""
    result = Parser("check", description="Decide whether a certificate proves its claim.", epilog=EPILOG)
    result.formatter_class = argparse.RawDescriptionHelpFormatter
    result.add_argument("certificate")
    result.add_argument("--model", metavar="FILE", help="insist that the weights are those of this safetensors file")
    result.add_argument("--at-least", metavar="P/Q", help="insist on this accuracy: 9999/10000, 0.9999 or 99.99%%")
    result.add_argument("--show", action="store_true", help="print claim and steps as read, before checking")
    result.add_argument("--explain", metavar="STEP", type=int, help="print one step with its premises")
    result.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    result.add_argument("--quiet", action="store_true", help="no progress on stderr")
    result.add_argument("--timeout", metavar="SECONDS", type=int, default=0, help="give up after this time")
    result.add_argument("--max-memory", metavar="MB", type=int, default=0, help="give up beyond this address space")
    result.add_argument("--max-operations", metavar="N", type=int, default=10**11, help="default 10^11")
    result.add_argument("--max-bytes", metavar="N", type=int, default=1 << 26, help="file size, default 64 MiB")
    return result


def limit(timeout: int, memory: int) -> None:
    """Ask the system to stop us; both end in RESOURCE."""

    def out_of_time(*_: object) -> NoReturn:
        raise Exhausted("TIMEOUT", f"not finished after {timeout} s")

    if timeout > 0:
        signal.signal(signal.SIGALRM, out_of_time)
        signal.alarm(timeout)
    if memory > 0:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory << 20, memory << 20))


def fraction(text: str) -> tuple[int, int]:
    """P/Q, a decimal or a percentage, exactly."""
    match = re.fullmatch(r"([0-9]{1,400})/([0-9]{1,400})|([0-9]{1,400})(?:\.([0-9]{1,400}))?(%?)", text, re.ASCII)
    if not match:
        raise Malformed("USAGE", f"--at-least {text[:40]!r} is not P/Q, a decimal or a percentage")
    p, q, whole, part, sign = match.groups()
    if p is None:
        p, q = whole + (part or ""), "1" + "0" * (len(part or "") + (2 if sign else 0))
    if int(q) == 0:
        raise Malformed("USAGE", f"--at-least {text[:40]!r} has denominator 0")
    return int(p), int(q)


def run(options: argparse.Namespace, report: dict[str, object]) -> list[str]:
    """Check, and return the lines to print above VERIFIED. Every other end is an exception."""
    limit(options.timeout, options.max_memory)
    least = fraction(options.at_least) if options.at_least is not None else None
    data = read_bytes(options.certificate, options.max_bytes)
    document = read_document(data)
    if options.show:
        for line in show(document):
            tell(line, options)
    given = read_safetensors(read_bytes(options.model, options.max_bytes)) if options.model is not None else None
    if given is not None:
        compare(document.model, given)
    if options.explain is not None and not 0 <= options.explain < len(document.proof):
        raise Malformed("USAGE", f"--explain {options.explain}: the proof has steps 0..{len(document.proof) - 1}")
    facts: list[Fact] = []
    verified = check(document, options.max_operations, watcher(document, facts, options))
    if options.explain is not None:
        for line in explain(document, facts, options.explain):
            tell(line, options)
    claim = verified.claim
    if least is not None and claim.lower * least[1] < least[0] * claim.total:
        text = f"asked for {options.at_least}, proved {claim.lower}/{claim.total} ({percent(claim.lower, claim.total)})"
        raise Rejected("AT_LEAST", text).at("claim")
    return account(verified, options, len(data), report)


def watcher(document: Document, facts: list[Fact], options: argparse.Namespace):
    """Keep the facts for --explain and show progress on a terminal."""
    live = sys.stderr.isatty() and not options.quiet and not options.json

    def watch(number: int, rule: str, fact: Fact) -> None:
        facts.append(fact)
        if live:
            print(f"step {number + 1} of {len(document.proof)}: {rule}", file=sys.stderr)

    return watch


def account(verified: Verified, options: argparse.Namespace, size: int, report: dict[str, object]) -> list[str]:
    """What was verified, in words and for --json; everything here was derived or computed, not copied."""
    claim = verified.claim
    against = "as embedded" if options.model is None else f"equal to {options.model}"
    report.update(
        claim=words(claim),
        lower=[str(claim.lower), str(claim.total)],
        upper=[str(claim.upper), str(claim.total)],
        model_sha256=verified.digest,
        model_compared=options.model,
        steps=verified.steps,
        operations=verified.operations,
        bytes=size,
    )
    return [
        f"claim: {words(claim)}",
        f"model: {against}, sha256:{verified.digest}",
        f"proof: {verified.steps} steps, {verified.operations} integer operations, {size} bytes",
    ]


def tell(line: str, options: argparse.Namespace) -> None:
    """Explanations share stdout with the verdict, except under --json."""
    print(line, file=sys.stderr if options.json else sys.stdout)


def judge(argv: Sequence[str] | None) -> tuple[int, str, list[str], dict[str, object], bool]:
    """Status, verdict and what to print, for whatever happens."""
    report: dict[str, object] = {}
    as_json = "--json" in (sys.argv[1:] if argv is None else argv)
    name = "check"
    try:
        options = parser().parse_args(argv)
        name = options.certificate
        return 0, "VERIFIED", run(options, report), report, as_json
    except Refusal as refusal:
        fault, status, verdict = refusal, refusal.status, refusal.verdict
    except MemoryError:
        fault, status, verdict = Exhausted("MEMORY", "out of memory"), Exhausted.status, Exhausted.verdict
    except Exception as unexpected:
        fault = Refusal("INTERNAL", f"{type(unexpected).__name__}: {unexpected}; please report this file")
        status, verdict = Refusal.status, Refusal.verdict
    print(f"{name}: {fault}", file=sys.stderr)
    return status, verdict, [], {"code": fault.code, "place": fault.place, "text": fault.text}, as_json


def main(argv: Sequence[str] | None = None) -> int:
    """Exit status as in the table above; whatever prevents the verdict from being written is INTERNAL."""
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # every number was bounded in digits when it was read
    try:
        status, verdict, lines, report, as_json = judge(argv)
        if as_json:
            lines = [json.dumps({"verdict": verdict, "status": status, **report}, sort_keys=True)]
        else:
            lines = [*lines, verdict]
        print("\n".join(lines), flush=True)
    except KeyboardInterrupt:
        return 130
    except OSError:  # stdout is closed or full: no verdict can be given
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return Refusal.status
    return status


if __name__ == "__main__":
    sys.exit(main())
