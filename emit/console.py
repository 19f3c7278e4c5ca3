"""What the commands print: progress on a terminal, and numbers rounded the safe way."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from ..core.errors import CompactProofsError

if TYPE_CHECKING:
    from rich.progress import Progress


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


def percent(count: int, total: int, up: bool = False) -> str:
    """count/total in per cent with six decimals, rounded down, or up."""
    scaled = count * 10**8
    millionths = -(-scaled // total) if up else scaled // total
    return f"{millionths // 10**6}.{millionths % 10**6:06} %"


def guarded(command: click.Command, arguments: list[str] | None = None) -> int:
    """Run a command: errors on one line of stderr, exit status 2; Ctrl-C 130."""
    try:
        command.main(args=arguments, standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return 2
    except CompactProofsError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    except (KeyboardInterrupt, click.Abort):
        return 130
    return 0
