"""What the commands print: progress on a terminal, and numbers rounded the safe way."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import NoReturn

import click

from ..core.decimals import decimal
from ..core.errors import CompactProofsError
from ..core.files import OVERWRITE, reason
from ..core.question import LOSS_BITS
from .start import INTERRUPTED

UNWRITABLE = 3
"""Exit status if the output cannot be written: that of `check`, for 1 and 2 say something of a certificate."""


@contextmanager
def progress_bar(title: str, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A function (done, total) that draws on stderr if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console  # a large import, wanted by people only

    from .bar import Tick, drawn

    with drawn(Console(stderr=True)) as bar:
        yield Tick(bar, title)


def nats(n: int, up: bool = False) -> str:
    """A log-loss in units of 2**-LOSS_BITS nats, rounded down (up) to six decimals."""
    return decimal(Fraction(n, 1 << LOSS_BITS), 6, up)


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Tells whether Ctrl-C was pressed, also where a strategy caught it to keep what it had."""
    pressed = False

    def press(*_: object) -> NoReturn:
        nonlocal pressed
        pressed = True
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: pressed
    finally:
        signal.signal(signal.SIGINT, before)


def guarded(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a command: errors on one line of stderr, exit status 2; Ctrl-C 130, and a line that says so; 3 if the output
    cannot be written, without a line where its reader went away."""
    stdout = sys.stdout
    try:
        status = command.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except CompactProofsError as error:
        click.echo(f"error: {error}".replace(OVERWRITE, "add --force"), err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what was finished before is kept", err=True)
        return INTERRUPTED
    except SystemExit:
        if sys.stdout is stdout:
            raise
        return _unwritable()  # click exits with 1 on a broken pipe, and then only has replaced stdout
    except OSError as fault:
        if fault.filename is not None:
            raise
        click.echo(f"error: the output cannot be written: {reason(fault)}", err=True)
        return _unwritable()
    return status if isinstance(status, int) else 0


def _unwritable() -> int:
    """The exit status; what stdout still buffers is dropped, for the interpreter would fail on it again at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return UNWRITABLE
