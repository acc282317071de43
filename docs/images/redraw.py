#!/usr/bin/env python3
"""Draws the pictures of the documentation anew, or compares them with what the program draws.

    redraw.py PROGRAM [--only NAME,...] [--kind quick,slow,gpu] [--out FOLDER]
    redraw.py PROGRAM --check ...
    redraw.py --self-test

Each picture has the commands that docs/pictures.md and the README give for it. `quick` ones take seconds on a plain CPU, `slow` ones
minutes, those of kind `gpu` need one. Surfaces come from ../shared/meshes; without that folder, pictures of them are left out, unless CI
is set. With --check, a picture may differ from the stored one by rounding; a text, a colour or a shape that has changed is an error.
With --out, pictures go to another folder than docs/images. Needs numpy and Pillow.
"""

import argparse
import importlib.util
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SCANS = ROOT.parent / "shared/meshes"

# A picture is as before if its mean difference is below MEAN, and that of every square of EDGE pixels below PART, of 255.
MEAN = 1.5
PART = 20.0
EDGE = 32

# Kind, commands, and the pictures that they write by name. `{scans}` is the folder of scans; `cutlink` is the program.
VIEW = "--up y --view 0.35,0.3,1"
GROUPS = [
    (
        "quick",
        ["cutlink demo", f"cutlink inspect bunny.cutlink --voxels voxels.png {VIEW}"],
        {"bunny": "bunny.png", "bunny_voxels": "voxels.png"},
    ),
    (
        "quick",
        [
            "cutlink mesh {scans}/dragon_unit.ply --levels 4 --output dragon.cutlink",
            f"cutlink inspect dragon.cutlink --voxels voxels.png {VIEW}",
        ],
        {"dragon": "dragon.png", "dragon_voxels": "voxels.png"},
    ),
    (
        "quick",
        [
            "cutlink mesh {scans}/motorBike.stl --robust --levels 5 --output motorbike.cutlink --no-picture",
            "cutlink inspect motorbike.cutlink --png slice.png --axis y --voxels voxels.png",
        ],
        {"motorbike": "slice.png", "motorbike_voxels": "voxels.png"},
    ),
    (
        "quick",
        ["cutlink mesh --shape torus:R=0.375,r=0.125 --flow inside --output duct.cutlink"],
        {"duct": "duct.png"},
    ),
    (
        "quick",
        [
            "cutlink mesh --shape box:size=1x1x0.002 --levels 4 --output plate.cutlink --no-picture",
            "cutlink inspect plate.cutlink --png plate.png --axis y",
        ],
        {"plate": "plate.png"},
    ),
]


def tutorial(name, page, picture):
    """The picture at the end of a tutorial, whose files are written and whose commands are run."""
    spec = importlib.util.spec_from_file_location("tutorials", ROOT / ".ci/tutorials.py")
    tutorials = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tutorials)
    commands = []
    for _, label, content in tutorials.blocks((ROOT / page).read_text(encoding="utf-8")):
        if "file=" in label:
            file = label.split("file=")[1].split()[0]
            commands.append(f"printf %s {shlex.quote(content)} > {file}")
        elif label == "sh":
            commands.append(content)
    return "quick", commands, {name: picture}


def example(name, of, picture, kind="slow", before=(), options=""):
    """The picture of an example, which is drawn at its end."""
    run = [f"cutlink solve --example {of} case.toml", f"cutlink solve case.toml --quiet{options}"]
    return kind, [*before, *run], {name: picture}


def row(name, of, picture):
    """The picture of a row of the validation."""
    run = f"python3 {ROOT}/validation/run.py --device cuda --cutlink $(command -v cutlink) --only {of} --out out"
    return "gpu", [run], {name: f"out/**/{picture}"}


GPU = ("gpu", (), " --device cuda")
GROUPS += [
    tutorial("tunnel_wake", "docs/learn/scan-to-forces.md", "tunnel/wake_*.png"),
    example("bunny_flow", "bunny-vortices", "bunny-vortices/vortices_*.png", before=["cutlink demo"]),
    example("bunny_wake", "bunny", "bunny-flow/wake_*.png", before=["cutlink demo"]),
    example("wake-adaptive", "wake-adaptive", "wake-adaptive/picture_*.png"),
    example("convection", "convection", "convection/picture_*.png"),
    example("flapping", "flapping", "flapping/picture_*.png"),
    example("settling", "settling", "settling/picture_*.png"),
    example("settle", "settle", "settle/render_000010000.png"),
    example("fluidize", "fluidize", "fluidize/render_000000060.png"),
    example("sediment", "sediment", "sediment/render_000001700.png"),
    row("aircraft", "m24-aircraft", "q_*.png"),
    row("ring", "ring-wall", "render_*.png"),
    row("taylor_green", "taylor-flux-1600-32", "render_*.png"),
    example("car", "car", "car/render_*.png", *GPU),
    example("channel", "channel-180", "channel-180/render_*.png", *GPU),
    example("sphere_wake", "sphere-10000", "sphere-10000/wake_*.png", *GPU),
]


def drawn(program, commands, pictures, work):
    """Runs commands in a folder; the paths of the pictures by name."""
    (work / "bin").mkdir()
    (work / "bin/cutlink").symlink_to(pathlib.Path(program).resolve())
    folder = work / "work"
    folder.mkdir()
    path = os.pathsep.join([str(work / "bin"), os.environ["PATH"]])
    for command in commands:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command.replace("{scans}", str(SCANS))],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode != 0:
            raise SystemExit(f"`{command}` ended with {done.returncode}:\n{done.stdout[-3000:]}")
    found = {}
    for name, pattern in pictures.items():
        files = sorted(folder.glob(pattern))
        if not files:
            there = sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))
            raise SystemExit(f"{name}: {pattern} was not written, but {there}")
        found[name] = files[-1]
    return found


def difference(one, other):
    """How two pictures differ, in words; None where they are alike."""
    one, other = (np.asarray(Image.open(path).convert("RGB"), dtype=float) for path in (one, other))
    if one.shape != other.shape:
        return f"{one.shape[1]} x {one.shape[0]} pixels instead of {other.shape[1]} x {other.shape[0]}"
    off = np.abs(one - other).max(axis=2)
    rows, columns = (-(-n // EDGE) for n in off.shape)
    padded = np.zeros((rows * EDGE, columns * EDGE))
    padded[: off.shape[0], : off.shape[1]] = off
    parts = padded.reshape(rows, EDGE, columns, EDGE).mean(axis=(1, 3))
    if not (off.mean() < MEAN and parts.max() < PART):
        y, x = np.unravel_index(parts.argmax(), parts.shape)
        return f"they differ by {off.mean():.2f} of 255 on average, by {parts.max():.0f} about pixel {x * EDGE}, {y * EDGE}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="quick")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("--self-test", action="store_true")
    options = parser.parse_args()
    if options.self_test:
        return self_test()
    if options.program is None:
        parser.error("which program?")
    only = [n for n in options.only.split(",") if n]
    known = [n for _, _, pictures in GROUPS for n in pictures]
    unknown = [n for n in only if n not in known]
    if unknown:
        parser.error(f"no picture is called {', '.join(unknown)}; there are {', '.join(known)}")
    stale = []
    for kind, commands, pictures in GROUPS:
        names = [n for n in pictures if (n in only if only else kind in options.kind.split(","))]
        if not names:
            continue
        if any("{scans}" in command for command in commands) and not SCANS.exists():
            if "CI" in os.environ:
                raise SystemExit(f"CI is set but {SCANS} is missing")
            print(f"{', '.join(names)}: left out, without {SCANS}")
            continue
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as work:
            found = drawn(options.program, commands, pictures, pathlib.Path(work))
            took = time.monotonic() - began
            for name in names:
                stored = HERE / f"{name}.png"
                words = difference(found[name], stored) if stored.exists() else "it is new"
                print(f"{name}: {words or 'as stored'} ({took:.1f} s)", flush=True)
                if words:
                    stale.append(name)
                if not options.check:
                    options.out.mkdir(parents=True, exist_ok=True)
                    # The same pixels in fewer bytes.
                    Image.open(found[name]).save(options.out / f"{name}.png", optimize=True)
    if options.check and stale:
        raise SystemExit(f"stale: {', '.join(stale)}; draw them with docs/images/redraw.py and look at them")


def self_test():
    """That the comparison tells pictures apart, and takes rounding for none."""
    with tempfile.TemporaryDirectory() as work:
        one, other = (pathlib.Path(work) / f"{n}.png" for n in (1, 2))
        stored = Image.open(HERE / "bunny.png").convert("RGB")
        stored.save(one)
        pixels = np.asarray(stored).astype(int)
        rounded = np.clip(pixels + np.random.default_rng(1).integers(-1, 2, pixels.shape), 0, 255)
        Image.fromarray(rounded.astype(np.uint8)).save(other)
        assert difference(one, other) is None, "rounding"
        for changed in [stored.rotate(2), stored.resize((400, 400)), Image.new("RGB", stored.size, "white")]:
            changed.save(other)
            assert difference(one, other), "another picture"
        marked = pixels.copy()
        marked[-40:-36, -200:-100] = 0
        marked[-60:-36, -200:-196] = 0
        Image.fromarray(marked.astype(np.uint8)).save(other)
        assert difference(one, other), "a bar in a corner"
        moved = pixels.copy()
        moved[: len(moved) // 8] = np.roll(moved[: len(moved) // 8], 40, axis=1)
        Image.fromarray(moved.astype(np.uint8)).save(other)
        assert difference(one, other), "a part has moved"
    print("the comparison tells pictures apart")


if __name__ == "__main__":
    sys.exit(main())
