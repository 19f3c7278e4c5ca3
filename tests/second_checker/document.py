"""FORMAT.md, sections 1 and 8: the bytes, their one spelling, and readers of single values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from flint import fmpz

HEX = re.compile(r"-?(0|[1-9a-f][0-9a-f]*)", re.ASCII)
Read = Callable[[Any], Any]


class Refused(Exception):
    """Why a document is not verified."""

    verdict = ""


class Malformed(Refused):
    verdict = "MALFORMED"


class Rejected(Refused):
    verdict = "REJECTED"


class Exhausted(Refused):
    verdict = "RESOURCE"


def demand(fact: bool, what: str) -> None:
    """A condition of the format."""
    if not fact:
        raise Malformed(what)


def require(fact: bool, what: str) -> None:
    """A condition of a proof."""
    if not fact:
        raise Rejected(what)


def load(data: bytes) -> Any:
    """The document, if it is spelled as it must be."""

    def refuse(text: str) -> Any:
        raise Malformed(f"not an integer: {text[:40]}")

    def whole(text: str) -> int:
        demand(len(text) < 17 and abs(int(text)) < 10**15, "an integer is too large")
        return int(text)

    if len(data) > 1 << 26 or data.count(b",") + data.count(b":") > 2_000_000:
        raise Exhausted("too large")
    try:
        value = json.loads(data.decode("ascii"), parse_float=refuse, parse_constant=refuse, parse_int=whole)
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as fault:
        raise Malformed(str(fault)) from fault
    demand(depth(value) <= 16, "nested too deeply")
    # repeated keys, blanks, other escapes and other orders all give other bytes
    demand((json.dumps(value, sort_keys=True, separators=(",", ":")) + "\n").encode() == data, "not canonical")
    return value


def depth(value: Any) -> int:
    """Levels of lists and objects, without recursion."""
    level, layer = 0, [value]
    while layer := [x for x in layer if isinstance(x, dict | list)]:
        level += 1
        layer = [y for x in layer for y in (x.values() if isinstance(x, dict) else x)]
    return level


def record(value: Any, fields: Mapping[str, Read]) -> dict[str, Any]:
    """An object with exactly these keys, each read by its reader."""
    demand(isinstance(value, dict), "not an object")
    demand(set(value) == set(fields), f"keys {sorted(map(repr, value))}, wanted {sorted(fields)}")
    return {key: read(value[key]) for key, read in fields.items()}


def anything(value: Any) -> Any:
    return value


def text(value: Any) -> str:
    demand(isinstance(value, str), "not a text")
    return str(value)


def one_of(*values: str) -> Read:
    def read(value: Any) -> str:
        demand(isinstance(value, str) and value in values, f"not one of {values}")
        return str(value)

    return read


def integer(low: int, high: int) -> Read:
    """An integer from low to high."""

    def read(value: Any) -> int:
        demand(type(value) is int, "not an integer")
        demand(low <= value <= high, f"{value} is not within {low}..{high}")
        return int(value)

    return read


def number(value: Any) -> fmpz:
    """An integer as hex."""
    demand(isinstance(value, str), "not hex")
    demand(len(value) <= 8192, "too many digits")
    demand(HEX.fullmatch(value) is not None and value != "-0", "not hex")
    return fmpz(int(value, 16))


def sequence(read: Read) -> Read:
    def all_of(value: Any) -> list[Any]:
        demand(isinstance(value, list), "not a list")
        return [read(item) for item in value]

    return all_of


def optional(read: Read) -> Read:
    return lambda value: None if value is None else read(value)


def vector(value: Any) -> tuple[list[fmpz], int]:
    """A dyadic vector: numbers and their exponent."""
    found = record(value, {"exponent": integer(-4096, 4096), "values": sequence(number)})
    return found["values"], found["exponent"]
