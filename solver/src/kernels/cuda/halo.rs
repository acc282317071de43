//! A launch each: a thread a number.

use super::HALO;
use crate::SolverError;
use cutlink_device::{
    Backend, Item,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

const THREADS: u32 = 256;

/// The entry point for numbers of a size.
fn of_size<T>(names: [&'static str; 3]) -> &'static str {
    match size_of::<T>() {
        2 => names[0],
        4 => names[1],
        8 => names[2],
        bytes => unreachable!("numbers of {bytes} bytes"),
    }
}

pub(super) fn gather<T: Item>(
    cuda: &Cuda,
    places: &CudaBuf<u64>,
    from: &CudaBuf<T>,
) -> Result<Vec<T>, SolverError> {
    let count = <Cuda as Backend>::len(places);
    let mut out = cuda.uninit("the halo", count)?;
    let name = of_size::<T>(["gather_2", "gather_4", "gather_8"]);
    let launch = cuda
        .launch(&HALO, 2, name)
        .val(count as u64)
        .buf(places)
        .buf(from)
        .out(&mut out);
    // SAFETY: places of the buffer; as many numbers.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(cuda.download(&out)?)
}

pub(super) fn scatter<T: Item>(
    cuda: &Cuda,
    places: &CudaBuf<u64>,
    numbers: Vec<T>,
    to: &mut CudaBuf<T>,
) -> Result<(), SolverError> {
    let count = <Cuda as Backend>::len(places);
    assert_eq!(numbers.len(), count, "a number a place");
    let numbers = cuda.upload(numbers)?;
    let name = of_size::<T>(["scatter_2", "scatter_4", "scatter_8"]);
    let launch = cuda
        .launch(&HALO, 2, name)
        .val(count as u64)
        .buf(places)
        .buf(&numbers)
        .out(to);
    // SAFETY: places of the buffer, each once; as many numbers.
    unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
    Ok(())
}
