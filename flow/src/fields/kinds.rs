//! What outputs are, what they hold and when they are written, as a user says it.

use super::FieldName;
use cutlink_common::schema;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kinds of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OutputKind {
    /// All cells, as `.htg`.
    Volume,
    /// The leaf cells that intersect a box, as `.vtu`.
    Box,
    /// The section of the leaf cells with a plane, as `.vtu`; in 2D all of them.
    Slice,
    /// Means along a coordinate axis, as `.vtu`.
    Span,
    /// Density and velocity at points, as CSV.
    Probes,
    /// A slice as PNG.
    Picture,
    /// The body, an isosurface and spheres in three dimensions, as PNG.
    Render,
    /// The spheres of a flow that has them, as `.vtp`: a point each.
    Particles,
    /// Pressure, shear and y⁺ on the body's facets, as `.vtp` or `.ply`.
    Surface,
    /// An isosurface of the flow in three dimensions, as `.vtp` or `.ply`.
    Isosurface,
}

/// Formats of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceFormat {
    /// For ParaView and PyVista.
    #[default]
    Vtp,
    /// Binary PLY, values as properties of faces.
    Ply,
}

/// Formats of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Film {
    /// An animated PNG, which browsers show.
    Apng,
}

impl OutputKind {
    /// Its name in a case file.
    pub fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Box => "box",
            Self::Slice => "slice",
            Self::Span => "span",
            Self::Probes => "probes",
            Self::Picture => "picture",
            Self::Render => "render",
            Self::Particles => "particles",
            Self::Surface => "surface",
            Self::Isosurface => "isosurface",
        }
    }
}

/// Arrays of files for VTK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = schema::any_of)]
pub enum CellField {
    /// Three components, in 2D the last one zero.
    Velocity,
    /// Density.
    Density,
    /// Pressure, zero at the reference density.
    Pressure,
    /// In 3D three components, in 2D the component normal to the plane.
    Vorticity,
    /// The Q criterion.
    Q,
    /// A scalar that the flow has besides.
    #[serde(untagged)]
    Scalar(FieldName),
}

/// The quantity shown by a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = schema::any_of)]
pub enum Quantity {
    /// The magnitude of the velocity.
    #[default]
    #[serde(alias = "velocity")]
    Speed,
    /// A component of the velocity.
    VelocityX,
    /// A component of the velocity.
    VelocityY,
    /// A component of the velocity.
    VelocityZ,
    /// Pressure, zero at the reference density.
    Pressure,
    /// Density.
    Density,
    /// The vorticity component normal to the plane.
    Vorticity,
    /// The Q criterion.
    Q,
    /// A scalar that the flow has besides.
    #[serde(untagged)]
    Scalar(FieldName),
}

/// An axis, by its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NormalAxis {
    /// 0.
    X,
    /// 1.
    Y,
    /// 2.
    Z,
}

/// The time average of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Average {
    /// The mean over time.
    Mean,
    /// The rms fluctuation about the mean.
    Rms,
}

/// Durations of a root step and of a flow-through, in the same unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clock {
    /// A root step.
    pub step: f64,
    /// A flow-through.
    pub through: f64,
}

impl Clock {
    /// A time in root steps, given in steps, seconds or flow-throughs.
    ///
    /// # Errors
    /// More than one of them, or an invalid time; `key` is the common prefix of the keys.
    pub fn steps(
        &self,
        key: &str,
        steps: Option<u64>,
        seconds: Option<f64>,
        through: Option<f64>,
    ) -> Result<Option<u64>, String> {
        let count = [steps.is_some(), seconds.is_some(), through.is_some()];
        if count.into_iter().filter(|&given| given).count() > 1 {
            return Err(format!(
                "{key}_steps, {key}_seconds and {key}_flow_through exclude one another"
            ));
        }
        let time = seconds.or(through.map(|n| n * self.through));
        match time.map(|time| time / self.step) {
            Some(n) if n.is_finite() && n > 0.0 => Ok(Some((n.round() as u64).max(1))),
            Some(_) => Err(format!("{key} should be a positive time")),
            None => Ok(steps),
        }
    }
}
