"""Updates a second of a periodic D3Q19 box, f64, one relaxation time: `cutlink bench solve` and lbmpy in turn."""

import json
import subprocess

CELLS = 128
STEPS = 5


def lbmpy(settings, threads):
    worker = [settings.work / "venv/bin/python", settings.here / "peer_lbmpy.py"]
    numbers = [CELLS, STEPS, 3, threads]
    done = subprocess.run([*worker, *map(str, numbers)], check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout.splitlines()[-1])


def cutlink(settings, threads):
    bench = [settings.cutlink, "bench", "solve", "--case", "box", "--lattice", "d3q19", "--precision", "f64"]
    bench += ["--collision", "bgk", "--cells", str(CELLS), "--steps", str(STEPS), "--runs", "3"]
    bench += ["--device", "cpu", "--threads", str(threads), "--json"]
    done = subprocess.run(bench, check=True, stdout=subprocess.PIPE)
    case = json.loads(done.stdout)["cases"][0]
    return {"mlups": case["mlups_best"], "of_copy": case["of_copy"]}


def study(settings, only=None):
    for threads in settings.threads:
        for _ in range(settings.repeat):
            row = {"threads": threads, "cutlink": cutlink(settings, threads), "lbmpy": lbmpy(settings, threads)}
            row["ratio"] = row["cutlink"]["mlups"] / row["lbmpy"]["mlups"]
            settings.save("flows", row)
