"""Stability at the bounds of docs/case.md: a sphere on three levels whose boxes meet the inlet, the outlet, an edge of the box or no face;
cavities with a lid; a sphere with quadratic walls whose finest box meets the outlet."""

import itertools
import json

from bodies import free, stream
from m24 import BOXES, box, sphere
from reading import read_drag, row

LAYOUTS = {
    "inlet": [box((0, 11), (1, 10), (4, 13), 2), box((0, 9), (3.5, 8.5), (6, 11), 3)],
    "outlet": [box((3, 18), (2, 10), (4, 13), 2), box((4, 18), (4, 8), (7, 10), 3)],
    "edge": [box((0, 11), (0, 9), (0, 11), 2), box((0, 8), (0, 8), (0, 10), 3)],
    "inside": BOXES,
}
FACES = {
    "far": free(3),
    "slip": stream(3, 1.0),
    "periodic": stream(3, 1.0) | {a + s: "periodic" for a in "yz" for s in "-+"} | {"x+": "outflow"},
}
# Collision, lattice, u dx / nu on the root level.
BOUNDS = [
    ("bgk", "d3q19", 10), ("bgk", "d3q27", 10), ("regularized", "d3q19", 1000), ("regularized", "d3q27", 10000), ("cumulant", "d3q27", 10000),
    ("kbc", "d3q27", 200),
]


def case(name, layout, faces, collision, lattice, cell_reynolds):
    like = sphere(name, 1, 0.0)
    return like | {
        "mesh": like["mesh"] | {"domain": [0.0, 0.0, 0.0, 18.0, 12.0, 18.0], "root": "36x24x36", "refine": LAYOUTS[layout]},
        "physics": like["physics"] | {"re": 2.0 * cell_reynolds},
        "numerics": {"lattice": lattice, "collision": collision},
        "boundary": FACES[faces],
        "run": {"steps": 12000},
        "output": like["output"] | {"forces_every": 16},
    }


# Dimensions, collision, lattice, u dx / nu at the lid.
LIDS = [
    (2, "bgk", "d2q9", 8), (2, "trt", "d2q9", 20), (2, "regularized", "d2q9", 45), (2, "kbc", "d2q9", 40), (3, "bgk", "d3q19", 8),
    (3, "trt", "d3q19", 20), (3, "regularized", "d3q19", 28), (3, "regularized", "d3q27", 28), (3, "cumulant", "d3q27", 30),
    (3, "kbc", "d3q27", 20),
]


def lid(name, dims, collision, lattice, cell_reynolds, cells, speed):
    return {
        "domain": {"box": [0.0] * dims + [1.0] * dims, "root": cells},
        "physics": {"re": float(cell_reynolds * cells), "length": 1.0, "velocity": 1.0, "lattice_velocity": speed},
        "numerics": {"lattice": lattice, "collision": collision},
        "boundary": {a + s: "no-slip" for a in "xyz"[:dims] for s in "-+"} | {"y+": {"type": "velocity", "velocity": [1.0] + [0.0] * (dims - 1)}},
        "run": {"steps": 30000},
        "output": {"folder": name, "forces_every": 0},
    }


def largest_mach(folder):
    mach = json.loads((folder / "summary.json").read_text())["compressibility"]["mach"]
    return [row("largest Mach number at the end", mach, None, "")], ""


def read(folder):
    mach = json.loads((folder / "summary.json").read_text())["compressibility"]["mach"]
    rows, note = read_drag(None, "", 0.6)(folder)
    return [row("largest Mach number at the end", mach, None, ""), *rows], note


def rows():
    for layout, faces, bound in itertools.product(LAYOUTS, FACES, BOUNDS):
        name = "-".join(["bounds", layout, faces, bound[0], bound[1]])
        yield name, case(name, layout, faces, *bound), read
    for (dims, *rest), cells, speed in itertools.product(LIDS, (16, 32), (0.05, 0.16)):
        name = "-".join(["bounds-lid", *map(str, rest[:2]), str(dims), str(cells), str(speed)])
        yield name, lid(name, dims, *rest, cells, speed), largest_mach
    name = "bounds-outlet-far-cumulant-quadratic"
    quadratic = case(name, "outlet", "far", "cumulant", "d3q27", 2000)
    quadratic["numerics"]["wall"] = "quadratic"
    yield name, quadratic, read
