"""Compressible flows by flux reconstruction: the isentropic vortex of Wang, Witherden & Jameson, J. Comput. Phys. 502 (2024) 112823
[W24], after one period; Taylor & Green's vortices at Mach number 0.1, against spectral solutions of incompressible flow."""

import json
import math

from reading import columns, interpolate, row
from sources import VORTEX_ENERGY, VORTEX_ENERGY_100, VORTEX_PEAK, VORTEX_PEAK_100

# By table: order, finest level of the box, step, the printed L2 error of the density, and elements. Steps up to ten times the
# paper's 0.001; the mesh is looked at every 0.01 time units, as there.
TABLES = {
    "w24-1": [
        (1, 6, 0.01, 1.75e-2, 4096), (1, 7, 0.005, 2.68e-3, 16384), (1, 8, 0.0025, 4.01e-4, 65536),
        (2, 6, 0.005, 4.30e-4, 4096), (2, 7, 0.0025, 5.86e-5, 16384), (2, 8, 0.002, 8.59e-6, 65536),
        (3, 6, 0.005, 1.22e-5, 4096), (3, 7, 0.0025, 5.21e-7, 16384), (3, 8, 0.001, 3.24e-8, 65536),
    ],
    "w24-2": [
        (1, 6, 0.01, 1.75e-2, 865), (1, 7, 0.005, 2.68e-3, 2803), (1, 8, 0.0025, 4.01e-4, 10519),
        (2, 6, 0.005, 4.30e-4, 856), (2, 7, 0.0025, 5.86e-5, 2809), (2, 8, 0.002, 8.59e-6, 10513),
        (3, 6, 0.005, 1.22e-5, 856), (3, 7, 0.0025, 5.21e-7, 2809), (3, 8, 0.001, 3.25e-8, 10627),
    ],
    "w24-4": [
        (1, 8, 0.01, 4.64e-2, 961), (1, 9, 0.005, 9.19e-3, 2899), (1, 10, 0.0025, 1.28e-3, 10615),
        (2, 8, 0.005, 1.18e-3, 952), (2, 9, 0.0025, 9.19e-5, 2905), (2, 10, 0.002, 9.54e-6, 10609),
        (3, 8, 0.005, 2.68e-5, 952), (3, 9, 0.00125, 5.34e-7, 2905), (3, 10, 0.001, 3.46e-8, 10723),
    ],
    "w24-5": [
        (1, 6, 0.01, 2.19e-2, 3049), (1, 7, 0.005, 3.35e-3, 20703), (1, 8, 0.0025, 5.01e-4, 160220),
        (2, 6, 0.005, 5.37e-4, 3028), (2, 7, 0.0025, 7.32e-5, 20759), (2, 8, 0.00125, 1.07e-5, 160346),
        (3, 6, 0.0025, 1.53e-5, 3028), (3, 7, 0.002, 6.52e-7, 20787), (3, 8, 0.001, 4.05e-8, 162082),
    ],
}


def vortex(table, order, finest, step):
    width = 100.0 if table == "w24-4" else 25.0
    half, dims = width / 2, 3 if table == "w24-5" else 2
    coarsest = 4 if dims == 3 else 3
    uniform = table == "w24-1"
    # In 3D one element along z.
    elements = [2 ** (finest if uniform else coarsest)] * 2 + [1] * (dims - 2)
    thickness = [width / elements[0]] * (dims - 2)
    case = {
        "solver": {"kind": "flux-reconstruction"},
        "domain": {"box": [-half, -half] + [0.0] * (dims - 2) + [half, half] + thickness, "elements": elements},
        "numerics": {"order": order, "runge_kutta": "rk33", "dt": step},
        "boundary": {f"{axis}{side}": "periodic" for axis in "xyz"[:dims] for side in "-+"},
        "initial": {"preset": "isentropic-vortex"},
        "run": {"seconds": width},
        "output": {"integrals_every": 0},
    }
    if not uniform:
        every = max(1, round(0.01 / step))
        line = {"sensor": "moving-line", "velocity": [1.0, 1.0], "inner": 5.0, "outer": 6.0}
        case["adapt"] = {"levels": finest - coarsest + 1, "every": every} | line
    return case


def read(table, error, elements):
    def found(folder):
        summary = json.loads((folder / "summary.json").read_text())
        source = f"W24, table {table[-1]}"
        rows = [
            row("L2 error of the density", summary["density_error"], error, source),
            row("elements", summary["elements"], elements, source),
        ]
        return rows, f"{summary['steps']} steps, {summary['gdofs']:.3f} GDoF/s, {summary['seconds']:.1f} s of steps"

    return found


# By Reynolds number: energies, greatest dissipation with its time, elements an axis with precisions.
TAYLOR_GREEN = {
    100: (VORTEX_ENERGY_100, VORTEX_PEAK_100, [(8, "f64"), (16, "f64")]),
    1600: (VORTEX_ENERGY, VORTEX_PEAK, [(16, "f64"), (32, "f64"), (48, "f64"), (64, "f32")]),
}


def taylor_green(reynolds, elements, precision):
    return {
        "solver": {"kind": "flux-reconstruction"},
        "domain": {"box": [0.0] * 3 + [2 * math.pi] * 3, "elements": [elements] * 3},
        "physics": {"dynamic_viscosity": 1 / reynolds, "prandtl": 0.71},
        "numerics": {"order": 3, "precision": precision},
        "boundary": {a + s: "periodic" for a in "xyz" for s in "-+"},
        "initial": {"preset": "taylor-green"},
        "run": {"seconds": 10.0},
        # A line each 0.1 s, about.
        "output": {"integrals_every": 8 * elements, "checkpoint_every": 0, "checkpoint_at_end": False},
        "output.write": [{
            "kind": "render",
            "every_seconds": 9.0,
            "camera": {"from": [14.0, 11.0, 13.0], "at": [3.14, 3.14, 3.0], "angle": 30.0},
            "isosurface": {"field": "q", "value": 0.2 if reynolds < 1000 else 5.0, "colour": "velocity"},
        }],
    }


def read_taylor_green(reynolds):
    energies, (peak, when), _ = TAYLOR_GREEN[reynolds]
    source = "spectral"

    def found(folder):
        table, volume = columns(folder / "integrals.csv"), (2 * math.pi) ** 3
        times = table["time (s)"]
        energy, enstrophy = [[v / volume for v in table[name]] for name in ("kinetic_energy", "enstrophy")]
        found = [row(f"E({t:g})", interpolate(times, energy, t), e, source) for t, e in energies.items() if t <= times[-1]]
        most = max(range(len(times)), key=lambda i: enstrophy[i])
        # Sound swings the energy, so differences are over four lines.
        falls = [((energy[i - 2] - energy[i + 2]) / (times[i + 2] - times[i - 2]), times[i]) for i in range(2, len(times) - 2)]
        found += [
            row("greatest -dE/dt", max(falls)[0], peak, source),
            row("its time", max(falls)[1], when, source),
            row("greatest 2 nu enstrophy", 2 / reynolds * enstrophy[most], peak, source),
        ]
        summary = json.loads((folder / "summary.json").read_text())
        return found, f"{summary['steps']} steps, {summary['gdofs']:.3f} GDoF/s, {summary['seconds']:.1f} s"

    return found


def rows():
    for reynolds, (_, _, meshes) in TAYLOR_GREEN.items():
        for elements, precision in meshes:
            name = f"taylor-flux-{reynolds}-{elements}"
            yield name, taylor_green(reynolds, elements, precision), read_taylor_green(reynolds)
    for table, lines in TABLES.items():
        for order, finest, step, error, elements in lines:
            yield f"{table}-p{order}-{finest}", vortex(table, order, finest, step), read(table, error, elements)
