"""Spheres in two-phase and in lattice Boltzmann flow: one that settles in a box of oil (ten Cate et al. 2002), two of which one catches up with the other (Lai et al.
2023), and flow through arrays of fixed ones (Zick & Homsy 1982)."""

import math

from reading import row
from sources import LAI_KISSING, TEN_CATE, ZICK_HOMSY
from two_phase import phases, short

# Cells a diameter: root cells of a box of 100 mm, which are multiples of 20, and levels.
MESHES = {6: (20, 2), 12: (20, 3), 15: (100, 1), 18: (60, 2), 24: (40, 3)}
# The same for a box of 10 mm; `-levels` follow the spheres.
KISSING_MESHES = {"8": (48, 1), "16": (96, 1), "16-levels": (48, 2), "24-levels": (72, 2)}
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


def lattice_settling(case, cells):
    """The same in a lattice Boltzmann flow, on cells of one size."""
    density, viscosity, speed, seconds, _ = TEN_CATE[case]
    root = 20 * cells // 3
    return {
        "domain": {"box": [0, 0, 0, 0.1, 0.1, 0.16], "root": f"{root}x{root}x{root * 8 // 5}"},
        "physics": {"density": density, "viscosity": viscosity, "velocity": speed, "length": 0.015},
        "gravity": {"acceleration": [0, 0, -9.81]}, "materials.nylon": NYLON | {"density": 1120},
        "particles": [{"center": [0.05, 0.05, 0.1275], "diameter": 0.015}], "run": {"seconds": seconds},
        "boundary": {a + s: "no-slip" for a in "xyz" for s in "-+"},
        "output": {"folder": "cate", "integrals_every": 10, "report": False},
    }


def fall(case):
    def read(folder):
        table = short(folder / "particles.csv")
        at = max(range(len(table["time"])), key=lambda i: table["largest speed"][i])
        note = f"at {table['time'][at]:.2f} s, {1e3 * table['centre z'][at]:.1f} mm"
        return [row("largest speed, m/s", table["largest speed"][at], TEN_CATE[case][4], "ten Cate et al. 2002")], note

    return read


def kissing(root, levels):
    """Two spheres of 1.67 mm and 1140 kg/m³, one above the other in water: that above falls in the wake of the other, up to a contact. The
    places are those of Glowinski et al. (2001)."""
    water = {"density": 1000, "viscosity": 1e-3}
    box = [0, 0, 0, 0.01, 0.01, 0.04]
    tables = {
        "solver": {"kind": "two-phase"}, "domain": {"box": box, "root": f"{root}x{root}x{4 * root}"},
        "phases": {"liquid": water, "gas": water}, "gravity": {"acceleration": [0, 0, -9.81]}, "liquid": [{"box": box}],
        "materials.nylon": NYLON | {"density": 1140},
        "particles": [{"center": [0.005, 0.005, z], "diameter": 1.67e-3} for z in (0.0316, 0.035)],
        "numerics": {"dt": 1e-3, "cfl": 0.5, "tolerance": 1e-8}, "run": {"seconds": 0.4},
        "output": {"folder": "kissing", "integrals_every": 1, "report": False},
    }
    if levels > 1:
        tables["adapt"] = {"levels": levels, "margin": 6, "vorticity": 2.0, "max_cells": 2_500_000}
    return tables


def lattice_kissing(root):
    """The same in a lattice Boltzmann flow, on cells of one size."""
    return {
        "domain": {"box": [0, 0, 0, 0.01, 0.01, 0.04], "root": f"{root}x{root}x{4 * root}"},
        "physics": {"density": 1000, "viscosity": 1e-6, "velocity": 0.07, "length": 1.67e-3},
        "gravity": {"acceleration": [0, 0, -9.81]}, "materials.nylon": NYLON | {"density": 1140},
        "particles": [{"center": [0.005, 0.005, z], "diameter": 1.67e-3} for z in (0.0316, 0.035)],
        "run": {"seconds": 0.4}, "boundary": {a + s: "no-slip" for a in "xyz" for s in "-+"},
        "output": {"folder": "kissing", "integrals_every": 20, "report": False},
    }


def contact(folder):
    """When the spheres meet, and the speed of the faster one then: the largest before the first contact."""
    table = short(folder / "particles.csv")
    first = next((i for i, pairs in enumerate(table["pairs"]) if pairs > 0), None)
    if first is None:
        return [row("time of the contact, s", math.nan, LAI_KISSING[0], "Lai et al. 2023")], "no contact"
    speed = max(table["largest speed"][: first + 1])
    note = f"centre of mass at {1e3 * table['centre z'][first]:.2f} mm"
    return [
        row("time of the contact, s", table["time"][first], LAI_KISSING[0], "Lai et al. 2023"),
        row("largest speed before, m/s", speed, LAI_KISSING[1], "Lai et al. 2023"),
    ], note


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
    for cells in (6, 12, 24):
        for case in TEN_CATE:
            yield f"lattice-spheres-cate-{case}-{cells}", lattice_settling(case, cells), fall(case)
    for cells, root in (("8", 48), ("16", 96)):
        yield f"lattice-spheres-kissing-{cells}", lattice_kissing(root), contact
    for cells, (root, levels) in KISSING_MESHES.items():
        yield f"spheres-kissing-{cells}", kissing(root, levels), contact
    for share in ZICK_HOMSY:
        for cells in (12, 16, 24):
            yield f"spheres-array-{share}-{cells}", array(share, cells), drag(share)
