//! Streaming of whole blocks, and what keeps the memory busy meanwhile.
//!
//! A step has to read and write each population once. To come near that, blocks are written with non-temporal
//! stores, and the next blocks are prefetched during the collision.

use super::{
    BLOCK, LAYER, PAD, Row, Tile,
    order::Order,
    processor::{Processor, Work, dispatch},
    unrolled,
};
use crate::{
    lattice::{Lattice, MOST},
    storage::Storage,
};
use bytemuck::Zeroable;
use cutlink_amr::dims;
use cutlink_device::Item;
use std::marker::PhantomData;

/// Pulls the populations of a block whose neighbours are all there.
///
/// Rows of four cells along x come from one block, shifted by c_x: so they are copied as far as they
/// reach, and the cells at the end of each are then put right.
pub(super) fn stream<const D: usize, L: Lattice, S: Storage>(
    from: &[S],
    next: &[u32],
    tile: &mut Tile<S::Real>,
    gathered: &mut S::Gathered,
) {
    // A function of its own for each processor, which all callers share: it is large.
    dispatch(Streaming::<D, L, S> {
        from,
        next,
        tile,
        gathered,
        of: PhantomData,
    });
}

/// A block to gather.
struct Streaming<'a, const D: usize, L, S: Storage> {
    from: &'a [S],
    next: &'a [u32],
    tile: &'a mut Tile<S::Real>,
    gathered: &'a mut S::Gathered,
    of: PhantomData<L>,
}

impl<const D: usize, L: Lattice, S: Storage> Work for Streaming<'_, D, L, S> {
    #[cfg_attr(optimized, inline(always))]
    fn run<P: Processor>(self, processor: P) {
        let (from, next, tile, gathered) = (self.from, self.next, self.tile, self.gathered);
        // With lengths that are constants: else the ends of each of hundreds of runs are looked at.
        let size = L::Q * dims::cells(D);
        let mut near: [&[S]; 27] = [&[]; 27];
        unrolled!(toward < dims::directions(D), {
            near[toward] = &from[next[toward] as usize * size..][..size];
        });
        let near = &near;
        unrolled!(q < L::Q, {
            let row = S::gather(&mut tile.0[q], gathered, q);
            let (cx, cy, cz) = (L::C[q][0], L::C[q][1], L::C[q][2]);
            if cx == 0 {
                rows::<D, L, S, Still>(near, q, [0, cy, cz], row);
            } else if cx == 1 {
                rows::<D, L, S, Right>(near, q, [0, cy, cz], row);
                rows::<D, L, S, MendLeft>(near, q, [1, cy, cz], row);
            } else {
                rows::<D, L, S, Left>(near, q, [0, cy, cz], row);
                rows::<D, L, S, MendRight>(near, q, [-1, cy, cz], row);
            }
        });
        unrolled!(q < L::Q, {
            S::unpack(processor, gathered, q, dims::cells(D), &mut tile.0[q]);
        });
    }
}

/// Copy policy for consecutive rows. A trait with constant lengths, not a closure, so that LLVM inlines each copy.
trait Run {
    fn run<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize);
}

/// Takes each run of rows that comes from one block to its place in the tile's row.
#[cfg_attr(optimized, inline(always))]
fn rows<const D: usize, L: Lattice, T: Copy, R: Run>(
    near: &[&[T]; 27],
    q: usize,
    [cx, cy, cz]: [i32; 3],
    to: &mut Row<T>,
) {
    unrolled!(z < if D == 3 { 4 } else { 1 }, {
        let below = z as i32 - cz;
        let layer = if D == 3 { 9 * ((below >> 2) + 1) } else { 0 } - cx + 1;
        let first = Order::<L>::row(q, (below & 3) as usize);
        if cy == 0 {
            R::run(part::<T, 16>(near[(layer + 3) as usize], first), to, z * 16);
        } else if cy == 1 {
            R::run(part::<T, 4>(near[layer as usize], first + 12), to, z * 16);
            R::run(
                part::<T, 12>(near[(layer + 3) as usize], first),
                to,
                z * 16 + 4,
            );
        } else {
            R::run(
                part::<T, 12>(near[(layer + 3) as usize], first + 4),
                to,
                z * 16,
            );
            R::run(
                part::<T, 4>(near[(layer + 6) as usize], first),
                to,
                z * 16 + 12,
            );
        }
    });
}

#[cfg_attr(optimized, inline(always))]
fn part<T, const N: usize>(block: &[T], first: usize) -> &[T; N] {
    block[first..]
        .first_chunk()
        .expect("a block should have all its rows")
}

#[cfg_attr(optimized, inline(always))]
fn copy<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize) {
    *to[at..]
        .first_chunk_mut()
        .expect("a row should have padding behind its cells") = *from;
}

struct Still;
impl Run for Still {
    #[cfg_attr(optimized, inline(always))]
    fn run<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize) {
        copy(from, to, PAD + at);
    }
}

struct Right;
impl Run for Right {
    #[cfg_attr(optimized, inline(always))]
    fn run<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize) {
        copy(from, to, PAD + at + 1);
    }
}

struct Left;
impl Run for Left {
    #[cfg_attr(optimized, inline(always))]
    fn run<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize) {
        copy(from, to, PAD + at - 1);
    }
}

/// The first cells of rows, from the last ones of the block on the left.
struct MendLeft;
impl Run for MendLeft {
    #[cfg_attr(optimized, inline(always))]
    fn run<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize) {
        unrolled!(y < 4, {
            if 4 * y < N {
                to[PAD + at + 4 * y] = from[4 * y + 3];
            }
        });
    }
}

/// The last cells of rows, from the first ones of the block on the right.
struct MendRight;
impl Run for MendRight {
    #[cfg_attr(optimized, inline(always))]
    fn run<T: Copy, const N: usize>(from: &[T; N], to: &mut Row<T>, at: usize) {
        unrolled!(y < 4, {
            if 4 * y < N {
                to[PAD + at + 4 * y + 3] = from[4 * y];
            }
        });
    }
}

/// Cache lines that [`stream`] reads of other blocks than its own: direction, and element of the block.
struct Lines {
    at: [(u8, u16); 512],
    count: usize,
}

impl Lines {
    const fn of<const D: usize, L: Lattice>(line: usize) -> Self {
        let mut is_read = [[false; MOST * BLOCK / 8]; 27];
        let mut q = 0;
        while q < L::Q {
            let mut row = 0;
            while row < dims::cells(D) / 4 {
                let y = (row % 4) as i32 - L::C[q][1];
                let z = (row / 4) as i32 - L::C[q][2];
                let toward = 1 + 3 * ((y >> 2) + 1) + if D == 3 { 9 * ((z >> 2) + 1) } else { 0 };
                let element = Order::<L>::row(q, (z & 3) as usize) + (y & 3) as usize * 4;
                is_read[toward as usize][element / line] = true;
                row += 1;
            }
            q += 1;
        }
        let mut lines = Self {
            at: [(0, 0); 512],
            count: 0,
        };
        let mut toward = 0;
        while toward < dims::directions(D) {
            let mut n = 0;
            while n < is_read[toward].len() {
                if toward != dims::directions(D) / 2 && is_read[toward][n] {
                    lines.at[lines.count] = (toward as u8, (n * line) as u16);
                    lines.count += 1;
                }
                n += 1;
            }
            toward += 1;
        }
        lines
    }
}

/// What will be read soon, fetched while there is arithmetic to do: a block, and what it needs of those
/// around it. It comes in as many parts as a block has layers.
#[cfg_attr(optimized, inline(always))]
pub(super) fn ahead<const D: usize, L: Lattice, S: Storage>(
    from: &[S],
    slot: usize,
    around: &[u32],
    part: usize,
) {
    let line = 64 / size_of::<S>();
    let lines = const { Lines::of::<D, L>(64 / size_of::<S>()) };
    let size = L::Q * dims::cells(D);
    let (own, parts) = (size / line, dims::cells(D) / LAYER);
    for i in part * own / parts..(part + 1) * own / parts {
        prefetch(from, slot * size + i * line);
    }
    let others = &lines.at[part * lines.count / parts..(part + 1) * lines.count / parts];
    for &(toward, element) in others {
        let block = around[usize::from(toward)] as usize;
        prefetch(from, block * size + usize::from(element));
    }
}

/// Asks for a cache line; where there is none nothing happens.
#[cfg_attr(optimized, inline(always))]
fn prefetch<T>(from: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[expect(unsafe_code, reason = "prefetching is an intrinsic")]
        // SAFETY: reads nothing that the program sees, and faults at no address.
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(from.as_ptr().wrapping_add(at).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (from, at);
}

/// Stores a tile in place of a block, with non-temporal stores where `is_large`; rounded by chance where it `dithers`.
#[cfg_attr(optimized, inline(always))]
pub(super) fn store<L: Lattice, S: Storage, P: Processor>(
    processor: P,
    tile: &Tile<S::Real>,
    cells: usize,
    to: &mut [S],
    is_large: bool,
    dithers: bool,
) {
    let mut spare = [S::zeroed(); LAYER];
    for layer in 0..cells / LAYER {
        for &q in &Order::<L>::VELOCITIES[..L::Q] {
            let from = part(&tile.0[q], PAD + LAYER * layer);
            let place = dithers.then_some(BLOCK * q + LAYER * layer);
            let from = S::narrow(processor, from, place, &mut spare);
            let to = &mut to[Order::<L>::row(q, layer)..][..LAYER];
            if is_large {
                past_caches(from, to);
            } else {
                to.copy_from_slice(from);
            }
        }
    }
}

/// Stores some cells of a tile in place of those of a block; the others keep what they have.
#[cfg_attr(optimized, inline(always))]
pub(super) fn store_some<L: Lattice, S: Storage, P: Processor>(
    processor: P,
    tile: &Tile<S::Real>,
    cells: usize,
    which: u64,
    to: &mut [S],
    dithers: bool,
) {
    let mut spare = [S::zeroed(); LAYER];
    for layer in 0..cells / LAYER {
        let which = which >> (LAYER * layer) & 0xffff;
        for &q in &Order::<L>::VELOCITIES[..L::Q] {
            let from = part(&tile.0[q], PAD + LAYER * layer);
            let place = dithers.then_some(BLOCK * q + LAYER * layer);
            let from = S::narrow(processor, from, place, &mut spare);
            put(from, which, &mut to[Order::<L>::row(q, layer)..][..LAYER]);
        }
    }
}

/// Puts a population of some cells of a block into a tile.
#[cfg_attr(optimized, inline(always))]
pub(super) fn keep<L: Lattice, S: Storage, P: Processor>(
    processor: P,
    block: &[S],
    q: usize,
    which: u64,
    tile: &mut Tile<S::Real>,
) {
    let mut spare = [S::Real::zeroed(); LAYER];
    for layer in 0..block.len() / (L::Q * LAYER) {
        let from = part(block, Order::<L>::row(q, layer));
        let from = S::widen(processor, from, &mut spare);
        let to = &mut tile.0[q][PAD + LAYER * layer..][..LAYER];
        put(from, which >> (LAYER * layer) & 0xffff, to);
    }
}

/// Stores some cells of a row; the others keep what they have.
#[cfg_attr(optimized, inline(always))]
pub(super) fn put<T: Copy>(from: &[T], which: u64, to: &mut [T]) {
    let (from, to) = (from.as_chunks().0, to.as_chunks_mut().0);
    for layer in 0..from.len().min(to.len()) {
        let (from, to): (&[T; LAYER], &mut [T; LAYER]) = (&from[layer], &mut to[layer]);
        let which = which >> (LAYER * layer) & 0xffff;
        if which == 0xffff {
            *to = *from;
        } else if which != 0 {
            for i in 0..LAYER {
                to[i] = if which >> i & 1 == 1 { from[i] } else { to[i] };
            }
        }
    }
}

/// Copies to memory without reading what was there into the caches first, which would be half as much
/// traffic again: nobody reads it before the next step. [`fence`] has to follow before others do.
#[cfg_attr(optimized, inline(always))]
fn past_caches<T: Item>(from: &[T], to: &mut [T]) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        const WIDE: usize = size_of::<__m128i>();
        let bytes = size_of_val(from);
        if from.len() == to.len()
            && bytes.is_multiple_of(WIDE)
            && to.as_ptr().addr().is_multiple_of(WIDE)
        {
            #[expect(unsafe_code, reason = "non-temporal stores are an intrinsic")]
            // SAFETY: both are `bytes` long, a multiple of the step; the target is aligned; any bits are values; the
            // instructions are part of x86-64.
            unsafe {
                let from = from.as_ptr().cast::<__m128i>();
                let to = to.as_mut_ptr().cast::<__m128i>();
                for i in 0..bytes / WIDE {
                    _mm_stream_si128(to.add(i), _mm_loadu_si128(from.add(i)));
                }
            }
            return;
        }
    }
    to.copy_from_slice(from);
}

/// Orders the stores of [`store`] before all that follows, for other threads too.
#[cfg_attr(optimized, inline(always))]
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    #[expect(unsafe_code, reason = "a fence is an intrinsic")]
    // SAFETY: part of x86-64, and nothing but order.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
