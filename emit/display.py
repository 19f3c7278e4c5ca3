"""Small HTML for notebooks: bounds as bars, matrices as PNG made here, without a plotting library."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from math import sqrt
from typing import Final

import numpy as np
import numpy.typing as npt

from ..core.decimals import percent
from ..core.exact import Floats
from ..core.interpret import Averaged
from .auditing.report import Report
from .auditing.text import Table, blocks_of

ZERO: Final = (247, 247, 247)
BELOW: Final = (33, 102, 172)
ABOVE: Final = (178, 24, 43)
LOST: Final = (122, 1, 80)
VOID: Final = (221, 221, 221)
WIDTH: Final = 220


def png(colours: npt.NDArray[np.uint8]) -> str:
    """rows x columns x 3 bytes as a data address."""
    rows, columns = colours.shape[:2]
    raw = b"".join(b"\x00" + row.tobytes() for row in colours)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(raw, 9)), chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode("ascii")


def blend(share: Floats, start: tuple[int, int, int], end: tuple[int, int, int]) -> Floats:
    """Colours between two, for shares 0..1."""
    result: Floats = np.array(start) + share[..., None] * (np.array(end) - np.array(start))
    return result


def diverging(values: Floats) -> npt.NDArray[np.uint8]:
    """Blue below zero, red above, by the largest size."""
    share = np.abs(values) / (float(np.abs(values).max()) or 1.0)
    chosen = np.where((values < 0)[..., None], blend(share, ZERO, BELOW), blend(share, ZERO, ABOVE))
    result: npt.NDArray[np.uint8] = chosen.round().astype(np.uint8)
    return result


def _image(colours: npt.NDArray[np.uint8], title: str, note: str) -> str:
    rows, columns = colours.shape[:2]
    height = round(WIDTH * (1 if 0.25 < rows / columns < 4 else 0.3 if rows < columns else 1))
    style = f"width:{WIDTH}px;height:{height}px;image-rendering:pixelated;border:1px solid #999"
    picture = f'<img src="{png(colours)}" alt="{escape(title)}" style="{style}">'
    return (
        '<figure style="display:inline-block;margin:6px 14px 6px 0;vertical-align:top">'
        f"<figcaption><b>{escape(title)}</b> {escape(note)}</figcaption>{picture}</figure>"
    )


def circuits(form: Averaged) -> str:
    """The five circuits; attention over the root of d_head."""
    parts = []
    for name in ("EQKE", "EQKP", "EVOU", "PVOU", "EU"):
        scaled = name in ("EQKE", "EQKP")
        values = form.floats(name) / (sqrt(form.d_head) if scaled else 1.0)
        note = f"{values.min():.3g} to {values.max():.3g}"
        parts.append(_image(diverging(values), f"{name}/√d" if scaled else name, note))
    return "".join(parts)


def bound(title: str, lower: int, upper: int, total: int, note: str) -> str:
    """A bar: proved right, open, proved wrong."""
    ends = f"exactly {percent(lower, total)}" if lower == upper else f"at least {percent(lower, total)}"
    if lower < upper < total:
        ends += f", at most {percent(upper, total, up=True)}"
    right, open_ = 100 * lower / total, 100 * (upper - lower) / total
    bar = (
        '<div style="display:flex;height:10px;width:420px;border-radius:5px;overflow:hidden;background:#b3261e">'
        f'<span style="width:{right:.4f}%;background:#1a7f4b"></span>'
        f'<span style="width:{open_:.4f}%;background:#bbb"></span></div>'
    )
    return f"<p><b>{escape(title)}</b>: {escape(ends)}</p>{bar}<p><small>{escape(note)}</small></p>"


def note(title: str, text: str, small: str) -> str:
    """A bound that is no share of inputs."""
    return f"<p><b>{escape(title)}</b>: {escape(text)}</p><p><small>{escape(small)}</small></p>"


def refusal(verdict: str, message: str) -> str:
    """Nothing that looks like a result."""
    return f'<p><b style="color:#b3261e">{escape(verdict)}</b> <code>{escape(message)}</code></p>'


def losses(report: Report) -> str:
    """The report as tables, and the loss by (query, maximum) as a map."""
    parts = []
    for block in blocks_of(report):
        parts.append(_table(block) if isinstance(block, Table) else f"<div>{escape(block)}</div>")
    if report.losses is not None:
        account = report.losses.account
        size, lost = account.sizes, account.loss
        share = np.array([int(a) / int(b) if b else -1.0 for a, b in zip(lost.ravel(), size.ravel(), strict=True)])
        depth = np.clip(1 + np.log10(np.maximum(share, 1e-6)) / 6, 0.06, 1)
        flat = np.where(share[:, None] > 0, blend(depth, ZERO, LOST), np.where(share[:, None] < 0, VOID, ZERO))
        colours = flat.round().astype(np.uint8).reshape(*lost.shape, 3)
        parts.insert(5, _image(colours, "loss", "query down, maximum across; logarithmic"))
    return "".join(parts)


def _table(table: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in table.head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return (
        f"<details><summary>{escape(table.title)}</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>"
    )
