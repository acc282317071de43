//! Round shapes whose facets enclose the true area or volume.
//!
//! A polygon or polyhedron with its vertices on a curved surface lies inside it, and its body is thinner than the true
//! one everywhere. Here it is stretched until what it encloses is the true area or volume: vertices then lie a little
//! outside, the middles of facets a little inside, and their mean distance from the true surface is of fourth order in
//! the facets' size instead of second. A chord of the sagitta s moves outward by 2/3 s, so the deviation shrinks too.

use super::{Shape2, Shape3, ShapeError};
use crate::Surface;

impl Shape2 {
    /// As [`surface`](Self::surface), but for circles and ellipses the polygon has the area of the true shape: no
    /// point of it is farther than `deviation` from the true curve, and its vertices lie outside it. Other shapes
    /// are the same as there.
    ///
    /// # Errors
    /// As there.
    pub fn body(&self, deviation: f64) -> Result<Surface<2>, ShapeError> {
        let mut surface = self.surface(deviation)?;
        if let Self::Circle { .. } | Self::Ellipse { .. } = self
            && let Some(area) = self.area()
        {
            let stretch = (area / enclosed2(&surface)).sqrt();
            for p in &mut surface.vertices {
                *p = p.map(|x| x * stretch);
            }
        }
        Ok(surface)
    }
}

impl Shape3 {
    /// As [`surface`](Self::surface), but for spheres, ellipsoids, cylinders, cones and capsules the polyhedron has the
    /// volume of the true shape: no point of it is farther than `deviation` from the true surface. Lengths along the
    /// axis of cylinders and cones stay what they are. Other shapes are the same as there.
    ///
    /// # Errors
    /// As there.
    pub fn body(&self, deviation: f64) -> Result<Surface<3>, ShapeError> {
        let mut surface = self.surface(deviation)?;
        let Some(volume) = self.volume() else {
            return Ok(surface);
        };
        let share = volume / enclosed3(&surface);
        let [across, along] = match *self {
            Self::Sphere { .. } | Self::Ellipsoid { .. } => [share.cbrt(); 2],
            Self::Cylinder { .. } | Self::Cone { .. } => [share.sqrt(), 1.0],
            Self::Capsule { radius, height } => {
                let half = 0.5 * height - radius;
                let stretch = capsule(&surface, half, volume);
                for p in &mut surface.vertices {
                    let end = half.copysign(p[2]);
                    *p = [p[0] * stretch, p[1] * stretch, (p[2] - end) * stretch + end];
                }
                return Ok(surface);
            }
            _ => return Ok(surface),
        };
        for p in &mut surface.vertices {
            *p = [p[0] * across, p[1] * across, p[2] * along];
        }
        Ok(surface)
    }
}

/// The factor on both domes of a capsule, about their centres: its volume is f² times that of the band of height
/// 2 `half`, and f³ times that of the domes.
fn capsule(surface: &Surface<3>, half: f64, volume: f64) -> f64 {
    let equator: Vec<[f64; 3]> = {
        let on = |p: &&[f64; 3]| p[2] == half;
        surface.vertices.iter().filter(on).copied().collect()
    };
    let area = 0.5
        * (0..equator.len())
            .map(|k| {
                let (p, q) = (equator[k], equator[(k + 1) % equator.len()]);
                p[0] * q[1] - q[0] * p[1]
            })
            .sum::<f64>();
    let band = 2.0 * half * area;
    let domes = enclosed3(surface) - band;
    // Newton's method from 1, where both powers grow: quadratic, and close by.
    (0..8).fold(1.0, |f: f64, _| {
        let excess = band * f * f + domes * f * f * f - volume;
        f - excess / (2.0 * band * f + 3.0 * domes * f * f)
    })
}

/// The area within a closed chain of segments.
fn enclosed2(surface: &Surface<2>) -> f64 {
    let of = |f: usize| {
        let [p, q] = surface.corners(f);
        p[0] * q[1] - q[0] * p[1]
    };
    0.5 * (0..surface.facets.len()).map(of).sum::<f64>()
}

/// The volume within a closed surface.
fn enclosed3(surface: &Surface<3>) -> f64 {
    let of = |f: usize| {
        let [p, q, r] = surface.corners(f);
        p[0] * (q[1] * r[2] - q[2] * r[1])
            + p[1] * (q[2] * r[0] - q[0] * r[2])
            + p[2] * (q[0] * r[1] - q[1] * r[0])
    };
    (0..surface.facets.len()).map(of).sum::<f64>() / 6.0
}
