//! Meshes built by hand: a ball in a forest that is refined around it, or anywhere. Nothing
//! here is embedded; the arrays are made up so that they agree with one another.

#![allow(dead_code, reason = "each test uses a part of the kit")]

use cutlink_amr::{CellRef, Forest, Mark, NONE, NeighborCell, dims};
use cutlink_device::Host;
use cutlink_voxelizer::{Classes, Fill, Frame, LinkTable, Mesh, pack_cell};

/// A generator of Marsaglia's xorshift family; any seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(cutlink_amr::checksum::mix(seed) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }
}

/// A mesh whose blocks are refined at random, some of them coarsened again, so that ids are
/// recycled and the levels mixed.
pub(crate) fn random_mesh<const D: usize>(
    seed: u64,
    root_blocks: [u32; D],
    levels: usize,
) -> Mesh<D> {
    let mut random = Random::new(seed);
    let mut forest = Forest::new(&Host, root_blocks).expect("a small root grid");
    for round in 0..2 * levels {
        let mut marks: Vec<u8> = (0..forest.capacity())
            .map(|id| {
                let deep = usize::from(forest.level[id]) + 1 >= levels;
                // Siblings draw alike, or hardly a group would ever go.
                let group = u64::from(forest.parent[id]) + ((round as u64) << 32);
                let going = round % 2 == 1 && Random::new(seed ^ group).below(3) == 0;
                match random.below(4) {
                    _ if going => Mark::Coarsen as u8,
                    0 if !deep => Mark::Refine as u8,
                    _ => Mark::Keep as u8,
                }
            })
            .collect();
        forest.adapt(&Host, &mut marks).expect("a small forest");
    }
    finish(forest, &mut random, &["wing".into(), "tail \"1\"".into()])
}

/// A ball of radius 0.3 of the box, all blocks near its surface of the finest level.
pub(crate) fn ball_mesh<const D: usize>(root_blocks: [u32; D], levels: usize) -> Mesh<D> {
    let mut forest = Forest::new(&Host, root_blocks).expect("a small root grid");
    for level in 0..levels - 1 {
        let marks = |id: usize| {
            let edge = 1.0 / f64::from(1u32 << level);
            let low = forest.coord[id].map(|c| f64::from(c) * edge);
            let (near, far) = distances(low, edge, root_blocks);
            let radius = radius(root_blocks);
            let cut = near - edge / 4.0 < radius && far + edge / 4.0 > radius;
            cut && usize::from(forest.level[id]) == level
        };
        let mut marks: Vec<u8> = (0..forest.capacity())
            .map(|id| u8::from(marks(id)))
            .collect();
        forest.adapt(&Host, &mut marks).expect("a small forest");
    }
    finish(forest, &mut Random::new(7), &["ball".into()])
}

fn radius<const D: usize>(root_blocks: [u32; D]) -> f64 {
    0.3 * f64::from(*root_blocks.iter().min().expect("D axes"))
}

/// Least and largest distance of a cube from the centre of the box, in root blocks.
fn distances<const D: usize>(low: [f64; D], edge: f64, root_blocks: [u32; D]) -> (f64, f64) {
    let (mut near, mut far) = (0.0, 0.0);
    for a in 0..D {
        let centre = f64::from(root_blocks[a]) / 2.0;
        let (below, above) = (low[a] - centre, low[a] + edge - centre);
        near += below.max(-above).max(0.0).powi(2);
        far += below.abs().max(above.abs()).powi(2);
    }
    (f64::sqrt(near), f64::sqrt(far))
}

fn is_inside<const D: usize>(forest: &Forest<D>, at: CellRef) -> bool {
    let level = forest.level[at.block as usize];
    let cell = 0.25 / f64::from(1u32 << level);
    let low = forest.cell_coord(at).map(|c| (f64::from(c) + 0.5) * cell);
    distances(low, 0.0, forest.root).0 < radius(forest.root)
}

fn finish<const D: usize>(forest: Forest<D>, random: &mut Random, patches: &[String]) -> Mesh<D> {
    let capacity = forest.capacity();
    let mut classes: Classes = Classes {
        solid: vec![0u64; capacity],
        boundary: vec![0; capacity],
        ghost: vec![0; capacity],
        interface: vec![0; capacity],
    };
    for block in forest.ids() {
        let at = block as usize;
        for cell in 0..dims::cells(D) as u32 {
            classes.solid[at] |= u64::from(is_inside(&forest, CellRef { block, cell })) << cell;
        }
        classes.ghost[at] = random.next() & dims::full_mask(D);
        classes.interface[at] = random.next() & dims::full_mask(D) & !classes.ghost[at];
    }
    let links = links(&forest, &mut classes, random, patches.len());
    let root_cells = forest.root.map(|n| 4 * n);
    let origin = std::array::from_fn(|a| [-0.1, 1.0 / 3.0, 1e-3][a]);
    Mesh {
        frame: Frame::new(origin, 0.1 / 3.0, root_cells).expect("a sound box"),
        forest,
        classes,
        links,
        patches: patches.to_vec(),
        fill: Fill::EvenOdd,
        graded: false,
    }
}

/// A cut on every link of a leaf's fluid cell to a solid cell of the same level.
fn links<const D: usize>(
    forest: &Forest<D>,
    classes: &mut Classes,
    random: &mut Random,
    patches: usize,
) -> LinkTable {
    let mut table: LinkTable = LinkTable {
        blocks: Vec::new(),
        row_of: vec![NONE; forest.capacity()],
        cell_start: vec![0],
        cells: Vec::new(),
        q: Vec::new(),
        patch: Vec::new(),
    };
    for block in forest.leaves() {
        for cell in 0..dims::cells(D) as u32 {
            if classes.solid[block as usize] >> cell & 1 == 1 {
                continue;
            }
            let into_solid = |&direction: &usize| {
                direction != dims::center(D)
                    && matches!(
                        forest.neighbor_cell(CellRef { block, cell }, direction),
                        NeighborCell::Same(n) if classes.solid[n.block as usize] >> n.cell & 1 == 1
                    )
            };
            let directions = (0..dims::directions(D))
                .filter(into_solid)
                .fold(0u32, |mask, d| mask | 1 << d);
            if directions == 0 {
                continue;
            }
            classes.boundary[block as usize] |= 1 << cell;
            table
                .cells
                .push(pack_cell(directions, table.q.len() as u64));
            for _ in 0..directions.count_ones() {
                table.q.push((random.below(1000) + 1) as f32 / 1000.0);
                if patches > 1 {
                    table.patch.push(random.below(patches as u64) as u16);
                }
            }
        }
        if classes.boundary[block as usize] != 0 {
            table.row_of[block as usize] = table.blocks.len() as u32;
            table.blocks.push(block);
            table.cell_start.push(table.cells.len() as u32);
        }
    }
    table
}
