//! The state at the start: from the case, or from another run.

use crate::solve::{earlier::Earlier, resolve::Resolved};
use cutlink_common::{Error, Observer};
use cutlink_solver::LatticeFlow;
use cutlink_voxelizer::Frame;
use std::sync::{Mutex, PoisonError};

/// Sets the initial state of a flow: from the case, or from another run. Temperatures are those of the case.
pub(super) fn set<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    resolved: &Resolved<D>,
    frame: &Frame<D>,
    earlier: Option<Earlier<'_, D>>,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    set_fluid(flow, resolved, frame, earlier, observer)?;
    match &resolved.heat {
        Some(heat) => heat.set(flow, frame),
        None => Ok(()),
    }
}

fn set_fluid<const D: usize>(
    flow: &mut dyn LatticeFlow<D>,
    resolved: &Resolved<D>,
    frame: &Frame<D>,
    earlier: Option<Earlier<'_, D>>,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let (initial, units) = (&resolved.initial, &resolved.units);
    if let Some(earlier) = earlier {
        earlier.check_covers(frame)?;
        earlier.note().iter().for_each(|note| observer.note(note));
        return Ok(flow.set_strained(&|x| earlier.on_lattice(frame, units, x))?);
    }
    let failed = |why: String| {
        Error::input(format!("[initial]: {why}"))
            .hint("it is evaluated in solid cells as well: if(a, b, c) may help")
    };
    if let Some((density, velocity)) = initial.same().map_err(failed)? {
        return Ok(flow.set_uniform(density, velocity)?);
    }
    let wrong = Mutex::new(None);
    flow.set(&|x| {
        initial.at(x).unwrap_or_else(|why| {
            wrong
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(why);
            (1.0, [0.0; D])
        })
    })?;
    match wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some(why) => Err(failed(why)),
    }
}
