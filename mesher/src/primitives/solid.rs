//! Solids: ellipsoid, box, cylinder, cone, capsule, torus.
//!
//! The sphere is a subdivided octahedron: face grid points (i, j, k), i + j + k = n, pushed
//! to the unit sphere. Unlike a subdivided icosahedron it meets all six axis points and is
//! symmetric under all quarter turns; it costs about a third more triangles.
//!
//! Bound on the sphere: the facet nearest a face's centre is the largest. Its corners lie on
//! a circle seen from the centre under the half angle atan(√2/n), so that its plane is at
//! cos(atan(√2/n)) from the centre: deviation 1 − 1/√(1 + 2/n²).

use super::{ShapeError, circle_segments, unit_circle, within_cap};
use crate::surface::Surface;
use std::f64::consts::PI;

/// Octahedron frequency for a deviation relative to the radius.
fn sphere_frequency(relative: f64) -> f64 {
    // 1 − 1/√(1 + t) ≤ e with t = 2/n², solved for t without cancellation.
    let e = relative.min(0.5);
    let t = e * (2.0 - e) / ((1.0 - e) * (1.0 - e));
    (2.0 / t).sqrt().ceil().max(2.0)
}

/// Index of unit sphere vertices: row k (0 at the equator … n at the pole) of the upper half
/// holds 4(n − k) vertices, the pole row one.
struct Dome {
    n: usize,
}

impl Dome {
    fn row_len(&self, k: usize) -> usize {
        if k == self.n { 1 } else { 4 * (self.n - k) }
    }

    /// Number of vertices in the rows below `k`.
    fn row_start(&self, k: usize) -> usize {
        // Σ 4(n − r) for r < k
        4 * self.n * k - 2 * k * k.saturating_sub(1)
    }

    fn index(&self, k: usize, around: usize) -> u32 {
        (self.row_start(k) + around % self.row_len(k)) as u32
    }

    fn len(&self) -> usize {
        self.row_start(self.n) + 1
    }

    /// Unit vectors, row by row, counter-clockwise from +x.
    fn vertices(&self) -> Vec<[f64; 3]> {
        let mut out = Vec::with_capacity(self.len());
        for k in 0..=self.n {
            for around in 0..self.row_len(k) {
                let rest = self.n - k;
                // The pole, rest = 0, is one vertex of the first quadrant.
                let (quadrant, j) = (around / rest.max(1), around % rest.max(1));
                let (a, b) = ((rest - j) as f64, j as f64);
                let (x, y) = match quadrant {
                    0 => (a, b),
                    1 => (-b, a),
                    2 => (-a, -b),
                    _ => (b, -a),
                };
                let z = k as f64;
                // A sum of small integers: exact, and so symmetric.
                let norm = (x * x + y * y + z * z).sqrt();
                out.push([x / norm + 0.0, y / norm + 0.0, z / norm]);
            }
        }
        out
    }

    /// Triangles seen counter-clockwise from above.
    fn facets(&self) -> Vec<[u32; 3]> {
        let mut out = Vec::with_capacity(4 * self.n * self.n);
        for k in 0..self.n {
            let rest = self.n - k;
            for quadrant in 0..4 {
                for j in 0..rest {
                    let low = quadrant * rest + j;
                    let high = quadrant * (rest - 1) + j;
                    let (a, b) = (self.index(k, low), self.index(k, low + 1));
                    out.push([a, b, self.index(k + 1, high)]);
                    if j + 1 < rest {
                        out.push([b, self.index(k + 1, high + 1), self.index(k + 1, high)]);
                    }
                }
            }
        }
        out
    }
}

/// The image of the unit sphere under a stretch; see [`super::flat::ellipse`] for the bound.
pub(super) fn ellipsoid(
    shape: &'static str,
    radii: [f64; 3],
    deviation: f64,
) -> Result<Surface<3>, ShapeError> {
    let largest = radii.iter().copied().fold(0.0, f64::max);
    let n = sphere_frequency(deviation / largest);
    within_cap(shape, deviation, 8.0 * n * n)?;
    let dome = Dome { n: n as usize };
    let mut vertices = dome.vertices();
    let mut facets = dome.facets();

    // The lower half mirrors the upper one and shares the equator, which is row 0.
    let equator = dome.row_len(0);
    let lower = |v: u32| {
        if (v as usize) < equator {
            v
        } else {
            v + (dome.len() - equator) as u32
        }
    };
    let mirrored: Vec<_> = vertices[equator..]
        .iter()
        .map(|&[x, y, z]| [x, y, -z])
        .collect();
    let below: Vec<_> = facets
        .iter()
        .map(|&[a, b, c]| [lower(a), lower(c), lower(b)])
        .collect();
    vertices.extend(mirrored);
    facets.extend(below);
    for v in &mut vertices {
        for a in 0..3 {
            v[a] *= radii[a];
        }
    }
    Ok(Surface::single_patch(vertices, facets, shape))
}

pub(super) fn cuboid(size: [f64; 3]) -> Surface<3> {
    let half = size.map(|s| 0.5 * s);
    // Vertex number: bit a set means the upper side on axis a.
    let vertices = (0..8usize)
        .map(|v| std::array::from_fn(|a| if v >> a & 1 == 1 { half[a] } else { -half[a] }))
        .collect();
    let mut facets = Vec::with_capacity(12);
    let mut facet_patch = Vec::with_capacity(12);
    for axis in 0..3u32 {
        let (u, v) = (1 << ((axis + 1) % 3), 1 << ((axis + 2) % 3));
        for side in 0..2u32 {
            let o = side << axis;
            // Counter-clockwise about +axis; turned round on the lower side.
            let quad = if side == 1 {
                [o, o | u, o | u | v, o | v]
            } else {
                [o, o | v, o | u | v, o | u]
            };
            facets.push([quad[0], quad[1], quad[2]]);
            facets.push([quad[0], quad[2], quad[3]]);
            facet_patch.extend([(2 * axis + side) as u16; 2]);
        }
    }
    Surface {
        vertices,
        facets,
        facet_patch,
        patches: ["x-", "x+", "y-", "y+", "z-", "z+"]
            .map(String::from)
            .to_vec(),
    }
}

/// Collects facets patch by patch.
struct Builder {
    surface: Surface<3>,
}

impl Builder {
    fn new(patches: &[&str]) -> Self {
        Self {
            surface: Surface {
                vertices: Vec::new(),
                facets: Vec::new(),
                facet_patch: Vec::new(),
                patches: patches.iter().map(ToString::to_string).collect(),
            },
        }
    }

    fn vertex(&mut self, p: [f64; 3]) -> u32 {
        self.surface.vertices.push(p);
        (self.surface.vertices.len() - 1) as u32
    }

    fn ring(&mut self, n: usize, radius: f64, z: f64) -> Vec<u32> {
        (0..n)
            .map(|k| {
                let [c, s] = unit_circle(k, n);
                self.vertex([radius * c, radius * s, z])
            })
            .collect()
    }

    fn facet(&mut self, patch: u16, facet: [u32; 3]) {
        self.surface.facets.push(facet);
        self.surface.facet_patch.push(patch);
    }

    /// The band between two rings of equal length, outward where `low` is below `high` and
    /// both run counter-clockwise.
    fn band(&mut self, patch: u16, low: &[u32], high: &[u32]) {
        let n = low.len();
        for k in 0..n {
            let next = (k + 1) % n;
            self.facet(patch, [low[k], low[next], high[next]]);
            self.facet(patch, [low[k], high[next], high[k]]);
        }
    }

    /// The fan from each pair of ring neighbours to `tip`, outward where the ring runs
    /// counter-clockwise seen from the tip.
    fn fan(&mut self, patch: u16, ring: &[u32], tip: u32) {
        for k in 0..ring.len() {
            self.facet(patch, [ring[k], ring[(k + 1) % ring.len()], tip]);
        }
    }
}

fn reversed(ring: &[u32]) -> Vec<u32> {
    ring.iter().rev().copied().collect()
}

/// Exact along z, so that only the circle's sagitta counts.
pub(super) fn cylinder(radius: f64, height: f64, deviation: f64) -> Result<Surface<3>, ShapeError> {
    let n = circle_segments(radius, deviation);
    within_cap("cylinder", deviation, 4.0 * n)?;
    let n = n as usize;
    let z = 0.5 * height;
    let mut b = Builder::new(&["side", "bottom", "top"]);
    let (low, high) = (b.ring(n, radius, -z), b.ring(n, radius, z));
    let (bottom, top) = (b.vertex([0.0, 0.0, -z]), b.vertex([0.0, 0.0, z]));
    b.band(0, &low, &high);
    b.fan(1, &reversed(&low), bottom);
    b.fan(2, &high, top);
    Ok(b.surface)
}

/// Straight along its generators; the widest gap is the base circle's sagitta.
pub(super) fn cone(radius: f64, height: f64, deviation: f64) -> Result<Surface<3>, ShapeError> {
    let n = circle_segments(radius, deviation);
    within_cap("cone", deviation, 2.0 * n)?;
    let n = n as usize;
    let z = 0.5 * height;
    let mut b = Builder::new(&["side", "base"]);
    let ring = b.ring(n, radius, -z);
    let (base, tip) = (b.vertex([0.0, 0.0, -z]), b.vertex([0.0, 0.0, z]));
    b.fan(0, &ring, tip);
    b.fan(1, &reversed(&ring), base);
    Ok(b.surface)
}

/// Two domes and the band between their equators. On the equator the dome's vertices are at
/// most 2/n apart in angle, a sagitta of about half the dome's own deviation.
pub(super) fn capsule(radius: f64, height: f64, deviation: f64) -> Result<Surface<3>, ShapeError> {
    let z = 0.5 * height - radius;
    // Also refused: a band so low that rounding closes it.
    if z <= radius * f64::EPSILON {
        return Err(ShapeError::Proportion {
            shape: "capsule",
            rule: "the height (tip to tip) must exceed twice the radius",
            first: height,
            second: radius,
        });
    }
    let n = sphere_frequency(deviation / radius);
    within_cap("capsule", deviation, 8.0 * n * n + 8.0 * n)?;
    let dome = Dome { n: n as usize };
    let unit = dome.vertices();
    let facets = dome.facets();
    let mut b = Builder::new(&["side", "bottom", "top"]);
    let mut place = |side: f64| -> Vec<u32> {
        unit.iter()
            .map(|&[x, y, h]| b.vertex([radius * x, radius * y, side * (radius * h + z)]))
            .collect()
    };
    let (low, high) = (place(-1.0), place(1.0));
    let equator = dome.row_len(0);
    b.band(0, &low[..equator], &high[..equator]);
    for &[p, q, r] in &facets {
        b.facet(1, [p, r, q].map(|v| low[v as usize]));
    }
    for &f in &facets {
        b.facet(2, f.map(|v| high[v as usize]));
    }
    Ok(b.surface)
}

/// A grid in the two angles u (about z) and v (about the tube), each quad cut in two.
///
/// Bound: a triangle that interpolates S at the corners of a right triangle with legs h_u,
/// h_v in parameter space deviates by at most (h_u² M_uu + 2 h_u h_v M_uv + h_v² M_vv)/8
/// (Filip, Magedson and Markot 1986, Surface algorithms using bounds on derivatives,
/// theorem 1), with M the largest second derivatives: R + r, r and r.
pub(super) fn torus(major: f64, minor: f64, deviation: f64) -> Result<Surface<3>, ShapeError> {
    if minor >= major {
        return Err(ShapeError::Proportion {
            shape: "torus",
            rule: "the major radius must exceed the minor one",
            first: major,
            second: minor,
        });
    }
    let outer = major + minor;
    // h_u √(R+r) = h_v √r = t balances the two directions: (t²/4)(1 + √(r/(R+r))) ≤ deviation.
    let t = (4.0 * deviation / (1.0 + (minor / outer).sqrt())).sqrt();
    let count = |m: f64| ((2.0 * PI * m.sqrt() / t / 4.0).ceil() * 4.0).max(8.0);
    let (nu, nv) = (count(outer), count(minor));
    within_cap("torus", deviation, 2.0 * nu * nv)?;
    let (nu, nv) = (nu as usize, nv as usize);
    let mut b = Builder::new(&["torus"]);
    let rings: Vec<Vec<u32>> = (0..nv)
        .map(|j| {
            let [c, s] = unit_circle(j, nv);
            b.ring(nu, major + minor * c, minor * s)
        })
        .collect();
    for j in 0..nv {
        b.band(0, &rings[j], &rings[(j + 1) % nv]);
    }
    b.surface.facet_patch = Vec::new();
    Ok(b.surface)
}
