"""Flows in SI units, functions of time, and flows that are saved."""

import cutlink
import numpy as np
import pytest


@pytest.fixture(scope="module")
def duct():
    """Two walls at y = -0.02 and 0.02 m, 16 cells of 2.5 mm apart."""
    return cutlink.mesh(
        "rectangle:size=0.16x0.04",
        domain=[-0.04, -0.025, 0.04, 0.025],
        root="32x20",
        levels=1,
        flow="inside",
        periodic="x",
    )


@pytest.fixture(scope="module")
def array():
    """A cylinder of 1 m in a periodic box of 2 m."""
    return cutlink.mesh("circle:r=0.5", domain=[-1, -1, 1, 1], root=32, levels=1, periodic="xy")


def test_poiseuille_flow_in_si_units(duct):
    """Oil between plates: u = g (h² - y²) / (2 nu), and the walls bear what accelerates the fluid."""
    nu, rho, push = 1e-4, 850.0, 0.05
    units = cutlink.Units(duct, velocity=0.1, lattice_velocity=0.02, density=rho)
    assert units.dx == pytest.approx(0.0025) and units.dt == pytest.approx(0.02 * 0.0025 / 0.1)
    flow = cutlink.Flow(
        duct, viscosity=nu, units=units, acceleration=[push, 0], collision="trt", precision="f64", forces_every=0
    )
    # Ten times the time of diffusion.
    flow.advance(round(10 * 0.02**2 / nu / units.dt / 2))
    assert flow.time == pytest.approx(flow.steps * units.dt)
    along = duct.sample((32, 20), flow.velocity())[0][16]
    y = -0.025 + (np.arange(20) + 0.5) * 0.0025
    fluid = abs(y) < 0.02
    exact = push / (2 * nu) * (0.02**2 - y**2)
    assert along[fluid] == pytest.approx(exact[fluid], rel=5e-3)
    assert abs(flow.density() - rho).max() < 1e-3 * rho
    assert abs(flow.pressure()).max() < 0.1


def test_drag_in_si_units_balances_the_acceleration(array):
    """In N per metre of depth: the fluid's mass times its acceleration. Torques are about a centre in metres."""
    nu, rho, push = 0.02, 1.2, 1e-3
    units = cutlink.Units(array, dt=0.02, density=rho)
    flow = cutlink.Flow(
        array, viscosity=nu, units=units, acceleration=[push, 0], precision="f64", moment_center=[0, 0.25]
    )
    flow.advance(12_000)
    samples = flow.forces()
    mass = rho * (4 - np.pi * 0.25)
    force = samples.forces[-1, 0]
    assert force[0] == pytest.approx(mass * push, rel=0.02)
    # The drag acts at y = 0, below the reference point, and turns it counter-clockwise.
    assert force[5] == pytest.approx(0.25 * force[0], rel=0.02)


def test_conditions_in_si_units():
    """A stream past a wall that turns."""
    box = cutlink.mesh("circle:r=0.5", domain=[-2, -2, 2, 2], root=32, levels=1)
    units = cutlink.Units(box, velocity=3.0, density=1.2)
    flow = cutlink.Flow(
        box,
        viscosity=0.2,
        units=units,
        faces={"x-": {"velocity": [3.0, 0.0]}, "x+": {"pressure": 0.5}, "y-": "free-slip", "y+": "free-slip"},
        patches={"circle": {"rotation": {"center": [0.0, 0.0], "omega": [0, 0, 2.0]}}},
    )
    flow.advance(3000)
    flow.check()
    pressure, velocity = flow.pressure(), flow.velocity()
    inlet = box.sample([[-1.94, y] for y in np.linspace(-1.5, 1.5, 7)], velocity)[0]
    assert inlet == pytest.approx(3.0, rel=0.02)
    outlet = box.sample([[1.94, y] for y in np.linspace(-1.5, 1.5, 7)], pressure)
    assert outlet.mean() == pytest.approx(0.5, abs=0.15)
    # A point at rest sees the stagnation pressure, of the order of rho u² / 2 above that ahead.
    ahead = box.sample([[-0.56, 0.0]], pressure)[0]
    assert 0.5 * 1.2 * 9 < ahead < 4 * 0.5 * 1.2 * 9
    # The wall turns with 2 rad/s at 0.5 m: slower than 1 m/s beside it, and in this sense on both sides.
    beside = box.sample([[0.0, 0.53], [0.0, -0.53]], velocity)
    assert beside[0, 1] > beside[0, 0]


def test_far_fields_and_initial_states_in_si_units():
    box = cutlink.mesh("circle:r=0.1", domain=[-2, -2, 2, 2], root=32, levels=1)
    units = cutlink.Units(box, velocity=3.0, density=1.2)
    far = {"far-field": {"velocity": [3.0, 1.5], "pressure": 0.0}}
    flow = cutlink.Flow(box, viscosity=0.5, units=units, faces=dict.fromkeys(("x-", "x+", "y-", "y+"), far))
    assert flow.density().max() == pytest.approx(1.2, rel=1e-6)
    flow.set(density=1.2, velocity=[3.0, 1.5])
    velocity = flow.velocity()
    corner = box.sample([[-1.9, -1.9]], velocity)[:, 0]
    assert corner == pytest.approx([3.0, 1.5], rel=1e-5)
    flow.advance(50)
    assert box.sample([[-1.9, 1.9]], flow.velocity())[:, 0] == pytest.approx([3.0, 1.5], rel=0.02)


def test_stokes_second_problem_by_a_function():
    """A wall that oscillates in its plane: u = U exp(-k d) cos(w t - k d), k = sqrt(w / (2 nu)) (Stokes 1851)."""
    mesh = cutlink.mesh(
        "rectangle:size=0.1x0.1", domain=[-1, -1, 1, 1], root=16, levels=1, translate=[0.8, 0.8], periodic="x"
    )
    # Far from the small body, which is beside the upper face.
    period, nu, speed = 400.0, 0.02, 0.02
    times = []

    def wall(time):
        times.append(time)
        return [speed * np.cos(2 * np.pi * time / period), 0.0]

    def profile(**units):
        times.clear()
        flow = cutlink.Flow(
            mesh,
            precision="f64",
            faces={"y-": {"velocity": wall}, "y+": "no-slip"},
            forces_every=0,
            collision="trt",
            **units,
        )
        flow.advance(1600)
        return mesh.sample((16, 16), flow.velocity())[0][2]

    found = profile(viscosity=nu)
    # At the middle of root steps.
    assert {0.5, 1.5, 1599.5} <= set(times)
    k = np.sqrt(2 * np.pi / period / (2 * nu))
    depth = np.arange(8) + 0.5
    exact = speed * np.exp(-k * depth) * np.cos(2 * np.pi - k * depth)
    assert abs(found[:8] - exact).max() < 0.02 * speed
    assert abs(found[:8] - speed * np.exp(-k * depth)).max() > 0.1 * speed, "the phase counts"
    # The same in SI units, where the function is one of seconds.
    units = cutlink.Units(mesh, dt=0.001)
    assert units.dx == 0.125
    lattice, period, speed = found, 400 * 0.001, speed * units.velocity
    found = profile(viscosity=nu * units.viscosity, units=units) / units.velocity
    assert abs(found - lattice).max() < 1e-6
    assert max(times) == pytest.approx(1.5995)


def test_functions_of_a_force_and_of_openings(array):
    """A force that is there for half of the time gives half of the momentum; a closed valve lets nothing through."""
    given = 1e-5

    def momentum(push):
        flow = cutlink.Flow(array, viscosity=1e-3, acceleration=push, precision="f64")
        flow.advance(64)
        cells = array.cells()
        fluid = cells.cell_class != 2
        fields = flow.fields()
        rho = fields.density[cells.block, cells.cell][fluid].astype(float)
        return (rho * fields.velocity[0][cells.block, cells.cell][fluid]).sum() + flow.forces().forces[:, 0, 0].sum()

    whole = momentum([given, 0.0])
    assert momentum(lambda t: [given, 0.0]) == whole
    # At the end of each step; the second one has not begun when the flow starts.
    first, second = momentum(lambda t: [given * (t <= 32), 0.0]), momentum(lambda t: [given * (t > 32), 0.0])
    assert first == pytest.approx(whole / 2, rel=0.015) and first + second == pytest.approx(whole, rel=1e-3)
    wall = {"x-": {"density": lambda t: 1.0 + 1e-4 * t / 100}, "x+": {"density": 1.0}}
    flow = cutlink.Flow(array_of_faces(), viscosity=0.1, faces=wall)
    flow.advance(100)
    first = array_of_faces().sample((16, 16), flow.density())[0][8]
    assert first == pytest.approx(1.0 + 1e-4, abs=3e-5)


def array_of_faces():
    return cutlink.mesh("circle:r=0.1", domain=[-1, -1, 1, 1], root=16, levels=1, periodic="y")


def test_what_a_function_raises_or_gives_wrong_is_told(array):
    def fails(time):
        if time > 10:
            raise RuntimeError("a valve is stuck")
        return [1e-6, 0.0]

    flow = cutlink.Flow(array, viscosity=0.1, acceleration=fails)
    with pytest.raises(RuntimeError, match="a valve is stuck"):
        flow.advance(100)
    with pytest.raises(cutlink.UsageError, match="3 numbers, 2 are expected"):
        cutlink.Flow(array, viscosity=0.1, acceleration=lambda t: [0.0, 0.0] + [0.0] * (t > 1)).advance(10)
    with pytest.raises(cutlink.UsageError, match="acceleration.*not finite"):
        cutlink.Flow(array, viscosity=0.1, acceleration=lambda t: [np.nan if t > 3 else 0.0, 0.0]).advance(10)
    with pytest.raises(TypeError):
        cutlink.Flow(array, viscosity=0.1, acceleration=lambda: [0.0, 0.0])
    faces = {"x-": {"velocity": lambda t: [0.0 if t < 5 else 0.01, 0.0]}, "x+": {"density": 1.0}}
    with pytest.raises(cutlink.UsageError, match="did not at the first step"):
        cutlink.Flow(array_of_faces(), viscosity=0.1, faces=faces).advance(10)
    far = {"far-field": {"velocity": lambda t: [0.0, 0.0], "density": 1.0}}
    with pytest.raises(cutlink.UsageError, match="far field does not vary"):
        cutlink.Flow(array_of_faces(), viscosity=0.1, faces={"x-": far, "x+": far})


def test_wrong_units_are_refused(array):
    for wrong in ({}, {"velocity": 1.0, "dt": 1.0}, {"velocity": 0.0}, {"dt": "a"}, {"dt": 1.0, "density": np.nan}):
        with pytest.raises(cutlink.UsageError):
            cutlink.Units(array, **wrong)
    with pytest.raises(TypeError, match="did you mean 'density'"):
        cutlink.Units(array, dt=1.0, densty=1.0)
    with pytest.raises(cutlink.UsageError, match="pressures in Pa"):
        cutlink.Flow(array, viscosity=1.0, units=cutlink.Units(array, dt=0.1), patches={"circle": {"density": 1.0}})
    with pytest.raises(cutlink.UsageError, match="did you mean 'velocity'"):
        cutlink.Flow(array, viscosity=1.0, patches={"circle": {"velocty": [0, 0]}})
    with pytest.raises(cutlink.UsageError, match="no number"):
        cutlink.Flow(array, viscosity=1.0, patches={"circle": {"velocity": "fast"}})


@pytest.mark.parametrize("turning", [False, True])
def test_a_saved_flow_goes_on_to_the_bit(array, tmp_path, turning):
    given = {"viscosity": 0.05, "acceleration": [1e-4, 0.0], "precision": "f32", "collision": "trt"}
    if turning:
        given["patches"] = {
            "circle": {"rotation": {"center": [16, 16], "omega": [0, 0, 1e-3], "factor": lambda t: 1 + t / 100}}
        }
    whole = cutlink.Flow(array, **given)
    whole.advance(60)
    flow = cutlink.Flow(array, **given)
    flow.advance(25)
    path = tmp_path / "state.flow"
    assert flow.save(path) == path.stat().st_size > 9 * 4 * 32 * 32
    assert [p.name for p in tmp_path.iterdir()] == ["state.flow"]
    if turning:
        with pytest.raises(cutlink.UsageError, match="functions: patch circle"):
            cutlink.Flow.load(path, array)
        again = cutlink.Flow(array, **given)
        again.restore(path)
    else:
        again = cutlink.Flow.load(path, array)
    assert again.steps == 25
    again.advance(35)
    for mine, other in zip(again.fields(), whole.fields(), strict=True):
        assert np.array_equal(mine, other)
    assert np.array_equal(again.forces().forces[-1], whole.forces().forces[-1])
    flow.advance(1)
    assert not np.array_equal(flow.density(), whole.density())
    flow.restore(path)
    assert flow.steps == 25 and len(flow.forces().steps) == 0


def test_a_file_of_another_flow_is_refused(array, duct, tmp_path):
    path = tmp_path / "state.flow"
    flow = cutlink.Flow(array, viscosity=0.05)
    flow.advance(3)
    flow.save(path)
    with pytest.raises(cutlink.UsageError, match="exists already"):
        flow.save(path)
    assert flow.save(path, force=True) > 0
    with pytest.raises(cutlink.UsageError, match="viscosity is 0.06, was 0.05"):
        cutlink.Flow(array, viscosity=0.06).restore(path)
    with pytest.raises(cutlink.UsageError, match="another mesh"):
        cutlink.Flow.load(path, duct)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(cutlink.UsageError, match="damaged"):
        flow.restore(path)
    assert flow.steps == 3
    with pytest.raises(cutlink.UsageError, match="no folder"):
        flow.save(tmp_path / "none" / "state.flow")
    with pytest.raises(cutlink.CutlinkError, match="nothing.flow"):
        flow.restore(tmp_path / "nothing.flow")
