"""The notebooks run from top to bottom, and are kept without what they print."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "notebooks"
each_notebook = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
SECONDS = 300  # of a cell


@pytest.mark.notebooks
@each_notebook
def test_a_notebook_runs(path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=SECONDS, resources={"metadata": {"path": str(FOLDER)}}).execute()
    images = [
        mime
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        for mime in output.get("data", {})
        if mime.startswith("image/")
    ]
    assert len(images) >= 2


@each_notebook
def test_a_notebook_is_kept_stripped(path: Path) -> None:
    import json

    for cell in json.loads(path.read_text())["cells"]:
        assert cell.get("outputs", []) == [] and cell.get("execution_count") is None
