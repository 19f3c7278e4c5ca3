"""Reports on a terminal: tables by rich there, and plain lines into a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import click

from ...core.audit.account import Account, Share
from ...core.audit.bands import Losing
from ...core.decimals import decimal, percent, remains
from ...core.errors import printable
from ...core.task import Task
from . import losing, programs, worst
from .numbers import enclosed
from .report import Report, assumptions, by_part, ranked, term_name, term_share

TOP = 8
"""Rows of a table of losses; the rest is one row."""
SHOWN = 6
"""Inputs shown of each kind; --json has more."""
NEAREST = 20
"""Undecided inputs shown, the nearest to the threshold first."""


@dataclass(slots=True)
class Table:
    """Rows of text; the first `left` columns are words, the others numbers."""

    title: str
    head: tuple[str, ...]
    rows: list[tuple[str, ...]] = field(default_factory=list)
    left: int = 1


Block = str | Table


def show(blocks: Sequence[Block]) -> None:
    """Print; styled only where a person looks."""
    if sys.stdout.isatty():
        _rich(blocks)
        return
    for block in blocks:
        click.echo(printable(block) if isinstance(block, str) else "\n".join(plain(block)))


def plain(table: Table) -> list[str]:
    """A table as aligned lines."""
    rows = [table.head, *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.head))]
    lines = ["", table.title] if table.title else [""]
    for row in rows:
        cells = [
            cell.ljust(width) if i < table.left else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  " + "  ".join(cells).rstrip())
    return lines


def _rich(blocks: Sequence[Block]) -> None:
    from rich.box import SIMPLE_HEAD  # a large import, wanted by people only
    from rich.console import Console
    from rich.table import Table as Rich
    from rich.text import Text

    console = Console()
    for block in blocks:
        if isinstance(block, str):
            style = "bold green" if block == "VERIFIED" else ""
            console.print(Text(printable(block), style=style))
            continue
        drawn = Rich(title=Text(block.title), title_justify="left", title_style="bold", box=SIMPLE_HEAD)
        for i, name in enumerate(block.head):
            drawn.add_column(name, justify="left" if i < block.left else "right")
        for row in block.rows:
            drawn.add_row(*(Text(cell) for cell in row))
        console.print(drawn)


def blocks_of(report: Report) -> list[Block]:
    """One certificate in full. The verdict is the last line."""
    document, checked, lines = report.document, report.checked, report.lines
    result: list[Block] = [
        f"file: {document.path}",
        f"claim: {checked['claim']}",
        f"model: sha256:{checked['model_sha256']}",
        f"proof: {report.kind}; {_length(report)}",
    ]
    if report.paper is not None:
        text = f"{report.paper.flops} FLOPs, {report.paper.dimensions} unexplained dimensions"
        result.append(f"by the paper's counting: {text} ({report.paper.strategy})")
    if lines:
        rules = ", ".join(checked.get("rules", []))
        text = f"{lines['kernel']} lines of kernel and {lines['rules used']} of the rules {rules}"
        text += f", out of {lines['all of the checker']} lines"
        result.append(f"you trust: {text}")
    result += [f"  - {words}" for words in assumptions(report)]
    result += _losses(report) + _rounding(report)
    result.append("VERIFIED")
    return result


def _length(report: Report) -> str:
    checked = report.checked
    return f"{checked['steps']} steps, {checked['operations']} integer operations, {report.document.size} bytes"


def _losses(report: Report) -> list[Block]:
    losses = report.losses
    if report.losing is not None:
        return _losing(*report.losing, report.document.problem.task)
    if losses is None:
        return [f"where the bound loses is not shown: {report.note}"]
    account, blocks = losses.account, list[Block]()
    blocks.append(_summary(report))
    if report.document.all_right:
        return blocks + _examples(report)
    if not losses.agrees:
        blocks.append("the recount below does not add up to the verified numbers exactly; take it as an illustration")
    blocks += [f"note: {note}" for note in account.notes]
    if account.terms:
        blocks += [f"by term: {account.terms_of or 'each freed alone, in doubles'}", _terms(account, report)]
    task = report.document.problem.task
    for table in losses.tables:
        head = ("which", "inputs", "at least", "at most")
        title = f"{worst.kinds(task, table)}, {worst.ORDER}"
        blocks += [
            worst.sentence(task, table, report.document.words.right),
            Table(title, head, worst.rows(task, table)),
        ]
    if parts := by_part(report):
        blocks.append(_shares("by part of the distribution", "part", parts, report))
    blocks.append(_shares(f"by {worst.word(task)}", worst.word(task), account.by_maximum(), report))
    blocks.append(_shares("by query", "query", account.by_query(), report))
    if account.others:
        label = "free tokens that are not the maximum"
        blocks.append(_shares("by number of other tokens", label, account.others, report))
    if account.outputs:
        blocks.append(_outputs(report))
    return blocks + _examples(report)


def _losing(whole: Losing, parts: list[Losing], task: Task) -> list[Block]:
    """A mean loss: bands of the margin, the gap in parts, and each part of the distribution."""
    blocks: list[Block] = [
        losing.summary(whole),
        Table("where the bounds come from, by margin (nats)", losing.BANDS, losing.band_rows(whole), 0),
        Table("where the bounds are apart, exactly", losing.TERMS, losing.term_rows(whole), 2),
    ]
    if len(parts) > 1:
        head = ("part", "at least", "at most", "sampled")
        blocks.append(Table("each part of the distribution, from its counts (nats)", head, losing.part_rows(parts)))
    if rows := losing.maximum_rows(whole, task):
        blocks.append(Table(f"the sampled loss by {worst.word(task)}", (worst.word(task), "nats"), rows))
    return blocks


def _terms(account: Account, report: Report) -> Table:
    total = report.document.total
    rows: list[tuple[str, ...]] = [(term_name(t, report), t.meaning, term_share(t, total)) for t in account.terms]
    return Table("where the bound loses, by term", ("term", "question", "would gain"), rows, 2)


def _summary(report: Report) -> str:
    document, losses, words = report.document, report.losses, report.document.words
    lost = document.total - document.lower
    if document.all_right:
        return f"all of {document.total} are proved {words.right}"
    text = f"not counted as {words.right}: {lost} of {document.total} ({percent(lost, document.total, up=True)})"
    if document.upper == document.lower:
        return f"{text}, all of them proved {words.wrong}"
    proved = document.total - document.upper
    if proved:
        text += f", {proved} of them proved {words.wrong}"
    if losses is not None and losses.scan is not None:
        wrong = int(losses.scan.account.wrong.sum())
        text += f"; in doubles the model is {words.wrong} on {wrong} ({percent(wrong, document.total, up=True)})"
    elif losses is not None and losses.sampled is not None:
        s = losses.sampled
        low, high = decimal(100 * Fraction(s.low), 3), decimal(100 * Fraction(s.high), 3, up=True)
        text += f"; of {s.samples} sampled inputs the model got {s.right} {words.right} (95 %: {low} % to {high} %)"
    return text


def _shares(title: str, name: str, shares: list[Share], report: Report) -> Table:
    """The parts with the largest losses."""
    total = report.document.total
    losing = sorted((share for share in shares if share.loss), key=lambda share: -share.loss)
    rows = [_share_row(share, total) for share in losing[:TOP]]
    if rest := losing[TOP:]:
        sums = (sum(s.size for s in rest), sum(s.right for s in rest), sum(s.wrong for s in rest))
        rows.append(_share_row(Share(f"{len(rest)} more", *sums), total))
    head = (name, "lost of all", "of its own", report.document.words.proved, "open")
    return Table(f"where the bound loses, {title}", head, rows)


def _share_row(share: Share, total: int) -> tuple[str, ...]:
    """A loss is rounded up, as the bound is rounded down, and so is what is proved wrong where that is all of it."""
    wrong, lost = remains(total - share.loss, total - share.wrong, total)
    own = percent(share.loss, share.size, up=True)
    return share.label, lost, own, wrong, percent(share.open, total, up=True)


def _outputs(report: Report) -> Table:
    losses, columns = report.losses, report.document.problem.task.output_columns
    names = columns(report.document.problem.model.d_vocab_out)
    account = losses.account if losses is not None else None
    pairs = ranked(account.outputs) if account is not None else []

    def shown(n: int) -> str:
        return percent(n, report.document.total, up=True)

    rows: list[tuple[str, ...]] = [("several at once" if o < 0 else str(names[o]), shown(n)) for o, n in pairs[:TOP]]
    if len(pairs) > TOP:
        rows.append((f"{len(pairs) - TOP} more", shown(sum(n for _, n in pairs[TOP:]))))
    return Table(f"by output: {account.outputs_of if account else ''}", ("output", "of all"), rows)


def _examples(report: Report) -> list[Block]:
    losses, words = report.losses, report.document.words
    if losses is None or not losses.examples:
        return []
    rows: list[tuple[str, ...]] = []
    for example in losses.examples:
        each = example.replayed
        if sum(example.why == row[1] for row in rows) >= SHOWN and not each.disagree:
            continue
        mark = " ≠" if each.disagree else ""
        margin32 = each.float_logits[0] - each.float_logits[1]
        tokens = " ".join(map(str, each.tokens))
        real = words.margin(each.real.kind, enclosed(each.real))
        rows.append(
            (tokens, example.why, str(each.rival), real, words.margin(each.float_kind, f"{margin32:.6f}") + mark)
        )
    head = ("input", "why", "rival", "real margin", "float32 margin")
    disagreements = sum(example.replayed.disagree for example in losses.examples)
    text = f"{losses.examined} inputs were also run in float32, which answers otherwise on {disagreements}"
    return [Table("inputs to look at", head, rows, 2), text]


def _rounding(report: Report) -> list[Block]:
    """What a claim about a program loses to rounding."""
    if (found := report.rounding) is None:
        return []
    blocks: list[Block] = [
        Table("rounding errors, by stage", ("stage", "meaning", "at most", "of eps"), programs.stages(found), 2)
    ]
    blocks.append(programs.summary(found))
    if rows := programs.undecided_rows(found, report.document.words):
        head = ("input", "real margin", "float32 margins", "float32 answer")
        blocks += [
            Table("undecided: within rounding errors of the threshold", head, rows[:NEAREST], 1),
            programs.tried(found),
        ]
        if found.count is not None and found.count > min(NEAREST, len(rows)):
            blocks.append(f"{found.count - min(NEAREST, len(rows))} more; --json lists {len(rows)}")
    return blocks


def comparisons(reports: Sequence[Report]) -> list[Block]:
    """Several certificates side by side, and those of one claim for real numbers and for programs."""
    blocks: list[Block] = [_comparison(reports)]
    if rows := programs.side_by_side([(report.document, report.kind) for report in reports]):
        head = ("kind", "numbers", "at least", "at most", "between", "lower loses, points", "upper gains, points")
        blocks.append(Table("real numbers and programs, one claim", head, rows, 2))
    return blocks


def _comparison(reports: Sequence[Report]) -> Table:
    """One row for each certificate."""
    rows: list[tuple[str, ...]] = []
    for report in reports:
        d = report.document
        flops = "-" if report.paper is None else str(report.paper.flops)
        dimensions = "-" if report.paper is None else str(report.paper.dimensions)
        cells = (d.path, report.kind, report.checked["model_sha256"][:8], *d.ends)
        rows.append((*cells, str(report.checked["operations"]), str(d.size), flops, dimensions))
    head = ("file", "kind", "model", "at least", "at most", "operations", "bytes", "FLOPs", "dimensions")
    return Table("side by side", head, rows, 3)
