//! What to refine on each level, so that no level's marks ever need blocks on a coarser one.
//!
//! On a level, blocks are *wanted* that lie within some layers of a source (a block that the
//! surface meets) or meet a region grown by some margin. Refined are the wanted blocks that
//! are not inside the body, and [`SOLID_LAYERS`] layers of inside ones around them.
//!
//! Balance (2:1 over faces, edges and corners) needs: if block b of level ℓ+1 is refined, the
//! parents of its neighbours are. Let b be within s = 2 layers of a wanted block f, so a
//! neighbour n of b within s + 1 of f, all in blocks of level ℓ+1.
//! - *Walls*, k layers: n is within k + s + 1 steps of a source, its parent within
//!   ⌈(k + s + 1) / 2⌉ steps of the source's parent, itself a source. So
//!   k_ℓ ≥ ⌈(k_{ℓ+1} + 3) / 2⌉ suffices; the same k on all levels is enough from 3 on, and from
//!   2 on where inside and outside blocks never touch without a source between them (J26
//!   eq. 3 gives at least 2).
//! - *Regions*: on each axis the parent's centre is at most 3½ edges from that of f. A margin
//!   m_ℓ = 3 (e_{ℓ+1} + e_{ℓ+2} + …) over the levels still to be refined suffices, the
//!   sum being below 3 e_ℓ.
//! - *Spots*, single cells: see `spots.rs`.

#[cfg(feature = "cuda")]
use crate::constants::region;
use crate::{EmbedParams, Frame, Reach, RegionShape, VoxelError, WallRule, fluid_layers};

/// Layers of blocks refined into the body around its surface (J26 §3.4.3).
pub const SOLID_LAYERS: u32 = 2;

/// What to refine on one level.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelMarks<const D: usize> {
    /// Around walls.
    pub walls: Vec<Walls>,
    /// In regions.
    pub places: Vec<RegionPlace<D>>,
    /// Blocks that [`Spots`](crate::Spots) want, as ascending keys.
    pub spots: Vec<u64>,
}

impl<const D: usize> LevelMarks<D> {
    /// Layers around a patch, the most of all rules; `None` where none refines it here.
    pub fn layers(&self, patch: usize) -> Option<u32> {
        let names = |walls: &&Walls| {
            let named = walls.patches.as_ref();
            named.is_none_or(|named| named.get(patch) == Some(&true))
        };
        self.walls.iter().filter(names).map(|w| w.layers).max()
    }
}

impl<const D: usize> LevelMarks<D> {
    /// Whether every block that one of so many patches meets is refined.
    pub fn refines_all(&self, patches: usize) -> bool {
        (0..patches).all(|patch| self.layers(patch).is_some())
    }
}

/// Layers around the blocks that some patches meet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walls {
    /// Whether each patch is one of them; `None` for all.
    pub patches: Option<Vec<bool>>,
    /// Layers beyond the block itself.
    pub layers: u32,
}

/// A region on a level, in units of its blocks' edge from the box's lower corner.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RegionPlace<const D: usize> {
    shape: Shape<D>,
    /// Half a block's edge and the margin for balance.
    reach: f64,
}

/// A region's shape as kernels have it.
#[cfg(feature = "cuda")]
#[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub(crate) struct PlaceNumbers {
    kind: u64,
    a: [f64; 3],
    b: [f64; 3],
}

#[cfg(feature = "cuda")]
const _: () = assert!(
    size_of::<PlaceNumbers>() == region::BYTES,
    "as `mark.cu` has it"
);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Shape<const D: usize> {
    Box {
        lower: [f64; D],
        upper: [f64; D],
    },
    Ball {
        center: [f64; D],
        radius: f64,
    },
    Cylinder {
        from: [f64; D],
        axis: [f64; D],
        length: f64,
        radius: f64,
    },
}

impl<const D: usize> RegionPlace<D> {
    /// Whether the block of these coordinates is wanted: for boxes and balls, whether the
    /// block grown by the margin meets the region; for cylinders, whether that block's
    /// circumscribed ball does.
    pub fn wants(&self, coord: [i32; D]) -> bool {
        let center = coord.map(|c| f64::from(c) + 0.5);
        match self.shape {
            Shape::Box { lower, upper } => (0..D)
                .all(|a| center[a] + self.reach >= lower[a] && center[a] - self.reach <= upper[a]),
            Shape::Ball {
                center: middle,
                radius,
            } => {
                let square = (0..D).fold(0.0, |sum, a| {
                    let away = ((center[a] - middle[a]).abs() - self.reach).max(0.0);
                    sum + away * away
                });
                square <= radius * radius
            }
            Shape::Cylinder {
                from,
                axis,
                length,
                radius,
            } => {
                let arm: [f64; D] = std::array::from_fn(|a| center[a] - from[a]);
                let along = (0..D).fold(0.0, |sum, a| sum + arm[a] * axis[a]);
                let square = (0..D).fold(0.0, |sum, a| {
                    let off = arm[a] - along * axis[a];
                    sum + off * off
                });
                let out = (square.sqrt() - radius).max(0.0);
                let beyond = (-along).max(along - length).max(0.0);
                let reach = self.reach * (D as f64).sqrt();
                out * out + beyond * beyond <= reach * reach
            }
        }
    }

    /// The place and its images beyond the periodic faces of a box of so many blocks: a region that reaches
    /// beyond a face goes on at the other one.
    fn images(self, blocks: [f64; D], periodic: [bool; D]) -> Vec<Self> {
        let mut all = vec![self];
        for a in (0..D).filter(|&a| periodic[a]) {
            let shifts = [0.0, -blocks[a], blocks[a]];
            let along = |by: &f64| {
                all.iter()
                    .map(|place| place.shifted(a, *by))
                    .collect::<Vec<_>>()
            };
            all = shifts.iter().flat_map(along).collect();
        }
        all
    }

    fn shifted(mut self, axis: usize, by: f64) -> Self {
        match &mut self.shape {
            Shape::Box { lower, upper } => {
                lower[axis] += by;
                upper[axis] += by;
            }
            Shape::Ball { center, .. } => center[axis] += by,
            Shape::Cylinder { from, .. } => from[axis] += by,
        }
        self
    }

    /// The same as numbers, for kernels: the shape's kind and two
    /// points, or a point and a vector; then length, radius and reach.
    #[cfg(feature = "cuda")]
    pub(crate) fn numbers(&self) -> (PlaceNumbers, [f64; 3]) {
        let wide = |p: [f64; D]| std::array::from_fn(|a| p.get(a).copied().unwrap_or(0.0));
        let (kind, a, b, length, radius) = match self.shape {
            Shape::Box { lower, upper } => (region::BOX, wide(lower), wide(upper), 0.0, 0.0),
            Shape::Ball { center, radius } => (region::BALL, wide(center), [0.0; 3], 0.0, radius),
            Shape::Cylinder {
                from,
                axis,
                length,
                radius,
            } => (region::CYLINDER, wide(from), wide(axis), length, radius),
        };
        (
            PlaceNumbers {
                kind: u64::from(kind),
                a,
                b,
            },
            [length, radius, self.reach],
        )
    }

    /// A region in units of `edge`, which half a block's edge and `margin` reach.
    fn new(shape: RegionShape, frame: &Frame<D>, edge: f64, margin: f64) -> Self {
        let at = |p: [f64; 3]| std::array::from_fn(|a| (p[a] - frame.origin[a]) / edge);
        Self {
            shape: match shape {
                RegionShape::Box { lower, upper } => Shape::Box {
                    lower: at(lower),
                    upper: at(upper),
                },
                RegionShape::Ball { center, radius } => Shape::Ball {
                    center: at(center),
                    radius: radius / edge,
                },
                RegionShape::Cylinder { from, to, radius } => {
                    let (from, to): ([f64; D], [f64; D]) = (at(from), at(to));
                    let arm: [f64; D] = std::array::from_fn(|a| to[a] - from[a]);
                    let length = arm.iter().fold(0.0, |sum, x| sum + x * x).sqrt();
                    Shape::Cylinder {
                        from,
                        axis: arm.map(|x| if length > 0.0 { x / length } else { 0.0 }),
                        length,
                        radius: radius / edge,
                    }
                }
            },
            reach: 0.5 + margin,
        }
    }
}

/// How far a cell has to reach into a region to meet it, as a share of its edge: a region whose faces are those of cells
/// does not meet the cells beyond.
const INTO_CELL: f64 = 1e-6;

/// The regions that want finer cells than those of a level, in units of its cells: [`RegionPlace::wants`] takes the
/// coordinates of a cell, and tells whether the cell meets the region; of cylinders, whether the ball around the cell does.
/// There is no margin for balance.
pub fn cell_places<const D: usize>(
    params: &EmbedParams,
    frame: &Frame<D>,
    level: usize,
) -> Vec<RegionPlace<D>> {
    let finer = params.regions.iter().filter(|r| level + 1 < r.levels);
    let places = finer.flat_map(|region| {
        let place = RegionPlace::new(region.shape, frame, frame.dx_at(level), -INTO_CELL);
        let cells = frame.root_cells.map(|n| f64::from(n << level));
        place.images(cells, params.periodic_axes())
    });
    places.collect()
}

/// What to refine on levels 0 to `params.levels - 2`. `gaps` says that inside and outside
/// blocks may touch where there is no surface.
pub fn plan<const D: usize>(
    params: &EmbedParams,
    frame: &Frame<D>,
    patches: usize,
    gaps: bool,
) -> Result<Vec<LevelMarks<D>>, VoxelError> {
    params.validate()?;
    let rules = params.wall_rules();
    let apart = gaps || params.is_graded(patches);
    let layers: Vec<Vec<u32>> = rules
        .iter()
        .map(|rule| layers(rule, frame, if apart { 3 } else { 2 }))
        .collect();
    let periodic = params.periodic_axes();
    let spots = params.spots.blocks(frame, periodic, params.levels);
    let marks = |(level, spots): (usize, Vec<u64>)| LevelMarks {
        walls: rules
            .iter()
            .zip(&layers)
            .filter(|(rule, _)| level + 1 < rule.levels)
            .map(|(rule, layers)| Walls {
                patches: rule.patches.as_ref().map(|of| {
                    let is_named = |patch| of.contains(&patch);
                    (0..patches as u16).map(is_named).collect()
                }),
                layers: layers[level],
            })
            .collect(),
        places: params
            .regions
            .iter()
            .filter(|region| level + 1 < region.levels)
            .flat_map(|region| {
                let finer =
                    (level + 2..region.levels).map(|finer| 0.5f64.powi((finer - level - 1) as i32));
                let margin = 3.0 * finer.sum::<f64>();
                let edge = 4.0 * frame.dx_at(level);
                let place = RegionPlace::new(region.shape, frame, edge, margin);
                let blocks = frame.root_blocks().map(|n| f64::from(n << level));
                place.images(blocks, periodic)
            })
            .collect(),
        spots,
    };
    Ok(spots.into_iter().enumerate().map(marks).collect())
}

/// Layers on each level that a rule refines.
fn layers<const D: usize>(rule: &WallRule, frame: &Frame<D>, least: u32) -> Vec<u32> {
    let levels = rule.levels - 1;
    match rule.reach {
        Reach::Near(distance) => vec![fluid_layers(distance, frame.dx).max(least); levels],
        Reach::Within(distance) => {
            let mut layers = vec![0u32; levels];
            let mut finer = 0u32;
            for level in (0..levels).rev() {
                let edges = (distance / (4.0 * frame.dx_at(level))).ceil().min(1e6) as u32;
                let balance = if level + 1 < levels {
                    (finer + SOLID_LAYERS + 1).div_ceil(2)
                } else {
                    1
                };
                finer = edges.max(balance);
                layers[level] = finer;
            }
            layers
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Fill, Region};

    #[test]
    fn walls_within_a_distance_have_layers_that_halve_and_balance() {
        let frame = Frame::<3>::new([0.0; 3], 0.25, [16; 3]).expect("a box");
        let rule = WallRule {
            patches: None,
            levels: 4,
            reach: Reach::Within(1.1),
        };
        // Edges 1, 1/2, 1/4: 2, 3 and 5 layers reach 1.1; (5 + 3) / 2 = 4, (4 + 3) / 2 = 3.5.
        assert_eq!(layers(&rule, &frame, 2), [4, 4, 5]);
    }

    #[test]
    fn regions_want_the_blocks_that_they_meet() {
        let frame = Frame::<3>::new([-1.0; 3], 0.25, [16; 3]).expect("a box");
        let shapes = [
            RegionShape::Box {
                lower: [0.1; 3],
                upper: [0.9; 3],
            },
            RegionShape::Ball {
                center: [0.5; 3],
                radius: 0.45,
            },
            RegionShape::Cylinder {
                from: [0.5, 0.5, 0.4],
                to: [0.5, 0.5, 0.6],
                radius: 0.1,
            },
        ];
        for shape in shapes {
            let wanted = |levels: usize| {
                let region = Region { shape, levels };
                let params = EmbedParams {
                    regions: vec![region],
                    ..EmbedParams::new(levels, 0.0, Fill::NonZero)
                };
                let plan = plan(&params, &frame, 1, false).expect("a plan");
                let place = plan[0].places[0];
                let mut blocks = Vec::new();
                for i in 0..64 {
                    let coord = [i % 4, i / 4 % 4, i / 16];
                    if place.wants(coord) {
                        blocks.push(coord);
                    }
                }
                blocks
            };
            assert_eq!(wanted(2), [[1; 3]], "{shape:?}: its own block");
            assert_eq!(wanted(3).len(), 64, "{shape:?}: a margin of 1.5");
        }
    }
}
