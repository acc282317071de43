//! Marks by layers around the surface (J26 §3.4.3), and the cells at level boundaries.

use super::super::{Layers, LevelData, Rim};
use crate::VoxelError;
use cutlink_amr::{Forest, Mark, NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;

pub(super) fn mark<const D: usize>(
    data: &LevelData<'_, D, Host>,
    solid: &[u64],
    layers: Layers,
) -> Result<Vec<u8>, VoxelError> {
    let LevelData {
        forest, bins, view, ..
    } = data;
    let refine = Mark::Refine as u8;
    let mut marks = Host.alloc("marks", forest.capacity(), Mark::Keep as u8)?;
    marks[view.first..]
        .par_iter_mut()
        .enumerate()
        .for_each(|(row, mark)| {
            if !bins.of(row).is_empty() {
                *mark = refine;
            }
        });
    for layer in 1..=layers.fluid.max(layers.solid) {
        let before = marks[view.first..].to_vec();
        let is_marked =
            |n: u32| n != NONE && n != OUTSIDE && before[n as usize - view.first] == refine;
        marks[view.first..]
            .par_iter_mut()
            .enumerate()
            .for_each(|(row, mark)| {
                let id = view.first + row;
                let reach = if solid[id] == 0 {
                    layers.fluid
                } else {
                    layers.solid
                };
                let near = || forest.neighbors_of(id as u32).iter().any(|&n| is_marked(n));
                if *mark != refine && layer <= reach && near() {
                    *mark = refine;
                }
            });
    }
    Ok(marks)
}

pub(super) fn interfaces<const D: usize>(forest: &Forest<D>) -> Result<Rim<Host>, VoxelError> {
    let near: Vec<u64> = (0..dims::directions(D)).map(near_side::<D>).collect();
    let mut ghost = Host.alloc("ghost cells", forest.capacity(), 0)?;
    let mut interface = Host.alloc("interface cells", forest.capacity(), 0)?;
    ghost
        .par_iter_mut()
        .zip(&mut interface)
        .enumerate()
        .for_each(|(id, (ghost, interface))| {
            for (direction, &n) in forest.neighbors_of(id as u32).iter().enumerate() {
                if n == NONE {
                    *ghost |= near[direction];
                }
            }
            if *ghost != 0 {
                *interface = dims::full_mask(D) & !*ghost;
            }
        });
    Ok(Rim { ghost, interface })
}

/// The cells of a block within two cells of its neighbour in a direction.
fn near_side<const D: usize>(direction: usize) -> u64 {
    let step = dims::step::<D>(direction);
    let near = |cell: &usize| {
        let at = dims::unravel::<D>(*cell, 4);
        (0..D).all(|a| match step[a] {
            -1 => at[a] < 2,
            1 => at[a] >= 2,
            _ => true,
        })
    };
    (0..dims::cells(D))
        .filter(near)
        .fold(0, |mask, cell| mask | 1 << cell)
}
