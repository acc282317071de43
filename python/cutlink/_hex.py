"""Meshes of hexahedra and of tetrahedra: of OpenFOAM, Gmsh and VTK, refined and written."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cutlink import _native
from cutlink._errors import UsageError
from cutlink._mesh import StrPath
from cutlink._plain import listener, suggesting


MOST = 10
"""Most refinements of a cell."""


class HexPatch(NamedTuple):
    """Boundary faces with a name."""

    name: str
    """The name."""
    kind: str
    """OpenFOAM's type, such as ``"patch"`` or ``"wall"``."""
    faces: range
    """Its faces."""


class HexMesh:
    """A mesh of hexahedra or of tetrahedra between faces, in host memory. It never changes.

    Arrays are read-only views without a copy; each keeps the mesh alive. In the shapes, p is the number of points, f that
    of faces, i that of internal faces, c that of cells. Internal faces come first, by owner, then by neighbour.
    """

    def __init__(self, native: _native.HexMesh) -> None:
        self._native = native

    @staticmethod
    def read(path: StrPath, *, patch_angle: float = 45.0, threads: int = 0) -> HexMesh:
        """Reads an OpenFOAM case or its ``polyMesh`` folder, a mesh of Gmsh (``.msh``) or of VTK (``.vtu``).

        The boundary of a mesh without names of surfaces is divided at edges of `patch_angle` degrees. Notes are logged.
        Raises `UsageError` for a file that is damaged or of another kind, `OutOfMemoryError`.
        """
        return HexMesh(_native.read_hex(path, patch_angle, threads, listener(None)))

    def __repr__(self) -> str:
        return (
            f"<cutlink.HexMesh: {self.cells} cells, {len(self.owner)} faces, {len(self.points)} points, "
            f"{len(self.patches)} patches>"
        )

    @property
    def cells(self) -> int:
        """Number of cells."""
        return self._native.cells

    @property
    def parent_cells(self) -> int:
        """Number of cells of the mesh that refinement started from."""
        return self._native.parent_cells

    @property
    def points(self) -> npt.NDArray[np.float64]:
        """Coordinates in metres, (p, 3)."""
        return cast("npt.NDArray[np.float64]", self._native.array("points").reshape(-1, 3))

    @property
    def face_start(self) -> npt.NDArray[np.uint32]:
        """First entry of each face in `face_points`, and their number, (f + 1,)."""
        return self._native.array("face_start")

    @property
    def face_points(self) -> npt.NDArray[np.uint32]:
        """Points of all faces, counter-clockwise seen from outside the owner."""
        return self._native.array("face_points")

    @property
    def owner(self) -> npt.NDArray[np.uint32]:
        """The cell on the inner side of each face, (f,)."""
        return self._native.array("owner")

    @property
    def neighbour(self) -> npt.NDArray[np.uint32]:
        """The other cell of each internal face, (i,)."""
        return self._native.array("neighbour")

    @property
    def patches(self) -> list[HexPatch]:
        """The boundary."""
        each = self._native.patches
        return [HexPatch(name, kind, range(start, start + faces)) for name, kind, start, faces in each]

    @property
    def parent_cell(self) -> npt.NDArray[np.uint32]:
        """The cell of the parent that each cell lies in, (c,). A copy."""
        return self._native.places()[0]

    @property
    def level(self) -> npt.NDArray[np.uint8]:
        """How often each cell has been refined, (c,). A copy."""
        return self._native.places()[1]

    @property
    def checksum(self) -> str:
        """16 hexadecimal digits; depends on ids and order."""
        return self._native.checksum()

    def volumes(self) -> npt.NDArray[np.float64]:
        """Volume of each cell in m^3, (c,)."""
        return self._native.geometry()[0]

    def centers(self) -> npt.NDArray[np.float64]:
        """Centre of mass of each cell in metres, (c, 3)."""
        return self._native.geometry()[1].reshape(-1, 3)

    @suggesting
    def refine(self, cells: npt.ArrayLike, *, device: str = "auto", threads: int = 0) -> HexMesh:
        """A mesh with finer cells, each 1 to 8.

        `cells` is a mask, (c,) of bool, or says how many times more each cell is refined, (c,) of integers. Cells beside
        them are refined too, so that levels differ by one at most around every point. Cells that are neither
        hexahedra nor tetrahedra stay. So do cells too distorted to be divided, whose children would have faces that
        point the wrong way; their number is logged.

        - `device`: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:N"``. `threads`: 0 for all cores. The mesh is
          bit-identical for any of them.

        Raises `UsageError`, also where cells around one too distorted to be divided ask for that; `DeviceError`,
        `OutOfMemoryError`.
        """
        times = np.asarray(cells)
        if times.shape != (self.cells,):
            raise UsageError(f"marks of shape {times.shape} for {self.cells} cells")
        if times.dtype != np.bool_ and not np.issubdtype(times.dtype, np.integer):
            raise UsageError(f"marks of type {times.dtype}", hint="give bools, or whole numbers of refinements")
        if times.size and not (0 <= times.min() and times.max() <= MOST):
            raise UsageError(f"refinements from {times.min()} to {times.max()}, not from 0 to {MOST}")
        return HexMesh(self._native.refine(times.astype(np.uint8), device, threads, listener(None)))

    def coarsen(self) -> HexMesh:
        """The mesh that refinement started from."""
        return HexMesh(self._native.coarsen())

    def validate(self) -> None:
        """Checks ids, order, patches, closed cells, volumes and the orientation of faces.

        Raises `RunError` with the first violation.
        """
        self._native.validate()

    @suggesting
    def write_polymesh(self, case: StrPath, *, format: str = "binary", force: bool = False) -> int:
        """Writes the mesh as that of an OpenFOAM case, with its parent where it is refined; returns its bytes.

        `format` is ``"ascii"``, ``"binary"`` or ``"binary64"``. `force` replaces a mesh that is there. Data of cells of a
        ``.vtu`` file are not written: ``cutlink refine`` does so.
        """
        return self._native.write_polymesh(case, format, force)
