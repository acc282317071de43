"""Each stage's share of the memory's copy bandwidth: the bench `bytes` of the voxelizer."""

import subprocess


def study(settings, only=None):
    bench = ["cargo", "bench", "-q", "-p", "cutlink-voxelizer", "--bench", "bytes", "--", "5", str(settings.repeat)]
    subprocess.run(bench, cwd=settings.here.parent, check=True)
