#!/usr/bin/env python3
"""Flows past bodies at low viscosity for 200 D / u: does any grow without bound, and is the drag sane?

    python3 validation/stability.py --cutlink target/release/cutlink --device cuda --out stability-out [--only NAME] [--jobs N]

Circle, square, aerofoil (NACA 0012, 10 degrees, D its chord), sphere and bunny at Re 300, 1000, 3000 and 10,000, with 16 and 32 cells a
D. The histories are judged in eighths: forces stay finite and within LIMITS, and the spread of the last eighth is below twice the
largest of the third to seventh. Writes table.md into the folder; exit code 1 where a flow fails.
"""
import argparse
import concurrent.futures
import csv
import json
import pathlib
import statistics
import subprocess
import sys

# Body, shape, dimensions, refinement boxes about it, drag that is sane.
BODIES = {
    "circle": ('shape = "circle:r=0.5"', 2, (0.8, 3.0)),
    "square": ('shape = "rectangle:size=1x1"', 2, (0.8, 4.0)),
    "aerofoil": ('shape = "naca:0012,chord=1"\nrotate = ["z:-10"]', 2, (0.02, 1.5)),
    "sphere": ('shape = "sphere:r=0.5"', 3, (0.25, 1.2)),
    "bunny": ('file = "{scans}/bunny_unit.stl"\nfit = 1', 3, (0.1, 1.5)),
}
CASE = """
[mesh]
{shape}
domain = {domain}
root = "{root}"
levels = {levels}
wall-distance = 0.5
refine = [{refine}]
no-picture = true

[physics]
re = {re}
length = 1
velocity = 1
area = {area}

[numerics]
allow_unstable = true

[boundary]
"x-" = {{ type = "velocity", velocity = {velocity} }}
"x+" = "outflow"
{sides}

[run]
seconds = {seconds}

[output]
folder = "{folder}"
forces_every = {every}
"""


def case(name, re, cells, out, scans, seconds):
    shape, d, _ = BODIES[name]
    levels = {16: 3, 32: 4}[cells]
    lower, upper = [-6, -6, -4][:d], [14, 6, 4][:d]
    if d == 3:
        lower, upper = [-4, -4, -4], [12, 4, 4]
    box = lambda x0, x1, h, l: '"box:%s,levels=%d"' % (",".join(map(str, [x0] + [-h] * (d - 1) + [x1] + [h] * (d - 1))), l)
    refine = [box(-1, 3, 1, levels - 1), box(-2, 6, 2, max(2, levels - 2))]
    root = "x".join(str(4 * (u - l)) for l, u in zip(lower, upper))
    # A little off the axis, so that shedding begins.
    velocity = [1.0, 0.02, 0.0][:d]
    sides = "\n".join(f'"{a}{s}" = "free-slip"' for a in "yz"[: d - 1] for s in "-+")
    folder = out / f"{name}-{re}-{cells}"
    text = CASE.format(shape=shape.format(scans=scans), domain=[float(x) for x in lower + upper], root=root, levels=levels,
                       refine=", ".join(refine), re=re, area=1 if d == 2 else 0.7854, velocity=velocity, sides=sides, seconds=seconds,
                       folder=folder, every=4)
    path = out / f"{name}-{re}-{cells}.toml"
    path.write_text(text)
    return path, folder


def judge(name, folder, code, error):
    if code != 0:
        return False, f"exit code {code}: {error.strip().splitlines()[0] if error.strip() else ''}"
    with open(folder / "forces.csv", newline="") as file:
        head, *rows = csv.reader(file)
    column = lambda what: [i for i, label in enumerate(head) if label.lower().startswith(what)]
    drag_columns = column("c_d")[:1] if len(column("c_d")) == 1 else [i for i in column("c_d") if "all" not in head[i]]
    lift_columns = column("c_l")[:1] if len(column("c_l")) == 1 else [i for i in column("c_l") if "all" not in head[i]]
    drag = [sum(float(r[i]) for i in drag_columns) for r in rows]
    lift = [sum(float(r[i]) for i in lift_columns) for r in rows]
    size = len(drag) // 8
    spread = [statistics.pstdev(lift[k * size:(k + 1) * size]) for k in range(8)]
    mean = statistics.fmean(drag[4 * size:])
    low, high = BODIES[name][2]
    calm = spread[7] <= max(2 * max(spread[2:7]), 1e-3)
    sane = low <= mean <= high
    return calm and sane, f"C_D {mean:.3f}, spread of lift " + " ".join(f"{s:.3f}" for s in spread)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cutlink", default="target/release/cutlink")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("stability-out"))
    parser.add_argument("--scans", default="../shared/meshes")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=200.0)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    todo = [(n, re, c) for n in BODIES for c in (16, 32) for re in (300, 1000, 3000, 10000) if args.only in f"{n}-{re}-{c}"]

    def run(what):
        path, folder = case(*what, args.out, args.scans, args.seconds)
        done = subprocess.run([args.cutlink, "solve", str(path), "--device", args.device, "--quiet", "--force"], capture_output=True, text=True)
        result = judge(what[0], folder, done.returncode, done.stderr)
        print("ok  " if result[0] else "FAIL", *what, result[1], flush=True)
        return what, result

    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(run, todo))
    with open(args.out / "table.md", "w") as file:
        file.write("| body | Re | cells a D | stable | found |\n|---|---|---|---|---|\n")
        for (name, re, cells), (good, text) in results:
            file.write(f"| {name} | {re} | {cells} | {'yes' if good else '**no**'} | {text} |\n")
    failed = [what for what, (good, _) in results if not good]
    print(json.dumps({"flows": len(results), "failed": len(failed)}))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
