"""Flows step by step, in lattice or in SI units."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cutlink import _native
from cutlink._errors import UsageError
from cutlink._mesh import Mesh, StrPath
from cutlink._native import DeviceArray
from cutlink._plain import suggesting, to_json
from cutlink._units import Conditions, Function, Units


class Samples(NamedTuple):
    """Forces at s root steps; p patches. In lattice units, or in those of the flow: N, N m and kg/s, in 2D per metre of
    depth."""

    steps: npt.NDArray[np.uint64]
    """Root steps done, (s,)."""
    forces: npt.NDArray[np.float64]
    """Force x, y, z and torque x, y, z of the fluid on each patch, (s, p, 6)."""
    inflow: npt.NDArray[np.float64]
    """Mass that enters the fluid through each patch in a root step, in SI units in a second, (s, p)."""


class Fields(NamedTuple):
    """Density and velocity of every cell at a root step. Copies, by block and cell."""

    step: int
    """Root steps done."""
    density: npt.NDArray[np.float32]
    """(n, 4^D), of the fluid at rest 1, in SI units in kg/m³; refined blocks hold the means of their children, solid
    cells that of the fluid at rest."""
    velocity: npt.NDArray[np.float32]
    """(D, n, 4^D), in root cells per root step on every level, in SI units in m/s; solid cells 0."""


class DeviceFields(NamedTuple):
    """Density and velocity of every cell at a root step, in the memory of the flow's device: as `Fields`, always in
    lattice units."""

    step: int
    """Root steps done."""
    density: DeviceArray
    """(n, 4^D)."""
    velocity: DeviceArray
    """(D, n, 4^D)."""


class Flow:
    """A lattice Boltzmann flow on a mesh, at rest with density 1 at the start.

    All values are in units of the root lattice: root cells, root steps, density 1; with `units` they are in SI units.
    Level l does 2^l steps in a root step. `solve` runs cases with checks of stability; here they are the caller's.
    """

    @suggesting
    def __init__(
        self,
        mesh: Mesh,
        *,
        viscosity: float,
        units: Units | None = None,
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
        acceleration: Sequence[float] | Function | None = None,
        moment_center: Sequence[float] | None = None,
        forces_every: int = 1,
        allow_unstable: bool = False,
        device: str = "auto",
        threads: int = 0,
    ) -> None:
        """Starts a flow.

        - `viscosity`: kinematic, (tau - 1/2) / 3 on the root level; with `units` in m²/s.
        - `units`: SI units for all that is given and returned, but for `device_fields`.
        - `lattice`: ``"d2q9"``, ``"d3q19"`` (default in 3D), ``"d3q27"``.
        - `collision`: ``"regularized"`` (default), ``"bgk"``, ``"trt"`` with its `magic` parameter (default 3/16),
          ``"cumulant"`` (d3q27), ``"kbc"`` (d2q9, d3q27).
        - `les`: eddy viscosity, ``"none"``, ``"smagorinsky"`` or ``"qr"`` (3D), with `les_constant` in place of the
          usual 0.1 and 0.152.
        - `precision`: ``"f32"``, ``"f64"``, or ``"f16"``: populations in 16 bits, arithmetic in 32. Half the memory of
          ``"f32"``; disturbances below a thousandth of the local velocity are lost.
        - `faces`, by name (``"x-"``, ``"x+"``, …): ``"periodic"`` (default), ``"no-slip"``, ``"free-slip"``,
          ``"outflow"``, ``{"velocity": [...]}``, ``{"density": rho}``, ``{"far-field": {"velocity": [...], "density":
          rho}}``. With `units`, ``"pressure"`` in Pa relative to the fluid at rest takes the place of ``"density"``.
        - `patches`, by name: ``"wall"`` (default), ``{"velocity": [...]}``, ``{"density": rho}``, ``{"rotation":
          {"center": [...], "omega": [x, y, z]}}`` with the centre in root cells from the lower corner, with `units` in
          metres.
        - Velocities, densities and pressures of faces and patches, `acceleration`, and ``"factor"`` beside ``"omega"``
          may be functions of the time in root steps, with `units` in seconds. They are called once or more in a root
          step, conditions at its middle, and return numbers. The values of the first step decide which faces
          are openings: a face that fluid passes later needs a normal velocity then. What a function raises, `advance`
          raises.
        - `wall`: ``"bounce-back"``, ``"linear"``, ``"quadratic"``, ``"local"``.
        - `wall_model`: patches whose walls follow the law of the wall (`docs/case.md`, wall model).
        - `moment_center`: reference point of torques, in root cells from the lower corner, with `units` in metres.
          `forces_every`: root steps between two samples of the forces; 0 for none.
        - `allow_unstable`: start a flow that violates a stability limit (`docs/case.md`, numerics), which else raises a
          `UsageError`. Limits are judged by the velocities of faces and patches.

        Raises `UsageError`, `OutOfMemoryError`, `DeviceError`.
        """
        if not isinstance(mesh, Mesh):
            raise UsageError(f"a flow runs on a cutlink.Mesh, not on {type(mesh).__name__}")
        conditions = Conditions(units)
        center = moment_center if units is None or moment_center is None else units.point(moment_center)
        nu: Any = viscosity if units is None else conditions.value("viscosity", viscosity, units.viscosity)
        parameters = {
            "viscosity": nu,
            "lattice": lattice,
            "collision": collision,
            "magic": magic,
            "les": les,
            "les_constant": les_constant,
            "precision": precision,
            "interpolation": interpolation,
            "wall": wall,
            "wall_model": list(wall_model),
            "faces": conditions.table("face", faces),
            "patches": conditions.table("patch", patches),
            "acceleration": conditions.acceleration(acceleration),
            "moment_center": center,
            "forces_every": forces_every,
            "allow_unstable": allow_unstable,
        }
        self._start(mesh, units, to_json("the flow", parameters), device, threads, conditions.functions)

    def _start(
        self,
        mesh: Mesh,
        units: Units | None,
        parameters: str,
        device: str,
        threads: int,
        functions: dict[str, Callable[[float], list[float]]],
    ) -> None:
        self._mesh = mesh
        self._units = units
        self._native = _native.Flow(mesh._native, parameters, device, threads, functions)
        self._samples: list[tuple[npt.NDArray[Any], ...]] = []

    @classmethod
    def load(
        cls, path: StrPath, mesh: Mesh, *, units: Units | None = None, device: str = "auto", threads: int = 0
    ) -> Flow:
        """A flow that was saved, with its parameters, on the same mesh; it goes on bit for bit on a device of the same
        kind.

        `units` are not saved. Raises `UsageError` for a file that is damaged, of another mesh, or of a flow with
        functions: make that one again with its functions, and call `restore`.
        """
        parameters = _native.saved_parameters(path)
        if functions := json.loads(parameters).get("functions"):
            raise UsageError(
                f"{os.fspath(path)} is a flow with functions: {', '.join(functions)}",
                hint="make it again by cutlink.Flow with these functions, and call restore",
            )
        flow = cls.__new__(cls)
        flow._start(mesh, units, parameters, device, threads, {})
        flow._native.restore(path)
        return flow

    def save(self, path: StrPath, *, force: bool = False) -> int:
        """Writes the state and the parameters, complete or not at all; returns the size in bytes: 76 a cell of a D3Q19
        flow in f32.

        `force` replaces an existing file. Samples of forces, the mesh and functions are not saved. Raises `UsageError`,
        `RunError`.
        """
        target = Path(path)
        if target.exists() and not force:
            raise UsageError(f"{target} exists already", hint="replace it with force=True")
        if not target.parent.is_dir():
            raise UsageError(f"{target.parent} is no folder")
        with tempfile.TemporaryDirectory(prefix=".cutlink-", dir=target.parent) as folder:
            written = self._native.save(folder)
            os.replace(written, target)
        return target.stat().st_size

    def restore(self, path: StrPath) -> None:
        """Takes the place of a flow that was saved, on the same mesh with the same parameters; forces not yet taken are
        dropped.

        Raises `UsageError` for a file that is damaged or of another flow, with what differs; this flow stays as it is
        then.
        """
        self._native.restore(path)
        self._samples.clear()

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
    def units(self) -> Units | None:
        """The SI units, if it has any."""
        return self._units

    @property
    def steps(self) -> int:
        """Root steps done."""
        return self._native.steps()

    @property
    def time(self) -> float:
        """Simulated time in seconds; without `units` in root steps."""
        return self.steps * (1.0 if self._units is None else self._units.dt)

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
        if self._units is not None:
            forces = forces * np.repeat([self._units.force, self._units.torque], 3)
            inflow = inflow * self._units.mass_flow
        return Samples(steps, forces, inflow)

    def fields(self) -> Fields:
        """Density and velocity of every cell, as copies in host memory, also of a flow on a GPU."""
        fields = Fields(*self._native.fields())
        if self._units is None:
            return fields
        density = fields.density * np.float32(self._units.density)
        return Fields(fields.step, density, fields.velocity * np.float32(self._units.velocity))

    def device_fields(self) -> DeviceFields:
        """Density and velocity of every cell, for libraries that work on the flow's device: ``torch.from_dlpack``,
        ``cupy.asarray``, ``jax.dlpack.from_dlpack``, on the CPU also ``numpy.from_dlpack``.

        The arrays are the caller's: the flow does not write them again. Each call takes 4 (1 + D) bytes a cell of the
        device's memory until the arrays, and what was made of them, are dropped.
        """
        return DeviceFields(*self._native.device_fields())

    def density(self) -> npt.NDArray[np.float32]:
        """Density of every cell, (n, 4^D). `fields` gives both fields at the cost of one."""
        return self.fields().density

    def pressure(self) -> npt.NDArray[np.float32]:
        """Pressure of every cell relative to the fluid at rest, (n, 4^D): in lattice units (density - 1) / 3, with
        `units` in Pa."""
        density = self._native.fields()[1]
        scale = 1.0 if self._units is None else self._units.pressure
        return ((density - np.float32(1.0)) * np.float32(scale / 3.0)).astype(np.float32)

    def velocity(self) -> npt.NDArray[np.float32]:
        """Velocity of every cell, (D, n, 4^D), in root cells per root step."""
        return self.fields().velocity

    def check(self) -> None:
        """Raises `Diverged` if a value is not finite or a speed beyond that of sound."""
        self._native.check()

    def set(self, *, density: npt.ArrayLike | None = None, velocity: npt.ArrayLike | None = None) -> None:
        """Sets density (default: that of the fluid at rest) and velocity, and the time to zero; populations are those
        of equilibrium.

        Each is the same everywhere, a number and D components, or given by cell: arrays of the shapes of `Fields`.
        Values are rounded to 32 bits; those of solid cells do not count. Ghost cells of a finer level lie between cells
        of the coarser one, where the velocity is carried on by its gradient.

        Raises `UsageError` for other shapes.
        """
        dimensions, blocks = self._mesh.dimensions, len(self._mesh.solid)
        rho = np.float64(1.0) if density is None else np.asarray(density, np.float64)
        u = np.zeros(dimensions) if velocity is None else np.asarray(velocity, np.float64)
        if self._units is not None:
            rho = rho if density is None else rho / self._units.density
            u = u / self._units.velocity
        by_cell = (blocks, 4**dimensions)
        if rho.shape not in ((), by_cell):
            raise UsageError(f"density has the shape {rho.shape}: it must be a number or {by_cell}")
        if u.shape not in ((dimensions,), (dimensions, *by_cell)):
            raise UsageError(
                f"velocity has the shape {u.shape}: it must be {(dimensions,)} or {(dimensions, *by_cell)}"
            )
        if rho.ndim == 0 and u.ndim == 1:
            self._native.set(float(rho), [float(x) for x in u])
        else:
            rho = np.broadcast_to(rho, by_cell)
            u = np.broadcast_to(u.reshape(dimensions, *u.shape[1:] or (1, 1)), (dimensions, *by_cell))
            self._native.set_fields(rho.astype(np.float32).ravel(), u.astype(np.float32).ravel())
        self._samples.clear()
