//! Meshes that follow the flow.

use cutlink_device::Host;
use cutlink_mesher::primitives::{Shape2, Shape3};
use cutlink_solver::{
    Adaptation, Collision, Criterion, FaceCondition, Indicator, LatticeFlow, LatticeKind,
    LevelLimit, Params, PatchCondition, Precision, WallScheme,
};
use cutlink_tests::{
    arrays::same_mesh,
    bodies,
    flows::{self, AnyFlow},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, validate};

cutlink_tests::backend_test!(
    on_one_thread:
    a_vortex_that_moves_keeps_its_shape if slow_tests,
    a_vortex_across_all_faces_is_one_in_the_middle,
    a_wake_is_followed_and_its_body_stays if slow_tests,
    space_is_adapted_without_loss,
    a_sphere_is_followed_within_its_limits if slow_tests,
    the_first_mesh_is_the_same_on_all_backends if slow_tests
);

pub(super) fn by<const D: usize>(
    indicator: Indicator,
    levels: usize,
    refine: f64,
) -> Adaptation<D> {
    Adaptation {
        every: 10,
        levels,
        max_cells: u64::MAX,
        buffer: 1,
        criteria: vec![Criterion {
            indicator,
            refine,
            coarsen: 0.5,
            within: None,
            from_step: 0,
        }],
        limits: Vec::new(),
    }
}

/// A periodic box of root cells.
pub(super) fn torus<const D: usize>(cells: [u32; D]) -> Mesh<D>
where
    cutlink_mesher::exact::Facet<D>: cutlink_mesher::exact::Exact<D>,
{
    let frame = Frame::new([0.0; D], 1.0, cells).expect("a box");
    let params = EmbedParams {
        periodic: [true; 3],
        ..EmbedParams::new(1, 0.0, Fill::NonZero)
    };
    let nothing = cutlink_mesher::Surface::<D>::single_patch(Vec::new(), Vec::new(), "none");
    bodies::mesh_of(&nothing, frame, &params)
}

fn free<const D: usize>(mesh: &Mesh<D>, viscosity: f64) -> Params<D> {
    Params {
        collision: Collision::Regularized,
        ..flows::params(mesh, viscosity)
    }
}

/// Taylor's shielded monopole u_θ = A r exp(-r² / a²) with a² = a0² + 4 ν t and A ∝ a⁻⁴, carried by a uniform stream: an
/// exact solution of the incompressible equations (Taylor 1918). `edge` is that of a periodic box.
fn monopole(edge: f64, a0: f64, viscosity: f64, time: f64, x: [f64; 2]) -> [f64; 2] {
    const STREAM: [f64; 2] = [0.05, 0.02];
    let square = a0 * a0 + 4.0 * viscosity * time;
    let strength = 0.02 * (2.0 * 1f64.exp()).sqrt() / a0 * (a0 * a0 / square).powi(2);
    let middle = STREAM.map(|u| 0.5 * edge + u * time);
    let arm: [f64; 2] = std::array::from_fn(|a| {
        let away = (x[a] - middle[a]).rem_euclid(edge);
        if away > 0.5 * edge { away - edge } else { away }
    });
    let spin = strength * (-(arm[0] * arm[0] + arm[1] * arm[1]) / square).exp();
    [STREAM[0] - spin * arm[1], STREAM[1] + spin * arm[0]]
}

fn a_vortex_that_moves_keeps_its_shape<K: AnyFlow>(kernels: &K) {
    let (n, a0, viscosity, steps) = (96, 5.0, 1e-3, 960);
    let (mesh, edge) = (torus([n; 2]), f64::from(n));
    // Half of the box along x.
    let run = |adaptation: Option<Adaptation<2>>| {
        let params = Params {
            adaptation,
            ..free(&mesh, viscosity)
        };
        let mut flow = flows::start(kernels, &mesh, params);
        flow.set(&|x| (1.0, monopole(edge, a0, viscosity, 0.0, x)))
            .expect("a start");
        flow.advance(steps).expect("steps");
        validate(flow.mesh().expect("a mesh")).expect("a mesh");
        flow.validate().expect("tables");
        let snapshot = flow.snapshot().expect("fields");
        let exact = |x| monopole(edge, a0, viscosity, steps as f64, x);
        let (error, mass, _) = flows::errors(flow.mesh().expect("a mesh"), &snapshot, exact);
        assert!((mass / (edge * edge) - 1.0).abs() < 1e-6, "mass {mass}");
        (
            error,
            flow.mesh().expect("a mesh").forest.leaves().count(),
            flow.epoch(),
        )
    };
    let coarse = run(None);
    let followed = run(Some(by(Indicator::Vorticity, 2, 5e-4)));
    assert!(followed.2 > 5, "{} changes", followed.2);
    assert!(
        followed.1 < 2 * coarse.1,
        "{} blocks for {}",
        followed.1,
        coarse.1
    );
    // Where all cells were half as large, a quarter would be left.
    assert!(
        followed.0 < 0.4 * coarse.0,
        "{:e} on the mesh that follows, {:e} without",
        followed.0,
        coarse.0
    );
}

/// A vortex in the corner of a periodic box, and so at all of its faces, has the blocks and the bits of one in the middle.
fn a_vortex_across_all_faces_is_one_in_the_middle<K: AnyFlow>(kernels: &K) {
    let (n, steps) = (48, 60);
    let (mesh, edge) = (torus([n; 2]), f64::from(n));
    let half = [24, 24];
    let run = |start: [i32; 2]| {
        let params = Params {
            adaptation: Some(by(Indicator::Vorticity, 3, 5e-4)),
            ..free(&mesh, 1e-3)
        };
        let mut flow = flows::start(kernels, &mesh, params);
        let from = |x: [f64; 2]| std::array::from_fn(|a| x[a] + 24.0 - f64::from(start[a]));
        flow.set(&|x| (1.0, monopole(edge, 4.0, 1e-3, 0.0, from(x))))
            .expect("a start");
        flow.advance(steps).expect("steps");
        validate(flow.mesh().expect("a mesh")).expect("2:1 balance across the faces");
        let snapshot = flow.snapshot().expect("fields");
        (flow, snapshot)
    };
    let flows = (run(half), run([0, 0]));
    let of = |(flow, snapshot)| (LatticeFlow::mesh(flow).expect("a mesh"), snapshot);
    let middle = of((&*flows.0.0, &flows.0.1));
    let corner = of((&*flows.1.0, &flows.1.1));
    let changes = [flows.0.0.epoch(), flows.1.0.epoch()];
    assert!(
        changes[0] > 2 && changes[0] == changes[1],
        "{changes:?} changes"
    );
    assert_eq!(middle.0.forest.levels.len(), 3, "levels");
    let same = |shift: [i32; 2]| {
        middle.0.forest.leaves().all(|id| {
            let level = usize::from(middle.0.forest.level[id as usize]);
            let at = middle.0.forest.coord[id as usize];
            let to = std::array::from_fn(|a| at[a] + ((shift[a] / 4) << level));
            let to = corner.0.forest.wrap(level, to);
            let Some(other) = corner.0.forest.find(level, to) else {
                return false;
            };
            let is_leaf = usize::from(corner.0.forest.level[other as usize]) == level
                && corner.0.forest.is_leaf(other);
            let bits = |values: &[f32], id: u32| {
                values[16 * id as usize..][..16]
                    .iter()
                    .map(|v| v.to_bits())
                    .collect::<Vec<_>>()
            };
            let fields = |s: &cutlink_solver::Snapshot<2>, id: u32| {
                [&s.density, &s.velocity[0], &s.velocity[1]].map(|values| bits(values, id))
            };
            is_leaf && fields(middle.1, id) == fields(corner.1, other)
        })
    };
    assert!(same(half), "the same flow elsewhere");
    assert!(!same([28, 24]), "not the same a block further");
    let leaves = |mesh: &Mesh<2>| mesh.forest.leaves().count();
    assert_eq!(leaves(middle.0), leaves(corner.0));
}

fn a_wake_is_followed_and_its_body_stays<K: AnyFlow>(kernels: &K) {
    let surface = Shape2::Circle { radius: 2.1 }
        .surface(1e-2)
        .expect("a circle");
    let frame = Frame::new([-12.3, -12.1], 1.0, [48, 24]).expect("a box");
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(3, 1.0, Fill::NonZero));
    let stream = [0.05, 0.0];
    let mut params = free(&mesh, 0.02);
    params.faces[0] = [FaceCondition::Velocity(stream), FaceCondition::Outflow];
    params.faces[1] = [FaceCondition::FreeSlip; 2];
    params.forces = true;
    params.adaptation = Some(by(Indicator::Vorticity, 3, 1e-3));
    let mut flow = flows::start(kernels, &mesh, params);
    flow.set(&|_| (1.0, stream)).expect("a start");
    let before = flow.mesh().expect("a mesh").forest.leaves().count();
    flow.advance(1200).expect("steps");
    flow.check().expect("a flow");
    flow.validate().expect("tables");
    let now = flow.mesh().expect("a mesh");
    validate(now).expect("a mesh");
    assert!(
        now.forest.leaves().count() > before,
        "the wake should have been refined"
    );
    assert!(flow.epoch() > 3, "{} changes", flow.epoch());
    assert_eq!(now.links.q, mesh.links.q, "the body's cuts");
    assert_eq!(now.links.cells, mesh.links.cells);
    let place = |mesh: &Mesh<2>, id: &u32| {
        let at = *id as usize;
        (mesh.forest.level[at], mesh.forest.coord[at])
    };
    for (old, new) in mesh.links.blocks.iter().zip(&now.links.blocks) {
        assert_eq!(place(&mesh, old), place(now, new), "the body's blocks");
    }
    for &id in mesh.forest.levels.iter().flatten() {
        let at = mesh.forest.coord[id as usize];
        let level = usize::from(mesh.forest.level[id as usize]);
        let found = now.forest.find(level, at).expect("a block of the box");
        assert_eq!(
            usize::from(now.forest.level[found as usize]),
            level,
            "no block of the given mesh goes"
        );
    }
    let samples = flow.take_forces().expect("forces");
    let drag = samples.last().expect("a sample").patches[0][0];
    // Re 10 by the diameter; C_D 2.8 unbounded, more between walls 5.7 diameters apart, and started suddenly.
    let coefficient = drag / (0.5 * 0.05 * 0.05 * 4.2);
    assert!((2.5..4.5).contains(&coefficient), "C_D {coefficient}");
}

fn space_is_adapted_without_loss<K: AnyFlow>(kernels: &K) {
    let mesh = torus([32, 32, 8]);
    for (lattice, precision) in [
        (LatticeKind::D3Q19, Precision::F64),
        (LatticeKind::D3Q27, Precision::F32),
    ] {
        let mut adaptation = by(Indicator::Strain, 2, 5e-3);
        adaptation.every = 1;
        let params = Params {
            lattice,
            precision,
            patches: vec![PatchCondition::wall(WallScheme::Linear); mesh.patches.len()],
            adaptation: Some(adaptation),
            ..free(&mesh, 5e-3)
        };
        let mut flow = flows::start(kernels, &mesh, params);
        // A column that is carried along, with a little of the third velocity.
        flow.set(&|x: [f64; 3]| {
            let [u, v] = monopole(32.0, 3.0, 5e-3, 0.0, [x[0], x[1]]);
            let w = 0.01 * (std::f64::consts::TAU * x[2] / 8.0).sin();
            (1.0, [u, v, w])
        })
        .expect("a start");
        let sums = |flow: &dyn LatticeFlow<3>| {
            let snapshot = flow.snapshot().expect("fields");
            flows::errors(flow.mesh().expect("a mesh"), &snapshot, |_| [1.0; 3])
        };
        let (_, mass, momentum) = sums(&*flow);
        flow.advance(120).expect("steps");
        let (_, now, momentum_now) = sums(&*flow);
        let looks = flow.take_looks();
        assert!(
            looks.iter().map(|look| look.refined).sum::<u64>() > 0,
            "{lattice}"
        );
        assert!(
            looks.iter().map(|look| look.coarsened).sum::<u64>() > 0,
            "{lattice}"
        );
        // Interfaces conserve to the order of decision 012; changes of the mesh would be seen in each of 120 looks.
        assert!(
            (now / mass - 1.0).abs() < 2e-6,
            "{lattice}: mass {mass} {now}"
        );
        for a in 0..3 {
            let lost = (momentum_now[a] - momentum[a]).abs() / (0.03 * mass);
            assert!(
                lost < 2e-3,
                "{lattice}: momentum {momentum:?} {momentum_now:?}"
            );
        }
        validate(flow.mesh().expect("a mesh")).expect("a mesh");
        flow.validate().expect("tables");
    }
}

/// Wanted layers, a limit and a box around a sphere, fitted to the first state.
fn around_a_sphere(mesh: &Mesh<3>) -> Params<3> {
    let mut params = free(mesh, 0.02);
    params.faces[0] = [
        FaceCondition::Velocity([0.05, 0.0, 0.0]),
        FaceCondition::Outflow,
    ];
    for a in 1..3 {
        params.faces[a] = [FaceCondition::FreeSlip; 2];
    }
    let mut adaptation = by(Indicator::Strain, 3, 1e-3);
    adaptation.buffer = 2;
    adaptation.criteria.push(Criterion {
        indicator: Indicator::Q,
        refine: 1e-6,
        coarsen: 0.25,
        within: Some([[20.0, 0.0, 0.0], [40.0, 24.0, 24.0]]),
        from_step: 0,
    });
    adaptation.limits.push(LevelLimit {
        within: [[0.0; 3], [40.0, 24.0, 6.0]],
        levels: 1,
    });
    params.adaptation = Some(adaptation);
    params
}

fn sphere_in_a_channel() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 2.3 }
        .surface(1e-2)
        .expect("a sphere");
    let frame = Frame::new([-10.2, -12.1, -12.3], 1.0, [40, 24, 24]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(2, 0.5, Fill::NonZero))
}

/// A shear layer that ends in the box, so that each criterion has something to find.
fn shear(x: [f64; 3]) -> (f64, [f64; 3]) {
    let swirl = 0.02 * (0.4 * x[0]).sin() * (0.3 * x[1]).cos();
    (
        1.0,
        [
            0.05 + 0.03 * ((x[1] - 14.0) / 2.0).tanh(),
            swirl,
            0.01 * (0.5 * x[2]).sin(),
        ],
    )
}

fn a_sphere_is_followed_within_its_limits<K: AnyFlow>(kernels: &K) {
    let mesh = sphere_in_a_channel();
    let mut flow = flows::start(kernels, &mesh, around_a_sphere(&mesh));
    flow.set(&shear).expect("a start");
    flow.validate().expect("tables");
    flow.advance(40).expect("steps");
    flow.check().expect("a flow");
    flow.validate().expect("tables");
    let looks = flow.take_looks();
    let now = flow.mesh().expect("a mesh");
    validate(now).expect("a mesh");
    assert!(flow.epoch() > 2, "{} changes", flow.epoch());
    assert_eq!(now.links.q, mesh.links.q, "the body's cuts");
    assert!(looks.iter().any(|look| look.refined > 0));
    assert!(
        looks.iter().any(|look| look.withheld > 0),
        "limits and the body"
    );
    for id in now.forest.leaves() {
        let (level, at) = (now.forest.level[id as usize], now.forest.coord[id as usize]);
        let edge = 4.0 / f64::from(1u32 << level);
        let middle = at.map(|c| edge * (f64::from(c) + 0.5));
        // Refined there by the body, or for balance with what is finer beyond.
        let is_given = mesh
            .forest
            .find(usize::from(level), at)
            .is_some_and(|found| mesh.forest.level[found as usize] == level);
        assert!(
            level == 0 || middle[2] > 2.0 || is_given,
            "level {level} at {middle:?}"
        );
    }
}

fn the_first_mesh_is_the_same_on_all_backends<K: AnyFlow>(kernels: &K) {
    let mesh = sphere_in_a_channel();
    // The same populations, to the bit; values of the criteria agree to rounding.
    let mut here = flows::start(&Host, &mesh, around_a_sphere(&mesh));
    let mut there = flows::start(kernels, &mesh, around_a_sphere(&mesh));
    for flow in [&mut here, &mut there] {
        flow.set(&shear).expect("a start");
    }
    let [a, b] = [&here, &there].map(|flow| flow.mesh().expect("a mesh"));
    assert!(
        a.forest.blocks() > mesh.forest.blocks(),
        "nothing was refined"
    );
    same_mesh(a, b).expect("the host's mesh");
    // A state that one backend wrote is the other's, mesh included.
    here.advance(10).expect("steps");
    let mut bytes = Vec::new();
    here.save(&mut bytes).expect("a state");
    there.restore(&mut &bytes[..]).expect("a state");
    there.validate().expect("tables");
    let mut again = Vec::new();
    there.save(&mut again).expect("a state");
    assert!(bytes == again, "the state of another backend");
    same_mesh(here.mesh().expect("a mesh"), there.mesh().expect("a mesh"))
        .expect("the host's mesh");
}
