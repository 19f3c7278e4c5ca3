"""Values of options, as people write them."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation

import click

MOST = 10**18
GROUPED = re.compile(r"\d{1,3}(,\d{3})+")


def whole(_context: click.Context, _parameter: click.Parameter, value: str | None) -> int | None:
    """A positive integer: 2000000, 2_000_000, 2,000,000 or 2e6."""
    if value is None:
        return None
    text = value.strip()
    try:
        number = Decimal(text.replace(",", "") if GROUPED.fullmatch(text) else text)
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite():
        raise click.BadParameter(f"{text!r} is not an integer; write 2000000, 2_000_000, 2,000,000 or 2e6")
    if not 1 <= number <= MOST:  # before an exponent is spelled out
        raise click.BadParameter(f"{text} must lie between 1 and {MOST}")
    if number != int(number):
        raise click.BadParameter(f"{text} is not an integer")
    return int(number)
