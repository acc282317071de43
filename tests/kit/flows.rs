//! Flows with known answers, on any backend.

use crate::bodies;
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    primitives::Shape2,
    snap::Snapped,
};
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeFlow, LatticeKind, Les, Params, PatchCondition,
    Plan, Precision, Snapshot, WallScheme, kernels::FlowKernels,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, Region};

/// A backend that runs flows in 2D and in 3D.
pub trait AnyFlow: FlowKernels<2> + FlowKernels<3> {}
impl<K: FlowKernels<2> + FlowKernels<3>> AnyFlow for K {}

/// A box of root cells of size 1 without a body, refined in regions.
///
/// # Panics
/// Where it cannot be meshed.
pub fn empty_box<const D: usize>(cells: [u32; D], levels: usize, regions: Vec<Region>) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    let frame = Frame::new([0.0; D], 1.0, cells).expect("a box");
    let params = EmbedParams {
        regions,
        ..EmbedParams::new(levels, 0.0, Fill::NonZero)
    };
    let surface = Surface::<D>::single_patch(Vec::new(), Vec::new(), "none");
    let none: Snapped<D> = cutlink_voxelizer::prepare(&Host, &surface, &frame, &params)
        .expect("nothing should snap")
        .0;
    bodies::mesh(&none, frame, &params)
}

/// A rectangle about a point; patches `x-`, `x+`, `y-`, `y+`.
///
/// # Panics
/// Where its size is none.
pub fn rectangle(size: [f64; 2], middle: [f64; 2]) -> Surface<2> {
    let shape = Shape2::Rectangle { size };
    let mut surface: Surface<2> = shape.surface(1e-3).expect("a rectangle");
    for p in &mut surface.vertices {
        *p = [p[0] + middle[0], p[1] + middle[1]];
    }
    surface
}

/// The inside of a [`rectangle`], in a box of root cells of size 1.
///
/// # Panics
/// Where it cannot be meshed.
pub fn inside_of_rectangle(size: [f64; 2], middle: [f64; 2], cells: [u32; 2]) -> Mesh<2> {
    let surface = rectangle(size, middle);
    let frame = Frame::new([0.0; 2], 1.0, cells).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(1, 0.0, Fill::Even))
}

/// Two relaxation times, cubic interpolation, f64, all faces periodic, still linear walls.
pub fn params<const D: usize>(mesh: &Mesh<D>, viscosity: f64) -> Params<D> {
    Params {
        lattice: if D == 2 {
            LatticeKind::D2Q9
        } else {
            LatticeKind::D3Q19
        },
        collision: Collision::Trt { magic: 3.0 / 16.0 },
        les: Les::None,
        precision: Precision::F64,
        viscosity,
        acceleration: [0.0; D],
        faces: [[FaceCondition::Periodic; 2]; D],
        patches: vec![PatchCondition::wall(WallScheme::Linear); mesh.patches.len()],
        modeled: Vec::new(),
        interpolation: Interpolation::Cubic,
        moment_center: mesh.frame.root_cells.map(|n| 0.5 * f64::from(n)),
        forces: false,
        variations: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
    }
}

/// Starts a flow.
///
/// # Panics
/// Where it cannot be.
pub fn start<'a, const D: usize, K: FlowKernels<D>>(
    kernels: &K,
    mesh: &'a Mesh<D>,
    params: Params<D>,
) -> Box<dyn LatticeFlow<D> + 'a> {
    let plan = Plan::new(mesh, params).unwrap_or_else(|e| panic!("{e}"));
    plan.start(kernels).unwrap_or_else(|e| panic!("{e}"))
}

/// Calls with position (root cells from the lower corner), volume (root cells), density and velocity of every fluid
/// leaf cell.
pub fn each_cell<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    mut of: impl FnMut([f64; D], f64, f64, [f64; D]),
) {
    let cells = cutlink_amr::dims::cells(D);
    for id in mesh.forest.leaves() {
        let level = usize::from(mesh.forest.level[id as usize]);
        let dx = 1.0 / f64::from(1u32 << level);
        for cell in 0..cells {
            if mesh.classes.solid[id as usize] >> cell & 1 == 1 {
                continue;
            }
            let at = mesh.forest.cell_coord(cutlink_amr::CellRef {
                block: id,
                cell: cell as u32,
            });
            let i = id as usize * cells + cell;
            of(
                at.map(|c| dx * (f64::from(c) + 0.5)),
                dx.powi(D as i32),
                f64::from(snapshot.density[i]),
                std::array::from_fn(|a| f64::from(snapshot.velocity[a][i])),
            );
        }
    }
}

/// The L2 error of the velocity over that of the expected one, and mass and momentum.
pub fn errors<const D: usize>(
    mesh: &Mesh<D>,
    snapshot: &Snapshot<D>,
    expected: impl Fn([f64; D]) -> [f64; D],
) -> (f64, f64, [f64; D]) {
    let (mut wrong, mut all, mut mass, mut momentum) = (0.0, 0.0, 0.0, [0.0; D]);
    each_cell(mesh, snapshot, |x, volume, density, u| {
        let e = expected(x);
        mass += volume * density;
        for a in 0..D {
            wrong += volume * (u[a] - e[a]).powi(2);
            all += volume * e[a].powi(2);
            momentum[a] += volume * density * u[a];
        }
    });
    ((wrong / all).sqrt(), mass, momentum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wrong_cell_is_seen() {
        let mesh = empty_box([8, 8], 1, Vec::new());
        let count = 16 * mesh.forest.capacity();
        let uniform = Snapshot {
            step: 0,
            density: vec![1.0; count],
            velocity: [vec![0.5; count], vec![0.0; count]],
        };
        let found = |snapshot: &Snapshot<2>| errors(&mesh, snapshot, |_| [0.5, 0.0]);
        assert_eq!(found(&uniform), (0.0, 64.0, [32.0, 0.0]));
        // A fifth of the velocity in one of 64 cells.
        let mut off = uniform.clone();
        off.velocity[1][17] = 0.1;
        let (error, ..) = found(&off);
        assert!((error - 0.2 / 8.0).abs() < 1e-8, "{error}");
        off.velocity[1][17] = f32::NAN;
        assert!(found(&off).0.is_nan(), "a velocity");
        off.density[17] = f32::NAN;
        assert!(found(&off).1.is_nan(), "a density");
    }
}
