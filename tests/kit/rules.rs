//! Random rules for refining at walls and in regions, for proptest.

use crate::chains::Case;
use cutlink_voxelizer::{EmbedParams, Reach, Region, RegionShape, Spots, WallRule};
use proptest::prelude::*;
use std::sync::Arc;

/// Rules in fractions of a mesh's box: levels, distances, places.
#[derive(Debug, Clone)]
pub struct Rules {
    walls: Vec<(u8, usize, bool, f64)>,
    regions: Vec<(u8, [f64; 3], [f64; 3], usize)>,
    spots: Vec<(usize, [f64; 3])>,
}

/// Up to three rules for walls, two regions, and seven spots.
pub fn rules() -> impl Strategy<Value = Rules> {
    let wall = (0..4u8, 1..6usize, any::<bool>(), 0.0..0.6f64);
    let unit = || prop::array::uniform3(0.0..1.0f64);
    let region = (0..3u8, unit(), unit(), 1..6usize);
    (
        prop::collection::vec(wall, 0..4),
        prop::collection::vec(region, 0..3),
        prop::collection::vec((0..5usize, unit()), 0..8),
    )
        .prop_map(|(walls, regions, spots)| Rules {
            walls,
            regions,
            spots,
        })
}

impl Rules {
    /// The parameters of a case with these rules.
    pub fn params<const D: usize>(&self, case: &Case<D>) -> EmbedParams {
        let levels = case.params.levels;
        let size = f64::from(case.frame.root_cells[0]) * case.frame.dx;
        let patches = case.surface.patches.len() as u8;
        let wall = |&(patch, at, near, share): &(u8, usize, bool, f64)| WallRule {
            patches: (patch < 3).then(|| vec![u16::from(patch % patches)]),
            levels: at.min(levels),
            reach: if near {
                Reach::Near(share * size)
            } else {
                Reach::Within(0.3 * share * size)
            },
        };
        let region = |&(kind, p, q, at): &(u8, [f64; 3], [f64; 3], usize)| Region {
            shape: match kind {
                0 => RegionShape::Box {
                    lower: std::array::from_fn(|a| p[a].min(q[a]) * size),
                    upper: std::array::from_fn(|a| p[a].max(q[a]) * size),
                },
                1 => RegionShape::Ball {
                    center: p.map(|x| x * size),
                    radius: 0.4 * q[0] * size,
                },
                _ => RegionShape::Cylinder {
                    from: p.map(|x| x * size),
                    to: q.map(|x| x * size),
                    radius: 0.2 * p[1] * size,
                },
            },
            levels: at.min(levels),
        };
        let mut spots = vec![Vec::new(); 5];
        for (level, at) in &self.spots {
            let frame = &case.frame;
            // Some are outside, or on the other side of a periodic face.
            let along = |a: usize| {
                let count = f64::from(frame.root_cells[a] << level);
                (count * (1.1 * at[a] - 0.05)).floor() as i32
            };
            spots[*level].push(std::array::from_fn(along));
        }
        let periodic = case.params.periodic_axes();
        let spots = Spots::new(&case.frame, periodic, spots).within(levels);
        EmbedParams {
            spots: Arc::new(spots),
            walls: self.walls.iter().map(wall).collect(),
            regions: self.regions.iter().map(region).collect(),
            ..case.params.clone()
        }
    }
}
