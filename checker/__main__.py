"""The command `check`: a verdict as the last line on stdout, and an exit status that agrees with it."""

if not __package__:  # started as `python3 checker`: become a package, and do not hide modules of the standard library
    import sys

    folder = sys.path.pop(0)
    import importlib.util

    spec = importlib.util.spec_from_file_location("checker", f"{folder}/__init__.py")
    if spec:
        sys.modules["checker"] = importlib.util.module_from_spec(spec)
    importlib.import_module("checker.__main__").main()

import argparse
import io
import json
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import asdict
from itertools import count
from typing import NoReturn

from .claim import Claim
from .errors import Exhausted, Malformed, Refusal, Rejected, printable
from .explain import explain, show
from .facts import Fact
from .kernel import Verified, check, read_document
from .options import fraction, parse
from .reader import read_bytes
from .safetensors import compare, read_safetensors
from .words import nats, percent, words

Report = dict[str, object]


def limit(timeout: int, memory: int) -> None:
    """Ask the system to stop us; both end in RESOURCE."""

    def out_of_time(*_: object) -> NoReturn:
        raise Exhausted("TIMEOUT", f"not finished after {timeout} s (--timeout)")

    if timeout > 0:
        signal.signal(signal.SIGALRM, out_of_time)
        signal.alarm(min(timeout, 10**9))
    if memory > 0:
        import resource

        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        size = memory << 20
        resource.setrlimit(resource.RLIMIT_AS, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def insist(claim: Claim, options: argparse.Namespace) -> None:
    """The claim must say what was asked for, of all inputs alike unless weights are allowed."""
    for asked, code, is_loss in ((options.at_least, "AT_LEAST", False), (options.at_most, "AT_MOST", True)):
        if asked is None:
            continue
        p, q = fraction("--at-most" if is_loss else "--at-least", asked)
        if is_loss != (claim.threshold is None):
            text = "--at-least asks for a share of inputs, --at-most for a mean log-loss; the claim is the other one"
            raise Rejected(code, text).at("claim")
        if claim.threshold is not None and claim.threshold[0] < 0:
            text = "the claim is about margins above a negative number: that is no accuracy, read it"
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


def describe(verified: Verified) -> Report:
    """What was verified, for programs; numbers of any size are text."""
    claim = verified.claim
    task = claim.parts[0][1]
    return {
        "claim": words(claim),
        "lower": str(claim.lower),
        "upper": str(claim.upper),
        "total": str(claim.total),
        "quantity": "log-loss" if claim.threshold is None else "margin",
        "threshold": claim.threshold and [str(claim.threshold[0]), claim.threshold[1]],
        "task": task.kind,
        "length": task.length,
        "tokens": task.tokens,
        "eos": task.eos,
        "uniform": claim.uniform,
        "semantics": asdict(claim.semantics) if claim.semantics else "real",
        "model_sha256": verified.digest,
        "rules": verified.rules,
        "steps": verified.steps,
        "operations": verified.operations,
    }


def run(options: argparse.Namespace, report: Report) -> list[str]:
    """Check, and return the lines to print above VERIFIED. Every other end is an exception."""
    limit(options.timeout, options.max_memory)
    fraction("--at-most", options.at_most or "0")  # a wrong option is told before a long check
    p, q = fraction("--at-least", options.at_least or "0")
    if p > q:
        text = f"--at-least {options.at_least[:40]} asks for more than all inputs; 99.9% has a per cent sign"
        raise Malformed("USAGE", text)
    options.about = options.certificate
    data = read_bytes(options.certificate, options.max_bytes)
    document = read_document(data)
    aside = sys.stderr if options.json else sys.stdout
    if options.show:
        print("\n".join(map(printable, show(document))), file=aside)
    if options.model is not None:
        options.about = f"--model {options.model}"
        compare(document.model, read_safetensors(read_bytes(options.model, options.max_bytes)))
        options.about = options.certificate
    if options.explain is not None and not 0 <= options.explain < len(document.proof):
        raise Malformed("USAGE", f"--explain {options.explain}: the proof has steps 0..{len(document.proof) - 1}")
    facts, numbers = list[Fact](), count(1)

    def watch(rule: str, fact: Fact) -> None:
        if options.explain is not None:
            facts.append(fact)
        if sys.stderr.isatty() and not options.quiet and not options.json:
            print(printable(f"step {next(numbers)} of {len(document.proof)}: {rule}"), file=sys.stderr)

    verified = check(document, options.max_operations, watch)
    if options.explain is not None:
        print("\n".join(map(printable, explain(document, facts, options.explain))), file=aside)
    claim = verified.claim
    insist(claim, options)
    report.update(describe(verified), model_compared=options.model, bytes=len(data))
    return [
        f"claim: {report['claim']}",
        f"model: {'as embedded' if options.model is None else 'equal to ' + options.model}, sha256:{verified.digest}",
        f"proof: {verified.steps} steps, {verified.operations} integer operations, {len(data)} bytes",
        f"rules: {', '.join(verified.rules)}",
    ]


def judge(argv: Sequence[str] | None) -> tuple[int, str, list[str], Report]:
    """Status, verdict and what to print, for whatever happens."""
    report: Report = {}
    options = argparse.Namespace(about="check")
    try:
        options = parse(argv)
        return 0, "VERIFIED", run(options, report), report
    except Refusal as refusal:
        fault = refusal
    except MemoryError:
        fault = Exhausted("MEMORY", "out of memory; --max-memory MB allows more")
    except OSError:  # the output cannot be written: said once, where the verdict is due
        raise
    except Exception as unexpected:
        fault = Refusal("INTERNAL", f"{type(unexpected).__name__}: {unexpected}; please report this file")
    print(printable(f"{options.about}: {fault}"), file=sys.stderr)
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
    except (OSError, MemoryError, Refusal) as fault:  # stdout is closed, full or not read in time: no verdict is given
        print(printable(f"check: the verdict cannot be written: {fault}"), file=sys.stderr)
        status = Refusal.status
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what stdout still buffers must not contradict the status
    return status


def main() -> NoReturn:
    """Every way to start the checker comes through here, so that none can lose the exit status."""
    sys.exit(decide())


if __name__ == "__main__":
    main()
