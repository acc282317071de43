//! The Ahmed body (Ahmed, Ramm and Faltin, Some salient features of the time-averaged ground vehicle wake, SAE paper
//! 840300, 1984), without stilts.
//!
//! A box of 1044 x 389 x 288 mm whose four front edges are rounded by cylinders of radius 100 mm; they meet in mitres.
//! The slant is 222 mm long. The ground is z = 0; the rear end lies at x = 0, the nose at x = -length; y = 0 is the
//! plane of symmetry.
//!
//! Sections across x are rectangles, which the mesh joins: each band is four plane trapezoids, and only the sagitta of
//! the cylinders counts.

use super::{ShapeError, circle_segments, positive, unit_circle, within_cap};
use crate::surface::Surface;
use std::f64::consts::PI;

/// Lengths in metres, of a body of that length.
const LENGTH: f64 = 1.044;
const WIDTH: f64 = 0.389;
const HEIGHT: f64 = 0.288;
const RADIUS: f64 = 0.1;
const SLANT: f64 = 0.222;
/// Its height above the ground.
pub(super) const CLEARANCE: f64 = 0.05;

pub(super) const DEFAULT_LENGTH: f64 = LENGTH;
pub(super) const DEFAULT_ANGLE: f64 = 25.0;
/// Largest slant angle, degrees.
const STEEPEST: f64 = 40.0;

/// The share of the true lengths of a body of some length.
pub(super) fn scale(length: f64) -> f64 {
    length / LENGTH
}

/// Numbers of patches.
#[derive(Debug, Clone, Copy)]
enum Patch {
    Front,
    Top,
    Bottom,
    Left,
    Right,
    Slant,
    Base,
}

const NAMES: [&str; 7] = ["front", "top", "bottom", "left", "right", "slant", "base"];

/// Collects facets.
struct Faces(Surface<3>);

impl Faces {
    fn vertex(&mut self, at: [f64; 3]) -> u32 {
        self.0.vertices.push(at);
        (self.0.vertices.len() - 1) as u32
    }

    /// A convex polygon, counter-clockwise seen from outside, as a fan about its first corner.
    fn polygon(&mut self, patch: Patch, corners: &[u32]) {
        for pair in corners[1..].windows(2) {
            self.0.facets.push([corners[0], pair[0], pair[1]]);
            self.0.facet_patch.push(patch as u16);
        }
    }

    /// A section across x: its corners, counter-clockwise seen from behind, from the lower left (-y) one on.
    fn section(&mut self, x: f64, half: f64, [low, high]: [f64; 2]) -> [u32; 4] {
        [[-half, low], [half, low], [half, high], [-half, high]]
            .map(|[y, z]| self.vertex([x, y, z]))
    }
}

/// Triangles; only the rounded edges deviate.
pub(super) fn body(
    length: f64,
    angle: f64,
    clearance: f64,
    deviation: f64,
) -> Result<Surface<3>, ShapeError> {
    check(length, angle, clearance)?;
    let scale = scale(length);
    let [width, height, radius, slant] = [WIDTH, HEIGHT, RADIUS, SLANT].map(|l| l * scale);
    let segments = circle_segments(radius, deviation);
    within_cap("ahmed", deviation, 2.0 * segments + 16.0)?;
    let segments = segments as usize;
    let mut faces = Faces(Surface {
        vertices: Vec::new(),
        facets: Vec::new(),
        facet_patch: Vec::new(),
        patches: NAMES.map(String::from).to_vec(),
    });
    let (half, bottom, top) = (0.5 * width, clearance, clearance + height);
    let quarter = segments / 4;
    let sections: Vec<[u32; 4]> = (0..=quarter)
        .map(|k| {
            let [cos, sin] = unit_circle(k, segments);
            let inset = radius * (1.0 - sin);
            let x = -length + radius * (1.0 - cos);
            faces.section(x, half - inset, [bottom + inset, top - inset])
        })
        .collect();
    let [a, b, c, d] = sections[0];
    faces.polygon(Patch::Front, &[a, d, c, b]);
    for pair in sections.windows(2) {
        let (fore, aft) = (pair[0], pair[1]);
        for side in 0..4 {
            let next = (side + 1) % 4;
            faces.polygon(
                Patch::Front,
                &[fore[side], fore[next], aft[next], aft[side]],
            );
        }
    }
    let [lower_left, lower_right, upper_right, upper_left] = sections[quarter];
    let (sin, cos) = angle.to_radians().sin_cos();
    let mut pair = |x: f64, z: f64| [-half, half].map(|y| faces.vertex([x, y, z]));
    let [break_left, break_right] = pair(-slant * cos, top);
    let [end_left, end_right] = pair(0.0, top - slant * sin);
    let [base_left, base_right] = pair(0.0, bottom);
    for (patch, corners) in [
        (
            Patch::Top,
            vec![upper_left, break_left, break_right, upper_right],
        ),
        (
            Patch::Slant,
            vec![break_left, end_left, end_right, break_right],
        ),
        (
            Patch::Base,
            vec![base_left, base_right, end_right, end_left],
        ),
        (
            Patch::Bottom,
            vec![lower_left, lower_right, base_right, base_left],
        ),
        (
            Patch::Left,
            vec![lower_left, base_left, end_left, break_left, upper_left],
        ),
        (
            Patch::Right,
            vec![lower_right, upper_right, break_right, end_right, base_right],
        ),
    ] {
        faces.polygon(patch, &corners);
    }
    Ok(faces.0)
}

fn check(length: f64, angle: f64, clearance: f64) -> Result<(), ShapeError> {
    positive("ahmed", "length", length)?;
    positive("ahmed", "clearance", clearance)?;
    if (0.0..=STEEPEST).contains(&angle) {
        return Ok(());
    }
    Err(ShapeError::Range {
        shape: "ahmed",
        key: "slant",
        value: angle,
        least: 0.0,
        most: STEEPEST,
    })
}

/// The volume of the true body. Ahead of x = -length + R the section is (W - 2δ)(H - 2δ), δ = R (1 - sin φ) at R (1 -
/// cos φ) from the nose; the slant takes a prism.
pub(super) fn volume(length: f64, angle: f64) -> f64 {
    let (a, b) = (WIDTH - 2.0 * RADIUS, HEIGHT - 2.0 * RADIUS);
    let nose = RADIUS * (a * b + 0.5 * PI * RADIUS * (a + b) + 8.0 / 3.0 * RADIUS * RADIUS);
    let (sin, cos) = angle.to_radians().sin_cos();
    let rest = WIDTH * (HEIGHT * (LENGTH - RADIUS) - 0.5 * SLANT * SLANT * sin * cos);
    (nose + rest) * scale(length).powi(3)
}
