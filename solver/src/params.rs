//! What a flow is: lattice, collision, conditions. All values are in units of the root
//! lattice: Δx = Δt = 1 on level 0 and density 1.

use crate::{
    Adaptation, CellStorage, LatticeHeat, LatticeKind, SolverError, Sponge, Variation, tables::KEPT,
};
use std::{fmt, str::FromStr};

/// How populations relax to equilibrium.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Collision {
    /// BGK: one relaxation time (Bhatnagar, Gross & Krook 1954).
    Bgk,
    /// TRT: two relaxation times (Ginzburg 2008). The even one follows from viscosity, the odd one from
    /// the magic parameter (τ₊ - 1/2)(τ₋ - 1/2).
    Trt {
        /// 3/16 puts a straight bounce-back wall exactly halfway, for any viscosity; 1/4 is the
        /// most stable.
        magic: f64,
    },
    /// Recursive regularization up to third order (Malaspinas 2015), with a bulk viscosity that damps sound.
    Regularized,
    /// Cumulants on D3Q27 with diffusion of fourth order (Geier, Pasquali & Schönherr 2017), the viscosity below 1/42 of the
    /// level's lattice; above, all rates but the viscosity's are 1.
    Cumulant {
        /// Third-order cumulants above this share of the density relax with a rate of 1 (their λ); they use 0.01.
        limiter: f64,
    },
    /// Entropic multi-relaxation on D2Q9 or D3Q27 (Karlin, Bösch & Chikatamarla 2014): without a parameter.
    Kbc,
}

impl Collision {
    /// The magic parameter Λ = (τ⁺ - 1/2) (τ⁻ - 1/2) at h = τ⁺ - 1/2, by which walls lie where they do.
    pub fn magic_at(self, h: f64) -> f64 {
        match self {
            Self::Bgk => h * h,
            Self::Trt { magic } => magic,
            Self::Regularized | Self::Kbc => 0.5 * h,
            // Below, the rates of low viscosity act.
            Self::Cumulant { .. } if h < 1.0 / 14.0 => 0.15,
            Self::Cumulant { .. } => 0.75 * h,
        }
    }

    /// Names of all of them, as users write them.
    pub const NAMES: &'static [&'static str] = &["bgk", "trt", "regularized", "cumulant", "kbc"];
    /// Cumulants with the limiter of their authors.
    pub const CUMULANT: Self = Self::Cumulant { limiter: 0.01 };

    /// Whether it exists on a lattice.
    pub fn fits(&self, lattice: LatticeKind) -> bool {
        match self {
            Self::Cumulant { .. } => lattice == LatticeKind::D3Q27,
            Self::Kbc => lattice != LatticeKind::D3Q19,
            _ => true,
        }
    }
}

/// Large-eddy simulation: a viscosity for what the mesh does not resolve, added in each cell, from the strain that its populations
/// hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Les {
    /// None.
    None,
    /// ν_t = (C Δx)² √(2 S:S) (Smagorinsky 1963). Also damps laminar shear, and too much beside walls.
    Smagorinsky {
        /// C, 0.1 to 0.2.
        constant: f64,
    },
    /// ν_t = C Δx² max(-det S, 0) / (S:S / 2) (Verstappen 2011): 0 in plane flow and laminar shear, so that walls need
    /// nothing else; 3D only.
    Qr {
        /// C; 3/(2π²) removes what a cell cannot hold.
        constant: f64,
    },
}

impl Les {
    /// Names of all of them, as users write them.
    pub const NAMES: &'static [&'static str] = &["none", "smagorinsky", "qr"];
    /// The constant of channels and wakes.
    pub const SMAGORINSKY: Self = Self::Smagorinsky { constant: 0.1 };
    /// The theoretical constant, 3/(2π²).
    pub const QR: Self = Self::Qr {
        constant: 0.151_981_775_463_506_9,
    };
}

/// Floating-point type of populations in memory, less their weights, and of arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Precision {
    /// Stored in 16 bits ([`F16`](crate::F16)), arithmetic in 32: half the memory of `F32`, and eleven significant bits.
    F16,
    /// 32 bits.
    F32,
    /// 64 bits.
    F64,
}

impl Precision {
    /// Bytes of a stored population.
    pub const fn stored_bytes(self) -> u64 {
        match self {
            Self::F16 => 2,
            Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// Bytes of a number of arithmetic, and of a moment that passes between levels.
    pub const fn real_bytes(self) -> u64 {
        match self {
            Self::F16 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

/// How ghost cells get their values from the coarser level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interpolation {
    /// From the 2^D coarse cells around the place: second order.
    Linear,
    /// From the 3^D coarse cells around it, by parabolas that keep the coarse cell's mean: third order.
    /// Where the body or the box leaves too few of them, linear.
    Cubic,
}

/// Boundary scheme of walls that cut links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WallScheme {
    /// Halfway bounce-back (Ladd 1994): first order on a curved wall.
    BounceBack,
    /// Linear interpolated bounce-back from two cells (Bouzidi, Firdaouss & Lallemand 2001, eq. 5).
    Linear,
    /// Quadratic interpolated bounce-back from three cells (Bouzidi et al. 2001, eq. 14).
    Quadratic,
    /// Central linear interpolation (Ginzburg, Verhaeghe & d'Humières 2008, §5.2) from a tenth of a link on, linear below. With TRT
    /// the error of a steady flow at a low Reynolds number hardly depends on the viscosity.
    Local,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bgk => "bgk",
            Self::Trt { .. } => "trt",
            Self::Regularized => "regularized",
            Self::Cumulant { .. } => "cumulant",
            Self::Kbc => "kbc",
        })
    }
}

impl fmt::Display for Les {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "none",
            Self::Smagorinsky { .. } => "smagorinsky",
            Self::Qr { .. } => "qr",
        })
    }
}

impl FromStr for Les {
    type Err = SolverError;
    /// By its name, with its usual constant.
    fn from_str(text: &str) -> Result<Self, SolverError> {
        match text {
            "none" => Ok(Self::None),
            "smagorinsky" => Ok(Self::SMAGORINSKY),
            "qr" => Ok(Self::QR),
            _ => Err(SolverError::Name {
                what: "eddy viscosity",
                text: text.into(),
                known: Self::NAMES,
            }),
        }
    }
}

impl FromStr for Collision {
    type Err = SolverError;
    /// By its name; of TRT with a magic parameter of 3/16, of cumulants with the limiter of their authors.
    fn from_str(text: &str) -> Result<Self, SolverError> {
        match text {
            "bgk" => Ok(Self::Bgk),
            "trt" => Ok(Self::Trt { magic: 3.0 / 16.0 }),
            "regularized" => Ok(Self::Regularized),
            "cumulant" => Ok(Self::CUMULANT),
            "kbc" => Ok(Self::Kbc),
            _ => Err(SolverError::Name {
                what: "collision",
                text: text.into(),
                known: Self::NAMES,
            }),
        }
    }
}

macro_rules! names {
    ($type:ty, $what:literal, $($value:path => $name:literal),+) => {
        impl $type {
            /// Names of all of them, as users write them.
            pub const NAMES: &'static [&'static str] = &[$($name),+];
        }
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($value => $name),+ })
            }
        }
        impl FromStr for $type {
            type Err = SolverError;
            fn from_str(text: &str) -> Result<Self, SolverError> {
                match text {
                    $($name => Ok($value),)+
                    _ => Err(SolverError::Name { what: $what, text: text.into(), known: Self::NAMES }),
                }
            }
        }
    };
}
names!(LatticeKind, "lattice", Self::D2Q9 => "d2q9", Self::D3Q19 => "d3q19", Self::D3Q27 => "d3q27");
names!(Precision, "precision", Self::F16 => "f16", Self::F32 => "f32", Self::F64 => "f64");
names!(Interpolation, "interpolation", Self::Linear => "linear", Self::Cubic => "cubic");
names!(WallScheme, "wall scheme", Self::BounceBack => "bounce-back", Self::Linear => "linear", Self::Quadratic => "quadratic", Self::Local => "local");

/// What happens at a face of the box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FaceCondition<const D: usize> {
    /// The flow leaves here and enters at the opposite face, which has to be periodic too.
    Periodic,
    /// A given velocity halfway beyond the last cells: zero for no slip, else an inlet or a moving wall. No-slip faces, and
    /// those of a closed box that move along themselves, are bounce-back with momentum (Ladd 1994); the others
    /// have ghost cells with the velocity extrapolated through the face (Guo, Zheng & Shi 2002). What passes a face
    /// has the mass flow of this velocity at density 1.
    Velocity([f64; D]),
    /// A wall without friction: specular reflection.
    FreeSlip,
    /// A given density, by ghost cells in equilibrium; pressure is density / 3. Reflects sound.
    Pressure(f64),
    /// The flow leaves: as [`Pressure`](Self::Pressure), but the density outside is that inside, drawn to 1 by 3 % a step.
    /// Reflects a third of sound at normal incidence.
    Outflow,
    /// A far field: fluid and sound may leave, and what enters has this velocity and density, by the
    /// characteristics along the normal. Absorbs sound at normal incidence.
    FarField {
        /// Velocity of the undisturbed flow.
        velocity: [f64; D],
        /// Its density.
        density: f64,
    },
}

impl<const D: usize> FaceCondition<D> {
    /// Whether this is a moving wall.
    pub fn moves(&self) -> bool {
        matches!(self, Self::Velocity(v) if *v != [0.0; D])
    }

    /// Whether fluid passes a face across this axis: an open boundary, or a velocity that is not along the face.
    pub fn passes(&self, axis: usize) -> bool {
        self.opens() || matches!(self, Self::Velocity(v) if v[axis] != 0.0)
    }

    /// Whether this is an open boundary, which fixes the mean density.
    pub fn opens(&self) -> bool {
        matches!(
            self,
            Self::Pressure(_) | Self::Outflow | Self::FarField { .. }
        )
    }
}

/// How the wall of a patch moves. Velocities are in the root lattice's units.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Motion<const D: usize> {
    /// Along itself, or through a fixed surface (an inlet): this velocity everywhere.
    Uniform([f64; D]),
    /// About an axis through `center` (root cells from the lower corner of the box) with an angular
    /// velocity (radians a root step; in 2D only the last component counts).
    Rotation {
        /// A point of the axis.
        center: [f64; D],
        /// Angular velocity.
        omega: [f64; 3],
    },
}

impl<const D: usize> Motion<D> {
    /// The velocity at a place, in root cells from the lower corner of the box.
    pub fn velocity_at(&self, at: [f64; D]) -> [f64; D] {
        match *self {
            Self::Uniform(velocity) => velocity,
            Self::Rotation { center, omega } => {
                let arm = |a: usize| if a < D { at[a] - center[a] } else { 0.0 };
                let omega = if D == 2 { [0.0, 0.0, omega[2]] } else { omega };
                std::array::from_fn(|a| {
                    let (b, c) = ((a + 1) % 3, (a + 2) % 3);
                    omega[b] * arm(c) - omega[c] * arm(b)
                })
            }
        }
    }
}

/// What happens where a patch of the surface cuts links.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PatchCondition<const D: usize> {
    /// A wall, still or moving; a moving one that is crossed by the flow is an inlet.
    Wall {
        /// How populations come back.
        scheme: WallScheme,
        /// How it moves.
        motion: Motion<D>,
    },
    /// An open boundary with a given density.
    Pressure(f64),
}

impl<const D: usize> PatchCondition<D> {
    /// Whether this is a moving wall.
    pub fn moves(&self) -> bool {
        match self {
            Self::Wall {
                motion: Motion::Uniform(v),
                ..
            } => *v != [0.0; D],
            Self::Wall {
                motion: Motion::Rotation { omega, .. },
                ..
            } => *omega != [0.0; 3],
            Self::Pressure(_) => false,
        }
    }

    /// Whether this is an open boundary, which fixes the mean density.
    pub fn opens(&self) -> bool {
        matches!(self, Self::Pressure(_))
    }

    /// A wall at rest.
    pub fn wall(scheme: WallScheme) -> Self {
        let motion = Motion::Uniform([0.0; D]);
        Self::Wall { scheme, motion }
    }
}

/// A flow on a mesh; see the module for the units.
#[derive(Debug, Clone, PartialEq)]
pub struct Params<const D: usize> {
    /// The lattice.
    pub lattice: LatticeKind,
    /// The collision.
    pub collision: Collision,
    /// Eddy viscosity.
    pub les: Les,
    /// Floating-point precision.
    pub precision: Precision,
    /// Kinematic viscosity on the root lattice: (τ - 1/2) / 3 there.
    pub viscosity: f64,
    /// Uniform acceleration (Guo, Zheng & Shi 2002), a root step.
    pub acceleration: [f64; D],
    /// Of each axis, the lower and the upper face.
    pub faces: [[FaceCondition<D>; 2]; D],
    /// By patch of the mesh.
    pub patches: Vec<PatchCondition<D>>,
    /// Patches whose walls follow the law of the wall, so that cells there may be far larger than the viscous length; see
    /// [`friction_velocity`](crate::friction_velocity). Walls at rest, or that move steadily.
    pub modeled: Vec<usize>,
    /// Interpolation of ghost cells between levels.
    pub interpolation: Interpolation,
    /// Reference point of torques, in root cells from the lower corner of the box.
    pub moment_center: [f64; D],
    /// Whether to compute forces each root step.
    pub forces: bool,
    /// What replaces values of `faces`, `patches` and `acceleration` that vary in position or time, at most one a place. What
    /// they have themselves should be of the same size then: the stability and the balance of walls are judged by it.
    pub variations: Vec<Variation<D>>,
    /// Layers before faces that damp sound, at most one a face.
    pub sponges: Vec<Sponge>,
    /// How the mesh follows the flow; none for a mesh that stays.
    pub adaptation: Option<Adaptation<D>>,
    /// Heat, if the flow has a temperature.
    pub heat: Option<LatticeHeat<D>>,
}

/// Whether some face or patch is an open boundary (pressure, outflow, far field), which fixes the mean density.
pub fn has_opening<const D: usize>(
    faces: &[[FaceCondition<D>; 2]; D],
    patches: &[PatchCondition<D>],
) -> bool {
    faces.iter().flatten().any(FaceCondition::opens) || patches.iter().any(PatchCondition::opens)
}

/// Whether fluid passes a face with a given velocity.
pub fn is_passed<const D: usize>(faces: &[[FaceCondition<D>; 2]; D]) -> bool {
    let passes = |a: usize| {
        let of_axis = move |face: &FaceCondition<D>| matches!(face, FaceCondition::Velocity(v) if v[a] != 0.0);
        faces[a].iter().any(of_axis)
    };
    (0..D).any(passes)
}

/// Whether moving walls alone drive the flow, in a closed box that nothing passes the faces of, as in a lid-driven cavity.
pub fn is_driven_by_walls<const D: usize>(
    faces: &[[FaceCondition<D>; 2]; D],
    patches: &[PatchCondition<D>],
) -> bool {
    let moves = faces.iter().flatten().any(FaceCondition::moves)
        || patches.iter().any(PatchCondition::moves);
    moves && !has_opening(faces, patches) && !is_passed(faces)
}

impl<const D: usize> Params<D> {
    /// Bytes that an update of a cell with such storage reads and writes; as many as two buffers take for it.
    pub fn update_bytes(&self, storage: CellStorage) -> u64 {
        let values = match storage {
            CellStorage::Populations => self.lattice.velocities(),
            CellStorage::Moments => KEPT,
        };
        2 * self.precision.stored_bytes() * values as u64
    }

    /// A periodic box without patches at rest: recursive regularization in `f32`, no acceleration, forces on. `viscosity`
    /// is in units of the root lattice. Set what differs; a mesh with a surface needs a condition for each patch.
    pub fn new(lattice: LatticeKind, viscosity: f64) -> Self {
        Self {
            lattice,
            collision: Collision::Regularized,
            les: Les::None,
            precision: Precision::F32,
            viscosity,
            acceleration: [0.0; D],
            faces: [[FaceCondition::Periodic; 2]; D],
            patches: Vec::new(),
            modeled: Vec::new(),
            interpolation: Interpolation::Cubic,
            moment_center: [0.0; D],
            forces: true,
            variations: Vec::new(),
            sponges: Vec::new(),
            adaptation: None,
            heat: None,
        }
    }

    /// Whether an acceleration or moving walls alone drive the flow: what a step adds may then be below the rounding of 16 bits.
    pub(crate) fn is_driven_slowly(&self) -> bool {
        let varies = self
            .variations
            .iter()
            .any(|v| v.place == crate::Place::Acceleration);
        varies || self.acceleration != [0.0; D] || is_driven_by_walls(&self.faces, &self.patches)
    }

    /// [`has_opening`] of its faces and patches.
    pub fn has_opening(&self) -> bool {
        has_opening(&self.faces, &self.patches)
    }
}
