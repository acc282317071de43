//! Touching pairs and their forces.

use crate::arrays::{GrainArrays, PairArrays, PairForce, TouchArrays};
use crate::kernels::{APART, BLOCK};
use crate::law::{self, Meeting, Memory};
use crate::params::Materials;
use crate::vec3::{Vec3, add, along, cross, dot, scale, sub};
use rayon::prelude::*;

/// From `a` to the nearest image of `b`; `periods` has the period and half of it by axis.
#[inline]
pub(crate) fn apart(a: Vec3, b: Vec3, periods: &[[f64; 2]; 3]) -> Vec3 {
    std::array::from_fn(|k| {
        let d = b[k] - a[k];
        let [period, half] = periods[k];
        let up = if d < -half { period } else { 0.0 };
        let down = if d > half { period } else { 0.0 };
        d + up - down
    })
}

/// A pair that touches.
#[derive(Debug, Clone, Copy, Default)]
struct Near {
    row: u32,
    other: u32,
    pair: u32,
    from: Vec3,
    square: f64,
}

/// What a block of rows may write.
struct Rows<'a> {
    /// First grain, first pair.
    begin: [usize; 2],
    slide: &'a mut [[f32; 3]],
    roll: &'a mut [[f32; 3]],
    place: &'a mut [u32],
    force: &'a mut [PairForce],
    first: &'a mut [u32],
    count: &'a mut [u32],
}

/// Forces of all pairs that touch, after a step of `dt`.
pub(crate) fn meet(
    grains: &GrainArrays,
    materials: &Materials,
    periods: &[[f64; 2]; 3],
    dt: f64,
    pairs: &mut PairArrays,
    touch: &mut TouchArrays,
) {
    let (first, other) = (&pairs.first, &pairs.other);
    let mut blocks = Vec::with_capacity(grains.x.len().div_ceil(BLOCK));
    let (mut slide, mut roll) = (&mut pairs.slide[..], &mut pairs.roll[..]);
    let mut place = &mut pairs.place[..];
    let mut force = &mut touch.force[..];
    let (mut starts, mut counts) = (&mut touch.first[..], &mut touch.count[..]);
    for begin in (0..grains.x.len()).step_by(BLOCK) {
        let end = (begin + BLOCK).min(grains.x.len());
        let from = first[begin] as usize;
        let len = first[end] as usize - from;
        let rolls = if roll.is_empty() { 0 } else { len };
        blocks.push(Rows {
            begin: [begin, from],
            slide: split(&mut slide, len),
            roll: split(&mut roll, rolls),
            place: split(&mut place, len),
            force: split(&mut force, len),
            first: split(&mut starts, end - begin),
            count: split(&mut counts, end - begin),
        });
    }
    blocks
        .into_par_iter()
        .for_each_init(Vec::new, |near, mut rows| {
            distance(grains, periods, (first, other), &mut rows, near);
            forces(grains, materials, dt, &mut rows, near);
        });
}

/// Takes the first elements off a slice.
pub(crate) fn split<'a, T>(of: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (head, tail) = std::mem::take(of).split_at_mut(len);
    *of = tail;
    head
}

/// The stage *distance*: the touching pairs of the rows, and their places.
fn distance(
    grains: &GrainArrays,
    periods: &[[f64; 2]; 3],
    (first, other): (&[u32], &[u32]),
    rows: &mut Rows<'_>,
    near: &mut Vec<Near>,
) {
    let [begin, from] = rows.begin;
    // As long as the candidates of the block: each is written behind those that touch, and stays if it touches.
    near.resize(rows.place.len() + 1, Near::default());
    let mut found = 0;
    for row in 0..rows.first.len() {
        let i = begin + row;
        let (x, r) = (grains.x[i], grains.r[i]);
        let before = found;
        for q in first[i] as usize..first[i + 1] as usize {
            let j = other[q] as usize;
            let d = apart(x, grains.x[j], periods);
            let (square, reach) = (dot(d, d), r + grains.r[j]);
            let pair = q - from;
            let touches = square < reach * reach;
            near[found] = Near {
                row: i as u32,
                other: j as u32,
                pair: pair as u32,
                from: d,
                square,
            };
            let has_parted = !touches && rows.place[pair] != APART;
            rows.place[pair] = if touches {
                (from + found) as u32
            } else {
                APART
            };
            found += usize::from(touches);
            if has_parted {
                rows.slide[pair] = [0.0; 3];
                if let Some(roll) = rows.roll.get_mut(pair) {
                    *roll = [0.0; 3];
                }
            }
        }
        rows.first[row] = (from + before) as u32;
        rows.count[row] = (found - before) as u32;
    }
    near.truncate(found);
}

/// The stage *law*: forces and torques of the touching pairs.
fn forces(
    grains: &GrainArrays,
    materials: &Materials,
    dt: f64,
    rows: &mut Rows<'_>,
    near: &[Near],
) {
    let has_roll = !rows.roll.is_empty();
    for (at, pair) in near.iter().enumerate() {
        let (i, j, q) = (pair.row as usize, pair.other as usize, pair.pair as usize);
        let law = materials.law(grains.material[i], grains.material[j]);
        let length = pair.square.sqrt();
        let normal = scale(1.0 / length, pair.from);
        let (ri, rj) = (grains.r[i], grains.r[j]);
        let (mi, mj) = (grains.m[i], grains.m[j]);
        let (radii, masses) = (ri + rj, mi + mj);
        // Both effective quantities by one division.
        let inverse = 1.0 / (radii * masses);
        let overlap = ri + rj - length;
        let (li, lj) = (ri - 0.5 * overlap, rj - 0.5 * overlap);
        let (wi, wj) = (grains.w[i], grains.w[j]);
        let turning = along(scale(li, wi), lj, wj);
        let velocity = add(sub(grains.v[i], grains.v[j]), cross(turning, normal));
        let mut memory = Memory {
            slide: rows.slide[q].map(f64::from),
            roll: [0.0; 3],
        };
        if has_roll {
            memory.roll = rows.roll[q].map(f64::from);
        }
        let meeting = Meeting {
            normal,
            overlap,
            radius: ri * rj * (masses * inverse),
            mass: mi * mj * (radii * inverse),
            velocity,
            spin: sub(wi, wj),
        };
        let push = law::push(law, &meeting, dt, &mut memory);
        rows.slide[q] = memory.slide.map(|x| x as f32);
        if has_roll {
            rows.roll[q] = memory.roll.map(|x| x as f32);
        }
        let couple = cross(normal, push.force);
        rows.force[at] = PairForce {
            force: push.force,
            torque: along(push.roll, li, couple),
            back_torque: along(scale(lj, couple), -1.0, push.roll),
        };
    }
}
