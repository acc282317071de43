//! What a user asks to be written, and whether this mesh has it.

use super::plane::Plane;
use crate::failure::Failure;
use crate::picture::WIDTHS;
use cutlink_solver::fields::around;
use cutlink_voxelizer::Mesh;
use serde::{Deserialize, Serialize};

/// Sorts of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutputKind {
    /// All cells, as `.htg`.
    Volume,
    /// The leaf cells that meet a box, as `.vtu`.
    Box,
    /// What a plane cuts out of the leaf cells, as `.vtu`; in 2D all of them.
    Slice,
    /// Density and velocity at points, as CSV.
    Probes,
    /// A slice as PNG.
    Picture,
}

impl OutputKind {
    /// As users write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Volume => "volume",
            Self::Box => "box",
            Self::Slice => "slice",
            Self::Probes => "probes",
            Self::Picture => "picture",
        }
    }
}

/// Arrays of files for VTK.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellField {
    /// Three components, in 2D the last one zero.
    Velocity,
    /// Density.
    Density,
    /// Pressure, zero at the reference density.
    Pressure,
    /// In 3D three components, in 2D the one out of the plane.
    Vorticity,
    /// The Q criterion.
    Q,
}

/// What a picture shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// The magnitude of the velocity.
    #[default]
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
    /// The component of the vorticity along the axis that the plane is normal to.
    Vorticity,
    /// The Q criterion.
    Q,
}

/// An axis, by its letter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Axis {
    /// 0.
    X,
    /// 1.
    Y,
    /// 2.
    Z,
}

/// One output, as typed: keys that its kind does not know are refused by
/// [`FieldWriter::new`](super::FieldWriter::new).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OutputSpec {
    /// What.
    pub kind: OutputKind,
    /// Files begin with it; of itself the kind, with a number from the second on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Time between two, in the unit of time of the output; without it and `every-steps` there is
    /// one at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<f64>,
    /// Root steps between two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_steps: Option<u64>,
    /// Of `volume`, `box` and `slice`: the arrays. Of itself velocity, density, vorticity and Q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<CellField>>,
    /// Of `box`: its lower corner, then its upper one, in lengths. Of `picture`: the part to draw,
    /// whose extent along `axis` does not count.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    /// Of `slice` and `picture` in 3D: what the plane is normal to. Of itself z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<Axis>,
    /// Of `slice` and `picture` in 3D: where on the axis, in lengths. Of itself the middle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<f64>,
    /// Of `probes`: the points, in lengths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Vec<f64>>>,
    /// Of `picture`: what it shows. Of itself the speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// Of `picture`: the values of the two ends of the colours. Of itself from what each picture
    /// shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// Of `picture`: whether to draw blocks, and cells where they are wide enough.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<bool>,
    /// Of `picture`: whether to shade between the centres of cells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<bool>,
    /// Of `picture`: pixels. Of itself 1200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
}

impl OutputSpec {
    /// An output without any of the other keys.
    pub fn new(kind: OutputKind) -> Self {
        Self {
            kind,
            name: None,
            every: None,
            every_steps: None,
            fields: None,
            bounds: None,
            axis: None,
            position: None,
            points: None,
            quantity: None,
            range: None,
            grid: None,
            smooth: None,
            width: None,
        }
    }

    /// The keys that are given and of some kinds only, with these kinds.
    fn special(&self) -> impl Iterator<Item = (&'static str, &'static [OutputKind])> {
        use OutputKind::{Box, Picture, Probes, Slice, Volume};
        let keys: [(bool, &str, &[OutputKind]); 10] = [
            (self.fields.is_some(), "fields", &[Volume, Box, Slice]),
            (self.bounds.is_some(), "box", &[Box, Picture]),
            (self.axis.is_some(), "axis", &[Slice, Picture]),
            (self.position.is_some(), "position", &[Slice, Picture]),
            (self.points.is_some(), "points", &[Probes]),
            (self.quantity.is_some(), "quantity", &[Picture]),
            (self.range.is_some(), "range", &[Picture]),
            (self.grid.is_some(), "grid", &[Picture]),
            (self.smooth.is_some(), "smooth", &[Picture]),
            (self.width.is_some(), "width", &[Picture]),
        ];
        keys.into_iter().filter(|k| k.0).map(|k| (k.1, k.2))
    }
}

/// A picture as it will be drawn.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PictureSpec {
    pub(super) plane: Plane,
    /// Lower and upper corner in the two axes of the plane, in lengths.
    pub(super) region: Option<[[f64; 2]; 2]>,
    pub(super) quantity: Quantity,
    pub(super) range: Option<[f64; 2]>,
    pub(super) grid: bool,
    pub(super) smooth: bool,
    pub(super) width: u32,
}

/// What to write, checked against the mesh.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What<const D: usize> {
    Volume(Vec<CellField>),
    Box([[f64; D]; 2], Vec<CellField>),
    Slice(Plane, Vec<CellField>),
    /// In root cells from the lower corner of the box.
    Probes(Vec<[f64; D]>),
    Picture(PictureSpec),
}

/// An output, checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Output<const D: usize> {
    pub(super) name: String,
    /// Root steps between two; `None` for one at the end.
    pub(super) period: Option<u64>,
    pub(super) what: What<D>,
}

/// Checks outputs against the mesh; `step` is the time of a root step.
pub(super) fn resolve<const D: usize>(
    specs: &[OutputSpec],
    mesh: &Mesh<D>,
    step: f64,
) -> Result<Vec<Output<D>>, Failure> {
    let mut outputs: Vec<Output<D>> = Vec::new();
    for (i, spec) in specs.iter().enumerate() {
        let kind = spec.kind.name();
        let before = specs[..i].iter().filter(|s| s.kind == spec.kind).count();
        let name = match &spec.name {
            Some(name) => name.clone(),
            None if before == 0 => kind.to_owned(),
            None => format!("{kind}-{}", before + 1),
        };
        let wrong = |what: String| Failure::usage(format!("output \"{name}\" ({kind}): {what}"));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            let what = "its name should be of letters, digits, - and _".to_owned();
            return Err(wrong(what).hint("files begin with the name"));
        }
        if outputs.iter().any(|o| o.name == name) {
            return Err(wrong("another output has that name".into()).hint("give each a name"));
        }
        for (key, kinds) in spec.special() {
            if !kinds.contains(&spec.kind) {
                let kinds: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
                return Err(wrong(format!("{key} is not for this kind"))
                    .hint(format!("{key} is for {}", kinds.join(", "))));
            }
        }
        let period = period(spec, step).map_err(&wrong)?;
        let what = what(spec, mesh).map_err(&wrong)?;
        outputs.push(Output { name, period, what });
    }
    Ok(outputs)
}

fn period(spec: &OutputSpec, step: f64) -> Result<Option<u64>, String> {
    match (spec.every, spec.every_steps) {
        (Some(_), Some(_)) => Err("every and every-steps exclude each other".into()),
        (Some(every), None) if every.is_finite() && every > 0.0 => {
            Ok(Some(((every / step).round() as u64).max(1)))
        }
        (Some(every), None) => Err(format!("every is {every}, a positive time is needed")),
        (None, Some(0)) => Err("every-steps is 0, at least 1 is needed".into()),
        (None, steps) => Ok(steps),
    }
}

fn what<const D: usize>(spec: &OutputSpec, mesh: &Mesh<D>) -> Result<What<D>, String> {
    let fields = || {
        use CellField::{Density, Q, Velocity, Vorticity};
        let all = vec![Velocity, Density, Vorticity, Q];
        let fields = spec.fields.clone().unwrap_or(all);
        match (1..fields.len()).any(|i| fields[..i].contains(&fields[i])) {
            true => Err("fields names one twice"),
            false => Ok(fields),
        }
    };
    Ok(match spec.kind {
        OutputKind::Volume => What::Volume(fields()?),
        OutputKind::Box => {
            let bounds = spec.bounds.as_deref().ok_or("box is missing")?;
            What::Box(corners(bounds, mesh)?, fields()?)
        }
        OutputKind::Slice => What::Slice(Plane::new(mesh, spec.axis, spec.position)?, fields()?),
        OutputKind::Probes => What::Probes(points(spec, mesh)?),
        OutputKind::Picture => What::Picture(picture(spec, mesh)?),
    })
}

/// A box that holds something of the mesh's.
fn corners<const D: usize>(bounds: &[f64], mesh: &Mesh<D>) -> Result<[[f64; D]; 2], String> {
    if bounds.len() != 2 * D {
        return Err(format!(
            "box has {} numbers, {} are needed",
            bounds.len(),
            2 * D
        ));
    }
    let [low, high]: [[f64; D]; 2] =
        std::array::from_fn(|i| std::array::from_fn(|a| bounds[i * D + a]));
    let (from, to) = (mesh.frame.origin, mesh.frame.upper());
    if !(0..D).all(|a| low[a] < high[a] && low[a] < to[a] && high[a] > from[a]) {
        return Err(format!(
            "box {low:?} to {high:?} holds nothing of the domain, which is {from:?} to {to:?}"
        ));
    }
    Ok([low, high])
}

fn points<const D: usize>(spec: &OutputSpec, mesh: &Mesh<D>) -> Result<Vec<[f64; D]>, String> {
    let points = spec.points.as_deref().unwrap_or_default();
    if points.is_empty() {
        return Err("points are missing".into());
    }
    let place = |(i, point): (usize, &Vec<f64>)| {
        let numbers: [f64; D] = point.as_slice().try_into().map_err(|_| {
            format!(
                "point {} has {} numbers, {D} are needed",
                i + 1,
                point.len()
            )
        })?;
        let at = std::array::from_fn(|a| (numbers[a] - mesh.frame.origin[a]) / mesh.frame.dx);
        match around(mesh, at) {
            Some(_) => Ok(at),
            None => Err(format!(
                "point {} at {numbers:?} is outside the domain or in the body",
                i + 1
            )),
        }
    };
    points.iter().enumerate().map(place).collect()
}

fn picture<const D: usize>(spec: &OutputSpec, mesh: &Mesh<D>) -> Result<PictureSpec, String> {
    let plane = Plane::new(mesh, spec.axis, spec.position)?;
    let bounds = spec
        .bounds
        .as_deref()
        .map(|b| corners(b, mesh))
        .transpose()?;
    let width = spec.width.unwrap_or(1200);
    if !WIDTHS.contains(&width) {
        let (least, most) = (WIDTHS.start(), WIDTHS.end());
        return Err(format!(
            "width is {width}, {least} to {most} pixels are possible"
        ));
    }
    match spec.range {
        Some([low, high]) if !(low.is_finite() && high.is_finite() && low < high) => {
            return Err(format!("range [{low}, {high}] does not ascend"));
        }
        _ => {}
    }
    let quantity = spec.quantity.unwrap_or_default();
    if quantity == Quantity::VelocityZ && D < 3 {
        return Err("there is no velocity-z in the plane".into());
    }
    let [i, j] = plane.axes;
    Ok(PictureSpec {
        region: bounds.map(|corners| corners.map(|c| [c[i], c[j]])),
        plane,
        quantity,
        range: spec.range,
        grid: spec.grid.unwrap_or(false),
        smooth: spec.smooth.unwrap_or(false),
        width,
    })
}
