"""Every check of the checker is missed by some case when it is gone."""

from __future__ import annotations

import pytest
from bite import UNREACHABLE, checks, source_folder, survivors


@pytest.mark.slow
def test_no_check_can_be_removed_unnoticed() -> None:
    left, every = survivors()
    assert len(every) >= 80
    assert {check.name for check in left} == set(UNREACHABLE)


def test_there_are_checks() -> None:
    assert len(checks(source_folder())) >= 80
