//! The time step, collision and wall scheme of a case that does not give them: the laws of the error turned round.
//!
//! The lattice velocity is the least of: 0.05; a tenth at the fastest place; what keeps the pressure variation small enough; and what
//! keeps the relaxation time at walls in its range. Where the last is the least, TRT has the widest range.

use super::{Drive, Laws, Piloted, percent, two_digits};
use crate::solve::{
    case::Case,
    resolve::{CaseGrid, LATTICE_VELOCITY, Resolved},
};
use cutlink_common::Error;
use cutlink_solver::{Collision, WallScheme, stability::MAX_ODD_RELAXATION};
use cutlink_voxelizer::Mesh;
use std::fmt;

/// TRT whose straight walls lie exactly halfway, for any viscosity.
pub(super) const TRT: Collision = Collision::Trt { magic: 3.0 / 16.0 };

/// Lattice velocity at the fastest place: convection is then wrong by less than 2.5 %.
const FASTEST: f64 = 0.1;
/// Lowest lattice velocity that is chosen for a speed or a pressure.
const LOWEST: f64 = 1e-7;
/// h up to which [`TRT`] with `local` is right beside curved walls, and beside straight ones.
pub(super) const TRT_RANGE: [f64; 2] = [1.0, 3.0];
/// h of all others beside curved walls, regularized.
const CURVED: f64 = 3.0 / 8.0;
/// The error by straight walls that is accepted.
const STRAIGHT: f64 = 0.003;
/// Cell Reynolds number above which TRT in 3D is wrong between walls.
const TRT_REYNOLDS: f64 = 3.0;

/// The largest viscosity that is chosen with spheres, in finest cells squared a step.
const MOST_VISCOUS: f64 = 0.2;

/// What limits the lattice velocity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Nothing but custom.
    Base,
    /// The fastest place.
    Speed,
    /// The pressure variation.
    Head,
    /// Sound that bodies make.
    Sound,
    /// Heat that is conducted.
    Conduction,
    /// The viscosity in cells at spheres.
    Spheres,
    /// The relaxation time at walls.
    Walls,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Base => "default",
            Self::Speed => "fastest place",
            Self::Head => "pressure variation",
            Self::Sound => "sound of bodies",
            Self::Conduction => "conduction of heat",
            Self::Spheres => "viscosity at spheres",
            Self::Walls => "relaxation time at walls",
        })
    }
}

/// Chosen numerics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Choice {
    pub(crate) lattice_velocity: f64,
    pub(crate) bound: Bound,
    pub(crate) collision: Collision,
    pub(crate) wall: WallScheme,
}

/// Which of the three a user gave.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given {
    pub(crate) lattice_velocity: bool,
    pub(crate) collision: bool,
    pub(crate) wall: bool,
}

impl Given {
    pub(crate) fn of(case: &Case) -> Self {
        let (physics, numerics) = (&case.physics, &case.numerics);
        Self {
            lattice_velocity: physics.lattice_velocity.is_some() || physics.mach.is_some(),
            collision: numerics.collision.is_some()
                || numerics.magic.is_some()
                || numerics.lattice.is_some(),
            wall: numerics.wall.is_some() || case.patches.values().any(|of| of.wall.is_some()),
        }
    }
}

/// Whether TRT may be chosen: the flow has a steady state to reach, and the cells at walls are slow.
pub(super) fn takes_trt(laws: &Laws) -> bool {
    let speed = laws.fastest_place().max(laws.physics.velocity);
    let reynolds = speed * laws.finest / laws.physics.viscosity;
    !laws.is_unsteady && laws.drive != Drive::Nothing && reynolds <= TRT_REYNOLDS
}

impl Laws {
    /// The largest h of a collision and wall scheme.
    pub(super) fn most_relaxation(&self, collision: Collision, wall: WallScheme) -> f64 {
        let is_curved = self.body.is_some();
        if let Collision::Trt { .. } = collision {
            let straight = !is_curved && self.drive == Drive::Force;
            let most = match self.is_unsteady {
                true => CURVED,
                false => TRT_RANGE[usize::from(straight)],
            };
            let grows = matches!(wall, WallScheme::Linear | WallScheme::Quadratic);
            return match self.body.filter(|_| grows) {
                Some([body, _]) => most.min(0.01 * body / 0.26),
                None => most,
            };
        }
        // 16 Λ = 3 + 2 ε N².
        let cells = self.passage.filter(|_| !is_curved && !self.is_unsteady);
        let sum = 3.0 + cells.map_or(0.0, |n| 2.0 * STRAIGHT * n * n);
        match collision {
            Collision::Bgk => (sum / 16.0).sqrt(),
            Collision::Cumulant { .. } => sum / 12.0,
            _ => sum / 16.0 * 2.0,
        }
        .max(match collision {
            Collision::Regularized | Collision::Kbc => CURVED,
            _ => 0.0,
        })
    }

    /// The lattice velocity that the speeds and the pressure allow, with its bound.
    fn by_speed(&self) -> (f64, Bound) {
        let reference = self.physics.velocity;
        let mut least = (LATTICE_VELOCITY, Bound::Base);
        let mut bound = |value: f64, what: Bound| {
            // What would need less is refused by its Mach number.
            if value > LOWEST && value < least.0 {
                least = (value, what);
            }
        };
        let fastest = self.fastest_place();
        if fastest > 0.0 {
            bound(FASTEST * reference / fastest, Bound::Speed);
        }
        let expected = self.expected();
        if expected > 0.0 {
            let budget = match (self.drive, self.hydraulic, self.body) {
                (Drive::Inlet, Some(_), None) => (INLET[0] / self.sensitivity().0).min(INLET[1]),
                _ => OTHERS,
            };
            bound(reference * (budget / (3.0 * expected)).sqrt(), Bound::Head);
        }
        if let Some(most) = self.slow_enough() {
            bound(most, Bound::Sound);
        }
        if let Some(of) = self.spheres {
            let share = of.viscosity / MOST_VISCOUS;
            bound(self.physics.lattice_velocity / share, Bound::Spheres);
        }
        if let Some(share) = self.conduction {
            bound(
                0.99 * self.physics.lattice_velocity / share,
                Bound::Conduction,
            );
        }
        least
    }

    /// The largest speed to expect, m/s.
    pub(super) fn fastest_place(&self) -> f64 {
        if let Some(Piloted { fastest, .. }) = self.piloted {
            return fastest;
        }
        let prescribed = self.fastest.max(self.mean);
        let mut fastest = match (&self.body, &self.hydraulic, self.dimensions) {
            (Some(_), ..) => match self.bed {
                // In its pores.
                Some(void) => 3.0 * prescribed / void,
                None => 2.0 * prescribed,
            },
            (_, None, _) => prescribed,
            // A given profile has its largest speed in it.
            (_, _, 2) => prescribed.max(1.5 * self.mean),
            _ => prescribed.max(2.1 * self.mean),
        };
        if self.body.is_some() || self.hydraulic.is_some() {
            fastest = fastest.max(1.5 * self.throat);
        }
        let force = match self.drive {
            Drive::Force => Some(self.pull),
            Drive::Pressure => self.hydraulic.map(|[_, length]| self.head / length),
            _ => None,
        };
        if let (Some(force), Some([diameter, length])) = (force, self.hydraulic) {
            let viscous = force * diameter * diameter / (32.0 * self.physics.viscosity);
            fastest = fastest.max(viscous.min((2.0 * force * length).sqrt()));
        }
        fastest
    }

    /// The relaxation time at walls where it is too large for this collision, with the lattice velocity that is not.
    pub(crate) fn too_viscous(&self) -> Option<[f64; 2]> {
        let (h, most) = (
            self.relaxation(),
            self.most_relaxation(self.collision, self.wall),
        );
        (h > most).then(|| [h, self.physics.lattice_velocity * most / h])
    }

    /// The lattice velocity that the fastest place and the pressure allow, where that of the flow is more than a tenth above it.
    pub(crate) fn too_fast(&self) -> Option<f64> {
        let most = self.by_speed().0;
        (self.physics.lattice_velocity > 1.1 * most).then_some(most)
    }

    /// The numerics for this flow; what is given stays.
    pub(crate) fn choice(&self, given: Given) -> Choice {
        let own = self.limited(given, self.collision, self.wall);
        let is_free = !given.collision && self.drive != Drive::Walls;
        let too_large = self.relaxation_at(own.lattice_velocity)
            > self.most_relaxation(self.collision, self.wall);
        let is_better = own.bound == Bound::Walls || too_large || self.bed.is_some();
        if !(is_free && takes_trt(self) && is_better) {
            return own;
        }
        let wall = if given.wall {
            self.wall
        } else {
            WallScheme::Local
        };
        let other = self.limited(given, TRT, wall);
        // Of the root level, whose odd moments take longest.
        let root = self.relaxation_at(other.lattice_velocity) * self.finest / self.root;
        match 0.5 + 3.0 / 16.0 / root <= MAX_ODD_RELAXATION {
            true => other,
            false => own,
        }
    }

    /// With so many levels more beside walls.
    fn refined(mut self, levels: usize) -> Self {
        let times = 2f64.powi(levels as i32);
        self.finest /= times;
        self.passage = self.passage.map(|n| n * times);
        self.body = self.body.map(|cells| cells.map(|n| n * times));
        self
    }

    /// h of the finest cells beside walls at another lattice velocity.
    fn relaxation_at(&self, lattice_velocity: f64) -> f64 {
        self.relaxation() * lattice_velocity / self.physics.lattice_velocity
    }

    /// The lattice velocity with this collision.
    fn limited(&self, given: Given, collision: Collision, wall: WallScheme) -> Choice {
        let (lattice_velocity, bound) = match given.lattice_velocity {
            true => (self.physics.lattice_velocity, Bound::Base),
            false => self.by_speed(),
        };
        let as_is = Choice {
            lattice_velocity,
            bound,
            collision,
            wall,
        };
        let matters = self.passage.is_some() || self.body.is_some() || self.is_unsteady;
        let h = self.relaxation_at(lattice_velocity);
        let most = self.most_relaxation(collision, wall);
        if given.lattice_velocity || !matters || h <= most {
            return as_is;
        }
        Choice {
            lattice_velocity: lattice_velocity * most / h,
            bound: Bound::Walls,
            ..as_is
        }
    }
}

/// Pressure variations over ρ c² that are accepted: of ducts behind an inlet, over their sensitivity and at most, and elsewhere.
const INLET: [f64; 2] = [0.005, 0.015];
const OTHERS: f64 = 0.01;

/// The case without its bounds of stability: the numerics that they apply to are yet to be chosen.
pub(crate) fn without_bounds(case: &Case) -> Case {
    let mut case = case.clone();
    case.numerics.allow_unstable = Some(true);
    case
}

impl Choice {
    /// A case with these numerics, as chosen by the laws of the flow without them.
    pub(crate) fn given_to(&self, case: &Case, laws: &Laws, has_links: bool) -> Case {
        let given = Given::of(case);
        let mut case = case.clone();
        (case.physics.lattice_velocity, case.physics.mach) = (Some(self.lattice_velocity), None);
        if self.collision != laws.collision && !given.wall && has_links {
            case.numerics.wall = Some(self.wall);
        }
        case.numerics.collision = Some(self.collision);
        case
    }
}

/// The laws of a case before its numerics are chosen.
///
/// # Errors
/// As [`Case::resolve`].
pub(crate) fn first<const D: usize>(
    case: &Case,
    name: &str,
    grid: CaseGrid<'_, D>,
    mesh: &Mesh<D>,
) -> Result<Laws, Error> {
    Ok(Laws::of(&without_bounds(case).resolve(name, grid)?, mesh))
}

/// Resolves a case, with the time step, collision and wall scheme chosen where it gives none. Says so in the notes. The mesh has
/// `missing` levels less than the flow.
///
/// # Errors
/// As [`Case::resolve`].
pub(crate) fn choose<const D: usize>(
    case: &Case,
    name: &str,
    grid: CaseGrid<'_, D>,
    mesh: &Mesh<D>,
    missing: usize,
) -> Result<Resolved<D>, Error> {
    let given = Given::of(case);
    if given.lattice_velocity && given.collision {
        return case.resolve(name, grid);
    }
    let laws = first(case, name, grid, mesh)?.refined(missing);
    let choice = laws.choice(given);
    let (mut case, mut notes) = (case.clone(), Vec::new());
    if !given.lattice_velocity && choice.bound != Bound::Base {
        case.physics.lattice_velocity = Some(choice.lattice_velocity);
        notes.push(format!(
            "lattice velocity {} ({}): {:.1} times the steps of {LATTICE_VELOCITY}",
            two_digits(choice.lattice_velocity),
            choice.bound,
            LATTICE_VELOCITY / choice.lattice_velocity
        ));
    }
    if choice.collision != laws.collision {
        case.numerics.collision = Some(choice.collision);
        let takes_wall = !given.wall && !mesh.links.is_empty();
        if takes_wall {
            case.numerics.wall = Some(choice.wall);
        }
        let h = laws.relaxation_at(choice.lattice_velocity);
        let error = laws.wall_error(laws.collision, laws.wall, h);
        notes.push(format!(
            "collision {}{}: with {} the walls would be wrong by {} at this time step",
            choice.collision,
            if takes_wall {
                " with wall = \"local\""
            } else {
                ""
            },
            laws.collision,
            percent(error)
        ));
    }
    let mut resolved = case.resolve(name, grid)?;
    resolved.notes.extend(notes);
    Ok(resolved)
}
