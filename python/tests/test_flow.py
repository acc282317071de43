"""Flows in lattice units."""

import gc
import threading
import time

import cutlink
import numpy as np
import pytest
from kit import interrupt_after

BOX = {"domain": [-8, -8, -8, 8, 8, 8], "root": 16, "levels": 1}


@pytest.fixture(scope="module")
def ball():
    return cutlink.mesh("sphere:r=3", **BOX)


def test_drag_balances_the_acceleration(ball):
    """In a steady flow of a periodic box, the force on the body is that on the fluid."""
    push = 1e-5
    flow = cutlink.Flow(
        ball, viscosity=0.3, acceleration=[push, 0, 0], precision="f64", forces_every=50,
        moment_center=[8, 8, 8],
    )  # fmt: skip
    assert flow.device == "cpu" and flow.steps == 0
    flow.advance(2990)
    flow.check()
    samples = flow.forces()
    assert samples.steps.tolist() == [*range(50, 2990, 50), 2990] and flow.steps == 2990
    assert samples.forces.shape == (60, 1, 6) and samples.inflow.shape == (60, 1)
    # The volume of the fluid, by counting cells; the wall itself lies between them.
    counted = (ball.cells().cell_class != 2).sum()
    assert samples.forces[-1, 0, 0] == pytest.approx(push * counted, rel=0.01)
    assert abs(samples.forces[-1, 0, 1:]).max() < 1e-3 * push * counted
    assert len(flow.forces().steps) == 0, "taken"
    fields = flow.fields()
    assert fields.step == 2990
    assert fields.density.shape == (len(ball.solid), 64) and fields.velocity.shape == (3, len(ball.solid), 64)
    assert np.array_equal(flow.velocity(), fields.velocity) and np.array_equal(flow.density(), fields.density)
    solid = (ball.solid[:, None] >> np.arange(64, dtype=np.uint64) & np.uint64(1)).astype(bool)
    assert (fields.velocity[:, solid] == 0).all() and (fields.density[solid] == 1).all()
    assert fields.velocity[0, ~solid].mean() > 0
    # Symmetric about the plane through the centre.
    n = 16
    dense = ball.sample((n, n, n), fields.velocity)
    assert dense.shape == (3, n, n, n)
    assert np.allclose(dense[0], dense[0][:, ::-1], atol=1e-3 * dense[0].max())


class Old:
    """An array of the first version of DLPack."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, *, stream=None, **_):
        return self._array.__dlpack__(stream=stream)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("shape", ["sphere:r=3", "circle:r=3"])
def test_device_fields_are_the_fields(shape):
    corner = [-8] * (3 if shape.startswith("sphere") else 2)
    mesh = cutlink.mesh(shape, domain=[*corner, *(-x for x in corner)], root=16, levels=3, wall_distance=1.0)
    velocity = [0.03, 0.01, -0.02][: len(corner)]
    flow = cutlink.Flow(mesh, viscosity=0.1)
    flow.set(velocity=velocity)
    flow.advance(10)
    fields, arrays = flow.fields(), flow.device_fields()
    flow.advance(10)
    assert arrays.step == fields.step == 10
    for array, expected in [(arrays.density, fields.density), (arrays.velocity, fields.velocity)]:
        assert array.device == "cpu" and array.shape == expected.shape and array.__dlpack_device__() == (1, 0)
        assert np.array_equal(array.numpy(), expected)
        for version in (array, Old(array)):
            view = np.from_dlpack(version)
            assert np.array_equal(view, expected)
            assert np.shares_memory(view, np.from_dlpack(array)), "no copy"
    assert not np.array_equal(flow.device_fields().velocity.numpy(), fields.velocity), "a comparison that can fail"
    with pytest.raises(AttributeError, match="host"):
        _ = arrays.density.__cuda_array_interface__
    assert not hasattr(arrays.density, "__cuda_array_interface__")
    with pytest.raises(BufferError, match="cpu"):
        arrays.density.__dlpack__(dl_device=(2, 0))
    with pytest.raises(BufferError, match="copied"):
        arrays.density.__dlpack__(copy=True)


def test_device_arrays_outlive_their_flow(ball):
    flow = cutlink.Flow(ball, viscosity=0.1)
    flow.set(velocity=[0.02, 0, 0])
    view = np.from_dlpack(flow.device_fields().velocity)
    kept, capsule = view.copy(), flow.device_fields().density.__dlpack__(max_version=(1, 0))
    del flow
    gc.collect()
    assert "dltensor_versioned" in repr(capsule)
    del capsule
    _ = [np.ones(view.shape, np.float32) for _ in range(20)]
    assert np.array_equal(view, kept) and kept[0].max() == np.float32(0.02)


def test_a_state_by_cell_is_taken(ball):
    """A flow that starts from the fields of another one has its fields, and goes on nearly as that does."""
    first = cutlink.Flow(ball, viscosity=0.1, acceleration=[1e-5, 0, 0], precision="f64")
    first.advance(200)
    state = first.fields()
    second = cutlink.Flow(ball, viscosity=0.1, acceleration=[1e-5, 0, 0], precision="f64")
    second.set(density=state.density, velocity=state.velocity)
    assert second.steps == 0
    fields = second.fields()
    assert abs(fields.velocity - state.velocity).max() < 1e-5
    assert abs(fields.density - state.density).max() < 1e-6
    first.advance(20)
    second.advance(20)
    scale = abs(first.velocity()).max()
    assert abs(first.velocity() - second.velocity()).max() < 0.02 * scale
    second.set(density=1.01)
    assert np.allclose(second.density()[state.density != 1], 1.01)
    with pytest.raises(cutlink.UsageError, match="shape"):
        second.set(density=np.ones(5))
    with pytest.raises(cutlink.UsageError, match="shape"):
        second.set(velocity=state.velocity[:2])


def test_a_uniform_flow_stays(tmp_path):
    wing = cutlink.mesh("circle:r=0.5", domain=[-2, -2, 2, 2], root=32, levels=1)
    velocity = [0.005, -0.002]
    flow = cutlink.Flow(
        wing, viscosity=0.1, faces={"x-": "periodic"}, patches={wing.patches[0]: {"velocity": velocity}},
    )  # fmt: skip
    flow.set(density=1.0, velocity=velocity)
    flow.advance(20)
    fields = flow.fields()
    solid = (wing.solid[:, None] >> np.arange(16, dtype=np.uint64) & np.uint64(1)).astype(bool)
    for a in range(2):
        assert abs(fields.velocity[a][~solid] - velocity[a]).max() < 1e-6
    assert flow.steps == 20
    flow.set()
    assert flow.steps == 0 and abs(flow.velocity()).max() == 0


def test_poiseuille_flow_is_a_parabola():
    duct = cutlink.mesh(
        "rectangle:size=8x2", domain=[-2, -1.25, 2, 1.25], root="32x20", levels=1, flow="inside", periodic="x"
    )
    push, viscosity = 1e-5, 0.2
    flow = cutlink.Flow(duct, viscosity=viscosity, acceleration=[push, 0], collision="trt", precision="f64")
    flow.advance(6000)
    along = duct.sample((32, 20), flow.velocity())[0]
    # The walls at y = -1 and 1 are 16 cells apart.
    y = (np.arange(20) + 0.5) - 10
    exact = push / (2 * viscosity) * (8**2 - y**2)
    fluid = abs(y) < 8
    assert along[16][fluid] == pytest.approx(exact[fluid], rel=2e-3)
    assert (along[16][~fluid] == 0).all()


def test_16_bit_populations_give_the_same_drag(ball):
    def drag(precision):
        flow = cutlink.Flow(
            ball, viscosity=0.1, precision=precision, faces={"x-": {"velocity": [0.05, 0, 0]}, "x+": "outflow"}
        )
        flow.set(velocity=[0.05, 0, 0])
        flow.advance(300)
        flow.check()
        return flow.forces().forces[-1, 0, 0]

    assert drag("f16") == pytest.approx(drag("f32"), rel=5e-3)


def test_a_modelled_wall_has_another_drag(ball):
    def drag(walls):
        flow = cutlink.Flow(
            ball,
            viscosity=1e-3,
            wall_model=walls,
            faces={"x-": {"velocity": [0.05, 0, 0]}, "x+": "outflow"},
        )
        flow.set(velocity=[0.05, 0, 0])
        flow.advance(20)
        flow.check()
        return flow.forces().forces[-1, 0, 0]

    assert abs(drag(ball.patches) / drag([]) - 1) > 1e-3
    with pytest.raises(cutlink.UsageError, match="no patch"):
        cutlink.Flow(ball, viscosity=0.1, wall_model=["wing"])


def test_unstable_flows_are_refused(ball: cutlink.Mesh) -> None:
    stream = {"x-": {"velocity": [0.05, 0, 0]}, "x+": "outflow"}
    # u dx / nu: 12.5, for which BGK in 3D between openings is not stable.
    with pytest.raises(cutlink.UsageError, match="u dx / nu .* is 12.5; .*bgk.* up to 10: .*regularized") as refused:
        cutlink.Flow(ball, viscosity=0.004, collision="bgk", faces=stream)
    assert "allow_unstable=True" in str(refused.value)
    assert cutlink.Flow(ball, viscosity=0.004, collision="bgk", faces=stream, allow_unstable=True).steps == 0
    with pytest.raises(cutlink.UsageError, match="Mach number is 0.346"):
        cutlink.Flow(ball, viscosity=0.1, faces={"x-": {"velocity": [0.2, 0, 0]}, "x+": "outflow"})



def test_a_diverged_flow_is_told(ball):
    flow = cutlink.Flow(ball, viscosity=1e-6, collision="bgk", allow_unstable=True)
    flow.set(velocity=[0.5, 0, 0])
    flow.advance(500)
    with pytest.raises(cutlink.Diverged, match="diverged"):
        flow.check()


def test_ctrl_c_leaves_a_flow_usable(ball):
    flow = cutlink.Flow(ball, viscosity=0.1, forces_every=0)
    timer = interrupt_after(0.5)
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        flow.advance(10_000_000)
    timer.cancel()
    assert time.monotonic() - began < 20
    before = flow.steps
    assert 0 < before < 10_000_000
    flow.advance(3)
    assert flow.steps == before + 3 and len(flow.forces().steps) == 0


def test_flows_keep_their_mesh_and_serve_threads():
    flow = cutlink.Flow(cutlink.mesh("sphere:r=3", **BOX), viscosity=0.1, acceleration=[1e-5, 0, 0])
    gc.collect()
    failures = []

    def work():
        try:
            for _ in range(5):
                flow.advance(2)
                assert np.isfinite(flow.density()).all()
        except BaseException as error:  # noqa: BLE001 - reported below
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not failures and flow.steps == 80
    assert sorted(flow.forces().steps.tolist()) == list(range(1, 81))
