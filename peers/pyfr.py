"""Degrees of freedom a second of a periodic box of hexahedra of order 3, f64, on one thread: `cutlink bench flux` and PyFR in turn.

PyFR needs a newer libxsmm than Debian has: `xsmm_shim.c` gives version 1.17 the present interface. Its time is the processor time
that a run of more steps takes beyond a shorter one, so that its start does not count. PyFR's elements are curved and unstructured, and
its kernels are of any order: it pays for what cutlink does not have.
"""

import json
import os
import resource
import subprocess

EDGE = 20
STEPS = (20, 120)
TIME_STEP = 0.0002
# Points times unknowns times stages of the three-stage Runge-Kutta scheme.
NUMBERS = EDGE**3 * 4**3 * 5 * 3

CASE = """
[backend]
precision = double
[backend-openmp]
cc = gcc
[constants]
gamma = 1.4
mu = 1e-6
Pr = 0.72
[solver]
system = {system}
order = 3
[solver-time-integrator]
scheme = tvd-rk3
controller = none
tstart = 0.0
tend = {end}
dt = {dt}
[solver-interfaces]
riemann-solver = rusanov
ldg-beta = 0.5
ldg-tau = 0.1
[solver-elements-hex]
soln-pts = gauss-legendre
[solver-interfaces-quad]
flux-pts = gauss-legendre
[soln-ics]
rho = 1 + 0.2*sin(2*pi*(x + y + z))
u = 1
v = 1
w = 1
p = 1
"""


def mesh(path):
    """A periodic unit box of equal hexahedra for Gmsh's readers."""
    points = EDGE + 1

    def at(i, j, k):
        return 1 + i + points * (j + points * k)

    names = [f'2 {2 * a + s + 1} "periodic_{a}_{"lr"[s]}"' for a in range(3) for s in range(2)] + ['3 7 "fluid"']
    nodes = [(i, j, k) for k in range(points) for j in range(points) for i in range(points)]
    elements = []
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        for side in range(2):
            for b in range(EDGE):
                for a in range(EDGE):
                    corners = []
                    for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        place = [side * EDGE] * 3
                        place[others[0]], place[others[1]] = a + u, b + v
                        corners.append(at(*place))
                    elements.append((3, 2 * axis + side + 1, corners))
    face = ((0, 0), (1, 0), (1, 1), (0, 1))
    for i, j, k in ((i, j, k) for k in range(EDGE) for j in range(EDGE) for i in range(EDGE)):
        elements.append((5, 7, [at(i + u, j + v, k + w) for w in (0, 1) for u, v in face]))
    with open(path, "w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(names)}\n" + "\n".join(names))
        file.write(f"\n$EndPhysicalNames\n$Nodes\n{len(nodes)}\n")
        file.writelines(f"{n} {x / EDGE} {y / EDGE} {z / EDGE}\n" for n, (x, y, z) in enumerate(nodes, 1))
        file.write(f"$EndNodes\n$Elements\n{len(elements)}\n")
        for n, (kind, group, corners) in enumerate(elements, 1):
            file.write(f"{n} {kind} 2 {group} {group} {' '.join(map(str, corners))}\n")
        file.write("$EndElements\n")


class PyFr:
    def __init__(self, settings):
        self.work = settings.work / "pyfr"
        self.work.mkdir(exist_ok=True)
        venv = settings.work / "venv"
        self.program = venv / "bin/pyfr"
        shim = [settings.here / "xsmm_shim.c", "-o", self.work / "libxsmm.so"]
        library = ["-Wl,--whole-archive", "-lxsmm", "-Wl,--no-whole-archive", "-lxsmmnoblas", "-lpthread", "-ldl", "-lm"]
        subprocess.run(["gcc", "-shared", "-fPIC", "-O2", *shim, *library], check=True)
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMP_NUM_THREADS": "1"}
        paths = {"PYFR_LIBRARY_PATH": str(self.work), "LD_LIBRARY_PATH": str(venv / "lib")}
        self.env = {**os.environ, **allowed, **paths}
        mesh(self.work / "box.msh")
        self.call("import", "box.msh", "box.pyfrm")

    def call(self, *arguments):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([self.program, *arguments], check=True, cwd=self.work, env=self.env, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    def rate(self, system):
        times = []
        for steps in STEPS:
            case = CASE.format(system=system, end=repr(steps * TIME_STEP), dt=TIME_STEP)
            (self.work / "box.ini").write_text(case)
            times.append(self.call("run", "-b", "openmp", "box.pyfrm", "box.ini"))
        return 1e-9 * NUMBERS * (STEPS[1] - STEPS[0]) / (times[1] - times[0])


def cutlink(settings, system):
    bench = [settings.cutlink, "bench", "flux", "--order", "3", "--elements", str(EDGE), "--runs", "3"]
    bench += ["--device", "cpu", "--threads", "1", "--json"]
    bench += ["--viscous"] if system == "navier-stokes" else []
    done = subprocess.run(bench, check=True, stdout=subprocess.PIPE)
    cases = json.loads(done.stdout)["cases"]
    [case] = [c for c in cases if c["dimensions"] == 3 and c["precision"] == "f64" and not c["has_hanging_faces"]]
    return 1e-9 * case["degrees_of_freedom_per_second"]


def study(settings, only=None):
    pyfr = PyFr(settings)
    for system in only or ["euler", "navier-stokes"]:
        for _ in range(settings.repeat):
            row = {"system": system, "edge": EDGE, "cutlink": cutlink(settings, system), "pyfr": pyfr.rate(system)}
            row["ratio"] = row["cutlink"] / row["pyfr"]
            settings.save("pyfr", row)
