//! The blocks of a forest that are embedded when bodies have moved, as a forest of their own, and what the stages of an
//! embedding make of them.
//!
//! What a stage makes of a block depends on the facets in its list and on its first winding number, which its parent has. So a
//! block is as it was unless a facet of a body is in its list now or was before, or the winding numbers of its parent
//! have changed. A facet in the list of a block is in that of its parent: from the root down, the children of the blocks that
//! may have changed are looked at, and no others.

use super::rest::AtRest;
use crate::{
    EmbedParams, LinkTable, Mesh, VoxelError,
    embed::{bin_level, level_view, repeats_in},
    kernels::{Classified, LevelData, LevelView, LinkRule, MeshKernels, Seeds, SolidRule},
    pack_cell, unpack_cell,
};
use cutlink_amr::{Forest, ForestError, NONE, dims};
use cutlink_device::{Backend, Host, memory};
use cutlink_mesher::{
    kernels::{BinKernels as _, Bins, FacetSet},
    snap::Snapped,
};
use std::ops::Range;

/// What is known of all blocks since the last embedding.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Winding numbers at the first cells of root blocks.
    seeds: Vec<i32>,
    /// By block id, but for the finest level: 2^D winding numbers, see [`MeshKernels::classify`].
    anchors: Vec<i32>,
    /// By block id: 1 where a facet of a body is in the block's list, else 0.
    touched: Vec<u8>,
    /// Whether nothing is known yet: then all blocks may have changed.
    is_new: bool,
}

impl Known {
    /// Nothing.
    pub(super) fn nothing<const D: usize>(forest: &Forest<D>) -> Result<Self, VoxelError> {
        let finest = forest.levels.len() - 1;
        let coarser: usize = forest.levels[..finest].iter().map(Vec::len).sum();
        Ok(Self {
            seeds: Vec::new(),
            anchors: Host.alloc("winding numbers", coarser * dims::children(D), 0)?,
            touched: Host.alloc("blocks at bodies", forest.capacity(), 0)?,
            is_new: true,
        })
    }
}

/// Blocks of a forest, level by level, with ids of their own: whole groups of siblings below the root.
#[derive(Debug)]
struct Near<const D: usize> {
    /// Without neighbours. Blocks that have children in the whole forest have the first one's id there.
    forest: Forest<D>,
    /// The ids in the whole forest.
    ids: Vec<u32>,
}

impl<const D: usize> Near<D> {
    fn new(whole: &Forest<D>) -> Result<Self, ForestError> {
        let mut forest = Forest::new(&Host, [1; D])?.with_periodic(whole.periodic);
        forest.root = whole.root;
        forest.coord.clear();
        forest.level.clear();
        forest.parent.clear();
        forest.first_child.clear();
        forest.levels.clear();
        Ok(Self {
            forest,
            ids: Vec::new(),
        })
    }

    /// Adds the blocks of a level: ids in the whole forest, and those of their parents here.
    fn add(&mut self, whole: &Forest<D>, blocks: impl Iterator<Item = (u32, u32)>) {
        let (first, level) = (self.ids.len() as u32, self.forest.levels.len() as u8);
        for (id, parent) in blocks {
            self.ids.push(id);
            self.forest.coord.push(whole.coord[id as usize]);
            self.forest.level.push(level);
            self.forest.parent.push(parent);
            let first_child = whole.first_child[id as usize];
            self.forest.first_child.push(first_child);
        }
        let own = first..self.ids.len() as u32;
        self.forest.levels.push(own.collect());
    }
}

/// What the next level needs of the one above it.
struct Above {
    view: LevelView,
    /// Lists of the bodies' facets.
    lists: Bins,
    classified: Classified<Host>,
    /// By row, whether the children are looked at.
    descends: Vec<bool>,
}

/// An embedding of the blocks near bodies.
pub(super) struct Embedding<'a, const D: usize> {
    whole: &'a Forest<D>,
    params: &'a EmbedParams,
    rest: &'a AtRest<D>,
    bodies: FacetSet<D>,
    near: Near<D>,
    solid: Vec<u64>,
    boundary: Vec<u64>,
    table: LinkTable,
    /// Of each near block, whether a facet of a body is in its list or was, or may have been.
    touched: Vec<bool>,
}

impl<'a, const D: usize> Embedding<'a, D>
where
    Host: MeshKernels<D>,
{
    /// Embeds bodies, which are snapped and away from periodic faces, with what is at rest.
    pub(super) fn of(
        bodies: &Snapped<D>,
        rest: &'a mut AtRest<D>,
        whole: &'a Forest<D>,
        params: &'a EmbedParams,
        known: &mut Known,
    ) -> Result<Self, VoxelError> {
        let bodies = Host.facet_set(bodies, repeats_in(params.periodic_axes::<D>()))?;
        rest.take_bodies(&bodies);
        let mut made = Self {
            near: Near::new(whole)?,
            whole,
            params,
            rest,
            bodies,
            solid: Vec::new(),
            boundary: Vec::new(),
            table: LinkTable::none(),
            touched: Vec::new(),
        };
        let mut above = None;
        for level in 0..whole.levels.len() {
            let next = match &above {
                None => made.roots(known)?,
                Some(above) => made.children(above)?,
            };
            let Some((view, lists, seeds)) = next else {
                break;
            };
            let seeds = match &above {
                None => Seeds::Blocks(seeds),
                Some(above) => Seeds::Parents {
                    anchors: &above.classified.anchors,
                    first: above.view.first,
                    uncertain: &above.classified.uncertain,
                },
            };
            let classified = made.stages(view, &lists, seeds)?;
            let descends = made.compare(view, level, &lists, &classified, known);
            above = Some(Above {
                view,
                lists,
                classified,
                descends,
            });
        }
        known.is_new = false;
        Ok(made)
    }

    /// The root blocks that may have changed, with lists of the bodies' facets and winding numbers.
    fn roots(
        &mut self,
        known: &mut Known,
    ) -> Result<Option<(LevelView, Bins, Vec<i32>)>, VoxelError> {
        let view = level_view(self.whole, 0, self.params.levels);
        let lists = bin_level(&Host, self.whole, &self.bodies, view, None)?;
        let mut seeds = Host.seed_roots(&self.bodies, self.whole, view.spacing)?;
        self.rest.add_seeds(&mut seeds);
        let may_differ = |&row: &u32| {
            let at = row as usize;
            known.is_new
                || known.touched[at] != 0
                || known.seeds[at] != seeds[at]
                || !lists.of(at).is_empty()
        };
        let rows: Vec<u32> = (0..view.count as u32).filter(may_differ).collect();
        if rows.is_empty() {
            return Ok(None);
        }
        self.near.add(self.whole, rows.iter().map(|&id| (id, NONE)));
        let own = rows.iter().map(|&row| seeds[row as usize]).collect();
        known.seeds = seeds;
        let view = level_view(&self.near.forest, 0, self.params.levels);
        Ok(Some((view, lists.of_boxes(&rows)?, own)))
    }

    /// The children that are looked at, with lists of the bodies' facets.
    fn children(
        &mut self,
        above: &Above,
    ) -> Result<Option<(LevelView, Bins, Vec<i32>)>, VoxelError> {
        let whole = self.whole;
        let group = dims::children(D) as u32;
        let (ids, first) = (self.near.ids.clone(), above.view.first);
        let parents = (above.descends.iter().enumerate()).filter(|(_, descends)| **descends);
        let families = parents.filter_map(|(row, _)| {
            let child = whole.first_child[ids[first + row] as usize];
            (child != NONE).then_some((child, (first + row) as u32))
        });
        let children = families
            .flat_map(|(child, parent)| (child..child + group).map(move |child| (child, parent)));
        self.near.add(whole, children);
        let view = level_view(&self.near.forest, above.view.level + 1, self.params.levels);
        if view.count == 0 {
            return Ok(None);
        }
        let parents = Some((above.view, &above.lists));
        let lists = bin_level(&Host, &self.near.forest, &self.bodies, view, parents)?;
        Ok(Some((view, lists, Vec::new())))
    }

    /// The stages of an embedding for the near blocks of a level.
    fn stages(
        &mut self,
        view: LevelView,
        bodies: &Bins,
        seeds: Seeds<'_, Host>,
    ) -> Result<Classified<Host>, VoxelError> {
        let whole_first = level_view(self.whole, view.level, self.params.levels).first as u32;
        let own = &self.near.ids[view.first..];
        let rows: Vec<u32> = own.iter().map(|id| id - whole_first).collect();
        let bins = self.rest.lists_with(view.level, &rows, bodies)?;
        let image_lists = self.rest.image_lists(view.level, &rows)?;
        let count = self.near.ids.len();
        memory::grow("solid cells", &mut self.solid, count, 0)?;
        memory::grow("boundary cells", &mut self.boundary, count, 0)?;
        let data = LevelData {
            set: &self.rest.set,
            forest: &self.near.forest,
            bins: &bins,
            images: self.rest.images(image_lists.as_ref()),
            view,
        };
        let fill = self.params.fill;
        let rule = SolidRule { fill, gaps: None };
        let classified = Host.classify(&data, seeds, rule, &mut self.solid)?;
        let rule = LinkRule {
            fill,
            gap: None,
            classified: &classified,
        };
        Host.cut_links(
            &data,
            &self.solid,
            rule,
            &mut self.boundary,
            &mut self.table,
        )?;
        Ok(classified)
    }

    /// Notes what is known of the near blocks of a level; by row, whether its children may have changed.
    fn compare(
        &mut self,
        view: LevelView,
        level: usize,
        lists: &Bins,
        classified: &Classified<Host>,
        known: &mut Known,
    ) -> Vec<bool> {
        let group = dims::children(D);
        let is_finest = level + 1 == self.whole.levels.len();
        let mut descends = Vec::with_capacity(view.count);
        for row in 0..view.count {
            let id = self.near.ids[view.first + row] as usize;
            let is_touched = !lists.of(row).is_empty();
            let was_touched = std::mem::replace(&mut known.touched[id], u8::from(is_touched)) != 0;
            self.touched.push(known.is_new || is_touched || was_touched);
            if is_finest {
                continue;
            }
            let now = &classified.anchors[group * row..][..group];
            let before = &mut known.anchors[group * id..][..group];
            descends.push(known.is_new || is_touched || was_touched || now != before);
            before.copy_from_slice(now);
        }
        descends
    }

    /// What it changes of a mesh on the whole forest.
    pub(super) fn finish(self) -> Change {
        Change {
            ids: self.near.ids,
            touched: self.touched,
            solid: self.solid,
            boundary: self.boundary,
            table: self.table,
        }
    }
}

/// Masks and links of some blocks of a mesh.
#[derive(Debug)]
pub(super) struct Change {
    ids: Vec<u32>,
    touched: Vec<bool>,
    solid: Vec<u64>,
    boundary: Vec<u64>,
    /// By place in `ids`.
    table: LinkTable,
}

impl Change {
    /// Puts them into the mesh, and returns the blocks that may be others than before, ascending.
    pub(super) fn put<const D: usize>(
        self,
        mesh: &mut Mesh<D>,
        changed: &mut Vec<u32>,
    ) -> Result<(), VoxelError> {
        mesh.links.replace_rows(&self.ids, &self.table)?;
        changed.clear();
        let classes = &mut mesh.classes;
        for (at, &id) in self.ids.iter().enumerate() {
            let block = id as usize;
            if self.touched[at] || classes.solid[block] != self.solid[at] {
                changed.push(id);
            }
            classes.solid[block] = self.solid[at];
            classes.boundary[block] = self.boundary[at];
        }
        changed.sort_unstable();
        Ok(())
    }
}

impl LinkTable {
    /// A table without rows, of no blocks.
    fn none() -> Self {
        Self {
            blocks: Vec::new(),
            row_of: Vec::new(),
            cell_start: vec![0],
            cells: Vec::new(),
            q: Vec::new(),
            patch: Vec::new(),
        }
    }

    /// Replaces the rows of the blocks `ids` by those of another table, in which a block has its place in `ids`. Rows stay in the
    /// order of their blocks. Cost: a copy of the table. After an error it is as it was.
    fn replace_rows(&mut self, ids: &[u32], by: &Self) -> Result<(), VoxelError> {
        let cells = self.cells.len() + by.cells.len();
        u32::try_from(cells).map_err(|_| VoxelError::TooLarge {
            table: "boundary cell table",
        })?;
        let mut table = Self::none();
        table.cells = memory::with_capacity("cut links", cells)?;
        table.q = memory::with_capacity("cut links", self.q.len() + by.q.len())?;
        table.patch = memory::with_capacity("cut links", self.patch.len() + by.patch.len())?;
        for &id in ids {
            self.row_of[id as usize] = NONE;
        }
        table.row_of = std::mem::take(&mut self.row_of);
        let old = std::mem::replace(self, table);
        let stays = |block: &u32| self.row_of[*block as usize] != NONE;
        let stays: Vec<bool> = old.blocks.iter().map(stays).collect();
        let mut fresh: Vec<(u32, usize)> = (by.blocks.iter().enumerate())
            .map(|(row, &at)| (ids[at as usize], row))
            .collect();
        fresh.sort_unstable();
        let mut row = 0;
        for n in 0..=fresh.len() {
            let next = fresh.get(n);
            let is_before = |&block: &u32| next.is_none_or(|&(id, _)| block < id);
            let end = row + old.blocks[row..].partition_point(is_before);
            for run in stays[row..end].chunk_by(|a, b| a == b) {
                if run[0] {
                    self.append_rows(&old, row..row + run.len(), |row| old.blocks[row]);
                }
                row += run.len();
            }
            if let Some(&(id, at)) = next {
                self.append_rows(by, at..at + 1, |_| id);
            }
        }
        Ok(())
    }

    /// Appends consecutive rows of another table, each for the block that `id` names.
    fn append_rows(&mut self, from: &Self, rows: Range<usize>, id: impl Fn(usize) -> u32) {
        let [first, end] = [rows.start, rows.end].map(|row| from.cell_start[row] as usize);
        let link = |cell: usize| {
            let cell = from.cells.get(cell);
            cell.map_or(from.q.len(), |&cell| unpack_cell(cell).1 as usize)
        };
        let links = link(first)..link(end);
        for row in rows {
            let block = id(row);
            self.row_of[block as usize] = self.blocks.len() as u32;
            self.blocks.push(block);
            let end = self.cells.len() + from.cell_start[row + 1] as usize - first;
            self.cell_start.push(end as u32);
        }
        let before = self.q.len();
        self.cells
            .extend(from.cells[first..end].iter().map(|&cell| {
                let (directions, at) = unpack_cell(cell);
                pack_cell(directions, (before + at as usize - links.start) as u64)
            }));
        self.q.extend_from_slice(&from.q[links.clone()]);
        if !from.patch.is_empty() {
            self.patch.extend_from_slice(&from.patch[links]);
        }
    }
}
