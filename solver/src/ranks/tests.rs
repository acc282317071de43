use super::*;
use crate::worst::worst;
use crate::{
    Collision, FaceCondition, ForceSample, InitialState, Interpolation, LatticeFlow, LatticeKind,
    Les, Motion, Params, PatchCondition, Precision, Snapshot, WallScheme, Work,
    lattice::{D2Q9, D3Q19},
};
use cutlink_device::{Host, Memory};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, embed, prepare};
use std::sync::{
    Mutex,
    mpsc::{Receiver, Sender},
};

pub(super) fn mesh_of<const D: usize>(
    surface: &Surface<D>,
    root: [u32; D],
    levels: usize,
) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    // Off the middle, so that nothing is symmetric.
    let lower = root.map(|n| -0.5 * f64::from(n) - 0.3);
    let frame = Frame::new(lower, 1.0, root).expect("a box");
    let params = EmbedParams::new(levels, 1.0, Fill::NonZero);
    let (snapped, _) = prepare(&Host, surface, &frame, &params).expect("a surface");
    embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh")
}

pub(super) fn circle() -> Mesh<2> {
    let surface = Shape2::Circle { radius: 2.1 }.surface(1e-2);
    mesh_of(&surface.expect("a circle"), [24, 16], 3)
}

pub(super) fn sphere() -> Mesh<3> {
    let surface = Shape3::Sphere { radius: 1.7 }.surface(3e-2);
    mesh_of(&surface.expect("a sphere"), [16, 12, 12], 2)
}

/// A turning body in a stream past a free-slip face.
pub(super) fn params<const D: usize>(mesh: &Mesh<D>, lattice: LatticeKind) -> Params<D> {
    let along = |x: f64, y: f64, z: f64| std::array::from_fn(|a| [x, y, z][a]);
    let mut faces = [[FaceCondition::Periodic; 2]; D];
    faces[0] = [
        FaceCondition::Velocity(along(0.04, 0.005, 0.01)),
        FaceCondition::Outflow,
    ];
    faces[1] = [
        FaceCondition::FreeSlip,
        FaceCondition::Velocity(along(0.04, 0.0, 0.01)),
    ];
    Params {
        lattice,
        collision: Collision::Regularized,
        les: Les::None,
        precision: Precision::F64,
        viscosity: 0.02,
        acceleration: along(1e-6, -2e-6, 3e-6),
        faces,
        patches: vec![PatchCondition::Wall {
            scheme: WallScheme::Quadratic,
            motion: Motion::Rotation {
                center: mesh.frame.root_cells.map(|n| 0.4 * f64::from(n)),
                omega: [0.002, -0.001, 0.004],
            },
        }],
        interpolation: Interpolation::Cubic,
        moment_center: mesh.frame.root_cells.map(|n| 0.5 * f64::from(n)),
        forces: true,
        variations: Vec::new(),
        modeled: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
    }
}

/// No symmetric state.
pub(super) fn start<const D: usize>(x: [f64; D]) -> (f64, [f64; D]) {
    let wave = |a: usize| (0.7 * x[a] + 0.3 * a as f64).sin();
    (
        1.0 + 1e-3 * wave(0),
        std::array::from_fn(|a| 0.03 * wave((a + 1) % D)),
    )
}

/// The state, the forces, density and velocity after some steps.
fn outcome<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
) -> (Vec<u8>, Vec<ForceSample>, Snapshot<D>) {
    let at: &InitialState<'_, D> = &start;
    flow.set(at).expect("a state");
    flow.advance(9).expect("steps");
    flow.check().expect("no divergence");
    let mut state = Vec::new();
    flow.save(&mut state).expect("a state");
    let forces = flow.take_forces().expect("forces");
    (state, forces, flow.snapshot().expect("a snapshot"))
}

fn assert_same<const D: usize>(
    a: &(Vec<u8>, Vec<ForceSample>, Snapshot<D>),
    b: &(Vec<u8>, Vec<ForceSample>, Snapshot<D>),
    what: &str,
) {
    assert!(a.0 == b.0, "{what}: populations");
    assert_eq!(a.1, b.1, "{what}: forces");
    assert!(a.2.density == b.2.density, "{what}: density");
    assert!(a.2.velocity == b.2.velocity, "{what}: velocity");
}

fn plan<const D: usize>(mesh: &Mesh<D>, lattice: LatticeKind) -> Plan<'_, D> {
    Plan::new(mesh, params(mesh, lattice)).expect("a plan")
}

/// Ranks with any cut, and exchanges that a test may spoil.
fn cut<'a, const D: usize, L: Lattice>(
    mesh: &'a Mesh<D>,
    ranks: usize,
    owner: impl Fn(usize, usize) -> u32,
) -> Ranks<'a, D, L, f64, Host> {
    let plan = plan(mesh, L::KIND);
    let partition = Partition::of(&plan.tables, ranks, owner);
    Ranks::with(plan, vec![Host; ranks], partition).expect("ranks")
}

fn by_number_of_ranks<const D: usize, L: Lattice>(mesh: &Mesh<D>) {
    let mut one = plan(mesh, L::KIND).start(&Host).expect("a flow");
    let expected = outcome(&mut *one);
    assert!(expected.1.iter().any(|sample| sample.patches[0][0] != 0.0));
    for ranks in [2, 3, 4, 7, 8] {
        let mut flow = plan(mesh, L::KIND)
            .start_ranks(&vec![Host; ranks])
            .expect("a flow");
        assert_same(&outcome(&mut *flow), &expected, &format!("{ranks} ranks"));
        flow.validate().expect("tables");
    }
}

#[test]
fn any_number_of_ranks_gives_the_same_bits() {
    by_number_of_ranks::<2, D2Q9>(&circle());
    by_number_of_ranks::<3, D3Q19>(&sphere());
}

/// Blocks dealt out at random, so that almost all of them have neighbours on other ranks.
#[test]
fn any_cut_gives_the_same_bits() {
    let mesh = circle();
    let expected = outcome(&mut *plan(&mesh, LatticeKind::D2Q9).start(&Host).expect("a flow"));
    for seed in 0..20u64 {
        let ranks = 2 + seed as usize % 4;
        let owner = |level: usize, slot: usize| {
            let mixed = (seed + 1) * (1 + slot as u64 + 1000 * level as u64);
            (mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u32 % ranks as u32
        };
        let mut flow = cut::<2, D2Q9>(&mesh, ranks, owner);
        assert_same(&outcome(&mut flow), &expected, &format!("cut {seed}"));
    }
}

/// Numbers of the halo that are not received are not read: whatever they are, the bits are the same. Also where almost all
/// blocks beside walls and faces have neighbours on other ranks.
#[test]
fn what_is_not_received_is_not_read() {
    fn poisoned<const D: usize, L: Lattice>(mesh: &Mesh<D>) {
        let expected = outcome(&mut *plan(mesh, L::KIND).start(&Host).expect("a flow"));
        let flow = Ranks::<D, L, f64, Host>::new(plan(mesh, L::KIND), &[Host; 3]);
        let at_random = |level: usize, slot: usize| {
            let mixed = (1 + slot as u64 + 1000 * level as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (mixed >> 40) as u32 % 3
        };
        for mut flow in [flow.expect("ranks"), cut::<D, L>(mesh, 3, at_random)] {
            flow.set(&start).expect("a state");
            for rank in &mut flow.local.ranks {
                let poisoned = rank.run.poison_halo();
                assert!(poisoned > 100, "{poisoned} numbers");
            }
            flow.advance(9).expect("steps");
            let mut state = Vec::new();
            flow.save(&mut state).expect("a state");
            assert!(state == expected.0, "populations");
            assert_eq!(flow.take_forces().expect("forces"), expected.1);
        }
    }
    poisoned::<2, D2Q9>(&circle());
    poisoned::<3, D3Q19>(&sphere());
}

/// The comparison fails where a single number of a message is another one.
#[test]
fn one_wrong_number_is_seen() {
    let mesh = circle();
    let expected = outcome(&mut *plan(&mesh, LatticeKind::D2Q9).start(&Host).expect("a flow"));
    let halves = |level: usize, slot: usize| u32::from(slot > 10 << level);
    let mut flow = cut::<2, D2Q9>(&mesh, 2, halves);
    assert_same(&outcome(&mut flow), &expected, "as it should be");
    let mut flow = cut::<2, D2Q9>(&mesh, 2, halves);
    flow.local.ranks[1].run.swap_received(1);
    assert!(outcome(&mut flow).0 != expected.0, "two numbers swapped");
}

#[test]
fn a_state_is_resumed_by_any_number_of_ranks() {
    let mesh = circle();
    let flow = |ranks: usize| {
        let plan = plan(&mesh, LatticeKind::D2Q9);
        plan.start_ranks(&vec![Host; ranks]).expect("a flow")
    };
    let mut first = flow(1);
    let (state, ..) = outcome(&mut *first);
    first.advance(7).expect("steps");
    let mut expected = Vec::new();
    first.save(&mut expected).expect("a state");
    for ranks in [1, 3, 5] {
        let mut flow = flow(ranks);
        flow.restore(&mut state.as_slice()).expect("the state");
        assert_eq!(flow.steps(), 9);
        flow.advance(7).expect("steps");
        let mut found = Vec::new();
        flow.save(&mut found).expect("a state");
        assert!(found == expected, "{ranks} ranks");
    }
}

/// The place of the divergence is the first one of the whole flow.
#[test]
fn a_divergence_has_the_same_place() {
    let mesh = circle();
    let error = |ranks: usize| {
        let plan = plan(&mesh, LatticeKind::D2Q9);
        let mut flow = plan.start_ranks(&vec![Host; ranks]).expect("a flow");
        let fast = |x: [f64; 2]| (1.0, [if x[1] > 11.0 { 0.7 } else { 0.0 }, 0.0]);
        flow.set(&fast).expect("a state");
        flow.check().expect_err("faster than sound").to_string()
    };
    let expected = error(1);
    assert!(expected.contains("diverged"), "{expected}");
    assert_eq!([2, 5].map(error), [expected.clone(), expected]);
}

#[test]
fn too_many_ranks_are_refused() {
    let mesh = circle();
    for ranks in [0, 100_000] {
        let started = plan(&mesh, LatticeKind::D2Q9).start_ranks(&vec![Host; ranks]);
        let error = started.err().expect("a refusal").to_string();
        assert!(error.starts_with("the number of ranks"), "{error}");
    }
}

/// Whenever ranks send and receive, the bits are the same.
#[test]
fn any_schedule_gives_the_same_bits() {
    let mesh = circle();
    let expected = outcome(&mut *plan(&mesh, LatticeKind::D2Q9).start(&Host).expect("a flow"));
    for seed in 1..=100 {
        let plan = plan(&mesh, LatticeKind::D2Q9);
        let mut flow = Ranks::<2, D2Q9, f64, Host>::new(plan, &[Host; 4]).expect("ranks");
        for (rank, seed) in flow.local.ranks.iter().zip(7 * seed..) {
            rank.run.delay_messages(seed);
        }
        assert_same(&outcome(&mut flow), &expected, &format!("schedule {seed}"));
    }
}

/// Processes that are threads.
#[derive(Debug)]
struct Threads {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Mutex<Receiver<Vec<u8>>>>,
}

impl Threads {
    fn of_ranks(ranks: usize) -> Vec<Arc<dyn Communicator>> {
        let of_rank =
            |(rank, (to, from))| Arc::new(Self { rank, to, from }) as Arc<dyn Communicator>;
        let all = comm::all_to_all(ranks).into_iter().enumerate();
        all.map(of_rank).collect()
    }
}

impl Communicator for Threads {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.to.len()
    }

    fn send(&self, to: usize, bytes: Vec<u8>) -> Result<(), SolverError> {
        self.to[to].send(bytes).expect("a receiver");
        Ok(())
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, SolverError> {
        let from = self.from[from].lock().expect("one thread");
        from.recv().map_err(|error| SolverError::Communication {
            reason: error.to_string(),
        })
    }

    fn try_receive(&self, from: usize) -> Result<Option<Vec<u8>>, SolverError> {
        let from = self.from[from].lock().expect("one thread");
        Ok(from.try_recv().ok())
    }

    fn flush(&self) -> Result<(), SolverError> {
        Ok(())
    }
}

/// Has processes share a flow, and calls with that of the first one.
fn linked<const D: usize, R>(
    mesh: &Mesh<D>,
    lattice: LatticeKind,
    ranks: usize,
    work: impl FnOnce(&mut dyn LatticeFlow<D>) -> R,
) -> R {
    linked_by(&|| plan(mesh, lattice), ranks, work)
}

/// The same with any plan.
pub(super) fn linked_by<'a, const D: usize, R>(
    plan: &(dyn Fn() -> Plan<'a, D> + Sync),
    ranks: usize,
    work: impl FnOnce(&mut dyn LatticeFlow<D>) -> R,
) -> R {
    let mut links = Threads::of_ranks(ranks).into_iter();
    let first = links.next().expect("a rank");
    thread::scope(|scope| {
        let others: Vec<_> = links
            .map(|link| {
                scope.spawn(move || {
                    let served = plan().start_linked(&Host, link);
                    assert!(served.expect("no failure").is_none());
                })
            })
            .collect();
        let flow = plan().start_linked(&Host, first);
        let mut flow = flow.expect("a start").expect("a flow");
        let done = work(&mut *flow);
        drop(flow);
        others
            .into_iter()
            .for_each(|other| other.join().expect("an end"));
        done
    })
}

#[test]
fn processes_give_the_same_bits() {
    let (plane, space) = (circle(), sphere());
    let mut one = plan(&plane, LatticeKind::D2Q9)
        .start(&Host)
        .expect("a flow");
    let expected = outcome(&mut *one);
    for ranks in [2, 5] {
        let found = linked(&plane, LatticeKind::D2Q9, ranks, |flow| {
            let first = outcome(flow);
            flow.validate().expect("tables");
            flow.restore(&mut first.0.as_slice()).expect("the state");
            flow.sample_forces_every(2);
            flow.wait().expect("an end");
            (first, outcome(flow))
        });
        assert_same(&found.0, &expected, &format!("{ranks} processes"));
        assert!(found.1.0 == expected.0, "populations, once more");
        // Steps 2, 4, 6, 8 and the last one.
        assert_eq!(found.1.1.len(), 5);
    }
    let mut one = plan(&space, LatticeKind::D3Q19)
        .start(&Host)
        .expect("a flow");
    let found = linked(&space, LatticeKind::D3Q19, 3, |flow| {
        let found = outcome(flow);
        let laps = flow.laps(2).expect("laps");
        assert!(laps.iter().any(|lap| lap.work == Work::Average));
        found
    });
    assert_same(&found, &outcome(&mut *one), "3 processes in space");
}

#[test]
fn a_divergence_in_another_process_is_told() {
    let mesh = circle();
    let fast = |x: [f64; 2]| (1.0, [if x[1] > 11.0 { 0.7 } else { 0.0 }, 0.0]);
    let check = |flow: &mut dyn LatticeFlow<2>| {
        flow.set(&fast).expect("a state");
        flow.check().expect_err("faster than sound").to_string()
    };
    let mut one = plan(&mesh, LatticeKind::D2Q9).start(&Host).expect("a flow");
    let expected = check(&mut *one);
    for ranks in [2, 4] {
        assert_eq!(linked(&mesh, LatticeKind::D2Q9, ranks, check), expected);
    }
}

/// A rank that fails ends the others' waiting.
#[test]
fn a_failure_ends_all_ranks() {
    let mesh = circle();
    let mut flow = cut::<2, D2Q9>(&mesh, 3, |_, slot| slot as u32 % 3);
    let turn = std::sync::atomic::AtomicUsize::new(0);
    let failed =
        flow.local.each(
            |run| match turn.fetch_add(1, std::sync::atomic::Ordering::Relaxed) {
                1 => Err(SolverError::State {
                    reason: "by a test".into(),
                }),
                _ => run.advance(1),
            },
        );
    let error = failed.expect_err("a failure").to_string();
    assert!(error.contains("by a test"), "{error}");
}

/// Shares of work differ by little, and messages are as large as was forecast.
#[test]
fn work_is_shared_equally() {
    let mesh = sphere();
    let plan = plan(&mesh, LatticeKind::D3Q19);
    let all: u64 = plan.tables.iter().map(|t| t.level.slots as u64).sum();
    for ranks in [2, 4, 8] {
        let sheets = plan.ranks(ranks, Memory::Host).expect("sheets");
        let blocks: u64 = sheets.iter().map(|sheet| sheet.blocks).sum();
        assert_eq!(blocks, all);
        let work: f64 = sheets.iter().map(|sheet| sheet.work).sum();
        assert!((work - 1.0).abs() < 1e-12, "{work}");
        let most = worst(sheets.iter().map(|sheet| sheet.work));
        assert!(most * (ranks as f64) < 1.1, "{sheets:?}");
        let flow = Ranks::<3, D3Q19, f64, Host>::new(
            self::plan(&mesh, LatticeKind::D3Q19),
            &vec![Host; ranks],
        );
        for (rank, sheet) in flow.expect("ranks").local.ranks.iter().zip(&sheets) {
            assert_eq!(rank.run.received(), sheet.received);
        }
    }
}

/// A small body in a wide box: its levels stay on one rank, work is shared equally all the same, and ranks wait for one another as
/// often as was forecast. Cut along the curve alone they would wait at each step of the finest level.
#[test]
fn finer_levels_that_fit_stay_on_one_rank() {
    let body = Shape2::Circle { radius: 1.2 }.surface(1e-2);
    let mesh = mesh_of(&body.expect("a circle"), [256, 192], 3);
    let plan = plan(&mesh, LatticeKind::D2Q9);
    let expected = outcome(
        &mut *self::plan(&mesh, LatticeKind::D2Q9)
            .start(&Host)
            .expect("a flow"),
    );
    // A third of the work is less than that of both finer levels, so that only the finest one stays together.
    for (ranks, exchanges) in [(2, 1), (3, 3)] {
        let sheets = plan.ranks(ranks, Memory::Host).expect("sheets");
        let as_often = sheets.iter().all(|sheet| sheet.exchanges == exchanges);
        assert!(as_often, "{sheets:?}");
        let most = worst(sheets.iter().map(|sheet| sheet.work));
        assert!(most * (ranks as f64) < 1.05, "{sheets:?}");
        let alone = self::plan(&mesh, LatticeKind::D2Q9);
        let mut flow = Ranks::<2, D2Q9, f64, Host>::new(alone, &vec![Host; ranks]).expect("ranks");
        let of_finest = |rank: &Rank<'_, 2, D2Q9, f64, Host>| rank.run.own_slots(2) > 0;
        let have = flow
            .local
            .ranks
            .iter()
            .filter(|rank| of_finest(rank))
            .count();
        assert_eq!(have, 1, "ranks with blocks of the finest level");
        assert_same(&outcome(&mut flow), &expected, &format!("{ranks} ranks"));
        flow.validate().expect("tables");
    }
    let halves = |level: usize, slot: usize| {
        let x = plan.tables[level].level.coord[slot][0];
        u32::from(x >= 32 << level)
    };
    let mut flow = cut::<2, D2Q9>(&mesh, 2, halves);
    let have = flow
        .local
        .ranks
        .iter()
        .filter(|rank| rank.run.own_slots(2) > 0);
    assert_eq!(have.count(), 2, "the comparison can fail");
    assert_same(&outcome(&mut flow), &expected, "cut through the body");
}
