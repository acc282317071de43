//! A flow on another mesh, without leaving the device where the decay of modes decides by itself: no rings around refined
//! elements, no bodies, no levels by place, and a budget that suffices. Walls are found on the host. Otherwise marks are made on the host; the state stays.

use super::{SENSOR, THREADS, TRANSFER, blocks, name_of};
use crate::{
    ElementAdaptation, ElementChanges, EulerFlow, FrError, Sensor,
    adapt::Lengths,
    kernels::{Kernels, sizes},
    sensor::Modes,
    walls::WallsOf,
};
use cutlink_amr::linear::{AdaptedLeaves, Leaves};
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Threads of a block of marks.
const ALONE: u32 = 256;
/// Most thread blocks of the decay of modes, each of which has one maximum for each axis.
const MOST_BLOCKS: usize = 4096;

/// `Thresholds` of `sensor.cu`.
#[derive(Debug, Clone, Copy, bytemuck::Zeroable, bytemuck::Pod)]
#[repr(C)]
struct Thresholds {
    refine_above: f64,
    coarsen_below: f64,
    floor: f64,
    coarsest: u32,
    finest: u32,
}

pub(super) fn adapt<const D: usize, T: Kernels<D>>(
    flow: &mut EulerFlow<D, T, Cuda>,
) -> Result<ElementChanges, FrError> {
    let Some(adaptation) = flow.adaptation.clone() else {
        return Ok(ElementChanges::default());
    };
    let cuda = flow.backend.clone();
    let is_alone = adaptation.buffer == 0
        && adaptation.places.is_empty()
        && flow.params.walls.bodies.is_empty()
        && flow.params.walls.embedded.is_none();
    if is_alone && let Some(mut marks) = marks(flow, &adaptation)? {
        let mut leaves = flow.leaves.copied(&cuda)?;
        let adapted = leaves.adapt(&cuda, &mut marks)?;
        if leaves.len() <= adaptation.most_elements {
            return take(flow, leaves, &adapted, &marks, 0);
        }
    }
    let (seen, faces) = (flow.leaves.download(&cuda)?, flow.faces.download(&cuda)?);
    let elements = flow.seen(&seen, &faces);
    let by_modes = |momentum| -> Result<Vec<[f64; D]>, FrError> {
        let numbers = cuda.download(&decays(flow, momentum)?.0)?;
        Ok(numbers.as_chunks().0.to_vec())
    };
    let wishes = elements.wishes(&adaptation.sensor, by_modes)?;
    let (marks, refused) = elements.marks(&adaptation, &wishes)?;
    let mut marks = cuda.upload(marks)?;
    let mut leaves = flow.leaves.copied(&cuda)?;
    let adapted = leaves.adapt(&cuda, &mut marks)?;
    take(flow, leaves, &adapted, &marks, refused)
}

/// Marks by the decay of modes; `None` for other sensors.
fn marks<const D: usize, T: Kernels<D>>(
    flow: &EulerFlow<D, T, Cuda>,
    adaptation: &ElementAdaptation,
) -> Result<Option<CudaBuf<u8>>, FrError> {
    let Sensor::Modal {
        refine_above,
        coarsen_below,
        momentum,
        floor,
    } = adaptation.sensor
    else {
        return Ok(None);
    };
    let (cuda, count) = (&flow.backend, flow.leaves.len());
    let (decays, largest) = decays(flow, momentum)?;
    let mut marks = cuda.alloc("marks", count, 0)?;
    let [coarsest, finest] = adaptation.levels;
    let launch = cuda
        .launch(&SENSOR, D, "marks")
        .buf(&decays)
        .buf(&largest)
        .buf(flow.leaves.keys())
        .val(count as u32)
        .val(Thresholds {
            refine_above,
            coarsen_below,
            floor,
            coarsest,
            finest,
        })
        .out(&mut marks);
    // SAFETY: D decays and a key for each leaf, and D maxima.
    unsafe { launch.run(LaunchGrid::over(count, ALONE))? };
    Ok(Some(marks))
}

/// The decays of [`EulerFlow::decays`], and the bits of the largest along each axis.
fn decays<const D: usize, T: Kernels<D>>(
    flow: &EulerFlow<D, T, Cuda>,
    momentum: f64,
) -> Result<(CudaBuf<f64>, CudaBuf<u64>), FrError> {
    let (cuda, q, count) = (&flow.backend, flow.params.order + 1, flow.leaves.len());
    assert_eq!(
        flow.u.len(),
        count * sizes::element(D, q),
        "a state should be of its leaves"
    );
    let modes = cuda.upload(Modes::<D>::new(&flow.basis).numbers())?;
    let mut decays = cuda.alloc("decays of modes", D * count, 0.0)?;
    let mut largest = cuda.alloc("the largest decays", D, 0u64)?;
    let launch = cuda
        .launch(&SENSOR, D, name_of!("decays", T, q))
        .buf(&flow.u)
        .val(count as u32)
        .val(momentum)
        .buf(&modes)
        .out(&mut decays)
        .out(&mut largest);
    let blocks = blocks(count, sizes::face(D, q)).min(MOST_BLOCKS);
    // SAFETY: a state of so many leaves, modes of its points, and D numbers for each leaf.
    unsafe { launch.run(LaunchGrid::blocks(blocks, THREADS))? };
    Ok((decays, largest))
}

/// The flow on an adapted tree. The buffers have room before anything changes.
fn take<const D: usize, T: Kernels<D>>(
    flow: &mut EulerFlow<D, T, Cuda>,
    leaves: Leaves<D, Cuda>,
    adapted: &AdaptedLeaves<Cuda>,
    marks: &CudaBuf<u8>,
    refused: u64,
) -> Result<ElementChanges, FrError> {
    let changes = ElementChanges {
        refined: adapted.refined,
        coarsened: adapted.coarsened,
        refused,
    };
    if !changes.is_any() {
        return Ok(changes);
    }
    flow.recorded = [None, None];
    flow.epoch += 1;
    let (cuda, q) = (flow.backend.clone(), flow.params.order + 1);
    let mut faces = leaves.faces(&cuda)?;
    let (mut table, mut wall_faces) = (None, Vec::new());
    if !flow.params.walls.are_no_faces() {
        let (seen, mut closed) = (leaves.download(&cuda)?, faces.download(&cuda)?);
        let of = WallsOf::new(&flow.params, &seen, &mut closed, flow.lower, flow.edges)?;
        faces.codes = cuda.upload(closed.codes)?;
        table = Some(of.table.upload(&cuda)?);
        wall_faces = of.faces;
        flow.bodies = of.bodies;
    }
    let mut masks = None;
    if flow.params.walls.embedded.is_some() {
        let mut of = flow.masks_of(&leaves.download(&cuda)?)?;
        of.keep_losses(&cuda, &flow.masks)?;
        masks = Some(of);
    }
    let (old, count) = (flow.leaves.len(), leaves.len());
    let len = Lengths::of(&flow.params, count, faces.slots.len(), wall_faces.len());
    // A failure leaves the old flow: the numbers of these count for nothing between steps, and traces come last.
    for (what, buffer, len) in [
        ("the state at a step's start", &mut flow.start, len.state),
        ("new traces", &mut flow.next_traces, len.traces),
        ("fluxes of hanging faces", &mut flow.mortars, len.mortars),
        ("common states", &mut flow.states, len.states),
        ("viscous traces", &mut flow.viscous, len.viscous),
        ("viscous rates", &mut flow.viscous_rates, len.rates),
        (
            "viscous fluxes at walls",
            &mut flow.wall_viscous,
            len.wall_viscous,
        ),
        ("fluxes through walls", &mut flow.wall_fluxes, len.walls),
    ] {
        buffer.make_room(what, len)?;
    }
    let mut start = cuda.uninit("the state at a step's start", 0)?;
    if flow.u.capacity() < len.state {
        start.make_room("the state at a step's start", len.state)?;
    }
    flow.traces.make_room("traces", len.traces)?;
    flow.start.grow("the state", len.state)?;
    let launch = cuda
        .launch(&TRANSFER, D, name_of!("transfer", T, q))
        .buf(marks)
        .buf(&adapted.first)
        .val(old as u32)
        .val(count as u32)
        .buf(&flow.u)
        .buf(&flow.matrices)
        .out(&mut flow.start);
    let grid = LaunchGrid::blocks(blocks(count, sizes::face(D, q)), THREADS);
    // SAFETY: the map is that of the old leaves, whose state is read, to the new ones, whose state is written.
    unsafe { launch.run(grid)? };
    std::mem::swap(&mut flow.u, &mut flow.start);
    if start.capacity() > 0 {
        flow.start = start;
    }
    for (buffer, len) in [
        (&mut flow.start, len.state),
        (&mut flow.traces, len.traces),
        (&mut flow.next_traces, len.traces),
        (&mut flow.mortars, len.mortars),
        (&mut flow.states, len.states),
        (&mut flow.viscous, len.viscous),
        (&mut flow.viscous_rates, len.rates),
        (&mut flow.wall_viscous, len.wall_viscous),
        (&mut flow.wall_fluxes, len.walls),
    ] {
        buffer.truncate(len);
        buffer.grow("of the leaves", len)?;
    }
    (flow.leaves, flow.faces) = (leaves, faces);
    if let Some(table) = table {
        (flow.walls, flow.wall_faces) = (table, wall_faces);
    }
    if let Some(masks) = masks {
        flow.masks = masks;
    }
    flow.make_traces()?;
    Ok(changes)
}
