"""Two-phase flow: drops at rest and that oscillate, waves, bubbles, dam breaks, water that falls and that rests, on uniform meshes and on
meshes that follow the interface."""

import cmath
import math

from reading import columns, interpolate, row, sine
from sources import DAM_FRONT, DAM_HEIGHT, HYSING_1, HYSING_2, KOSHIZUKA_FRONT, POPINET_DROP, POPINET_WAVE

WATER = {"liquid": {"density": 1000, "viscosity": 1e-3}, "gas": {"density": 1.2, "viscosity": 1.8e-5}}


def flow(name, box, cells, adaptive, phases, liquid, seconds, dt, levels=3, refine=None, **more):
    """So many finest cells along each axis; the mesh is uniform, or has levels that follow the interface."""
    dims = len(cells)
    coarse = 2 ** (levels - 1) if adaptive or refine else 1
    domain = {"box": box, "root": "x".join(str(n // coarse) for n in cells)}
    if any(n % (4 * coarse) for n in cells):
        raise ValueError(f"{name}: {cells} are no blocks of 4 root cells")
    tables = {"solver": {"kind": "two-phase"}, "domain": domain, "phases": phases}
    if adaptive:
        tables["adapt"] = {"levels": levels}
    if refine:
        tables["domain"]["levels"] = levels
        tables["refine"] = [{"box": refine}]
    tables |= {"liquid": liquid} if liquid else {}
    tables["boundary"] = {a + s: "free-slip" for a in "xyz"[:dims] for s in "-+"} | more.pop("boundary", {})
    tables["numerics"] = {"dt": dt} | more.pop("numerics", {})
    tables["run"] = {"seconds": seconds}
    tables["output"] = {"folder": name, "integrals_every": 1}
    return tables | more


def both(name, make, read):
    """A row on a uniform mesh, and one on a mesh that follows the interface."""
    return [(f"two-phase-{name}", make(False), read), (f"two-phase-{name}-adaptive", make(True), read)]


def phases(folder):
    return short(folder / "phases.csv")


def short(path):
    """A history by the names of its columns without units."""
    return {name.split(" (")[0]: values for name, values in columns(path).items()}


def drift(table):
    volume = table["liquid volume"]
    return f"volume {volume[-1] / volume[0] - 1:+.0e}"


# --- drops at rest -------------------------------------------------------------------------------------------------------------------


def resting(cells, laplace, ratio, seconds):
    """A disc of diameter 0.4 in a box of 1, at rest, whose curvature is from heights: Popinet 2009."""
    viscosity = math.sqrt(ratio * 0.4 / laplace)

    def make(adaptive):
        fluids = {"liquid": {"density": ratio, "viscosity": viscosity}, "gas": {"density": 1, "viscosity": viscosity / math.sqrt(ratio)}}
        ball = [{"ball": [0.5, 0.5, 0.2]}]
        probes = [{"kind": "probes", "every_steps": 1, "points": [[0.5, 0.5], [0.1, 0.1]]}]
        more = {"interface": {"surface_tension": 1}, "output.write": probes}
        if laplace == 120:
            # What is left of the pressure moves the fluid at 1e-9.
            more["numerics"] = {"tolerance": 1e-12}
        return flow("drop", [0, 0, 1, 1], [cells] * 2, adaptive, fluids, ball, seconds, seconds / 20, **more)

    return make


def at_rest(bar, ratio):
    def read(folder):
        table, probes = phases(folder), short(folder / "probes.csv")
        speed = table["largest velocity"][-1] * math.sqrt(ratio * 0.4)
        jump = probes["p1"][-1] - probes["p2"][-1]
        found = [row("largest velocity √(ρD/σ) at the end", speed, bar, "stand-alone program"), row("pressure jump R/σ", jump * 0.2, 1, "Laplace")]
        return found, drift(table)

    return read


# --- capillary waves -----------------------------------------------------------------------------------------------------------------

WAVE = {"viscosity": 1 / math.sqrt(3000), "omega": 11.1366559936634, "height": 0.01}


def faddeeva(z, n=40):
    """exp(-z²) erfc(-iz) in the upper half plane, by Weideman's series (1994)."""
    m = 2 * n
    scale = math.sqrt(n / math.sqrt(2))
    theta = [k * math.pi / m for k in range(-m + 1, m)]
    t = [scale * math.tan(th / 2) for th in theta]
    f = [math.exp(-x * x) * (scale * scale + x * x) for x in t]
    zed = (scale + 1j * z) / (scale - 1j * z)
    total = 0
    for k in range(n, 0, -1):
        a = sum(fx * math.cos(k * th) for fx, th in zip(f, theta)) / (2 * m)
        total = total * zed + a
    return 2 * total / (scale - 1j * z) ** 2 + 1 / math.sqrt(math.pi) / (scale - 1j * z)


def erfc_times_exp(z):
    """exp(z²) erfc(z)."""
    return faddeeva(1j * z) if z.real >= 0 else 2 * cmath.exp(z * z) - faddeeva(-1j * z)


def prosperetti(time):
    """The height of a capillary wave of length 1 between fluids of the same density and viscosity, over that at the start (Prosperetti 1981,
    eq. 22): surface tension, densities and length are 1."""
    k, nu, omega = 2 * math.pi, WAVE["viscosity"], WAVE["omega"]
    rate, beta = nu * k * k, 0.25
    # z⁴ - 4β √r z³ + 2 (1 - 6β) r z² + 4 (1 - 3β) r^1.5 z + (1 - 4β) r² + ω² = 0
    poly = [1, -4 * beta * math.sqrt(rate), 2 * (1 - 6 * beta) * rate, 4 * (1 - 3 * beta) * rate**1.5, (1 - 4 * beta) * rate**2 + omega**2]
    roots = durand_kerner(poly)
    height = 0
    for i, z in enumerate(roots):
        others = 1
        for j, other in enumerate(roots):
            others *= other - z if j != i else 1
        height += z / others * omega**2 / (z * z - rate) * cmath.exp(-rate * time) * erfc_times_exp(z * math.sqrt(time))
    return height.real


def durand_kerner(poly):
    """The roots of a polynomial."""
    value = lambda z: sum(c * z ** (len(poly) - 1 - i) for i, c in enumerate(poly))
    size = max(abs(c) ** (1 / i) for i, c in enumerate(poly) if i > 0 and c)
    roots = [size * (0.4 + 0.9j) ** i for i in range(len(poly) - 1)]
    for _ in range(500):
        for i, z in enumerate(roots):
            others = 1
            for j, other in enumerate(roots):
                others *= z - other if j != i else 1
            roots[i] = z - value(z) / others
    return roots


def capillary(cells, height=WAVE["height"]):
    def make(adaptive):
        same = {"density": 1, "viscosity": WAVE["viscosity"]}
        fluids = {"liquid": same, "gas": same}
        wave = [{"level": f"{height}*cos(2*pi*x)"}]
        gauge = [{"name": "crest", "at": [0.25 / cells, 0], "axis": "y+"}]
        more = {"interface": {"surface_tension": 1}, "gauge": gauge}
        return flow("wave", [0, -1, 1, 1], [cells, 2 * cells], adaptive, fluids, wave, 2.2426211256, 0.00304290519077, **more)

    return make


def wave_error(cells, height=WAVE["height"]):
    def read(folder):
        table = short(folder / "gauges.csv")
        # The length of liquid at the crest is the mean over a cell that begins there.
        mean = math.sin(2 * math.pi / cells) / (2 * math.pi / cells)
        ours = [(length - 1) / mean / height for length in table["crest length"]]
        errors = [a - (prosperetti(t) if t > 0 else 1) for a, t in zip(ours, table["time"])]
        error = math.sqrt(sum(e * e for e in errors) / len(errors))
        return [row("rms error over the wave's height", error, POPINET_WAVE[cells], "Popinet 2009")], ""

    return read


# --- drops that oscillate ------------------------------------------------------------------------------------------------------------


def polyline(n=2000):
    """A circle of radius 0.1 that is 5 % longer along x."""
    radius = lambda t: 0.1 * (1 + 0.05 * math.cos(2 * t))
    angles = [2 * math.pi * i / n for i in range(n)]
    return "".join(f"{radius(t) * math.cos(t):.12f} {radius(t) * math.sin(t):.12f}\n" for t in angles)


def spheroid(n=96):
    """A ball of radius 0.1 with 5 % of the second Legendre polynomial, as facets."""
    radius = lambda c: 0.1 * (1 + 0.05 * (1.5 * c * c - 0.5))

    def point(i, j):
        t, p = math.pi * i / n, math.pi * (j % (2 * n)) / n
        r = radius(math.cos(t))
        # Rounded, so that the poles are one point each.
        return [round(x, 12) + 0.0 for x in (r * math.sin(t) * math.cos(p), r * math.sin(t) * math.sin(p), r * math.cos(t))]

    facets = []
    for i in range(n):
        for j in range(2 * n):
            a, b, c, d = point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)
            facets += [[a, b, c]] if i < n - 1 else []
            facets += [[a, c, d]] if i > 0 else []
    text = "".join("facet normal 0 0 0\nouter loop\n" + "".join("vertex {:.12f} {:.12f} {:.12f}\n".format(*p) for p in f) + "endloop\nendfacet\n" for f in facets)
    return "solid drop\n" + text + "endsolid drop\n"


def oscillating(dims, cells, seconds, viscosity=0):
    def make(adaptive):
        thick = lambda mu: {"viscosity": mu} if viscosity else {}
        fluids = {"liquid": {"density": 1} | thick(viscosity), "gas": {"density": 1e-3} | thick(viscosity / 50)}
        file, text = ("drop.dat", polyline()) if dims == 2 else ("drop.stl", spheroid())
        more = {"interface": {"surface_tension": 1}, "files": {file: text}}
        box = [-0.5] * dims + [0.5] * dims
        return flow("drop", box, [cells] * dims, adaptive, fluids, [{"file": file}], seconds, seconds / 500, **more)

    return make


def swings(dims, bar, source="Popinet 2009"):
    """Lamb 1932: the frequency of the second mode. The kinetic energy has twice that frequency. Of a ball the energy falls at twice
    5 ν / R²."""
    exact = math.sqrt(6 / (1.001 * 1e-3)) if dims == 2 else math.sqrt(24 / (3.002 * 1e-3))

    def read(folder):
        table = phases(folder)
        _, _, frequency, periods = sine(table["time"], table["kinetic energy"])
        energy = table["kinetic energy"]
        tops = [i for i in range(1, len(energy) - 1) if energy[i] >= max(energy[i - 1], energy[i + 1]) and energy[i] > 0.3 * max(energy)]
        first, last = tops[0], tops[-1]
        damping = -math.log(energy[last] / energy[first]) / (table["time"][last] - table["time"][first])
        found = [row("frequency", frequency * math.pi / exact, 1, "Lamb 1932"), row("rate that the energy falls by, 1/s", damping, bar, source if bar else "")]
        return found, f"{periods} swings of the energy; {drift(table)}"

    return read


# --- bubbles that rise ---------------------------------------------------------------------------------------------------------------


def rising(cells, light, surface_tension):
    def make(adaptive):
        fluids = {"liquid": light, "gas": {"density": 1000, "viscosity": 10}}
        more = {"interface": {"surface_tension": surface_tension}, "gravity": {"acceleration": [0, -0.98]}}
        more["boundary"] = {"y-": "no-slip", "y+": "no-slip"}
        return flow("bubble", [0, 0, 1, 2], [cells, 2 * cells], adaptive, fluids, [{"ball": [0.5, 0.5, 0.25]}], 3, 0.01, **more)

    return make


def top(times, values, after=0.0):
    """The first largest value after a time, by a parabola through its neighbours."""
    i = next(i for i in range(1, len(values) - 1) if times[i] > after and values[i - 1] < values[i] >= values[i + 1])
    a, b, c = values[i - 1 : i + 2]
    shift = 0.5 * (a - c) / (a - 2 * b + c)
    return times[i] + shift * (times[i + 1] - times[i]), b - 0.25 * (a - c) * shift


def circularity(table):
    return [2 * math.sqrt(math.pi * v) / a for v, a in zip(table["liquid volume"], table["interface area"])]


def bubble_1(folder):
    table = phases(folder)
    time, speed = top(table["time"], table["liquid velocity y"])
    shapes = circularity(table)
    least = shapes.index(min(shapes))
    low = top(table["time"][least - 1 :], [-c for c in shapes[least - 1 :]])
    found = [
        row("least circularity", -low[1], HYSING_1["circularity"][1], "Hysing et al. 2009"),
        row("at, s", low[0], HYSING_1["circularity"][0], "Hysing et al. 2009"),
        row("largest velocity, m/s", speed, HYSING_1["velocity"][1], "Hysing et al. 2009"),
        row("at, s", time, HYSING_1["velocity"][0], "Hysing et al. 2009"),
        row("centre at 3 s, m", table["liquid centre y"][-1], HYSING_1["centre"], "Hysing et al. 2009"),
    ]
    return found, drift(table)


def bubble_2(folder):
    table = phases(folder)
    first = top(table["time"], table["liquid velocity y"])
    second = top(table["time"], table["liquid velocity y"], 1.5)
    round_at = lambda t: interpolate(table["time"], circularity(table), t)
    found = [
        row("first largest velocity, m/s", first[1], HYSING_2["first"][1], "Hysing et al. 2009"),
        row("at, s", first[0], HYSING_2["first"][0], "Hysing et al. 2009"),
        row("second largest velocity, m/s", second[1], HYSING_2["second"][1], "Hysing et al. 2009"),
        row("circularity at 2 s", round_at(2), HYSING_2["circularity"][0], "Hysing et al. 2009"),
        row("circularity at 3 s", round_at(3), HYSING_2["circularity"][1], "Hysing et al. 2009", HYSING_2["after"]),
        row("centre at 3 s, m", table["liquid centre y"][-1], HYSING_2["centre"], "Hysing et al. 2009"),
    ]
    return found, drift(table)


# --- dam breaks ----------------------------------------------------------------------------------------------------------------------

COLUMN = 0.05715


def dam(cells):
    """A column of water of 2.25 inches, twice as high, whose width has so many cells."""

    def make(adaptive):
        gauge = [{"name": "wall", "at": [1e-6, 0]}]
        more = {"gravity": {"acceleration": [0, -9.81]}, "interface": {"surface_tension": 0.072}, "gauge": gauge, "boundary": {"y+": "pressure"}}
        water = [{"box": [0, 0, COLUMN, 2 * COLUMN]}]
        return flow("dam", [0, 0, 5 * COLUMN, 2.5 * COLUMN], [5 * cells, 5 * cells // 2], adaptive, WATER, water, 0.18, 0.002, **more)

    return make


def front(folder):
    table, gauge = phases(folder), short(folder / "gauges.csv")
    found = []
    per_time = math.sqrt(2 * 9.81 / COLUMN)
    at = [(t * per_time, x / COLUMN) for t, x in zip(table["time"], table["liquid upper x"])]
    for time, place in DAM_FRONT:
        ours = interpolate([a for a, _ in at], [b for _, b in at], time)
        # Of both experiments, as far as both go, widened by 5 %.
        other = interpolate(*zip(*KOSHIZUKA_FRONT), time) if time < KOSHIZUKA_FRONT[-1][0] else place
        band = (round(0.95 * min(place, other), 2), round(1.05 * max(place, other), 2))
        found.append(row(f"front over the width at t √(2g/a) = {time}", ours, place, "Martin & Moyce 1952", band))
    for time, height in DAM_HEIGHT:
        ours = interpolate(gauge["time"], gauge["wall length"], time / math.sqrt(9.81 / COLUMN))
        found.append(row(f"height over the first at t √(g/a) = {time}", ours / (2 * COLUMN), height, "Martin & Moyce 1952"))
    # The speed between the first and the last place, which a late start does not change.
    (t1, z1), (t2, z2) = DAM_FRONT[0], DAM_FRONT[-1]
    places, times = [b for _, b in at], [a for a, _ in at]
    lead = interpolate(times, places, t2) - interpolate(times, places, t1)
    found.append(row("way of the front between", lead, z2 - z1, "Martin & Moyce 1952"))
    return found, drift(table)


LINES = [round(0.02 + 0.04 * i, 3) for i in range(25)]


def y25_plane(cells, adaptive):
    """Benchmark I of the paper: a dam breaks in a box of 1 m. The column is not printed; here 0.25 m by 0.5 m."""
    fluids = {"liquid": {"density": 1000, "viscosity": 1e-3}, "gas": {"density": 1, "viscosity": 1.48e-5}}
    gauges = [{"name": f"{x:g}", "at": [x + 1e-6, 0]} for x in LINES]
    more = {"gravity": {"acceleration": [0, -9.81]}, "gauge": gauges, "boundary": {"y+": "pressure"}}
    return flow("dam", [0, 0, 1, 1], [cells] * 2, adaptive, fluids, [{"box": [0, 0, 0.25, 0.5]}], 1.1, 0.01, levels=2, **more)


def y25_obstacle(width, adaptive):
    """Benchmark II: a dam breaks before an obstacle. Cells of 4.5 or 2.25 mm; the box is a cell longer than the paper's, for whole blocks."""
    fluids = {"liquid": {"density": 1000, "viscosity": 1e-3}, "gas": {"density": 1, "viscosity": 1.48e-5}}
    cells = [round(x / width) for x in (0.594, 0.144, 0.432)]
    gauges = [{"name": f"{x:g}", "at": [x + 1e-6, 0.072001, 0]} for x in LINES if x < 0.594]
    body = [{"box": [0.2925, -1, -1, 0.3150, 1, 0.0495]}]
    more = {"gravity": {"acceleration": [0, 0, -9.81]}, "gauge": gauges, "body": body, "boundary": {"z+": "pressure"}}
    water = [{"box": [0, -1, -1, 0.1485, 1, 0.2925]}]
    return flow("dam", [0, 0, 0, 0.594, 0.144, 0.432], cells, adaptive, fluids, water, 0.2, 0.005, levels=2, **more)


def beside(fine, height, printed):
    """Lengths of liquid on the lines of gauges against those of a finer run of the table, over the height of the box."""

    def read(folder):
        ours, theirs = (short(at / "gauges.csv") for at in (folder, folder.parent / fine))
        names = [name for name in ours if name.endswith(" length")]
        apart = [abs(ours[name][-1] - theirs[name][-1]) / height for name in names]
        share = 1 - phases(folder)["liquid volume"][-1] / phases(folder)["liquid volume"][0]
        rms = math.sqrt(sum(a * a for a in apart) / len(apart))
        found = [row(f"largest difference of heights from {fine}, of the box", max(apart), printed, "[Y25]"), row("the same, rms", rms, None, "")]
        return found, f"volume {-share:+.0e}"

    return read


def kept(folder):
    table = phases(folder)
    return [row("front, m", table["liquid upper x"][-1], None, "")], drift(table)


# --- falling, resting, turning -------------------------------------------------------------------------------------------------------


def falling(cells):
    """A drop of 16 cells and more, 1000 : 1, without surface tension and viscosity, falls by two diameters."""

    def make(adaptive):
        fluids = {"liquid": {"density": 1000}, "gas": {"density": 1}}
        more = {"gravity": {"acceleration": [0, -1]}}
        return flow("drop", [0, 0, 1, 1], [cells] * 2, adaptive, fluids, [{"ball": [0.5, 0.75, 1 / 12]}], 0.8, 0.004, **more)

    return make


def fallen(folder):
    table = phases(folder)
    way = table["liquid centre y"][0] - table["liquid centre y"][-1]
    speed = -table["liquid velocity y"][-1]
    # A cylinder in potential flow: the gas moves as heavy a mass as it displaces.
    pull = 999 / 1001
    wide = [(table[f"liquid upper {a}"][-1] - table[f"liquid lower {a}"][-1]) * 6 for a in "xy"]
    found = [
        row("fallen, m", way, 0.32 * pull, "potential flow"), row("speed, m/s", speed, 0.8 * pull, "potential flow"),
        row("largest velocity over the drop's", table["largest velocity"][-1] / speed, 1, "potential flow"),
        row("width over that at the start", wide[0], 1, ""), row("height over that at the start", wide[1], 1, ""),
    ]
    return found, drift(table)


def tilted(adaptive):
    """Half a pipe of water, tilted by 20 degrees, at rest for ten seconds: its largest velocity."""
    angle = math.radians(20)
    down = [round(9.81 * math.sin(angle), 9), 0, round(-9.81 * math.cos(angle), 9)]
    more = {"gravity": {"acceleration": down}}
    more["body"] = [{"shape": "cylinder:r=0.4,h=0.9", "flow": "inside"}]
    level = [{"half_space": [-down[0] / 9.81, 0, -down[2] / 9.81, 0.0]}]
    return flow("tank", [-0.5] * 3 + [0.5] * 3, [64] * 3, adaptive, WATER, level, 10, 0.05, **more)


def still(folder):
    table = phases(folder)
    speed = max(table["largest velocity"]) / math.sqrt(9.81)
    return [row("largest velocity over √(gL)", speed, 1e-6, "at rest")], drift(table)


def vortices(cells, refine):
    """Taylor's and Green's vortices in 2D without viscosity, for ten turns; with a box of finer cells among coarse ones."""
    fluid = {"density": 1}
    start = {"velocity": ["sin(2*pi*x)*cos(2*pi*y)", "-cos(2*pi*x)*sin(2*pi*y)"]}
    fluids = {"liquid": fluid, "gas": fluid}
    return flow("vortices", [0, 0, 1, 1], [cells] * 2, False, fluids, [], 10, 0.05, levels=2, refine=refine, initial=start)


def losing(folder):
    energy = phases(folder)["kinetic energy"]
    gain = max(b / a - 1 for a, b in zip(energy[1:], energy[2:]))
    return [row("energy at the end over that at the start", energy[-1] / energy[0], 1, "no viscosity")], f"largest gain in a step of the run {gain:.1e}"


def rows():
    found = []
    for laplace, ratio, seconds, bar in POPINET_DROP:
        name = f"drop-{laplace}" + (f"-{ratio}" if ratio > 1 else "")
        found += both(name, resting(64, laplace, ratio, seconds), at_rest(bar, ratio))
    for cells in POPINET_WAVE:
        found.append((f"two-phase-wave-{cells}", capillary(cells)(False), wave_error(cells)))
    # Half the height: the error grows with it.
    found.append(("two-phase-wave-64-half", capillary(64, 0.005)(False), wave_error(64, 0.005)))
    found.append(("two-phase-wave-64-adaptive", capillary(64)(True), wave_error(64)))
    found += both("oscillating-128", oscillating(2, 128, 1), swings(2, 0.23))
    found += both("oscillating-256", oscillating(2, 256, 1), swings(2, None))
    found.append(("two-phase-ball-128-adaptive", oscillating(3, 128, 0.36, 0.01)(True), swings(3, 10, "Lamb 1932")))
    for cells in (128, 256):
        found += both(f"hysing-1-{cells}", rising(cells, {"density": 100, "viscosity": 1}, 24.5), bubble_1)
        found += both(f"hysing-2-{cells}", rising(cells, {"density": 1, "viscosity": 0.1}, 1.96), bubble_2)
    for cells in (32, 64):
        found += both(f"dam-{cells}", dam(cells), front)
    found += [
        ("two-phase-y25-1-200", y25_plane(200, False), kept),
        ("two-phase-y25-1-100", y25_plane(100, False), beside("two-phase-y25-1-200", 1, None)),
        ("two-phase-y25-1-200-adaptive", y25_plane(200, True), beside("two-phase-y25-1-200", 1, 0.0137)),
        ("two-phase-y25-2-fine", y25_obstacle(0.00225, False), kept),
        ("two-phase-y25-2-coarse", y25_obstacle(0.0045, False), beside("two-phase-y25-2-fine", 0.432, None)),
        ("two-phase-y25-2-adaptive", y25_obstacle(0.00225, True), beside("two-phase-y25-2-fine", 0.432, 0.006)),
    ]
    found += both("falling-96", falling(96), fallen)
    found += both("falling-192", falling(192), fallen)
    found.append(("two-phase-tank", tilted(True), still))
    found.append(("two-phase-vortices-64", vortices(64, None), losing))
    found.append(("two-phase-vortices-levels", vortices(64, [0.2, 0.3, 0.6, 0.7]), losing))
    return found
