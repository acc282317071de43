//! The arrays of a bed.

use crate::kernels::APART;
use crate::vec3::Vec3;
use crate::walls::WallBlock;

/// Arrays over grains, in Morton order of their cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct GrainArrays {
    /// Centres, in m.
    pub(crate) x: Vec<Vec3>,
    /// Velocities, in m/s.
    pub(crate) v: Vec<Vec3>,
    /// Angular velocities, in rad/s.
    pub(crate) w: Vec<Vec3>,
    /// Forces, in N, without weight.
    pub(crate) f: Vec<Vec3>,
    /// Torques, in N m.
    pub(crate) t: Vec<Vec3>,
    /// Radii, in m.
    pub(crate) r: Vec<f64>,
    /// Masses, in kg.
    pub(crate) m: Vec<f64>,
    /// Materials.
    pub(crate) material: Vec<u8>,
    /// Numbers in the order in which the grains were given.
    pub(crate) id: Vec<u32>,
    /// Centres when candidates were made.
    pub(crate) x_sorted: Vec<Vec3>,
    /// Forces and torques from outside, in N and N m; empty where there are none.
    pub(crate) load: Vec<[Vec3; 2]>,
}

/// Candidate pairs, by the lower grain.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct PairArrays {
    /// First pair of each grain, and the number of pairs.
    pub(crate) first: Vec<u32>,
    /// The higher grain of each pair, ascending in a row.
    pub(crate) other: Vec<u32>,
    /// Tangential displacements; zero for pairs that do not touch.
    pub(crate) slide: Vec<[f32; 3]>,
    /// Rolling angles; empty without rolling friction.
    pub(crate) roll: Vec<[f32; 3]>,
    /// Place of each pair among those that touch, or [`APART`].
    pub(crate) place: Vec<u32>,
    /// First entry of each grain in `back`.
    pub(crate) back_first: Vec<u32>,
    /// Pairs by their higher grain, ascending.
    pub(crate) back: Vec<u32>,
}

/// What a touching pair exerts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PairForce {
    /// Force on the lower grain.
    pub(crate) force: Vec3,
    /// Torque on the lower grain.
    pub(crate) torque: Vec3,
    /// Torque on the higher grain.
    pub(crate) back_torque: Vec3,
}

/// Forces of the touching pairs. Those of a block of grains begin at the first pair of the block, so that blocks need no
/// common count; there is room for all candidates.
#[derive(Debug, Clone, Default)]
pub(crate) struct TouchArrays {
    /// By place.
    pub(crate) force: Vec<PairForce>,
    /// First place of each grain.
    pub(crate) first: Vec<u32>,
    /// Touching pairs of each grain.
    pub(crate) count: Vec<u32>,
}

/// What a bed has besides its grains.
#[derive(Debug, Clone, Default)]
pub(crate) struct Contacts {
    pub(crate) pairs: PairArrays,
    pub(crate) touch: TouchArrays,
    /// First wall candidate of each grain, and their number.
    pub(crate) wall_first: Vec<u32>,
    /// Faces of the box (0 to 5), then facets + 6; ascending in a row.
    pub(crate) wall: Vec<u32>,
    /// Contacts with walls, by block.
    pub(crate) walls: Vec<WallBlock>,
}

impl PairArrays {
    /// Pairs that touch.
    pub(crate) fn touching(&self) -> usize {
        self.place.iter().filter(|p| **p != APART).count()
    }
}
