"""Meshes: arrays, tables, files, reports."""

import gc
import threading
import time

import cutlink
import numpy as np
import pytest
from kit import RADIUS, SPHERE, interrupt_after
from safetensors.numpy import load_file

STORED = ["solid", "boundary", "ghost", "interface", "coord", "first_child", "level_start"]
LINKS = ["blocks", "cell_start", "cells", "q", "patch"]


def arrays(mesh):
    """All arrays by their names in the mesh file."""
    named = {name: getattr(mesh, name) for name in STORED}
    return named | {f"link_{name}": getattr(mesh.links, name) for name in LINKS}


def two_boxes():
    """Two boxes apart, with a patch each."""
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    faces = np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    vertices = np.concatenate([corners, corners + [2.0, 0, 0]])
    patch = np.repeat([0, 1], len(faces))
    return vertices, np.concatenate([faces, faces + 8]), patch, ["left", "right"]


@pytest.fixture(scope="module")
def boxes():
    vertices, faces, patch, patches = two_boxes()
    return cutlink.mesh((vertices, faces), patch=patch, patches=patches, levels=3, root=32)


@pytest.mark.parametrize("name", ["sphere", "wing", "boxes"])
def test_arrays_are_those_of_the_file(name, request, tmp_path):
    mesh = request.getfixturevalue(name)
    path = tmp_path / "a.cutlink"
    assert mesh.save(path) == path.stat().st_size
    stored = load_file(path)
    found = arrays(mesh)
    assert set(found) == set(stored) - {"file_checksum"}
    for key, array in found.items():
        assert array.dtype == stored[key].dtype and array.shape == stored[key].shape, key
        assert np.array_equal(array, stored[key]), key
    again = cutlink.load(path)
    assert again.checksum == mesh.checksum and again.patches == mesh.patches
    for key, array in arrays(again).items():
        assert np.array_equal(array, stored[key]), key
    starts = mesh.level_start
    of_level = np.repeat(np.arange(mesh.levels), np.diff(starts.astype(int)))
    assert np.array_equal(mesh.level, of_level)
    mesh.check()


def test_arrays_are_views_that_cannot_be_written(sphere):
    for key, array in arrays(sphere).items():
        with pytest.raises(ValueError, match="read-only|WRITEABLE|writeable"):
            array[...] = 0
        with pytest.raises(ValueError, match="WRITEABLE|writeable"):
            array.setflags(write=True)
        assert not array.flags.owndata, key
    assert sphere.solid.ctypes.data == sphere.solid.ctypes.data, "the same memory"
    assert np.shares_memory(sphere.links.q, sphere.links.q)
    assert sphere.coord.base is not None


def test_an_array_keeps_its_mesh_alive(tmp_path):
    def some():
        mesh = cutlink.mesh("sphere:r=0.5", **SPHERE)
        mesh.save(tmp_path / "a.cutlink")
        return mesh.links.q, mesh.coord, mesh.links

    q, coord, links = some()
    gc.collect()
    others = [cutlink.mesh("sphere:r=0.4", **SPHERE) for _ in range(2)]
    stored = load_file(tmp_path / "a.cutlink")
    assert np.array_equal(q, stored["link_q"]) and np.array_equal(coord, stored["coord"])
    assert np.array_equal(links.patch, stored["link_patch"])
    del others, q
    gc.collect()
    assert np.array_equal(coord, stored["coord"]), "each array on its own"


def test_a_mesh_in_parts_is_the_same(sphere):
    parts = cutlink.mesh("sphere:r=0.5", **SPHERE, ranks=3)
    assert parts.checksum == sphere.checksum
    assert np.array_equal(parts.coord, sphere.coord) and np.array_equal(parts.links.q, sphere.links.q)


def test_eight_threads_use_and_build_meshes(sphere):
    want = sphere.checksum
    sums, failures = [], []

    def work():
        try:
            for _ in range(3):
                table = sphere.links.table()
                sums.append((float(table.q.sum()), int(sphere.solid.sum() % 2**63)))
                assert cutlink.mesh("sphere:r=0.5", **SPHERE, threads=1).checksum == want
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures
    assert len(sums) == 24 and len(set(sums)) == 1


def test_cells_are_those_of_a_sphere(sphere):
    cells = sphere.cells()
    box = np.prod(sphere.upper - sphere.origin)
    assert np.isclose((cells.size**3).sum(), box, rtol=1e-12), "the cells fill the box"
    radius = np.linalg.norm(cells.center, axis=1)
    # The facets of the shape stay within 1/64 of a finest cell of the sphere.
    clear = abs(radius - RADIUS) > cells.size.min() / 32
    assert np.array_equal((cells.cell_class == 2)[clear], (radius < RADIUS)[clear])
    volume = (cells.size**3)[cells.cell_class == 2].sum()
    assert volume == pytest.approx(4 / 3 * np.pi * RADIUS**3, rel=5e-3)
    near = cells.cell_class == 1
    assert near.sum() == len(sphere.links.cells)
    assert (radius[near] - RADIUS).max() < np.sqrt(3) * cells.size.min() * 1.02
    some = sphere.cells(box=[0, 0, 0, 0.5, 0.25, 1])
    inside = ((cells.center >= 0) & (cells.center <= [0.5, 0.25, 1])).all(axis=1)
    assert np.array_equal(some.center, cells.center[inside])
    assert np.array_equal(some.cell_class, cells.cell_class[inside])


def test_links_end_on_the_sphere(sphere):
    table = sphere.links.table()
    assert len(table.q) == len(sphere.links)
    size = sphere.dx / 2.0 ** table.level[:, None]
    # |center + t step size| = radius, solved for t.
    step = table.step * size
    a, b = (step**2).sum(axis=1), (step * table.center).sum(axis=1)
    c = (table.center**2).sum(axis=1) - RADIUS**2
    root = np.sqrt(np.maximum(b * b - a * c, 0))
    q = (-b - root) / a
    # An error of the surface along its normal is larger along the link.
    slope = root / np.sqrt(a) / RADIUS
    error = abs(q - table.q) * np.sqrt(a) * slope / size[:, 0]
    steep = slope > 0.3
    assert steep.mean() > 0.7
    assert error[steep].max() < 1 / 32
    assert (abs(np.linalg.norm(table.point, axis=1) - RADIUS) < size[:, 0] / 32).all()
    direction = ((table.step + 1) * [1, 3, 9]).sum(axis=1)
    assert np.array_equal(direction, table.direction)
    assert np.array_equal(table.q, sphere.links.q), "in the order of the table"
    # Directions and first links as docs/mesh-file.md packs them.
    cells = sphere.links.cells
    masks = cells & np.uint64((1 << 27) - 1)
    counts = np.array([bin(int(mask)).count("1") for mask in masks])
    assert np.array_equal(cells >> np.uint64(27), np.cumsum(counts) - counts)
    assert counts.sum() == len(table.q)
    first = np.repeat(np.arange(len(cells)), counts)
    assert ((masks[first] >> table.direction.astype(np.uint64) & np.uint64(1)) == 1).all()


def test_patches_of_links(boxes):
    table = boxes.links.table()
    assert boxes.patches == ["left", "right"]
    assert np.array_equal(table.patch, boxes.links.patch)
    assert np.array_equal(table.patch == 0, table.point[:, 0] < 1.5)
    wanted = [(table.patch == n).sum() for n in (0, 1)]
    assert min(wanted) > 100


def test_samples_are_values_of_cells(sphere):
    n = 40
    centre = (np.arange(n) + 0.5) / n * 2 - 1
    x, y, z = np.meshgrid(centre, centre, centre, indexing="ij")
    radius = np.sqrt(x**2 + y**2 + z**2)
    dense = sphere.sample((n, n, n))
    assert dense.shape == (n, n, n) and dense.dtype == np.uint8
    # A point is in a cell whose centre is at most half a diagonal away.
    half = np.sqrt(3) / 2 * sphere.dx / 2 ** sphere.sample((n, n, n), "level").astype(float)
    assert ((dense == 2) | (radius > RADIUS - 1.02 * half)).all()
    assert ((dense != 2) | (radius < RADIUS + 1.02 * half)).all()
    points = np.column_stack([x.ravel(), y.ravel(), z.ravel()])
    assert np.array_equal(sphere.sample(points).reshape(n, n, n), dense)
    block, cell = sphere.locate(points)
    numbers = np.arange(len(sphere.solid))[:, None] * 64 + np.arange(64)
    assert np.array_equal(sphere.sample(points, numbers), block.astype(int) * 64 + cell)
    both = sphere.sample(points[:7], np.stack([numbers, -numbers]))
    assert both.shape == (2, 7) and np.array_equal(both[0], -both[1])
    far = np.array([[0.0, 0, 0], [5, 0, 0]])
    assert sphere.sample(far, outside=9).tolist() == [2, 9]
    with pytest.raises(cutlink.UsageError, match="outside the box"):
        sphere.sample(far)
    cells = sphere.cells()
    assert np.array_equal(sphere.sample(cells.center), cells.cell_class)


def test_slices_are_dense(sphere):
    plane = sphere.slice("y", 0.01)
    assert plane.shape == (128, 128)
    size = 2 / 128
    centre = (np.arange(128) + 0.5) * size - 1
    radius = np.hypot(*np.meshgrid(centre, centre, indexing="ij"))
    # At y = 0.01 the circle has the sphere's radius to 2e-4; cells of the finest level lie at the surface.
    clear = abs(radius - RADIUS) > 1.8 * size
    assert np.array_equal((plane == 2)[clear], (radius < RADIUS)[clear])
    assert sphere.slice(0, 0.3, level=0).shape == (32, 32)
    for bad in [("w", 0.0), ("x", 1.0), ("x", float("nan"))]:
        with pytest.raises(cutlink.UsageError):
            sphere.slice(*bad)


def test_the_program_makes_the_same_mesh(program, sphere, tmp_path):
    path = tmp_path / "program.cutlink"
    line = ["--domain", "-1,-1,-1,1,1,1", "--root", 32, "--levels", 3, "--wall-distance", 0.1]
    told = program("mesh", "--shape", "sphere:r=0.5", *line, "--output", path, "--no-picture")
    assert told["checksum"] == sphere.checksum
    sphere.save(tmp_path / "module.cutlink")
    assert (tmp_path / "module.cutlink").read_bytes() == path.read_bytes()
    varying = {"times_ms", "peak_rss_bytes", "files", "threads"}
    assert set(told) == set(sphere.report)
    for key in set(told) - varying:
        assert told[key] == sphere.report[key], key
    told = program("inspect", path, "--check")
    found = cutlink.inspect(path, check=True)
    assert found == told
    assert cutlink.load(path).report["levels"] == told["levels"]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (
            {"root": "32x32x16", "domain": [-1, -1, -0.5, 1, 1, 0.5], "levels": 1},
            "--root 32x32x16 --domain=-1,-1,-.5,1,1,.5 --levels 1",
        ),
        (
            {"root": np.array([32, 16, 16]), "domain": np.array([-2, -1, -1, 2, 1, 1.0])},
            "--root 32x16x16 --domain=-2,-1,-1,2,1,1",
        ),
        (
            {"root": 16, "snap_domain": "grow", "domain": [-1, -1, -1, 1, 1, 1.01]},
            "--root 16 --snap-domain grow --domain=-1,-1,-1,1,1,1.01",
        ),
        (
            {"root": 16, "levels": 4, "max_cells": 100000},
            "--root 16 --levels 4 --max-cells 100000",
        ),
        (
            {"root": 16, "flow": "inside", "fill": "evenodd"},
            "--root 16 --flow inside --fill evenodd",
        ),
        (
            {"root": 16, "refine": "box:0,0,0,1,1,1,levels=3", "wall_distance": 0},
            "--root 16 --refine box:0,0,0,1,1,1,levels=3 --wall-distance 0",
        ),
        (
            {"root": 16, "scale": [1, 1, 0.5], "rotate": ["x:30", "z:10"], "translate": [0.1, 0, 0]},
            "--root 16 --scale 1,1,.5 --rotate x:30,z:10 --translate .1,0,0",
        ),
        (
            {"root": 16, "fit": 3, "unit": "mm", "deviation": 0.01},
            "--root 16 --fit 3 --unit mm --deviation .01",
        ),
        (
            {"root": 16, "domain": [-0.4, -0.6, -0.6, 0.8, 0.6, 0.6], "periodic": "yz"},
            "--root 16 --domain=-.4,-.6,-.6,.8,.6,.6 --periodic yz",
        ),
        (
            {"root": 16, "seed": [0, 0, 0], "flow": "inside"},
            "--root 16 --seed 0,0,0 --flow inside",
        ),
        (
            {"root": 16, "seed": [0, 0, 0], "flow": "inside", "fill": "sheets", "close_holes": 0.1},
            "--root 16 --seed 0,0,0 --flow inside --fill sheets --close-holes 0.1",
        ),
        (
            {"root": 16, "robust": True, "threads": 1, "device": "cpu"},
            "--root 16 --robust --threads 1 --device cpu",
        ),
    ],
)
def test_options_are_those_of_the_program(program, options, line, tmp_path):
    path = tmp_path / "program.cutlink"
    given = ["--shape", "sphere:r=0.5", *(() if "levels" in options else ("--levels", "2")), *line.split()]
    told = program("mesh", *given, "--output", path, "--no-picture")
    mesh = cutlink.mesh("sphere:r=0.5", **{"levels": 2, **options})
    assert mesh.checksum == told["checksum"]
    mesh.save(tmp_path / "module.cutlink")
    assert (tmp_path / "module.cutlink").read_bytes() == path.read_bytes()


def test_surfaces_are_inspected_like_the_program_does(program, tmp_path):
    import trimesh

    path = tmp_path / "box.stl"
    trimesh.creation.box().export(path)
    found = cutlink.inspect(path, check=True)
    assert found == program("inspect", path, "--check")
    assert found["kind"] == "surface" and found["health"]["volume"] == pytest.approx(1)


def test_files_are_replaced_only_by_force(wing, tmp_path):
    path = tmp_path / "a.cutlink"
    wing.save(path)
    with pytest.raises(cutlink.UsageError, match="exists") as caught:
        wing.save(path)
    assert "--" not in str(caught.value) and "force" in caught.value.hint
    wing.save(path, force=True)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(cutlink.UsageError, match="damaged"):
        cutlink.load(path)
    with pytest.raises(cutlink.UsageError, match="damaged"):
        cutlink.inspect(path)


def test_progress_is_told_and_may_raise():
    told = []
    cutlink.mesh("sphere:r=0.5", **SPHERE, progress=lambda share, text: told.append((share, text)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares) and shares[-1] == 1.0 and len(shares) >= 3
    assert all(isinstance(text, str) and text for _, text in told)

    def fail(share, text):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cutlink.mesh("sphere:r=0.5", **SPHERE, progress=fail)


def test_ctrl_c_stops_a_mesh():
    began, shares = time.monotonic(), [0.0]
    timer = interrupt_after(0.5)
    options = {"domain": SPHERE["domain"], "root": 128, "levels": 6, "wall_distance": 0.0}
    with pytest.raises(KeyboardInterrupt):
        cutlink.mesh("sphere:r=0.5", **options, progress=lambda share, text: shares.append(share))
    timer.cancel()
    assert time.monotonic() - began < 20 and shares[-1] < 0.9
    # The module is as good as before.
    assert cutlink.mesh("circle:r=0.5", levels=2).dimensions == 2
