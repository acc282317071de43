//! Where the rules of a mesh want cells of some level: near walls, and in regions.

use cutlink_common::Error;
use cutlink_mesher::{nearest::NearestTree, snap::Snapped};
use cutlink_voxelizer::refine::{RegionPlace, cell_places};
use cutlink_voxelizer::{EmbedParams, Frame, Mesh, Reach, Spots, WallRule};
use std::sync::Arc;

/// What rules want.
#[derive(Debug, Default)]
pub(super) struct Wanted {
    walls: Vec<NearWalls>,
    /// By level.
    places: Vec<Vec<RegionPlace<3>>>,
    spots: Arc<Spots>,
}

/// Cells near some patches.
#[derive(Debug)]
struct NearWalls {
    /// Levels there, the root level included.
    levels: usize,
    distance: f64,
    facets: NearestTree<3>,
    /// Where the facets are, beside themselves, since the box is periodic.
    shifts: Vec<[f64; 3]>,
}

impl Wanted {
    /// The rules of some parameters: cells within the distance of a wall's rule, by their centres, and those that a region
    /// meets; a cylinder meets the ball around a cell. [`Reach::Near`] is a distance here, the same for all levels.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(super) fn new(
        surface: &Snapped<3>,
        frame: &Frame<3>,
        params: &EmbedParams,
    ) -> Result<Self, Error> {
        let mut walls = Vec::new();
        for rule in params.wall_rules() {
            let (Reach::Near(distance) | Reach::Within(distance)) = rule.reach;
            if distance > 0.0 && rule.levels > 1 {
                walls.push(NearWalls::new(surface, frame, params, &rule, distance)?);
            }
        }
        let places = |level| cell_places(params, frame, level);
        Ok(Self {
            walls,
            places: (0..params.levels).map(places).collect(),
            spots: params.spots.clone(),
        })
    }

    /// The cells of a block that rules want finer than its level.
    pub(super) fn cells(&self, mesh: &Mesh<3>, level: usize, block: u32) -> u64 {
        let coord = mesh.forest.coord[block as usize].map(|c| 4 * c);
        let mut found = 0;
        for walls in self.walls.iter().filter(|walls| level + 1 < walls.levels) {
            walls.mark(&Cube::of_block(&mesh.frame, level, coord), &mut found);
        }
        let places = self.places.get(level).map_or(&[][..], Vec::as_slice);
        if places.is_empty() && self.spots.is_empty() {
            return found;
        }
        for cell in 0..64 {
            let at = cutlink_amr::dims::unravel::<3>(cell, 4);
            let at = std::array::from_fn(|a| coord[a] + at[a]);
            let is_wanted = places.iter().any(|place| place.wants(at));
            found |= u64::from(is_wanted || self.spots.holds(level, at)) << cell;
        }
        found
    }
}

/// Some cells of a block: 4^3, 2^3 or 1.
#[derive(Debug, Clone, Copy)]
struct Cube {
    /// Cells along an edge.
    edge: usize,
    /// Its lowest cell in the block.
    low: [usize; 3],
    /// Centre of the block's lowest cell, and spacing of cells.
    origin: [f64; 3],
    dx: f64,
}

impl Cube {
    fn of_block(frame: &Frame<3>, level: usize, low: [i32; 3]) -> Self {
        let dx = frame.dx_at(level);
        let at = |a: usize| frame.origin[a] + dx * (f64::from(low[a]) + 0.5);
        Self {
            edge: 4,
            low: [0; 3],
            origin: std::array::from_fn(at),
            dx,
        }
    }

    /// The centre, and the distance of the farthest centre of a cell from it.
    fn ball(&self) -> ([f64; 3], f64) {
        let half = 0.5 * (self.edge - 1) as f64;
        let center = |a: usize| self.origin[a] + self.dx * (self.low[a] as f64 + half);
        (std::array::from_fn(center), 3f64.sqrt() * half * self.dx)
    }

    fn mask(&self) -> u64 {
        let n = self.edge;
        let each = (0..n * n * n).map(|i| [i % n, i / n % n, i / (n * n)]);
        each.fold(0, |mask, at| {
            let [x, y, z] = std::array::from_fn(|a| self.low[a] + at[a]);
            mask | 1 << (x + 4 * y + 16 * z)
        })
    }

    fn octant(&self, i: usize) -> Self {
        let edge = self.edge / 2;
        let low = |a: usize| self.low[a] + edge * (i >> a & 1);
        Self {
            edge,
            low: std::array::from_fn(low),
            ..*self
        }
    }
}

impl NearWalls {
    fn new(
        surface: &Snapped<3>,
        frame: &Frame<3>,
        params: &EmbedParams,
        rule: &WallRule,
        distance: f64,
    ) -> Result<Self, Error> {
        let walls = surface.facets.len() - surface.caps;
        let bytes = (NearestTree::<3>::BYTES + size_of::<u32>() as u64) * walls as u64;
        super::reserve("distances from walls", bytes)?;
        let patch = |facet: usize| surface.facet_patch.get(facet).copied().unwrap_or(0);
        let is_named = |facet: &u32| {
            let named = rule.patches.as_ref();
            named.is_none_or(|named| named.contains(&patch(*facet as usize)))
        };
        let lattice = &surface.lattice;
        let at = |vertex: u32| {
            let at = surface.vertices[vertex as usize];
            let place = |a: usize| lattice.origin[a] + lattice.unit * f64::from(at[a]);
            std::array::from_fn::<f64, 3, _>(place)
        };
        let corners = |facet: usize| surface.facets[facet].map(at);
        let named: Vec<u32> = (0..walls as u32).filter(is_named).collect();
        let facets = NearestTree::new(named.iter().map(|&facet| corners(facet as usize)))?;
        let upper = frame.upper();
        let mut shifts = vec![[0.0; 3]];
        for axis in (0..3).filter(|&axis| params.periodic[axis]) {
            let extent = upper[axis] - frame.origin[axis];
            let moved = shifts.iter().flat_map(|shift| {
                [0.0, extent, -extent].map(|by| {
                    let mut shift: [f64; 3] = *shift;
                    shift[axis] += by;
                    shift
                })
            });
            shifts = moved.collect();
        }
        Ok(Self {
            levels: rule.levels,
            distance,
            facets,
            shifts,
        })
    }

    /// The distance of a point from the walls, if it is at most `within`.
    fn distance(&self, at: [f64; 3], within: f64) -> Option<f64> {
        let one = |shift: &[f64; 3]| {
            let at = std::array::from_fn(|a| at[a] + shift[a]);
            Some(self.facets.nearest(at, within)?.distance)
        };
        self.shifts.iter().filter_map(one).min_by(f64::total_cmp)
    }

    /// Adds the cells of a cube whose centres are within the distance: all, none, or by its octants.
    fn mark(&self, cube: &Cube, found: &mut u64) {
        let (center, radius) = cube.ball();
        match self.distance(center, self.distance + radius) {
            None => {}
            Some(distance) if distance + radius <= self.distance => *found |= cube.mask(),
            Some(_) if cube.edge > 1 => (0..8).for_each(|i| self.mark(&cube.octant(i), found)),
            Some(_) => {}
        }
    }
}
