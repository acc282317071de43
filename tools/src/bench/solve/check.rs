//! Whether flows are right before they are timed: Taylor and Green's vortex, whose energy decays as
//! exp(-4 ν k² t), in a small periodic box.

use super::{
    Flows,
    cases::{self, Case, Kind},
    report::Check,
};
use cutlink::mesh::build::bare;
use cutlink::options::Root;
use cutlink::{Error, ErrorKind};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_solver::{
    FaceCondition, Interpolation, Params, PatchCondition, Plan, Snapshot, WallScheme,
    kernels::Kernels,
};
use std::f64::consts::TAU;

/// Cells along the vortex.
const CELLS: u32 = 32;
const VISCOSITY: f64 = 0.02;
/// Steps in which the energy falls to a fifth.
const STEPS: u64 = 512;
/// What the rate may differ by from the analytic one: at this resolution the error is a third of it.
const RATE: f64 = 0.02;
/// What the mass may change by, relative to itself: densities come as f32.
const MASS: f64 = 1e-6;

/// A flow without walls in a periodic box.
pub(super) fn params<const D: usize>(kind: Kind, viscosity: f64, patches: usize) -> Params<D> {
    Params {
        lattice: kind.lattice,
        collision: kind.collision,
        precision: kind.precision,
        viscosity,
        acceleration: [0.0; D],
        faces: [[FaceCondition::Periodic; 2]; D],
        patches: vec![PatchCondition::wall(WallScheme::Linear); patches],
        interpolation: Interpolation::Cubic,
        moment_center: [0.0; D],
        forces: false,
        variations: Vec::new(),
        sponges: Vec::new(),
    }
}

/// The vortex in a box with so many cells along its period: density and velocity.
pub(super) fn vortex<const D: usize>(cells: f64, at: [f64; D]) -> (f64, [f64; D]) {
    let (k, speed) = (TAU / cells, 0.02);
    let (x, y) = (k * at[0], k * at[1]);
    let mut u = [0.0; D];
    u[0] = -speed * x.cos() * y.sin();
    u[1] = speed * x.sin() * y.cos();
    let pressure = -0.25 * speed * speed * ((2.0 * x).cos() + (2.0 * y).cos());
    (1.0 + 3.0 * pressure, u)
}

/// Runs a vortex of each kind of flow once.
///
/// # Errors
/// One that does not decay as it should, or loses mass.
pub(super) fn all<K: Flows>(kernels: &K, cases: &[Case]) -> Result<Vec<Check>, Error> {
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

fn decay<const D: usize, K: Kernels<D>>(kernels: &K, kind: Kind) -> Result<Check, Error>
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
    let check = Check {
        lattice: kind.lattice.to_string(),
        precision: kind.precision.to_string(),
        collision: cases::name(kind.collision),
        decay_error: rate - 1.0,
        mass_error: after[0] / before[0] - 1.0,
    };
    check.judged()
}

/// Mass, and twice the energy.
fn sums<const D: usize>(snapshot: &Snapshot<D>) -> [f64; 2] {
    let mass = snapshot.density.iter().map(|&rho| f64::from(rho)).sum();
    let square = |u: &Vec<f32>| u.iter().map(|&u| f64::from(u).powi(2)).sum::<f64>();
    [mass, snapshot.velocity.iter().map(square).sum()]
}

impl Check {
    fn judged(self) -> Result<Self, Error> {
        if self.decay_error.abs() <= RATE && self.mass_error.abs() <= MASS {
            return Ok(self);
        }
        Err(Error::new(
            ErrorKind::Runtime,
            format!(
                "{} {} {}: a vortex decays {:+.3e} too fast and gains {:+.3e} of its mass, where {RATE} and {MASS} are allowed",
                self.lattice, self.precision, self.collision, self.decay_error, self.mass_error
            ),
        )
        .hint("these kernels are wrong on this device: there is nothing to measure"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_device::Host;
    use cutlink_solver::{Collision, LatticeKind, Precision};

    #[test]
    fn a_wrong_decay_or_mass_is_refused() {
        let kind = Kind {
            lattice: LatticeKind::D2Q9,
            precision: Precision::F32,
            collision: Collision::Regularized,
        };
        let right = decay::<2, Host>(&Host, kind).expect("the CPU is right");
        for (decay, mass) in [(1.1 * RATE, 0.0), (0.0, -1.1 * MASS), (f64::NAN, 0.0)] {
            let wrong = Check {
                decay_error: decay,
                mass_error: mass,
                ..right.clone()
            };
            assert!(wrong.judged().is_err(), "{decay} {mass}");
        }
    }
}
