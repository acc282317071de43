"""Cases: equal to the program's, callbacks, stops."""

import csv
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import cutlink
import numpy as np
import pytest
from kit import interrupt_after

CYLINDER = {
    "mesh": {"shape": "circle:r=0.5", "domain": [-2, -2, 4, 2], "root": 48, "levels": 2, "wall-distance": 0.2},
    "physics": {
        "re": 20, "length": 1.0, "velocity": 2.0, "density": 3.0, "area": 1.5, "lattice_velocity": 0.05,
    },
    "boundary": {
        "x-": {"type": "velocity", "velocity": [2.0, 0.0]},
        "x+": {"type": "pressure", "pressure": 0.0},
        "y-": "free-slip",
        "y+": "free-slip",
    },
    "run": {"steps": 300},
    "output": {"forces_every": 4},
}  # fmt: skip

PERIODIC = {
    "domain": {"box": [0, 0, 1, 0.5], "root": "32x16"},
    "physics": {"re": 10, "length": 1, "velocity": 1, "lattice_velocity": 0.05},
    "boundary": {name: "periodic" for name in ("x-", "x+", "y-", "y+")},
    "initial": {"velocity": [0.6, -0.25]},
    "run": {"steps": 200},
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory):
    return cutlink.solve(CYLINDER, folder=tmp_path_factory.mktemp("runs") / "whole")


def without_times(summary):
    times = ("seconds", "output_seconds", "mlups", "set_up", "folder")
    return {key: value for key, value in summary.items() if key not in times}


def test_the_program_runs_the_same_case(program, ended, tmp_path):
    text = cutlink.Case(CYLINDER).to_toml()
    (tmp_path / "case.toml").write_text(text)
    assert cutlink.Case(tmp_path / "case.toml").tables == cutlink.Case(CYLINDER).tables
    copy = cutlink.Case(CYLINDER | {"output": {"forces_every": 4, "folder": str(tmp_path / "by-program")}})
    (tmp_path / "case.toml").write_text(copy.to_toml())
    told = program("solve", tmp_path / "case.toml")
    by_program = tmp_path / "by-program"
    for name in ("forces.csv", "integrals.csv"):
        assert (by_program / name).read_bytes() == (ended.folder / name).read_bytes(), name
    assert without_times(told) == without_times(ended.summary)
    assert json.loads((by_program / "summary.json").read_text()) == told
    # A folder of the program reads like one of the module.
    assert np.array_equal(cutlink.Result(by_program).forces, ended.forces)


def test_results_are_those_of_the_files(ended):
    with (ended.folder / "forces.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == ended.steps.tolist() == list(range(4, 301, 4))
    assert [float(row["time"]) for row in rows] == ended.times.tolist()
    part = ended.parts[0]
    assert ended.coefficients.shape == (75, len(ended.parts), 6)
    for n, name in enumerate(["C_D", "C_L", "C_S", "C_Mx", "C_My", "C_Mz"]):
        assert [float(row[f"{name} {part}"]) for row in rows] == ended.coefficients[:, 0, n].tolist()
    # Density 3, velocity 2, reference area 1.5, length 1.
    factor = 0.5 * 3 * 2**2 * 1.5
    assert np.allclose(ended.forces, factor * ended.coefficients, rtol=1e-12)
    # A root step: lattice velocity 0.05 is 2 m/s, and a root cell is 1/8 m.
    assert ended.times == pytest.approx(ended.steps * (0.05 * (1 / 8) / 2))
    half = ended.coefficients[len(rows) // 2 :, 0, 0]
    assert ended.means[part]["C_D"]["mean"] == pytest.approx(half.mean(), rel=0.05)
    assert ended.axes["drag"] == [1, 0, 0]
    assert not ended.stopped and ended.summary["steps"] == 300
    for name in ("integrals", "integrals.csv"):
        assert ended.table(name)[0][0] == "step", name
    with pytest.raises(cutlink.UsageError, match="no table 'force'") as caught:
        ended.table("force")
    assert "did you mean 'forces'? tables: forces.csv, integrals.csv" in caught.value.hint
    # A blunt body in a slow flow: the drag is along the flow and of the order of the stagnation pressure.
    assert 0.5 < half.mean() < 10


def test_ranks_write_the_same_files(ended, tmp_path):
    shared = cutlink.solve(CYLINDER, folder=tmp_path / "shared", ranks=3)
    for name in ("forces.csv", "integrals.csv"):
        assert (shared.folder / name).read_bytes() == (ended.folder / name).read_bytes(), name
    assert shared.summary["ranks"]["ranks"] == 3 and ended.summary["ranks"] is None
    found = {k: v for k, v in without_times(shared.summary).items() if k not in ("ranks", "bytes")}
    assert found == {k: v for k, v in without_times(ended.summary).items() if k not in ("ranks", "bytes")}
    planned = cutlink.Case(CYLINDER).plan(ranks=[2, 3])["ranks"]
    assert [one["ranks"] for one in planned] == [2, 3]
    # What carries messages is known once the flow has started.
    assert planned[1]["messages"] is None and shared.summary["ranks"]["messages"] == "host memory"
    # A plan has the forecast of the efficiency, a run its messages.
    efficiency = planned[1]["efficiency"]
    assert 0 < efficiency <= 1 and shared.summary["ranks"]["efficiency"] is None
    assert planned[1] == {**shared.summary["ranks"], "messages": None, "efficiency": efficiency}
    with pytest.raises(cutlink.UsageError, match="number of ranks"):
        cutlink.solve(CYLINDER, folder=tmp_path / "none", ranks=0)


def test_a_callback_stops_a_run_that_is_resumed_to_the_bit(ended, tmp_path):
    seen = []

    def callback(flow):
        seen.append((flow.steps, flow.time, flow.coefficients))
        return flow.steps < 128

    stopped = cutlink.solve(CYLINDER, folder=tmp_path / "parts", every=64, callback=callback)
    assert [steps for steps, *_ in seen] == [64, 128]
    at = ended.steps.tolist().index(128)
    assert seen[1][1] == pytest.approx(ended.times[at])
    assert seen[1][2] == pytest.approx(ended.coefficients[at, 0, :3])
    assert stopped.stopped and stopped.steps[-1] == 128
    with pytest.raises(cutlink.RunError, match="did not end"):
        _ = stopped.summary
    whole = cutlink.solve(CYLINDER, folder=tmp_path / "parts", resume=True, every=128, callback=seen.append)
    assert (whole.folder / "forces.csv").read_bytes() == (ended.folder / "forces.csv").read_bytes()
    assert whole.summary["steps"] == 300 and len(seen) == 3
    with pytest.raises(cutlink.UsageError, match="callback only"):
        seen[-1].sample([[0.0, 1.0]])


def test_a_callback_samples_the_flow(tmp_path):
    values = []

    def callback(flow):
        assert flow.coefficients is None
        values.append(flow.sample([[0.1, 0.2], [0.9, 0.45], [1.5, 0.1]]))
        with pytest.raises(cutlink.UsageError, match="points"):
            flow.sample([0.1, 0.2])
        with pytest.raises(cutlink.UsageError, match="2D"):
            flow.sample([[0.1, 0.2, 0.3]])

    cutlink.solve(PERIODIC, folder=tmp_path / "flow", every=64, callback=callback)
    assert len(values) == 3, "at 64, 128 and 192"
    for pressure, velocity in values:
        # A uniform flow stays as it is.
        assert abs(pressure[:2]).max() < 1e-3
        assert abs(velocity[:2] - [0.6, -0.25]).max() < 1e-4
        assert np.isnan(pressure[2]) and np.isnan(velocity[2]).all()


def test_what_a_callback_raises_comes_out(tmp_path):
    def callback(flow):
        raise KeyError(flow.steps)

    with pytest.raises(KeyError, match="64"):
        cutlink.solve(PERIODIC, folder=tmp_path / "flow", callback=callback)
    assert list((tmp_path / "flow").glob("*.ckpt")), "with a checkpoint"
    again = cutlink.solve(PERIODIC, folder=tmp_path / "flow", resume=True)
    assert again.summary["steps"] == 200


def test_ctrl_c_stops_a_run_with_a_checkpoint(tmp_path):
    endless = PERIODIC | {"run": {"steps": 100_000_000}}
    began = time.monotonic()
    timer = interrupt_after(0.7)
    with pytest.raises(KeyboardInterrupt):
        cutlink.solve(endless, folder=tmp_path / "flow")
    timer.cancel()
    assert time.monotonic() - began < 20
    assert list((tmp_path / "flow").glob("*.ckpt"))
    assert cutlink.Result(tmp_path / "flow").stopped


def test_a_program_in_python_ends_by_ctrl_c(tmp_path):
    endless = PERIODIC | {"run": {"steps": 100_000_000}}
    lines = f"import cutlink; cutlink.solve({endless!r}, folder={str(tmp_path / 'flow')!r})"
    child = subprocess.Popen([sys.executable, "-c", lines], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 30
    while not (tmp_path / "flow/case.toml").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=30)
    assert "KeyboardInterrupt" in said and child.returncode not in (0, None)
    assert list((tmp_path / "flow").glob("*.ckpt"))


def test_the_gil_is_free_during_a_run(tmp_path):
    counted = 0
    done = threading.Event()

    def count():
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    cutlink.solve(PERIODIC | {"run": {"steps": 20_000}}, folder=tmp_path / "flow")
    done.set()
    thread.join()
    assert counted > 20, "it would be one or two if the GIL were held"


def test_a_diverged_flow_raises(tmp_path):
    wild = CYLINDER | {
        "physics": CYLINDER["physics"] | {"re": 1e4},
        "numerics": {"collision": "bgk", "allow_unstable": True},
        "run": {"steps": 5000},
    }
    with pytest.raises(cutlink.Diverged, match="diverged at root step|diverged by root step"):
        cutlink.solve(wild, folder=tmp_path / "flow")
    with pytest.raises(cutlink.UsageError, match="cell Reynolds number"):
        cutlink.solve(wild | {"numerics": {"collision": "bgk"}}, folder=tmp_path / "other")


def test_a_wrong_result_raises_and_is_kept(tmp_path, ended):
    assert ended.verdict["grade"] in ("ok", "doubtful")
    fast = CYLINDER | {"physics": CYLINDER["physics"] | {"lattice_velocity": 0.15}, "run": {"steps": 600}}
    with pytest.raises(cutlink.Untrusted, match="is not to be trusted") as caught:
        cutlink.solve(fast, folder=tmp_path / "flow")
    result = caught.value.result
    assert result.folder == tmp_path / "flow" and not result.stopped
    assert result.verdict["grade"] == "wrong" and result.steps[-1] == 600
    assert caught.value.details["summary"] == result.summary
    wrong = [check["check"] for check in result.verdict["checks"] if check["grade"] == "wrong"]
    fast["run"] = {"steps": 600, "accept": wrong}
    result = cutlink.solve(fast, folder=tmp_path / "accepted")
    assert result.verdict["grade"] != "wrong" and result.summary["steps"] == 600


def test_plans_write_nothing(tmp_path):
    before = set(Path.cwd().iterdir())
    plan = cutlink.Case(CYLINDER).plan(steps=77)
    assert plan["steps"] == 77
    assert set(Path.cwd().iterdir()) == before
    assert "[mesh]" in cutlink.Case.example("sphere")


def test_runs_are_replaced_only_by_force(ended, tmp_path):
    with pytest.raises(cutlink.UsageError) as caught:
        cutlink.solve(CYLINDER, folder=ended.folder)
    assert "--" not in str(caught.value) and "force" in caught.value.hint
    short = cutlink.solve(PERIODIC, folder=tmp_path / "flow", steps=64)
    assert cutlink.solve(PERIODIC, folder=short.folder, steps=128, force=True).summary["steps"] == 128


def test_the_folder_is_that_of_the_case(tmp_path):
    here = os.getcwd()
    os.chdir(tmp_path)
    try:
        found = cutlink.solve(PERIODIC, steps=64)
        assert (tmp_path / found.folder).samefile(tmp_path / "flow")
    finally:
        os.chdir(here)


GAS = {
    "solver": {"kind": "flux-reconstruction"},
    "domain": {"box": [-4, -4, 8, 4], "elements": [12, 8]},
    "physics": {"dynamic_viscosity": 0.02},
    "numerics": {"order": 2},
    "boundary": {name: "far-field" for name in ("x-", "x+", "y-", "y+")},
    "far_field": {"density": 2.0, "velocity": [3.0, 0.0], "pressure": 100.0},
    "reference": {"area": 1.5},
    "body": [{"name": "disc", "shape": "circle:r=0.5"}],
    "initial": {"density": 2.0, "velocity": [3.0, 0.0], "pressure": 100.0},
    "adapt": {"levels": 3, "sensor": "places"},
    "run": {"steps": 256},
    "output": {"integrals_every": 64},
}


def test_compressible_flows_run_too(program, tmp_path):
    seen = []

    def watch(flow):
        pressure, velocity = flow.sample([[-3.0, 0.0], [0.0, 0.0], [20.0, 0.0]])
        seen.append((flow.steps, flow.time, flow.coefficients, pressure, velocity))

    result = cutlink.solve(GAS, folder=tmp_path / "whole", every=128, callback=watch)
    assert [steps for steps, *_ in seen] == [128, 256]
    _, time, coefficients, pressure, velocity = seen[-1]
    assert time == pytest.approx(result.times[-1])
    assert coefficients[0] == result.coefficients[-1, 0, 0] > 0
    # Upstream nearly the stream, with an absolute pressure; nothing in the body and outside of the box.
    assert abs(pressure[0] / 100 - 1) < 0.05
    assert abs(velocity[0, 0] / 3 - 1) < 0.2
    assert np.isnan(pressure[1:]).all()
    assert np.isnan(velocity[1:]).all()
    assert result.parts == ["disc"]
    factor = 0.5 * 2 * 3**2 * 1.5
    assert np.allclose(result.forces[..., 0], factor * result.coefficients[..., 0], rtol=1e-12)
    assert result.axes["drag"] == [1, 0, 0]

    # The program does the same, and goes on where a callback stopped.
    stopped = cutlink.solve(GAS, folder=tmp_path / "parts", every=128, callback=lambda flow: flow.steps < 128)
    assert stopped.stopped
    resumed = cutlink.solve(GAS, folder=tmp_path / "parts", resume=True)
    case = cutlink.Case(GAS | {"output": {"integrals_every": 64, "folder": str(tmp_path / "by-program")}})
    (tmp_path / "case.toml").write_text(case.to_toml())
    program("solve", tmp_path / "case.toml")
    for name in ("forces.csv", "integrals.csv"):
        whole = (result.folder / name).read_bytes()
        assert (resumed.folder / name).read_bytes() == whole, name
        assert (tmp_path / "by-program" / name).read_bytes() == whole, name


def test_keys_of_the_other_kind_are_named():
    with pytest.raises(cutlink.UsageError, match="lattice_velocity"):
        cutlink.Case(GAS | {"physics": {"lattice_velocity": 0.05}})
    with pytest.raises(cutlink.UsageError, match="ranks"):
        cutlink.solve(GAS, folder="never", ranks=2)
    plan = cutlink.Case(GAS).plan()
    assert plan["elements"] > 96


def test_results_for_pandas_and_xarray(ended):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("xarray")
    frame = ended.to_pandas()
    pandas.testing.assert_frame_equal(frame, pandas.read_csv(ended.folder / "forces.csv"), rtol=1e-15)
    assert frame["step"].dtype == np.int64
    assert "step" in ended.to_pandas("integrals")
    found = ended.to_xarray()
    assert found.forces.dims == ("time", "part", "component")
    drag = found.coefficients.sel(part=ended.parts[0], component="drag")
    assert np.array_equal(drag, frame[f"C_D {ended.parts[0]}"])
    assert float(found.forces.sel(component="torque_z")[-1, 0]) == ended.forces[-1, 0, 5]
    html = ended._repr_html_()
    means = ended.means[ended.parts[0]]
    assert f"<td>{means['C_D']['mean']:.4g}</td>" in html, "without a stationary part there is no error"
    assert f"<td>{means['C_L']['mean']:.4g} ± {means['C_L']['error']:.2g}</td>" in html
    assert ended.verdict["grade"] in html


def test_a_case_runs_on_a_mesh_in_memory(ended, tmp_path):
    mesh = cutlink.mesh("circle:r=0.5", domain=[-2, -2, 4, 2], root=48, levels=2, wall_distance=0.2)
    for n, given in enumerate((mesh, {"file": mesh})):
        result = cutlink.solve(CYLINDER | {"mesh": given}, folder=tmp_path / f"run{n}")
        # The mesh of the case by options is the same, and so are the forces.
        assert np.array_equal(result.coefficients, ended.coefficients)
        assert cutlink.load(tmp_path / f"run{n}/mesh.cutlink") == mesh
    case = cutlink.Case(CYLINDER | {"mesh": mesh})
    assert case.plan()["updates_per_step"] == cutlink.Case(CYLINDER).plan()["updates_per_step"] and not (tmp_path / "flow").exists()
    with pytest.raises(cutlink.UsageError, match="exists"):
        cutlink.solve(case, folder=tmp_path / "run0")
    longer = CYLINDER | {"mesh": mesh, "run": {"steps": 320}}
    resumed = cutlink.solve(longer, folder=tmp_path / "run0", resume=True)
    assert resumed.steps[-1] == 320 and np.array_equal(resumed.coefficients[:75], ended.coefficients)
    other = cutlink.mesh("circle:r=0.5", domain=[-2, -2, 4, 2], root=48, levels=1)
    with pytest.raises(cutlink.UsageError, match="another mesh"):
        cutlink.solve(longer | {"mesh": other}, folder=tmp_path / "run0", resume=True)
    with pytest.raises(cutlink.UsageError, match="root beside a mesh file"):
        cutlink.solve(CYLINDER | {"mesh": {"file": mesh, "root": 8}}, folder=tmp_path / "run2")


def test_bodies_that_move_tell_where_they_are(tmp_path):
    case = {
        "mesh": {"shape": "circle:r=0.5", "domain": [-3, -2, 3, 2], "root": 48, "levels": 1},
        "physics": {"re": 20, "length": 1, "velocity": 1, "lattice_velocity": 0.05, "density": 2.0},
        "boundary": {face: {"type": "far-field", "velocity": [0, 0]} for face in ("x-", "x+", "y-", "y+")},
        "motion": {"circle": {"translation": ["0.3*sin(2*pi*t/2)", "0.1*t"]}},
        "run": {"steps": 128},
        "output": {"forces_every": 8},
    }
    seen = []

    def look(flow):
        (found,) = flow.motion.values()
        seen.append((flow.time, found.time[-1], found.position[-1].copy()))

    try:
        result = cutlink.solve(case, folder=tmp_path / "run", callback=look)
    except cutlink.Untrusted as error:
        result = error.result
    motion = result.motion["circle"]
    t = motion.time
    exact = np.column_stack([0.3 * np.sin(np.pi * t), 0.1 * t])
    assert abs(motion.position - exact).max() < 1e-9 and len(t) == 16
    speed = np.column_stack([0.3 * np.pi * np.cos(np.pi * t), 0.1 + 0 * t])
    assert abs(motion.velocity - speed).max() < 1e-9
    assert motion.rotation.shape == motion.spin.shape == motion.torque.shape == (16, 1) and not motion.rotation.any()
    # The fluid resists: against the velocity while that is large.
    assert motion.force[0, 0] * motion.velocity[0, 0] < 0
    assert [a for a, _, _ in seen] == pytest.approx([b for _, b, _ in seen])
    assert np.array_equal(seen[-1][2], motion.position[-1])


def test_keys_say_what_they_mean() -> None:
    """Those of the tables, of lists of tables, of tables by name; a wrong name is an error with the way out."""
    assert set(cutlink.Case.keys()) >= {"physics", "boundary", "output", "patches", "motion"}
    assert cutlink.Case.keys("physics")["re"].startswith("Reynolds number")
    assert "Default: 1." in cutlink.Case.keys("physics")["density"]
    assert {"kind", "every_steps", "quantity"} <= set(cutlink.Case.keys("output.write"))
    assert {"from", "up"} <= set(cutlink.Case.keys("output.write.camera"))
    assert "omega" in cutlink.Case.keys("patches") and "x-" in cutlink.Case.keys("boundary")
    assert "surface_tension" in cutlink.Case.keys("interface", kind="two-phase")
    assert "youngs_modulus" in cutlink.Case.keys("materials", kind="grains")
    assert "levels" in cutlink.Case.keys("adapt.place", kind="flux-reconstruction")
    for table, kind in [("phisics", "lattice-boltzmann"), ("physics.re", "lattice-boltzmann"), ("", "three-phase")]:
        with pytest.raises(cutlink.UsageError, match="there is no kind|has no table"):
            cutlink.Case.keys(table, kind=kind)
    # What a case may have is what its schema has.
    given = cutlink.Case(CYLINDER).tables
    assert set(given) <= set(cutlink.Case.keys()) and set(given["run"]) <= set(cutlink.Case.keys("run"))


def test_spheres_are_arrays(tmp_path: Path) -> None:
    """A ball that falls is where it should be, at each step that was written; others are errors with the way out."""
    case = {
        "solver": {"kind": "grains"},
        "domain": {"box": [0, 0, 0, 0.1, 0.1, 0.2]},
        "gravity": {"acceleration": [0, 0, -9.81]},
        "materials": {"glass": {"youngs_modulus": 1e7, "density": 2500, "restitution": 0.5, "friction": 0.3}},
        "particles": [
            {"center": [0.05, 0.05, 0.15], "radius": 0.01},
            {"center": [0.02, 0.02, 0.005], "radius": 0.005, "velocity": [0.5, 0, 0]},
        ],
        "numerics": {"time_step": 1e-5},
        "run": {"steps": 2000},
        "output": {"folder": str(tmp_path / "out"), "write": [{"kind": "particles", "every_steps": 1000}]},
    }
    result = cutlink.solve(case)
    assert result.particle_steps() == [0, 1000, 2000]
    for step in [0, 1000, 2000]:
        spheres = result.particles(step)
        fallen = 0.5 * 9.81 * (step * 1e-5) ** 2
        np.testing.assert_allclose(spheres.center[0], [0.05, 0.05, 0.15 - fallen], rtol=1e-12)
        np.testing.assert_allclose(spheres.velocity[0], [0, 0, -9.81 * step * 1e-5], rtol=1e-6)
    last = result.particles()
    np.testing.assert_allclose(last.radius, [0.01, 0.005], rtol=1e-6)
    assert last.contacts.tolist() == [0, 1] and last.material.tolist() == [0, 0]
    # It slides, and friction turns it.
    assert 0 < last.velocity[1, 0] < 0.5 and last.spin[1, 1] > 0
    assert result.table("particles")[1][-1][0] <= 2000 and "loads.csv" in result.tables
    with pytest.raises(cutlink.UsageError, match="no spheres at step 7"):
        result.particles(7)
    with pytest.raises(cutlink.UsageError, match="no spheres of an output 'other'"):
        result.particles(name="other")


def test_spheres_of_a_two_phase_flow_are_arrays(tmp_path: Path) -> None:
    """A sphere in oil falls, more slowly than in a vacuum; its tables and checks are there."""
    fluid = {"density": 1000, "viscosity": 0.5}
    case = {
        "solver": {"kind": "two-phase"},
        "domain": {"box": [0, 0, 0, 0.04, 0.04, 0.04], "root": 16},
        "phases": {"liquid": fluid, "gas": fluid},
        "gravity": {"acceleration": [0, 0, -9.81]},
        "liquid": [{"box": [0, 0, 0, 0.04, 0.04, 0.04]}],
        "materials": {"glass": {"youngs_modulus": 1e6, "density": 2500, "restitution": 0.5, "friction": 0.3}},
        "particles": [{"center": [0.02, 0.02, 0.02], "radius": 0.006}],
        "numerics": {"dt": 0.005},
        "run": {"steps": 4},
        "output": {"folder": str(tmp_path / "out"), "write": [{"kind": "particles", "every_steps": 2}]},
    }
    result = cutlink.solve(case)
    assert result.particle_steps() == [0, 2, 4]
    first, last = result.particles(0), result.particles()
    fallen = first.center[0, 2] - last.center[0, 2]
    assert 0 < fallen < 0.5 * 9.81 * 0.02**2 and last.velocity[0, 2] < 0
    assert {"particles.csv", "phases.csv", "loads.csv"} <= set(result.tables)
    assert {check["check"] for check in result.verdict["checks"]} >= {"overlap", "time step", "volume"}
