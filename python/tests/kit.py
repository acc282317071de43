"""What several tests use."""

import os
import signal
import threading
from pathlib import Path

ROOT = Path(__file__).parents[2]
RADIUS = 0.5
SPHERE = {"domain": [-1, -1, -1, 1, 1, 1], "root": 32, "levels": 3, "wall_distance": 0.1}


def interrupt_after(seconds):
    """Sends this process SIGINT once it has worked so long."""
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.daemon = True
    timer.start()
    return timer
