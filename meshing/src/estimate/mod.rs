//! Predicts size, memory and time of a mesh, and finds the finest mesh that fits.
//!
//! The counts come from [`cutlink_voxelizer::forecast`], for a surface that is already placed.

pub mod memory;

use crate::compiled::compiled;
use crate::mesh::report::{bytes, columns, grouped, short};
use cutlink_amr::MAX_LEVELS;
use cutlink_common::{Error, ErrorKind};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_voxelizer::kernels::MeshKernels;
use cutlink_voxelizer::{
    BUILD_BLOCKS, EmbedParams, Estimate, EstimateError, Forecast, Frame, check_levels, forecast,
};
use memory::AvailableMemory;
use serde_json::{Value, json};
use std::time::Instant;

/// The input of an estimate.
#[derive(Debug, Clone)]
pub struct Request {
    /// Name of the surface in messages.
    pub name: String,
    /// Size of its file in bytes; 0 for shapes.
    pub input_bytes: u64,
    /// Number of levels, unless `memory` decides.
    pub levels: usize,
    /// Memory in bytes that the mesh has to fit into; it decides the levels.
    pub memory: Option<u64>,
    /// Maximum number of cells.
    pub max_cells: Option<u64>,
}

impl Request {
    fn fits(&self, estimate: &Estimate, available: &AvailableMemory) -> bool {
        self.memory
            .is_none_or(|most| available.need(estimate) <= most)
            && self
                .max_cells
                .is_none_or(|most| memory::cells(estimate) <= most)
    }
}

/// An estimate, with those of coarser meshes.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Estimated<const D: usize> {
    /// The input.
    pub request: Request,
    /// The requested mesh, or the finest one that fits.
    pub chosen: Estimate,
    /// Meshes of 1, 2, ... levels, up to one level more than `chosen`.
    pub shown: Vec<Estimate>,
    /// The memory available to a build.
    pub available: AvailableMemory,
    /// Box and root grid.
    pub frame: Frame<D>,
    /// Parameters of the finest mesh estimated.
    pub params: EmbedParams,
    /// Time of the estimate, in milliseconds.
    pub took_ms: f64,
}

/// Estimates meshes of up to `params.levels` levels that the CPU would build: see [`cutlink_voxelizer::forecast`].
///
/// # Errors
/// As there.
pub fn forecast_on_cpu<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    build_blocks: u64,
) -> Result<Forecast<D>, EstimateError> {
    (compiled::<D>().forecast)(surface, frame, params, build_blocks)
}

pub(crate) fn forecast_here<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
    build_blocks: u64,
) -> Result<Forecast<D>, EstimateError>
where
    Facet<D>: Exact<D>,
{
    forecast(&Host, surface, frame, params, build_blocks)
}

/// Estimates a mesh that `kernels` would build. If `request.memory` is set, it decides the levels.
///
/// # Errors
/// [`ErrorKind::Memory`] or [`ErrorKind::Input`] if the root grid alone does not fit; a device error.
pub fn estimate<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    request: Request,
    surface: &Surface<D>,
    frame: Frame<D>,
    params: EmbedParams,
) -> Result<Estimated<D>, Error> {
    let begin = Instant::now();
    let available = AvailableMemory::now(kernels);
    let most = match request.memory {
        Some(_) => (1..=MAX_LEVELS)
            .rev()
            .find(|&n| check_levels(&frame, n).is_ok())
            .unwrap_or(1),
        None => request.levels,
    };
    let params = if params.walls.is_empty() && params.regions.is_empty() {
        params.with_levels(most)
    } else {
        params
    };
    let most = params.levels;
    let made = forecast(kernels, surface, frame, &params, BUILD_BLOCKS)?;
    let made = made.with_input(request.input_bytes);
    let chosen = made
        .finest(|e| request.fits(e, &available))
        .ok_or_else(|| {
            let root = made.at(1);
            Error::new(
                match request.memory {
                    Some(_) => ErrorKind::Memory,
                    None => ErrorKind::Input,
                },
                format!(
                    "the root grid alone does not fit: {} cells, about {}",
                    grouped(root.cells),
                    bytes(available.need(&root))
                ),
            )
            .hint("use a coarser --root")
        })?;
    // One level more shows why the choice ends there.
    let levels = chosen.levels.len();
    let shown = (1..=(levels + 1).min(most)).map(|n| made.at(n)).collect();
    Ok(Estimated {
        request,
        chosen,
        shown,
        available,
        frame,
        params,
        took_ms: 1e3 * begin.elapsed().as_secs_f64(),
    })
}

impl<const D: usize> Estimated<D> {
    /// A table of the meshes, and whether the requested one fits.
    pub fn text(&self) -> String {
        text(
            &self.request,
            &self.chosen,
            &self.shown,
            &self.available,
            self.took_ms,
        )
    }

    /// The JSON object of `docs/json-schema.md`, without the device.
    pub fn to_json(&self) -> Value {
        let frame = &self.frame;
        let mut object = object(&self.chosen, &self.shown, &self.available);
        object["dimensions"] = json!(D);
        object["name"] = json!(self.request.name);
        object["estimate_ms"] = json!(self.took_ms);
        object["frame"] = json!({
            "origin": frame.origin.to_vec(),
            "upper": frame.upper().to_vec(),
            "dx": frame.dx,
            "root_cells": frame.root_cells.to_vec(),
        });
        object["parameters"] = json!({
            "levels": self.chosen.levels.len(),
            "wall_distance": self.params.wall_distance,
            "fill": self.params.fill.name(),
        });
        object
    }
}

fn text(
    request: &Request,
    chosen: &Estimate,
    shown: &[Estimate],
    available: &AvailableMemory,
    took: f64,
) -> String {
    let heads = [
        "levels", "dx [m]", "blocks", "cells", "links", "memory", "file", "time",
    ];
    let mut rows = vec![heads.map(str::to_owned)];
    for e in shown {
        let finest = e.levels.last().map_or(0.0, |l| l.dx);
        rows.push([
            e.levels.len().to_string(),
            short(finest),
            grouped(e.blocks),
            grouped(e.cells),
            grouped(e.links),
            bytes(available.taken(e)),
            bytes(e.bytes_file),
            e.seconds
                .map_or_else(|| "?".into(), |s| format!("{s:.1} s")),
        ]);
    }
    let mut text = format!("estimate  {}\n\n{}", request.name, columns(&rows));
    let counted = chosen.counted_levels;
    text += &match counted {
        n if n == chosen.levels.len() => "\nall levels counted; memory to within 10 %".to_owned(),
        0 => "\nno level counted: to within a factor of 2".to_owned(),
        n => format!("\n{n} levels counted, the others extrapolated to within 10 %"),
    };
    text +=
        &format!(", time of the embedding to within a factor of 2; estimated in {took:.0} ms\n");
    let free = bytes(available.free);
    let whose = available.memory;
    let levels = chosen.levels.len();
    text += &match request.memory {
        Some(most) => format!(
            "{levels} levels are the finest mesh within {}\n",
            bytes(most)
        ),
        None if levels < request.levels => {
            format!("{levels} levels are the finest mesh within --max-cells\n")
        }
        None if available.holds(chosen) => format!("it fits: {free} of {whose} are free\n"),
        None => format!("it does not fit: {free} of {whose} are free\n"),
    };
    text
}

/// The keys of one estimate; also used in the `details` of an error.
pub(crate) fn numbers(estimate: &Estimate, available: &AvailableMemory) -> Value {
    json!({
        "levels": estimate.levels.len(),
        "counted_levels": estimate.counted_levels,
        "blocks": estimate.blocks,
        "cells": estimate.cells,
        "links": estimate.links,
        "boundary_cells": estimate.boundary_cells,
        "peak_bytes": available.taken(estimate),
        "file_bytes": estimate.bytes_file,
        "embed_ms": estimate.seconds.map(|s| 1e3 * s),
    })
}

fn object(chosen: &Estimate, shown: &[Estimate], available: &AvailableMemory) -> Value {
    let mut object = numbers(chosen, available);
    let level = |l: &cutlink_voxelizer::LevelEstimate| {
        json!({
            "level": l.level,
            "dx": l.dx,
            "blocks": l.blocks,
            "leaf_blocks": l.leaf_blocks,
            "cells": l.cells,
        })
    };
    object["schema"] = json!(cutlink_common::JSON_SCHEMA);
    object["cutlink"] = json!(env!("CARGO_PKG_VERSION"));
    object["command"] = json!("estimate");
    object["levels"] = chosen.levels.iter().map(level).collect();
    object["choices"] = shown.iter().map(|e| numbers(e, available)).collect();
    object["free_bytes"] = json!(available.free);
    object["fits"] = json!(available.holds(chosen));
    object
}
