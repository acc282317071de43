"""Flows on a mesh that follows them: J25 section 5, vortices, a sphere, and the same flows on meshes that stay."""

import json
import math

from benchmarks import read_taylor_green, taylor_green
from bodies import profiles, shedding, sphere, stream
from reading import columns, row, settled_mean
from sources import CUBE_X, CUBE_Y, DIPOLE, ERTURK_X, ERTURK_Y, GHIA_X, GHIA_Y


def followed(tables, levels, every, what, refine):
    """The same case on a mesh of so many levels that is looked at every so many root steps."""
    adapt = {"levels": levels} | ({"every": every} if every else {})
    return tables | {"adapt": adapt, "adapt.by": [{"what": what, "refine": refine}]}


def with_cells(read):
    """A reader that also tells the cells of the mesh, and the share of the time that its changes took."""

    def more(folder):
        found, note = read(folder)
        summary = json.loads((folder / "summary.json").read_text())
        adapt = summary.get("adapt")
        if adapt:
            least, most = adapt["cells"]
            note += f"; {least} to {most} cells, {adapt['changes']} changes in {adapt['looks']} looks, {100 * adapt['share']:.1f} % of the time"
        return found, f"{note}; {summary['seconds']:.1f} s of steps"

    return more


def cavity(name, re, root, levels, turnovers, dims=2, lid=0.05):
    """A cavity whose walls are the faces of the box (J25 section 5.1): its finest cells are where |vorticity| exceeds 2.5 U / L. J25
    looks at it every 32 root steps."""
    ys, xs = (sorted(set(GHIA_Y + ERTURK_Y)), sorted(set(GHIA_X + ERTURK_X))) if dims == 2 else (CUBE_Y, CUBE_X)
    tail = [0.5] * (dims - 2)
    points = [[0.5, y] + tail for y in ys] + [[x, 0.5] + tail for x in xs]
    steps = int(turnovers * root / lid)
    case = {
        "domain": {"box": [0.0] * dims + [1.0] * dims, "root": root},
        "physics": {"re": float(re), "length": 1.0, "velocity": 1.0, "lattice_velocity": lid},
        "boundary": {a + s: "no-slip" for a in "xyz"[:dims] for s in "-+"} | {"y+": {"type": "velocity", "velocity": [1.0] + [0.0] * (dims - 1)}},
        "run": {"steps": steps},
        "output": {"folder": name, "forces_every": 0, "integrals_every": 0},
        "output.write": [{"kind": "probes", "every_steps": max(1, steps // 400), "points": points}],
    }
    return followed(case, levels, 32, "vorticity", 2.5 / (root << (levels - 2)))


def square(name, root, levels, adapted):
    """J25 section 5.3: a square of side 1/32, 10 sides behind the inlet, for 150 s; finest where |vorticity| exceeds 0.039 U / D."""
    d = 1 / 32
    case = {
        "mesh": {
            "shape": f"rectangle:size={d}x{d}", "translate": [10.5 / 32, 0.5 + d / 10], "domain": [0.0, 0.0, 1.0, 1.0], "root": root,
            "levels": levels, "wall-distance": d / 8,
        },
        "physics": {"re": 100.0, "length": d, "velocity": 0.05, "lattice_velocity": 0.05, "area": d},
        "numerics": {"precision": "f64"},
        "boundary": stream(2, 0.05),
        "run": {"steps": 150 * root},
        "output": {"folder": name, "forces_every": 16, "integrals_every": 0},
    }
    return followed(case, levels, 32, "vorticity", 0.039 / d / (root << (levels - 2))) if adapted else case


def dipole(name, re, root=256, levels=4):
    """Clercx & Bruneau, Comput. Fluids 35 (2006) 245: a dipole of energy 2 and enstrophy 800 that meets a wall, in a box from -1 to 1."""
    spin, at, r = 0.5 * 299.528385375226, 0.1, 0.1
    near, far = (f"exp(-((x)^2+(y{sign}{at})^2)/{r * r!r})" for sign in "-+")
    return followed({
        "domain": {"box": [-1.0, -1.0, 1.0, 1.0], "root": root},
        "physics": {"viscosity": 1 / re, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.004},
        "numerics": {"precision": "f64", "collision": "trt"},
        "boundary": {a + s: "no-slip" for a in "xy" for s in "-+"},
        "initial": {"velocity": [f"{spin!r}*((y+{at})*{far}-(y-{at})*{near})", f"{spin!r}*x*({near}-{far})"]},
        "run": {"seconds": 0.75},
        "output": {"folder": name, "forces_every": 0, "integrals_every": 32},
    }, levels, 16, "vorticity", 0.02)


def read_dipole(re):
    def read(folder):
        table = columns(folder / "integrals.csv")
        # The box has an area of 4.
        times, enstrophy = table["time"], [4 * e for e in table["enstrophy"]]
        energy = [4 * e for e in table["kinetic energy"]]
        peaks = [i for i in range(2, len(times) - 2) if enstrophy[i] == max(enstrophy[max(0, i - 40):i + 41]) and times[i] > 0.2]
        source = "Clercx & Bruneau 2006"
        found = []
        for n, (theirs, when) in enumerate(DIPOLE[re]):
            if n < len(peaks):
                found += [row(f"peak {n + 1} of the enstrophy", enstrophy[peaks[n]], theirs, source), row("its time", times[peaks[n]], when, source)]
        return found, f"at the start energy {energy[0]:.4f}, enstrophy {enstrophy[0]:.1f} (2 and 800)"

    return read


def sphere_100(name, adapted):
    """A sphere at Re 100 on 64 root cells along each edge and four finer levels, which either follow the flow or fill two boxes."""
    d = 1 / 64
    case = sphere(name, 100.0, 5, "linear")
    mesh = case["mesh"] | {"root": 64, "wall-distance": d / 4}
    case = case | {"mesh": mesh, "run": {"steps": 64 * 64}}
    if adapted:
        return followed(case, 5, None, "vorticity", 0.05)
    box = lambda before, behind, side, levels: f"box:{0.5 - before * d},{0.5 - side * d},{0.5 - side * d},{0.5 + behind * d},{0.5 + side * d},{0.5 + side * d},levels={levels}"
    mesh["refine"] = [box(1, 6, 1.2, 5), box(2, 12, 2, 4)]
    return case


def read_sphere_100(folder):
    table = columns(folder / "forces.csv")
    drag, drift = settled_mean(table, "C_D", 0.4), settled_mean(table, "C_D", 0.2)
    return [row("C_D", drag, 1.087, "Fornberg 1988, by Johnson & Patel 1999")], f"last 20 % against 40 %: {100 * (drift / drag - 1):.3f} %"


RING_RE, RING_CORE, RING_BOX = 7500, 0.2, 8.0
# Probes on the axis of the ring.
RING_PROBES = [0.4 + 0.05 * n for n in range(145)]


def ring(name, levels, uniform=None, wall=False):
    """A vortex ring of radius and circulation 1 with a Gaussian core, in a periodic box; with `wall`, one that meets a wall 3 radii away.
    Finest cells are where |vorticity| exceeds 0.1, some 1 % of that of the core."""
    root = uniform or 64
    cells = [root * 5 // 8 if wall else root, root, root]
    middle = RING_BOX / 2
    boundary = {a + side: "periodic" for a in "xyz" for side in "-+"}
    if wall:
        boundary |= {"x-": "free-slip", "x+": "no-slip"}
    outputs = [{"kind": "probes", "every_steps": root // 16, "points": [[x, middle, middle] for x in RING_PROBES]}]
    if wall:
        camera = {"from": [-5.2, middle - 6.6, middle + 4.6], "at": [4.0, middle, middle], "angle": 26.0}
        outputs = [{"kind": "render", "every_seconds": 2.0, "camera": camera, "domain": True, "isosurface": {"field": "q", "value": 0.2, "colour": "velocity"}}]
    case = {
        "domain": {"box": [0.0] * 3 + [RING_BOX * n / root for n in cells], "root": "x".join(map(str, cells))},
        "physics": {"re": float(RING_RE), "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.1},
        "numerics": {"lattice": "d3q27", "collision": "cumulant"},
        "boundary": boundary,
        "initial": {"preset": "vortex-ring", "center": [2.0, middle, middle], "radius": 1.0, "core": RING_CORE},
        "run": {"seconds": 24.0 if wall else 8.0},
        "output": {"folder": name, "forces_every": 0, "integrals_every": root // 2},
        "output.write": outputs,
    }
    return case if uniform else followed(case, levels, 4, "vorticity", 0.1 * RING_BOX / (root << (levels - 2)))


# What the box adds to the velocity at the ring, on its way from 2.5 to 3.9: the start is the field of a ring in unbounded fluid, cut off at the
# faces of a periodic box, and its solenoidal part (by Fourier transform on 128³ points) differs from it by so much.
RING_BOX_ADDS = -0.0011


def ring_speed(time):
    """Saffman 1970, and the same with the next term of Fukumoto & Kaplanski 2008."""
    viscous = time / RING_RE + RING_CORE**2 / 4
    thin = (math.log(4 / math.sqrt(viscous)) - 0.558) / (4 * math.pi)
    return thin + RING_BOX_ADDS, thin - 3.672 * viscous / (4 * math.pi) + RING_BOX_ADDS


def read_ring(folder):
    """The ring is where the velocity on its axis is largest, by a parabola through the points within 0.3 of there."""
    table = columns(folder / "probes.csv")
    heights = RING_PROBES
    places = []
    for n in range(len(table["step"])):
        u = [table[f"u{i + 1} (m/s)"][n] for i in range(len(heights))]
        top = max(range(len(u)), key=u.__getitem__)
        near = range(max(0, top - 6), min(len(u), top + 7))
        # Least squares for u = c0 + c1 s + c2 s² with points on both sides of s = 0 alike.
        s = [heights[i] - heights[top] for i in near]
        s2, s4 = sum(a * a for a in s), sum(a**4 for a in s)
        m0, m1, m2 = sum(u[i] for i in near), sum(a * u[i] for a, i in zip(s, near)), sum(a * a * u[i] for a, i in zip(s, near))
        slope, bend = m1 / s2, (len(s) * m2 - s2 * m0) / (len(s) * s4 - s2 * s2)
        places.append((table["time (s)"][n], heights[top] - slope / (2 * bend)))
    # Sound of the start moves the ring to and fro: the slope of a straight line, once the core has settled.
    places = [(t, x) for t, x in places if t >= 2.0]
    middle, mean = (sum(p[k] for p in places) / len(places) for k in (0, 1))
    speed = sum((t - middle) * (x - mean) for t, x in places) / sum((t - middle) ** 2 for t, _ in places)
    off = math.sqrt(sum((x - mean - speed * (t - middle)) ** 2 for t, x in places) / len(places))
    thin, thick = ring_speed(middle)
    note = f"from {places[0][1]:.3f} to {places[-1][1]:.3f}, {off:.4f} off a straight line"
    return [row("speed", speed, thin, "Saffman 1970"), row("speed", speed, thick, "Fukumoto & Kaplanski 2008")], note


def read_ring_at_wall(folder):
    table = columns(folder / "integrals.csv")
    energy, enstrophy = table["kinetic energy"], table["enstrophy"]
    most = max(range(len(enstrophy)), key=enstrophy.__getitem__)
    return [], f"energy from {energy[0]:.3e} to {energy[-1]:.3e}; the enstrophy is largest, {enstrophy[most] / enstrophy[0]:.2f} of the first, at {table['time'][most]:.2f} s"


def rows():
    """Name, tables of the case, and what to read from its folder."""
    for re, root, levels, turnovers in ((1000, 128, 4, 50), (3200, 64, 4, 200), (5000, 64, 4, 300), (10000, 128, 4, 500)):
        name = f"cavity-adapt-{re}"
        case = cavity(name, re, root, levels, turnovers)
        yield name, case, with_cells(profiles(re, 2, case))
    case = cavity("cube-adapt-1000", 1000, 32, 4, 100, dims=3, lid=0.1)
    yield "cube-adapt-1000", case, with_cells(profiles(1000, 3, case))
    for kind, root, most in (("a", 256, (2, 3, 4)), ("b", 512, (2, 3)), ("c", 1024, (2,))):
        for levels in most:
            name = f"square-adapt-{kind}{levels}"
            yield name, square(name, root, levels, True), with_cells(shedding("j25", levels, "linear", 1 / 32))
    for cells in (512, 1024, 2048):
        name = f"square-uniform-{cells}"
        yield name, square(name, cells, 1, False), with_cells(shedding("j25", 1, "linear", 1 / 32))
    name = "taylor-green-adapt-1600"
    yield name, followed(taylor_green(name, 64), 3, None, "strain", 0.1), with_cells(read_taylor_green)
    for re in DIPOLE:
        name = f"dipole-adapt-{re}"
        yield name, dipole(name, re), with_cells(read_dipole(re))
    for name, adapted in (("sphere-100-adapt", True), ("sphere-100-static", False)):
        yield name, sphere_100(name, adapted), with_cells(read_sphere_100)
    for levels in (3, 4):
        name = f"ring-adapt-{64 << (levels - 1)}"
        yield name, ring(name, levels), with_cells(read_ring)
    for cells in (256, 512):
        name = f"ring-uniform-{cells}"
        yield name, ring(name, 1, uniform=cells), with_cells(read_ring)
    yield "ring-wall", ring("ring-wall", 4, wall=True), with_cells(read_ring_at_wall)
