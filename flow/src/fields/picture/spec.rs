//! Keys of a picture, and their checks.

use crate::fields::kinds::{Average, Quantity};
use crate::fields::plane::Plane;
use crate::fields::spec::{OutputSpec, checked_width, corners};
use cutlink_voxelizer::Mesh;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Default width in pixels.
const WIDTH: u32 = 1200;

/// Lines that show the velocity in the plane of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowLines {
    /// Streamlines, evenly apart, with their direction.
    Streamlines,
    /// Arrows on a square grid, as long as the velocity.
    Arrows,
}

/// A resolved picture.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::fields) struct PictureSpec {
    pub(in crate::fields) plane: Plane,
    /// Lower and upper corner in the two axes of the plane, in the length unit of the mesh.
    pub(super) region: Option<[[f64; 2]; 2]>,
    pub(super) quantity: Quantity,
    pub(super) range: Option<[f64; 2]>,
    pub(super) grid: bool,
    pub(super) smooth: bool,
    pub(super) contours: bool,
    pub(super) lines: Option<FlowLines>,
    pub(super) axes: bool,
    pub(super) width: u32,
}

impl PictureSpec {
    /// Lower and upper corner of what is drawn, in the two axes of the plane.
    pub(super) fn shown<const D: usize>(&self, mesh: &Mesh<D>) -> [[f64; 2]; 2] {
        let axes = self.plane.axes;
        let (low, high) = (mesh.frame.origin, mesh.frame.upper());
        let [from, to] = self
            .region
            .unwrap_or([axes.map(|a| low[a]), axes.map(|a| high[a])]);
        [0, 1].map(|end| {
            let at = |i: usize| match end {
                0 => from[i].max(low[axes[i]]),
                _ => to[i].min(high[axes[i]]),
            };
            [at(0), at(1)]
        })
    }
}

/// Spells out the defaults of a picture.
pub(in crate::fields) fn write_defaults(spec: &mut OutputSpec) {
    spec.quantity.get_or_insert_default();
    spec.grid.get_or_insert(false);
    let contours = *spec.contours.get_or_insert(false);
    spec.smooth.get_or_insert(contours);
    spec.axes.get_or_insert(true);
    spec.width.get_or_insert(WIDTH);
}

/// Checks a picture against the mesh; an error names its key.
pub(in crate::fields) fn resolve<const D: usize>(
    spec: &OutputSpec,
    mesh: &Mesh<D>,
) -> Result<PictureSpec, String> {
    let plane = Plane::new(mesh, spec.axis, spec.position)?;
    let bounds = spec
        .bounds
        .as_deref()
        .map(|b| corners(b, mesh))
        .transpose()?;
    let width = checked_width(spec.width.unwrap_or(WIDTH))?;
    match spec.range {
        Some([low, high]) if !(low.is_finite() && high.is_finite() && low < high) => {
            return Err(format!("range [{low}, {high}] is not ascending"));
        }
        _ => {}
    }
    let quantity = spec.quantity.unwrap_or_default();
    if quantity == Quantity::VelocityZ && D < 3 {
        return Err("a 2D flow has no velocity-z".into());
    }
    let swings = matches!(
        quantity,
        Quantity::Speed | Quantity::VelocityX | Quantity::VelocityY | Quantity::VelocityZ
    );
    let is_rms = spec.average == Some(Average::Rms);
    if is_rms && !swings {
        return Err("average = \"rms\" supports speed and velocity components only".into());
    }
    if is_rms && spec.lines.is_some() {
        return Err("lines show a velocity, average = \"rms\" has none".into());
    }
    let contours = spec.contours.unwrap_or(false);
    if contours && spec.smooth == Some(false) {
        return Err("contours are drawn between cell centres, smooth = false excludes them".into());
    }
    let [i, j] = plane.axes;
    Ok(PictureSpec {
        region: bounds.map(|corners| corners.map(|c| [c[i], c[j]])),
        plane,
        quantity,
        range: spec.range,
        grid: spec.grid.unwrap_or(false),
        smooth: spec.smooth.unwrap_or(contours),
        contours,
        lines: spec.lines,
        axes: spec.axes.unwrap_or(true),
        width,
    })
}
