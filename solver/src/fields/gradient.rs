//! Velocity gradients by differences between cell centres.
//!
//! On each axis a parabola through the cell and one value on either side: the neighbour of the same
//! level, or of a refined block the mean of its children, one spacing away; or the coarser
//! cell that covers the place, one and a half spacings away, carried onto the axis by its own
//! derivatives across. A neighbour counts where it is in the box and fluid and the surface does not
//! cut the link to it; with one side missing the difference is one-sided, with both it is zero.
//!
//! Exact for linear fields everywhere (but beside refined cells that the surface divides: their
//! means are not of their centres). Second order between cells of one level; first order
//! one-sided, and at the end of a level, where means and carried values are off by O(Δx²).
//! Faces of the box count as ends, unless they are periodic.

use super::{is_solid, velocity_of};
use cutlink_amr::{CellRef, NeighborCell, OUTSIDE, dims};
use cutlink_voxelizer::Mesh;

/// ∂u_i / ∂x_j of a cell as `[i][j]`, in 1 / Δt of the root level; zero in solid cells.
pub fn gradient<const D: usize>(
    mesh: &Mesh<D>,
    velocity: &[Vec<f32>; D],
    at: CellRef,
) -> [[f64; D]; D] {
    let mut out = [[0.0; D]; D];
    if is_solid(mesh, at) {
        return out;
    }
    for j in 0..D {
        let along = derivative(mesh, velocity, at, j);
        for i in 0..D {
            out[i][j] = along[i];
        }
    }
    out
}

/// The gradients of all cells of a block, each as by [`gradient`] to the bit; `out` has 4^D places. Only cells beside the surface, a
/// coarser block or an end of the box are looked up one by one.
///
/// # Panics
/// If `out` has another length.
pub fn gradients<const D: usize>(
    mesh: &Mesh<D>,
    velocity: &[Vec<f32>; D],
    block: u32,
    out: &mut [[[f64; D]; D]],
) {
    let cells = dims::cells(D);
    assert_eq!(out.len(), cells, "one gradient a cell");
    let Some(around) = fluid_around(mesh, block) else {
        for (cell, out) in (0..).zip(out) {
            *out = gradient(mesh, velocity, CellRef { block, cell });
        }
        return;
    };
    let per_root = f64::from(1u32 << mesh.forest.level[block as usize]);
    let value = |i: usize, block: u32, cell: usize| velocity[i][block as usize * cells + cell];
    // What is missing is not read: those cells follow.
    let there = around.map(|sides| sides.map(|id| id.unwrap_or(block)));
    central(per_root, block, there, value, out);
    for (axis, sides) in around.into_iter().enumerate() {
        for (layer, _) in [0, 3].into_iter().zip(sides).filter(|(_, id)| id.is_none()) {
            for cell in (0..cells).filter(|cell| cell >> (2 * axis) & 3 == layer) {
                let at = CellRef {
                    block,
                    cell: cell as u32,
                };
                let along = derivative(mesh, velocity, at, axis);
                (0..D).for_each(|i| out[cell][i][axis] = along[i]);
            }
        }
    }
}

/// Gradients of a block by central differences over one cell, at ends of the box by differences to the cell inside; `around` are the
/// blocks below and above it by axis, or [`OUTSIDE`], `value` the component of the velocity in a cell of a block.
pub(crate) fn central<const D: usize>(
    per_root: f64,
    block: u32,
    around: [[u32; 2]; D],
    value: impl Fn(usize, u32, usize) -> f32,
    out: &mut [[[f64; D]; D]],
) {
    for i in 0..D {
        let u = |block: u32, cell: usize| f64::from(value(i, block, cell));
        for (axis, [below, above]) in around.into_iter().enumerate() {
            let stride = 1 << (2 * axis);
            for first in (0..dims::cells(D)).filter(|cell| cell >> (2 * axis) & 3 == 0) {
                let ends = [below, above].map(|beside| beside == OUTSIDE);
                let line = [
                    if ends[0] {
                        0.0
                    } else {
                        u(below, first + 3 * stride)
                    },
                    u(block, first),
                    u(block, first + stride),
                    u(block, first + 2 * stride),
                    u(block, first + 3 * stride),
                    if ends[1] { 0.0 } else { u(above, first) },
                ];
                for (n, of) in line.array_windows::<3>().enumerate() {
                    let (down, up) = (of[1] - of[0], of[2] - of[1]);
                    let slope = match n {
                        0 if ends[0] => up,
                        3 if ends[1] => down,
                        _ => (up + down) / 2.0,
                    };
                    out[first + n * stride][i][axis] = slope * per_root;
                }
            }
        }
    }
}

/// The blocks of the same level below and above a block by axis, where all their cells are fluid; none if not all of its own
/// are, or the surface cuts any of them.
pub(crate) fn fluid_around<const D: usize>(
    mesh: &Mesh<D>,
    block: u32,
) -> Option<[[Option<u32>; 2]; D]> {
    let is_fluid = |id: u32| mesh.classes.solid[id as usize] == 0;
    if !is_fluid(block) || mesh.classes.boundary[block as usize] != 0 {
        return None;
    }
    let beside = |axis: usize, side: i32| {
        let id = mesh.forest.neighbor(block, toward::<D>(axis, side));
        (id < OUTSIDE && is_fluid(id)).then_some(id)
    };
    Some(std::array::from_fn(|axis| {
        [-1, 1].map(|side| beside(axis, side))
    }))
}

/// The direction of a step along an axis; `side` is -1 or 1.
pub(crate) fn toward<const D: usize>(axis: usize, side: i32) -> usize {
    dims::direction::<D>(std::array::from_fn(|a| side * i32::from(a == axis)))
}

/// A value beside a cell, on the axis through its centre.
struct Beside<const D: usize> {
    /// In spacings of the cell.
    distance: f64,
    velocity: [f64; D],
}

/// ∂u / ∂x along an axis, of a fluid cell.
fn derivative<const D: usize>(
    mesh: &Mesh<D>,
    velocity: &[Vec<f32>; D],
    at: CellRef,
    axis: usize,
) -> [f64; D] {
    let per_root = f64::from(1u32 << mesh.forest.level[at.block as usize]);
    let here = velocity_of(velocity, at);
    let below = beside(mesh, velocity, at, axis, -1);
    let above = beside(mesh, velocity, at, axis, 1);
    std::array::from_fn(|i| {
        let down = below
            .as_ref()
            .map(|b| (here[i] - b.velocity[i]) / b.distance);
        let up = above
            .as_ref()
            .map(|a| (a.velocity[i] - here[i]) / a.distance);
        let slope = match (down, up, &below, &above) {
            (Some(down), Some(up), Some(b), Some(a)) => {
                (up * b.distance + down * a.distance) / (a.distance + b.distance)
            }
            (Some(only), ..) | (_, Some(only), ..) => only,
            _ => 0.0,
        };
        slope * per_root
    })
}

fn beside<const D: usize>(
    mesh: &Mesh<D>,
    velocity: &[Vec<f32>; D],
    at: CellRef,
    axis: usize,
    side: i32,
) -> Option<Beside<D>> {
    let direction = toward::<D>(axis, side);
    let (distance, to) = match neighbor(mesh, at, axis, side, direction) {
        NeighborCell::Same(to) | NeighborCell::Refined(to) => (1.0, to),
        NeighborCell::Coarser(to) => (1.5, to),
        NeighborCell::Outside => return None,
    };
    if is_solid(mesh, to) || mesh.link(at, direction).is_some() {
        return None;
    }
    let mut value = velocity_of(velocity, to);
    if distance > 1.0 {
        let (fine, coarse) = (mesh.forest.cell_coord(at), mesh.forest.cell_coord(to));
        let spacing = 1.0 / f64::from(1u32 << mesh.forest.level[at.block as usize]);
        for b in (0..D).filter(|&b| b != axis) {
            let off = (f64::from(2 * coarse[b] + 1) - f64::from(fine[b]) - 0.5) * spacing;
            let across = derivative(mesh, velocity, to, b);
            for (v, slope) in value.iter_mut().zip(across) {
                *v -= off * slope;
            }
        }
    }
    Some(Beside {
        distance,
        velocity: value,
    })
}

/// As the forest's, without looking anything up inside a block.
fn neighbor<const D: usize>(
    mesh: &Mesh<D>,
    at: CellRef,
    axis: usize,
    side: i32,
    direction: usize,
) -> NeighborCell {
    let local = at.cell >> (2 * axis) & 3;
    if local == if side < 0 { 0 } else { 3 } {
        return mesh.forest.neighbor_cell(at, direction);
    }
    let stride = 1 << (2 * axis);
    let cell = if side < 0 {
        at.cell - stride
    } else {
        at.cell + stride
    };
    NeighborCell::Same(CellRef { cell, ..at })
}
