"""Time from bins to links against the number of levels and the number of facets.

Levels: bunny, dragon, sphere; a 64³ root, wall distance 0.05.
Facets: a sphere of the same radius and centre of 10^4 to 10^7 facets, 4 levels, so that
the mesh is the same but for the facets.

`cpu` is processor time of the whole program, `dry_cpu` that of reading, health and
snapping alone: where other programs run, their difference (embedding and writing) is what
can be compared.
"""

import json
import subprocess

from measure import cutlink, command, measured

MOST_BYTES = 14 << 30
FACETS = [10**4, 10**5, 10**6, 10**7]


def row_of(settings, surface, arguments, threads):
    level = arguments[arguments.index("--levels") + 1]
    repeat = max(1, settings.repeat >> max(0, level - 5))
    runs = [cutlink(settings, surface, arguments, threads) for _ in range(repeat)]
    dry = measured([*command(settings, surface, arguments, threads), "--dry-run"])
    runs.sort(key=lambda run: run["stages"])
    best, report = runs[0], runs[0]["report"]
    finest = report["levels"][-1]
    return {
        "threads": threads,
        "levels": len(report["levels"]),
        "facets": report["input"]["triangles"],
        "blocks": report["blocks"],
        "cells": report["cells"],
        "boundary": report["boundary_cells"],
        "links": report["links"],
        "finest_cells": finest["leaf_blocks"] * 64,
        "box_cells": 64**3 * 8 ** (len(report["levels"]) - 1),
        "stages": [run["stages"] for run in runs],
        "work": min(run["work"] for run in runs),
        "cpu": min(run["cpu"] for run in runs),
        "dry_cpu": dry["cpu"],
        "peak": best["peak"],
        "times": {k: min(r["report"]["times_ms"][k] for r in runs) / 1e3 for k in report["times_ms"]},
    }


def fits(settings, surface, arguments):
    command = [settings.cutlink, "estimate", *surface, "--domain", "0,0,0,1,1,1", *arguments, "--json"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["peak_bytes"] < MOST_BYTES


def levels(settings, only):
    sphere = ["--shape", "sphere:r=0.25", "--translate", "0.5,0.5,0.5", "--deviation", "2e-6"]
    surfaces = {
        "bunny": [settings.scans / "bunny_unit.stl"],
        "dragon": [settings.scans / "dragon_unit.ply"],
        "sphere": sphere,
    }
    for level in range(3, 8):
        for name, surface in surfaces.items():
            if only and f"{name}-{level}" not in only and name not in only and str(level) not in only:
                continue
            arguments = ["--root", 64, "--levels", level, "--wall-distance", 0.05]
            if level >= 6 and not fits(settings, surface, arguments):
                settings.save("scaling", {"kind": "levels", "surface": name, "levels": level, "skipped": "memory"})
                continue
            for threads in reversed(settings.threads):
                row = row_of(settings, surface, arguments, threads)
                settings.save("scaling", {"kind": "levels", "surface": name, **row})


def facets(settings, only):
    for count in FACETS:
        if only and "facets" not in only:
            continue
        path = settings.work / f"sphere-{count}.stl"
        if not path.exists():
            python = settings.work / "venv/bin/python"
            subprocess.run([python, settings.here / "surface.py", str(count), path], check=True)
        for threads in reversed(settings.threads):
            row = row_of(settings, [path], ["--root", 64, "--levels", 4, "--wall-distance", 0.05], threads)
            settings.save("scaling", {"kind": "facets", "surface": "sphere", **row})


def study(settings, only=None):
    levels(settings, only)
    facets(settings, only)
