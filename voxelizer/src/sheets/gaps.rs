//! Closed holes: the links from kept fluid into what became solid that no facet cuts.

use super::beside::{cut, is_solid};
use crate::{Mesh, VoxelError, relink::AddedLink};
use cutlink_amr::{CellRef, NONE, NeighborCell, OUTSIDE, dims};
use cutlink_device::UnionFind;
use cutlink_mesher::robust::gap_names;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A hole that was closed.
#[derive(Debug, Clone, PartialEq)]
pub struct Gap {
    /// Its patch; small ones share the last.
    pub patch: u16,
    /// Length of the area vector of the closing faces of cells: the area of a plane hole; in 2D a length.
    pub area: f64,
    /// Its cut links.
    pub links: u64,
    /// Mean of the centres of its cells, in lengths.
    pub center: Vec<f64>,
}

/// The links to add, and whether solid and fluid cells meet between levels.
pub(super) struct Open {
    pub(super) links: Vec<(CellRef, usize)>,
    pub(super) between_levels: bool,
}

/// Finds uncut links from fluid into solid cells, in order of blocks, cells and directions.
pub(super) fn open_links<const D: usize>(mesh: &Mesh<D>) -> Open {
    let forest = &mesh.forest;
    let of = |&block: &u32| {
        let mut found = Open {
            links: Vec::new(),
            between_levels: false,
        };
        let around = |n: u32| n == OUTSIDE || n != NONE && mesh.classes.solid[n as usize] == 0;
        if !forest.is_leaf(block) || forest.neighbors_of(block).all(around) {
            return found;
        }
        for cell in 0..dims::cells(D) as u32 {
            let at = CellRef { block, cell };
            if is_solid(mesh, at) {
                continue;
            }
            let own = cut(mesh, at);
            for direction in (0..dims::directions(D)).filter(|d| own >> d & 1 == 0) {
                match forest.neighbor_cell(at, direction) {
                    NeighborCell::Same(n) if is_solid(mesh, n) => {
                        found.links.push((at, direction));
                    }
                    NeighborCell::Refined(n) if is_solid(mesh, n) => {
                        found.links.push((at, direction));
                        found.between_levels = true;
                    }
                    NeighborCell::Coarser(n) => found.between_levels |= is_solid(mesh, n),
                    _ => {}
                }
            }
        }
        found
    };
    let ids: Vec<u32> = forest.ids().collect();
    let mut parts: Vec<Open> = ids.par_iter().map(of).collect();
    let between_levels = parts.iter().any(|part| part.between_levels);
    let links = parts.iter_mut().flat_map(|part| part.links.drain(..));
    let mut links: Vec<(CellRef, usize)> = links.collect();
    links.sort_unstable_by_key(|&(at, direction)| (at.block, at.cell, direction));
    Open {
        links,
        between_levels,
    }
}

/// Makes each connected set of such links a patch behind the others, in descending order of area; of equal ones, that
/// with the cell that comes first along x, then y, then z.
pub(super) fn name<const D: usize>(
    mesh: &mut Mesh<D>,
    links: &[(CellRef, usize)],
) -> Result<(Vec<Gap>, Vec<AddedLink>), VoxelError> {
    let mut cells: Vec<CellRef> = links.iter().map(|&(at, _)| at).collect();
    cells.dedup();
    let number = |at: CellRef| {
        let found = cells.binary_search_by_key(&(at.block, at.cell), |c| (c.block, c.cell));
        found.ok().map(|i| i as u32)
    };
    let mut sets = UnionFind::try_new("closed holes", cells.len())?;
    for (i, &at) in cells.iter().enumerate() {
        let own = cut(mesh, at);
        for direction in (0..dims::directions(D)).filter(|d| own >> d & 1 == 0) {
            if let NeighborCell::Same(n) | NeighborCell::Coarser(n) =
                mesh.forest.neighbor_cell(at, direction)
                && let Some(n) = number(n)
            {
                sets.join(i as u32, n);
            }
        }
    }
    let mut holes: BTreeMap<u32, Hole<D>> = BTreeMap::new();
    let mut hole_of = Vec::with_capacity(links.len());
    for &(at, direction) in links {
        let own = number(at).expect("each cell of a link should be in the list");
        let root = sets.root(own);
        hole_of.push(root);
        holes.entry(root).or_default().add(mesh, at, direction);
    }
    let mut order: Vec<(u32, Hole<D>)> = holes.into_iter().collect();
    order.sort_by(|(_, a), (_, b)| {
        let size = b.size().total_cmp(&a.size());
        size.then_with(|| a.first.partial_cmp(&b.first).expect("places are finite"))
    });
    let first = mesh.patches.len();
    let names = gap_names(&mesh.patches, order.len());
    let last = (first + names.len()).saturating_sub(1);
    mesh.patches.extend(names);
    let patch = |k: usize| (first + k).min(last) as u16;
    let patches: BTreeMap<u32, u16> = order
        .iter()
        .enumerate()
        .map(|(k, o)| (o.0, patch(k)))
        .collect();
    let gaps = order.iter().enumerate().map(|(k, (_, hole))| Gap {
        patch: patch(k),
        area: hole.size(),
        links: hole.links,
        center: hole.sum.map(|x| x / hole.links as f64).to_vec(),
    });
    let added = links
        .iter()
        .zip(&hole_of)
        .map(|(&(at, direction), root)| AddedLink {
            at,
            direction,
            patch: patches[root],
        });
    Ok((gaps.collect(), added.collect()))
}

#[derive(Debug)]
struct Hole<const D: usize> {
    area: [f64; D],
    links: u64,
    /// Of the places of its links.
    sum: [f64; D],
    first: [f64; D],
}

impl<const D: usize> Default for Hole<D> {
    fn default() -> Self {
        Self {
            area: [0.0; D],
            links: 0,
            sum: [0.0; D],
            first: [f64::INFINITY; D],
        }
    }
}

impl<const D: usize> Hole<D> {
    fn add(&mut self, mesh: &Mesh<D>, at: CellRef, direction: usize) {
        let (place, step) = (super::beside::center(mesh, at), dims::step::<D>(direction));
        let dx = mesh
            .frame
            .dx_at(usize::from(mesh.forest.level[at.block as usize]));
        let along_axis = step.iter().filter(|&&s| s != 0).count() == 1;
        for a in 0..D {
            if along_axis {
                self.area[a] += f64::from(step[a]) * dx.powi(D as i32 - 1);
            }
            self.sum[a] += place[a] + 0.5 * dx * f64::from(step[a]);
        }
        self.links += 1;
        if place < self.first {
            self.first = place;
        }
    }

    fn size(&self) -> f64 {
        self.area.iter().map(|x| x * x).sum::<f64>().sqrt()
    }
}
