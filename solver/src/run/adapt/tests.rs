use super::*;
use crate::worst::worst;
use crate::{
    Collision, Criterion, FaceCondition, Indicator, LatticeKind, LevelLimit, Params,
    PatchCondition, Plan, Precision, WallScheme,
    kernels::PopulationKernels,
    lattice::{D2Q9, D3Q19},
};
use cutlink_amr::{Mark, checksum, dims};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, embed, prepare, validate};

type OnHost<'a, const D: usize, L> = Run<'a, D, L, f64, Host>;

/// A box of root cells without a body.
fn empty<const D: usize>(cells: [u32; D], periodic: [bool; 3]) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    let frame = Frame::new([0.0; D], 1.0, cells).expect("a box");
    let params = EmbedParams {
        periodic,
        ..EmbedParams::new(1, 0.0, Fill::NonZero)
    };
    let nothing = Surface::<D>::single_patch(Vec::new(), Vec::new(), "none");
    let (snapped, _) = prepare(&Host, &nothing, &frame, &params).expect("nothing");
    embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh")
}

fn params<const D: usize>(viscosity: f64) -> Params<D> {
    let lattice = match D {
        2 => LatticeKind::D2Q9,
        _ => LatticeKind::D3Q19,
    };
    Params {
        precision: Precision::F64,
        patches: vec![PatchCondition::wall(WallScheme::Linear)],
        ..Params::new(lattice, viscosity)
    }
}

/// Vorticity above a threshold, every so many steps.
fn by_vorticity<const D: usize>(every: u64, levels: usize, refine: f64) -> Adaptation<D> {
    Adaptation {
        every,
        levels,
        max_cells: u64::MAX,
        buffer: 1,
        criteria: vec![Criterion {
            indicator: Indicator::Vorticity,
            refine,
            coarsen: 0.5,
            within: None,
            from_step: 0,
        }],
        limits: Vec::new(),
    }
}

fn start<'a, const D: usize, L: Lattice>(mesh: &'a Mesh<D>, params: Params<D>) -> OnHost<'a, D, L> {
    let plan = Plan::new(mesh, params).expect("a plan");
    Run::new(plan, &Host).expect("a flow")
}

impl<const D: usize, L: Lattice> OnHost<'_, D, L> {
    /// Mass less that at density 1, momentum, and the sum of the momentum's magnitudes, in root cells.
    fn sums(&self) -> (f64, [f64; D], f64) {
        let (mut mass, mut momentum, mut all) = (0.0, [0.0; D], 0.0);
        for state in &self.levels {
            let volume = 0.5f64.powi((state.level.index * D) as i32);
            for slot in 0..state.level.slots {
                let own = state.level.stepped[slot] & !state.level.ghost[slot];
                for cell in (0..dims::cells(D)).filter(|cell| own >> cell & 1 == 1) {
                    let at = |q| slot * L::Q * dims::cells(D) + Host::place_of::<D, L>(q, cell);
                    for q in 0..L::Q {
                        let f = volume * state.now[at(q)];
                        mass += f;
                        for a in 0..D {
                            momentum[a] += f64::from(L::C[q][a]) * f;
                            all += f64::from(L::C[q][a].abs()) * f.abs();
                        }
                    }
                }
            }
        }
        (mass, momentum, all)
    }

    /// Adapts the mesh by marks that depend on places alone.
    fn shake(&mut self, round: u64, levels: u8) -> bool {
        if self.own.is_none() {
            self.own = Some(OwnMesh::of(self.plan.mesh, &Host).expect("a copy"));
        }
        let own = self.own.as_ref().expect("a mesh");
        let forest = &own.mesh.forest;
        let marks = (0..forest.capacity()).map(|id| {
            let key = checksum::block_key(forest.level[id], forest.coord[id]);
            // Siblings together, or they would hardly ever go.
            let group = checksum::block_key(forest.level[id], forest.coord[id].map(|c| c >> 1));
            match (
                checksum::mix(key ^ round) % 4,
                checksum::mix(group ^ round) % 2,
            ) {
                (0, _) if forest.level[id] + 1 < levels => Mark::Refine as u8,
                (_, 1) => Mark::Coarsen as u8,
                _ => Mark::Keep as u8,
            }
        });
        let adapted = own
            .mesh
            .adapted(&Host, &mut marks.collect(), &own.held)
            .expect("a forest");
        let is_change = adapted.is_change();
        if is_change {
            self.change(&adapted, true).expect("a change");
        }
        validate(self.mesh().expect("a mesh")).expect("a mesh");
        is_change
    }

    fn state(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.save(&mut bytes).expect("a state");
        bytes
    }
}

trait PlaceOf {
    fn place_of<const D: usize, L: Lattice>(q: usize, cell: usize) -> usize;
}

impl PlaceOf for Host {
    fn place_of<const D: usize, L: Lattice>(q: usize, cell: usize) -> usize {
        <Host as PopulationKernels<D>>::place::<L>(q, cell)
    }
}

/// Vortices that decay and are carried along.
fn vortices<const D: usize>(edge: f64) -> impl Fn([f64; D]) -> (f64, [f64; D]) + Sync {
    move |x| {
        let wave = std::f64::consts::TAU / edge;
        let mut u = [0.02; D];
        u[0] += 0.04 * (wave * x[0]).cos() * (wave * x[1]).sin();
        u[1] -= 0.04 * (wave * x[0]).sin() * (wave * x[1]).cos();
        (1.0 + 1e-3 * (wave * x[0]).sin(), u)
    }
}

fn conserves<const D: usize, L: Lattice>(edge: u32, rounds: u64)
where
    Facet<D>: Exact<D>,
{
    let mesh = empty::<D>([edge; D], [true; 3]);
    let mut run = start::<D, L>(&mesh, params(0.01));
    run.set(&vortices(f64::from(edge))).expect("a start");
    let mut changes = 0;
    for round in 0..rounds {
        run.advance(1).expect("a step");
        let (mass, momentum, all) = run.sums();
        changes += usize::from(run.shake(round, 3));
        let (after, momentum_after, _) = run.sums();
        let volume = f64::from(edge).powi(D as i32);
        assert!(
            (after - mass).abs() < 1e-14 * volume,
            "{round}: {mass} {after}"
        );
        for a in 0..D {
            let error = (momentum_after[a] - momentum[a]).abs();
            assert!(
                error < 1e-13 * all,
                "{round}: {momentum:?} {momentum_after:?} {all}"
            );
        }
    }
    assert!(changes as u64 > rounds / 2, "{changes} changes");
    assert!(run.mesh().expect("a mesh").forest.levels.len() == 3);
    run.check().expect("a flow that is finite");
}

#[test]
fn mass_and_momentum_stay_at_each_change() {
    conserves::<2, D2Q9>(32, 60);
    conserves::<3, D3Q19>(16, 8);
}

/// Steady Couette flow: linear, so that interpolation, means and stress are exact, whatever the relaxation time.
#[test]
fn a_linear_velocity_stays_linear() {
    let mesh = empty::<2>([16, 16], [true, false, false]);
    for tau in [0.7, 0.9, 1.0, 1.1, 1.6] {
        let mut params = params::<2>((tau - 0.5) / 3.0);
        params.collision = Collision::Trt { magic: 0.25 };
        params.faces[1] = [
            FaceCondition::Velocity([0.0; 2]),
            FaceCondition::Velocity([1e-3, 0.0]),
        ];
        let mut run = start::<2, D2Q9>(&mesh, params);
        run.set(&|x| (1.0, [1e-3 * x[1] / 16.0, 0.0]))
            .expect("a start");
        run.advance(6000).expect("a steady flow");
        let error = |run: &OnHost<'_, 2, D2Q9>| {
            let (snapshot, mesh) = (run.snapshot().expect("fields"), run.mesh().expect("a mesh"));
            let mut most = 0.0;
            for id in mesh.forest.leaves() {
                for cell in 0..16 {
                    let dx = 1.0 / f64::from(1u32 << mesh.forest.level[id as usize]);
                    let local = dims::unravel::<2>(cell, 4);
                    let y = 4 * mesh.forest.coord[id as usize][1] + local[1];
                    let expected = 1e-3 * dx * (f64::from(y) + 0.5) / 16.0;
                    let found = snapshot.velocity[0][id as usize * 16 + cell];
                    most = worst([most, (f64::from(found) - expected).abs() / 1e-3]);
                }
            }
            most
        };
        // Snapshots are f32.
        assert!(error(&run) < 2e-7, "tau {tau}: {:e} before", error(&run));
        for round in 0..6 {
            let before = error(&run);
            run.shake(round, 3);
            let after = error(&run);
            // A change adds nothing; what it had of errors may be weighted anew.
            assert!(
                after < 1.5 * before + 2e-7,
                "tau {tau}: {before:e} {after:e}"
            );
            run.advance(2).expect("a step");
            // Interfaces are linear but for terms of the order of the velocity's square.
            assert!(
                error(&run) < 5e-5,
                "tau {tau}: {:e} behind {round}",
                error(&run)
            );
        }
    }
}

#[test]
fn a_look_depends_on_the_state_alone() {
    let mesh = empty::<2>([32, 32], [true; 3]);
    let adaptive = || {
        let mut params = params::<2>(1e-3);
        params.adaptation = Some(by_vorticity(4, 3, 4e-3));
        start::<2, D2Q9>(&mesh, params)
    };
    let mut whole = adaptive();
    whole.set(&vortices(32.0)).expect("a start");
    assert!(
        whole.epoch() > 0,
        "the mesh should be fitted to the initial state"
    );
    whole.advance(30).expect("steps");
    let mut other = adaptive();
    other.restore(&mut &whole.state()[..]).expect("a state");
    assert_eq!(other.state(), whole.state());
    let before = whole.epoch();
    for run in [&mut whole, &mut other] {
        run.advance(90).expect("steps");
    }
    assert!(
        whole.epoch() > before + 3,
        "{} changes",
        whole.epoch() - before
    );
    assert!(whole.state() == other.state(), "a restart is the same flow");
    let looks = whole.take_looks();
    assert!(
        looks.iter().any(|look| look.refined > 0) && looks.iter().any(|look| look.coarsened > 0)
    );
    validate(whole.mesh().expect("a mesh")).expect("a mesh");
}

#[test]
fn budgets_and_limits_hold() {
    let mesh = empty::<2>([32, 32], [true; 3]);
    let mut params = params::<2>(1e-3);
    let mut adaptation = by_vorticity(4, 3, 1e-6);
    adaptation.max_cells = 6000;
    adaptation.limits.push(LevelLimit {
        within: [[0.0; 2], [8.0, 32.0]],
        levels: 1,
    });
    params.adaptation = Some(adaptation);
    let mut run = start::<2, D2Q9>(&mesh, params);
    run.set(&vortices(32.0)).expect("a start");
    run.advance(40).expect("steps");
    let looks = run.take_looks();
    assert!(looks.len() > 10);
    let mut raised = 0.0;
    for look in looks {
        let cells = 16 * look.leaves.iter().sum::<u64>();
        assert!(cells <= 6000, "{cells} cells at step {}", look.step);
        raised = look.raised;
    }
    assert!(raised > 1.0);
    let forest = &run.mesh().expect("a mesh").forest;
    assert!(
        forest.levels.len() > 1,
        "a budget of six times the root cells should be used"
    );
    for id in forest.leaves() {
        let (level, x) = (forest.level[id as usize], forest.coord[id as usize][0]);
        assert!(level == 0 || f64::from(x) * 4.0 / f64::from(1u32 << level) >= 8.0);
    }
}

/// What is between root steps in the second buffer and in the transferred moments is never read.
#[test]
fn the_current_populations_are_the_state() {
    let mesh = empty::<3>([16; 3], [true; 3]);
    let mut run = start::<3, D3Q19>(&mesh, params(0.01));
    run.set(&vortices(16.0)).expect("a start");
    run.shake(3, 3);
    run.advance(2).expect("steps");
    let bytes = run.state();
    run.advance(3).expect("steps");
    let expected = run.state();
    // On the mesh that the run has now, so without its topology.
    run.restore(&mut &bytes[..]).expect("a state");
    for state in &mut run.levels {
        state.next.fill(f64::NAN);
        state.moments.fill(f64::NAN);
    }
    run.advance(3).expect("steps");
    assert!(run.state() == expected);
}
