//! What drives a flow, and between which walls: from its conditions.

use super::geometry::Geometry;
use crate::solve::resolve::Resolved;
use cutlink_flow::Until;
use cutlink_solver::{FaceCondition, Motion, PatchCondition, Place, WallScheme};

/// The mean velocity of the fastest inlet over the fluid there, in lattice units, and whether there is one.
pub(super) fn inlet<const D: usize>(resolved: &Resolved<D>, of: &Geometry) -> (f64, bool) {
    let params = &resolved.params;
    let size = |v: &[f64; D]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut speeds = Vec::new();
    for (axis, pair) in params.faces.iter().enumerate() {
        // Values of a face are means over all of it, solid parts included.
        let whole: f64 = (0..D).filter(|&a| a != axis).map(|a| of.edges[a]).product();
        for (face, fluid) in pair.iter().zip(of.beside[axis]) {
            match face {
                FaceCondition::Velocity(v) if v[axis] != 0.0 && fluid > 0.0 => {
                    speeds.push(size(v) * whole / fluid);
                }
                FaceCondition::FarField { velocity, .. } if *velocity != [0.0; D] => {
                    speeds.push(size(velocity));
                }
                _ => {}
            }
        }
    }
    let moving = params.patches.iter().filter_map(|patch| match patch {
        PatchCondition::Wall {
            motion: Motion::Uniform(v),
            ..
        } if *v != [0.0; D] => Some(size(v)),
        _ => None,
    });
    speeds.extend(moving.filter(|_| params.has_opening()));
    let most = speeds.iter().fold(0.0, |a: f64, &b| a.max(b));
    (most, !speeds.is_empty())
}

/// The largest difference of lattice densities of pressure openings.
pub(super) fn openings<const D: usize>(resolved: &Resolved<D>) -> f64 {
    let faces = resolved
        .params
        .faces
        .iter()
        .flatten()
        .map(|face| match face {
            FaceCondition::Pressure(density) => Some(*density),
            FaceCondition::Outflow => Some(1.0),
            _ => None,
        });
    let patches = resolved.params.patches.iter().map(|patch| match patch {
        PatchCondition::Pressure(density) => Some(*density),
        PatchCondition::Wall { .. } => None,
    });
    let densities: Vec<f64> = faces.chain(patches).flatten().collect();
    let most = densities.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
    let least = densities.iter().fold(f64::INFINITY, |a, &b| a.min(b));
    (most - least).max(0.0)
}

/// The size of the acceleration, in lattice units; of one that varies, at the start or at its largest of a few times.
pub(super) fn pull<const D: usize>(resolved: &Resolved<D>) -> f64 {
    const TIMES: u64 = 64;
    let size = |v: [f64; D]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let params = &resolved.params;
    let end = match resolved.until {
        Until::Steps(steps) => steps,
        Until::Settled { most, .. } => most,
    };
    let mut varying = params
        .variations
        .iter()
        .filter(|of| of.place == Place::Acceleration);
    let largest = varying.next().and_then(|of| of.time.as_ref()).map(|of| {
        let at = |k: u64| of(end as f64 * k as f64 / TIMES as f64).map_or(0.0, size);
        (0..=TIMES).map(at).fold(0.0, f64::max)
    });
    largest.unwrap_or(0.0).max(size(params.acceleration))
}

/// The edge of the box, in root cells, along the acceleration; without one the longest.
pub(super) fn along<const D: usize>(resolved: &Resolved<D>, of: &Geometry) -> f64 {
    let pull = resolved.params.acceleration;
    let axis = (0..D).max_by(|&a, &b| pull[a].abs().total_cmp(&pull[b].abs()));
    match axis.filter(|&a| pull[a] != 0.0) {
        Some(axis) => of.edges[axis],
        None => of.edges.iter().fold(0.0, |a: f64, &b| a.max(b)),
    }
}

/// The distance of walls in root cells: between two faces, or by the hydraulic diameter of what a surface encloses.
pub(super) fn width<const D: usize>(of: &Geometry, is_confined: bool) -> Option<f64> {
    let surface = of.faces + of.body;
    if !is_confined || surface == 0.0 {
        return None;
    }
    if of.body == 0.0 {
        return of.between;
    }
    let diameter = 4.0 * of.volume / surface;
    let by_area = match D {
        // Between two lines, 4 V / S is twice their distance.
        2 => 0.5 * diameter,
        _ => diameter,
    };
    Some(of.between.map_or(by_area, |edge| edge.min(by_area)))
}

/// The wall scheme of the first patch that is a wall.
pub(super) fn wall_of<const D: usize>(patches: &[PatchCondition<D>]) -> WallScheme {
    let mut walls = patches.iter().filter_map(|patch| match patch {
        PatchCondition::Wall { scheme, .. } => Some(*scheme),
        PatchCondition::Pressure(_) => None,
    });
    walls.next().unwrap_or(WallScheme::BounceBack)
}
