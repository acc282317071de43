//! Meshes that follow the flow, on several ranks.

use super::{
    Ranks,
    local::Spoiled,
    partition::Partition,
    tests::{circle, linked_by, params, sphere, start},
};
use crate::{
    Adaptation, AdaptationLook, Criterion, FaceCondition, ForceSample, Indicator, InitialState,
    LatticeFlow, LatticeKind, Params, PatchCondition, Plan, Precision, Snapshot, WallScheme,
    lattice::{D2Q9, Lattice},
};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, embed, prepare, validate};

/// A look every 4 steps at vorticity, and from the ninth step on at velocity jumps in a part of the box.
fn by_two_criteria<const D: usize>(levels: usize, refine: f64, edge: f64) -> Adaptation<D> {
    let of = |indicator, refine, within, from_step| Criterion {
        indicator,
        refine,
        coarsen: 0.5,
        within,
        from_step,
    };
    let part = Some([[0.0; D], [0.6 * edge; D]]);
    Adaptation {
        every: 4,
        levels,
        max_cells: u64::MAX,
        buffer: 1,
        criteria: vec![
            of(Indicator::Vorticity, refine, None, 0),
            of(Indicator::VelocityJump, 0.7 * refine, part, 9),
        ],
        limits: Vec::new(),
    }
}

/// A periodic box without a body.
fn empty<const D: usize>(cells: [u32; D]) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    let frame = Frame::new([0.0; D], 1.0, cells).expect("a box");
    let params = EmbedParams {
        periodic: [true; 3],
        ..EmbedParams::new(1, 0.0, Fill::NonZero)
    };
    let nothing = Surface::<D>::single_patch(Vec::new(), Vec::new(), "none");
    let (snapped, _) = prepare(&Host, &nothing, &frame, &params).expect("nothing");
    embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh")
}

/// Two pairs of vortices that a stream carries along: the mesh has to follow.
fn vortices<const D: usize>(edge: f64) -> impl Fn([f64; D]) -> (f64, [f64; D]) + Sync {
    move |x| {
        let mut u = [0.06; D];
        for (at, spin) in [([0.3, 0.4], 1.0), ([0.3, 0.6], -1.0)] {
            let r: [f64; 2] = std::array::from_fn(|a| x[a] - at[a] * edge);
            let size = 0.05 * edge;
            let weight = spin * 0.05 * (-(r[0] * r[0] + r[1] * r[1]) / (2.0 * size * size)).exp();
            u[0] -= weight * r[1] / size;
            u[1] += weight * r[0] / size;
        }
        (1.0, u)
    }
}

/// Parameters of the box.
fn of_box<const D: usize>(lattice: LatticeKind, edge: f64) -> Params<D> {
    Params {
        precision: Precision::F64,
        patches: vec![PatchCondition::wall(WallScheme::Linear)],
        adaptation: Some(by_two_criteria(3, 6e-3, edge)),
        ..Params::new(lattice, 2e-3)
    }
}

/// A turning body in a stream, with an eddy viscosity, so that stress is made of differences of velocities.
fn of_body<const D: usize>(mesh: &Mesh<D>, lattice: LatticeKind) -> Params<D> {
    let mut params = params(mesh, lattice);
    for axis in 1..D {
        params.faces[axis] = [FaceCondition::FreeSlip; 2];
    }
    params.adaptation = Some(by_two_criteria(4, 1.2e-2, 16.0));
    params
}

struct Outcome<const D: usize> {
    state: Vec<u8>,
    forces: Vec<ForceSample>,
    fields: Snapshot<D>,
    looks: Vec<AdaptationLook>,
    epoch: u64,
}

/// What a flow is after so many steps.
fn outcome<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    at: &InitialState<'_, D>,
    steps: u64,
) -> Outcome<D> {
    flow.sample_forces_every(3);
    flow.set(at).expect("a state");
    flow.advance(steps).expect("steps");
    flow.check().expect("no divergence");
    flow.validate().expect("tables");
    validate(flow.mesh().expect("a mesh")).expect("a mesh");
    let mut state = Vec::new();
    flow.save(&mut state).expect("a state");
    let mut looks = flow.take_looks();
    looks.iter_mut().for_each(|look| look.seconds = 0.0);
    Outcome {
        state,
        forces: flow.take_forces().expect("forces"),
        fields: flow.snapshot().expect("fields"),
        looks,
        epoch: flow.epoch(),
    }
}

fn assert_same<const D: usize>(found: &Outcome<D>, expected: &Outcome<D>, what: &str) {
    assert_eq!(found.looks, expected.looks, "{what}: looks");
    assert_eq!(found.epoch, expected.epoch, "{what}: changes");
    assert!(found.state == expected.state, "{what}: state");
    assert_eq!(found.forces, expected.forces, "{what}: forces");
    let (a, b) = (&found.fields, &expected.fields);
    assert!(a.density == b.density && a.velocity == b.velocity, "{what}");
}

/// Whether a mesh grows and shrinks while the flow runs.
fn assert_follows(looks: &[AdaptationLook]) {
    let later = || looks.iter().filter(|look| look.step > 0);
    assert!(later().any(|look| look.refined > 0), "{looks:?}");
    assert!(later().any(|look| look.coarsened > 0), "{looks:?}");
}

fn by_number_of_ranks<'a, const D: usize>(
    plan: &(dyn Fn() -> Plan<'a, D> + Sync),
    at: &InitialState<'_, D>,
    steps: u64,
) -> Outcome<D> {
    let mut one = plan().start(&Host).expect("a flow");
    let expected = outcome(&mut *one, at, steps);
    assert_follows(&expected.looks);
    for ranks in [2, 3, 4, 7] {
        let mut flow = plan().start_ranks(&vec![Host; ranks]).expect("a flow");
        let found = outcome(&mut *flow, at, steps);
        assert_same(&found, &expected, &format!("{ranks} ranks"));
    }
    expected
}

#[test]
fn any_number_of_ranks_gives_the_same_mesh_and_bits() {
    let plane = empty::<2>([32, 32]);
    let plan = || Plan::new(&plane, of_box(LatticeKind::D2Q9, 32.0)).expect("a plan");
    by_number_of_ranks(&plan, &vortices(32.0), 42);
    let space = empty::<3>([16, 16, 8]);
    let plan = || Plan::new(&space, of_box(LatticeKind::D3Q19, 16.0)).expect("a plan");
    by_number_of_ranks(&plan, &vortices(16.0), 14);
}

#[test]
fn bodies_keep_their_forces() {
    let mesh = circle();
    let plan = || Plan::new(&mesh, of_body(&mesh, LatticeKind::D2Q9)).expect("a plan");
    let found = by_number_of_ranks(&plan, &start, 33);
    assert!(found.forces.iter().all(|of| of.patches[0][0] != 0.0));
    let mesh = sphere();
    let mut params = of_body(&mesh, LatticeKind::D3Q19);
    params.les = crate::Les::Smagorinsky { constant: 0.1 };
    if let Some(adaptation) = &mut params.adaptation {
        (adaptation.levels, adaptation.criteria[0].refine) = (3, 2e-2);
        adaptation.max_cells = 70_000;
    }
    let plan = || Plan::new(&mesh, params.clone()).expect("a plan");
    let found = by_number_of_ranks(&plan, &vortices(16.0), 10);
    assert!(found.looks.iter().any(|look| look.raised > 1.0));
}

#[test]
fn processes_adapt_as_threads_do() {
    let mesh = empty::<2>([32, 32]);
    let plan = || Plan::new(&mesh, of_box(LatticeKind::D2Q9, 32.0)).expect("a plan");
    let at = vortices(32.0);
    let mut one = plan().start(&Host).expect("a flow");
    let first = outcome(&mut *one, &at, 26);
    one.restore(&mut first.state.as_slice()).expect("a state");
    one.advance(9).expect("steps");
    let mut later = Vec::new();
    one.save(&mut later).expect("a state");
    for ranks in [2, 5] {
        let (found, found_later) = linked_by(&plan, ranks, |flow| {
            let found = outcome(flow, &at, 26);
            flow.set_uniform(1.0, [0.0; 2])
                .expect("the mesh of the plan");
            flow.restore(&mut found.state.as_slice()).expect("a state");
            flow.laps(9).expect("steps");
            let mut state = Vec::new();
            flow.save(&mut state).expect("a state");
            (found, state)
        });
        assert_same(&found, &first, &format!("{ranks} processes"));
        assert!(found_later == later, "{ranks} processes: resumed");
    }
}

#[test]
fn a_state_on_an_adapted_mesh_is_resumed_by_any_number_of_ranks() {
    let mesh = empty::<2>([32, 32]);
    let flow = |ranks: usize| {
        let plan = Plan::new(&mesh, of_box(LatticeKind::D2Q9, 32.0)).expect("a plan");
        plan.start_ranks(&vec![Host; ranks]).expect("a flow")
    };
    let mut first = flow(3);
    let state = outcome(&mut *first, &vortices(32.0), 18).state;
    first.advance(15).expect("steps");
    let mut expected = Vec::new();
    first.save(&mut expected).expect("a state");
    for ranks in [1, 2, 5] {
        let mut flow = flow(ranks);
        flow.restore(&mut state.as_slice()).expect("a state");
        flow.advance(15).expect("steps");
        let mut found = Vec::new();
        flow.save(&mut found).expect("a state");
        assert!(found == expected, "{ranks} ranks");
    }
}

/// Blocks dealt out at random before the first change, so that almost all of them change their rank.
#[test]
fn blocks_from_anywhere_come_together() {
    let mesh = circle();
    let plan = || Plan::new(&mesh, of_body(&mesh, LatticeKind::D2Q9)).expect("a plan");
    let mut one = plan().start(&Host).expect("a flow");
    one.advance(13).expect("steps");
    let state = |flow: &dyn LatticeFlow<2>| {
        let mut bytes = Vec::new();
        flow.save(&mut bytes).expect("a state");
        bytes
    };
    for seed in 1..5u64 {
        let plan = plan();
        let owner = |level: usize, slot: usize| {
            let mixed = (seed + 1) * (1 + slot as u64 + 1000 * level as u64);
            (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32 % 4
        };
        let partition = Partition::of(&plan.tables, 4, owner);
        let mut flow =
            Ranks::<2, D2Q9, f64, Host>::with(plan, vec![Host; 4], partition).expect("ranks");
        flow.advance(13).expect("steps");
        assert!(flow.epoch() > 0);
        assert!(state(&flow) == state(&*one), "cut {seed}");
    }
}

/// The comparison fails where two blocks that change their rank are exchanged, or where indicators do not see the cells of others.
#[test]
fn wrong_blocks_and_fields_are_seen() {
    fn ranks<L: Lattice>(mesh: &Mesh<2>) -> Ranks<'_, 2, L, f64, Host> {
        let plan = Plan::new(mesh, of_box(LatticeKind::D2Q9, 32.0)).expect("a plan");
        Ranks::new(plan, &[Host; 2]).expect("ranks")
    }
    let mesh = empty::<2>([32, 32]);
    let at = vortices(32.0);
    let expected = outcome(&mut ranks::<D2Q9>(&mesh), &at, 22);
    for spoiled in [None, Some(Spoiled::Blocks), Some(Spoiled::Fields)] {
        let mut flow = ranks::<D2Q9>(&mesh);
        flow.local.spoiled = spoiled;
        flow.set(&at).expect("a state");
        flow.advance(22).expect("steps");
        let mut state = Vec::new();
        flow.save(&mut state).expect("a state");
        assert_eq!(state == expected.state, spoiled.is_none(), "{spoiled:?}");
    }
}
