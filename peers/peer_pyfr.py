"""Seconds a step of a case of PyFR, by the clock and of the processor: JSON.

    python -P peer_pyfr.py MESH CASE BACKEND WINDOWS

-P keeps pyfr.py beside this from being taken for PyFR. With the mesh in memory this prints a line and waits for one, so that others
can start meanwhile; then PyFR chooses its kernels by their time. The windows follow one another in one run, after a first one that does
not count; each is so many steps that it takes about a second.
"""

import json
import sys
import time

import mpi4py.rc

mpi4py.rc.initialize = False

from pyfr.backends import get_backend  # noqa: E402
from pyfr.inifile import Inifile  # noqa: E402
from pyfr.mpiutil import init_mpi  # noqa: E402
from pyfr.readers.native import NativeReader  # noqa: E402
from pyfr.solvers import get_solver  # noqa: E402
from pyfr.solvers.base import BaseSystem  # noqa: E402

WINDOW = 1.0


def timed(solver, backend, steps):
    """Seconds a step, of the clock and of the processor. PyFR itself waits for the device after each step."""
    before, begin = solver.nsteps, (time.perf_counter(), time.process_time())
    # Half a step less: a sum of steps that is rounded down would ask for one more.
    solver.advance_to(solver.tcurr + (steps - 0.5) * solver.cfg.getfloat("solver-time-integrator", "dt"))
    backend.wait()
    end = time.perf_counter(), time.process_time()
    if solver.nsteps - before != steps:
        raise SystemExit(f"{solver.nsteps - before} steps instead of {steps}")
    return [(e - b) / steps for e, b in zip(end, begin)]


def in_turn(commit):
    def waiting(system):
        print("ready", flush=True)
        if not sys.stdin.readline():
            raise SystemExit("no turn came")
        commit(system)

    return waiting


def main():
    mesh, case, name, windows = sys.argv[1:]
    BaseSystem.commit = in_turn(BaseSystem.commit)
    init_mpi()
    config = Inifile.load(case)
    backend = get_backend(name, config)
    solver = get_solver(backend, NativeReader(mesh).mesh, None, config)
    timed(solver, backend, 2)
    steps = max(2, round(WINDOW / timed(solver, backend, 2)[0]))
    timed(solver, backend, steps)
    wall, processor = zip(*(timed(solver, backend, steps) for _ in range(int(windows))))
    # The density is within 0.8 and 1.2 at all times.
    density = solver.soln[0][:, 0]
    result = {"steps": steps, "wall": wall, "processor": processor, "density": [float(density.min()), float(density.max())]}
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
