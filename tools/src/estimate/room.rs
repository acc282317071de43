//! Whether a mesh will fit, asked before it is built: into memory, and under `--max-cells`.
//!
//! A mesh whose closed-form estimate is far below the free memory is let through at the cost
//! of one pass over the facets; any other is forecast first.

use crate::estimate::numbers;
use crate::failure::{Failure, Kind};
use crate::mesh::report::{bytes, grouped};
use cutlink_device::{Host, memory};
use cutlink_mesher::Surface;
use cutlink_voxelizer::kernels::Kernels;
use cutlink_voxelizer::{BUILD_BLOCKS, EmbedParams, Estimate, Frame, forecast, rough};

/// What an estimate may be short by.
const MARGIN: f64 = 1.1;
/// What a closed form may be short by.
const ROUGH_MARGIN: f64 = 4.0;

/// Bytes to ask for.
pub fn need(estimate: &Estimate) -> u64 {
    (MARGIN * estimate.bytes_peak as f64) as u64
}

/// Cells that the mesh will not exceed: the number itself where every level was counted.
pub fn cells(estimate: &Estimate) -> u64 {
    if estimate.counted_levels == estimate.levels.len() {
        return estimate.cells;
    }
    (MARGIN * estimate.cells as f64) as u64
}

/// The levels to build, no more than `params.levels`, and a note where they are fewer.
pub(crate) fn levels<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: EmbedParams,
    max_cells: Option<u64>,
) -> Result<(usize, Option<String>), Failure>
where
    Host: Kernels<D>,
{
    // What this process already holds is in the estimate.
    let free = memory::available().saturating_add(memory::peak_resident());
    let at_most = rough(surface, frame, &params)?.at(params.levels);
    if max_cells.is_none() && ROUGH_MARGIN * at_most.bytes_peak as f64 <= free as f64 {
        return Ok((params.levels, None));
    }
    let made = forecast(&Host, surface, frame, &params, BUILD_BLOCKS)?;
    let (mut levels, mut note) = (params.levels, None);
    if let Some(most) = max_cells {
        let chosen = made.finest(|e| cells(e) <= most).ok_or_else(|| {
            Failure::usage(format!(
                "--max-cells is {}, but the root grid alone has {} cells",
                grouped(most),
                grouped(made.at(1).cells)
            ))
            .hint("allow more cells, or use a coarser --root")
        })?;
        levels = chosen.levels.len();
        note = (levels < params.levels).then(|| {
            format!(
                "--max-cells {} leaves {levels} of {} levels, about {} cells: one more would have \
                 about {}",
                grouped(most),
                params.levels,
                grouped(chosen.cells),
                grouped(made.at(levels + 1).cells)
            )
        });
    }
    let wanted = made.at(levels);
    if need(&wanted) <= free {
        return Ok((levels, note));
    }
    let message = format!(
        "not enough memory for {levels} levels: about {} are needed for {} blocks, {} cells and \
         {} links, and {} are free ({free} bytes free)",
        bytes(need(&wanted)),
        grouped(wanted.blocks),
        grouped(wanted.cells),
        grouped(wanted.links),
        bytes(free)
    );
    let hint = match made.finest(|e| need(e) <= free) {
        Some(fits) => format!(
            "--levels {} fits, with about {}; `cutlink estimate` shows each",
            fits.levels.len(),
            bytes(need(&fits))
        ),
        None => "use a coarser --root".to_owned(),
    };
    let mut failure = Failure::new(Kind::Memory, message).hint(hint);
    failure.details = serde_json::json!({ "estimate": numbers(&wanted), "free_bytes": free });
    Err(failure)
}
