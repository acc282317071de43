"""Runs a child and tells wall time, CPU time and peak memory of it and all it started."""

import json
import os
import resource
import shutil
import subprocess
import threading
import time
from pathlib import Path


def _high_water(group):
    """Resident high-water mark in bytes by process, for the processes of a group."""
    marks = {}
    for status in Path("/proc").glob("[0-9]*/status"):
        try:
            pid = int(status.parent.name)
            if os.getpgid(pid) == group:
                text = status.read_text()
                kib = text.split("VmHWM:")[1].split()[0]
                marks[pid] = int(kib) * 1024
        except (OSError, IndexError, ValueError):
            continue
    return marks


def measured(command, cwd=None, env=None, limit_gib=16, timeout=1800, log=None):
    """{'wall', 'cpu' in s, 'peak' in bytes, 'code', 'out'}.

    The peak of one process is the kernel's own figure; of several (MPI ranks) it is the
    sum of their high-water marks, looked at every 50 ms. A process that wants more
    than `limit_gib` of address space is refused it.
    """

    def child():
        os.setsid()
        limit = limit_gib << 30
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    start = time.perf_counter()
    process = subprocess.Popen(
        [str(c) for c in command],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        preexec_fn=child,
        stdout=subprocess.PIPE,
        stderr=open(log, "a") if log else subprocess.DEVNULL,
        text=True,
    )
    seen, done = {}, threading.Event()

    def watch():
        while not done.wait(0.05):
            for pid, mark in _high_water(process.pid).items():
                seen[pid] = max(mark, seen.get(pid, 0))
            if time.perf_counter() - start > timeout:
                os.killpg(process.pid, 9)
                return

    watcher = threading.Thread(target=watch)
    watcher.start()
    out = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    done.set()
    watcher.join()
    return {
        "wall": wall,
        "cpu": usage.ru_utime + usage.ru_stime,
        "peak": max(usage.ru_maxrss * 1024, sum(seen.values()) if len(seen) > 1 else 0),
        "code": process.returncode,
        "out": out,
    }


def last_json(run):
    """The JSON object that a child printed: its only output, or the last line of it."""
    if run["code"] != 0:
        return None
    try:
        return json.loads(run["out"])
    except json.JSONDecodeError:
        return json.loads(run["out"].strip().splitlines()[-1])


def command(settings, surface, arguments, threads):
    """`cutlink mesh` in the unit box, but for what it writes."""
    start = [settings.cutlink, "mesh", *surface, "--domain", "0,0,0,1,1,1", *arguments]
    return [*start, "--threads", threads, "--no-picture", "--force", "--json"]


def cutlink(settings, surface, arguments, threads):
    """One `cutlink mesh` in the unit box; see `mesh --json` for what `report` holds.

    `work` is everything between the surface in memory and the mesh in memory: also what
    is not a stage of its own, such as the first grid, the counts and the checksum.
    """
    name = settings.work / "out.cutlink"
    run = measured([*command(settings, surface, arguments, threads), "-o", name])
    report = last_json(run)
    name.unlink(missing_ok=True)
    if report is None:
        raise SystemExit(f"cutlink failed on {surface} {arguments}: {run['out']}")
    times = report["times_ms"]
    outside = sum(times[k] for k in ("read", "health", "write", "picture"))
    stages = sum(times[k] for k in ("bins", "voxelize", "refine", "links"))
    return {
        "work": (times["total"] - outside) / 1e3,
        "stages": stages / 1e3,
        "whole": run["wall"],
        "cpu": run["cpu"],
        "write": times["write"] / 1e3,
        "peak": run["peak"],
        "report": report,
    }


def machine(settings):
    """What to write beside the figures."""
    model = next(
        line.split(":")[1].strip()
        for line in Path("/proc/cpuinfo").read_text().splitlines()
        if line.startswith("model name")
    )
    command = ["git", "rev-parse", "--short", "HEAD"]
    has_git = shutil.which("git") is not None
    commit = subprocess.run(command, capture_output=True, text=True, cwd=settings.here).stdout.strip() if has_git else ""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") >> 30
    return {"cpu": model, "cores": os.cpu_count(), "memory_gib": memory, "commit": commit}
