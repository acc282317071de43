//! Cells by their corners, as files have them.

use super::CellValues;
use super::source::syntax;
use crate::MeshFileError;
use std::collections::BTreeMap;
use std::path::Path;

/// The way out for meshes of several kinds of cells.
const AS_A_CASE: &str =
    "another program may write an OpenFOAM case of it, whose hexahedra can be refined";

/// What the cells of a file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileShape {
    Hexahedron,
    Tetrahedron,
}

impl FileShape {
    pub(super) fn corners(self) -> usize {
        match self {
            Self::Hexahedron => 8,
            Self::Tetrahedron => 4,
        }
    }

    /// Sides, corners in a loop seen from outside. Corners: bottom, then top of a hexahedron, both in a loop; three in a
    /// loop, and the one that they turn around.
    pub(super) fn sides(self) -> &'static [&'static [usize]] {
        match self {
            Self::Hexahedron => &[
                &[0, 3, 2, 1],
                &[4, 5, 6, 7],
                &[0, 1, 5, 4],
                &[1, 2, 6, 5],
                &[2, 3, 7, 6],
                &[3, 0, 4, 7],
            ],
            Self::Tetrahedron => &[&[0, 2, 1], &[0, 1, 3], &[1, 2, 3], &[0, 3, 2]],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Hexahedron => "hexahedra",
            Self::Tetrahedron => "tetrahedra",
        }
    }
}

/// A named face: three or four corners (the fourth [`NONE`](super::assemble::NONE)), and its group.
pub(super) type NamedFace = ([u32; 4], u32);

/// What a file has, before faces are matched.
#[derive(Debug, Default)]
pub(super) struct FileCells {
    pub(super) points: Vec<[f64; 3]>,
    pub(super) hexahedra: Vec<u32>,
    pub(super) tetrahedra: Vec<u32>,
    /// The number of each cell in the file.
    pub(super) labels: Vec<u64>,
    /// What files call their cells: `element`, `cell`.
    pub(super) noun: &'static str,
    /// What is said of a file without cells of a volume.
    pub(super) no_cells: &'static str,
    /// The group of each cell, or `u32::MAX`.
    pub(super) cell_groups: Vec<u32>,
    /// Names of groups of cells and of faces.
    pub(super) volumes: Vec<String>,
    pub(super) surfaces: Vec<String>,
    pub(super) faces: Vec<NamedFace>,
    pub(super) values: Vec<CellValues>,
    pub(super) notes: Vec<String>,
    /// Cells of other shapes: how many, and the first one.
    others: BTreeMap<&'static str, (u64, u64)>,
}

impl FileCells {
    pub(super) fn new(noun: &'static str) -> Self {
        Self {
            noun,
            no_cells: "it has no cells of a volume",
            ..Self::default()
        }
    }

    /// Adds a cell.
    pub(super) fn cell(&mut self, shape: FileShape, label: u64, group: u32) -> &mut Vec<u32> {
        self.labels.push(label);
        self.cell_groups.push(group);
        match shape {
            FileShape::Hexahedron => &mut self.hexahedra,
            FileShape::Tetrahedron => &mut self.tetrahedra,
        }
    }

    /// Counts a cell of another shape.
    pub(super) fn other(&mut self, shape: &'static str, label: u64) {
        self.others.entry(shape).or_insert((0, label)).0 += 1;
    }

    /// The shape of all cells, and their corners.
    pub(super) fn shape(&mut self, path: &Path) -> Result<(FileShape, Vec<u32>), MeshFileError> {
        if let Some((shape, (count, first))) = self.others.first_key_value() {
            let more = self.others.len() - 1;
            let more = match more {
                0 => String::new(),
                n => format!(" (and cells of {n} other shapes)"),
            };
            return Err(syntax(
                path,
                format!("{} {first}", self.noun),
                format!(
                    "{count} {shape}{more}: only hexahedra, or only tetrahedra, can be read, with straight edges; {AS_A_CASE}"
                ),
            ));
        }
        let [hexahedra, tetrahedra] =
            [&mut self.hexahedra, &mut self.tetrahedra].map(std::mem::take);
        let counts = [hexahedra.len() / 8, tetrahedra.len() / 4];
        match counts {
            [0, 0] => Err(syntax(path, "the whole file", self.no_cells)),
            [_, 0] => Ok((FileShape::Hexahedron, hexahedra)),
            [0, _] => Ok((FileShape::Tetrahedron, tetrahedra)),
            [a, b] => {
                let [one, two] =
                    [FileShape::Hexahedron, FileShape::Tetrahedron].map(FileShape::name);
                let what =
                    format!("{a} {one} and {b} {two}: a mesh has to be of one kind; {AS_A_CASE}");
                Err(syntax(path, "the whole file", what))
            }
        }
    }

    /// Drops points that no cell has; faces with such points are dropped too, and counted.
    pub(super) fn compact(&mut self, corners: &mut [u32]) -> usize {
        let mut number = vec![u32::MAX; self.points.len()];
        for &point in corners.iter() {
            number[point as usize] = 0;
        }
        let mut kept = 0;
        for (point, number) in number.iter_mut().enumerate() {
            if *number == 0 {
                *number = kept as u32;
                self.points[kept] = self.points[point];
                kept += 1;
            }
        }
        self.points.truncate(kept);
        for point in corners.iter_mut() {
            *point = number[*point as usize];
        }
        let before = self.faces.len();
        let renamed = |id: u32| match id {
            u32::MAX => Some(u32::MAX),
            id => Some(number[id as usize]).filter(|&id| id != u32::MAX),
        };
        self.faces.retain_mut(|(ids, _)| {
            let new = ids.map(renamed);
            let known = new.iter().all(Option::is_some);
            *ids = new.map(|id| id.unwrap_or(u32::MAX));
            known
        });
        before - self.faces.len()
    }
}
