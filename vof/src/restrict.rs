//! Values of refined blocks: means over their children.

use crate::mesh::FlowMesh;
use cutlink_amr::dims;
use cutlink_elliptic::faces;

/// Means of several arrays of cells.
pub(crate) fn all<const D: usize, const N: usize>(mesh: &FlowMesh<D>, values: [&mut Vec<f64>; N]) {
    for values in values {
        mesh.restrict(values);
    }
}

impl<const D: usize> FlowMesh<D> {
    /// Means over children, from fine to coarse, of values of cells.
    pub(crate) fn restrict(&self, values: &mut [f64]) {
        let cells = dims::cells(D);
        let share = 1.0 / dims::children(D) as f64;
        for level in (0..self.blocks.finest()).rev() {
            let range = self.blocks.range(level);
            let (coarse, fine) = values.split_at_mut(range.end * cells);
            for block in range.clone() {
                let Some(child) = self.blocks.first_child(block) else {
                    continue;
                };
                let out = &mut coarse[block * cells..(block + 1) * cells];
                out.fill(0.0);
                let children = &fine[(child - range.end) * cells..];
                for k in 0..dims::children(D) {
                    let half = dims::unravel::<D>(k, 2);
                    for cell in 0..cells {
                        let up = dims::ravel(dims::above(half, dims::unravel::<D>(cell, 4)), 4);
                        out[up] += share * children[k * cells + cell];
                    }
                }
            }
        }
    }

    /// Faces of leaves beside finer ones, and of refined blocks: the means of the fine faces.
    pub(crate) fn mean_faces(&self, values: &mut [f64]) {
        let share = 1.0 / (dims::children(D) / 2) as f64;
        faces::restrict(&self.blocks, values, [share; 2]);
    }
}
