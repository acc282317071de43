"""The exceptions of the module."""

from __future__ import annotations

import errno
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutlink._solve import Result


class CutlinkError(Exception):
    """Base of all failures. ``str()`` gives message, causes and hint."""

    message: str
    """What failed, and where."""
    causes: list[str]
    """Causes, outermost first."""
    hint: str | None
    """How to fix it."""
    details: Any
    """Details, such as the health report of a refused surface; None without."""

    def __init__(
        self, message: str, causes: list[str] | None = None, hint: str | None = None, details: Any = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.causes = list(causes or [])
        self.hint = hint
        self.details = details

    def __str__(self) -> str:
        lines = [self.message, *(f"  caused by: {cause}" for cause in self.causes)]
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.causes, self.hint, self.details)


class UsageError(CutlinkError, ValueError):
    """An invalid argument, option, case or file."""


class MissingFileError(UsageError, FileNotFoundError):
    """A file or folder that is not there. `errno` is that of the system."""

    def __init__(
        self, message: str, causes: list[str] | None = None, hint: str | None = None, details: Any = None
    ) -> None:
        super().__init__(message, causes, hint, details)
        self.errno = errno.ENOENT


class GeometryError(CutlinkError):
    """A surface without a well-defined inside. ``details["health"]`` is its health report."""


class OutOfMemoryError(CutlinkError, MemoryError):
    """A mesh or flow that does not fit into memory; nothing was allocated for it."""


class Diverged(CutlinkError, ArithmeticError):
    """The flow diverged. The files written so far are kept."""


class Untrusted(CutlinkError, ArithmeticError):
    """A run has ended and its files are written, but its verdict is *wrong*: the result should not be used.

    ``details["summary"]`` is its summary. ``[run] accept`` in the case names checks that are accepted as they are.
    """

    @property
    def result(self) -> Result:
        """The result, as `solve` would have returned it."""
        from cutlink._solve import Result

        return Result(self.details["summary"]["folder"])


class Stopped(CutlinkError):
    """A run was stopped, with a checkpoint. `solve` returns a result instead."""


class DeviceError(CutlinkError, RuntimeError):
    """The device is not there, or failed."""


class RunError(CutlinkError, RuntimeError):
    """A failure at run time, such as a full disk."""


CLASSES = {
    cls.__name__: cls
    for cls in (
        UsageError,
        MissingFileError,
        GeometryError,
        OutOfMemoryError,
        Diverged,
        Untrusted,
        Stopped,
        DeviceError,
        RunError,
    )
}


TYPES = {
    **dict.fromkeys(("usize", "u64", "u32", "u16", "u8", "i64", "i32"), "a whole number"),
    **dict.fromkeys(("f64", "f32"), "a number"),
    "a boolean": "True or False",
    "a string": "a text",
    "a sequence": "a list",
    "a map": "a dictionary",
}
"""Types in messages of the library, in words of Python."""


def words(text: str) -> str:
    """Options as arguments: ``--wall-distance`` becomes ``wall_distance``; types in words of Python."""
    text = re.sub(r"--([a-z][a-z-]*)", lambda found: found[1].replace("-", "_"), text)
    typed = re.search(r"invalid (?:type|value): (.*), expected (.*)", text)
    if typed is None:
        return text
    given = typed[1].replace("string ", "the text ", 1).replace("sequence", "a list").replace("map", "a dictionary")
    given = re.sub(r"^(integer|floating point) `(.*)`$", r"\2", given)
    given = re.sub(r"^boolean `(.)(.*)`$", lambda found: found[1].upper() + found[2], given)
    expected = TYPES.get(typed[2], typed[2])
    return f"{text[: typed.start()]}{given} is given, {expected} is expected{text[typed.end() :]}"


def is_missing(name: str, texts: list[str]) -> bool:
    """Whether an error of an input is that of the system for a file that is not there (ENOENT, on Windows also the
    folder)."""
    return name == "UsageError" and any(text.endswith(("(os error 2)", "(os error 3)")) for text in texts)


def make(name: str, message: str, causes: list[str], hint: str | None, details: str | None) -> CutlinkError:
    """The exception for an error of the library."""
    return CLASSES["MissingFileError" if is_missing(name, [message, *causes]) else name](
        words(message),
        [words(cause) for cause in causes],
        None if hint is None else words(hint),
        None if details is None else json.loads(details),
    )
