"""The mesh update of OpenFOAM's dynamicRefineFvMesh against `hex/benches/update.rs`: one parent, one set of marks.

The parent is the dam break of Yu & Zhao 2025 without flow: 131 x 96 x 32 cells less an obstacle of 5 x 11 x 32. Cells near
a wave are refined, some 44,000. `moveDynamicMesh` updates the mesh at each time step and checks it; the second step
refines, and the third has nothing to do. Five fields of cells are mapped by both.
"""

import math
import re
import shutil
from itertools import product

from measure import measured
from p4est import call
from snappy import HEADER, SCHEMES

SIZE = 4.5e-3
# Cells near the wave: those of them that have a point among them alone are refined.
NEAREST = 44266
FIELDS = 5
# Columns and rows of blocks: cells, and the coordinate where they begin.
COLUMNS = [(65, 0), (5, 65), (61, 70)]
ROWS = [(11, 0), (85, 11)]
DEPTH = 32

CONTROL = """application moveDynamicMesh;
startFrom startTime; startTime 0; stopAt endTime; endTime 3; deltaT 1;
writeControl timeStep; writeInterval 1000; writeFormat binary; writePrecision 10;
functions { fields { type readFields; libs (fieldFunctionObjects); fields (FIELDS); readOnStart true; } }
"""

DYNAMIC = """dynamicFvMesh dynamicRefineFvMesh;
refineInterval 2; field mark; lowerRefineLevel 0.5; upperRefineLevel 1.5; unrefineLevel -1e6;
nBufferLayers 0; maxRefinement 1; maxCells 100000000; correctFluxes (); dumpLevel false;
"""


def blocks():
    """Columns and rows of the blocks, without the obstacle."""
    return [(x, y) for y in ROWS for x in COLUMNS if not (x[1] == 65 and y[1] == 0)]


def block_mesh():
    xs = [first for _, first in COLUMNS] + [131]
    ys = [first for _, first in ROWS] + [96]
    number = {(x, y, z): i for i, (z, y, x) in enumerate(product((0, DEPTH), ys, xs))}
    lines = [f"scale {SIZE};", "vertices ("]
    lines += [f"({x} {y} {z})" for z, y, x in product((0, DEPTH), ys, xs)]
    lines += [");", "edges ();", "blocks ("]
    for (nx, x), (ny, y) in blocks():
        loop = [(x, y), (x + nx, y), (x + nx, y + ny), (x, y + ny)]
        ids = " ".join(str(number[(*p, z)]) for z in (0, DEPTH) for p in loop)
        lines.append(f"hex ({ids}) ({nx} {ny} {DEPTH}) simpleGrading (1 1 1)")
    return "\n".join([*lines, ");", "boundary ();", "defaultPatch { name walls; type wall; }", ""])


def marks():
    """Whether each cell is refined, in the order of blockMesh: block by block, x fastest.

    dynamicRefineFvMesh takes cells with a point whose mean over the cells around it is above the limit. So a cell counts
    here if it has a point all of whose cells are near the wave.
    """
    near = set(nearest())

    def around(point):
        cells = product(*((i - 1, i) for i in point))
        return all(cell in near for cell in cells if is_cell(cell))

    inner = {point for cell in near for point in product(*((i, i + 1) for i in cell)) if around(point)}
    return [any(point in inner for point in product(*((i, i + 1) for i in cell))) for cell in all_cells()]


def is_cell(cell):
    x, y, z = cell
    inside = 0 <= x < 131 and 0 <= y < 96 and 0 <= z < DEPTH
    return inside and not (65 <= x < 70 and y < 11)


def all_cells():
    return [
        (x + i, y + j, k) for (nx, x), (ny, y) in blocks() for k in range(DEPTH) for j in range(ny) for i in range(nx)
    ]


def nearest():
    def away(cell):
        x, y, z = ((i + 0.5) * SIZE for i in cell)
        return abs(y - 0.15 - 0.05 * math.sin(12 * x + 6 * z))

    return sorted(all_cells(), key=away)[:NEAREST]


def field(name, values):
    return (
        HEADER.replace("dictionary", "volScalarField").format(name)
        + f"dimensions [0 0 0 0 0 0 0];\ninternalField nonuniform List<scalar> {len(values)}\n(\n"
        + "\n".join(map(str, values))
        + "\n);\nboundaryField { walls { type zeroGradient; } }\n"
    )


def write_case(case):
    shutil.rmtree(case, ignore_errors=True)
    for folder in ["system", "constant", "0"]:
        (case / folder).mkdir(parents=True)
    names = ["mark", *(f"field{i}" for i in range(1, FIELDS))]
    files = {
        "system/blockMeshDict": block_mesh(),
        "system/controlDict": CONTROL.replace("FIELDS", " ".join(names)),
        "system/fvSchemes": SCHEMES,
        "system/fvSolution": "",
        "constant/dynamicMeshDict": DYNAMIC,
    }
    for path, text in files.items():
        (case / path).write_text(HEADER.format(path.split("/")[1]) + text)
    marked = marks()
    (case / "0/mark").write_text(field("mark", [1 if mark else -1000 for mark in marked]))
    for i, name in enumerate(names[1:], 1):
        (case / "0" / name).write_text(field(name, [i + cell % 7 for cell in range(len(marked))]))


def theirs(case):
    """Seconds of processor time of the step that refines, less that of the next one; counts; peak of memory."""
    run = foam(case, "moveDynamicMesh")
    first, second, third = (float(t) for t in re.findall(r"ExecutionTime = ([0-9.]+) s", run["out"]))
    selected, before, after = re.search(
        r"Selected (\d+) cells for refinement.*?Refined from (\d+) to (\d+) cells", run["out"], re.S
    ).groups()
    counts = {"parent": int(before), "refined": int(selected), "cells": int(after)}
    return {**counts, "cpu": (second - first) - (third - second), "peak": run["peak"]}


def foam(case, program):
    env = {"WM_PROJECT_DIR": "/usr/share/openfoam"}
    run = measured([program], cwd=case, env=env, log=case / f"{program}.err")
    (case / f"{program}.log").write_text(run["out"])
    if run["code"] != 0:
        raise SystemExit(f"{program} ended with {run['code']}: see {case}/{program}.log")
    return run


def ours(settings, case, threads):
    crate = ["cargo", "bench", "-q", "-p", "cutlink-hex", "--bench", "update", "--"]
    command = [*crate, case / "constant/polyMesh", case / "0/mark", 3]
    return call(command, cwd=settings.here.parent, env={"RAYON_NUM_THREADS": str(threads)})


def study(settings, only=None):
    case = settings.work / "refine"
    write_case(case)
    foam(case, "blockMesh")
    runs = {"dynamicRefineFvMesh": [], "cutlink": [], "ratio": []}
    for _ in range(settings.repeat):
        their, our = theirs(case), ours(settings, case, 1)
        for key in ("parent", "refined", "cells"):
            assert their[key] == our[key], f"{key}: {their[key]} and {our[key]}"
        runs["dynamicRefineFvMesh"].append(their["cpu"])
        runs["cutlink"].append(min(our["cpu"]))
        runs["ratio"].append(their["cpu"] / min(our["cpu"]))
    row = {key: sorted(values) for key, values in runs.items()}
    settings.save("refine", row | {key: our[key] for key in ("parent", "refined", "cells")} | {"peak": their["peak"]})
