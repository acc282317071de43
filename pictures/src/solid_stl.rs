//! The staircase surface of the body on a level (Jaber et al. 2026, figures of §4).
//!
//! In: a mesh and a level ℓ. Out: a closed triangle surface in metres, normals out of the body, made of the faces
//! between solid and other cells. A cell of level ℓ is solid by its own centre, also if its block is refined. Where the
//! mesh is coarser than ℓ, the covering coarse cell decides, so no face lies inside the body at level interfaces. A
//! body that reaches the faces of the box is closed there. All faces are squares of level ℓ, each split into two
//! triangles. Vertices are welded, so every edge is shared by an even number of triangles, half of them in each
//! direction.
//!
//! The enclosed volume is exactly the number of solid cells times Δx^3. Determinism: vertices in z, y, x order, faces
//! in level and block order. Cost: six look-ups per cell near a face, one sort of the vertices.

use cutlink_amr::{CellRef, NONE, NeighborCell, dims};
use cutlink_mesher::Surface;
use cutlink_voxelizer::Mesh;
use rayon::prelude::*;

/// A corner of the lattice of level-ℓ cells, z first, which gives the order of the file.
type Corner = [i32; 3];

/// The staircase surface of level `level`; `None` if the mesh has no such level.
pub fn solid_surface(mesh: &Mesh<3>, level: usize) -> Option<Surface<3>> {
    if level > mesh.forest.finest() {
        return None;
    }
    let quads: Vec<[Corner; 4]> = mesh.forest.levels[..=level]
        .iter()
        .flatten()
        .copied()
        .collect::<Vec<u32>>()
        .into_par_iter()
        .flat_map_iter(|id| quads_of(mesh, level, id))
        .collect();
    let mut corners: Vec<Corner> = quads.iter().flatten().copied().collect();
    corners.par_sort_unstable();
    corners.dedup();
    let index = |corner: &Corner| {
        let at = corners.binary_search(corner);
        at.expect("every corner should be in the list") as u32
    };
    let facets = quads
        .par_iter()
        .flat_map_iter(|quad| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| index(&quad[i]));
            [[a, b, c], [a, c, d]]
        })
        .collect();
    let dx = mesh.frame.dx_at(level);
    let place = |[z, y, x]: Corner| {
        let [ox, oy, oz] = mesh.frame.origin;
        [(ox, x), (oy, y), (oz, z)].map(|(origin, c)| origin + f64::from(c) * dx)
    };
    let vertices = corners.iter().map(|&c| place(c)).collect();
    Some(Surface::single_patch(vertices, facets, "solid"))
}

/// The faces that belong to a block of level ℓ or to a coarser leaf.
fn quads_of(mesh: &Mesh<3>, level: usize, id: u32) -> Vec<[Corner; 4]> {
    let own_level = usize::from(mesh.forest.level[id as usize]);
    let is_cell = own_level == level || mesh.forest.is_leaf(id);
    if !is_cell || is_plain(mesh, id) {
        return Vec::new();
    }
    let mut quads = Vec::new();
    for cell in 0..dims::cells(3) as u32 {
        let at = CellRef { block: id, cell };
        for axis in 0..3 {
            for side in [-1, 1] {
                let mut step = [0; 3];
                step[axis] = side;
                if let Some(outward) = face(mesh, level, at, step) {
                    let up = level - own_level;
                    push_squares(&mut quads, mesh.forest.cell_coord(at), up, step, outward);
                }
            }
        }
    }
    quads
}

/// Whether a block and all its neighbours have the same level and class.
fn is_plain(mesh: &Mesh<3>, id: u32) -> bool {
    let solid = mesh.classes.solid[id as usize];
    let same = |(direction, n): (usize, u32)| match n {
        NONE => false,
        _ if !mesh.forest.is_inside(id, direction) => solid == 0,
        n => mesh.classes.solid[n as usize] == solid,
    };
    (solid == 0 || solid == u64::MAX) && mesh.forest.neighbors_of(id).enumerate().all(same)
}

/// Whether the face of a cell is part of the surface and belongs to this cell: between cells of one level it belongs to
/// the solid cell, between levels to the finer one. `true` if the body is on the cell's side.
fn face(mesh: &Mesh<3>, level: usize, at: CellRef, step: [i32; 3]) -> Option<bool> {
    let is_solid = |c: CellRef| mesh.classes.solid[c.block as usize] >> c.cell & 1 == 1;
    let own = is_solid(at);
    let at_level = usize::from(mesh.forest.level[at.block as usize]) == level;
    let to = mesh.forest.cell_coord(at);
    let last = mesh
        .frame
        .root_cells
        .map(|n| (n as i32) << mesh.forest.level[at.block as usize]);
    if (0..3).any(|a| to[a] + step[a] < 0 || to[a] + step[a] >= last[a]) {
        // The body ends at the box, periodic or not.
        return own.then_some(true);
    }
    match mesh.forest.neighbor_cell(at, dims::direction(step)) {
        NeighborCell::Outside => own.then_some(true),
        NeighborCell::Same(n) => (own && !is_solid(n)).then_some(true),
        NeighborCell::Refined(n) if at_level => (own && !is_solid(n)).then_some(true),
        NeighborCell::Refined(_) => None,
        NeighborCell::Coarser(n) => (own != is_solid(n)).then_some(own),
    }
}

/// The face of a cell in direction `step`, in squares of the level `up` levels finer.
fn push_squares(
    quads: &mut Vec<[Corner; 4]>,
    cell: [i32; 3],
    up: usize,
    step: [i32; 3],
    outward: bool,
) {
    let axis = step.iter().position(|&s| s != 0).unwrap_or(0);
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let count = 1 << up;
    let mut low = cell.map(|c| c << up);
    if step[axis] > 0 {
        low[axis] += count;
    }
    let toward_plus = (step[axis] > 0) == outward;
    for j in 0..count {
        for i in 0..count {
            let corner = |du: i32, dv: i32| {
                let mut at = low;
                at[u] += i + du;
                at[v] += j + dv;
                [at[2], at[1], at[0]]
            };
            let (a, b, c, d) = (corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
            quads.push(if toward_plus {
                [a, b, c, d]
            } else {
                [a, d, c, b]
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files_kit::{ball_mesh, random_mesh};
    use std::collections::BTreeMap;

    /// Number of solid cells of level `level`, each looked up from the root, independent of neighbours and faces.
    fn solid_cells(mesh: &Mesh<3>, level: usize) -> u64 {
        let n = mesh.frame.root_cells.map(|n| (n as i32) << level);
        let mut count = 0;
        for z in 0..n[2] {
            for y in 0..n[1] {
                for x in 0..n[0] {
                    let at = [x, y, z];
                    let block = mesh.forest.find(level, at.map(|c| c >> 2));
                    let block = block.expect("inside the box") as usize;
                    let up = level - usize::from(mesh.forest.level[block]);
                    let cell = dims::ravel(at.map(|c| c >> up & 3), 4);
                    count += mesh.classes.solid[block] >> cell & 1;
                }
            }
        }
        count
    }

    /// Six times the enclosed volume in cells, as an exact integer.
    fn six_volumes(mesh: &Mesh<3>, level: usize, surface: &Surface<3>) -> i64 {
        let dx = mesh.frame.dx_at(level);
        let lattice = |p: [f64; 3]| -> [i64; 3] {
            std::array::from_fn(|a| {
                let c = (p[a] - mesh.frame.origin[a]) / dx;
                assert!((c - c.round()).abs() < 1e-6, "a corner of a cell");
                c.round() as i64
            })
        };
        (0..surface.facets.len())
            .map(|f| {
                let [a, b, c] = surface.corners(f).map(lattice);
                a[0] * (b[1] * c[2] - b[2] * c[1])
                    + a[1] * (b[2] * c[0] - b[0] * c[2])
                    + a[2] * (b[0] * c[1] - b[1] * c[0])
            })
            .sum()
    }

    /// Edges with unequal numbers of triangles in the two directions.
    fn open_edges(surface: &Surface<3>) -> usize {
        let mut passed: BTreeMap<(u32, u32), i32> = BTreeMap::new();
        for &[a, b, c] in &surface.facets {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let way = if from < to { 1 } else { -1 };
                *passed.entry((from.min(to), from.max(to))).or_default() += way;
            }
        }
        passed.values().filter(|&&n| n != 0).count()
    }

    fn check(mesh: &Mesh<3>) {
        for level in 0..mesh.forest.levels.len() {
            let surface = solid_surface(mesh, level).expect("the level is there");
            let cells = solid_cells(mesh, level);
            assert!(cells > 0, "level {level} has solid cells");
            assert_eq!(
                six_volumes(mesh, level, &surface),
                6 * cells as i64,
                "volume"
            );
            assert_eq!(open_edges(&surface), 0, "level {level} is closed");
        }
        assert!(solid_surface(mesh, 20).is_none(), "no such level");
    }

    #[test]
    fn the_volume_is_that_of_the_solid_cells() {
        check(&ball_mesh([4, 4, 4], 3));
        // Levels mixed inside the body, and the surface of the body between levels.
        for seed in 0..4 {
            check(&random_mesh(seed, [2, 3, 2], 3));
        }
    }

    #[test]
    fn a_body_that_fills_the_box_is_the_box() {
        let mut mesh = random_mesh(1, [2, 1, 1], 2);
        mesh.classes.solid.fill(u64::MAX);
        let surface = solid_surface(&mesh, 0).expect("level 0");
        assert_eq!(
            surface.facets.len(),
            2 * 2 * (8 * 4 + 8 * 4 + 4 * 4),
            "walls"
        );
        check(&mesh);
    }

    #[test]
    fn a_missing_triangle_is_noticed() {
        let mesh = ball_mesh([2, 2, 2], 2);
        let mut surface = solid_surface(&mesh, 1).expect("level 1");
        surface.facets.pop();
        assert_eq!(open_edges(&surface), 3, "open edges");
        let cells = solid_cells(&mesh, 1) as i64;
        assert_ne!(six_volumes(&mesh, 1, &surface), 6 * cells, "volume");
    }
}
