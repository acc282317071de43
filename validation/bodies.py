"""Bodies in a stream and cavities: J26 section 4.3, and the profiles of cavities."""

import math

from reading import columns, last, probe_means, row, settled_mean, sine
from sources import (
    BOTELLA_U, BOTELLA_V, CUBE_U, CUBE_V, CUBE_X, CUBE_Y, ERTURK, ERTURK_X, ERTURK_Y, GHIA, GHIA_X, GHIA_Y, J26, SPREAD, sphere_drag,
    sphere_drag_clift,
)


def stream(dims, speed):
    """J25 section 5.3: the stream's velocity at the inlet, pressure at the outlet. At the sides, which the papers call the far
    field, free slip: a velocity along a face is a moving wall, which makes the free stream unstable (docs/validation-log.md)."""
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
    for levels in (3, 4):
        name = f"circle-local-{levels}"
        yield name, body_2d(name, f"circle:d={d}", [0.5, 0.5 + d / 20], d, d, levels, "local"), shedding("circle", levels, "linear", d)
    for name, axes, half in (("circle-sponge", "x", False), ("circle-sponge-all", "xy", False), ("circle-sponge-half", "x", True)):
        case = body_2d(name, f"circle:d={d}", [0.5, 0.5 + d / 20], d, d, 3, "linear")
        yield name, with_sponges(case, d, axes, half), shedding("circle", 3, "linear", d)
    for name, half in (("sphere-sponge-20", False), ("sphere-sponge-20-half", True)):
        yield name, with_sponges(sphere(name, 20.0, 3, "linear"), d, "xyz", half), settled(20.0)
    name = "square-j25"
    case = body_2d(name, f"rectangle:size={2 * d}x{2 * d}", [10.5 / 32, 0.5 + d / 10], 2 * d, 2 * d, 3, "linear")
    yield name, case, shedding("j25", 3, "linear", 2 * d)
    for scheme in ("bounce-back", "linear", "local"):
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
