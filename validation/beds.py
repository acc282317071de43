"""Flow through a bed of spheres that `cutlink pack` makes: its pressure drop beside Ergun's and that of lattice Boltzmann flows through
random arrays (Beetstra, van der Hoef & Kuipers 2007)."""

import csv
import json
import math

from reading import row

DIAMETER = 1e-3
WIDTH = 4e-3
VISCOSITY = 1e-6
DENSITY = 1000.0
GRAINS = 150
PACK = [
    "pack", "--box", "0,0,0,4,4,12", "--unit", "mm", "--periodic", "x,y", "--sizes", "1mm", "--count", str(GRAINS), "--deviation", "0.05",
    "--output", "bed.stl", "--output", "bed.csv", "--force",
]


def through(re, cells):
    """A bed of 9 diameters, periodic across, in a stream from below; so many cells across a sphere."""
    speed = re * VISCOSITY / DIAMETER
    periodic = {side: "periodic" for side in ("x-", "x+", "y-", "y+")}
    return {
        "before": PACK,
        "mesh": {"file": "bed.stl", "domain": [0, 0, -0.0015, WIDTH, WIDTH, 0.0105], "root": f"{4 * cells}x{4 * cells}x{12 * cells}", "levels": 1, "periodic": "xy"},
        "physics": {"viscosity": VISCOSITY, "density": DENSITY, "length": DIAMETER, "velocity": speed},
        "boundary": periodic | {"z-": {"type": "velocity", "velocity": [0, 0, speed]}, "z+": "outflow"},
        "run": {"settle": 1e-3, "most": 100_000},
        "output": {"folder": "bed", "report": False},
    }


def share(grains, low, high):
    """The share of grains, by volume, between two heights."""
    radius = DIAMETER / 2
    cap = lambda h: math.pi * h * h * (3 * radius - h) / 3
    below = lambda z, at: cap(min(max(at - (z - radius), 0.0), DIAMETER))
    return sum(below(z, high) - below(z, low) for z in grains) / (WIDTH**2 * (high - low))


def ergun(phi, re):
    """The drag on a sphere over 3 π μ d U, U the velocity of the empty column, without its share of the pressure gradient."""
    return (150 * phi / (1 - phi) ** 2 + 1.75 * re / (1 - phi) ** 2) / 18


def beetstra(phi, re):
    """The same by Beetstra et al. (2007), eq. 16 of AIChE J. 53, 489."""
    still = 10 * phi / (1 - phi) ** 2 + (1 - phi) ** 2 * (1 + 1.5 * math.sqrt(phi))
    inner = 1 / (1 - phi) + 3 * phi * (1 - phi) + 8.4 * re**-0.343
    return still + 0.413 * re / (24 * (1 - phi) ** 2) * inner / (1 + 10 ** (3 * phi) * re ** (-(1 + 4 * phi) / 2))


def drop(re):
    def read(folder):
        with open(folder.parent / "bed.csv", newline="") as file:
            grains = [float(line["z"]) for line in csv.DictReader(line for line in file if not line.startswith("#"))]
        phi = share(grains, 1.5 * DIAMETER, max(grains) - DIAMETER)
        summary = json.loads((folder / "summary.json").read_text())
        speed = re * VISCOSITY / DIAMETER
        patches = summary["patches"]
        coefficient = patches["body"]["C_S"]["mean"]
        # What enters leaves with the same momentum, so that the force on the bed is the pressure drop.
        force = coefficient * 0.5 * DENSITY * speed**2 * summary["area"]
        pressure = force / WIDTH**2
        # As if all grains were packed like those in the middle.
        length = len(grains) * math.pi / 6 * DIAMETER**3 / (phi * WIDTH**2)
        law = lambda of: 18 * phi * DENSITY * VISCOSITY * speed * of(phi, re) / (DIAMETER**2 * (1 - phi)) * length
        rows = [row("pressure drop, Pa", pressure, law(of), source) for of, source in ((beetstra, "Beetstra et al. 2007"), (ergun, "Ergun 1952"))]
        return rows, f"{phi:.3f} of the bed are spheres"

    return read


def rows():
    for re in (0.1, 10, 100):
        for cells in (8, 12, 16, 24, 48):
            yield f"bed-{re}-{cells}", through(re, cells), drop(re)
