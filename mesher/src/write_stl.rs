//! Writes a surface as binary STL, through `stl_io`.
//!
//! Coordinates are rounded to f32, the only type STL has; patches are lost. The
//! normal of a facet is computed from its corners in f64; a degenerate one gets zero.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use stl_io::{Normal, Triangle, Vertex};

use crate::Surface;

/// Writes `surface` to a new file, or over an old one.
///
/// # Errors
/// Where the file cannot be written, or a coordinate is too large for f32
/// ([`io::ErrorKind::InvalidInput`]); the file is not touched in the second case.
pub fn write_stl(path: &Path, surface: &Surface<3>) -> io::Result<()> {
    if let Some(broken) = surface
        .vertices
        .iter()
        .flatten()
        .find(|x| !(**x as f32).is_finite())
    {
        let message = format!(
            "coordinate {broken} is too large for STL, which stores f32: scale the surface"
        );
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let triangles: Vec<Triangle> = (0..surface.facets.len())
        .map(|f| triangle(surface.corners(f)))
        .collect();
    let mut file = BufWriter::new(File::create(path)?);
    stl_io::write_stl(&mut file, triangles.iter())?;
    file.flush()
}

fn triangle(corners: [[f64; 3]; 3]) -> Triangle {
    Triangle {
        normal: Normal::new(normal(corners).map(|x| x as f32)),
        vertices: corners.map(|p| Vertex::new(p.map(|x| x as f32))),
    }
}

fn normal([a, b, c]: [[f64; 3]; 3]) -> [f64; 3] {
    let u: [f64; 3] = std::array::from_fn(|k| b[k] - a[k]);
    let v: [f64; 3] = std::array::from_fn(|k| c[k] - a[k]);
    let n: [f64; 3] = std::array::from_fn(|k| {
        let (i, j) = ((k + 1) % 3, (k + 2) % 3);
        u[i] * v[j] - u[j] * v[i]
    });
    let length = n.iter().map(|x| x * x).sum::<f64>().sqrt();
    if length > 0.0 && length.is_finite() {
        n.map(|x| x / length)
    } else {
        [0.0; 3]
    }
}
