//! Shapes that need no file: triangulated (3D) or cut into segments (2D) to a stated deviation.
//!
//! | item | shape, order, unit |
//! |---|---|
//! | in | a [`Shape2`] or [`Shape3`] and a deviation, in one length unit of the caller's |
//! | out | a [`Surface`]: closed, 2-manifold, outward, no degenerate facet, welded |
//!
//! **Frame.** Every shape is centred at the origin; the axis of cylinder, cone (tip up),
//! capsule and torus is z. Others are the NACA shapes: the chord runs along x from 0
//! (nose) to `chord` (trailing edge), thickness along y in 2D; the wing has its thickness
//! along z and its span along y, from −span/2 (`tip_left`) to span/2 (`tip_right`); and the Ahmed
//! body, which stands above the ground z = 0, from x = −length (nose) to 0.
//!
//! **Deviation.** All vertices lie on the true surface (up to rounding), and no point of a
//! facet is farther from it than the deviation. Each generator states its bound. A deviation
//! larger than the shape gives the coarsest triangulation, at least 8 segments a circle. [`Shape2::body`] and
//! [`Shape3::body`] stretch round shapes to the true area or volume, within the same deviation.
//!
//! **Symmetry.** Round shapes are built by mirroring one octant (quadrant), so that they are
//! bit for bit symmetric under mirror and quarter turns about the axes and their box is exact.
//!
//! **Determinism.** Sequential; same bits for any thread count. `sin` and `cos` come from the
//! platform's mathematics library, so last bits may differ between platforms.
//!
//! **Cost.** Linear in the facets, which are at most [`MAX_FACETS`].

mod ahmed;
mod equal;
mod flat;
mod naca;
mod parse;
mod solid;

pub use parse::{AnyShape, SHAPES, parse_shape};

use crate::surface::Surface;
use cutlink_device::{ErrorKind, Failure};
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Most facets a primitive may have; a deviation that needs more is an error.
pub const MAX_FACETS: usize = 20_000_000;

/// Why a shape cannot be built or understood.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ShapeError {
    /// A length that must be positive and finite is not.
    #[error("{shape}: {key} must be positive and finite, not {value}")]
    NotPositive {
        /// Shape name.
        shape: &'static str,
        /// The parameter.
        key: &'static str,
        /// Its value.
        value: f64,
    },
    /// Parameters that are fine alone contradict one another.
    #[error("{shape}: {rule}, but {first} and {second} were given")]
    Proportion {
        /// Shape name.
        shape: &'static str,
        /// What must hold.
        rule: &'static str,
        /// First value, in the order of the rule.
        first: f64,
        /// Second value.
        second: f64,
    },
    /// A number that is not within its bounds.
    #[error("{shape}: {key} must lie between {least} and {most}, not {value}")]
    Range {
        /// Shape name.
        shape: &'static str,
        /// The parameter.
        key: &'static str,
        /// Its value.
        value: f64,
        /// Its bounds.
        least: f64,
        /// The upper one.
        most: f64,
    },
    /// Four digits that describe no section.
    #[error("NACA {digits}: {reason}")]
    Naca {
        /// The digits as given.
        digits: String,
        /// What is wrong.
        reason: &'static str,
    },
    /// A polygon without an inside.
    #[error("polygon: {reason}")]
    Polygon {
        /// What is wrong, with the point's number.
        reason: String,
    },
    /// More facets than [`MAX_FACETS`].
    #[error(
        "{shape}: a deviation of {deviation:e} needs about {facets:.1e} facets, more than {max}; use a larger \
        deviation",
        max = MAX_FACETS
    )]
    TooFine {
        /// Shape name.
        shape: &'static str,
        /// The requested deviation.
        deviation: f64,
        /// Facets it would take.
        facets: f64,
    },
    /// No shape of that name.
    #[error("unknown shape '{name}'; did you mean '{nearest}'? shapes: {all}")]
    UnknownShape {
        /// As given.
        name: String,
        /// The nearest name there is.
        nearest: String,
        /// All names.
        all: String,
    },
    /// A shape has no such key.
    #[error("{shape}: unknown key '{key}'; did you mean '{nearest}'? grammar: {grammar}")]
    UnknownKey {
        /// Shape name.
        shape: &'static str,
        /// As given.
        key: String,
        /// The nearest key there is.
        nearest: String,
        /// The shape's grammar.
        grammar: &'static str,
    },
    /// Text that does not follow the shape's grammar.
    #[error("{shape}: {reason} in '{text}'; grammar: {grammar}")]
    Syntax {
        /// Shape name.
        shape: &'static str,
        /// What is wrong.
        reason: &'static str,
        /// The offending piece.
        text: String,
        /// The shape's grammar.
        grammar: &'static str,
    },
}

impl Failure for ShapeError {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Input
    }
}

/// A closed curve in 2D.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Shape2 {
    /// Circle.
    Circle {
        /// Radius.
        radius: f64,
    },
    /// Ellipse with its axes along x and y.
    Ellipse {
        /// Half axes.
        radii: [f64; 2],
    },
    /// Rectangle; patches `x-`, `x+`, `y-`, `y+`.
    Rectangle {
        /// Edge lengths.
        size: [f64; 2],
    },
    /// Polygon through the points, closed by itself; not centred. Turned counter-clockwise
    /// where given clockwise. Self-crossing is not looked for: the fill rule decides.
    Polygon {
        /// Corners in order, at least three.
        points: Vec<[f64; 2]>,
    },
    /// NACA 4-digit section with a closed trailing edge; patches `upper`, `lower`.
    Naca {
        /// The four digits, each 0–9.
        digits: [u8; 4],
        /// Chord length.
        chord: f64,
    },
}

/// A solid body.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Shape3 {
    /// Sphere.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// Ellipsoid with its axes along x, y, z.
    Ellipsoid {
        /// Half axes.
        radii: [f64; 3],
    },
    /// Box; patches `x-`, `x+`, `y-`, `y+`, `z-`, `z+`.
    Box {
        /// Edge lengths.
        size: [f64; 3],
    },
    /// Cylinder; patches `side`, `bottom`, `top`.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Length along z.
        height: f64,
    },
    /// Cone, tip at z = height/2; patches `side`, `base`.
    Cone {
        /// Radius of the base.
        radius: f64,
        /// Length along z.
        height: f64,
    },
    /// Cylinder with hemispherical ends; patches `side`, `bottom`, `top`.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length along z from tip to tip, more than twice the radius.
        height: f64,
    },
    /// Ring torus about z.
    Torus {
        /// Radius of the centre circle.
        major: f64,
        /// Radius of the tube, smaller than `major`.
        minor: f64,
    },
    /// Straight untwisted wing of a NACA 4-digit section, sharp closed trailing edge, flat
    /// tips; patches `upper`, `lower`, `tip_left` (−y), `tip_right` (+y).
    NacaWing {
        /// The four digits, each 0–9.
        digits: [u8; 4],
        /// Chord length.
        chord: f64,
        /// Length along y.
        span: f64,
    },
    /// Ahmed body without stilts: a generic car of 1.044 m x 0.389 m x 0.288 m, 0.05 m above the ground; patches `front`
    /// (with the rounded edges), `top`, `bottom`, `left` (−y), `right` (+y), `slant`, `base`.
    Ahmed {
        /// Length along x; width, height, radius and slant are in proportion.
        length: f64,
        /// Angle of the slant at the rear below the horizontal, 0 to 40 degrees.
        slant: f64,
        /// Height above the ground.
        clearance: f64,
    },
}

impl Shape2 {
    /// The name that [`parse_shape`] knows it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Circle { .. } => "circle",
            Self::Ellipse { .. } => "ellipse",
            Self::Rectangle { .. } => "rectangle",
            Self::Polygon { .. } => "polygon",
            Self::Naca { .. } => "naca",
        }
    }

    /// Segments, counter-clockwise, no point farther than `deviation` from the true curve.
    ///
    /// # Errors
    /// A size or deviation that is not positive and finite, no valid section or polygon, or
    /// a deviation that needs more than [`MAX_FACETS`] segments.
    pub fn surface(&self, deviation: f64) -> Result<Surface<2>, ShapeError> {
        let name = self.name();
        positive(name, "deviation", deviation)?;
        match self {
            Self::Circle { radius } => {
                positive(name, "radius", *radius)?;
                flat::ellipse(name, [*radius; 2], deviation)
            }
            Self::Ellipse { radii } => {
                all_positive(name, "radii", radii)?;
                flat::ellipse(name, *radii, deviation)
            }
            Self::Rectangle { size } => {
                all_positive(name, "size", size)?;
                Ok(flat::rectangle(*size))
            }
            Self::Polygon { points } => flat::polygon(points),
            Self::Naca { digits, chord } => {
                positive(name, "chord", *chord)?;
                naca::Section::new(*digits)?.airfoil(*chord, deviation)
            }
        }
    }

    /// Area of the true shape; `None` where no closed form is known (cambered sections).
    pub fn area(&self) -> Option<f64> {
        match self {
            Self::Circle { radius } => Some(PI * radius * radius),
            Self::Ellipse { radii: [a, b] } => Some(PI * a * b),
            Self::Rectangle { size: [a, b] } => Some(a * b),
            Self::Polygon { points } => Some(flat::signed_area(points).abs()),
            Self::Naca { digits, chord } => naca::area(*digits, *chord),
        }
    }
}

impl Shape3 {
    /// The name that [`parse_shape`] knows it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Sphere { .. } => "sphere",
            Self::Ellipsoid { .. } => "ellipsoid",
            Self::Box { .. } => "box",
            Self::Cylinder { .. } => "cylinder",
            Self::Cone { .. } => "cone",
            Self::Capsule { .. } => "capsule",
            Self::Torus { .. } => "torus",
            Self::NacaWing { .. } => "wing",
            Self::Ahmed { .. } => "ahmed",
        }
    }

    /// Triangles, outward, no point farther than `deviation` from the true surface.
    ///
    /// # Errors
    /// A size or deviation that is not positive and finite, impossible proportions or
    /// section, or a deviation that needs more than [`MAX_FACETS`] triangles.
    pub fn surface(&self, deviation: f64) -> Result<Surface<3>, ShapeError> {
        let name = self.name();
        positive(name, "deviation", deviation)?;
        match *self {
            Self::Sphere { radius } => {
                positive(name, "radius", radius)?;
                solid::ellipsoid(name, [radius; 3], deviation)
            }
            Self::Ellipsoid { radii } => {
                all_positive(name, "radii", &radii)?;
                solid::ellipsoid(name, radii, deviation)
            }
            Self::Box { size } => {
                all_positive(name, "size", &size)?;
                Ok(solid::cuboid(size))
            }
            Self::Cylinder { radius, height } => {
                positive(name, "radius", radius)?;
                positive(name, "height", height)?;
                solid::cylinder(radius, height, deviation)
            }
            Self::Cone { radius, height } => {
                positive(name, "radius", radius)?;
                positive(name, "height", height)?;
                solid::cone(radius, height, deviation)
            }
            Self::Capsule { radius, height } => {
                positive(name, "radius", radius)?;
                positive(name, "height", height)?;
                solid::capsule(radius, height, deviation)
            }
            Self::Torus { major, minor } => {
                positive(name, "major", major)?;
                positive(name, "minor", minor)?;
                solid::torus(major, minor, deviation)
            }
            Self::NacaWing {
                digits,
                chord,
                span,
            } => {
                positive(name, "chord", chord)?;
                positive(name, "span", span)?;
                naca::Section::new(digits)?.wing(chord, span, deviation)
            }
            Self::Ahmed {
                length,
                slant,
                clearance,
            } => ahmed::body(length, slant, clearance, deviation),
        }
    }

    /// Volume of the true shape; `None` where no closed form is known (cambered wings).
    pub fn volume(&self) -> Option<f64> {
        Some(match *self {
            Self::Sphere { radius } => 4.0 / 3.0 * PI * radius.powi(3),
            Self::Ellipsoid { radii: [a, b, c] } => 4.0 / 3.0 * PI * a * b * c,
            Self::Box { size: [a, b, c] } => a * b * c,
            Self::Cylinder { radius, height } => PI * radius * radius * height,
            Self::Cone { radius, height } => PI / 3.0 * radius * radius * height,
            Self::Capsule { radius, height } => {
                PI * radius * radius * (height - 2.0 / 3.0 * radius)
            }
            Self::Torus { major, minor } => 2.0 * PI * PI * major * minor * minor,
            Self::NacaWing {
                digits,
                chord,
                span,
            } => naca::area(digits, chord)? * span,
            Self::Ahmed { length, slant, .. } => ahmed::volume(length, slant),
        })
    }
}

fn positive(shape: &'static str, key: &'static str, value: f64) -> Result<(), ShapeError> {
    if value > 0.0 && value.is_finite() {
        Ok(())
    } else {
        Err(ShapeError::NotPositive { shape, key, value })
    }
}

fn all_positive(shape: &'static str, key: &'static str, values: &[f64]) -> Result<(), ShapeError> {
    values.iter().try_for_each(|&v| positive(shape, key, v))
}

/// Refuses more than [`MAX_FACETS`]; call before anything of that size is allocated.
fn within_cap(shape: &'static str, deviation: f64, facets: f64) -> Result<(), ShapeError> {
    // Written so that NaN, too, is refused.
    if facets <= MAX_FACETS as f64 {
        Ok(())
    } else {
        Err(ShapeError::TooFine {
            shape,
            deviation,
            facets,
        })
    }
}

/// Number of segments, a multiple of 4 and at least 8, whose sagitta r(1 − cos(π/n)) on a
/// circle of that radius is at most the deviation. As a float: it may be out of all bounds.
fn circle_segments(radius: f64, deviation: f64) -> f64 {
    // 2 asin √(x/2) = acos(1 − x) without the cancellation at small x.
    let half_angle = 2.0 * (0.5 * (deviation / radius).min(1.0)).sqrt().asin();
    ((PI / half_angle / 4.0).ceil() * 4.0).max(8.0)
}

/// Cosine and sine of 2πk/n, n a multiple of 4: bit for bit symmetric in the quadrants and
/// about the diagonals, and exact on the axes.
fn unit_circle(k: usize, n: usize) -> [f64; 2] {
    let quarter = n / 4;
    let j = k % quarter;
    let angle = |j: usize| 2.0 * PI * j as f64 / n as f64;
    let [c, s] = if 2 * j < quarter {
        [angle(j).cos(), angle(j).sin()]
    } else if 2 * j == quarter {
        [FRAC_1_SQRT_2; 2]
    } else {
        [angle(quarter - j).sin(), angle(quarter - j).cos()]
    };
    match (k / quarter) % 4 {
        0 => [c, s],
        1 => [-s, c],
        2 => [-c, -s],
        _ => [s, -c],
    }
}
