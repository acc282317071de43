//! Snapping: points of walls move onto a surface, points near them follow, and where a cell would become bad they move
//! less, or stay.
//!
//! | step | what happens |
//! |---|---|
//! | region | the cells up to five layers of points from a wall; all other points stay |
//! | target | points of walls are evened out along the wall (mean of the face centres around them) and projected, in turns |
//! | edges | of two neighbours on either side of a sharp edge of the surface, the nearer one goes onto it; the nearest point of a corner goes there |
//! | follow | displacements of the other points are the mean of those around them (Jacobi) |
//! | undo | points of faces and cells beyond the limits move less far, round by round, and after some rounds not at all |
//! | recover | points that moved back go further again where the limits allow it |
//!
//! The mesh before is assumed to keep the limits; what is beyond them there stays so, and is counted. Topology stays as
//! it is. Order and bits do not depend on the number of threads. Cost: linear in the faces of the walls, but for
//! five passes over all faces.

mod near;
mod patches;
mod recover;
mod region;
mod relax;
mod sides;
mod split;
mod walls;

use crate::{PolyMesh, PolyPatch, QualityLimits};
use cutlink_device::{Backend, DeviceError, Host};
pub(crate) use near::Near;
pub(crate) use recover::recover;
pub(crate) use region::{Reach, Region};
pub(crate) use relax::{Given, State};

/// Layers of points from the walls that move.
pub(crate) const REACH: u8 = 5;

/// Bytes that a cell of the region takes at most: its faces, points, lists of neighbours, and geometry.
pub(crate) const BYTES_PER_CELL: u64 = 800;

/// The nearest point of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetPoint {
    /// The point.
    pub point: [f64; 3],
    /// Unit normal of the facet, either way.
    pub normal: [f64; 3],
    /// Side of the surface: sides meet at sharp edges only.
    pub side: u32,
}

/// The nearest point of the sharp edges of a surface.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TargetEdge {
    /// The point.
    pub point: [f64; 3],
}

/// A surface to snap to. Answers must not depend on earlier ones.
pub trait SnapTarget: Sync {
    /// The nearest point, if there is one within a distance.
    fn nearest(&self, at: [f64; 3], within: f64) -> Option<TargetPoint>;
    /// The nearest point of a side.
    fn nearest_on(&self, side: u32, at: [f64; 3], within: f64) -> Option<TargetPoint>;
    /// The nearest point of the sharp edges: of all, or of those that have some of these sides on both sides. An edge that ends
    /// within a side has that side on both.
    fn nearest_edge(
        &self,
        at: [f64; 3],
        within: f64,
        between: Option<&[u32]>,
    ) -> Option<TargetEdge>;
    /// Number and place of the nearest corner: where sharp edges meet, or turn.
    fn nearest_corner(&self, at: [f64; 3], within: f64) -> Option<(u32, [f64; 3])>;
    /// The patch of the mesh that faces on a side are of, by number, if they change theirs.
    fn patch(&self, _side: u32) -> Option<u32> {
        None
    }
}

/// What snapping did.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct SnapCounts {
    /// Points of walls.
    pub points: u64,
    /// Of these, points on the surface.
    pub snapped: u64,
    /// Of these, points on sharp edges and corners.
    pub on_edges: u64,
    /// Points of walls that moved only a part of the way, or stayed, so that cells keep the limits.
    pub held_back: u64,
    /// Points of walls too far from the surface.
    pub out_of_reach: u64,
    /// Faces and cells beyond the limits, which were so before.
    pub beyond_limits: u64,
    /// Points that were added where walls touched themselves.
    pub split_points: u64,
    /// Faces of walls that are of another patch than before, since they lie on it.
    pub moved_faces: u64,
    /// Rounds of moving back.
    pub rounds: u64,
    /// Mean and largest distance of the points of walls within reach from the surface, in units of their shortest edge
    /// before.
    pub distance: [f64; 2],
}

impl PolyMesh {
    /// Moves the points of walls onto a surface; see [`snap`](crate::snap). Memory: up to 800 bytes for each cell near a
    /// wall, and 6 bytes for each other cell and point.
    ///
    /// # Errors
    /// Memory that is not there, told before any of it is allocated; the mesh is as before.
    pub fn snap(
        &mut self,
        target: &impl SnapTarget,
        is_wall: impl Fn(&PolyPatch) -> bool,
        limits: &QualityLimits,
    ) -> Result<SnapCounts, DeviceError> {
        let around = 6 * (self.cells + self.points.len()) as u64;
        Host.reserve("the search for cells near walls", around)?;
        let reach = Reach::new(self, &is_wall);
        Host.reserve("cells near walls", BYTES_PER_CELL * reach.cells())?;
        let split = split::split_points(self, &is_wall);
        let reach = if split == 0 {
            reach
        } else {
            Reach::new(self, &is_wall)
        };
        let mut region = Region::new(self, &is_wall, reach);
        let (aims, side) = walls::aims(&region, target);
        let mut counts = aims.counts();
        counts.split_points = split;
        relax::relax(&mut region, &aims, limits, &mut counts);
        walls::measure(&region, &aims, target, &mut counts);
        for (&id, &place) in region.point.iter().zip(&region.mesh.points) {
            self.points[id as usize] = place;
        }
        let first = region.mesh.internal_faces();
        let ends = |patch: &PolyPatch| patch.start + patch.faces;
        let moved = region.walls.iter().zip(&side).filter_map(|(&wall, &side)| {
            let to = (side != sides::NONE).then(|| target.patch(side))??;
            let face = region.rim[wall as usize - first];
            let from = self.patches.partition_point(|p| ends(p) <= face as usize);
            (from != to as usize).then_some((face, to))
        });
        let moved: Vec<(u32, u32)> = moved.collect();
        counts.moved_faces = moved.len() as u64;
        patches::move_faces(self, &moved);
        Ok(counts)
    }
}
