#!/usr/bin/env python3
"""Flux reconstruction beside a discontinuous Galerkin method in numpy: the same state after a few steps.

    check_flux.py CUTLINK FOLDER              compare; exit 1 on any difference
    check_flux.py --must-fail CUTLINK FOLDER  the same with a wrong weight of a face; exit 1 if it passes

Euler's and the Navier-Stokes equations in a periodic box with hanging faces, in 2D and 3D, orders 1 to 4. `cutlink solve` takes
two steps and writes a checkpoint. Here the elements of the checkpoint take the same steps from the same initial state, by the
weak form of the Galerkin method: with Gauss points and Radau's correction functions, flux reconstruction is that method
(Huynh, AIAA 2007-4079). Faces are integrated at the Gauss points of the finer side. Needs numpy.
"""

import functools
import json
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

GAMMA, PRANDTL, DT, STEPS = 1.4, 0.72, 2.5e-4, 2
# Of a key: bits of the level, and by dimension the level at which coordinates are counted, with up to four root elements an axis.
LEVEL_BITS, LIMIT = 5, {2: 27, 3: 17}
# By stage: the share of the state at the start of the step, and the length of the stage over that of a step.
SCHEMES = {
    "rk33": [(0.0, 1.0), (3 / 4, 1 / 4), (1 / 3, 2 / 3)],  # Shu & Osher 1988
    "rk43": [(0.0, 1 / 2), (0.0, 1 / 2), (2 / 3, 1 / 6), (0.0, 1 / 2)],  # Spiteri & Ruuth 2002
}
ROOT, WRONG = [4, 2, 2], 1 + 1e-9


def initial(x):
    """Density, velocity and pressure at points (..., D) in metres; FIELDS are the same as text."""
    s, c, d = np.sin(np.pi * x[..., 0]), np.cos(2 * np.pi * x[..., 1]), x.shape[-1]
    along = [0.5 + 0.2 * c, -0.3 + 0.1 * s, 0.2 * s * c][:d]
    return np.stack([1 + 0.3 * s * c, *along, 2 + 0.4 * c], -1)


FIELDS = {
    "density": "1 + 0.3*sin(pi*x)*cos(2*pi*y)",
    "velocity": ["0.5 + 0.2*cos(2*pi*y)", "-0.3 + 0.1*sin(pi*x)", "0.2*sin(pi*x)*cos(2*pi*y)"],
    "pressure": "2 + 0.4*cos(2*pi*y)",
}


def case(d, order, scheme, viscosity, folder):
    faces = "".join(f'"{a}{s}" = "periodic"\n' for a in "xyz"[:d] for s in "-+")
    velocity = ", ".join(f'"{v}"' for v in FIELDS["velocity"][:d])
    physics = f"[physics]\ndynamic_viscosity = {viscosity}\nprandtl = {PRANDTL}\n" if viscosity else ""
    return f"""[solver]
kind = "flux-reconstruction"
[domain]
box = {[0] * d + [2] + [1] * (d - 1)}
elements = {ROOT[:d]}
{physics}[numerics]
order = {order}
runge_kutta = "{scheme}"
dt = {DT}
[boundary]
{faces}[initial]
density = "{FIELDS['density']}"
velocity = [{velocity}]
pressure = "{FIELDS['pressure']}"
[adapt]
levels = 3
sensor = "places"
[[adapt.place]]
box = {[0.3] * d + [0.8] * d}
levels = [3, 3]
[run]
steps = {STEPS}
[output]
folder = {json.dumps(str(folder))}
"""


def read_checkpoint(folder, d, order):
    """The elements, (level, coordinates), and the unknowns by element, unknown and point."""
    data = sorted(folder.glob("*.ckpt"))[-1].read_bytes()
    (length,) = struct.unpack_from("<Q", data, 8)
    steps, _, leaves = struct.unpack_from("<QdQ", data, 16 + length)
    assert steps == STEPS
    keys = np.frombuffer(data, "<u8", leaves, 40 + length)
    unknowns = np.frombuffer(data, "<f8", leaves * (d + 2) * (order + 1) ** d, 40 + length + 8 * leaves)
    elements = []
    for key in map(int, keys):
        level, bits = key & (1 << LEVEL_BITS) - 1, key >> LEVEL_BITS
        full = [sum((bits >> (d * b + a) & 1) << b for b in range(64 // d)) for a in range(d)]
        elements.append((level, tuple(c >> (LIMIT[d] - level) for c in full)))
    return elements, unknowns.reshape(leaves, d + 2, *[order + 1] * d)


class Galerkin:
    """The weak form on a tree of cubes. Arrays of an element: unknown, then points with the last axis first."""

    def __init__(self, elements, root, edge, order, viscosity, wrong):
        self.elements, self.root, self.edge, self.d = elements, root, edge, len(root)
        self.viscosity = viscosity
        self.points, self.weights = np.polynomial.legendre.leggauss(order + 1)
        self.ids = {element: i for i, element in enumerate(elements)}
        self.derivative = np.array([self.slope(x) for x in self.points])
        self.wrong = wrong

    def values(self, x):
        """Lagrange's polynomials at a place of [-1, 1]."""
        p = self.points
        return np.array([np.prod([(x - p[m]) / (p[j] - p[m]) for m in range(len(p)) if m != j]) for j in range(len(p))])

    def slope(self, x):
        """Their derivatives, of the polynomials through unit vectors."""
        unit = np.eye(len(self.points))
        fits = [np.polynomial.Polynomial.fit(self.points, row, len(row) - 1, domain=[-1, 1]) for row in unit]
        return np.array([fit.deriv()(x) for fit in fits])

    def size(self, i):
        return self.edge / 2 ** self.elements[i][0]

    def places(self, i):
        """The points of an element, (points, D), in metres."""
        level, coord = self.elements[i]
        line = [self.size(i) * (c + 0.5 + 0.5 * self.points) for c in coord]
        grid = np.meshgrid(*line[::-1], indexing="ij")[::-1]
        return np.stack(grid, -1)

    def beside(self, i, axis, side):
        """The elements that touch a face: the same, a coarser one, or all finer ones."""
        level, coord = self.elements[i]
        at = list(coord)
        at[axis] = (at[axis] + side) % (self.root[axis] << level)
        if (level, tuple(at)) in self.ids:
            return [self.ids[level, tuple(at)]]
        coarse = (level - 1, tuple(c >> 1 for c in at))
        if coarse in self.ids:
            return [self.ids[coarse]]
        found = []
        for part in range(1 << self.d):
            child = [2 * c + (part >> a & 1) for a, c in enumerate(at)]
            if child[axis] % 2 == (0 if side > 0 else 1):
                found.append(self.ids[level + 1, tuple(child)])
        return found

    def shares(self, i, x, axis, side):
        """Of each point of an element in the value at x, a point of its face along an axis."""
        level, coord = self.elements[i]
        out = np.ones(1)
        for a in range(self.d):
            length = self.root[a] * self.edge
            middle = self.size(i) * (coord[a] + 0.5)
            local = side if a == axis else 2 * ((x[a] - middle + length / 2) % length - length / 2) / self.size(i)
            out = np.multiply.outer(self.values(local), out).reshape(-1)
        return out

    def flux(self, u, axis):
        """Euler's flux along an axis of unknowns (D + 2, ...), and the speed of the fastest wave."""
        density, momentum, energy = u[0], u[1:-1], u[-1]
        velocity = momentum / density
        pressure = (GAMMA - 1) * (energy - 0.5 * (momentum * velocity).sum(0))
        out = u * velocity[axis]
        out[1 + axis] += pressure
        out[-1] += pressure * velocity[axis]
        return out, abs(velocity[axis]) + np.sqrt(GAMMA * pressure / density)

    def common(self, low, high, axis):
        """Rusanov's flux."""
        (f, a), (g, b) = self.flux(low, axis), self.flux(high, axis)
        return 0.5 * (f + g) - 0.5 * np.maximum(a, b) * (high - low)

    def along(self, axis, inner, common):
        """Minus the derivative of a flux along an axis. `inner` is the flux at the points of all elements. `common` gives it on a face
        from its lower and its upper side, each as (element, shares of its points at the places of the face)."""
        d, w, out = self.d, self.weights, np.zeros_like(inner)
        where = 1 + (d - 1 - axis)  # the axis in the array of an element
        for i in range(len(inner)):
            volume = np.moveaxis((np.moveaxis(inner[i], where, -1) * w) @ self.derivative / w, -1, where)
            out[i] = volume * 2 / self.size(i)
            mass = np.ones(1)
            for _ in range(d):
                mass = np.multiply.outer(w * self.size(i) / 2, mass).reshape(-1)
            for side in (-1, 1):
                for other in self.beside(i, axis, side):
                    weights, own, far = self.quadrature(i, other, axis, side)
                    sides = [(i, own), (other, far)]
                    term = (common(*(sides if side > 0 else sides[::-1])) * weights) @ own
                    hanging = self.size(i) != self.size(other)
                    out[i] -= side * (term * (self.wrong if hanging else 1.0) / mass).reshape(out[i].shape)
        return out

    def at(self, u, where):
        """The values of an array of elements on one side of a face."""
        i, shares = where
        return u[i].reshape(len(u[i]), -1) @ shares.T

    def rate(self, u):
        out = 0
        viscous = self.viscous(u) if self.viscosity else None
        for axis in range(self.d):
            flux = np.array([self.flux(state, axis)[0] for state in u])

            def common(low, high):
                both = self.common(self.at(u, low), self.at(u, high), axis)
                # The viscous flux is that of the upper side.
                return both if viscous is None else both - self.at(viscous[axis], high)

            out = out + self.along(axis, flux if viscous is None else flux - viscous[axis], common)
        return out

    def variables(self, u):
        """Velocity and p / rho of unknowns (D + 2, ...)."""
        velocity = u[1:-1] / u[0]
        pressure = (GAMMA - 1) * (u[-1] - 0.5 * (u[1:-1] * velocity).sum(0))
        return np.stack([*velocity, pressure / u[0]])

    def viscous(self, u):
        """By axis, the viscous fluxes at all points: local discontinuous Galerkin (Cockburn & Shu 1998), whose common variables are
        those of the lower side."""
        d, own = self.d, np.array([self.variables(state) for state in u])
        slopes = [-self.along(axis, own, lambda low, high: self.variables(self.at(u, low))) for axis in range(d)]
        fluxes = []
        for axis in range(d):
            flux = np.zeros_like(u)
            for v in range(d):
                flux[:, 1 + v] = slopes[axis][:, v] + slopes[v][:, axis]
            flux[:, 1 + axis] -= 2 / 3 * sum(slopes[b][:, b] for b in range(d))
            flux *= self.viscosity
            flux[:, -1] = (flux[:, 1:-1] * own[:, :d]).sum(1)
            flux[:, -1] += GAMMA / (GAMMA - 1) * self.viscosity / PRANDTL * slopes[axis][:, d]
            fluxes.append(flux)
        return fluxes

    @functools.cache
    def quadrature(self, i, other, axis, side):
        """On the part of a face that another element touches: weights of places, and shares of both sides' points at each."""
        fine = i if self.size(i) <= self.size(other) else other
        _, coord = self.elements[fine]
        line = [self.size(fine) * (c + 0.5 + 0.5 * self.points) for c in coord]
        line[axis], weights = np.zeros(1), np.ones(1)
        for a in range(self.d - 1):
            weights = np.multiply.outer(self.weights * self.size(fine) / 2, weights).reshape(-1)
        grid = np.meshgrid(*line[::-1], indexing="ij")[::-1]
        places = np.stack(grid, -1).reshape(-1, self.d)
        own = np.array([self.shares(i, x, axis, side) for x in places])
        return weights, own, np.array([self.shares(other, x, axis, -side) for x in places])

    def advance(self, u, scheme):
        start = u
        for keep, step in SCHEMES[scheme]:
            u = u + keep * (start - u) + step * DT * self.rate(u)
        return u


def compare(cutlink, out, d, order, scheme, viscosity, wrong):
    """The largest difference, and elements."""
    name = f"flux-{d}-{order}-{scheme}-{viscosity}"
    path, folder = out / f"{name}.toml", out / name
    path.write_text(case(d, order, scheme, viscosity, folder))
    subprocess.run([cutlink, "solve", str(path), "--force", "--quiet", "--device", "cpu"], check=True)
    elements, found = read_checkpoint(folder, d, order)
    galerkin = Galerkin(elements, ROOT[:d], 0.5, order, viscosity, wrong)
    u = []
    for i in range(len(elements)):
        state = np.moveaxis(initial(galerkin.places(i)), -1, 0)
        kinetic = 0.5 * state[0] * (state[1:-1] ** 2).sum(0)
        u.append(np.stack([state[0], *(state[0] * v for v in state[1:-1]), state[-1] / (GAMMA - 1) + kinetic]))
    begun = u = np.array(u)
    for _ in range(STEPS):
        u = galerkin.advance(u, scheme)
    assert len({level for level, _ in elements}) > 1, f"{name}: no hanging faces"
    moved = abs(u - begun).max()
    assert moved > 1e-4, f"{name}: nothing moves ({moved})"
    return abs(u - found).max(), len(elements)


def main():
    args = [a for a in sys.argv[1:] if a != "--must-fail"]
    cutlink, out = Path(args[0]).resolve(), Path(args[1]).resolve()
    out.mkdir(parents=True, exist_ok=True)
    must_fail = "--must-fail" in sys.argv
    cases = [(2, order, "rk43" if order % 2 else "rk33", mu) for order in (1, 2, 3, 4) for mu in (0, 0.01)]
    cases += [(3, 1, "rk33", 0), (3, 2, "rk43", 0.01)]
    for d, order, scheme, mu in cases[:2] if must_fail else cases:
        off, elements = compare(cutlink, out, d, order, scheme, mu, WRONG if must_fail else 1.0)
        what = f"viscosity {mu}" if mu else "inviscid"
        print(f"{d}D, order {order}, {scheme}, {what}: {elements} elements, largest difference {off:.1e}", flush=True)
        if (off < 1e-13) == must_fail:
            sys.exit("a wrong weight was not seen" if must_fail else "the states differ")


if __name__ == "__main__":
    main()
