"""Heat: natural convection in de Vahl Davis' cavity."""

from reading import row
from sources import CAVITY_NUSSELT
from two_phase import short

PRANDTL, DIFFUSIVITY, EXPANSION = 0.71, 1e-3, 0.1
# Rayleigh number, finest cells along an edge, levels (the finest at all walls), time in units of L²/diffusivity.
CAVITIES = [(1e3, 40, 1, 1.0), (1e4, 40, 1, 0.8), (1e5, 64, 1, 0.2), (1e5, 128, 2, 0.2), (1e6, 64, 1, 0.2), (1e6, 128, 1, 0.2), (1e6, 128, 2, 0.2)]


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


def nusselt(rayleigh):
    def read(folder):
        table = short(folder / "heat.csv")
        hot, cold = (table[f"x{side} power"][-1] / DIFFUSIVITY for side in "-+")
        return [row("mean Nusselt number", hot, CAVITY_NUSSELT[rayleigh], "de Vahl Davis 1983")], f"both walls {hot + cold:+.0e}"

    return read


def rows():
    name = lambda rayleigh, cells, levels: f"heat-cavity-1e{len(str(int(rayleigh))) - 1}-{cells}" + ("-levels" if levels > 1 else "")
    return [(name(ra, cells, levels), cavity(ra, cells, levels, time), nusselt(ra)) for ra, cells, levels, time in CAVITIES]
