"""plot_scaling.py RESULTS.jsonl PICTURE.png: time against levels and against facets, and its tables.

Times are of the processor, one thread: the whole program less reading, health and snapping."""

import json
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLORS = {"bunny": "#b5482a", "dragon": "#2a6f4e", "sphere": "#2d5d9f"}


def exponent(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def time_of(row):
    return row["cpu"] - row["dry_cpu"]


def latest(rows, kind, threads):
    """The last row of every setting, in the order of levels and facets."""
    found = {}
    for row in rows:
        if row["kind"] == kind and "skipped" not in row and row["threads"] == threads:
            found[row["surface"], row["levels"], row["facets"]] = row
    return [found[key] for key in sorted(found)]


def model(rows):
    """a, b of time = a facets levels + b boundary cells, by least squares of relative errors."""
    t = np.array([time_of(r) for r in rows])
    x = np.array([[r["facets"] * r["levels"], r["boundary"]] for r in rows], float)
    fit, *_ = np.linalg.lstsq(x / t[:, None], np.ones(len(t)), rcond=None)
    return fit, x @ fit / t


def draw(by_level, by_facets, fit, picture):
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.3))
    for surface, color in COLORS.items():
        line = [r for r in by_level if r["surface"] == surface]
        if line:
            label = f"{surface}, {line[0]['facets']:,} facets"
            left.loglog([r["boundary"] for r in line], [time_of(r) for r in line], "-o", ms=4, color=color, label=label)
            for r in line:
                left.annotate(r["levels"], (r["boundary"], time_of(r)), xytext=(4, -10) if surface != "sphere" else (-2, 6), textcoords="offset points", fontsize=7, color=color)
    x = np.array([8e4, 3e7])
    left.loglog(x, 0.09 * x / x[0], "--", color="0.55", lw=1, label="with the surface: slope 1")
    left.loglog(x[:1].repeat(2) * [1, 60], 0.09 * np.array([1.0, 60**1.5]), ":", color="0.55", lw=1, label="with the volume: slope 3/2")
    left.set_xlabel("boundary cells of the finest level")
    left.set_title("3 to 7 levels on a 64³ root", fontsize=11)
    if by_facets:
        x = [r["facets"] for r in by_facets]
        right.loglog(x, [time_of(r) for r in by_facets], "-o", ms=4, color=COLORS["sphere"], label="embedding and writing")
        right.loglog(x, [r["dry_cpu"] for r in by_facets], "-s", ms=4, color="0.6", label="reading, health, snapping")
        dense = np.geomspace(x[0], x[-1], 50)
        fitted = fit[0] * 4 * dense + fit[1] * by_facets[0]["boundary"]
        right.loglog(dense, fitted, "--", color="0.4", lw=1, label="the fit of both studies")
    right.set_xlabel("facets of a sphere")
    right.set_title("10⁴ to 10⁷ facets, 4 levels, the same mesh", fontsize=11)
    for axes in (left, right):
        axes.set_ylabel("seconds of one processor")
        axes.grid(True, which="major", color="0.92")
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture, dpi=120)


def main(results, picture):
    rows = [json.loads(line) for line in open(results)]
    by_level, by_facets = latest(rows, "levels", 1), latest(rows, "facets", 1)
    fit, error = model(by_level + by_facets)
    draw(by_level, by_facets, fit, picture)
    print("| surface, facets | levels | blocks | boundary cells | processor time | a boundary cell | peak |")
    print("|---|---|---|---|---|---|---|")
    for r in by_level:
        t = time_of(r)
        print(f"| {r['surface']}, {r['facets']:,} | {r['levels']} | {r['blocks']:,} | {r['boundary']:,} | {t:.2f} s "
              f"| {t / r['boundary'] * 1e6:.2f} µs | {r['peak'] >> 20} MiB |")
    print("\n| surface | levels | exponent of boundary cells | of finest cells | of the box's finest cells |")
    print("|---|---|---|---|---|")
    for surface in COLORS:
        line = [r for r in by_level if r["surface"] == surface]
        for part in (line, line[-3:]):
            fits = [exponent([r[k] for r in part], [time_of(r) for r in part]) for k in ("boundary", "finest_cells", "box_cells")]
            print(f"| {surface} | {part[0]['levels']} to {part[-1]['levels']} |" + "".join(f" {f:.2f} |" for f in fits))
    print("\n| facets | reading, health, snapping | embedding and writing | a facet | peak |")
    print("|---|---|---|---|---|")
    for r in by_facets:
        print(f"| {r['facets']:,} | {r['dry_cpu']:.2f} s | {time_of(r):.2f} s | {time_of(r) / r['facets'] * 1e6:.2f} µs | {r['peak'] >> 20} MiB |")
    x, y = [r["facets"] for r in by_facets], [time_of(r) for r in by_facets]
    print("exponents of facets, a decade each:", ", ".join(f"{exponent(x[i:i + 2], y[i:i + 2]):.2f}" for i in range(len(x) - 1)))
    print(f"time = {fit[0] * 1e6:.2f} µs · facets · levels + {fit[1] * 1e6:.2f} µs · boundary cells, within {np.abs(error - 1).max() * 100:.0f} %")


main(*sys.argv[1:])
