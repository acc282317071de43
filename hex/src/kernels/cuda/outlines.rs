//! A thread an old face, and a thread an inner face.

use super::{D, OUTLINES, THREADS, cut, of_shape};
use crate::kernels::{FaceOutlines, NONE, NewFaces, RefineTask, SplitNumbers};
use crate::refine::{RefineError, unfit};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

pub(super) fn outlines(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    numbers: &SplitNumbers<Cuda>,
    places: &CudaBuf<u32>,
) -> Result<FaceOutlines<Cuda>, RefineError> {
    let counts = &numbers.counts;
    let mut outlines = FaceOutlines {
        owner: cuda.uninit("owners", counts.new_faces())?,
        neighbour: cuda.uninit("neighbours", counts.new_internal())?,
        count: cuda.uninit("corners of faces", counts.new_faces())?,
    };
    let name = of_shape(counts.shape, "count_faces_of_hexes", "count_faces_of_tets");
    let launch = cut(cuda.launch(&OUTLINES, D, name), task, numbers)
        .out(&mut outlines.owner)
        .out(&mut outlines.neighbour)
        .out(&mut outlines.count);
    // SAFETY: the arrays of one step; room for all slots.
    unsafe { launch.run(LaunchGrid::over(counts.faces, THREADS))? };
    let slot = counts.inner_slot();
    let name = of_shape(counts.shape, "count_inner_of_hexes", "count_inner_of_tets");
    let launch = cut(cuda.launch(&OUTLINES, D, name), task, numbers)
        .buf(places)
        .out_at(&mut outlines.owner, slot)
        .out_at(&mut outlines.neighbour, slot)
        .out_at(&mut outlines.count, slot);
    // SAFETY: as above.
    unsafe { launch.run(LaunchGrid::over(counts.inner(), THREADS))? };
    Ok(outlines)
}

pub(super) fn emit(
    cuda: &Cuda,
    task: &RefineTask<'_, Cuda>,
    numbers: &SplitNumbers<Cuda>,
    places: &CudaBuf<u32>,
    outlines: FaceOutlines<Cuda>,
    order: &CudaBuf<u32>,
) -> Result<NewFaces<Cuda>, RefineError> {
    let counts = &numbers.counts;
    let (internal, faces) = (counts.new_internal(), counts.new_faces());
    let mut face_start = cuda.uninit("faces", faces + 1)?;
    let mut owner = cuda.uninit("owners", faces)?;
    let mut neighbour = cuda.uninit("neighbours", internal)?;
    let mut place = cuda.uninit::<u32>("faces of slots", faces)?;
    let launch = cuda
        .launch(&OUTLINES, D, "gather_slots")
        .buf(order)
        .val(internal as u32)
        .val(faces as u32)
        .buf(&outlines.owner)
        .buf(&outlines.neighbour)
        .buf(&outlines.count)
        .out(&mut face_start)
        .out(&mut owner)
        .out(&mut neighbour)
        .out(&mut place);
    // SAFETY: the order has each slot of internal faces once; arrays as long as said.
    unsafe { launch.run(LaunchGrid::over(faces + 1, THREADS))? };
    drop(outlines);
    let mut total = cuda.uninit::<u64>("a count", 1)?;
    cuda.scan(&mut face_start, &mut total, 0)?;
    let count = total.read(0)?;
    if count >= u64::from(u32::MAX) {
        let what = "corners of faces";
        return Err(RefineError::TooLarge { what, count });
    }
    let mut face_points = cuda.uninit("face corners", count as usize)?;
    let mut from = cuda.uninit("origins of faces", faces)?;
    let mut rims = cuda.uninit("parent faces", faces - internal)?;
    let mut bad = cuda.alloc("the first wrong face", 1, NONE)?;
    let name = of_shape(counts.shape, "put_faces_of_hexes", "put_faces_of_tets");
    let launch = cut(cuda.launch(&OUTLINES, D, name), task, numbers)
        .buf(&place)
        .buf(&face_start)
        .out(&mut face_points)
        .out(&mut from)
        .out(&mut bad)
        .buf(&task.mesh.rims)
        .val(internal as u32)
        .out(&mut rims);
    // SAFETY: the arrays of one step; as many corners as the same outlines were counted to have.
    unsafe { launch.run(LaunchGrid::over(counts.faces, THREADS))? };
    let name = of_shape(counts.shape, "put_inner_of_hexes", "put_inner_of_tets");
    let launch = cut(cuda.launch(&OUTLINES, D, name), task, numbers)
        .buf(places)
        .val(counts.inner_slot() as u32)
        .buf(&place)
        .buf(&face_start)
        .out(&mut face_points)
        .out(&mut from)
        .out(&mut bad);
    // SAFETY: as above.
    unsafe { launch.run(LaunchGrid::over(counts.inner(), THREADS))? };
    match bad.read(0)? {
        NONE => Ok(NewFaces {
            face_start,
            face_points,
            owner,
            neighbour,
            from,
            rims,
        }),
        face => Err(unfit(face as usize)),
    }
}
