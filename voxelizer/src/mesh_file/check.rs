//! The checks of a file's arrays that come before anything follows an index in them.

use super::error::Fault;
use super::read::Body;
use crate::unpack_cell;
use cutlink_amr::{MAX_LEVELS, NONE, dims};
use rayon::prelude::*;

/// The blocks form a tree: levels that follow each other, every block of a finer level in
/// one contiguous group of children, at the place of its parent. The parents.
pub(super) fn tree<const D: usize>(body: &Body<D>) -> Result<Vec<u32>, Fault> {
    check_levels(body)?;
    let levels = body.level_start.len() - 1;
    let mut parent = vec![NONE; body.coord.len()];
    for level in 0..levels {
        let own = body.level_start[level]..body.level_start[level + 1];
        let below = own.end..body.level_start.get(level + 2).copied().unwrap_or(own.end);
        for id in own {
            let first = body.first_child[id as usize];
            if first != NONE {
                adopt(body, &mut parent, id, first, &below)?;
            }
        }
        let group = &parent[below.start as usize..below.end as usize];
        if let Some(at) = group.iter().position(|&p| p == NONE) {
            let id = below.start as usize + at;
            return Err(Fault::damaged(
                "first_child",
                format!("block {id} of level {} is the child of none", level + 1),
            ));
        }
    }
    Ok(parent)
}

fn adopt<const D: usize>(
    body: &Body<D>,
    parent: &mut [u32],
    id: u32,
    first: u32,
    below: &std::ops::Range<u32>,
) -> Result<(), Fault> {
    let wrong = |reason: String| Err(Fault::damaged("first_child", reason));
    let count = dims::children(D) as u32;
    if first < below.start || first > below.end || below.end - first < count {
        return wrong(format!(
            "block {id} has its children at {first}, outside the next level ({below:?})"
        ));
    }
    for i in 0..count {
        let child = (first + i) as usize;
        if parent[child] != NONE {
            return wrong(format!("block {child} is the child of two blocks"));
        }
        parent[child] = id;
        let up = body.coord[id as usize];
        let expected: [i32; D] =
            std::array::from_fn(|a| up[a].wrapping_mul(2).wrapping_add((i >> a & 1) as i32));
        if body.coord[child] != expected {
            return Err(Fault::damaged(
                "coord",
                format!(
                    "block {child} lies at {:?}, child {i} of block {id} at {expected:?}",
                    body.coord[child]
                ),
            ));
        }
    }
    Ok(())
}

fn check_levels<const D: usize>(body: &Body<D>) -> Result<(), Fault> {
    let start = &body.level_start;
    let wrong = |reason: String| Err(Fault::damaged("level_start", reason));
    let levels = start.len() - 1;
    if levels == 0 || levels > MAX_LEVELS {
        return wrong(format!("{levels} levels, 1 to {MAX_LEVELS} expected"));
    }
    let blocks = body.coord.len();
    if start[0] != 0 || start[levels] as usize != blocks || start.windows(2).any(|w| w[0] >= w[1]) {
        return wrong(format!("{start:?} does not ascend from 0 to {blocks}"));
    }
    let root = body.about.frame.root_blocks();
    let roots = root
        .iter()
        .fold(1u64, |n, &r| n.saturating_mul(u64::from(r)));
    if roots != u64::from(start[1]) {
        return wrong(format!("{} root blocks, {root:?} expected", start[1]));
    }
    let longest = root.iter().copied().max().unwrap_or(0);
    if u64::from(longest) << (levels - 1) > 1 << 28 {
        return wrong(format!(
            "{levels} levels are too many for {root:?} root blocks"
        ));
    }
    Ok(())
}

/// The masks name cells of a block, and no boundary cell is solid.
pub(super) fn classes<const D: usize>(body: &Body<D>) -> Result<(), Fault> {
    let classes = &body.classes;
    let masks = [
        ("solid", &classes.solid),
        ("boundary", &classes.boundary),
        ("ghost", &classes.ghost),
        ("interface", &classes.interface),
    ];
    for (name, mask) in masks {
        let found = mask.iter().position(|m| m & !dims::full_mask(D) != 0);
        if let Some(id) = found {
            let reason = format!("block {id} has {:x}, which names no cells", mask[id]);
            return Err(Fault::damaged(name, reason));
        }
    }
    let pairs = classes.solid.iter().zip(&classes.boundary);
    match pairs.into_iter().position(|(s, b)| s & b != 0) {
        Some(id) => Err(Fault::damaged(
            "boundary",
            format!("block {id} has boundary cells that are solid"),
        )),
        None => Ok(()),
    }
}

/// Every leaf with boundary cells has a row, every boundary cell of a row an entry, every
/// cut link of an entry a distance in (0, 1] and a patch that exists. The row of each block.
pub(super) fn links<const D: usize>(body: &Body<D>) -> Result<Vec<u32>, Fault> {
    let row_of = rows(body)?;
    cells::<D>(body)?;
    let links = &body.links;
    let outside = |q: &f32| !(*q > 0.0 && *q <= 1.0);
    if let Some(at) = links.q.par_iter().position_first(outside) {
        let reason = format!("link {at} is cut at {}, outside (0, 1]", links.q[at]);
        return Err(Fault::damaged("link_q", reason));
    }
    if !links.patch.is_empty() && links.patch.len() != links.q.len() {
        return Err(Fault::damaged(
            "link_patch",
            format!("{} entries for {} links", links.patch.len(), links.q.len()),
        ));
    }
    let patches = body.about.patches.len();
    if let Some(at) = links.patch.iter().position(|&p| usize::from(p) >= patches) {
        let reason = format!("link {at} is of patch {} of {patches}", links.patch[at]);
        return Err(Fault::damaged("link_patch", reason));
    }
    Ok(row_of)
}

fn rows<const D: usize>(body: &Body<D>) -> Result<Vec<u32>, Fault> {
    let links = &body.links;
    let blocks = body.coord.len();
    let start = &links.cell_start;
    let wrong = |place: &str, reason: String| Err(Fault::damaged(place, reason));
    if start[0] != 0 || start[start.len() - 1] as usize != links.cells.len() {
        let reason = format!("it does not run from 0 to {}", links.cells.len());
        return wrong("link_cell_start", reason);
    }
    let mut row_of = vec![NONE; blocks];
    for (row, &id) in links.blocks.iter().enumerate() {
        let ascends = row == 0 || links.blocks[row - 1] < id;
        if id as usize >= blocks || !ascends {
            return wrong("link_blocks", format!("row {row} has block {id}"));
        }
        let cells = body.classes.boundary[id as usize].count_ones();
        if start[row + 1].checked_sub(start[row]) != Some(cells) {
            let reason = format!("row {row} should hold the {cells} boundary cells of block {id}");
            return wrong("link_cell_start", reason);
        }
        row_of[id as usize] = row as u32;
    }
    let lost = (0..blocks).find(|&id| {
        row_of[id] == NONE && body.first_child[id] == NONE && body.classes.boundary[id] != 0
    });
    match lost {
        Some(id) => wrong(
            "link_blocks",
            format!("leaf {id} has boundary cells but no row"),
        ),
        None => Ok(row_of),
    }
}

fn cells<const D: usize>(body: &Body<D>) -> Result<(), Fault> {
    let allowed = ((1u32 << dims::directions(D)) - 1) & !(1 << dims::center(D));
    let mut next = 0u64;
    for (at, &entry) in body.links.cells.iter().enumerate() {
        let (directions, first) = unpack_cell(entry);
        if directions == 0 || directions & !allowed != 0 || first != next {
            return Err(Fault::damaged(
                "link_cells",
                format!(
                    "entry {at} has directions {directions:x} and first link {first}, {next} expected"
                ),
            ));
        }
        next += u64::from(directions.count_ones());
    }
    if next != body.links.q.len() as u64 {
        return Err(Fault::damaged(
            "link_q",
            format!("{} links, {next} expected", body.links.q.len()),
        ));
    }
    Ok(())
}
