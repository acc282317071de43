//! Faces that are periodic in the flow, and in the mesh or not.

use crate::SolverError;
use cutlink_amr::{Forest, NONE, OUTSIDE, dims};
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// The block beside a block, through the faces that are periodic in the flow but not in the mesh too.
pub(crate) fn around<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
    id: u32,
    direction: usize,
) -> Result<u32, SolverError> {
    let found = mesh.forest.neighbor(id, direction);
    if found != OUTSIDE {
        return Ok(found);
    }
    let level = usize::from(mesh.forest.level[id as usize]);
    let step = dims::step::<D>(direction);
    let mut at = mesh.forest.coord[id as usize];
    let mut inner = step;
    for a in 0..D {
        let count = (mesh.forest.root[a] << level) as i32;
        at[a] += step[a];
        if at[a] < 0 || at[a] >= count {
            if !periodic[a] {
                return Ok(OUTSIDE);
            }
            at[a] = at[a].rem_euclid(count);
            inner[a] = 0;
        }
    }
    let found = mesh
        .forest
        .find(level, at)
        .expect("a wrapped coordinate should lie in the box");
    if usize::from(mesh.forest.level[found as usize]) == level {
        return Ok(found);
    }
    // The level may end along the faces, alike on both: then it ends without the wrap too.
    if mesh.forest.neighbor(id, dims::direction(inner)) == NONE {
        return Ok(NONE);
    }
    Err(SolverError::Mesh {
        reason: format!(
            "block {:?} of level {level} lies at a periodic face, and the other face is coarser there: keep refinement away from periodic faces, or refine both alike",
            mesh.forest.coord[id as usize]
        ),
    })
}

/// Whether the mesh suits the flow's periodic faces: it must not be periodic where the flow is not, and where it is not
/// and the flow is, no body may pass through the face, since the links across it are not cut.
pub(super) fn check<const D: usize>(
    mesh: &Mesh<D>,
    periodic: [bool; D],
) -> Result<(), SolverError> {
    let forest = &mesh.forest;
    let refuse = |reason: String| Err(SolverError::Mesh { reason });
    let name = |a: usize| ["x", "y", "z"][a];
    if let Some(a) = (0..D).find(|&a| forest.periodic[a] && !periodic[a]) {
        return refuse(format!(
            "it is periodic along {0}, and the faces {0}- and {0}+ of the flow are not: make a mesh without periodic {0}, or make the faces periodic",
            name(a)
        ));
    }
    if forest.periodic == periodic {
        return Ok(());
    }
    let all = forest.levels.par_iter().flatten();
    let found = all.filter(|id| forest.is_leaf(**id) && is_at_face(forest, **id));
    let found: Vec<u32> = found.copied().collect();
    for id in found {
        let level = usize::from(forest.level[id as usize]);
        for direction in 0..dims::directions(D) {
            if forest.neighbor(id, direction) != OUTSIDE {
                continue;
            }
            let beyond = around(mesh, periodic, id, direction)?;
            if beyond >= OUTSIDE || !passes(mesh, id, beyond, direction) {
                continue;
            }
            let step = dims::step::<D>(direction);
            let axis = (0..D).find(|&a| step[a] != 0 && !forest.periodic[a] && periodic[a]);
            let axis = name(axis.unwrap_or(0));
            let coord = forest.coord[id as usize].map(|c| 4 * c);
            return refuse(format!(
                "the body passes through the periodic face {axis}{} beside the block at {:?}, and the links across it are not cut: make the mesh with --periodic {axis}",
                ["-", "+"][usize::from(step.iter().any(|s| *s > 0))],
                mesh.frame.center(level, coord)
            ));
        }
    }
    Ok(())
}

fn is_at_face<const D: usize>(forest: &Forest<D>, id: u32) -> bool {
    let (level, at) = (forest.level[id as usize], forest.coord[id as usize]);
    (0..D).any(|a| at[a] == 0 || at[a] + 1 == (forest.root[a] << level) as i32)
}

/// Whether a fluid cell of a block has a solid one of another as its neighbour in a direction beyond the box.
fn passes<const D: usize>(mesh: &Mesh<D>, block: u32, beyond: u32, direction: usize) -> bool {
    let solid = |id: u32| mesh.classes.solid[id as usize];
    let full = dims::full_mask(D);
    if solid(block) == full || solid(beyond) == 0 {
        return false;
    }
    (0..dims::cells(D)).any(|cell| {
        let at = dims::unravel::<D>(cell, 4);
        let is_fluid = solid(block) >> cell & 1 == 0;
        is_fluid
            && (0..dims::directions(D)).any(|link| {
                let step = dims::step::<D>(link);
                let to: [i32; D] = std::array::from_fn(|a| at[a] + step[a]);
                let toward = dims::direction(to.map(|c| c.div_euclid(4)));
                let cell = dims::ravel(to.map(|c| c.rem_euclid(4)), 4);
                toward == direction && solid(beyond) >> cell & 1 == 1
            })
    })
}
