"""What the commands print: progress on a terminal, and numbers rounded the safe way."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

import click

from ..core.decimals import decimal
from ..core.errors import CompactProofsError
from ..core.question import LOSS_BITS

if TYPE_CHECKING:
    from rich.progress import Progress


INTERRUPTED = 130
"""Exit status after Ctrl-C."""


class Tick:
    """Draws how much is done, with a note beside the title."""

    def __init__(self, bar: Progress, title: str) -> None:
        self.bar, self.title = bar, title
        self.task = bar.add_task(title, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.bar.update(self.task, completed=done, total=total)

    def note(self, text: str) -> None:
        self.bar.update(self.task, description=f"{self.title}: {text}")


@contextmanager
def progress_bar(title: str, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A function (done, total) that draws on stderr if that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console  # a large import, wanted by people only
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
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
    """Run a command: errors on one line of stderr, exit status 2; Ctrl-C 130, and a line that says so."""
    try:
        status = command.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except CompactProofsError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what was finished before is kept", err=True)
        return INTERRUPTED
    return status if isinstance(status, int) else 0
