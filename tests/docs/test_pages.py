"""The how-to pages are run, links lead somewhere, and generated pages are as their scripts make them."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from consoles import ROOT, commands, run

PAGES = ("howto-researcher.md", "howto-third-party.md", "howto-lean.md")
LINKED = [ROOT / "README.md", ROOT / "models" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_commands_do_what_the_page_says(page: str) -> None:
    if page == PAGES[0] and importlib.util.find_spec("jinja2") is None:
        pytest.skip("the page of audit needs jinja2")
    assert len(commands(ROOT / "docs" / page)) >= 4
    run(ROOT / "docs" / page)


@pytest.mark.parametrize("page", LINKED, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        target, _, anchor = link.partition("#")
        if target.startswith(("http://", "https://")):
            continue
        path = page.parent / target if target else page
        assert path.exists(), link
        if anchor:
            assert anchor in anchors(path), link


def anchors(page: Path) -> set[str]:
    """Names of headings as GitHub makes them."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_the_reference_is_as_generated() -> None:
    code = "import runpy, sys; sys.stdout.write(runpy.run_path('docs/make_reference.py')['page']())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "COLUMNS": "110", "PYTHONUTF8": "1"},
    )
    stored = (ROOT / "docs" / "reference.md").read_text(encoding="utf-8")
    assert done.stdout == stored, "run: python docs/make_reference.py"


def test_the_notebook_was_run_as_written() -> None:
    book = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))
    script = (ROOT / "docs" / "make_notebook.py").read_text(encoding="utf-8")
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    assert len(code) >= 6
    for cell in book["cells"]:
        assert "".join(cell["source"]).splitlines()[0][:40] in script.replace("\\n", "\n")
    for cell in code:
        assert cell["execution_count"] and cell["outputs"]
        assert all(output["output_type"] != "error" for output in cell["outputs"])
    assert json.dumps(book).count("VERIFIED") >= 4
