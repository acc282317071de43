//! Linear trees by brute force: sets of leaves, split and merged until the rules hold, and their order, keys and faces by
//! definition. Shares nothing with the crate but the numbering of children and the values of marks.

use cutlink_amr::{
    Mark,
    linear::{Faces, Grid, Leaves},
};
use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

/// Level and coordinate.
pub(crate) type Block<const D: usize> = (u32, [i32; D]);

/// A set of leaves that fill a box.
#[derive(Clone)]
pub(crate) struct Model<const D: usize> {
    pub(crate) grid: Grid<D>,
    pub(crate) leaves: HashSet<Block<D>>,
}

/// All of `{from..=to}^D`.
fn cube<const D: usize>(from: i32, to: i32) -> impl Iterator<Item = [i32; D]> {
    let edge = (to - from + 1) as usize;
    (0..edge.pow(D as u32))
        .map(move |i| std::array::from_fn(|a| from + (i / edge.pow(a as u32) % edge) as i32))
}

fn children<const D: usize>((level, at): Block<D>) -> Vec<Block<D>> {
    let child = |low: [i32; D]| (level + 1, std::array::from_fn(|a| 2 * at[a] + low[a]));
    cube(0, 1).map(child).collect()
}

fn parent<const D: usize>((level, at): Block<D>) -> Block<D> {
    (level - 1, at.map(|c| c >> 1))
}

impl<const D: usize> Model<D> {
    /// The root blocks.
    pub(crate) fn new(grid: Grid<D>) -> Self {
        let most = *grid.root().iter().max().expect("axes") as i32;
        let inside = |at: &[i32; D]| (0..D).all(|a| at[a] < grid.root()[a] as i32);
        let roots = cube(0, most - 1).filter(inside).map(|at| (0, at));
        Self {
            grid,
            leaves: roots.collect(),
        }
    }

    /// The block beside a block, or none outside of the box.
    fn step(&self, (level, at): Block<D>, step: [i32; D]) -> Option<Block<D>> {
        let mut to = at;
        for a in 0..D {
            let count = (self.grid.root()[a] as i32) << level;
            to[a] += step[a];
            if self.grid.periodic()[a] {
                to[a] = to[a].rem_euclid(count);
            }
            if to[a] < 0 || to[a] >= count {
                return None;
            }
        }
        Some((level, to))
    }

    /// The blocks of the same level that touch a block.
    fn around(&self, block: Block<D>) -> Vec<Block<D>> {
        let steps = cube(-1, 1).filter(|step: &[i32; D]| *step != [0; D]);
        steps.filter_map(|step| self.step(block, step)).collect()
    }

    /// The leaf that a block is or lies in.
    fn cover(&self, mut block: Block<D>) -> Option<Block<D>> {
        while !self.leaves.contains(&block) {
            if block.0 == 0 {
                return None;
            }
            block = parent(block);
        }
        Some(block)
    }

    fn split(&mut self, leaf: Block<D>) {
        assert!(self.leaves.remove(&leaf), "{leaf:?} should be a leaf");
        self.leaves.extend(children(leaf));
    }

    /// Splits leaves until a block is a leaf or refined.
    pub(crate) fn want(&mut self, block: Block<D>) {
        while let Some(leaf) = self.cover(block).filter(|leaf| *leaf != block) {
            self.split(leaf);
        }
    }

    /// Splits what 2:1 does not allow, sweep by sweep.
    pub(crate) fn balance(&mut self) {
        loop {
            let too_coarse = |&leaf: &Block<D>| {
                let around = self.around(leaf).into_iter();
                let covers = around.filter_map(|block| self.cover(block));
                covers.filter(move |other| other.0 + 1 < leaf.0)
            };
            let found: HashSet<Block<D>> = self.leaves.iter().flat_map(too_coarse).collect();
            if found.is_empty() {
                return;
            }
            found.into_iter().for_each(|leaf| self.split(leaf));
        }
    }

    /// Refined blocks.
    fn refined(&self) -> HashSet<Block<D>> {
        let mut refined = HashSet::new();
        for &leaf in &self.leaves {
            let mut block = leaf;
            while block.0 > 0 {
                block = parent(block);
                refined.insert(block);
            }
        }
        refined
    }

    /// Splits the leaves to refine and what 2:1 needs; then, from the finest level up, merges groups that are all to coarsen
    /// and touch no refined block of their level.
    pub(crate) fn adapt(&mut self, marks: &HashMap<Block<D>, Mark>) {
        let marked = |mark| move |&(&block, &m): &(&Block<D>, &Mark)| (m == mark).then_some(block);
        for leaf in marks
            .iter()
            .filter_map(|entry| marked(Mark::Refine)(&entry))
        {
            self.split(leaf);
        }
        self.balance();
        let coarsen: HashSet<Block<D>> = (marks
            .iter()
            .filter_map(|entry| marked(Mark::Coarsen)(&entry)))
        .collect();
        let finest = coarsen.iter().map(|block| block.0).max().unwrap_or(0);
        for level in (1..=finest).rev() {
            let refined = self.refined();
            let of_level = coarsen.iter().filter(|block| block.0 == level);
            let parents: HashSet<Block<D>> = of_level.map(|&block| parent(block)).collect();
            for group in parents {
                let mut siblings = children(group).into_iter();
                let goes = |block: Block<D>| {
                    coarsen.contains(&block)
                        && self.leaves.contains(&block)
                        && self
                            .around(block)
                            .iter()
                            .all(|other| !refined.contains(other))
                };
                if siblings.all(goes) {
                    for block in children(group) {
                        self.leaves.remove(&block);
                    }
                    self.leaves.insert(group);
                }
            }
        }
    }

    /// The leaves in Morton order: the axis with the highest bit that differs decides, the last of equal ones.
    pub(crate) fn sorted(&self) -> Vec<Block<D>> {
        let limit = self.grid.limit();
        let fine = |(level, at): Block<D>| at.map(|c| (c as u64) << (limit - level));
        let compare = |a: &Block<D>, b: &Block<D>| {
            let (x, y) = (fine(*a), fine(*b));
            let highest = |axis: &usize| (u64::BITS - (x[*axis] ^ y[*axis]).leading_zeros(), *axis);
            let axis = (0..D).max_by_key(highest).expect("axes");
            match x[axis].cmp(&y[axis]) {
                Ordering::Equal => a.0.cmp(&b.0),
                order => order,
            }
        };
        let mut sorted: Vec<Block<D>> = self.leaves.iter().copied().collect();
        sorted.sort_by(compare);
        sorted
    }

    /// The arrays of [`Faces`], by definition.
    pub(crate) fn faces(&self) -> [Vec<u32>; 3] {
        let sorted = self.sorted();
        let ids: HashMap<Block<D>, u32> = sorted.iter().copied().zip(0..).collect();
        let (mut codes, mut hanging, mut slots) = (Vec::new(), Vec::new(), Vec::new());
        for (leaf, &block) in sorted.iter().enumerate() {
            for face in 0..2 * D {
                let (axis, up) = (face / 2, (face % 2) as i32);
                let mut step = [0; D];
                step[axis] = 2 * up - 1;
                let code = match self.step(block, step) {
                    None => 2 << 29,
                    Some(beside) if ids.contains_key(&beside) => ids[&beside],
                    Some(beside) if block.0 > 0 && ids.contains_key(&parent(beside)) => {
                        let others = (0..D).filter(|&a| a != axis);
                        let side = |(bit, a): (usize, usize)| (block.1[a] as u32 & 1) << bit;
                        let part: u32 = others.enumerate().map(side).sum();
                        ids[&parent(beside)] | (4 + part) << 29
                    }
                    Some(beside) => {
                        let near = |c: &Block<D>| c.1[axis] & 1 == 1 - up;
                        let finer = children(beside).into_iter().filter(near);
                        // Children are numbered x fastest, and so are the parts of a face.
                        hanging.extend(finer.map(|child| ids[&child]));
                        slots.push((leaf * 2 * D + face) as u32);
                        1 << 29 | (slots.len() as u32 - 1)
                    }
                };
                codes.push(code);
            }
        }
        [codes, hanging, slots]
    }
}

/// A key, bit by bit.
pub(crate) fn key<const D: usize>(grid: &Grid<D>, (level, at): Block<D>) -> u64 {
    let mut key = u64::from(level);
    for bit in 0..if D == 3 { 19 } else { 29 } {
        for a in 0..D {
            let fine = (at[a] as u64) << (grid.limit() - level);
            key |= (fine >> bit & 1) << (5 + D * bit + a);
        }
    }
    key
}

/// Whether a tree is that of the model, order included; else what differs.
pub(crate) fn same_leaves<const D: usize>(
    found: &Leaves<D>,
    model: &Model<D>,
) -> Result<(), String> {
    let sorted = model.sorted();
    if found.len() != sorted.len() {
        return Err(format!("{} leaves, {} expected", found.len(), sorted.len()));
    }
    for (i, &block) in sorted.iter().enumerate() {
        if found.keys()[i] != key(&model.grid, block) {
            let there = (found.level(i as u32), found.coord(i as u32));
            return Err(format!("leaf {i} is {there:?}, {block:?} expected"));
        }
    }
    let finest = sorted.iter().map(|block| block.0).max();
    if Some(found.finest()) != finest {
        return Err(format!(
            "level {} is finest, not {finest:?}",
            found.finest()
        ));
    }
    Ok(())
}

/// Whether faces are those of the model, array by array; else where they differ first.
pub(crate) fn same_faces<const D: usize>(found: &Faces<D>, model: &Model<D>) -> Result<(), String> {
    let names = ["codes", "hanging", "slots"];
    let arrays = [&found.codes, &found.hanging, &found.slots];
    for ((name, found), expected) in names.iter().zip(arrays).zip(&model.faces()) {
        if found != expected {
            let at = found.iter().zip(expected).position(|(a, b)| a != b);
            let (a, b) = (found.len(), expected.len());
            return Err(format!("{name} differ at {at:?}, lengths {a} and {b}"));
        }
    }
    Ok(())
}
