"""Surfaces of the caller as arrays."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
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
    """The arrays of ``(vertices, faces)``, of a dictionary of surfaces, or of a surface of another package; None for
    other objects."""
    if isinstance(source, tuple) and len(source) == 2:
        return from_arrays(*source)
    if isinstance(source, Mapping):
        return joined((str(name), surface_of(part, f"the part {name!r}")) for name, part in source.items())
    found = of_trimesh(source)
    if found is None:
        found = of_vtk(source)
    if found is None:
        found = of_meshio(source)
    return of_attributes(source) if found is None else found


def surface_of(part: Any, what: str) -> Arrays:
    """The arrays of a part of something."""
    found = from_object(part)
    if found is None:
        raise UsageError(f"{what} is a {type(part).__name__}, which is no surface")
    return found


def joined(parts: Iterable[tuple[str, Arrays]]) -> Arrays:
    """One surface of several, a patch each; parts of the same name are one patch, a part of several patches is
    ``part/patch``."""
    points: list[npt.NDArray[np.float64]] = []
    faces: list[npt.NDArray[np.uint32]] = []
    patch: list[npt.NDArray[np.uint16]] = []
    names: list[str] = []
    count = 0
    for name, (vertices, corners, numbers, own) in parts:
        if points and vertices.shape[1] != points[0].shape[1]:
            raise UsageError(f"{name} is {vertices.shape[1]}D, the parts before are {points[0].shape[1]}D")
        called = [name] if len(own) == 1 else [f"{name}/{each}" for each in own]
        names.extend(each for each in called if each not in names)
        if len(names) > 2**16:
            raise UsageError(f"there are {len(names)} patches, at most 65536 are possible")
        index = np.array([names.index(each) for each in called], np.uint16)
        points.append(vertices)
        faces.append((corners + np.uint32(count)).astype(np.uint32))
        patch.append(index[numbers] if numbers.size else np.full(len(corners), index[0], np.uint16))
        count += len(vertices)
    if not points:
        raise UsageError("there is no surface in it")
    return np.concatenate(points), np.concatenate(faces), np.concatenate(patch), names


def of_trimesh(source: Any) -> Arrays | None:
    """A `trimesh.Scene`, each node a patch, as placed in the scene. (A `trimesh.Trimesh` has vertices and faces.)"""
    graph, geometry = getattr(source, "graph", None), getattr(source, "geometry", None)
    if graph is None or not hasattr(graph, "nodes_geometry") or not isinstance(geometry, Mapping):
        return None
    parts = []
    for node in graph.nodes_geometry:
        placement, name = graph[node]
        part = geometry[name]
        if not hasattr(part, "faces"):
            continue  # points and paths
        matrix = np.asarray(placement, np.float64)
        vertices = np.asarray(part.vertices, np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
        faces = np.asarray(part.faces)
        # A mirrored part is inside out otherwise.
        parts.append((str(node), from_arrays(vertices, faces[:, ::-1] if np.linalg.det(matrix[:3, :3]) < 0 else faces)))
    return joined(parts)


def of_vtk(source: Any) -> Arrays | None:
    """A dataset of pyvista or of VTK: surfaces as they are, volumes by their boundary; each block of a `MultiBlock` a
    patch."""
    if not hasattr(source, "GetClassName"):
        return None
    if not hasattr(source, "points") and not hasattr(source, "keys"):
        import pyvista

        source = pyvista.wrap(source)
    if hasattr(source, "is_all_polydata"):
        blocks = ((str(name), source[n]) for n, name in enumerate(source.keys()))
        return joined((name, surface_of(block, f"the block {name!r}")) for name, block in blocks if block is not None)
    if not hasattr(source, "regular_faces"):
        if not hasattr(source, "extract_surface"):
            return None
        source = source.extract_surface(algorithm="dataset_surface", pass_cellid=False, pass_pointid=False)
    triangles = source if source.is_all_triangles else source.triangulate()
    return from_arrays(triangles.points, triangles.regular_faces)


CORNERS = {
    "tetra": ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)),
    "pyramid": ((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    "wedge": ((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    "hexahedron": ((0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)),
}
"""Faces of cells, counter-clockwise seen from outside, by their numbering in VTK; of wedges by that of Gmsh."""


def of_meshio(source: Any) -> Arrays | None:
    """A `meshio.Mesh`: its triangles and quads, without these the boundary of its volume cells, or in a plane its
    lines.

    Patches are its cell sets, or physical groups of Gmsh.
    """
    blocks = getattr(source, "cells", None)
    if not isinstance(blocks, list) or not hasattr(source, "points") or not hasattr(source, "cell_data"):
        return None
    points = np.asarray(source.points, np.float64)
    kinds = [block.type for block in blocks]
    of = {n: np.asarray(blocks[n].data) for n, kind in enumerate(kinds) if kind in ("triangle", "quad")}
    if not of and any(kind in CORNERS for kind in kinds):
        volumes = [(kind, np.asarray(block.data)) for kind, block in zip(kinds, blocks, strict=True)]
        return from_arrays(points, boundary(points, volumes))
    if not of and "line" in kinds:
        if points.shape[1] == 3 and np.ptp(points[:, 2]) > 0.0:
            raise UsageError("the mesh has lines in space: in 2D they have to be in a plane z = const")
        of = {n: np.asarray(blocks[n].data) for n, kind in enumerate(kinds) if kind == "line"}
        points = points[:, :2]
    if not of:
        raise UsageError(f"the mesh has no faces, only cells of type {', '.join(kinds) or 'none'}")
    names, numbers = patches_of_meshio(source, of)
    faces = [halves(cells) for cells in of.values()]
    patch = [np.repeat(numbers[n], 2 if cells.shape[1] == 4 else 1) for n, cells in of.items()]
    return from_arrays(points, np.concatenate(faces), np.concatenate(patch), names)


def patches_of_meshio(source: Any, of: Mapping[int, Any]) -> tuple[list[str], dict[int, npt.NDArray[np.int64]]]:
    """Names of patches, and the patch of each cell of some blocks."""
    sets = getattr(source, "cell_sets", None) or {}
    groups = source.cell_data.get("gmsh:physical")
    numbers = {n: np.full(len(cells), -1) for n, cells in of.items()}
    names: list[str] = []
    if groups is not None:
        called = {int(tag[0]): str(name) for name, tag in getattr(source, "field_data", {}).items() if len(tag) == 2}
        tags = np.unique(np.concatenate([np.asarray(groups[n]) for n in of]))
        names = [called.get(int(tag), f"group{tag}") for tag in tags]
        numbers = {n: np.searchsorted(tags, np.asarray(groups[n])) for n in of}
    else:
        for name, members in sets.items():
            found = {n: np.asarray(members[n], np.int64) for n in of if members[n] is not None and len(members[n])}
            if found:
                for n, each in found.items():
                    numbers[n][each] = len(names)
                names.append(str(name))
    if any((each < 0).any() for each in numbers.values()):
        numbers = {n: np.where(each < 0, len(names), each) for n, each in numbers.items()}
        names.append("rest" if names else "surface")
    return names, numbers


def halves(cells: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Quads as two triangles each; others as they are."""
    return cells if cells.shape[1] != 4 else np.stack([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]], 1).reshape(-1, 3)


def boundary(points: npt.NDArray[np.float64], blocks: list[tuple[str, npt.NDArray[Any]]]) -> npt.NDArray[Any]:
    """Triangles of the faces that one volume cell has only, outward: programs differ in which way round they number a
    wedge."""
    made: dict[int, list[npt.NDArray[Any]]] = {3: [], 4: []}
    for kind, cells in blocks:
        faces = [cells[:, corners] for corners in CORNERS.get(kind, ())]
        volume = np.zeros(len(cells))
        for each in faces:
            for triangle in (each[:, [0, k, k + 1]] for k in range(1, each.shape[1] - 1)):
                x = points[triangle] - points[cells[:, :1]]
                volume += np.einsum("ij,ij->i", x[:, 0], np.cross(x[:, 1], x[:, 2]))
        for each in faces:
            made[each.shape[1]].append(np.where(volume[:, None] < 0, each[:, ::-1], each))
    outer = []
    for faces_of in (np.concatenate(each) for each in made.values() if each):
        _, first, times = np.unique(np.sort(faces_of, 1), axis=0, return_index=True, return_counts=True)
        outer.append(halves(faces_of[first[times == 1]]))
    return np.concatenate(outer)


def of_attributes(source: Any) -> Arrays | None:
    """Anything with vertices and with faces or triangles, such as a `trimesh.Trimesh` or those of Open3D and
    pysplashsurf."""
    vertices = getattr(source, "vertices", None)
    faces = next((found for name in ("faces", "triangles") if (found := getattr(source, name, None)) is not None), None)
    if vertices is None or faces is None or callable(vertices) or callable(faces):
        return None
    return from_arrays(vertices, faces)
