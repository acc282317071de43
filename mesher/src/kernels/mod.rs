//! The stages of binning, for a backend to implement.
//!
//! | stage | contract | files in `cpu/` and `cuda/` |
//! |---|---|---|
//! | [`facet_set`](BinKernels::facet_set) | the surface's facets, in Morton order | `facets` |
//! | [`bin_root`](BinKernels::bin_root) | facets of every box of a uniform grid | `bins` |
//! | [`bin_children`](BinKernels::bin_children) | facets of child boxes, from their parents' | `bins` |
//!
//! All are exact, and the bins so: a facet is listed iff it meets the closed box grown on every side by an
//! eighth of its edge (half a cell of a block of four), lists in ascending facet order.

mod cpu;
#[cfg(feature = "cuda")]
mod cuda;
#[cfg(feature = "cuda")]
pub use cuda::Caps;
mod repeats;
pub use repeats::Repeats;

use crate::{
    exact::Facet,
    robust::{CapTree, RobustReport},
    snap::Snapped,
};
use cutlink_device::{Backend, DeviceError, Host, memory};
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};

/// A snapped surface in a backend's memory: its corners facet by facet, in an order in which
/// neighbours in space are neighbours in memory (Morton 1966, by the lowest corner). So a list of
/// facets, which is always ascending, is read nearly in sequence, at every level. No
/// result depends on the order.
///
/// Its arrays are read as fields (see [`FacetArrays`]). Made by [`BinKernels::facet_set`]; on the host they may be
/// changed directly.
#[derive(Debug)]
pub struct FacetSet<const D: usize, B: Backend = Host>(FacetArrays<D, B>);

/// The arrays of a [`FacetSet`].
#[derive(Debug)]
pub struct FacetArrays<const D: usize, B: Backend = Host> {
    /// Corners of each facet; walls first, then caps.
    pub corners: B::Buf<[[i32; D]; D]>,
    /// Patch of each facet, or empty where the surface has one patch.
    pub patch: B::Buf<u16>,
    /// How often each facet counts in winding numbers; empty where each counts once. See [`Repeats`].
    pub times: B::Buf<i32>,
    /// Number of patches; each entry of `patch` is below it.
    pub patches: usize,
    /// Facets that are walls; those behind them are caps, for winding numbers only.
    pub walls: u32,
    /// Largest extent of a facet along an axis.
    pub extent: i32,
}

impl<const D: usize, B: Backend> Deref for FacetSet<D, B> {
    type Target = FacetArrays<D, B>;

    #[inline]
    fn deref(&self) -> &FacetArrays<D, B> {
        &self.0
    }
}

impl<const D: usize> DerefMut for FacetSet<D, Host> {
    fn deref_mut(&mut self) -> &mut FacetArrays<D, Host> {
        &mut self.0
    }
}

impl<const D: usize, B: Backend> FacetSet<D, B> {
    /// A copy on the host.
    ///
    /// # Errors
    /// Where memory runs out or the device fails.
    pub fn download(&self, backend: &B) -> Result<FacetSet<D>, DeviceError> {
        Ok(FacetSet(FacetArrays {
            corners: backend.download(&self.corners)?,
            patch: backend.download(&self.patch)?,
            times: backend.download(&self.times)?,
            patches: self.patches,
            walls: self.walls,
            extent: self.extent,
        }))
    }
}

impl<const D: usize> FacetSet<D> {
    /// The corners of facet `f`.
    #[inline]
    pub fn facet(&self, f: u32) -> Facet<D> {
        Facet(self.corners[f as usize])
    }

    /// How often facet `f` counts in winding numbers.
    #[inline]
    pub fn times(&self, f: u32) -> i32 {
        self.times.get(f as usize).copied().unwrap_or(1)
    }

    /// Replaces the facets from `first` on by those of another set, of the same patches and without caps. Cost: that of the
    /// facets of the other set.
    ///
    /// # Panics
    /// Where one of the sets has patches and the other one has none, or this one has caps.
    pub fn replace_from(&mut self, first: usize, by: &Self) {
        let set = &mut self.0;
        assert_eq!(set.patches, by.patches, "patches of two sets");
        assert!(
            set.walls as usize == set.corners.len() && by.walls as usize == by.corners.len(),
            "sets should have no caps"
        );
        set.corners.truncate(first);
        set.corners.extend_from_slice(&by.corners);
        set.patch.truncate(first);
        set.patch.extend_from_slice(&by.patch);
        set.times.truncate(first);
        if !(set.times.is_empty() && by.times.is_empty()) {
            set.times.resize(first, 1);
            set.times.extend_from_slice(&by.times);
            set.times.resize(set.corners.len(), 1);
        }
        set.walls = set.corners.len() as u32;
        set.extent = set.extent.max(by.extent);
    }
}

/// Facet lists of consecutive boxes, compressed by rows.
///
/// Its arrays are read as fields (see [`BinArrays`]). Made by [`BinKernels`]; on the host they may be changed directly.
#[derive(Debug)]
pub struct Bins<B: Backend = Host> {
    arrays: BinArrays<B>,
    /// Facets of the set that the lists are of: no entry is as large.
    set_len: usize,
}

/// The arrays of [`Bins`].
#[derive(Debug)]
pub struct BinArrays<B: Backend = Host> {
    /// First entry of each box, and the number of entries.
    pub starts: B::Buf<u32>,
    /// Facet indices, ascending in each list.
    pub facets: B::Buf<u32>,
    /// The boxes that have entries, ascending.
    pub rows: B::Buf<u32>,
}

impl<B: Backend> Deref for Bins<B> {
    type Target = BinArrays<B>;

    #[inline]
    fn deref(&self) -> &BinArrays<B> {
        &self.arrays
    }
}

impl DerefMut for Bins<Host> {
    fn deref_mut(&mut self) -> &mut BinArrays<Host> {
        &mut self.arrays
    }
}

impl<B: Backend> Bins<B> {
    /// Boxes, with entries or without.
    pub fn boxes(&self) -> usize {
        B::len(&self.starts) - 1
    }

    /// Facets of the [`FacetSet`] that the lists are of.
    pub fn set_len(&self) -> usize {
        self.set_len
    }

    /// A copy on the host.
    ///
    /// # Errors
    /// Where memory runs out or the device fails.
    pub fn download(&self, backend: &B) -> Result<Bins, DeviceError> {
        let arrays = BinArrays {
            starts: backend.download(&self.starts)?,
            facets: backend.download(&self.facets)?,
            rows: backend.download(&self.rows)?,
        };
        Ok(Bins {
            arrays,
            set_len: self.set_len,
        })
    }
}

impl Bins {
    /// The facets of box `i`.
    #[inline]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.facets[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// The lists of some boxes, in the order in which they are named.
    ///
    /// # Errors
    /// Where memory is short.
    ///
    /// # Panics
    /// Where a box does not exist.
    pub fn of_boxes(&self, boxes: &[u32]) -> Result<Self, DeviceError> {
        let total = boxes.iter().map(|&b| self.of(b as usize).len() as u64);
        let mut lists = ListWriter::new(boxes.len(), total.sum())?;
        for &b in boxes {
            lists.push(self.of(b as usize).iter().copied());
        }
        Ok(lists.finish(self.set_len))
    }

    /// The lists of the same boxes for this set of facets followed by another one: each list followed by the other one's.
    ///
    /// # Errors
    /// Where memory is short, or the lists have more than 2^32 - 1 entries.
    ///
    /// # Panics
    /// Where the numbers of boxes differ.
    pub fn followed_by(&self, next: &Self) -> Result<Self, DeviceError> {
        assert_eq!(self.boxes(), next.boxes(), "boxes of two sets");
        let total = (self.facets.len() + next.facets.len()) as u64;
        let mut lists = ListWriter::new(self.boxes(), total)?;
        let shift = self.set_len as u32;
        for b in 0..self.boxes() {
            let (own, next) = (self.of(b).iter(), next.of(b).iter());
            lists.push(own.copied().chain(next.map(|f| f + shift)));
        }
        Ok(lists.finish(self.set_len + next.set_len))
    }
}

/// Lists as they are written, box by box.
struct ListWriter {
    arrays: BinArrays,
}

impl ListWriter {
    fn new(boxes: usize, total: u64) -> Result<Self, DeviceError> {
        checked_entries(&Host, total)?;
        let mut starts = memory::with_capacity("facet lists", boxes + 1)?;
        starts.push(0);
        Ok(Self {
            arrays: BinArrays {
                starts,
                facets: memory::with_capacity("facet lists", total as usize)?,
                rows: Vec::new(),
            },
        })
    }

    fn push(&mut self, list: impl Iterator<Item = u32>) {
        let arrays = &mut self.arrays;
        let before = arrays.facets.len();
        arrays.facets.extend(list);
        if arrays.facets.len() > before {
            arrays.rows.push(arrays.starts.len() as u32 - 1);
        }
        arrays.starts.push(arrays.facets.len() as u32);
    }

    fn finish(self, set_len: usize) -> Bins {
        let arrays = self.arrays;
        Bins { arrays, set_len }
    }
}

/// Consecutive boxes of a level and where their parents are.
#[derive(Debug, Clone, Copy)]
pub struct ChildBoxes<'a, const D: usize, B: Backend> {
    /// Coordinates by box id, in box edges of the box's own level.
    pub coord: &'a B::Buf<[i32; D]>,
    /// Parent id by box id.
    pub parent: &'a B::Buf<u32>,
    /// First child by id, of the parents.
    pub first_child: &'a B::Buf<u32>,
    /// Id of the first box.
    pub first: usize,
    /// Number of boxes: whole groups of 2^D siblings.
    pub count: usize,
    /// Id of the box that row 0 of the parents' bins belongs to.
    pub first_parent: usize,
    /// Edge of a child box in lattice units.
    pub edge: i32,
}

impl<const D: usize, B: Backend> ChildBoxes<'_, D, B> {
    /// # Panics
    /// Where an array is shorter than ids and lists ask for.
    fn check(&self, set: &FacetSet<D, B>, parents: &Bins<B>) {
        let Self {
            first,
            count,
            first_parent,
            ..
        } = *self;
        let ids = (first + count).max(first_parent + parents.boxes());
        assert!(
            count.is_multiple_of(1 << D) && self.edge > 0,
            "child boxes should be whole groups of 2^{D} and have an edge, not {count} of edge {}",
            self.edge
        );
        assert!(
            u32::try_from(ids).is_ok_and(|ids| ids < u32::MAX),
            "{ids} box ids should fit 32 bits"
        );
        for (what, len) in [
            ("coordinates", B::len(self.coord)),
            ("parents", B::len(self.parent)),
            ("first children", B::len(self.first_child)),
        ] {
            assert!(len >= ids, "{len} {what} for {ids} box ids");
        }
        check_set(set, parents);
    }
}

/// # Panics
/// Where the lists are of another set.
fn check_set<const D: usize, B: Backend>(set: &FacetSet<D, B>, bins: &Bins<B>) {
    let (len, of) = (B::len(&set.corners), bins.set_len);
    assert!(len == of, "lists of {of} facets for a set of {len}");
}

/// The number of boxes of a grid.
///
/// # Panics
/// Where 32 bits do not hold it, or the edge is not positive.
fn grid_boxes<const D: usize>(boxes: [u32; D], edge: i32) -> usize {
    let count = boxes.iter().try_fold(1u32, |n, &b| n.checked_mul(b));
    let count = count.filter(|&n| n < u32::MAX && edge > 0);
    count.unwrap_or_else(|| {
        panic!("a grid of {boxes:?} boxes of edge {edge} should have ids of 32 bits")
    }) as usize
}

/// # Panics
/// Where facets name vertices or patches that are not there.
fn check_snapped<const D: usize>(surface: &Snapped<D>) {
    let (vertices, facets) = (surface.vertices.len(), surface.facets.len());
    assert!(
        u32::try_from(facets).is_ok_and(|n| n < u32::MAX) && surface.caps <= facets,
        "{facets} facets, {} of them caps, should be numbered with 32 bits",
        surface.caps
    );
    // By facet and in long runs: a parallel iterator over every corner takes longer than the upload.
    let corners = surface.facets.par_iter().with_min_len(1 << 14);
    let corner = corners.map(|facet| facet.iter().copied().fold(0, u32::max));
    let corner = corner.max();
    assert!(
        corner.is_none_or(|v| (v as usize) < vertices),
        "corner {corner:?} of {vertices} vertices"
    );
    // Where facets have no patch each, all belong to patch 0.
    let patch = surface.facet_patch.par_iter().with_min_len(1 << 14).max();
    assert!(
        patch.is_none_or(|&p| usize::from(p) < surface.patches.len()),
        "patch {patch:?} of {}",
        surface.patches.len()
    );
}

/// The number of list entries, if 32 bits hold it.
///
/// # Errors
/// [`DeviceError::OutOfMemory`] where they do not, on every backend alike.
fn checked_entries<B: Backend>(backend: &B, total: u64) -> Result<u32, DeviceError> {
    u32::try_from(total).map_err(|_| DeviceError::OutOfMemory {
        memory: B::MEMORY,
        what: "facet lists of 2^32 entries or more",
        requested: total.saturating_mul(4),
        free: backend.free_bytes(),
    })
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for cutlink_device::Host {}
    #[cfg(feature = "cuda")]
    impl Sealed for cutlink_device::cuda::Cuda {}
}

/// The stages of binning; see the module's table. Sealed: the backends are those of `cutlink-device`.
///
/// Stages panic where arrays that belong together differ in length. They end in [`DeviceError::OutOfMemory`] where
/// memory runs out, and where lists have more than 2^32 - 1 entries in all.
pub trait BinKernels<const D: usize>: Backend + sealed::Sealed {
    /// Orients and closes a surface, on the host: see [`crate::robust::close`].
    fn close(&self, surface: &mut Snapped<D>) -> RobustReport;

    /// The angle of a surface's caps.
    fn gaps(&self, surface: &Snapped<D>) -> CapTree<D>;

    /// Copies a surface into the backend's memory. Walls are sorted by the Morton number of
    /// their lowest corner (the upper 21 bits of a coordinate in 3D, 30 in 2D), and by
    /// their number where that is the same; caps keep their order. Patches are dropped where the
    /// surface has only one. Facets on the same corners are merged if `repeats` says so. Cost: two sorts of the facets.
    ///
    /// # Panics
    /// Where facets name vertices or patches that are not there.
    fn facet_set(
        &self,
        surface: &Snapped<D>,
        repeats: Repeats,
    ) -> Result<FacetSet<D, Self>, DeviceError>;

    /// Bins of a grid of `boxes` boxes an axis with the given edge, x fastest, lower corner
    /// at lattice point 0.
    fn bin_root(
        &self,
        set: &FacetSet<D, Self>,
        boxes: [u32; D],
        edge: i32,
    ) -> Result<Bins<Self>, DeviceError>;

    /// Bins of child boxes; the parents' bins hold every facet that a child can meet.
    fn bin_children(
        &self,
        set: &FacetSet<D, Self>,
        parents: &Bins<Self>,
        children: ChildBoxes<'_, D, Self>,
    ) -> Result<Bins<Self>, DeviceError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_2_to_32_entries_are_refused() {
        let most = u64::from(u32::MAX);
        assert_eq!(checked_entries(&Host, most), Ok(u32::MAX));
        for total in [most + 1, most + 2, u64::MAX] {
            match checked_entries(&Host, total) {
                Err(DeviceError::OutOfMemory { requested, .. }) => {
                    assert_eq!(requested, total.saturating_mul(4));
                }
                other => panic!("{total}: {other:?}"),
            }
        }
    }

    #[test]
    fn lists_of_some_boxes_and_of_two_sets() {
        let bins = |lists: &[&[u32]], set_len: usize| {
            let mut made = ListWriter::new(lists.len(), 0).expect("memory");
            for list in lists {
                made.push(list.iter().copied());
            }
            made.finish(set_len)
        };
        let first = bins(&[&[0, 2], &[], &[1], &[]], 3);
        assert_eq!(
            (&first.starts[..], &first.rows[..]),
            (&[0, 2, 2, 3, 3][..], &[0, 2][..])
        );
        let some = first.of_boxes(&[2, 1, 0]).expect("memory");
        assert_eq!(some.boxes(), 3);
        assert_eq!(
            [some.of(0), some.of(1), some.of(2)],
            [&[1][..], &[], &[0, 2]]
        );
        let next = bins(&[&[], &[1], &[0, 1], &[]], 2);
        let both = first.followed_by(&next).expect("memory");
        assert_eq!(both.set_len(), 5);
        let expected: [&[u32]; 4] = [&[0, 2], &[4], &[1, 3, 4], &[]];
        assert!((0..4).all(|b| both.of(b) == expected[b]), "{both:?}");
        assert_eq!(both.rows, [0, 1, 2]);
    }

    #[test]
    fn grids_beyond_32_bits_are_refused() {
        assert_eq!(grid_boxes([3, 1, 5], 4), 15);
        let refused =
            |boxes, edge| std::panic::catch_unwind(|| grid_boxes::<2>(boxes, edge)).is_err();
        assert!(refused([1 << 16, 1 << 16], 4) && refused([1, u32::MAX], 4) && refused([3, 1], 0));
        assert!(!refused([1 << 16, 1 << 15], 4));
    }
}
