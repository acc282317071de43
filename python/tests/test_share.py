"""Meshes and results in other processes and packages, and on a screen."""

import base64
import copy
import multiprocessing
import pickle
import re
import zlib

import cutlink
import numpy as np
import pytest


def facts(mesh):
    return mesh.checksum, mesh.patches, mesh.report["checksum"], mesh.coord.sum()


def test_a_mesh_goes_to_other_processes(sphere, wing):
    for mesh in (sphere, wing):
        again = pickle.loads(pickle.dumps(mesh))
        assert facts(again) == facts(mesh) and again == mesh and hash(again) == hash(mesh)
        assert np.array_equal(again.links.q, mesh.links.q) and np.array_equal(again.solid, mesh.solid)
        again.check()
        assert copy.copy(mesh) is mesh and copy.deepcopy([mesh])[0] is mesh
    assert sphere != wing and sphere != "sphere"
    assert len({sphere, pickle.loads(pickle.dumps(sphere)), wing}) == 2
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(facts, [wing]) == [facts(wing)]
    damaged = sphere._native.to_bytes()[:-1]
    with pytest.raises(cutlink.UsageError, match="the mesh"):
        cutlink._mesh._unpickled(damaged, "{}")


def test_equal_meshes_have_the_same_patches_and_box():
    options = {"root": 16, "levels": 1}
    mesh = cutlink.mesh("sphere:r=1", **options)
    assert mesh == cutlink.mesh("sphere:r=1", **options)
    assert mesh != cutlink.mesh("sphere:r=2", **options), "the same cells, twice the size"


def test_the_surface_is_that_which_was_placed(sphere, wing):
    vertices, facets, patch = sphere.surface
    assert abs(np.linalg.norm(vertices, axis=1) - 0.5).max() < 1e-3 and facets.max() + 1 == len(vertices) and len(patch) == 0
    a, b, c = (vertices[facets[:, k]] for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=1e-3)
    assert wing.surface is None and pickle.loads(pickle.dumps(sphere)).surface is None


def picture(html):
    """The picture of a page, by a reader that is not the writer."""
    data = base64.b64decode(re.search(r'src="data:image/png;base64,([^"]+)"', html)[1])
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, chunks = 8, {}
    while at < len(data):
        size, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        body = data[at + 8 : at + 8 + size]
        assert zlib.crc32(kind + body) == int.from_bytes(data[at + 8 + size : at + 12 + size], "big")
        chunks[kind] = body
        at += 12 + size
    width, height = (int.from_bytes(chunks[b"IHDR"][k : k + 4], "big") for k in (0, 4))
    lines = np.frombuffer(zlib.decompress(chunks[b"IDAT"]), np.uint8).reshape(height, width + 1)
    assert (lines[:, 0] == 0).all()
    return np.frombuffer(chunks[b"PLTE"], np.uint8).reshape(-1, 3)[lines[:, 1:]]


def test_notebooks_show_a_picture_of_the_mesh(sphere, wing):
    html = sphere._repr_html_()
    assert len(html) < 20_000 and "118,640" in html and "http" not in html
    pixels = picture(html)
    assert pixels.shape == (128, 128, 3)
    grey = (pixels == 176).all(2)
    # A circle of radius 0.5 in a square of 2.
    assert grey.sum() * (2 / 128) ** 2 == pytest.approx(np.pi / 4, rel=0.02)
    pixels = picture(wing._repr_html_())
    grey = (pixels == 176).all(2)
    rows, columns = np.nonzero(grey)
    # The upper side of a cambered wing, above in the picture, is the thicker one.
    chord = rows[columns == columns.max()].mean()
    assert chord - rows.min() > rows.max() - chord
    named = cutlink.mesh((VERTICES, FACES), patch=[0] * 4, patches=["<script>"], levels=1, root=16)
    assert "<script>" not in named._repr_html_() and "&lt;script&gt;" in named._repr_html_()


VERTICES = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def test_a_plot_shows_cells_and_surface(sphere, wing):
    pytest.importorskip("pyvista")
    plotter = sphere.plot(show=False)
    squares, body = plotter.meshes
    # The plane less the circle of solid cells, and the sphere.
    assert squares.area == pytest.approx(4 - np.pi / 4, rel=0.01)
    assert body.volume == pytest.approx(4 / 3 * np.pi * 0.5**3, rel=1e-3)
    assert sorted(np.unique(squares["level"])) == sorted(np.unique(sphere.cells([-1, -1, -0.05, 1, 1, 0.05]).level))
    plotter.close()
    field = np.zeros((len(wing.solid), 16))
    cells = wing.cells()
    field[cells.block, cells.cell] = cells.center[:, 0]
    plotter = wing.plot(np.stack([field, 0 * field]), show=False)
    (squares,) = plotter.meshes
    assert np.allclose(squares["magnitude"], abs(squares.cell_centers().points[:, 0]), atol=1e-9)
    plotter.close()
    # A plane between cells whose sizes are no binary fractions, at each of their layers.
    mesh = cutlink.mesh("sphere:r=0.5", domain=[-1.1, -1.1, -1.1, 1.1, 1.1, 1.1], root=36, levels=3)
    for n in range(8):
        at = -1.1 + 2.2 * (15 + n / 8) / 36
        (squares,) = (plotter := mesh.plot(axis="y", at=at, body=False, show=False)).meshes
        assert squares.area == pytest.approx(2.2**2 - np.pi * (0.25 - (at + 2.2 / 36 / 8) ** 2), rel=0.01), n
        plotter.close()
    for wrong in ({"axis": "w"}, {"at": 7.0}):
        with pytest.raises(cutlink.UsageError):
            sphere.plot(show=False, **wrong)


def test_tables_for_pandas(sphere, wing):
    pytest.importorskip("pandas")
    frame = sphere.links.table().to_pandas()
    assert list(frame.columns[:6]) == ["center_x", "center_y", "center_z", "step_x", "step_y", "step_z"]
    assert len(frame) == len(sphere.links)
    radius = np.sqrt(frame.point_x**2 + frame.point_y**2 + frame.point_z**2)
    assert abs(radius - 0.5).max() < 1e-3
    cells = wing.cells().to_pandas()
    assert list(cells.columns[:2]) == ["center_x", "center_y"]
    by_level = cells.groupby("level")["size"].first()
    assert np.allclose(by_level * 2.0**by_level.index, wing.dx)


def test_grids_for_xarray(sphere):
    pytest.importorskip("xarray")
    cells = sphere.cells()
    field = np.zeros((3, len(sphere.solid), 64))
    field[:, cells.block, cells.cell] = cells.center.T
    grid = sphere.to_xarray((32, 16, 8), {"at": field, "class": "class"})
    assert grid["class"].dims == ("x", "y", "z") and grid["at"].dims == ("component", "x", "y", "z")
    # Values are those of the cell that holds the point: off by half a root cell at most.
    for axis in "xyz":
        assert abs(grid["at"].sel(component=axis) - grid[axis]).max() <= sphere.dx / 2 + 1e-9
    assert int(grid["class"].sel(x=0, y=0, z=0, method="nearest")) == 2
    with pytest.raises(cutlink.UsageError, match="no shape"):
        sphere.to_xarray((32, 16))


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("pyvista", lambda mesh: mesh.plot()),
        ("pyvista", lambda mesh: mesh.to_pyvista()),
        ("pandas", lambda mesh: mesh.cells().to_pandas()),
        ("xarray", lambda mesh: mesh.to_xarray((4, 4))),
    ],
)
def test_a_package_that_is_not_there_is_named(name, call, wing, monkeypatch):
    import importlib

    def missing(module, *arguments):
        if module == name:
            raise ImportError(f"No module named {module!r}")
        return found(module, *arguments)

    found = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(ImportError, match=rf"needs {name}.*pip install \"cutlink\[{name}\]\"") as caught:
        call(wing)
    assert caught.value.name == name
