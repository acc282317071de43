"""What .ci/release.py checks and makes: versions, the changelog, wheels with licences and labels."""

import base64
import csv
import hashlib
import importlib.util
import io
import re
import shutil
import subprocess
import tomllib
import zipfile

import pytest
from kit import ROOT


@pytest.fixture
def release(tmp_path):
    """The script, for a copy of the files that it reads and writes."""
    spec = importlib.util.spec_from_file_location("release", ROOT / ".ci/release.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for name in ("Cargo.toml", "Cargo.lock", "fuzz/Cargo.lock", "CHANGELOG.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    module.ROOT = tmp_path
    return module


def test_a_version_is_begun_everywhere(release, tmp_path):
    before = release.check_version(tagged=False)
    text = (tmp_path / "CHANGELOG.md").read_text()
    assert re.fullmatch(r"\d+\.\d+\.\d+", before)
    release.begin("77.0.1", "2030-01-31")
    assert release.check_version(tagged=False) == "77.0.1"
    manifest = tomllib.loads((tmp_path / "Cargo.toml").read_text())["workspace"]
    assert manifest["package"]["version"] == "77.0.1"
    ours = {name: of for name, of in manifest["dependencies"].items() if name.startswith("cutlink")}
    assert len(ours) > 15 and all(of["version"] == "77.0.1" for of in ours.values())
    for lock in ("Cargo.lock", "fuzz/Cargo.lock"):
        old, new = (tomllib.loads((of / lock).read_text())["package"] for of in (ROOT, tmp_path))
        changed = [(a["name"], b["version"]) for a, b in zip(old, new, strict=True) if a != b]
        assert len(changed) > 10 and all(name.startswith("cutlink") and v == "77.0.1" for name, v in changed)
    # The section has what was not released, and the next one is empty.
    assert release.notes("77.0.1") == text.split("## Unreleased\n")[1].split("\n## ")[0].strip()
    new = (tmp_path / "CHANGELOG.md").read_text()
    assert "## Unreleased\n\n## 77.0.1 – 2030-01-31\n" in new
    for version, date in (
        ("77.0.1", "2030-02-01"),
        ("0.0.1", "2030-02-01"),
        ("78.0", "2030-02-01"),
        ("78.0.0", "soon"),
    ):
        with pytest.raises(SystemExit, match="does not come after|give a version"):
            release.begin(version, date)


def test_versions_that_disagree_are_told(release, tmp_path):
    path = tmp_path / "Cargo.toml"
    version = release.workspace_version()
    wrong = path.read_text().replace(
        f'cutlink-mpi = {{ path = "mpi", version = "{version}"', 'cutlink-mpi = { path = "mpi", version = "9.9.9"'
    )
    path.write_text(wrong)
    with pytest.raises(SystemExit, match="cutlink-mpi 9.9.9"):
        release.check_version(tagged=False)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("## 0.1.0 – 2026-01-01\n", "first section"),
        ("## Unreleased\n## 0.1 – 2026-01-01\n", "is not"),
        ("## Unreleased\n## 0.1.0 - 2026-01-01\n", "is not"),
        ("## Unreleased\n## 0.1.0 – 2026-01-01\n## 0.2.0 – 2026-02-01\n", "have to fall"),
        ("## Unreleased\n## 0.1.0 – 2026-01-01\n## 0.1.0 – 2026-01-01\n", "have to fall"),
    ],
)
def test_changelogs_of_another_form_are_refused(release, text, what):
    assert release.check_changelog("## Unreleased\n## 0.2.0 – 2026-02-01\n## 0.1.0 – 2026-01-01\n") == [
        "0.2.0",
        "0.1.0",
    ]
    with pytest.raises(SystemExit, match=what):
        release.check_changelog(text)


def test_a_release_needs_its_section_a_clean_tree_and_its_tag(release, tmp_path):
    def git(*line):
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *line], cwd=tmp_path, check=True, capture_output=True
        )

    git("init", "-q")
    with pytest.raises(SystemExit, match="latest release in CHANGELOG.md is not"):
        release.check_version(tagged=True)
    release.begin("77.0.0", "2030-01-31")
    with pytest.raises(SystemExit, match="not committed"):
        release.check_version(tagged=True)
    git("add", ".")
    git("commit", "-qm", "77.0.0")
    with pytest.raises(SystemExit, match="no tag v77.0.0"):
        release.check_version(tagged=True)
    git("tag", "-a", "v77.0.0", "-m", "cutlink 77.0.0")
    assert release.check_version(tagged=True) == "77.0.0"


@pytest.mark.parametrize("label", [None, "cuda13"])
def test_wheels_get_licences_and_a_label(release, tmp_path, label):
    path = tmp_path / "cutlink-0.1.0-cp310-abi3-linux_x86_64.whl"
    info = "cutlink-0.1.0.dist-info/"
    files = {
        "cutlink/__init__.py": b"Version: 0.1.0\n",
        info + "METADATA": b"Metadata-Version: 2.4\nName: cutlink\nVersion: 0.1.0\n\nVersion: 0.1.0\n",
        info + "WHEEL": b"Wheel-Version: 1.0\n",
        info + "RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as made:
        for name, data in files.items():
            made.writestr(name, data)
    (tmp_path / "texts").write_text("MIT")
    found = release.wheel(path, tmp_path / "texts", *([label] if label else []))
    version = "0.1.0+cuda13" if label else "0.1.0"
    assert found.name == f"cutlink-{version}-cp310-abi3-linux_x86_64.whl" and found.exists()
    assert sorted(p.name for p in tmp_path.glob("*.whl")) == [found.name]
    new = f"cutlink-{version}.dist-info/"
    with zipfile.ZipFile(found) as made:
        has = {name: made.read(name) for name in made.namelist()}
    assert list(has)[-1] == new + "RECORD" and has["cutlink/__init__.py"] == files["cutlink/__init__.py"]
    assert has[new + "licenses/THIRD-PARTY.txt"] == b"MIT"
    head, _, body = has[new + "METADATA"].partition(b"\n\n")
    assert f"\nVersion: {version}\n".encode() in head and b"\nLicense-File: THIRD-PARTY.txt" in head
    assert body == b"Version: 0.1.0\n", "the description is as it was"
    rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(has[new + "RECORD"].decode()))}
    assert set(rows) == set(has) and rows.pop(new + "RECORD") == ("", "")
    for name, (digest, size) in rows.items():
        sha = base64.urlsafe_b64encode(hashlib.sha256(has[name]).digest()).rstrip(b"=").decode()
        assert (digest, size) == (f"sha256={sha}", str(len(has[name]))), name
