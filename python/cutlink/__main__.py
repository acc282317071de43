"""The program ``cutlink``, as ``cutlink`` or ``python -m cutlink``: the same as that of a Rust build."""

import signal
import sys

from . import _native

__all__ = ["main"]


def main() -> int:
    """Runs the program with the arguments of the process; returns the exit code."""
    # The program has its own handler of Ctrl-C, and a closed pipe ends it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _native.run_program(["cutlink", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
