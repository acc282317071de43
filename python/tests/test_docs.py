"""The examples of docs/python.md are doctests, in one namespace; the notebook runs."""

import copy
import doctest
import os
import re

import pytest
from kit import ROOT

PAGE = ROOT / "docs/python.md"
NOTEBOOK = ROOT / "python/notebooks/bunny.ipynb"


def examples(text):
    """The blocks with prompts, each as long as the page so that line numbers are those of the page."""
    for found in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
        if ">>>" in found[1]:
            yield text.count("\n", 0, found.start(1)), found[1]


def failures(text, name):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    names = {}
    for line, block in examples(text):
        test = doctest.DocTestParser().get_doctest(block.replace("…", "..."), {}, name, str(PAGE), line)
        test.globs = names
        runner.run(test, clear_globs=False)
    return runner.tries, runner.failures


def test_the_examples_of_the_page_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tries, failed = failures(PAGE.read_text(encoding="utf-8"), "python.md")
    assert tries > 30 and failed == 0


def test_a_wrong_example_is_found(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert failures("```python\n>>> 1 + 1\n3\n\n```\n", "wrong") == (1, 1)


def texts(cell):
    """What a cell has printed, and its value as text; of pictures only the kind is compared."""
    for output in cell.outputs:
        if output.output_type == "stream":
            yield output.name, output.text
        elif output.output_type != "error":
            yield output.output_type, tuple(sorted(output.data)), "" if "image/png" in output.data else output.data["text/plain"]


def test_the_notebook_gives_its_stored_outputs(tmp_path):
    """`CUTLINK_WRITE_NOTEBOOK=1` stores them."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    stored = nbformat.read(NOTEBOOK, as_version=4)
    book = copy.deepcopy(stored)
    bunny = os.environ.get("CUTLINK_BUNNY")
    if bunny and os.path.exists(bunny):
        (tmp_path / "bunny.stl").symlink_to(os.path.abspath(bunny))
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(book, timeout=300, resources=resources, record_timing=False).execute()
    if os.environ.get("CUTLINK_WRITE_NOTEBOOK"):
        book.metadata = stored.metadata
        nbformat.write(book, NOTEBOOK)
        stored = book
    for mine, other in zip(book.cells, stored.cells, strict=True):
        if mine.cell_type == "code":
            assert list(texts(mine)) == list(texts(other)), mine.source
    assert sum("image/png" in output.get("data", {}) for cell in stored.cells for output in cell.get("outputs", [])) >= 3
    assert NOTEBOOK.stat().st_size < 300_000
    assert str(tmp_path) not in NOTEBOOK.read_text(encoding="utf-8")
