//! Bodies of known shape: signed distances and volumes (in 2D: areas).

use crate::worst;
use std::f64::consts::PI;

/// A body with an exact signed distance.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Body<const D: usize> {
    /// Ball or disk.
    Ball {
        /// Middle.
        center: [f64; D],
        /// Radius.
        radius: f64,
    },
    /// Box or rectangle.
    Box {
        /// Middle.
        center: [f64; D],
        /// Half edge lengths.
        half: [f64; D],
    },
    /// Torus about the last axis.
    Torus {
        /// Middle.
        center: [f64; D],
        /// Radius of the centre circle.
        major: f64,
        /// Radius of the tube.
        minor: f64,
    },
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl<const D: usize> Body<D> {
    /// Signed distance to the surface, negative inside.
    pub fn distance(&self, p: [f64; D]) -> f64 {
        match self {
            Self::Ball { center, radius } => {
                let v: [f64; D] = std::array::from_fn(|a| p[a] - center[a]);
                length(&v) - radius
            }
            Self::Box { center, half } => {
                let v: [f64; D] = std::array::from_fn(|a| (p[a] - center[a]).abs() - half[a]);
                // No `max`: of a point that is none, the distance is none.
                let outside = length(&v.map(|x| if x < 0.0 { 0.0 } else { x }));
                let inside = worst(v);
                outside + if inside < 0.0 { inside } else { 0.0 }
            }
            Self::Torus {
                center,
                major,
                minor,
            } => {
                let v: [f64; D] = std::array::from_fn(|a| p[a] - center[a]);
                let ring = length(&v[..D - 1]) - major;
                length(&[ring, v[D - 1]]) - minor
            }
        }
    }

    /// Volume; in 2D, area.
    pub fn volume(&self) -> f64 {
        match (D, self) {
            (2, Self::Ball { radius, .. }) => PI * radius.powi(2),
            (_, Self::Ball { radius, .. }) => 4.0 / 3.0 * PI * radius.powi(3),
            (_, Self::Box { half, .. }) => half.iter().map(|h| 2.0 * h).product(),
            (_, Self::Torus { major, minor, .. }) => 2.0 * PI * PI * major * minor * minor,
        }
    }

    /// Surface; in 2D, perimeter.
    pub fn area(&self) -> f64 {
        match (D, self) {
            (2, Self::Ball { radius, .. }) => 2.0 * PI * radius,
            (_, Self::Ball { radius, .. }) => 4.0 * PI * radius.powi(2),
            (2, Self::Box { half, .. }) => 4.0 * half.iter().sum::<f64>(),
            (_, Self::Box { half, .. }) => {
                let edge = half.map(|h| 2.0 * h);
                (0..D).map(|a| 2.0 * edge[a] * edge[(a + 1) % D]).sum()
            }
            (_, Self::Torus { major, minor, .. }) => 4.0 * PI * PI * major * minor,
        }
    }

    /// The interval of a ray's parameter within a ball `grown` larger, if it meets it.
    pub fn ball_interval(&self, p: [f64; D], d: [f64; D], grown: f64) -> Option<[f64; 2]> {
        let Self::Ball { center, radius } = self else {
            return None;
        };
        let v: [f64; D] = std::array::from_fn(|a| p[a] - center[a]);
        let dot = |a: &[f64; D], b: &[f64; D]| (0..D).map(|i| a[i] * b[i]).sum::<f64>();
        let (a, b) = (dot(&d, &d), dot(&v, &d));
        let root = b * b - a * (dot(&v, &v) - (radius + grown).powi(2));
        (root >= 0.0).then(|| [-1.0, 1.0].map(|sign| (-b + sign * root.sqrt()) / a))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_by_hand_and_of_no_point() {
        let (center, half) = ([1.0, 2.0, 3.0], [0.5, 1.0, 2.0]);
        let cuboid = Body::Box { center, half };
        assert_eq!(cuboid.distance(center), -0.5);
        assert_eq!(cuboid.distance([1.25, 2.0, 3.0]), -0.25);
        assert_eq!(cuboid.distance([1.5, 2.0, 3.0]), 0.0);
        assert_eq!(cuboid.distance([4.5, 7.0, 3.0]), 5.0, "from an edge");
        let (radius, [major, minor]) = (1.0, [2.0, 0.5]);
        let ball = Body::Ball { center, radius };
        let torus = Body::Torus {
            center,
            major,
            minor,
        };
        for axis in 0..3 {
            let mut point = center;
            point[axis] = f64::NAN;
            for body in [cuboid, ball, torus] {
                assert!(body.distance(point).is_nan(), "{body:?}");
            }
        }
    }
}
