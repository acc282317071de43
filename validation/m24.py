"""The flows of Mahmoud, Salehipour & Meneghin 2024 (M24): a sphere on three levels, and a body as long as their aircraft."""

import math

from bodies import free
from reading import read_drag
from sources import SPHERE_8000


def box(x, y, z, level):
    # A box meets blocks that it touches.
    return f"box:{x[0] + 0.01},{y[0] + 0.01},{z[0] + 0.01},{x[1] - 0.01},{y[1] - 0.01},{z[1] - 0.01},levels={level}"


BOXES = [box((2, 11), (1, 10), (4, 13), 2), box((3.5, 9.5), (3.5, 8.5), (6, 11), 3)]


def sphere(name, times, seconds, collision="cumulant"):
    """Their sphere of radius 1 with 16, 32 or 48 finest cells along it, and two boxes of cells around: theirs have 9 radii along each
    edge, and 6 x 5 x 5, which the numbers of cells in their table 1 ask for."""
    return {
        "mesh": {
            "shape": "sphere:r=1", "translate": [5.0, 6.0, 8.5], "domain": [0.0, 0.0, 0.0, 17.0, 12.0, 17.0], "root": f"{68 * times}x{48 * times}x{68 * times}",
            "levels": 3, "wall-distance": 0.05, "refine": BOXES,
        },
        "physics": {"re": 4000.0, "length": 1.0, "velocity": 1.0, "lattice_velocity": 0.05, "area": math.pi},
        "numerics": {"lattice": "d3q27", "collision": collision, "allow_unstable": True},
        "boundary": free(3),
        "run": {"seconds": seconds},
        "output": {"folder": name, "forces_every": 4, "integrals_every": 0},
    }


def ellipsoid(middle, radii, lean=0.0, along=2, across=1):
    """Triangles of an ellipsoid, leaning back by so much a metre from its middle: a fuselage, a wing, a fin."""
    rings, sides = 48, 64
    def point(i, j):
        polar, turn = math.pi * i / rings, 2 * math.pi * j / sides
        # Poles at the tips, so that these are fine.
        unit = [0.0, 0.0, 0.0]
        unit[across], unit[along], unit[3 - across - along] = math.cos(polar), math.sin(polar) * math.cos(turn), math.sin(polar) * math.sin(turn)
        at = [m + r * u for m, r, u in zip(middle, radii, unit)]
        at[0] += lean * abs(radii[across] * unit[across])
        return at
    for i in range(rings):
        for j in range(sides):
            a, b, c, d = point(i, j), point(i + 1, j), point(i + 1, j + 1), point(i, j + 1)
            if i > 0:
                yield a, b, d
            if i + 1 < rings:
                yield b, c, d


def aircraft_stl():
    """An airliner of ellipsoids, 30 m long and 26 m wide, along x."""
    parts = [
        ellipsoid((0.0, 0.0, 0.0), (15.0, 1.5, 1.5), across=0),
        ellipsoid((-2.0, 0.0, -0.5), (2.2, 13.0, 0.3), lean=0.45),
        ellipsoid((12.5, 0.0, 0.3), (1.0, 4.5, 0.15), lean=0.45),
        ellipsoid((12.0, 0.0, 1.5), (1.4, 0.18, 3.2), lean=0.5, along=1, across=2),
        ellipsoid((-2.5, 4.5, -1.5), (1.7, 0.75, 0.75), across=0),
        ellipsoid((-2.5, -4.5, -1.5), (1.7, 0.75, 0.75), across=0),
    ]
    out = ["solid aircraft"]
    for part in parts:
        for facet in part:
            corners = "\n".join(f"vertex {x:.7g} {y:.7g} {z:.7g}" for x, y, z in facet)
            out.append(f"facet normal 0 0 0\nouter loop\n{corners}\nendloop\nendfacet")
    return "\n".join(out + ["endsolid aircraft", ""])


def aircraft(name, seconds, numerics):
    """A box of 1600 x 864 x 864 finest cells (theirs: 1596 x 840 x 840), 600 along the aircraft."""
    box = lambda x0, x1, y, z0, z1, level: f"box:{x0},{-y},{z0},{x1},{y},{z1},levels={level}"
    return {
        "files": {"aircraft.stl": aircraft_stl()},
        "mesh": {
            "domain": [-28.0, -21.6, -21.6, 52.0, 21.6, 21.6], "root": "200x108x108", "levels": 4, "wall-distance": 0.5,
            "refine": [box(-6, 30, 2.5, -3, 3, 4), box(-17, 36, 14.5, -4, 5, 3), box(-20, 48, 17, -8, 8, 2)],
        },
        "physics": {"re": 1e5, "length": 30.0, "velocity": 1.0, "lattice_velocity": 0.05, "area": 57.2},
        "numerics": {"lattice": "d3q27", "allow_unstable": True} | numerics,
        "boundary": free(3),
        "run": {"seconds": seconds},
        "output": {"folder": name, "forces_every": 4, "integrals_every": 0},
        "output.write": [{
            "kind": "render", "name": "q", "camera": {"from": [-25.0, -30.0, 22.0], "at": [5.0, 0.0, -1.5], "angle": 30}, "aspect": 1.9,
            "surface": "pressure", "range": [-0.5, 0.5],
            "isosurface": {"field": "q", "value": 0.05, "colour": "velocity", "range": [0.0, 1.2], "wall": 0.3},
        }],
    }


def rows():
    for collision, ending in (("cumulant", ""), ("kbc", "-kbc")):
        for times in (1, 2, 3):
            name = f"m24-sphere-{times}{ending}"
            yield name, sphere(name, times, 120.0, collision), read_drag(SPHERE_8000["drag"], "Clift et al. 1978", 0.6)
    for numerics, ending in (({"collision": "cumulant", "les": "qr"}, ""), ({"collision": "kbc"}, "-kbc")):
        name = "m24-aircraft" + ending
        yield name, aircraft(name, 30.0, numerics), read_drag(None, "", 0.6)
