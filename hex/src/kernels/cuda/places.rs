//! A thread a split cell.

use super::{D, PLACES, THREADS, cut};
use crate::kernels::{RefineTask, SplitNumbers};
use crate::refine::RefineError;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn places(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    numbers: &SplitNumbers<Cuda>,
) -> Result<CudaBuf<[u32; 27]>, RefineError> {
    let counts = &numbers.counts;
    let mut places = cuda.uninit("points of split cells", counts.marked)?;
    let first_center = counts.points + counts.edges + counts.split;
    let launch = cut(cuda.launch(&PLACES, D, "find_places"), task, numbers)
        .buf(&numbers.marked)
        .val(first_center as u32)
        .out(&mut places);
    // SAFETY: the arrays of one step, 27 words for each split cell.
    unsafe { launch.run(LaunchGrid::over(counts.marked, THREADS))? };
    Ok(places)
}
