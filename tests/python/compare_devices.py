#!/usr/bin/env python3
"""Meshes the same input on two devices and compares what the program says of the two meshes.

    compare_devices.py CUTLINK SCANS DEVICE_A DEVICE_B [--full] [--shift-b N] [--only WORD]

Compared: exit codes, and of meshes the checksum (leaves, classes, distances, patches), counts of every level,
cells, links, thin places. The device of each report must be the one asked for. Prints a line a case (one for all
of `broken/`) and ends with "N compared, M differ"; exit code 1 where something differs, fails,
or fewer cases than expected were compared. --full runs the largest cases on both devices, and not on the second alone, and the dragon
from 4 and 9 times as many triangles.
--shift-b adds levels on the second device: then everything must differ, which is how this script is tested.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

KEYS = ["levels", "blocks", "cells", "solid_finest", "links", "boundary_cells", "gap_links", "thin", "checksum"]
UNIT_BOX = ["--domain", "0,0,0,1,1,1", "--root", "64", "--wall-distance", "0.05"]
LIMIT_S = 480
SOUND = 40


def find(folder, name):
    """A file, or its copy packed by gzip."""
    for path in (folder / name, folder / (name + ".gz")):
        if path.is_file():
            return path
    sys.exit(f"{folder / name} is missing")


def split_dragon(scans, folder):
    """The dragon with each face split in 4 and in 9."""
    for parts in (2, 3):
        file = pathlib.Path(folder) / f"dragon_{parts * parts}.ply"
        script = pathlib.Path(__file__).with_name("split.py")
        subprocess.run([sys.executable, str(script), str(find(scans, "dragon_unit.ply")), str(parts), str(file)], check=True)
        for levels in (3, 5):
            yield f"dragon/{parts * parts} {levels}", [str(file), *UNIT_BOX], levels, False


def cases(scans):
    """Name, input arguments, levels, whether the CPU takes long."""
    for scan, name in (("bunny", "bunny_unit.stl"), ("dragon", "dragon_unit.ply")):
        for levels in range(3, 8):
            yield f"{scan} {levels}", [str(find(scans, name)), *UNIT_BOX], levels, levels > 5
    yield "bunny inside", [str(find(scans, "bunny_unit.stl")), *UNIT_BOX, "--flow", "inside"], 4, False
    bike = str(find(scans, "motorBike.stl"))
    yield "motorbike robust", [bike, "--robust", "--refine", "near:*,levels=5,distance=0"], 5, False
    yield "bunny open", [str(find(scans, "bunny_open.stl")), "--robust"], 4, False
    wing = ["--shape", "naca:2412"]
    yield "airfoil", wing, 6, False
    yield "airfoil inside", [*wing, "--flow", "inside"], 4, False
    yield "circle region", ["--shape", "circle:radius=0.5", "--refine", "box:0,-1,1,1,levels=3"], 5, False
    for shape in ("sphere:radius=0.5", "box", "torus", "cylinder:radius=0.3,height=1", "wing:0012"):
        yield shape.split(":")[0], ["--shape", shape], 4, False
    rules = ["--refine", "patch:side,levels=4", "--refine", "sphere:0,0,1,r=0.4,levels=3"]
    yield "cylinder rules", ["--shape", "cylinder:radius=0.3,height=1", *rules], 4, False


def run(cutlink, device, arguments, levels, folder):
    """Exit code, report (or what went wrong), and milliseconds of the stages."""
    out = pathlib.Path(folder) / "out.cutlink"
    command = [cutlink, "mesh", *arguments, "--levels", str(levels), "--device", device, "--json", "--no-picture"]
    try:
        done = subprocess.run([*command, "--output", str(out)], capture_output=True, text=True, timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return None, {"error": f"took more than {LIMIT_S} s"}, 0.0
    finally:
        for file in pathlib.Path(folder).iterdir():
            file.unlink()
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return None, {"error": f"exit code {done.returncode}: {done.stderr[-300:]}"}, 0.0
    if done.returncode == 0 and not report["device"]["name"].startswith(device.split(":")[0]):
        return None, {"error": f"ran on {report['device']['name']}, not on {device}"}, 0.0
    times = report.get("times_ms", {})
    return done.returncode, report, sum(times.get(k, 0.0) for k in ("bins", "voxelize", "refine", "links"))


def unlike(a, b):
    """What differs between two runs: nothing, or a few words."""
    (code_a, report_a, _), (code_b, report_b, _) = a, b
    for code, report in ((code_a, report_a), (code_b, report_b)):
        if code is None:
            return str(report["error"])
    if code_a != code_b:
        report = report_b if code_b else report_a
        return f"exit codes {code_a} and {code_b}: {report['error']['message'][:200]}"
    if code_a != 0:
        messages = [report["error"]["message"] for report in (report_a, report_b)]
        return "" if messages[0] == messages[1] else f"refused by {messages[0][:100]!r} and {messages[1][:100]!r}"
    return ", ".join(filter(None, (words(k, report_a, report_b) for k in KEYS)))


def words(key, a, b):
    """How two reports differ in a key, in short."""
    if key not in a or key not in b:
        return f"no {key}"
    a, b = a[key], b[key]
    if a == b:
        return ""
    if key == "levels" and len(a) == len(b):
        level, name = next((i, k) for i in range(len(a)) for k in a[i] if a[i][k] != b[i].get(k))
        return f"level {level}: {name} {a[level][name]} and {b[level].get(name)}"
    if key == "levels":
        return f"{len(a)} and {len(b)} levels"
    return f"{key} {a} and {b}"[:120]


def main():
    parser = argparse.ArgumentParser()
    for name in ("cutlink", "scans", "device_a", "device_b"):
        parser.add_argument(name)
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--shift-b", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--most", type=int, default=99)
    asked = parser.parse_args()
    scans = pathlib.Path(asked.scans)
    a, b = asked.device_a, asked.device_b
    compared = differ = alone = 0
    with tempfile.TemporaryDirectory(prefix="cutlink-") as folder, tempfile.TemporaryDirectory(prefix="cutlink-split-") as parts:
        print(f"{'case':<18} {'checksum':<16} {'links':>11} {a + ' ms':>9} {b + ' ms':>9}")
        all_cases = [*cases(scans), *(split_dragon(scans, parts) if asked.full else [])]
        for name, arguments, levels, slow in all_cases:
            if asked.only not in name or levels > asked.most:
                continue
            there = run(asked.cutlink, b, arguments, levels + asked.shift_b, folder)
            if slow and not asked.full:
                alone += 1
                report = there[1]
                word = "only " + b if there[0] == 0 else f"FAILED: {report.get('error')}"
                differ += there[0] != 0
                print(f"{name:<18} {report.get('checksum', '-'):<16} {report.get('links', 0):>11} {'-':>9} {there[2]:>9.1f} {word}")
                continue
            here = run(asked.cutlink, a, arguments, levels, folder)
            what = unlike(here, there) or ("exit code " + str(here[0]) if here[0] else "")
            compared += 1
            differ += bool(what)
            report = here[1]
            line = f"{name:<18} {report.get('checksum', '-'):<16} {report.get('links', 0):>11} {here[2]:>9.1f} {there[2]:>9.1f}"
            print(line + (f" DIFFERS: {what}" if what else ""), flush=True)
        sound = refused = 0
        for path in sorted((scans / "broken").glob("*")) if asked.only in "broken" else []:
            if path.name.lower().rsplit(".", 1)[-1] not in ("stl", "ply"):
                continue
            arguments = [str(path), "--root", "32"]
            here = run(asked.cutlink, a, arguments, 3, folder)
            there = run(asked.cutlink, b, arguments, 3 + asked.shift_b, folder)
            what = unlike(here, there)
            sound += here[0] == 0
            refused += here[0] in (2, 3)
            differ += bool(what)
            if what:
                print(f"broken/{path.name} DIFFERS: {what}")
        compared += sound
        print(f"broken/: {sound} sound files compared, {refused} refused on both")
    if not asked.only and sound < SOUND:
        print(f"only {sound} sound files in broken/, at least {SOUND} expected")
        differ += 1
    print(f"{compared} compared, {differ} differ, {alone} on {b} alone")
    sys.exit(1 if differ or compared == 0 else 0)


if __name__ == "__main__":
    main()
