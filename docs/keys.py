#!/usr/bin/env python3
"""Tables of keys by the schema of cases: `keys.py PROGRAM` writes them into the pages, `--check` compares them.

The sentence on a field of a case is the source: `cutlink solve --schema` has it, and so have editors and Python. A comment in a
page says what its table has, a definition of the schema and its keys a line:

    <!-- keys
    [domain] DomainTable: box, root
    camera. CameraSpec: from, at
    -->

The first word is the name of the table, a prefix of the keys, or left out. Each definition of a table must be named, and have all
its keys in each page that names it.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys

PAGES = ["docs/case.md", "docs/flux-reconstruction.md", "docs/two-phase.md", "docs/grains.md"]
BLOCK = re.compile(r"(<!-- keys\n(.*?)-->\n)(?:\n(?:\|[^\n]*\n)+)?", re.S)
LINE = re.compile(r"(?:(?P<title>\[.*\]|[\w.]+\.) )?(?P<definition>\w+): (?P<keys>.*)")
WHAT_FOR = re.compile(r"(?:Of|For) (.*?): (.*)", re.S)
# The last sentences, which are the column of defaults.
DEFAULT = re.compile(r"^(?P<meaning>.*?)(?: (?P<required>Required[^.]*)\.)?(?: Default: (?P<default>.*)\.)?$", re.S)
# Names of more values than these have a table of their own.
MOST_NAMES = 10


def small(text: str) -> str:
    """Without the capital of a sentence."""
    return text[:1].lower() + text[1:] if re.match(r"[A-Z]([a-z-]|$| )", text) and not text.startswith(NAMES) else text


NAMES = ("Reynolds", "Mach", "Courant", "Coulomb", "Poisson", "Prandtl", "Young", "Pa,", "Q ")


class Schema:
    """The definitions of a schema."""

    def __init__(self, schema: dict) -> None:
        self.definitions = schema["definitions"]

    def keys(self, definition: str) -> dict:
        found = self.definitions.get(definition, {}).get("properties")
        if found is None:
            sys.exit(f"the schema has no table {definition}")
        return found

    def names(self, field: dict) -> list[str]:
        """The names that a field takes, if it takes nothing else."""
        to = field.get("$ref") or next((a["$ref"] for a in field.get("allOf", []) if "$ref" in a), None)
        to = self.definitions[to.rsplit("/", 1)[1]] if to else field
        if "oneOf" in to:
            return [name for one in to["oneOf"] for name in one.get("enum", [one.get("const")]) if name]
        return to.get("enum", [])

    def row(self, definition: str, key: str) -> tuple[str, str, str]:
        """What a key is for, its meaning, its default."""
        fields = self.keys(definition)
        if key not in fields:
            sys.exit(f"{definition} has no key {key}: {', '.join(fields)}")
        field = fields[key]
        what_for, text = "", field["description"].replace("\n", " ")
        if found := WHAT_FOR.fullmatch(text):
            what_for, text = found.groups()
        # As the command line has it.
        text = re.sub(r" \[default: (.*)\]$", r". Default: \1.", text)
        parts = DEFAULT.fullmatch(text)
        meaning = small(parts["meaning"].removesuffix("."))
        names = self.names(field)
        if 0 < len(names) <= MOST_NAMES and not any(re.search(rf"\b{name}\b", meaning) for name in names):
            meaning += ": " + ", ".join(f"`{name}`" for name in names)
        required = parts["required"] or ("Required" if key in self.definitions[definition].get("required", []) else None)
        default = ", else ".join(small(part) for part in [required, parts["default"]] if part)
        return what_for, meaning, default


def table(schema: Schema, lines: str, seen: dict[str, set[str]]) -> str:
    """The table of the lines of a comment."""
    rows = []
    for line in lines.strip().splitlines():
        found = LINE.fullmatch(line.strip())
        if not found:
            sys.exit(f"this line of keys is not understood: {line}")
        title = found["title"] or ""
        prefix, label = ("", f"`{title}`") if title.startswith("[") else (title, "")
        for key in found["keys"].split(", "):
            seen.setdefault(found["definition"], set()).add(key)
            what_for, meaning, default = schema.row(found["definition"], key)
            rows.append((label, f"`{prefix}{key}`", what_for, meaning, default))
            label = ""
    titles = ("table", "key", "for", "meaning", "default")
    used = [i for i, title in enumerate(titles) if any(row[i] for row in rows)]

    def line(row: tuple[str, ...]) -> str:
        """The columns that are used; empty ones are a blank wide."""
        cells = " | ".join(row[i].replace("|", "\\|") for i in used)
        return re.sub(" +", " ", f"| {cells} |\n")

    return line(titles) + "|" + "---|" * len(used) + "\n" + "".join(map(line, rows))


def page(schema: Schema, text: str, name: str, named: set[str]) -> str:
    """A page with its tables as they should be, whose definitions are added to those that are named."""
    seen: dict[str, set[str]] = {}
    done = BLOCK.sub(lambda found: found[1] + "\n" + table(schema, found[2], seen), text)
    for definition, keys in seen.items():
        if left := sorted(set(schema.keys(definition)) - keys):
            sys.exit(f"{name}: {definition} has the keys {', '.join(left)}, too")
    named.update(seen)
    return done


def unnamed(schema: Schema, named: set[str]) -> list[str]:
    """Tables that no page has, but for those whose keys are the faces of a box."""
    tables = {name: found["properties"] for name, found in schema.definitions.items() if "properties" in found}
    faces = [name for name, keys in tables.items() if all(re.fullmatch("[xyz][+-]", key) for key in keys)]
    return sorted(set(tables) - named - set(faces))


def self_test(schema: Schema) -> None:
    """That a changed sentence, a missing and an unknown key are seen."""
    text = "<!-- keys\nDomainTable: box, root\n-->\n"
    named: set[str] = set()
    good = page(schema, text, "a page", named)
    assert page(schema, good, "a page", named) == good and "| `root` |" in good
    assert page(schema, good.replace("corner", "edge"), "a page", named) == good
    assert named == {"DomainTable"} and "PhysicsTable" in unnamed(schema, named)
    for wrong in [text.replace(", root", ""), text.replace("root", "roots"), text.replace("Domain", "Place")]:
        try:
            page(schema, wrong, "a page", named)
        except SystemExit:
            continue
        raise AssertionError(f"not seen: {wrong}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    printed = subprocess.run([options.program, "solve", "--schema"], check=True, text=True, stdout=subprocess.PIPE)
    schema = Schema(json.loads(printed.stdout))
    self_test(schema)
    count, named = 0, set()
    for name in PAGES:
        path = pathlib.Path(name)
        text = path.read_text()
        done = page(schema, text, name, named)
        count += len(BLOCK.findall(done))
        if done != text and options.check:
            sys.exit(f"{name}: tables are not those of the schema: docs/keys.py {options.program} writes them")
        if done != text:
            path.write_text(done)
    if left := unnamed(schema, named):
        sys.exit(f"no page has {', '.join(left)}")
    print(f"{count} tables have the keys of the schema")


if __name__ == "__main__":
    main()
