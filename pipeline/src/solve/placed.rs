//! Surfaces in tables of cases.

use cutlink_common::{Error, device::Opened};
use cutlink_mesher::{
    Surface,
    primitives::AnyShape,
    read::{AnySurface, read_all},
};
use cutlink_meshing::{
    mesh::{
        build::{AnyPlaced, Builder, Placed},
        resolve::{Job, Source, resolve},
    },
    options::MeshOptions,
};
use std::any::Any;

/// The options of a mesh by the keys that tables with a surface have: `file` or `shape`, and where it is.
macro_rules! placed {
    ($table:expr) => {
        MeshOptions {
            file: $table.file.clone().map(|file| vec![file]),
            shape: $table.shape.clone(),
            unit: $table.unit,
            scale: $table.scale.clone(),
            rotate: $table.rotate.clone(),
            translate: $table.translate.clone(),
            ..MeshOptions::default()
        }
    };
}

pub(in crate::solve) use placed;

/// The surface of a body or of liquid, in the frame of the box.
///
/// # Errors
/// A file that cannot be read, a surface that does not fit, or one of the other dimension.
pub(in crate::solve) fn place<const D: usize>(
    builder: &mut Builder<'_>,
) -> Result<Placed<D>, Error> {
    let placed: Box<dyn Any> = match builder.place()? {
        AnyPlaced::D2(placed) => Box::new(placed),
        AnyPlaced::D3(placed) => Box::new(placed),
    };
    match placed.downcast::<Placed<D>>() {
        Ok(placed) => Ok(*placed),
        Err(_) => Err(wrong_dimension(D)),
    }
}

fn wrong_dimension(box_dimensions: usize) -> Error {
    Error::input(match box_dimensions {
        2 => "the surface is 3D, the box is 2D",
        _ => "the surface is 2D, the box is 3D",
    })
    .hint("in 2D a surface is a closed polyline of two columns, or a shape such as circle:r=0.1")
}

/// What to say of a surface that is not of the box's dimension. Before that, it may have been refused for its box, with a
/// hint to options that the case has not.
pub(in crate::solve) fn other_dimension<const D: usize>(job: &Job) -> Option<Error> {
    let dimensions = match &job.source {
        Source::Shape(AnyShape::D2(_)) => 2,
        Source::Shape(AnyShape::D3(_)) => 3,
        Source::Files(paths) => match read_all(paths).ok()? {
            AnySurface::D2(_) => 2,
            AnySurface::D3(_) => 3,
        },
        Source::Memory => return None,
    };
    (dimensions != D).then(|| wrong_dimension(D))
}

/// A surface where its options put it, in 3D, open ones too, whatever box there is.
///
/// # Errors
/// A file that cannot be read, a shape that is none, a surface in 2D.
pub(in crate::solve) fn placed_surface(options: MeshOptions) -> Result<Surface<3>, Error> {
    let options = MeshOptions {
        robust: true,
        ..options
    };
    let job = resolve(&options)?;
    let mut observer = ();
    let mut builder = Builder::new(&job, &Opened::Cpu, &mut observer);
    let placed: Placed<3> =
        place(&mut builder).map_err(|error| other_dimension::<3>(&job).unwrap_or(error))?;
    Ok(placed.placed)
}
