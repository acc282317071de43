//! Bodies that move through a flow: what they are, how they move, and what they do to the tables of the finest level.
//!
//! | quantity | unit |
//! |---|---|
//! | places, [`BodyState::pose`] | root cells from the lower corner of the box |
//! | times | root steps |
//! | velocities, angular velocities | root cells, radians a root step |
//! | masses, moments, forces | of the root lattice, where the fluid has density 1; in 2D a unit of depth |
//!
//! After each `rebin` steps of the finest level the bodies are embedded anew at their poses ([`MovingSurface`]), and the tables of
//! that level follow; slots stay where they are, for all of them are special. Cells that a body has uncovered are refilled
//! ([`PopulationKernels::refill`](crate::kernels::PopulationKernels::refill)). Other levels have no link of a body, which is checked.
//!
//! Blocks change between root steps alone, and only where the mesh follows a body that has used up its margin ([`FOLLOWED_PATH`]): the new
//! ones are those of embedding it from scratch, and depend on the poses at that time alone.

mod blocks;
mod checks;
mod embedded;
mod free;
mod movement;
mod saved;

pub(crate) use blocks::look;
pub(crate) use embedded::Embedded;
pub use free::{FreeMotion, LIGHTEST_BODY};
pub(crate) use movement::{Again, Followed, Movement};

use crate::SolverError;
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{EmbedParams, MovingSurface};
use std::{fmt, sync::Arc};

/// The largest speed of a body's surface, on the lattice of any level: a Mach number of 0.26, where errors of compressibility,
/// which grow as its square, are some 7 %.
pub const MAX_BODY_SPEED: f64 = 0.15;

/// Most cells of the finest level that a body may move between two embeddings: a cell that it uncovers has to be beside fluid.
pub const MAX_BODY_PATH: f64 = 0.5;

/// Cells of the finest level that a body moves, the next root step included, before the mesh follows it. Two blocks are refined around
/// those that a surface meets (J26 eq. 3): after less than one block no link of the body is in the outer one, which exchanges
/// with the coarser level.
pub const FOLLOWED_PATH: f64 = 3.0;

/// Where a body is and how it moves; see the module for the units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyState<const D: usize> {
    /// The place of the body's frame.
    pub pose: Pose<D>,
    /// Velocity of the origin of the body's frame.
    pub velocity: [f64; D],
    /// Angular velocity; in 2D the last component.
    pub spin: [f64; 3],
}

impl<const D: usize> BodyState<D> {
    /// The velocity of the body at a place.
    pub fn velocity_at(&self, at: [f64; D]) -> [f64; D] {
        let arm = |a: usize| match a < D {
            true => at[a] - self.pose.center[a],
            false => 0.0,
        };
        std::array::from_fn(|a| {
            let (b, c) = ((a + 1) % 3, (a + 2) % 3);
            self.velocity[a] + self.spin[b] * arm(c) - self.spin[c] * arm(b)
        })
    }
}

/// A path as a function of the time: place, velocity and angular velocity, or why there is none.
pub type BodyPath<const D: usize> = Arc<dyn Fn(f64) -> Result<BodyState<D>, String> + Send + Sync>;

/// How a body moves.
#[derive(Clone)]
pub enum BodyMotion<const D: usize> {
    /// Along a path.
    Prescribed(BodyPath<D>),
    /// By the forces of the fluid and others.
    Free(Box<FreeMotion<D>>),
}

impl<const D: usize> fmt::Debug for BodyMotion<D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prescribed(_) => f.write_str("Prescribed"),
            Self::Free(free) => write!(f, "{free:?}"),
        }
    }
}

/// The bodies of a flow that move.
#[derive(Debug, Clone)]
pub struct RigidBodies<const D: usize> {
    /// The surface, in lengths of the mesh, with the patches of each body.
    pub surface: MovingSurface<D>,
    /// How each of these bodies moves.
    pub motions: Vec<BodyMotion<D>>,
    /// By body the poses whose blocks the mesh has all the time, in root cells, none where regions hold the body; or nothing for a
    /// body that the mesh follows.
    pub paths: Vec<Option<Vec<Pose<D>>>>,
    /// How the surface is embedded and refined, as the mesh was.
    pub embedding: EmbedParams,
    /// Steps of the finest level from one embedding to the next, at least 1. In between walls have the velocity of their body and
    /// stay in their place, which makes the force noisy: 1 wherever it counts.
    pub rebin: u32,
}

/// Where the bodies were at a root step.
#[derive(Debug, Clone, PartialEq)]
pub struct MotionSample<const D: usize> {
    /// Root steps done.
    pub step: u64,
    /// By body.
    pub bodies: Vec<BodyState<D>>,
    /// By body: force x, y, z and torque x, y, z about the origin of the body's frame, of the fluid on the body. Means over the steps
    /// of the finest level in the root step.
    pub forces: Vec<[f64; 6]>,
}

/// Why bodies do not move on several ranks.
pub(crate) fn on_ranks() -> SolverError {
    refuse(
        "all",
        "bodies that move run on one rank alone: leave the number of ranks or GPUs at 1",
    )
}

/// An error of a body.
fn refuse(body: &str, reason: impl Into<String>) -> SolverError {
    SolverError::Body {
        body: body.into(),
        reason: reason.into(),
    }
}
