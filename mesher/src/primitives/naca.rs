//! NACA 4-digit sections and straight wings.
//!
//! Thickness and mean line after Jacobs, Ward and Pinkerton 1933 (NACA report 460), the
//! thickness laid off at right angles to the mean line. The last coefficient is −0.1036
//! instead of −0.1015, which closes the trailing edge; the greatest thickness keeps its place
//! and changes by less than 0.1 % of itself.
//!
//! The parameter is β with x = (1 − cos β)/2, in which nose and mean line are smooth but for
//! the joint at x = p, which is always a vertex. Both sides share their parameters, halved
//! until each chord of both is within the deviation at 15 points, less 5 %: over a short
//! smooth arc the distance is nearly a parabola, so that 15 points miss below 1 % of its top.
//! The tips are strips between the two sides, and their triangles must all be positive: a
//! section so thick and bent that it folds over itself is refused.

use super::{ShapeError, within_cap};
use crate::surface::Surface;
use std::f64::consts::PI;

const THICKNESS: [f64; 5] = [0.2969, -0.1260, -0.3516, 0.2843, -0.1036];
const PROBES: usize = 15;

/// A section of unit chord.
pub(super) struct Section {
    digits: [u8; 4],
    /// Greatest camber, its place, greatest thickness, in chords.
    camber: f64,
    place: f64,
    thickness: f64,
}

/// Area of an uncambered section.
pub(super) fn area(digits: [u8; 4], chord: f64) -> Option<f64> {
    let section = Section::new(digits).ok()?;
    let [a, b, c, d, e] = THICKNESS;
    let half = a * 2.0 / 3.0 + b / 2.0 + c / 3.0 + d / 4.0 + e / 5.0;
    (section.camber == 0.0).then_some(10.0 * section.thickness * half * chord * chord)
}

impl Section {
    pub(super) fn new(digits: [u8; 4]) -> Result<Self, ShapeError> {
        let [m, p, t, u] = digits.map(f64::from);
        let section = Self {
            digits,
            camber: m / 100.0,
            place: p / 10.0,
            thickness: (10.0 * t + u) / 100.0,
        };
        if digits.iter().any(|d| *d > 9) {
            return Err(section.wrong("each digit must be 0 to 9"));
        }
        if section.thickness == 0.0 {
            return Err(section.wrong("the last two digits, the thickness, must not be 00"));
        }
        if section.camber > 0.0 && section.place == 0.0 {
            return Err(section.wrong(
                "the second digit, the place of the camber, must not be 0 where the first is not",
            ));
        }
        Ok(section)
    }

    fn wrong(&self, reason: &'static str) -> ShapeError {
        ShapeError::Naca {
            digits: digits_text(self.digits),
            reason,
        }
    }

    /// The point at β, above (`side` 1) or below (−1) the mean line.
    fn point(&self, beta: f64, side: f64) -> [f64; 2] {
        if beta >= PI {
            return [1.0, 0.0];
        }
        let root = (0.5 * beta).sin();
        let x = root * root;
        let [a, b, c, d, e] = THICKNESS;
        let half = 5.0 * self.thickness * (a * root + x * (b + x * (c + x * (d + x * e))));
        let (m, p) = (self.camber, self.place);
        if m == 0.0 {
            return [x, side * half];
        }
        let (mean, slope) = if x < p {
            (m / (p * p) * x * (2.0 * p - x), 2.0 * m / (p * p) * (p - x))
        } else {
            let q = (1.0 - p) * (1.0 - p);
            (
                m / q * ((1.0 - 2.0 * p) + x * (2.0 * p - x)),
                2.0 * m / q * (p - x),
            )
        };
        let norm = slope.hypot(1.0);
        [x - side * half * slope / norm, mean + side * half / norm]
    }

    /// Whether both chords from β to `end` stay within the deviation (in chords).
    fn fits(&self, start: f64, end: f64, deviation: f64) -> bool {
        [1.0, -1.0].iter().all(|&side| {
            let (a, b) = (self.point(start, side), self.point(end, side));
            (1..=PROBES).all(|k| {
                let beta = start + (end - start) * k as f64 / (PROBES + 1) as f64;
                distance_to_segment(self.point(beta, side), a, b) <= 0.95 * deviation
            })
        })
    }

    /// Parameters from nose to trailing edge.
    fn stations(&self, deviation: f64) -> Vec<f64> {
        let mut breaks = vec![0.0];
        if self.camber > 0.0 {
            breaks.push((1.0 - 2.0 * self.place).acos());
        }
        breaks.push(PI);
        let mut stations = vec![0.0];
        for piece in breaks.windows(2) {
            let at = |k: usize| piece[0] + (piece[1] - piece[0]) * k as f64 / 8.0;
            for k in 0..8 {
                let end = if k == 7 { piece[1] } else { at(k + 1) };
                self.halve(at(k), end, deviation, 32, &mut stations);
            }
        }
        stations
    }

    fn halve(&self, start: f64, end: f64, deviation: f64, depth: u32, out: &mut Vec<f64>) {
        if depth == 0 || self.fits(start, end, deviation) {
            out.push(end);
            return;
        }
        let middle = 0.5 * (start + end);
        self.halve(start, middle, deviation, depth - 1, out);
        self.halve(middle, end, deviation, depth - 1, out);
    }

    /// The closed contour, counter-clockwise from the trailing edge over the upper side, and
    /// its number n of segments a side: the nose is vertex n, and vertices n − i and n + i
    /// (modulo 2n) face one another.
    fn contour(
        &self,
        shape: &'static str,
        chord: f64,
        deviation: f64,
        facets_a_station: f64,
    ) -> Result<(Vec<[f64; 2]>, usize), ShapeError> {
        let relative = deviation / chord;
        // |S''| < 1 in β for every section: n ≤ π/√(8 deviation), halving at most doubles.
        within_cap(
            shape,
            deviation,
            facets_a_station * 2.0 * PI / (8.0 * relative).sqrt(),
        )?;
        let stations = self.stations(relative);
        let n = stations.len() - 1;
        let upper = stations.iter().rev().map(|&b| self.point(b, 1.0));
        let lower = stations[1..n].iter().map(|&b| self.point(b, -1.0));
        let contour: Vec<_> = upper
            .chain(lower)
            .map(|p| p.map(|x| chord * x + 0.0))
            .collect();
        let folded = strip(n).any(|[a, b, c]| {
            let [a, b, c] = [a, b, c].map(|v| contour[v as usize]);
            let [u, v] = [[b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]];
            u[0] * v[1] - u[1] * v[0] <= 0.0
        });
        if folded {
            return Err(self.wrong(
                "this section folds over itself: it is too thick for a camber so far forward",
            ));
        }
        Ok((contour, n))
    }

    pub(super) fn airfoil(&self, chord: f64, deviation: f64) -> Result<Surface<2>, ShapeError> {
        let (vertices, n) = self.contour("naca", chord, deviation, 2.0)?;
        let facets = super::flat::closed_chain(vertices.len());
        Ok(Surface {
            vertices,
            facets,
            facet_patch: (0..2 * n).map(|i| u16::from(i >= n)).collect(),
            patches: ["upper", "lower"].map(String::from).to_vec(),
        })
    }

    pub(super) fn wing(
        &self,
        chord: f64,
        span: f64,
        deviation: f64,
    ) -> Result<Surface<3>, ShapeError> {
        let (contour, n) = self.contour("wing", chord, deviation, 8.0)?;
        let count = contour.len() as u32;
        let tip = |y: f64| contour.iter().map(move |&[x, z]| [x, y, z]);
        let vertices = tip(-0.5 * span).chain(tip(0.5 * span)).collect();

        let mut facets = Vec::with_capacity(8 * n);
        let mut facet_patch = Vec::with_capacity(8 * n);
        for a in 0..count {
            let b = (a + 1) % count;
            facets.push([a, b + count, b]);
            facets.push([a, a + count, b + count]);
            facet_patch.extend([u16::from(a as usize >= n); 2]);
        }
        // A contour counter-clockwise in (x, z) has its normal along −y.
        for [a, b, c] in strip(n) {
            facets.push([a, b, c]);
            facet_patch.push(2);
        }
        for [a, b, c] in strip(n) {
            facets.push([a + count, c + count, b + count]);
            facet_patch.push(3);
        }
        Ok(Surface {
            vertices,
            facets,
            facet_patch,
            patches: ["upper", "lower", "tip_left", "tip_right"]
                .map(String::from)
                .to_vec(),
        })
    }
}

pub(super) fn digits_text(digits: [u8; 4]) -> String {
    digits.iter().map(ToString::to_string).collect()
}

/// The triangles, counter-clockwise, between the two sides of a contour of 2n vertices.
fn strip(n: usize) -> impl Iterator<Item = [u32; 3]> {
    let upper = move |i: usize| (n - i) as u32;
    let lower = move |i: usize| ((n + i) % (2 * n)) as u32;
    (0..n).flat_map(move |i| {
        let first = [lower(i), lower(i + 1), upper(i + 1)];
        let second = [lower(i), upper(i + 1), upper(i)];
        // One of the two vanishes at the nose and at the trailing edge.
        [(i + 1 < n).then_some(first), (i > 0).then_some(second)]
            .into_iter()
            .flatten()
    })
}

fn distance_to_segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let d = [b[0] - a[0], b[1] - a[1]];
    let r = [p[0] - a[0], p[1] - a[1]];
    let length2 = d[0] * d[0] + d[1] * d[1];
    let t = ((r[0] * d[0] + r[1] * d[1]) / length2).clamp(0.0, 1.0);
    (r[0] - t * d[0]).hypot(r[1] - t * d[1])
}
