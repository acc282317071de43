"""Flows in lattice units, step by step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cutlink import _native
from cutlink._errors import UsageError
from cutlink._mesh import Mesh
from cutlink._native import DeviceArray
from cutlink._plain import to_json


class Samples(NamedTuple):
    """Forces at s root steps, in lattice units; p patches."""

    steps: npt.NDArray[np.uint64]
    """Root steps done, (s,)."""
    forces: npt.NDArray[np.float64]
    """Force x, y, z and torque x, y, z of the fluid on each patch, (s, p, 6)."""
    inflow: npt.NDArray[np.float64]
    """Mass that enters the fluid through each patch in a root step, (s, p)."""


class Fields(NamedTuple):
    """Density and velocity of every cell at a root step, in lattice units. Copies, by block and cell."""

    step: int
    """Root steps done."""
    density: npt.NDArray[np.float32]
    """(n, 4^D); refined blocks hold the means of their children, solid cells 1."""
    velocity: npt.NDArray[np.float32]
    """(D, n, 4^D), in root cells per root step on every level; solid cells 0."""


class DeviceFields(NamedTuple):
    """Density and velocity of every cell at a root step, in the memory of the flow's device: as `Fields`."""

    step: int
    """Root steps done."""
    density: DeviceArray
    """(n, 4^D)."""
    velocity: DeviceArray
    """(D, n, 4^D)."""


class Flow:
    """A lattice Boltzmann flow on a mesh, at rest with density 1 at the start.

    All values are in units of the root lattice: root cells, root steps, density 1. Level l does 2^l steps in a root
    step. `solve` runs cases in physical units with checks of stability; here they are the caller's.
    """

    def __init__(
        self,
        mesh: Mesh,
        *,
        viscosity: float,
        lattice: str | None = None,
        collision: str | None = None,
        magic: float | None = None,
        les: str = "none",
        les_constant: float | None = None,
        precision: str = "f32",
        interpolation: str = "cubic",
        wall: str = "linear",
        wall_model: Sequence[str] = (),
        faces: Mapping[str, Any] | None = None,
        patches: Mapping[str, Any] | None = None,
        acceleration: Sequence[float] | None = None,
        moment_center: Sequence[float] | None = None,
        forces_every: int = 1,
        device: str = "auto",
        threads: int = 0,
    ) -> None:
        """Starts a flow.

        - `viscosity`: kinematic, (tau - 1/2) / 3 on the root level.
        - `lattice`: ``"d2q9"``, ``"d3q19"`` (default in 3D), ``"d3q27"``.
        - `collision`: ``"regularized"`` (default), ``"bgk"``, ``"trt"`` with its `magic` parameter (default 3/16),
          ``"cumulant"`` (d3q27), ``"kbc"`` (d2q9, d3q27).
        - `les`: eddy viscosity, ``"none"``, ``"smagorinsky"`` or ``"qr"`` (3D), with `les_constant` in place of the
          usual 0.1 and 0.152.
        - `precision`: ``"f32"``, ``"f64"``, or ``"f16"``: populations in 16 bits, arithmetic in 32. Half the memory of
          ``"f32"``; disturbances below a thousandth of the local velocity are lost.
        - `faces`, by name (``"x-"``, ``"x+"``, …): ``"periodic"`` (default), ``"no-slip"``, ``"free-slip"``,
          ``"outflow"``, ``{"velocity": [...]}``, ``{"density": rho}``,
          ``{"far-field": {"velocity": [...], "density": rho}}``.
        - `patches`, by name: ``"wall"`` (default), ``{"velocity": [...]}``, ``{"density": rho}``,
          ``{"rotation": {"center": [...], "omega": [x, y, z]}}`` with the centre in root cells from the lower corner.
        - `wall`: ``"bounce-back"``, ``"linear"``, ``"quadratic"``, ``"local"``.
        - `wall_model`: patches whose walls follow the law of the wall (`docs/case.md`, wall model).
        - `moment_center`: reference point of torques, in root cells. `forces_every`: root steps between two samples of
          the forces; 0 for none.

        Raises `UsageError`, `OutOfMemoryError`, `DeviceError`.
        """
        parameters = {
            "viscosity": viscosity,
            "lattice": lattice,
            "collision": collision,
            "magic": magic,
            "les": les,
            "les_constant": les_constant,
            "precision": precision,
            "interpolation": interpolation,
            "wall": wall,
            "wall_model": list(wall_model),
            "faces": faces or {},
            "patches": patches or {},
            "acceleration": acceleration,
            "moment_center": moment_center,
            "forces_every": forces_every,
        }
        if not isinstance(mesh, Mesh):
            raise UsageError(f"a flow runs on a cutlink.Mesh, not on {type(mesh).__name__}")
        self._mesh = mesh
        self._native = _native.Flow(mesh._native, to_json("the flow", parameters), device, threads)
        self._samples: list[tuple[npt.NDArray[Any], ...]] = []

    def __repr__(self) -> str:
        return f"<cutlink.Flow: {self.steps} root steps on {self.device}>"

    @property
    def mesh(self) -> Mesh:
        """The mesh."""
        return self._mesh

    @property
    def device(self) -> str:
        """The device that it runs on: ``"cpu"``, ``"cuda:0"``, …"""
        return self._native.device

    @property
    def steps(self) -> int:
        """Root steps done."""
        return self._native.steps()

    def advance(self, steps: int) -> None:
        """Does so many root steps. Samples of forces are kept until `forces` is called.

        Ctrl-C raises `KeyboardInterrupt` between two steps. The flow stays usable; samples of this call are lost.
        """
        if steps < 0:
            raise UsageError(f"steps is {steps}: it must be 0 or more")
        self._samples.append(self._native.advance(steps))

    def forces(self) -> Samples:
        """Forces since the last call, at multiples of `forces_every` and at the end of each `advance`."""
        taken, self._samples = self._samples, []
        if not taken:
            patches = len(self._mesh.patches)
            return Samples(np.empty(0, np.uint64), np.empty((0, patches, 6)), np.empty((0, patches)))
        steps, forces, inflow = (np.concatenate(arrays) for arrays in zip(*taken, strict=True))
        return Samples(steps, forces, inflow)

    def fields(self) -> Fields:
        """Density and velocity of every cell, as copies in host memory, also of a flow on a GPU."""
        return Fields(*self._native.fields())

    def device_fields(self) -> DeviceFields:
        """Density and velocity of every cell, for libraries that work on the flow's device: ``torch.from_dlpack``,
        ``cupy.asarray``, ``jax.dlpack.from_dlpack``, on the CPU also ``numpy.from_dlpack``.

        The arrays are the caller's: the flow does not write them again. Each call takes 4 (1 + D) bytes a cell of the
        device's memory until the arrays, and what was made of them, are dropped.
        """
        return DeviceFields(*self._native.device_fields())

    def density(self) -> npt.NDArray[np.float32]:
        """Density of every cell, (n, 4^D); pressure is density / 3. `fields` gives both fields at the cost of one."""
        return self.fields().density

    def velocity(self) -> npt.NDArray[np.float32]:
        """Velocity of every cell, (D, n, 4^D), in root cells per root step."""
        return self.fields().velocity

    def check(self) -> None:
        """Raises `Diverged` if a value is not finite or a speed beyond that of sound."""
        self._native.check()

    def set(self, *, density: npt.ArrayLike = 1.0, velocity: npt.ArrayLike | None = None) -> None:
        """Sets density and velocity, and the time to zero; populations are those of equilibrium.

        Each is the same everywhere, a number and D components, or given by cell: arrays of the shapes of `Fields`.
        Values are rounded to 32 bits; those of solid cells do not count. Ghost cells of a finer level lie between cells of the coarser one, where the
        velocity is carried on by its gradient.

        Raises `UsageError` for other shapes.
        """
        dimensions, blocks = self._mesh.dimensions, len(self._mesh.solid)
        rho = np.asarray(density, np.float64)
        u = np.zeros(dimensions) if velocity is None else np.asarray(velocity, np.float64)
        by_cell = (blocks, 4**dimensions)
        if rho.shape not in ((), by_cell):
            raise UsageError(f"density has the shape {rho.shape}: it must be a number or {by_cell}")
        if u.shape not in ((dimensions,), (dimensions, *by_cell)):
            raise UsageError(f"velocity has the shape {u.shape}: it must be {(dimensions,)} or {(dimensions, *by_cell)}")
        if rho.ndim == 0 and u.ndim == 1:
            self._native.set(float(rho), [float(x) for x in u])
        else:
            rho = np.broadcast_to(rho, by_cell)
            u = np.broadcast_to(u.reshape(dimensions, *u.shape[1:] or (1, 1)), (dimensions, *by_cell))
            self._native.set_fields(rho.astype(np.float32).ravel(), u.astype(np.float32).ravel())
        self._samples.clear()
