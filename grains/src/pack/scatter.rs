//! Grains at random places of a block, without overlaps: random sequential addition.

use super::place::{Places, Sizes};
use super::{PackOptions, PackSize, Vessel, check};
use crate::{BoxAxis, Grain, GrainBox, GrainError};

/// Tries to place a sphere before the block is full.
const TRIES: [u32; 2] = [20_000; 2];

/// A block, and what is put into it.
#[derive(Debug, Clone, PartialEq)]
pub struct ScatterBlock {
    /// Lower corner, in m.
    pub lower: [f64; 3],
    /// Upper corner, in m; spheres are whole within the block.
    pub upper: [f64; 3],
    /// Axes along which the block is one period of the box: spheres may reach through its ends there.
    pub periodic: [bool; 3],
    /// Sizes and shares by number.
    pub sizes: Vec<PackSize>,
    /// Spheres.
    pub count: usize,
    /// Seed of the random places.
    pub seed: u64,
}

impl ScatterBlock {
    /// Puts spheres into the block: free of the grains that are there, and where `is_clear` says of a centre and a radius that
    /// they are free of walls. Fewer than asked for, where one finds no place; random places fill some 0.25 to 0.35 of the volume.
    /// The same block gives the same bits.
    ///
    /// # Errors
    /// Sizes or corners out of range; no memory.
    pub fn scatter(
        &self,
        there: &[Grain],
        is_clear: &dyn Fn([f64; 3], f64) -> bool,
    ) -> Result<Vec<Grain>, GrainError> {
        let options = PackOptions {
            sizes: self.sizes.clone(),
            by_volume: false,
            count: Some(self.count),
            seed: self.seed,
            friction: 0.0,
            rolling: 0.0,
        };
        check(&options)?;
        let mut domain = GrainBox::closed(self.lower, self.upper, 0);
        for a in (0..3).filter(|a| self.periodic[*a]) {
            domain.axes[a] = BoxAxis::Periodic;
        }
        domain.check(1)?;
        let vessel = Vessel {
            volume: (0..3).map(|a| domain.length(a)).product(),
            domain,
            wall: None,
        };
        let mut sizes = Sizes::new(&options);
        if (0..3).any(|a| !self.periodic[a] && vessel.domain.length(a) < 2.0 * sizes.greatest()) {
            return Ok(Vec::new());
        }
        let reach = sizes.greatest();
        let is_near = |grain: &&Grain| {
            (0..3).all(|a| {
                let (x, reach) = (grain.center[a], reach + grain.radius);
                self.periodic[a] || x > self.lower[a] - reach && x < self.upper[a] + reach
            })
        };
        let near: Vec<Grain> = there.iter().filter(is_near).copied().collect();
        let mut places = Places::new(&vessel, self.seed);
        places.fill_where(&vessel, &near, &mut sizes, (self.count, TRIES), is_clear)
    }
}
