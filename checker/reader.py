"""Reading untrusted files: sizes before contents, one spelling for every document, exact sets of keys."""

import json
import os
import re
import stat
from collections.abc import Callable

from .errors import Exhausted, Malformed
from .numbers import read_hex

# Strings are matched whole, since their brackets do not count; one that does not end, to the end of the text.
BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)
DEPTH = 16
NODES = 2_000_000
SMALL = 10**15  # integers written as JSON numbers lie strictly between -SMALL and SMALL


def read_bytes(path: str, cap: int) -> bytes:
    """The contents of a regular file of at most `cap` bytes, read once."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    except (OSError, ValueError) as fault:
        raise Malformed("UNREADABLE", str(fault)) from None
    try:
        before = os.fstat(handle)
        if not stat.S_ISREG(before.st_mode):
            raise Malformed("NOT_A_FILE", "not a regular file")
        if before.st_size > cap:
            raise Exhausted("FILE_TOO_LARGE", f"{before.st_size} bytes, at most {cap} (--max-bytes)")
        with open(handle, "rb", closefd=False) as file:
            data = file.read(before.st_size + 1)
    except OSError as fault:
        raise Malformed("UNREADABLE", str(fault)) from None
    finally:
        os.close(handle)
    if len(data) != before.st_size:
        raise Malformed("CHANGED", f"{before.st_size} bytes when opened, {len(data)} when read")
    return data


def _integer(text: str) -> int:
    if len(text) > 16 or not -SMALL < int(text) < SMALL:
        raise Malformed("INTEGER_TOO_LARGE", f"{text[:20]}... as a JSON number; use a hexadecimal string")
    return int(text)


def _no_float(text: str) -> object:
    raise Malformed("NOT_AN_INTEGER", f"{text[:40]!r}: certificates hold no fractions and no special numbers")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    result: dict[str, object] = {}
    for key, value in pairs:
        if key in result:
            raise Malformed("DUPLICATE_KEY", f"{key!r} twice")
        result[key] = value
    return result


def _guard_depth(text: str) -> None:
    """Bound nesting and size before the parser, which recurses, sees the text."""
    if text.count(",") + text.count(":") > NODES or text.count('"') > 4 * NODES:
        raise Exhausted("TOO_MANY_VALUES", f"more than {NODES} values")
    depth = 0
    for sign in BRACKET.finditer(text):
        depth += 1 if sign[0] in "[{" else -1 if sign[0] in "]}" else 0
        if depth > DEPTH:
            raise Malformed("TOO_DEEP", f"nested deeper than {DEPTH} at byte {sign.start()}")


def _load(data: bytes, encoding: str) -> object:
    try:
        text = data.decode(encoding)
        _guard_depth(text)
        value: object = json.loads(
            text,
            parse_int=_integer,
            parse_float=_no_float,
            parse_constant=_no_float,
            object_pairs_hook=_object,
        )
    except UnicodeDecodeError as fault:
        raise Malformed("NOT_TEXT", f"byte {fault.start} is not {encoding}") from None
    except (ValueError, RecursionError) as fault:
        where = fault.pos if isinstance(fault, json.JSONDecodeError) else 0
        cut = where >= len(text.rstrip()) or "Unterminated" in str(fault)
        hint = "; the end of the file is missing" if cut else ""
        raise Malformed("NOT_JSON", str(fault)[:200] + hint if text.strip() else "the file is empty") from None
    return value


def parse(data: bytes) -> object:
    """The JSON document whose canonical spelling is exactly `data`."""
    if data[8:9] == b"{":
        raise Malformed("NOT_A_CERTIFICATE", "this looks like a safetensors file; --model FILE takes the model")
    value = _load(data, "ascii")
    if spell(value) != data:
        text = "not the canonical spelling of this document: it was edited or reformatted; take the file as written"
        raise Malformed("NOT_CANONICAL", text)
    return value


def parse_header(data: bytes) -> dict[str, object]:
    """The header of a safetensors file: JSON that need not be canonical, but holds no duplicate key and no float."""
    return Fields(_load(data, "utf-8"), "header").value


def spell(value: object) -> bytes:
    """Canonical bytes: sorted keys, no blanks, ASCII, one final newline."""
    return (json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True) + "\n").encode("ascii")


class Fields:
    """A JSON object whose keys must be exactly the ones taken from it."""

    def __init__(self, value: object, place: str) -> None:
        if not isinstance(value, dict):
            raise Malformed("NOT_AN_OBJECT", f"expected an object, got {type(value).__name__}").at(place)
        self.value = value
        self.place = place
        self.taken: set[str] = set()
        self.premises: list[int] = []  # earlier steps that the rule asked for

    def take(self, key: str) -> object:
        if key not in self.value:
            raise Malformed("MISSING_KEY", f"{key!r}").at(self.place)
        self.taken.add(key)
        return self.value[key]

    def text(self, key: str) -> str:
        value = self.take(key)
        if not isinstance(value, str):
            raise Malformed("NOT_TEXT", f"{key!r} must be a string").at(self.place)
        return value

    def integer(self, key: str, low: int, high: int) -> int:
        return integer(self.take(key), low, high, f"{self.place}.{key}")

    def hex(self, key: str) -> int:
        return read_hex(self.take(key), f"{self.place}.{key}")

    def items(self, key: str) -> list[object]:
        return items(self.take(key), f"{self.place}.{key}")

    def inner(self, key: str) -> "Fields":
        return Fields(self.take(key), f"{self.place}.{key}")

    def each(self, key: str, read: Callable[[object, str], int]) -> tuple[int, ...]:
        return tuple(read(item, f"{self.place}.{key}[{i}]") for i, item in enumerate(self.items(key)))

    def close(self) -> None:
        unknown = sorted(set(self.value) - self.taken)
        if unknown:
            raise Malformed("UNKNOWN_KEY", f"{unknown[0]!r}").at(self.place)


def integer(value: object, low: int, high: int, place: str) -> int:
    """A JSON integer in low..high; true and false are not integers."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise Malformed("NOT_AN_INTEGER", f"expected an integer, got {type(value).__name__}").at(place)
    if not low <= value <= high:
        raise Malformed("OUT_OF_RANGE", f"{value}, allowed {low}..{high}").at(place)
    return value


def items(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise Malformed("NOT_A_LIST", f"expected a list, got {type(value).__name__}").at(place)
    return value
