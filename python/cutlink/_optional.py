"""Packages that are used where they are there."""

from __future__ import annotations

import importlib
from typing import Any


def package(name: str, what: str) -> Any:
    """A package, or an `ImportError` that says how to get it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        way = f'pip install "cutlink[{name}]"'
        raise ImportError(f"{what} needs {name}, which cannot be imported ({error}): {way}", name=name) from error
