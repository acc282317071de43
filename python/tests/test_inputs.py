"""Surfaces of other packages: scenes, blocks, volumes, anything with vertices and faces."""

import types

import cutlink
import numpy as np
import pytest

meshio = pytest.importorskip("meshio")
pyvista = pytest.importorskip("pyvista")
trimesh = pytest.importorskip("trimesh")

OPTIONS = {"domain": [-1.5, -1.5, -1.5, 1.5, 1.5, 1.5], "root": 48, "levels": 1}
MOVE = trimesh.transformations.translation_matrix


def solid_volume(mesh):
    cells = mesh.cells()
    return (cells.size**mesh.dimensions)[cells.cell_class == 2].sum()


def by_patch(mesh):
    """Number of links, and the middle of their wall points, of each patch."""
    table = mesh.links.table()
    found = [table.point[table.patch == n] for n in range(len(mesh.patches))]
    return {name: (len(points), points.mean(0)) for name, points in zip(mesh.patches, found, strict=True)}


def test_a_scene_has_a_patch_for_each_node():
    scene = trimesh.Scene()
    ball, cube = trimesh.creation.icosphere(subdivisions=3, radius=0.4), trimesh.creation.box(extents=[0.5, 0.5, 0.5])
    scene.add_geometry(ball, node_name="ball", transform=MOVE([-0.7, 0, 0]))
    # Mirrored, and the same geometry twice.
    mirrored = MOVE([0.7, 0, 0]) @ np.diag([-1.0, 1, 1, 1])
    scene.add_geometry(cube, node_name="left", geom_name="cube", transform=mirrored)
    scene.add_geometry(cube, node_name="up", geom_name="cube", transform=MOVE([0, 1.0, 0]))
    scene.add_geometry(trimesh.PointCloud([[0, 0, 0]]), node_name="points")
    mesh = cutlink.mesh(scene, **OPTIONS)
    assert sorted(mesh.patches) == ["ball", "left", "up"]
    assert solid_volume(mesh) == pytest.approx(ball.volume + 2 * 0.125, rel=0.02)
    found = by_patch(mesh)
    for name, place in (("ball", [-0.7, 0, 0]), ("left", [0.7, 0, 0]), ("up", [0, 1.0, 0])):
        assert np.allclose(found[name][1], place, atol=0.02), name
    # trimesh's own way to one surface gives the same cells and links.
    assert cutlink.mesh(scene.to_geometry(), **OPTIONS).checksum != mesh.checksum, "patches count"
    assert np.array_equal(cutlink.mesh(scene.to_geometry(), **OPTIONS).solid, mesh.solid)
    with pytest.raises(cutlink.UsageError, match="no surface in it"):
        cutlink.mesh(trimesh.Scene())


def test_blocks_are_patches():
    parts = {
        "ball": pyvista.Icosphere(radius=0.4, nsub=3, center=(-0.7, 0, 0)),
        "cubes": pyvista.MultiBlock({"a": pyvista.Cube(center=(0.7, 0, 0)), "b": pyvista.Cube(center=(0, 1, 0))}),
    }
    for cube in parts["cubes"]:
        cube.points = (cube.points - cube.center) * 0.5 + cube.center
    blocks = pyvista.MultiBlock({**parts, "none": None})
    mesh = cutlink.mesh(blocks, **OPTIONS)
    assert mesh.patches == ["ball", "cubes/a", "cubes/b"]
    assert solid_volume(mesh) == pytest.approx(parts["ball"].volume + 2 * 0.125, rel=0.02)
    assert np.allclose(by_patch(mesh)["cubes/b"][1], [0, 1, 0], atol=0.02)
    # A dictionary of surfaces of several packages is the same.
    same = cutlink.mesh({"ball": parts["ball"], "cubes": dict(zip("ab", parts["cubes"], strict=True))}, **OPTIONS)
    assert same == mesh and same.patches == mesh.patches
    with pytest.raises(cutlink.UsageError, match="'ball' is a str"):
        cutlink.mesh({"ball": "sphere"})
    with pytest.raises(cutlink.UsageError, match="2D"):
        cutlink.mesh({"a": parts["ball"], "b": (np.zeros((2, 2)), [[0, 1]])})


def test_volumes_are_their_boundary():
    grid = pyvista.ImageData(dimensions=(5, 5, 5), spacing=(0.25,) * 3, origin=(-0.5,) * 3)
    for source in (grid, grid.cast_to_unstructured_grid(), grid.cast_to_structured_grid()):
        mesh = cutlink.mesh(source, **OPTIONS)
        assert solid_volume(mesh) == pytest.approx(1.0, rel=1e-9), type(source)
    ball = pyvista.Icosphere(radius=1, nsub=2).delaunay_3d()
    mesh = cutlink.mesh(ball, **OPTIONS)
    assert solid_volume(mesh) == pytest.approx(ball.volume, rel=0.02)
    tetra = meshio.Mesh(ball.points, [("tetra", ball.cells_dict[pyvista.CellType.TETRA])])
    assert cutlink.mesh(tetra, **OPTIONS) == mesh


@pytest.mark.parametrize("kind", ["hexahedron", "wedge", "pyramid"])
def test_cells_of_each_kind_have_faces_outward(kind):
    corners = np.array([[x, y, z] for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)[[0, 1, 3, 2, 4, 5, 7, 6]]
    cells = {
        "hexahedron": ([[0, 1, 2, 3, 4, 5, 6, 7]], 1.0),
        "wedge": ([[0, 1, 2, 4, 5, 6]], 0.5),
        "pyramid": ([[0, 1, 2, 3, 4]], 1 / 3),
    }
    members, volume = cells[kind]
    members = np.array(members)
    # A wedge of VTK begins with the triangle that one of Gmsh ends with.
    for order in (members, members[:, [3, 4, 5, 0, 1, 2]]) if kind == "wedge" else (members,):
        source = meshio.Mesh(corners, [(kind, order)])
        mesh = cutlink.mesh(source, domain=[-0.5, -0.5, -0.5, 1.5, 1.5, 1.5], root=64, levels=1)
        assert solid_volume(mesh) == pytest.approx(volume, rel=0.05)
        health = mesh.report["health"]
        assert health["volume"] == pytest.approx(volume, rel=1e-9) and not health["inward"]


def test_groups_of_gmsh_and_sets_of_cells_are_patches():
    box = trimesh.creation.box()
    top = box.face_normals[:, 2] > 0.5
    rest = [box.faces[~top], box.faces[top]]
    blocks = [("triangle", part) for part in rest]
    tags = [np.full(len(part), tag) for part, tag in zip(rest, (7, 3), strict=True)]
    named = {"lid": np.array([3, 2])}
    grouped = meshio.Mesh(box.vertices, blocks, cell_data={"gmsh:physical": tags}, field_data=named)
    mesh = cutlink.mesh(grouped, **OPTIONS)
    assert mesh.patches == ["lid", "group7"]
    assert by_patch(mesh)["lid"][1][2] == pytest.approx(0.5)
    sets = {"lid": [None, np.arange(len(rest[1]))]}
    mesh = cutlink.mesh(meshio.Mesh(box.vertices, blocks, cell_sets=sets), **OPTIONS)
    assert mesh.patches == ["lid", "rest"]
    assert by_patch(mesh)["lid"][1][2] == pytest.approx(0.5)
    with pytest.raises(cutlink.UsageError, match="no faces, only cells of type vertex"):
        cutlink.mesh(meshio.Mesh(box.vertices, [("vertex", [[0]])]))


def test_quads_and_lines_of_meshio():
    cube = trimesh.creation.box()
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    mesh = cutlink.mesh(meshio.Mesh(cube.vertices, [("quad", quads)]), fill="evenodd", **OPTIONS)
    assert solid_volume(mesh) == pytest.approx(1.0, rel=1e-9)
    angle = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    points = np.column_stack([np.cos(angle), np.sin(angle), 0 * angle])
    lines = np.column_stack([np.arange(200), np.roll(np.arange(200), -1)])
    circle = cutlink.mesh(meshio.Mesh(points, [("line", lines)]), root=64, levels=2)
    assert circle.dimensions == 2 and solid_volume(circle) == pytest.approx(np.pi, rel=0.01)
    with pytest.raises(cutlink.UsageError, match="lines in space"):
        cutlink.mesh(meshio.Mesh(points + [0, 0, 1] * points[:, :1], [("line", lines)]))


def test_anything_with_vertices_and_faces():
    ball = trimesh.creation.icosphere(subdivisions=3)
    same = cutlink.mesh(ball, **OPTIONS)
    for name in ("faces", "triangles"):
        source = types.SimpleNamespace(vertices=ball.vertices.tolist(), **{name: ball.faces})
        assert cutlink.mesh(source, **OPTIONS) == same
    half = ball.triangles_center[:, 2] > 0
    mesh = cutlink.mesh(source, patch=half.astype(int), patches=["low", "high"], **OPTIONS)
    found = by_patch(mesh)
    assert found["low"][1][2] < -0.3 < 0.3 < found["high"][1][2]
    with pytest.raises(cutlink.UsageError, match="SimpleNamespace is no surface"):
        cutlink.mesh(types.SimpleNamespace(vertices=ball.vertices))
