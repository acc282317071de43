"""Stability at the bounds of docs/case.md: a sphere on three levels whose boxes meet the inlet, the outlet, an edge of the box or no face."""

import itertools
import json
import math

from bodies import free
from reading import columns, row, settled_mean


def box(x, y, z, level):
    # A box meets blocks that it touches.
    return f"box:{x[0] + 0.01},{y[0] + 0.01},{z[0] + 0.01},{x[1] - 0.01},{y[1] - 0.01},{z[1] - 0.01},levels={level}"


LAYOUTS = {
    "inlet": [box((0, 11), (1, 10), (4, 13), 2), box((0, 9), (3.5, 8.5), (6, 11), 3)],
    "outlet": [box((3, 18), (2, 10), (4, 13), 2), box((4, 18), (4, 8), (7, 10), 3)],
    "edge": [box((0, 11), (0, 9), (0, 11), 2), box((0, 8), (0, 8), (0, 10), 3)],
    "inside": [box((2, 11), (1, 10), (4, 13), 2), box((3.5, 9.5), (3.5, 8.5), (6, 11), 3)],
}
INLET = {"type": "velocity", "velocity": [1.0, 0.0, 0.0]}
FACES = {
    "far": free(3),
    "slip": {a + s: "free-slip" for a in "yz" for s in "-+"} | {"x-": INLET, "x+": {"type": "pressure"}},
    "periodic": {a + s: "periodic" for a in "yz" for s in "-+"} | {"x-": INLET, "x+": "outflow"},
}
# Collision, lattice, u dx / nu on the root level.
BOUNDS = [
    ("bgk", "d3q19", 10), ("bgk", "d3q27", 10), ("regularized", "d3q19", 1000), ("regularized", "d3q27", 10000), ("cumulant", "d3q27", 3000),
    ("kbc", "d3q27", 200),
]


def case(name, layout, faces, collision, lattice, cell_reynolds):
    return {
        "mesh": {
            "shape": "sphere:r=1", "translate": [5.0, 6.0, 8.5], "domain": [0.0, 0.0, 0.0, 18.0, 12.0, 18.0], "root": "36x24x36", "levels": 3,
            "wall-distance": 0.05, "refine": LAYOUTS[layout],
        },
        "physics": {"re": 2.0 * cell_reynolds, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.05, "area": math.pi},
        "numerics": {"lattice": lattice, "collision": collision},
        "boundary": FACES[faces],
        "run": {"steps": 12000},
        "output": {"folder": name, "forces_every": 16, "integrals_every": 0},
    }


def read(folder):
    mach = json.loads((folder / "summary.json").read_text())["compressibility"]["mach"]
    table = columns(folder / "forces.csv")
    drag, half = settled_mean(table, "C_D", 0.6), settled_mean(table, "C_D", 0.3)
    rows = [row("largest Mach number at the end", mach, None, ""), row("C_D", drag, None, "")]
    return rows, f"C_D of the last 30 % against 60 %: {100 * (half / drag - 1):+.2f} %"


def rows():
    for layout, faces, bound in itertools.product(LAYOUTS, FACES, BOUNDS):
        name = "-".join(["bounds", layout, faces, bound[0], bound[1]])
        yield name, case(name, layout, faces, *bound), read
