"""The progress of one piece of work on a terminal: a line that says what is going on, and under it a bar and times."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.text import Text

WINDOW = 300
"""Seconds whose mean speed tells the time that is left: parts of a search differ, so a short window would mislead."""
NEVER_FULL = 0.999
"""Of the bar, while the work goes on: what is full has stopped, and its clock stops with it."""


class _TwoLines(Progress):
    """The text has a line of its own, for it is too long to stand beside a bar."""

    def get_renderables(self) -> Iterable[RenderableType]:
        for task in self.tasks:
            yield Text(task.description)
        yield self.make_tasks_table(self.tasks)


class _Left(TimeRemainingColumn):
    """With words, and nothing where nothing is known of the length of the work."""

    def render(self, task: Task) -> Text:
        return Text(f"about {super().render(task).plain} left") if task.total else Text("")


def drawn(console: Console) -> Progress:
    """What draws one bar."""
    columns = (BarColumn(), TimeElapsedColumn(), TextColumn("so far"), _Left())
    return _TwoLines(*columns, console=console, transient=True, speed_estimate_period=WINDOW)


class Tick:
    """Draws how much is done, with a note beside the title."""

    def __init__(self, bar: Progress, title: str) -> None:
        self.bar, self.title = bar, title
        self.task = bar.add_task(title, total=None)

    def __call__(self, done: int, total: int) -> None:
        self.bar.update(self.task, completed=min(done, NEVER_FULL * total), total=total)

    def note(self, text: str) -> None:
        self.bar.update(self.task, description=f"{self.title}: {text}")
