//! Heat: `∂(ρ c T)/∂t + ∇·(ρ c u T) = ∇·(κ ∇T)`, with one temperature of both fluids in a cell. The stages on the CPU.
//!
//! Advection: the volumes that a sweep moves ([`sweep`]) times the heat capacities of their fluids, times the temperature in
//! the middle of what crosses a face, by slopes limited as by van Leer; cells at the interface have no slope, so that what
//! leaves them leaves their temperature. Conduction is implicit, as viscosity is ([`viscous`](crate::viscous)): a face has
//! its fluids as layers one behind the other. Weight is that of the densities at the temperature (Boussinesq 1903).

use crate::forces::Face;
use crate::heat_params::{HeatNumbers, HeatParams, WallHeat};
use crate::interface::is_mixed;
use crate::mesh::FlowMesh;
use crate::params::{BoxFace, FlowParams};
use crate::project::area;
use crate::sweep;
use crate::velocity::{limited, next};
use cutlink_amr::dims;
use cutlink_device::{Backend, Host};
use cutlink_elliptic::{block_sum, faces, ordered_sum};
use rayon::prelude::*;

/// A cell, and the number of a side or a body.
pub(crate) type CellPatch = [u32; 2];

/// What a sweep along an axis moves heat with.
pub(crate) struct HeatCrossing<'a, const D: usize, B: Backend> {
    pub(crate) numbers: HeatNumbers,
    pub(crate) params: &'a HeatParams<D>,
    pub(crate) alpha: &'a B::Buf<f64>,
    /// Liquid that crosses faces, and all that does, as velocities.
    pub(crate) liquid: &'a B::Buf<f64>,
    pub(crate) flux: &'a B::Buf<f64>,
    pub(crate) dt: f64,
    pub(crate) axis: usize,
}

/// Faces where heat is given or a temperature held, in the order of cells, with what is there by patch.
#[derive(Debug)]
pub(crate) struct HeatWalls<B: Backend> {
    pub(crate) faces: B::Buf<CellPatch>,
    /// By patch: 1 where the second number is a temperature, 0 where it is a flux.
    pub(crate) values: B::Buf<[f64; 2]>,
}

/// What the equation of the temperature is made of.
pub(crate) struct HeatSystem<'a, B: Backend> {
    pub(crate) numbers: HeatNumbers,
    pub(crate) dt: f64,
    pub(crate) alpha: &'a B::Buf<f64>,
    pub(crate) temperature: &'a B::Buf<f64>,
    pub(crate) walls: &'a HeatWalls<B>,
}

/// Sums and extremes over the fluid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct HeatSums {
    /// J, in 2D by metre of depth.
    pub(crate) heat: f64,
    /// J/K.
    pub(crate) capacity: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
}

/// Faces of fluid cells at walls that conduct heat, on the host.
pub(crate) fn wall_faces<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    heat: &HeatParams<D>,
) -> Vec<CellPatch> {
    let conducts = |patch: &usize| heat.patch(*patch) != WallHeat::Insulated;
    each_fluid_side(mesh, |block, cell, side| {
        match next(mesh, block, cell, side) {
            Some((b, c)) => mesh.body_of(b, c).map(|body| 2 * D + body).filter(conducts),
            None => match params.face(side) {
                BoxFace::Pressure { .. } => None,
                _ => Some(side).filter(conducts),
            },
        }
    })
}

/// Faces of fluid cells at openings of the box on both sides of an axis, on the host.
pub(crate) fn open_faces<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    axis: usize,
) -> Vec<CellPatch> {
    each_fluid_side(mesh, |block, cell, side| {
        let is_open = !matches!(params.face(side), BoxFace::Slip | BoxFace::NoSlip);
        let is_there = || side / 2 == axis && next(mesh, block, cell, side).is_none();
        (is_open && is_there()).then_some(side)
    })
}

/// Cells and patches of sides of fluid cells that have one.
fn each_fluid_side<const D: usize>(
    mesh: &FlowMesh<D>,
    patch: impl Fn(usize, usize, usize) -> Option<usize> + Sync,
) -> Vec<CellPatch> {
    let cells = dims::cells(D);
    let leaves = (0..mesh.blocks.len()).into_par_iter();
    let leaves = leaves.filter(|&block| mesh.blocks.is_leaf(block));
    let of_block = |block: usize| {
        let fluid = (0..cells).filter(move |&cell| !mesh.is_solid(block, cell));
        let sides = fluid.flat_map(|cell| (0..2 * D).map(move |side| (cell, side)));
        let patch = &patch;
        sides.filter_map(move |(cell, side)| {
            let patch = patch(block, cell, side)?;
            Some([(block * cells + cell) as u32, patch as u32])
        })
    };
    leaves.flat_map_iter(of_block).collect()
}

/// A temperature beyond a side of a cell; at faces of the box that hold one as a mirror gives that.
fn beyond<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &HeatParams<D>,
    temperature: &[f64],
    (block, cell): (usize, usize),
    side: usize,
) -> f64 {
    let cells = dims::cells(D);
    let own = temperature[block * cells + cell];
    match next(mesh, block, cell, side) {
        Some((b, c)) if mesh.is_solid(b, c) => own,
        Some((b, c)) => temperature[b * cells + c],
        None => match params.face(side) {
            WallHeat::Temperature(held) => 2.0 * held - own,
            _ => own,
        },
    }
}

/// The slope of the temperature over a cell along an axis; none at the interface.
pub(crate) fn slope<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &HeatParams<D>,
    (alpha, temperature): (&[f64], &[f64]),
    at: (usize, usize),
    axis: usize,
) -> f64 {
    let own = at.0 * dims::cells(D) + at.1;
    if is_mixed(alpha[own]) {
        return 0.0;
    }
    let low = temperature[own] - beyond(mesh, params, temperature, at, 2 * axis);
    let high = beyond(mesh, params, temperature, at, 2 * axis + 1) - temperature[own];
    limited(low, high)
}

/// Heat through the faces along the axis of leaves, over the area and the time.
pub(crate) fn heat_fluxes<const D: usize>(
    mesh: &FlowMesh<D>,
    of: &HeatCrossing<'_, D, Host>,
    temperature: &[f64],
    out: &mut [f64],
) {
    let (cells, per, axis) = (dims::cells(D), faces::per_block(D), of.axis);
    let carried = |block: usize, cell: usize, side: usize, q: f64| match sweep::from(
        mesh,
        (axis, of.dt),
        (block, cell),
        side,
        q,
    ) {
        (Some(at), leaves, courant) => {
            let slope = slope(mesh, of.params, (of.alpha, temperature), at, axis);
            let ahead = if leaves % 2 == 1 { 0.5 } else { -0.5 };
            temperature[at.0 * cells + at.1] + ahead * (1.0 - courant) * slope
        }
        (None, ..) => match of.params.face(side) {
            WallHeat::Temperature(inside) => inside,
            _ => temperature[block * cells + cell],
        },
    };
    sweep::each_face(mesh, axis, out, |block, cell, side| {
        let face = block * per + faces::of_side(D, side, cell);
        let (q, l) = (of.flux[face], of.liquid[face]);
        if q == 0.0 {
            return 0.0;
        }
        let [liquid, gas] = of.numbers.capacity;
        (liquid * l + gas * (q - l)) * carried(block, cell, side, q)
    });
}

/// Heat and heat capacity that crossed faces of a list, over the area and the time, up their axis.
pub(crate) fn heat_crossed<const D: usize>(
    of: &HeatCrossing<'_, D, Host>,
    crossing: &[f64],
    list: &[CellPatch],
) -> Vec<[f64; 2]> {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let [liquid, gas] = of.numbers.capacity;
    let each = |&[cell, side]: &CellPatch| {
        let (block, cell) = (cell as usize / cells, cell as usize % cells);
        let face = block * per + faces::of_side(D, side as usize, cell);
        let (q, l) = (of.flux[face], of.liquid[face]);
        [crossing[face], liquid * l + gas * (q - l)]
    };
    list.par_iter().map(each).collect()
}

/// Temperatures after what crossed the faces along an axis; `alpha` is that before.
pub(crate) fn heat_update<const D: usize>(
    mesh: &FlowMesh<D>,
    of: &HeatCrossing<'_, D, Host>,
    [crossing, before]: [&[f64]; 2],
    full: &[u8],
    temperature: &mut [f64],
) {
    let (cells, per) = (dims::cells(D), faces::per_block(D));
    let each = |(block, temperature): (usize, &mut [f64])| {
        if !mesh.blocks.is_leaf(block) {
            return;
        }
        let ratio = of.dt / mesh.width_of(block);
        for (cell, temperature) in temperature.iter_mut().enumerate() {
            let own = block * cells + cell;
            let face = block * per + faces::lower(D, of.axis, cell);
            let gain = |of_faces: &[f64]| {
                ratio * (of_faces[face] - of_faces[face + faces::stride(of.axis)])
            };
            let (all, is_full) = (gain(of.flux), full[own] == 1);
            let old = of.alpha[own];
            let now = old + (gain(of.liquid) - if is_full { all } else { 0.0 });
            let held = of.numbers.capacity[1 - usize::from(is_full)] * before[own];
            let change = gain(crossing) - held * all;
            let grown = of.numbers.capacity(now) - of.numbers.capacity(old);
            *temperature += (change - grown * *temperature) / of.numbers.capacity(now);
        }
    };
    temperature.par_chunks_mut(cells).enumerate().for_each(each);
}

/// Conductances of faces for the temperature.
pub(crate) fn conductivity<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    numbers: &HeatNumbers,
    alpha: &[f64],
    out: &mut [f64],
) {
    mesh.fill_faces(out, |block, cell, side| {
        match mesh.face(params, block, cell, side) {
            Face::Inner { cells, widths } => {
                let [a, b] = cells.map(|c| numbers.resistivity(alpha[c]));
                2.0 * area(mesh, block) / (a * widths[0] + b * widths[1])
            }
            _ => 0.0,
        }
    });
}

/// What multiplies the temperature of each cell, and the right side.
pub(crate) fn heat_equation<const D: usize>(
    mesh: &FlowMesh<D>,
    of: &HeatSystem<'_, Host>,
    diagonal: &mut [f64],
    b: &mut [f64],
) {
    let cells = dims::cells(D);
    let each = |(block, (diagonal, b)): (usize, (&mut [f64], &mut [f64]))| {
        if !mesh.blocks.is_leaf(block) {
            return;
        }
        for cell in 0..cells {
            let own = block * cells + cell;
            let inertia = of.numbers.capacity(of.alpha[own]) * mesh.volume_of(block) / of.dt;
            diagonal[cell] = inertia;
            b[cell] = inertia * of.temperature[own];
        }
    };
    (diagonal
        .par_chunks_mut(cells)
        .zip(b.par_chunks_mut(cells))
        .enumerate())
    .for_each(each);
    for &[cell, patch] in &of.walls.faces {
        let own = cell as usize;
        let (t, area) = to_wall(mesh, of, own);
        let [is_held, value] = of.walls.values[patch as usize];
        if is_held == 1.0 {
            diagonal[own] += t;
            b[own] += t * value;
        } else {
            b[own] += area * value;
        }
    }
}

/// The conductance from a cell's centre to its wall, and the area of that.
fn to_wall<const D: usize>(
    mesh: &FlowMesh<D>,
    of: &HeatSystem<'_, Host>,
    own: usize,
) -> (f64, f64) {
    let block = own / dims::cells(D);
    let area = area(mesh, block);
    let resistivity = of.numbers.resistivity(of.alpha[own]);
    (area / (resistivity * (0.5 * mesh.width_of(block))), area)
}

/// Heat that the faces of walls give, W.
pub(crate) fn wall_heat<const D: usize>(mesh: &FlowMesh<D>, of: &HeatSystem<'_, Host>) -> Vec<f64> {
    let each = |&[cell, patch]: &CellPatch| {
        let own = cell as usize;
        let (t, area) = to_wall(mesh, of, own);
        let [is_held, value] = of.walls.values[patch as usize];
        if is_held == 1.0 {
            t * (value - of.temperature[own])
        } else {
            area * value
        }
    };
    of.walls.faces.par_iter().map(each).collect()
}

/// Sums over the cells of each block, then over blocks.
pub(crate) fn heat_sums<const D: usize>(
    mesh: &FlowMesh<D>,
    numbers: &HeatNumbers,
    alpha: &[f64],
    temperature: &[f64],
) -> HeatSums {
    let cells = dims::cells(D);
    let of_block = |block: usize| {
        if !mesh.blocks.is_leaf(block) {
            return [0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
        }
        let (first, volume) = (block * cells, mesh.volume_of(block));
        let capacity = |cell: usize| match mesh.is_solid(block, cell) {
            true => 0.0,
            false => numbers.capacity(alpha[first + cell]),
        };
        let fluid = (0..cells).filter(|&cell| !mesh.is_solid(block, cell));
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in fluid.map(|cell| temperature[first + cell]) {
            (least, most) = (least.min(value), most.max(value));
        }
        [
            volume * block_sum::<D>(|cell| capacity(cell) * temperature[first + cell]),
            volume * block_sum::<D>(capacity),
            least,
            most,
        ]
    };
    let blocks = (0..mesh.blocks.len()).into_par_iter();
    let of_blocks: Vec<[f64; 4]> = blocks.map(of_block).collect();
    let [heat, capacity] =
        [0, 1].map(|k| ordered_sum(&of_blocks.iter().map(|of| of[k]).collect::<Vec<_>>()));
    HeatSums {
        heat,
        capacity,
        least: of_blocks.iter().fold(f64::INFINITY, |x, of| x.min(of[2])),
        most: of_blocks
            .iter()
            .fold(f64::NEG_INFINITY, |x, of| x.max(of[3])),
    }
}

/// All temperatures of fluid rise by so much.
pub(crate) fn warm<const D: usize>(mesh: &FlowMesh<D>, by: f64, temperature: &mut [f64]) {
    let cells = dims::cells(D);
    let blocks = temperature.par_chunks_mut(cells).enumerate();
    blocks.for_each(|(block, temperature)| {
        for (cell, of) in temperature.iter_mut().enumerate() {
            if mesh.blocks.is_leaf(block) && !mesh.is_solid(block, cell) {
                *of += by;
            }
        }
    });
}

/// Adds accelerations of faces by what densities differ from those at the reference temperature: the mean of both cells over
/// the way between their centres, so that layers one above the other are at rest.
pub(crate) fn buoyancy<const D: usize>(
    mesh: &FlowMesh<D>,
    params: &FlowParams<D>,
    numbers: &HeatNumbers,
    (alpha, temperature): (&[f64], &[f64]),
    out: &mut [f64],
) {
    let excess = |cell: usize| numbers.excess(alpha[cell], temperature[cell]);
    let rho = |cell: usize| params.phases.rho(alpha[cell]);
    mesh.each_face(
        out,
        |_| true,
        |out, block, cell, side| {
            let pull = match mesh.face(params, block, cell, side) {
                Face::Inner {
                    cells: [a, b],
                    widths,
                } => {
                    let all = widths[0] * excess(a) + widths[1] * excess(b);
                    all / (widths[0] + widths[1]) / (0.5 * (rho(a) + rho(b)))
                }
                Face::Opening {
                    cell,
                    face: BoxFace::Pressure { .. },
                } => excess(cell) / rho(cell),
                _ => return,
            };
            *out += pull * params.gravity[side / 2];
        },
    );
}
