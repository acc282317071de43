"""Meshes of hexahedra and tetrahedra: arrays, refinement, files."""

import gc
import threading
import time

import cutlink
import numpy as np
import pytest
from kit import SPHERE

SIX = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]


def write_msh(path, n=3, tets=False, moved=None):
    """Cubes of size 1, n along each axis, or six tetrahedra for each; the floor is named. `moved`: other places of points."""

    def number(x, y, z):
        return x + (n + 1) * (y + (n + 1) * z) + 1

    lines = ["$MeshFormat", "2.2 0 8", "$EndMeshFormat", "$PhysicalNames", "1", '2 1 "floor"', "$EndPhysicalNames"]
    points = [(x, y, z) for z in range(n + 1) for y in range(n + 1) for x in range(n + 1)]
    lines += ["$Nodes", str(len(points)), *(f"{number(*p)} {x} {y} {z}" for p in points for x, y, z in [(moved or {}).get(p, p)]), "$EndNodes"]
    elements = []
    for z in range(n):
        for y in range(n):
            for x in range(n):
                quads = [
                    [number(x, y, k), number(x + 1, y, k), number(x + 1, y + 1, k), number(x, y + 1, k)]
                    for k in (z, z + 1)
                ]
                if z == 0 and not tets:
                    elements.append((3, 1, quads[0]))
                cell = quads[0] + quads[1]
                elements += [(4, 0, [cell[i] for i in six]) for six in SIX] if tets else [(5, 0, cell)]
    rows = (f"{i + 1} {kind} 2 {group} 1 {' '.join(map(str, ids))}" for i, (kind, group, ids) in enumerate(elements))
    lines += ["$Elements", str(len(elements)), *rows, "$EndElements", ""]
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def cubes(tmp_path):
    return cutlink.HexMesh.read(write_msh(tmp_path / "m.msh"))


def volumes(mesh):
    """By fans of triangles, over the arrays alone."""
    sums = np.zeros(mesh.cells)
    for face in range(len(mesh.owner)):
        ids = mesh.face_points[mesh.face_start[face] : mesh.face_start[face + 1]]
        p = mesh.points[ids]
        area = np.cross(np.roll(p, -1, 0) - p, p.mean(0) - p) / 2
        third = (area * (p + np.roll(p, -1, 0) + p.mean(0)) / 3).sum() / 3
        sums[mesh.owner[face]] += third
        if face < len(mesh.neighbour):
            sums[mesh.neighbour[face]] -= third
    return sums


def test_arrays_are_those_of_the_mesh(cubes):
    assert repr(cubes) == "<cutlink.HexMesh: 27 cells, 108 faces, 64 points, 2 patches>"
    assert cubes.points.shape == (64, 3) and cubes.points.dtype == np.float64
    assert len(cubes.neighbour) == 54 and len(cubes.face_start) == 109
    assert np.allclose(volumes(cubes), 1, atol=1e-12) and np.allclose(cubes.volumes(), 1, atol=1e-12)
    floor, rest = cubes.patches
    assert (floor.name, floor.kind, len(floor.faces)) == ("floor", "patch", 9)
    assert rest.name == "defaultFaces" and rest.faces == range(63, 108)
    ids = cubes.face_points[cubes.face_start[floor.faces.start] : cubes.face_start[floor.faces.stop]]
    assert np.all(cubes.points[ids][:, 2] == 0)
    assert np.allclose(cubes.centers()[0], 0.5) and cubes.centers().shape == (27, 3)
    cubes.validate()


def test_arrays_are_views_that_cannot_be_written(cubes):
    for name in ["points", "face_start", "face_points", "owner", "neighbour"]:
        array = getattr(cubes, name)
        assert not array.flags.writeable, name
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
        assert np.shares_memory(array, getattr(cubes, name)), name
    points = cubes.points
    before = points.copy()
    del cubes
    gc.collect()
    assert np.array_equal(points, before)


@pytest.mark.parametrize("tets", [False, True])
def test_cells_are_refined_by_a_mask_or_by_levels(tmp_path, tets, program):
    path = write_msh(tmp_path / "m.msh", tets=tets)
    mesh = cutlink.HexMesh.read(path)
    near = np.linalg.norm(mesh.centers() - 0.5, axis=1) < 0.9
    assert 0 < near.sum() < mesh.cells
    once = mesh.refine(near)
    once.validate()
    assert once.cells == mesh.cells + 7 * near.sum() and once.parent_cells == mesh.cells
    assert np.array_equal(np.unique(once.parent_cell[once.level == 1]), np.flatnonzero(near))
    assert np.allclose(once.volumes().sum(), 27, atol=1e-12)
    assert np.allclose(volumes(once), once.volumes(), atol=1e-12)
    assert mesh.refine(near.astype(int)).checksum == once.checksum
    twice = mesh.refine(np.where(near, 2, 0), threads=1)
    assert twice.checksum == mesh.refine(np.where(near, 2, 0), threads=3).checksum
    assert mesh.refine(near, device="cpu").checksum == mesh.refine(near, device="auto").checksum == once.checksum
    assert twice.level.max() == 2 and np.all(twice.level[near[twice.parent_cell]] == 2)
    twice.validate()
    assert twice.coarsen().checksum == mesh.coarsen().checksum
    # The program does the same.
    report = program("refine", path, "--polymesh", tmp_path / "c", "--where", "sphere:0.5,0.5,0.5,r=0.9,levels=2")
    assert report["cells"] == once.cells
    assert cutlink.HexMesh.read(tmp_path / "c").checksum == once.checksum


def test_cells_too_distorted_to_be_divided_stay_whole(tmp_path, caplog):
    mesh = cutlink.HexMesh.read(write_msh(tmp_path / "m.msh", moved={(1, 1, 1): (1.6, 1.6, 1.6)}))
    mesh.validate()
    with caplog.at_level("INFO", logger="cutlink"):
        fine = mesh.refine(np.ones(27, bool))
    fine.validate()
    whole = np.flatnonzero(np.bincount(fine.parent_cell) == 1)
    assert 0 < len(whole) < 27 and 13 in whole
    assert f"{len(whole)} cells stay whole" in caplog.text
    with pytest.raises(cutlink.UsageError, match="too distorted to be divided"):
        fine.refine(np.where(fine.level == 1, 3, 0))
    # Files of inverted cells are refused: Gmsh's have an orientation.
    with pytest.raises(cutlink.UsageError, match="t.msh"):
        cutlink.HexMesh.read(write_msh(tmp_path / "t.msh", moved={(1, 1, 1): (2.6, 2.6, 2.6)}))


def test_a_mesh_is_written_and_read(cubes, tmp_path):
    fine = cubes.refine(np.arange(27) < 3)
    for format in ["ascii", "binary", "binary64"]:
        assert fine.write_polymesh(tmp_path / "c", format=format, force=True) > 0
        again = cutlink.HexMesh.read(tmp_path / "c")
        assert again.checksum == fine.checksum and np.array_equal(again.parent_cell, fine.parent_cell)
        assert cutlink.HexMesh.read(tmp_path / "c/constant/polyMesh").checksum == fine.checksum
        assert again.refine(np.zeros(again.cells, bool)).checksum == fine.checksum
    with pytest.raises(cutlink.UsageError, match="exists"):
        fine.write_polymesh(tmp_path / "c")
    with pytest.raises(cutlink.UsageError, match='no format "text"'):
        fine.write_polymesh(tmp_path / "d", format="text")


def test_wrong_arguments_and_files_are_refused(cubes, tmp_path):
    for marks, what in [
        (np.zeros(26, bool), "shape"),
        (np.zeros((27, 1), bool), "shape"),
        (np.full(27, 0.5), "float64"),
        (np.full(27, -1), "from -1 to -1"),
        (np.full(27, 11), "not from 0 to 10"),
    ]:
        with pytest.raises(cutlink.UsageError, match=what):
            cubes.refine(marks)
    with pytest.raises(cutlink.UsageError, match="gpu"):
        cubes.refine(np.ones(27, bool), device="gpu")
    with pytest.raises(cutlink.DeviceError, match="cuda|CUDA"):
        cubes.refine(np.ones(27, bool), device="cuda:99")
    text = (tmp_path / "m.msh").read_text()
    (tmp_path / "short.msh").write_text(text[: len(text) // 2])
    with pytest.raises(cutlink.UsageError, match=r"short.msh, line \d+"):
        cutlink.HexMesh.read(tmp_path / "short.msh")
    with pytest.raises(cutlink.UsageError, match="does not exist"):
        cutlink.HexMesh.read(tmp_path)


def test_patches_by_angle(tmp_path):
    path = write_msh(tmp_path / "m.msh", tets=True)
    assert len(cutlink.HexMesh.read(path).patches) == 6
    assert len(cutlink.HexMesh.read(path, patch_angle=120).patches) == 1


def test_other_threads_run_meanwhile(tmp_path):
    mesh = cutlink.HexMesh.read(write_msh(tmp_path / "m.msh", n=12))
    counts, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counts[0]
    fine = mesh.refine(np.full(mesh.cells, 2))
    after = counts[0]
    done.set()
    thread.join()
    assert fine.cells == 64 * mesh.cells and after > before


def polymesh_line(tmp_path):
    """The mesh of the fixture, by the program."""
    box = ",".join(map(str, SPHERE["domain"]))
    line = ["mesh", "--shape", "sphere:r=0.5", "--domain", box, "--root", SPHERE["root"], "--levels", SPHERE["levels"]]
    return [*line, "--wall-distance", SPHERE["wall_distance"], "--output", tmp_path / "m", "--no-picture", "--force"]


@pytest.mark.parametrize("grading", ["block", "cell"])
@pytest.mark.parametrize("snap", [False, True])
def test_a_mesh_of_cutlink_becomes_one_of_openfoam(sphere, program, tmp_path, snap, grading):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    # By cell is the default, of both.
    report = sphere.to_polymesh(ours, snap=snap, **({"grading": "block"} if grading == "block" else {}))
    line = [*polymesh_line(tmp_path), "--grading", grading, "--polymesh", theirs, *(["--snap"] if snap else [])]
    assert report == program(*line)["polymesh"]
    for name in ["points", "faces", "owner", "neighbour", "boundary"]:
        same = [(case / "constant/polyMesh" / name).read_bytes() for case in (ours, theirs)]
        assert same[0] == same[1], name
    cutlink.HexMesh.read(ours).validate()
    with pytest.raises(cutlink.UsageError, match="exists"):
        sphere.to_polymesh(ours)


def test_a_mesh_without_its_surface_is_castellated_by_block(sphere, tmp_path):
    sphere.save(tmp_path / "s.cutlink")
    loaded = cutlink.load(tmp_path / "s.cutlink")
    by_block = sphere.to_polymesh(tmp_path / "block", grading="block")
    assert loaded.to_polymesh(tmp_path / "loaded")["cells"] == by_block["cells"]
    assert sphere.to_polymesh(tmp_path / "cell")["cells"] < by_block["cells"] / 2
    assert sphere.to_polymesh(tmp_path / "more", cells_between_levels=4)["cells"] > 0
    for wrong in ({"snap": True}, {"grading": "cell"}, {"cells_between_levels": 2}):
        with pytest.raises(cutlink.UsageError, match="no surface"):
            loaded.to_polymesh(tmp_path / "other", **wrong)
    assert not (tmp_path / "other").exists()


def test_a_template_makes_the_case_of_the_program(sphere, program, tmp_path):
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    template = {"solver": "simpleFoam", "velocity": [20.0, 0.0, 1.0], "viscosity": 1e-4}
    types = {"sphere": "wall,group=body", "yM*": "symmetry"}
    report = sphere.to_polymesh(ours, snap=True, template=template, patch=types)
    line = [*polymesh_line(tmp_path), "--snap", "--polymesh", theirs, "--template", "simpleFoam,velocity=20 0 1,viscosity=1e-4"]
    by_program = program(*line, "--patch", "sphere=wall,group=body", "--patch", "yM*=symmetry")
    assert report == by_program["polymesh"]
    files = sorted(path.relative_to(theirs) for path in theirs.rglob("*") if path.is_file())
    assert files == sorted(path.relative_to(ours) for path in ours.rglob("*") if path.is_file()) and len(files) > 15
    for name in files:
        assert (ours / name).read_bytes() == (theirs / name).read_bytes(), name
    assert "(20 0 1)" in (ours / "0/U").read_text()
    for wrong, text in (
        ({"template": "simplefoam"}, "simplefoam"),
        ({"template": {"velocity": 3}}, "needs a solver"),
        ({"template": {"solver": "simpleFoam", "speed": 3}}, "speed"),
        ({"patch": {"sphere": "empty"}}, "empty"),
        ({"patch": {"ball": "wall"}}, "ball"),
        ({"grading": "row"}, "no grading"),
        ({"grading": "block", "cells_between_levels": 2}, "goes with"),
        ({"format": "text"}, "no format"),
    ):
        with pytest.raises(cutlink.UsageError, match=text):
            sphere.to_polymesh(tmp_path / "other", **wrong)
    with pytest.raises(TypeError, match="did you mean 'template'"):
        sphere.to_polymesh(tmp_path / "other", templat="simpleFoam")


def test_a_2d_mesh_has_no_polymesh(wing, tmp_path):
    with pytest.raises(cutlink.UsageError, match="2D"):
        wing.to_polymesh(tmp_path / "c")

