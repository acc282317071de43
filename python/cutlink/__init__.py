"""Meshes with cut links from surfaces, and lattice Boltzmann flows on them.

=====================================  =================================================
to                                     call
=====================================  =================================================
mesh a surface                         :func:`mesh`
read a mesh file                       :func:`load`
check a mesh file or a surface         :func:`inspect`
run a case with all its outputs        :func:`solve`
step a flow, in lattice or SI units    :class:`Flow`
refine a mesh of OpenFOAM, Gmsh, VTK   :class:`HexMesh`
=====================================  =================================================

Lengths are in metres, after the placement of the surface. Everything runs without the GIL; Ctrl-C stops it. Failures
are subclasses of :class:`CutlinkError`. ``docs/python.md`` of the project describes arrays, units and frames.
"""

from cutlink._arrays import Cells, Links, LinkTable
from cutlink._errors import (
    CutlinkError,
    DeviceError,
    Diverged,
    GeometryError,
    MissingFileError,
    OutOfMemoryError,
    RunError,
    Untrusted,
    UsageError,
)
from cutlink._flow import DeviceFields, Fields, Flow, Samples
from cutlink._hex import HexMesh, HexPatch
from cutlink._mesh import Mesh, bunny, inspect, load, mesh
from cutlink._native import CUDA, DeviceArray, __version__
from cutlink._particles import Particles
from cutlink._solve import Case, Motion, Result, RunningFlow, solve
from cutlink._units import Units

__all__ = [
    "CUDA",
    "Case",
    "Cells",
    "CutlinkError",
    "DeviceArray",
    "DeviceError",
    "DeviceFields",
    "Diverged",
    "Fields",
    "Flow",
    "GeometryError",
    "HexMesh",
    "HexPatch",
    "LinkTable",
    "Links",
    "Mesh",
    "MissingFileError",
    "Motion",
    "Particles",
    "OutOfMemoryError",
    "Result",
    "RunError",
    "RunningFlow",
    "Samples",
    "Units",
    "Untrusted",
    "UsageError",
    "__version__",
    "bunny",
    "inspect",
    "load",
    "mesh",
    "solve",
]
