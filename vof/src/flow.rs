//! A two-phase flow: its state, and a step.

use crate::adapt::{Following, SeenBlocks, Sight};
#[cfg(feature = "cuda")]
use crate::apart::Apart;
use crate::compiled::compiled;
use crate::constants::BOUND;
use crate::grains::Coupled;
use crate::heat_params::HeatAccount;
use crate::mesh::FlowMesh;
use crate::params::FlowParams;
use crate::running::{Fields, Next, Running, Shown, Way};
use crate::survey::{self, Survey};
use crate::transfer::{self, array};
use crate::{LiquidShape, Turning, TwoPhaseError, shape};
use cutlink_amr::dims;
use cutlink_device::Host;
#[cfg(feature = "cuda")]
use cutlink_device::cuda::Cuda;
use cutlink_elliptic::faces;
use rayon::prelude::*;
use std::f64::consts::PI;

/// The largest Courant number of a sweep: beyond it fractions may leave 0 to 1 (Weymouth, Yue 2010).
const MOST_COURANT: f64 = 0.5;

/// Most parts of a way: a flow that needs more has diverged.
const MOST_SWEEPS: f64 = 100.0;

/// A state to go on from: the arrays one after another, and the clock.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoPhaseState {
    /// Fractions, velocity components, pressure, velocities through faces, accelerations; of a flow with heat its temperature and
    /// account.
    pub values: Vec<f64>,
    /// Of a mesh that follows the interface: by block, 1 where it has children.
    pub refined: Vec<u8>,
    /// Of such a mesh: cells that the fluid may have moved since it was adapted.
    pub path: f64,
    /// Simulated time, s.
    pub time: f64,
    /// Steps done.
    pub steps: u64,
    /// How far fractions and momentum are behind the velocities through faces, s: half of the last step.
    pub behind: f64,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepDone {
    /// Its length, s.
    pub dt: f64,
    /// Its largest Courant number.
    pub courant: f64,
    /// Iterations of the pressure.
    pub pressure_iterations: usize,
    /// Most iterations of a component's viscosity.
    pub viscous_iterations: usize,
    /// Iterations of conduction; 0 without heat.
    pub heat_iterations: usize,
    /// The largest divergence of a cell that is left, times the step.
    pub divergence: f64,
    /// Cells whose curvature is from heights, and from a fit where heights are missing.
    pub curvatures: [usize; 2],
    /// Wall time of making operators: on the first step on a mesh, s.
    pub setup: f64,
}

/// A two-phase flow on a mesh.
///
/// Memory in bytes a cell: 16 + 26 D for the fields, and with the arrays of steps about 145 + 118 D + 10 D² (595 in 3D), with heat
/// about 60 + 23 D more; on a GPU there, beside the fields on the host.
#[derive(Debug)]
pub struct TwoPhaseFlow<const D: usize> {
    pub(crate) mesh: FlowMesh<D>,
    pub(crate) params: FlowParams<D>,
    /// The state, which everything but steps on a GPU works on.
    pub(crate) host: Running<D, Host>,
    /// The state of such steps.
    #[cfg(feature = "cuda")]
    device: Option<Apart<D, Cuda>>,
    time: f64,
    steps: u64,
    /// How far volume and momentum are behind the velocities through faces, s: half a step.
    behind: f64,
    /// Fractions and temperatures at the time of the velocities, where those of the state are behind.
    pub(crate) shown: Shown,
    /// The largest velocity through a face over the width of its cells, 1/s, once it is known.
    fastest: Option<f64>,
    /// Whether the interface is near coarse cells, once it is known.
    pub(crate) is_at_edge: Option<bool>,
    pub(crate) following: Option<Following<D>>,
    pub(crate) grains: Option<Box<Coupled>>,
}

impl<const D: usize> TwoPhaseFlow<D> {
    /// A flow at rest, with liquid in shapes.
    ///
    /// # Errors
    /// Parameters out of their range, a liquid outside of the box, an interface on a coarse level, memory.
    pub fn new(
        mesh: FlowMesh<D>,
        params: FlowParams<D>,
        liquid: &[LiquidShape<D>],
    ) -> Result<Self, TwoPhaseError> {
        (compiled::<D>().make)(mesh, params, liquid)
    }

    pub(crate) fn make(
        mesh: FlowMesh<D>,
        params: FlowParams<D>,
        liquid: &[LiquidShape<D>],
    ) -> Result<Self, TwoPhaseError> {
        params.check(mesh.blocks.periodic())?;
        let [low, high] = mesh.corners();
        for shape in liquid {
            let [from, to] = shape.corners();
            let outside = (0..D).find(|&a| !(from[a] < high[a] && to[a] > low[a]));
            let at = outside.map_or(0.0, |a| from[a]);
            let sound = shape.is_sound() && outside.is_none();
            crate::check(
                "the start of a liquid",
                at,
                sound,
                "in the box, with positive lengths",
            )?;
        }
        let viscosity = params.phases.viscosity;
        let both = (viscosity[0] > 0.0) == (viscosity[1] > 0.0);
        crate::check(
            "the smaller viscosity",
            viscosity[0].min(viscosity[1]),
            both,
            "positive, or both are zero",
        )?;
        let alpha = start(&mesh, liquid)?;
        let fields = Fields {
            alpha,
            ..transfer::empty(&Host, &mesh)?
        };
        let mut flow = Self {
            host: Running::new(Host, &mesh, fields)?,
            #[cfg(feature = "cuda")]
            device: None,
            mesh,
            params,
            time: 0.0,
            steps: 0,
            behind: 0.0,
            shown: Shown::default(),
            fastest: None,
            is_at_edge: None,
            following: None,
            grains: None,
        };
        flow.mesh.restrict(&mut flow.host.fields.alpha)?;
        // The interface's level is checked before the first step.
        crate::interface::check_level(&flow.mesh, &flow.host.fields.alpha)?;
        Ok(flow)
    }

    /// Sets the cells' velocities, and makes those of faces from them, free of divergence.
    ///
    /// # Errors
    /// Where the projection fails.
    pub fn set_velocity(
        &mut self,
        of: impl Fn([f64; D]) -> [f64; D] + Sync,
    ) -> Result<(), TwoPhaseError> {
        let (mesh, cells) = (&self.mesh, dims::cells(D));
        for (axis, u) in self.host.fields.velocity.iter_mut().enumerate() {
            u.par_chunks_mut(cells).enumerate().for_each(|(block, u)| {
                for (cell, u) in u.iter_mut().enumerate() {
                    let fluid = mesh.blocks.is_leaf(block) && !mesh.is_solid(block, cell);
                    *u = if fluid {
                        of(mesh.centre(block, cell))[axis]
                    } else {
                        0.0
                    };
                }
            });
        }
        self.changed();
        self.host.project(&self.mesh, &self.params)?;
        let fields = &mut self.host.fields;
        fields.pressure.fill(0.0);
        fields.pull.iter_mut().for_each(|pull| pull.fill(0.0));
        let velocity = &mut fields.velocity;
        velocity.iter_mut().try_for_each(|u| self.mesh.restrict(u))
    }

    /// The longest step that Courant, capillary waves, gravity and the parameters allow, s.
    pub fn allowed_step(&self) -> f64 {
        let h = self.mesh.width(self.mesh.blocks.finest());
        let phases = &self.params.phases;
        let mut dt = self.params.longest_step;
        let fastest = self.fastest();
        if fastest > 0.0 {
            dt = dt.min(self.params.courant / fastest);
        }
        if phases.surface_tension > 0.0 {
            // Brackbill, Kothe, Zemach 1992: the shortest capillary wave.
            let sum = phases.density[0] + phases.density[1];
            dt = dt.min((sum * h.powi(3) / (4.0 * PI * phases.surface_tension)).sqrt());
        }
        let mut g = self
            .params
            .gravity
            .iter()
            .map(|g| g * g)
            .sum::<f64>()
            .sqrt();
        if let Some(turning) = &self.params.turning {
            let [low, high] = self.mesh.corners();
            let farthest = |a: usize| {
                let c = turning.center[a];
                (c - low[a]).abs().max((high[a] - c).abs())
            };
            g += turning.most((0..D).map(|a| farthest(a).powi(2)).sum::<f64>().sqrt());
        }
        if g > 0.0 {
            dt = dt.min((2.0 * self.params.courant * h / g).sqrt());
        }
        dt.min(self.step_of_grains(h))
    }

    /// One step, of the allowed length or less.
    ///
    /// # Errors
    /// NaN or an unbounded fraction with the place, an interface on a coarse level, a projection that fails.
    pub fn step(&mut self, at_most: f64) -> Result<StepDone, TwoPhaseError> {
        let done = self.substep(at_most);
        self.end(done)
    }

    /// A step after which the host's fields may be those before: see [`sync`](Self::sync). Volume and momentum are in the middle of
    /// the step afterwards; the next one moves both halves at once (Strang 1968).
    pub(crate) fn substep(&mut self, at_most: f64) -> Result<StepDone, TwoPhaseError> {
        (compiled::<D>().step)(self, at_most)
    }

    pub(crate) fn step_here(&mut self, at_most: f64) -> Result<StepDone, TwoPhaseError> {
        let dt = self.allowed_step().min(at_most);
        crate::check(
            "the step",
            dt,
            dt > 0.0,
            "positive: the velocity is not finite",
        )?;
        let next = Next {
            dt,
            courant: dt * self.fastest(),
            way: self.way(self.behind + 0.5 * dt),
            levels: self.levels_by_edge(),
        };
        self.went(next.way);
        (self.fastest, self.is_at_edge) = (None, None);
        let (done, survey) = self.run(next)?;
        self.behind = 0.5 * dt;
        self.time += dt;
        self.steps += 1;
        self.fastest = Some(survey.fastest);
        self.is_at_edge = Some(survey.is_at_edge);
        if survey.is_bad {
            self.fetch()?;
            self.check()?;
        }
        Ok(done)
    }

    fn run(&mut self, next: Next) -> Result<(StepDone, Survey), TwoPhaseError> {
        let (mesh, params) = (&self.mesh, &self.params);
        let grains = self.grains.as_deref_mut();
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            return device.step((mesh, params), &self.host.fields, next, grains);
        }
        self.host.step(mesh, params, next, grains)
    }

    /// Brings the host up to the last step, also where that failed.
    pub(crate) fn end<T, E: From<TwoPhaseError>>(&mut self, went: Result<T, E>) -> Result<T, E> {
        match went {
            Ok(of) => self.sync().map(|()| of).map_err(E::from),
            Err(error) => {
                self.shown = Shown::default();
                // The first error is the one that counts.
                let _ = self.fetch();
                Err(error)
            }
        }
    }

    /// Finds the fractions and temperatures that belong to the velocities.
    ///
    /// # Errors
    /// An interface on a coarse level, memory.
    pub(crate) fn show(&mut self) -> Result<(), TwoPhaseError> {
        self.shown = if self.behind > 0.0 {
            (compiled::<D>().after)(self)?
        } else {
            Shown::default()
        };
        Ok(())
    }

    pub(crate) fn after_here(&mut self) -> Result<Shown, TwoPhaseError> {
        let way = self.way(self.behind);
        let (mesh, params) = (&self.mesh, &self.params);
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            return device.after(mesh, params, &self.host.fields, way);
        }
        self.host.after(mesh, params, way)
    }

    /// Makes the steps on a GPU from now on. All else is done by the CPU, on fields that are copied back at the end of
    /// [`step`](Self::step) and [`advance`](Self::advance).
    #[cfg(feature = "cuda")]
    #[must_use]
    pub fn on(mut self, cuda: &Cuda) -> Self {
        self.device = Some(Apart::new(cuda.clone()));
        self
    }

    /// Brings the host's fields up to the last step, and finds the fractions to be shown. Every public method leaves them so.
    pub(crate) fn sync(&mut self) -> Result<(), TwoPhaseError> {
        self.fetch()?;
        self.show()
    }

    /// Brings the host's fields up to the last step.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "of GPUs")
    )]
    pub(crate) fn fetch(&mut self) -> Result<(), TwoPhaseError> {
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            device.sync(&mut self.host.fields)?;
        }
        Ok(())
    }

    /// What a look at the interface sees, where the state is.
    pub(crate) fn seen(&mut self, of: &Sight) -> Result<SeenBlocks, TwoPhaseError> {
        let (mesh, params) = (&self.mesh, &self.params);
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            return device.seen(mesh, params, &self.host.fields, of);
        }
        self.host.seen(mesh, params, of)
    }

    /// Takes an adapted mesh, with the fields where the state is: of its blocks, `old_of` has the former ids.
    pub(crate) fn adapt_to(
        &mut self,
        mesh: FlowMesh<D>,
        old_of: &[u32],
    ) -> Result<(), TwoPhaseError> {
        let (both, params) = ([&self.mesh, &mesh], &self.params);
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            let fastest = device.take_mesh(both, params, &self.host.fields, old_of)?;
            (self.fastest, self.mesh) = (Some(fastest), mesh);
            self.grains_take_mesh();
            return Ok(());
        }
        let host = self.host.on_mesh(both, params, old_of)?;
        self.take_mesh(mesh, host)
    }

    /// Has a GPU take the mesh and the state where it has none.
    #[cfg_attr(
        not(feature = "cuda"),
        expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "of GPUs")
    )]
    pub(crate) fn prepare(&mut self) -> Result<(), TwoPhaseError> {
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            device.prepare(&self.mesh, &self.host.fields)?;
        }
        Ok(())
    }

    /// The largest velocity through a face over the width of its cells, 1/s.
    fn fastest(&self) -> f64 {
        let find = || survey::fastest(&self.mesh, &self.host.fields.flux);
        self.fastest.unwrap_or_else(find)
    }

    /// A way, in parts whose Courant number the sweeps are bounded for.
    fn way(&self, time: f64) -> Way {
        let parts = (time * self.fastest() / MOST_COURANT - 1e-9).ceil();
        Way {
            time,
            parts: parts.clamp(1.0, MOST_SWEEPS) as usize,
            steps: self.steps,
        }
    }

    /// Cells that volume has to move to the end of the last step.
    pub(crate) fn cells_behind(&self) -> f64 {
        if self.behind > 0.0 {
            self.behind * self.fastest()
        } else {
            0.0
        }
    }

    /// Counts the cells that the fluid may move.
    fn went(&mut self, way: Way) {
        let cells = way.time * self.fastest();
        if let Some(following) = &mut self.following {
            following.path += cells;
        }
    }

    /// What was found of the state before holds no longer.
    pub(crate) fn changed(&mut self) {
        (self.fastest, self.is_at_edge) = (None, None);
        if let Some(grains) = &mut self.grains {
            grains.forget();
        }
        #[cfg(feature = "cuda")]
        if let Some(device) = &mut self.device {
            device.forget();
        }
    }

    /// The largest divergence of a cell, 1/s.
    pub fn divergence(&self) -> f64 {
        (compiled::<D>().divergence)(self)
    }

    pub(crate) fn largest_divergence(&self) -> f64 {
        survey::divergence(&self.mesh, &self.host.fields.flux)
    }

    /// # Errors
    /// The first cell whose values are not finite, or whose fraction is not in 0 to 1.
    pub fn check(&self) -> Result<(), TwoPhaseError> {
        let (cells, fields) = (dims::cells(D), &self.host.fields);
        let is_bad = |own: usize| survey::is_bad(fields, own);
        let bad = |block: &usize| {
            self.mesh.blocks.is_leaf(*block) && (0..cells).any(|cell| is_bad(block * cells + cell))
        };
        let Some(block) = (0..self.mesh.blocks.len()).into_par_iter().find_first(bad) else {
            return Ok(());
        };
        let cell = (0..cells)
            .find(|&cell| is_bad(block * cells + cell))
            .unwrap_or(0);
        let (own, time) = (block * cells + cell, self.time);
        let at = self.mesh.centre(block, cell).to_vec();
        let c = fields.alpha[own];
        if c.is_finite() && !(-BOUND..=1.0 + BOUND).contains(&c) {
            return Err(TwoPhaseError::Unbounded { value: c, at, time });
        }
        let moves = fields.velocity.iter().all(|u| u[own].is_finite());
        let what = match (c.is_finite(), moves, fields.pressure[own].is_finite()) {
            (false, ..) => "volume fraction",
            (true, false, _) => "velocity",
            (true, true, false) => "pressure",
            (true, true, true) => "temperature",
        };
        Err(TwoPhaseError::NotFinite { what, at, time })
    }

    /// Moves volume and heat alone, by the velocities through faces that are set.
    ///
    /// # Errors
    /// An interface on a coarse level.
    pub fn advect(&mut self, dt: f64) -> Result<(), TwoPhaseError> {
        let way = self.way(dt);
        self.went(way);
        self.changed();
        self.host.advect(&self.mesh, &self.params, way)?;
        self.time += dt;
        self.steps += 1;
        Ok(())
    }

    /// Takes another mesh, with its state.
    pub(crate) fn take_mesh(
        &mut self,
        mesh: FlowMesh<D>,
        host: Running<D, Host>,
    ) -> Result<(), TwoPhaseError> {
        // Grains are on the finest level before and after: what is known of their cells stays.
        let grains = self.grains.take();
        self.changed();
        (self.host, self.mesh, self.grains) = (host, mesh, grains);
        self.grains_take_mesh();
        Ok(())
    }

    /// Sets the velocities through faces, by the face's centre and axis.
    pub fn set_flux(&mut self, of: impl Fn([f64; D], usize, f64) -> f64 + Sync) {
        self.changed();
        let (mesh, params) = (&self.mesh, &self.params);
        mesh.fill_faces(&mut self.host.fields.flux, |block, cell, side| {
            match mesh.face(params, block, cell, side) {
                crate::forces::Face::Closed => 0.0,
                _ => of(
                    mesh.face_centre(block, cell, side),
                    side / 2,
                    mesh.width_of(block),
                ),
            }
        });
        mesh.mean_faces(&mut self.host.fields.flux);
    }

    /// Sets the weight that the next steps have, m/s², and how the box turns in them.
    ///
    /// # Errors
    /// Numbers that are not finite, weight along a periodic axis.
    pub fn set_weight(
        &mut self,
        gravity: [f64; D],
        turning: Option<Turning<D>>,
    ) -> Result<(), TwoPhaseError> {
        let params = FlowParams {
            gravity,
            turning,
            ..self.params
        };
        params.check(self.mesh.blocks.periodic())?;
        if self.grains.is_some() {
            crate::grains::check_turning(&params)?;
        }
        if let Some(heat) = &self.host.fields.heat {
            crate::heat_params::check_turning(&heat.params, &params)?;
        }
        self.params = params;
        Ok(())
    }

    /// The mesh.
    pub fn mesh(&self) -> &FlowMesh<D> {
        &self.mesh
    }

    /// The parameters.
    pub fn params(&self) -> &FlowParams<D> {
        &self.params
    }

    /// Volume fractions of the liquid.
    pub fn alpha(&self) -> &[f64] {
        if self.shown.alpha.is_empty() {
            &self.host.fields.alpha
        } else {
            &self.shown.alpha
        }
    }

    /// Velocities of cells by component, m/s.
    pub fn velocity(&self) -> &[Vec<f64>; D] {
        &self.host.fields.velocity
    }

    /// Pressure less the weight `ρ g·x`, Pa.
    pub fn pressure(&self) -> &[f64] {
        &self.host.fields.pressure
    }

    /// The fractions that the pressure belongs to: those in the middle of the last step.
    pub fn alpha_of_pressure(&self) -> &[f64] {
        &self.host.fields.alpha
    }

    /// Curvature of cells at the interface, 1/m; NaN elsewhere. And how many are from heights, and from fits.
    pub fn curvature(&self) -> (Vec<f64>, [usize; 2]) {
        let found = crate::curvature::curvature(&self.mesh, &self.params, self.alpha());
        (found.of, [found.by_heights, found.by_fit])
    }

    /// Simulated time, s.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Steps done.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// All that is needed to go on, to the bit.
    pub fn save(&self) -> TwoPhaseState {
        let fields = &self.host.fields;
        let mut values = fields.alpha.clone();
        fields.velocity.iter().for_each(|u| values.extend(u));
        values.extend(&fields.pressure);
        values.extend(&fields.flux);
        fields.pull.iter().for_each(|pull| values.extend(pull));
        if let Some(heat) = &fields.heat {
            values.extend(&heat.temperature);
            values.extend(heat.account.save());
        }
        let refined = |f: &Following<D>| {
            let has = |id| u8::from(!f.forest.is_leaf(id));
            (0..f.forest.capacity() as u32).map(has).collect()
        };
        let following = self.following.as_ref();
        TwoPhaseState {
            values,
            refined: following.map(refined).unwrap_or_default(),
            path: following.map_or(0.0, |f| f.path),
            time: self.time,
            steps: self.steps,
            behind: self.behind,
        }
    }

    /// How many values a saved state has, by its blocks with children.
    ///
    /// # Errors
    /// Where there are blocks though this mesh stays, or none though it follows the interface.
    pub fn saved_values(&self, refined: &[u8]) -> Result<usize, TwoPhaseError> {
        if self.following.is_some() == refined.is_empty() {
            return Err(TwoPhaseError::SavedMesh);
        }
        let blocks = match self.following {
            Some(_) => refined.len(),
            None => self.mesh.blocks.len(),
        };
        let cells = 2 * (D + 1) * dims::cells(D);
        let of_heat = self.host.fields.heat.as_ref().map_or(0, |heat| {
            blocks * dims::cells(D) + HeatAccount::words(heat.params.patches())
        });
        Ok(blocks * (cells + faces::per_block(D)) + of_heat)
    }

    /// Goes on from a saved state of the same parameters and mesh, or of a mesh that follows the interface.
    ///
    /// # Errors
    /// Where it has another number of values, or another mesh.
    pub fn restore(&mut self, state: &TwoPhaseState) -> Result<(), TwoPhaseError> {
        let expected = self.saved_values(&state.refined)?;
        let found = state.values.len();
        if expected != found {
            return Err(TwoPhaseError::Saved { found, expected });
        }
        self.restore_mesh(&state.refined)?;
        self.changed();
        if let Some(following) = &mut self.following {
            following.path = state.path;
        }
        let fields = &mut self.host.fields;
        let n = fields.alpha.len();
        let (alpha, rest) = state.values.split_at(n);
        fields.alpha.copy_from_slice(alpha);
        let (velocity, rest) = rest.split_at(D * n);
        for (u, saved) in fields.velocity.iter_mut().zip(velocity.chunks(n)) {
            u.copy_from_slice(saved);
        }
        let (pressure, rest) = rest.split_at(n);
        fields.pressure.copy_from_slice(pressure);
        let (flux, pull) = rest.split_at(fields.flux.len());
        for (to, saved) in fields.pull.iter_mut().zip(pull.chunks(n)) {
            to.copy_from_slice(saved);
        }
        fields.flux.copy_from_slice(flux);
        if let Some(heat) = &mut fields.heat {
            let (temperature, account) = pull[D * n..].split_at(n);
            heat.temperature.copy_from_slice(temperature);
            heat.account = HeatAccount::restored(account);
        }
        (self.time, self.steps, self.behind) = (state.time, state.steps, state.behind);
        self.show()
    }
}

/// The fractions at the start; none in solid cells.
fn start<const D: usize>(
    mesh: &FlowMesh<D>,
    liquid: &[LiquidShape<D>],
) -> Result<Vec<f64>, TwoPhaseError> {
    let cells = dims::cells(D);
    let mut alpha = array(mesh.blocks.cells())?;
    let of_block = |(block, out): (usize, &mut [f64])| {
        if !mesh.blocks.is_leaf(block) {
            return None;
        }
        let h = mesh.width_of(block);
        let corner = mesh.centre(block, 0).map(|x| x - 0.5 * h);
        let wrong = shape::fractions(liquid, corner, h, out);
        for (cell, c) in out.iter_mut().enumerate() {
            if mesh.is_solid(block, cell) {
                *c = 0.0;
            }
        }
        wrong
    };
    let wrong: Vec<_> = (alpha.par_chunks_mut(cells).enumerate())
        .map(of_block)
        .collect();
    match wrong.into_iter().flatten().next() {
        Some((part, at)) => Err(TwoPhaseError::Overlap {
            part,
            at: at.to_vec(),
        }),
        None => Ok(alpha),
    }
}
