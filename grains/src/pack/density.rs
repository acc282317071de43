//! Solid fractions of a bed.

use super::Vessel;
use crate::{Grain, GrainError};
use cutlink_device::memory;
use rayon::prelude::*;
use std::f64::consts::PI;

/// Solid fractions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PackDensity {
    /// Volume of the grains over that of the container.
    pub container: f64,
    /// Solid fraction away from walls and from the top: of the points of the container at least a largest diameter from
    /// its walls, and between the heights of a tenth and of three quarters of the grains. By 2^18 points; `None` where
    /// fewer than 1,000 of them are there.
    pub core: Option<f64>,
    /// Volume of the grains, overlaps counted twice, in m³.
    pub volume: f64,
    /// Height of the highest point of a grain above the lowest one of the container, in m.
    pub height: f64,
}

const POINTS: usize = 1 << 18;
const FEWEST: usize = 1000;

impl PackDensity {
    pub(super) fn in_units(mut self, unit: f64) -> Self {
        self.volume *= unit * unit * unit;
        self.height *= unit;
        self
    }

    pub(super) fn of(grains: &[Grain], vessel: &Vessel) -> Result<Self, GrainError> {
        let volume = grains
            .iter()
            .map(|g| 4.0 / 3.0 * PI * g.radius.powi(3))
            .sum::<f64>();
        let tops = grains.iter().map(|g| g.center[2] + g.radius);
        let top = tops.fold(f64::NEG_INFINITY, f64::max);
        Ok(Self {
            container: volume / vessel.volume,
            core: core(grains, vessel)?,
            volume,
            height: top - vessel.domain.lower[2],
        })
    }
}

/// Points of the sequence R3: fractions of the powers of the root of x⁴ = x + 1 (Roberts 2018).
fn point(i: usize) -> [f64; 3] {
    const ROOT: f64 = 1.220_744_084_605_759_5;
    let steps = [1.0 / ROOT, 1.0 / (ROOT * ROOT), 1.0 / (ROOT * ROOT * ROOT)];
    steps.map(|step| (0.5 + step * i as f64).fract())
}

fn core(grains: &[Grain], vessel: &Vessel) -> Result<Option<f64>, GrainError> {
    let domain = &vessel.domain;
    let largest = grains.iter().map(|g| g.radius).fold(0.0, f64::max);
    let mut heights: Vec<f64> = grains.iter().map(|g| g.center[2]).collect();
    heights.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| heights[((heights.len() - 1) as f64 * share) as usize];
    let (low, high) = (at(0.1), at(0.75));
    let inset = 2.0 * largest;
    let lower: [f64; 3] = std::array::from_fn(|a| match (a, domain.is_periodic(a)) {
        (2, _) => low.max(domain.lower[2] + inset),
        (_, true) => domain.lower[a],
        (_, false) => domain.lower[a] + inset,
    });
    let upper: [f64; 3] = std::array::from_fn(|a| match (a, domain.is_periodic(a)) {
        (2, _) => high.min(domain.upper[2] - inset),
        (_, true) => domain.upper[a],
        (_, false) => domain.upper[a] - inset,
    });
    if (0..3).any(|a| upper[a] <= lower[a]) {
        return Ok(None);
    }
    let cells = Columns::new(grains, vessel, 2.0 * largest)?;
    let is_inside = |x: &[f64; 3]| match &vessel.wall {
        None => true,
        Some(wall) => !wall.is_within(*x, inset) && wall.is_free(*x),
    };
    let points = (0..POINTS).into_par_iter().map(|i| {
        let p = point(i);
        std::array::from_fn(|a| lower[a] + p[a] * (upper[a] - lower[a]))
    });
    let (all, solid) = points
        .filter(is_inside)
        .map(|x| (1usize, usize::from(cells.is_solid(grains, x))))
        .reduce(|| (0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    Ok((all >= FEWEST).then(|| solid as f64 / all as f64))
}

/// Grains by cell, sorted.
struct Columns {
    lower: [f64; 3],
    edge: f64,
    count: [usize; 3],
    first: Vec<u32>,
    list: Vec<u32>,
    periods: [[f64; 2]; 3],
}

impl Columns {
    /// Each grain is in all cells that its box meets, so that a point looks at one.
    fn new(grains: &[Grain], vessel: &Vessel, edge: f64) -> Result<Self, GrainError> {
        let domain = &vessel.domain;
        let most = (8 * grains.len()).max(4096) as f64;
        let mut edge = edge;
        let along = |edge: f64, a: usize| (domain.length(a) / edge).floor() + 1.0;
        while (0..3).map(|a| along(edge, a)).product::<f64>() > most {
            edge *= 1.1;
        }
        let mut made = Self {
            lower: domain.lower,
            edge,
            count: std::array::from_fn(|a| along(edge, a) as usize),
            first: Vec::new(),
            list: Vec::new(),
            periods: domain.periods(),
        };
        let cells = made.count.iter().product::<usize>();
        memory::grow("cells of grains", &mut made.first, cells + 1, 0)?;
        let mut pairs: Vec<(u32, u32)> =
            memory::with_capacity("grains of cells", 8 * grains.len())?;
        for (i, grain) in grains.iter().enumerate() {
            made.each_cell(grain, |cell| pairs.push((cell as u32, i as u32)));
        }
        pairs.sort_unstable();
        pairs.dedup();
        for (cell, _) in &pairs {
            made.first[*cell as usize + 1] += 1;
        }
        for cell in 0..cells {
            made.first[cell + 1] += made.first[cell];
        }
        made.list = pairs.into_iter().map(|(_, grain)| grain).collect();
        Ok(made)
    }

    fn each_cell(&self, grain: &Grain, mut call: impl FnMut(usize)) {
        // Periodic images; the first is the grain itself.
        let shifts = |a: usize| match self.periods[a][0] {
            0.0 => vec![0.0],
            period => vec![0.0, period, -period],
        };
        for &dx in &shifts(0) {
            for &dy in &shifts(1) {
                let x = [grain.center[0] + dx, grain.center[1] + dy, grain.center[2]];
                let range = |a: usize| {
                    let cell = |x: f64| ((x - self.lower[a]) / self.edge).floor();
                    let (from, to) = (cell(x[a] - grain.radius), cell(x[a] + grain.radius));
                    let last = self.count[a] as f64 - 1.0;
                    (from.max(0.0) as usize, to.min(last))
                };
                let [(i0, i1), (j0, j1), (k0, k1)] = [range(0), range(1), range(2)];
                if i1 < 0.0 || j1 < 0.0 || k1 < 0.0 {
                    continue;
                }
                for k in k0..=k1 as usize {
                    for j in j0..=j1 as usize {
                        for i in i0..=i1 as usize {
                            call((k * self.count[1] + j) * self.count[0] + i);
                        }
                    }
                }
            }
        }
    }

    fn is_solid(&self, grains: &[Grain], x: [f64; 3]) -> bool {
        let cell: [usize; 3] = std::array::from_fn(|a| {
            let cell = ((x[a] - self.lower[a]) / self.edge).floor();
            (cell.max(0.0) as usize).min(self.count[a] - 1)
        });
        let number = (cell[2] * self.count[1] + cell[1]) * self.count[0] + cell[0];
        let list = self.first[number] as usize..self.first[number + 1] as usize;
        self.list[list].iter().any(|&i| {
            let grain = &grains[i as usize];
            let d = crate::kernels::cpu::pairs::apart(x, grain.center, &self.periods);
            crate::vec3::dot(d, d) < grain.radius * grain.radius
        })
    }
}
