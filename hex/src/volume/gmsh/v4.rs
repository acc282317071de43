//! Sections of version 4.1.

use super::lexer::Lexer;
use super::{Gmsh, Nodes};
use crate::MeshFileError;
use crate::volume::assemble::NONE;
use crate::volume::source::{reserve, syntax};

impl Gmsh {
    /// Entities: which physical groups they are in.
    pub(super) fn entities(&mut self, lexer: &mut Lexer<'_>) -> Result<(), MeshFileError> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = lexer.count(4, "the number of entities")?;
        }
        for (dimension, count) in (0..).zip(counts) {
            for _ in 0..count {
                let tag = lexer.integer("the number of an entity")?;
                let bounds = if dimension == 0 { 3 } else { 6 };
                for _ in 0..bounds {
                    lexer.real()?;
                }
                let mut physical = Vec::new();
                for _ in 0..lexer.count(1, "the number of physical groups")? {
                    physical.push(lexer.integer("a physical group")?);
                }
                if dimension > 0 {
                    for _ in 0..lexer.count(1, "the number of bounding entities")? {
                        lexer.integer("a bounding entity")?;
                    }
                }
                self.in_several += u64::from(dimension >= 2 && physical.len() > 1);
                self.entities.insert((dimension, tag), physical);
            }
        }
        Ok(())
    }

    /// Blocks of nodes: numbers, then coordinates.
    pub(super) fn nodes_v4(&mut self, lexer: &mut Lexer<'_>) -> Result<(), MeshFileError> {
        let blocks = lexer.count(4, "the number of blocks of nodes")?;
        let count = lexer.count(4, "the number of nodes")?;
        lexer.size("the least number of a node")?;
        lexer.size("the largest number of a node")?;
        let mut tags: Vec<u64> = reserve(lexer.path(), "numbers of nodes", count)?;
        let mut points = reserve(lexer.path(), "nodes", count)?;
        for _ in 0..blocks {
            let dimension = lexer.integer("the dimension of an entity")?;
            lexer.integer("the number of an entity")?;
            let is_parametric = lexer.integer("0 or 1")? != 0;
            let of_block = lexer.count(4, "the number of nodes of a block")?;
            if of_block > count - tags.len() {
                return Err(lexer.wrong(format!("a block of {of_block} nodes, beyond all {count}")));
            }
            for _ in 0..of_block {
                let tag = lexer.size("the number of a node")?;
                let tag = u64::try_from(tag);
                tags.push(tag.map_err(|_| lexer.wrong("the number of a node is negative"))?);
            }
            let more = if is_parametric { dimension } else { 0 };
            for _ in 0..of_block {
                points.push([lexer.real()?, lexer.real()?, lexer.real()?]);
                for _ in 0..more {
                    lexer.real()?;
                }
            }
        }
        if tags.len() != count {
            let found = tags.len();
            return Err(lexer.wrong(format!("{count} nodes announced, {found} found")));
        }
        self.put_nodes(lexer, &tags, points)
    }

    pub(super) fn put_nodes(
        &mut self,
        lexer: &Lexer<'_>,
        tags: &[u64],
        points: Vec<[f64; 3]>,
    ) -> Result<(), MeshFileError> {
        if points.len() as u64 >= u64::from(u32::MAX) {
            let what = format!("{} nodes, more than 2^32", points.len());
            return Err(syntax(lexer.path(), "$Nodes", what));
        }
        self.nodes = Some(Nodes::of(lexer.path(), tags)?);
        self.cells.points = points;
        Ok(())
    }

    /// Blocks of elements: each its number and its nodes.
    pub(super) fn elements_v4(&mut self, lexer: &mut Lexer<'_>) -> Result<(), MeshFileError> {
        let blocks = lexer.count(4, "the number of blocks of elements")?;
        let count = lexer.count(2, "the number of elements")?;
        lexer.size("the least number of an element")?;
        lexer.size("the largest number of an element")?;
        let mut found = 0;
        for _ in 0..blocks {
            let dimension = lexer.integer("the dimension of an entity")?;
            let entity = lexer.integer("the number of an entity")?;
            let kind = lexer.integer("the type of elements")?;
            let (nodes, _) = self.kind(lexer, kind)?;
            let of_block = lexer.count(1 + nodes, "the number of elements of a block")?;
            found += of_block;
            if found > count {
                let what = format!("a block of {of_block} elements, beyond all {count}");
                return Err(lexer.wrong(what));
            }
            let physical = self.entities.get(&(dimension, entity));
            let physical = physical.and_then(|all| all.first().copied());
            let group = match physical {
                Some(physical) if dimension >= 2 => self.group(dimension, physical),
                _ => NONE,
            };
            for _ in 0..of_block {
                let tag = lexer.size("the number of an element")?;
                let tag = u64::try_from(tag)
                    .map_err(|_| lexer.wrong("the number of an element is negative"))?;
                self.element(lexer, (kind, tag, group), |lexer| lexer.size("a node"))?;
            }
        }
        match found == count {
            true => Ok(()),
            false => Err(lexer.wrong(format!("{count} elements announced, {found} found"))),
        }
    }
}
