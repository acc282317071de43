"""Bodies that move: circles that oscillate, in fluid at rest and in a stream, spheres that settle, an aerofoil that takes power."""

import math

from reading import at_frequency, columns, row, sine
from sources import CIRCLE_100, CIRCLE_185, DUETSCH, INLINE, KINSEY, TEN_CATE, TURNING

AXES = "xyz"


def motion(folder):
    """motion.csv by the names without units: t, and what belongs to the only body by its last word."""
    table = columns(folder / "motion.csv")
    return {name.split(" (")[0].split(" ")[-1]: values for name, values in table.items()}


def window(table, start):
    """The samples after a time."""
    first = next(i for i, t in enumerate(table["time"]) if t > start)
    return {name: values[first:] for name, values in table.items()}


def mean(values):
    return sum(values) / len(values)


def rms(values):
    """Root mean square about the mean."""
    middle = mean(values)
    return math.sqrt(mean([(v - middle) ** 2 for v in values]))


def flow(name, mesh, physics, boundary, moves, seconds, **more):
    physics = {"lattice_velocity": 0.05} | physics
    return {
        "mesh": mesh,
        "physics": {key: value for key, value in physics.items() if value is not None},
        "numerics": {"collision": "regularized"},
        "boundary": boundary,
        f"motion.{name}": moves,
        "run": {"seconds": seconds},
        "output": {"folder": name, "integrals_every": 0, "forces_every": 4},
    } | more


def faces(dims, what):
    return {a + s: what for a in AXES[:dims] for s in "-+"}


def oscillating(cells):
    """Duetsch et al. 1998: KC 5, Re 100, in fluid at rest."""
    levels = {32: 4, 64: 5}[cells]
    mesh = {
        "shape": "circle:r=0.5", "domain": [-10, -7, 10, 7], "root": 80, "levels": levels, "wall-distance": 0.1,
        "refine": ["box:-2.5,-1.5,2.5,1.5,levels=3"],
    }
    still = faces(2, {"type": "far-field", "velocity": [0, 0]})
    moves = {"translation": ["-5/(2*pi) * sin(2*pi*t/5)", 0]}
    return flow("circle", mesh, {"re": 100, "length": 1, "velocity": 1}, still, moves, 30)


def morison(period):
    """Coefficients of drag and of added mass that fit the force of the last two periods best, by least squares, and what is left."""

    def read(folder):
        table = motion(folder)
        table = window(table, table["time"][-1] - 2 * period)
        omega = 2 * math.pi / period
        # The velocity is -cos(omega t).
        drag = [-0.5 * abs(u) * u for u in table["u"]]
        mass = [-math.pi / 4 * omega * math.sin(omega * t) for t in table["time"]]
        force = table["fx"]
        dd, dm, mm = (sum(a * b for a, b in zip(*pair)) for pair in ((drag, drag), (drag, mass), (mass, mass)))
        fd, fm = (sum(a * b for a, b in zip(force, of)) for of in (drag, mass))
        det = dd * mm - dm * dm
        c_d, c_m = (fd * mm - fm * dm) / det, (fm * dd - fd * dm) / det
        left = rms([f - c_d * d - c_m * m for f, d, m in zip(force, drag, mass)])
        across = max(abs(f) for f in table["fy"])
        rows = [row("C_D", c_d, DUETSCH[0], "Dütsch et al. 1998"), row("C_M", c_m, DUETSCH[1], "Dütsch et al. 1998")]
        return rows, f"what the fit leaves {left:.3f} rms; largest force across {across:.1e}"

    return read


# A kick across the stream, after which the shedding does not wait for rounding to grow.
KICK = "0.1*exp(-0.5*t)*sin(t)"


def in_stream(re, translation, seconds):
    """A circle of 32 cells in a stream, 40 diameters between far fields."""
    mesh = {
        "shape": "circle:r=0.5", "domain": [-16, -20, 24, 20], "root": 80, "levels": 5, "wall-distance": 0.2,
        "refine": ["box:-1.5,-1.5,8,1.5,levels=3"],
    }
    far = {"type": "far-field", "velocity": [1, 0]}
    boundary = faces(2, far) | {"x+": "outflow"}
    return flow("circle", mesh, {"re": re, "length": 1, "velocity": 1}, boundary, {"translation": translation}, seconds)


# The mesh follows the vortices of the wake, in the stream and in flight alike.
WAKE = {"adapt": {"levels": 5, "by": [{"what": "vorticity", "refine": 0.03}]}}


def in_tunnel(moves, patches=None):
    """A circle of 32 cells at Re 100 in a stream, 40 diameters between far fields, in a mesh that follows the wake."""
    mesh = {"shape": "circle:r=0.5", "domain": [-16, -20, 24, 20], "root": 80, "levels": 5, "wall-distance": 0.2}
    boundary = faces(2, {"type": "far-field", "velocity": [1, 0]}) | {"x+": "outflow"}
    tables = flow("circle", mesh, {"re": 100, "length": 1, "velocity": 1}, boundary, moves, 120) | WAKE
    if patches:
        del tables["motion.circle"]
        tables |= {f"patches.{name}": table for name, table in patches.items()}
    return tables


def in_flight(moves):
    """The same circle that flies through fluid at rest, against the x axis."""
    mesh = {"shape": "circle:r=0.5", "domain": [-136, -20, 24, 20], "root": 320, "levels": 5, "wall-distance": 0.2}
    still = faces(2, {"type": "far-field", "velocity": [0, 0]})
    moves = {"refinement": "follow"} | moves
    return flow("circle", mesh, {"re": 100, "length": 1, "velocity": 1}, still, moves, 120) | WAKE


def turning(folder):
    """Mean coefficients over the last eight periods of shedding."""
    # Of the only body, by the first word.
    table = {name.split(" ")[0]: values for name, values in columns(folder / "forces.csv").items()}
    table = window(table, table["time"][-1] - 8 / 0.165)
    of = (mean(table[name]) for name in ("C_D", "C_L"))
    return [row(name, *pair, "Kang, Choi & Lee 1999") for name, *pair in zip(("C_D", "C_L"), of, TURNING)], ""


def shedding(source=None, drag=None, lift=None, strouhal=None):
    """Means over the last 12 periods of shedding, beside those of a source."""

    def read(folder):
        table = motion(folder)
        table = window(table, table["time"][-1] - 12 / 0.19)
        _, amplitude, found, _ = sine(table["time"], [2 * f for f in table["fy"]])
        rows = [
            row("C_D", 2 * mean(table["fx"]), drag, source), row("amplitude of C_L", amplitude, lift, source),
            row("St", found, strouhal, source),
        ]
        return rows, f"rms of C_L {2 * rms(table['fy']):.3f}"

    return read


def swaying(frequency):
    """The same over the last 12 periods of the motion, and the phase of lift before displacement."""

    def read(folder):
        table = motion(folder)
        table = window(table, table["time"][-1] - 12 / frequency)
        rows = [row("C_D", 2 * mean(table["fx"]), None, ""), row("rms of C_L", 2 * rms(table["fy"]), None, "")]
        omega = 2 * math.pi * frequency
        force, place = (at_frequency(table["time"], table[name], omega) for name in ("fy", "y"))
        phase = math.degrees(math.atan2((force / place).imag, (force / place).real))
        return rows, f"lift is {phase:.0f} degrees before the displacement"

    return read


def settling(case):
    """ten Cate et al. 2002, with 24 cells across the sphere, and the program's time step."""
    density, viscosity, velocity, seconds, _ = TEN_CATE[case]
    mesh = {"shape": "sphere:r=0.0075", "domain": [-0.05, -0.05, -0.1275, 0.05, 0.05, 0.0325], "root": 32, "levels": 4}
    physics = {"lattice_velocity": None, "viscosity": viscosity, "density": density, "length": 0.015, "velocity": velocity}
    moves = {"kind": "free", "density": 1120, "gravity": [0, 0, -9.81]}
    return flow("sphere", mesh, physics, faces(3, "no-slip"), moves, seconds)


def fall(case):
    def read(folder):
        fastest = max(-w for w in motion(folder)["w"])
        return [row("largest speed, m/s", fastest, TEN_CATE[case][4], "ten Cate et al. 2002")], ""

    return read


def flapping():
    """Kinsey & Dumas 2008, with 96 cells a chord."""
    mesh = {
        "shape": "naca:0015,chord=1", "domain": [-16, -20, 24, 20], "root": 60, "levels": 7, "wall-distance": 0.1,
        "refine": ["box:-1,-2.5,6,2.5,levels=4"],
    }
    moves = {
        "patches": ["*"], "center": [1 / 3, 0], "translation": [0, "cos(2*pi*0.14*t)"],
        "angle": "76.33*pi/180 * sin(2*pi*0.14*t)",
    }
    boundary = faces(2, "far-field") | {"x+": "outflow"}
    physics = {"re": 1100, "length": 1, "velocity": 1}
    return flow("foil", mesh, physics, boundary, moves, 28.6) | {"free_stream": {}}


def power(folder):
    table = motion(folder)
    table = window(table, table["time"][-1] - 1 / 0.14)
    of = mean([2 * (f * v + m * w) for f, v, m, w in zip(table["fy"], table["v"], table["mz"], table["omega"])])
    return [row("power coefficient", of, KINSEY, "Kinsey & Dumas 2008")], f"efficiency {100 * of / 2.562:.1f} %"


def rows():
    for cells in (32, 64):
        yield f"moving-oscillating-{cells}", oscillating(cells), morison(5)
    yield "moving-rest-185", in_stream(185, ["0*t", KICK], 150), shedding("Guilmineau & Queutey 2002", *CIRCLE_185)
    for share in (80, 90, 100, 110, 112, 120):
        frequency = 0.195 * share / 100
        sway = [0, f"0.2*cos(2*pi*{frequency}*t)"]
        yield f"moving-transverse-{share}", in_stream(185, sway, 150), swaying(frequency)
    sway = ["0.14*sin(2*pi*0.33*t)", KICK]
    yield "moving-inline", in_stream(100, sway, 200), shedding("several, see sources.py", *INLINE)
    from_100 = shedding("Park, Kwon & Choi 1998", *CIRCLE_100)
    yield "moving-tunnel-100", in_tunnel({"translation": ["0*t", KICK]}), from_100
    yield "moving-flight-100", in_flight({"translation": ["1 - t - exp(-t)", KICK]}), from_100
    # Turning with an angular velocity above zero, the lift is negative.
    yield "moving-turning-patch", in_tunnel({}, {"circle": {"type": "rotating", "center": [0, 0], "omega": 2}}), turning
    yield "moving-turning-body", in_tunnel({"angle": "2*t", "center": [0, 0]}), turning
    yield "moving-turning-flight", in_flight({"translation": ["1 - t - exp(-t)", "0*t"], "angle": "2*t", "center": [0, 0]}), turning
    for case in TEN_CATE:
        yield f"moving-settling-{case}", settling(case), fall(case)
    yield "moving-flapping-96", flapping(), power
