//! Layers by sweeps over the level's blocks: one byte per block holds the layer in which it was reached.

use super::{MARK, THREADS};
use crate::{
    VoxelError,
    kernels::{LevelData, LevelView, Rim, WindowPlaces},
    refine::{LevelMarks, SOLID_LAYERS, Walls},
};
use cutlink_amr::{Forest, Mark, dims};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Layers between two checks whether the last one was empty.
const STRIDE: u32 = 16;

/// The byte of a layer. Bytes repeat after 255 layers, when blocks of the earlier layer have no unreached neighbours.
fn tag(layer: u32) -> u8 {
    (layer % 255) as u8 + 1
}

/// Inputs of the sweeps over a level.
struct Sweep<'a, const D: usize> {
    cuda: &'a Cuda,
    data: &'a LevelData<'a, D, Cuda>,
    solid: &'a CudaBuf<u64>,
    uncertain: &'a CudaBuf<u8>,
}

pub(super) fn mark<const D: usize>(
    cuda: &Cuda,
    data: &LevelData<'_, D, Cuda>,
    solid: &CudaBuf<u64>,
    uncertain: &CudaBuf<u8>,
    marks: &LevelMarks<D>,
) -> Result<CudaBuf<u8>, VoxelError> {
    let view = data.view;
    let sweep = Sweep {
        cuda,
        data,
        solid,
        uncertain,
    };
    let mut wanted: Option<CudaBuf<u8>> = None;
    for walls in &marks.walls {
        let mut reached = cuda.alloc("marks", view.count, 0u8)?;
        sweep.sources(walls, &mut reached)?;
        sweep.spread(&mut reached, walls.layers, false)?;
        match &mut wanted {
            None => wanted = Some(reached),
            Some(wanted) => sweep.join(&reached, wanted)?,
        }
    }
    let mut wanted = match wanted {
        Some(wanted) => wanted,
        None => cuda.alloc("marks", view.count, 0u8)?,
    };
    for place in &marks.places {
        let (shape, extent) = place.numbers();
        let launch = cuda
            .launch(&MARK, D, "place")
            .val(view.first as u32)
            .val(view.count as u32)
            .buf(&data.forest.coord)
            .val(shape)
            .val(extent)
            .out(&mut wanted);
        // SAFETY: a coordinate an id, a byte a block of the level.
        unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    }
    if !marks.spots.is_empty() {
        let keys = cuda.upload(marks.spots.clone())?;
        let launch = cuda
            .launch(&MARK, D, "spots")
            .val(view.first as u32)
            .val(view.count as u32)
            .buf(&data.forest.coord)
            .buf(&keys)
            .val(keys.len() as u32)
            .out(&mut wanted);
        // SAFETY: a coordinate an id, so many ascending keys, a byte a block of the level.
        unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    }
    let mut reached = cuda.uninit("marks", view.count)?;
    sweep.outside(&wanted, &mut reached)?;
    drop(wanted);
    sweep.spread(&mut reached, SOLID_LAYERS, true)?;
    let mut refine = cuda.alloc("marks", data.forest.capacity(), Mark::Keep as u8)?;
    let launch = cuda
        .launch(&MARK, D, "marks")
        .val(view.first as u32)
        .val(view.count as u32)
        .buf(&reached)
        .out(&mut refine);
    // SAFETY: a byte a block of the level in, a byte an id out.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    Ok(refine)
}

impl<const D: usize> Sweep<'_, D> {
    fn sources(&self, walls: &Walls, reached: &mut CudaBuf<u8>) -> Result<(), VoxelError> {
        let Self { cuda, data, .. } = self;
        let (bins, set) = (data.bins, data.set);
        let named = walls.patches.iter().flatten().map(|&named| u8::from(named));
        let named = cuda.upload(named.collect())?;
        let launch = cuda
            .launch(&MARK, D, "sources")
            .buf(&bins.rows)
            .val(bins.rows.len() as u32)
            .buf(&bins.starts)
            .buf(&bins.facets)
            .val(set.walls)
            .buf(&set.patch)
            .val(u32::from(!set.patch.is_empty()))
            .buf(&named)
            .val(u32::from(walls.patches.is_none()))
            .val(tag(0))
            .out(reached);
        // SAFETY: rows of the level's lists, whose entries are facets; patches are below the number
        // of names; a byte a block of the level.
        unsafe { launch.run(LaunchGrid::over(bins.rows.len(), THREADS))? };
        if !self.uncertain.is_empty() {
            let launch = cuda
                .launch(&MARK, D, "uncertain_sources")
                .buf(self.uncertain)
                .val(data.view.count as u32)
                .val(tag(0))
                .out(reached);
            // SAFETY: a byte a block of the level, both.
            unsafe { launch.run(LaunchGrid::over(data.view.count, THREADS))? };
        }
        Ok(())
    }

    /// Adds `layers` layers around the blocks of the first tag.
    fn spread(
        &self,
        reached: &mut CudaBuf<u8>,
        layers: u32,
        only_inside: bool,
    ) -> Result<(), VoxelError> {
        let Self { cuda, data, .. } = self;
        let mut grown = cuda.alloc("a flag", 1, 0u32)?;
        for layer in 0..layers {
            let is_root = data.view.level == 0;
            let kernel = if is_root { "spread_roots" } else { "spread" };
            let launch = cuda.launch(&MARK, D, kernel);
            let count = data.view.count;
            let (launch, threads) = if is_root {
                (launch.val(count as u32).val(data.forest.grid()), count)
            } else {
                let groups = count / dims::children(D);
                let launch = launch.val(data.view.first as u32).val(groups as u32);
                let launch = launch.val(data.forest.roots() as u32);
                (launch.buf(&data.forest.families), 32 * groups)
            };
            let launch = launch
                .val(tag(layer))
                .val(tag(layer + 1))
                .val(u32::from(only_inside))
                .buf(self.solid)
                .buf(&data.bins.starts)
                .buf(self.uncertain)
                .val(u32::from(!self.uncertain.is_empty()))
                .out(reached)
                .out(&mut grown);
            // SAFETY: the level's ids are consecutive, whole groups of siblings, so a neighbour's
            // row is its id less the first; bytes, lists and masks as many as said above.
            unsafe { launch.run(LaunchGrid::over(threads, 128))? };
            if layer % STRIDE == STRIDE - 1 {
                if grown.read(0)? == 0 {
                    break;
                }
                grown = cuda.alloc("a flag", 1, 0u32)?;
            }
        }
        Ok(())
    }

    fn join(&self, reached: &CudaBuf<u8>, wanted: &mut CudaBuf<u8>) -> Result<(), VoxelError> {
        let count = self.data.view.count;
        let launch = self
            .cuda
            .launch(&MARK, D, "join")
            .val(count as u32)
            .buf(reached)
            .out(wanted);
        // SAFETY: a byte a block of the level, both.
        unsafe { launch.run(LaunchGrid::over(count, THREADS))? };
        Ok(())
    }

    fn outside(&self, wanted: &CudaBuf<u8>, reached: &mut CudaBuf<u8>) -> Result<(), VoxelError> {
        let Self { cuda, data, .. } = self;
        let launch = cuda
            .launch(&MARK, D, "outside")
            .val(data.view.first as u32)
            .val(data.view.count as u32)
            .buf(self.solid)
            .buf(&data.bins.starts)
            .buf(self.uncertain)
            .val(u32::from(!self.uncertain.is_empty()))
            .buf(wanted)
            .val(tag(0))
            .out(reached);
        // SAFETY: a mask an id; lists and bytes a block of the level.
        unsafe { launch.run(LaunchGrid::over(data.view.count, THREADS))? };
        Ok(())
    }
}

pub(super) fn restrict<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
    view: LevelView,
    places: &WindowPlaces<D, Cuda>,
    marks: &mut CudaBuf<u8>,
) -> Result<(), VoxelError> {
    let launch = cuda
        .launch(&MARK, D, "restrict_marks")
        .val(view.first as u32)
        .val(view.count as u32)
        .buf(&forest.coord)
        .val(places.extent)
        .val(places.shift)
        .buf(&places.wanted)
        .out(marks);
    // SAFETY: a coordinate and a mark an id; the level's blocks lie in the box, and so at a place.
    unsafe { launch.run(LaunchGrid::over(view.count, THREADS))? };
    Ok(())
}

pub(super) fn interfaces<const D: usize>(
    cuda: &Cuda,
    forest: &Forest<D, Cuda>,
) -> Result<Rim<Cuda>, VoxelError> {
    let (capacity, roots) = (forest.capacity(), forest.roots());
    let mut ghost = cuda.uninit::<u64>("ghost cells", capacity)?;
    let mut interface = cuda.uninit::<u64>("interface cells", capacity)?;
    let groups = (capacity - roots) / dims::children(D);
    let launch = cuda
        .launch(&MARK, D, "interfaces")
        .val(roots as u32)
        .val(groups as u32)
        .buf(&forest.families)
        .out(&mut ghost)
        .out(&mut interface);
    // SAFETY: groups of siblings follow the root blocks without a break, with their places each;
    // a mask an id.
    unsafe {
        launch.run(LaunchGrid::over(
            32 * groups + roots.next_multiple_of(32),
            THREADS,
        ))?
    };
    Ok(Rim { ghost, interface })
}
