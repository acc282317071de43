"""Degrees of freedom a second of a periodic box of hexahedra of order 3: `cutlink bench flux` and PyFR in turn, on one thread or a GPU.

PyFR needs a newer libxsmm than Debian has: `xsmm_shim.c` gives version 1.17 the present interface. Without AVX-512, that version multiplies
16 columns at a time and does not ask if there are as many: of PyFR's 40 in f64 the last come out wrong, and `n-soa` makes them 80.

PyFR's time is that of further steps of a run, by the processor's time on one thread and by the clock on a GPU, so that its start does not
count. Its elements are curved and unstructured, and its kernels are of any order: it pays for what cutlink does not have.
"""

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from statistics import median

BACKENDS = {"cpu": "openmp", "cuda": "cuda"}
EDGES = {"cpu": [20], "cuda": [48, 64]}
PRECISIONS = {"cpu": {"f64": "double"}, "cuda": {"f64": "double", "f32": "single"}}
WINDOWS = 5

CASE = """
[backend]
precision = {precision}
[backend-openmp]
cc = gcc
n-soa = {soa}
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
tend = 1000
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


def mesh(path, edge):
    """A periodic unit box of equal hexahedra for Gmsh's readers."""
    points = edge + 1

    def at(i, j, k):
        return 1 + i + points * (j + points * k)

    names = [f'2 {2 * a + s + 1} "periodic_{a}_{"lr"[s]}"' for a in range(3) for s in range(2)] + ['3 7 "fluid"']
    nodes = [(i, j, k) for k in range(points) for j in range(points) for i in range(points)]
    elements = []
    for axis in range(3):
        others = [a for a in range(3) if a != axis]
        for side in range(2):
            for b in range(edge):
                for a in range(edge):
                    corners = []
                    for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        place = [side * edge] * 3
                        place[others[0]], place[others[1]] = a + u, b + v
                        corners.append(at(*place))
                    elements.append((3, 2 * axis + side + 1, corners))
    face = ((0, 0), (1, 0), (1, 1), (0, 1))
    for i, j, k in ((i, j, k) for k in range(edge) for j in range(edge) for i in range(edge)):
        elements.append((5, 7, [at(i + u, j + v, k + w) for w in (0, 1) for u, v in face]))
    with open(path, "w") as file:
        file.write(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{len(names)}\n" + "\n".join(names))
        file.write(f"\n$EndPhysicalNames\n$Nodes\n{len(nodes)}\n")
        file.writelines(f"{n} {x / edge} {y / edge} {z / edge}\n" for n, (x, y, z) in enumerate(nodes, 1))
        file.write(f"$EndNodes\n$Elements\n{len(elements)}\n")
        for n, (kind, group, corners) in enumerate(elements, 1):
            file.write(f"{n} {kind} 2 {group} {group} {' '.join(map(str, corners))}\n")
        file.write("$EndElements\n")


class PyFr:
    def __init__(self, settings, edges):
        self.here, self.device = settings.here, settings.device
        self.work = settings.work / "pyfr"
        self.work.mkdir(exist_ok=True)
        venv = settings.work / "venv"
        own = venv / "bin/python"
        self.python = own if own.exists() else sys.executable
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        self.env = {**os.environ, **allowed, "OMP_NUM_THREADS": "1"}
        folders = [str(venv / "lib")]
        if self.device == "cuda":
            for name, path in cuda_libraries([*venv.glob("lib/python*/site-packages"), *map(Path, sys.path)]):
                chosen = self.env.setdefault(f"PYFR_{name.upper()}_LIBRARY_PATH", str(path))
                # NVRTC looks in its folder for a part of itself.
                folders += [os.path.dirname(chosen)] if name == "nvrtc" else []
        else:
            shim = [settings.here / "xsmm_shim.c", "-o", self.work / "libxsmm.so"]
            library = ["-Wl,--whole-archive", "-lxsmm", "-Wl,--no-whole-archive", "-lxsmmnoblas", "-lpthread", "-ldl", "-lm"]
            subprocess.run(["gcc", "-shared", "-fPIC", "-O2", *shim, *library], check=True)
            self.env["PYFR_LIBRARY_PATH"] = str(self.work)
        self.env["LD_LIBRARY_PATH"] = ":".join(filter(None, [*folders, os.environ.get("LD_LIBRARY_PATH")]))
        for edge in edges:
            mesh(self.work / f"box{edge}.msh", edge)
            command = self.command("-m", "pyfr", "import", f"box{edge}.msh", f"box{edge}.pyfrm")
            subprocess.run(**command, check=True, stdout=subprocess.DEVNULL)

    def command(self, *arguments):
        # -P: pyfr.py beside peer_pyfr.py is not PyFR.
        return {"args": [self.python, "-P", *map(str, arguments)], "cwd": self.work, "env": self.env}

    def start(self, system, precision, edge):
        """A process that has read its mesh, and touches the device no more before its turn."""
        config = self.work / f"{system}-{precision}-{edge}.ini"
        names = {"system": system, "precision": PRECISIONS[self.device][precision], "dt": 0.004 / edge}
        names["soa"] = 1 if "avx512f" in Path("/proc/cpuinfo").read_text() else 2
        config.write_text(CASE.format(**names))
        arguments = [f"box{edge}.pyfrm", config, BACKENDS[self.device], WINDOWS]
        command = self.command(self.here / "peer_pyfr.py", *arguments)
        return subprocess.Popen(**command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def rates(self, worker, edge):
        """Median, least and most: the worker's turn."""
        out, _ = worker.communicate("go\n")
        if worker.returncode != 0:
            raise RuntimeError("PyFR failed")
        result = json.loads(out.splitlines()[-1])
        low, high = result["density"]
        # Written so that it holds for no NaN.
        if not (0.79 < low < 0.81 and 1.19 < high < 1.21):
            raise RuntimeError(f"PyFR's density is from {low} to {high}")
        # Points times unknowns times stages of the three-stage Runge-Kutta scheme.
        numbers = edge**3 * 4**3 * 5 * 3
        rates = [1e-9 * numbers / s for s in result["processor" if self.device == "cpu" else "wall"]]
        return median(rates), min(rates), max(rates)


def cuda_libraries(folders):
    """PyFR asks for libraries by names without versions, which only CUDA's toolkit has: those of Python's packages are named to it."""
    yield "cuda", Path("libcuda.so.1")
    places = [place for folder in folders for place in sorted(folder.glob("nvidia/*/lib"), reverse=True)]
    for name in ("nvrtc", "cublasLt"):
        paths = [path for place in [*places, Path("/usr/local/cuda/lib64")] for path in sorted(place.glob(f"lib{name}.so*"))]
        if paths:
            yield name, paths[0]


def cutlink(settings, system, edge):
    """By precision."""
    bench = [settings.cutlink, "bench", "flux", "--order", "3", "--elements", str(edge), "--runs", str(WINDOWS)]
    bench += ["--device", settings.device, "--json"]
    bench += ["--threads", "1", "--precision", "f64"] if settings.device == "cpu" else []
    bench += ["--viscous"] if system == "navier-stokes" else []
    report = json.loads(subprocess.run(bench, check=True, stdout=subprocess.PIPE).stdout)
    cases = [c for c in report["cases"] if c["dimensions"] == 3 and not c["has_hanging_faces"]]
    return report["device"]["model"], {c["precision"]: 1e-9 * c["degrees_of_freedom_per_second"] for c in cases}


def study(settings, only=None):
    edges = settings.edges or EDGES[settings.device]
    systems = only or ["euler", "navier-stokes"]
    precisions = PRECISIONS[settings.device]
    pyfr = PyFr(settings, edges)
    for edge, _ in product(edges, range(settings.repeat)):
        # On a GPU the starts, minutes of one core each, are made at once, and measured is what follows them in turn.
        cases = product(systems, precisions)
        workers = {case: pyfr.start(*case, edge) for case in cases} if settings.device == "cuda" else {}
        for worker in workers.values():
            worker.stdout.readline()
        for system in systems:
            model, ours = cutlink(settings, system, edge)
            for precision in precisions:
                worker = workers.get((system, precision)) or pyfr.start(system, precision, edge)
                row = {"system": system, "edge": edge, "precision": precision, "device": model or "one thread"}
                try:
                    rate, least, most = pyfr.rates(worker, edge)
                    row |= {"cutlink": ours[precision], "pyfr": rate, "pyfr_spread": [least, most]}
                    row["ratio"] = row["cutlink"] / row["pyfr"]
                except RuntimeError as error:
                    row["failed"] = str(error)
                settings.save("pyfr", row)
