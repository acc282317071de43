"""Spheres in two-phase flow: one that settles in a box of oil (ten Cate et al. 2002), and flow through arrays of fixed ones (Zick & Homsy
1982)."""

import math

from reading import row
from sources import TEN_CATE, ZICK_HOMSY
from two_phase import phases, short

# Cells a diameter: root cells of a box of 100 mm, which are multiples of 20, and levels.
MESHES = {6: (20, 2), 12: (20, 3), 15: (100, 1), 18: (60, 2), 24: (40, 3)}
NYLON = {"youngs_modulus": 1e7, "poissons_ratio": 0.35, "restitution": 0.9, "friction": 0.3}


def settling(case, cells):
    """A sphere of 15 mm and 1120 kg/m³ in a closed box of oil, with so many cells across; the mesh follows it and its wake."""
    density, viscosity, speed, seconds, _ = TEN_CATE[case]
    root, levels = MESHES[cells]
    oil = {"density": density, "viscosity": density * viscosity}
    box = [0, 0, 0, 0.1, 0.1, 0.16]
    tables = {
        "solver": {"kind": "two-phase"}, "domain": {"box": box, "root": f"{root}x{root}x{root * 8 // 5}"},
        "phases": {"liquid": oil, "gas": oil}, "gravity": {"acceleration": [0, 0, -9.81]}, "liquid": [{"box": box}],
        "materials.nylon": NYLON | {"density": 1120}, "particles": [{"center": [0.05, 0.05, 0.1275], "diameter": 0.015}],
        "numerics": {"dt": seconds / 200, "cfl": 0.5, "tolerance": 1e-8}, "run": {"seconds": seconds},
        "output": {"folder": "cate", "integrals_every": 1, "report": False},
    }
    if levels > 1:
        tables["adapt"] = {"levels": levels, "margin": 6, "vorticity": 0.02 * speed, "max_cells": 2_000_000}
    return tables


def fall(case):
    def read(folder):
        table = short(folder / "particles.csv")
        at = max(range(len(table["time"])), key=lambda i: table["largest speed"][i])
        note = f"at {table['time'][at]:.2f} s, {1e3 * table['centre z'][at]:.1f} mm"
        return [row("largest speed, m/s", table["largest speed"][at], TEN_CATE[case][4], "ten Cate et al. 2002")], note

    return read


def radius_of(share):
    """Of spheres with a share of the volume of a cubic lattice of spacing 1."""
    return (share * 3 / (4 * math.pi)) ** (1 / 3)


def array(share, cells):
    """Spheres of a cubic lattice of spacing 1 with so many cells, fixed, in a flow that a mean gradient of the pressure drives, as slow as
    can be. A period holds three diameters."""
    radius = radius_of(share)
    period = math.ceil(6.6 * radius)
    fluid = {"density": 1, "viscosity": 1}
    box = [0, 0, 0, period, period, period]
    return {
        "solver": {"kind": "two-phase"}, "domain": {"box": box, "root": period * cells}, "phases": {"liquid": fluid, "gas": fluid},
        "liquid": [{"box": box}], "materials.glass": NYLON | {"density": 1},
        "particles": [{"box": box, "spacing": 1.0, "radius": radius}], "coupling": {"fixed": True, "drive": [0.01, 0, 0]},
        "boundary": {a + s: "periodic" for a in "xyz" for s in "-+"}, "numerics": {"dt": 4 / cells**2},
        "run": {"seconds": max(0.1 / share, 0.5)}, "output": {"folder": "array", "integrals_every": 1, "report": False},
    }


def drag(share):
    """The drag that the drive keeps up, over Stokes' of one sphere in the mean velocity of the box."""

    def read(folder):
        mean = phases(folder)["liquid velocity x"]
        over = 0.01 / (6 * math.pi * radius_of(share) * mean[-1])
        change = mean[-1] / mean[-2] - 1
        return [row("F / 6πμrU", over, ZICK_HOMSY[share], "Zick & Homsy 1982")], f"last step {change:+.0e}"

    return read


def rows():
    for cells in MESHES:
        for case in TEN_CATE:
            yield f"spheres-cate-{case}-{cells}", settling(case, cells), fall(case)
    for share in ZICK_HOMSY:
        for cells in (12, 16, 24):
            yield f"spheres-array-{share}-{cells}", array(share, cells), drag(share)
