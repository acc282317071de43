//! Meshes and parameters that the tests share.

use cutlink_amr::{Forest, Mark};
use cutlink_device::Host;
use cutlink_vof::{
    BoxFace, FlowMesh, FlowParams, InterfaceAdaptation, LiquidShape, Phases, TwoPhaseFlow,
};

/// A mesh of a box that is 1 long along x, of so many levels; blocks of a level have children where `wanted` says so of
/// centre and half width.
pub(crate) fn mesh<const D: usize>(
    root: [u32; D],
    periodic: [bool; D],
    levels: usize,
    wanted: impl Fn([f64; D], f64) -> bool,
) -> FlowMesh<D> {
    let forest = forest(root, periodic, levels, wanted);
    FlowMesh::new(&forest, [0.0; D], 0.25 / f64::from(root[0]), Vec::new()).expect("a mesh")
}

pub(crate) fn forest<const D: usize>(
    root: [u32; D],
    periodic: [bool; D],
    levels: usize,
    wanted: impl Fn([f64; D], f64) -> bool,
) -> Forest<D> {
    let unit = 1.0 / f64::from(root[0]);
    let mut forest = Forest::new(&Host, root)
        .expect("a root grid")
        .with_periodic(periodic);
    for level in 0..levels - 1 {
        let mut marks = vec![Mark::Keep as u8; forest.capacity()];
        for &id in forest.levels.get(level).into_iter().flatten() {
            let half = 0.5 * unit / f64::from(1u32 << level);
            let centre = forest.coord[id as usize].map(|c| f64::from(2 * c + 1) * half);
            if wanted(centre, half) {
                marks[id as usize] = Mark::Refine as u8;
            }
        }
        forest.adapt(&Host, &mut marks).expect("memory");
    }
    let keep = vec![Mark::Keep as u8; forest.capacity()];
    let same = forest.refined_after(&Host, &keep).expect("memory");
    forest.rebuilt(&Host, &same).expect("memory").0
}

/// A closed box with slip walls, no forces, densities and viscosities of 1 and 0.
pub(crate) fn params<const D: usize>() -> FlowParams<D> {
    FlowParams {
        phases: Phases {
            density: [1.0; 2],
            viscosity: [0.0; 2],
            surface_tension: 0.0,
        },
        gravity: [0.0; D],
        turning: None,
        faces: [[BoxFace::Slip; 2]; D],
        contact_angles: [[std::f64::consts::FRAC_PI_2; 2]; D],
        courant: 0.5,
        longest_step: 1.0,
        tolerance: 1e-9,
        fixed_curvature: None,
    }
}

pub(crate) fn levels(levels: usize) -> InterfaceAdaptation {
    InterfaceAdaptation {
        levels,
        margin: 4,
        vorticity: None,
        coarsen: 0.5,
        max_cells: u64::MAX,
    }
}

/// A flow on a mesh of some levels that follows its liquid, which all levels are around at first; the box is 1 long.
pub(crate) fn followed<const D: usize>(
    root: [u32; D],
    params: FlowParams<D>,
    liquid: &[LiquidShape<D>],
    adaptation: InterfaceAdaptation,
) -> TwoPhaseFlow<D> {
    let finest = 0.25 / f64::from(root[0]) / f64::from(1u32 << (adaptation.levels - 1));
    let near = |c: [f64; D], half: f64| {
        let corner = |sign: f64| c.map(|x| x + sign * half);
        let of = |shape: &LiquidShape<D>| shape.touches(corner(-1.0), corner(1.0), 4.0 * finest);
        liquid.iter().any(of)
    };
    let fine = forest(root, [false; D], adaptation.levels, near);
    let width = 0.25 / f64::from(root[0]);
    let mesh = FlowMesh::new(&fine, [0.0; D], width, Vec::new()).expect("a mesh");
    let mut flow = TwoPhaseFlow::new(mesh, params, liquid).expect("a flow");
    let floor = forest(root, [false; D], 1, |_, _| false);
    flow.follow(fine, floor, adaptation)
        .expect("a flow that is followed");
    flow
}

/// Leaves' cells: number, centre, width.
pub(crate) fn cells<const D: usize>(mesh: &FlowMesh<D>) -> Vec<(usize, [f64; D], f64)> {
    let blocks = mesh.blocks();
    let count = 4usize.pow(D as u32);
    let of = |b: usize| (0..count).map(move |c| (b, c));
    let cell = |(b, c): (usize, usize)| (b * count + c, mesh.centre(b, c), mesh.width_of(b));
    (0..blocks.len())
        .filter(|&b| blocks.is_leaf(b))
        .flat_map(of)
        .map(cell)
        .collect()
}

/// The pressure of the cell at a point.
pub(crate) fn pressure_at(flow: &TwoPhaseFlow<2>, at: [f64; 2]) -> f64 {
    let near =
        |&(_, c, h): &(usize, [f64; 2], f64)| (0..2).all(|a| (c[a] - at[a]).abs() <= 0.5 * h);
    let (n, ..) = cells(flow.mesh()).into_iter().find(near).expect("a cell");
    flow.pressure()[n]
}

/// Advances a flow to a time, with the mesh adapted where that is due. Returns how many blocks changed.
pub(crate) fn advance(flow: &mut TwoPhaseFlow<2>, end: f64) -> u64 {
    let mut changes = 0;
    while flow.time() < end - 1e-12 {
        if let Some(look) = flow.adapt_if_due().expect("a look") {
            changes += look.refined + look.coarsened;
        }
        flow.step(end - flow.time()).expect("a step");
    }
    changes
}
