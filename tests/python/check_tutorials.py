"""Refines the meshes of OpenFOAM's tutorials, and lets checkMesh and each case's own solver read them.

    python3 check_tutorials.py PROGRAM TUTORIALS OUT [--only TEXT] [--cells N] [--solve N]

PROGRAM is `cutlink`, TUTORIALS the folder of the tutorials, OUT a folder for copies of the cases. Of each case with a
`system/blockMeshDict`, blockMesh makes the mesh; half of the box gets two levels, a corner of it three, so that patches of all
types are touched. A case is
    ok        if no check of `checkMesh -allTopology -allGeometry` fails that did not fail before, concave cells aside, which
              every mesh with hanging points has, and if its solver takes two steps (meshes of at most --solve cells)
    worse     if checks fail besides that cells of a poor mesh may fail when they are divided: skewness, small determinants
    refused   with the first line of the message
    FAILED    otherwise; the exit code is 1 then
    skipped   if OpenFOAM itself makes no mesh, or the solver does not run without refinement either
"""

import argparse
import collections
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ENV = dict(os.environ, WM_PROJECT_DIR=os.environ.get("WM_PROJECT_DIR", "/usr/share/openfoam"))
CONCAVE = "Concave cells"
# What cells of a poor mesh may lose by being divided.
QUALITY = {"Max skewness =", "Cells with small determinant"}


def run(command, case, limit=120):
    try:
        # OpenFOAM warns where PWD is another folder.
        env = dict(ENV, PWD=str(case))
        done = subprocess.run(command, cwd=case, env=env, capture_output=True, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        return 124, "timed out"
    return done.returncode, done.stdout + done.stderr


def check(case):
    """The checks that fail, by their first words, and the box around the mesh."""
    _, text = run(["checkMesh", "-allTopology", "-allGeometry"], case)
    box = re.search(r"bounding box \(([^)]*)\) \(([^)]*)\)", text)
    box = [[float(x) for x in corner.split()] for corner in box.groups()] if box else None
    if "FATAL" in text:
        return {text[text.index("FATAL") :].replace("\n", " ")[:160]}, box
    found = re.findall(r"\*\*\*([A-Za-z][^,:(\d]*)", text)
    return {what.strip() for what in found}, box


def kinds(case):
    text = (case / "constant/polyMesh/boundary").read_text()
    return sorted(set(re.findall(r"\btype\s+(\w+);", text)))


def entry(case, key):
    code, text = run(["foamDictionary", "system/controlDict", "-entry", key, "-value"], case)
    return text.strip() if code == 0 else ""


def prepare(source, case):
    shutil.rmtree(case, ignore_errors=True)
    shutil.copytree(source, case)
    if (case / "0.orig").is_dir() and not (case / "0").exists():
        shutil.copytree(case / "0.orig", case / "0")
    for file in [*case.glob("0/*.gz"), *case.glob("system/*.gz"), *case.glob("constant/*.gz")]:
        subprocess.run(["gzip", "-d", "-f", file], check=True)
    code, _ = run(["blockMesh"], case)
    if code != 0 or not (case / "constant/polyMesh/owner").exists():
        return False
    if (case / "system/setFieldsDict").exists():
        run(["setFields"], case)
    return True


def steps(case):
    """Whether the case's own solver takes two steps."""
    step = entry(case, "deltaT")
    start = max((float(p.name) for p in case.iterdir() if re.fullmatch(r"[0-9.e-]+", p.name)), default=0.0)
    try:
        step = float(step)
    except ValueError:
        return False, "no deltaT"
    iterates = step >= 1
    step = step if iterates else step / 4
    for key, value in [
        ("startFrom", "latestTime"),
        ("stopAt", "endTime"),
        ("deltaT", step),
        ("endTime", start + 2 * step),
        ("writeControl", "timeStep"),
        ("writeInterval", 1000),
    ]:
        run(["foamDictionary", "system/controlDict", "-entry", key, "-set", str(value)], case)
    run(["foamDictionary", "system/controlDict", "-entry", "functions", "-remove"], case)
    application = entry(case, "application")
    if shutil.which(application) is None:
        return False, f"no program {application}"
    code, text = run([application], case, 90)
    reason = text[text.index("FATAL") :].replace("\n", " ")[:200] if "FATAL" in text else text[-200:]
    return code == 0, reason


def refine(program, case, box):
    low, high = box
    at = lambda a, b: ",".join(f"{low[i] + s * (high[i] - low[i]):.9g}" for s in (a, b) for i in range(3))
    rules = [f"box:{at(0.25, 0.75)},levels=2", f"box:{at(-0.01, 0.55)},levels=3"]
    return run([program, "refine", str(case), *[x for rule in rules for x in ("--where", rule)]], case)


def one(program, source, case, options):
    if not prepare(source, case):
        return "skipped", "blockMesh makes no mesh", []
    of = kinds(case)
    cells = int(re.search(r"nCells:\s*(\d+)", (case / "constant/polyMesh/owner").read_text(errors="replace")).group(1))
    if cells > options.cells:
        return "skipped", f"{cells} cells", of
    before, box = check(case)
    if box is None:
        return "skipped", "checkMesh does not read it: " + "; ".join(before), of
    code, text = refine(program, case, box)
    if code != 0:
        line = next((line for line in text.splitlines() if "error" in line), text[:160])
        return ("refused" if code == 2 else "FAILED"), line.strip(), of
    new = check(case)[0] - before - {CONCAVE}
    if new:
        return ("FAILED" if new - QUALITY else "worse"), "; ".join(sorted(new)), of
    text = next((line for line in text.splitlines() if line.startswith("cells")), "")
    if cells > options.solve:
        return "ok", f"{text}; no solver", of
    runs, reason = steps(case)
    if not runs:
        plain = case.with_name(case.name + "-plain")
        ran = prepare(source, plain) and steps(plain)[0]
        shutil.rmtree(plain, ignore_errors=True)
        return ("FAILED" if ran else "ok"), (reason if ran else f"{text}; its solver runs on neither mesh"), of
    return "ok", text, of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("tutorials", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--cells", type=int, default=100_000)
    parser.add_argument("--solve", type=int, default=5_000)
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    counts, by_kind = collections.Counter(), collections.defaultdict(collections.Counter)
    for dictionary in sorted(options.tutorials.rglob("system/blockMeshDict")):
        source = dictionary.parent.parent
        name = str(source.relative_to(options.tutorials))
        if options.only not in name:
            continue
        case = options.out.resolve() / name.replace("/", "-")
        state, why, of = one(program, source, case, options)
        shutil.rmtree(case, ignore_errors=True)
        counts[state] += 1
        for kind in of:
            by_kind[kind][state] += 1
        print(f"{state:8} {name}: {why} [{' '.join(of)}]", flush=True)
    print(dict(counts))
    for kind, states in sorted(by_kind.items()):
        print(f"| {kind} | {dict(states)} |")
    sys.exit(1 if counts["FAILED"] else 0)


if __name__ == "__main__":
    main()
