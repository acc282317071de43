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

/// What continuity says of the way from an inlet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Narrows {
    /// Mean velocity in the narrowest plane, in lattice units; 0 where it is not known.
    pub(super) throat: f64,
    /// How many times the viscous drop of a way of one width is that of this one.
    pub(super) resistance: f64,
    /// Width of the narrowest plane over the mean one, if their shapes are similar.
    pub(super) width: f64,
}

/// It is known where all that enters through a face leaves through the face opposite, along an axis that no other opening crosses.
pub(super) fn narrows<const D: usize>(resolved: &Resolved<D>, of: &Geometry) -> Narrows {
    let unknown = Narrows {
        throat: 0.0,
        resistance: 1.0,
        width: 1.0,
    };
    let params = &resolved.params;
    let is_opening = |patch: &PatchCondition<D>| match patch {
        PatchCondition::Pressure(_) => true,
        PatchCondition::Wall { motion, .. } => {
            matches!(motion, Motion::Uniform(v) if *v != [0.0; D])
        }
    };
    let passes = |axis: usize| params.faces[axis].iter().any(|face| face.passes(axis));
    let mut crossed = (0..D).filter(|&axis| passes(axis));
    let (Some(axis), None) = (crossed.next(), crossed.next()) else {
        return unknown;
    };
    let planes = of.planes[axis];
    if planes.least <= 0.0 || params.patches.iter().any(is_opening) {
        return unknown;
    }
    // Values of a face are means over all of it.
    let whole: f64 = (0..D).filter(|&a| a != axis).map(|a| of.edges[a]).product();
    let through = params.faces[axis].iter().map(|face| match face {
        FaceCondition::Velocity(v) | FaceCondition::FarField { velocity: v, .. } => v[axis].abs(),
        _ => 0.0,
    });
    let fastest = through.fold(0.0, |a: f64, b| a.max(b));
    Narrows {
        throat: fastest * whole / planes.least,
        resistance: planes.resistance,
        width: (planes.least / planes.mean).powf(1.0 / (D as f64 - 1.0)),
    }
}

/// Whether a face of the box moves along an axis on which the box ends, so that the fluid turns round as below a lid.
pub(super) fn is_lid<const D: usize>(faces: &[[FaceCondition<D>; 2]; D]) -> bool {
    let ends = |axis: usize| !faces[axis].contains(&FaceCondition::Periodic);
    faces.iter().flatten().any(|face| match face {
        FaceCondition::Velocity(v) => (0..D).any(|axis| v[axis] != 0.0 && ends(axis)),
        _ => false,
    })
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
