//! Block by block against one cell after the other.

use super::*;
use crate::worst::worst;
use crate::{
    FaceCondition,
    constants::OperatorKind,
    kernels::Relaxation,
    kernels::cpu::{fixture, order::Order},
    lattice::{D2Q9, D3Q19},
    tables::{At, Built},
};
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::{Shape2, Shape3},
};

/// Pseudo-random values in -1..1.
fn noise(n: usize) -> f64 {
    (n as f64 * 12.9898).sin() * 43758.5453 % 1.0
}

/// Two levels around a body, with solid cells strewn over them.
fn levels<const D: usize, L: Lattice>(surface: &Surface<D>) -> [Built<D>; 2]
where
    Facet<D>: Exact<D>,
{
    let mut levels = fixture::levels::<D, L>(surface, 16, 2, [[FaceCondition::FreeSlip; 2]; D]);
    for (n, solid) in levels
        .iter_mut()
        .flat_map(|l| &mut l.level.solid)
        .enumerate()
    {
        *solid = (0..dims::cells(D))
            .filter(|cell| n % 3 == 0 && noise(64 * n + cell) > 0.85)
            .fold(0, |mask, cell| mask | 1 << cell);
    }
    levels.try_into().expect("two levels")
}

/// The exchanging cell a step away, and whether it is fluid.
fn cell<const D: usize>(
    level: &Level<D, Host>,
    at: At<D>,
    step: [i32; D],
) -> Option<(At<D>, bool)> {
    let (slot, to) = level.step_from(at, step);
    let is_there = (slot as usize) < level.exchanging;
    is_there.then(|| (to, level.solid[to.slot] >> to.cell() & 1 == 0))
}

/// Values of the child of a cell on some side, by the definition: one cell after the other; and by which way.
fn defined<const D: usize>(
    level: &Level<D, Host>,
    moments: &[f64],
    at: At<D>,
    side: [i32; D],
    cubic: bool,
) -> ([f64; 10], usize) {
    let value =
        |at: At<D>, n: usize| moments[(at.slot * exchanged(D) + n) * dims::cells(D) + at.cell()];
    let along =
        |a: usize, steps: i32| std::array::from_fn(|b| if a == b { steps * side[a] } else { 0 });
    for (way, cubic) in [(0, cubic), (1, false)] {
        let axes: [[f64; 5]; D] = std::array::from_fn(|a| {
            let there = |n: usize| cell(level, at, along(a, n as i32 - 2)).is_some();
            weights(cubic, std::array::from_fn(there))
        });
        let (mut sum, mut all_fluid) = ([0.0; 10], true);
        for corner in 0..5usize.pow(D as u32) {
            let offset = dims::unravel::<D>(corner, 5);
            let weight: f64 = (0..D).map(|a| axes[a][offset[a] as usize]).product();
            if weight == 0.0 {
                continue;
            }
            match cell(
                level,
                at,
                std::array::from_fn(|a| (offset[a] - 2) * side[a]),
            ) {
                Some((from, true)) => {
                    (0..exchanged(D)).for_each(|n| sum[n] += weight * value(from, n));
                }
                _ => all_fluid = false,
            }
        }
        if all_fluid {
            return (sum, way);
        }
    }
    let (mut sum, mut total) = ([0.0; 10], 0.0);
    for corner in 0..dims::children(D) {
        let bits = dims::unravel::<D>(corner, 2);
        let weight: f64 = bits.iter().map(|&b| [0.75, 0.25][b as usize]).product();
        if let Some((from, true)) = cell(level, at, std::array::from_fn(|a| bits[a] * side[a])) {
            (0..exchanged(D)).for_each(|n| sum[n] += weight * value(from, n));
            total += weight;
        }
    }
    (
        sum.map(|sum| if total > 0.0 { sum / total } else { sum }),
        2,
    )
}

/// What a cell's populations are made of: density less 1, momentum, and what is left of the stress.
fn moments_of<const D: usize, L: Lattice>(f: &[f64], cell: usize) -> [f64; 10] {
    let f = |q: usize| f[Order::<L>::of(q, cell)];
    let mut values = [0.0; 10];
    values[0] = (0..L::Q).map(f).sum();
    for a in 0..D {
        values[1 + a] = (0..L::Q).map(|q| f64::from(L::C[q][a]) * f(q)).sum();
    }
    let mut n = 1 + D;
    for a in 0..D {
        for b in a..D {
            let flux = |q: usize| f64::from(L::C[q][a] * L::C[q][b]) * f(q);
            let pressure = if a == b { values[0] / 3.0 } else { 0.0 };
            let carried = values[1 + a] * values[1 + b] / (1.0 + values[0]);
            values[n] = (0..L::Q).map(flux).sum::<f64>() - pressure - carried;
            n += 1;
        }
    }
    values
}

const SCALE: f64 = 0.7;
const KEEP: f64 = 0.4;

/// How far values are from others, whose stress has yet to be scaled, kept and freed of its trace.
fn distance<const D: usize>(got: &[f64; 10], of: &[f64; 10]) -> f64 {
    let diagonal: &[usize] = if D == 2 { &[3, 5] } else { &[4, 7, 9] };
    let mean = diagonal.iter().map(|&n| of[n]).sum::<f64>() / D as f64;
    let of = |n: usize| {
        let trace = if diagonal.contains(&n) { mean } else { 0.0 };
        if n > D {
            SCALE * KEEP * (of[n] - trace)
        } else {
            of[n]
        }
    };
    worst((0..exchanged(D)).map(|n| (got[n] - of(n)).abs()))
}

/// Cells by the way they were interpolated, and cells averaged.
fn compare<const D: usize, L: Lattice>(surface: &Surface<D>) -> ([usize; 3], usize)
where
    Facet<D>: Exact<D>,
{
    let levels = levels::<D, L>(surface);
    let [coarse, fine] = levels.each_ref().map(|level| &level.level);
    let cells = dims::cells(D);
    let [up, down] = [coarse, fine].map(|level| -> Vec<f64> {
        let values = level.exchanging * exchanged(D) * cells;
        (0..values).map(|n| 0.02 * noise(n)).collect()
    });
    let (mut ways, mut averaged) = ([0; 3], 0);
    for cubic in [true, false] {
        let between = Between {
            coarse,
            fine,
            cubic,
            to: Arrival {
                scale: SCALE,
                keep: KEEP,
                relax: Relaxation {
                    operator: OperatorKind::Regularized as u32,
                    bulk: 1,
                    ..bytemuck::Zeroable::zeroed()
                },
            },
        };
        let size = L::Q * cells;
        let mut to = vec![0.0; fine.slots * size];
        interpolate::<D, L, f64>(&between, &up, &mut to);
        for (slot, f) in to.chunks_exact(size).enumerate() {
            let is_child = slot < coarse.overlaps.len() * dims::children(D);
            let targets = if is_child {
                fine.ghost[slot] & fine.stepped[slot]
            } else {
                0
            };
            for cell in bits(targets) {
                let (local, child) = (
                    dims::unravel::<D>(cell, 4),
                    dims::unravel::<D>(slot % dims::children(D), 2),
                );
                let at = At {
                    slot: coarse.overlaps[slot / dims::children(D)] as usize,
                    local: dims::above(child, local),
                };
                let side = local.map(|c| 2 * (c & 1) - 1);
                let (expected, way) = defined(coarse, &up, at, side, cubic);
                let wrong = distance::<D>(&moments_of::<D, L>(f, cell), &expected);
                assert!(wrong < 1e-14, "{way}: {wrong} in {cell} of {slot}");
                if ways == [0; 3] {
                    // The comparator can fail.
                    let mut f = f.to_vec();
                    f[Order::<L>::of(1, cell)] += 1e-9;
                    let wrong = distance::<D>(&moments_of::<D, L>(&f, cell), &expected);
                    assert!(wrong > 1e-10, "a corrupted population is found: {wrong}");
                }
                ways[way] += 1;
            }
        }
        let mut to = vec![0.0; coarse.slots * size];
        let mut moments = vec![9.0; coarse.exchanging * exchanged(D) * cells];
        average::<D, L, f64>(&between, &down, &mut to, &mut moments);
        for (slot, &overlap) in coarse.overlap_of.iter().enumerate() {
            for cell in 0..cells {
                let local = dims::unravel::<D>(cell, 4);
                let is_target =
                    overlap != NONE && (coarse.stepped[slot] | coarse.solid[slot]) >> cell & 1 == 0;
                let (mut sum, mut count) = ([0.0; 10], 0.0);
                for corner in (0..dims::children(D)).filter(|_| is_target) {
                    let (child, below) = dims::below(local, dims::unravel::<D>(corner, 2));
                    let (below, of) = (
                        dims::ravel::<D>(below, 4),
                        overlap as usize * dims::children(D) + child,
                    );
                    if fine.solid[of] >> below & 1 == 0 {
                        count += 1.0;
                        (0..exchanged(D)).for_each(|n| {
                            sum[n] += down[(of * exchanged(D) + n) * cells + below];
                        });
                    }
                }
                let kept = moments[slot * exchanged(D) * cells + cell];
                if count == 0.0 {
                    assert_eq!(kept, 9.0, "{cell} of {slot} is left as it was");
                    continue;
                }
                let expected = sum.map(|sum| sum / count);
                let f = &to[slot * size..][..size];
                let wrong = distance::<D>(&moments_of::<D, L>(f, cell), &expected);
                assert!(wrong < 1e-14, "{wrong} in {cell} of {slot}");
                assert!((kept - expected[0]).abs() < 1e-15, "{kept} is exchanged on");
                averaged += 1;
            }
        }
    }
    (ways, averaged)
}

#[test]
fn blocks_exchange_what_single_cells_are_defined_to() {
    let ball = Shape3::Sphere { radius: 3.0 }.surface(1e-2);
    let disc = Shape2::Circle { radius: 3.0 }.surface(1e-2);
    for (ways, averaged) in [
        compare::<3, D3Q19>(&ball.expect("a sphere")),
        compare::<2, D2Q9>(&disc.expect("a circle")),
    ] {
        let all = ways.iter().all(|&cells| cells > 20);
        assert!(all && averaged > 20, "{ways:?} cells, {averaged} averaged");
    }
}
