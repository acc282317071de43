//! From surfaces to meshes, and maps of surfaces on the lattice.

use crate::chains::{CELL, Soup};
use crate::worst;
use cutlink_device::Host;
use cutlink_mesher::{
    Surface,
    exact::{Exact, Facet},
    snap::{SnapLattice, Snapped},
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh, check_periodic, embed, prepare, validate};

/// Parameters without a wall distance, filled by `nonzero`.
pub fn levels(levels: usize) -> EmbedParams {
    EmbedParams::new(levels, 0.0, Fill::NonZero)
}

/// Embeds a snapped surface and validates the mesh.
///
/// # Panics
/// Where either fails.
pub fn mesh<const D: usize>(surface: &Snapped<D>, frame: Frame<D>, params: &EmbedParams) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    let mesh = embed(&Host, surface, frame, params, &mut ()).expect("the surface should embed");
    if let Err(violation) = validate(&mesh) {
        panic!("{violation}");
    }
    check_periodic(&mesh).expect("fluid and solid should have a crossing between them");
    mesh
}

/// Snaps to the frame's lattice, embeds and validates.
///
/// # Panics
/// Where one of them fails.
pub fn mesh_of<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Mesh<D>
where
    Facet<D>: Exact<D>,
{
    let (snapped, _) = prepare(&Host, surface, &frame, params).expect("the surface should snap");
    mesh(&snapped, frame, params)
}

/// The unit box with `cells` root cells an axis.
///
/// # Panics
/// Where that is not a multiple of 4.
pub fn unit_frame<const D: usize>(cells: u32) -> Frame<D> {
    Frame::new([0.0; D], 1.0 / f64::from(cells), [cells; D]).expect("a multiple of 4")
}

/// A frame around a surface's box with a margin of a quarter of the longest edge on every
/// side and about `cells` root cells on the longest axis.
///
/// # Panics
/// For a surface without extent.
pub fn frame_around<const D: usize>(surface: &Surface<D>, cells: u32) -> Frame<D> {
    let [low, high] = surface.bounds().expect("the surface should have facets");
    let longest = worst((0..D).map(|a| high[a] - low[a]));
    let dx = 1.5 * longest / f64::from(cells);
    let blocks = |a: usize| {
        ((high[a] - low[a] + 0.5 * longest) / (4.0 * dx))
            .ceil()
            .max(1.0)
    };
    let root_cells = std::array::from_fn(|a| 4 * blocks(a) as u32);
    let origin =
        std::array::from_fn(|a| 0.5 * (low[a] + high[a]) - 0.5 * dx * f64::from(root_cells[a]));
    Frame::new(origin, dx, root_cells).expect("the surface should have an extent")
}

/// The same points through a map of the lattice; sorted and welded again.
pub fn map_lattice<const D: usize>(
    surface: &Snapped<D>,
    map: impl Fn([i32; D]) -> [i32; D],
) -> Snapped<D> {
    let corners = |f: &[u32; D]| f.map(|v| map(surface.vertices[v as usize]));
    let patch = |f: usize| surface.facet_patch.get(f).copied().unwrap_or(0);
    let soup = Soup {
        facets: (0..surface.facets.len())
            .map(|f| (corners(&surface.facets[f]), patch(f)))
            .collect(),
    };
    Snapped {
        patches: surface.patches.clone(),
        lattice: surface.lattice,
        ..soup.snapped(surface.patches.len())
    }
}

/// Each triangle cut in four at the middles of its edges, which must be lattice points.
///
/// # Panics
/// For odd coordinates.
pub fn split_in_four(surface: &Snapped<3>) -> Snapped<3> {
    let middle = |p: [i32; 3], q: [i32; 3]| -> [i32; 3] {
        std::array::from_fn(|a| {
            assert_eq!((p[a] + q[a]) % 2, 0, "coordinates should be even");
            (p[a] + q[a]) / 2
        })
    };
    let mut soup = Soup::default();
    for (f, corners) in surface.facets.iter().enumerate() {
        let [a, b, c] = corners.map(|v| surface.vertices[v as usize]);
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        let patch = surface.facet_patch.get(f).copied().unwrap_or(0);
        for part in [[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]] {
            soup.facets.push((part, patch));
        }
    }
    Snapped {
        patches: surface.patches.clone(),
        lattice: surface.lattice,
        ..soup.snapped(surface.patches.len())
    }
}

/// A frame whose lattice unit is length 1, its lower corner at 0.
pub fn lattice_frame<const D: usize>(root_cells: [u32; D], levels: usize) -> Frame<D> {
    Frame {
        origin: [0.0; D],
        dx: f64::from(CELL << (levels - 1)),
        root_cells,
    }
}

/// The lattice of [`lattice_frame`].
pub fn unit_lattice<const D: usize>() -> SnapLattice<D> {
    SnapLattice {
        origin: [0.0; D],
        unit: 1.0,
    }
}

/// Signed volume of a snapped surface in lattice units, exact: a sixth of the sum.
pub fn six_volumes(surface: &Snapped<3>) -> i128 {
    let det = |[a, b, c]: [[i128; 3]; 3]| {
        a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0])
            + a[2] * (b[0] * c[1] - b[1] * c[0])
    };
    let corners = |f: &[u32; 3]| f.map(|v| surface.vertices[v as usize].map(i128::from));
    surface.facets.iter().map(|f| det(corners(f))).sum()
}
