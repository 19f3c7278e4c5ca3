"""What is certified of every class and so of every mixture of classes, as words, tables and JSON."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from ...core.audit.classes import Group, Table
from ...core.task import Task
from .numbers import decimal

TOP = 8
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


def share(value: Fraction, up: bool = False) -> str:
    return f"{decimal(100 * value, 6, up)} %"


def sentence(task: Task, table: Table) -> str:
    """The worst case over all mixtures."""
    ends = f"at least {share(table.lower)} right, some at most {share(table.upper, up=True)}"
    at = where(task, table.worst)
    return f"every mixture of {kinds(task, table)}: {ends}; the worst is {at} ({source(table)})"


def rows(task: Task, table: Table, top: int = TOP) -> list[tuple[str, ...]]:
    """What it is, mass, bounds: the smallest lower bounds first."""
    ordered = sorted(table.groups, key=lambda group: (group.lower, group.upper, -group.size))
    return [(where(task, group), str(group.size), *bounds(group)) for group in ordered[:top]]


def bounds(group: Group) -> tuple[str, str]:
    return share(group.lower), share(group.upper, up=True)


def to_json(task: Task, table: Table) -> dict[str, Any]:
    """Masses are strings; `checked` says whether the checker has agreed on them."""
    return {
        "by": table.kind,
        "checked": table.checked,
        "source": source(table),
        "worst_case": {
            "lower": [str(table.worst.right), str(table.worst.size)],
            "lower_percent": decimal(100 * table.lower, 6),
            "upper_percent": decimal(100 * table.upper, 6, up=True),
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
