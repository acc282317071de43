//! Parameters of an embedding.

use crate::{Fill, Spots, VoxelError};
use std::sync::Arc;

/// Parameters of [`crate::embed`].
#[derive(Debug, Clone, PartialEq)]
pub struct EmbedParams {
    /// Number of levels, the root level included (L_max of J25): at least 1.
    pub levels: usize,
    /// Near-wall distance d_spec of J26 eq. 3, in lengths: at least 0.
    pub wall_distance: f64,
    /// Which winding numbers are solid.
    pub fill: Fill,
    /// Axes along which the box is periodic; in 2D the third does not count.
    pub periodic: [bool; 3],
    /// Whether [`crate::prepare`] closes the surface: see [`cutlink_mesher::robust`].
    pub robust: bool,
    /// Rules for refining at walls; where there are none, every patch is refined to `levels` with
    /// `wall_distance`.
    pub walls: Vec<WallRule>,
    /// Regions to refine.
    pub regions: Vec<Region>,
    /// Single cells to refine.
    pub spots: Arc<Spots>,
}

/// How finely some patches are resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct WallRule {
    /// Indices of the patches; `None` for all.
    pub patches: Option<Vec<u16>>,
    /// Levels at them, the root level included.
    pub levels: usize,
    /// Distance from them.
    pub reach: Reach,
}

/// How far from a wall a level reaches.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Reach {
    /// Near-wall distance of J26 eq. 3, which counts on the root level; each finer level
    /// reaches half as far.
    Near(f64),
    /// All of the rule's levels reach at least this distance, in lengths.
    Within(f64),
}

/// A region and the levels in it. Blocks inside the body stay coarse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Region {
    /// Where.
    pub shape: RegionShape,
    /// Levels in it, the root level included.
    pub levels: usize,
}

/// Shapes of regions, in lengths; in 2D the third coordinates do not count.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RegionShape {
    /// A box along the axes.
    Box {
        /// Its lower corner.
        lower: [f64; 3],
        /// Its upper corner.
        upper: [f64; 3],
    },
    /// A ball; in 2D a disc.
    Ball {
        /// Its centre.
        center: [f64; 3],
        /// Its radius.
        radius: f64,
    },
    /// A cylinder with flat ends; in 2D a rectangle at an angle.
    Cylinder {
        /// One end of its axis.
        from: [f64; 3],
        /// The other end.
        to: [f64; 3],
        /// Its radius.
        radius: f64,
    },
}

impl EmbedParams {
    /// A closed surface, refined alike everywhere.
    pub fn new(levels: usize, wall_distance: f64, fill: Fill) -> Self {
        Self {
            levels,
            wall_distance,
            fill,
            periodic: [false; 3],
            robust: false,
            walls: Vec::new(),
            regions: Vec::new(),
            spots: Arc::default(),
        }
    }

    /// The axes along which a box of D dimensions is periodic.
    pub fn periodic_axes<const D: usize>(&self) -> [bool; D] {
        std::array::from_fn(|a| self.periodic[a])
    }

    /// The same parameters with at most `levels` levels, everywhere.
    #[must_use]
    pub fn with_levels(mut self, levels: usize) -> Self {
        self.levels = levels;
        for rule in &mut self.walls {
            rule.levels = rule.levels.min(levels);
        }
        for region in &mut self.regions {
            region.levels = region.levels.min(levels);
        }
        if !self.spots.is_empty() {
            self.spots = Arc::new(self.spots.within(levels));
        }
        self
    }

    /// The rules for walls, with the one that holds where none is given.
    pub fn wall_rules(&self) -> Vec<WallRule> {
        if self.walls.is_empty() {
            let reach = Reach::Near(self.wall_distance);
            return vec![WallRule {
                patches: None,
                levels: self.levels,
                reach,
            }];
        }
        self.walls.clone()
    }

    /// Whether the surface of one of `patches` patches may lie in leaves of several levels.
    pub fn is_graded(&self, patches: usize) -> bool {
        let rules = self.wall_rules();
        let names = |rule: &WallRule, patch: u16| {
            rule.patches.as_ref().is_none_or(|of| of.contains(&patch))
        };
        let levels_at = |patch: u16| {
            let of = rules.iter().filter(|rule| names(rule, patch));
            of.map(|rule| rule.levels).max().unwrap_or(1)
        };
        (0..patches as u16).any(|patch| levels_at(patch) < self.levels)
    }

    /// Checks the ranges.
    pub fn validate(&self) -> Result<(), VoxelError> {
        let refuse = |name, value, expected| {
            Err(VoxelError::Parameter {
                name,
                value,
                expected,
            })
        };
        if self.levels == 0 {
            return refuse("levels", 0.0, "at least 1 level is needed");
        }
        let of_rules = self.walls.iter().map(|rule| rule.levels);
        for levels in of_rules.chain(self.regions.iter().map(|region| region.levels)) {
            if levels == 0 || levels > self.levels {
                let expected = "between 1 and the levels of the whole mesh are possible";
                return refuse("levels of a patch or region", levels as f64, expected);
            }
        }
        let reaches = self.walls.iter().map(|rule| match rule.reach {
            Reach::Near(distance) | Reach::Within(distance) => distance,
        });
        for distance in reaches.chain([self.wall_distance]) {
            if !(distance.is_finite() && distance >= 0.0) {
                let expected = "a length of 0 or more is needed";
                return refuse("wall-distance", distance, expected);
            }
        }
        let numbers = self.regions.iter().flat_map(|region| match region.shape {
            RegionShape::Box { lower, upper } => [lower, upper, [0.0; 3]],
            RegionShape::Ball { center, radius } => [center, [radius; 3], [0.0; 3]],
            RegionShape::Cylinder { from, to, radius } => [from, to, [radius; 3]],
        });
        for number in numbers.flatten() {
            if !number.is_finite() {
                return refuse("a region's size", number, "a finite number is needed");
            }
        }
        if self.robust && self.fill.is_sheets() {
            return refuse(
                "robust",
                1.0,
                "it decides what is inside, and sheets have no inside: use one of both",
            );
        }
        if self.robust && self.fill.by_parity() {
            return refuse(
                "robust",
                1.0,
                "it goes by generalized winding numbers, which have no parity: use the nonzero rule",
            );
        }
        Ok(())
    }
}

/// Stages of an embedding, in the order of a level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stage {
    /// The surface into the backend's memory, sorted.
    Upload,
    /// Facet lists of the blocks.
    Bins,
    /// Winding numbers and solid masks.
    Voxelize,
    /// Marks, new blocks, neighbours, ghost and interface cells.
    Refine,
    /// The cut-link table.
    Links,
}

/// Called when a stage of a level has ended, with the wall time it took.
pub trait StageObserver {
    /// `level` runs from 0; a stage that belongs to no level reports the finest.
    fn stage_done(&mut self, stage: Stage, level: usize, seconds: f64);

    /// A stage has been given to a backend that counts launches, with how many it took; the
    /// work itself may still be under way.
    fn stage_launched(&mut self, stage: Stage, launches: u64) {
        let _ = (stage, launches);
    }

    /// The mesh is made, and so many links pass facets that have fluid of two winding numbers on their sides and are no
    /// walls ([`Fill::passes_facets`]), each counted from both ends.
    fn facets_passed(&mut self, links: u64) {
        let _ = links;
    }
}

/// Observes nothing.
impl StageObserver for () {
    fn stage_done(&mut self, _: Stage, _: usize, _: f64) {}
}
