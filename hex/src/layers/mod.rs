//! Layers of prisms at walls.
//!
//! | step | what happens |
//! |---|---|
//! | merge | faces of a cell on one plane become one |
//! | plan | faces of the patches whose points can leave the wall: a direction that all faces around see, no fold |
//! | move | points of these faces go into the mesh by the thickness of the layers; points around follow, fading over five layers of points, as in [`snap`](crate::snap) |
//! | undo | where a cell beyond the limits, or one of less than a quarter of its volume, would be left, they go less far |
//! | insert | stacks of prisms fill the room between the wall and its moved points; the points of the wall stay |
//! | check | points around prisms beyond the limits go less far; after some tries the faces around them lose their layers. Where faces are less plane than their prisms are thick, there are half as many, thicker layers, and at last none |
//!
//! Where layers end, the stack ends in a step: its side is that of the next cell. Numbers of cells before stay; prisms
//! follow, stack by stack. Order and bits do not depend on the number of threads. Cost: that of snapping, and some
//! passes over the region near the walls for each round of checks.

mod direction;
mod insert;
mod merge;
mod plan;
mod settle;

use crate::snap::{BYTES_PER_CELL, Given, Reach, Region, State, recover};
use crate::{PolyMesh, PolyPatch, QualityLimits};
use cutlink_device::{Backend, DeviceError, Host};
use insert::{Boundary, Edges, Kind, insert};
use plan::Plan;

/// Share of its volume that each cell near a wall keeps.
const LEAST_VOLUME: f64 = 0.25;

/// Limits of `checkMesh`, for what was beyond our own ones before.
const HARD: QualityLimits = QualityLimits {
    non_orthogonality: 70.0,
    skewness: 4.0,
    face_weight: 0.0,
    volume_ratio: 0.0,
    determinant: 0.0,
    twist: -1.0,
};

/// A length: in metres, or as a share of the edge of the cell at the wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LayerLength {
    /// Metres.
    Absolute(f64),
    /// Share of the edge of the cell.
    OfCell(f64),
}

/// What gives the thickness of layers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum LayerThickness {
    /// Height of the layer at the wall.
    First(LayerLength),
    /// Height of the layer farthest from it.
    Final(LayerLength),
    /// Of all layers.
    Total(LayerLength),
}

/// Layers of a patch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LayerRule {
    /// Number of layers, at least 1.
    pub layers: u32,
    /// Height of a layer as a share of the one nearer to the wall.
    pub expansion: f64,
    /// Their thickness.
    pub thickness: LayerThickness,
    /// Angle between the normals of faces around a point, in degrees, from which on they have no layers.
    pub angle: f64,
    /// Share of the thickness below which there are no layers.
    pub least: f64,
}

impl LayerRule {
    /// Heights of the borders between layers as shares of their thickness, from 0; the last one, 1, is left out.
    fn heights(&self) -> Vec<f64> {
        let mut heights = Vec::with_capacity(self.layers as usize);
        let (mut sum, mut step) = (0.0, 1.0);
        for _ in 0..self.layers {
            heights.push(sum);
            sum += step;
            step *= self.expansion;
        }
        heights.iter().map(|height| height / sum).collect()
    }

    /// Thickness of all layers beside a cell whose edge has this length.
    pub fn total(&self, cell: f64) -> f64 {
        let length = |length: LayerLength| match length {
            LayerLength::Absolute(length) => length,
            LayerLength::OfCell(share) => share * cell,
        };
        let powers = (0..self.layers).map(|n| self.expansion.powi(n as i32));
        let sum: f64 = powers.sum();
        match self.thickness {
            LayerThickness::First(first) => length(first) * sum,
            LayerThickness::Final(last) => {
                length(last) * sum / self.expansion.powi(self.layers as i32 - 1)
            }
            LayerThickness::Total(total) => length(total),
        }
    }

    /// Height of the layer at the wall, as a share of all, where there are so many.
    fn first_share(&self, layers: u32) -> f64 {
        insert::upper(&self.heights(), layers).nth(1).unwrap_or(1.0)
    }
}

/// Why a face has no layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dropped {
    /// The surface folds or touches itself there.
    Shape,
    /// Layers end beside it.
    Beside,
    /// Cells would be beyond the limits.
    Quality,
}

/// What a patch got.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LayerCounts {
    /// The patch, by number.
    pub patch: usize,
    /// Faces of the wall, and those with layers.
    pub faces: u64,
    /// Faces with layers.
    pub covered: u64,
    /// Faces without, since the surface folds or touches itself, layers end beside them, or cells would be beyond the limits.
    pub dropped: [u64; 3],
    /// Area of the wall, in m².
    pub area: f64,
    /// Of the part with layers.
    pub covered_area: f64,
    /// Number of layers that were asked for.
    pub layers: u32,
    /// Mean number of layers over all of the wall.
    pub mean_layers: f64,
    /// Mean thickness over the part with layers, in m, and relative to that asked for.
    pub thickness: f64,
    /// Relative to that asked for.
    pub relative: f64,
    /// Smallest and mean height of the layer at the wall over the part with layers, in m.
    pub first: [f64; 2],
    /// Middle of the largest connected part without layers, and its area.
    pub largest_gap: Option<([f64; 3], f64)>,
}

impl LayerCounts {
    /// Share of the wall with layers.
    pub fn coverage(&self) -> f64 {
        match self.area > 0.0 {
            true => self.covered_area / self.area,
            false => 0.0,
        }
    }
}

/// What layers did to a mesh.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Layers {
    /// By patch with a rule and a face.
    pub patches: Vec<LayerCounts>,
    /// The cell under which each new cell lies; new cells follow those before.
    pub parent: Vec<u32>,
    /// Faces of walls that became part of another one of their cell.
    pub merged: u64,
    /// Rounds of checks.
    pub rounds: u64,
}

impl PolyMesh {
    /// Adds layers to walls: by patch a rule, or none. Memory: as [`snap`](Self::snap), and the mesh twice.
    ///
    /// # Errors
    /// Memory that is not there, told before any of it is allocated; the mesh is as before.
    pub fn add_layers(
        &mut self,
        rules: &[Option<LayerRule>],
        limits: &QualityLimits,
    ) -> Result<Layers, DeviceError> {
        let layered = self
            .patches
            .iter()
            .zip(rules)
            .filter(|(_, rule)| rule.is_some());
        let names: Vec<String> = layered.map(|(patch, _)| patch.name.clone()).collect();
        let is_wall = |patch: &PolyPatch| names.contains(&patch.name);
        let around = 6 * (self.cells + self.points.len()) as u64;
        Host.reserve("the search for cells near walls", around)?;
        Host.reserve("the faces of walls", 300 * self.cells as u64)?;
        let merged = merge::merge(self, &is_wall, limits);
        let reach = Reach::new(self, &is_wall);
        let near = 2 * BYTES_PER_CELL * reach.cells();
        Host.reserve("layers near walls", near + 400 * self.cells as u64)?;
        let mut region = Region::new(self, &is_wall, reach);
        let mut plan = Plan::new(self, &region, rules);
        let hold = plan.hold.clone();
        let given = Given {
            moves: plan.moves(),
            hold: &|p, v| hold[p].allow(v),
            pull: 1.0,
            least_volume: LEAST_VOLUME,
            hard: Some(HARD),
        };
        let mut state = State::new(&mut region, &given, limits);
        let all = (0..state.origin.len() as u32).collect();
        state.settle(all);
        recover(&mut state);
        let rounds = settle::settle(&mut state, &mut plan, limits);
        let State {
            region,
            origin,
            share,
            ..
        } = state;
        let patches = settle::count(&plan, region, &origin, &share, rules);
        let columns = plan.columns(&origin, self.points.len(), |p| region.point[p as usize]);
        for (&id, &place) in region.point.iter().zip(&region.mesh.points) {
            self.points[id as usize] = place;
        }
        let internal = self.internal_faces();
        let mut kinds = vec![Kind::Slide; self.faces() - internal];
        for (&face, &kind) in region.rim.iter().zip(&plan.kinds) {
            kinds[face as usize - internal] = kind;
        }
        let edges = Edges::new(self, |p| columns.of[p as usize] != insert::NONE);
        let has_column: Vec<bool> = columns.of.iter().map(|&id| id != insert::NONE).collect();
        let boundary = Boundary {
            has_column: &has_column,
            mesh: self,
            kinds: &kinds,
            edges: &edges,
        };
        let made = insert(boundary, &columns);
        *self = made.mesh;
        Ok(Layers {
            patches,
            parent: made.parent,
            merged,
            rounds,
        })
    }
}
