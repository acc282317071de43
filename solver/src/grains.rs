//! Grains in lattice Boltzmann flows (decision 073): spheres of a bed and the fluid move one another.
//!
//! | file | what |
//! |---|---|
//! | `grains.rs` | the bed of a flow, what is refused, loads, the saved state |
//! | `grains/film.rs` | films that cells do not resolve |
//! | `grains/lists.rs` | which blocks grains reach into |
//! | `run/grains.rs` | the exchange in a step of the finest level |
//! | `kernels/hold.rs` | the stages; bodies in `cpu/hold.rs` and `cuda/hold.cu` |
//!
//! There is fluid in the grains too. Before a step of the finest level, cells with their centre in a grain get its velocity. A cell
//! beside one whose next cell along an axis is in it, with the surface at q of the way, is drawn to the velocity of the grain there
//! as strongly as viscosity over the distance q in place of 1 would: by ν (1/q - 1), implicitly. So a linear profile is exact at the
//! surface wherever that is (Gibou, Fedkiw, Cheng & Kang, *J. Comput. Phys.* 176 (2002) 205, for conduction), and nothing jumps as a
//! grain moves over the cells. [`inset`] makes up for what remains.
//!
//! With K the momentum that the fluid gets so, and m the mass of the displaced fluid, the force on a grain over the step is
//! m ΔU - K: the fluid within is moved by what is around it as the grain would be, and ΔU is what it had to be given besides. Momentum
//! of fluid and grains together, less m U, is kept to rounding.

mod film;
mod lists;

use film::Films;
pub(crate) use lists::{Blocks, Reach};

use crate::{FaceCondition, Params, Precision, SolverError, kernels::HeldSphere};
use cutlink_device::memory;
use cutlink_grains::{Bed, BoxAxis, Grain};
use std::{f64::consts::PI, io};

/// Least radius of a grain in cells of the finest level.
pub const LEAST_GRAIN_RADIUS: f64 = 2.0;

/// Least density of a grain over the fluid's, times its radius in cells of the finest level. In a step sound crosses 0.58 cells, and a
/// grain of less mass than the fluid so far around it is pushed further by that than it was off: from about 1.1 on all are stable.
pub const LIGHTEST_GRAIN: f64 = 1.5;

/// Units of a bed, whose numbers are SI, in a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GrainScale {
    /// The lower corner of the box in the frame of the bed, m.
    pub origin: [f64; 3],
    /// Length of a root cell, m.
    pub length: f64,
    /// Duration of a root step, s.
    pub time: f64,
    /// Density of the fluid at rest, kg/m³.
    pub density: f64,
}

/// A bed of grains for a flow.
#[derive(Debug)]
pub struct LatticeGrains {
    /// The grains, in a box with the corners and the periodic axes of the flow's, and without gravity.
    pub bed: Bed,
    /// Its units.
    pub scale: GrainScale,
    /// Weight, m/s²: of grains less that of the displaced fluid, since the fluid has none.
    pub gravity: [f64; 3],
    /// Whether the grains stay at rest where they are; forces are found nevertheless.
    pub held: bool,
}

/// Cells by which spheres are smaller for the fluid than they are, with a magic parameter Λ and a viscosity ν of the finest level. What is
/// held has its surface a little outside: by a function of Λ, as bounce-back, if the mean of the velocities before and after is
/// held, and by some ν less if the one after is. Fitted to the drag of arrays of spheres 6 cells wide (Zick & Homsy, *J. Fluid Mech.* 115 (1982)
/// 13), Λ of 0.01 to 1 and ν to 0.2, within 0.01 cells up to ν = 0.1; Ladd (*J. Fluid Mech.* 271 (1994) 285) calibrates radii likewise.
pub(crate) fn inset(magic: f64, viscosity: f64) -> f64 {
    let s = magic.max(0.0).sqrt();
    let halfway = 0.336 - 0.69 * s + 0.205 * s * s;
    (halfway - 1.19 * viscosity / (1.0 + 2.0 * viscosity)).max(-0.25)
}

/// Two vectors of a grain: force and torque, or velocity and spin.
pub(crate) type GrainPair = [[f64; 3]; 2];

/// The grains of a running flow.
#[derive(Debug)]
pub(crate) struct Suspended {
    of: LatticeGrains,
    /// A cell and a step of the finest level, m and s.
    fine: [f64; 2],
    masses: Vec<f64>,
    /// Motions at the last exchange.
    before: Vec<GrainPair>,
    /// Whether the fluid in the grains has their velocity.
    has_begun: bool,
    /// Where the lists of blocks hold.
    reach: Option<Reach>,
    blocks: Blocks,
}

fn refuse<T>(reason: impl Into<String>) -> Result<T, SolverError> {
    Err(SolverError::Grains {
        reason: reason.into(),
    })
}

/// Refuses several ranks.
pub(crate) fn on_ranks() -> SolverError {
    SolverError::Grains {
        reason: "they run on one rank alone: leave the number of ranks or GPUs at 1".into(),
    }
}

/// # Errors
/// A flow that cannot have grains, or these grains.
pub(crate) fn check<const D: usize>(
    params: &Params<D>,
    (levels, root): (usize, [u32; D]),
    of: &LatticeGrains,
) -> Result<(), SolverError> {
    if D != 3 {
        return refuse("the flow is in 2D, and grains are spheres: choose a box in 3D");
    }
    if params.precision == Precision::F16 {
        return refuse("populations of 16 bits would lose what they give: choose f32 or f64");
    }
    if params.les != crate::Les::None {
        return refuse(
            "an eddy viscosity is not that of the layers around them: choose no eddy viscosity",
        );
    }
    if params.adaptation.is_some() {
        return refuse(
            "the mesh is to follow the flow: refine where they go, and leave the adaptation out",
        );
    }
    if params.heat.is_some() {
        return refuse("they conduct no heat: leave the heat or the grains out");
    }
    let numbers = of.gravity.iter().chain(&of.scale.origin);
    let positive = [of.scale.length, of.scale.time, of.scale.density];
    if !numbers.into_iter().all(|x| x.is_finite())
        || !positive.iter().all(|x| *x > 0.0 && x.is_finite())
    {
        return refuse(format!(
            "their units or weight are no numbers: {:?}",
            of.scale
        ));
    }
    check_box(params, root, of)?;
    let fine = of.scale.length / f64::from(1u32 << (levels - 1));
    let materials = of.bed.params().materials.list();
    let least = LEAST_GRAIN_RADIUS * fine * (1.0 - 1e-12);
    let grains = of.bed.grains();
    if let Some((id, small)) = (grains.iter().enumerate()).find(|(_, grain)| grain.radius < least) {
        let count = grains.iter().filter(|grain| grain.radius < least).count();
        return refuse(format!(
            "{count} of them are too small for the finest cells of {fine:.4e} m; the first is grain {id}, at {:?} m, whose radius is {:.2} \
             cells, and {LEAST_GRAIN_RADIUS} are needed: make the cells smaller or the grains larger",
            small.center,
            small.radius / fine
        ));
    }
    let ratio = |grain: &Grain| materials[usize::from(grain.material)].density / of.scale.density;
    let least = |grain: &Grain| LIGHTEST_GRAIN * fine / grain.radius;
    match grains.iter().position(|grain| ratio(grain) < least(grain)) {
        Some(id) if !of.held => refuse(format!(
            "grain {id} has {:.3} times the density of the fluid, and {:.3} are needed with a radius of {:.1} of the finest cells: make \
             the cells smaller or the grains heavier",
            ratio(&grains[id]),
            least(&grains[id]),
            grains[id].radius / fine
        )),
        _ => Ok(()),
    }
}

/// # Errors
/// A bed in another box, or with weight.
fn check_box<const D: usize>(
    params: &Params<D>,
    root: [u32; D],
    of: &LatticeGrains,
) -> Result<(), SolverError> {
    if of.bed.params().gravity != [0.0; 3] {
        return refuse("their bed has gravity: the flow has their weight, give it there");
    }
    let (domain, scale) = (&of.bed.params().domain, &of.scale);
    for a in 0..D {
        let size = f64::from(root[a]) * scale.length;
        let off = (domain.lower[a] - scale.origin[a]).abs()
            + (domain.upper[a] - scale.origin[a] - size).abs();
        let is_periodic = params.faces[a].contains(&FaceCondition::Periodic);
        if off.is_nan() || off > 1e-9 * size || is_periodic != (domain.axes[a] == BoxAxis::Periodic)
        {
            return refuse(format!(
                "their box is not that of the flow along axis {a}: from {} to {} m, with the same periodic axes",
                scale.origin[a],
                scale.origin[a] + size
            ));
        }
    }
    Ok(())
}

fn motion_of(grain: &Grain) -> GrainPair {
    [grain.velocity, grain.spin]
}

impl Suspended {
    /// Grains in a flow of so many levels, whose finest has these blocks.
    pub(crate) fn new(of: LatticeGrains, levels: usize, blocks: Blocks) -> Self {
        let ratio = f64::from(1u32 << (levels - 1));
        Self {
            fine: [of.scale.length / ratio, of.scale.time / ratio],
            masses: of.bed.masses(),
            before: of.bed.grains().iter().map(motion_of).collect(),
            has_begun: false,
            reach: None,
            blocks,
            of,
        }
    }

    pub(crate) fn bed(&self) -> &Bed {
        &self.of.bed
    }

    /// See [`Blocks::period`].
    pub(crate) fn period(&self) -> [f64; 3] {
        self.blocks.period()
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun
    }

    /// The fluid in the grains has another velocity.
    pub(crate) fn forget(&mut self) {
        self.has_begun = false;
    }

    /// The fluid in the grains has their velocity.
    pub(crate) fn begin(&mut self) {
        self.has_begun = true;
        self.before = self.motions();
    }

    /// Motions now.
    fn motions(&self) -> Vec<GrainPair> {
        let of = |grain: &Grain| match self.of.held {
            true => [[0.0; 3]; 2],
            false => motion_of(grain),
        };
        self.of.bed.grains().iter().map(of).collect()
    }

    /// The grains in cells and steps of the finest level.
    pub(crate) fn spheres(&self) -> Vec<HeldSphere> {
        let [h, dt] = self.fine;
        let grains = self.of.bed.grains();
        let of = |(grain, [u, w]): (&Grain, GrainPair)| HeldSphere {
            center: std::array::from_fn(|a| (grain.center[a] - self.of.scale.origin[a]) / h),
            radius: grain.radius / h,
            velocity: u.map(|u| u * dt / h),
            spin: w.map(|w| w * dt),
        };
        grains.iter().zip(self.motions()).map(of).collect()
    }

    /// The blocks that the grains reach into, as they were last found.
    pub(crate) fn reach(&self) -> Option<&Reach> {
        self.reach.as_ref()
    }

    /// Finds the blocks that the grains reach into, if those that are known hold no longer. Whether they are new.
    ///
    /// # Errors
    /// A grain that is not on the finest level.
    pub(crate) fn follow(&mut self, spheres: &[HeldSphere]) -> Result<bool, SolverError> {
        if self.reach.as_ref().is_some_and(|of| of.holds(spheres)) {
            return Ok(false);
        }
        let found = Reach::new(&self.blocks, spheres);
        let found = found.map_err(|id| SolverError::Grains {
            reason: format!(
                "grain {id}, at {:?} m, is not in blocks of the finest level whose neighbours are on it too, with a cell and a half around it: \
                 refine where it goes",
                self.of.bed.grains()[id].center
            ),
        })?;
        self.reach = Some(found);
        Ok(true)
    }

    /// Forces of films between grains and at faces, in units of the finest level, whose viscosity is given so too.
    fn films(&self, spheres: &[HeldSphere], viscosity: f64) -> Vec<[f64; 3]> {
        let [h, _] = self.fine;
        let of_cell = self.of.scale.density * h.powi(3);
        let masses: Vec<f64> = self.masses.iter().map(|mass| mass / of_cell).collect();
        let domain = &self.of.bed.params().domain;
        let walls = std::array::from_fn(|a| match domain.axes[a] {
            BoxAxis::Periodic => [None; 2],
            BoxAxis::Walls(walls) => {
                let ends = [0.0, domain.length(a) / h];
                [0, 1].map(|side| walls[side].map(|_| ends[side]))
            }
        });
        let mut forces = vec![[0.0; 3]; spheres.len()];
        let films = Films {
            spheres,
            masses: &masses,
            viscosity,
            period: self.blocks.period(),
            walls,
        };
        if let Some(reach) = &self.reach {
            films.add(reach, &mut forces);
        }
        forces
    }

    /// Takes the momenta that the grains have given to the fluid in a step, in units of the finest level, and moves them by a step.
    pub(crate) fn take(
        &mut self,
        spheres: &[HeldSphere],
        given: &[GrainPair],
        viscosity: f64,
    ) -> Result<(), SolverError> {
        let films = self.films(spheres, viscosity);
        let ([h, dt], density) = (self.fine, self.of.scale.density);
        let force = density * h.powi(4) / (dt * dt);
        let (now, grains) = (self.motions(), self.of.bed.grains());
        let (mut forces, mut torques) = (Vec::new(), Vec::new());
        for (k, given) in given.iter().enumerate() {
            let r = grains[k].radius;
            let displaced = density * 4.0 / 3.0 * PI * r.powi(3);
            let inertia = [displaced, 0.4 * displaced * r * r];
            let units = [force, force * h];
            let [push, turn] = [0, 1].map(|i| -> [f64; 3] {
                std::array::from_fn(|a| {
                    inertia[i] * (now[k][i][a] - self.before[k][i][a]) / dt - units[i] * given[i][a]
                })
            });
            let weight = self.masses[k] - displaced;
            forces.push(std::array::from_fn(|a| {
                push[a] + force * films[k][a] + weight * self.of.gravity[a]
            }));
            torques.push(turn);
        }
        self.before = now;
        self.of.bed.set_loads(&forces, &torques)?;
        match self.of.held {
            true => Ok(()),
            false => Ok(self.of.bed.advance(dt)?),
        }
    }

    /// Force and torque of the fluid on each grain in the last step, N and N m, weight and buoyancy not among them.
    pub(crate) fn loads(&self) -> Vec<GrainPair> {
        let density = self.of.scale.density;
        let mut loads = self.of.bed.loads();
        if !self.has_begun {
            return loads;
        }
        let grains = self.of.bed.grains();
        for ((load, mass), grain) in loads.iter_mut().zip(&self.masses).zip(grains) {
            let weight = mass - density * 4.0 / 3.0 * PI * grain.radius.powi(3);
            for (force, g) in load[0].iter_mut().zip(self.of.gravity) {
                *force -= weight * g;
            }
        }
        loads
    }

    /// Writes what [`restore`](Self::restore) needs.
    pub(crate) fn save(&self, out: &mut dyn io::Write) -> Result<(), SolverError> {
        let bed = self.of.bed.save()?;
        out.write_all(&(bed.len() as u64).to_le_bytes())?;
        out.write_all(&bed)?;
        out.write_all(&u64::from(self.has_begun).to_le_bytes())?;
        let motions = self.before.as_flattened().as_flattened();
        Ok(out.write_all(bytemuck::cast_slice(motions))?)
    }

    /// Goes on from what was written.
    pub(crate) fn restore(&mut self, from: &mut dyn io::Read) -> Result<(), SolverError> {
        let mut word = || -> Result<u64, SolverError> {
            let mut word = [0; 8];
            from.read_exact(&mut word)?;
            Ok(u64::from_le_bytes(word))
        };
        let len = word()?;
        let most = 1 << 46;
        if len > most {
            return Err(SolverError::State {
                reason: format!("its grains have {len} bytes"),
            });
        }
        // As it is read: a length that is wrong takes no memory.
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut io::Read::take(&mut *from, len), &mut bytes)?;
        let bed = Bed::restore(
            self.of.bed.params().clone(),
            self.of.bed.surface().cloned(),
            &bytes,
        )?;
        if bed.len() != self.masses.len() || bed.masses() != self.masses {
            return Err(SolverError::State {
                reason: "it has other grains".into(),
            });
        }
        let mut begun = [0; 8];
        from.read_exact(&mut begun)?;
        let mut motions = memory::with_capacity("motions of grains", 6 * bed.len())?;
        motions.resize(6 * bed.len(), 0.0f64);
        from.read_exact(bytemuck::cast_slice_mut(&mut motions))?;
        if !motions.iter().all(|x| x.is_finite()) {
            return Err(SolverError::State {
                reason: "motions of its grains are no numbers".into(),
            });
        }
        for (to, from) in self.before.iter_mut().zip(motions.chunks_exact(6)) {
            *to = [0, 1].map(|i| std::array::from_fn(|a| from[3 * i + a]));
        }
        self.has_begun = u64::from_le_bytes(begun) != 0;
        (self.of.bed, self.reach) = (bed, None);
        Ok(())
    }
}

/// Bytes of lists and sums for a bed, whose spheres have radii in cells of the finest level: blocks that each reaches into.
pub(crate) fn bytes(of: &LatticeGrains, levels: usize) -> u64 {
    let fine = of.scale.length / f64::from(1u32 << (levels - 1));
    let blocks = |grain: &Grain| ((2.0 * grain.radius / fine + 3.0) / 4.0 + 1.0).powi(3);
    let pairs: f64 = of.bed.grains().iter().map(blocks).sum();
    (pairs * 72.0) as u64 + of.bed.len() as u64 * 200
}
