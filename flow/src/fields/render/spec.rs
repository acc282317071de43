//! Keys of a render, and their checks.

use super::camera::CameraSpec;
use crate::fields::kinds::{Average, Quantity};
use crate::fields::spec::{OutputSpec, checked_width};
use crate::particles::ParticleColour;
use cutlink_pictures::camera::Camera;
use cutlink_voxelizer::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default width in pixels.
const WIDTH: u32 = 1200;
/// Default width over height.
const ASPECT: f64 = 1.6;

/// What colours the surface of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SurfaceColour {
    /// Nothing: one colour.
    #[default]
    Plain,
    /// Pressure at the wall.
    Pressure,
    /// Magnitude of the wall shear stress.
    Shear,
    /// y⁺ of the nearest cell.
    YPlus,
    /// The level of the cells at the wall.
    Level,
}

/// An isosurface, as given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IsosurfaceSpec {
    /// The quantity that is constant on it; `vorticity` is its magnitude. Default: Q.
    #[serde(default = "q")]
    pub field: Quantity,
    /// Its value, in the unit of the outputs. Required.
    pub value: f64,
    /// The quantity that colours it; `velocity` is the same as `speed`. Default: `speed`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub colour: Option<Quantity>,
    /// The values at the ends of its colour bar. Default: chosen for each picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Distance from the body below which it is not drawn, in the length unit of the mesh: shear layers do not hide the body
    /// then. Default: 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall: Option<f64>,
}

impl IsosurfaceSpec {
    pub(super) fn check_value(&self) -> Result<(), String> {
        match self.value.is_finite() {
            true => Ok(()),
            false => Err(format!(
                "isosurface: value is {}, it must be finite",
                self.value
            )),
        }
    }
}

fn q() -> Quantity {
    Quantity::Q
}

/// A resolved render.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fields) struct RenderSpec {
    pub(super) camera: CameraSpec,
    pub(in crate::fields) surface: SurfaceColour,
    /// Of the colours of the body.
    pub(super) range: Option<[f64; 2]>,
    pub(super) isosurface: Option<IsosurfaceSpec>,
    pub(super) particles: Option<ParticleColour>,
    pub(super) domain: bool,
    pub(super) width: u32,
    pub(super) aspect: f64,
}

impl RenderSpec {
    /// Width and height in pixels, without text.
    pub(super) fn pixels(&self) -> [usize; 2] {
        let height = (f64::from(self.width) / self.aspect).round();
        [self.width as usize, height.max(1.0) as usize]
    }
}

/// Spells out the defaults of a render.
pub(in crate::fields) fn write_defaults(spec: &mut OutputSpec) {
    spec.surface.get_or_insert_default();
    spec.domain.get_or_insert(false);
    spec.width.get_or_insert(WIDTH);
    spec.aspect.get_or_insert(ASPECT);
    if let Some(surface) = &mut spec.isosurface {
        surface.colour.get_or_insert_default();
    }
}

/// Checks a render against the mesh; an error names its key.
pub(in crate::fields) fn resolve<const D: usize>(
    spec: &OutputSpec,
    mesh: &Mesh<D>,
) -> Result<RenderSpec, String> {
    if D < 3 {
        return Err("a render needs a 3D mesh; kind = \"picture\" draws a 2D flow".into());
    }
    if spec.average == Some(Average::Rms) {
        return Err("average = \"rms\" is not for renders".into());
    }
    let ascending = |key: &str, range: Option<[f64; 2]>| match range {
        Some([low, high]) if !(low.is_finite() && high.is_finite() && low < high) => {
            Err(format!("{key} [{low}, {high}] is not ascending"))
        }
        _ => Ok(range),
    };
    let width = checked_width(spec.width.unwrap_or(WIDTH))?;
    let aspect = spec.aspect.unwrap_or(ASPECT);
    if !(0.2..=5.0).contains(&aspect) {
        return Err(format!("aspect is {aspect}, it must be 0.2 to 5"));
    }
    let surface = spec.surface.unwrap_or_default();
    let shows_others = spec.isosurface.is_some() || spec.particles.is_some();
    if mesh.links.is_empty() && (!shows_others || surface != SurfaceColour::Plain) {
        return Err(
            "there is no body in the box; a render without one needs an isosurface or particles"
                .into(),
        );
    }
    if let Some(iso) = &spec.isosurface {
        iso.check_value()?;
        ascending("isosurface: range", iso.range)?;
        match iso.wall {
            Some(wall) if !(wall.is_finite() && wall >= 0.0) => {
                return Err(format!(
                    "isosurface: wall is {wall}, it must be a length of 0 or more"
                ));
            }
            Some(_) if mesh.links.is_empty() => {
                return Err("isosurface: wall needs a body in the box".into());
            }
            _ => {}
        }
    }
    let camera = spec.camera.clone().unwrap_or_default();
    camera.check()?;
    let range = ascending("range", spec.range)?;
    let has_values = !matches!(surface, SurfaceColour::Plain | SurfaceColour::Level);
    if range.is_some() && !has_values && spec.particles.is_none() {
        return Err(
            "range needs surface = \"pressure\", \"shear\" or \"y-plus\", or particles".into(),
        );
    }
    let spec = RenderSpec {
        camera,
        surface,
        range,
        isosurface: spec.isosurface.clone(),
        particles: spec.particles,
        domain: spec.domain.unwrap_or(false),
        width,
        aspect,
    };
    // The default camera depends on the body; any box shows whether the given part is sound.
    let (from, to) = (mesh.frame.origin, mesh.frame.upper());
    let bounds = [from, to].map(|p| std::array::from_fn(|a| p[a.min(D - 1)]));
    Camera::new(&spec.camera.pose(), bounds, spec.pixels())?;
    Ok(spec)
}
