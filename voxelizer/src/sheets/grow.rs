//! The core nearest to each cell along uncut links.
//!
//! Shortest ways (Dijkstra 1959) in windows as wide as the shortest link, a finest cell: ways that end in one window do
//! not depend on each other, so all threads extend them at once. Windows are lists of blocks, whose labels tell which
//! cells to extend. A label is the lowest one found for its cell, whatever the order: the result is the same for any
//! number of threads.
//!
//! Cost: the links of each cell once, when its way is known. Memory: the labels, and lists of blocks.

use super::{
    beside::{across, cut, length, size},
    nodes::Nodes,
};
use crate::Mesh;
use cutlink_amr::{CellRef, NONE, OUTSIDE, dims};
use cutlink_device::shared;
use rayon::prelude::*;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering::Relaxed},
};

/// Parts of a finest cell that ways are counted in.
const PARTS: u32 = 256;
/// The longest way and the longest link, in parts: twice their sum fits a label.
const MOST: u32 = 1 << 29;

/// Label of a cell in the seed's core. Labels are twice the way from a core in parts, and one more for other cores.
pub(super) const SEED: u32 = 0;
/// Of a cell in another core.
pub(super) const OTHER: u32 = 1;
/// Of a solid cell: less than that of any way.
pub(super) const SOLID: u32 = 3;
/// Of a cell that belongs to no core.
pub(super) const FREE: u32 = u32::MAX;

/// Whether a cell belongs to the seed's core.
pub(super) fn is_of_seed(label: u32) -> bool {
    label & 1 == SEED
}

fn to_parts<const D: usize>(way: [f32; D]) -> u32 {
    ((PARTS as f32 * length(way)).round() as u32).min(MOST)
}

/// Gives the free cells to the nearest core, of equally near ones to that of the seed. That one reaches up to `depth`
/// finest cells. `cores`: the core cells of each near block, a bit each. `labels`: by node.
pub(super) fn grow<const D: usize>(
    mesh: &Mesh<D>,
    nodes: &Nodes<'_, D>,
    cores: &[u64],
    labels: &mut [u32],
    depth: f32,
) {
    let most = ((PARTS as f32 * depth) as u32).min(MOST);
    // Ways from other cores count up to where one from the seed's core may end: `most`, or a first link.
    let longest_link = 2.0 * PARTS as f32 * (1u64 << mesh.forest.finest()) as f32;
    let growth = Growth {
        mesh,
        nodes,
        cores,
        labels: shared::words(labels),
        places: Places::new::<D>(),
        most: [most, most.max(longest_link as u32).min(MOST)],
    };
    let slots = 0..cores.len() as u32;
    let mut windows = Windows::default();
    windows.add(
        slots
            .into_par_iter()
            .flat_map_iter(|slot| growth.begin(slot)),
    );
    while let Some((window, slots)) = windows.pop() {
        let extended = slots
            .par_iter()
            .flat_map_iter(|&slot| growth.extend(slot, window));
        windows.add(extended);
    }
}

/// By window, the near blocks with cells whose ways may end in it.
#[derive(Default)]
struct Windows(BTreeMap<u32, Vec<u32>>);

impl Windows {
    fn add(&mut self, found: impl ParallelIterator<Item = (u32, u32)>) {
        let found: Vec<(u32, u32)> = found.collect();
        for (window, slot) in found {
            self.0.entry(window).or_default().push(slot);
        }
    }

    fn pop(&mut self) -> Option<(u32, Vec<u32>)> {
        let (window, mut slots) = self.0.pop_first()?;
        slots.par_sort_unstable();
        slots.dedup();
        Some((window, slots))
    }
}

/// By cell and direction: the direction of the block that the cell one step away lies in, and its place there.
struct Places(Vec<[(u8, u8); 27]>);

impl Places {
    fn new<const D: usize>() -> Self {
        let of = |cell: usize, direction: usize| {
            let (at, step) = (dims::unravel::<D>(cell, 4), dims::step::<D>(direction));
            let to: [i32; D] = std::array::from_fn(|a| at[a] + step[a]);
            let toward = dims::direction(to.map(|c| c.div_euclid(4)));
            (toward as u8, dims::ravel(to.map(|c| c & 3), 4) as u8)
        };
        let all = (0..dims::cells(D)).map(|cell| {
            std::array::from_fn(|d| {
                if d < dims::directions(D) {
                    of(cell, d)
                } else {
                    (0, 0)
                }
            })
        });
        Self(all.collect())
    }
}

/// What lies beside a block, in a direction.
#[derive(Clone, Copy)]
enum Beside {
    /// Beyond a face of the box.
    Outside,
    /// A near leaf of its level: the node of its first cell.
    Near(u32),
    /// Another leaf of its level.
    Far(u32),
    /// Leaves of other levels.
    Across,
}

/// A near block and what lies around it.
struct Around {
    block: u32,
    /// By direction.
    beside: [Beside; 27],
    /// Parts of the links to cells of its level, by direction.
    parts: [u32; 27],
}

struct Growth<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    nodes: &'a Nodes<'a, D>,
    cores: &'a [u64],
    labels: &'a [AtomicU32],
    places: Places,
    /// The longest way in parts: from the seed's core, from others.
    most: [u32; 2],
}

impl<const D: usize> Growth<'_, D> {
    /// Labels the free cells of a block beside cores, by their links to them. Returns their windows, with the block.
    fn begin(&self, slot: u32) -> Vec<(u32, u32)> {
        let mut found = Vec::new();
        let own = self.labels_of(slot);
        if own.iter().all(|label| label.load(Relaxed) != FREE) {
            return found;
        }
        let around = self.around(slot);
        let has_cores = |n: &Beside| match *n {
            Beside::Outside => false,
            Beside::Near(first) => self.cores[first as usize / dims::cells(D)] != 0,
            Beside::Far(_) | Beside::Across => true,
        };
        if !around.beside.iter().any(has_cores) {
            return found;
        }
        for (cell, label) in own.iter().enumerate() {
            if label.load(Relaxed) != FREE {
                continue;
            }
            let mut least = FREE;
            self.for_each_link(&around, cell, |node, parts| {
                let claim = self.labels[node].load(Relaxed);
                if claim <= OTHER {
                    least = least.min(2 * parts + claim);
                }
            });
            if least != FREE {
                label.store(least, Relaxed);
                found.push((least / (2 * PARTS), slot));
            }
        }
        found
    }

    /// Extends the ways that end in a window and in a block. Returns the windows and blocks that they lead to.
    fn extend(&self, slot: u32, window: u32) -> Vec<(u32, u32)> {
        let around = self.around(slot);
        let mut found = Vec::new();
        for (cell, label) in self.labels_of(slot).iter().enumerate() {
            let label = label.load(Relaxed);
            if label / (2 * PARTS) != window {
                continue;
            }
            let most = 2 * self.most[(label & 1) as usize] + 1;
            self.for_each_link(&around, cell, |node, parts| {
                let (new, there) = (label + 2 * parts, &self.labels[node]);
                if new <= most && there.load(Relaxed) > new && there.fetch_min(new, Relaxed) > new {
                    let entry = (new / (2 * PARTS), (node / dims::cells(D)) as u32);
                    if !found.contains(&entry) {
                        found.push(entry);
                    }
                }
            });
        }
        found
    }

    fn labels_of(&self, slot: u32) -> &[AtomicU32] {
        &self.labels[slot as usize * dims::cells(D)..][..dims::cells(D)]
    }

    fn around(&self, slot: u32) -> Around {
        let block = self.nodes.clearance.blocks()[slot as usize];
        let forest = &self.mesh.forest;
        let mut beside = [Beside::Outside; 27];
        for (to, n) in beside.iter_mut().zip(forest.neighbors_of(block)) {
            *to = match n {
                OUTSIDE => Beside::Outside,
                n if n == NONE || !forest.is_leaf(n) => Beside::Across,
                n => {
                    let first = self.nodes.of(CellRef { block: n, cell: 0 });
                    let near = (first as usize) < self.nodes.near;
                    if near {
                        Beside::Near(first)
                    } else {
                        Beside::Far(first)
                    }
                }
            };
        }
        let h = size(self.mesh, block);
        let mut link_parts = [0; 27];
        for (direction, parts) in link_parts.iter_mut().enumerate().take(dims::directions(D)) {
            *parts = to_parts(dims::step::<D>(direction).map(|s| h * s as f32));
        }
        Around {
            block,
            beside,
            parts: link_parts,
        }
    }

    /// Calls `f` with each node of a fluid cell that an uncut link joins to a fluid cell, and with the link's parts.
    /// Labels of solid cells stay as they are, so they may be among them.
    fn for_each_link(&self, around: &Around, cell: usize, mut f: impl FnMut(usize, u32)) {
        let at = CellRef {
            block: around.block,
            cell: cell as u32,
        };
        let own = cut(self.mesh, at);
        let directions = (0..dims::directions(D)).filter(|&d| d != dims::center(D));
        for direction in directions {
            let (toward, place) = self.places.0[cell][direction];
            let is_open = own >> direction & 1 == 0;
            match around.beside[usize::from(toward)] {
                Beside::Near(first) if is_open => {
                    f(first as usize + usize::from(place), around.parts[direction]);
                }
                Beside::Far(node) if is_open => f(node as usize, around.parts[direction]),
                Beside::Across => across(self.mesh, at, direction, own, |n, way| {
                    f(self.nodes.of(n) as usize, to_parts(way));
                }),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        EmbedParams, Fill, Frame, embed, prepare,
        sheets::{beside::for_each_link, clearance::Clearance},
    };
    use cutlink_device::Host;
    use cutlink_mesher::Surface;

    /// A sheet across the unit box with a hole, so that the mesh has two levels.
    fn sheet() -> Mesh<3> {
        let corners = |x: f64, [a, b]: [[f64; 2]; 2]| {
            [
                [x, a[0], a[1]],
                [x, b[0], a[1]],
                [x, b[0], b[1]],
                [x, a[0], b[1]],
            ]
        };
        let (mut vertices, mut facets) = (Vec::new(), Vec::new());
        for part in [[[0.3, 0.3], [0.45, 0.7]], [[0.55, 0.3], [0.7, 0.7]]] {
            let first = vertices.len() as u32;
            vertices.extend(corners(0.43, part));
            facets.extend([[first, first + 1, first + 2], [first, first + 2, first + 3]]);
        }
        let surface = Surface::single_patch(vertices, facets, "sheet");
        let frame = Frame::new([0.0; 3], 1.0 / 32.0, [32; 3]).expect("a frame");
        let params = EmbedParams::new(2, 0.0, Fill::Sheets);
        let (snapped, _) = prepare(&Host, &surface, &frame, &params).expect("near");
        embed(&Host, &snapped, frame, &params, &mut ()).expect("a mesh")
    }

    /// The same labels cell by cell, until none changes.
    fn by_turns(mesh: &Mesh<3>, nodes: &Nodes<'_, 3>, labels: &mut [u32], depth: f32) {
        let is_core: Vec<bool> = labels.iter().map(|&l| l <= OTHER).collect();
        let most = 2 * (256.0 * depth) as u32 + 1;
        let mut moves = true;
        while moves {
            moves = false;
            for node in (0..nodes.near).filter(|&node| !is_core[node]) {
                let mut least = labels[node];
                for_each_link(mesh, nodes.cell(node as u32), |n, way| {
                    let there = nodes.of(n) as usize;
                    if labels[there] != FREE {
                        let parts = (256.0 * length(way)).round() as u32;
                        let new = labels[there] + 2 * parts;
                        if is_core[there] || !is_of_seed(new) || new <= most {
                            least = least.min(new);
                        }
                    }
                });
                moves |= least < labels[node];
                labels[node] = least;
            }
        }
    }

    /// Cores at random places, of both levels; the seed's reaches all, some or only the next cells.
    #[test]
    fn cells_belong_to_the_nearest_core() {
        let mesh = sheet();
        let clearance = Clearance::new(&mesh, 24.0).expect("memory");
        let nodes = Nodes::new(&mesh, &clearance).expect("memory");
        let blocks = clearance.blocks();
        let levels = [0, 1].map(|level| {
            blocks
                .iter()
                .any(|&b| mesh.forest.level[b as usize] == level)
        });
        assert_eq!(levels, [true; 2], "near blocks of both levels");
        let mut state = 5u64;
        for (depth, share) in [(40.0, 50), (3.0, 50), (0.5, 20)] {
            let mut before = vec![FREE; nodes.len()];
            let mut cores = vec![0; blocks.len()];
            for (node, label) in before.iter_mut().enumerate() {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1);
                let number = state >> 33;
                if node >= nodes.near || number.is_multiple_of(share) {
                    *label = (number >> 8 & 1) as u32;
                    if node < nodes.near {
                        cores[node / 64] |= 1u64 << (node % 64);
                    }
                }
            }
            let (mut labels, mut expected) = (before.clone(), before);
            grow(&mesh, &nodes, &cores, &mut labels, depth);
            by_turns(&mesh, &nodes, &mut expected, depth);
            let of_seed =
                |labels: &[u32]| -> Vec<bool> { labels.iter().map(|&l| is_of_seed(l)).collect() };
            assert!(of_seed(&labels) == of_seed(&expected), "depth {depth}");
            let kept = labels[..nodes.near]
                .iter()
                .filter(|&&l| is_of_seed(l))
                .count();
            assert!(
                kept > 100 && kept < nodes.near - 100,
                "{kept} of {}",
                nodes.near
            );
        }
    }
}
