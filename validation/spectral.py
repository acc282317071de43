"""The decay of Taylor & Green's vortices by a spectral method: incompressible flow, 2/3 rule, Runge-Kutta of fourth order.

    python3 validation/spectral.py [RE] [N] [END]

prints time, kinetic energy and enstrophy per volume, and the greatest dissipation 2 nu times the enstrophy with its time.
The vortices have velocity and length 1 in a box of edge 2 pi. Needs numpy.
"""

import sys

import numpy as np


def decay(reynolds, n, end, step=0.01):
    """Times, kinetic energies and enstrophies."""
    x = np.arange(n) * 2 * np.pi / n
    x, y, z = np.meshgrid(x, x, x, indexing="ij")
    field = np.stack([np.sin(x) * np.cos(y) * np.cos(z), -np.cos(x) * np.sin(y) * np.cos(z), 0 * x])
    waves = np.fft.fftfreq(n, 1 / n)
    k = np.stack(np.meshgrid(waves, waves, waves[: n // 2 + 1], indexing="ij"))
    k[2] = np.abs(k[2])
    square = (k**2).sum(0)
    inverse = 1 / np.where(square == 0, 1, square)
    keep = (np.abs(k) < n / 3).all(0)
    forward = lambda v: np.fft.rfftn(v, axes=(1, 2, 3))
    back = lambda v: np.fft.irfftn(v, s=(n, n, n), axes=(1, 2, 3))
    rotation = lambda v: 1j * np.cross(k, v, axis=0)

    def slope(v):
        push = forward(np.cross(back(v), back(rotation(v)), axis=0)) * keep
        push -= k * (k * push).sum(0) * inverse
        return push - square / reynolds * v

    v, out = forward(field), []
    for i in range(round(end / step) + 1):
        out.append((i * step, *(0.5 * (back(w) ** 2).sum(0).mean() for w in (v, rotation(v)))))
        a = slope(v)
        b = slope(v + 0.5 * step * a)
        c = slope(v + 0.5 * step * b)
        v = v + step / 6 * (a + 2 * b + 2 * c + slope(v + step * c))
    return np.array(out)


if __name__ == "__main__":
    given = sys.argv[1:] + ["100", "48", "8"][len(sys.argv) - 1 :]
    lines = decay(float(given[0]), int(given[1]), float(given[2]))
    for line in lines[:: max(1, len(lines) // 20)]:
        print("%.3f %.6e %.6e" % tuple(line))
    most = lines[:, 2].argmax()
    print("greatest dissipation %.5e at %.2f" % (2 / float(given[0]) * lines[most, 2], lines[most, 0]))
