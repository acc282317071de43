//! Three launches: `walls` writes the populations that cut links and faces reflect or let in; `special` steps blocks with
//! anything but fluid around them; `plain` steps the others, beside the first two. Apart, `walls` alone has the register
//! pressure of the wall schemes.

use super::{STEP, entry, give};
use crate::{
    SolverError,
    constants::{closure, operator},
    kernels::Relaxation,
    lattice::Lattice,
    storage::Storage,
    tables::Level,
};
use cutlink_amr::dims;
use cutlink_device::{
    Backend,
    cuda::{Cuda, CudaBuf, LaunchGrid},
};

/// As in `step.cu`.
const PLAIN: u32 = 128;
const SPECIAL: u32 = 64;

pub(super) fn step<const D: usize, L: Lattice, S: Storage>(
    cuda: &Cuda,
    level: &Level<D, Cuda>,
    relax: Relaxation<S::Real>,
    from: &CudaBuf<S>,
    to: &mut CudaBuf<S>,
    moments: &mut CudaBuf<S::Real>,
) -> Result<(), SolverError> {
    macro_rules! both {
        ($name:literal) => {
            match relax.closure {
                closure::NONE => (
                    entry!("special_", $name, L, S),
                    entry!("plain_", $name, L, S),
                ),
                _ => (
                    entry!("special_", concat!($name, "_eddy"), L, S),
                    entry!("plain_", concat!($name, "_eddy"), L, S),
                ),
            }
        };
    }
    let (special, plain) = match relax.operator {
        operator::REGULARIZED => both!("regularized"),
        operator::CUMULANT => both!("cumulant"),
        operator::KBC => both!("kbc"),
        _ => both!("trt"),
    };
    let cells = dims::cells(D);
    // Plain slots need nothing of the others.
    let own_end = level.halo.own_end();
    let (special_slots, plain_slots) = (level.special * cells, (own_end - level.special) * cells);
    let to = to.share();
    let mut first = |cuda: &Cuda| -> Result<(), SolverError> {
        let launch = give(cuda.launch(&STEP, D, entry!("walls", L, S)), level)
            .buf(&level.walled)
            .buf(&level.stepped)
            .buf(from)
            .val(to);
        // SAFETY: tables of one level; populations of all its slots; a thread block a slot with walls.
        unsafe { launch.run(LaunchGrid::blocks(level.walled.len(), SPECIAL))? };
        let launch = give(cuda.launch(&STEP, D, special), level)
            .buf(&level.stepped)
            .val(level.exchanging as u32)
            .val(relax)
            .buf(from)
            .val(to)
            .out(moments);
        // SAFETY: as above; moments of the exchanging slots; a thread a cell of the special ones.
        unsafe { launch.run(LaunchGrid::over(special_slots, SPECIAL))? };
        Ok(())
    };
    let second = |cuda: &Cuda| -> Result<(), SolverError> {
        let launch = cuda
            .launch(&STEP, D, plain)
            .buf(&level.neighbors)
            .val(level.special as u32)
            .val(own_end as u32)
            .val(relax)
            .buf(from)
            .val(to);
        // SAFETY: all neighbours of the slots from `special` on are slots of the level; the slots written are
        // those that `first` does not write.
        unsafe { launch.run(LaunchGrid::over(plain_slots, PLAIN))? };
        Ok(())
    };
    match special_slots.min(plain_slots) {
        0 => {
            first(cuda)?;
            second(cuda)
        }
        _ => cuda.both(first, second),
    }
}
