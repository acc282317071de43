//! Tables of a body's levels, for the tests here.

use crate::{
    Collision, FaceCondition, Interpolation, Les, Params, PatchCondition, Precision, WallScheme,
    lattice::Lattice,
    tables::{self, Built},
};
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, embed, prepare};

/// Levels about a body in the middle of a box of `2 half` root cells an edge.
pub(crate) fn levels<const D: usize, L: Lattice>(
    surface: &Surface<D>,
    half: u32,
    levels: usize,
    faces: [[FaceCondition<D>; 2]; D],
) -> Vec<Built<D>>
where
    Facet<D>: Exact<D>,
{
    let frame = Frame::new([-f64::from(half); D], 1.0, [2 * half; D]).expect("a box");
    let embedding = EmbedParams::new(levels, 1.0, Fill::NonZero);
    let (snapped, _) = prepare(&Host, surface, &frame, &embedding).expect("a surface");
    let mesh = embed(&Host, &snapped, frame, &embedding, &mut ()).expect("a mesh");
    let params = Params {
        lattice: L::KIND,
        collision: Collision::Bgk,
        les: Les::None,
        precision: Precision::F64,
        viscosity: 0.1,
        acceleration: [0.0; D],
        faces,
        patches: vec![PatchCondition::wall(WallScheme::Quadratic)],
        interpolation: Interpolation::Cubic,
        moment_center: [0.0; D],
        forces: false,
        variations: Vec::new(),
        modeled: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
    };
    tables::build_checked(&mesh, &params).expect("tables")
}
