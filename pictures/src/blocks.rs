//! Slices of a mesh for a page in a browser: the blocks that a plane cuts, and the section of the surface.

use crate::cut::Cut;
use crate::scale::number;
use cutlink_amr::NONE;
use cutlink_mesher::snap::Snapped;
use cutlink_report::{PageBlock, PageSlice};
use cutlink_voxelizer::Mesh;

/// The planes through the middle of the surface, or of the box without one or where the surface is elsewhere: their normal
/// axes, z first, and coordinates. One plane without a normal in 2D.
pub fn middle_planes<const D: usize>(
    mesh: &Mesh<D>,
    surface: Option<&Snapped<D>>,
) -> Vec<Option<(usize, f64)>> {
    if D < 3 {
        return vec![None];
    }
    let plane = |a: usize| {
        let (low, high) = (mesh.frame.origin[a], mesh.frame.upper()[a]);
        let of_body = surface.and_then(|surface| {
            let all = surface.vertices.iter().map(|v| f64::from(v[a]));
            let (from, to) = all.fold((f64::MAX, f64::MIN), |(l, h), x| (l.min(x), h.max(x)));
            let lattice = surface.lattice;
            let at = lattice.origin[a] + lattice.unit * 0.5 * (from + to);
            (at > low && at < high).then_some(at)
        });
        Some((a, of_body.unwrap_or(0.5 * (low + high))))
    };
    [2, 1, 0].map(plane).into()
}

/// The slice of a plane without blocks and values: its normal axis and coordinate, none in 2D.
pub fn empty_slice<const D: usize>(mesh: &Mesh<D>, normal: Option<(usize, f64)>) -> PageSlice {
    let frame = &mesh.frame;
    let (low, high) = (frame.origin, frame.upper());
    let axes = normal.map_or([0, 1], |(axis, _)| [[1, 2], [0, 2], [0, 1]][axis]);
    PageSlice {
        name: normal.map_or("the mesh".to_owned(), |(axis, at)| {
            format!("{} = {}", ["x", "y", "z"][axis], number(at, 4))
        }),
        axes,
        normal,
        bounds: [axes.map(|a| low[a]), axes.map(|a| high[a])],
        block_edge: 4.0 * frame.dx,
        ..PageSlice::default()
    }
}

/// Adds the section of the surface to a slice.
pub fn add_section<const D: usize>(mesh: &Mesh<D>, surface: &Snapped<D>, slice: &mut PageSlice) {
    let cut = Cut::new(mesh, surface, slice.normal, slice.axes);
    slice.is_closed = cut.is_closed;
    slice.outline = cut.all().copied().collect();
}

/// The leaf blocks that the plane of a slice cuts; a plane between blocks cuts the upper ones.
pub fn blocks_in<const D: usize>(mesh: &Mesh<D>, slice: &PageSlice) -> Vec<PageBlock> {
    let forest = &mesh.forest;
    let is_cut = |id: u32| {
        let Some((axis, at)) = slice.normal else {
            return true;
        };
        let level = usize::from(forest.level[id as usize]);
        let edge = 4.0 * mesh.frame.dx_at(level);
        let last = (mesh.frame.root_cells[axis] as i64 / 4) << level;
        let layer = ((at - mesh.frame.origin[axis]) / edge).floor() as i64;
        i64::from(forest.coord[id as usize][axis]) == layer.clamp(0, last - 1)
    };
    let block = |id: u32| PageBlock {
        at: slice
            .axes
            .map(|a| forest.coord[id as usize][a].max(0) as u32),
        level: forest.level[id as usize],
    };
    let all = forest.levels.iter().flatten().copied();
    let leaves = all.filter(|&id| forest.first_child[id as usize] == NONE);
    leaves.filter(|&id| is_cut(id)).map(block).collect()
}

/// The slices of a mesh through its middle, with their blocks and the section of the surface.
pub fn block_slices<const D: usize>(
    mesh: &Mesh<D>,
    surface: Option<&Snapped<D>>,
) -> Vec<PageSlice> {
    let planes = middle_planes(mesh, surface).into_iter();
    let slice = |normal| {
        let mut slice = empty_slice(mesh, normal);
        if let Some(surface) = surface {
            add_section(mesh, surface, &mut slice);
        }
        slice.blocks = blocks_in(mesh, &slice);
        slice
    };
    planes.map(slice).collect()
}
