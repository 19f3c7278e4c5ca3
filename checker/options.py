"""The command line of `check`, and what `--version` says of this program."""

import argparse
import pkgutil
import re
import sys
from collections.abc import Sequence
from hashlib import sha256
from typing import NoReturn

from .errors import Malformed
from .kernel import FORMAT, VERSION

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


def natural(text: str) -> int:
    """A number of an option, small enough for every system call."""
    if not re.fullmatch("[0-9]{1,12}", text, re.ASCII):
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a number of at most 12 digits")
    return int(text)


def version() -> str:
    """The format, and the digest of this program: its files in the order of their paths, one after the other."""
    paths, start = {"__main__.py"}, len(__package__) + 1
    for name, module in sys.modules.items():
        if f"{name}.".startswith(f"{__package__}."):
            inner = "/__init__" if hasattr(module, "__path__") else ""
            paths.add(f"{name.replace('.', '/')}{inner}.py"[start:])
    data = [pkgutil.get_data(__package__, path) or b"" for path in sorted(paths)]
    return f"{FORMAT}, version {VERSION}; this program sha256:{sha256(b''.join(data)).hexdigest()}"


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    """The command line; limits are limits, not tuning."""
    text = "Decide whether a certificate proves its claim."
    result = Parser("check", description=text, epilog=EPILOG, allow_abbrev=False, add_help=False)
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
    result.add_argument(
        "--timeout", metavar="SECONDS", type=natural, default=0, help="give up after this time; 0, the default: never"
    )
    result.add_argument("--max-memory", metavar="MB", type=natural, default=8192, help="default 8192; 0: no limit")
    result.add_argument("--max-operations", metavar="N", type=natural, default=10**11, help="default 10^11")
    result.add_argument("--max-bytes", metavar="N", type=natural, default=1 << 26, help="file size, default 64 MiB")
    result.add_argument("--version", action="store_true", help="print the format and a digest")
    result.add_argument("-h", "--help", action="store_true", help="print this")
    result.set_defaults(about="check")  # what a message is about: the command, the certificate or the model file
    words = list(sys.argv[1:] if argv is None else argv)
    if words in (["--version"], ["--help"], ["-h"]):
        print(version() if words == ["--version"] else result.format_help().rstrip())
        sys.exit()
    options = result.parse_args(words)
    given = [word.partition("=")[0] for word in words[: words.index("--") if "--" in words else None]]
    twice = {word for word in given if word.startswith("--") and given.count(word) > 1}
    if options.version or options.help or twice:  # beside a file, status 0 must mean VERIFIED
        raise Malformed("USAGE", f"{min(twice, default='--version, --help')}: each once, these two alone")
    return options


def fraction(option: str, text: str) -> tuple[int, int]:
    """P/Q, a decimal or a percentage, exactly."""
    match = re.fullmatch(r"([0-9]{1,400})/([0-9]{1,400})|([0-9]{1,400})(?:\.([0-9]{1,400}))?(%?)", text, re.ASCII)
    if not match:
        raise Malformed("USAGE", f"{option} {text[:40]!r} is not P/Q, a decimal or a percentage")
    p, q, whole, part, sign = match.groups()
    if p is None:
        p, q = whole + (part or ""), "1" + "0" * (len(part or "") + (2 if sign else 0))
    if int(q) == 0:
        raise Malformed("USAGE", f"{option} {text[:40]!r} has denominator 0")
    return int(p), int(q)
