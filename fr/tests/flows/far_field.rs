//! What reaches the faces of a box with a far field leaves it.

use crate::{Random, on_one_thread, params};
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{EulerFlow, FrError, Primitive, TimeStep, kernels::Kernels};

fn stream<const D: usize>() -> Primitive<D> {
    Primitive {
        density: 1.0,
        velocity: std::array::from_fn(|a| [0.8, 0.6, 0.4][a]),
        pressure: 1.0,
    }
}

/// A denser spot that the stream carries, exactly: pressure and velocity are the stream's.
fn spot<const D: usize>(time: f64, x: [f64; D]) -> Primitive<D> {
    let stream = stream::<D>();
    let from = |a: usize| x[a] - 0.5 - stream.velocity[a] * time;
    let square: f64 = (0..D).map(|a| from(a).powi(2)).sum();
    Primitive {
        density: 1.0 + 0.3 * (-square / 0.02).exp(),
        ..stream
    }
}

fn leaves_the_box<const D: usize>(root: u32)
where
    f64: Kernels<D>,
{
    let leaves = Random::new(8).tree([root; D], [false; D]);
    let mut params = params(2, TimeStep::Courant(0.5));
    params.far_field = Some(stream());
    let mut flow = EulerFlow::<D>::new(&leaves, [0.0; D], [1.0; D], params).expect("a flow");
    flow.set(|x| spot(0.0, x));
    let start = flow.density_error(|_| 1.0);
    // Its middle is 0.5 beyond the box, in a corner's direction.
    flow.advance_to(1.5).expect("a flow");
    let rest = flow.density_error(|_| 1.0);
    assert!(rest < 0.02 * start, "{D}D: {rest:e} of {start:e} is left");
}

#[test]
fn a_spot_leaves_the_box() {
    on_one_thread(|| {
        leaves_the_box::<2>(5);
        leaves_the_box::<3>(3);
    });
}

#[test]
fn faces_that_are_not_periodic_need_a_far_field() {
    let grid = Grid::new([2, 2], [true, false]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("leaves");
    let flow = |params| EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params).map(|_| ());
    let mut params = params(2, TimeStep::Courant(0.5));
    assert_eq!(flow(params.clone()), Err(FrError::NoFarField));
    params.far_field = Some(stream());
    assert_eq!(flow(params.clone()), Ok(()));
    params.far_field = Some(Primitive {
        density: 0.0,
        ..stream()
    });
    assert_eq!(flow(params.clone()), Err(FrError::FarField));
    params.order = 5;
    assert_eq!(flow(params.clone()), Err(FrError::Order { order: 5 }));
}

#[test]
fn a_flow_that_diverges_says_so() {
    let grid = Grid::new([4, 4], [true; 2]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("leaves");
    let params = params(3, TimeStep::Courant(20.0));
    let mut flow = EulerFlow::<2>::new(&leaves, [0.0; 2], [1.0; 2], params).expect("a flow");
    flow.set(|x| crate::noise(3, x));
    let end = flow.advance(1000);
    assert!(matches!(end, Err(FrError::Diverged { .. })), "{end:?}");
}
