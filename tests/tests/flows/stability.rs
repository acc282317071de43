use cutlink_solver::{Collision, FaceCondition, LatticeKind, Params, Sponge};
use cutlink_tests::{
    flows::{self, AnyFlow},
    spectrum,
};
use cutlink_voxelizer::{Mesh, Region, RegionShape};

cutlink_tests::backend_test!(
    on_one_thread:
    interfaces_do_not_feed_disturbances if slow_tests,
    faces_do_not_feed_disturbances,
    ducts_do_not_ring,
    sponges_do_not_feed_disturbances if slow_tests,
    an_unstable_flow_is_seen
);

/// The free stream of boxes with open faces, and the faces that give it or let it slip.
const STREAM: [f64; 2] = [0.05, 0.0];
const FAR: FaceCondition<2> = FaceCondition::FarField {
    velocity: STREAM,
    density: 1.0,
};
const GIVEN: FaceCondition<2> = FaceCondition::Velocity(STREAM);
const SLIP: [FaceCondition<2>; 2] = [FaceCondition::FreeSlip; 2];

/// Whether a disturbance grows, or its growth is no number.
fn is_growth(rate: f64) -> bool {
    rate.is_nan() || rate >= 1e-6
}

/// A uniform stream in a box, with a viscosity.
fn stream<const D: usize, K: cutlink_solver::kernels::FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    u: [f64; D],
    viscosity: f64,
    change: impl FnOnce(&mut Params<D>),
) -> f64 {
    let mut params = flows::params(mesh, viscosity);
    params.collision = Collision::Regularized;
    change(&mut params);
    let mut flow = flows::start(kernels, mesh, params);
    flow.set(&|_| (1.0, u)).expect("a start");
    spectrum::growth(&mut *flow, 16, 40, 40)
}

/// Balls within one another, a level finer each.
fn balls<const D: usize>(n: u32, levels: usize) -> Mesh<D>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let h = f64::from(n);
    let regions = (2..=levels).map(|levels| Region {
        shape: RegionShape::Ball {
            center: [0.5 * h; 3],
            radius: h * 0.3 / (levels - 1) as f64,
        },
        levels,
    });
    flows::empty_box([n; D], levels, regions.collect())
}

fn interfaces_do_not_feed_disturbances<K: AnyFlow>(kernels: &K) {
    let plane = balls::<2>(24, 3);
    for (u, viscosity) in [
        ([0.05, 0.02], 1e-3),
        ([0.05, 0.0], 1e-5),
        ([0.1, 0.0], 1e-4),
    ] {
        let growth = stream(kernels, &plane, u, viscosity, |_| {});
        assert!(growth < 1e-6, "2D, {u:?}, {viscosity}: {growth:e}");
    }
    for viscosity in [1e-2, 1e-3] {
        let growth = stream(kernels, &plane, [0.05, 0.02], viscosity, |params| {
            params.collision = Collision::Bgk
        });
        assert!(
            growth < 1e-6,
            "one relaxation time, {viscosity}: {growth:e}"
        );
    }
    for lattice in [LatticeKind::D3Q19, LatticeKind::D3Q27] {
        let space = balls::<3>(12, 2);
        let growth = stream(kernels, &space, [0.05, 0.02, 0.01], 1e-4, |p| {
            p.lattice = lattice
        });
        assert!(growth < 1e-6, "{lattice}: {growth:e}");
    }
}

fn faces_do_not_feed_disturbances<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([20, 12], 1, Vec::new());
    let (u, far, given, slip) = (STREAM, FAR, GIVEN, SLIP);
    let boxes = [
        (
            "pressure, slip",
            [given, FaceCondition::Pressure(1.0)],
            slip,
        ),
        ("outflow, slip", [given, FaceCondition::Outflow], slip),
        (
            "pressure, moving",
            [given, FaceCondition::Pressure(1.0)],
            [given; 2],
        ),
        (
            "outflow, moving",
            [given, FaceCondition::Outflow],
            [given; 2],
        ),
        ("far field", [far; 2], [far; 2]),
        ("far field, slip", [far; 2], slip),
        (
            "pressure around",
            [given, FaceCondition::Pressure(1.0)],
            [FaceCondition::Pressure(1.0); 2],
        ),
        (
            "outflow around",
            [given, FaceCondition::Outflow],
            [FaceCondition::Outflow; 2],
        ),
    ];
    let mut grown = Vec::new();
    for (name, x, y) in boxes {
        for viscosity in [1e-3, 1e-4, 1e-5] {
            let growth = stream(kernels, &mesh, u, viscosity, |p| p.faces = [x, y]);
            // Faces that move along themselves and meet an outlet: to u dx / viscosity = 500.
            let may_grow = name.contains("moving") && viscosity < 1e-4 && growth.is_finite();
            if is_growth(growth) && !may_grow {
                grown.push(format!("{name}, {viscosity:e}: {growth:.1e}"));
            }
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
}

/// Sound that goes along the faces is near the cutoff of a duct: long boxes have it, short ones do not.
fn ducts_do_not_ring<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([64, 64], 1, Vec::new());
    let u = STREAM;
    for outlet in [FaceCondition::Outflow, FaceCondition::Pressure(1.0)] {
        let growth = stream(kernels, &mesh, u, 1e-3, |p| {
            p.faces = [
                [FaceCondition::Velocity(u), outlet],
                [FaceCondition::FreeSlip; 2],
            ];
        });
        assert!(growth < 1e-6, "{outlet:?}: {growth:e}");
    }
}

fn sponges_do_not_feed_disturbances<K: AnyFlow>(kernels: &K) {
    let ball = Region {
        shape: RegionShape::Ball {
            center: [16.0, 8.0, 0.0],
            radius: 3.0,
        },
        levels: 2,
    };
    let meshes = [
        flows::empty_box([24, 16], 1, Vec::new()),
        flows::empty_box([24, 16], 2, vec![ball]),
    ];
    let (u, far, given, slip) = (STREAM, FAR, GIVEN, SLIP);
    let boxes = [
        ("outflow", [given, FaceCondition::Outflow], slip),
        ("pressure", [given, FaceCondition::Pressure(1.0)], slip),
        ("far field", [far; 2], [far; 2]),
    ];
    let mut grown = Vec::new();
    for (name, x, y) in boxes {
        for mesh in &meshes {
            // From hardly anything to nearly all in a step.
            for (viscosity, strength) in [
                (1e-3, 5.0),
                (1e-4, 0.1),
                (1e-4, 5.0),
                (1e-4, 100.0),
                (1e-5, 5.0),
            ] {
                let growth = stream(kernels, mesh, u, viscosity, |p| {
                    p.faces = [x, y];
                    p.sponges = [(0, 0, 6.0), (0, 1, 12.0), (1, 1, 6.0)]
                        .map(|(axis, side, length)| Sponge {
                            axis,
                            side,
                            length,
                            strength,
                            stream: [0, 0],
                        })
                        .to_vec();
                });
                if is_growth(growth) {
                    grown.push(format!("{name}, {viscosity:e}, {strength}: {growth:.1e}"));
                }
            }
        }
    }
    assert!(grown.is_empty(), "{grown:#?}");
}

/// The comparator: what is known to grow, does.
fn an_unstable_flow_is_seen<K: AnyFlow>(kernels: &K) {
    let mesh = flows::empty_box([8, 12], 1, Vec::new());
    let u = [0.1, 0.0];
    // Bounce-back from walls that move along themselves, with little viscosity.
    let growth = stream(kernels, &mesh, u, 1e-4, |p| {
        p.faces[1] = [FaceCondition::Velocity(u); 2];
    });
    assert!(growth > 1e-4, "{growth:e}");
}
