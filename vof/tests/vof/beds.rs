//! Flows with grains that the tests share.

use crate::mesh;
use cutlink_grains::{Bed, BoxAxis, Grain, GrainBox, GrainParams, Material, Materials, Touch};
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, GrainCoupling, LiquidShape, Phases, TwoPhaseFlow,
};

pub(crate) const FULL: LiquidShape<3> = LiquidShape::Box([[0.0; 3], [1.0; 3]]);

/// A bed of one material in the box of 1 along each axis.
pub(crate) fn bed(density: f64, periodic: bool, restitution: f64, grains: &[Grain]) -> Bed {
    let material = Material {
        young: 1e5,
        poisson: 0.3,
        density,
    };
    let touch = Touch {
        restitution,
        friction: 0.3,
        rolling: 0.0,
    };
    let materials = Materials::alike(&[material], touch).expect("a material");
    let mut domain = GrainBox::closed([0.0; 3], [1.0; 3], 0);
    if periodic {
        domain.axes = [BoxAxis::Periodic; 3];
    }
    Bed::start(GrainParams::new(materials, domain, 1e-4), None, grains).expect("a sound start")
}

pub(crate) fn params(viscosity: f64, gravity: f64) -> FlowParams<3> {
    FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [viscosity; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0, 0.0, -gravity],
        faces: [[BoxFace::NoSlip; 2]; 3],
        longest_step: 0.02,
        ..mesh::params()
    }
}

/// A box of 4 blocks along each axis, full of liquid.
pub(crate) fn flow(params: &FlowParams<3>, periodic: bool, bed: Bed) -> TwoPhaseFlow<3> {
    of_blocks(4, params, periodic, bed)
}

pub(crate) fn of_blocks(
    n: u32,
    params: &FlowParams<3>,
    periodic: bool,
    bed: Bed,
) -> TwoPhaseFlow<3> {
    let mesh = mesh::mesh([n; 3], [periodic; 3], 1, |_, _| false);
    let flow = TwoPhaseFlow::new(mesh, params.clone(), &[FULL]).expect("a flow");
    flow.with_grains(bed, GrainCoupling::default())
        .expect("grains in a flow")
}

/// A grain that falls into a pool.
pub(crate) fn splash(viscosity: f64) -> TwoPhaseFlow<3> {
    let params = FlowParams {
        phases: Phases {
            density: [1000.0, 1.0],
            viscosity: [viscosity, 0.1 * viscosity],
            surface_tension: 1.0,
        },
        ..params(viscosity, 10.0)
    };
    let mut grain = Grain::at([0.5, 0.5, 0.72], 0.14);
    grain.velocity = [0.0, 0.0, -1.0];
    let water = LiquidShape::Box([[0.0; 3], [1.0, 1.0, 0.5]]);
    let mesh = mesh::mesh([4; 3], [false; 3], 1, |_, _| false);
    let flow = TwoPhaseFlow::new(mesh, params, &[water]).expect("a flow");
    let bed = bed(2500.0, false, 0.5, &[grain]);
    flow.with_grains(bed, GrainCoupling::default())
        .expect("grains in a flow")
}

/// A grain that sinks in a mesh of two levels, which follows it.
pub(crate) fn followed() -> TwoPhaseFlow<3> {
    let grain = Grain::at([0.5, 0.5, 0.7], 0.1);
    let near = |c: [f64; 3], half: f64| {
        let out = |a: usize| ((c[a] - grain.center[a]).abs() - half).max(0.0).powi(2);
        (0..3).map(out).sum::<f64>().sqrt() < 0.1 + 4.0 / 24.0
    };
    let forest = mesh::forest([3; 3], [false; 3], 2, near);
    let mesh = FlowMesh::new(&forest, [0.0; 3], 1.0 / 12.0, Vec::new());
    let flow = TwoPhaseFlow::new(mesh.expect("a mesh"), params(1e-3, 1.0), &[FULL]);
    let bed = bed(3.0, false, 0.5, &[grain]);
    let flow = (flow.expect("a flow")).with_grains(bed, GrainCoupling::default());
    let mut flow = flow.expect("grains in a flow");
    let floor = mesh::forest([3; 3], [false; 3], 1, |_, _| false);
    flow.follow(forest, floor, mesh::levels(2))
        .expect("a flow that is followed");
    flow
}
