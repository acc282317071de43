//! Links between fluid cells, across levels.

use crate::Mesh;
use cutlink_amr::{CellRef, NeighborCell, dims};

/// Size of a level's cells in finest cells.
pub(super) fn size<const D: usize>(mesh: &Mesh<D>, block: u32) -> f32 {
    let level = usize::from(mesh.forest.level[block as usize]);
    (1u64 << (mesh.forest.finest() - level)) as f32
}

pub(super) fn is_solid<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> bool {
    mesh.classes.solid[at.block as usize] >> at.cell & 1 == 1
}

/// Directions of a cell's cut links, a bit each.
pub(super) fn cut<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> u32 {
    let boundary = mesh.classes.boundary[at.block as usize];
    let links = mesh.links.cell(at.block, boundary, at.cell);
    links.map_or(0, |(directions, _)| directions)
}

/// Centre of a leaf cell, in lengths.
pub(super) fn center<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> [f64; D] {
    let level = usize::from(mesh.forest.level[at.block as usize]);
    mesh.frame.center(level, mesh.forest.cell_coord(at))
}

/// The vector to a coarser cell one step away, in cells of the finer level.
fn to_coarser<const D: usize>(coord: [i32; D], step: [i32; D]) -> [f32; D] {
    std::array::from_fn(|a| {
        let cover = (coord[a] + step[a]) >> 1;
        (2 * cover + 1 - coord[a]) as f32 - 0.5
    })
}

/// Calls `f` with each leaf cell that lies one step away, and with the vector between the centres in finest cells. In
/// the place of a refined cell these are the finer cells that touch `at`.
pub(super) fn for_each_beside<const D: usize>(
    mesh: &Mesh<D>,
    at: CellRef,
    direction: usize,
    mut f: impl FnMut(CellRef, [f32; D]),
) {
    let (step, h) = (dims::step::<D>(direction), size(mesh, at.block));
    match mesh.forest.neighbor_cell(at, direction) {
        NeighborCell::Outside => {}
        NeighborCell::Same(n) => f(n, step.map(|s| h * s as f32)),
        NeighborCell::Coarser(n) => {
            let way = to_coarser(mesh.forest.cell_coord(at), step);
            f(n, way.map(|x| h * x));
        }
        NeighborCell::Refined(n) => {
            let first = mesh.forest.first_child[n.block as usize];
            let cell = dims::unravel::<D>(n.cell as usize, 4);
            for i in 0..dims::children(D) {
                let corner = dims::unravel::<D>(i, 2);
                // On an axis of the step, the corners on the near side only.
                if (0..D).any(|a| step[a] != 0 && (step[a] > 0) == (corner[a] == 1)) {
                    continue;
                }
                let (child, fine) = dims::below(cell, corner);
                let finer = CellRef {
                    block: first + child as u32,
                    cell: dims::ravel(fine, 4) as u32,
                };
                let way = |a: usize| step[a] as f32 + (corner[a] as f32 + 0.5) / 2.0 - 0.5;
                f(finer, std::array::from_fn(|a| h * way(a)));
            }
        }
    }
}

/// Calls `f` with each fluid leaf cell that an uncut link joins to a fluid leaf cell, and the vector between the centres
/// in finest cells. Links between levels are those of the finer cell.
pub(super) fn for_each_link<const D: usize>(
    mesh: &Mesh<D>,
    at: CellRef,
    mut f: impl FnMut(CellRef, [f32; D]),
) {
    let own = cut(mesh, at);
    for direction in (0..dims::directions(D)).filter(|&d| d != dims::center(D)) {
        across(mesh, at, direction, own, &mut f);
    }
}

/// The same in one direction; `own` are the directions of the cell's cut links.
pub(super) fn across<const D: usize>(
    mesh: &Mesh<D>,
    at: CellRef,
    direction: usize,
    own: u32,
    mut f: impl FnMut(CellRef, [f32; D]),
) {
    let there = mesh.forest.neighbor_cell(at, direction);
    let finer = matches!(there, NeighborCell::Refined(_));
    if !finer && own >> direction & 1 == 1 {
        return;
    }
    for_each_beside(mesh, at, direction, |n, way| {
        if !is_solid(mesh, n) && (!finer || leads_to(mesh, n, at)) {
            f(n, way);
        }
    });
}

/// Whether an uncut link of a cell leads to a coarser one.
fn leads_to<const D: usize>(mesh: &Mesh<D>, from: CellRef, to: CellRef) -> bool {
    let own = cut(mesh, from);
    (0..dims::directions(D)).any(|d| {
        own >> d & 1 == 0 && mesh.forest.neighbor_cell(from, d) == NeighborCell::Coarser(to)
    })
}

pub(super) fn length<const D: usize>(v: [f32; D]) -> f32 {
    square(v).sqrt()
}

pub(super) fn square<const D: usize>(v: [f32; D]) -> f32 {
    v.iter().fold(0.0, |sum, x| sum + x * x)
}
