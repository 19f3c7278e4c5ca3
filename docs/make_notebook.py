"""Write docs/notebook.ipynb and run it: the Python API on a shipped model. Needs nbformat, nbclient and ipykernel.

python docs/make_notebook.py
"""

from __future__ import annotations

from pathlib import Path

import nbformat
from nbclient import NotebookClient

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "notebook.ipynb"

CELLS = (
    "# Proofs about a trained model\n\n`load`, `certify`, `check`, `audit`. "
    "This notebook was made and run by `docs/make_notebook.py`.",
    "from pathlib import Path\n\nfrom compactproofs.emit import audit, certify, check, circuits, load\n\n"
    'folder = Path("models") if Path("models").exists() else Path("../models")  # opened here, or in docs/\n'
    'model = load(folder / "max_of_4_v64_seed519.safetensors")\nmodel.d_vocab, model.n_ctx, model.sha256[:12]',
    "The five circuits say all about the model. Attention (EQKE) grows with the key token and hardly depends on the "
    "query; EVOU copies: its diagonal is red.",
    "circuits(model)",
    "The paper's cubic proof gives a lower bound. `certify` finds it; the number counts once `check`, a program of its "
    "own, has said VERIFIED.",
    'cubic = certify(model, strategy="cubic")\ncheck(cubic)',
    "Our margin tree proves the exact number, with a proof that is no longer.",
    'exact = certify(model, strategy="margin-tree")\ncheck(exact)',
    "Where does the cubic bound lose, and on which inputs is the model really wrong? Open the tables.",
    "audit(cubic, exact)",
    "A claim can be about margins, other tasks, and other distributions.",
    'check(certify(model, "P(margin > 1/2) of min of 32 tokens when query ~ 3/4 {0..7} + 1/4 {8..31}"))',
)
"""Text and code in turn."""


def main() -> None:
    """Make, run, write: cell numbers instead of random identifiers, and no times."""
    book = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for number, source in enumerate(CELLS):
        make = nbformat.v4.new_markdown_cell if number % 2 == 0 else nbformat.v4.new_code_cell
        book.cells.append(make(source, id=f"cell-{number}"))
    NotebookClient(book, resources={"metadata": {"path": str(ROOT)}}, record_timing=False).execute()
    book.metadata.pop("language_info", None)
    PAGE.write_text(nbformat.writes(book) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
