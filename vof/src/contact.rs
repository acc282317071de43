//! The angle between the interface and faces of the box.
//!
//! Beyond a face, a layer of cells has the fractions of the layer at the wall, moved along the wall: by the cotangent of
//! the angle a layer, away from the liquid for angles below 90°. Heights, normals and curvature then have the slope of
//! the angle at the face (Afkhami, Bussmann 2008, for columns along the wall), and surface tension drives the interface towards
//! it. At 90° layers are mirrored.

use crate::constants::MARGIN;
use crate::mesh::{FlowMesh, STEP, WIDE};
use crate::params::FlowParams;
use cutlink_amr::dims;
use cutlink_elliptic::Beside;
use std::f64::consts::FRAC_PI_2;

/// Cotangents of the angles by side, zero for 90°.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Contact<const D: usize> {
    pub(crate) slopes: [[f64; 2]; D],
}

impl<const D: usize> Contact<D> {
    pub(crate) fn new(params: &FlowParams<D>) -> Self {
        // Without surface tension nothing makes an angle.
        let has_tension = params.phases.surface_tension > 0.0;
        let slope = |angle: f64| match has_tension && angle != FRAC_PI_2 {
            true => 1.0 / angle.tan(),
            false => 0.0,
        };
        Self {
            slopes: params.contact_angles.map(|pair| pair.map(slope)),
        }
    }

    /// Whether all angles are right ones.
    pub(crate) fn is_right(&self) -> bool {
        self.slopes.iter().flatten().all(|&slope| slope == 0.0)
    }

    /// Fills what a tile of fractions has beyond faces of the box.
    pub(crate) fn fill(&self, mesh: &FlowMesh<D>, block: usize, tile: &mut [f64]) {
        for side in 0..2 * D {
            let slope = self.slopes[side / 2][side % 2];
            if slope != 0.0 && mesh.blocks.beside(block, side) == Beside::Outside {
                beyond::<D>(tile, side, slope);
            }
        }
    }
}

/// Places along an axis where differences have both neighbours.
const INNER: std::ops::RangeInclusive<i32> = 1..=WIDE as i32 - 2;

fn beyond<const D: usize>(tile: &mut [f64], side: usize, slope: f64) {
    let axis = side / 2;
    let (wall, out) = match side.is_multiple_of(2) {
        true => (MARGIN as i32, -1),
        false => (MARGIN as i32 + 3, 1),
    };
    let across = WIDE.pow(D as u32 - 1);
    // The wall's layer, by place in it.
    let place = |k: usize, layer: i32| -> [i32; D] {
        let mut rest = k;
        std::array::from_fn(|a| {
            if a == axis {
                return layer;
            }
            let at = rest % WIDE;
            rest /= WIDE;
            at as i32
        })
    };
    let index = |at: [i32; D]| -> usize { (0..D).map(|a| at[a] as usize * STEP[a]).sum() };
    let layer: Vec<f64> = (0..across).map(|k| tile[index(place(k, wall))]).collect();
    let value = |at: [i32; D]| -> f64 {
        let others = (0..D).filter(|&a| a != axis).rev();
        layer[others.fold(0, |k, a| WIDE * k + at[a] as usize)]
    };
    // No interface is at this wall here.
    if layer.iter().all(|&c| c == layer[0]) {
        return;
    }
    for k in 0..across {
        let at = place(k, wall);
        let Some(away) = away(&value, axis, at) else {
            continue;
        };
        for layer in 1..=MARGIN as i32 {
            let from = |a: usize| f64::from(at[a]) - f64::from(layer) * slope * away[a];
            let moved = std::array::from_fn(from);
            let mut to = at;
            to[axis] = wall + out * layer;
            tile[index(to)] = between(&value, axis, moved);
        }
    }
}

/// The direction along the wall that points out of the liquid: by the nearest cells that show one.
fn away<const D: usize>(
    value: &impl Fn([i32; D]) -> f64,
    axis: usize,
    at: [i32; D],
) -> Option<[f64; D]> {
    for reach in 0..=MARGIN as i32 {
        let wide = 2 * reach + 1;
        let mut sum = [0.0; D];
        for k in 0..(wide as usize).pow(D as u32 - 1) {
            let mut rest = k as i32;
            let near: [i32; D] = std::array::from_fn(|a| {
                if a == axis {
                    return at[a];
                }
                let step = rest % wide - reach;
                rest /= wide;
                at[a] + step
            });
            let inside = |a: usize| a == axis || INNER.contains(&near[a]);
            if !(0..D).all(inside) {
                continue;
            }
            for a in (0..D).filter(|&a| a != axis) {
                let beside = |step: i32| {
                    let mut to = near;
                    to[a] += step;
                    value(to)
                };
                sum[a] += beside(-1) - beside(1);
            }
        }
        let size = sum.iter().map(|x| x * x).sum::<f64>().sqrt();
        if size > 1e-6 {
            return Some(sum.map(|x| x / size));
        }
    }
    None
}

/// A fraction between cells of the wall's layer, linear along each axis; at the ends of the tile that of the last cell.
fn between<const D: usize>(value: &impl Fn([i32; D]) -> f64, axis: usize, at: [f64; D]) -> f64 {
    let last = (WIDE - 1) as f64;
    let at: [f64; D] = std::array::from_fn(|a| at[a].clamp(0.0, last));
    let low: [i32; D] = std::array::from_fn(|a| at[a].floor().min(last - 1.0) as i32);
    (0..1usize << D)
        .map(|corner| dims::unravel::<D>(corner, 2))
        .filter(|corner| corner[axis] == 0)
        .map(|corner| {
            let weight = (0..D).filter(|&a| a != axis).map(|a| {
                let part = at[a] - f64::from(low[a]);
                if corner[a] == 1 { part } else { 1.0 - part }
            });
            let to = std::array::from_fn(|a| low[a] + corner[a]);
            weight.product::<f64>() * value(to)
        })
        .sum()
}
