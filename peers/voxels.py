"""Plain voxelization of the unit box: VTK, pyvista, OpenVDB and cutlink as a forest of one level."""

import os
import sys

from measure import cutlink, last_json, measured

SURFACES = ["bunny_unit.stl", "dragon_unit.ply"]
# The largest n for which a peer is run: those left out take minutes to hours.
PEERS = {
    "vtk": ("peer_vtk.py", [], 1024),
    "pyvista mask": ("peer_pyvista.py", ["mask"], 1024),
    "pyvista cell_locator": ("peer_pyvista.py", ["cell_locator"], 64),
    "pyvista signed_distance": ("peer_pyvista.py", ["signed_distance"], 64),
    "openvdb": ("peer_openvdb.py", [], 1024),
}


def python_of(peer, settings):
    """Debian's own Python has OpenVDB; the others are in the virtual environment."""
    return "/usr/bin/python3" if peer == "openvdb" else settings.work / "venv/bin/python"


def run_peer(peer, settings, path, n):
    script, more, _ = PEERS[peer]
    command = [python_of(peer, settings), settings.here / script, path, n, *more]
    env = {"PYTHONDONTWRITEBYTECODE": "1"}
    run = measured(command, env=env, limit_gib=20, timeout=580, log=settings.work / "peers.err")
    report = last_json(run)
    if report is None:
        return {"failed": f"ended with {run['code']} after {run['wall']:.0f} s, {run['peak'] >> 20} MiB"}
    return {**report, "whole": run["wall"], "peak": run["peak"], "cpu": run["cpu"]}


def ours(settings, path, arguments, threads):
    run = cutlink(settings, [path], arguments, threads)
    report = run["report"]
    return {
        "read": (report["times_ms"]["read"] + report["times_ms"]["health"]) / 1e3,
        "work": run["work"],
        # Without what the peers do not make: links, and the cells at level boundaries.
        "mask": run["work"] - (report["times_ms"]["links"] + report["times_ms"]["refine"]) / 1e3,
        "stages": run["stages"],
        "whole": run["whole"] - run["write"],
        "peak": run["peak"],
        "cpu": run["cpu"],
        "inside": report["solid_finest"],
        "blocks": report["blocks"],
        "finest_leaves": report["levels"][-1]["leaf_blocks"],
        "links": report["links"],
    }


def study(settings, only=None):
    for name in SURFACES:
        path = settings.scans / name
        for n in (64, 256, 1024):
            tasks = {}
            for peer, (_, _, most) in PEERS.items():
                if n <= most and (n > 64 or most == 64):
                    tasks[peer] = lambda peer=peer: run_peer(peer, settings, path, n)
            for threads in settings.threads if n > 64 else []:
                uniform = ["--root", n, "--levels", 1]
                tasks[f"cutlink {threads}t"] = lambda t=threads, a=uniform: ours(settings, path, a, t)
                if n == 1024:
                    adaptive = ["--root", 64, "--levels", 5, "--wall-distance", 0.05]
                    tasks[f"cutlink adaptive {threads}t"] = lambda t=threads, a=adaptive: ours(settings, path, a, t)
            if only:
                tasks = {k: v for k, v in tasks.items() if any(k.startswith(o) for o in only)}
            repeat = settings.repeat if n == 256 else min(3, settings.repeat)
            for turn in range(1 if n == 64 else repeat):
                for task, call in tasks.items():
                    load = os.getloadavg()[0]
                    result = call()
                    settings.save("voxels", {"surface": name, "n": n, "peer": task, "turn": turn, "load": load, **result})
                    sys.stdout.flush()
