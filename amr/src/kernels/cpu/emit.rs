//! New leaves from closed marks: counted, scanned and written in order.

use crate::{
    ForestError, Mark, dims,
    linear::{Counted, Grid, Leaves, level, morton, pack},
};
use cutlink_device::{Host, memory, scan::exclusive_scan};
use rayon::prelude::*;

const CHUNK: usize = 1 << 14;

const REFINE: u8 = Mark::Refine as u8;
const COARSEN: u8 = Mark::Coarsen as u8;

pub(super) fn count<const D: usize>(
    leaves: &Leaves<D>,
    marks: &[u8],
) -> Result<Counted<Host>, ForestError> {
    let (grid, keys) = (leaves.grid(), leaves.keys());
    let mut first = memory::with_capacity("the map of leaves", keys.len() + 1)?;
    let becomes = |(&key, &mark): (&u64, &u8)| match mark {
        REFINE => dims::children(D) as u32,
        COARSEN => u32::from(is_last(grid, key)),
        _ => 1,
    };
    first.par_extend(keys.par_iter().zip(marks).map(becomes));
    first.push(0);
    let tally = |(&key, &mark): (&u64, &u8)| {
        let finest = match mark {
            REFINE => level(key) + 1,
            COARSEN => level(key) - 1,
            _ => level(key),
        };
        let refined = mark == REFINE;
        let coarsened = mark == COARSEN && is_last(grid, key);
        (u64::from(refined), u64::from(coarsened), finest)
    };
    let add = |a: (u64, u64, u32), b: (u64, u64, u32)| (a.0 + b.0, a.1 + b.1, a.2.max(b.2));
    let (refined, coarsened, finest) =
        (keys.par_iter().zip(marks).map(tally)).reduce(|| (0, 0, 0), add);
    let more = dims::children(D) as u64 - 1;
    exclusive_scan(&mut first);
    Ok(Counted {
        first,
        leaves: keys.len() as u64 + more * refined - more * coarsened,
        refined,
        coarsened,
        finest,
    })
}

/// Whether a leaf is the last of its siblings, in whose place the parent is written.
fn is_last<const D: usize>(grid: &Grid<D>, key: u64) -> bool {
    grid.child_number(morton(key), level(key)) == dims::children(D) - 1
}

pub(super) fn emit<const D: usize>(
    leaves: &Leaves<D>,
    marks: &[u8],
    counted: &Counted<Host>,
) -> Result<Vec<u64>, ForestError> {
    let (keys, first) = (leaves.keys(), &counted.first);
    let mut fresh = memory::with_capacity("leaves", counted.leaves as usize)?;
    fresh.resize(counted.leaves as usize, 0);
    let mut rest = fresh.as_mut_slice();
    let mut jobs = Vec::new();
    for (chunk, (keys, marks)) in keys.chunks(CHUNK).zip(marks.chunks(CHUNK)).enumerate() {
        let from = chunk * CHUNK;
        let count = (first[from + keys.len()] - first[from]) as usize;
        let (own, others) = rest.split_at_mut(count);
        rest = others;
        jobs.push((keys, marks, own));
    }
    let grid = leaves.grid();
    jobs.into_par_iter().for_each(|(keys, marks, fresh)| {
        let mut to = fresh.iter_mut();
        for (&key, &mark) in keys.iter().zip(marks) {
            write(grid, key, mark, &mut to);
        }
    });
    Ok(fresh)
}

fn write<const D: usize>(
    grid: &Grid<D>,
    key: u64,
    mark: u8,
    to: &mut std::slice::IterMut<'_, u64>,
) {
    let (at, level) = (morton(key), level(key));
    match mark {
        REFINE => {
            for (child, to) in (0..dims::children(D)).zip(to) {
                *to = pack(grid.child(at, level, child), level + 1);
            }
        }
        COARSEN if !is_last(grid, key) => {}
        _ => {
            let becomes = match mark {
                COARSEN => pack(grid.cover(at, level - 1), level - 1),
                _ => key,
            };
            *to.next().expect("each leaf should have been counted") = becomes;
        }
    }
}
