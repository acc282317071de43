//! A `vtkPolyData` (`.vtp`) with values per facet: triangles, segments in 2D, or single points.

use super::VtkError;
use super::appended::{About, Announced, Appended};
use super::cells::Field;
use std::io::Write;

/// Facets and their values.
#[derive(Debug)]
pub struct Vtp<'a, const D: usize> {
    /// Points of the facets.
    points: &'a [[f64; 3]],
    /// Corners of each facet.
    facets: &'a [[u32; D]],
    fields: &'a [Field<'a>],
    text: Announced,
}

impl<'a, const D: usize> Vtp<'a, D> {
    /// Lays the file out; `fields` have `components` values a facet, in their order.
    ///
    /// # Errors
    /// [`VtkError::FieldLength`].
    pub fn new(
        points: &'a [[f64; 3]],
        facets: &'a [[u32; D]],
        fields: &'a [Field<'a>],
        about: &About<'_>,
    ) -> Result<Self, VtkError> {
        for field in fields {
            let expected = facets.len() * field.components;
            if field.values.len() != expected {
                return Err(VtkError::FieldLength {
                    name: field.name.into(),
                    len: field.values.len(),
                    expected,
                });
            }
        }
        let number = |corners: usize| if D == corners { facets.len() } else { 0 };
        let (verts, lines, polys) = (number(1), number(2), number(3));
        let kind = ["Verts", "Lines", "Polys"][D - 1];
        let (count, corners) = (facets.len() as u64, (facets.len() * D) as u64);
        let mut text = Announced::new("PolyData", "1.0");
        text.line("<PolyData>");
        text.about(about);
        text.line(&format!(
            "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{verts}\" NumberOfLines=\"{lines}\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{polys}\">",
            points.len()
        ));
        text.line("<CellData>");
        for field in fields {
            let bytes = 4 * field.values.len() as u64;
            text.array("Float32", field.name, field.components, count, bytes);
        }
        text.line("</CellData>\n<Points>");
        let tuples = points.len() as u64;
        text.array("Float64", "Points", 3, tuples, 24 * tuples);
        text.line(&format!("</Points>\n<{kind}>"));
        text.array("Int64", "connectivity", 1, corners, 8 * corners);
        text.array("Int64", "offsets", 1, count, 8 * count);
        text.line(&format!("</{kind}>\n</Piece>\n</PolyData>"));
        text.end();
        Ok(Self {
            points,
            facets,
            fields,
            text,
        })
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.text.file_bytes()
    }

    /// Writes the file; the bytes written.
    ///
    /// # Errors
    /// Those of the disk.
    pub fn write(&self, out: &mut impl Write) -> Result<u64, VtkError> {
        let mut out = Appended::new(out, &self.text)?;
        for field in self.fields {
            out.array(bytemuck::cast_slice(field.values))?;
        }
        out.array(bytemuck::cast_slice(self.points))?;
        let corners = self.facets.iter().flatten().map(|&v| i64::from(v));
        out.array(bytemuck::cast_slice(&corners.collect::<Vec<i64>>()))?;
        let ends = (1..=self.facets.len()).map(|f| (f * D) as i64);
        out.array(bytemuck::cast_slice(&ends.collect::<Vec<i64>>()))?;
        Ok(out.finish()?)
    }
}
