#!/usr/bin/env python3
"""Cases by the schema of the program: `schema.py PROGRAM`, in the root of the checkout.

The schema is valid; all examples, cases of the documentation and resolved cases follow it; cases with a mistake do not, and
the validator names the place.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib

import jsonschema

PAGES = ["docs/case.md", "docs/flux-reconstruction.md", *map(str, sorted(pathlib.Path("docs/do").glob("*.md")))]
# An example, what replaces what in its text, and the place that is named.
MISTAKES = [
    ("cavity", "re = ", "rey = ", ["physics"]),
    ("cavity", "re = ", 're = "many" # ', ["physics", "re"]),
    ("cavity", "[physics]", "[phisics]", []),
    ("cavity", "[run]", '[numerics]\ncollision = "bkg"\n[run]', ["numerics", "collision"]),
    ("cavity", "[run]", '[numerics]\nwall_model = "equilibrum"\n[run]', ["numerics", "wall_model"]),
    ("cavity", "[run]", '[solver]\nkind = "flux"\n[run]', ["solver", "kind"]),
    ("cylinder", "[mesh]", "[mesh]\nlevel = 3", ["mesh"]),
    ("cylinder", "[mesh]", '[mesh]\nunit = "furlong"', ["mesh", "unit"]),
    ("vortex", "[physics]", "[physics]\nre = 100", ["physics"]),
    ("vortex", "gamma = 1.4", 'gamma = "1.4"', ["physics", "gamma"]),
]


def run(program: str, *arguments: str, cwd: str | None = None) -> str:
    done = subprocess.run([program, *arguments], check=True, text=True, stdout=subprocess.PIPE, cwd=cwd)
    return done.stdout


def cases(program: str) -> dict[str, str]:
    """All examples, and the cases of the documentation."""
    found = {}
    for file in sorted(pathlib.Path("pipeline/src/solve/examples").glob("*.toml")):
        found[file.stem] = run(program, "solve", "--example", file.stem)
    for page in PAGES:
        blocks = re.findall(r"```toml[^\n]*\n(.*?)```", pathlib.Path(page).read_text(), re.S)
        for i, block in enumerate(blocks):
            if "[run]" in block:
                found[f"{page}, block {i + 1}"] = block
    return found


def resolved(program: str, name: str) -> str:
    """The case that a run of an example writes."""
    with tempfile.TemporaryDirectory() as folder:
        run(program, "solve", "--example", name, "case.toml", cwd=folder)
        run(program, "solve", "case.toml", "--steps", "1", "--json", cwd=folder)
        (written,) = pathlib.Path(folder).glob("*/case.toml")
        return written.read_text()


def main() -> None:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    schema = json.loads(run(program, "solve", "--schema"))
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    sound = cases(program)
    for name in ["cavity", "vortex"]:
        sound[f"{name}, resolved"] = resolved(program, name)
    assert len(sound) > 20, len(sound)
    for name, text in sound.items():
        for error in validator.iter_errors(tomllib.loads(text)):
            sys.exit(f"{name}: {list(error.absolute_path)}: {error.message}")
    for name, old, new, place in MISTAKES:
        assert old in sound[name], f"{name} has no {old}"
        table = tomllib.loads(sound[name].replace(old, new, 1))
        places = [list(error.absolute_path) for error in validator.iter_errors(table)]
        if place not in places:
            sys.exit(f"{name}, {new!r}: {place} is not among {places}")
    print(f"{len(sound)} cases follow the schema, {len(MISTAKES)} mistakes are found")


main()
