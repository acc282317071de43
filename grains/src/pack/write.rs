//! Beds as CSV, as points of a PLY file, and as the surface of all spheres.

use crate::{Grain, GrainError};
use cutlink_device::{DeviceError, ErrorKind, Failure, memory};
use cutlink_mesher::Surface;
use cutlink_mesher::primitives::{Shape3, ShapeError};
use std::io::{self, Write};

/// Writes `id,x,y,z,diameter`, in m, with all digits that f64 has.
///
/// # Errors
/// Those of the disk.
pub fn write_csv(out: &mut impl Write, grains: &[Grain]) -> io::Result<()> {
    writeln!(out, "id,x,y,z,diameter")?;
    for (id, grain) in grains.iter().enumerate() {
        let [x, y, z] = grain.center;
        writeln!(out, "{id},{x:e},{y:e},{z:e},{:e}", 2.0 * grain.radius)?;
    }
    Ok(())
}

/// Writes binary PLY: a vertex a grain, with `x`, `y`, `z` and `radius` as doubles, in m.
///
/// # Errors
/// Those of the disk.
pub fn write_ply(out: &mut impl Write, grains: &[Grain]) -> io::Result<()> {
    write!(
        out,
        "ply\nformat binary_little_endian 1.0\ncomment spheres in m\nelement vertex {}\nproperty double x\n\
         property double y\nproperty double z\nproperty double radius\nend_header\n",
        grains.len()
    )?;
    for grain in grains {
        for x in grain.center.iter().chain([&grain.radius]) {
            out.write_all(&x.to_le_bytes())?;
        }
    }
    Ok(())
}

/// The surface of all spheres, each of its true volume, with an error of `deviation` radii. One patch.
///
/// # Errors
/// A deviation that needs too many facets; no memory, as text.
pub fn spheres_surface(grains: &[Grain], deviation: f64) -> Result<Surface<3>, SpheresError> {
    let unit = Shape3::Sphere { radius: 1.0 }.body(deviation)?;
    let (points, facets) = (unit.vertices.len(), unit.facets.len());
    let count = grains.len().saturating_mul(points);
    if count > u32::MAX as usize {
        return Err(SpheresError::TooMany { count });
    }
    let mut vertices =
        memory::with_capacity("vertices of spheres", count).map_err(GrainError::from)?;
    let room = grains.len().saturating_mul(facets);
    let mut all = memory::with_capacity("facets of spheres", room).map_err(GrainError::from)?;
    for (i, grain) in grains.iter().enumerate() {
        let first = (i * points) as u32;
        let place = |p: &[f64; 3]| std::array::from_fn(|a| grain.center[a] + grain.radius * p[a]);
        vertices.extend(unit.vertices.iter().map(place));
        all.extend(unit.facets.iter().map(|f| f.map(|v| first + v)));
    }
    Ok(Surface::single_patch(vertices, all, "grains"))
}

/// Why there is no surface of spheres.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpheresError {
    /// A deviation that is not possible.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// More vertices than indices allow.
    #[error("{count} vertices are more than 4294967295: use a larger deviation, or fewer grains")]
    TooMany {
        /// Vertices.
        count: usize,
    },
    /// No memory.
    #[error(transparent)]
    Grain(#[from] GrainError),
}

impl Failure for SpheresError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Shape(error) => error.kind(),
            Self::TooMany { .. } => ErrorKind::Memory,
            Self::Grain(error) => error.kind(),
        }
    }

    fn of_device(&self) -> Option<&DeviceError> {
        match self {
            Self::Grain(error) => error.of_device(),
            _ => None,
        }
    }
}
