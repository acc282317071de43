#!/usr/bin/env python3
"""Reads cutlink's files back with VTK, PyVista and numpy and compares them with its summary.

    check_vtk.py SUMMARY.json FILE...           compare; exit 1 on any mismatch
    check_vtk.py --must-fail SUMMARY.json FILE...   the same with every expected number wrong by
                                                one in turn; exit 1 if a wrong one passes

SUMMARY.json is what `cutlink mesh ... --json` prints (`levels[]` with level, dx, leaf_blocks,
fluid, boundary, solid; `solid_finest`; `checksum`). Files are told by extension: .htg, .vtu,
.cutlink. For each, the number of leaf cells, the cells of each class on each level and the
volume are counted from what the file says, never from the summary. Of several files every
cell must have the same place, level, class and zone in all.

Needs vtk, pyvista, numpy and safetensors.
"""

import copy
import json
import sys
from pathlib import Path

import numpy as np
import pyvista as pv
import vtk
from safetensors.numpy import load_file

CLASSES = ["fluid", "boundary", "solid"]


def expected_of(summary):
    """Counts by (level, class) and the volume, from the summary alone."""
    levels = summary["levels"]
    counts = {(row["level"], name): row[name] for row in levels for name in CLASSES}
    cells = {row["leaf_blocks"]: sum(row[name] for name in CLASSES) for row in levels}
    block = next((n // blocks for blocks, n in cells.items() if blocks), 0)
    dimension = {16: 2, 64: 3}.get(block)
    volume = sum(
        row["dx"] ** dimension * sum(row[name] for name in CLASSES) for row in levels
    )
    return {
        "dimension": dimension,
        "counts": counts,
        "cells": sum(counts.values()),
        "volume": volume,
    }


def from_htg(path):
    """Leaves of the trees, found and placed by VTK."""
    reader = vtk.vtkXMLHyperTreeGridReader()
    reader.SetFileName(str(path))
    reader.Update()
    grid = reader.GetOutput()
    dimension = grid.GetDimension()
    plain = vtk.vtkHyperTreeGridToUnstructuredGrid()
    plain.SetInputConnection(reader.GetOutputPort())
    plain.Update()
    return result(path, pv.wrap(plain.GetOutput()), dimension)


def from_vtu(path):
    """Cells as PyVista reads them."""
    grid = pv.read(path)
    flat = np.all(grid.celltypes == pv.CellType.PIXEL)
    if not flat and not np.all(grid.celltypes == pv.CellType.VOXEL):
        raise SystemExit(f"{path}: cells that are neither pixels nor voxels")
    # Points are welded within a level: the same place twice is a place of two levels.
    level_of_point = np.zeros(grid.n_points, dtype=np.int64)
    corners = grid.cells.reshape(grid.n_cells, -1)[:, 1:]
    level_of_point[corners] = np.asarray(grid["level"], dtype=np.int64)[:, None]
    keys = np.column_stack([grid.points, level_of_point])
    if len(np.unique(keys.round(12), axis=0)) != grid.n_points:
        raise SystemExit(f"{path}: points of one level are not welded")
    return result(path, grid, 2 if flat else 3)


def from_mesh_file(path):
    """Leaf cells from the arrays that docs/mesh-file.md describes."""
    mesh, strings = load_file(path), metadata(path)
    dimension = mesh["coord"].shape[1]
    sizes = np.diff(mesh["level_start"].astype(np.int64))
    leaf = mesh["first_child"] == 0xFFFFFFFF
    cells = np.arange(4**dimension)
    bit = lambda name: (mesh[name][leaf][:, None] >> cells.astype(np.uint64) & 1).ravel()
    local = np.column_stack([cells // 4**axis % 4 for axis in range(dimension)])
    corner = (4 * mesh["coord"][leaf][:, None, :] + local).reshape(-1, dimension)
    level = np.repeat(np.repeat(np.arange(len(sizes)), sizes)[leaf], len(cells))
    edge = float(strings["dx"]) / 2.0**level
    return {
        "dimension": dimension,
        "cells": level.size,
        "volume": float((edge**dimension).sum()),
        "checksum": strings["checksum"],
        **table(level, bit("boundary") + 2 * bit("solid"), bit("ghost") + 2 * bit("interface"),
                (corner + 0.5) / 2.0 ** level[:, None]),
    }


def metadata(path):
    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        return json.loads(file.read(length))["__metadata__"]


def result(path, grid, dimension):
    """What is compared, of an unstructured grid."""
    size = grid.compute_cell_sizes(length=False)["Volume" if dimension == 3 else "Area"]
    level = np.asarray(grid["level"], dtype=np.int64)
    # VTK places the leaves of a tree in single precision; a wrong level is a factor 2^D.
    root = size * 2.0 ** (dimension * level)
    if np.ptp(root) > 1e-2 * root.mean():
        raise SystemExit(f"{path}: the size of a cell is not that of its level")
    low, high = np.array(grid.bounds).reshape(3, 2).T[:, :dimension]
    edge = (high - low)[0] / np.rint((high - low)[0] / root.mean() ** (1 / dimension))
    centre = grid.cell_centers().points[:, :dimension].astype(np.float64) - low
    return {
        "dimension": dimension,
        "cells": grid.n_cells,
        "volume": float(size.sum()),
        **table(level, grid["class"], grid["zone"], centre / edge),
    }


def table(level, code, zone, centre):
    """Cells by (level, class), and every cell as a row, sorted; centres in root cells."""
    level, code = level.astype(np.int64), code.astype(np.int64)
    both = np.bincount(level * 3 + code)
    counts = {(i // 3, CLASSES[i % 3]): int(n) for i, n in enumerate(both)}
    place = np.rint(centre * 2.0 ** (level.max() + 1)).astype(np.int64)
    rows = np.column_stack([place, level, code, zone.astype(np.int64)])
    return {"counts": counts, "rows": rows[np.lexsort(rows.T)]}


def differences(expected, found):
    """What does not agree, in words."""
    out = []
    for key in ["dimension", "cells"]:
        if expected[key] != found[key]:
            out.append(f"{key}: {found[key]}, {expected[key]} expected")
    for key in sorted(expected["counts"].keys() | found["counts"].keys()):
        a, b = (x["counts"].get(key, 0) for x in (expected, found))
        if a != b:
            out.append(f"{key[1]} cells of level {key[0]}: {b}, {a} expected")
    if not abs(found["volume"] - expected["volume"]) <= 1e-6 * expected["volume"]:
        out.append(f"volume: {found['volume']}, {expected['volume']} expected")
    if "checksum" in expected and found.get("checksum", expected["checksum"]) != expected["checksum"]:
        out.append(f"checksum: {found['checksum']}, {expected['checksum']} expected")
    return out


def corrupted(expected):
    """The expectation with one number wrong, for every number."""
    for key in expected["counts"]:
        wrong = copy.deepcopy(expected)
        wrong["counts"][key] += 1
        yield f"{key[1]} cells of level {key[0]}", wrong
    for key, change in [("cells", 1), ("dimension", 1), ("volume", expected["volume"] * 1e-5)]:
        wrong = copy.deepcopy(expected)
        wrong[key] += change
        yield key, wrong


READERS = {".htg": from_htg, ".vtu": from_vtu, ".cutlink": from_mesh_file}


def main(arguments):
    must_fail = arguments[:1] == ["--must-fail"]
    arguments = arguments[must_fail:]
    if len(arguments) < 2:
        raise SystemExit(__doc__)
    summary = json.loads(Path(arguments[0]).read_text())
    expected = expected_of(summary)
    if "checksum" in summary:
        expected["checksum"] = summary["checksum"]
    bad, rows = 0, None
    for name in map(Path, arguments[1:]):
        found = READERS[name.suffix](name)
        rows = found["rows"] if rows is None else rows
        if must_fail:
            moved = found["rows"].copy()
            moved[len(moved) // 2, 0] += 1
            if np.array_equal(moved, rows):
                raise SystemExit(f"{name}: a moved cell goes unnoticed")
            passed = [what for what, wrong in corrupted(expected) if not differences(wrong, found)]
            problems = [f"a wrong number of {what} goes unnoticed" for what in passed]
            fine = "every wrong number is noticed"
        else:
            problems = differences(expected, found)
            fine = f"{found['cells']} cells, volume {found['volume']:.6g}: as expected"
            if not np.array_equal(rows, found["rows"]):
                problems.append(f"its cells are not those of {arguments[1]}")
        bad += bool(problems)
        text = "; ".join(problems) or fine
        print(f"{name.name} (VTK {vtk.vtkVersion().GetVTKVersion()}): {text}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
