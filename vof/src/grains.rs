//! Grains in a flow: spheres of a bed and the fluids move one another.
//!
//! A step of length `Δt`, from a bed with velocities `U`, `ω`:
//!
//! 1. Volume and momentum move as if there were fluid in the grains too.
//! 2. Cells get the parts of them that are in grains, at the places that these will have at the end of the step.
//! 3. What the momentum of the displaced fluid has changed by is the grains'.
//! 4. Viscosity: cells that are all in a grain are held at its motion, others have the inertia of their fluid, and faces the
//!    harmonic mean of what gives way. What holds the cells is the viscous force.
//! 5. Projection with the density `ρ = (1 − ε) ρ_f + ε ρ_s` of cells: pressure and weight accelerate fluid and grains
//!    alike, so that added mass is implicit. Each grain gets `Σ ε ρ_s V a`.
//! 6. The sum is the load of the grain over the step. The bed makes its own steps with it, contacts among them.
//!
//! Momentum of the fluid outside of grains and of the grains together changes by walls alone: each exchange is one number.

mod saved;

use crate::flow::TwoPhaseFlow;
use crate::grain_cells::{Ball, GrainCells, GrainFields, RigidMotion, root_table};
use crate::kernels::{Scene, TwoPhaseKernels};
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::penalty::GrainSum;
use crate::{TwoPhaseError, penalty};
use cutlink_grains::{Bed, Grain};
use std::f64::consts::PI;

/// Least radius of a grain in widths of cells.
const LEAST_RADIUS: f64 = 2.0;

/// Largest step over `r² ρ_s / μ`: so that viscous forces, which are those of the motion at the start of the step, do not
/// turn it round.
const VISCOUS_STEP: f64 = 0.4;

/// How grains and flow are coupled.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GrainCoupling {
    /// The grains stay where they are, at rest; forces are found nevertheless. For beds that are fixed.
    pub held: bool,
    /// An acceleration of all that is in the box, m/s², on axes without walls: a mean gradient of the pressure over the density,
    /// which drives a flow through a periodic array of grains.
    pub drive: [f64; 3],
}

/// A grain, and what it got from the flow in the last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainMotion {
    /// The grain now.
    pub grain: Grain,
    /// Force by the fluid, buoyancy and weight, N.
    pub force: [f64; 3],
    /// Torque about the centre, N m.
    pub torque: [f64; 3],
}

/// A bed, and what a flow keeps of it.
#[derive(Debug)]
pub(crate) struct Coupled {
    pub(crate) bed: Bed,
    coupling: GrainCoupling,
    roots: Vec<u32>,
    masses: Vec<f64>,
    /// Where the flow has the grains, by id.
    places: Vec<[f64; 3]>,
    /// What grains got from contacts in the last steps, N and N m: a mean whose weights are halved from step to step.
    contact: Vec<GrainSum>,
    /// Motions that viscosity held the grains at in the last step, moved on by impacts.
    held_at: Vec<RigidMotion>,
    /// Momentum of the displaced fluid, if it is known.
    interior: Option<Vec<GrainSum>>,
}

/// What a step has of grains before the flow's part.
pub(crate) struct Exchange {
    /// That the flow has at this stage of the step.
    pub(crate) motions: Vec<RigidMotion>,
    /// What contacts hold against the rest, N and N m; and the accelerations that this gives.
    hold: Vec<GrainSum>,
    pub(crate) held: Vec<RigidMotion>,
    /// Force and torque over the step.
    pub(crate) sums: Vec<GrainSum>,
}

impl Exchange {
    /// Takes from the grains what they give to the fluid, kg m/s.
    pub(crate) fn give(&mut self, given: &[GrainSum], dt: f64) {
        for (sum, given) in self.sums.iter_mut().zip(given) {
            add(sum, given, -1.0 / dt);
        }
    }
}

fn add(to: &mut GrainSum, by: &GrainSum, factor: f64) {
    for (to, by) in to.iter_mut().flatten().zip(by.iter().flatten()) {
        *to += factor * by;
    }
}

fn motion_of(grain: &Grain) -> RigidMotion {
    RigidMotion {
        u: grain.velocity,
        w: grain.spin,
    }
}

/// Friction of a sphere that moves and that turns from rest in a step, over its velocities, N s/m and N m s: Stokes', Basset's and
/// Kirchhoff's by Laplace transform at `1/Δt`, and the inertia of the half cells around that move with it.
fn friction<const D: usize>(
    params: &FlowParams<D>,
    liquid: f64,
    [radius, h, dt]: [f64; 3],
) -> [f64; 2] {
    let (mu, rho) = (params.phases.mu(liquid), params.phases.rho(liquid));
    if mu == 0.0 {
        return [0.0; 2];
    }
    let q = radius / (mu * dt / rho).sqrt();
    let along = 6.0 * PI * mu * radius * (1.0 + q);
    let about = 8.0 * PI * mu * radius.powi(3) * (1.0 + q * q / (3.0 * (1.0 + q)));
    let layer = 4.0 * PI * radius * radius * (0.5 * h) * rho / dt;
    [along + layer, about + 2.0 / 3.0 * radius * radius * layer]
}

/// # Errors
/// A box that turns.
pub(crate) fn check_turning<const D: usize>(params: &FlowParams<D>) -> Result<(), TwoPhaseError> {
    let turning = params.turning.as_ref();
    let spin = turning.map_or(0.0, |of| {
        of.spin.iter().chain(&of.rate).map(|x| x.abs()).sum()
    });
    crate::check(
        "the turning of a box with grains",
        spin,
        turning.is_none(),
        "none: a box with grains may only be shifted",
    )
}

/// # Errors
/// A flow in 2D, gravity of the bed, another box, grains that are too small.
fn check_bed<const D: usize>(mesh: &FlowMesh<D>, bed: &Bed) -> Result<(), TwoPhaseError> {
    crate::check(
        "the number of axes of a flow with grains",
        D as f64,
        D == 3,
        "3: grains are spheres",
    )?;
    for g in bed.params().gravity {
        crate::check(
            "gravity of a bed in a flow",
            g,
            g == 0.0,
            "zero: the flow has the weight of the grains",
        )?;
    }
    let [low, high] = mesh.corners();
    let domain = &bed.params().domain;
    for a in 0..D {
        let same = (domain.lower[a] - low[a]).abs() + (domain.upper[a] - high[a]).abs();
        let periodic = domain.axes[a] == cutlink_grains::BoxAxis::Periodic;
        crate::check(
            "the box of a bed, as its distance from that of the flow,",
            same,
            same <= 1e-9 * (high[a] - low[a]) && periodic == mesh.blocks.periodic()[a],
            "zero, with the same periodic axes",
        )?;
    }
    let h = mesh.width(mesh.blocks.finest());
    for grain in &bed.grains() {
        crate::check(
            "the radius of a grain, over the width of the finest cells,",
            grain.radius / h,
            grain.radius >= LEAST_RADIUS * h,
            "at least 2: make the cells smaller",
        )?;
    }
    Ok(())
}

/// The balls of a bed at places.
fn balls(bed: &Bed, places: &[[f64; 3]]) -> Vec<Ball> {
    let materials = bed.params().materials.list();
    let ball = |(id, (grain, &centre)): (usize, (&Grain, &[f64; 3]))| Ball {
        id: id as u32,
        centre,
        radius: grain.radius,
        density: materials[usize::from(grain.material)].density,
    };
    let grains = bed.grains();
    (grains.iter().zip(places).enumerate()).map(ball).collect()
}

/// The longest step that the grains of a bed allow, s, in a flow of cells of a width: by their speeds, and where they move by
/// friction, which is that of the motion at the start of a step.
pub fn step_of_bed<const D: usize>(
    bed: &Bed,
    coupling: &GrainCoupling,
    params: &FlowParams<D>,
    h: f64,
) -> f64 {
    let mu = params.phases.viscosity[0].max(params.phases.viscosity[1]);
    let materials = bed.params().materials.list();
    let mut dt = f64::INFINITY;
    for grain in bed.grains().iter().filter(|_| !coupling.held) {
        let density = materials[usize::from(grain.material)].density;
        if mu > 0.0 {
            dt = dt.min(VISCOUS_STEP * grain.radius * grain.radius * density / mu);
        }
        let length = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
        let speed = length(grain.velocity) + grain.radius * length(grain.spin);
        if speed > 0.0 {
            dt = dt.min(params.courant * h / speed);
        }
    }
    dt
}

impl<const D: usize> FlowMesh<D> {
    /// Whether a flow on this mesh can have a bed: what [`TwoPhaseFlow::with_grains`] refuses, without a flow.
    ///
    /// # Errors
    /// As there.
    pub fn check_bed(&self, bed: &Bed) -> Result<(), TwoPhaseError> {
        check_bed(self, bed)?;
        let places: Vec<[f64; 3]> = bed.grains().iter().map(|grain| grain.center).collect();
        GrainCells::new(self, &root_table(self), &balls(bed, &places)).map(|_| ())
    }
}

impl Coupled {
    fn new<const D: usize>(
        mesh: &FlowMesh<D>,
        bed: Bed,
        coupling: GrainCoupling,
    ) -> Result<Self, TwoPhaseError> {
        check_bed(mesh, &bed)?;
        for x in coupling.drive {
            crate::check("the drive of a flow", x, x.is_finite(), "finite, in m/s²")?;
        }
        let grains = bed.grains();
        Ok(Self {
            roots: root_table(mesh),
            masses: bed.masses(),
            places: grains.iter().map(|grain| grain.center).collect(),
            contact: vec![[[0.0; 3]; 2]; grains.len()],
            held_at: grains.iter().map(motion_of).collect(),
            interior: None,
            bed,
            coupling,
        })
    }

    /// What was found of the fields holds no longer.
    pub(crate) fn forget(&mut self) {
        self.interior = None;
    }

    /// The flow has another mesh.
    pub(crate) fn take_mesh<const D: usize>(&mut self, mesh: &FlowMesh<D>) {
        self.roots = root_table(mesh);
    }

    /// The cells of the grains where the flow has them.
    pub(crate) fn cells<const D: usize>(
        &self,
        mesh: &FlowMesh<D>,
    ) -> Result<GrainCells, TwoPhaseError> {
        let mut cells = GrainCells::new(mesh, &self.roots, &balls(&self.bed, &self.places))?;
        cells.drive = self.coupling.drive;
        Ok(cells)
    }

    /// Motions now.
    pub(crate) fn motions(&self) -> Vec<RigidMotion> {
        let grains = self.bed.grains();
        let of = |grain: &Grain| match self.coupling.held {
            true => RigidMotion::REST,
            false => motion_of(grain),
        };
        grains.iter().map(of).collect()
    }

    /// Momentum of the displaced fluid before the step, if it is known.
    pub(crate) fn take_interior(&mut self) -> Option<Vec<GrainSum>> {
        self.interior.take()
    }

    /// The flow has the grains where they will be after so much time.
    pub(crate) fn foresee(&mut self, dt: f64) {
        let motions = self.motions();
        for ((place, grain), motion) in self.places.iter_mut().zip(self.bed.grains()).zip(motions) {
            *place = std::array::from_fn(|a| grain.center[a] + dt * motion.u[a]);
        }
    }

    /// Mass and moment of inertia of a grain.
    fn mass(&self, grain: usize) -> (f64, f64) {
        let (mass, r) = (self.masses[grain], self.bed.grains()[grain].radius);
        (mass, 0.4 * mass * r * r)
    }

    /// Begins an exchange with what the displaced fluid's momentum changed by. `around` is the liquid's part around each grain.
    ///
    /// The motion that viscosity is to hold a grain at is that of the end of the step as the last one tells of it: with its
    /// forces, which are changed by the friction of a sphere that gains speed from rest in the step.
    pub(crate) fn begin<const D: usize>(
        &self,
        [before, after]: [&[GrainSum]; 2],
        around: &[f64],
        (params, h, dt): (&FlowParams<D>, f64, f64),
    ) -> Exchange {
        let mut sums = vec![[[0.0; 3]; 2]; before.len()];
        for ((sum, before), after) in sums.iter_mut().zip(before).zip(after) {
            add(sum, after, 1.0 / dt);
            add(sum, before, -1.0 / dt);
        }
        let (loads, hold) = (self.bed.loads(), self.held_by_contacts());
        let mut motions = self.motions();
        for (k, motion) in motions
            .iter_mut()
            .enumerate()
            .filter(|_| !self.coupling.held)
        {
            let radius = self.bed.grains()[k].radius;
            let friction = friction(params, around[k], [radius, h, dt]);
            let (mass, inertia) = self.mass(k);
            let was = &self.held_at[k];
            for a in 0..3 {
                let next = |m: f64, i: usize, now: f64, was: f64| {
                    let drag = dt * friction[i];
                    let force = loads[k][i][a] + hold[k][i][a];
                    (m * now + dt * force + drag * was) / (m + drag)
                };
                motion.u[a] = next(mass, 0, motion.u[a], was.u[a]);
                motion.w[a] = next(inertia, 1, motion.w[a], was.w[a]);
            }
        }
        Exchange {
            motions,
            hold,
            held: Vec::new(),
            sums,
        }
    }

    /// What holds the grains against the load of the step before. Of contacts that is what this load asked for and no more, so that
    /// a grain at rest stays so, and an impact does not count twice.
    fn held_by_contacts(&self) -> Vec<GrainSum> {
        let of = |load: f64, contact: f64| match (-load * contact > 0.0, self.coupling.held) {
            (_, true) => -load,
            (true, _) => contact.signum() * contact.abs().min(load.abs()),
            (false, _) => 0.0,
        };
        let loads = self.bed.loads();
        let pairs = loads.iter().zip(&self.contact);
        pairs
            .map(|(load, contact)| {
                [0, 1].map(|i| std::array::from_fn(|a| of(load[i][a], contact[i][a])))
            })
            .collect()
    }

    /// After viscosity: motions by all forces so far, and accelerations by what holds the grains.
    pub(crate) fn hold(&mut self, exchange: &mut Exchange, dt: f64) {
        self.held_at.clone_from(&exchange.motions);
        exchange.motions = self.motions();
        let forces = exchange.sums.iter().zip(&exchange.hold);
        let mut held = vec![RigidMotion::REST; self.masses.len()];
        for (k, (motion, (sum, hold))) in exchange.motions.iter_mut().zip(forces).enumerate() {
            let (mass, inertia) = self.mass(k);
            for a in 0..3 {
                held[k].u[a] = hold[0][a] / mass;
                held[k].w[a] = hold[1][a] / inertia;
                motion.u[a] += dt * sum[0][a] / mass;
                motion.w[a] += dt * sum[1][a] / inertia;
            }
        }
        exchange.held = held;
    }

    /// Ends the step: `pushed` is what accelerations gave, `taken` what of this holds the grains. The bed goes on.
    pub(crate) fn end(
        &mut self,
        mut exchange: Exchange,
        [pushed, taken]: [&[GrainSum]; 2],
        dt: f64,
    ) -> Result<Vec<RigidMotion>, TwoPhaseError> {
        // What holds the grains is among the accelerations, and comes from the bed itself.
        for ((sum, pushed), taken) in exchange.sums.iter_mut().zip(pushed).zip(taken) {
            add(sum, pushed, 1.0);
            add(sum, taken, -1.0);
        }
        let of = |k: usize| exchange.sums.iter().map(|sum| sum[k]).collect::<Vec<_>>();
        self.bed.set_loads(&of(0), &of(1))?;
        if self.coupling.held {
            return Ok(self.motions());
        }
        let before = self.motions();
        self.bed.advance(dt)?;
        let after = self.motions();
        for (k, contact) in self.contact.iter_mut().enumerate() {
            let (r, mass) = (self.bed.grains()[k].radius, self.masses[k]);
            let inertia = 0.4 * mass * r * r;
            for a in 0..3 {
                let [u, w] = [
                    after[k].u[a] - before[k].u[a],
                    after[k].w[a] - before[k].w[a],
                ];
                let got = [mass * u / dt, inertia * w / dt];
                let now = [0, 1].map(|i| got[i] - exchange.sums[k][i][a]);
                let hit = [0, 1].map(|i| dt * (now[i] - exchange.hold[k][i][a]));
                for i in 0..2 {
                    contact[i][a] = 0.5 * (contact[i][a] + now[i]);
                }
                self.held_at[k].u[a] += hit[0] / mass;
                self.held_at[k].w[a] += hit[1] / inertia;
            }
        }
        Ok(after)
    }

    /// Keeps the momentum of the displaced fluid for the next step, in which the grains pay for what they gave to the fluid last.
    pub(crate) fn keep(&mut self, mut interior: Vec<GrainSum>, given: &[GrainSum]) {
        for (sum, given) in interior.iter_mut().zip(given) {
            add(sum, given, 1.0);
        }
        self.interior = Some(interior);
    }

    /// Whether a ball reaches a box that is widened.
    pub(crate) fn is_near<const D: usize>(
        &self,
        [low, high]: [[f64; D]; 2],
        periods: [f64; D],
    ) -> bool {
        self.bed.grains().iter().any(|grain| {
            let mut square = 0.0;
            for a in 0..D {
                let out = |x: f64| (low[a] - x).max(x - high[a]).max(0.0);
                let (x, period) = (grain.center[a], periods[a]);
                let d = match period > 0.0 {
                    true => out(x).min(out(x - period)).min(out(x + period)),
                    false => out(x),
                };
                square += d * d;
            }
            square < grain.radius * grain.radius
        })
    }
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// The same flow with grains in it. Their box is the flow's, with its periodic axes, and has no gravity: the flow has the
    /// weight of the grains. Grains are at least four cells of the finest level wide, and on that level, which a mesh that
    /// [follows](Self::follow) has around them. Cells in grains have fluid as before, which moves with them and counts as volume.
    ///
    /// Steps are at most `0.4 r² ρ_s / μ` long then.
    ///
    /// # Errors
    /// A flow in 2D; another box; grains that are too small, or on a coarse level; memory.
    pub fn with_grains(mut self, bed: Bed, coupling: GrainCoupling) -> Result<Self, TwoPhaseError> {
        check_turning(&self.params)?;
        let heat = self.heat_account().map_or(0.0, |of| of.heat);
        let has_none = self.heat_account().is_none();
        crate::check(
            "the heat of a flow with grains",
            heat,
            has_none,
            "not there",
        )?;
        let coupled = Coupled::new(&self.mesh, bed, coupling)?;
        coupled.cells(&self.mesh)?;
        self.grains = Some(Box::new(coupled));
        Ok(self)
    }

    /// The bed in the flow. Its loads are forces and torques of the last step, with weight.
    pub fn bed(&self) -> Option<&Bed> {
        self.grains.as_ref().map(|of| &of.bed)
    }

    /// How grains and flow are coupled; as by default without a bed.
    pub fn coupling(&self) -> GrainCoupling {
        self.grains
            .as_ref()
            .map_or_else(GrainCoupling::default, |of| of.coupling)
    }

    /// The grains, and forces of the last step; none without a bed.
    pub fn grain_motions(&self) -> Vec<GrainMotion> {
        let Some(of) = &self.grains else {
            return Vec::new();
        };
        let pairs = of.bed.grains().into_iter().zip(of.bed.loads());
        pairs
            .map(|(grain, [force, torque])| GrainMotion {
                grain,
                force,
                torque,
            })
            .collect()
    }

    /// The part of each cell that is fluid, where the flow had the grains in the last step; none without a bed.
    ///
    /// # Errors
    /// Memory.
    pub fn fluid_parts(&self) -> Result<Option<Vec<f64>>, TwoPhaseError> {
        let Some(of) = &self.grains else {
            return Ok(None);
        };
        let cells = of.cells(&self.mesh)?;
        Ok(Some(GrainFields::new(&self.mesh, cells)?.clear))
    }

    /// Momentum of the fluid outside of grains and of the grains, kg m/s. In a periodic box it stays as it is, up to the
    /// tolerance of the pressure.
    ///
    /// # Errors
    /// Memory.
    pub fn momentum(&self) -> Result<[f64; D], TwoPhaseError> {
        let (mesh, params, fields) = (&self.mesh, &self.params, &self.host.fields);
        let count = cutlink_amr::dims::cells(D);
        let mut sum = [0.0; D];
        for block in (0..mesh.blocks.len()).filter(|&b| mesh.blocks.is_leaf(b)) {
            for cell in block * count..(block + 1) * count {
                let mass = params.phases.rho(fields.alpha[cell]) * mesh.volume_of(block);
                for (sum, u) in sum.iter_mut().zip(&fields.velocity) {
                    *sum += mass * u[cell];
                }
            }
        }
        if let Some(of) = &self.grains {
            let displaced = match &of.interior {
                Some(known) => known.clone(),
                None => {
                    let cells = of.cells(mesh)?;
                    penalty::interior(&cells, params, &fields.alpha, &fields.velocity)
                }
            };
            for ((motion, displaced), mass) in of.motions().iter().zip(displaced).zip(&of.masses) {
                for (a, sum) in sum.iter_mut().enumerate() {
                    *sum += mass * motion.u[a] - displaced[0][a];
                }
            }
        }
        Ok(sum)
    }

    /// Grains take the flow's mesh, which is another one.
    pub(crate) fn grains_take_mesh(&mut self) {
        if let Some(of) = &mut self.grains {
            of.take_mesh(&self.mesh);
        }
    }

    /// The longest step that grains allow, s.
    pub(crate) fn step_of_grains(&self, h: f64) -> f64 {
        let of = |of: &Coupled| step_of_bed(&of.bed, &of.coupling, &self.params, h);
        self.grains.as_deref().map_or(f64::INFINITY, of)
    }
}

/// Cells of grains where the flow has them, in a backend's memory.
pub(crate) fn on_backend<const D: usize, B: TwoPhaseKernels<D>>(
    at: &Scene<'_, D, B>,
    of: &Coupled,
) -> Result<B::Grains, TwoPhaseError> {
    B::grains(at, of.cells(at.mesh)?)
}
