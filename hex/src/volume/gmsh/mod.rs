//! Gmsh's `.msh`, versions 4.1 and 2.2 (`MSH file format` of its reference manual).
//!
//! Read: `$PhysicalNames`, `$Entities`, `$Nodes`, `$Elements`; all other sections are skipped. Numbers of text and of
//! binary files come in the same order, so one reader has both ([`lexer`]). Cells of a volume mesh: hexahedra (type 5) or
//! tetrahedra (4); triangles and quads name faces; points and lines are skipped; other volumes are refused. An element in
//! several physical groups belongs to the first one.

mod lexer;
mod v2;
mod v4;

use super::assemble::NONE;
use super::collect::{FileCells, FileShape};
use super::source::reserve;
use crate::MeshFileError;
use lexer::Lexer;
use std::collections::BTreeMap;
use std::path::Path;

/// Names of physical groups, by dimension and number.
type Names = BTreeMap<(i64, i64), String>;

/// What has been read.
struct Gmsh {
    names: Names,
    nodes: Option<Nodes>,
    /// Physical groups of entities, by dimension and number; version 4.
    entities: BTreeMap<(i64, i64), Vec<i64>>,
    /// Numbers given to groups, by dimension and physical number.
    groups: BTreeMap<(i64, i64), u32>,
    in_several: u64,
    has_elements: bool,
    cells: FileCells,
}

/// Which point a node is.
#[derive(Debug)]
struct Nodes {
    /// The number of the first node, where all follow one another.
    first: u64,
    count: u64,
    /// Else all numbers, ascending, and their points.
    sorted: Vec<(u64, u32)>,
}

impl Nodes {
    /// Of the numbers of all points; an error names the node that is there twice.
    fn of(path: &Path, tags: &[u64]) -> Result<Self, MeshFileError> {
        let first = tags.first().copied().unwrap_or(0);
        let count = tags.len() as u64;
        let follows = |(tag, i): (&u64, u64)| tag.checked_sub(first) == Some(i);
        if tags.iter().zip(0..).all(follows) {
            let sorted = Vec::new();
            return Ok(Self {
                first,
                count,
                sorted,
            });
        }
        let mut sorted = reserve(path, "numbers of nodes", tags.len())?;
        sorted.extend(tags.iter().copied().zip(0..));
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(super::source::syntax(
                path,
                format!("node {}", pair[0].0),
                "it is there twice",
            )),
            None => Ok(Self {
                first,
                count,
                sorted,
            }),
        }
    }

    fn point(&self, tag: i64) -> Option<u32> {
        let tag = u64::try_from(tag).ok()?;
        if self.sorted.is_empty() {
            let at = tag.checked_sub(self.first)?;
            return (at < self.count).then_some(at as u32);
        }
        let at = self.sorted.binary_search_by_key(&tag, |node| node.0).ok()?;
        Some(self.sorted[at].1)
    }
}

/// What is said of a file without cells of a volume.
const NO_CELLS: &str = "it has no cells of a volume: with physical groups for surfaces only, Gmsh saves nothing else; add a \
    physical group for the volume, or set Mesh.SaveAll = 1";

/// Kinds of elements: type, nodes, dimension, name of those that are cells of no kind we read.
const KINDS: [(i64, usize, i64, &str); 33] = [
    (1, 2, 1, ""),
    (2, 3, 2, ""),
    (3, 4, 2, ""),
    (4, 4, 3, ""),
    (5, 8, 3, ""),
    (6, 6, 3, "prisms"),
    (7, 5, 3, "pyramids"),
    (8, 3, 1, ""),
    (9, 6, 2, ""),
    (10, 9, 2, ""),
    (11, 10, 3, "tetrahedra of second order"),
    (12, 27, 3, "hexahedra of second order"),
    (13, 18, 3, "prisms of second order"),
    (14, 14, 3, "pyramids of second order"),
    (15, 1, 0, ""),
    (16, 8, 2, ""),
    (17, 20, 3, "hexahedra of second order"),
    (18, 15, 3, "prisms of second order"),
    (19, 13, 3, "pyramids of second order"),
    (20, 9, 2, ""),
    (21, 10, 2, ""),
    (22, 12, 2, ""),
    (23, 15, 2, ""),
    (24, 15, 2, ""),
    (25, 21, 2, ""),
    (26, 4, 1, ""),
    (27, 5, 1, ""),
    (28, 6, 1, ""),
    (29, 20, 3, "tetrahedra of third order"),
    (30, 35, 3, "tetrahedra of fourth order"),
    (31, 56, 3, "tetrahedra of fifth order"),
    (92, 64, 3, "hexahedra of third order"),
    (93, 125, 3, "hexahedra of fourth order"),
];

/// Reads a file.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<FileCells, MeshFileError> {
    let mut lexer = Lexer::new(path, bytes);
    let version = lexer.header()?;
    let mut all = Gmsh {
        names: Names::new(),
        nodes: None,
        entities: BTreeMap::new(),
        groups: BTreeMap::new(),
        in_several: 0,
        has_elements: false,
        cells: FileCells::new("element"),
    };
    all.cells.no_cells = NO_CELLS;
    while let Some(name) = lexer.section()? {
        match name.as_str() {
            "PhysicalNames" => all.names = names(&mut lexer)?,
            "Entities" if version == 4 => all.entities(&mut lexer)?,
            "PartitionedEntities" => {
                return Err(lexer.wrong("a partitioned mesh: save it without partitions"));
            }
            "Nodes" if all.nodes.is_some() => return Err(lexer.wrong("a second $Nodes")),
            "Nodes" if version == 4 => all.nodes_v4(&mut lexer)?,
            "Nodes" => all.nodes_v2(&mut lexer)?,
            "Elements" if all.nodes.is_none() => {
                return Err(lexer.wrong("$Elements comes before $Nodes"));
            }
            "Elements" if all.has_elements => return Err(lexer.wrong("a second $Elements")),
            "Elements" => {
                all.has_elements = true;
                match version {
                    4 => all.elements_v4(&mut lexer)?,
                    _ => all.elements_v2(&mut lexer)?,
                }
            }
            "Periodic" => {
                lexer.skip_section(&name)?;
                let note = "$Periodic is ignored: periodic surfaces are patches like all others";
                all.cells.notes.push(note.into());
            }
            _ => lexer.skip_section(&name)?,
        }
        lexer.end_section(&name)?;
    }
    match (all.nodes.is_some(), all.has_elements) {
        (true, true) => Ok(all.finish()),
        (false, _) => Err(lexer.wrong("the file ends, and has no $Nodes")),
        (_, false) => Err(lexer.wrong("the file ends, and has no $Elements")),
    }
}

/// `count`, then `dimension number "name"` a line; text in binary files too.
fn names(lexer: &mut Lexer<'_>) -> Result<Names, MeshFileError> {
    let mut names = Names::new();
    for _ in 0..lexer.text_count("the number of physical names")? {
        let key = (
            lexer.text_integer("a dimension")?,
            lexer.text_integer("a physical number")?,
        );
        names.insert(key, lexer.quoted()?);
    }
    Ok(names)
}

impl Gmsh {
    /// The group of a physical number; 0 is none.
    fn group(&mut self, dimension: i64, physical: i64) -> u32 {
        let key = (dimension, physical.saturating_abs());
        if physical == 0 {
            return NONE;
        }
        if let Some(&group) = self.groups.get(&key) {
            return group;
        }
        let (list, noun) = match dimension {
            3 => (&mut self.cells.volumes, "volume"),
            _ => (&mut self.cells.surfaces, "surface"),
        };
        let group = list.len() as u32;
        let name = self.names.get(&key).cloned();
        list.push(name.unwrap_or_else(|| format!("{noun}_{}", key.1)));
        self.groups.insert(key, group);
        group
    }

    /// Nodes and dimension of a type of elements.
    fn kind(&self, lexer: &Lexer<'_>, kind: i64) -> Result<(usize, i64), MeshFileError> {
        let known = KINDS.iter().find(|known| known.0 == kind);
        known
            .map(|known| (known.1, known.2))
            .ok_or_else(|| lexer.wrong(format!("elements of type {kind} are not known")))
    }

    /// Takes an element, whose nodes come next.
    fn element(
        &mut self,
        lexer: &mut Lexer<'_>,
        (kind, tag, group): (i64, u64, u32),
        mut next: impl FnMut(&mut Lexer<'_>) -> Result<i64, MeshFileError>,
    ) -> Result<(), MeshFileError> {
        let (nodes, _) = self.kind(lexer, kind)?;
        let mut corners = [NONE; 8];
        let is_read = matches!(kind, 2..=5);
        for i in 0..nodes {
            let node = next(lexer)?;
            if is_read {
                let known = self.nodes.as_ref().and_then(|nodes| nodes.point(node));
                corners[i] = known.ok_or_else(|| {
                    lexer.wrong(format!(
                        "element {tag} has node {node}, which does not exist"
                    ))
                })?;
            }
        }
        match kind {
            2 | 3 if group != NONE => {
                let [a, b, c, d, ..] = corners;
                self.cells.faces.push(([a, b, c, d], group));
            }
            4 => {
                let list = self.cells.cell(FileShape::Tetrahedron, tag, group);
                list.extend_from_slice(&corners[..4]);
            }
            5 => {
                let list = self.cells.cell(FileShape::Hexahedron, tag, group);
                list.extend_from_slice(&corners);
            }
            _ => {
                let shape = KINDS.iter().find(|known| known.0 == kind);
                if let Some((_, _, 3, shape)) = shape {
                    self.cells.other(shape, tag);
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> FileCells {
        if self.in_several > 0 {
            self.cells.notes.push(format!(
                "{} entities are in several physical groups: they are in the first one",
                self.in_several
            ));
        }
        self.cells
    }
}
