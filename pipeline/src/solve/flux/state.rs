//! The flow at the start of a run: its initial state, the length of its steps, or a saved state.

use super::{
    earlier::EarlierGas,
    outline::check_elements,
    resolve::{FluxInitial, FluxSetting, bytes_of_element},
};
use cutlink_amr::linear::Leaves;
use cutlink_common::{Error, ErrorKind};
use cutlink_device::{Backend, Host, memory};
use cutlink_fr::{EulerFlow, Primitive, TimeStep, kernels::Kernels};
use cutlink_prescribed::expression::Expression;
use std::{
    io::Read,
    sync::{Mutex, PoisonError},
};

impl<const D: usize> FluxSetting<D> {
    /// A flow at rest, on the coarsest elements that bodies allow.
    pub(super) fn flow<T: Kernels<D>>(&self) -> Result<EulerFlow<D, T>, Error> {
        let [lower, upper] = self.bounds;
        let at_bodies = self.adaptation.as_ref().map_or(0, |a| a.at_bodies);
        let walls = &self.params.walls;
        let leaves = walls.leaves(self.grid, lower, upper, at_bodies);
        let leaves = leaves.map_err(|error| self.case.of_body(error))?;
        let viscous = self.params.viscosity.is_some();
        let one = bytes_of_element::<D>(self.params.order, self.precision, viscous);
        check_elements::<D>(leaves.len() as u64, one, [Host.free_bytes(), u64::MAX])?;
        Ok(EulerFlow::new(&leaves, lower, upper, self.params.clone())?)
    }
}

/// The flow in its initial state, on a mesh that is adapted to it. The flow of another run may be missing where a saved state
/// replaces the initial one.
pub(super) fn set_up<const D: usize, T: Kernels<D>>(
    setting: &FluxSetting<D>,
    earlier: Option<&EarlierGas<D>>,
) -> Result<EulerFlow<D, T>, Error> {
    let mut flow = setting.flow::<T>()?;
    flow.follow(setting.adaptation.clone())?;
    let wrong = Mutex::new(None);
    let state = |x: [f64; D]| -> Primitive<D> {
        state_at(setting, earlier, x).unwrap_or_else(|why| {
            let mut first = wrong.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert(why);
            at_rest()
        })
    };
    flow.set_adapted(state)?;
    let shaped = setting.case.bodies.iter().filter(|body| body.is_shaped());
    let (held, all) = (
        flow.points_in_bodies(),
        flow.elements_in_gas() * flow.nodes(),
    );
    if all > 0 && held.iter().sum::<usize>() == all {
        return Err(
            Error::input("[[body]]: bodies fill the box, and hold all points of elements")
                .hint("make them smaller (scale, unit), or the box larger"),
        );
    }
    for (body, points) in shaped.zip(held) {
        if points == 0 {
            return Err(Error::input(format!(
                "[[body]] \"{}\" holds no point of the elements",
                body.name
            ))
            .hint("more [adapt] levels, or more [domain] elements, for smaller elements"));
        }
    }
    match wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(flow),
        Some(why) => Err(Error::input(format!("[initial]: {why}"))),
    }
}

fn at_rest<const D: usize>() -> Primitive<D> {
    Primitive {
        density: 1.0,
        velocity: [0.0; D],
        pressure: 1.0,
    }
}

/// The initial state at a point; that of another run is at rest where it is missing.
pub(super) fn state_at<const D: usize>(
    setting: &FluxSetting<D>,
    earlier: Option<&EarlierGas<D>>,
    x: [f64; D],
) -> Result<Primitive<D>, String> {
    match &setting.initial {
        FluxInitial::Vortex(vortex) => Ok(vortex.at(0.0, x)),
        FluxInitial::TaylorGreen(vortices) => Ok(vortices.at(x)),
        FluxInitial::Earlier(_) => earlier.map_or(Ok(at_rest()), |earlier| earlier.at(x)),
        FluxInitial::Fields {
            density,
            velocity,
            pressure,
        } => fields_at(density, velocity, pressure, x),
    }
}

fn fields_at<const D: usize>(
    density: &Expression,
    velocity: &[Expression; D],
    pressure: &Expression,
    x: [f64; D],
) -> Result<Primitive<D>, String> {
    let mut state = Primitive {
        density: density.at(&x, 0.0)?,
        velocity: [0.0; D],
        pressure: pressure.at(&x, 0.0)?,
    };
    for (value, of) in state.velocity.iter_mut().zip(velocity) {
        *value = of.at(&x, 0.0)?;
    }
    if !(state.density > 0.0 && state.pressure > 0.0) {
        return Err(format!(
            "density {} and pressure {} at {x:?} m, both should be positive",
            state.density, state.pressure
        ));
    }
    Ok(state)
}

/// The length of steps, the same for the whole run: as given, or by the Courant number of the initial state on elements of
/// the finest level.
pub(super) fn settle_step<const D: usize, T: Kernels<D>>(
    setting: &FluxSetting<D>,
    flow: &mut EulerFlow<D, T>,
) -> Result<f64, Error> {
    let dt = match setting.params.time_step {
        TimeStep::Fixed(dt) => dt,
        TimeStep::Courant(number) => {
            let finest = setting.adaptation.as_ref().map_or(0, |a| a.levels[1]);
            let finer = finest.saturating_sub(flow.leaves().finest());
            number / flow.wave_rate_refined(finer)?
        }
    };
    flow.set_time_step(TimeStep::Fixed(dt))?;
    Ok(dt)
}

/// Reads a saved state.
pub(super) fn restore<const D: usize, T: Kernels<D>>(
    flow: &mut EulerFlow<D, T>,
    from: &mut dyn Read,
) -> Result<(), Error> {
    let broken = |e: std::io::Error| {
        let kind = match e.kind() {
            std::io::ErrorKind::UnexpectedEof => ErrorKind::Input,
            _ => ErrorKind::Runtime,
        };
        Error::new(kind, "cannot read the state of a checkpoint").because(&e)
    };
    let mut word = || -> Result<u64, Error> {
        let mut bytes = [0; 8];
        from.read_exact(&mut bytes).map_err(broken)?;
        Ok(u64::from_le_bytes(bytes))
    };
    let (steps, time, leaves) = (word()?, f64::from_bits(word()?), word()?);
    let keys: Vec<u64> = (0..leaves).map(|_| word()).collect::<Result<_, _>>()?;
    let tree = Leaves::from_keys(*flow.leaves().grid(), keys);
    let tree = tree.map_err(|e| Error::input("the tree of a checkpoint is none").because(&e))?;
    let one = flow.degrees_of_freedom() / flow.leaves().len();
    let mut unknowns = Vec::new();
    let all = one.saturating_mul(tree.len());
    Host.reserve(
        "a saved state",
        (all as u64).saturating_mul(size_of::<T>() as u64),
    )?;
    memory::grow("a saved state", &mut unknowns, all, T::ZERO)?;
    from.read_exact(bytemuck::cast_slice_mut(&mut unknowns))
        .map_err(broken)?;
    Ok(flow.restore(tree, &unknowns, time, steps)?)
}
