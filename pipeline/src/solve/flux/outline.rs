//! The forecast of a flow without its state: memory is compared before anything is made, and a dry run of a large flow
//! makes nothing.

use super::{
    case::FluxCase,
    earlier::EarlierGas,
    resolve::{FluxSetting, ORDER, bytes_of_element},
    state::state_at,
};
use cutlink_amr::dims;
use cutlink_common::{Error, ErrorKind};
use cutlink_fr::{EulerFlow, Primitive, TimeStep, kernels::Kernels};
use cutlink_solver::Precision;

/// Bytes of a flow that a dry run sets up, adapts and counts; of larger ones, it gives least numbers.
const SMALL: u64 = 128 << 20;
/// Most elements of the mesh in place of that of a large flow.
const MOST_COARSE: u64 = 4096;
/// Points an axis at which the initial state of a large flow is looked at.
const SAMPLES: usize = 24;

/// The elements of a flow at the start.
#[derive(Debug, Clone, Copy)]
pub(super) struct FluxStart {
    pub(super) elements: u64,
    pub(super) nodes: u64,
    /// The edge of the coarsest elements, in metres.
    pub(super) edge: f64,
    /// Whether the flow was set up; otherwise the elements are the coarsest ones, and the length of steps is that of a
    /// sample of the initial state.
    pub(super) is_exact: bool,
}

impl FluxStart {
    /// Of a flow that is set up.
    pub(super) fn of<const D: usize, T: Kernels<D>>(
        flow: &EulerFlow<D, T>,
        setting: &FluxSetting<D>,
    ) -> Self {
        Self {
            elements: flow.elements() as u64,
            nodes: flow.nodes() as u64,
            edge: f64::from(dims::EDGE as u32) * setting.mesh.frame.dx,
            is_exact: true,
        }
    }
}

/// Bytes that an element takes on the host while outputs look at the flow, beside its own: the states of its cells
/// twice, two snapshots of them, and its block.
const fn bytes_of_look(d: usize) -> u64 {
    let of_cell = 2 * 8 * (d + 2) + 2 * 4 * (d + 1);
    (dims::cells(d) * of_cell + 200) as u64
}

impl FluxCase {
    /// Elements of the box before any is refined.
    fn coarsest(&self) -> u64 {
        let each = self.domain.elements.iter().map(|&n| u64::from(n));
        each.fold(1, u64::saturating_mul)
    }

    fn bytes_of_element<const D: usize>(&self) -> u64 {
        let numerics = &self.numerics;
        bytes_of_element::<D>(
            numerics.order.unwrap_or(ORDER).min(cutlink_fr::MAX_ORDER),
            numerics.precision.unwrap_or(Precision::F64),
            self.physics.dynamic_viscosity.is_some(),
        )
    }

    /// Refuses the coarsest elements where they exceed the memory of the host or of the device, of which so many bytes are
    /// free.
    ///
    /// # Errors
    /// [`ErrorKind::Memory`], with all numbers.
    pub(super) fn check_memory<const D: usize>(
        &self,
        [host, device]: [u64; 2],
    ) -> Result<(), Error> {
        check_elements::<D>(
            self.coarsest(),
            self.bytes_of_element::<D>(),
            [host, device],
        )
    }

    /// Whether a dry run may set the flow up, with all that it may be refined to at the start.
    pub(super) fn is_small<const D: usize>(&self) -> bool {
        let levels = self.adapt.as_ref().and_then(|adapt| adapt.levels);
        let finer = (D as u32).saturating_mul(levels.unwrap_or(1).saturating_sub(1));
        let elements = self.coarsest();
        let most = 1u64
            .checked_shl(finer)
            .map_or(u64::MAX, |finer| elements.saturating_mul(finer));
        most.saturating_mul(self.bytes_of_element::<D>()) <= SMALL
    }

    /// The same case on few coarse elements, which may reach beyond the upper faces of the box: for tables that need a
    /// mesh, though not its size.
    pub(super) fn coarsened(&self) -> Self {
        let mut case = self.clone();
        let (given, bounds) = (&self.domain.elements, &self.domain.bounds);
        let axes = given.len();
        if bounds.len() != 2 * axes || given.contains(&0) {
            return case;
        }
        let mut ratio = 1u32;
        let count = |ratio: u32| {
            let each = given.iter().map(|&n| u64::from(n.div_ceil(ratio)));
            each.fold(1, u64::saturating_mul)
        };
        while count(ratio) > MOST_COARSE {
            ratio *= 2;
        }
        for a in 0..axes {
            let coarse = given[a].div_ceil(ratio);
            let edge = (bounds[axes + a] - bounds[a]) / f64::from(given[a]);
            case.domain.elements[a] = coarse;
            if !given[a].is_multiple_of(ratio) {
                case.domain.bounds[axes + a] =
                    bounds[a] + edge * f64::from(coarse) * f64::from(ratio);
            }
        }
        case
    }

    /// The start of the flow of a case in place of which a coarse one is resolved.
    pub(super) fn start_without_flow<const D: usize>(&self, coarse: &FluxSetting<D>) -> FluxStart {
        let bounds = &self.domain.bounds;
        FluxStart {
            elements: self.coarsest(),
            nodes: (coarse.params.order as u64 + 1).pow(D as u32),
            edge: (bounds[D] - bounds[0]) / f64::from(self.domain.elements[0]),
            is_exact: false,
        }
    }
}

/// Refuses so many elements where they exceed what is free on the host or the device.
///
/// # Errors
/// [`ErrorKind::Memory`], with all numbers.
pub(super) fn check_elements<const D: usize>(
    elements: u64,
    one: u64,
    [host, device]: [u64; 2],
) -> Result<(), Error> {
    let refused = |requested: u64, free: u64, whose: &str| {
        Error::new(
            ErrorKind::Memory,
            format!(
                "{elements} elements need {requested} bytes of memory{whose}, and {free} are free"
            ),
        )
        .hint("fewer [domain] elements, a lower [numerics] order, or precision = \"f32\"")
    };
    let on_host = elements.saturating_mul(one + bytes_of_look(D));
    if on_host > host {
        return Err(refused(on_host, host, ""));
    }
    let on_device = elements.saturating_mul(one);
    match on_device > device {
        true => Err(refused(on_device, device, " on the device")),
        false => Ok(()),
    }
}

/// The length of steps by a sample of the initial state, for elements with a coarsest edge.
///
/// # Errors
/// Expressions that have no value somewhere.
pub(super) fn sampled_step<const D: usize>(
    setting: &FluxSetting<D>,
    earlier: Option<&EarlierGas<D>>,
    edge: f64,
) -> Result<f64, Error> {
    let number = match setting.params.time_step {
        TimeStep::Fixed(dt) => return Ok(dt),
        TimeStep::Courant(number) => number,
    };
    let finest = setting.adaptation.as_ref().map_or(0, |a| a.levels[1]);
    let edges = [edge / f64::from(1u32 << finest.min(31)); D];
    let [lower, upper] = setting.bounds;
    let mut fastest = 0.0;
    for sample in 0..SAMPLES.pow(D as u32) {
        let x = std::array::from_fn(|a| {
            let along = sample / SAMPLES.pow(a as u32) % SAMPLES;
            lower[a] + (upper[a] - lower[a]) * (along as f64 + 0.5) / SAMPLES as f64
        });
        let state: Primitive<D> = state_at(setting, earlier, x)
            .map_err(|why| Error::input(format!("[initial]: {why}")))?;
        fastest = f64::max(fastest, setting.params.wave_rate(edges, &state));
    }
    match fastest.is_finite() && fastest > 0.0 {
        true => Ok(number / fastest),
        false => Err(Error::input("[initial]: its waves have no finite speed")),
    }
}
