//! The forest's arrays, and its root grid.

use crate::{FREE, ForestError, NONE, OUTSIDE, dims};
use cutlink_device::{Backend, Host};
use rayon::prelude::*;
use std::ops::{Deref, DerefMut};

/// Levels a forest can have, the root level included.
pub const MAX_LEVELS: usize = 29;

/// A forest of blocks.
///
/// Its arrays are read as fields (`forest.coord`, see [`ForestArrays`]). Those of a forest in a device's memory change
/// by [`adapt`](Self::adapt) and [`refine`](Self::refine) alone, because kernels there follow their ids without bounds
/// checks; on the host they may be changed directly, and [`validate`](Self::validate) tells whether they are still a
/// forest.
///
/// Memory: [`bytes_per_block`], of which a root block takes [`bytes_per_root_block`].
#[derive(Debug)]
pub struct Forest<const D: usize, B: Backend = Host> {
    pub(crate) arrays: ForestArrays<D, B>,
    /// See [`is_contiguous`](Self::is_contiguous).
    pub(crate) contiguous: bool,
}

/// The arrays of a [`Forest`]. Those that are not of another length are indexed by block id.
#[derive(Debug)]
pub struct ForestArrays<const D: usize, B: Backend = Host> {
    /// Root blocks on each axis.
    pub root: [u32; D],
    /// Axes along which the box is periodic: its last blocks are neighbours of its first ones.
    pub periodic: [bool; D],
    /// Block coordinates at the block's level.
    pub coord: B::Buf<[i32; D]>,
    /// Level of the block, or [`FREE`].
    pub level: B::Buf<u8>,
    /// The block it is a child of, or [`NONE`] for a root block.
    pub parent: B::Buf<u32>,
    /// First of 2^D contiguous children, or [`NONE`] for a leaf.
    pub first_child: B::Buf<u32>,
    /// 4^D ids for each group of 2^D siblings: the blocks of the same level in and around the parent's place, x
    /// fastest; [`NONE`] where there is none, [`OUTSIDE`] beyond a face of the box that is not
    /// periodic; beyond a periodic face lie the blocks of the other side. Groups in the order of their ids, which begin
    /// after the root blocks'; entries of a free group are unspecified. Read it by [`neighbor`](Forest::neighbor).
    pub families: B::Buf<u32>,
    /// Block ids by level.
    pub levels: Vec<B::Buf<u32>>,
    /// First ids of free sibling groups, the last one used next.
    pub gaps: Vec<u32>,
}

impl<const D: usize, B: Backend> Deref for Forest<D, B> {
    type Target = ForestArrays<D, B>;

    #[inline]
    fn deref(&self) -> &ForestArrays<D, B> {
        &self.arrays
    }
}

impl<const D: usize> DerefMut for Forest<D, Host> {
    #[inline]
    fn deref_mut(&mut self) -> &mut ForestArrays<D, Host> {
        &mut self.arrays
    }
}

/// Host bytes that a block of a forest takes, its place in its level's list included: 57 in 3D,
/// 37 in 2D.
pub const fn bytes_per_block(d: usize) -> u64 {
    bytes_per_root_block(d) + 4 * dims::children(d) as u64
}

/// Host bytes that a root block takes, which stores no neighbours: 25 in 3D, 21 in 2D.
pub const fn bytes_per_root_block(d: usize) -> u64 {
    (4 * d + 1 + 4 + 4 + 4) as u64
}

impl<const D: usize, B: Backend> Forest<D, B> {
    /// A forest of root blocks only, ids in x-fastest order.
    ///
    /// # Errors
    /// [`ForestError::RootGrid`] where an axis has no block or all have 2^31 or more; where memory is short.
    pub fn new(backend: &B, root: [u32; D]) -> Result<Self, ForestError> {
        let count: u64 = root.iter().map(|&n| u64::from(n)).product();
        if root.contains(&0) || root.iter().any(|&n| n >= 1 << 28) || count >= 1 << 31 {
            return Err(ForestError::RootGrid {
                blocks: root.to_vec(),
            });
        }
        backend.reserve("the root grid", count * bytes_per_root_block(D))?;
        let count = count as usize;
        let coord = (0..count).into_par_iter().map(|i| root_coord(root, i));
        let coord: Vec<[i32; D]> = coord.collect();
        let arrays = ForestArrays {
            root,
            periodic: [false; D],
            coord: backend.upload(coord)?,
            level: backend.alloc("block levels", count, 0)?,
            parent: backend.alloc("parents", count, NONE)?,
            first_child: backend.alloc("first children", count, NONE)?,
            families: backend.upload(Vec::new())?,
            levels: vec![backend.upload((0..count as u32).collect())?],
            gaps: Vec::new(),
        };
        Ok(Self {
            arrays,
            contiguous: true,
        })
    }

    /// The same forest, periodic along some axes.
    ///
    /// # Panics
    /// Where there are blocks beyond the root level: their neighbours are stored.
    #[must_use]
    pub fn with_periodic(mut self, periodic: [bool; D]) -> Self {
        assert!(
            self.levels.len() == 1,
            "periodicity should be set while there are root blocks only"
        );
        self.arrays.periodic = periodic;
        self
    }

    /// Whether block ids ascend from level to level without a gap, so that the blocks of level ℓ are those from the
    /// sum of the earlier levels' lengths on: so until a forest is coarsened, or refined at other levels than its two
    /// finest. Not kept up where the arrays are changed directly.
    pub fn is_contiguous(&self) -> bool {
        self.contiguous
    }

    /// # Panics
    /// Where there is not one mark for each block id.
    pub(crate) fn check_marks(&self, marks: &B::Buf<u8>) {
        let (len, blocks) = (B::len(marks), self.capacity());
        assert!(
            len == blocks,
            "marks should have one entry for each of the {blocks} block ids, not {len}"
        );
    }

    /// # Panics
    /// Where a level has no parents or does not exist.
    pub(crate) fn check_has_parents(&self, level: usize) {
        let levels = self.levels.len();
        assert!(
            (1..levels).contains(&level),
            "level {level} should be one of 1 to {} of the forest",
            levels - 1
        );
    }

    /// Root blocks on each axis, and 1 for each axis that is periodic: `Root` of `forest.cuh`.
    pub fn grid(&self) -> [[u32; D]; 2] {
        [self.root, self.periodic.map(u32::from)]
    }

    /// Ids in use or free: the length of the arrays.
    pub fn capacity(&self) -> usize {
        B::len(&self.level)
    }

    /// Blocks, leaves and refined ones alike.
    pub fn blocks(&self) -> usize {
        self.levels.iter().map(B::len).sum()
    }

    /// The index of the finest level that has blocks.
    pub fn finest(&self) -> usize {
        self.levels.len() - 1
    }

    /// Its table of first children.
    pub fn into_first_child(self) -> B::Buf<u32> {
        self.arrays.first_child
    }

    /// A copy on the host, ids unchanged.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    pub fn download(&self, backend: &B) -> Result<Forest<D>, ForestError> {
        let arrays = ForestArrays {
            root: self.root,
            periodic: self.periodic,
            coord: backend.download(&self.coord)?,
            level: backend.download(&self.level)?,
            parent: backend.download(&self.parent)?,
            first_child: backend.download(&self.first_child)?,
            families: backend.download(&self.families)?,
            levels: self
                .levels
                .iter()
                .map(|ids| backend.download(ids))
                .collect::<Result<_, _>>()?,
            gaps: self.gaps.clone(),
        };
        Ok(Forest {
            arrays,
            contiguous: self.contiguous,
        })
    }
}

impl<const D: usize> Forest<D> {
    /// A copy in a backend's memory, ids unchanged.
    ///
    /// # Errors
    /// Where memory is short or the device fails.
    ///
    /// # Panics
    /// Where the arrays were changed so that an id in them is of no block, or lengths differ: kernels would read beyond them.
    pub fn upload<B: Backend>(&self, backend: &B) -> Result<Forest<D, B>, ForestError> {
        self.check_bounds();
        let arrays = ForestArrays {
            root: self.root,
            periodic: self.periodic,
            coord: backend.upload(self.coord.clone())?,
            level: backend.upload(self.level.clone())?,
            parent: backend.upload(self.parent.clone())?,
            first_child: backend.upload(self.first_child.clone())?,
            families: backend.upload(self.families.clone())?,
            levels: (self.levels.iter())
                .map(|ids| backend.upload(ids.clone()))
                .collect::<Result<_, _>>()?,
            gaps: self.gaps.clone(),
        };
        Ok(Forest {
            arrays,
            contiguous: self.contiguous,
        })
    }

    fn check_bounds(&self) {
        if let Err(violation) = self.check_lengths() {
            panic!("the arrays of a forest should fit together: {violation}");
        }
        let blocks = self.capacity();
        let is_id = |&id: &u32| (id as usize) < blocks;
        let is_place = |id: &u32| *id >= OUTSIDE || is_id(id);
        let is_group = |&first: &u32| first == NONE || first as usize + dims::children(D) <= blocks;
        let is_level = |&level: &u8| level == FREE || usize::from(level) < self.levels.len();
        let is_sound = self.parent.par_iter().all(is_place)
            && self.first_child.par_iter().all(is_group)
            && self.families.par_iter().all(is_place)
            && self.level.par_iter().all(is_level)
            && self.levels.iter().all(|ids| ids.par_iter().all(is_id));
        assert!(is_sound, "an id of a forest should be of a block");
    }
}

/// The block coordinate of a root block.
fn root_coord<const D: usize>(root: [u32; D], id: usize) -> [i32; D] {
    let mut rest = id as u64;
    root.map(|n| {
        let c = (rest % u64::from(n)) as i32;
        rest /= u64::from(n);
        c
    })
}

impl<const D: usize> Forest<D> {
    /// Whether a block is a leaf.
    pub fn is_leaf(&self, id: u32) -> bool {
        self.first_child[id as usize] == NONE
    }

    /// Ids of all blocks, level by level.
    pub fn ids(&self) -> impl Iterator<Item = u32> + '_ {
        self.levels.iter().flatten().copied()
    }

    /// Ids of all leaves, level by level.
    pub fn leaves(&self) -> impl Iterator<Item = u32> + '_ {
        self.ids().filter(|&id| self.is_leaf(id))
    }
}
