//! Writing `polyMesh` folders. Determinism: the same mesh gives the same bytes, for any number of threads.

use super::PolyMeshFormat;
use crate::MeshFileError;
use crate::PolyMesh;
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Elements that one thread formats at a time.
const PIECE: usize = 1 << 14;
/// Pieces that are formatted before they are written.
const BATCH: usize = 16;

impl PolyMesh {
    /// Writes the files of the mesh into a folder, which must exist; files of the same name are replaced. Returns the
    /// bytes written. Memory: a few megabytes.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn write(&self, folder: &Path, format: PolyMeshFormat) -> Result<u64, MeshFileError> {
        let mut bytes = 0;
        let mut names = vec!["points", "faces", "owner", "neighbour", "boundary"];
        if self.levels.is_some() {
            names.extend(["cellLevel", "pointLevel", "level0Edge"]);
        }
        for name in names {
            let path = folder.join(name);
            let write = || {
                let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
                self.write_list(name, format, &mut out)?;
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.sync_all()?;
                Ok(file.metadata()?.len())
            };
            bytes += write().map_err(|source| MeshFileError::Write {
                path: path.clone(),
                source,
            })?;
        }
        Ok(bytes)
    }

    fn is_wide(&self, format: PolyMeshFormat) -> bool {
        let largest = self
            .points
            .len()
            .max(self.face_points.len())
            .max(self.faces());
        format == PolyMeshFormat::Binary64 || largest > i32::MAX as usize
    }

    fn write_list(
        &self,
        name: &str,
        format: PolyMeshFormat,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let binary = format != PolyMeshFormat::Ascii;
        let class = match name {
            "points" => "vectorField",
            "faces" if binary => "faceCompactList",
            "faces" => "faceList",
            "boundary" => "polyBoundaryMesh",
            "level0Edge" => "uniformDimensionedScalarField",
            _ => "labelList",
        };
        let is_text = matches!(name, "boundary" | "level0Edge");
        let mut out = Lists {
            out,
            binary: binary && !is_text,
            wide: self.is_wide(format),
        };
        out.header(class, name, self.note(name).as_deref())?;
        let levels = |of: fn(&crate::PolyLevels) -> &Vec<u8>| {
            self.levels.as_ref().map_or(&[][..], |levels| of(levels))
        };
        match name {
            "points" => out.points(&self.points),
            "faces" if binary => {
                out.labels(&self.face_start, |&id| id.into())?;
                out.labels(&self.face_points, |&id| id.into())
            }
            "faces" => out.text(self.faces(), |face, text| {
                let ids = self.face(face);
                let _ = write!(text, "{}(", ids.len());
                for (i, id) in ids.iter().enumerate() {
                    let _ = write!(text, "{}{id}", if i == 0 { "" } else { " " });
                }
                text.extend_from_slice(b")\n");
            }),
            "owner" => out.labels(&self.owner, |&id| id.into()),
            "neighbour" => out.labels(&self.neighbour, |&id| id.into()),
            "cellLevel" => out.labels(levels(|l| &l.cell), |&level| level.into()),
            "pointLevel" => out.labels(levels(|l| &l.point), |&level| level.into()),
            "level0Edge" => {
                let edge = self.levels.as_ref().map_or(0.0, |levels| levels.edge);
                writeln!(out.out, "dimensions [0 1 0 0 0 0 0];\n\nvalue {edge:?};")
            }
            _ => self.write_boundary(out.out),
        }
    }

    fn note(&self, name: &str) -> Option<String> {
        matches!(name, "owner" | "neighbour").then(|| {
            format!(
                "nPoints: {}  nCells: {}  nFaces: {}  nInternalFaces: {}",
                self.points.len(),
                self.cells,
                self.faces(),
                self.internal_faces()
            )
        })
    }

    fn write_boundary(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "{}\n(", self.patches.len())?;
        for patch in &self.patches {
            writeln!(
                out,
                "    {}\n    {{\n        type            {};",
                patch.name, patch.kind
            )?;
            for (key, value) in &patch.entries {
                writeln!(out, "        {key:<15} {value};")?;
            }
            writeln!(out, "        nFaces          {};", patch.faces)?;
            writeln!(out, "        startFace       {};\n    }}", patch.start)?;
        }
        writeln!(out, ")")
    }
}

/// Writes a list of labels into a folder; returns its bytes.
pub(crate) fn write_labels(
    folder: &Path,
    name: &str,
    labels: &[u32],
    format: PolyMeshFormat,
) -> Result<u64, MeshFileError> {
    write_list(folder, name, labels, |&label| label.into(), format)
}

/// The same where labels may be negative.
pub(crate) fn write_signed(
    folder: &Path,
    name: &str,
    labels: &[i64],
    format: PolyMeshFormat,
) -> Result<u64, MeshFileError> {
    write_list(folder, name, labels, |&label| label, format)
}

fn write_list<T: Sync>(
    folder: &Path,
    name: &str,
    labels: &[T],
    id: impl Fn(&T) -> i64 + Sync,
    format: PolyMeshFormat,
) -> Result<u64, MeshFileError> {
    let path = folder.join(name);
    let write = || {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        let binary = format != PolyMeshFormat::Ascii;
        let wide = format == PolyMeshFormat::Binary64;
        let mut lists = Lists {
            out: &mut out,
            binary,
            wide,
        };
        lists.header("labelList", name, None)?;
        lists.labels(labels, &id)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.sync_all()?;
        Ok(file.metadata()?.len())
    };
    write().map_err(|source| MeshFileError::Write {
        path: path.clone(),
        source,
    })
}

/// Writes lists as text or binary.
struct Lists<'a, W> {
    out: &'a mut W,
    binary: bool,
    wide: bool,
}

impl<W: Write> Lists<'_, W> {
    fn header(&mut self, class: &str, object: &str, note: Option<&str>) -> io::Result<()> {
        let out = &mut self.out;
        let format = if self.binary { "binary" } else { "ascii" };
        writeln!(
            out,
            "FoamFile\n{{\n    version     2.0;\n    format      {format};"
        )?;
        if self.binary {
            let label = if self.wide { 64 } else { 32 };
            writeln!(out, "    arch        \"LSB;label={label};scalar=64\";")?;
        }
        writeln!(out, "    class       {class};")?;
        if let Some(note) = note {
            writeln!(out, "    note        \"{note}\";")?;
        }
        let location = "\"constant/polyMesh\"";
        writeln!(
            out,
            "    location    {location};\n    object      {object};\n}}\n"
        )
    }

    fn points(&mut self, points: &[[f64; 3]]) -> io::Result<()> {
        if self.binary {
            return self.raw(points.len(), |range, bytes| {
                for x in points[range].as_flattened() {
                    bytes.extend_from_slice(&x.to_le_bytes());
                }
            });
        }
        self.text(points.len(), |i, text| {
            let [x, y, z] = points[i];
            let _ = writeln!(text, "({x:?} {y:?} {z:?})");
        })
    }

    fn labels<T: Sync>(&mut self, values: &[T], id: impl Fn(&T) -> i64 + Sync) -> io::Result<()> {
        let wide = self.wide;
        if self.binary {
            return self.raw(values.len(), |range, bytes| {
                for value in &values[range] {
                    let value = id(value);
                    match wide {
                        true => bytes.extend_from_slice(&value.to_le_bytes()),
                        false => bytes.extend_from_slice(&(value as i32).to_le_bytes()),
                    }
                }
            });
        }
        self.text(values.len(), |i, text| {
            let _ = writeln!(text, "{}", id(&values[i]));
        })
    }

    /// A list of so many elements, raw bytes between parentheses.
    fn raw(
        &mut self,
        len: usize,
        fill: impl Fn(std::ops::Range<usize>, &mut Vec<u8>) + Sync,
    ) -> io::Result<()> {
        write!(self.out, "{len}\n(")?;
        self.pieces(len, fill)?;
        self.out.write_all(b")\n")
    }

    /// A list of so many elements, each a line.
    fn text(&mut self, len: usize, fill: impl Fn(usize, &mut Vec<u8>) + Sync) -> io::Result<()> {
        write!(self.out, "{len}\n(\n")?;
        self.pieces(len, |range, text| range.for_each(|i| fill(i, text)))?;
        self.out.write_all(b")\n")
    }

    fn pieces(
        &mut self,
        len: usize,
        fill: impl Fn(std::ops::Range<usize>, &mut Vec<u8>) + Sync,
    ) -> io::Result<()> {
        let pieces = len.div_ceil(PIECE);
        for batch in (0..pieces).step_by(BATCH) {
            let formatted: Vec<Vec<u8>> = (batch..pieces.min(batch + BATCH))
                .into_par_iter()
                .map(|piece| {
                    let mut bytes = Vec::with_capacity(24 * PIECE);
                    fill(piece * PIECE..len.min((piece + 1) * PIECE), &mut bytes);
                    bytes
                })
                .collect();
            for bytes in formatted {
                self.out.write_all(&bytes)?;
            }
        }
        Ok(())
    }
}
