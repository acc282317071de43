"""Pictures of meshes: in notebooks, and in 3D by pyvista."""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cutlink._errors import UsageError
from cutlink._optional import package

if TYPE_CHECKING:
    from cutlink._mesh import Mesh

AXES = ("x", "y", "z")
PIXELS = 512
"""Most pixels of a picture along an axis."""
SOLID = (176, 176, 176)
LEVELS = ((247, 251, 255), (198, 219, 239), (158, 202, 225), (107, 174, 214), (49, 130, 189), (8, 81, 156))
"""Colours of levels, the coarsest first ("Blues" of ColorBrewer, Harrower & Brewer 2003); finer ones have the last."""


def png(colors: Sequence[tuple[int, int, int]], pixels: npt.NDArray[np.uint8]) -> bytes:
    """A PNG file of indices into colours, (rows, columns), the upper row first (ISO/IEC 15948)."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows, columns = pixels.shape
    head = struct.pack(">IIBBBBB", columns, rows, 8, 3, 0, 0, 0)
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels], 1)
    body = zlib.compress(lines.tobytes(), 9)
    palette = bytes(value for color in colors for value in color)
    return b"".join(
        [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), chunk(b"PLTE", palette), chunk(b"IDAT", body), chunk(b"IEND", b"")]
    )


def table(rows: Iterable[Sequence[object]], head: Sequence[str] = ()) -> str:
    """A table in HTML; texts are escaped."""

    def row(cells: Sequence[object], kind: str) -> str:
        return "<tr>" + "".join(f"<{kind}>{html.escape(str(cell))}</{kind}>" for cell in cells) + "</tr>"

    return "<table>" + (row(head, "th") if head else "") + "".join(row(each, "td") for each in rows) + "</table>"


def middle(mesh: Mesh) -> npt.NDArray[np.float64]:
    """The middle of the box around all blocks with cut links, or of the mesh without any, (D,)."""
    blocks = mesh.links.blocks
    lower, upper = mesh.origin, mesh.upper
    if len(blocks):
        size = 4 * mesh.dx / 2.0 ** mesh.level[blocks][:, None]
        corner = mesh.origin + mesh.coord[blocks] * size
        lower, upper = corner.min(0), (corner + size).max(0)
    center: npt.NDArray[np.float64] = (lower + upper) / 2
    return center


def picture(mesh: Mesh) -> bytes:
    """The levels of a mesh, its solid cells grey, as PNG: in 3D in the plane z = const through the middle of the body."""
    depth = mesh.levels - 1
    while depth > 0 and (int(mesh.root_cells[:2].max()) << depth) > PIXELS:
        depth -= 1
    shape = [int(n) << depth for n in mesh.root_cells]
    lower, upper = mesh.origin.copy(), mesh.upper.copy()
    if mesh.dimensions == 3:
        shape[2] = 1
        lower[2] = upper[2] = middle(mesh)[2]
    block, cell = mesh._native.locate_grid(shape, lower.tolist(), upper.tolist())
    solid = mesh._named("class", block, cell) == 2
    level = np.minimum(mesh.level[block], len(LEVELS) - 1)
    # Few levels have the pale and the dark end too.
    spread = np.linspace(0, len(LEVELS) - 1, max(min(mesh.levels, len(LEVELS)), 2)).round().astype(np.uint8)
    index = np.where(solid, len(LEVELS), spread[np.minimum(level, len(spread) - 1)]).astype(np.uint8)
    return png((*LEVELS, SOLID), index.reshape(shape[:2]).T[::-1])


def mesh_html(mesh: Mesh) -> str:
    """A table and a picture for notebooks; it loads nothing."""
    cells = sum(
        int(np.count_nonzero(mesh.first_child[mesh.level == level] == 0xFFFF_FFFF)) for level in range(mesh.levels)
    ) * (4**mesh.dimensions)
    extent = " × ".join(f"{low:g} … {high:g}" for low, high in zip(mesh.origin, mesh.upper, strict=True))
    rows = [
        ("box / m", extent),
        ("root cells", " × ".join(map(str, mesh.root_cells.tolist()))),
        ("levels", f"{mesh.levels}, cells {mesh.dx:g} to {mesh.dx / 2 ** (mesh.levels - 1):g} m"),
        ("leaf cells", f"{cells:,}"),
        ("cut links", f"{len(mesh.links):,}"),
        ("patches", ", ".join(mesh.patches[:8]) + (" …" if len(mesh.patches) > 8 else "")),
    ]
    data = base64.b64encode(picture(mesh)).decode()
    plane = "" if mesh.dimensions == 2 else f" in the plane z = {middle(mesh)[2]:.4g} m"
    title = html.escape(f"levels{plane}, solid grey")
    image = f'<img src="data:image/png;base64,{data}" alt="{title}" title="{title}" style="width:24em;image-rendering:pixelated">'
    return f"<div><b>cutlink.Mesh</b>, {mesh.dimensions}D{table(rows)}{image}</div>"


def slice_of_cells(mesh: Mesh, normal: int, at: float, pyvista: Any) -> tuple[Any, Any]:
    """Fluid cells that meet a plane (in 2D all) as squares, with their block and cell."""
    if mesh.dimensions == 3:
        lower, upper = mesh.origin.copy(), mesh.upper.copy()
        lower[normal], upper[normal] = at - mesh.dx, at + mesh.dx
        cells = mesh.cells([*lower, *upper])
        # By whole numbers of finest cells, so that a plane between two layers is in the upper one on all levels.
        above = mesh.levels - 1 - cells.level.astype(np.int64)
        plane = int((at - mesh.origin[normal]) / mesh.dx * 2 ** (mesh.levels - 1))
        layer = np.rint((cells.center[:, normal] - mesh.origin[normal]) / cells.size - 0.5).astype(np.int64)
        kept = (layer == plane >> above) & (cells.cell_class != 2)
    else:
        cells = mesh.cells()
        kept = cells.cell_class != 2
    center = np.zeros((int(kept.sum()), 3))
    center[:, : mesh.dimensions] = cells.center[kept]
    first, second = (a for a in range(3) if a != normal)
    if mesh.dimensions == 3:
        center[:, normal] = at
    half = cells.size[kept] / 2
    corners = np.repeat(center[:, None, :], 4, axis=1)
    for corner, (u, v) in enumerate(((-1, -1), (1, -1), (1, 1), (-1, 1))):
        corners[:, corner, first] += u * half
        corners[:, corner, second] += v * half
    faces = np.column_stack([np.full(len(half), 4), np.arange(4 * len(half)).reshape(-1, 4)])
    made = pyvista.PolyData(corners.reshape(-1, 3), faces.ravel())
    made.cell_data["level"] = cells.level[kept]
    return made, (cells.block[kept], cells.cell[kept])


def body_of(mesh: Mesh, pyvista: Any) -> Any:
    """The surface with the patch of each facet, or without one the points where links are cut."""
    surface = mesh.surface
    if surface is not None:
        vertices, facets, patch = surface
        faces = np.column_stack([np.full(len(facets), 3), facets])
        made = pyvista.PolyData(vertices, faces.ravel())
        made.cell_data["patch"] = patch if len(patch) else np.zeros(len(facets), np.uint16)
        return made
    points = mesh.links.table()
    made = pyvista.PolyData(np.ascontiguousarray(points.point))
    made.point_data["patch"] = points.patch
    return made


def plot(
    mesh: Mesh,
    field: npt.ArrayLike | None,
    axis: str,
    at: float | None,
    body: bool,
    show: bool,
    plotter: Any,
    options: dict[str, Any],
) -> Any:
    """See `Mesh.plot`."""
    pyvista = package("pyvista", "Mesh.plot")
    if axis not in AXES:
        raise UsageError(f"there is no axis {axis!r}", hint="axes: x, y, z")
    normal = AXES.index(axis) if mesh.dimensions == 3 else 2
    place = float(middle(mesh)[normal] if at is None else at) if mesh.dimensions == 3 else 0.0
    if mesh.dimensions == 3 and not mesh.origin[normal] <= place < mesh.upper[normal]:
        raise UsageError(f"the plane at {place} is outside the box: {mesh.origin[normal]} to {mesh.upper[normal]}")
    squares, found = slice_of_cells(mesh, normal, place, pyvista)
    name = "level"
    if field is not None:
        values = mesh._values(found, np.asarray(field), None, found[0].shape)
        name = "field" if values.ndim == 1 else "magnitude"
        squares.cell_data[name] = values if values.ndim == 1 else np.linalg.norm(values, axis=0)
    if plotter is None:
        plotter = pyvista.Plotter()
    if field is None:
        levels = max(mesh.levels, 2)
        bar = {"n_labels": levels, "fmt": "%.0f"}
        look = {
            "cmap": "Blues",
            "clim": [0, levels - 1],
            "n_colors": levels,
            "scalar_bar_args": bar,
            "show_edges": True,
        }
    else:
        look = {"cmap": "viridis"}
    plotter.add_mesh(squares, scalars=name, lighting=False, edge_opacity=0.3, line_width=0.5, **look)
    if body and mesh.dimensions == 3 and len(mesh.links):
        surface = body_of(mesh, pyvista)
        several = len(mesh.patches) > 1
        colors = {"scalars": "patch", "cmap": "tab10", "show_scalar_bar": False} if several else {"color": "tan"}
        plotter.add_mesh(surface, smooth_shading=surface.n_cells > surface.n_points, split_sharp_edges=True, **colors)
        plotter.add_axes()
    if mesh.dimensions == 2:
        plotter.view_xy()
    return plotter.show(**options) if show else plotter
