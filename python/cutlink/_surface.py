"""Surfaces of the caller as arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cutlink._errors import UsageError

Arrays = tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[np.uint16], list[str]]
"""Vertices (n, D), facets (m, D), patch of each facet (m, or empty for one patch), names of patches."""


def is_shape(text: str) -> bool:
    """Whether a string is a built-in shape, such as ``sphere:r=0.5``, and no file."""
    name = text.split(":", 1)[0]
    return name.isidentifier() and not os.path.exists(text)


def from_arrays(vertices: Any, faces: Any, patch: Any = None, patches: Sequence[str] | None = None) -> Arrays:
    """Checks types and shapes; the native part checks values."""
    try:
        points = np.ascontiguousarray(vertices, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the vertices are no array of numbers: {error}") from None
    if points.ndim != 2 or points.shape[1] not in (2, 3):
        raise UsageError(f"the vertices have shape {points.shape}: (n, 3) is expected, or (n, 2) in 2D")
    corners = whole("faces", faces, points.shape[1])
    if patch is None:
        if patches is not None and len(patches) > 1:
            raise UsageError(f"there are {len(patches)} patches, and no patch of each face")
        return points, corners, np.empty(0, np.uint16), list(patches or ["surface"])
    numbers = np.asarray(patch)
    if numbers.ndim != 1 or not np.issubdtype(numbers.dtype, np.integer):
        raise UsageError(f"the patches of the faces are {numbers.shape} of {numbers.dtype}: whole numbers expected")
    if numbers.size and not 0 <= int(numbers.min()) <= int(numbers.max()) < 2**16:
        raise UsageError("the patches of the faces are not all in 0..65536")
    names = list(patches) if patches is not None else [f"patch{n}" for n in range(int(numbers.max(initial=0)) + 1)]
    return points, corners, np.ascontiguousarray(numbers, np.uint16), names


def whole(what: str, numbers: Any, columns: int) -> npt.NDArray[np.uint32]:
    """Indices as 32-bit numbers."""
    array = np.asarray(numbers)
    if array.size == 0:
        return np.empty((0, columns), np.uint32)
    if array.ndim != 2 or array.shape[1] != columns or not np.issubdtype(array.dtype, np.integer):
        raise UsageError(
            f"the {what} have shape {array.shape} of {array.dtype}: (m, {columns}) whole numbers are expected"
        )
    if int(array.min()) < 0 or int(array.max()) >= 2**32:
        raise UsageError(f"the {what} have numbers outside 0..2^32")
    return np.ascontiguousarray(array, np.uint32)


def from_object(source: Any) -> Arrays | None:
    """The arrays of ``(vertices, faces)``, a trimesh or a pyvista surface; None for other objects."""
    if isinstance(source, tuple) and len(source) == 2:
        return from_arrays(*source)
    if hasattr(source, "vertices") and hasattr(source, "faces") and hasattr(source, "is_watertight"):
        return from_arrays(source.vertices, source.faces)
    if hasattr(source, "regular_faces") and hasattr(source, "triangulate"):
        triangles = source if source.is_all_triangles else source.triangulate()
        return from_arrays(triangles.points, triangles.regular_faces)
    return None
