"""Heat: natural convection in de Vahl Davis' cavity, in two-phase and lattice Boltzmann flows; a hot cylinder in a stream."""

from math import pi, sqrt

from reading import row
from sources import CAVITY_NUSSELT, CYLINDER_NUSSELT
from two_phase import short

PRANDTL, DIFFUSIVITY, EXPANSION = 0.71, 1e-3, 0.1
# Rayleigh number, finest cells along an edge, levels (the finest at all walls), time in units of L²/diffusivity.
CAVITIES = [(1e3, 40, 1, 1.0), (1e4, 40, 1, 0.8), (1e5, 64, 1, 0.2), (1e5, 128, 2, 0.2), (1e6, 64, 1, 0.2), (1e6, 128, 1, 0.2), (1e6, 128, 2, 0.2)]

# Rayleigh number, cells along an edge, time likewise, of lattice Boltzmann flows.
LATTICES = [(1e3, 32, 1.0), (1e4, 48, 0.6), (1e5, 64, 0.2), (1e6, 128, 0.1)]
# Reynolds number, levels around the cylinder: 16 and 32 cells across it.
CYLINDERS = [(20, 4), (20, 5), (40, 5)]


def cavity(rayleigh, cells, levels, time):
    """A square box of 1 m with a wall at 1 and one at 0; the fluid fills it."""
    fluid = {"density": 1, "viscosity": PRANDTL * DIFFUSIVITY, "heat_capacity": 1, "conductivity": DIFFUSIVITY, "expansion": EXPANSION}
    weight = rayleigh * PRANDTL * DIFFUSIVITY**2 / EXPANSION
    thick = 8 / cells
    walls = [[0, 0, 1, thick], [0, 1 - thick, 1, 1], [0, 0, thick, 1], [1 - thick, 0, 1, 1]]
    tables = {
        "solver": {"kind": "two-phase"},
        "domain": {"box": [0, 0, 1, 1], "root": cells // 2 ** (levels - 1), "levels": levels},
        "phases": {"liquid": fluid, "gas": fluid},
        "heat": {"temperature": 0.5, "reference": 0.5},
        "gravity": {"acceleration": [0, -weight]},
        "boundary": {"x-": {"type": "no-slip", "temperature": 1}, "x+": {"type": "no-slip", "temperature": 0}},
        "numerics": {"dt": 1.0},
        "run": {"seconds": time / DIFFUSIVITY},
        "output": {"folder": "cavity", "integrals_every": 1},
    }
    return tables | ({"refine": [{"box": of} for of in walls]} if levels > 1 else {})


def lattice_cavity(rayleigh, cells, time):
    """The same as a lattice Boltzmann flow, with the velocity of free fall at 0.1."""
    return {
        "domain": {"box": [0, 0, 1, 1], "root": cells},
        "physics": {
            "viscosity": PRANDTL * DIFFUSIVITY,
            "length": 1,
            "velocity": DIFFUSIVITY * sqrt(rayleigh * PRANDTL),
            "lattice_velocity": 0.1,
            "diffusivity": DIFFUSIVITY,
            "expansion": EXPANSION,
        },
        "heat": {"temperature": 0.5, "reference": 0.5},
        "gravity": {"acceleration": [0, -rayleigh * PRANDTL * DIFFUSIVITY**2 / EXPANSION]},
        "boundary": {
            "x-": {"type": "no-slip", "temperature": 1},
            "x+": {"type": "no-slip", "temperature": 0},
            "y-": "no-slip",
            "y+": "no-slip",
        },
        "run": {"seconds": time / DIFFUSIVITY},
        "output": {"folder": "cavity"},
    }


def hot_cylinder(reynolds, levels):
    """A cylinder of 1 m at 1 in a stream at 0, Prandtl 0.7; a conductivity of 1."""
    stream = {"type": "far-field", "velocity": [1, 0]}
    return {
        "mesh": {
            "shape": "circle:r=0.5",
            "domain": [-30, -30, 50, 30],
            "root": 160,
            "levels": levels,
            "wall-distance": 0.25,
            "refine": [f"box:-1.5,-1.5,4,1.5,levels={levels - 1}", f"box:-3,-3,10,3,levels={levels - 2}"],
        },
        "physics": {
            "re": reynolds,
            "length": 1,
            "velocity": 1,
            "lattice_velocity": 0.05,
            "prandtl": 0.7,
            "heat_capacity": 0.7 * reynolds,
        },
        "heat": {"temperature": 0},
        "patches": {"circle": {"temperature": 1}},
        "boundary": {"x-": stream | {"temperature": 0}, "x+": "outflow", "y-": stream, "y+": stream},
        "run": {"seconds": 150},
        "output": {"folder": "hot-cylinder"},
    }


def body_nusselt(reynolds):
    def read(folder):
        power = short(folder / "heat.csv")["circle power"][-1]
        return [row("mean Nusselt number", power / pi, CYLINDER_NUSSELT[reynolds], "Bharti et al. 2007")], ""

    return read


def nusselt(rayleigh):
    def read(folder):
        table = short(folder / "heat.csv")
        hot, cold = (table[f"x{side} power"][-1] / DIFFUSIVITY for side in "-+")
        return [row("mean Nusselt number", hot, CAVITY_NUSSELT[rayleigh], "de Vahl Davis 1983")], f"both walls {hot + cold:+.0e}"

    return read


def rows():
    name = lambda rayleigh, cells, levels: f"heat-cavity-1e{len(str(int(rayleigh))) - 1}-{cells}" + ("-levels" if levels > 1 else "")
    found = [(name(ra, cells, levels), cavity(ra, cells, levels, time), nusselt(ra)) for ra, cells, levels, time in CAVITIES]
    of_lattice = lambda rayleigh, cells: name(rayleigh, cells, 1).replace("cavity", "lattice-cavity")
    found += [(of_lattice(ra, cells), lattice_cavity(ra, cells, time), nusselt(ra)) for ra, cells, time in LATTICES]
    of_body = lambda re, levels: (f"heat-cylinder-{re}-{2 ** levels}", hot_cylinder(re, levels), body_nusselt(re))
    return found + [of_body(re, levels) for re, levels in CYLINDERS]
