//! Output specifications of a user, and their checks against a mesh.

use super::kinds::{
    Average, CellField, Clock, Film, NormalAxis, OutputKind, Quantity, SurfaceFormat,
};
use super::picture::{self, FlowLines, PictureSpec};
use super::plane::Plane;
use super::render::{self, CameraSpec, IsosurfaceSpec, RenderSpec, SavedSpec, SurfaceColour};
use super::units::FieldUnits;
use crate::particles::ParticleColour;
use cutlink_common::{Error, config::suggestion};
use cutlink_pictures::{WIDTHS, film};
use cutlink_solver::fields::around;
use cutlink_voxelizer::{Frame, Mesh};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Frames of a film per second.
const FRAME_RATE: u16 = 20;

/// One output, as given: keys that its kind does not use are refused by [`FieldWriter::new`](super::FieldWriter::new),
/// which expects periods in root steps; see [`written`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(description = "One output.")]
pub struct OutputSpec {
    /// The kind.
    pub kind: OutputKind,
    /// Prefix of the file names. Default: the kind, with a number from the second one on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Root steps between two files; without any of the three periods, one file at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_steps: Option<u64>,
    /// Seconds between two files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_seconds: Option<f64>,
    /// Flow-throughs between two files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_flow_through: Option<f64>,
    /// The mean or the rms fluctuation instead of the instantaneous flow. Not for `probes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<Average>,
    /// For `volume`, `box`, `slice` and `span`: the arrays. Default: velocity, density, vorticity and Q.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fields: Option<Vec<CellField>>,
    /// For `box`: its lower corner, then its upper one, in the length unit of the mesh. For `picture`: the part to
    /// draw; its extent along `axis` is ignored.
    #[serde(default, rename = "box", skip_serializing_if = "Option::is_none")]
    pub bounds: Option<Vec<f64>>,
    /// For `slice` and `picture` in 3D: the normal of the plane; for `span`: the axis of the means. Default: z.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis: Option<NormalAxis>,
    /// For `slice` and `picture` in 3D: the coordinate on the axis, in the length unit of the mesh. Default: the middle
    /// of the box.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<f64>,
    /// For `probes`: the points, in the length unit of the mesh: `[[x, y, z], …]`. Required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<Vec<Vec<f64>>>,
    /// For `probes`: whether to write power spectral densities at the end. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spectrum: Option<bool>,
    /// For `picture`: the quantity. Default: speed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// For `picture` and `render`: the values at the ends of the colour bar, of body or spheres in a render. Default: chosen for
    /// each picture.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<[f64; 2]>,
    /// For `picture`: whether to draw the edges of blocks and of cells that are wide enough, and the outline of each level.
    /// Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grid: Option<bool>,
    /// For `picture`: whether to interpolate between cell centres. Default: as `contours`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub smooth: Option<bool>,
    /// For `picture`: whether to draw contour lines at the numbers of the colour bar. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contours: Option<bool>,
    /// For `picture`: `streamlines` or `arrows` of the in-plane velocity. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<FlowLines>,
    /// For `picture`: whether to draw coordinate axes, from a width of 400 pixels on. Default: `true`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axes: Option<bool>,
    /// For `picture` and `render`: a film of all pictures, written at the end: `NAME.apng`. Colours keep their meaning if
    /// `range` is given. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub film: Option<Film>,
    /// For `picture` and `render`: pictures per second of a film, 1 to 60. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_rate: Option<u16>,
    /// For `picture` and `render`: the width in pixels. Default: 1200.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub width: Option<u32>,
    /// For `render`: width over height, without text and colour bars. Default: 1.6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aspect: Option<f64>,
    /// For `render`: the camera.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<CameraSpec>,
    /// For `render`: what colours the body. Default: plain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<SurfaceColour>,
    /// For `render`: what colours the spheres of a flow that has them. Default: they are not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub particles: Option<ParticleColour>,
    /// For `render` and `isosurface`: an isosurface of the flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isosurface: Option<IsosurfaceSpec>,
    /// For `render`: whether to draw the edges of the box. Default: `false`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<bool>,
    /// For `surface` and `isosurface`: the format. Default: `vtp`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<SurfaceFormat>,
}

impl OutputSpec {
    /// An output of a kind, without other keys.
    pub fn new(kind: OutputKind) -> Self {
        Self {
            kind,
            name: None,
            every_steps: None,
            every_seconds: None,
            every_flow_through: None,
            average: None,
            fields: None,
            bounds: None,
            axis: None,
            position: None,
            points: None,
            spectrum: None,
            quantity: None,
            range: None,
            grid: None,
            smooth: None,
            contours: None,
            lines: None,
            axes: None,
            film: None,
            frame_rate: None,
            width: None,
            aspect: None,
            camera: None,
            surface: None,
            particles: None,
            isosurface: None,
            domain: None,
            format: None,
        }
    }

    /// The given keys that only some kinds use, with these kinds.
    fn special(&self) -> impl Iterator<Item = (&'static str, &'static [OutputKind])> {
        use OutputKind::{Box, Isosurface, Picture, Probes, Render, Slice, Span, Surface, Volume};
        let keys: [(bool, &str, &[OutputKind]); 24] = [
            (
                self.average.is_some(),
                "average",
                &[
                    Volume, Box, Slice, Span, Picture, Render, Surface, Isosurface,
                ],
            ),
            (self.fields.is_some(), "fields", &[Volume, Box, Slice, Span]),
            (self.bounds.is_some(), "box", &[Box, Picture]),
            (self.axis.is_some(), "axis", &[Slice, Span, Picture]),
            (self.position.is_some(), "position", &[Slice, Picture]),
            (self.points.is_some(), "points", &[Probes]),
            (self.spectrum.is_some(), "spectrum", &[Probes]),
            (self.quantity.is_some(), "quantity", &[Picture]),
            (self.range.is_some(), "range", &[Picture, Render]),
            (self.grid.is_some(), "grid", &[Picture]),
            (self.smooth.is_some(), "smooth", &[Picture]),
            (self.contours.is_some(), "contours", &[Picture]),
            (self.lines.is_some(), "lines", &[Picture]),
            (self.axes.is_some(), "axes", &[Picture]),
            (self.film.is_some(), "film", &[Picture, Render]),
            (self.frame_rate.is_some(), "frame_rate", &[Picture, Render]),
            (self.width.is_some(), "width", &[Picture, Render]),
            (self.aspect.is_some(), "aspect", &[Render]),
            (self.camera.is_some(), "camera", &[Render]),
            (self.surface.is_some(), "surface", &[Render]),
            (self.particles.is_some(), "particles", &[Render]),
            (
                self.isosurface.is_some(),
                "isosurface",
                &[Render, Isosurface],
            ),
            (self.domain.is_some(), "domain", &[Render]),
            (self.format.is_some(), "format", &[Surface, Isosurface]),
        ];
        keys.into_iter().filter(|k| k.0).map(|k| (k.1, k.2))
    }
}

/// The content of an output, checked against the mesh.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum What<const D: usize> {
    Volume(Vec<CellField>),
    Box([[f64; D]; 2], Vec<CellField>),
    Slice(Plane, Vec<CellField>),
    /// The axis, and the middle of the box on it, in the length unit of the mesh.
    Span((usize, f64), Vec<CellField>),
    /// In root cells from the lower corner of the box.
    Probes(Vec<[f64; D]>),
    Picture(PictureSpec),
    Render(RenderSpec),
    Surface(SurfaceFormat),
    Particles,
    Isosurface(SavedSpec),
}

/// An output, checked.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Output<const D: usize> {
    pub(super) name: String,
    /// Root steps between two files; `None` for one at the end.
    pub(super) period: Option<u64>,
    pub(super) average: Option<Average>,
    /// Of probes: whether they have spectra.
    pub(super) spectrum: bool,
    /// Of pictures: the pictures per second of a film.
    pub(super) film: Option<u16>,
    pub(super) what: What<D>,
}

/// Longest name of an output: file systems take 255 bytes, with the step and the extension.
const LONGEST_NAME: usize = 200;

/// The name of output `i` of a list, and a function that makes errors with this name.
fn named(specs: &[OutputSpec], i: usize) -> (String, impl Fn(String) -> Error) {
    let kind = specs[i].kind;
    let before = specs[..i].iter().filter(|s| s.kind == kind).count();
    let name = match &specs[i].name {
        Some(name) => name.clone(),
        None if before == 0 => kind.name().to_owned(),
        None => format!("{}-{}", kind.name(), before + 1),
    };
    let said = name.clone();
    let wrong =
        move |what: String| Error::input(format!("output \"{said}\" ({}): {what}", kind.name()));
    (name, wrong)
}

/// The same outputs with all defaults resolved and periods in root steps.
///
/// # Errors
/// Usage errors: invalid periods, or more than one period.
pub fn written<const D: usize>(
    specs: &[OutputSpec],
    frame: &Frame<D>,
    clock: &Clock,
) -> Result<Vec<OutputSpec>, Error> {
    use OutputKind::{Box, Isosurface, Picture, Render, Slice, Span, Surface, Volume};
    let each = specs.iter().enumerate().map(|(i, spec)| {
        let (name, wrong) = named(specs, i);
        let (steps, seconds, through) = (
            spec.every_steps,
            spec.every_seconds,
            spec.every_flow_through,
        );
        let every_steps = clock
            .steps("every", steps, seconds, through)
            .map_err(|what| {
                wrong(what).hint("give one of them, or none for a single output at the end")
            })?;
        let mut full = OutputSpec {
            name: Some(name),
            every_steps,
            every_seconds: None,
            every_flow_through: None,
            ..spec.clone()
        };
        if matches!(spec.kind, Volume | Box | Slice | Span) {
            full.fields.get_or_insert_with(|| fields_of(spec.average));
        }
        if matches!(spec.kind, Slice | Picture) && D == 3 {
            let axis = *full.axis.get_or_insert(NormalAxis::Z) as usize;
            let middle = (frame.origin[axis] + frame.upper()[axis]) / 2.0;
            full.position.get_or_insert(middle);
        }
        if spec.kind == Span {
            full.axis.get_or_insert(NormalAxis::Z);
        }
        if spec.kind == Picture {
            picture::write_defaults(&mut full);
        }
        if spec.kind == Render {
            render::write_defaults(&mut full);
        }
        if matches!(spec.kind, Surface | Isosurface) {
            full.format.get_or_insert_default();
        }
        Ok(full)
    });
    each.collect()
}

/// Refuses averages of the pressure, of flows in which it does not follow from the mean density.
///
/// # Errors
/// Such an output.
pub fn check_mean_pressure(specs: &[OutputSpec]) -> Result<(), Error> {
    let shows = |spec: &OutputSpec| {
        let isosurface = spec.isosurface.as_ref();
        let quantities = [
            spec.quantity,
            isosurface.map(|of| of.field),
            isosurface.and_then(|of| of.colour),
        ];
        (spec.fields.iter().flatten()).any(|field| *field == CellField::Pressure)
            || quantities.contains(&Some(Quantity::Pressure))
            || spec.surface == Some(SurfaceColour::Pressure)
            || matches!(spec.kind, OutputKind::Probes | OutputKind::Surface)
    };
    let asked = |spec: &OutputSpec| spec.average.is_some() && shows(spec);
    match specs.iter().position(asked) {
        None => Ok(()),
        Some(i) => {
            let (_, wrong) = named(specs, i);
            Err(
                wrong("it is an average of the pressure, which this flow has not".into())
                    .hint("name its fields without \"pressure\""),
            )
        }
    }
}

/// Refuses fields that the flow has not.
pub(super) fn check_fields(specs: &[OutputSpec], units: &FieldUnits) -> Result<(), Error> {
    const KNOWN: [&str; 9] = [
        "velocity",
        "speed",
        "velocity-x",
        "velocity-y",
        "velocity-z",
        "density",
        "pressure",
        "vorticity",
        "q",
    ];
    let names = units.scalars.iter().map(|(name, _)| name.as_str());
    let known: Vec<&str> = KNOWN.into_iter().chain(names).collect();
    for (i, spec) in specs.iter().enumerate() {
        let wants_particles = spec.particles.is_some() || spec.kind == OutputKind::Particles;
        if wants_particles && !units.particles {
            let (_, wrong) = named(specs, i);
            return Err(wrong("this flow has no particles".into()).hint(
                "particles are of flows of kind \"grains\", and of other kinds with [[particles]]",
            ));
        }
        let of_fields = spec
            .fields
            .iter()
            .flatten()
            .filter_map(|field| match field {
                CellField::Scalar(name) => Some(name),
                _ => None,
            });
        let of_picture = spec.quantity.iter().filter_map(|quantity| match quantity {
            Quantity::Scalar(name) => Some(name),
            _ => None,
        });
        let of_isosurface = spec.isosurface.iter().flat_map(|of| {
            let quantities = [Some(&of.field), of.colour.as_ref()].into_iter().flatten();
            quantities.filter_map(|quantity| match quantity {
                Quantity::Scalar(name) => Some(name),
                _ => None,
            })
        });
        for asked in of_fields.chain(of_picture).chain(of_isosurface) {
            let (_, wrong) = named(specs, i);
            if units.scalar(*asked).is_none() {
                return Err(
                    wrong(format!("this flow has no field \"{asked}\"")).hint(suggestion(
                        "field",
                        asked.as_str(),
                        &known,
                    )),
                );
            }
            if spec.average.is_some() {
                return Err(wrong(format!("there is no average of \"{asked}\"")));
            }
        }
    }
    Ok(())
}

/// Checks outputs against the mesh; their periods should be in root steps.
pub(super) fn resolve<const D: usize>(
    specs: &[OutputSpec],
    mesh: &Mesh<D>,
) -> Result<Vec<Output<D>>, Error> {
    let mut outputs: Vec<Output<D>> = Vec::new();
    for (i, spec) in specs.iter().enumerate() {
        let (name, wrong) = named(specs, i);
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            let what = "its name may contain only letters, digits, - and _".to_owned();
            return Err(wrong(what).hint("file names start with the name"));
        }
        if name.len() > LONGEST_NAME {
            let what = format!("its name has {} characters", name.len());
            return Err(wrong(what).hint(format!("use at most {LONGEST_NAME}")));
        }
        if outputs.iter().any(|o| o.name == name) {
            return Err(wrong("another output has the same name".into()).hint("give each a name"));
        }
        for (key, kinds) in spec.special() {
            if !kinds.contains(&spec.kind) {
                let kinds: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
                return Err(wrong(format!("{key} is not for this kind"))
                    .hint(format!("{key} is for {}", kinds.join(", "))));
            }
        }
        if spec.every_seconds.is_some() || spec.every_flow_through.is_some() {
            return Err(wrong("its period must be in root steps here".into()));
        }
        if spec.every_steps == Some(0) {
            return Err(wrong("every_steps is 0, it must be at least 1".into()));
        }
        let spectrum = spec.spectrum == Some(true);
        if spectrum && spec.every_steps.is_none() {
            return Err(wrong("spectrum needs samples in time".into())
                .hint("give every_steps, every_seconds or every_flow_through"));
        }
        let what = what(spec, mesh).map_err(&wrong)?;
        let film = film(spec).map_err(&wrong)?;
        outputs.push(Output {
            name,
            period: spec.every_steps,
            average: spec.average,
            spectrum,
            film,
            what,
        });
    }
    Ok(outputs)
}

/// The default arrays.
fn fields_of(average: Option<Average>) -> Vec<CellField> {
    use CellField::{Density, Q, Velocity, Vorticity};
    match average {
        Some(Average::Rms) => vec![Velocity, Density],
        _ => vec![Velocity, Density, Vorticity, Q],
    }
}

fn what<const D: usize>(spec: &OutputSpec, mesh: &Mesh<D>) -> Result<What<D>, String> {
    let fields = || {
        let fields = spec.fields.clone();
        let fields = fields.unwrap_or_else(|| fields_of(spec.average));
        if (1..fields.len()).any(|i| fields[..i].contains(&fields[i])) {
            return Err("fields contains a duplicate");
        }
        let swings = |f: &CellField| matches!(f, CellField::Velocity | CellField::Density);
        match spec.average == Some(Average::Rms) && !fields.iter().all(swings) {
            true => Err("average = \"rms\" supports velocity and density only"),
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
        OutputKind::Span => What::Span(span(spec, mesh)?, fields()?),
        OutputKind::Probes => What::Probes(points(spec, mesh)?),
        OutputKind::Picture => What::Picture(picture::resolve(spec, mesh)?),
        OutputKind::Render => What::Render(render::resolve(spec, mesh)?),
        OutputKind::Surface => What::Surface(surface(spec, mesh)?),
        OutputKind::Particles => What::Particles,
        OutputKind::Isosurface if spec.average == Some(Average::Rms) => {
            return Err("an isosurface has no rms values".into());
        }
        OutputKind::Isosurface => What::Isosurface(SavedSpec::new::<D>(spec)?),
    })
}

/// Checks that a box intersects the domain of the mesh.
pub(super) fn corners<const D: usize>(
    bounds: &[f64],
    mesh: &Mesh<D>,
) -> Result<[[f64; D]; 2], String> {
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
            "box {low:?} to {high:?} lies outside the domain {from:?} to {to:?}"
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

fn span<const D: usize>(spec: &OutputSpec, mesh: &Mesh<D>) -> Result<(usize, f64), String> {
    if D < 3 {
        return Err("means along an axis need a 3D mesh".into());
    }
    if spec.average == Some(Average::Rms) {
        return Err("a span has no rms values".into());
    }
    let axis = spec.axis.unwrap_or(NormalAxis::Z) as usize;
    let middle = (mesh.frame.origin[axis] + mesh.frame.upper()[axis]) / 2.0;
    Ok((axis, middle))
}

fn surface<const D: usize>(spec: &OutputSpec, mesh: &Mesh<D>) -> Result<SurfaceFormat, String> {
    if mesh.links.is_empty() {
        return Err("there is no body in the box".into());
    }
    if spec.average == Some(Average::Rms) {
        return Err("a surface has no rms values".into());
    }
    Ok(spec.format.unwrap_or_default())
}

/// A width, if it is allowed.
pub(super) fn checked_width(width: u32) -> Result<u32, String> {
    let (least, most) = (WIDTHS.start(), WIDTHS.end());
    match WIDTHS.contains(&width) {
        true => Ok(width),
        false => Err(format!(
            "width is {width}, it must be {least} to {most} pixels"
        )),
    }
}

/// The pictures per second of a film, if there is to be one.
fn film(spec: &OutputSpec) -> Result<Option<u16>, String> {
    let rate = spec.frame_rate.unwrap_or(FRAME_RATE);
    let (least, most) = (film::RATES.start(), film::RATES.end());
    match spec.film {
        None if spec.frame_rate.is_some() => Err("frame_rate needs film = \"apng\"".into()),
        None => Ok(None),
        Some(_) if spec.every_steps.is_none() => Err(
            "film needs pictures in time: every_steps, every_seconds or every_flow_through".into(),
        ),
        Some(_) if !film::RATES.contains(&rate) => Err(format!(
            "frame_rate is {rate}, it must be {least} to {most} pictures per second"
        )),
        Some(Film::Apng) => Ok(Some(rate)),
    }
}
