//! Insertion and removal of children, in contiguous groups.

use crate::{FREE, Forest, ForestError, Mark, NONE, dims};
use cutlink_device::memory::grow;
use rayon::prelude::*;

pub(super) fn insert<const D: usize>(
    forest: &mut Forest<D>,
    level: usize,
    parents: &[u32],
    marks: &mut Vec<u8>,
) -> Result<(), ForestError> {
    let group = dims::children(D);
    let (recycled, fresh) = parents.split_at(parents.len().min(forest.gaps.len()));
    let start = forest.capacity();
    grow_arrays(
        forest,
        start + fresh.len() * group,
        parents.len() * group,
        level,
    )?;
    let forest = &mut forest.arrays;

    for &parent in recycled {
        let first = forest
            .gaps
            .pop()
            .expect("as many gaps as recycled parents should be left");
        for i in 0..group {
            let id = first as usize + i;
            forest.coord[id] = child_coord(forest.coord[parent as usize], i);
            forest.level[id] = level as u8 + 1;
            forest.parent[id] = parent;
            forest.first_child[id] = NONE;
            marks[id] = Mark::Keep as u8;
            forest.levels[level + 1].push(id as u32);
        }
        forest.first_child[parent as usize] = first;
    }

    grow("marks", marks, forest.level.len(), Mark::Keep as u8)?;
    for (k, &parent) in fresh.iter().enumerate() {
        forest.first_child[parent as usize] = (start + k * group) as u32;
    }
    let (old, new) = forest.coord.split_at_mut(start);
    new.par_chunks_mut(group)
        .zip(forest.parent[start..].par_chunks_mut(group))
        .zip(fresh)
        .for_each(|((coords, parents), &parent)| {
            for (i, coord) in coords.iter_mut().enumerate() {
                *coord = child_coord(old[parent as usize], i);
            }
            parents.fill(parent);
        });
    forest.level[start..].fill(level as u8 + 1);
    let ids = start as u32..(start + fresh.len() * group) as u32;
    forest.levels[level + 1].par_extend(ids);
    Ok(())
}

/// Grows the arrays first, so that a lack of memory leaves the forest unchanged.
fn grow_arrays<const D: usize>(
    forest: &mut Forest<D>,
    capacity: usize,
    inserted: usize,
    level: usize,
) -> Result<(), ForestError> {
    let places = forest.families_len(capacity);
    let forest = &mut forest.arrays;
    grow("block coordinates", &mut forest.coord, capacity, [0; D])?;
    grow("parents", &mut forest.parent, capacity, NONE)?;
    grow("first children", &mut forest.first_child, capacity, NONE)?;
    grow("block neighbours", &mut forest.families, places, NONE)?;
    grow("block levels", &mut forest.level, capacity, FREE)?;
    if forest.levels.len() == level + 1 {
        forest.levels.push(Vec::new());
    }
    forest.levels[level + 1].reserve(inserted);
    Ok(())
}

fn child_coord<const D: usize>(parent: [i32; D], child: usize) -> [i32; D] {
    std::array::from_fn(|a| 2 * parent[a] + (child >> a & 1) as i32)
}

pub(super) fn remove<const D: usize>(forest: &mut Forest<D>, level: usize, parents: &[u32]) {
    let forest = &mut forest.arrays;
    for &parent in parents {
        let first = forest.first_child[parent as usize];
        forest.first_child[parent as usize] = NONE;
        forest.gaps.push(first);
        let group = first as usize..first as usize + dims::children(D);
        forest.level[group].fill(FREE);
    }
    let alive = &forest.level;
    forest.levels[level + 1].retain(|&id| alive[id as usize] != FREE);
    if forest.levels[level + 1].is_empty() {
        forest.levels.truncate(level + 1);
    }
}
