"""Flows at high Reynolds numbers: a vortex that breaks up, turbulent channels, the wake of a sphere, a car."""

import math

from benchmarks import read_taylor_green, taylor_green
from bodies import free
from reading import columns, last, read_drag, row, settled_mean, sine
from sources import AHMED, CHANNEL_180, CHANNEL_1000, CIRCLE_3900, SPHERE_3700, SPHERE_10000, SPHERE_MILLION

OPERATORS = [("regularized", "none"), ("regularized", "qr"), ("cumulant", "none"), ("cumulant", "qr"), ("cumulant", "smagorinsky"), ("kbc", "none")]


def numerics(collision, les):
    return {"lattice": "d3q27", "collision": collision, "les": les}


def suffix(collision, les):
    return collision if les == "none" else f"{collision}-{les}"


def channel(name, half, collision, les, units):
    """A channel of half height 1 driven by an acceleration of 1, so that the friction velocity is 1; 2 pi long, pi wide. Starts as a flat
    profile with waves that break up."""
    cells = [4 * round(half * edge / 4) for edge in (2 * math.pi, 2, math.pi)]
    heights = [(n + 0.5) / half for n in range(half)]
    columns_ = [((i + 0.5) * cells[0] / 4 / half, (k + 0.5) * cells[2] / 4 / half) for i in range(4) for k in range(4)]
    # Upper and lower half by turns.
    points = [[x, y if n % 2 else 2 - y, z] for y in heights for n, (x, z) in enumerate(columns_)]
    speed = 15.6
    steps = round(half * speed / 0.08)
    wave = "sin(pi*y/2)^2"
    return {
        "domain": {"box": [0.0] * 3 + [n / half for n in cells], "root": "x".join(map(str, cells))},
        "physics": {"viscosity": 1 / 180, "length": 1.0, "velocity": speed, "lattice_velocity": 0.08, "acceleration": [1.0, 0.0, 0.0]},
        "numerics": numerics(collision, les),
        "boundary": {"x-": "periodic", "x+": "periodic", "y-": "no-slip", "y+": "no-slip", "z-": "periodic", "z+": "periodic"},
        "initial": {"velocity": [f"18*(1-(y-1)^8)+3*sin(6*z)*sin(2*x)*{wave}", f"2*cos(4*z+x)*{wave}", f"2*sin(3*x)*sin(pi*y)*{wave}"]},
        "run": {"steps": units * steps},
        "output": {"folder": name, "forces_every": 0, "integrals_every": steps // 2},
        "output.write": [{"kind": "probes", "every_steps": steps // 25, "points": points}],
    }


def read_channel(half, units):
    """Means over the second half of the time, over columns and both halves of the channel."""

    def read(folder):
        table = columns(folder / "probes.csv")
        start = len(table["step"]) // 2
        means = []
        for n in range(half):
            sums = [0.0] * 6
            for column in range(16):
                i = 16 * n + column + 1
                u, v, w = (table[f"{c}{i} (m/s)"][start:] for c in "uvw")
                sign = 1 if column % 2 else -1
                for k, values in enumerate((u, v, w)):
                    sums[k] += sum(values) * (sign if k == 1 else 1)
                sums[3] += sum(a * a for a in u)
                sums[4] += sum(a * a for a in v)
                sums[5] += sum(a * a for a in w)
            count = 16 * (len(table["step"]) - start)
            mean = [s / count for s in sums]
            means.append([mean[0]] + [math.sqrt(max(0.0, mean[3 + k] - (mean[k] ** 2 if k == 0 else 0))) for k in range(3)])
        peak = max(range(half), key=lambda n: means[n][1])
        source = "Moser, Kim & Mansour 1999"
        bulk = sum(m[0] for m in means) / half
        found = [row("bulk velocity", bulk, CHANNEL_180["bulk"], source), row("velocity on the axis", means[-1][0], CHANNEL_180["axis"], source)]
        for k, name in ((1, "u"), (2, "v"), (3, "w")):
            found.append(row(f"greatest rms of {name}", max(m[k] for m in means), CHANNEL_180[name], source))
        found.append(row("y+ of that of u", 180 * (peak + 0.5) / half, CHANNEL_180["y"], source))
        return found, f"first cell at y+ = {90 / half:.2f}; samples over {units / 2:g} h / u_tau"

    return read


def modeled_channel(name, half, collision, les, units):
    """The same with a friction Reynolds number of 1000, between walls of cut links that follow the law of the wall; they lie 0.4 of a cell
    from the cells beside them."""
    cells = [4 * round(half * edge / 4) for edge in (2 * math.pi, 2, math.pi)]
    dx, speed = 2 / (cells[1] - 0.2), 20.0
    edges = [n * dx for n in cells]
    low = 4.1 * dx
    case = channel(name, half, collision, les, units)
    heights = [(n + 0.4) * dx for n in range(half)]
    columns_ = [((i + 0.5) * edges[0] / 4, (k + 0.5) * edges[2] / 4) for i in range(4) for k in range(4)]
    points = [[x, y if n % 2 else 2 - y, z] for y in heights for n, (x, z) in enumerate(columns_)]
    steps = round(half * speed / 0.08)
    del case["domain"]
    return case | {
        "mesh": {
            "shape": f"box:size={edges[0] + 2}x2x{edges[2] + 2}", "translate": [edges[0] / 2, 1.0, edges[2] / 2], "flow": "inside",
            "domain": [0.0, -low, 0.0, edges[0], (cells[1] + 8) * dx - low, edges[2]], "root": f"{cells[0]}x{cells[1] + 8}x{cells[2]}", "levels": 1, "periodic": "xz",
        },
        "physics": {"viscosity": 1 / 1000, "length": 1.0, "velocity": speed, "lattice_velocity": 0.08, "acceleration": [1.0, 0.0, 0.0]},
        "numerics": numerics(collision, les) | {"wall_model": "equilibrium"},
        "run": {"steps": units * steps},
        "output": {"folder": name, "forces_every": 0, "integrals_every": steps // 2},
        "output.write": [{"kind": "probes", "every_steps": steps // 25, "points": points}],
    }


def read_modeled_channel(half):
    def read(folder):
        table = columns(folder / "probes.csv")
        start = len(table["step"]) // 2
        mean = lambda n: sum(sum(table[f"u{16 * n + c + 1} (m/s)"][start:]) for c in range(16)) / 16 / (len(table["step"]) - start)
        dx = 2 / (4 * round(half / 2) - 0.2)
        means = [mean(n) for n in range(half)]
        third = max(n for n in range(half) if (n + 0.4) * dx <= 0.3)
        y = 1000 * (third + 0.4) * dx
        return [
            row("bulk velocity", sum(means) / half, CHANNEL_1000["bulk"], "Lee & Moser 2015"),
            row(f"velocity at y+ = {y:.0f}", means[third], math.log(y) / CHANNEL_1000["kappa"] + CHANNEL_1000["b"], "their law of the wall"),
        ], f"first cell at y+ = {400 * dx:.0f}"

    return read


def car(name, slant, across, seconds):
    """The Ahmed body on moving ground at 40 m/s, with so many finest cells along 1 m."""
    levels = 5
    root = across // 2 ** (levels - 1)
    box = lambda x0, x1, side, top, level: f"box:{x0},{-side},0,{x1},{side},{top},levels={level}"
    stream = {"type": "far-field", "velocity": [40.0, 0.0, 0.0]}
    return {
        "mesh": {
            "shape": f"ahmed:slant={slant}", "domain": [-4.0, -2.0, 0.0, 6.0, 2.0, 3.0], "root": 10 * root, "levels": levels, "wall-distance": 0.03,
            "refine": [box(-1.2, 0.8, 0.3, 0.42, 4), box(-1.5, 2.0, 0.5, 0.6, 3), box(-2.0, 4.0, 0.9, 1.1, 2)],
        },
        "physics": {"velocity": 40.0, "length": 1.044, "viscosity": 1.5e-5, "density": 1.2, "lattice_velocity": 0.05, "area": 0.112},
        "numerics": numerics("cumulant", "qr") | {"wall_model": "equilibrium", "allow_unstable": True},
        "boundary": {"x-": stream, "x+": "outflow", "y-": stream, "y+": stream, "z-": {"type": "velocity", "velocity": [40.0, 0.0, 0.0]}, "z+": stream},
        "run": {"seconds": seconds},
        "output": {"folder": name, "forces_every": 4, "integrals_every": 0},
    }


def fast_sphere(name, re, across, collision, les, modeled, seconds):
    case = sphere_3700(name, across, collision, les, seconds)
    more = {"wall_model": "equilibrium"} if modeled else {}
    return case | {"physics": case["physics"] | {"re": re}, "numerics": case["numerics"] | more | {"allow_unstable": True}}


def sphere_3700(name, across, collision, les, seconds):
    """A sphere of diameter 1 with so many finest cells across, in a box of 22 x 12 x 12; levels of cells in its wake."""
    levels = 4
    root = across // 2 ** (levels - 1)
    box = lambda x0, x1, side, level: f"box:{x0},{6 - side},{6 - side},{x1},{6 + side},{6 + side},levels={level}"
    return {
        "mesh": {
            "shape": "sphere:d=1", "translate": [6.0, 6.0, 6.0], "domain": [0.0] * 3 + [22.0, 12.0, 12.0], "root": 22 * root, "levels": levels, "wall-distance": 0.06,
            "refine": [box(5.3, 8.0, 0.75, 4), box(5.0, 10.0, 1.1, 3), box(4.0, 14.0, 1.8, 2)],
        },
        "physics": {"re": 3700.0, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.06, "area": math.pi / 4},
        "numerics": numerics(collision, les) | {"allow_unstable": collision == "kbc"},
        "boundary": free(3),
        "run": {"seconds": seconds},
        "output": {"folder": name, "forces_every": 4, "integrals_every": 0},
    }


def read_sphere_3700(folder):
    table = columns(folder / "forces.csv")
    sides = [settled_mean(table, name, 0.6) for name in ("C_L", "C_S") if name in table]
    found, note = read_drag(SPHERE_3700["drag"], "Rodriguez et al. 2011", 0.6)(folder)
    return found, f"{note}; mean side force {math.hypot(*sides):.4f}"


def refined_vortex(name, cells, collision):
    """Taylor and Green's vortex with cells half as large in a ball in the middle. The body of the mesh is a box around the periodic one."""
    case = taylor_green(name, cells)
    del case["domain"]
    middle = f"{math.pi!r},{math.pi!r},{math.pi!r}"
    return case | {
        "mesh": {
            "shape": "box:size=10x10x10", "translate": [math.pi] * 3, "flow": "inside", "domain": [0.0] * 3 + [2 * math.pi] * 3, "root": cells, "levels": 2,
            "periodic": "xyz", "refine": [f"sphere:{middle},r=1.5,levels=2"],
        },
        "numerics": numerics(collision, "none"),
    }


WAKE = [0.53 + 0.07 * n for n in range(36)]


def cylinder_3900(name, across, collision, les, seconds):
    """A circular cylinder of diameter 1 with so many finest cells across, through a box of 22 x 12 x 3 that is periodic along it. The first
    four probes are behind its base, the others on the axis of the wake."""
    levels = 4
    root = across // 2 ** (levels - 1)
    box = lambda x0, x1, side, level: f"box:{x0},{6 - side},0,{x1},{6 + side},3,levels={level}"
    spans = [0.4 + 0.75 * k for k in range(4)]
    points = [[6.5 + 0.6 / across, 6.0, z] for z in spans] + [[6.0 + x, 6.0, z] for x in WAKE for z in spans]
    every = round(0.2 * root / 0.06)
    # Without waves along the span the flow would stay plane.
    near = "exp(-((x-8)/2)^2-(y-6)^2)"
    waves = [f"1+0.1*sin(2*pi*z)*{near}", f"0.1*sin(4*pi*z/3)*{near}", f"0.1*sin(2*pi*y)*{near}"]
    return {
        "mesh": {
            "shape": "cylinder:d=1,h=5", "translate": [6.0, 6.0, 1.5], "domain": [0.0] * 3 + [22.0, 12.0, 3.0], "root": 22 * root, "levels": levels,
            "wall-distance": 0.06, "periodic": "z", "refine": [box(5.3, 8.5, 0.85, 4), box(5.0, 10.5, 1.2, 3), box(4.0, 15.0, 2.0, 2)],
        },
        "physics": {"re": 3900.0, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.06, "area": 3.0},
        "numerics": numerics(collision, les),
        "boundary": free(3) | {"z-": "periodic", "z+": "periodic"},
        "initial": {"velocity": waves},
        "run": {"seconds": seconds},
        "output": {"folder": name, "forces_every": 4, "integrals_every": 0},
        "output.write": [{"kind": "probes", "every_steps": every, "points": points}],
    }


def read_cylinder_3900(folder):
    """Means over the last two thirds: some 50 periods of 240 diameters of flow."""
    share = 2 / 3
    found, note = read_drag(CIRCLE_3900["drag"], "Lehmkuhl et al. 2013", share)(folder)
    forces, probes = columns(folder / "forces.csv"), columns(folder / "probes.csv")
    _, _, strouhal, cycles = sine(*last(forces, "C_L", share))
    start = int(len(probes["step"]) * (1 - share))
    mean = lambda name, n, unit: sum(sum(probes[f"{name}{4 * n + k} ({unit})"][start:]) for k in range(1, 5)) / 4 / (len(probes["step"]) - start)
    base = 2 * mean("p", 0, "Pa")
    axis = [mean("u", n, "m/s") for n in range(1, len(WAKE) + 1)]
    end = next(n for n in range(1, len(WAKE)) if axis[n - 1] < 0 <= axis[n])
    length = WAKE[end - 1] + (WAKE[end] - WAKE[end - 1]) * axis[end - 1] / (axis[end - 1] - axis[end]) - 0.5
    source = "Lehmkuhl et al. 2013"
    return found + [
        row("St", strouhal, CIRCLE_3900["strouhal"], source),
        row("pressure behind the base", base, CIRCLE_3900["base"], source),
        row("length of the bubble", length, CIRCLE_3900["bubble"], source),
        row("least velocity on the axis", min(axis), CIRCLE_3900["least"], "Parnaudeau et al. 2008"),
    ], f"{note}; {cycles} periods"


def rows():
    for cells in (64, 128, 256, 512):
        for collision, les in OPERATORS:
            name = f"vortex-1600-{cells}-{suffix(collision, les)}"
            yield name, taylor_green(name, cells) | {"numerics": numerics(collision, les)}, read_taylor_green
    for cells in (64, 128):
        for collision in ("regularized", "cumulant", "kbc"):
            name = f"vortex-1600-{cells}-ball-{collision}"
            yield name, refined_vortex(name, cells, collision), read_taylor_green
    for across in (32, 64):
        for collision, les in OPERATORS[2:4]:
            name = f"cylinder-3900-{across}-{suffix(collision, les)}"
            yield name, cylinder_3900(name, across, collision, les, 240.0), read_cylinder_3900
    for half in (32, 48):
        for collision, les in OPERATORS[:4] + OPERATORS[5:]:
            name, units = f"channel-180-{half}-{suffix(collision, les)}", 24
            yield name, channel(name, half, collision, les, units), read_channel(half, units)
    for across in (32, 64):
        for collision, les in OPERATORS[:4] + OPERATORS[5:]:
            name = f"sphere-3700-{across}-{suffix(collision, les)}"
            yield name, sphere_3700(name, across, collision, les, 120.0), read_sphere_3700
    for half in (12, 20, 40):
        for les in ("none", "qr", "smagorinsky"):
            name = f"channel-1000-{half}-{suffix('cumulant', les)}"
            yield name, modeled_channel(name, half, "cumulant", les, 48), read_modeled_channel(half)
    for across in (32, 64, 128):
        for les in ("none", "qr"):
            name = f"sphere-10000-{across}-{suffix('cumulant', les)}"
            yield name, fast_sphere(name, 1e4, across, "cumulant", les, False, 120.0), read_drag(SPHERE_10000["drag"], "Rodriguez et al. 2013", 0.6)
    # Stability: 100 diameters of a flow that 16 cells across cannot resolve.
    for collision, les, modeled in (("cumulant", "none", False), ("cumulant", "qr", False), ("cumulant", "qr", True), ("cumulant", "smagorinsky", True), ("kbc", "none", False), ("regularized", "qr", False)):
        name = f"sphere-1e6-16-{suffix(collision, les)}{'-modeled' if modeled else ''}"
        yield name, fast_sphere(name, 1e6, 16, collision, les, modeled, 100.0), read_drag(SPHERE_MILLION["drag"], "Achenbach 1972", 0.6)
    name = "sphere-1e6-32-cumulant-qr-modeled"
    yield name, fast_sphere(name, 1e6, 32, "cumulant", "qr", True, 60.0), read_drag(SPHERE_MILLION["drag"], "Achenbach 1972", 0.5)
    for across in (64, 128, 192):
        for slant in (12.5, 25, 35):
            name = f"car-{slant:g}-{across}"
            yield name, car(name, slant, across, 0.6), read_drag(AHMED[slant], "Ahmed et al. 1984", 0.5)
