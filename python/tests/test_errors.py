"""Wrong arguments of every kind end in the right exception, with a remedy."""

import pickle

import cutlink
import numpy as np
import pytest

TETRAHEDRON = (
    np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]),
)


def test_the_tetrahedron_is_sound():
    cells = cutlink.mesh(TETRAHEDRON, domain=[-0.25] * 3 + [1.25] * 3, root=48, levels=1).cells()
    # Cells of 1/32: centres with i + j + k + 3/2 < 32.
    assert (cells.cell_class == 2).sum() == 31 * 32 * 33 / 6


@pytest.mark.parametrize(
    ("source", "options", "text"),
    [
        ("no/such/file.stl", {}, "no/such/file.stl"),
        ("no-such.stl", {}, "no-such.stl"),
        ("ball:r=1", {}, "ball"),
        ("sphere:r=-1", {}, "r"),
        ("sphere", {"levels": 0}, "levels is 0"),
        ("sphere", {"levels": 99}, "levels is 99"),
        ("sphere", {"levels": "many"}, "levels"),
        ("sphere", {"root": "6x"}, "root grid"),
        ("sphere", {"root": [64, -4, 4]}, "root grid"),
        ("sphere", {"domain": [0, 0, 0, 1]}, "domain"),
        ("sphere", {"domain": [0, 0, 0, 1, 1, float("nan")]}, "cannot be written"),
        ("sphere", {"domain": "all"}, "domain"),
        ("sphere", {"wall_distance": -1.0}, "wall_distance is -1"),
        ("sphere", {"flow": "around"}, "around"),
        ("sphere", {"fill": "odd"}, "odd"),
        ("sphere", {"fill": "evenodd", "robust": True}, "parity"),
        ("sphere", {"refine": "box:1"}, "refine|box"),
        ("sphere", {"rotate": "w:3"}, "rotation"),
        ("sphere", {"unit": "parsec"}, "parsec"),
        ("sphere", {"device": "tpu"}, "tpu"),
        ("sphere", {"threads": 100_000}, "threads is 100000"),
        ("sphere", {"threads": -1}, "threads"),
        ("sphere", {"ranks": 0}, "ranks is 0"),
        ("sphere", {"gpus": 2, "device": "cpu"}, "asks for GPUs"),
        ("sphere", {"patches": ["a"]}, "in memory"),
        (TETRAHEDRON, {"deviation": 0.1}, "deviation"),
        (TETRAHEDRON, {"patch": [0, 0]}, "patches for 2"),
        (TETRAHEDRON, {"patch": [0, 0, 0, 1], "patches": ["a"]}, "without a name"),
        (TETRAHEDRON, {"patch": [0.5, 0, 0, 0]}, "whole numbers"),
        (TETRAHEDRON, {"patch": [-1, 0, 0, 0]}, "0..65536"),
        ((TETRAHEDRON[0], [[0, 1, 9]]), {}, "facet 0 refers to"),
        ((TETRAHEDRON[0], [[0, 1, -1]]), {}, "outside 0..2"),
        ((TETRAHEDRON[0], [[0.5, 1, 2]]), {}, "whole numbers"),
        ((TETRAHEDRON[0], [[0, 1]]), {}, "shape"),
        ((np.full((4, 3), np.inf), TETRAHEDRON[1]), {}, "not finite"),
        (("a", "b"), {}, "array of numbers"),
        ((np.zeros((4, 4)), TETRAHEDRON[1]), {}, r"\(4, 4\)"),
        (42, {}, "int is no surface"),
    ],
)
def test_wrong_arguments_of_a_mesh(source, options, text):
    with pytest.raises(cutlink.UsageError, match=text) as caught:
        cutlink.mesh(source, **options)
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, cutlink.CutlinkError)
    assert "--" not in str(caught.value), "options of the command line"


@pytest.mark.parametrize(
    "read",
    [cutlink.mesh, cutlink.load, cutlink.inspect, cutlink.HexMesh.read, cutlink.Case, cutlink.solve, lambda p: cutlink.mesh([p])],
)
def test_files_that_are_not_there_are_missing(read, tmp_path):
    path = tmp_path / "none.stl"
    with pytest.raises(FileNotFoundError, match="none.stl") as caught:
        read(path)
    assert isinstance(caught.value, cutlink.UsageError) and isinstance(caught.value, ValueError)
    assert caught.value.errno == 2
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is cutlink.MissingFileError and str(again) == str(caught.value) and again.errno == 2
    # A file that is there, but is none, is no missing one.
    path.write_text("x = [")
    with pytest.raises(cutlink.CutlinkError) as caught:
        read(path)
    assert not isinstance(caught.value, FileNotFoundError)


def test_wrong_types_are_told_in_words_of_python():
    for options, text in (
        ({"levels": "x"}, '`levels`: the text "x" is given, a whole number is expected'),
        ({"levels": 1.5}, "1.5 is given, a whole number"),
        ({"levels": True}, "True is given, a whole number"),
        ({"levels": [1]}, "a list is given, a whole number"),
        ({"wall_distance": "far"}, 'the text "far" is given, a number'),
    ):
        with pytest.raises(cutlink.UsageError) as caught:
            cutlink.mesh("sphere", **options)
        assert text in str(caught.value), str(caught.value)


def test_surfaces_without_an_inside_are_geometry():
    vertices, faces = TETRAHEDRON
    with pytest.raises(cutlink.GeometryError, match="no facets"):
        cutlink.mesh((vertices, faces[:0]))
    with pytest.raises(cutlink.GeometryError, match="not closed"):
        cutlink.mesh((vertices, faces[1:]))
    with pytest.raises(cutlink.GeometryError, match="outside the box"):
        cutlink.mesh(TETRAHEDRON, domain=[5, 5, 5, 6, 6, 6])


def test_too_large_a_mesh_is_refused_before_it_is_built():
    with pytest.raises(cutlink.OutOfMemoryError) as caught:
        cutlink.mesh(TETRAHEDRON, root=4096, levels=8, wall_distance=0.1)
    assert isinstance(caught.value, MemoryError)


@pytest.mark.skipif(cutlink.CUDA, reason="built with CUDA")
def test_a_device_that_is_not_there():
    with pytest.raises(cutlink.DeviceError, match="cuda|CUDA") as caught:
        cutlink.mesh("sphere", device="cuda")
    assert isinstance(caught.value, RuntimeError)
    mesh = cutlink.mesh("sphere:r=1", root=16, levels=1)
    with pytest.raises(cutlink.DeviceError):
        cutlink.Flow(mesh, viscosity=0.1, device="cuda")


def test_unknown_names_are_type_errors_or_suggest_the_known_one():
    for call, text in (
        (lambda: cutlink.mesh("sphere", level=3), r"mesh\(\) got an unexpected keyword argument 'level'; did you mean 'levels'"),
        (lambda: cutlink.mesh("sphere", closeholes=1.0), "did you mean 'close_holes'"),
        (lambda: cutlink.mesh("sphere", xyz=1.0), "keywords: source, domain, root"),
        (lambda: cutlink.Flow(None, viscosty=1.0), r"Flow\(\) got .*'viscosity'"),
        (lambda: cutlink.solve({}, folders="x"), "did you mean 'folder'"),
        (lambda: cutlink.load("x", thread=1), "did you mean 'threads'"),
    ):
        with pytest.raises(TypeError, match=text):
            call()
    with pytest.raises(cutlink.UsageError, match="unknown key `reynolds`") as caught:
        cutlink.Case({"physics": {"reynolds": 3}})
    assert "re" in caught.value.hint and "physics" in caught.value.message
    with pytest.raises(cutlink.UsageError, match="unknown name `periodical`"):
        cutlink.Case({"boundary": {"x-": "periodical"}})


@pytest.mark.parametrize(
    "tables",
    [{}, {"physics": {"re": "ten"}}, {"mesh": {"levels": 2.5}}, {"physics": {"re": float("inf")}}, {"run": {1, 2}}],
)
def test_wrong_cases(tables, tmp_path):
    with pytest.raises(cutlink.UsageError):
        cutlink.solve(tables, folder=tmp_path / "flow")


def test_wrong_arguments_of_a_run(tmp_path):
    with pytest.raises(cutlink.UsageError, match="multiple of 64"):
        cutlink.solve({}, every=10)
    with pytest.raises(cutlink.UsageError, match="no-such"):
        cutlink.solve(tmp_path / "no-such.toml")
    with pytest.raises(cutlink.UsageError, match="no output folder"):
        cutlink.Result(tmp_path)
    with pytest.raises(cutlink.UsageError, match="no example"):
        cutlink.Case.example("sphre")
    with pytest.raises(cutlink.UsageError, match="int is no case"):
        cutlink.solve(7)


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"viscosity": -1.0}, "viscosity"),
        ({"viscosity": "thick"}, "viscosity"),
        ({"lattice": "d2q9"}, "d2q9|lattice|velocities"),
        ({"lattice": "d1q3"}, "d3q19"),
        ({"collision": "mrt"}, "bgk"),
        ({"collision": "bgk", "magic": 0.25}, "magic"),
        ({"precision": "f8"}, "f16"),
        ({"wall": "rough"}, "rough"),
        ({"faces": {"w-": "periodic"}}, "no face"),
        ({"faces": {"x-": "slippery"}}, "slippery"),
        ({"faces": {"x-": {"velocity": [0.1]}}}, "1 numbers"),
        ({"faces": {"x-": "no-slip"}}, "periodic"),
        ({"patches": {"wing": "wall"}}, "no patch"),
        ({"patches": {"sphere": "hole"}}, "hole"),
        ({"acceleration": [1, 2]}, "acceleration has 2"),
        ({"device": "abacus"}, "abacus"),
        ({"forces_every": -1}, "forces_every"),
    ],
)
def test_wrong_parameters_of_a_flow(parameters, text):
    mesh = cutlink.mesh("sphere:r=1", root=16, levels=1)
    with pytest.raises(cutlink.UsageError, match=text):
        cutlink.Flow(mesh, **{"viscosity": 0.1, **parameters})
    with pytest.raises(cutlink.UsageError, match="runs on a"):
        cutlink.Flow("sphere", viscosity=0.1)


def test_errors_can_be_pickled():
    error = cutlink.GeometryError("it is open", ["a hole"], "close it", {"health": {"open_edges": 3}})
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is cutlink.GeometryError and str(again) == str(error)
    assert str(error) == "it is open\n  caused by: a hole\n  hint: close it"
    assert again.details == error.details


def test_notes_are_logged(caplog):
    vertices, faces = TETRAHEDRON
    mesh = cutlink.mesh((vertices, faces[:, ::-1]), root=16, levels=1)
    assert "inward" in caplog.text and any("inward" in note for note in mesh.report["notes"])
