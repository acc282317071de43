"""Meshes that several tests use, and the program, whose output the module has to equal."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import cutlink
import pytest
from kit import ROOT, SPHERE


@pytest.fixture(scope="session")
def sphere():
    """A sphere of radius 0.5 at the origin, on three levels."""
    return cutlink.mesh("sphere:r=0.5", **SPHERE)


@pytest.fixture(scope="session")
def wing():
    """A 2D mesh."""
    return cutlink.mesh("naca:2412", levels=4)


@pytest.fixture(scope="session")
def program():
    """Runs the program with ``--json``; returns the object that it prints."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    places = [os.environ.get("CUTLINK_PROGRAM"), target / "release/cutlink", target / "debug/cutlink"]
    found = next((shutil.which(place) for place in places if place and shutil.which(place)), None)
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("the program is not built")
        pytest.skip("the program is not built: set CUTLINK_PROGRAM, or run cargo build")

    def run(*arguments):
        line = [found, *map(str, arguments), "--json"]
        done = subprocess.run(line, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return run
