//! The elements of a flow without its state: what wishes and marks are made of, wherever the state is.

use crate::{
    Basis, ElementAdaptation, EulerFlow, FrError, GasWalls, Sensor,
    kernels::{EulerKernels, Kernels, sizes},
    walls::{Bodies, is_removed},
};
use cutlink_amr::{
    Mark,
    linear::{Face, Faces, Leaves},
};
use cutlink_device::Host;
use rayon::prelude::*;

/// The elements of a flow.
pub(crate) struct Elements<'a, const D: usize> {
    leaves: &'a Leaves<D>,
    faces: &'a Faces<D>,
    basis: &'a Basis,
    lower: [f64; D],
    /// Edges of root elements.
    edges: [f64; D],
    time: f64,
    bodies: &'a Bodies<D>,
    walls: &'a GasWalls<D>,
}

impl<const D: usize, T: Kernels<D>, B: EulerKernels<D>> EulerFlow<D, T, B> {
    /// The elements, of which leaves and faces are on the host.
    pub(crate) fn seen<'a>(
        &'a self,
        leaves: &'a Leaves<D>,
        faces: &'a Faces<D>,
    ) -> Elements<'a, D> {
        Elements {
            leaves,
            faces,
            basis: &self.basis,
            lower: self.lower,
            edges: self.edges,
            time: self.time,
            bodies: &self.bodies,
            walls: &self.params.walls,
        }
    }
}

impl<const D: usize> Elements<'_, D> {
    /// By element: above 0 it should be refined, the more the higher; below 0 it may be coarsened; at 0 it is right.
    /// `decays` gives [`EulerFlow::decays`].
    pub(crate) fn wishes(
        &self,
        sensor: &Sensor,
        decays: impl FnOnce(f64) -> Result<Vec<[f64; D]>, FrError>,
    ) -> Result<Vec<f64>, FrError> {
        let mut wishes: Vec<f64> = match *sensor {
            Sensor::Modal {
                refine_above,
                coarsen_below,
                momentum,
                floor,
            } => {
                let decays = decays(momentum)?;
                let largest = decays
                    .par_iter()
                    .copied()
                    .reduce(|| [0.0; D], |a, b| std::array::from_fn(|i| a[i].max(b[i])));
                let wish = |eta: &[f64; D]| {
                    let share = |i: usize| match largest[i] > floor {
                        true => eta[i] / largest[i],
                        false => 0.0,
                    };
                    let shares: [f64; D] = std::array::from_fn(share);
                    let above = shares.into_iter().fold(0.0, f64::max);
                    if above > refine_above {
                        above
                    } else if shares.into_iter().all(|share| share < coarsen_below) {
                        -1.0
                    } else {
                        0.0
                    }
                };
                decays.par_iter().map(wish).collect()
            }
            Sensor::Places => vec![-1.0; self.leaves.len()],
            Sensor::MovingLine {
                from,
                velocity,
                inner,
                outer,
            } => {
                let q = self.basis.points.len();
                let nodes = sizes::nodes(D, q);
                let at = [0, 1].map(|a: usize| from[a] + velocity[a] * self.time);
                let wish = |leaf: usize| {
                    if self.is_coarse_near(leaf as u32, at, inner) {
                        return 1.0;
                    }
                    let scale = 1.0 / f64::from(1u32 << self.leaves.level(leaf as u32));
                    let coord = self.leaves.coord(leaf as u32);
                    let place = |axis: usize, node: usize| {
                        let local = 0.5 + 0.5 * self.basis.points[node / q.pow(axis as u32) % q];
                        let at = f64::from(coord[axis]) + local;
                        self.lower[axis] + self.edges[axis] * scale * at
                    };
                    let side = |node: usize| {
                        let arm = [0, 1].map(|a: usize| self.shortest(a, place(a, node) - at[a]));
                        let square = arm[0] * arm[0] + arm[1] * arm[1];
                        f64::from(i8::from(square < inner * inner))
                            - f64::from(i8::from(square > outer * outer))
                    };
                    let sum: f64 = (0..nodes).map(side).sum();
                    sum / nodes as f64
                };
                (0..self.leaves.len()).into_par_iter().map(wish).collect()
            }
        };
        for (leaf, wish) in wishes.iter_mut().enumerate() {
            if is_removed(self.faces, leaf as u32) {
                *wish = -1.0;
            }
        }
        Ok(wishes)
    }

    /// Whether an element is longer than a distance, and a part of it within the distance from a line along z.
    fn is_coarse_near(&self, leaf: u32, line: [f64; 2], distance: f64) -> bool {
        let share = 1.0 / f64::from(1u32 << self.leaves.level(leaf));
        let coord = self.leaves.coord(leaf);
        let edges = [0, 1].map(|a: usize| share * self.edges[a]);
        let gap = [0, 1].map(|a: usize| {
            let middle = self.lower[a] + edges[a] * (f64::from(coord[a]) + 0.5);
            (self.shortest(a, middle - line[a]).abs() - 0.5 * edges[a]).max(0.0)
        });
        edges[0].max(edges[1]) > distance && gap[0] * gap[0] + gap[1] * gap[1] < distance * distance
    }

    /// A distance along an axis, that to the nearest copy where the box is periodic.
    fn shortest(&self, axis: usize, distance: f64) -> f64 {
        if !self.leaves.grid().periodic()[axis] {
            return distance;
        }
        let length = self.edges[axis] * f64::from(self.leaves.grid().root()[axis]);
        distance - length * (distance / length).round()
    }

    /// The marks of an adaptation, closed, and how many wishes the budget did not let be granted.
    pub(crate) fn marks(
        &self,
        adaptation: &ElementAdaptation,
        wishes: &[f64],
    ) -> Result<(Vec<u8>, u64), FrError> {
        let mut seeds: Vec<u32> = (0..wishes.len() as u32)
            .filter(|&leaf| wishes[leaf as usize] > 0.0)
            .collect();
        let strength = |leaf: &u32| wishes[*leaf as usize];
        seeds.sort_by(|a, b| {
            strength(b)
                .total_cmp(&strength(a))
                .then(self.leaves.level(*a).cmp(&self.leaves.level(*b)))
                .then(a.cmp(b))
        });
        let all = self.closed(adaptation, wishes, &seeds)?;
        if self.len_with(&all) <= adaptation.most_elements {
            return Ok((all, 0));
        }
        // More wishes never give fewer elements. The first `few` fit (or none does), the first `many` do not.
        let (mut few, mut many) = (0, seeds.len());
        let mut marks = self.closed(adaptation, wishes, &[])?;
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            let more = self.closed(adaptation, wishes, &seeds[..middle])?;
            if self.len_with(&more) <= adaptation.most_elements {
                (few, marks) = (middle, more);
            } else {
                many = middle;
            }
        }
        Ok((marks, (seeds.len() - few) as u64))
    }

    /// Closed marks, with the wishes of `seeds` granted.
    fn closed(
        &self,
        adaptation: &ElementAdaptation,
        wishes: &[f64],
        seeds: &[u32],
    ) -> Result<Vec<u8>, FrError> {
        let granted = self.with_rings(seeds, adaptation.buffer);
        let mark = |leaf: usize| {
            let (level, coord) = (
                self.leaves.level(leaf as u32),
                self.leaves.coord(leaf as u32),
            );
            let [coarsest, finest] = self.levels_at(adaptation, level, coord);
            let is_free = |up: u32| {
                let parent = coord.map(|c| c >> 1);
                self.levels_at(adaptation, level - up, parent)[0] < level
            };
            if level < coarsest || granted[leaf] && level < finest {
                Mark::Refine
            } else if level > 0
                && (level > finest || wishes[leaf] < 0.0 && !granted[leaf] && level > coarsest)
                && is_free(1)
            {
                Mark::Coarsen
            } else {
                Mark::Keep
            }
        };
        let mut marks: Vec<u8> = (0..wishes.len()).map(|leaf| mark(leaf) as u8).collect();
        self.leaves.close(&Host, &mut marks)?;
        Ok(marks)
    }

    /// The coarsest and the finest level of an element in place of a block.
    fn levels_at(&self, of: &ElementAdaptation, level: u32, coord: [i32; D]) -> [u32; 2] {
        let [mut coarsest, mut finest] = of.levels;
        if self.bodies.around(level, coord).is_some() {
            return of.levels;
        }
        let share = 1.0 / f64::from(1u32 << level);
        for place in &of.places {
            let is_there = |a: usize| {
                let edge = self.edges[a] * share;
                let low = self.lower[a] + edge * f64::from(coord[a]);
                // What touches it by rounding does not count.
                low + edge > place.lower[a] + 1e-9 * edge && low < place.upper[a] - 1e-9 * edge
            };
            if (0..D).all(is_there) {
                coarsest = coarsest.max(place.levels[0].min(of.levels[1]));
                finest = finest.min(place.levels[1]);
            }
        }
        let at_bodies = self.bodies.least_level(level, coord, of.at_bodies);
        let embedded = self.walls.least_embedded(level, coord, of.at_bodies);
        coarsest = coarsest.max(at_bodies).max(embedded);
        [coarsest, finest.max(coarsest)]
    }

    /// Elements after an adaptation to closed marks.
    fn len_with(&self, marks: &[u8]) -> usize {
        let count = |mark: Mark| marks.iter().filter(|&&m| m == mark as u8).count();
        let (refined, going) = (count(Mark::Refine), count(Mark::Coarsen));
        let more = (1 << D) - 1;
        marks.len() + more * refined - going / (1 << D) * more
    }

    /// By element, whether it is one of these, or in one of so many rings around them with no finer element between.
    fn with_rings(&self, seeds: &[u32], rings: u32) -> Vec<bool> {
        let mut granted = vec![false; self.leaves.len()];
        seeds.iter().for_each(|&leaf| granted[leaf as usize] = true);
        let mut outermost = seeds.to_vec();
        for _ in 0..rings {
            if outermost.is_empty() {
                break;
            }
            let mut next = Vec::new();
            for face in outermost.iter().flat_map(|&leaf| self.faces_of(leaf)) {
                let (Face::Same(beside) | Face::Coarser { leaf: beside, .. }) = face else {
                    continue;
                };
                if !std::mem::replace(&mut granted[beside as usize], true) {
                    next.push(beside);
                }
            }
            outermost = next;
        }
        granted
    }

    /// What lies beyond the faces of an element.
    fn faces_of(&self, leaf: u32) -> impl Iterator<Item = Face> {
        (0..2 * D).map(move |face| self.faces.at(leaf, face))
    }
}
