//! Marks by layers around the surface (J26 §3.4.3), by regions and spots, and the cells at level
//! boundaries.

use super::super::{LevelData, LevelView, Rim, WindowPlaces};
use crate::{
    VoxelError,
    refine::{LevelMarks, SOLID_LAYERS},
    spots,
    windows::place,
};
use cutlink_amr::{Forest, Mark, NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host, shared};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU8, Ordering};

pub(super) fn mark<const D: usize>(
    data: &LevelData<'_, D, Host>,
    solid: &[u64],
    uncertain: &[u8],
    marks: &LevelMarks<D>,
) -> Result<Vec<u8>, VoxelError> {
    let LevelData {
        forest, bins, view, ..
    } = data;
    let rows = 0..view.count as u32;
    let is_uncertain = |row: u32| uncertain.get(row as usize) == Some(&1);
    let is_inside = |row: u32| {
        solid[view.first + row as usize] == dims::full_mask(D)
            && bins.of(row as usize).is_empty()
            && !is_uncertain(row)
    };
    let mut wanted = Host.alloc("marks", view.count, 0u8)?;
    let mut reached = Host.alloc("marks", view.count, 0u8)?;
    for walls in &marks.walls {
        let meets = |&row: &u32| match &walls.patches {
            None => is_uncertain(row) || data.walls(row as usize).next().is_some(),
            Some(named) => is_uncertain(row) || data.patches(row as usize).any(|p| named[p]),
        };
        let sources: Vec<u32> = rows.clone().into_par_iter().filter(meets).collect();
        reached.par_iter_mut().for_each(|r| *r = 0);
        spread(
            data,
            shared::bytes(&mut reached),
            sources,
            walls.layers,
            |_| true,
        );
        wanted
            .par_iter_mut()
            .zip(&reached)
            .for_each(|(w, r)| *w |= r);
    }
    if !marks.places.is_empty() || !marks.spots.is_empty() {
        wanted.par_iter_mut().enumerate().for_each(|(row, wanted)| {
            let coord = forest.coord[view.first + row];
            let is_wanted = marks.places.iter().any(|place| place.wants(coord));
            *wanted |= u8::from(is_wanted || spots::holds(&marks.spots, coord));
        });
    }
    let outside = |&row: &u32| wanted[row as usize] == 1 && !is_inside(row);
    let sources: Vec<u32> = rows.into_par_iter().filter(outside).collect();
    let mut refine = Host.alloc("marks", forest.capacity(), Mark::Keep as u8)?;
    let of_level = shared::bytes(&mut refine[view.first..view.first + view.count]);
    spread(data, of_level, sources, SOLID_LAYERS, is_inside);
    Ok(refine)
}

/// Sets the bytes of the sources, and of so many layers around them of the blocks that `enter`.
/// Which thread reaches a block first makes no difference to the set. Cost: the neighbours of
/// the blocks reached.
fn spread<const D: usize>(
    data: &LevelData<'_, D, Host>,
    reached: &[AtomicU8],
    sources: Vec<u32>,
    layers: u32,
    enter: impl Fn(u32) -> bool + Sync,
) {
    let LevelData { forest, view, .. } = data;
    let first = view.first as u32;
    sources
        .par_iter()
        .for_each(|&row| reached[row as usize].store(1, Ordering::Relaxed));
    let mut front = sources;
    for _ in 0..layers {
        let beyond = |&row: &u32| {
            let around = forest.neighbors_of(first + row);
            around
                .filter(|&n| n != NONE && n != OUTSIDE)
                .map(|n| n - first)
                .filter(|&n| {
                    let byte = &reached[n as usize];
                    byte.load(Ordering::Relaxed) == 0
                        && enter(n)
                        && byte.swap(1, Ordering::Relaxed) == 0
                })
                .collect::<Vec<u32>>()
        };
        front = front
            .par_iter()
            .with_min_len(256)
            .flat_map_iter(beyond)
            .collect();
        if front.is_empty() {
            break;
        }
    }
}

pub(super) fn restrict<const D: usize>(
    forest: &Forest<D>,
    view: LevelView,
    places: &WindowPlaces<D, Host>,
    marks: &mut [u8],
) {
    let level = view.first..view.first + view.count;
    let blocks = forest.coord[level.clone()].par_iter();
    blocks.zip(&mut marks[level]).for_each(|(coord, mark)| {
        let at = coord.map(|c| c >> places.shift);
        if places.wanted[place(at, places.extent)] == 0 {
            *mark = Mark::Keep as u8;
        }
    });
}

pub(super) fn interfaces<const D: usize>(forest: &Forest<D>) -> Result<Rim<Host>, VoxelError> {
    let near: Vec<u64> = (0..dims::directions(D)).map(near_side::<D>).collect();
    let mut ghost = Host.alloc("ghost cells", forest.capacity(), 0)?;
    let mut interface = Host.alloc("interface cells", forest.capacity(), 0)?;
    ghost
        .par_iter_mut()
        .zip(&mut interface)
        .enumerate()
        // Root blocks have one on every side, or a wall.
        .skip(forest.roots())
        .for_each(|(id, (ghost, interface))| {
            for (direction, n) in forest.neighbors_of(id as u32).enumerate() {
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
