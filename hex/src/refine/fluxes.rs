//! Fluxes through faces, from one mesh to another of the same parent.
//!
//! A face that is split hands its flux to its quarters by their areas; faces that become one hand it their sum. The 12
//! faces inside a new cell take the fluxes that give each child its share, by volume, of the cell's divergence: those of
//! a potential on the 8 children, the least ones that do. Uniform flow through a parallelepiped stays uniform.

use super::{CellPath, HexSplit, RefineError, RefinedMesh, tets, zones::FacesByCells};
use crate::geometry::norm;
use crate::kernels::NONE;
use crate::{PolyMesh, PolyViolation};
use rayon::prelude::*;

/// Fluxes through the faces of a mesh, out of their owners, on another mesh of the same parent. The sum over each cell
/// that is kept stays; that of a cell with children is divided among them, and the sum of a coarser cell is that of the
/// cells in it. Each list has a number for each face, those of the boundary included. Cost: a refinement to the common
/// refinement of both meshes.
///
/// # Errors
/// As [`RefinedMesh::build`]; meshes that do not have the same parent.
///
/// # Panics
/// Where a list does not have one number for each face.
pub fn map_fluxes(
    from: &RefinedMesh,
    to: &RefinedMesh,
    mut fluxes: Vec<Vec<f64>>,
) -> Result<Vec<Vec<f64>>, RefineError> {
    for of in &fluxes {
        assert_eq!(of.len(), from.mesh.faces(), "there should be a flux a face");
    }
    // Both meshes' finer cells: first all are split that `to` has split, then faces are put together.
    let mut common = from.clone();
    loop {
        let is_split = |path: &CellPath| {
            let at = to.paths.partition_point(|other| other < path);
            to.paths
                .get(at)
                .is_some_and(|other| other.level() > path.level() && path.overlaps(*other))
        };
        let marks: Vec<u8> = common
            .paths
            .par_iter()
            .map(|p| u8::from(is_split(p)))
            .collect();
        if marks.par_iter().all(|&mark| mark == 0) {
            break;
        }
        let Some(split) = common.step(marks)? else {
            return Err(foreign());
        };
        refined(&split, &common.mesh, &mut fluxes);
    }
    gathered(&common, to, &fluxes).ok_or_else(foreign)
}

fn foreign() -> RefineError {
    RefineError::Invalid(PolyViolation::Impossible {
        what: "mesh",
        at: 0,
        reason: "fluxes cannot be mapped to a mesh of another parent",
    })
}

/// Fluxes after a step.
fn refined(split: &HexSplit, mesh: &PolyMesh, fluxes: &mut [Vec<f64>]) {
    let faces = mesh.face_geometry();
    let volumes: Vec<f64> = mesh
        .cell_geometry(&faces)
        .iter()
        .map(|c| c.volume)
        .collect();
    let mut areas = vec![0.0; fluxes.first().map_or(0, Vec::len)];
    for (face, &of) in split.from.iter().enumerate().filter(|(_, of)| **of != NONE) {
        areas[of as usize] += norm(faces[face].area);
    }
    // Children of a split cell have consecutive numbers.
    let starts = split.first.windows(2).filter(|pair| pair[1] - pair[0] == 8);
    let starts: Vec<usize> = starts.map(|pair| pair[0] as usize).collect();
    let inner = split.from.iter().filter(|&&of| of == NONE).count();
    // A tetrahedron has 8 faces inside, a hexahedron 12.
    let solve = match inner == 8 * starts.len() {
        true => tets::potential,
        false => solve,
    };
    for of_field in fluxes {
        let part = |(face, &of): (usize, &u32)| match of {
            NONE => 0.0,
            of if areas[of as usize] > 0.0 => {
                of_field[of as usize] * (norm(faces[face].area) / areas[of as usize])
            }
            _ => 0.0,
        };
        let mut new: Vec<f64> = split.from.iter().enumerate().map(part).collect();
        let mut out = vec![0.0; mesh.cells];
        for (face, &flux) in new.iter().enumerate() {
            out[mesh.owner[face] as usize] += flux;
            if let Some(&neighbour) = mesh.neighbour.get(face) {
                out[neighbour as usize] -= flux;
            }
        }
        let mut potential = vec![0.0; mesh.cells];
        for &first in &starts {
            let children = first..first + 8;
            let (sum, volume): (f64, f64) = (
                out[children.clone()].iter().sum(),
                volumes[children.clone()].iter().sum(),
            );
            let lack = |i: usize| sum * (volumes[first + i] / volume) - out[first + i];
            potential[children].copy_from_slice(&solve(std::array::from_fn(lack)));
        }
        for (face, &of) in split.from.iter().enumerate() {
            if of == NONE {
                let ends = [mesh.owner[face], mesh.neighbour[face]];
                let [a, b] = ends.map(|cell| potential[cell as usize]);
                new[face] = a - b;
            }
        }
        *of_field = new;
    }
}

/// The potential of 8 children whose differences have these sums: the pseudo-inverse of the cube's graph Laplacian. Its
/// eigenvectors are Walsh functions, its eigenvalues twice the number of axes along which they change sign.
fn solve(mut sums: [f64; 8]) -> [f64; 8] {
    let walsh = |x: &mut [f64; 8]| {
        for bit in [1, 2, 4] {
            for i in (0..8).filter(|i| i & bit == 0) {
                (x[i], x[i | bit]) = (x[i] + x[i | bit], x[i] - x[i | bit]);
            }
        }
    };
    walsh(&mut sums);
    for (i, x) in sums.iter_mut().enumerate() {
        *x = if i == 0 {
            0.0
        } else {
            *x / (16 * i.count_ones()) as f64
        };
    }
    walsh(&mut sums);
    sums
}

/// Sums over the faces of a finer mesh; `None` where a face has no place in the coarser one.
fn gathered(fine: &RefinedMesh, to: &RefinedMesh, fluxes: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let mut sums = vec![vec![0.0; to.mesh.faces()]; fluxes.len()];
    let holders: Vec<Option<u32>> = fine
        .paths
        .par_iter()
        .map(|p| holder(&to.paths, *p))
        .collect();
    let holder = |cell: u32| holders[cell as usize];
    let (internal, coarse) = (fine.mesh.internal_faces(), to.mesh.internal_faces());
    let mut rims: Vec<(u32, u32, usize)> = (coarse..to.mesh.faces())
        .map(|face| (to.rims[face - coarse], to.mesh.owner[face], face))
        .collect();
    rims.par_sort_unstable();
    let mut by_cells = FacesByCells::new(&to.mesh);
    for face in 0..fine.mesh.faces() {
        let owner = holder(fine.mesh.owner[face])?;
        let at = match fine.mesh.neighbour.get(face) {
            Some(&neighbour) => {
                let neighbour = holder(neighbour)?;
                if owner == neighbour {
                    continue;
                }
                by_cells.between(owner, neighbour)?
            }
            None => {
                let key = (fine.rims[face - internal], owner);
                let at = rims.partition_point(|rim| (rim.0, rim.1) < key);
                rims.get(at).filter(|rim| (rim.0, rim.1) == key)?.2
            }
        };
        for (sum, of) in sums.iter_mut().zip(fluxes) {
            sum[at] += of[face];
        }
    }
    Some(sums)
}

/// The cell that is or holds another.
fn holder(paths: &[CellPath], path: CellPath) -> Option<u32> {
    let after = paths.partition_point(|other| *other <= path);
    let at = after.checked_sub(1)?;
    let holds = paths[at].overlaps(path) && paths[at].level() <= path.level();
    holds.then_some(at as u32)
}
