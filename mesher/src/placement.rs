//! Placement of a surface: unit, scale, rotate, fit, translate, in this order, as one affine map.
//!
//! | step | meaning |
//! |---|---|
//! | unit | coordinates of the file × the unit in metres |
//! | scale | about the origin, uniform or per axis; negative factors mirror |
//! | rotate | about the origin, right-handed, in the order of the list; in 2D about z only |
//! | fit | uniform scale and shift, from the box of what the steps before made |
//! | translate | shift, in the unit of the result |
//!
//! **Exactness.** Rotations by multiples of 90° have entries 0 and ±1 and nothing else, those
//! by 30° and 45° steps have equal entries where the true ones are equal. The identity changes
//! no bit but the sign of zero.
//!
//! **Mirroring.** A map of negative determinant would turn a body inside out;
//! [`Affine::apply_surface`] then reverses every facet, so that outward stays outward.
//!
//! **Determinism.** Same bits for any thread count. Cost: one parallel pass over the vertices.

mod affine;

pub use affine::Affine;

use crate::surface::Surface;
use cutlink_device::{ErrorKind, Failure, Named};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt;
use std::str::FromStr;

/// Why a placement cannot be done.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// No unit of that name.
    #[error("unknown unit '{0}'; units: um, mm, cm, m, in, ft, km")]
    UnknownUnit(String),
    /// A rotation that is not `axis:degrees`.
    #[error("cannot read rotation '{0}'; write axis and degrees, such as z:90")]
    RotationSyntax(String),
    /// A scale factor of zero, or not finite.
    #[error("scale factors must be finite and not zero, not {0}")]
    Scale(f64),
    /// Wrong number of values for the dimension.
    #[error("{what} has {got} values, {expected} are needed")]
    Count {
        /// Which option.
        what: &'static str,
        /// Values given.
        got: usize,
        /// Values needed.
        expected: usize,
    },
    /// A value that is not finite.
    #[error("{what} must be finite, not {value}")]
    NotFinite {
        /// Which option.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// Rotation out of the plane.
    #[error("a 2D surface rotates about z only, not about {0:?}")]
    OutOfPlane(Axis),
    /// A target box without extent.
    #[error("fit: the target must be larger than 0 on each axis, axis {axis} has {extent}")]
    FitTarget {
        /// Axis number.
        axis: usize,
        /// Extent of the target there.
        extent: f64,
    },
    /// Nothing to fit.
    #[error("fit: the surface is a single point and cannot be scaled")]
    FitPoint,
    /// The placed surface would not be finite.
    #[error("the placed surface would overflow: coordinates up to {0:e} scaled out of range")]
    Overflow(f64),
    /// A stored map of the wrong shape.
    #[error(
        "an affine map in {dimensions}D needs {dimensions} rows of {dimensions} and as many offsets"
    )]
    Shape {
        /// D.
        dimensions: usize,
    },
}

impl Failure for PlacementError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// A length unit; the result of a placement is in metres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Unit {
    Um,
    Mm,
    Cm,
    #[default]
    M,
    In,
    Ft,
    Km,
}

impl Unit {
    /// Every unit.
    pub const ALL: [Self; 7] = [
        Self::Um,
        Self::Mm,
        Self::Cm,
        Self::M,
        Self::In,
        Self::Ft,
        Self::Km,
    ];

    /// Length of the unit in metres.
    pub fn metres(self) -> f64 {
        match self {
            Self::Um => 1e-6,
            Self::Mm => 1e-3,
            Self::Cm => 1e-2,
            Self::M => 1.0,
            Self::In => 0.0254,
            Self::Ft => 0.3048,
            Self::Km => 1e3,
        }
    }

    /// Its symbol, as [`Unit::from_str`] reads it.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Um => "um",
            Self::Mm => "mm",
            Self::Cm => "cm",
            Self::M => "m",
            Self::In => "in",
            Self::Ft => "ft",
            Self::Km => "km",
        }
    }
}

impl Named for Unit {
    const NAME: &'static str = "Unit";

    fn names() -> Vec<&'static str> {
        Self::ALL.map(Self::symbol).to_vec()
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.symbol())
    }
}

impl FromStr for Unit {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        Self::ALL
            .into_iter()
            .find(|u| u.symbol() == text)
            .ok_or_else(|| PlacementError::UnknownUnit(text.to_owned()))
    }
}

/// Scale factors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Scale {
    /// One factor for all axes.
    Uniform(f64),
    /// A factor per axis.
    PerAxis(Vec<f64>),
}

impl Default for Scale {
    fn default() -> Self {
        Self::Uniform(1.0)
    }
}

/// A coordinate axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Axis {
    X,
    Y,
    Z,
}

/// A right-handed rotation about a coordinate axis; as text `z:90`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Rotation {
    /// Axis.
    pub axis: Axis,
    /// Angle in degrees, counter-clockwise seen from the tip of the axis.
    pub degrees: f64,
}

impl fmt::Display for Rotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axis = match self.axis {
            Axis::X => 'x',
            Axis::Y => 'y',
            Axis::Z => 'z',
        };
        write!(f, "{axis}:{}", self.degrees)
    }
}

impl FromStr for Rotation {
    type Err = PlacementError;

    fn from_str(text: &str) -> Result<Self, PlacementError> {
        let wrong = || PlacementError::RotationSyntax(text.to_owned());
        let (axis, degrees) = text.split_once(':').ok_or_else(wrong)?;
        let axis = match axis.trim() {
            "x" | "X" => Axis::X,
            "y" | "Y" => Axis::Y,
            "z" | "Z" => Axis::Z,
            _ => return Err(wrong()),
        };
        let degrees: f64 = degrees.trim().parse().map_err(|_| wrong())?;
        if degrees.is_finite() {
            Ok(Self { axis, degrees })
        } else {
            Err(wrong())
        }
    }
}

impl TryFrom<String> for Rotation {
    type Error = PlacementError;

    fn try_from(text: String) -> Result<Self, PlacementError> {
        text.parse()
    }
}

impl From<Rotation> for String {
    fn from(rotation: Rotation) -> Self {
        rotation.to_string()
    }
}

/// A target that the surface's box is scaled to, uniformly, and centred in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fit {
    /// This longest extent, centred at the origin.
    Longest(f64),
    /// The largest size that this box holds, centred in it.
    Box {
        /// Lower corner.
        lower: Vec<f64>,
        /// Upper corner.
        upper: Vec<f64>,
    },
}

/// The requested steps; [`Placement::resolve`] checks them and makes the map.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Placement {
    /// Unit of the input.
    pub unit: Unit,
    /// Scale factors.
    pub scale: Scale,
    /// Rotations, the first one first.
    pub rotate: Vec<Rotation>,
    /// Target to fit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fit: Option<Fit>,
    /// Shift, one value an axis; empty for none.
    pub translate: Vec<f64>,
}

impl Placement {
    /// The map for a surface within `bounds`. With `fit` after a rotation by anything but
    /// quarter turns, the box of the turned *box* is fitted, which is never smaller than that
    /// of the turned surface: prefer [`Placement::resolve_surface`].
    ///
    /// # Errors
    /// Any [`PlacementError`] but those of syntax.
    pub fn resolve<const D: usize>(
        &self,
        bounds: [[f64; D]; 2],
    ) -> Result<Affine<D>, PlacementError> {
        let corners: Vec<[f64; D]> = (0..1usize << D)
            .map(|c| std::array::from_fn(|a| bounds[c >> a & 1][a]))
            .collect();
        self.resolve_points(bounds, &corners)
    }

    /// The map for this surface; `fit` uses the exact box of the turned surface. An empty
    /// surface is taken for a point at the origin.
    ///
    /// # Errors
    /// Any [`PlacementError`] but those of syntax.
    pub fn resolve_surface<const D: usize>(
        &self,
        surface: &Surface<D>,
    ) -> Result<Affine<D>, PlacementError> {
        let Some(bounds) = surface.bounds() else {
            return self.resolve([[0.0; D]; 2]);
        };
        if self.fit.is_none() || self.rotate.is_empty() {
            return self.resolve(bounds);
        }
        let used: Vec<[f64; D]> = surface
            .facets
            .iter()
            .flatten()
            .map(|&v| surface.vertices[v as usize])
            .collect();
        self.resolve_points(bounds, &used)
    }

    fn resolve_points<const D: usize>(
        &self,
        bounds: [[f64; D]; 2],
        points: &[[f64; D]],
    ) -> Result<Affine<D>, PlacementError> {
        const { assert!(D == 2 || D == 3, "surfaces are 2D or 3D") };
        let mut map = Affine::identity();
        let factors: [f64; D] = match &self.scale {
            Scale::Uniform(s) => [*s; D],
            Scale::PerAxis(s) => sized("scale", s)?,
        };
        for a in 0..D {
            if factors[a] == 0.0 || !factors[a].is_finite() {
                return Err(PlacementError::Scale(factors[a]));
            }
            map.linear[a][a] = self.unit.metres() * factors[a];
        }
        for rotation in &self.rotate {
            map = rotation.affine()?.compose(&map);
        }
        if let Some(fit) = &self.fit {
            map = fit.affine(bounds_of(&map, points))?.compose(&map);
        }
        if !self.translate.is_empty() {
            let shift: [f64; D] = sized("translate", &self.translate)?;
            for a in 0..D {
                map.offset[a] += shift[a];
            }
        }
        map.check_range(bounds)?;
        Ok(map)
    }
}

fn sized<const D: usize>(what: &'static str, values: &[f64]) -> Result<[f64; D], PlacementError> {
    if let Some(&value) = values.iter().find(|v| !v.is_finite()) {
        return Err(PlacementError::NotFinite { what, value });
    }
    values.try_into().map_err(|_| PlacementError::Count {
        what,
        got: values.len(),
        expected: D,
    })
}

/// Box of the images of `points`.
fn bounds_of<const D: usize>(map: &Affine<D>, points: &[[f64; D]]) -> [[f64; D]; 2] {
    let empty = [[f64::INFINITY; D], [f64::NEG_INFINITY; D]];
    let join = |mut b: [[f64; D]; 2], c: [[f64; D]; 2]| {
        for a in 0..D {
            b[0][a] = b[0][a].min(c[0][a]);
            b[1][a] = b[1][a].max(c[1][a]);
        }
        b
    };
    points
        .par_iter()
        .map(|&p| [map.apply(p); 2])
        .reduce(|| empty, join)
}

impl Rotation {
    /// Cosine and sine, exact at quarter turns and with equal entries at 30° and 45° steps.
    fn cos_sin(self) -> [f64; 2] {
        let turn = self.degrees.rem_euclid(360.0);
        let quarters = (turn / 90.0).floor();
        let rest = turn - 90.0 * quarters;
        let first_octant = |d: f64| {
            if d == 0.0 {
                [1.0, 0.0]
            } else if d == 30.0 {
                [0.75f64.sqrt(), 0.5]
            } else if d == 45.0 {
                [FRAC_1_SQRT_2; 2]
            } else {
                [d.to_radians().cos(), d.to_radians().sin()]
            }
        };
        let [c, s] = if rest <= 45.0 {
            first_octant(rest)
        } else {
            let [c, s] = first_octant(90.0 - rest);
            [s, c]
        };
        match quarters as u32 % 4 {
            0 => [c, s],
            1 => [-s, c],
            2 => [-c, -s],
            _ => [s, -c],
        }
    }

    fn affine<const D: usize>(self) -> Result<Affine<D>, PlacementError> {
        if !self.degrees.is_finite() {
            return Err(PlacementError::NotFinite {
                what: "rotation",
                value: self.degrees,
            });
        }
        let (i, j) = match self.axis {
            Axis::X => (1, 2),
            Axis::Y => (2, 0),
            Axis::Z => (0, 1),
        };
        if i >= D || j >= D {
            return Err(PlacementError::OutOfPlane(self.axis));
        }
        let [c, s] = self.cos_sin().map(|v| v + 0.0);
        let mut map = Affine::identity();
        map.linear[i][i] = c;
        map.linear[j][j] = c;
        map.linear[i][j] = 0.0 - s;
        map.linear[j][i] = s;
        Ok(map)
    }
}

impl Fit {
    fn affine<const D: usize>(&self, bounds: [[f64; D]; 2]) -> Result<Affine<D>, PlacementError> {
        let (room, centre): ([f64; D], [f64; D]) = match self {
            Self::Longest(extent) => ([*extent; D], [0.0; D]),
            Self::Box { lower, upper } => {
                let lower: [f64; D] = sized("fit lower corner", lower)?;
                let upper: [f64; D] = sized("fit upper corner", upper)?;
                (
                    std::array::from_fn(|a| upper[a] - lower[a]),
                    std::array::from_fn(|a| 0.5 * lower[a] + 0.5 * upper[a]),
                )
            }
        };
        let mut factor = f64::INFINITY;
        for axis in 0..D {
            // Written so that NaN, too, is refused.
            if !(room[axis] > 0.0 && room[axis].is_finite()) {
                return Err(PlacementError::FitTarget {
                    axis,
                    extent: room[axis],
                });
            }
            let extent = bounds[1][axis] - bounds[0][axis];
            if extent > 0.0 {
                factor = factor.min(room[axis] / extent);
            }
        }
        if !factor.is_finite() {
            return Err(PlacementError::FitPoint);
        }
        let mut map = Affine::identity();
        for a in 0..D {
            let middle = 0.5 * bounds[0][a] + 0.5 * bounds[1][a];
            map.linear[a][a] = factor;
            map.offset[a] = centre[a] - factor * middle;
        }
        Ok(map)
    }
}
