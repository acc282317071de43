//! The volume that a ball and a box with edges along the axes have in common, in closed form.
//!
//! Of the unit ball `{x ≥ a, y ≥ b, z ≥ c}` is cut off by up to three planes. By the divergence theorem its volume is a third of
//! its part of the sphere, less the distances of the planes times the areas of the discs there:
//! `3 V = S − a A_a − b A_b − c A_c`. `S` is 2π less the exterior angles at the corners and the geodesic curvature of the arcs
//! (Gauss and Bonnet): an arc at the distance `a` that is seen from the axis under the angle `Δ` has `a Δ`. All angles are
//! arcs of tangents of both of their sides, so that none loses digits. A box is eight such parts, by inclusion and exclusion.
//! Strobl, Formella and Pöschel (J. Comput. Phys. 311 (2016) 158) do so for tetrahedra to hexahedra in general position.
//!
//! The error is 10⁻¹⁵ of the cube of the radius, and parts that share faces add up to the ball to rounding.

use std::f64::consts::PI;

/// The volume of the unit ball where `x ≥ a`.
fn cap(a: f64) -> f64 {
    let a = a.clamp(-1.0, 1.0);
    PI / 3.0 * (1.0 - a) * (1.0 - a) * (2.0 + a)
}

/// The height above two planes of the circle where they cut the unit sphere, if they do.
fn height(a: f64, b: f64) -> Option<f64> {
    let square = 1.0 - a * a - b * b;
    (square > 0.0).then(|| square.sqrt())
}

/// The exterior angle where the arcs at two distances meet, and the half angle of the first arc up to there.
fn exterior(a: f64, b: f64, height: f64) -> f64 {
    height.atan2(-a * b)
}

/// The volume of the unit ball where `x ≥ a` and `y ≥ b`, none negative.
fn lune(a: f64, b: f64) -> f64 {
    let Some(w) = height(a, b) else {
        return 0.0;
    };
    let (half_a, half_b) = (w.atan2(b), w.atan2(a));
    let sphere = 2.0 * (PI - exterior(a, b, w) - a * half_a - b * half_b);
    let area_a = (1.0 - a * a) * half_a - b * w;
    let area_b = (1.0 - b * b) * half_b - a * w;
    ((sphere - a * area_a - b * area_b) / 3.0).max(0.0)
}

/// The volume of the unit ball where `x ≥ a`, `y ≥ b` and `z ≥ c`, none negative.
fn octant(a: f64, b: f64, c: f64) -> f64 {
    if a * a + b * b + c * c >= 1.0 {
        return 0.0;
    }
    let (Some(ab), Some(bc), Some(ca)) = (height(a, b), height(b, c), height(c, a)) else {
        return 0.0;
    };
    // The angle of an arc in the plane of `a`, from the plane of `c` to that of `b`; and the area of the disc there.
    let arc = |b: f64, c: f64, ab: f64, ca: f64| ab.atan2(b) - c.atan2(ca);
    let area = |a: f64, b: f64, c: f64, ab: f64, ca: f64, arc: f64| {
        0.5 * ((1.0 - a * a) * arc - b * ab - c * ca) + b * c
    };
    let (of_a, of_b, of_c) = (arc(b, c, ab, ca), arc(c, a, bc, ab), arc(a, b, ca, bc));
    let corners = exterior(a, b, ab) + exterior(b, c, bc) + exterior(c, a, ca);
    let sphere = 2.0 * PI - corners - a * of_a - b * of_b - c * of_c;
    let discs = a * area(a, b, c, ab, ca, of_a)
        + b * area(b, c, a, bc, ab, of_b)
        + c * area(c, a, b, ca, bc, of_c);
    ((sphere - discs) / 3.0).max(0.0)
}

/// The volume of the unit ball where `x ≥ a`, `y ≥ b`.
fn two_planes(a: f64, b: f64) -> f64 {
    match (a >= 0.0, b >= 0.0) {
        (true, true) => lune(a, b),
        (false, _) => cap(b) - two_planes(-a, b),
        (true, false) => cap(a) - lune(a, -b),
    }
}

/// The volume of the unit ball where `x ≥ a`, `y ≥ b`, `z ≥ c`.
fn three_planes(a: f64, b: f64, c: f64) -> f64 {
    if a < 0.0 {
        return two_planes(b, c) - three_planes(-a, b, c);
    }
    if b < 0.0 {
        return two_planes(a, c) - three_planes(a, -b, c);
    }
    if c < 0.0 {
        return two_planes(a, b) - octant(a, b, -c);
    }
    octant(a, b, c)
}

/// The part of a cube, from 0 to 1, that is in a ball around the origin: its lower corner, its edge, the radius. It is 1 or 0
/// where the cube is inside or outside.
pub(crate) fn part_in_ball(corner: [f64; 3], edge: f64, radius: f64) -> f64 {
    let upper = corner.map(|x| x + edge);
    let (mut nearest, mut farthest) = (0.0, 0.0);
    for a in 0..3 {
        let [low, high] = [corner[a], upper[a]];
        let near = low.max(-high).max(0.0);
        nearest += near * near;
        farthest += (low * low).max(high * high);
    }
    if farthest <= radius * radius {
        return 1.0;
    }
    if nearest >= radius * radius {
        return 0.0;
    }
    let unit = |x: f64| (x / radius).clamp(-1.0, 1.0);
    let planes = [0, 1, 2].map(|a| [unit(corner[a]), unit(upper[a])]);
    let mut volume = 0.0;
    for k in 0..8 {
        let [i, j, l] = [k & 1, k >> 1 & 1, k >> 2];
        let part = three_planes(planes[0][i], planes[1][j], planes[2][l]);
        let sign = if (i + j + l) % 2 == 0 { 1.0 } else { -1.0 };
        volume += sign * part;
    }
    (volume * (radius / edge).powi(3)).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;

    /// Numbers from 0 to 1 (Knuth's MMIX).
    fn numbers() -> impl FnMut() -> f64 {
        let mut state = 7u64;
        move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as f64 / (1u64 << 31) as f64
        }
    }

    /// By Simpson's rule over lines: what of each is in the cube and in the ball is exact.
    fn by_lines(corner: [f64; 3], edge: f64, radius: f64) -> f64 {
        let n = 400;
        let mut sum = 0.0;
        for j in 0..n {
            for i in 0..n {
                let at = |k: usize, a: usize| corner[a] + (k as f64 + 0.5) / n as f64 * edge;
                let [x, y] = [at(i, 0), at(j, 1)];
                let half = (radius * radius - x * x - y * y).max(0.0).sqrt();
                let (low, high) = (corner[2].max(-half), (corner[2] + edge).min(half));
                sum += (high - low).max(0.0);
            }
        }
        sum / edge / (n * n) as f64
    }

    #[test]
    fn a_cut_cube_is_as_by_brute_force() {
        let mut next = numbers();
        let mut off = Vec::new();
        for _ in 0..60 {
            let edge = 0.2 + 2.0 * next();
            let corner = [(); 3].map(|()| 2.4 * next() - 1.2 - 0.5 * edge);
            let found = part_in_ball(corner, edge, 1.0);
            off.push((found - by_lines(corner, edge, 1.0)).abs());
        }
        assert!(worst(off.clone()) < 2e-4, "{:e}", worst(off));
    }

    #[test]
    fn caps_halves_and_octants_are_exact() {
        // A cube that reaches over the ball on all sides but one: a cap.
        for d in [-0.999, -0.3, 0.0, 1e-9, 0.5, 0.999_999] {
            let found = part_in_ball([d, -2.0, -2.0], 4.0, 1.0) * 64.0;
            let cap = PI / 3.0 * (1.0 - d) * (1.0 - d) * (2.0 + d);
            assert!((found - cap).abs() < 1e-14, "{d}: {found} of {cap}");
        }
        let octant = part_in_ball([0.0; 3], 1.0, 1.0);
        assert!((octant - PI / 6.0).abs() < 1e-15, "{octant}");
        // The part of a cube around the ball that is cut at its faces: six caps less.
        let (half, r) = (0.9, 1.0);
        let found = part_in_ball([-half; 3], 2.0 * half, r) * (2.0 * half).powi(3);
        let wanted = 4.0 / 3.0 * PI - 6.0 * PI / 3.0 * 0.1 * 0.1 * 2.9;
        assert!((found - wanted).abs() < 1e-14, "{found} of {wanted}");
        assert_eq!(part_in_ball([-0.5; 3], 1.0, 0.9), 1.0);
        assert_eq!(part_in_ball([0.6; 3], 0.1, 1.0), 0.0);
    }

    #[test]
    fn cells_add_up_to_the_ball() {
        let mut next = numbers();
        let mut off = Vec::new();
        for cells in [1.3, 4.0, 8.0, 15.5, 30.0] {
            for _ in 0..3 {
                let (h, radius) = (1.0, 0.5 * cells);
                let centre = [(); 3].map(|()| next());
                let n = cells as i32 + 3;
                let mut sum = 0.0;
                for k in -n..n {
                    for j in -n..n {
                        for i in -n..n {
                            let at = [i, j, k];
                            let corner = std::array::from_fn(|a| f64::from(at[a]) * h - centre[a]);
                            sum += part_in_ball(corner, h, radius);
                        }
                    }
                }
                off.push((sum / (4.0 / 3.0 * PI * radius.powi(3)) - 1.0).abs());
            }
        }
        // A centre on a corner of cells, and tangent faces.
        assert!(worst(off.clone()) < 1e-12, "{:e}", worst(off));
        let tangent: f64 = (0..8)
            .map(|k| {
                part_in_ball(
                    [k & 1, k >> 1 & 1, k >> 2].map(|i| f64::from(i) - 1.0),
                    1.0,
                    1.0,
                )
            })
            .sum();
        assert!((tangent / (4.0 / 3.0 * PI) - 1.0).abs() < 1e-14);
    }
}
