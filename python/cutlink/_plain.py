"""Arguments of the caller as plain values, and reports of the native part."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import logging
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from cutlink._errors import UsageError

log = logging.getLogger("cutlink")
"""Notes on surfaces, meshes and flows, as warnings; their text is also in the reports."""

Progress = Callable[[float, str], object]
"""Called with the share done, 0 to 1, and a status."""


def plain(value: Any) -> Any:
    """Numpy values and paths as Python values; keys without a value are left out."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items() if item is not None}
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def to_json(what: str, value: Mapping[str, Any]) -> str:
    """A table as JSON."""
    try:
        return json.dumps(plain(value), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{what} has a value that cannot be written: {error}") from None


def listener(progress: Progress | None) -> Callable[..., None]:
    """Receives reports: progress goes to the caller's function, notes go to the log."""

    def on_report(first: Any, total: int = 0, status: str = "") -> None:
        if isinstance(first, str):
            log.warning("%s", first)
        elif progress is not None:
            progress(min(first / total, 1.0) if total else 0.0, status)

    return on_report


def meant(word: str, known: Iterable[str]) -> str | None:
    """The known word that is most like a wrong one, if any is."""
    names = list(known)
    found = difflib.get_close_matches(word, names, 1, 0.6)
    found = found or [name for name in names if word and (name.startswith(word) or word.startswith(name))]
    return found[0] if found else None


P = ParamSpec("P")
R = TypeVar("R")


def suggesting(function: Callable[P, R]) -> Callable[P, R]:
    """A keyword that a function does not have is a `TypeError` that names the one that was meant."""
    known = [name for name in inspect.signature(function).parameters if name != "self"]

    @functools.wraps(function)
    def checked(*arguments: P.args, **options: P.kwargs) -> R:
        wrong = next((name for name in options if name not in known), None)
        if wrong is None:
            return function(*arguments, **options)
        name = function.__qualname__.removesuffix(".__init__")
        close = meant(wrong, known)
        way = f"did you mean {close!r}?" if close else f"keywords: {', '.join(known)}"
        raise TypeError(f"{name}() got an unexpected keyword argument {wrong!r}; {way}")

    return checked
