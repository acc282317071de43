"""plot_scaling.py RESULTS.jsonl PICTURE.png: time against levels and against facets."""

import json
import sys

import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COLORS = {"bunny": "#b5482a", "dragon": "#2a6f4e", "sphere": "#2d5d9f"}


def exponent(x, y):
    return np.polyfit(np.log(x), np.log(y), 1)[0]


def latest(rows, kind):
    """The last row of every setting."""
    found = {}
    for row in rows:
        if row["kind"] == kind and "skipped" not in row:
            found[row["surface"], row["threads"], row["levels"], row["facets"]] = row
    return list(found.values())


def series(rows, surface, threads, key):
    chosen = [r for r in rows if r["surface"] == surface and r["threads"] == threads]
    return sorted(chosen, key=lambda r: r[key])


def main(results, picture):
    rows = [json.loads(line) for line in open(results)]
    by_level, by_facets = latest(rows, "levels"), latest(rows, "facets")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
    for surface, color in COLORS.items():
        for threads, dash in ((1, ":"), (2, "-")):
            line = series(by_level, surface, threads, "levels")
            if line:
                x = [r["boundary"] for r in line]
                y = [min(r["stages"]) for r in line]
                left.loglog(x, y, dash, marker="o", ms=4, color=color, label=f"{surface}, {threads} thread{'s' * (threads > 1)}")
    left.set_xlabel("boundary cells of the finest level")
    x = np.array(left.get_xlim())
    floor = left.get_ylim()[0]
    left.loglog(x, floor * 1.3 * x / x[0], "--", color="0.6", lw=1, label="surface: slope 1")
    left.loglog(x, floor * 1.3 * (x / x[0]) ** 1.5, "-.", color="0.6", lw=1, label="volume: slope 3/2")
    left.set_title("levels 3 to 7, 64³ root")
    for threads, dash in ((1, ":"), (2, "-")):
        line = series(by_facets, "sphere", threads, "facets")
        if line:
            x = [r["facets"] for r in line]
            right.loglog(x, [min(r["stages"]) for r in line], dash, marker="o", ms=4, color=COLORS["sphere"],
                         label=f"bins to links, {threads} thread{'s' * (threads > 1)}")
            if threads == 2:
                right.loglog(x, [r["times"]["read"] + r["times"]["health"] + r["times"]["snap"] for r in line], "-",
                             marker="s", ms=4, color="0.6", label="read, health, snap, 2 threads")
    right.set_xlabel("facets of a sphere, 4 levels")
    right.set_title("10⁴ to 10⁷ facets, the same mesh")
    for axes in (left, right):
        axes.set_ylabel("seconds")
        axes.grid(True, which="major", color="0.92")
        axes.legend(frameon=False, fontsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(picture, dpi=130)

    print("| surface | levels | blocks | boundary cells | bins to links, 2 threads | 1 thread | 1 : 2 | µs a boundary cell | peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    for surface in COLORS:
        for r in series(by_level, surface, 2, "levels"):
            one = [s for s in by_level if (s["surface"], s["threads"], s["levels"]) == (surface, 1, r["levels"])]
            two_s, one_s = min(r["stages"]), min(one[0]["stages"]) if one else float("nan")
            print(f"| {surface} | {r['levels']} | {r['blocks']:,} | {r['boundary']:,} | {two_s:.3f} s | {one_s:.3f} s "
                  f"| {one_s / two_s:.2f} | {two_s / r['boundary'] * 1e6:.2f} | {r['peak'] >> 20} MiB |")
    print("\n| surface | threads | exponent of boundary cells | of finest cells | of the box's cells | levels |")
    print("|---|---|---|---|---|---|")
    for surface in COLORS:
        for threads in (1, 2):
            line = series(by_level, surface, threads, "levels")
            if len(line) > 1:
                y = [min(r["stages"]) for r in line]
                fits = [exponent([r[k] for r in line], y) for k in ("boundary", "finest_cells", "box_cells")]
                span = f"{line[0]['levels']} to {line[-1]['levels']}"
                print(f"| {surface} | {threads} |" + "".join(f" {f:.2f} |" for f in fits) + f" {span} |")
    print("\n| facets | bins | voxelize | refine | links | bins to links, 2 threads | 1 thread | read, health, snap | peak |")
    print("|---|---|---|---|---|---|---|---|---|")
    for r in series(by_facets, "sphere", 2, "facets"):
        one = [s for s in by_facets if (s["threads"], s["facets"]) == (1, r["facets"])]
        t = r["times"]
        stages = "".join(f" {t[k]:.3f} s |" for k in ("bins", "voxelize", "refine", "links"))
        before = t["read"] + t["health"] + t["snap"]
        print(f"| {r['facets']:,} |{stages} {min(r['stages']):.3f} s | {min(one[0]['stages']):.3f} s | {before:.3f} s | {r['peak'] >> 20} MiB |")
    for threads in (1, 2):
        line = series(by_facets, "sphere", threads, "facets")
        if len(line) > 1:
            slopes = [exponent([a["facets"], b["facets"]], [min(a["stages"]), min(b["stages"])]) for a, b in zip(line, line[1:])]
            print(f"threads {threads}: exponent of facets by decade", ", ".join(f"{s:.2f}" for s in slopes))


main(*sys.argv[1:])
