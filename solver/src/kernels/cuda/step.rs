//! Launches side by side, by what is around a block: `cut` steps blocks with cut links or solid cells, `faced` those at
//! one face of the box, `bounded` those at edges of the box or at a face and a wall, `open` those beside another level,
//! and `plain` the rest. Apart, each has the registers and the loads that it needs, and the few, slow blocks at walls
//! delay no others. Where cells keep 9 values instead of populations, `tile` takes the place of `plain`, and the others
//! write these values too.

use super::{STEP, TILES, entry, give};
use crate::{
    SolverError,
    constants::{
        OperatorKind, closure,
        launch::{BOUNDED, FACED, OPEN, PLAIN, TILE_AROUND, TILE_EDGE},
    },
    kernels::Relaxation,
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::{
    Backend, Real,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// Threads of a tile, and its places in shared memory: `PLACES` of `tiles.cu`.
const TILE: u32 = TILE_EDGE.pow(3);
const PLACES: usize = (TILE_EDGE * (TILE_EDGE + 2) * TILE_EDGE) as usize;

/// Entry points of a step, by kind of block.
struct Entries {
    cut: &'static str,
    bounded: &'static str,
    open: &'static str,
    faced: &'static str,
    plain: &'static str,
}

/// Those of an operator and closure; `kept` where cells keep 9 values.
fn entries<L: Lattice, S: Storage>(relax: &Relaxation<S::Real>, kept: bool) -> Entries {
    macro_rules! entries {
        ($name:literal) => {
            match relax.closure {
                closure::NONE => entries!(of $name),
                _ => entries!(of concat!($name, "_eddy")),
            }
        };
        (of $name:expr) => {
            Entries {
                cut: entry!("cut_", $name, L, S),
                bounded: entry!("bounded_", $name, L, S),
                open: entry!("open_", $name, L, S),
                faced: entry!("faced_", $name, L, S),
                plain: entry!("plain_", $name, L, S),
            }
        };
    }
    match relax.kind() {
        OperatorKind::Trt => entries!("trt"),
        OperatorKind::Regularized if kept => entries!("regularized_kept"),
        OperatorKind::Regularized => entries!("regularized"),
        OperatorKind::Cumulant => entries!("cumulant"),
        OperatorKind::Kbc => entries!("kbc"),
    }
}

pub(super) fn step<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    relax: Relaxation<S::Real>,
    from: &CudaBuf<S>,
    to: &mut CudaBuf<S>,
    moments: &mut CudaBuf<S::Real>,
) -> Result<(), SolverError> {
    let entries = entries::<L, S>(&relax, level.keeps_moments);
    let cells = dims::cells(D);
    // Plain slots need nothing of the others.
    let own_end = level.halo.own_end();
    let plain = match level.keeps_moments {
        true => level.tiles.len(),
        false => own_end - level.special,
    };
    let kept = match level.keeps_moments {
        true => to.address(level.populated * L::Q * cells),
        false => 0,
    };
    let (to, moments) = (to.share(), moments.share());
    let walled = |cuda: &Cuda, entry, list: &CudaBuf<u32>| -> Result<(), SolverError> {
        let launch = give(cuda.launch(&STEP, D, entry), level)
            .buf(list)
            .buf(&level.stepped)
            .val(level.exchanging as u32)
            .val(relax)
            .buf(from)
            .val(to)
            .val(moments)
            .val(kept);
        // SAFETY: tables of one level; populations of its special slots and those beside them, and moments of the
        // exchanging ones; a thread block a slot, each of which is in one list. Where cells keep 9 values, those of all
        // slots are at `kept`.
        unsafe { launch.run(LaunchGrid::blocks(list.len(), BOUNDED))? };
        Ok(())
    };
    let cut = |cuda: &Cuda| walled(cuda, entries.cut, &level.cut);
    let bounded = |cuda: &Cuda| walled(cuda, entries.bounded, &level.bounded);
    let open = |cuda: &Cuda| -> Result<(), SolverError> {
        let launch = cuda
            .launch(&STEP, D, entries.open)
            .buf(&level.neighbors)
            .val(level.slots as u32)
            .buf(&level.open)
            .val(level.open.len() as u32)
            .buf(&level.stepped)
            .val(level.exchanging as u32)
            .val(relax)
            .buf(from)
            .val(to)
            .val(moments)
            .val(kept);
        // SAFETY: as above; a thread a cell.
        unsafe { launch.run(LaunchGrid::over(level.open.len() * cells, OPEN))? };
        Ok(())
    };
    let faced = |cuda: &Cuda| -> Result<(), SolverError> {
        let launch = give(cuda.launch(&STEP, D, entries.faced), level)
            .buf(&level.faced)
            .val(relax)
            .buf(from)
            .val(to)
            .val(kept);
        // SAFETY: as above; all neighbours of the listed slots but those beyond a face are slots of the level.
        unsafe { launch.run(LaunchGrid::blocks(level.faced.len(), FACED[D - 2]))? };
        Ok(())
    };
    let interior = |cuda: &Cuda| interior::<D, L, S>(cuda, level, (entries.plain, relax), from, to);
    // The slow ones ahead. Most flows have few blocks in one of the first two lists.
    let special = |cuda: &Cuda| {
        let others = |cuda: &Cuda| open(cuda).and_then(|()| faced(cuda));
        let rest = level.open.len() + level.faced.len();
        match (level.cut.len(), level.bounded.len() + rest) {
            (0, _) if level.bounded.len().min(rest) > 0 => cuda.both(bounded, others),
            (0, _) | (_, 0) => cut(cuda)
                .and_then(|()| bounded(cuda))
                .and_then(|()| others(cuda)),
            _ => cuda.both(cut, |cuda| bounded(cuda).and_then(|()| others(cuda))),
        }
    };
    match level.special.min(plain) {
        0 => special(cuda).and_then(|()| interior(cuda)),
        _ => cuda.both(special, interior),
    }
}

/// Steps the plain slots, in tiles where cells keep moments.
fn interior<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    (plain, relax): (&'static str, Relaxation<S::Real>),
    from: &CudaBuf<S>,
    to: u64,
) -> Result<(), SolverError> {
    if level.keeps_moments {
        return tiles::<D, L, S>(cuda, level, relax, from, to);
    }
    let own_end = level.halo.own_end();
    let launch = cuda
        .launch(&STEP, D, plain)
        .buf(&level.neighbors)
        .val(level.special as u32)
        .val(own_end as u32)
        .val(relax)
        .buf(from)
        .val(to);
    let cells = (own_end - level.special) * dims::cells(D);
    // SAFETY: all neighbours of the slots from `special` on are slots of the level, of which `from` and `to` have
    // populations; no special slot is written.
    unsafe { launch.run(LaunchGrid::over(cells, PLAIN))? };
    Ok(())
}

/// Steps the plain slots in tiles.
fn tiles<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    relax: Relaxation<S::Real>,
    from: &CudaBuf<S>,
    to: u64,
) -> Result<(), SolverError> {
    let is_pushed = relax.acceleration.iter().any(|&g| g != S::Real::of(0.0));
    let entry = match relax.closure {
        closure::NONE if is_pushed => entry!("tile_pushed", L, S),
        closure::NONE => entry!("tile", L, S),
        _ => entry!("tile_eddy", L, S),
    };
    let launch = cuda
        .launch(&TILES, D, entry)
        .buf(&level.tiles)
        .val(level.populated as u32)
        .val(relax)
        .buf(from)
        .val(to);
    // All populations that move.
    let shared = (L::Q - 1) * PLACES * size_of::<S>();
    let grid = LaunchGrid::blocks(level.tiles.len() / TILE_AROUND, TILE).shared(shared as u32);
    // SAFETY: the slots of tiles and around them are slots of the level, of which `from` and `to` have 9 values a cell
    // behind the populations of the first ones; tiles have each slot from `special` on once, and no other one is
    // written.
    unsafe { launch.run(grid)? };
    Ok(())
}
