//! Sections of version 2.2.

use super::Gmsh;
use super::lexer::Lexer;
use crate::MeshFileError;
use crate::volume::assemble::NONE;
use crate::volume::source::reserve;

impl Gmsh {
    /// A number and coordinates a node.
    pub(super) fn nodes_v2(&mut self, lexer: &mut Lexer<'_>) -> Result<(), MeshFileError> {
        let count = text_count(lexer, "the number of nodes")?;
        let mut tags = reserve(lexer.path(), "numbers of nodes", count)?;
        let mut points = reserve(lexer.path(), "nodes", count)?;
        for _ in 0..count {
            let tag = lexer.integer("the number of a node")?;
            let tag = u64::try_from(tag);
            tags.push(tag.map_err(|_| lexer.wrong("the number of a node is negative"))?);
            points.push([lexer.real()?, lexer.real()?, lexer.real()?]);
        }
        self.put_nodes(lexer, &tags, points)
    }

    /// Number, type, tags (the first is the physical group) and nodes of each element; in binary files, those of one type
    /// follow a header.
    pub(super) fn elements_v2(&mut self, lexer: &mut Lexer<'_>) -> Result<(), MeshFileError> {
        let count = text_count(lexer, "the number of elements")?;
        let mut left = count;
        while left > 0 {
            if !lexer.is_binary() {
                let tag = lexer.integer("the number of an element")?;
                let kind = lexer.integer("the type of an element")?;
                let tags = tags(lexer)?;
                self.element_v2(lexer, (tag, kind), tags)?;
                left -= 1;
                continue;
            }
            let kind = lexer.integer("the type of elements")?;
            let of_block = lexer.integer("the number of elements")?;
            let of_block = lexer.fitting(of_block, 2, "the number of elements of a block")?;
            let tags = tags(lexer)?;
            if of_block > left || of_block == 0 {
                let what = format!("a block of {of_block} elements, {left} are left");
                return Err(lexer.wrong(what));
            }
            for _ in 0..of_block {
                let tag = lexer.integer("the number of an element")?;
                self.element_v2(lexer, (tag, kind), tags)?;
            }
            left -= of_block;
        }
        Ok(())
    }

    fn element_v2(
        &mut self,
        lexer: &mut Lexer<'_>,
        (tag, kind): (i64, i64),
        tags: usize,
    ) -> Result<(), MeshFileError> {
        let tag =
            u64::try_from(tag).map_err(|_| lexer.wrong("the number of an element is negative"))?;
        let mut physical = 0;
        for i in 0..tags {
            let value = lexer.integer("a tag of an element")?;
            if i == 0 {
                physical = value;
            }
        }
        let (_, dimension) = self.kind(lexer, kind)?;
        let group = match dimension >= 2 {
            true => self.group(dimension, physical),
            false => NONE,
        };
        self.element(lexer, (kind, tag, group), |lexer| lexer.integer("a node"))
    }
}

/// A count of text, behind which raw numbers begin in binary files.
fn text_count(lexer: &mut Lexer<'_>, what: &str) -> Result<usize, MeshFileError> {
    let count = lexer.text_count(what)?;
    if lexer.is_binary() {
        lexer.end_line()?;
    }
    lexer.fitting(count as i64, 4, what)
}

fn tags(lexer: &mut Lexer<'_>) -> Result<usize, MeshFileError> {
    let tags = lexer.integer("the number of tags")?;
    lexer.fitting(tags, 1, "the number of tags")
}
