"""Spheres of a run, from its files for ParaView."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from cutlink._arrays import as_frame
from cutlink._errors import UsageError

if TYPE_CHECKING:
    import pandas

HEADER = 8
"""Bytes of the size in front of each array."""
TYPES = {"Float32": "<f4", "Float64": "<f8", "Int64": "<i8"}
STEP = re.compile(r"_(\d{9,})\.vtp$")


class Particles(NamedTuple):
    """Spheres of a run at a step, by id; n is their number."""

    center: npt.NDArray[np.float64]
    """Centres in m, (n, 3)."""
    velocity: npt.NDArray[np.float32]
    """Velocities in m/s, (n, 3)."""
    spin: npt.NDArray[np.float32]
    """Angular velocities in rad/s, (n, 3)."""
    radius: npt.NDArray[np.float32]
    """Radii in m, (n,)."""
    material: npt.NDArray[np.int64]
    """Indices of materials, in the order of their names, (n,)."""
    contacts: npt.NDArray[np.int64]
    """Contacts of each, walls included, (n,)."""

    def to_pandas(self) -> pandas.DataFrame:
        """A row for each sphere, ``center_x``, ``center_y``, … for its centre. Needs pandas."""
        return as_frame(self._fields, self, "Particles.to_pandas")


def steps(folder: Path, name: str) -> list[int]:
    """Steps of an output of kind ``particles``, ascending."""
    found = (STEP.search(path.name) for path in folder.glob(f"{name}_*.vtp"))
    return sorted(int(one[1]) for one in found if one)


def read(folder: Path, name: str, step: int | None) -> Particles:
    """The spheres of an output at a step, by default the last one."""
    known = steps(folder, name)
    if not known:
        raise UsageError(
            f"{folder} has no spheres of an output {name!r}", hint='add [[output.write]] kind = "particles" to the case'
        )
    asked = known[-1] if step is None else step
    if asked not in known:
        raise UsageError(f"there are no spheres at step {asked}", hint=f"steps: {', '.join(map(str, known))}")
    arrays = _arrays((folder / f"{name}_{asked:09d}.vtp").read_bytes())
    return Particles(
        center=arrays["Points"].reshape(-1, 3),
        velocity=arrays["velocity"].reshape(-1, 3),
        spin=arrays["spin"].reshape(-1, 3),
        radius=arrays["radius"],
        material=arrays["material"].astype(np.int64),
        contacts=arrays["contacts"].astype(np.int64),
    )


def _arrays(file: bytes) -> dict[str, npt.NDArray[Any]]:
    """Raw appended arrays of a file of VTK, by name."""
    begin = file.index(b"<AppendedData")
    data = file.index(b"_", begin) + 1
    arrays: dict[str, npt.NDArray[Any]] = {}
    for tag in re.findall(r"<DataArray [^>]*offset=[^>]*>", file[:begin].decode("utf-8")):
        about = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        at = data + int(about["offset"])
        size = int(np.frombuffer(file, "<u8", 1, at)[0])
        kind = np.dtype(TYPES[about["type"]])
        arrays[about["Name"]] = np.frombuffer(file, kind, size // kind.itemsize, at + HEADER)
    return arrays
