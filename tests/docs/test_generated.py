"""Tables in the documentation are what their scripts print today."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).resolve().parents[2] / "docs"


def script(name: str) -> ModuleType:
    """A script of the docs folder as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    if spec is None or spec.loader is None:
        raise FileNotFoundError(name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["error_codes", "trusted_lines"])
def test_tables_are_fresh(name: str) -> None:
    made = script(name)
    page = made.PAGE.read_text()
    assert made.rendered(page) == page, f"run: python docs/{name}.py --write"
