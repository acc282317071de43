#!/usr/bin/env python3
"""Runs the commands of tutorials as a reader would: all shell blocks of a page in one folder of its own, one after the other.

    .ci/tutorials.py PROGRAM PAGE.md ...
    .ci/tutorials.py --self-test

A block fenced as `sh` is run by bash, with PROGRAM on the path as `cutlink`; it fails with the first command that does. A block
fenced as `toml file=NAME` (or any other language) is written to the file. A block fenced as `sh skip` needs another program and is
not run. All others are what programs print. Standard library only.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import time

FENCE = re.compile(r"^```([^\n`]*)\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
LIMIT_S = 300


def blocks(text):
    """Line, label and content of each fenced block."""
    for found in FENCE.finditer(text):
        yield text.count("\n", 0, found.start(2)) + 1, found[1].strip(), found[2]


def run(program, text, name, quiet=False):
    """Runs a page. The number of blocks that were run, or the text of the first failure."""
    ran = 0
    with tempfile.TemporaryDirectory() as root:
        root = pathlib.Path(root)
        (root / "bin").mkdir()
        (root / "bin/cutlink").symlink_to(pathlib.Path(program).resolve())
        folder = root / "work"
        folder.mkdir()
        for line, label, content in blocks(text):
            file = re.search(r"\bfile=(\S+)", label)
            if file:
                path = folder / file[1]
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(content, encoding="utf-8")
            if label != "sh":
                continue
            ran += 1
            began = time.monotonic()
            script = f'export PATH="{root}/bin:$PATH"\nset -euo pipefail\n{content}'
            done = subprocess.run(
                ["bash", "-c", script],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
            if done.returncode != 0:
                return f"{name}:{line}: exit code {done.returncode}\n{content}\n{done.stdout}"
            if not quiet:
                print(f"{name}:{line}: {time.monotonic() - began:.1f} s")
    return ran


def self_test():
    """Blocks are found, run in one folder and told apart; failures are failures."""
    page = "```toml file=a.toml\nx = 1\n```\n\n```sh\ncat a.toml > b\n```\n```text\nfalse\n```\n```sh skip\nfalse\n```\n```sh\ntest -s b\n```\n"
    assert run("/bin/true", page, "good", quiet=True) == 2
    for broken in ["```sh\nfalse\n```\n", "```sh\nfalse | true\n```\n", "```sh\ncutlink\n```\n"]:
        assert isinstance(run("/bin/false", broken, "broken", quiet=True), str), broken


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    program, *pages = arguments
    for page in pages:
        result = run(program, pathlib.Path(page).read_text(encoding="utf-8"), page)
        if isinstance(result, str):
            print(result, file=sys.stderr)
            return 1
        if result == 0:
            print(f"{page}: no commands", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
