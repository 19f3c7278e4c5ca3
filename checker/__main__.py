"""The command `check`: a verdict as the last line on stdout, and an exit status that agrees with it."""

import argparse
import io
import json
import os
import re
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import NoReturn

from .claim import Claim
from .errors import Exhausted, Malformed, Refusal, Rejected, printable
from .explain import explain, show
from .facts import Fact
from .kernel import check, read_document
from .reader import read_bytes
from .safetensors import compare, read_safetensors
from .words import nats, percent, words

EPILOG = """\
verdicts and exit status: VERIFIED 0, REJECTED 1, MALFORMED 2 (also usage), INTERNAL 3, RESOURCE 4; 130 on Ctrl-C

examples:
  check cert.json --model max_of_4.safetensors --at-least 99.9%
  check cert.json --show
  check cert.json --explain 12
"""
Report = dict[str, object]


class Parser(argparse.ArgumentParser):
    """A wrong command line is MALFORMED like a wrong file."""

    def error(self, message: str) -> NoReturn:
        raise Malformed("USAGE", f"{message}; see check --help")


def natural(text: str) -> int:
    """A number of an option, small enough for every system call."""
    if not re.fullmatch("[0-9]{1,12}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of at most 12 digits")
    return int(text)


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line; limits are limits, not tuning."""
    text = "Decide whether a certificate proves its claim."
    result = Parser("check", description=text, epilog=EPILOG, allow_abbrev=False)
    result.formatter_class = argparse.RawDescriptionHelpFormatter
    result.add_argument("certificate")
    result.add_argument("--model", metavar="FILE", help="insist that the weights are those of this safetensors file")
    result.add_argument("--at-least", metavar="P/Q", help="insist on this bound: 9999/10000, 0.9999 or 99.99%%")
    result.add_argument("--at-most", metavar="P/Q", help="insist that the mean log-loss is at most so many nats")
    result.add_argument("--weighted", action="store_true", help="let them speak of inputs of unequal weight")
    result.add_argument("--show", action="store_true", help="print claim and steps as read, before checking")
    result.add_argument("--explain", metavar="STEP", type=natural, help="print one step with its premises")
    result.add_argument("--json", action="store_true", help="print one JSON object instead of text")
    result.add_argument("--quiet", action="store_true", help="no progress on stderr")
    result.add_argument("--timeout", metavar="SECONDS", type=natural, default=0, help="give up after this time")
    result.add_argument("--max-memory", metavar="MB", type=natural, default=8192, help="default 8192; 0: no limit")
    result.add_argument("--max-operations", metavar="N", type=natural, default=10**11, help="default 10^11")
    result.add_argument("--max-bytes", metavar="N", type=natural, default=1 << 26, help="file size, default 64 MiB")
    return result.parse_args(argv)


def limit(timeout: int, memory: int) -> None:
    """Ask the system to stop us; both end in RESOURCE."""

    def out_of_time(*_: object) -> NoReturn:
        raise Exhausted("TIMEOUT", f"not finished after {timeout} s")

    if timeout > 0:
        signal.signal(signal.SIGALRM, out_of_time)
        signal.alarm(min(timeout, 10**9))
    if memory > 0:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        size = memory << 20
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


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


def insist(claim: Claim, options: argparse.Namespace) -> None:
    """The claim must say what was asked for, of all inputs alike unless weights are allowed."""
    for asked, code, is_loss in ((options.at_least, "AT_LEAST", False), (options.at_most, "AT_MOST", True)):
        if asked is None:
            continue
        p, q = fraction(asked)
        if is_loss != (claim.threshold is None):
            text = "--at-least asks for a share of inputs, --at-most for a mean log-loss; the claim is the other one"
            raise Rejected(code, text).at("claim")
        if not claim.uniform and not options.weighted:
            text = "the claim is about weighted or chosen inputs, not about all alike; look at --show, add --weighted"
            raise Rejected(code, text).at("claim")
        if is_loss and claim.upper * q > p * claim.total:
            text = f"asked for at most {asked} nats, proved {nats(claim.upper, up=True)}"
            raise Rejected(code, text).at("claim")
        if not is_loss and claim.lower * q < p * claim.total:
            proved = f"{claim.lower}/{claim.total} ({percent(claim.lower, claim.total)})"
            raise Rejected(code, f"asked for {asked}, proved {proved}").at("claim")


def run(options: argparse.Namespace, report: Report) -> list[str]:
    """Check, and return the lines to print above VERIFIED. Every other end is an exception."""
    limit(options.timeout, options.max_memory)
    for asked in (options.at_least, options.at_most):
        fraction(asked or "0")  # a wrong option is told before a long check
    data = read_bytes(options.certificate, options.max_bytes)
    document = read_document(data)
    aside = sys.stderr if options.json else sys.stdout
    if options.show:
        print("\n".join(map(printable, show(document))), file=aside)
    if options.model is not None:
        compare(document.model, read_safetensors(read_bytes(options.model, options.max_bytes)))
    if options.explain is not None and not 0 <= options.explain < len(document.proof):
        raise Malformed("USAGE", f"--explain {options.explain}: the proof has steps 0..{len(document.proof) - 1}")
    facts: list[Fact] = []
    live = sys.stderr.isatty() and not options.quiet and not options.json

    def watch(rule: str, fact: Fact) -> None:
        facts.append(fact)
        if live:
            print(printable(f"step {len(facts)} of {len(document.proof)}: {rule}"), file=sys.stderr)

    verified = check(document, options.max_operations, watch)
    if options.explain is not None:
        print("\n".join(map(printable, explain(document, facts, options.explain))), file=aside)
    claim, size = verified.claim, len(data)
    insist(claim, options)
    report.update(claim=words(claim), lower=str(claim.lower), upper=str(claim.upper), total=str(claim.total))
    report.update(semantics="real" if claim.semantics is None else asdict(claim.semantics))
    report.update(model_sha256=verified.digest, model_compared=options.model)
    report.update(rules=verified.rules, steps=verified.steps, operations=verified.operations, bytes=size)
    return [
        f"claim: {words(claim)}",
        f"model: {'as embedded' if options.model is None else 'equal to ' + options.model}, sha256:{verified.digest}",
        f"proof: {verified.steps} steps, {verified.operations} integer operations, {size} bytes",
        f"rules: {', '.join(verified.rules)}",
    ]


def judge(argv: Sequence[str] | None) -> tuple[int, str, list[str], Report]:
    """Status, verdict and what to print, for whatever happens."""
    report: Report = {}
    name = "check"
    try:
        options = parse(argv)
        name = options.certificate
        return 0, "VERIFIED", run(options, report), report
    except Refusal as refusal:
        fault = refusal
    except MemoryError:
        fault = Exhausted("MEMORY", "out of memory")
    except Exception as unexpected:
        fault = Refusal("INTERNAL", f"{type(unexpected).__name__}: {unexpected}; please report this file")
    print(printable(f"{name}: {fault}"), file=sys.stderr)
    return fault.status, fault.verdict, [], {"code": fault.code, "place": fault.place, "text": fault.text}


def decide(argv: Sequence[str] | None = None) -> int:
    """Print the verdict and return the exit status of the table above; INTERNAL if the verdict cannot be written."""
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        return Refusal.status
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # every number was bounded in digits when it was read
    try:
        status, verdict, lines, report = judge(argv)
        if "--json" in (sys.argv if argv is None else argv):
            lines = [json.dumps({"verdict": verdict, "status": status, **report}, sort_keys=True)]
        else:
            lines = [*map(printable, lines), verdict]
        print("\n".join(lines), flush=True)
        signal.alarm(0)  # a verdict that is written is not undone by the clock
        return status
    except KeyboardInterrupt:
        status = 130
    except (OSError, MemoryError, Refusal):  # stdout is closed, full or not read in time: no verdict can be given
        status = Refusal.status
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what stdout still buffers must not contradict the status
    return status


def main() -> NoReturn:
    """Every way to start the checker comes through here, so that none can lose the exit status."""
    sys.exit(decide())


if __name__ == "__main__":
    main()
