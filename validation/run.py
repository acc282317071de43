#!/usr/bin/env python3
"""Flows whose answers are in the literature: writes their cases, runs `cutlink solve`, compares.

    python3 validation/run.py --list
    python3 validation/run.py --write                       # case files only
    python3 validation/run.py --device cuda --only circle   # all rows whose names begin so

The table, ours beside the source's, is printed and saved as OUT/table.md and OUT/table.json; rows of an earlier run that are not
run again stay in it. What is compared with what, and why, is in docs/validation.md. Standard library only.
"""

import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys
import time

# Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II, by public transcriptions: u on x = 1/2, v on y = 1/2. Two
# misprints of table I are as all later work reads them: -0.08664 for -0.86636 (Re 3200) and -0.03111 for 0.03111 (Re 10000).
GHIA_Y = [0.0547, 0.0625, 0.0703, 0.1016, 0.1719, 0.2813, 0.4531, 0.5, 0.6172, 0.7344, 0.8516, 0.9531, 0.9609, 0.9688, 0.9766]
GHIA_X = [0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688]
GHIA = {
    1000: (
        [-0.18109, -0.20196, -0.22220, -0.29730, -0.38289, -0.27805, -0.10648, -0.06080, 0.05702, 0.18719, 0.33304, 0.46604, 0.51117, 0.57492, 0.65928],
        [0.27485, 0.29012, 0.30353, 0.32627, 0.37095, 0.33075, 0.32235, 0.02526, -0.31966, -0.42665, -0.51550, -0.39188, -0.33714, -0.27669, -0.21388],
    ),
    3200: (
        [-0.32407, -0.35344, -0.37827, -0.41933, -0.34323, -0.24427, -0.08664, -0.04272, 0.07156, 0.19791, 0.34682, 0.46101, 0.46547, 0.48296, 0.53236],
        [0.39560, 0.40917, 0.41906, 0.42768, 0.37119, 0.29030, 0.28188, 0.00999, -0.31184, -0.37401, -0.44307, -0.54053, -0.52357, -0.47425, -0.39017],
    ),
    5000: (
        [-0.41165, -0.42901, -0.43643, -0.40435, -0.33050, -0.22855, -0.07404, -0.03039, 0.08183, 0.20087, 0.33556, 0.46036, 0.45992, 0.46120, 0.48223],
        [0.42447, 0.43329, 0.43648, 0.42951, 0.35368, 0.28066, 0.27280, 0.00945, -0.30018, -0.36214, -0.41442, -0.52876, -0.55408, -0.55069, -0.49774],
    ),
    10000: (
        [-0.42735, -0.42537, -0.41657, -0.38000, -0.32709, -0.23186, -0.07540, -0.03111, 0.08344, 0.20673, 0.34635, 0.47804, 0.48070, 0.47783, 0.47221],
        [0.43983, 0.43733, 0.43124, 0.41487, 0.35070, 0.28003, 0.27224, 0.00831, -0.30719, -0.36737, -0.41496, -0.45863, -0.49099, -0.52987, -0.54302],
    ),
}
# Botella & Peyret, Comput. Fluids 27 (1998) 421: Re 1000, spectral, at the places of Ghia et al., by a public transcription.
BOTELLA_U = [-0.1812881, -0.2023300, -0.2228955, -0.3004561, -0.3885691, -0.2803696, -0.1081999, -0.0620561, 0.0570178, 0.1886747, 0.3372212, 0.4723329, 0.5169277, 0.5808359, 0.6644227]
BOTELLA_V = [0.2807056, 0.2962703, 0.3099097, 0.3330442, 0.3769189, 0.3339924, 0.3253592, 0.0257995, -0.3202137, -0.4264545, -0.5264392, -0.4103754, -0.3553213, -0.2936869, -0.2279225]
# Erturk, Corke & Gokcol, Int. J. Numer. Meth. Fluids 48 (2005) 747, 601 x 601: pairs (y, u) and (x, v), by a public transcription.
ERTURK_Y = [0.98, 0.97, 0.96, 0.94, 0.92, 0.9, 0.5, 0.2, 0.16, 0.12, 0.1, 0.08, 0.06, 0.04, 0.02]
ERTURK_X = [0.985, 0.97, 0.955, 0.94, 0.925, 0.91, 0.88, 0.85, 0.5, 0.15, 0.12, 0.09, 0.06, 0.03, 0.015]
ERTURK = {
    1000: (
        [0.7065, 0.5917, 0.5102, 0.4276, 0.3993, 0.3838, -0.0620, -0.3756, -0.3854, -0.3381, -0.2960, -0.2472, -0.1951, -0.1392, -0.0757],
        [-0.0973, -0.2173, -0.3400, -0.4417, -0.5052, -0.5263, -0.4803, -0.4028, 0.0258, 0.3756, 0.3605, 0.3273, 0.2746, 0.1792, 0.1019],
    ),
    5000: (
        [0.5159, 0.4749, 0.4739, 0.4683, 0.4452, 0.4155, -0.0319, -0.3100, -0.3467, -0.3876, -0.4168, -0.4419, -0.4272, -0.3480, -0.2223],
        [-0.2441, -0.5019, -0.5700, -0.5139, -0.4595, -0.4318, -0.3982, -0.3624, 0.0117, 0.3699, 0.4070, 0.4403, 0.4258, 0.3263, 0.2160],
    ),
    10000: (
        [0.4837, 0.4891, 0.4917, 0.4711, 0.4398, 0.4095, -0.0268, -0.2998, -0.3361, -0.3721, -0.3899, -0.4142, -0.4469, -0.4259, -0.2907],
        [-0.3419, -0.5712, -0.5124, -0.4592, -0.4411, -0.4256, -0.3895, -0.3538, 0.0088, 0.3562, 0.3885, 0.4247, 0.4566, 0.3844, 0.2756],
    ),
}
# Albensoeder & Kuhlmann, J. Comput. Phys. 206 (2005) 536, tables 5 and 6: the cube at Re 1000, spectral, by a public transcription; their
# (x, y, v, u) is here (1/2 - y, x - 1/2, u, -v).
CUBE_Y = [0.9766, 0.9688, 0.9609, 0.9531, 0.8516, 0.7344, 0.6172, 0.5, 0.4531, 0.2813, 0.1719, 0.1016, 0.0703, 0.0625, 0.0547]
CUBE_U = [0.58964, 0.48443, 0.39821, 0.33171, 0.12183, 0.07334, 0.03905, 0.00802, -0.00612, -0.10999, -0.25160, -0.27293, -0.23696, -0.22283, -0.20623]
CUBE_X = [0.0625, 0.0703, 0.0781, 0.0938, 0.1563, 0.2266, 0.2344, 0.5, 0.8047, 0.8594, 0.9063, 0.9453, 0.9531, 0.9609, 0.9688]
CUBE_V = [0.21738, 0.22746, 0.23503, 0.24407, 0.22924, 0.17580, 0.16987, 0.03674, -0.15223, -0.31117, -0.43423, -0.33511, -0.29032, -0.24095, -0.18864]

# J26 (Jaber, Essel & Sullivan 2026), tables 8(b) and 9(b): by levels and scheme, C_D, amplitude of C_L, St.
J26 = {
    "circle": {
        (2, "bounce-back"): (1.39, 0.345, 0.161), (2, "linear"): (1.36, 0.314, 0.162),
        (3, "bounce-back"): (1.36, 0.340, 0.164), (3, "linear"): (1.35, 0.328, 0.164),
        (4, "bounce-back"): (1.35, 0.334, 0.164), (4, "linear"): (1.34, 0.328, 0.165),
        (5, "bounce-back"): (1.34, 0.330, 0.165), (5, "linear"): (1.34, 0.327, 0.165),
    },
    "square": {
        (2, "bounce-back"): (1.45, 0.262, 0.143), (2, "linear"): (1.46, 0.262, 0.143),
        (3, "bounce-back"): (1.44, 0.255, 0.144), (3, "linear"): (1.46, 0.262, 0.142),
        (4, "bounce-back"): (1.44, 0.255, 0.143), (4, "linear"): (1.45, 0.256, 0.143),
        (5, "bounce-back"): (1.44, 0.252, 0.143), (5, "linear"): (1.44, 0.252, 0.143),
    },
}
# What J26 cites, tables 8(a) and 9(a): least and greatest.
SPREAD = {
    "circle": ((1.33, 1.35), (0.276, 0.339), (0.164, 0.175)),
    "square": ((1.51, 1.52), (0.194, 0.277), (0.147, 0.159)),
}


def sphere_drag(re):
    """Mikhailov & Freire, Powder Technol. 237 (2013) 432: their fit to the measurements of Brown & Lawler."""
    top = 3808 * (1617933 / 2030 + 178861 / 1063 * re + 1219 / 1084 * re * re)
    low = 681 * re * (77531 / 422 + 13529 / 976 * re - re * re / 71154)
    return top / low


def sphere_drag_clift(re):
    """Clift, Grace & Weber, Bubbles, Drops, and Particles (1978), table 5.2: 0.01 < Re <= 20."""
    return 24 / re * (1 + 0.1315 * re ** (0.82 - 0.05 * math.log10(re)))


def toml(value):
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return repr(value)


def key(name):
    return name if name.replace("-", "").replace("_", "").isalnum() and not name.endswith("-") else json.dumps(name)


def case_text(tables):
    """A case file. Tables in a list are repeated: [[output.write]]."""
    out = []
    for name, rows in tables.items():
        for row in rows if isinstance(rows, list) else [rows]:
            out.append(f"[[{name}]]" if isinstance(rows, list) else f"[{name}]")
            out.extend(f"{key(k)} = {toml(v)}" for k, v in row.items())
            out.append("")
    return "\n".join(out)


def stream(dims, speed):
    """J25 section 5.3: the stream's velocity at the inlet, pressure at the outlet. At the sides, which the papers call the far
    field, free slip: a velocity along a face is a wall that moves, and makes the stream unstable (docs/validation.md)."""
    faces = {a + s: "free-slip" for a in "xyz"[:dims] for s in "-+"}
    wind = {"type": "velocity", "velocity": [speed] + [0.0] * (dims - 1)}
    return faces | {"x-": wind, "x+": {"type": "pressure"}}


def free(dims):
    """A free stream of 1 m/s: far fields but for the outflow, so that sound leaves."""
    far = {"type": "far-field", "velocity": [1.0] + [0.0] * (dims - 1)}
    return {a + s: far for a in "xyz"[:dims] for s in "-+"} | {"x+": "outflow"}


def with_sponges(tables, d, axes, half=False):
    """The same case with sponges of 4 d before the faces of some axes, for half the time; with `half` in a box half as long."""
    mesh, boundary, run = dict(tables["mesh"]), dict(tables["boundary"]), dict(tables["run"])
    dims = len(mesh["translate"])
    if half:
        n = mesh["root"]
        mesh["domain"] = [0.25] + mesh["domain"][1:dims] + [0.75] + mesh["domain"][dims + 1:]
        mesh["root"] = "x".join(str(cells) for cells in [n // 2] + [n] * (dims - 1))
    for face in (axis + side for axis in axes for side in "-+"):
        condition = boundary[face]
        table = {"type": condition} if isinstance(condition, str) else condition
        boundary[face] = table | {"sponge": {"length": 4 * d}}
    run["steps"] //= 2
    return tables | {"mesh": mesh, "boundary": boundary, "run": run}


def body_2d(name, shape, at, d, re_length, levels, scheme, speed=0.05, root=512, steps=None):
    # 200 root steps a root cell along the edge, J26 section 4.3.1; of the last quarter, 26 cycles of the circle, lift and frequency.
    steps = steps or 200 * root
    return {
        "mesh": {
            "shape": shape, "translate": at, "domain": [0.0, 0.0, 1.0, 1.0], "root": root, "levels": levels,
            "wall-distance": d,
        },
        "physics": {"re": 100.0, "length": re_length, "velocity": speed, "lattice_velocity": speed, "area": re_length},
        "numerics": {"wall": scheme},
        "boundary": stream(2, speed),
        "run": {"steps": steps},
        "output": {"folder": name, "forces_every": 16},
    }


def sphere(name, re, levels, scheme):
    d = 1 / 64
    return {
        "mesh": {
            "shape": f"sphere:d={d}", "translate": [0.5] * 3, "domain": [0.0] * 3 + [1.0] * 3, "root": 256, "levels": levels,
            "wall-distance": d,
        },
        "physics": {"re": re, "length": d, "velocity": 0.05, "lattice_velocity": 0.05, "area": math.pi / 4 * d * d},
        "numerics": {"wall": scheme},
        "boundary": stream(3, 0.05),
        # J26 runs 100 root steps a cell of the edge and averages the last quarter; the flow is steady long before.
        "run": {"steps": 64 * 256},
        "output": {"folder": name, "forces_every": 16},
    }


def cavity(name, re, cells, levels, turnovers, dims=2):
    """The inside of a square or cube whose walls lie between root cells, refined along them: patch y+ is the lid. Two relaxation
    times are the default of a box that is closed."""
    margin = 4 / cells
    low, high = [-margin] * dims, [1 + margin] * dims
    lid = 0.05 if re < 5000 and dims == 2 else 0.1
    ys, xs = (sorted(set(GHIA_Y + ERTURK_Y)), sorted(set(GHIA_X + ERTURK_X))) if dims == 2 else (CUBE_Y, CUBE_X)
    tail = [0.5] * (dims - 2)
    points = [[0.5, y] + tail for y in ys] + [[x, 0.5] + tail for x in xs]
    steps = int(turnovers * cells / lid)
    return {
        "mesh": {
            "shape": "rectangle:size=1x1" if dims == 2 else "box:size=1x1x1", "translate": [0.5] * dims, "domain": low + high,
            "root": cells + 8, "levels": levels, "wall-distance": 0.06, "flow": "inside",
        },
        "physics": {"re": float(re), "length": 1.0, "velocity": 1.0, "lattice_velocity": lid},
        "numerics": {"precision": "f64"} if dims == 2 else {},
        "boundary": {a + s: "no-slip" for a in "xyz"[:dims] for s in "-+"},
        'patches."y+"': {"type": "velocity", "velocity": [1.0] + [0.0] * (dims - 1)},
        "run": {"steps": steps},
        "output": {"folder": name, "forces_every": 0},
        "output.write": [{"kind": "probes", "every_steps": max(1, steps // 400), "points": points}],
    }


def cavity_adapted(name, re, root, levels, threshold, turnovers):
    """A cavity on a mesh that follows its vorticity (J25 section 5.1, cases V): refined where |vorticity| dx / U exceeds a threshold,
    looked at every 32 root steps."""
    lid = 0.05
    ys, xs = sorted(set(GHIA_Y + ERTURK_Y)), sorted(set(GHIA_X + ERTURK_X))
    points = [[0.5, y] for y in ys] + [[x, 0.5] for x in xs]
    steps = int(turnovers * root / lid)
    return {
        "domain": {"box": [0.0, 0.0, 1.0, 1.0], "root": root},
        "physics": {"re": float(re), "length": 1.0, "velocity": 1.0, "lattice_velocity": lid},
        "boundary": {"x-": "no-slip", "x+": "no-slip", "y-": "no-slip", "y+": {"type": "velocity", "velocity": [1.0, 0.0]}},
        "adapt": {"levels": levels, "every": 32},
        "adapt.by": [{"what": "vorticity", "refine": threshold}],
        "run": {"steps": steps},
        "output": {"folder": name, "forces_every": 0, "integrals_every": 0},
        "output.write": [{"kind": "probes", "every_steps": max(1, steps // 400), "points": points}],
    }


def rows():
    """Name, tables of the case, and what to read from its folder."""
    d = 1 / 64
    for scheme in ("bounce-back", "linear"):
        for levels in (2, 3, 4, 5):
            # A twentieth of a diameter off the middle, else the flow stays symmetric for long.
            name = f"circle-{scheme}-{levels}"
            yield name, body_2d(name, f"circle:d={d}", [0.5, 0.5 + d / 20], d, d, levels, scheme), shedding("circle", levels, scheme, d)
            # J26: moved by 0.7 root cells along x.
            for family, side in (("square", d), ("square-2d", 2 * d)):
                name = f"{family}-{scheme}-{levels}"
                at = [0.5 + 0.7 / 512, 0.5 + d / 20]
                yield name, body_2d(name, f"rectangle:size={side}x{side}", at, d, side, levels, scheme), shedding("square", levels, scheme, side)
    for name, axes, half in (("circle-sponge", "x", False), ("circle-sponge-all", "xy", False), ("circle-sponge-half", "x", True)):
        case = body_2d(name, f"circle:d={d}", [0.5, 0.5 + d / 20], d, d, 3, "linear")
        yield name, with_sponges(case, d, axes, half), shedding("circle", 3, "linear", d)
    for name, half in (("sphere-sponge-20", False), ("sphere-sponge-20-half", True)):
        yield name, with_sponges(sphere(name, 20.0, 3, "linear"), d, "xyz", half), settled(20.0)
    name = "square-j25"
    case = body_2d(name, f"rectangle:size={2 * d}x{2 * d}", [10.5 / 32, 0.5 + d / 10], 2 * d, 2 * d, 3, "linear")
    yield name, case, shedding("j25", 3, "linear", 2 * d)
    for scheme in ("bounce-back", "linear"):
        for re in (10.0, 15.0, 20.0):
            for levels in (2, 3, 4):
                name = f"sphere-{re:.0f}-{scheme}-{levels}"
                yield name, sphere(name, re, levels, scheme), settled(re)
    for re, cells, levels, turnovers in ((1000, 128, 3, 100), (3200, 128, 3, 200), (5000, 128, 3, 300), (10000, 256, 2, 500)):
        name = f"cavity-{re}"
        case = cavity(name, re, cells, levels, turnovers)
        yield name, case, profiles(re, 2, case)
    case = cavity("cavity-cube-1000", 1000, 64, 2, 100, dims=3)
    yield "cavity-cube-1000", case, profiles(1000, 3, case)
    case = cavity_adapted("cavity-adapt-1000", 1000, 128, 4, 0.0049, 50)
    yield "cavity-adapt-1000", case, profiles(1000, 2, case)
    yield from more_rows()


# Schaefer & Turek 1996 (benchmark of flow around a cylinder), by their later precise values: C_D, C_L, pressure difference of 2D-1 and
# 3D-1Z, and of 2D-2 St, greatest C_D and C_L.
TUREK_2D_1 = (5.5795, 0.010619, 0.11752)
TUREK_2D_2 = (0.3019, 3.2273, 1.0040)
TUREK_3D_1Z = (6.18533, 0.009401)
# Taylor & Green's vortex at Re 1600, a spectral run on 512^3: energy E(t) with E(0) = 1/8, and the greatest -dE/dt with its time.
VORTEX_ENERGY = {5.0: 0.11844, 9.0: 0.08640, 10.0: 0.07448, 15.0: 0.03644}
VORTEX_PEAK = (0.012858, 8.97)


def turek(name, kind, levels, root, speed, seconds):
    """A cylinder of 0.1 m in a channel 0.41 m high, a little below the middle; `root` cells across. The channel is as long as whole blocks make it,
    2.2 m or more (3D: 2.5 m)."""
    dims = 3 if kind == "3d" else 2
    dx = 0.41 / root
    cells = [4 * math.ceil((2.5 if dims == 3 else 2.2) / dx / 4)] + [root] * (dims - 1)
    mean = {"2d-1": 0.2, "2d-2": 1.0, "3d": 0.2}[kind]
    x = 0.5 if dims == 3 else 0.2
    shape = {"shape": "circle:r=0.05", "translate": [x, 0.2]} if dims == 2 else {"shape": "cylinder:r=0.05,h=1", "translate": [x, 0.2, 0.205]}
    # The pressure on the cylinder's axis of flow, before and behind it, from two places each.
    d = dx / 2 ** (levels - 1)
    ahead = [[x - 0.05 - n * d, 0.2, 0.205][:dims] for n in (2, 3)]
    behind = [[x + 0.05 + n * d, 0.2, 0.205][:dims] for n in (2, 3)]
    wake = f"box:{x - 0.1},0.08,{x + 0.4},0.32,levels={levels - 1}" if dims == 2 else f"box:{x - 0.1},0.08,0,{x + 0.3},0.32,0.41,levels={levels - 1}"
    return {
        "mesh": shape | {
            "domain": [0.0] * dims + [n * dx for n in cells], "root": "x".join(map(str, cells)), "levels": levels, "wall-distance": 0.02,
            "refine": [wake] if levels > 2 else [],
        },
        "physics": {"viscosity": 1e-3, "length": 0.1, "velocity": mean, "lattice_velocity": speed, "area": 0.1 if dims == 2 else 0.041},
        "numerics": {"precision": "f64" if dims == 2 else "f32"},
        "boundary": {a + s: "no-slip" for a in "xyz"[:dims] for s in "-+"}
        | {"x-": {"type": "velocity", "profile": "parabolic", "mean": mean}, "x+": {"type": "pressure"}},
        "run": {"seconds": seconds},
        # Integrals and probes take a copy of the whole field from the device.
        "output": {"folder": name, "forces_every": 8, "integrals_every": 256 if dims == 2 else 4096},
        "output.write": [{"kind": "probes", "every_steps": 64 if dims == 2 else 2048, "points": ahead + behind}],
    }


def turek_steady(theirs, source):
    def read(folder):
        table = columns(folder / "forces.csv")
        drag, lift = settled_mean(table, "C_D", 0.3), settled_mean(table, "C_L", 0.3)
        drift = abs(settled_mean(table, "C_D", 0.15) / drag - 1)
        found = [row("C_D", drag, theirs[0], source), row("C_L", lift, theirs[1], source)]
        if len(theirs) > 2:
            probes = columns(folder / "probes.csv")
            start = int(0.7 * len(probes["step"]))
            p = [sum(probes[f"p{i} (Pa)"][start:]) / (len(probes["step"]) - start) for i in (1, 2, 3, 4)]
            found.append(row("pressure difference, Pa", (3 * p[0] - 2 * p[1]) - (3 * p[2] - 2 * p[3]), theirs[2], source))
        return found, f"mean C_D of the last 15 % against that of 30 %: {100 * drift:.3f} %"

    return read


def turek_periodic(folder):
    table = columns(folder / "forces.csv")
    _, drag = last(table, "C_D", 0.3)
    times, lift = last(table, "C_L", 0.3)
    _, _, frequency, cycles = sine(times, lift)
    source = "Schaefer & Turek 1996, 2D-2"
    theirs = TUREK_2D_2
    return [
        row("St", frequency * 0.1, theirs[0], source),
        row("greatest C_D", max(drag), theirs[1], source),
        row("greatest C_L", max(lift), theirs[2], source),
    ], f"{cycles} cycles"


def complex_womersley(y, alpha):
    """Complex amplitude over a / omega, between plates at -1 and 1: Womersley's flow in the plane."""
    k = alpha * (1 + 1j) / math.sqrt(2)
    return (1 - cosh(k * y) / cosh(k)) / 1j


def cosh(z):
    return 0.5 * (complex(math.cos(z.imag), math.sin(z.imag)) * math.exp(z.real) + complex(math.cos(z.imag), -math.sin(z.imag)) * math.exp(-z.real))


def womersley(name, alpha, cells):
    """Plates 1 m apart, driven by an acceleration a cos(omega t) whose velocity a / omega is 1 m/s."""
    viscosity = 0.01
    omega = 4 * alpha**2 * viscosity
    # Centres of cells: between them probes are linear.
    points = [[0.5 / cells, (n + 0.5) / cells] for n in (cells // 20, cells // 8, cells // 4, cells // 2)]
    period = 2 * math.pi / omega
    return {
        "domain": {"box": [0.0, 0.0, 4 / cells, 1.0], "root": f"4x{cells}"},
        "physics": {"viscosity": viscosity, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.02, "acceleration": [f"{omega!r}*cos({omega!r}*t)", 0.0]},
        "numerics": {"precision": "f64"},
        "boundary": {"x-": "periodic", "x+": "periodic", "y-": "no-slip", "y+": "no-slip"},
        # Till the start is forgotten: the slowest mode decays as pi^2 nu t.
        "run": {"seconds": max(10 / (math.pi**2 * viscosity), 3 * period)},
        "output": {"folder": name},
        "output.write": [{"kind": "probes", "every_seconds": period / 100, "points": points}],
    }, (alpha, omega, points)


def at_frequency(times, values, omega):
    """The complex amplitude of exp(i omega t) whose real part fits best: least squares, for samples need not fill a period."""
    cs = [(math.cos(omega * t), math.sin(omega * t)) for t in times]
    cc, ss, mixed = (sum(a * b for a, b in pairs) for pairs in ([(c, c) for c, _ in cs], [(s, s) for _, s in cs], cs))
    yc, ys = (sum(v * c[n] for v, c in zip(values, cs)) for n in (0, 1))
    det = cc * ss - mixed * mixed
    return complex((yc * ss - ys * mixed) / det, -(ys * cc - yc * mixed) / det)


def read_womersley(alpha, omega, points):
    def read(folder):
        table = columns(folder / "probes.csv")
        times = next(table[k] for k in table if k.startswith("time"))
        start = next(i for i, t in enumerate(times) if t > times[-1] - 2 * math.pi / omega)
        times = times[start:-1]
        found = []
        for i, point in enumerate(points, 1):
            values = table[f"u{i} (m/s)"][start:-1]
            ours = at_frequency(times, values, omega)
            exact = complex_womersley(2 * point[1] - 1, alpha)
            found.append(row(f"amplitude at y = {point[1]:.3f}", abs(ours), abs(exact), "Womersley 1955, in the plane"))
            phase = [math.degrees(math.atan2(z.imag, z.real)) for z in (ours, exact)]
            found.append(row(f"phase at y = {point[1]:.3f}, degrees", *phase, "Womersley 1955, in the plane"))
        return found, "the last period"

    return read


def taylor_green(name, cells, seconds=20.0):
    size = 2 * math.pi
    speed = 0.1
    step = speed * size / cells
    return {
        "domain": {"box": [0.0] * 3 + [size] * 3, "root": cells},
        "physics": {"re": 1600.0, "length": 1.0, "velocity": 1.0, "lattice_velocity": speed},
        "numerics": {"lattice": "d3q27"},
        "boundary": {a + s: "periodic" for a in "xyz" for s in "-+"},
        "initial": {"preset": "taylor-green"},
        # It never settles that much: so energy.csv is written.
        "run": {"settle": 1e-12, "most": round(seconds / step)},
        "output": {"folder": name, "forces_every": 0},
    }


def read_taylor_green(folder):
    table = columns(folder / "energy.csv")
    # Over u²/2 of the reference velocity: E = 1/8 at the start.
    times, energy = table["time"], [0.5 * e for e in table["kinetic energy"]]
    at = lambda t: interpolate(times, energy, t)
    rates = [(-(energy[i + 1] - energy[i - 1]) / (times[i + 1] - times[i - 1]), times[i]) for i in range(1, len(times) - 1)]
    peak, when = max(rates)
    source = "spectral run, 512^3"
    found = [row(f"E({t:g})", at(t), e, source) for t, e in VORTEX_ENERGY.items() if t <= times[-1]]
    if times[-1] > 10:
        found += [row("greatest -dE/dt", peak, VORTEX_PEAK[0], source), row("its time", when, VORTEX_PEAK[1], source)]
    return found, f"{len(times)} samples; E({times[0]:.3f}) = {energy[0]:.5f}"


def interpolate(xs, ys, x):
    i = next((i for i in range(1, len(xs)) if xs[i] >= x), len(xs) - 1)
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])


def pulse(name, outlet, cells=800):
    """A plane pulse of pressure, ten cells wide, that runs to the right and out of the box: its speed, and what comes back."""
    speed, dx = 0.1, 1 / cells
    sound = 1 / (speed * math.sqrt(3))
    shape = f"exp(-((x-0.25)/{10 * dx!r})^2)"
    step = speed * dx
    return {
        "domain": {"box": [0.0, 0.0, 1.0, 4 * dx], "root": f"{cells}x4"},
        "physics": {"viscosity": 1e-3 * dx / speed, "length": 1.0, "velocity": 1.0, "lattice_velocity": speed},
        "numerics": {"precision": "f64"},
        "boundary": {"x-": "free-slip", "x+": outlet, "y-": "periodic", "y+": "periodic"},
        # 1e-4 of the pressure of sound; the velocity of a wave to the right.
        "initial": {"pressure": f"{1e-4 * sound**2!r}*{shape}", "velocity": [f"{1e-4 * sound!r}*{shape}", 0.0]},
        "run": {"steps": round(1.3 / sound / step)},
        "output": {"folder": name, "forces_every": 0},
        "output.write": [{"kind": "probes", "every_steps": 1, "points": [[0.5, 2 * dx], [0.75, 2 * dx]]}],
    }, sound


def read_pulse(sound):
    def read(folder):
        table = columns(folder / "probes.csv")
        times = next(table[k] for k in table if k.startswith("time"))

        def peak(i, low, high):
            values = [(abs(v), t) for t, v in zip(times, table[f"p{i} (Pa)"]) if low <= t * sound <= high]
            return max(values)

        first, second = peak(1, 0.0, 0.45), peak(2, 0.0, 0.7)
        back = peak(2, 0.8, 1.3)
        found = [
            row("speed of sound", 0.25 / (second[1] - first[1]), sound, "1/sqrt(3) of the lattice"),
            row("pressure that comes back, of the pulse's", back[0] / second[0], 0.0, "none in the open"),
        ]
        return found, f"the pulse is {first[0] / (1e-4 * sound**2):.4f} of its height in the middle"

    return read


def couette(name, ratio, cells):
    """Fluid between a cylinder that turns, of radius `ratio`, and one at rest, of radius 1: `cells` across the gap."""
    gap = 1.0 - ratio
    dx = gap / cells
    half = 4 * math.ceil((1.0 + 3 * dx) / dx / 4)
    n = 2000
    # The fluid is inside the outer loop, which runs counter-clockwise, and outside the inner one.
    loops = [("outer", 1.0, 1), ("inner", ratio, -1)]
    text = "\n".join(
        f"{patch}\n" + "".join(f"{r * math.cos(sign * 2 * math.pi * k / n)!r} {r * math.sin(sign * 2 * math.pi * k / n)!r}\n" for k in range(n))
        for patch, r, sign in loops
    )
    # The torque's error is of the order of the Mach number squared: see docs/validation.md.
    speed = 0.0125
    step = speed * dx
    case = {
        "mesh": {"file": f"{name}.txt", "flow": "inside", "domain": [-half * dx] * 2 + [half * dx] * 2, "root": 2 * half, "levels": 1},
        "physics": {"re": 10.0, "length": gap, "velocity": 1.0, "lattice_velocity": speed, "area": 1.0},
        "numerics": {"precision": "f64"},
        "boundary": {a + s: "no-slip" for a in "xy" for s in "-+"},
        "patches.inner": {"type": "rotating", "center": [0.0, 0.0], "omega": 1 / ratio},
        # The slowest mode decays in gap^2 / (pi^2 nu), one gap over the speed at Re 10.
        "run": {"seconds": 25 * gap},
        "output": {"folder": name, "forces_every": max(1, round(0.01 * gap / step))},
    }
    return case, {f"{name}.txt": text}


def aerofoil(name, re, angle, levels=6):
    """NACA 0012 in a box of 20 by 16 chords; the stream is turned by the aerofoil's own rotation."""
    return {
        "mesh": {
            "shape": "naca:0012", "rotate": [f"z:{-angle}"], "domain": [-8.0, -8.0, 12.0, 8.0], "root": "160x128", "levels": levels,
            "wall-distance": 0.05, "refine": [f"box:-0.7,-0.4,2,0.4,levels={levels - 1}", f"box:-1,-0.8,4,0.8,levels={levels - 2}"],
        },
        "physics": {"re": float(re), "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.05, "area": 1.0},
        "numerics": {},
        "boundary": free(2),
        "run": {"seconds": 60.0},
        "output": {"folder": name, "forces_every": 16},
    }


def cube(name, re, levels=5):
    return {
        "mesh": {
            "shape": "box:size=1x1x1", "domain": [-7.5, -7.5, -7.5, 17.5, 7.5, 7.5], "root": "100x60x60", "levels": levels,
            "wall-distance": 0.25, "refine": [f"box:-1,-1,-1,4,1,1,levels={levels - 1}", "box:-1.5,-1.5,-1.5,8,1.5,1.5,levels=3"],
        },
        "physics": {"re": float(re), "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.05, "area": 1.0},
        "numerics": {},
        "boundary": free(3),
        "run": {"seconds": 150.0},
        "output": {"folder": name, "forces_every": 16},
    }


def sphere_300(name, levels=5):
    """A sphere that sheds, pushed aside by a gust."""
    gust = "0.1*exp(-((t-6)/2)^2)"
    return {
        "mesh": {
            "shape": "sphere:d=1", "domain": [-7.5, -7.5, -7.5, 17.5, 7.5, 7.5], "root": "100x60x60", "levels": levels,
            "wall-distance": 0.25, "refine": [f"box:-1,-1,-1,5,1,1,levels={levels - 1}", "box:-1.5,-1.5,-1.5,8,1.5,1.5,levels=3"],
        },
        "physics": {"re": 300.0, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.05},
        "numerics": {},
        "boundary": free(3) | {"x-": {"type": "velocity", "velocity": [1.0, gust, 0.0]}},
        "run": {"seconds": 150.0},
        "output": {"folder": name, "forces_every": 16},
    }


def read_sphere_300(folder):
    table = columns(folder / "forces.csv")
    lift, side = (last(table, name, 1.0)[1] for name in ("C_L", "C_S"))
    table["lift sphere"] = [math.hypot(a, b) for a, b in zip(lift, side)]
    _, _, frequency, cycles = sine(*last(table, "C_L", 0.4))
    source = "Johnson & Patel 1999"
    return [
        row("C_D", settled_mean(table, "C_D", 0.4), 0.656, source),
        row("mean lift", settled_mean(table, "lift", 0.4), 0.069, source),
        row("St", frequency, 0.137, source),
    ], f"{cycles} cycles"


def drag_and_lift(folder):
    """Without values of the literature beside them: means and their drift, to be judged by grids."""
    table = columns(folder / "forces.csv")
    drag, lift = settled_mean(table, "C_D", 0.4), settled_mean(table, "C_L", 0.4)
    drift = abs(settled_mean(table, "C_D", 0.2) / drag - 1)
    _, amplitude, frequency, cycles = sine(*last(table, "C_L", 0.4))
    found = [row("C_D", drag, None, ""), row("C_L", lift, None, "")]
    if cycles > 3 and amplitude > 1e-3:
        found += [row("C_L amplitude", amplitude, None, ""), row("St", frequency, None, "")]
    return found, f"mean C_D of the last 20 % against that of 40 %: {100 * drift:.2f} %"


def torques(ratio):
    def read(folder):
        table = columns(folder / "forces.csv")
        # A torque of 4 pi mu w a^2 b^2 / (b^2 - a^2) a unit of depth, with mu = gap / 10 and w = 1 / ratio.
        gap = 1 - ratio
        exact = 4 * math.pi * (gap / 10) / ratio * ratio**2 / (1 - ratio**2)
        found = []
        for patch in ("inner", "outer"):
            # Coefficients are over rho u^2 A L / 2, with A = 1 and L the gap; the last ones are about z.
            name = [k for k in table if k.endswith(" " + patch)][-1]
            values = [abs(v) * 0.5 * gap for v in table[name]]
            found.append(row(f"torque, {patch}", values[-1], exact, "circular Couette flow"))
            half = values[len(values) // 2]
        return found, f"torque of the outer one at half the run: {half:.6f}"

    return read


def more_rows():
    """Flows whose conditions vary in space or time, and others of the literature."""
    for name, kind, levels, root, speed, seconds in (
        ("turek-2d-1", "2d-1", 5, 44, 0.01, 20.0),
        ("turek-2d-2", "2d-2", 5, 44, 0.02, 8.0),
        ("turek-3d-1z", "3d", 4, 44, 0.01, 12.0),
        # Symmetric about the cylinder: 0.2 m are 80 of 164 cells across the channel.
        ("turek-3d-1z-aligned", "3d", 2, 164, 0.02, 8.0),
        ("turek-2d-1-aligned", "2d-1", 2, 164, 0.01, 12.0),
        ("turek-2d-1-coarse", "2d-1", 3, 24, 0.04, 12.0),
    ):
        case = turek(name, kind, levels, root, speed, seconds)
        theirs = TUREK_2D_1 if kind == "2d-1" else TUREK_3D_1Z
        yield name, case, turek_periodic if kind == "2d-2" else turek_steady(theirs, f"Schaefer & Turek 1996, {'3D-1Z' if kind == '3d' else '2D-1'}")
    for alpha in (4, 10):
        name = f"womersley-{alpha}"
        case, given = womersley(name, alpha, 64)
        yield name, case, read_womersley(*given)
    for ratio, cells in ((0.3, 27), (0.8, 27), (0.3, 54), (0.8, 54)):
        name = f"couette-{ratio}-{cells}"
        case, files = couette(name, ratio, cells)
        yield name, case | {"files": files}, torques(ratio)
    for cells in (64, 256):
        name = f"taylor-green-1600-{cells}"
        yield name, taylor_green(name, cells), read_taylor_green
    for what, outlet in (("pressure", {"type": "pressure"}), ("outflow", "outflow")):
        name = f"pulse-{what}"
        case, sound = pulse(name, outlet)
        yield name, case, read_pulse(sound)
    for re in (500, 1000):
        for angle in (0, 2, 4, 6, 8):
            name = f"naca0012-{re}-{angle}"
            yield name, aerofoil(name, re, angle), drag_and_lift
    yield "sphere-300", sphere_300("sphere-300"), read_sphere_300
    for re in (100, 200, 300):
        name = f"cube-{re}"
        yield name, cube(name, re), drag_and_lift


def row(quantity, ours, theirs, source, spread=None):
    return {"quantity": quantity, "ours": ours, "theirs": theirs, "source": source, "spread": spread}


def columns(path):
    with open(path, newline="") as file:
        lines = list(csv.reader(line for line in file if not line.startswith("#")))
    return {name: [float(line[i]) for line in lines[1:]] for i, name in enumerate(lines[0])}


def sine(times, values):
    """Mean, amplitude and frequency of the sine that fits best: least squares, the frequency by golden section about the crossings'."""
    mean = sum(values) / len(values)
    ups = []
    for i in range(1, len(values)):
        a, b = values[i - 1] - mean, values[i] - mean
        if a < 0 <= b:
            ups.append(times[i - 1] + (times[i] - times[i - 1]) * a / (a - b))
    if len(ups) < 3:
        return mean, 0.0, 0.0, len(ups)
    guess = (len(ups) - 1) / (ups[-1] - ups[0])

    def fit(f):
        w = 2 * math.pi * f
        cc = cs = ss = yc = ys = 0.0
        for t, v in zip(times, values):
            c, s, y = math.cos(w * t), math.sin(w * t), v - mean
            cc, cs, ss, yc, ys = cc + c * c, cs + c * s, ss + s * s, yc + y * c, ys + y * s
        det = cc * ss - cs * cs
        a, b = (yc * ss - ys * cs) / det, (ys * cc - yc * cs) / det
        return math.hypot(a, b), a * yc + b * ys

    width = 0.5 / (times[-1] - times[0])
    low, high, ratio = guess - width, guess + width, (math.sqrt(5) - 1) / 2
    for _ in range(30):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        if fit(a)[1] > fit(b)[1]:
            high = b
        else:
            low = a
    f = 0.5 * (low + high)
    return mean, fit(f)[0], f, len(ups) - 1


def last(table, name, share):
    """Times and the sum over all patches (a rectangle has one a side; then there is their group `all`) in the last share of a run."""
    start = int(len(table["time"]) * (1 - share))
    whole = [k for k in table if k == name + " all"]
    patches = [table[k][start:] for k in whole or table if k.startswith(name + " ")]
    return table["time"][start:], [sum(values) for values in zip(*patches, strict=True)]


def settled_mean(table, name, share):
    """Mean over the last share of a run, weighted by a Hann window: sound that runs between inlet and outlet, which both reflect
    it, swings about the mean for longer than the run, and a plain mean keeps a part of the last period."""
    _, values = last(table, name, share)
    weights = [math.sin(math.pi * (i + 0.5) / len(values)) ** 2 for i in range(len(values))]
    return sum(w * v for w, v in zip(weights, values)) / sum(weights)


def shedding(family, levels, scheme, length):
    def read(folder):
        table = columns(folder / "forces.csv")
        mean = settled_mean(table, "C_D", 0.4)
        _, amplitude, frequency, cycles = sine(*last(table, "C_L", 0.25))
        strouhal = frequency * length / 0.05
        drift = abs(settled_mean(table, "C_D", 0.2) / mean - 1)
        note = f"{cycles} cycles; mean C_D of the last 20 % against that of 40 %: {100 * drift:.2f} %"
        if family == "j25":
            return [row("C_D", mean, 1.50, "J25 section 5.3"), row("St", strouhal, 0.147, "J25 section 5.3")], note
        theirs = J26[family][levels, scheme]
        source = "J26 table 8(b)" if family == "circle" else "J26 table 9(b)"
        spread = SPREAD[family]
        return [
            row("C_D", mean, theirs[0], source, spread[0]),
            row("C_L amplitude", amplitude, theirs[1], source, spread[1]),
            row("St", strouhal, theirs[2], source, spread[2]),
        ], note

    return read


def settled(re):
    def read(folder):
        table = columns(folder / "forces.csv")
        mean = settled_mean(table, "C_D", 0.6)
        drift = abs(settled_mean(table, "C_D", 0.3) / mean - 1)
        return [
            row("C_D", mean, sphere_drag(re), "Mikhailov & Freire 2013"),
            row("C_D", mean, sphere_drag_clift(re), "Clift et al. 1978"),
        ], f"mean C_D of the last 30 % against that of 60 %: {100 * drift:.2f} %"

    return read


def profiles(re, dims, case):
    points = case["output.write"][0]["points"]

    def read(folder):
        table = probe_means(folder, points)
        if dims == 3:
            sets = [("Albensoeder & Kuhlmann 2005", CUBE_Y, CUBE_U, CUBE_X, CUBE_V)]
        else:
            sets = [("Ghia et al. 1982", GHIA_Y, GHIA[re][0], GHIA_X, GHIA[re][1])]
            if re in ERTURK:
                sets.append(("Erturk et al. 2005", ERTURK_Y, ERTURK[re][0], ERTURK_X, ERTURK[re][1]))
            if re == 1000:
                sets.append(("Botella & Peyret 1998", GHIA_Y, BOTELLA_U, GHIA_X, BOTELLA_V))
        found = []
        for source, ys, us, xs, vs in sets:
            for what, places, values, axis in (("u", ys, us, 0), ("v", xs, vs, 1)):
                ours = [table[(0.5, p) if axis == 0 else (p, 0.5)][axis] for p in places]
                wrong = [abs(a - b) for a, b in zip(ours, values)]
                at = wrong.index(max(wrong))
                low = values.index(min(values))
                found.append(row(f"least {what}", ours[low], values[low], source))
                found.append(row(f"{what} at {places[at]}, the farthest", ours[at], values[at], source))
                rms = math.sqrt(sum(w * w for w in wrong) / len(wrong))
                found.append(row(f"rms difference of {what}, {len(wrong)} places, of the lid's", rms, 0.0, source))
        return found, "mean over the last tenth"

    return read


def probe_means(folder, points):
    """Mean velocity over the last tenth of the samples, by the point's first two coordinates."""
    table = columns(folder / "probes.csv")
    start = int(0.9 * len(table["step"]))
    found = {}
    for i, point in enumerate(points, 1):
        series = [table[f"{axis}{i} (m/s)"][start:] for axis in "uv"]
        found[point[0], point[1]] = [sum(s) / len(s) for s in series]
    return found


def run_one(options, name, tables, read):
    folder = options.out / name
    tables = dict(tables, output=dict(tables["output"], folder=str(folder)))
    path = options.out / f"{name}.toml"
    for file, text in tables.pop("files", {}).items():
        (options.out / file).write_text(text)
        tables["mesh"] = dict(tables["mesh"], file=str(options.out / file))
    path.write_text(case_text(tables))
    if options.write:
        return None
    command = [options.cutlink, "solve", str(path), "--device", options.device, "--force"]
    command += ["--steps", str(options.steps)] if options.steps else []
    command += ["--dry-run"] if options.dry_run else []
    begin = time.monotonic()
    result = {"name": name, "command": f"python3 validation/run.py --device {options.device} --only {name}"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
        if done.returncode != 0:
            result["failed"] = f"exit code {done.returncode}: {done.stderr.strip()[-400:]}"
        elif options.dry_run:
            result["note"] = done.stdout.strip().splitlines()[-1]
        else:
            result["rows"], result["note"] = read(folder)
            summary = json.loads((folder / "summary.json").read_text())
            result["mlups"], result["steps"] = summary.get("mlups"), summary.get("steps")
            result["device"] = summary.get("device", {}).get("model") or summary.get("device", {}).get("name")
    except subprocess.TimeoutExpired:
        result["failed"] = f"not done after {options.limit:.0f} s"
    result["seconds"] = round(time.monotonic() - begin, 1)
    return result


def markdown(results):
    out = ["| case | quantity | ours | source's | difference | literature | source | time |", "|---|---|---|---|---|---|---|---|"]
    for result in results:
        if "rows" not in result:
            out.append(f"| `{result['name']}` | {result.get('failed') or result.get('note', '')} | | | | | | {result['seconds']} s |".replace("\n", " "))
            continue
        for i, r in enumerate(result["rows"]):
            same = f"{100 * (r['ours'] / r['theirs'] - 1):+.1f} %" if r["theirs"] else ""
            spread = f"{r['spread'][0]} to {r['spread'][1]}" if r["spread"] else ""
            first = (f"`{result['name']}`", f"{result['seconds']} s") if i == 0 else ("", "")
            theirs = "" if r["theirs"] is None else f"{r['theirs']:.5g}"
            out.append(f"| {first[0]} | {r['quantity']} | {r['ours']:.5g} | {theirs} | {same} | {spread} | {r['source']} | {first[1]} |")
        out.append(f"| | {result['note']} | | | | | | |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto", help="as of cutlink solve: auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--cutlink", default="cutlink", help="the program")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="rows whose names begin so; as often as wanted")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("validation-out"), help="folder for cases, results and the table")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for each row")
    parser.add_argument("--steps", type=int, help="root steps at most, in place of the case's")
    parser.add_argument("--within", type=float, metavar="PERCENT", help="fail if a value is farther than this from its source's")
    parser.add_argument("--list", action="store_true", help="print names only")
    parser.add_argument("--write", action="store_true", help="write case files only")
    parser.add_argument("--dry-run", action="store_true", help="have cutlink check each case, run none")
    options = parser.parse_args()
    chosen = [r for r in rows() if not options.only or any(r[0].startswith(o) for o in options.only)]
    if not chosen:
        parser.error("no row has such a name; --list prints them")
    if options.list:
        print("\n".join(name for name, *_ in chosen))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    saved = options.out / "table.json"
    results = {r["name"]: r for r in json.loads(saved.read_text())} if saved.exists() else {}
    failed = False
    for name, tables, read in chosen:
        result = run_one(options, name, tables, read)
        if result is None:
            continue
        print(f"{name}: {result.get('failed') or result.get('note')} ({result['seconds']} s)", file=sys.stderr, flush=True)
        failed |= "failed" in result
        for r in result.get("rows", []) if options.within else []:
            if r["theirs"] and not abs(r["ours"] / r["theirs"] - 1) <= options.within / 100:
                print(f"{name}: {r['quantity']} is {r['ours']:.5g}, not {r['theirs']:.5g}", file=sys.stderr)
                failed = True
        if options.dry_run:
            continue
        results[name] = result
        # After each row, so that what ends early keeps its table.
        saved.write_text(json.dumps(list(results.values()), indent=1))
        (options.out / "table.md").write_text(markdown(list(results.values())))
    if results and not options.dry_run and not options.write:
        print(markdown([results[name] for name, *_ in chosen if name in results]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
