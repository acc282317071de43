#!/usr/bin/env python3
"""Draws what validation/run.py found: drag by resolution, and the profiles of the cavities.

    python3 validation/plot.py OUT [OUT ...] --to docs/images

OUT are folders of validation/run.py. Needs matplotlib.
"""

import argparse
import json
import pathlib

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import bodies
import sources
from reading import probe_means

COLORS = {"bounce-back": "#b5651d", "linear": "#1f5f99"}
REYNOLDS = (1000, 3200, 5000, 10000)


def drags(results, family):
    """By scheme: cells across the body, and its drag."""
    found = {}
    for scheme in COLORS:
        levels = [n for n in (2, 3, 4, 5) if "rows" in results.get(f"{family}-{scheme}-{n}", {})]
        values = [results[f"{family}-{scheme}-{n}"]["rows"][0]["ours"] for n in levels]
        root = 4 if family.startswith("sphere") else 8
        found[scheme] = [root << (n - 1) for n in levels], values
    return found


def drag(results, path):
    figure, axes = plt.subplots(1, 3, figsize=(12, 3.8), layout="constrained")
    for axis, family in zip(axes, ("circle", "square")):
        for scheme, (cells, values) in drags(results, family).items():
            axis.plot(cells, values, "o-", color=COLORS[scheme], label=f"{scheme}, ours")
            theirs = [sources.J26[family][n, scheme][0] for n in (2, 3, 4, 5)]
            axis.plot([16, 32, 64, 128], theirs, "x--", color=COLORS[scheme], alpha=0.6, label=f"{scheme}, J26")
        axis.set(title=f"{family}, Re 100", xlabel="cells across D", ylabel="$C_D$", xscale="log", xticks=[16, 32, 64, 128])
    for re, marker in ((10, "o"), (15, "s"), (20, "^")):
        for scheme, (cells, values) in drags(results, f"sphere-{re}").items():
            ratio = [value / sources.sphere_drag_clift(re) for value in values]
            axes[2].plot(cells, ratio, marker + "-", color=COLORS[scheme], label=f"Re {re}, {scheme}")
        fit = sources.sphere_drag(re) / sources.sphere_drag_clift(re)
        axes[2].axhline(fit, color="grey", lw=0.7, ls=":")
        axes[2].annotate(f"Mikhailov & Freire, Re {re}", (16, fit), fontsize=6, color="grey", va="bottom")
    axes[2].axhline(1, color="black", lw=0.7)
    axes[2].set(title="sphere", xlabel="cells across D", ylabel="$C_D$ over Clift et al. 1978", xscale="log", xticks=[8, 16, 32])
    for axis in axes:
        axis.get_xaxis().set_major_formatter(matplotlib.ticker.ScalarFormatter())
        axis.minorticks_off()
        axis.legend(fontsize=7)
    figure.savefig(path, dpi=110)


def profiles(axes, folder, case):
    """u on the vertical centre line, and v on the horizontal one."""
    means = probe_means(folder, case["output.write"][0]["points"])
    up = sorted((y, u) for (x, y), (u, _) in means.items() if x == 0.5)
    across = sorted((x, v) for (x, y), (_, v) in means.items() if y == 0.5)
    axes[0].plot([u for _, u in up], [y for y, _ in up], "-", color=COLORS["linear"], label="ours")
    axes[1].plot([x for x, _ in across], [v for _, v in across], "-", color=COLORS["linear"])


def cavities(folders, path):
    cases = {name: tables for name, tables, _ in bodies.rows()}
    theirs = {f"cavity-{re}": [("Ghia et al.", "+", sources.GHIA_Y, sources.GHIA[re][0], sources.GHIA_X, sources.GHIA[re][1])] for re in REYNOLDS}
    for re, (us, vs) in sources.ERTURK.items():
        theirs[f"cavity-{re}"].append(("Erturk et al.", ".", sources.ERTURK_Y, us, sources.ERTURK_X, vs))
    theirs["cavity-1000"].append(("Botella & Peyret", "x", sources.GHIA_Y, sources.BOTELLA_U, sources.GHIA_X, sources.BOTELLA_V))
    theirs["cavity-cube-1000"] = [("Albensoeder & Kuhlmann", "s", sources.CUBE_Y, sources.CUBE_U, sources.CUBE_X, sources.CUBE_V)]
    titles = {f"cavity-{re}": f"Re {re:,}" for re in REYNOLDS} | {"cavity-cube-1000": "cube, Re 1,000"}
    figure, axes = plt.subplots(2, len(titles), figsize=(14, 6.4), layout="constrained", sharex="row", sharey="row")
    labels = {}
    for column, (name, title) in zip(axes.T, titles.items()):
        folder = next((f / name for f in folders if (f / name / "probes.csv").exists()), None)
        if folder is not None:
            profiles(column, folder, cases[name])
        for source, marker, ys, us, xs, vs in theirs[name]:
            style = {"color": "black", "ms": 4, "mfc": "none", "ls": "none"}
            column[0].plot(us, ys, marker, label=source, **style)
            column[1].plot(xs, vs, marker, **style)
        column[0].set(title=title, xlabel="u on x = 1/2")
        column[1].set(xlabel="x")
        for handle, label in zip(*column[0].get_legend_handles_labels()):
            labels.setdefault(label, handle)
    axes[0][0].set(ylabel="y")
    axes[1][0].set(ylabel="v on y = 1/2")
    figure.legend(labels.values(), labels.keys(), loc="outside lower center", ncols=len(labels), frameon=False)
    figure.savefig(path, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=pathlib.Path, metavar="OUT")
    parser.add_argument("--to", type=pathlib.Path, default=pathlib.Path("."))
    given = parser.parse_args()
    results = {}
    for folder in given.folders:
        for table in sorted(folder.glob("table*.json")):
            results |= {result["name"]: result for result in json.loads(table.read_text())}
    drag(results, given.to / "validation_drag.png")
    cavities(given.folders, given.to / "validation_cavities.png")


if __name__ == "__main__":
    main()
