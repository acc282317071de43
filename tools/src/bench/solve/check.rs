//! Checks flows before they are timed: a Taylor-Green vortex in a small periodic box, whose energy decays as exp(-4 ν
//! k² t).

use super::{
    Flows,
    cases::{Case, Kind},
    report::FlowCheck,
};
use cutlink::mesh::build::bare;
use cutlink::options::Root;
use cutlink::{Error, ErrorKind};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_solver::{
    FaceCondition, Interpolation, Params, PatchCondition, Plan, Precision, Snapshot, WallScheme,
    kernels::FlowKernels,
};
use std::f64::consts::TAU;

/// Cells along the vortex.
const CELLS: u32 = 32;
const VISCOSITY: f64 = 0.02;
/// Steps in which the energy falls to a fifth.
const STEPS: u64 = 512;
/// Tolerance of the decay rate relative to the analytic one: the error at this resolution is a third of it.
const RATE: f64 = 0.02;
/// Tolerance of the relative change of mass. Densities are f32; in 16 bits, errors of rounding in the 2D vortex add up over
/// few cells that differ (decision 025).
fn mass_limit(precision: Precision) -> f64 {
    match precision {
        Precision::F16 => 5e-5,
        Precision::F32 | Precision::F64 => 1e-6,
    }
}

/// A flow without walls in a periodic box.
pub(super) fn params<const D: usize>(kind: Kind, viscosity: f64, patches: usize) -> Params<D> {
    Params {
        lattice: kind.lattice,
        collision: kind.collision,
        les: kind.les,
        precision: kind.precision,
        viscosity,
        acceleration: [0.0; D],
        faces: [[FaceCondition::Periodic; 2]; D],
        patches: vec![PatchCondition::wall(WallScheme::Linear); patches],
        interpolation: Interpolation::Cubic,
        moment_center: [0.0; D],
        forces: false,
        variations: Vec::new(),
        modeled: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
    }
}

/// Density and velocity of the vortex in a box with `cells` cells along its period.
pub(super) fn vortex<const D: usize>(cells: f64, at: [f64; D]) -> (f64, [f64; D]) {
    let (k, speed) = (TAU / cells, 0.02);
    let (x, y) = (k * at[0], k * at[1]);
    let mut u = [0.0; D];
    u[0] = -speed * x.cos() * y.sin();
    u[1] = speed * x.sin() * y.cos();
    let pressure = -0.25 * speed * speed * ((2.0 * x).cos() + (2.0 * y).cos());
    (1.0 + 3.0 * pressure, u)
}

/// Runs a vortex once for each kind of flow.
///
/// # Errors
/// A wrong decay rate, or a change of mass.
pub(super) fn all<K: Flows>(kernels: &K, cases: &[Case]) -> Result<Vec<FlowCheck>, Error> {
    let mut kinds: Vec<Kind> = Vec::new();
    for kind in cases.iter().flat_map(Case::kinds) {
        if !kinds.contains(kind) {
            kinds.push(*kind);
        }
    }
    let one = |kind: Kind| match kind.lattice.dimensions() {
        2 => decay::<2, K>(kernels, kind),
        _ => decay::<3, K>(kernels, kind),
    };
    kinds.into_iter().map(one).collect()
}

fn decay<const D: usize, K: FlowKernels<D>>(kernels: &K, kind: Kind) -> Result<FlowCheck, Error>
where
    Facet<D>: Exact<D>,
{
    let mut root = vec![CELLS; 2];
    root.resize(D, 4);
    let bounds: Vec<f64> = std::iter::repeat_n(0.0, D)
        .chain(root.iter().map(|&n| f64::from(n)))
        .collect();
    let mesh = bare::<D>(&bounds, &Root::Cells(root))?;
    let plan = Plan::new(&mesh, params(kind, VISCOSITY, mesh.patches.len()))?;
    let mut flow = plan.start(kernels)?;
    flow.set(&|at| vortex(f64::from(CELLS), at))?;
    let before = sums(&flow.snapshot()?);
    flow.advance(STEPS)?;
    let after = sums(&flow.snapshot()?);
    let k = TAU / f64::from(CELLS);
    let rate = (before[1] / after[1]).ln() / (4.0 * VISCOSITY * k * k * STEPS as f64);
    let check = FlowCheck {
        lattice: kind.lattice.to_string(),
        precision: kind.precision.to_string(),
        collision: kind.collision.to_string(),
        les: kind.les.to_string(),
        decay_error: rate - 1.0,
        mass_error: after[0] / before[0] - 1.0,
    };
    check.judged(mass_limit(kind.precision))
}

/// The mass, and twice the energy.
fn sums<const D: usize>(snapshot: &Snapshot<D>) -> [f64; 2] {
    let mass = snapshot.density.iter().map(|&rho| f64::from(rho)).sum();
    let square = |u: &Vec<f32>| u.iter().map(|&u| f64::from(u).powi(2)).sum::<f64>();
    [mass, snapshot.velocity.iter().map(square).sum()]
}

impl FlowCheck {
    fn judged(self, mass: f64) -> Result<Self, Error> {
        if self.decay_error.abs() <= RATE && self.mass_error.abs() <= mass {
            return Ok(self);
        }
        Err(Error::new(
            ErrorKind::Runtime,
            format!(
                "{} {} {}: the decay rate of a vortex is off by {:+.3e} (limit {RATE}), its mass by {:+.3e} (limit \
                 {mass})",
                self.lattice, self.precision, self.collision, self.decay_error, self.mass_error
            ),
        )
        .hint("the kernels give wrong results on this device, so they are not measured"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_device::Host;
    use cutlink_solver::{Collision, LatticeKind, Les};

    #[test]
    fn a_wrong_decay_or_mass_is_refused() {
        let kind = Kind {
            lattice: LatticeKind::D2Q9,
            precision: Precision::F32,
            collision: Collision::Regularized,
            les: Les::None,
        };
        let right = decay::<2, Host>(&Host, kind).expect("the CPU is right");
        let limit = mass_limit(kind.precision);
        for (decay, mass) in [(1.1 * RATE, 0.0), (0.0, -1.1 * limit), (f64::NAN, 0.0)] {
            let wrong = FlowCheck {
                decay_error: decay,
                mass_error: mass,
                ..right.clone()
            };
            assert!(wrong.judged(limit).is_err(), "{decay} {mass}");
        }
    }
}
