"""Each stage's share of the memory's copy bandwidth: `cutlink bench mesh`."""

import json
import subprocess


def study(settings, only=None):
    for threads in settings.threads:
        bench = [settings.cutlink, "bench", "mesh", "--case", "torus", "--levels", "5", "--device", "cpu", "--json"]
        bench += ["--runs", str(settings.repeat), "--threads", str(threads)]
        done = subprocess.run(bench, check=True, stdout=subprocess.PIPE)
        settings.save("bandwidth", json.loads(done.stdout))
