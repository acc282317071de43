"""Draws the scaling study and prints its tables and exponents: `run plot` calls this in the
virtual environment, which has matplotlib."""

import subprocess


def study(settings, only=None):
    image = settings.here.parent / "docs/images/scaling.png"
    script = settings.here / "plot_scaling.py"
    subprocess.run([settings.work / "venv/bin/python", script, settings.work / "scaling.jsonl", image], check=True)
