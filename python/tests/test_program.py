"""The program that the wheel brings."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import cutlink
import pytest

SCRIPT = Path(sys.executable).parent / "cutlink"


def run(*arguments, cwd, line=(sys.executable, "-m", "cutlink")):
    return subprocess.run([*line, *arguments], cwd=cwd, capture_output=True, text=True, check=False)


def test_the_script_meshes_as_the_module_does(tmp_path):
    done = run("mesh", "--shape", "sphere:r=0.5", "--levels", "3", "--json", cwd=tmp_path, line=(SCRIPT,))
    assert done.returncode == 0, done.stderr
    mesh = cutlink.mesh("sphere:r=0.5", levels=3)
    assert json.loads(done.stdout)["checksum"] == mesh.checksum
    assert cutlink.load(tmp_path / "sphere.cutlink").checksum == mesh.checksum


def test_exit_codes_are_those_of_the_program(tmp_path):
    assert run("--version", cwd=tmp_path).stdout.split() == ["cutlink", cutlink.__version__]
    assert run("--help", cwd=tmp_path).returncode == 0
    assert run("mesh", "--no-such-option", cwd=tmp_path).returncode == 2
    missing = run("mesh", "none.stl", cwd=tmp_path)
    assert missing.returncode == 2
    assert "none.stl" in missing.stderr
    tmp_path.joinpath("open.stl").write_text(
        "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n"
    )
    assert run("mesh", "open.stl", cwd=tmp_path).returncode == 3


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_leaves_a_checkpoint(tmp_path):
    line = [sys.executable, "-m", "cutlink"]
    text = subprocess.run([*line, "solve", "--example", "cavity"], capture_output=True, text=True, check=True).stdout
    tmp_path.joinpath("cavity.toml").write_text(text)
    with subprocess.Popen([*line, "solve", "cavity.toml", "-q"], cwd=tmp_path) as process:
        begin = time.monotonic()
        while not list(tmp_path.glob("*/energy.csv")):
            assert process.poll() is None
            assert time.monotonic() - begin < 60
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 130
    assert list(tmp_path.glob("*/*.ckpt"))
