"""Flows whose conditions vary in space or time, and others of the literature."""

import math

from bodies import free
from reading import at_frequency, columns, interpolate, last, row, settled_mean, sine
from sources import TUREK_2D_1, TUREK_2D_2, TUREK_3D_1Z, VORTEX_ENERGY, VORTEX_PEAK


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
    """Complex amplitude over a / omega, between plates at -1 and 1 (Womersley 1955, in 2D)."""
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
            found.append(row(f"amplitude at y = {point[1]:.3f}", abs(ours), abs(exact), "Womersley 1955, in 2D"))
            phase = [math.degrees(math.atan2(z.imag, z.real)) for z in (ours, exact)]
            found.append(row(f"phase at y = {point[1]:.3f}, degrees", *phase, "Womersley 1955, in 2D"))
        return found, "the last period"

    return read


def taylor_green(name, cells, seconds=20.0):
    return {
        "domain": {"box": [0.0] * 3 + [2 * math.pi] * 3, "root": cells},
        "physics": {"re": 1600.0, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.1},
        "numerics": {"lattice": "d3q27"},
        "boundary": {a + s: "periodic" for a in "xyz" for s in "-+"},
        "initial": {"preset": "taylor-green"},
        "run": {"seconds": seconds},
        # A line each 0.16 s.
        "output": {"folder": name, "forces_every": 0, "integrals_every": cells // 4},
    }


def read_taylor_green(folder):
    table = columns(folder / "integrals.csv")
    times, energy = table["time"], table["kinetic energy"]
    at = lambda t: interpolate(times, energy, t)
    rates = [(-(energy[i + 1] - energy[i - 1]) / (times[i + 1] - times[i - 1]), times[i]) for i in range(1, len(times) - 1)]
    peak, when = max(rates)
    source = "spectral run, 512^3"
    found = [row(f"E({t:g})", at(t), e, source) for t, e in VORTEX_ENERGY.items() if t <= times[-1]]
    if times[-1] > 10:
        found += [row("greatest -dE/dt", peak, VORTEX_PEAK[0], source), row("its time", when, VORTEX_PEAK[1], source)]
    return found, f"{len(times)} samples; E({times[0]:.3f}) = {energy[0]:.5f}"


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
    # The torque's error is of the order of the Mach number squared: see docs/validation-log.md.
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


def rows():
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
