"""SI units of a flow in lattice units."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from cutlink._errors import UsageError
from cutlink._plain import meant, suggesting

if TYPE_CHECKING:
    from cutlink._mesh import Mesh


class Units:
    """What a root cell, a root step and a density of 1 are in SI units: `dx` in m, `dt` in s, `density` in kg/m³.

    `velocity`, `pressure`, `force`, … are the lattice's unit of each quantity in SI units: a value in SI units is one
    in lattice units times it. In 2D, forces, torques and masses are per metre of depth.
    """

    @suggesting
    def __init__(
        self,
        mesh: Mesh,
        *,
        velocity: float | None = None,
        lattice_velocity: float = 0.05,
        dt: float | None = None,
        density: float = 1.0,
    ) -> None:
        """The units of a flow on a mesh.

        - `velocity`: a typical velocity in m/s, which is `lattice_velocity` root cells in a root step. Errors of
          compressibility are about its square (at 0.05, 0.75 % of ρ u² / 2 as Mach number squared); more steps are done
          for a smaller one.
        - `dt`: the root step in seconds, in place of both.
        - `density`: that of the fluid at rest in kg/m³.

        Raises `UsageError` for values that are not positive.
        """
        if (velocity is None) == (dt is None):
            raise UsageError("units need a velocity or a time step", hint="give one of velocity and dt")
        if dt is None:
            _positive("lattice_velocity", lattice_velocity)
            dt = lattice_velocity * mesh.dx / _positive("velocity", velocity)
        dimensions = mesh.dimensions
        self.dx = mesh.dx
        self.dt = _positive("dt", dt)
        self.density = _positive("density", density)
        self.origin = mesh.origin
        self.velocity = self.dx / self.dt
        self.viscosity = self.dx**2 / self.dt
        self.acceleration = self.dx / self.dt**2
        self.pressure = self.density * self.velocity**2
        self.force = self.density * self.dx ** (dimensions + 1) / self.dt**2
        self.torque = self.force * self.dx
        self.mass_flow = self.density * self.dx**dimensions / self.dt
        self.omega = 1.0 / self.dt

    def __repr__(self) -> str:
        return f"<cutlink.Units: dx {self.dx:g} m, dt {self.dt:g} s, density {self.density:g} kg/m³>"

    def point(self, at: Sequence[float]) -> list[float]:
        """A point in metres in root cells from the lower corner of the box."""
        return [float(x) for x in (np.asarray(at, np.float64) - self.origin) / self.dx]

    def lattice_density(self, pressure: float) -> float:
        """The density of a pressure in Pa, relative to the fluid at rest."""
        return 1.0 + 3.0 * pressure / self.pressure


def _positive(name: str, value: Any) -> float:
    if not isinstance(value, (int, float, np.number)) or not 0.0 < value < np.inf:
        raise UsageError(f"{name} is {value!r}: a positive number is expected")
    return float(value)


Function = Callable[[float], npt.ArrayLike]
"""A value that varies in time: a function of the time."""


class Conditions:
    """Conditions of faces and patches and the acceleration in lattice units, and their functions by place."""

    def __init__(self, units: Units | None) -> None:
        self.units = units
        self.functions: dict[str, Callable[[float], list[float]]] = {}

    def value(self, place: str, given: Any, scale: float, offset: float = 0.0) -> Any:
        """A value in lattice units: `given` / `scale` + `offset`, of a function that at the middle of the first step."""

        def lattice(value: npt.ArrayLike) -> npt.NDArray[np.float64]:
            return np.asarray(value, np.float64) / scale + offset

        if not callable(given):
            try:
                return lattice(given).tolist()
            except (TypeError, ValueError):
                raise UsageError(f"{place}: {given!r} is no number and no list of numbers") from None
        function: Function = given
        step = 1.0 if self.units is None else self.units.dt

        def at(time: float) -> list[float]:
            return [float(x) for x in np.atleast_1d(lattice(function(time * step)))]

        self.functions[place] = at
        first = at(0.5)
        return first if np.ndim(function(0.5 * step)) else first[0]

    def acceleration(self, given: Any) -> Any:
        """The acceleration."""
        return None if given is None else self.value("acceleration", given, self.scale("acceleration"))

    def scale(self, quantity: str) -> float:
        """The lattice's unit of a quantity."""
        return 1.0 if self.units is None else float(getattr(self.units, quantity))

    def table(self, kind: str, conditions: Mapping[str, Any] | None) -> dict[str, Any]:
        """Conditions of faces (kind ``"face"``) or patches (``"patch"``)."""
        return {name: self.condition(f"{kind} {name}", each) for name, each in (conditions or {}).items()}

    def condition(self, place: str, given: Any) -> Any:
        """One condition."""
        if not isinstance(given, Mapping):
            return given
        if len(given) != 1:
            raise UsageError(f"{place}: a condition has one key, this one {', '.join(map(str, given)) or 'none'}")
        ((key, value),) = given.items()
        if key == "velocity":
            return {"velocity": self.value(place, value, self.scale("velocity"))}
        if key == "density" and self.units is None:
            return {"density": self.value(place, value, 1.0)}
        if key == "pressure" and self.units is not None:
            return {"density": self.value(place, value, self.units.pressure / 3.0, 1.0)}
        if key == "far-field" and isinstance(value, Mapping):
            return {"far-field": self.far_field(place, dict(value))}
        if key == "rotation" and isinstance(value, Mapping):
            return {"rotation": self.rotation(place, dict(value))}
        known = ["velocity", "density" if self.units is None else "pressure", "far-field", "rotation"]
        close = meant(str(key), known)
        hint = f"did you mean {close!r}?" if close else f"keys: {', '.join(known)}"
        if key in ("pressure", "density"):
            hint = "flows with units have pressures in Pa, those in lattice units densities"
        raise UsageError(f"{place}: there is no condition {key!r}", hint=hint)

    def far_field(self, place: str, given: dict[str, Any]) -> dict[str, Any]:
        """A far field."""
        given["velocity"] = self.value(place, given.get("velocity"), self.scale("velocity"))
        if self.units is not None:
            given["density"] = self.units.lattice_density(float(given.pop("pressure", 0.0)))
        if place in self.functions:
            raise UsageError(f"{place}: a far field does not vary in time")
        return given

    def rotation(self, place: str, given: dict[str, Any]) -> dict[str, Any]:
        """A rotating wall; `factor` is a function of time."""
        factor = given.pop("factor", None)
        if self.units is not None and "center" in given:
            given["center"] = self.units.point(given["center"])
        if "omega" in given:
            given["omega"] = self.value(place, given["omega"], self.scale("omega"))
        if place in self.functions:
            raise UsageError(f"{place}: omega does not vary in time", hint="give a function as `factor`")
        if factor is not None:
            self.value(place, factor, 1.0)
        return given
