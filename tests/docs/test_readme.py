"""Every console block of the README is run, and its output compared."""

from __future__ import annotations

import pytest
from consoles import ROOT, commands, run

README = ROOT / "README.md"


@pytest.mark.slow
def test_console_blocks() -> None:
    run(README)


def test_there_are_commands() -> None:
    """A README without console blocks would make the test above empty."""
    assert len(commands(README)) >= 4
