"""What a proof says of every class (query, maximum), and so of every mixture of classes (the paper's appendix A.9).

The bound of the worst class holds for each distribution that draws the inputs of one class as the claim does, however
likely it makes the classes. It is proved where the proof counts each class in a step of its own, for the checker agrees
on the numbers of steps; else the classes are counted again here, which proves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from ..proof import Step
from ..task import Region, Task, pairs
from .account import Account


@dataclass(frozen=True, slots=True)
class Group:
    """Some classes: the query and the maximum that they share (None: several), mass, proved right, proved wrong; or a
    part of the distribution."""

    q: int | None
    m: int | None
    size: int
    right: int
    wrong: int
    part: int | None = None

    @property
    def lower(self) -> Fraction:
        """At least this share is right."""
        return Fraction(self.right, self.size)

    @property
    def upper(self) -> Fraction:
        """At most this share is."""
        return Fraction(self.size - self.wrong, self.size)


@dataclass(frozen=True, slots=True)
class Table:
    """Groups of one kind that hold all inputs; `checked`: the checker has agreed on the numbers of each."""

    kind: str  # class, maximum, query, or part of the distribution
    checked: bool
    groups: tuple[Group, ...]

    @property
    def ordered(self) -> list[Group]:
        """The groups from the worst on: the smallest lower bound, of these the smallest upper one, then the largest."""
        return sorted(self.groups, key=lambda group: (group.lower, group.upper, -group.size))

    @property
    def worst(self) -> Group:
        """The first of them."""
        return self.ordered[0]

    @property
    def lower(self) -> Fraction:
        """The bound for every mixture of groups."""
        return self.worst.lower

    @property
    def upper(self) -> Fraction:
        """Some mixture is right on at most this share."""
        return min(group.upper for group in self.groups)


@dataclass(frozen=True, slots=True)
class Counted:
    """A step that counts: its region, and the side that the conclusion takes from it ("both", "right", "wrong")."""

    region: Region
    side: str
    step: Step


def checked_table(task: Task, counts: Sequence[Counted]) -> Table | None:
    """What the steps state, if each is about a class, a maximum or a query of its own. Of others nothing is proved."""
    found: dict[Region, list[int]] = {}
    for each in counts:
        sides = found.setdefault(each.region, [0, 0])
        for index, key in enumerate(("right", "wrong")):
            if each.side in ("both", key):
                sides[index] += int(str(each.step.get(key, "0")), 16)
    if len(found) < 2 or sum(len(set(pairs(region))) for region in found) != len(set().union(*map(pairs, found))):
        return None  # one count of all, or counts of two sides by different regions
    groups = [_group(task, pairs(region), *sides) for region, sides in found.items()]
    kind = _kind(groups)
    if kind is None:
        return None
    rest: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for q, m in sorted(set(pairs(task.whole())).difference(*map(pairs, found))):
        rest.setdefault({"class": (q, m), "maximum": (m,), "query": (q,)}[kind], []).append((q, m))
    groups += [_group(task, classes, 0, 0) for classes in rest.values()]
    kept = (replace(g, q=g.q if kind != "maximum" else None, m=g.m if kind != "query" else None) for g in groups)
    return Table(kind, True, tuple(group for group in kept if group.size))


def _kind(groups: Sequence[Group]) -> str | None:
    """What the groups share: no two may be about the same class, maximum or query."""
    labels: dict[str, list[object]] = {
        "class": [(group.q, group.m) for group in groups if group.q is not None and group.m is not None],
        "maximum": [group.m for group in groups if group.m is not None],
        "query": [group.q for group in groups if group.q is not None],
    }
    for kind, found in labels.items():
        if len(set(found)) == len(groups):
            return kind
    return None


def _group(task: Task, classes: Iterable[tuple[int, int]], right: int, wrong: int) -> Group:
    each = list(classes)
    queries, maxima = sorted({q for q, _ in each}), sorted({m for _, m in each})
    size = sum(task.class_size(q, m) for q, m in each)
    q, m = (found[0] if len(found) == 1 else None for found in (queries, maxima))
    return Group(q, m, size, right, wrong)


def recounted_table(account: Account) -> Table | None:
    """The classes of an account, whose numbers no step states."""
    task, sizes = account.task, account.sizes
    groups = tuple(
        Group(q, m, size, int(account.right[q, m]), int(account.wrong[q, m]))
        for q, m in pairs(task.whole())
        if (size := int(sizes[q, m]))
    )
    return Table("class", False, groups) if groups else None
