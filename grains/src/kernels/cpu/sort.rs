//! Grains in Morton order of their cells.

use crate::GrainError;
use crate::arrays::GrainArrays;
use crate::params::GrainBox;
use crate::vec3::Vec3;
use cutlink_device::memory;
use rayon::prelude::*;

/// Cells of the box, at least as large as the reach of a pair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    lower: Vec3,
    /// Cells per metre, by axis.
    scale: Vec3,
    pub(crate) count: [usize; 3],
    pub(crate) is_periodic: [bool; 3],
}

impl Grid {
    /// Cells of at least `edge`, for `grains` grains: no more cells than a few times the grains.
    pub(crate) fn new(domain: &GrainBox, edge: f64, grains: usize) -> Self {
        let most = (4 * grains).max(64) as f64;
        let mut edge = edge;
        let cells = |edge: f64, a: usize| {
            let least = if domain.is_periodic(a) { 3.0 } else { 1.0 };
            (domain.length(a) / edge).floor().max(least)
        };
        while (0..3).map(|a| cells(edge, a)).product::<f64>() > most {
            edge *= 1.1;
        }
        let count: [usize; 3] = std::array::from_fn(|a| cells(edge, a) as usize);
        Self {
            lower: domain.lower,
            scale: std::array::from_fn(|a| count[a] as f64 / domain.length(a)),
            count,
            is_periodic: std::array::from_fn(|a| domain.is_periodic(a)),
        }
    }

    /// The cell of a point; those beyond the box count to the cells at its faces.
    #[inline]
    pub(crate) fn cell(&self, x: Vec3) -> [usize; 3] {
        std::array::from_fn(|a| {
            let cell = ((x[a] - self.lower[a]) * self.scale[a]).floor();
            (cell.max(0.0) as usize).min(self.count[a] - 1)
        })
    }

    #[inline]
    pub(crate) fn number(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.count[1] + j) * self.count[0] + i
    }
}

/// Every third bit.
fn spread(x: usize) -> u64 {
    let mut x = x as u64 & 0x1f_ffff;
    for (shift, mask) in [
        (32, 0x1f_0000_0000_ffff),
        (16, 0x1f_0000_ff00_00ff),
        (8, 0x100f_00f0_0f00_f00f),
        (4, 0x10c3_0c30_c30c_30c3),
        (2, 0x1249_2492_4924_9249),
    ] {
        x = (x | x << shift) & mask;
    }
    x
}

/// Moves centres into the period.
pub(crate) fn wrap(grains: &mut GrainArrays, domain: &GrainBox) {
    for a in (0..3).filter(|a| domain.is_periodic(*a)) {
        let (lower, length) = (domain.lower[a], domain.length(a));
        grains.x.par_iter_mut().for_each(|x| {
            let turns = ((x[a] - lower) / length).floor();
            if turns != 0.0 {
                x[a] -= turns * length;
            }
        });
    }
}

/// Wraps the centres into the period and sorts the arrays; the new order as old indices.
pub(crate) fn sort(
    grains: &mut GrainArrays,
    domain: &GrainBox,
    grid: &Grid,
) -> Result<Vec<u32>, GrainError> {
    let n = grains.x.len();
    wrap(grains, domain);
    let mut keys: Vec<(u64, u32, u32)> = memory::with_capacity("keys of grains", n)?;
    keys.resize(n, (0, 0, 0));
    let (x, id) = (&grains.x, &grains.id);
    keys.par_iter_mut().enumerate().for_each(|(i, key)| {
        let [a, b, c] = grid.cell(x[i]).map(spread);
        *key = (a | b << 1 | c << 2, id[i], i as u32);
    });
    keys.par_sort_unstable();
    let order: Vec<u32> = keys.into_iter().map(|key| key.2).collect();
    fn reorder<T: Copy + Send + Sync>(values: &mut Vec<T>, order: &[u32]) {
        *values = order.par_iter().map(|&i| values[i as usize]).collect();
    }
    for values in [
        &mut grains.x,
        &mut grains.v,
        &mut grains.w,
        &mut grains.f,
        &mut grains.t,
    ] {
        reorder(values, &order);
    }
    reorder(&mut grains.r, &order);
    reorder(&mut grains.m, &order);
    reorder(&mut grains.material, &order);
    reorder(&mut grains.id, &order);
    if !grains.load.is_empty() {
        reorder(&mut grains.load, &order);
    }
    grains.x_sorted.clone_from(&grains.x);
    Ok(order)
}
