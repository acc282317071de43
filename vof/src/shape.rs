//! Exact volume fractions of shapes in cells.

use crate::surface::ClosedSurface;
use cutlink_amr::dims;
use std::sync::Arc;

/// A region that a liquid fills at the start.
#[derive(Debug, Clone, PartialEq)]
pub enum LiquidShape<const D: usize> {
    /// Between two corners, m.
    Box([[f64; D]; 2]),
    /// Where `normal · x` is less than an offset, m.
    HalfSpace {
        /// Towards the outside; need not have the length 1.
        normal: [f64; D],
        /// `normal · x` at the surface.
        offset: f64,
    },
    /// A circle in 2D, a sphere in 3D.
    Ball {
        /// m.
        centre: [f64; D],
        /// m.
        radius: f64,
    },
    /// The inside of a closed surface.
    Surface(Arc<ClosedSurface<D>>),
}

/// Points of Gauss-Legendre quadrature on -1 to 1, and weights.
const GAUSS: [[f64; 2]; 5] = [
    [0.0, 128.0 / 225.0],
    [0.538_469_310_105_683, 0.478_628_670_499_366_5],
    [-0.538_469_310_105_683, 0.478_628_670_499_366_5],
    [0.906_179_845_938_664, 0.236_926_885_056_189_08],
    [-0.906_179_845_938_664, 0.236_926_885_056_189_08],
];

impl<const D: usize> LiquidShape<D> {
    /// The part of a cell that is inside, by its lower corner and width. Exact to rounding for boxes, half-spaces and
    /// circles, and surfaces that do not overlap themselves; of spheres to 1e-10 of a cell: areas of circles, integrated
    /// between the places where their form changes.
    pub fn fraction(&self, low: [f64; D], width: f64) -> f64 {
        match self {
            Self::Box([from, to]) => {
                let part =
                    |a: usize| (to[a].min(low[a] + width) - from[a].max(low[a])).max(0.0) / width;
                (0..D).map(part).product()
            }
            Self::HalfSpace { normal, offset } => {
                // Reflected so that all components are positive, from the corner where `normal · x` is least.
                let corner = |a: usize| low[a] + if normal[a] < 0.0 { width } else { 0.0 };
                let least: f64 = (0..D).map(|a| normal[a] * corner(a)).sum();
                crate::plane::volume(*normal, (offset - least) / width)
            }
            Self::Ball { centre, radius } => {
                let at: [f64; D] = std::array::from_fn(|a| low[a] - centre[a]);
                ball::<D>(at, width, *radius) / width.powi(D as i32)
            }
            Self::Surface(surface) => surface.part(low, width),
        }
        .clamp(0.0, 1.0)
    }

    /// Whether all numbers are finite, and lengths positive.
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Box([from, to]) => {
                (0..D).all(|a| from[a].is_finite() && to[a].is_finite() && from[a] < to[a])
            }
            Self::HalfSpace { normal, offset } => {
                offset.is_finite()
                    && normal.iter().all(|n| n.is_finite())
                    && normal.iter().any(|n| *n != 0.0)
            }
            Self::Ball { centre, radius } => {
                centre.iter().all(|c| c.is_finite()) && radius.is_finite() && *radius > 0.0
            }
            Self::Surface(surface) => surface.volume() > 0.0,
        }
    }

    /// The corners of the smallest box around it; infinite for a half-space.
    pub fn corners(&self) -> [[f64; D]; 2] {
        match self {
            Self::Box(corners) => *corners,
            Self::HalfSpace { .. } => [[f64::NEG_INFINITY; D], [f64::INFINITY; D]],
            Self::Ball { centre, radius } => {
                [centre.map(|c| c - radius), centre.map(|c| c + radius)]
            }
            Self::Surface(surface) => surface.corners(),
        }
    }

    /// Whether the surface passes through a box with a margin, by its corners.
    pub fn touches(&self, low: [f64; D], high: [f64; D], margin: f64) -> bool {
        let low = low.map(|x| x - margin);
        let high = high.map(|x| x + margin);
        let (mut least, mut most) = (0.0, 0.0);
        match self {
            Self::Box([from, to]) => {
                let apart = (0..D).any(|a| high[a] < from[a] || low[a] > to[a]);
                let within = (0..D).all(|a| low[a] > from[a] && high[a] < to[a]);
                !apart && !within
            }
            Self::HalfSpace { normal, offset } => {
                for a in 0..D {
                    let ends = [normal[a] * low[a], normal[a] * high[a]];
                    least += ends[0].min(ends[1]);
                    most += ends[0].max(ends[1]);
                }
                least <= *offset && most >= *offset
            }
            Self::Ball { centre, radius } => {
                for a in 0..D {
                    let ends = [low[a] - centre[a], high[a] - centre[a]];
                    let inside = ends[0] <= 0.0 && ends[1] >= 0.0;
                    least += if inside {
                        0.0
                    } else {
                        ends[0].abs().min(ends[1].abs()).powi(2)
                    };
                    most += ends[0].abs().max(ends[1].abs()).powi(2);
                }
                least <= radius * radius && most >= radius * radius
            }
            Self::Surface(surface) => surface.touches(low, high),
        }
    }
}

/// The part of a box, by its lower corner from the centre and its width, that is in a ball.
fn ball<const D: usize>(at: [f64; D], width: f64, radius: f64) -> f64 {
    if D == 2 {
        return disc([at[0], at[1]], width, radius);
    }
    // Areas along the third axis; their form changes where the circle passes an edge.
    let mut ends = vec![at[2], at[2] + width];
    for x in [0.0, at[0], at[0] + width] {
        for y in [0.0, at[1], at[1] + width] {
            let z = radius * radius - x * x - y * y;
            if z >= 0.0 {
                ends.extend(
                    [-z.sqrt(), z.sqrt()]
                        .into_iter()
                        .filter(|z| *z > at[2] && *z < at[2] + width),
                );
            }
        }
    }
    ends.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    for pair in ends.windows(2) {
        // By z = middle + half sin(t): roots at the ends become smooth.
        let (middle, half) = (0.5 * (pair[0] + pair[1]), 0.5 * (pair[1] - pair[0]));
        for part in 0..2 {
            for [t, weight] in GAUSS {
                let quarter = std::f64::consts::FRAC_PI_4;
                let angle = quarter * (t + if part == 0 { -1.0 } else { 1.0 });
                let z = middle + half * angle.sin();
                let circle = (radius * radius - z * z).max(0.0).sqrt();
                sum += weight * quarter * half * angle.cos() * disc([at[0], at[1]], width, circle);
            }
        }
    }
    sum
}

/// The area of a square, by its lower corner from the centre, that is in a circle.
fn disc(at: [f64; 2], width: f64, r: f64) -> f64 {
    let [[xa, xb], [ya, yb]] = at.map(|c| [c, c + width]);
    // The integral of the upper half's height.
    let under = |x: f64| {
        let x = x.clamp(-r, r);
        0.5 * (x * (r * r - x * x).max(0.0).sqrt() + r * r * (x / r).asin())
    };
    if r <= 0.0 {
        return 0.0;
    }
    let mut ends = [
        xa,
        xb,
        f64::NAN,
        f64::NAN,
        f64::NAN,
        f64::NAN,
        f64::NAN,
        f64::NAN,
    ];
    let mut count = 2;
    for y in [ya, yb, 0.0] {
        if y.abs() <= r {
            let x = (r * r - y * y).max(0.0).sqrt();
            for x in [-x, x] {
                if x > xa && x < xb {
                    ends[count] = x;
                    count += 1;
                }
            }
        }
    }
    let ends = &mut ends[..count];
    ends.sort_by(f64::total_cmp);
    let mut sum = 0.0;
    for pair in ends.windows(2) {
        let middle = 0.5 * (pair[0] + pair[1]);
        if middle.abs() >= r {
            continue;
        }
        let (height, length) = ((r * r - middle * middle).sqrt(), pair[1] - pair[0]);
        let arc = under(pair[1]) - under(pair[0]);
        let part = |h: f64, arc: f64| {
            if h >= yb {
                yb * length
            } else if h <= ya {
                ya * length
            } else {
                arc
            }
        };
        sum += (part(height, arc) - part(-height, -arc)).max(0.0);
    }
    sum
}

/// Fractions of a surface closer than this to 0 and 1 are rounding.
const ROUNDING: f64 = 1e-12;

/// How far the parts of a surface may be from 0 to 1: beyond this it overlaps itself.
const OVERLAP: f64 = 1e-9;

/// The fractions of a block's cells in the union of shapes, taken as disjoint where they overlap in mixed cells. Returns a
/// part of a surface that is none, because the surface overlaps itself, with the lower corner of its cell.
pub fn fractions<const D: usize>(
    shapes: &[LiquidShape<D>],
    low: [f64; D],
    width: f64,
    out: &mut [f64],
) -> Option<(f64, [f64; D])> {
    let mut wrong = None;
    let mut of_surface = |surface: &ClosedSurface<D>, low: [f64; D], width: f64| {
        let part = surface.part(low, width);
        if !(-OVERLAP..=1.0 + OVERLAP).contains(&part) {
            wrong.get_or_insert((part, low));
        }
        match part {
            p if p < ROUNDING => 0.0,
            p if p > 1.0 - ROUNDING => 1.0,
            p => p,
        }
    };
    out.fill(0.0);
    for shape in shapes {
        let whole = match shape {
            LiquidShape::Surface(of) if !of.touches(low, low.map(|x| x + 4.0 * width)) => {
                Some(of_surface(of, low, 4.0 * width))
            }
            _ => None,
        };
        for (cell, out) in out.iter_mut().enumerate() {
            let at = dims::unravel::<D>(cell, 4);
            let corner = std::array::from_fn(|a| low[a] + f64::from(at[a]) * width);
            *out += match (shape, whole) {
                (_, Some(whole)) => whole,
                (LiquidShape::Surface(of), None) => of_surface(of, corner, width),
                _ => shape.fraction(corner, width),
            };
        }
    }
    out.iter_mut().for_each(|c| *c = c.min(1.0));
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn total<const D: usize>(shape: &LiquidShape<D>, n: usize) -> f64 {
        let width = 1.0 / n as f64;
        let of = |i: usize| {
            let at = dims::unravel::<D>(i, n);
            shape.fraction(at.map(|c| f64::from(c) * width), width)
        };
        (0..n.pow(D as u32)).map(of).sum::<f64>() * width.powi(D as i32)
    }

    #[test]
    fn volumes_of_whole_shapes() {
        let circle = LiquidShape::Ball {
            centre: [0.43, 0.51],
            radius: 0.3,
        };
        assert!((total(&circle, 17) - PI * 0.09).abs() < 1e-13, "circle");
        let sphere = LiquidShape::Ball {
            centre: [0.43, 0.51, 0.55],
            radius: 0.3,
        };
        let found = total(&sphere, 11);
        assert!(
            (found - 4.0 / 3.0 * PI * 0.027).abs() < 1e-7,
            "sphere {found}"
        );
        let cut = LiquidShape::Box([[0.11, 0.2, -1.0], [0.47, 2.0, 0.61]]);
        assert!((total(&cut, 7) - 0.36 * 0.8 * 0.61).abs() < 1e-14, "box");
        let half = LiquidShape::HalfSpace {
            normal: [1.0, -2.0, 0.5],
            offset: 0.1,
        };
        // By symmetry: the reflected one is the rest.
        let rest = LiquidShape::HalfSpace {
            normal: [-1.0, 2.0, -0.5],
            offset: -0.1,
        };
        assert!(
            (total(&half, 5) + total(&rest, 5) - 1.0).abs() < 1e-13,
            "half-space"
        );
        let level = LiquidShape::HalfSpace {
            normal: [0.0, 3.0],
            offset: 1.0,
        };
        assert!(
            (total(&level, 7) - 1.0 / 3.0).abs() < 1e-14,
            "a level surface"
        );
    }

    #[test]
    fn single_cells_of_a_sphere_by_brute_force() {
        let shape = LiquidShape::Ball {
            centre: [0.1, -0.2, 0.3],
            radius: 0.9,
        };
        let mut mixed = 0;
        for i in 0..64 {
            let low = dims::unravel::<3>(i, 4).map(|c| f64::from(c) * 0.5 - 1.0);
            let n = 100;
            let point =
                |k: usize| dims::unravel::<3>(k, n).map(|c| (f64::from(c) + 0.5) / n as f64 * 0.5);
            let inside = |k: &usize| {
                let p = point(*k);
                (p[0] + low[0] - 0.1).powi(2)
                    + (p[1] + low[1] + 0.2).powi(2)
                    + (p[2] + low[2] - 0.3).powi(2)
                    < 0.81
            };
            let found = shape.fraction(low, 0.5);
            let expected = (0..n * n * n).filter(inside).count() as f64 / (n * n * n) as f64;
            mixed += usize::from(found > 0.0 && found < 1.0);
            assert!(
                (found - expected).abs() < 2e-3,
                "{low:?}: {found} {expected}"
            );
        }
        assert!(mixed > 20, "{mixed}");
    }
}
