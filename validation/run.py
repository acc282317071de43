#!/usr/bin/env python3
"""Flows whose answers are in the literature: writes their cases, runs `cutlink solve`, compares.

    python3 validation/run.py --list
    python3 validation/run.py --write                       # case files only
    python3 validation/run.py --device cuda --only circle   # all rows whose names begin so

The table, ours beside the source's, is printed and saved as OUT/table.md and OUT/table.json; rows of an earlier run that are not
run again stay in it. What is compared with what, and why, is in docs/validation-log.md. Standard library only.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import time

import adapting
import beds
import benchmarks
import bodies
import bounds
import compressible
import heat
import m24
import moving
import spheres
import turbulent
import two_phase


def toml(value):
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key(k)} = {toml(v)}" for k, v in value.items()) + " }"
    return repr(value)


def key(name):
    return name if name.replace("-", "").replace("_", "").isalnum() and not name.endswith("-") else json.dumps(name)


def case_text(tables):
    """A case file. Tables in a list are repeated: [[output.write]]."""
    out = []
    for name, rows in tables.items():
        for row in rows if isinstance(rows, list) else [rows]:
            out.append(f"[[{name}]]" if isinstance(rows, list) else f"[{name}]")
            out.extend(f"{key(k)} = {toml(v)}" for k, v in row.items())
            out.append("")
    return "\n".join(out)


def run_one(options, name, tables, read):
    folder = options.out / name
    tables = dict(tables, output=dict(tables["output"], folder=str(folder)))
    # A row that begins from the end of another one.
    if "after" in tables:
        tables["initial"] = {"from": str(options.out / tables.pop("after"))}
    path = options.out / f"{name}.toml"
    for file, text in tables.pop("files", {}).items():
        (options.out / file).write_text(text)
        placed = lambda table: {k: str(options.out / file) if v == file else v for k, v in table.items()}
        for table, of in tables.items():
            tables[table] = [placed(one) for one in of] if isinstance(of, list) else placed(of)
    # A command whose files the case takes.
    before = tables.pop("before", None)
    if before:
        tables["mesh"] = dict(tables["mesh"], file=str(options.out / tables["mesh"]["file"]))
    path.write_text(case_text(tables))
    if before and not options.write:
        subprocess.run([options.cutlink, *before], cwd=options.out, capture_output=True, check=True)
    if options.write:
        return None
    command = [options.cutlink, "solve", str(path), "--device", options.device, "--force"]
    command += ["--steps", str(options.steps)] if options.steps else []
    command += ["--dry-run"] if options.dry_run else []
    begin = time.monotonic()
    result = {"name": name, "command": f"python3 validation/run.py --device {options.device} --only {name}"}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
        # With 6 the verdict is wrong, and all files are there.
        if done.returncode not in (0, 6):
            result["failed"] = f"exit code {done.returncode}: {done.stderr.strip()[-400:]}"
        elif options.dry_run:
            result["note"] = done.stdout.strip().splitlines()[-1]
        else:
            result["rows"], result["note"] = read(folder)
            summary = json.loads((folder / "summary.json").read_text())
            result["mlups"], result["steps"] = summary.get("mlups"), summary.get("steps")
            result["device"] = summary.get("device", {}).get("model") or summary.get("device", {}).get("name")
    except subprocess.TimeoutExpired:
        result["failed"] = f"not done after {options.limit:.0f} s"
    result["seconds"] = round(time.monotonic() - begin, 1)
    return result


def markdown(results):
    out = ["| case | quantity | ours | source's | difference | literature | source | time |", "|---|---|---|---|---|---|---|---|"]
    for result in results:
        if "rows" not in result:
            out.append(f"| `{result['name']}` | {result.get('failed') or result.get('note', '')} | | | | | | {result['seconds']} s |".replace("\n", " "))
            continue
        for i, r in enumerate(result["rows"]):
            same = f"{100 * (r['ours'] / r['theirs'] - 1):+.1f} %" if r["theirs"] else ""
            spread = f"{r['spread'][0]} to {r['spread'][1]}" if r["spread"] else ""
            first = (f"`{result['name']}`", f"{result['seconds']} s") if i == 0 else ("", "")
            theirs = "" if r["theirs"] is None else f"{r['theirs']:.5g}"
            out.append(f"| {first[0]} | {r['quantity']} | {r['ours']:.5g} | {theirs} | {same} | {spread} | {r['source']} | {first[1]} |")
        out.append(f"| | {result['note']} | | | | | | |")
    return "\n".join(out) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="auto", help="as of cutlink solve: auto, cpu, cuda, cuda:1, ...")
    parser.add_argument("--cutlink", default="cutlink", help="the program")
    parser.add_argument("--only", action="append", default=[], metavar="NAME", help="a row, or all whose names begin so; as often as wanted")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("validation-out"), help="folder for cases, results and the table")
    parser.add_argument("--limit", type=float, default=900.0, help="seconds for each row")
    parser.add_argument("--steps", type=int, help="root steps at most, in place of the case's")
    parser.add_argument("--within", type=float, metavar="PERCENT", help="fail if a value is farther than this from its source's")
    parser.add_argument("--list", action="store_true", help="print names only")
    parser.add_argument("--write", action="store_true", help="write case files only")
    parser.add_argument("--dry-run", action="store_true", help="have cutlink check each case, run none")
    options = parser.parse_args()
    found = [r for group in (bodies, benchmarks, adapting, turbulent, m24, bounds, compressible, moving, two_phase, spheres, beds, heat) for r in group.rows()]
    names = {r[0] for r in found}
    is_meant = lambda name, only: name == only if only in names else name.startswith(only)
    chosen = [r for r in found if not options.only or any(is_meant(r[0], o) for o in options.only)]
    if not chosen:
        parser.error("no row has such a name; --list prints them")
    if options.list:
        print("\n".join(name for name, *_ in chosen))
        return 0
    options.out.mkdir(parents=True, exist_ok=True)
    saved = options.out / "table.json"
    results = {r["name"]: r for r in json.loads(saved.read_text())} if saved.exists() else {}
    failed = False
    for name, tables, read in chosen:
        result = run_one(options, name, tables, read)
        if result is None:
            continue
        print(f"{name}: {result.get('failed') or result.get('note')} ({result['seconds']} s)", file=sys.stderr, flush=True)
        failed |= "failed" in result
        for r in result.get("rows", []) if options.within else []:
            if r["theirs"] and not abs(r["ours"] / r["theirs"] - 1) <= options.within / 100:
                print(f"{name}: {r['quantity']} is {r['ours']:.5g}, not {r['theirs']:.5g}", file=sys.stderr)
                failed = True
        if options.dry_run:
            continue
        results[name] = result
        # After each row, so that what ends early keeps its table.
        saved.write_text(json.dumps(list(results.values()), indent=1))
        (options.out / "table.md").write_text(markdown(list(results.values())))
    if results and not options.dry_run and not options.write:
        print(markdown([results[name] for name, *_ in chosen if name in results]))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
