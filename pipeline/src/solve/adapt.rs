//! `[adapt]`: from the case to the solver's adaptation, and what a run reports of it.

use crate::solve::case::{AdaptTable, CriterionTable};
use crate::solve::units::{Physics, Units};
use cutlink_common::Error;
use cutlink_solver::{Adaptation, Criterion, Indicator, LevelLimit, Precision};
use cutlink_voxelizer::Frame;

/// Share of a threshold below which a group of blocks is removed, by default: values double at most from one level to the
/// next coarser one, so this leaves a factor of two between refining and coarsening.
const COARSEN: f64 = 0.5;

/// Layers of blocks around refined ones, by default.
const BUFFER: u32 = 1;

/// Smallest threshold in lattice units: differences of neighbouring velocities below it are rounding.
fn noise(precision: Precision) -> f64 {
    match precision {
        // Velocities of a tenth are sums of populations of about 0.02, which are rounded to 2^-18: five times their deviation.
        Precision::F16 => 2e-5,
        Precision::F32 => 1e-6,
        Precision::F64 => 0.0,
    }
}

/// What thresholds and intervals of a case are measured in.
pub(super) struct AdaptScale<'a, const D: usize> {
    pub(super) frame: &'a Frame<D>,
    pub(super) units: &'a Units,
    pub(super) physics: &'a Physics,
    pub(super) precision: Precision,
}

fn wrong(text: impl Into<String>) -> Error {
    Error::input(format!("[adapt] {}", text.into()))
}

impl<const D: usize> AdaptScale<'_, D> {
    /// The reference velocity on the lattice.
    fn speed(&self) -> f64 {
        self.physics.velocity / self.units.velocity()
    }

    /// A box of the case, in root cells.
    fn bounds(&self, what: &str, bounds: &[f64]) -> Result<[[f64; D]; 2], Error> {
        if bounds.len() != 2 * D {
            return Err(
                wrong(format!("{what} box has {} numbers", bounds.len())).hint(format!(
                    "write {} numbers: lower corner, then upper corner",
                    2 * D
                )),
            );
        }
        let at = |n: usize, a: usize| (bounds[n * D + a] - self.frame.origin[a]) / self.frame.dx;
        let corners: [[f64; D]; 2] = std::array::from_fn(|n| std::array::from_fn(|a| at(n, a)));
        if (0..D).all(|a| corners[0][a] < corners[1][a]) {
            return Ok(corners);
        }
        Err(wrong(format!("{what} box is empty")).hint("write the lower corner first"))
    }

    fn criterion(&self, table: &CriterionTable) -> Result<Criterion<D>, Error> {
        let names = || Indicator::NAMES.map(|(name, _)| name).join(", ");
        let Some(what) = &table.what else {
            return Err(wrong("by has no `what`").hint(format!("one of {}", names())));
        };
        let Some(&(_, indicator)) = Indicator::NAMES.iter().find(|(name, _)| name == what) else {
            return Err(wrong(format!("there is no criterion \"{what}\""))
                .hint(format!("one of {}", names())));
        };
        let Some(refine) = table.refine else {
            return Err(wrong(format!("by {what} has no `refine`")).hint(
                "the threshold, in units of the cell and the reference velocity; 0.02 is a start for vorticity",
            ));
        };
        let lattice = refine * indicator.scale(self.speed());
        if lattice < noise(self.precision) {
            return Err(wrong(format!(
                "by {what}: refine = {refine} is below the rounding of {}",
                self.precision
            ))
            .hint("choose a larger threshold, or precision = \"f64\""));
        }
        let within = table.bounds.as_deref();
        let within = within.map(|bounds| self.bounds(&format!("by {what}:"), bounds));
        let from = table.from.unwrap_or(0.0);
        if !(from >= 0.0 && from.is_finite()) {
            return Err(wrong(format!("by {what}: from is {from}")).hint("a time in s, at least 0"));
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "steps, rounded"
        )]
        let from_step = (from / self.units.time).round() as u64;
        Ok(Criterion {
            indicator,
            refine: lattice,
            coarsen: table.coarsen.unwrap_or(COARSEN),
            within: within.transpose()?,
            from_step,
        })
    }

    /// Root steps in which nothing that moves with the reference velocity crosses the buffer.
    fn interval(&self, levels: usize, buffer: u32) -> u64 {
        let layer = 8.0 / f64::from(1u32 << (levels - 1).min(30));
        let steps = f64::from(buffer.max(1)) * layer / self.speed();
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a small number"
        )]
        let steps = steps.clamp(1.0, 1e6) as u64;
        steps
    }
}

/// The adaptation of a case, and the table with all values.
pub(super) fn adaptation<const D: usize>(
    table: &AdaptTable,
    scale: &AdaptScale<'_, D>,
) -> Result<(Adaptation<D>, AdaptTable), Error> {
    let Some(levels) = table.levels else {
        return Err(wrong("has no `levels`")
            .hint("the most levels the flow may ask for, the root included"));
    };
    if !(1..=cutlink_amr::MAX_LEVELS).contains(&levels) {
        return Err(wrong(format!("levels is {levels}")).hint("1 to 29 levels are possible"));
    }
    if table.by.is_empty() {
        return Err(wrong("has no criterion")
            .hint("add [[adapt.by]] with what = \"vorticity\" and refine = 0.02"));
    }
    let buffer = table.buffer.unwrap_or(BUFFER);
    let every = match table.every {
        Some(0) => return Err(wrong("every is 0").hint("a number of root steps from 1")),
        Some(every) => every,
        None => scale.interval(levels, buffer),
    };
    let criteria: Vec<Criterion<D>> = table
        .by
        .iter()
        .map(|by| scale.criterion(by))
        .collect::<Result<_, _>>()?;
    let limits = table.limit.iter().map(|limit| {
        let (Some(bounds), Some(levels)) = (&limit.bounds, limit.levels) else {
            return Err(wrong("limit needs `box` and `levels`"));
        };
        Ok(LevelLimit {
            within: scale.bounds("limit", bounds)?,
            levels,
        })
    });
    let limits = limits.collect::<Result<_, _>>()?;
    let resolved = AdaptTable {
        every: Some(every),
        buffer: Some(buffer),
        by: table
            .by
            .iter()
            .map(|by| CriterionTable {
                coarsen: by.coarsen.or(Some(COARSEN)),
                ..by.clone()
            })
            .collect(),
        ..table.clone()
    };
    let adaptation = Adaptation {
        every,
        levels,
        max_cells: table.max_cells.unwrap_or(u64::MAX),
        buffer,
        criteria,
        limits,
    };
    Ok((adaptation, resolved))
}
