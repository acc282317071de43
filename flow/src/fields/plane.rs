//! A plane through the cells, and the leaf cells that a plane or a box intersects.

use super::kinds::NormalAxis;
use cutlink_amr::{CellRef, NONE, dims};
use cutlink_voxelizer::Mesh;

/// A plane normal to an axis; in 2D the mesh itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Plane {
    /// The axes in it, ascending.
    pub(super) axes: [usize; 2],
    /// In 3D: its normal axis, and its coordinate on that axis, in the length unit of the mesh.
    pub(super) normal: Option<(usize, f64)>,
    /// The finest cell on that axis.
    layer: i64,
}

impl Plane {
    /// A plane between cells shows the upper ones, on the upper face of the box the lower ones.
    pub(super) fn new<const D: usize>(
        mesh: &Mesh<D>,
        axis: Option<NormalAxis>,
        position: Option<f64>,
    ) -> Result<Self, String> {
        if D < 3 {
            return match (axis, position) {
                (None, None) => Ok(Self {
                    axes: [0, 1],
                    normal: None,
                    layer: 0,
                }),
                _ => Err(
                    "axis and position are for 3D meshes: in 2D the slice is the whole mesh".into(),
                ),
            };
        }
        let axis = axis.unwrap_or(NormalAxis::Z) as usize;
        let (from, to) = (mesh.frame.origin[axis], mesh.frame.upper()[axis]);
        let at = position.unwrap_or((from + to) / 2.0);
        if !(at >= from && at <= to) {
            return Err(format!(
                "position {at} lies outside the domain, {from} to {to} on that axis"
            ));
        }
        let finest = mesh.forest.finest();
        let cells = i64::from(mesh.frame.root_cells[axis]) << finest;
        let layer = ((at - from) / mesh.frame.dx_at(finest)).floor() as i64;
        Ok(Self {
            axes: [[1, 2], [0, 2], [0, 1]][axis],
            normal: Some((axis, at)),
            layer: layer.clamp(0, cells - 1),
        })
    }

    /// The leaf cell at a point of the plane, in finest cells; `None` outside the box.
    pub(super) fn leaf<const D: usize>(&self, mesh: &Mesh<D>, at: [i64; 2]) -> Option<CellRef> {
        let finest = mesh.forest.finest();
        let mut coord = [self.layer as i32; D];
        for (a, x) in self.axes.into_iter().zip(at) {
            coord[a] = i32::try_from(x).ok()?;
        }
        let block = mesh.forest.find(finest, coord.map(|c| c >> 2))?;
        let up = finest - usize::from(mesh.forest.level[block as usize]);
        let cell = dims::ravel(coord.map(|c| c >> up & 3), 4) as u32;
        Some(CellRef { block, cell })
    }

    /// The leaf cells that the plane cuts, each once.
    pub(super) fn cells<const D: usize>(&self, mesh: &Mesh<D>) -> Vec<CellRef> {
        leaf_cells(mesh, |low, edge| match self.normal {
            Some((axis, _)) => (low[axis]..low[axis] + edge).contains(&self.layer),
            None => true,
        })
    }
}

/// The leaf cells that intersect a box, in the length unit of the mesh.
pub(super) fn cells_in<const D: usize>(mesh: &Mesh<D>, [low, high]: [[f64; D]; 2]) -> Vec<CellRef> {
    let dx = mesh.frame.dx_at(mesh.forest.finest());
    let scaled =
        |x: [f64; D]| -> [f64; D] { std::array::from_fn(|a| (x[a] - mesh.frame.origin[a]) / dx) };
    let (low, high) = (scaled(low), scaled(high));
    leaf_cells(mesh, |at, edge| {
        (0..D).all(|a| (at[a] as f64) < high[a] && (at[a] + edge) as f64 > low[a])
    })
}

/// The leaf cells that `meets` accepts, by lower corner and edge in finest cells; it is called for blocks as well.
fn leaf_cells<const D: usize>(
    mesh: &Mesh<D>,
    meets: impl Fn([i64; D], i64) -> bool,
) -> Vec<CellRef> {
    let forest = &mesh.forest;
    let mut found = Vec::new();
    let mut waiting: Vec<u32> = forest.levels[0].iter().rev().copied().collect();
    while let Some(block) = waiting.pop() {
        let up = forest.finest() - usize::from(forest.level[block as usize]);
        let low = forest.coord[block as usize].map(|c| i64::from(c) * 4);
        if !meets(low.map(|c| c << up), 4 << up) {
            continue;
        }
        let first = forest.first_child[block as usize];
        if first != NONE {
            waiting.extend((first..first + dims::children(D) as u32).rev());
            continue;
        }
        for cell in 0..dims::cells(D) as u32 {
            let local = dims::unravel::<D>(cell as usize, 4);
            let corner = std::array::from_fn(|a| (low[a] + i64::from(local[a])) << up);
            if meets(corner, 1 << up) {
                found.push(CellRef { block, cell });
            }
        }
    }
    found
}
