"""Arrays of meshes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cutlink import _native
from cutlink._optional import package

if TYPE_CHECKING:
    import pandas

Array = npt.NDArray[Any]

AXES = ("x", "y", "z")


def as_frame(names: Iterable[str], columns: Iterable[Array], what: str) -> pandas.DataFrame:
    """Arrays as a pandas table: those with D columns have ``_x``, ``_y``, ``_z`` behind their names."""
    made_by = package("pandas", what)
    flat: dict[str, Array] = {}
    for name, array in zip(names, columns, strict=True):
        if array.ndim == 1:
            flat[name] = array
        else:
            flat.update({f"{name}_{AXES[a]}": array[:, a] for a in range(array.shape[1])})
    return cast("pandas.DataFrame", made_by.DataFrame(flat))


class Cells(NamedTuple):
    """Leaf cells, by block and cell."""

    center: npt.NDArray[np.float64]
    """Centres in metres, (N, D)."""
    size: npt.NDArray[np.float64]
    """Edge lengths in metres, (N,)."""
    level: npt.NDArray[np.uint8]
    """Levels, 0 the root, (N,)."""
    cell_class: npt.NDArray[np.uint8]
    """0 fluid, 1 boundary (fluid with a cut link), 2 solid, (N,)."""
    block: npt.NDArray[np.uint32]
    """Block of each cell, (N,)."""
    cell: npt.NDArray[np.uint8]
    """Place in the block, x + 4 y + 16 z, (N,)."""

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each cell, ``center_x``, ``center_y``, … for its centre. Needs pandas."""
        return as_frame(self._fields, self, "Cells.to_pandas")


class LinkTable(NamedTuple):
    """Every cut link, in the order of `Links.q`. A copy."""

    center: npt.NDArray[np.float64]
    """Centre of the fluid cell that the link leaves, in metres, (k, D)."""
    step: npt.NDArray[np.int8]
    """Where the link leads: -1, 0 or 1 cell along each axis, (k, D)."""
    direction: npt.NDArray[np.uint8]
    """The same as a number: (sx+1) + 3 (sy+1) + 9 (sz+1), in 2D (sx+1) + 3 (sy+1), (k,)."""
    q: npt.NDArray[np.float32]
    """Distance from the centre to the surface as a fraction of the link, in (0, 1], (k,)."""
    patch: npt.NDArray[np.uint16]
    """Patch that is cut: index into `Mesh.patches`, (k,)."""
    point: npt.NDArray[np.float64]
    """Where the surface is cut, in metres, (k, D)."""
    block: npt.NDArray[np.uint32]
    """Block of the cell, (k,)."""
    cell: npt.NDArray[np.uint8]
    """Place of the cell in the block, (k,)."""
    level: npt.NDArray[np.uint8]
    """Level of the cell, (k,)."""

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each link, ``point_x``, ``point_y``, … for its wall point. Needs pandas."""
        return as_frame(self._fields, self, "LinkTable.to_pandas")


class Links:
    """The cut-link table: read-only views, with the names and shapes of ``docs/mesh-file.md``."""

    def __init__(self, native: _native.Mesh) -> None:
        self._native = native

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        return f"<cutlink.Links: {len(self)} links of {len(self.cells)} cells>"

    @property
    def blocks(self) -> npt.NDArray[np.uint32]:
        """Block of each row: the leaves with boundary cells, ascending, (r,)."""
        return self._native.array("link_blocks")

    @property
    def cell_start(self) -> npt.NDArray[np.uint32]:
        """First entry of each row in `cells`, and their number, (r + 1,)."""
        return self._native.array("link_cell_start")

    @property
    def cells(self) -> npt.NDArray[np.uint64]:
        """For each boundary cell: bits 0..27 its directions, bits 27..64 its first link, (b,)."""
        return self._native.array("link_cells")

    @property
    def q(self) -> npt.NDArray[np.float32]:
        """Distance to the surface as a fraction of the link, in (0, 1], (k,)."""
        return self._native.array("link_q")

    @property
    def patch(self) -> npt.NDArray[np.uint16]:
        """Patch that is cut, (k,); empty if the surface has one patch."""
        return self._native.array("link_patch")

    def table(self) -> LinkTable:
        """Centre, direction, q, patch and wall point of every link. A copy: 61 bytes a link in 3D."""
        return LinkTable(*self._native.link_table())
