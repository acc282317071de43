//! Checks before the build that a mesh fits into memory and within `--max-cells`.
//!
//! A mesh whose closed-form estimate is far below the free memory passes at the cost of one pass over the facets; any
//! other is forecast first. On a device two memories are checked: the device's, for the build, and the host's, for the
//! copy.

use crate::estimate::numbers;
use crate::mesh::report::{bytes, grouped};
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Backend, Memory, memory};
use cutlink_mesher::Surface;
use cutlink_voxelizer::kernels::MeshKernels;
use cutlink_voxelizer::{BUILD_BLOCKS, EmbedParams, Estimate, Frame, forecast, rough};

/// Factor by which an estimate may be too low.
const MARGIN: f64 = 1.1;
/// Factor by which a part of a mesh is larger than its share.
const PART_MARGIN: u64 = 2;
/// Factor by which a closed-form estimate may be too low.
const ROUGH_MARGIN: f64 = 4.0;

/// The memory available to a run.
#[derive(Debug, Clone, Copy)]
pub struct AvailableMemory {
    /// The memory that the mesh is built in: device or host.
    pub memory: Memory,
    /// Free bytes in it.
    pub free: u64,
    /// Free bytes on the host.
    host: u64,
    /// Parts that the mesh is made in; the host has all of them.
    parts: u64,
}

/// Too little memory.
struct Short {
    memory: Memory,
    needed: u64,
    free: u64,
}

impl AvailableMemory {
    /// The memory free now.
    pub fn now<B: Backend>(backend: &B) -> Self {
        let host = memory::available();
        let free = match B::MEMORY {
            Memory::Host => host,
            Memory::Device => backend.free_bytes(),
        };
        Self {
            memory: B::MEMORY,
            free,
            host,
            parts: 1,
        }
    }

    /// The memory available to a run that has started: memory held by this process is part of the estimate, so it
    /// counts as free.
    fn of_run<B: Backend>(backend: &B, parts: usize) -> Self {
        let now = Self::now(backend);
        let held = memory::peak_resident();
        Self {
            free: match now.memory {
                Memory::Host => now.free.saturating_add(held),
                Memory::Device => now.free,
            },
            host: now.host.saturating_add(held),
            parts: parts as u64,
            ..now
        }
    }

    /// Bytes of a mesh in the memory that it is built in.
    pub fn taken(&self, estimate: &Estimate) -> u64 {
        match self.memory {
            Memory::Host => estimate.bytes_peak + self.apart(estimate),
            Memory::Device => self.on_device(estimate),
        }
    }

    /// Bytes of the parts on the host, before they are joined.
    fn apart(&self, estimate: &Estimate) -> u64 {
        match self.parts {
            1 => 0,
            _ => estimate.bytes_beside,
        }
    }

    /// Bytes of the largest part on the device.
    fn on_device(&self, estimate: &Estimate) -> u64 {
        match self.parts {
            1 => estimate.bytes_device,
            parts => estimate
                .bytes_device
                .min(estimate.bytes_device / parts * PART_MARGIN),
        }
    }

    /// The same with the error margin of the estimate.
    pub fn need(&self, estimate: &Estimate) -> u64 {
        with_margin(MARGIN, self.taken(estimate))
    }

    /// Whether a mesh fits.
    pub fn holds(&self, estimate: &Estimate) -> bool {
        self.short(estimate, MARGIN).is_none()
    }

    fn short(&self, estimate: &Estimate, margin: f64) -> Option<Short> {
        let needs = match self.memory {
            Memory::Host => vec![(Memory::Host, self.taken(estimate), self.free)],
            Memory::Device => vec![
                (Memory::Device, self.on_device(estimate), self.free),
                (
                    Memory::Host,
                    estimate.bytes_beside + self.apart(estimate),
                    self.host,
                ),
            ],
        };
        let short = |(memory, bytes, free)| Short {
            memory,
            needed: with_margin(margin, bytes),
            free,
        };
        needs.into_iter().map(short).find(|s| s.needed > s.free)
    }
}

fn with_margin(margin: f64, bytes: u64) -> u64 {
    (margin * bytes as f64) as u64
}

/// Upper bound of the number of cells; exact if every level was counted.
pub fn cells(estimate: &Estimate) -> u64 {
    if estimate.counted_levels == estimate.levels.len() {
        return estimate.cells;
    }
    with_margin(MARGIN, estimate.cells)
}

/// The levels to build in so many parts, at most `params.levels`, and a note if they are fewer.
pub fn levels<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    surface: &Surface<D>,
    frame: Frame<D>,
    params: EmbedParams,
    max_cells: Option<u64>,
    parts: usize,
) -> Result<(usize, Option<String>), Error> {
    let available = AvailableMemory::of_run(kernels, parts);
    let at_most = rough(surface, frame, &params)?.at(params.levels);
    if max_cells.is_none() && available.short(&at_most, ROUGH_MARGIN).is_none() {
        return Ok((params.levels, None));
    }
    let made = forecast(kernels, surface, frame, &params, BUILD_BLOCKS)?;
    let (mut levels, mut note) = (params.levels, None);
    if let Some(most) = max_cells {
        let chosen = made.finest(|e| cells(e) <= most).ok_or_else(|| {
            Error::input(format!(
                "--max-cells is {}, but the root grid alone has {} cells",
                grouped(most),
                grouped(made.at(1).cells)
            ))
            .hint("allow more cells, or use a coarser --root")
        })?;
        levels = chosen.levels.len();
        note = (levels < params.levels).then(|| {
            format!(
                "--max-cells {} reduces the levels to {levels} of {}, about {} cells; one more level would have \
                 about {}",
                grouped(most),
                params.levels,
                grouped(chosen.cells),
                grouped(made.at(levels + 1).cells)
            )
        });
    }
    let wanted = made.at(levels);
    let Some(short) = available.short(&wanted, MARGIN) else {
        return Ok((levels, note));
    };
    let fits = made.finest(|e| available.holds(e));
    Err(refusal(&available, &wanted, &short, fits.as_ref()))
}

fn refusal(
    available: &AvailableMemory,
    wanted: &Estimate,
    short: &Short,
    fits: Option<&Estimate>,
) -> Error {
    let message = format!(
        "not enough {} for {} levels: about {} are needed for {} blocks, {} cells and {} links, \
         and {} are free ({} bytes free)",
        short.memory,
        wanted.levels.len(),
        bytes(short.needed),
        grouped(wanted.blocks),
        grouped(wanted.cells),
        grouped(wanted.links),
        bytes(short.free),
        short.free
    );
    let mut hint = match fits {
        Some(fits) => format!(
            "--levels {} fits, with about {}; `cutlink estimate` shows each",
            fits.levels.len(),
            bytes(available.need(fits))
        ),
        None => "use a coarser --root".to_owned(),
    };
    if short.memory == Memory::Device {
        let parts = match available.parts {
            1 => PART_MARGIN,
            parts => parts,
        };
        let fit = (short.needed * parts).div_ceil(short.free.max(1));
        hint += &format!(
            "; or make it in parts, one after the other: --ranks {}; or use the host's memory with --device cpu",
            fit.next_power_of_two()
        );
    }
    let failure = Error::new(ErrorKind::Memory, message).hint(hint);
    failure.details(serde_json::json!({
        "estimate": numbers(wanted, available),
        "free_bytes": short.free,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVICE: AvailableMemory = AvailableMemory {
        memory: Memory::Device,
        free: 2_000,
        host: 1_000,
        parts: 1,
    };

    fn estimate(bytes_device: u64, bytes_beside: u64) -> Estimate {
        Estimate {
            levels: Vec::new(),
            counted_levels: 0,
            blocks: 0,
            cells: 0,
            links: 0,
            boundary_cells: 0,
            bytes_peak: u64::MAX,
            bytes_device,
            bytes_beside,
            bytes_file: 0,
            seconds: None,
        }
    }

    #[test]
    fn a_mesh_on_a_device_needs_memory_there_and_for_its_host_copy() {
        assert!(DEVICE.holds(&estimate(1_500, 500)));
        for (device, beside, whose) in [
            (1_900, 500, Memory::Device),
            (1_500, 950, Memory::Host),
            (1_900, 950, Memory::Device),
        ] {
            let estimate = estimate(device, beside);
            let short = DEVICE.short(&estimate, MARGIN).expect("too little");
            assert_eq!(short.memory, whose, "{device} and {beside}");
            let failure = refusal(&DEVICE, &estimate, &short, None);
            let on_device = whose == Memory::Device;
            assert_eq!(failure.message.contains("on the device"), on_device);
            let hint = failure.hint.expect("a way out");
            assert_eq!(hint.contains("--device cpu"), on_device, "{hint}");
            assert_eq!(hint.contains("--ranks 4"), on_device, "{hint}");
            assert_eq!(failure.kind, ErrorKind::Memory);
        }
    }

    #[test]
    fn parts_need_less_of_the_device_and_more_of_the_host() {
        let in_parts = |parts| AvailableMemory { parts, ..DEVICE };
        // 8,000 in 16 parts, each of up to twice its share.
        let large = estimate(8_000, 400);
        assert!(!in_parts(1).holds(&large) && !in_parts(8).holds(&large));
        assert!(in_parts(16).holds(&large));
        // Two copies on the host.
        let wide = estimate(100, 600);
        assert!(DEVICE.holds(&wide) && !in_parts(16).holds(&wide));
        let short = in_parts(4).short(&large, MARGIN).expect("too little");
        let failure = refusal(&in_parts(4), &large, &short, None);
        let hint = failure.hint.expect("a way out");
        // 1.1 · 8,000 · 2 / 4 = 4,400 of 2,000 bytes.
        assert!(hint.contains("--ranks 16"), "{hint}");
    }
}
