//! A `vtkHyperTreeGrid` (`.htg`, XML version 2.0 of VTK 9.2 to 9.7): one tree per root block, nodes breadth-first within
//! a tree, children x fastest, one value per node.
//!
//! The first two depths of a tree are the block and its octants; they are coarser than any cell of the mesh, and have
//! the values of the first cell below. VTK seeks in the file once per tree and array, so trees of root cells would take
//! 64 times as many seeks. Every deeper depth is a sequence of whole blocks, since the 64 cells of a block are 64
//! nodes of one depth in Morton order. A node of a refined block is a coarse cell that has children; it has the class
//! of its own centre, as in the mesh. So the order of all nodes is a list of runs of cells, and nothing is searched.

use super::VtkError;
use super::appended::{About, Announced, Appended};
use super::cells::{Cells, Field, Run};
use crate::Mesh;
use cutlink_amr::{
    Forest,
    dims::{self, EDGE},
};
use rayon::prelude::*;
use std::io::Write;

/// The whole mesh as a hyper tree grid.
#[derive(Debug)]
pub struct Htg<'a, const D: usize> {
    cells: Cells<'a, D>,
    /// Corners of the root blocks along each axis; one value for axes beyond D.
    axes: [Vec<f64>; 3],
    /// One bit a node that is not of its tree's deepest level, highest bit first: refined?
    descriptors: Vec<u8>,
    descriptor_bits: u64,
    /// Nodes of each depth of each tree.
    nodes: Vec<i64>,
    /// Depths of each tree, in x-fastest order of the root blocks.
    depths: Vec<u32>,
    text: Announced,
}

impl<'a, const D: usize> Htg<'a, D> {
    /// Lays the file out.
    pub fn new(mesh: &'a Mesh<D>, fields: &'a [Field<'a>]) -> Result<Self, VtkError> {
        let forest = &mesh.forest;
        let roots: usize = forest.root.iter().map(|&n| n as usize).product();
        let walked: Vec<Tree> = (0..roots as u32)
            .into_par_iter()
            .with_min_len(16)
            .map(|root| Tree::walk(forest, root))
            .collect();
        let depths = walked.iter().map(|t| t.nodes.len() as u32).collect();
        let nodes = walked
            .iter()
            .flat_map(|t| t.nodes.iter().copied())
            .collect();
        let runs: Vec<Run> = walked.into_iter().flat_map(|t| t.runs).collect();
        let mut bits = Bits::default();
        for run in runs.iter().filter(|run| !run.deepest) {
            bits.push(run.above || !forest.is_leaf(run.block), run.count);
        }
        let (descriptors, descriptor_bits) = bits.finish();
        let block = mesh.frame.dx * f64::from(EDGE);
        let axes = std::array::from_fn(|a| match forest.root.get(a) {
            Some(&n) => (0..=n)
                .map(|i| mesh.frame.origin[a] + block * f64::from(i))
                .collect(),
            None => vec![0.0],
        });
        let cells = Cells::new(mesh, fields, runs, morton::<D>())?.without_blocks();
        let mut htg = Self {
            cells,
            axes,
            descriptors,
            descriptor_bits,
            nodes,
            depths,
            text: Announced::default(),
        };
        htg.announce(&About::default());
        Ok(htg)
    }

    /// Nodes: leaf cells, the coarse cells that have children, and the nodes above the root cells.
    pub fn nodes(&self) -> u64 {
        self.cells.count
    }

    /// The same with field data.
    #[must_use]
    pub fn about(mut self, about: &About<'_>) -> Self {
        self.announce(about);
        self
    }

    /// Bytes of the file.
    pub fn bytes(&self) -> u64 {
        self.text.file_bytes()
    }

    /// Writes the file; the bytes written.
    pub fn write(&self, out: &mut impl Write) -> Result<u64, VtkError> {
        let mut out = Appended::new(out, &self.text)?;
        for axis in &self.axes {
            out.array(bytemuck::cast_slice(axis))?;
        }
        out.array(&self.descriptors)?;
        out.array(bytemuck::cast_slice(&self.nodes))?;
        let ids: Vec<i64> = (0..self.depths.len() as i64).collect();
        out.array(bytemuck::cast_slice(&ids))?;
        out.array(bytemuck::cast_slice(&self.depths))?;
        self.cells.write(&mut out)?;
        Ok(out.finish()?)
    }

    fn announce(&mut self, about: &About<'_>) {
        let mut text = Announced::new("HyperTreeGrid", "2.0");
        let [x, y, z] = [0, 1, 2].map(|a| self.axes[a].len());
        text.line(&format!(
            "<HyperTreeGrid BranchFactor=\"2\" TransposedRootIndexing=\"0\" Dimensions=\"{x} {y} {z}\">"
        ));
        text.about(about);
        text.line("<Grid>");
        let names = ["XCoordinates", "YCoordinates", "ZCoordinates"];
        for (name, axis) in names.into_iter().zip(&self.axes) {
            let len = axis.len() as u64;
            text.array("Float64", name, 1, len, 8 * len);
        }
        text.line("</Grid>\n<Trees>");
        let (bits, bytes) = (self.descriptor_bits, self.descriptors.len() as u64);
        text.array("Bit", "Descriptors", 1, bits, bytes);
        let nodes = self.nodes.len() as u64;
        text.array("Int64", "NumberOfVerticesPerDepth", 1, nodes, 8 * nodes);
        let trees = self.depths.len() as u64;
        text.array("Int64", "TreeIds", 1, trees, 8 * trees);
        text.array("UInt32", "DepthPerTree", 1, trees, 4 * trees);
        text.line("</Trees>");
        self.cells.announce(&mut text);
        text.line("</HyperTreeGrid>");
        text.end();
        self.text = text;
    }
}

/// The nodes of one tree.
struct Tree {
    runs: Vec<Run>,
    nodes: Vec<i64>,
}

impl Tree {
    /// The tree of a root block.
    fn walk<const D: usize>(forest: &Forest<D>, root: u32) -> Self {
        let children = dims::children(D) as u8;
        let above = |from: u8| Run {
            block: root,
            from,
            count: 1,
            deepest: false,
            above: true,
        };
        let mut walked = Self {
            runs: vec![above(0)],
            nodes: vec![1],
        };
        walked.add(
            (0..children)
                .map(|octant| above(octant * children))
                .collect(),
        );
        walked.add(vec![Run {
            count: dims::cells(D) as u8,
            above: false,
            ..above(0)
        }]);
        walked.add_whole_blocks(forest);
        let deepest = walked.nodes.last().map_or(0, |&n| n as usize);
        let mut counted = 0;
        for run in walked.runs.iter_mut().rev() {
            run.deepest = counted < deepest;
            counted += run.count as usize;
        }
        walked
    }

    fn add(&mut self, runs: Vec<Run>) {
        self.nodes
            .push(runs.iter().map(|r| i64::from(r.count)).sum());
        self.runs.extend(runs);
    }

    /// Depth after depth below the last run, which is a whole block.
    fn add_whole_blocks<const D: usize>(&mut self, forest: &Forest<D>) {
        let mut depth = self.runs.len() - 1..self.runs.len();
        while !depth.is_empty() {
            let refined = self.runs[depth.clone()]
                .iter()
                .filter(|r| !forest.is_leaf(r.block));
            let below: Vec<Run> = refined
                .flat_map(|&run| {
                    let first = forest.first_child[run.block as usize];
                    (first..first + dims::children(D) as u32).map(move |block| Run { block, ..run })
                })
                .collect();
            depth = self.runs.len()..self.runs.len() + below.len();
            if !below.is_empty() {
                self.add(below);
            }
        }
    }
}

/// Cells of a block in Morton order: the low bits of x, y, z, then the high ones.
fn morton<const D: usize>() -> Vec<u8> {
    let cell = |m: usize| {
        let bit = |a: usize, high: usize| m >> (high * D + a) & 1;
        (0..D).fold(0, |cell, a| cell | (bit(a, 0) + 2 * bit(a, 1)) << (2 * a)) as u8
    };
    (0..dims::cells(D)).map(cell).collect()
}

/// A string of bits, the first one the highest of its byte.
#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, the first one the highest of `pending` bits.
    last: u128,
    pending: u32,
}

impl Bits {
    fn push(&mut self, bit: bool, times: u8) {
        let ones = if bit { (1u128 << times) - 1 } else { 0 };
        self.last = self.last << times | ones;
        self.pending += u32::from(times);
        while self.pending >= 8 {
            self.pending -= 8;
            self.bytes.push((self.last >> self.pending) as u8);
        }
        self.last &= (1 << self.pending) - 1;
    }

    /// The bytes, the last one filled up with zeros, and the number of bits.
    fn finish(mut self) -> (Vec<u8>, u64) {
        let bits = 8 * self.bytes.len() as u64 + u64::from(self.pending);
        if self.pending > 0 {
            self.bytes.push((self.last << (8 - self.pending)) as u8);
        }
        (self.bytes, bits)
    }
}
