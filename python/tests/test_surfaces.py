"""Surfaces of other packages, in and out."""

import cutlink
import numpy as np
import pytest

pyvista = pytest.importorskip("pyvista")
trimesh = pytest.importorskip("trimesh")

OPTIONS = {"domain": [-1.5, -1.5, -1.5, 1.5, 1.5, 1.5], "root": 24, "levels": 2}


def solid_volume(mesh):
    cells = mesh.cells()
    return (cells.size**mesh.dimensions)[cells.cell_class == 2].sum()


def test_a_trimesh_is_its_arrays():
    ball = trimesh.creation.icosphere(subdivisions=4)
    mesh = cutlink.mesh(ball, **OPTIONS)
    assert solid_volume(mesh) == pytest.approx(ball.volume, rel=0.02)
    assert cutlink.mesh((ball.vertices, ball.faces), **OPTIONS).checksum == mesh.checksum
    # Soup: every facet with vertices of its own.
    soup = (ball.triangles.reshape(-1, 3), np.arange(3 * len(ball.faces)).reshape(-1, 3))
    assert cutlink.mesh(soup, **OPTIONS).checksum == mesh.checksum
    # The points where links are cut lie on the trimesh, by its own search.
    points = mesh.links.table().point
    _, distance, _ = trimesh.proximity.closest_point_naive(ball, points[::97])
    assert distance.max() < mesh.dx / 2 / 128


def test_a_polydata_is_its_triangles(tmp_path):
    ball = pyvista.Icosphere(radius=1.0, nsub=4)
    mesh = cutlink.mesh(ball, **OPTIONS)
    assert mesh.checksum == cutlink.mesh((ball.points, ball.regular_faces), **OPTIONS).checksum
    # Quads are cut into triangles.
    cube = pyvista.Cube(x_length=1.1)
    assert not cube.is_all_triangles
    assert solid_volume(cutlink.mesh(cube, domain=[-1, -1, -1, 1, 1, 1], root=40, levels=1)) == pytest.approx(1.1)
    # A file that pyvista writes in double precision gives the same mesh.
    ball.points = ball.points.astype(np.float64)
    cutlink.mesh(ball, **OPTIONS).save(tmp_path / "a.cutlink")
    assert cutlink.load(tmp_path / "a.cutlink").checksum == mesh.checksum


def test_pyvista_gets_every_cell(sphere, wing):
    for mesh in (sphere, wing):
        cells = mesh.cells()
        marks = np.arange(len(mesh.solid) * 4**mesh.dimensions).reshape(len(mesh.solid), -1)
        vectors = np.stack([marks * (a + 1.0) for a in range(mesh.dimensions)])
        grid = mesh.to_pyvista({"mark": marks, "vector": vectors})
        assert grid.n_cells == len(cells.size)
        centers = grid.cell_centers().points
        assert abs(centers[:, : mesh.dimensions] - cells.center).max() < 1e-12
        sizes = grid.compute_cell_sizes()["Volume" if mesh.dimensions == 3 else "Area"]
        assert np.allclose(sizes, cells.size**mesh.dimensions, rtol=1e-9)
        assert np.array_equal(grid["class"], cells.cell_class)
        assert np.array_equal(grid["mark"], marks[cells.block, cells.cell])
        assert grid["vector"].shape == (grid.n_cells, 3)
        assert np.array_equal(grid["vector"][:, 1], 2.0 * grid["mark"])
    part = sphere.to_pyvista(box=[0, 0, 0, 1, 1, 1])
    assert part.bounds[0] >= 0 and part.n_cells == len(sphere.cells(box=[0, 0, 0, 1, 1, 1]).size)


def test_vtk_files_are_read_back(sphere, tmp_path):
    path = tmp_path / "a.vtu"
    assert sphere.save_vtk(path) == path.stat().st_size
    assert pyvista.read(path).n_cells == len(sphere.cells().size)
    assert sphere.save_vtk(tmp_path / "a.htg") > 0
    with pytest.raises(cutlink.UsageError, match="extension"):
        sphere.save_vtk(tmp_path / "a.obj")


def test_open_surfaces_need_robust():
    ball = trimesh.creation.icosphere(subdivisions=3)
    faces = ball.faces[1:]
    with pytest.raises(cutlink.GeometryError, match="3 open edges") as caught:
        cutlink.mesh((ball.vertices, faces), **OPTIONS)
    assert caught.value.details["health"]["open_edges"] == 3
    assert "robust" in caught.value.hint and "--" not in str(caught.value)
    mesh = cutlink.mesh((ball.vertices, faces), robust=True, **OPTIONS)
    assert solid_volume(mesh) == pytest.approx(ball.volume, rel=0.02)


def test_polylines_are_2d_surfaces():
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    points = np.column_stack([np.cos(angle), np.sin(angle)])
    lines = np.column_stack([np.arange(200), np.roll(np.arange(200), -1)])
    mesh = cutlink.mesh((points, lines), root=32, levels=3)
    assert mesh.dimensions == 2
    assert solid_volume(mesh) == pytest.approx(np.pi, rel=0.01)
    inside = cutlink.mesh((points, lines), root=32, levels=3, flow="inside")
    cells = inside.cells()
    assert (cells.size**2)[cells.cell_class != 2].sum() == pytest.approx(np.pi, rel=0.01)


def test_a_list_of_files_is_one_surface(tmp_path):
    ball, box = trimesh.creation.icosphere(subdivisions=3), trimesh.creation.box()
    ball.apply_translation([3, 0, 0])
    paths = [tmp_path / "ball.obj", tmp_path / "box.stl"]
    for part, path in zip((ball, box), paths, strict=True):
        part.export(path)
    mesh = cutlink.mesh(paths, root=32, levels=2)
    assert mesh.patches == ["ball", "box"]
    assert solid_volume(mesh) == pytest.approx(ball.volume + box.volume, rel=0.03)
