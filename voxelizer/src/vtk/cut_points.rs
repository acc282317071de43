//! The cut links of a mesh as points of a `.vtp` file.

use super::{About, Field, VtkError, Vtp};
use crate::Mesh;
use cutlink_device::{DeviceError, memory::with_capacity};
use std::io::Write;

/// A point for each cut link, where the surface cuts it, in the order of [`Mesh::links`].
///
/// | field | value |
/// |---|---|
/// | `q` | cut distance as a fraction of the link |
/// | `patch` | index of the patch |
/// | `level` | level of the cell that the link leaves |
/// | `link` | vector from the centre of that cell to the cut, in metres |
#[derive(Debug)]
pub struct CutPoints {
    points: Vec<[f64; 3]>,
    vertices: Vec<[u32; 1]>,
    q: Vec<f32>,
    patch: Vec<f32>,
    level: Vec<f32>,
    link: Vec<f32>,
}

impl CutPoints {
    /// The cut points of one `level`, or of all. Memory: 52 bytes per link.
    ///
    /// # Errors
    /// Too little memory.
    pub fn new<const D: usize>(mesh: &Mesh<D>, level: Option<usize>) -> Result<Self, DeviceError> {
        let what = "cut points";
        let count = mesh.links.len();
        let mut cuts = Self {
            points: with_capacity(what, count)?,
            vertices: with_capacity(what, count)?,
            q: with_capacity(what, count)?,
            patch: with_capacity(what, count)?,
            level: with_capacity(what, count)?,
            link: with_capacity(what, 3 * count)?,
        };
        for link in mesh.links() {
            if level.is_some_and(|level| level != link.level) {
                continue;
            }
            let (mut point, mut vector) = ([0.0; 3], [0.0; 3]);
            for (a, x) in link.point().into_iter().enumerate() {
                point[a] = x;
                vector[a] = (x - link.center[a]) as f32;
            }
            cuts.vertices.push([cuts.points.len() as u32]);
            cuts.points.push(point);
            cuts.q.push(link.q);
            cuts.patch.push(link.patch.into());
            cuts.level.push(link.level as f32);
            cuts.link.extend(vector);
        }
        Ok(cuts)
    }

    /// Writes the file; returns its size in bytes.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn write(&self, out: &mut impl Write) -> Result<u64, VtkError> {
        let field = |name, components, values| Field {
            name,
            components,
            values,
        };
        let fields = [
            field("q", 1, &self.q),
            field("patch", 1, &self.patch),
            field("level", 1, &self.level),
            field("link", 3, &self.link),
        ];
        Vtp::new(&self.points, &self.vertices, &fields, &About::default())?.write(out)
    }
}
