"""The progress of one piece of work on a terminal: a line that says what is going on, and under it a bar and times."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from math import ceil

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.text import Text

KNOWN = 0.01
"""Share of the work after which its pace says something."""
NEVER_FULL = 0.999
"""Of the bar, while the work goes on: what is full has stopped, and its clock stops with it."""


class _TwoLines(Progress):
    """The text has a line of its own, for it is too long to stand beside a bar."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield Text(task.description)
        yield self.make_tasks_table(self.tasks)


class Left(ProgressColumn):
    """What the rest takes at the pace so far; nothing where nothing is known of the length of the work.

    Rich's own column keeps to its last estimate while a long step goes on; this one grows with it.
    """

    max_refresh = 0.5

    def render(self, task: Task) -> Text:
        if not task.total:
            return Text("")
        share = task.completed / task.total
        left = "?" if share < KNOWN else timedelta(seconds=ceil((task.elapsed or 0.0) * (1 - share) / share))
        return Text(f"about {left} left")


def drawn(console: Console) -> Progress:
    """What draws one bar."""
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("so far"), Left())
    return _TwoLines(*columns, console=console, transient=True)


class Tick:
    """Draws how much is done, with a note beside the title."""

    def __init__(self, bar: Progress, title: str) -> None:
        self.bar, self.title = bar, title
        self.task = bar.add_task(title, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.bar.update(self.task, completed=min(done, NEVER_FULL * total), total=total)

    def note(self, text: str) -> None:
        self.bar.update(self.task, description=f"{self.title}: {text}")
