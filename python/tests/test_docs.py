"""The examples of docs/python.md are doctests, in one namespace; the notebook runs."""

import doctest
import os
import re

import pytest
from kit import ROOT

PAGE = ROOT / "docs/python.md"


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


def test_the_notebook_has_no_outputs_and_runs(tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    book = nbformat.read(ROOT / "python/notebooks/bunny.ipynb", as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code)
    bunny = os.environ.get("CUTLINK_BUNNY")
    if bunny and os.path.exists(bunny):
        (tmp_path / "bunny.stl").symlink_to(os.path.abspath(bunny))
    nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any(cell.outputs for cell in code)
