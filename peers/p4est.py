"""p4est's refine and balance against `Forest::adapt`: one criterion, one final forest, one thread.

An octant here is a block there (the criterion sees no cells). p4est keeps leaves only;
cutlink also keeps the refined blocks and every block's 26 neighbours, for which p4est
would build its ghost layer and mesh.
"""

import json
import os
import subprocess

ROOT_LEVEL = 4


def study(settings, only=None):
    program = settings.work / "p4est_adapt"
    source = settings.here / "p4est_adapt.c"
    build = ["mpicc", "-O3", "-march=native", source, "-o", program, "-lp4est", "-lsc", "-lm"]
    subprocess.run(build, check=True)
    crate = ["cargo", "bench", "-q", "-p", "cutlink-amr", "--bench", "sphere", "--"]
    for levels in (4, 5, 6, 7):
        runs = {key: [] for key in ("p4est", "cutlink", "p4est cpu", "cutlink cpu", "ratio")}
        for _ in range(settings.repeat):
            theirs = [program, ROOT_LEVEL, ROOT_LEVEL + levels - 1, 3]
            ours = [*crate, 1 << ROOT_LEVEL, levels, 3]
            their = call(theirs)
            our = call(ours, cwd=settings.here.parent, env={"RAYON_NUM_THREADS": "1"})
            assert their["leaves"] == our["leaves"], "the two forests differ"
            time = their["refine"] + their["balance"] - their["criterion"]
            cpu = their["cpu"] - their["criterion"]
            runs["p4est"].append(time)
            runs["cutlink"].append(our["adapt"])
            runs["p4est cpu"].append(cpu)
            runs["cutlink cpu"].append(our["cpu"])
            runs["ratio"].append(cpu / our["cpu"])
        row = {key: sorted(values) for key, values in runs.items()}
        row |= {"levels": levels, "leaves": our["leaves"], "blocks": our["blocks"], "mesh": their["mesh"]}
        settings.save("p4est", row)


def call(command, **more):
    env = {**os.environ, **more.pop("env", {})}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=True, env=env, **more)
    return json.loads(done.stdout.strip().splitlines()[-1])
