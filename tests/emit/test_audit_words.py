"""The words of an audit agree with each other: one number is printed as one number, and the worst comes first."""

from __future__ import annotations

from compactproofs.core.audit.account import Share
from compactproofs.core.audit.classes import Group, Table
from compactproofs.core.audit.words import words_of
from compactproofs.core.task import Task
from compactproofs.emit import audit, certify
from compactproofs.emit.auditing import page, text, worst
from made import MODEL

TASK = Task("max", 4, 64)


def test_a_loss_that_is_proved_wrong_is_printed_once() -> None:
    _, lost, _, wrong, still_open = text._share_row(Share("11", 10**6, 10**6 - 1761, 1761), 64**4)
    assert (lost, wrong, still_open) == ("0.010497 %", "0.010497 %", "0.000000 %")
    _, lost, _, wrong, _ = text._share_row(Share("11", 10**6, 10**6 - 1761, 1760), 64**4)
    assert (lost, wrong) == ("0.010497 %", "0.010490 %")


def test_the_worst_is_the_first_row() -> None:
    groups = (Group(0, 0, 1, 0, 0), Group(8, 9, 271, 0, 271), Group(4, 4, 125, 0, 125), Group(5, 5, 9, 9, 0))
    table = Table("class", True, groups)
    rows = worst.rows(TASK, table)
    assert [row[0] for row in rows[:3]] == ["query 8, maximum 9", "query 4, maximum 4", "query 0, maximum 0"]
    assert f"the worst is {rows[0][0]}" in worst.sentence(TASK, table)
    assert worst.to_json(TASK, table)["worst_case"]["query"] == 8
    assert rows[0][2:] == ("0.000000 %", "0.000000 %")


def test_an_exact_group_has_one_number() -> None:
    table = Table("query", True, (Group(3, None, 3, 2, 1), Group(4, None, 3, 3, 0)))
    assert "at least 66.666666 % right, some at most 66.666666 %" in worst.sentence(TASK, table)


def test_words_name_the_threshold() -> None:
    assert words_of((0, 0)).wrong == "wrong" and words_of((1, -1)).wrong == "not right by more than 1/2"
    assert words_of((-3, 4)).bar == "-48" and words_of((1, -100)).bar == "1 * 2^-100"
    shown = str(audit(certify(MODEL, "P(margin > 1/2) of max of 6 tokens"), deep=False))
    assert "not counted as right by more than 1/2: " in shown and "nearest to 1/2" in shown
    assert "wrong" not in shown and "a tie" not in shown


def test_where_nothing_is_lost_nothing_is_the_worst() -> None:
    found = audit(certify(MODEL, "P(margin > -100) of max of 6 tokens"))
    shown = str(found).splitlines()
    assert "all of 1296 are proved right by more than -100" in shown and shown[-1] == "VERIFIED"
    assert not any(word in str(found) for word in ("worst", "where the bound loses", "by output"))
    assert "worst" not in page.render(found.reports).partition('id="losses"')[2].partition('id="circuits"')[0]
