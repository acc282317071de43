//! The flow of another run as initial state: the polynomials of its checkpoint, on its own elements.

use super::{
    case::{FluxCase, FluxInitialTable},
    kinds::parse,
    resolve::{FluxSetting, positive},
    state::restore,
};
use crate::solve::{
    earlier::{find, of_this_kind},
    value::Value,
};
use cutlink_common::Error;
use cutlink_flow::checkpoint::{self, Header};
use cutlink_fr::{Primitive, TimeStep, kernels::Kernels};
use cutlink_mesher::{
    exact::{Exact, Facet},
    intersect::Meet,
};
use cutlink_solver::Precision;
use std::{
    fmt,
    path::{Path, PathBuf},
};

/// The flow of another run at one step.
pub(super) struct EarlierGas<const D: usize> {
    path: PathBuf,
    step: u64,
    bounds: [[f64; D]; 2],
    state: State<D>,
}

/// The state at a point; none in boxes of removed elements.
type State<const D: usize> = Box<dyn Fn([f64; D]) -> Option<Primitive<D>> + Send + Sync>;

impl<const D: usize> fmt::Debug for EarlierGas<D> {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.debug_struct("EarlierGas")
            .field("path", &self.path)
            .field("step", &self.step)
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

/// Reads a checkpoint, or the last valid one of a folder. `free` bytes of memory are there for its elements.
///
/// # Errors
/// No checkpoint; one that is damaged, of the other kind, or in another number of dimensions.
pub(super) fn load<const D: usize>(path: &Path, free: u64) -> Result<EarlierGas<D>, Error>
where
    Facet<D>: Exact<D> + Meet<D>,
    f32: Kernels<D>,
    f64: Kernels<D>,
{
    let (path, header) = find(path)?;
    let name = path.display().to_string();
    let case: FluxCase = parse(&name, &header.case).map_err(of_this_kind)?;
    let dimensions = case.dimensions()?;
    if dimensions != D {
        return Err(Error::input(format!(
            "[initial] from: the flow of {name} is {dimensions}D, but this case is {D}D"
        ))
        .hint("use a flow with the same number of dimensions"));
    }
    // Its own initial state does not matter here, and its file may be gone.
    let at_rest = FluxInitialTable {
        density: Some(Value::Number(1.0)),
        velocity: Some(vec![Value::Number(0.0); D]),
        pressure: Some(Value::Number(1.0)),
        ..FluxInitialTable::default()
    };
    let case = FluxCase {
        initial: at_rest,
        ..case
    };
    let setting = case.setting::<D>(free).map_err(|e| e.within(&name))?;
    let state = match setting.precision {
        Precision::F32 => restored::<D, f32>(&path, &header, &setting)?,
        _ => restored::<D, f64>(&path, &header, &setting)?,
    };
    Ok(EarlierGas {
        step: header.step,
        bounds: setting.bounds,
        path,
        state,
    })
}

/// The flow of a checkpoint.
fn restored<const D: usize, T: Kernels<D>>(
    path: &Path,
    header: &Header,
    setting: &FluxSetting<D>,
) -> Result<State<D>, Error> {
    let mut flow = setting.flow::<T>()?;
    checkpoint::read(path, &header.case, header.mesh, |from| {
        restore(&mut flow, from)
    })
    .map_err(|failure| failure.within("[initial] from"))?;
    Ok(Box::new(move |x| flow.state_at(x)))
}

/// The length of steps of the last checkpoint in a folder, which a resumed run keeps.
///
/// # Errors
/// A folder without a checkpoint of such a run.
pub(super) fn saved_step(folder: &Path) -> Result<TimeStep, Error> {
    let (path, header) = find(folder).map_err(|_| {
        Error::input(format!(
            "{} has no checkpoint to resume from",
            folder.display()
        ))
        .hint("start without --resume")
    })?;
    let case: FluxCase = parse(&path.display().to_string(), &header.case)?;
    let dt = case.numerics.dt.unwrap_or(f64::NAN);
    Ok(TimeStep::Fixed(positive("[numerics] dt", dt)?))
}

impl<const D: usize> EarlierGas<D> {
    /// A note on its file and step.
    pub(super) fn note(&self) -> String {
        format!("initial flow: {}, step {}", self.path.display(), self.step)
    }

    /// Checks that a box lies within the box of this flow.
    pub(super) fn check_covers(&self, [lower, upper]: &[[f64; D]; 2]) -> Result<(), Error> {
        let [own_lower, own_upper] = &self.bounds;
        let inside = |a: usize| {
            let slack = 1e-9 * (own_upper[a] - own_lower[a]);
            lower[a] >= own_lower[a] - slack && upper[a] <= own_upper[a] + slack
        };
        if (0..D).all(inside) {
            return Ok(());
        }
        Err(Error::input(format!(
            "[initial] from: the box of {} is {own_lower:?} to {own_upper:?}, this box is {lower:?} to {upper:?}",
            self.path.display()
        ))
        .hint("this box must lie within that one"))
    }

    /// The state at a point of a box that this flow [covers](Self::check_covers).
    ///
    /// # Errors
    /// Why there is none.
    pub(super) fn at(&self, x: [f64; D]) -> Result<Primitive<D>, String> {
        let path = self.path.display();
        let state =
            (self.state)(x).ok_or_else(|| format!("{x:?} m is in a body of the flow of {path}"))?;
        match state.density > 0.0 && state.pressure > 0.0 {
            true => Ok(state),
            false => Err(format!(
                "the flow of {path} has density {} and pressure {} at {x:?} m, both should be positive",
                state.density, state.pressure
            )),
        }
    }
}
