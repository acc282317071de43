//! A thread a split cell.

use super::{D, PLACES, THREADS, cut, of_shape};
use crate::kernels::{RefineTask, SplitNumbers};
use crate::refine::RefineError;
use cutlink_device::cuda::{Cuda, CudaBuf, LaunchGrid};

pub(super) fn places(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    numbers: &SplitNumbers<Cuda>,
) -> Result<CudaBuf<u32>, RefineError> {
    let counts = &numbers.counts;
    let words = counts.shape.places() * counts.marked;
    let mut places = cuda.uninit("points of split cells", words)?;
    let name = of_shape(counts.shape, "find_places_of_hexes", "find_places_of_tets");
    let launch = cut(cuda.launch(&PLACES, D, name), task, numbers).out(&mut places);
    // SAFETY: the arrays of one step, a shape's words for each split cell.
    unsafe { launch.run(LaunchGrid::over(counts.marked, THREADS))? };
    Ok(places)
}
