//! Which cells a wall's friction acts on: each cell's share of the wall, spread over the fluid cells around.
//!
//! Cells with links form a ragged layer. A force on them alone has a divergence, to which pressure answers, and pressure on the
//! staircase cancels half of the friction (decision 027). Weights of a hat, 3 cells wide on either side, make it smooth, and each
//! share adds up to itself whatever the shape of the wall.

use super::{DraggedCell, HEIGHTS, NEAREST, Walls, narrow};
use crate::tables::{At, bits};
use cutlink_amr::{NONE, dims};
use rayon::prelude::*;

/// How far a share is spread, in cells on each axis. A rank has one block beyond its own: a cell's share depends on cells twice as
/// far, which is a block.
const REACH: i32 = 2;

/// A cell with links to modelled walls.
pub(super) struct Boundary<const D: usize> {
    /// The cell.
    pub(super) at: At<D>,
    /// Normal of the wall into the fluid.
    pub(super) normal: [f64; D],
    /// Distance from the wall, in cells.
    pub(super) distance: f64,
    /// Velocity of the wall.
    pub(super) own: [f64; D],
    /// The patch.
    patch: u16,
    /// Its share of the wall over the sum of the weights with which it is spread.
    unit: f64,
}

impl<const D: usize> Boundary<D> {
    /// The weight of a cell so many cells away, and its distance from the wall; `None` too far off or behind the wall.
    fn weight(&self, offset: [i32; D]) -> Option<(f64, f64)> {
        let away = offset.map(i32::abs);
        if away.iter().any(|&x| x > REACH) {
            return None;
        }
        let distance = self.distance
            + (0..D)
                .map(|a| self.normal[a] * f64::from(offset[a]))
                .sum::<f64>();
        let weight: i32 = away.iter().map(|x| REACH + 1 - x).product();
        (distance > 0.0).then_some((f64::from(weight), distance))
    }
}

/// What the walls around a cell add up to.
#[derive(Clone, Copy)]
struct Sum<'a, const D: usize> {
    area: f64,
    normal: [f64; D],
    distance: f64,
    /// The wall with the largest part, and that.
    most: Option<(f64, &'a Boundary<D>)>,
}

impl<const D: usize> Walls<'_, D> {
    /// The cells with links to modelled walls, by slot, those of the halo included.
    pub(super) fn boundaries(&self) -> Vec<Boundary<D>> {
        let of_slot = |slot: usize| {
            let here = bits(self.level.boundary[slot] & self.level.stepped[slot]);
            here.filter_map(move |cell| self.boundary(At::new(slot, cell)))
        };
        (0..self.level.special)
            .into_par_iter()
            .flat_map_iter(of_slot)
            .collect()
    }

    fn boundary(&self, at: At<D>) -> Option<Boundary<D>> {
        let (direction, link) = self.links(at).next()?;
        let (normal, distance) = self.plane(at);
        let links = self.links(at).map(|(direction, _)| direction);
        let mut wall = Boundary {
            at,
            normal,
            distance,
            own: self.velocity(at, direction, link),
            patch: self.level.patch[link],
            unit: share(normal, links),
        };
        let width = 2 * REACH as usize + 1;
        let all = (0..width.pow(D as u32))
            .map(|n| dims::unravel::<D>(n, width).map(|x| x - REACH))
            .filter(|&offset| self.fluid(at, offset).is_some())
            .filter_map(|offset| Some(wall.weight(offset)?.0))
            .sum::<f64>();
        wall.unit /= all;
        Some(wall)
    }

    /// The cells that friction acts on, by slot.
    pub(super) fn dragged(&self, boundaries: &[Boundary<D>]) -> Vec<DraggedCell> {
        let mut starts = vec![0; self.level.slots + 1];
        for wall in boundaries {
            starts[wall.at.slot + 1] += 1;
        }
        for slot in 0..self.level.slots {
            starts[slot + 1] += starts[slot];
        }
        let of_slot = |slot: usize| {
            let around = &self.level.neighbors[slot * dims::directions(D)..];
            let walls = (0..dims::directions(D)).filter_map(|direction| {
                let next = around[direction] as usize;
                let walls = boundaries.get(*starts.get(next)?..*starts.get(next + 1)?)?;
                Some((dims::step::<D>(direction), walls))
            });
            self.dragged_of_slot(slot, walls)
        };
        (0..self.level.slots)
            .into_par_iter()
            .filter(|&slot| !self.level.halo.contains(slot))
            .flat_map_iter(of_slot)
            .collect()
    }

    fn dragged_of_slot<'b>(
        &self,
        slot: usize,
        walls: impl Iterator<Item = ([i32; D], &'b [Boundary<D>])>,
    ) -> Vec<DraggedCell> {
        let none = Sum {
            area: 0.0,
            normal: [0.0; D],
            distance: 0.0,
            most: None,
        };
        let mut sums = vec![none; dims::cells(D)];
        let own = At::<D>::new(slot, 0);
        for (block, walls) in walls {
            for wall in walls {
                let middle: [i32; D] = std::array::from_fn(|a| 4 * block[a] + wall.at.local[a]);
                for cell in bits(self.level.stepped[slot]) {
                    let local = dims::unravel::<D>(cell, 4);
                    let offset = std::array::from_fn(|a| local[a] - middle[a]);
                    let Some((weight, distance)) = wall.weight(offset) else {
                        continue;
                    };
                    let (area, sum) = (wall.unit * weight, &mut sums[cell]);
                    sum.area += area;
                    sum.distance += area * distance;
                    (0..D).for_each(|a| sum.normal[a] += area * wall.normal[a]);
                    if sum.most.is_none_or(|(most, _)| area > most) {
                        sum.most = Some((area, wall));
                    }
                }
            }
        }
        let of_cell = |(cell, sum): (usize, &Sum<'_, D>)| {
            let (_, wall) = sum.most.filter(|_| sum.area > 0.0)?;
            Some(self.dragged_cell(At::new(own.slot, cell), sum, wall))
        };
        sums.iter().enumerate().filter_map(of_cell).collect()
    }

    #[allow(clippy::cast_possible_truncation, reason = "kernels take f32")]
    fn dragged_cell(&self, at: At<D>, sum: &Sum<'_, D>, wall: &Boundary<D>) -> DraggedCell {
        let length = sum.normal.iter().map(|x| x * x).sum::<f64>().sqrt();
        // Two walls that face each other in a gap cancel.
        let normal = match length > 0.1 * sum.area {
            true => sum.normal.map(|x| x / length),
            false => wall.normal,
        };
        let distance = (sum.distance / sum.area).max(NEAREST);
        let beyond = |height: &f64| {
            let reach = (height - distance).max(0.0);
            self.along(at, normal, reach)
        };
        let (sample, far) = HEIGHTS.iter().find_map(beyond).unwrap_or((at, 0.0));
        let is_ghost = self.level.ghost[at.slot] >> at.cell() & 1 == 1;
        DraggedCell {
            slot: at.slot as u32,
            cell: at.cell() as u32,
            sample_slot: sample.slot as u32,
            sample_cell: sample.cell() as u32,
            normal: narrow(normal),
            height: (distance + far).max(NEAREST) as f32,
            wall: self.slipping(wall).1,
            area: sum.area as f32,
            distance: distance as f32,
            patch: if is_ghost {
                NONE
            } else {
                u32::from(wall.patch)
            },
        }
    }
}

/// The share of a plane of unit normal that a cell with links to it in some directions has: their weights w (c·n)² over those of
/// all links of a unit of area. Shares of a plane add up to its area at any angle.
fn share<const D: usize>(normal: [f64; D], links: impl Iterator<Item = usize>) -> f64 {
    let up = |direction: usize| {
        let c = dims::step::<D>(direction);
        let squares: i32 = c.iter().map(|c| c * c).sum();
        let up: f64 = (0..D).map(|a| f64::from(c[a]) * normal[a]).sum();
        (up, up * up * 0.25f64.powi(squares))
    };
    let of_plane = |direction: usize| {
        let (up, weight) = up(direction);
        0.5 * weight * up.abs()
    };
    let own: f64 = links.map(|direction| up(direction).1).sum();
    own / (0..dims::directions(D)).map(of_plane).sum::<f64>()
}
