"""What .ci/release checks and makes without a compiler.

    release.py version                 the version, if all files agree on it and the changelog has the form of releases
    release.py version --tag           the same; the changelog has a section of it, the tree is clean and HEAD has its tag
    release.py notes VERSION           the section of a version in the changelog
    release.py begin VERSION DATE      gives "Unreleased" the name of a version, and sets the version everywhere
    release.py licences                licences of all crates in the program, with their texts
    release.py wheel FILE LICENCES [LABEL]
                                       adds the licences to a wheel, and a local version label such as cuda13; prints its path
"""

import base64
import csv
import hashlib
import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NUMBER = r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)"
HEADING = re.compile(rf"^## ({NUMBER}) – (\d{{4}}-\d{{2}}-\d{{2}})$")


def fail(text):
    sys.exit(f"release: {text}")


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def workspace_version():
    found = re.search(r'^\[workspace\.package\]\nversion = "([^"]+)"', read("Cargo.toml"), re.MULTILINE)
    if not found or not re.fullmatch(NUMBER, found[1]):
        fail("Cargo.toml has no version X.Y.Z in [workspace.package]")
    return found[1]


def sections(text):
    """Headings of the second level and what is below each."""
    parts = re.split(r"^(## .*)$", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def check_changelog(text):
    """The form of the changelog; returns the versions, latest first."""
    headings = [heading for heading, _ in sections(text)]
    if headings[:1] != ["## Unreleased"]:
        fail('CHANGELOG.md: the first section has to be "## Unreleased"')
    versions = []
    for heading in headings[1:]:
        found = HEADING.match(heading)
        if not found:
            fail(f'CHANGELOG.md: "{heading}" is not "## X.Y.Z – YYYY-MM-DD"')
        versions.append(tuple(map(int, found.group(2, 3, 4))))
    if versions != sorted(set(versions), reverse=True):
        fail("CHANGELOG.md: versions have to fall from the top, each once")
    return [".".join(map(str, version)) for version in versions]


def disagreements(version):
    """Places with another version of our crates."""
    for line in read("Cargo.toml").splitlines():
        found = re.match(r'(cutlink\S*) = \{ path = .*version = "([^"]+)"', line)
        if found and found[2] != version:
            yield f"Cargo.toml: {found[1]} {found[2]}"
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        for name, other in re.findall(r'\[\[package\]\]\nname = "(cutlink[^"]*)"\nversion = "([^"]+)"', read(lock)):
            if other != version and name != "cutlink-fuzz":
                yield f"{lock}: {name} {other}"


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def check_version(tagged):
    version = workspace_version()
    if wrong := list(disagreements(version)):
        fail(f"the version is {version}, but " + "; ".join(wrong))
    released = check_changelog(read("CHANGELOG.md"))
    if tagged:
        if version not in released[:1]:
            fail(f"the latest release in CHANGELOG.md is not {version}: .ci/release.py begin {version} DATE")
        if git("status", "--porcelain"):
            fail("the tree has changes that are not committed")
        if f"v{version}" not in git("tag", "--points-at", "HEAD").split():
            fail(f"HEAD has no tag v{version}: git tag -a v{version}")
    return version


def notes(version):
    for heading, body in sections(read("CHANGELOG.md")):
        if heading.startswith(f"## {version} –"):
            return body.strip()
    return fail(f"CHANGELOG.md has no section of {version}")


def begin(version, date):
    if not re.fullmatch(NUMBER, version) or not HEADING.match(f"## {version} – {date}"):
        fail("give a version X.Y.Z and a date YYYY-MM-DD")
    text = read("CHANGELOG.md")
    before, earlier = workspace_version(), check_changelog(text)
    if tuple(map(int, version.split("."))) < tuple(map(int, before.split("."))) or version in earlier:
        fail(f"{version} does not come after {before}")
    new = text.replace("## Unreleased\n", f"## Unreleased\n\n## {version} – {date}\n", 1)
    (ROOT / "CHANGELOG.md").write_text(new, encoding="utf-8")
    manifest = read("Cargo.toml").replace(f'version = "{before}"\nedition', f'version = "{version}"\nedition', 1)
    manifest = re.sub(r'^(cutlink\S* = \{ path = .*version = ")[^"]+"', rf'\g<1>{version}"', manifest, flags=re.MULTILINE)
    (ROOT / "Cargo.toml").write_text(manifest, encoding="utf-8")
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        pattern = rf'(\[\[package\]\]\nname = "cutlink(?!-fuzz)[^"]*"\nversion = "){re.escape(before)}"'
        (ROOT / lock).write_text(re.sub(pattern, rf'\g<1>{version}"', read(lock)), encoding="utf-8")


def licences():
    """What is compiled into the program: names, versions, licences, and the texts that come with the sources, each once."""
    line = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
    found = json.loads(subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=True).stdout)
    packages = {package["id"]: package for package in found["packages"]}
    nodes = {node["id"]: node for node in found["resolve"]["nodes"]}
    ours = set(found["workspace_members"])
    pending = [i for i in ours if packages[i]["name"] in ("cutlink-tools", "cutlink-python")]
    reached = set()
    while pending:
        here = pending.pop()
        if here in reached:
            continue
        reached.add(here)
        for dependency in nodes[here]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                pending.append(dependency["pkg"])
    out = ["Third-party code in the program and the Python module of cutlink", ""]
    texts = {}
    for package in sorted((packages[i] for i in reached - ours), key=lambda package: package["name"]):
        named = f"{package['name']} {package['version']}"
        if not package["license"] and not package["license_file"]:
            fail(f"{named} has no licence")
        out.append(f"{named}: {package['license'] or package['license_file']}")
        folder = Path(package["manifest_path"]).parent
        files = [path for path in sorted(folder.iterdir()) if re.match(r"(?i)(licen[cs]e|copying|notice|ofl)", path.name)]
        for path in files:
            if path.is_file():
                texts.setdefault(path.read_text(encoding="utf-8", errors="replace").strip(), []).append(named)
    for text, names in texts.items():
        out += ["", "-" * 78, ", ".join(names), "-" * 78, "", text]
    return "\n".join(out)


def wheel(path, licences_of, label=None):
    """A wheel with the licences of others, and with a local version label where there is one."""
    path = Path(path)
    name, version, *tags = path.stem.split("-")
    labelled = f"{version}+{label}" if label else version
    old, new = f"{name}-{version}.dist-info/", f"{name}-{labelled}.dist-info/"
    target = path.with_name("-".join([name, labelled, *tags]) + ".whl")
    record = io.StringIO()
    lines = csv.writer(record, lineterminator="\n")
    temporary = path.with_suffix(".tmp")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as made:

        def put(info, data):
            made.writestr(info, data, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.writerow([info.filename, f"sha256={digest}", len(data)])

        stamp = None
        for info in source.infolist():
            if info.filename == old + "RECORD":
                continue
            data = source.read(info)
            stamp = stamp or info
            if info.filename == old + "METADATA":
                wanted = f"\nVersion: {version}\n".encode()
                head, blank, body = data.partition(b"\n\n")
                head += b"\n"
                if head.count(wanted) != 1:
                    fail(f"{path} has no version {version} in its metadata")
                head = head.replace(wanted, f"\nVersion: {labelled}\n".encode())
                data = head + b"License-File: THIRD-PARTY.txt" + blank + body
            if info.filename.startswith(old):
                info.filename = new + info.filename.removeprefix(old)
            put(info, data)

        def fresh(filename):
            info = zipfile.ZipInfo(filename, stamp.date_time)
            info.external_attr = 0o644 << 16
            return info

        put(fresh(new + "licenses/THIRD-PARTY.txt"), Path(licences_of).read_bytes())
        lines.writerow([new + "RECORD", "", ""])
        made.writestr(fresh(new + "RECORD"), record.getvalue(), zipfile.ZIP_DEFLATED)
    path.unlink()
    temporary.rename(target)
    return target


def main(arguments):
    match arguments:
        case ["version"] | ["version", "--tag"]:
            print(check_version("--tag" in arguments))
        case ["notes", version]:
            print(notes(version))
        case ["begin", version, date]:
            begin(version, date)
        case ["licences"]:
            print(licences())
        case ["wheel", path, texts, *label] if len(label) < 2:
            print(wheel(path, texts, *label))
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
