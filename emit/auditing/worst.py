"""What is certified of every class and so of every mixture of classes, as words, tables and JSON."""

from __future__ import annotations

from typing import Any

from ...core.audit.classes import Group, Table
from ...core.decimals import ends
from ...core.task import Task

TOP = 8
ORDER = "the worst first: the smallest lower bound, then the smallest upper bound, then the most inputs"
KINDS = {
    "class": "classes (query, {m})",
    "maximum": "{m}s",
    "query": "queries",
    "part": "parts of the distribution",
}
"""The groups in words; {m} is maximum or minimum."""


def word(task: Task) -> str:
    """What a class has beside its query."""
    return "maximum" if task.kind == "max" else "minimum"


def kinds(task: Task, table: Table) -> str:
    text = KINDS[table.kind].format(m=word(task))
    return text.replace("maximums", "maxima").replace("minimums", "minima")


def source(table: Table) -> str:
    """Who says so."""
    if table.checked:
        return "checked: each has a counting step of its own"
    return "counted again by this audit, NOT checked: the steps state only sums (certify --by class states each)"


def names(task: Task, group: Group) -> tuple[int | None, int | None]:
    """Query and maximum with the numbers that the model gives them."""
    query = None if group.q is None else task.query_tokens()[group.q]
    return query, None if group.m is None else task.token_rows()[group.m]


def where(task: Task, group: Group) -> str:
    if group.part is not None:
        return f"part {group.part}"
    query, largest = names(task, group)
    words = [] if query is None else [f"query {query}"]
    return ", ".join([*words, *([] if largest is None else [f"{word(task)} {largest}"])])


def sentence(task: Task, table: Table, right: str = "right") -> str:
    """The worst case over all mixtures, of inputs that are right by the threshold."""
    low, high = ends(table.lower, table.upper, 1)
    at = where(task, table.worst)
    text = f"every mixture of {kinds(task, table)}: at least {low} {right}, some at most {high}"
    return f"{text}; the worst is {at} ({source(table)})"


def rows(task: Task, table: Table, top: int = TOP) -> list[tuple[str, ...]]:
    """What it is, mass, bounds: the worst first."""
    return [(where(task, group), str(group.size), *bounds(group)) for group in table.ordered[:top]]


def bounds(group: Group) -> tuple[str, str]:
    return ends(group.right, group.size - group.wrong, group.size)


def to_json(task: Task, table: Table) -> dict[str, Any]:
    """Masses are strings; `checked` says whether the checker has agreed on them."""
    low, high = ends(table.lower, table.upper, 1)
    return {
        "by": table.kind,
        "checked": table.checked,
        "source": source(table),
        "worst_case": {
            "lower": [str(table.worst.right), str(table.worst.size)],
            "lower_percent": low.removesuffix(" %"),
            "upper_percent": high.removesuffix(" %"),
            **_named(task, table.worst),
        },
        "groups": [
            {**_named(task, g), "size": str(g.size), "right": str(g.right), "wrong": str(g.wrong)} for g in table.groups
        ],
    }


def _named(task: Task, group: Group) -> dict[str, Any]:
    if group.part is not None:
        return {"part": group.part}
    query, largest = names(task, group)
    return {"query": query, word(task): largest}
