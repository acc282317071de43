#!/usr/bin/env python3
"""Reads the fields that a flow wrote with VTK and PyVista, and compares its files with one another.

    check_fields.py FOLDER              compare; exit 1 on any mismatch
    check_fields.py --must-fail FOLDER  the same with one thing wrong in turn; exit 1 if it passes

Of every series (*.series): PyVista reads it, its files are there, times ascend, and each file
tells the time of the index and the units of its arrays. The cells of each volume (.htg) fill the box, and its tree
changes from file to file where the case has [adapt]. Cells of boxes and slices (.vtu) have the
values of the same cells of a volume (.htg) of the same time, and a plane or box has no cell
twice. Probes (.csv) are near the value of the volume's cell that holds them; their points come from
POINTS.json, {"NAME": [[x, y, z], ...]}, where FOLDER has it. Surfaces (.vtp) of a closed body in the box have finite pressures,
unit normals whose sum over the area is nothing, and shear along the facets.

Needs vtk, pyvista and numpy.
"""

import csv
import json
import sys
import tomllib
from pathlib import Path

import numpy as np
import pyvista as pv
import vtk

OWN = {"level", "class", "zone", "block"}
VTK_OWN = {"vtkGhostType", "vtkValidPointMask", "OriginalIds"}


class Volume:
    """A tree grid's leaves by level and place."""

    def __init__(self, path):
        reader = vtk.vtkXMLHyperTreeGridReader()
        reader.SetFileName(str(path))
        reader.Update()
        tree = reader.GetOutput()
        self.about = about(tree.GetFieldData())
        axes = [tree.GetXCoordinates(), tree.GetYCoordinates(), tree.GetZCoordinates()]
        self.dimension = tree.GetDimension()
        self.origin = np.array([axis.GetValue(0) for axis in axes])
        # A tree is a root block, of four cells along each axis.
        self.dx = (axes[0].GetValue(1) - axes[0].GetValue(0)) / 4
        ends = [axis.GetValue(axis.GetNumberOfValues() - 1) - axis.GetValue(0) for axis in axes]
        self.box = float(np.prod(ends[: self.dimension]))
        plain = vtk.vtkHyperTreeGridToUnstructuredGrid()
        plain.SetInputConnection(reader.GetOutputPort())
        plain.Update()
        self.grid = pv.wrap(plain.GetOutput())
        self.arrays = {name: np.asarray(self.grid[name]) for name in self.grid.cell_data}
        self.finest = int(self.arrays["level"].max())
        places = self.places(self.grid.cell_centers().points, self.arrays["level"])
        self.cell = {place: i for i, place in enumerate(places)}

    def places(self, centres, levels):
        """Level and cell coordinates on it, of cells that hold these points."""
        finest = np.floor((centres - self.origin) / (self.dx / 2**self.finest) + 1e-9).astype(np.int64)
        finest[:, self.dimension :] = 0
        up = (self.finest - np.asarray(levels, dtype=np.int64))[:, None]
        return [(int(l), *map(int, c)) for l, c in zip(levels, finest >> up)]

    def filled(self):
        """The volume of all cells over that of the box."""
        levels = self.arrays["level"].astype(float)
        return float(((self.dx / 2**levels) ** self.dimension).sum()) / self.box

    def holding(self, point):
        for level in range(self.finest + 1):
            place = self.places(np.array([point], dtype=float), [level])[0]
            if place in self.cell:
                return self.cell[place]
        return None


def about(data):
    """Field data of a file, as PyVista or VTK give it."""
    out = {}
    for i in range(data.GetNumberOfArrays()):
        array = data.GetAbstractArray(i)
        out[array.GetName()] = array.GetValue(0)
    return out


def series_problems(path, wrong):
    """What is wrong with a series by itself; its times and files."""
    index = json.loads(path.read_text())
    entries = [(path.parent / f["name"], f["time"]) for f in index["files"]]
    times = [time for _, time in entries]
    problems = []
    if times != sorted(set(times)) or not times:
        problems.append("times do not ascend")
    if path.name.endswith(".vtu.series"):
        reader = pv.get_reader(path)
        if list(reader.time_values) != times:
            problems.append("PyVista reads other times")
        reader.set_active_time_value(times[-1])
        reader.read()
    for file, time in entries:
        if not file.exists():
            problems.append(f"{file.name} is missing")
            continue
        if file.suffix == ".htg":
            volume = Volume(file)
            filled = volume.filled() * (1 + 1e-9 * (wrong == "box"))
            if abs(filled - 1) > 1e-12:
                problems.append(f"{file.name}: its cells are {filled} of the box")
            told, names = volume.about, set(volume.arrays)
        else:
            grid = pv.read(file)
            told, names = about(grid.GetFieldData()), set(grid.cell_data)
        time += wrong == "time"
        if told.get("TimeValue") != time:
            problems.append(f"{file.name} is of {told.get('TimeValue')}, not {time}")
        for name in names - OWN - VTK_OWN:
            if not told.get(f"{name}_unit"):
                problems.append(f"{file.name}: {name} has no unit")
    return problems, {time: file for file, time in entries}


def part_problems(volume, file, wrong):
    """Where the values of a box or slice are not those of the volume's cells."""
    grid = pv.read(file)
    places = volume.places(grid.cell_centers().points.astype(float), np.asarray(grid["level"]))
    if wrong == "place":
        places[len(places) // 2] = places[0]
    if len(set(places)) != len(places):
        return [f"{file.name}: a cell is there twice"]
    missing = [place for place in places if place not in volume.cell]
    if missing:
        return [f"{file.name}: {len(missing)} cells are none of the volume's, first {missing[0]}"]
    where = np.array([volume.cell[place] for place in places])
    problems, compared = [], 0
    for name in set(grid.cell_data) & set(volume.arrays):
        values = np.array(grid[name])
        if wrong == "value":
            values.flat[np.abs(values).argmax()] *= 1.00001 if values.dtype.kind == "f" else 2
        compared += 1
        # Rounded to single precision once in a part, twice in a volume.
        if not np.allclose(values, volume.arrays[name][where], rtol=3e-7, atol=0):
            problems.append(f"{file.name}: {name} is not the volume's")
    if compared <= len(OWN):
        problems.append(f"{file.name} has no field in common with the volume")
    return problems


def surface_problems(file, wrong):
    """What is wrong with the facets of a closed body."""
    grid = pv.read(file)
    suffix = "_mean" if "pressure_mean" in grid.cell_data else ""
    normal, shear = np.array(grid["normal"]), np.array(grid[f"shear{suffix}"])
    if wrong == "surface":
        normal[:, 0] = np.abs(normal[:, 0])
    kind = "Length" if grid.n_lines else "Area"
    size = np.asarray(grid.compute_cell_sizes(length=True, area=True, volume=False)[kind])
    problems = []
    if not (np.isfinite(grid[f"pressure{suffix}"]).all() and np.isfinite(shear).all()):
        problems.append(f"{file.name}: facets without values")
    if not np.allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-5):
        problems.append(f"{file.name}: normals are not of length 1")
    if np.abs((normal * size[:, None]).sum(axis=0)).max() > 1e-4 * size.sum():
        problems.append(f"{file.name}: the normals do not add up to nothing")
    if np.abs((normal * shear).sum(axis=1)).max() > 1e-4 * np.abs(shear).max():
        problems.append(f"{file.name}: shear is not along the facets")
    return problems


def probe_problems(volumes, table, points, wrong):
    """Where probes are far from the cells that hold them."""
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    problems, compared = [], 0
    for row in rows:
        time = next(float(v) for k, v in row.items() if k.startswith("time"))
        volume = volumes.get(time)
        if volume is None:
            continue
        velocity = volume.arrays["velocity"]
        scale = np.abs(velocity).max()
        for number, point in enumerate(points, 1):
            point = list(point) + [volume.origin[2]] * (3 - len(point))
            cell = volume.holding(point)
            for axis, letter in enumerate("uvw"[: volume.dimension]):
                found = next(float(v) for k, v in row.items() if k.startswith(f"{letter}{number} "))
                found += scale * (wrong == "probe")
                compared += 1
                if abs(found - velocity[cell, axis]) > 0.05 * scale:
                    problems.append(f"{table.name}: {letter}{number} is {found} at {time}, {velocity[cell, axis]} in its cell")
    if not compared:
        problems.append(f"{table.name} has no time of a volume")
    return problems


def check(folder, wrong=None):
    """All problems of a folder, and what was compared."""
    problems, volumes, parts, counts = [], {}, [], {"series": 0, "volumes": 0, "changes": 0, "parts": 0, "probes": 0, "surfaces": 0}
    for path in sorted(folder.glob("*.series")):
        found, files = series_problems(path, wrong)
        problems += found
        counts["series"] += 1
        if path.name.endswith(".htg.series"):
            volumes.update({time: Volume(file) for time, file in files.items()})
            counts["volumes"] += len(files)
        elif path.name.endswith(".vtp.series"):
            for file in files.values():
                problems += surface_problems(file, wrong)
                counts["surfaces"] += 1
        else:
            parts.append(files)
    for files in parts:
        for time, file in files.items():
            if time in volumes and "velocity" in pv.read(file).cell_data:
                problems += part_problems(volumes[time], file, wrong)
                counts["parts"] += 1
    case = tomllib.loads((folder / "case.toml").read_text())
    sizes = {len(volume.cell) for volume in volumes.values()}
    counts["changes"] = int("adapt" in case)
    if "adapt" in case and len(sizes) < (99 if wrong == "mesh" else 2):
        problems.append("the mesh does not change")
    for output in case["output"]["write"]:
        if output["kind"] == "probes":
            problems += probe_problems(volumes, folder / f"{output['name']}.csv", output["points"], wrong)
            counts["probes"] += 1
    if not counts["series"]:
        problems.append("no series")
    return problems, counts


def main(arguments):
    must_fail = arguments[:1] == ["--must-fail"]
    arguments = arguments[must_fail:]
    if len(arguments) != 1:
        raise SystemExit(__doc__)
    folder = Path(arguments[0])
    problems, counts = check(folder)
    if must_fail and not problems:
        wrongs = ["time"] + ["box"] * bool(counts["volumes"]) + ["mesh"] * counts["changes"] + ["place", "value"] * bool(counts["parts"]) + ["probe"] * bool(counts["probes"]) + ["surface"] * bool(counts["surfaces"])
        problems = [f"a wrong {wrong} goes unnoticed" for wrong in wrongs if not check(folder, wrong)[0]]
        print(f"wrong on purpose: {', '.join(wrongs)}")
    print(f"{folder} (VTK {vtk.vtkVersion().GetVTKVersion()}): {counts}: " + ("; ".join(problems) or "as expected"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
