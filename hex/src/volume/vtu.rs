//! VTK's XML unstructured grids (`.vtu`).
//!
//! Read: cells of all pieces; points of several pieces are merged where their coordinates are the same. Hexahedra (type
//! 12), voxels (11), tetrahedra (10). Quads (9), pixels (8) and triangles (5) name faces of the group that the cell data
//! `gmsh:physical` give, as meshio writes it; so do volumes. Points and lines are skipped, ghost cells (`vtkGhostType`)
//! left out, other volumes refused. Data of cells are read, data of points are not.

use super::CellValues;
use super::assemble::NONE;
use super::collect::{FileCells, FileShape};
use super::source::{reserve, syntax};
use crate::MeshFileError;
use cutlink_device::memory;
use cutlink_vtkxml::{XmlArrays, XmlFault, XmlPiece};
use std::collections::BTreeMap;
use std::path::Path;

/// Cell data with the physical groups of Gmsh.
const PHYSICAL: &str = "gmsh:physical";
/// Cell data that say which cells are copies of another piece's or hidden, by these bits.
const GHOSTS: &str = "vtkGhostType";
const GHOST_BITS: i64 = 1 | 32;
/// Most numbers that a cell may have in an array.
const MOST_COMPONENTS: usize = 4096;

/// Reads a file.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<FileCells, MeshFileError> {
    let fault = |fault| match fault {
        XmlFault::Syntax {
            at,
            expected,
            found,
        } => syntax(
            path,
            format!("byte {at}"),
            format!("expected {expected}, found {found}"),
        ),
        other => syntax(path, "the whole file", other.to_string()),
    };
    // Numbers take up to eight times their bytes, and the mesh as much again.
    let mut xml = XmlArrays::parse(bytes, memory::available() / 16).map_err(fault)?;
    if xml.kind != "UnstructuredGrid" {
        let what = format!("it is of type {:?}, not an UnstructuredGrid", xml.kind);
        return Err(MeshFileError::Format {
            path: path.to_owned(),
            what,
        });
    }
    let mut file = Vtu {
        path,
        cells: FileCells::new("cell"),
        groups: BTreeMap::new(),
        count: 0,
        ghosts: 0,
    };
    let pieces = std::mem::take(&mut xml.pieces);
    let several = pieces.len() > 1;
    for piece in pieces {
        file.piece(&mut xml, &piece, &fault)?;
    }
    if several {
        file.merge();
    }
    if file.ghosts > 0 {
        file.cells
            .notes
            .push(format!("{} ghost cells left out", file.ghosts));
    }
    Ok(file.cells)
}

struct Vtu<'a> {
    path: &'a Path,
    cells: FileCells,
    /// Groups by dimension and number.
    groups: BTreeMap<(usize, i64), u32>,
    /// Cells of the pieces so far, of any kind.
    count: u64,
    ghosts: u64,
}

/// Arrays of the cells of a piece.
struct Arrays {
    corners: Vec<i64>,
    ends: Vec<i64>,
    kinds: Vec<i64>,
    physical: Vec<i64>,
    ghosts: Vec<i64>,
}

impl Vtu<'_> {
    fn wrong(&self, at: u64, what: impl Into<String>) -> MeshFileError {
        syntax(self.path, format!("byte {at}"), what)
    }

    fn piece(
        &mut self,
        xml: &mut XmlArrays<'_>,
        piece: &XmlPiece,
        fault: &impl Fn(XmlFault) -> MeshFileError,
    ) -> Result<(), MeshFileError> {
        let base = self.cells.points.len();
        let Some(points) = piece.only("Points") else {
            return match piece.cells {
                None | Some(0) => Ok(()),
                Some(n) => Err(syntax(
                    self.path,
                    "a piece",
                    format!("it has {n} cells and no points"),
                )),
            };
        };
        if points.components != 3 {
            return Err(self.wrong(
                points.at,
                format!("points of {} components, 3 expected", points.components),
            ));
        }
        let values = xml.reals(points).map_err(fault)?;
        self.fits(
            "coordinates",
            points.at,
            values.len(),
            piece.points.map(|n| n.saturating_mul(3)),
        )?;
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(syntax(
                self.path,
                format!("point {}", at / 3),
                "its coordinates are not finite",
            ));
        }
        self.cells
            .points
            .extend_from_slice(values.as_chunks::<3>().0);
        if self.cells.points.len() as u64 >= u64::from(u32::MAX) {
            return Err(self.wrong(points.at, "more than 2^32 points"));
        }
        let arrays = self.arrays(xml, piece, fault)?;
        let kept = self.put(&arrays, base)?;
        self.data(xml, piece, fault, &kept, arrays.kinds.len())?;
        self.count += arrays.kinds.len() as u64;
        Ok(())
    }

    fn fits(
        &self,
        what: &str,
        at: u64,
        len: usize,
        expected: Option<u64>,
    ) -> Result<(), MeshFileError> {
        match expected {
            Some(expected) if expected != len as u64 => {
                Err(self.wrong(at, format!("{len} {what}, {expected} expected")))
            }
            _ => Ok(()),
        }
    }

    fn arrays(
        &self,
        xml: &mut XmlArrays<'_>,
        piece: &XmlPiece,
        fault: &impl Fn(XmlFault) -> MeshFileError,
    ) -> Result<Arrays, MeshFileError> {
        let mut read = |name: &str| {
            let array = piece.array("Cells", name);
            let array = array
                .ok_or_else(|| syntax(self.path, "a piece", format!("its cells have no {name}")))?;
            Ok::<_, MeshFileError>((array.at, xml.integers(array).map_err(fault)?))
        };
        let (_, corners) = read("connectivity")?;
        let (at_ends, ends) = read("offsets")?;
        let (at_kinds, kinds) = read("types")?;
        self.fits("types of cells", at_kinds, kinds.len(), piece.cells)?;
        self.fits(
            "offsets of cells",
            at_ends,
            ends.len(),
            Some(kinds.len() as u64),
        )?;
        let mut optional = |name: &str| match piece.array("CellData", name) {
            None => Ok(Vec::new()),
            Some(array) => {
                let values = xml.integers(array).map_err(fault)?;
                self.fits(name, array.at, values.len(), Some(kinds.len() as u64))?;
                Ok::<_, MeshFileError>(values)
            }
        };
        let (physical, ghosts) = (optional(PHYSICAL)?, optional(GHOSTS)?);
        Ok(Arrays {
            corners,
            ends,
            kinds,
            physical,
            ghosts,
        })
    }

    /// Takes the cells of a piece; which of them are volumes.
    fn put(&mut self, arrays: &Arrays, base: usize) -> Result<Vec<u32>, MeshFileError> {
        let mut kept = reserve(self.path, "cells", arrays.kinds.len())?;
        let mut from = 0usize;
        for (i, (&kind, &end)) in arrays.kinds.iter().zip(&arrays.ends).enumerate() {
            let label = self.count + i as u64;
            let cell = |what: String| syntax(self.path, format!("cell {label}"), what);
            let range = usize::try_from(end)
                .ok()
                .and_then(|to| arrays.corners.get(from..to));
            let Some(ids) = range else {
                let len = arrays.corners.len();
                return Err(cell(format!(
                    "its corners end at {end} of {len}, after {from}"
                )));
            };
            from = end as usize;
            if arrays
                .ghosts
                .get(i)
                .is_some_and(|ghost| ghost & GHOST_BITS != 0)
            {
                self.ghosts += 1;
                continue;
            }
            let order: &[usize] = match kind {
                5 => &[0, 1, 2],
                8 => &[0, 1, 3, 2],
                9 => &[0, 1, 2, 3],
                10 => &[0, 1, 2, 3],
                11 => &[0, 1, 3, 2, 4, 5, 7, 6],
                12 => &[0, 1, 2, 3, 4, 5, 6, 7],
                // Points, lines, strips and polygons, also of second order.
                0..=4 | 6 | 7 | 21..=23 | 28 | 30 | 34..=36 | 68..=70 => continue,
                _ => {
                    self.cells.other(shape(kind), label);
                    continue;
                }
            };
            if ids.len() != order.len() {
                return Err(cell(format!(
                    "it is of type {kind} and has {} corners",
                    ids.len()
                )));
            }
            let mut corners = [NONE; 8];
            let points = self.cells.points.len() - base;
            for (corner, &k) in corners.iter_mut().zip(order) {
                let id = usize::try_from(ids[k]).ok().filter(|&id| id < points);
                let id = id.ok_or_else(|| {
                    cell(format!(
                        "point {} does not exist, there are {points}",
                        ids[k]
                    ))
                })?;
                *corner = (base + id) as u32;
            }
            let dimension = if kind < 10 { 2 } else { 3 };
            let physical = arrays.physical.get(i).copied().unwrap_or(0);
            let group = self.group(dimension, physical);
            if dimension == 2 {
                let [a, b, c, d, ..] = corners;
                if group != NONE {
                    self.cells.faces.push(([a, b, c, d], group));
                }
                continue;
            }
            kept.push(i as u32);
            let shape = if kind == 10 {
                FileShape::Tetrahedron
            } else {
                FileShape::Hexahedron
            };
            let list = self.cells.cell(shape, label, group);
            list.extend_from_slice(&corners[..shape.corners()]);
        }
        Ok(kept)
    }

    fn group(&mut self, dimension: usize, physical: i64) -> u32 {
        if physical == 0 {
            return NONE;
        }
        let (list, noun) = match dimension {
            3 => (&mut self.cells.volumes, "volume"),
            _ => (&mut self.cells.surfaces, "surface"),
        };
        let new = list.len() as u32;
        let group = *self.groups.entry((dimension, physical)).or_insert(new);
        if group == new {
            list.push(format!("{noun}_{physical}"));
        }
        group
    }

    /// Takes the data of the cells that are volumes.
    fn data(
        &mut self,
        xml: &mut XmlArrays<'_>,
        piece: &XmlPiece,
        fault: &impl Fn(XmlFault) -> MeshFileError,
        kept: &[u32],
        cells: usize,
    ) -> Result<(), MeshFileError> {
        let before = self.cells.labels.len() - kept.len();
        let own = |name: &str| name == PHYSICAL || name == GHOSTS || name.is_empty();
        for array in piece
            .arrays
            .iter()
            .filter(|a| a.section == "CellData" && !own(&a.name))
        {
            let (name, n) = (&array.name, array.components);
            if !(1..=MOST_COMPONENTS).contains(&n) {
                return Err(self.wrong(array.at, format!("{n} components of {name}")));
            }
            let values = xml.reals(array).map_err(fault)?;
            self.fits(
                &format!("numbers of {name}"),
                array.at,
                values.len(),
                Some((n * cells) as u64),
            )?;
            let known = self.cells.values.iter().position(|v| v.name == *name);
            let known = known.or_else(|| {
                self.cells.values.push(CellValues {
                    name: name.clone(),
                    components: n,
                    values: Vec::new(),
                });
                (before == 0).then(|| self.cells.values.len() - 1)
            });
            let into = known.map(|at| &mut self.cells.values[at]);
            let Some(into) = into.filter(|v| v.components == n && v.values.len() == before * n)
            else {
                let what = format!("{name} is not an array of each piece, once");
                return Err(self.wrong(array.at, what));
            };
            let rows = kept.iter().map(|&i| i as usize * n..(i as usize + 1) * n);
            rows.for_each(|row| into.values.extend_from_slice(&values[row]));
        }
        let all = self.cells.labels.len();
        let lacks = |of: &&CellValues| of.values.len() != all * of.components;
        match self.cells.values.iter().find(lacks) {
            None => Ok(()),
            Some(of) => {
                let what = format!(
                    "its cell data have no {}, those of other pieces do",
                    of.name
                );
                Err(syntax(self.path, "a piece", what))
            }
        }
    }

    /// Merges points of several pieces by their coordinates; the first one stays.
    fn merge(&mut self) {
        let points = &self.cells.points;
        let key = |i: u32| points[i as usize].map(|x| (x + 0.0).to_bits());
        let mut order: Vec<u32> = (0..points.len() as u32).collect();
        order.sort_unstable_by_key(|&i| (key(i), i));
        let mut first: Vec<u32> = (0..points.len() as u32).collect();
        for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
            same.iter().for_each(|&i| first[i as usize] = same[0]);
        }
        let cells = &mut self.cells;
        let ids = cells.hexahedra.iter_mut().chain(&mut cells.tetrahedra);
        let named = cells.faces.iter_mut().flat_map(|face| &mut face.0);
        for id in ids.chain(named).filter(|id| **id != NONE) {
            *id = first[*id as usize];
        }
    }
}

/// What a type of cells is called.
fn shape(kind: i64) -> &'static str {
    match kind {
        13 => "wedges",
        14 => "pyramids",
        15 | 16 => "prisms of five and six sides",
        24 | 71 => "tetrahedra of higher order",
        25 | 29 | 33 | 72 => "hexahedra of higher order",
        26 | 32 | 73 => "wedges of higher order",
        27 | 37 | 74 => "pyramids of higher order",
        42 => "polyhedra",
        _ => "cells of an unknown type",
    }
}
