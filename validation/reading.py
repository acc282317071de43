"""What a run has written: its histories, and means, sines and rows of the table from them."""

import csv
import math


def row(quantity, ours, theirs, source, spread=None):
    return {"quantity": quantity, "ours": ours, "theirs": theirs, "source": source, "spread": spread}


def columns(path):
    with open(path, newline="") as file:
        lines = list(csv.reader(line for line in file if not line.startswith("#")))
    return {name: [float(line[i]) for line in lines[1:]] for i, name in enumerate(lines[0])}


def interpolate(xs, ys, x):
    i = next((i for i in range(1, len(xs)) if xs[i] >= x), len(xs) - 1)
    return ys[i - 1] + (ys[i] - ys[i - 1]) * (x - xs[i - 1]) / (xs[i] - xs[i - 1])


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


def at_frequency(times, values, omega):
    """The complex amplitude of exp(i omega t) whose real part fits best: least squares, for samples need not fill a period."""
    cs = [(math.cos(omega * t), math.sin(omega * t)) for t in times]
    cc, ss, mixed = (sum(a * b for a, b in pairs) for pairs in ([(c, c) for c, _ in cs], [(s, s) for _, s in cs], cs))
    yc, ys = (sum(v * c[n] for v, c in zip(values, cs)) for n in (0, 1))
    det = cc * ss - mixed * mixed
    return complex((yc * ss - ys * mixed) / det, -(ys * cc - yc * mixed) / det)


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


def probe_means(folder, points):
    """Mean velocity over the last tenth of the samples, by the point's first two coordinates."""
    table = columns(folder / "probes.csv")
    start = int(0.9 * len(table["step"]))
    found = {}
    for i, point in enumerate(points, 1):
        series = [table[f"{axis}{i} (m/s)"][start:] for axis in "uv"]
        found[point[0], point[1]] = [sum(s) / len(s) for s in series]
    return found


def read_drag(value, source, share):
    """The mean drag of the last share of a flow; beside it that of the half of that."""

    def read(folder):
        table = columns(folder / "forces.csv")
        drag, half = settled_mean(table, "C_D", share), settled_mean(table, "C_D", share / 2)
        return [row("C_D", drag, value, source)], f"last {50 * share:.0f} % against {100 * share:.0f} %: {100 * (half / drag - 1):+.2f} %"

    return read
