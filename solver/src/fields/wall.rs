//! Pressure and shear at places of a wall, from the fluid cells in front of it.
//!
//! Density is a quadratic polynomial, fitted to the fluid cells around the place by weighted least squares and carried on to the wall.
//! Velocity, seen from the wall as it moves, is zero on the wall: with the distance s from the tangent plane and the
//! coordinates t on it, a s + b s² + s (c·t) + t·K t, where K is what a curved wall makes of a s. So shear, ρ ν a, is of second
//! order in the spacing, as the velocities are. Where there are too few cells (narrow gaps), both fits have fewer terms.
//!
//! Cells are those of the level that holds the fluid at the place, through periodic faces too. No edge of a body is
//! known here: near edges, cells in front of other walls take part.

use super::{is_solid, velocity_of};
use crate::{Snapshot, friction_velocity, linear};
use cutlink_amr::{CellRef, NONE, dims};
use cutlink_voxelizer::Mesh;

/// Most terms of a fit: a quadratic polynomial in 3D.
const TERMS: usize = 10;
/// Cells farther than this do not take part, in spacings.
const REACH: f64 = 2.75;
/// The same in whole cells; cells of the cube around a place, and blocks that it may touch, along an axis.
const MOST: i32 = 3;
const SIDE: usize = 2 * MOST as usize + 1;
const BLOCKS: usize = 3;
/// More cells than most places have in front.
const MANY: usize = 64;

/// A place of a wall.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallPlace<const D: usize> {
    /// In root cells from the lower corner of the box.
    pub at: [f64; D],
    /// Into the fluid, of length 1.
    pub normal: [f64; D],
}

/// What the fluid does there, in units of the root lattice.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WallState<const D: usize> {
    /// Density at the wall.
    pub density: f64,
    /// Tangential force of the fluid on the wall, an area: ρ ν ∂u/∂n.
    pub shear: [f64; D],
    /// Distance of the nearest fluid cell's centre from the wall's tangent plane, in root cells.
    pub distance: f64,
}

/// A fluid cell, seen from the place: along the normal, along two tangents, in spacings; weight and cell.
struct Sample<const D: usize> {
    s: f64,
    t: [f64; 2],
    weight: f64,
    offset: [f64; D],
    cell: CellRef,
}

/// The state at a place; with `is_modeled` the shear is that of the law of the wall. `velocity` is that of the wall at a
/// position (root cells from the lower corner of the box), in Δx / Δt. `None` where there is no fluid in front of the wall:
/// outside the box, within a body.
pub fn wall_state<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    viscosity: f64,
    place: &WallPlace<D>,
    velocity: impl Fn([f64; D]) -> [f64; D],
    is_modeled: bool,
) -> Option<WallState<D>> {
    let (spacing, samples) = samples(mesh, place)?;
    let nearest = samples
        .iter()
        .max_by(|a, b| a.weight.total_cmp(&b.weight))?;
    let value = |field: &[f32], at: CellRef| {
        f64::from(field[at.block as usize * dims::cells(D) + at.cell as usize])
    };
    let density = fit(
        &samples,
        [scalar_terms::<D>(2), scalar_terms::<D>(1), 1],
        |sample| quadratic::<D>(sample.s, sample.t),
        |sample| [value(&snapshot.density, sample.cell)],
    )?[0][0];
    if is_modeled {
        return Some(WallState {
            density,
            shear: shear_by_law(
                place,
                &samples,
                spacing,
                &snapshot.velocity,
                velocity,
                viscosity,
            )
            .map(|of_density| density * of_density),
            distance: nearest.s * spacing,
        });
    }
    let wall = velocity_of_wall(place, &samples, spacing, &snapshot.velocity, velocity);
    let slope = wall?;
    let along: f64 = (0..D).map(|a| slope[a] * place.normal[a]).sum();
    Some(WallState {
        density,
        shear: std::array::from_fn(|a| {
            density * viscosity * (slope[a] - along * place.normal[a]) / spacing
        }),
        distance: nearest.s * spacing,
    })
}

/// Shear over density by the law of the wall, at the mean of the cells farther than a spacing off, as the model samples them.
fn shear_by_law<const D: usize>(
    place: &WallPlace<D>,
    samples: &[Sample<D>],
    spacing: f64,
    field: &[Vec<f32>; D],
    velocity: impl Fn([f64; D]) -> [f64; D],
    viscosity: f64,
) -> [f64; D] {
    let is_far = |sample: &&Sample<D>| sample.s > 1.0;
    let any_far = samples.iter().any(|sample| is_far(&sample));
    let (mut weight, mut distance, mut mean) = (0.0, 0.0, [0.0; D]);
    for sample in samples.iter().filter(|sample| !any_far || is_far(sample)) {
        let at = std::array::from_fn(|a| place.at[a] + spacing * sample.offset[a]);
        let (here, wall) = (velocity_of(field, sample.cell), velocity(at));
        let seen: [f64; D] = std::array::from_fn(|a| here[a] - wall[a]);
        let across: f64 = (0..D).map(|a| seen[a] * place.normal[a]).sum();
        weight += sample.weight;
        distance += sample.weight * sample.s * spacing;
        for a in 0..D {
            mean[a] += sample.weight * (seen[a] - across * place.normal[a]);
        }
    }
    let mean = mean.map(|u| u / weight);
    let speed = mean.iter().map(|u| u * u).sum::<f64>().sqrt();
    if speed == 0.0 {
        return [0.0; D];
    }
    let friction = friction_velocity(speed, distance / weight, viscosity);
    mean.map(|u| friction * friction * u / speed)
}

/// The change of the velocity, seen from the wall, along the normal, a spacing.
fn velocity_of_wall<const D: usize>(
    place: &WallPlace<D>,
    samples: &[Sample<D>],
    spacing: f64,
    field: &[Vec<f32>; D],
    velocity: impl Fn([f64; D]) -> [f64; D],
) -> Option<[f64; D]> {
    let seen = |sample: &Sample<D>| {
        let at = std::array::from_fn(|a| place.at[a] + spacing * sample.offset[a]);
        let (here, wall) = (velocity_of(field, sample.cell), velocity(at));
        std::array::from_fn(|a| here[a] - wall[a])
    };
    let terms = |sample: &Sample<D>| {
        let (s, [t, u]) = (sample.s, sample.t);
        let mut row = [0.0; TERMS];
        let all = [s, s * s, s * t, t * t, s * u, u * u, t * u];
        row[..all.len()].copy_from_slice(&all);
        row
    };
    let full = if D == 3 { 7 } else { 4 };
    let found = fit(samples, [full, 2, 1], terms, seen)?;
    Some(found[0])
}

/// The spacing at a place, and the fluid cells in front of it.
fn samples<const D: usize>(mesh: &Mesh<D>, place: &WallPlace<D>) -> Option<(f64, Vec<Sample<D>>)> {
    let forest = &mesh.forest;
    let ahead = |by: f64| std::array::from_fn(|a| place.at[a] + by * place.normal[a]);
    let here = forest.leaf_at(place.at)?;
    let spacing_of = |at: CellRef| 0.5f64.powi(i32::from(forest.level[at.block as usize]));
    // A little before the wall, for the level of the fluid.
    let front = forest
        .leaf_at(ahead(0.5 * spacing_of(here)))
        .unwrap_or(here);
    let level = usize::from(forest.level[front.block as usize]);
    let spacing = spacing_of(front);
    let middle: [f64; D] = ahead(spacing);
    let middle: [i32; D] = middle.map(|x| (x / spacing).floor() as i32);
    let tangents = tangents(place.normal);
    // By axis and cell of the cube around, from the place.
    let first = middle.map(|c| c - MOST);
    let along: [[f64; SIDE]; D] = std::array::from_fn(|a| {
        std::array::from_fn(|k| f64::from(first[a] + k as i32) + 0.5 - place.at[a] / spacing)
    });
    let mut blocks = Around::new(mesh, level, first.map(|c| c >> 2));
    let mut found = Vec::with_capacity(MANY);
    for i in 0..SIDE.pow(D as u32) {
        let mut rest = i;
        let at: [usize; D] = std::array::from_fn(|_| {
            let k = rest % SIDE;
            rest /= SIDE;
            k
        });
        let offset: [f64; D] = std::array::from_fn(|a| along[a][at[a]]);
        let dot = |v: [f64; D]| (0..D).map(|a| v[a] * offset[a]).sum::<f64>();
        let (s, square) = (dot(place.normal), dot(offset));
        if s < 0.05 || square > REACH * REACH {
            continue;
        }
        let coord = std::array::from_fn(|a| first[a] + at[a] as i32);
        let Some(cell) = blocks.cell(coord) else {
            continue;
        };
        found.push(Sample {
            s,
            t: tangents.map(dot),
            weight: (-square / 2.0).exp(),
            offset,
            cell,
        });
    }
    Some((spacing, found))
}

/// Blocks of a level around a place, each looked for once.
struct Around<'a, const D: usize> {
    mesh: &'a Mesh<D>,
    level: usize,
    first: [i32; D],
    found: [Option<u32>; BLOCKS.pow(3)],
}

impl<'a, const D: usize> Around<'a, D> {
    /// From a block on, [`BLOCKS`] along each axis.
    fn new(mesh: &'a Mesh<D>, level: usize, first: [i32; D]) -> Self {
        Self {
            mesh,
            level,
            first,
            found: [None; BLOCKS.pow(3)],
        }
    }

    /// The fluid cell of the level at these coordinates.
    fn cell(&mut self, coord: [i32; D]) -> Option<CellRef> {
        let (forest, level) = (&self.mesh.forest, self.level);
        let block = coord.map(|c| c >> 2);
        let at = (0..D)
            .rev()
            .fold(0, |at, a| at * BLOCKS + (block[a] - self.first[a]) as usize);
        let block = *self.found[at].get_or_insert_with(|| {
            let found = forest.find(level, forest.wrap(level, block));
            let is_here = |&block: &u32| usize::from(forest.level[block as usize]) == level;
            found.filter(is_here).unwrap_or(NONE)
        });
        let cell = dims::ravel(coord.map(|c| c & 3), 4) as u32;
        let at = CellRef { block, cell };
        (block != NONE && !is_solid(self.mesh, at)).then_some(at)
    }
}

/// Two directions on the tangent plane; in 2D the second is none.
fn tangents<const D: usize>(n: [f64; D]) -> [[f64; D]; 2] {
    let mut tangents = [[0.0; D]; 2];
    if D == 2 {
        (tangents[0][0], tangents[0][1]) = (-n[1], n[0]);
        return tangents;
    }
    let least = (0..D).min_by(|&a, &b| n[a].abs().total_cmp(&n[b].abs()));
    let least = least.unwrap_or(0);
    let mut first: [f64; D] = std::array::from_fn(|a| f64::from(a == least) - n[least] * n[a]);
    let length = first.iter().map(|x| x * x).sum::<f64>().sqrt();
    first = first.map(|x| x / length);
    let second = std::array::from_fn(|a| {
        let (b, c) = ((a + 1) % D, (a + 2) % D);
        n[b] * first[c] - n[c] * first[b]
    });
    [first, second]
}

/// Terms of a polynomial of a degree.
const fn scalar_terms<const D: usize>(degree: usize) -> usize {
    match (D, degree) {
        (2, 1) => 3,
        (2, _) => 6,
        (_, 1) => 4,
        _ => 10,
    }
}

/// 1, the linear terms, the quadratic ones.
fn quadratic<const D: usize>(s: f64, [t, u]: [f64; 2]) -> [f64; TERMS] {
    if D == 2 {
        let mut row = [0.0; TERMS];
        row[..6].copy_from_slice(&[1.0, s, t, s * s, s * t, t * t]);
        row
    } else {
        [1.0, s, t, u, s * s, s * t, s * u, t * t, t * u, u * u]
    }
}

/// Coefficients of a weighted least squares fit, with the most terms that there are samples enough for: half as many
/// again.
fn fit<const D: usize, const M: usize>(
    samples: &[Sample<D>],
    terms: [usize; 3],
    row: impl Fn(&Sample<D>) -> [f64; TERMS],
    values: impl Fn(&Sample<D>) -> [f64; M],
) -> Option<[[f64; M]; TERMS]> {
    terms.into_iter().find_map(|count| {
        let enough = count == 1 && !samples.is_empty() || 2 * samples.len() >= 3 * count;
        enough.then(|| {
            let mut matrix = [[0.0; TERMS]; TERMS];
            let mut right = [[0.0; M]; TERMS];
            for sample in samples {
                let (row, values) = (row(sample), values(sample));
                for i in 0..count {
                    let weighted = sample.weight * row[i];
                    for j in i..count {
                        matrix[i][j] += weighted * row[j];
                    }
                    for k in 0..M {
                        right[i][k] += weighted * values[k];
                    }
                }
            }
            for i in 0..count {
                for j in 0..i {
                    matrix[i][j] = matrix[j][i];
                }
            }
            linear::solve(matrix, right, count)
        })?
    })
}
