//! Forests, and conductances made from the geometry of cells alone.

use cutlink_amr::{CellRef, Forest, Mark, NeighborCell, dims};
use cutlink_device::Host;
use cutlink_elliptic::{Blocks, faces};
use std::sync::Arc;

/// A forest of so many levels, whose leaves have children where `wanted` says so of centre and half width, in root
/// blocks.
pub(crate) fn forest<const D: usize>(
    root: [u32; D],
    periodic: [bool; D],
    levels: usize,
    wanted: impl Fn([f64; D], f64) -> bool,
) -> Forest<D> {
    let mut forest = Forest::new(&Host, root)
        .expect("a root grid")
        .with_periodic(periodic);
    for level in 0..levels - 1 {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        for &id in forest.levels.get(level).into_iter().flatten() {
            let half = 0.5 / f64::from(1u32 << level);
            let centre = forest.coord[id as usize].map(|c| f64::from(2 * c + 1) * half);
            if wanted(centre, half) {
                marks[id as usize] = Mark::Refine as u8;
            }
        }
        forest.adapt(&Host, &mut marks).expect("memory");
    }
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest.refined_after(&Host, &keep).expect("memory");
    let (canonical, _) = forest.rebuilt(&Host, &same).expect("memory");
    canonical.validate().expect("a forest");
    canonical
}

/// A leaf's cell: where, and how wide, in root cells; and its number in arrays.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<const D: usize> {
    pub(crate) centre: [f64; D],
    pub(crate) width: f64,
    pub(crate) number: usize,
}

pub(crate) fn cell<const D: usize>(forest: &Forest<D>, at: CellRef) -> Cell<D> {
    let width = 1.0 / f64::from(1u32 << forest.level[at.block as usize]);
    let centre = forest.cell_coord(at).map(|c| (f64::from(c) + 0.5) * width);
    let number = at.block as usize * dims::cells(D) + at.cell as usize;
    Cell {
        centre,
        width,
        number,
    }
}

/// All cells of leaves.
pub(crate) fn cells<const D: usize>(forest: &Forest<D>) -> Vec<Cell<D>> {
    let of_block = |block: u32| (0..dims::cells(D) as u32).map(move |cell| CellRef { block, cell });
    forest
        .leaves()
        .flat_map(of_block)
        .map(|at| cell(forest, at))
        .collect()
}

/// A face: a cell, the one beyond or none at the end of the box, axis, whether it is the cell's upper one, conductance.
pub(crate) struct Link {
    pub(crate) a: usize,
    pub(crate) b: Option<usize>,
    pub(crate) t: f64,
}

/// Faces between cells, each once, seen from the finer or lower one, and those of the box; and their conductances as the
/// operator takes them. `coefficient` is asked with the cells in the order of the axis; of a face of the box with one.
pub(crate) fn conductances<const D: usize>(
    forest: &Forest<D>,
    coefficient: impl Fn(Cell<D>, Option<Cell<D>>, usize, usize) -> f64,
) -> (Vec<Link>, Vec<f64>) {
    let mut values = vec![0.0; forest.capacity() * faces::per_block(D)];
    let mut links = Vec::new();
    let of_block = |block: u32| (0..dims::cells(D) as u32).map(move |cell| CellRef { block, cell });
    for at in forest.leaves().flat_map(of_block) {
        let own = cell(forest, at);
        for side in 0..2 * D {
            let (axis, upper) = (side / 2, side % 2);
            let mut step = [0; D];
            step[axis] = 2 * upper as i32 - 1;
            let area = own.width.powi(D as i32 - 1);
            let (other, distance) = match forest.neighbor_cell(at, dims::direction(step)) {
                NeighborCell::Refined(_) => continue,
                NeighborCell::Outside => (None, 0.5 * own.width),
                NeighborCell::Same(to) => (Some(cell(forest, to)), own.width),
                NeighborCell::Coarser(to) => (Some(cell(forest, to)), 1.5 * own.width),
            };
            let (first, second) = match other {
                Some(other) if upper == 0 => (other, Some(own)),
                other => (own, other),
            };
            let t = coefficient(first, second, axis, upper) * area / distance;
            values[at.block as usize * faces::per_block(D)
                + faces::of_side(D, side, at.cell as usize)] = t;
            let is_same = other.is_some_and(|o| o.width == own.width);
            if !(is_same && upper == 0) && t > 0.0 {
                let b = other.map(|o| o.number);
                links.push(Link {
                    a: own.number,
                    b,
                    t,
                });
            }
        }
    }
    (links, values)
}

pub(crate) fn blocks<const D: usize>(forest: &Forest<D>) -> Arc<Blocks<D>> {
    Arc::new(Blocks::new(forest).expect("contiguous ids"))
}

/// Values between -0.5 and 0.5, the same each time.
pub(crate) fn random(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed;
    move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64 - 0.5
    }
}

/// Distance to a sphere around the middle of a box of `root` blocks, in root cells.
pub(crate) fn to_sphere<const D: usize>(at: [f64; D], centre: [f64; D], radius: f64) -> f64 {
    let square: f64 = (0..D).map(|a| (at[a] - centre[a]).powi(2)).sum();
    square.sqrt() - radius
}
