//! Slices: fewer frames, coarser grids, fewer blocks.

use crate::{PageBlock, PageSlice, PageSliceField};

/// Whether a slice has a grid and frames that fit together; others show their mesh only.
pub(crate) fn is_whole(slice: &PageSlice) -> bool {
    let count = slice.size[0] * slice.size[1];
    let fits = |field: &PageSliceField| {
        field.frames.len() == slice.times.len() && field.frames.iter().all(|f| f.len() == count)
    };
    count > 0 && !slice.times.is_empty() && slice.fields.iter().all(fits)
}

/// Keeps about half of the frames: every second one, counted from the last.
pub(crate) fn fewer_frames(slice: &mut PageSlice) {
    let last = slice.times.len().saturating_sub(1);
    let is_kept = |i: usize| (last - i).is_multiple_of(2);
    let mut i = 0;
    slice.times.retain(|_| {
        i += 1;
        is_kept(i - 1)
    });
    for field in &mut slice.fields {
        let mut i = 0;
        field.frames.retain(|_| {
            i += 1;
            is_kept(i - 1)
        });
    }
}

/// About half as many values to the right and upwards, each the mean of those that it replaces and that are not missing.
pub(crate) fn coarser(slice: &mut PageSlice) {
    let [nx, ny] = slice.size;
    let half = slice.size.map(|n| n.div_ceil(2));
    let part = |i: usize, n: usize, of: usize| i * n / of..(i + 1) * n / of;
    for frame in slice.fields.iter_mut().flat_map(|f| &mut f.frames) {
        let mean = |i: usize| {
            let (mut sum, mut by) = (0.0, 0.0);
            for y in part(i / half[0], ny, half[1]) {
                for x in part(i % half[0], nx, half[0]) {
                    let value = f64::from(frame[y * nx + x]);
                    if value.is_finite() {
                        sum += value;
                        by += 1.0;
                    }
                }
            }
            (sum / by) as f32
        };
        *frame = (0..half[0] * half[1]).map(mean).collect();
    }
    slice.size = half;
}

/// At most so many blocks: those of the finest level are replaced by their parents until this holds.
pub(crate) fn fewer_blocks(slice: &mut PageSlice, most: usize) {
    while slice.blocks.len() > most {
        let finest = slice.blocks.iter().map(|b| b.level).max().unwrap_or(0);
        if finest == 0 {
            slice.blocks.truncate(most);
            return;
        }
        let parent = |b: &PageBlock| match b.level == finest {
            true => PageBlock {
                at: b.at.map(|x| x / 2),
                level: finest - 1,
            },
            false => *b,
        };
        slice.blocks = slice.blocks.iter().map(parent).collect();
        sort(&mut slice.blocks);
        slice.blocks.dedup();
    }
}

/// By level, row and place, so that differences are small.
pub(crate) fn sort(blocks: &mut [PageBlock]) {
    blocks.sort_unstable_by_key(|b| (b.level, b.at[1], b.at[0]));
}
