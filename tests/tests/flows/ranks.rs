//! Flows on several ranks: the same bits as on one, with every operator, wall, face and type of populations.

use super::twins::{Variant, circle, params, sphere};
use cutlink_device::{Backend, Memory, Route};
use cutlink_solver::{
    Adaptation, Collision, Criterion, FaceCondition, ForceSample, Indicator, Interpolation,
    LatticeFlow, LatticeKind, Les, Motion, Params, PatchCondition, Plan, Precision, WallScheme,
    kernels::FlowKernels,
};
use cutlink_tests::flows::AnyFlow;
use cutlink_voxelizer::Mesh;
use std::sync::{Mutex, MutexGuard, PoisonError};

cutlink_tests::backend_test!(
    on_one_thread:
    the_plane_is_that_of_one_rank,
    space_is_that_of_one_rank,
    a_closed_box_keeps_its_mass_on_any_number,
    a_mesh_follows_the_flow_on_any_number_of_ranks,
    a_device_for_each_rank_gives_the_same_bits
);

/// Populations and forces after some steps from a state without symmetry.
fn outcome<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    steps: u64,
) -> (Vec<u8>, Vec<ForceSample>) {
    let wave = |x: f64, shift: f64| 0.02 * (0.9 * x + shift).sin();
    let at = |x: [f64; D]| {
        let u = std::array::from_fn(|a| 0.03 * f64::from(a == 0) + wave(x[(a + 1) % D], a as f64));
        (1.0 + 0.1 * wave(x[0], 2.0), u)
    };
    flow.set(&at).expect("a state");
    flow.advance(steps).expect("steps");
    flow.check().expect("no divergence");
    let mut state = Vec::new();
    flow.save(&mut state).expect("a state");
    (state, flow.take_forces().expect("forces"))
}

/// As many devices, if the machine has them; the CPU is each of them.
pub(super) fn devices<K: Backend>(kernels: &K, ranks: usize) -> Option<Vec<K>> {
    let devices = (0..ranks).map(|n| kernels.nth_after(n as u32).ok());
    devices.collect()
}

/// One flow at a time is shared among devices.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn compare<const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    mesh: &Mesh<D>,
    params: &Params<D>,
    steps: u64,
    numbers: &[usize],
) {
    let _alone = alone();
    let on = |ranks: &[K]| {
        let plan = Plan::new(mesh, params.clone()).expect("a plan");
        let mut flow = plan.start_ranks(ranks).expect("a start");
        outcome(&mut *flow, steps)
    };
    let (state, forces) = on(std::slice::from_ref(kernels));
    for &ranks in numbers {
        let devices = devices(kernels, ranks).unwrap_or_else(|| vec![kernels.clone(); ranks]);
        let (found, pushed) = on(&devices);
        assert!(found == state, "{ranks} ranks: populations of {params:?}");
        assert_eq!(pushed, forces, "{ranks} ranks: forces of {params:?}");
    }
    // The comparison can fail.
    let mut other = params.clone();
    other.viscosity *= 1.0 + 1e-3;
    let plan = Plan::new(mesh, other).expect("a plan");
    let mut flow = plan
        .start_ranks(&vec![kernels.clone(); 2])
        .expect("a start");
    assert!(outcome(&mut *flow, steps).0 != state, "another viscosity");
}

fn variant(lattice: LatticeKind, collision: Collision, les: Les) -> Variant {
    Variant {
        lattice,
        collision,
        les,
        viscosity: 0.02,
        scheme: WallScheme::Quadratic,
        interpolation: Interpolation::Cubic,
        outflow: true,
        is_modeled: false,
    }
}

fn the_plane_is_that_of_one_rank<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let of = |collision, les| variant(LatticeKind::D2Q9, collision, les);
    let smagorinsky = Les::Smagorinsky { constant: 0.2 };
    let linear = Variant {
        scheme: WallScheme::Linear,
        interpolation: Interpolation::Linear,
        outflow: false,
        ..of(Collision::Trt { magic: 0.25 }, Les::None)
    };
    let bounce = Variant {
        scheme: WallScheme::BounceBack,
        ..of(Collision::Bgk, Les::None)
    };
    let modeled = Variant {
        is_modeled: true,
        ..of(Collision::Regularized, smagorinsky)
    };
    let all = [
        (of(Collision::Regularized, Les::None), Precision::F64),
        (of(Collision::Kbc, smagorinsky), Precision::F32),
        (linear, Precision::F32),
        (bounce, Precision::F64),
        (modeled, Precision::F32),
        (of(Collision::Regularized, Les::None), Precision::F16),
    ];
    for (variant, precision) in all {
        let params = params(&mesh, variant, precision);
        compare(kernels, &mesh, &params, 40, &[2, 3, 4, 7, 8]);
    }
}

fn space_is_that_of_one_rank<K: AnyFlow>(kernels: &K) {
    let mesh = sphere();
    let cumulant = variant(
        LatticeKind::D3Q27,
        Collision::CUMULANT,
        Les::Qr { constant: 1.0 },
    );
    let modeled = Variant {
        is_modeled: true,
        ..variant(LatticeKind::D3Q19, Collision::Regularized, Les::None)
    };
    for (variant, precision) in [(cumulant, Precision::F32), (modeled, Precision::F64)] {
        compare(
            kernels,
            &mesh,
            &params(&mesh, variant, precision),
            5,
            &[2, 7],
        );
    }
}

/// The mean density is held by a sum over all ranks.
fn a_closed_box_keeps_its_mass_on_any_number<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let base = variant(LatticeKind::D2Q9, Collision::Regularized, Les::None);
    let mut params = params(&mesh, base, Precision::F64);
    params.faces = [[FaceCondition::FreeSlip; 2]; 2];
    params.sponges = Vec::new();
    params.patches = vec![PatchCondition::Wall {
        scheme: WallScheme::Linear,
        motion: Motion::Rotation {
            center: [8.3, 8.1],
            omega: [0.0, 0.0, 0.01],
        },
    }];
    let plan = Plan::new(&mesh, params.clone()).expect("a plan");
    assert!(plan.holds_density());
    compare(
        kernels,
        &mesh,
        &params,
        2 * cutlink_solver::HOLD_EVERY + 3,
        &[2, 5],
    );
}

fn a_mesh_follows_the_flow_on_any_number_of_ranks<K: AnyFlow>(kernels: &K) {
    let mesh = circle();
    let base = variant(LatticeKind::D2Q9, Collision::Regularized, Les::None);
    let mut params = params(&mesh, base, Precision::F64);
    params.adaptation = Some(Adaptation {
        every: 10,
        levels: 3,
        max_cells: u64::MAX,
        buffer: 1,
        criteria: vec![Criterion {
            indicator: Indicator::Vorticity,
            refine: 6e-3,
            coarsen: 0.5,
            within: None,
            from_step: 0,
        }],
        limits: Vec::new(),
    });
    let _alone = alone();
    let on = |ranks: usize| {
        let plan = Plan::new(&mesh, params.clone()).expect("a plan");
        let mut flow = plan
            .start_ranks(&vec![kernels.clone(); ranks])
            .expect("a start");
        let outcome = outcome(&mut *flow, 40);
        let changes = flow
            .take_looks()
            .iter()
            .filter(|look| look.refined > 0)
            .count();
        (outcome, changes)
    };
    let (one, changes) = on(1);
    assert!(changes > 0, "the mesh never changed");
    for ranks in [2, 3, 5] {
        assert!(on(ranks) == (one.clone(), changes), "{ranks} ranks");
    }
}

/// On a machine with a single GPU there is nothing to compare. Where there are several, they have to be connected: by each other's
/// memory, or by NCCL.
fn a_device_for_each_rank_gives_the_same_bits<K: AnyFlow>(kernels: &K) {
    let Some(two) = devices(kernels, 2) else {
        return;
    };
    let _alone = alone();
    let mesh = circle();
    let base = variant(LatticeKind::D2Q9, Collision::Regularized, Les::None);
    let params = params(&mesh, base, Precision::F64);
    let run = |ranks: &[K], steps: u64| {
        let plan = Plan::new(&mesh, params.clone()).expect("a plan");
        let mut flow = plan.start_ranks(ranks).expect("a start");
        let messages = flow.messages();
        (outcome(&mut *flow, steps), messages)
    };
    // Long enough for steps that are recorded and replayed.
    let (alone, none) = run(&two[..1], 200);
    assert!(none.is_none(), "one rank has no messages: {none:?}");
    let (shared, messages) = run(&two, 200);
    let is_direct = matches!(messages, Some(Route::Direct(_)));
    let expected = <K as Backend>::MEMORY == Memory::Device;
    assert_eq!(is_direct, expected, "{messages:?}");
    assert!(shared == alone, "two devices: populations and forces");
    let (other, _) = run(&two, 199);
    assert!(other != shared, "another number of steps");
}
