//! Rigid bodies: where they are, how they get on, and their mass and moments of inertia.
//!
//! | item | shape | unit, frame |
//! |---|---|---|
//! | [`Pose::center`] | D f64 | lengths, of the space that the body moves in |
//! | [`Quaternion`] | w, x, y, z | takes the body's frame to that of the space; in 2D about z |
//! | [`Inertia::tensor`] | 3 × 3 | mass times square lengths, about the centre of mass, axes of the surface; in 2D zz alone, a unit of depth |
//!
//! A point of the body has coordinates in the body's frame, whose origin is the pose's centre. That need not be the
//! centre of mass.

use crate::{Surface, health};

/// A rotation, as a unit quaternion w, x, y, z.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quaternion(pub [f64; 4]);

impl Default for Quaternion {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Quaternion {
    /// No rotation.
    pub const IDENTITY: Self = Self([1.0, 0.0, 0.0, 0.0]);

    /// About the direction of a vector by its length in radians: the exponential map.
    pub fn from_vector(v: [f64; 3]) -> Self {
        let angle = v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let half = 0.5 * angle;
        // sin(x) / x, by its series where the quotient loses digits.
        let share = if half < 1e-4 {
            0.5 * (1.0 - half * half / 6.0)
        } else {
            half.sin() / angle
        };
        Self([half.cos(), share * v[0], share * v[1], share * v[2]]).normalized()
    }

    /// About z by an angle in radians.
    pub fn about_z(angle: f64) -> Self {
        let (sin, cos) = (0.5 * angle).sin_cos();
        Self([cos, 0.0, 0.0, sin])
    }

    /// The inverse of [`from_vector`](Self::from_vector), with an angle of at most π.
    pub fn vector(self) -> [f64; 3] {
        let [w, x, y, z] = if self.0[0] < 0.0 {
            self.0.map(|c| -c)
        } else {
            self.0
        };
        let sin = (x * x + y * y + z * z).sqrt();
        let share = if sin < 1e-8 {
            2.0
        } else {
            2.0 * sin.atan2(w) / sin
        };
        [share * x, share * y, share * z]
    }

    /// First `first`, then this one.
    #[must_use]
    pub fn after(self, first: Self) -> Self {
        let ([a, b, c, d], [e, f, g, h]) = (self.0, first.0);
        Self([
            a * e - b * f - c * g - d * h,
            a * f + b * e + c * h - d * g,
            a * g - b * h + c * e + d * f,
            a * h + b * g - c * f + d * e,
        ])
    }

    /// The opposite rotation.
    #[must_use]
    pub fn inverse(self) -> Self {
        let [w, x, y, z] = self.0;
        Self([w, -x, -y, -z])
    }

    /// With length 1: products of many lose it by rounding.
    #[must_use]
    pub fn normalized(self) -> Self {
        let length = self.0.iter().map(|c| c * c).sum::<f64>().sqrt();
        Self(self.0.map(|c| c / length))
    }

    /// The matrix of the rotation, by rows.
    pub fn matrix(self) -> [[f64; 3]; 3] {
        let [w, x, y, z] = self.0;
        [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - w * z),
                2.0 * (x * z + w * y),
            ],
            [
                2.0 * (x * y + w * z),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - w * x),
            ],
            [
                2.0 * (x * z - w * y),
                2.0 * (y * z + w * x),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ]
    }

    /// A vector, rotated; in 2D by the part about z.
    pub fn rotate<const D: usize>(self, v: [f64; D]) -> [f64; D] {
        product(&self.matrix(), v)
    }
}

/// A matrix times a vector of as many dimensions, or of fewer.
fn product<const D: usize>(matrix: &[[f64; 3]; 3], v: [f64; D]) -> [f64; D] {
    std::array::from_fn(|a| (0..D).map(|b| matrix[a][b] * v[b]).sum())
}

/// Where a rigid body is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pose<const D: usize> {
    /// The place of the origin of the body's frame.
    pub center: [f64; D],
    /// From the body's frame to that of the space.
    pub rotation: Quaternion,
}

impl<const D: usize> Pose<D> {
    /// At a place, not rotated.
    pub fn at(center: [f64; D]) -> Self {
        Self {
            center,
            rotation: Quaternion::IDENTITY,
        }
    }

    /// A point of the body's frame, in the space.
    pub fn apply(&self, point: [f64; D]) -> [f64; D] {
        let turned = self.rotation.rotate(point);
        std::array::from_fn(|a| self.center[a] + turned[a])
    }

    /// Points of the body's frame, in the space: the same bits as by [`apply`](Self::apply).
    pub fn apply_all(
        &self,
        points: impl Iterator<Item = [f64; D]>,
    ) -> impl Iterator<Item = [f64; D]> {
        let (matrix, center) = (self.rotation.matrix(), self.center);
        points.map(move |point| {
            let turned = product(&matrix, point);
            std::array::from_fn(|a| center[a] + turned[a])
        })
    }

    /// A time `dt` later, at a constant velocity of the centre and a constant angular velocity in radians a time (in 2D the last
    /// component), both in the frame of the space: exact for these.
    #[must_use]
    pub fn advance(&self, velocity: [f64; D], spin: [f64; 3], dt: f64) -> Self {
        let by = Quaternion::from_vector(spin.map(|w| w * dt));
        Self {
            center: std::array::from_fn(|a| self.center[a] + dt * velocity[a]),
            rotation: by.after(self.rotation).normalized(),
        }
    }

    /// In 2D the angle of the rotation, between -π and π.
    pub fn angle(&self) -> f64 {
        self.rotation.vector()[2]
    }
}

/// Why a surface has no mass.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RigidError {
    /// It encloses nothing.
    #[error(
        "{edges} edges of the surface do not close it, so that it has no volume and no mass: close it, or give mass and inertia"
    )]
    Open {
        /// Edges that are used more often one way than the other; 0 of a surface without facets.
        edges: u64,
    },
    /// Its facets point inwards.
    #[error("the surface is inside out, with a volume of {volume}: reverse its facets")]
    Inward {
        /// The signed volume.
        volume: f64,
    },
    /// A density that no body has.
    #[error("the density is {density}: a positive number is needed")]
    Density {
        /// The density.
        density: f64,
    },
}

/// Mass and moments of inertia of a body of uniform density.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Inertia<const D: usize> {
    /// Volume; in 2D the area.
    pub volume: f64,
    /// Mass.
    pub mass: f64,
    /// Centre of mass.
    pub center: [f64; D],
    /// Moments and, off the diagonal, products of inertia, less their sign.
    pub tensor: [[f64; 3]; 3],
}

impl<const D: usize> Inertia<D> {
    /// Of the body that a surface encloses: the integrals of 1, x and x x over the pyramids (2D: triangles) between each facet and
    /// the middle of the surface's box, which are polynomials of the corners. Parts that overlap count each. Cost: a check
    /// of the surface ([`health::check`]), and one pass over the facets, in their order.
    ///
    /// # Errors
    /// Where the surface is open or inside out, or the density is no positive number.
    pub fn of(surface: &Surface<D>, density: f64) -> Result<Self, RigidError> {
        const { assert!(D == 2 || D == 3, "surfaces are 2D or 3D") };
        if !(density.is_finite() && density > 0.0) {
            return Err(RigidError::Density { density });
        }
        let health = health::check(surface);
        if !health.closed() {
            let edges = health.unbalanced_edges;
            return Err(RigidError::Open { edges });
        }
        let [low, high] = health.bounds;
        let middle: [f64; D] = std::array::from_fn(|a| 0.5 * low[a] + 0.5 * high[a]);
        let (mut volume, mut first, mut second) = (0.0, [0.0; D], [[0.0; D]; D]);
        for f in 0..surface.facets.len() {
            let corners = surface.corners(f);
            let arms = corners.map(|x| -> [f64; D] { std::array::from_fn(|a| x[a] - middle[a]) });
            let part = pyramid(&arms);
            let sum: [f64; D] = std::array::from_fn(|a| arms.iter().map(|arm| arm[a]).sum());
            volume += part;
            for a in 0..D {
                first[a] += part * sum[a] / (D + 1) as f64;
                for b in 0..D {
                    let squares: f64 = arms.iter().map(|arm| arm[a] * arm[b]).sum();
                    second[a][b] += part * (sum[a] * sum[b] + squares) / ((D + 1) * (D + 2)) as f64;
                }
            }
        }
        // NaN of vertices that are not finite is no volume either.
        if volume.is_nan() || volume <= 0.0 {
            return Err(RigidError::Inward { volume });
        }
        let offset = first.map(|x| x / volume);
        let about = |a: usize, b: usize| match a < D && b < D {
            true => density * (second[a][b] - volume * offset[a] * offset[b]),
            false => 0.0,
        };
        let trace: f64 = (0..D).map(|a| about(a, a)).sum();
        let entry = |a: usize, b: usize| match (D, a == b) {
            (2, _) if (a, b) != (2, 2) => 0.0,
            (_, true) => trace - about(a, a),
            (_, false) => -about(a, b),
        };
        Ok(Self {
            volume,
            mass: density * volume,
            center: std::array::from_fn(|a| middle[a] + offset[a]),
            tensor: std::array::from_fn(|a| std::array::from_fn(|b| entry(a, b))),
        })
    }
}

/// The signed volume between the origin and a facet, positive where the facet looks away from it.
fn pyramid<const D: usize>(corners: &[[f64; D]; D]) -> f64 {
    let at = |k: usize, a: usize| corners[k % D][a % D];
    if D == 2 {
        return 0.5 * (at(0, 0) * at(1, 1) - at(0, 1) * at(1, 0));
    }
    let minor = |a: usize, b: usize| at(1, a) * at(2, b) - at(1, b) * at(2, a);
    (at(0, 0) * minor(1, 2) + at(0, 1) * minor(2, 0) + at(0, 2) * minor(0, 1)) / 6.0
}
