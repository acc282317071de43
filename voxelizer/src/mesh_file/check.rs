//! Checks of a file's arrays, before any index in them is followed.

use super::error::Fault;
use super::read::Body;
use cutlink_amr::{MAX_LEVELS, NONE, dims};

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

/// The row of each block: rows ascend by blocks, and every leaf with boundary cells has one.
pub(super) fn rows<const D: usize>(body: &Body<D>) -> Result<Vec<u32>, Fault> {
    let links = &body.links;
    let blocks = body.coord.len();
    let wrong = |reason: String| Err(Fault::damaged("link_blocks", reason));
    let mut row_of = vec![NONE; blocks];
    for (row, &id) in links.blocks.iter().enumerate() {
        let ascends = row == 0 || links.blocks[row - 1] < id;
        if id as usize >= blocks || !ascends {
            return wrong(format!("row {row} has block {id}"));
        }
        row_of[id as usize] = row as u32;
    }
    let lost = (0..blocks).find(|&id| {
        row_of[id] == NONE && body.first_child[id] == NONE && body.classes.boundary[id] != 0
    });
    match lost {
        Some(id) => wrong(format!("leaf {id} has boundary cells but no row")),
        None => Ok(row_of),
    }
}

/// The link table, see [`crate::LinkTable::check`].
pub(super) fn links<const D: usize>(body: &Body<D>) -> Result<(), Fault> {
    let patches = body.about.patches.len();
    let checked = body.links.check::<D>(&body.classes.boundary, patches);
    checked.map_err(|violation| {
        Fault::damaged(format!("link_{}", violation.array()), violation.to_string())
    })
}
