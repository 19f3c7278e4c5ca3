"""Values of options in the spellings that people use."""

from __future__ import annotations

import click
import pytest
from compactproofs.emit.options import whole

OPTION = click.Option(["--budget"])
CONTEXT = click.Context(click.Command("certify", params=[OPTION]))


@pytest.mark.parametrize("text", ["2000000", "2_000_000", "2,000,000", "2e6", "2E6", "2.0e+6", "0.2e7", " 2000000 "])
def test_integers(text: str) -> None:
    assert whole(CONTEXT, OPTION, text) == 2_000_000


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("2.5", "is not an integer"),
        ("1e-3", "between 1 and"),
        ("0", "between 1 and"),
        ("-5", "between 1 and"),
        ("1e999999999", "between 1 and"),
        ("1,5", "write 2000000"),
        ("1,0000", "write 2000000"),
        ("million", "write 2000000"),
        ("nan", "write 2000000"),
        ("inf", "write 2000000"),
        ("", "write 2000000"),
    ],
)
def test_no_integers(text: str, words: str) -> None:
    with pytest.raises(click.BadParameter, match=words):
        whole(CONTEXT, OPTION, text)
