"""What holds for all tests."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def limits_stay() -> Iterator[None]:
    """The checker, run within this process, limits its memory; a browser that is started later needs more."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    yield
    if resource.getrlimit(resource.RLIMIT_AS) != before:
        resource.setrlimit(resource.RLIMIT_AS, before)
