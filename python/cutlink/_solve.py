"""Cases, and their runs with all outputs."""

from __future__ import annotations

import csv
import json
import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from cutlink import _native
from cutlink import _particles
from cutlink import _show
from cutlink._errors import RunError, UsageError
from cutlink._mesh import Mesh, StrPath, load
from cutlink._optional import package
from cutlink._particles import Particles
from cutlink._plain import Progress, listener, meant, suggesting, to_json

if TYPE_CHECKING:
    import pandas
    import xarray

COMPONENTS = ("C_D", "C_L", "C_S", "C_Mx", "C_My", "C_Mz")
CASES = {
    "lattice-boltzmann": "Case",
    "flux-reconstruction": "FluxCase",
    "two-phase": "TwoPhaseCase",
    "grains": "GrainsCase",
}
"""The definitions of the schema, by kind of flow."""
MESH_FILE = "mesh.cutlink"
"""The file of a mesh in memory, in the output folder of its run."""


def is_flux_reconstruction(tables: Mapping[str, Any]) -> bool:
    """Whether a case is for the solver of compressible flows."""
    solver: Mapping[str, Any] = tables.get("solver") or {}
    return solver.get("kind") == "flux-reconstruction"


class Case:
    """A case of ``cutlink solve``, from a dictionary or a TOML file: the tables of ``docs/case.md``, or with
    ``{"solver": {"kind": "flux-reconstruction"}}`` those of ``docs/flux-reconstruction.md``."""

    def __init__(self, source: Mapping[str, Any] | StrPath) -> None:
        """Reads and checks names and types; values are checked by `plan` and `solve`.

        Keys are those of the file: ``{"physics": {"re": 100, …}, "boundary": {"x-": "periodic"}, …}``. Expressions are
        strings. A key with the value None is left out. ``"mesh"`` may be a `Mesh`, also as ``{"file": mesh}``: `solve`
        writes it into the output folder as ``mesh.cutlink``.
        """
        self.mesh: Mesh | None = None
        """The mesh in memory, if there is one."""
        if isinstance(source, Mapping):
            source, self.mesh = _without_mesh(source)
            self._native: StrPath = to_json("the case", source)
        elif isinstance(source, (str, os.PathLike)):
            self._native = Path(source)
        else:
            raise UsageError(f"{type(source).__name__} is no case", hint="give a path, or a dictionary of its tables")
        self.tables: dict[str, Any] = _native.read_case(self._native)

    @staticmethod
    def example(name: str) -> str:
        """The text of an example case: ``"cavity"``, ``"channel"``, ``"cylinder"``, ``"sphere"``, ``"bunny"``, …"""
        return _native.example_case(name)

    @staticmethod
    def schema() -> dict[str, Any]:
        """The JSON schema of cases: the object of ``cutlink solve --schema``."""
        return _native.case_schema()

    @staticmethod
    def keys(table: str = "", *, kind: str = "lattice-boltzmann") -> dict[str, str]:
        """What the keys of a table mean: ``Case.keys("physics")["re"]``, ``Case.keys("output.write")``; without a table, the
        tables themselves. `kind` is that of ``[solver]``.

        Raises `UsageError` if there is no such kind or table.
        """
        return _keys(Case.schema(), table, kind)

    def to_toml(self) -> str:
        """The case as TOML, for ``cutlink solve``."""
        return _native.case_toml(self._native)

    def plan(
        self, *, steps: int | None = None, device: str | None = None, threads: int = 0, ranks: Sequence[int] = ()
    ) -> dict[str, Any]:
        """Units, memory and expected time: the object of ``cutlink solve --dry-run --json``. Writes nothing.

        - `ranks`: numbers of ranks to forecast the shares of.

        Builds the mesh. Raises `UsageError` for an invalid or unstable case.
        """
        options = (None, steps, False, False, device, threads, list(ranks), 1)
        if self.mesh is None:
            return _native.plan_case(self._native, options)
        with tempfile.TemporaryDirectory(prefix="cutlink-") as folder:
            self.mesh.save(Path(folder) / MESH_FILE)
            return _native.plan_case(self._with_mesh(Path(folder) / MESH_FILE), options)

    def _with_mesh(self, path: Path) -> str:
        """The tables with the file of the mesh."""
        tables = json.loads(cast(str, self._native))
        tables["mesh"]["file"] = str(path)
        return json.dumps(tables)

    def _place_mesh(self, folder: Path, *, resume: bool, force: bool) -> StrPath:
        """Writes the mesh in memory into an output folder; returns the case with its file."""
        if self.mesh is None:
            return self._native
        path = folder / MESH_FILE
        if not (resume and path.exists()):
            folder.mkdir(parents=True, exist_ok=True)
            self.mesh.save(path, force=force)
        elif load(path) != self.mesh:
            raise UsageError(
                f"{path} is another mesh than that of the case", hint="resume with the mesh of the earlier run"
            )
        return self._with_mesh(path)


def _keys(schema: Mapping[str, Any], table: str, kind: str) -> dict[str, str]:
    """The keys of a table of cases of a kind, with their descriptions."""
    if kind not in CASES:
        raise UsageError(f'there is no kind "{kind}"', hint=f"kinds: {', '.join(CASES)}")
    definitions: Mapping[str, Any] = schema["definitions"]

    def tables(value: Mapping[str, Any]) -> Mapping[str, Any]:
        """What an object has by name; of a list, its items; of alternatives, the one with keys."""
        if "$ref" in value:
            return tables(definitions[value["$ref"].rsplit("/", 1)[1]])
        inner = [*value.get("allOf", ()), *value.get("anyOf", ())]
        inner += [value[of] for of in ("items", "additionalProperties") if isinstance(value.get(of), dict)]
        own: Mapping[str, Any] = value.get("properties", {})
        return own or next((found for found in map(tables, inner) if found), {})

    here = tables(definitions[CASES[kind]])
    for name in table.split(".") if table else ():
        here = tables(here[name]) if name in here else {}
        if not here:
            raise UsageError(f'a case has no table "{table}"', hint='Case.keys() has the tables, Case.keys("output") keys')
    return {name: value["description"] for name, value in here.items()}


def _without_mesh(tables: Mapping[str, Any]) -> tuple[dict[str, Any], Mesh | None]:
    """Tables with a file in place of a mesh, and the mesh."""
    given = tables.get("mesh")
    table = {"file": given} if isinstance(given, Mesh) else given
    if not isinstance(table, Mapping) or not isinstance(table.get("file"), Mesh):
        return dict(tables), None
    return {**tables, "mesh": {**table, "file": MESH_FILE}}, table["file"]


class Motion(NamedTuple):
    """How a body has moved, at m samples."""

    time: npt.NDArray[np.float64]
    """Times in seconds, (m,)."""
    position: npt.NDArray[np.float64]
    """Places of its centre in metres, (m, D)."""
    rotation: npt.NDArray[np.float64]
    """Its orientation: in 2D the angle in radians (m, 1), in 3D a unit quaternion w, x, y, z (m, 4)."""
    velocity: npt.NDArray[np.float64]
    """Velocities of its centre in m/s, (m, D)."""
    spin: npt.NDArray[np.float64]
    """Angular velocities in rad/s, (m, 1) or (m, 3)."""
    force: npt.NDArray[np.float64]
    """Forces of the fluid in N, in 2D per metre of depth, (m, D)."""
    torque: npt.NDArray[np.float64]
    """Torques of the fluid about the centre in N m, in 2D per metre of depth, (m, 1) or (m, 3)."""


def _read_table(path: Path) -> tuple[list[str], npt.NDArray[np.float64]]:
    with path.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    values = [[float(word) if word else np.nan for word in row] for row in rows if len(row) == len(header)]
    return header, np.array(values, np.float64).reshape(len(values), len(header))


def _read_motion(folder: Path) -> dict[str, Motion]:
    """The bodies of ``motion.csv``; none without the file."""
    path = folder / "motion.csv"
    if not path.exists():
        return {}
    header, values = _read_table(path)
    names = list(dict.fromkeys(column.rsplit(" ", 1)[0] for column in header[2:]))
    width = (len(header) - 2) // max(len(names), 1)
    sizes = (2, 1, 2, 1, 2, 1) if width == 9 else (3, 4, 3, 3, 3, 3)
    parts = np.cumsum(sizes)[:-1]
    found = {}
    for n, name in enumerate(names):
        own = values[:, 2 + n * width : 2 + (n + 1) * width]
        found[name] = Motion(values[:, 1], *np.split(own, parts, axis=1))
    return found


class Result:
    """The output folder of a run: histories as arrays, and the summary.

    `cutlink.Result(folder)` also reads the folder of a run of ``cutlink solve``. In the shapes, s is the number of
    samples and p that of parts.
    """

    def __init__(self, folder: StrPath) -> None:
        self.folder = Path(folder)
        """The output folder."""
        self.stopped = not (self.folder / "summary.json").exists()
        """Whether the run was stopped before its end; it can be resumed."""
        if not (self.folder / "case.toml").is_file():
            raise UsageError(f"{self.folder} is no output folder of a run: it has no case.toml")

    def __repr__(self) -> str:
        state = "stopped" if self.stopped else f"{self.summary['steps']} root steps"
        return f"<cutlink.Result: {self.folder}, {state}>"

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The object in ``summary.json`` (``docs/json-schema.md``)."""
        if self.stopped:
            raise RunError(f"the run in {self.folder} did not end", hint="continue it with resume=True")
        text = (self.folder / "summary.json").read_text(encoding="utf-8")
        return cast("dict[str, Any]", json.loads(text))

    @cached_property
    def case(self) -> dict[str, Any]:
        """The tables of the resolved case, every default spelled out."""
        return _native.read_case(self.folder / "case.toml")

    @cached_property
    def _forces(self) -> tuple[list[str], npt.NDArray[np.float64]]:
        """Header and values of ``forces.csv``; both empty for a flow without walls, which has none."""
        path = self.folder / "forces.csv"
        return _read_table(path) if path.exists() else ([], np.empty((0, 0)))

    def table(self, name: str) -> tuple[list[str], npt.NDArray[np.float64]]:
        """A CSV file of the folder, such as ``"integrals"`` or ``"integrals.csv"``: column names, and values (rows,
        columns).

        Empty cells are NaN. Raises `UsageError` for a table that is not there, with those that are.
        """
        path = self.folder / (name if name.endswith(".csv") else f"{name}.csv")
        if not path.is_file():
            close = meant(path.stem, [known.removesuffix(".csv") for known in self.tables])
            way = f"did you mean {close!r}? " if close else ""
            raise UsageError(
                f"there is no table {name!r} in {self.folder}", hint=f"{way}tables: {', '.join(self.tables) or 'none'}"
            )
        return _read_table(path)

    @property
    def tables(self) -> list[str]:
        """Names of the CSV files of the folder."""
        return sorted(path.name for path in self.folder.glob("*.csv"))

    def to_pandas(self, name: str = "forces") -> pandas.DataFrame:
        """A table as a `pandas.DataFrame` with the columns of the file. Needs pandas; raises as `table`."""
        module = package("pandas", "Result.to_pandas")
        header, values = self.table(name)
        frame = module.DataFrame(values, columns=header)
        if "step" in frame:
            frame["step"] = frame["step"].astype(np.int64)
        return cast("pandas.DataFrame", frame)

    def to_xarray(self) -> xarray.Dataset:
        """`coefficients` and `forces` with the dimensions ``time``, ``part`` and ``component``. Needs xarray."""
        module = package("xarray", "Result.to_xarray")
        dims = ("time", "part", "component")
        names = ["drag", "lift", "side", "torque_x", "torque_y", "torque_z"]
        dataset = module.Dataset(
            {"coefficients": (dims, self.coefficients), "forces": (dims, self.forces)},
            {"time": self.times, "step": ("time", self.steps), "part": self.parts, "component": names},
        )
        dataset["time"].attrs["units"] = "s"
        return cast("xarray.Dataset", dataset)

    @property
    def motion(self) -> dict[str, Motion]:
        """Poses, velocities and loads of each body that moves, from ``motion.csv``."""
        return _read_motion(self.folder)

    def particles(self, step: int | None = None, name: str = "particles") -> Particles:
        """The spheres that an output of kind ``particles`` has written, at one of its steps; default: the last one.

        `name` is that of the output. Raises `UsageError` for a step or an output that is not there.
        """
        return _particles.read(self.folder, name, step)

    def particle_steps(self, name: str = "particles") -> list[int]:
        """The steps of an output of kind ``particles``, ascending; empty where there is none."""
        return _particles.steps(self.folder, name)

    def _repr_html_(self) -> str:
        if self.stopped:
            return _show.table([(str(self.folder), "stopped: continue it with resume=True")])
        rows = [(part, *(_with_error(of.get(c)) for c in COMPONENTS[:3])) for part, of in self.means.items()]
        state = [("folder", self.folder), ("root steps", self.summary["steps"]), ("verdict", self.verdict["grade"])]
        forces = _show.table(rows, ("part", *COMPONENTS[:3])) if rows else ""
        return f"<div><b>cutlink.Result</b>{_show.table(state)}{forces}</div>"

    @property
    def parts(self) -> list[str]:
        """Patches, then groups of patches, that forces are given for."""
        return [name.removeprefix("C_D ") for name in self._forces[0] if name.startswith("C_D ")]

    @property
    def steps(self) -> npt.NDArray[np.int64]:
        """Root steps of the samples of the forces, (s,)."""
        header, values = self._forces
        return values[:, 0].astype(np.int64) if header else np.empty(0, np.int64)

    @property
    def times(self) -> npt.NDArray[np.float64]:
        """Times of the samples in seconds, (s,)."""
        header, values = self._forces
        return values[:, 1] if header else np.empty(0)

    @property
    def coefficients(self) -> npt.NDArray[np.float64]:
        """Coefficients, (s, p, 6), as in ``forces.csv``: drag, lift, side force, torques about x, y and z."""
        header, values = self._forces
        return values[:, 2:].reshape(len(values), len(self.parts), 6) if header else np.empty((0, 0, 6))

    @property
    def forces(self) -> npt.NDArray[np.float64]:
        """Forces on each part, (s, p, 6): along drag, lift and side force in N, torques about x, y and z in N m.

        In 2D, both are per metre of depth. `Result.axes` has the directions.
        """
        of = self.case["reference" if is_flux_reconstruction(self.case) else "physics"]
        pressure: float = 0.5 * of["density"] * of["velocity"] ** 2 * of["area"]
        scale = np.repeat([pressure, pressure * of["length"]], 3)
        forces: npt.NDArray[np.float64] = self.coefficients * scale
        return forces

    @property
    def axes(self) -> dict[str, list[float]]:
        """Directions of ``"drag"``, ``"lift"`` and ``"side"`` force; of a run that ended."""
        # Flux reconstruction has none where no forces are sampled.
        along = {"drag": [1.0, 0.0, 0.0], "lift": [0.0, 1.0, 0.0], "side": [0.0, 0.0, 1.0]}
        return cast("dict[str, list[float]]", self.summary.get("axes") or along)

    @property
    def verdict(self) -> dict[str, Any]:
        """Whether the result can be trusted: ``"grade"`` is ``"ok"``, ``"doubtful"`` or ``"wrong"``, the worst of the
        ``"checks"``, each with its value, its bars and its remedy (``docs/verdict.md``)."""
        return cast("dict[str, Any]", self.summary["verdict"])

    @property
    def means(self) -> dict[str, dict[str, Any]]:
        """Mean and standard error of the coefficients over the second half of the run, by part and name."""
        return cast("dict[str, dict[str, Any]]", self.summary["patches"])


def _with_error(mean: Mapping[str, Any] | None) -> str:
    """A mean with its standard error, where it has one."""
    if not mean or mean.get("mean") is None:
        return ""
    error = mean.get("error")
    return f"{mean['mean']:.4g}" if error is None else f"{mean['mean']:.4g} ± {error:.2g}"


class RunningFlow:
    """The flow of a run, as the callback of `solve` gets it. It can be sampled during the callback only."""

    def __init__(self, native: _native.RunningFlow, folder: Path) -> None:
        self._native = native
        self._folder = folder

    @property
    def steps(self) -> int:
        """Root steps done."""
        return self._native.steps

    @property
    def time(self) -> float:
        """Simulated time in seconds."""
        return self._native.time

    @property
    def coefficients(self) -> tuple[float, float, float] | None:
        """Drag, lift and side force coefficient of the whole body at the last sample; None without a body."""
        found = self._native.coefficients
        return None if found is None else (found[0], found[1], found[2])

    @property
    def motion(self) -> dict[str, Motion]:
        """Poses, velocities and loads of each body that moves, so far: the lines of ``motion.csv``."""
        return _read_motion(self._folder)

    def sample(self, points: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Pressure (m,) in Pa relative to the fluid at rest, and velocity (m, D) in m/s, at points (m, D) in metres.

        By flux reconstruction the pressure is absolute.

        Interpolated as probes are; NaN outside the box and in solid cells. Cost: a snapshot of the flow.
        """
        array = np.ascontiguousarray(points, np.float64)
        if array.ndim != 2:
            raise UsageError(f"points have shape {array.shape}: (m, D) is expected")
        values = self._native.sample(array)
        return values[:, 0], values[:, 1:]


@suggesting
def solve(
    case: Case | Mapping[str, Any] | StrPath,
    *,
    folder: StrPath | None = None,
    steps: int | None = None,
    every: int = 64,
    callback: Callable[[RunningFlow], object] | None = None,
    resume: bool = False,
    force: bool = False,
    device: str | None = None,
    threads: int = 0,
    ranks: int = 1,
    gpus: int = 1,
    progress: Progress | None = None,
) -> Result:
    """Runs a case as ``cutlink solve`` does, with all its files.

    - `case`: a `Case`, its tables, or the path of a TOML file. Paths in it are relative to the current folder.
    - `folder`: output folder, instead of that of the case (default there: ``flow``). `force` replaces an earlier run,
      `resume` continues it.
    - `steps`: maximum number of root steps, instead of that of the case.
    - `callback`: called every `every` root steps, a multiple of 64, with a `RunningFlow`. The run stops with a
      checkpoint if it returns False or raises; what it raises is raised here.
    - `ranks`: ranks that share the flow, each on threads of its own with a part of the mesh. The files are the same for
      any number.
    - `gpus`: GPUs of this machine that share the flow, from that of `device` on.
    - `device`, `threads`, `progress`: as of `mesh`.

    Ctrl-C stops the run with a checkpoint and raises `KeyboardInterrupt`. Raises `Untrusted`, which has the result,
    where the verdict on it is *wrong*; `UsageError`, `GeometryError`, `OutOfMemoryError`, `Diverged`, `DeviceError`,
    `RunError`.
    """
    if every <= 0 or every % 64:
        raise UsageError(f"every is {every}: the flow is looked at every 64 root steps", hint="give a multiple of 64")
    if not isinstance(case, Case):
        case = Case(case)
    function = callback
    output = case.tables.get("output") or {}
    place = Path(folder if folder is not None else output.get("folder") or "flow")
    source = case._place_mesh(place, resume=resume, force=force)
    looks = None if function is None else lambda native: function(RunningFlow(native, place))
    options = (folder, steps, resume, force, device, threads, [ranks], gpus)
    summary, written = _native.run_case(source, options, every, looks, listener(progress))
    result = Result(written)
    # A summary in the folder may be that of an earlier part of a run that was resumed.
    result.stopped = summary is None
    return result
