//! Launches over all ids, the blocks of a level, or its slots.

use super::WISH;
use crate::{
    LevelLimit, SolverError,
    adapt::wish::{Weight, Wishes},
    tables::Level,
};
use bytemuck::{Pod, Zeroable};
use cutlink_amr::Forest;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

const THREADS: u32 = 256;

/// `Box` of `wish.cu`.
#[derive(Debug, Clone, Copy, PartialEq, Zeroable, Pod)]
#[repr(C)]
struct BoxNumbers {
    lower: [f64; 3],
    upper: [f64; 3],
    levels: u32,
    bounds: u32,
}

impl BoxNumbers {
    fn new<const D: usize>([lower, upper]: [[f64; D]; 2], levels: usize) -> Self {
        let wide = |v: [f64; D]| std::array::from_fn(|a| v.get(a).copied().unwrap_or(0.0));
        Self {
            lower: wide(lower),
            upper: wide(upper),
            levels: levels as u32,
            bounds: 1,
        }
    }
}

pub(super) fn limit<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    limits: &[LevelLimit<D>],
    levels: usize,
) -> Result<CudaBuf<u8>, SolverError> {
    let numbers = |limit: &LevelLimit<D>| BoxNumbers::new(limit.within, limit.levels);
    let boxes = cuda.upload(limits.iter().map(numbers).collect::<Vec<_>>())?;
    let count = forest.capacity();
    let mut out = cuda.uninit("levels of blocks", count)?;
    let launch = cuda
        .launch(&WISH, D, "limit")
        .val(count as u32)
        .buf(&forest.level)
        .buf(&forest.coord)
        .buf(&boxes)
        .val(boxes.len() as u32)
        .val(levels as u32)
        .out(&mut out);
    // SAFETY: the arrays of a forest have an entry an id, and so has `out`; as many boxes as said.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(out)
}

pub(super) fn weigh<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: &Level<D, Cuda>,
    blocks: &CudaBuf<u32>,
    values: &CudaBuf<f32>,
    weight: &Weight<D>,
    wishes: &mut Wishes<Cuda>,
) -> Result<(), SolverError> {
    let within = weight.within.map(|within| BoxNumbers::new(within, 0));
    let launch = cuda
        .launch(&WISH, D, "weigh")
        .buf(blocks)
        .val(level.slots as u32)
        .buf(&forest.first_child)
        .val(level.index as u32)
        .buf(&level.coord)
        .buf(values)
        .val(within.unwrap_or_else(BoxNumbers::zeroed))
        .val(weight.refine)
        .val(weight.coarsen)
        .val(weight.one_up)
        .out(&mut wishes.hot)
        .out(&mut wishes.cold);
    // SAFETY: a block, a coordinate and a value for each slot; blocks are ids, for each of which there are the rest.
    unsafe { launch.run(LaunchGrid::over(level.slots, THREADS))? };
    Ok(())
}

pub(super) fn want<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: usize,
    wishes: &Wishes<Cuda>,
    raised: f32,
    wanted: &mut CudaBuf<u8>,
) -> Result<(), SolverError> {
    let ids = &forest.levels[level];
    let launch = cuda
        .launch(&WISH, D, "want")
        .buf(ids)
        .val(ids.len() as u32)
        .val(level as u32)
        .buf(&forest.first_child)
        .buf(&wishes.hot)
        .buf(&wishes.levels)
        .val(raised)
        .out(wanted);
    // SAFETY: ids of a level; an entry of each array for each id, children included.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn spread<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    level: usize,
    layer: u8,
    wanted: &mut CudaBuf<u8>,
) -> Result<(), SolverError> {
    let ids = &forest.levels[level];
    let launch = cuda
        .launch(&WISH, D, "spread")
        .buf(ids)
        .val(ids.len() as u32)
        .val(forest.grid())
        .buf(&forest.families)
        .val(u32::from(layer))
        .out(wanted);
    // SAFETY: as in `want`; families have the places of all but root blocks.
    unsafe { launch.run(LaunchGrid::over(ids.len(), THREADS))? };
    Ok(())
}

pub(super) fn mark_wanted<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    wishes: &Wishes<Cuda>,
    raised: f32,
    wanted: &CudaBuf<u8>,
) -> Result<CudaBuf<u8>, SolverError> {
    let count = forest.capacity();
    let mut marks = cuda.uninit("marks", count)?;
    let launch = cuda
        .launch(&WISH, D, "mark_wanted")
        .val(count as u32)
        .buf(&forest.level)
        .buf(&forest.parent)
        .buf(&forest.first_child)
        .buf(&wishes.cold)
        .buf(&wishes.levels)
        .val(raised)
        .buf(wanted)
        .out(&mut marks);
    // SAFETY: an entry of each array, and a mark, for each id.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(marks)
}
