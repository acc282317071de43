//! Advice for a diverged flow, in one place.

use crate::solve::{laws::two_digits, units::Physics};
use cutlink_solver::{Collision, Les, Params, Precision};

/// Mach number of the reference velocity above which a lower one may help.
const FAST: f64 = 0.2;

/// Remedies for a diverged flow; `checkpoint` is the root step of the last one. Omits settings already in use. `too_viscous` and
/// `too_fast`: see [`Laws::too_viscous`](super::laws::Laws::too_viscous), [`Laws::too_fast`](super::laws::Laws::too_fast).
pub(super) fn diverged<const D: usize>(
    params: &Params<D>,
    physics: &Physics,
    too_viscous: Option<[f64; 2]>,
    too_fast: Option<f64>,
    checkpoint: Option<u64>,
) -> String {
    let kept = checkpoint.map_or(String::new(), |step| {
        format!("; the checkpoint of root step {step} is kept")
    });
    // Finer cells and lower Reynolds numbers would make this worse.
    if let Some([h, lower]) = too_viscous {
        return format!(
            "the relaxation time at walls is 1/2 + {}: use lattice_velocity = {}{kept}",
            two_digits(h),
            two_digits(lower)
        );
    }
    if let Some(lower) = too_fast {
        return format!(
            "the fastest place or the pressure variation is too much for this time step: use lattice_velocity = {}{kept}",
            two_digits(lower)
        );
    }
    let mut ways = vec!["refine".to_owned(), "reduce the Reynolds number".to_owned()];
    let is_least_stable = matches!(params.collision, Collision::Bgk | Collision::Trt { .. });
    if (is_least_stable && params.has_opening()) || params.collision == Collision::Kbc {
        ways.push("use collision = \"regularized\"".to_owned());
    }
    if params.les == Les::None {
        let les = if D == 3 { "qr" } else { "smagorinsky" };
        ways.push(format!("add les = \"{les}\""));
    }
    if params.precision == Precision::F16 {
        ways.push("use precision = \"f32\"".to_owned());
    }
    if physics.mach() > FAST {
        ways.push("reduce lattice_velocity".to_owned());
    }
    let last = ways.pop().unwrap_or_default();
    format!("{} or {last}{kept}", ways.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_solver::{FaceCondition, LatticeKind};

    #[test]
    fn settings_in_use_are_not_advised() {
        let physics = |lattice_velocity: f64| Physics {
            length: 1.0,
            velocity: 1.0,
            viscosity: 0.01,
            density: 1.0,
            lattice_velocity,
        };
        let params = |collision| Params::<2> {
            collision,
            faces: [[FaceCondition::Outflow; 2]; 2],
            ..Params::new(LatticeKind::D2Q9, 0.01)
        };
        let calm = diverged(
            &params(Collision::Regularized),
            &physics(0.05),
            None,
            None,
            None,
        );
        let wanted = "refine, reduce the Reynolds number or add les = \"smagorinsky\"";
        assert_eq!(calm, wanted);
        let all = Params {
            les: Les::SMAGORINSKY,
            precision: Precision::F16,
            ..params(Collision::Kbc)
        };
        let used = diverged(&all, &physics(0.05), None, None, None);
        assert!(
            !used.contains("smagorinsky") && used.contains("f32") && used.contains("regularized")
        );
        let fast = diverged(
            &params(Collision::Bgk),
            &physics(0.15),
            None,
            None,
            Some(300),
        );
        for word in ["regularized", "lattice_velocity", "root step 300 is kept"] {
            assert!(fast.contains(word), "{fast}");
        }
        let viscous = diverged(
            &params(Collision::Regularized),
            &physics(0.05),
            Some([3.0, 0.00625]),
            Some(0.02),
            None,
        );
        assert!(
            viscous.contains("lattice_velocity = 0.0063") && !viscous.contains("refine"),
            "{viscous}"
        );
        let fast = diverged(
            &params(Collision::Bgk),
            &physics(0.05),
            None,
            Some(0.0069),
            None,
        );
        assert!(fast.contains("lattice_velocity = 0.0069"), "{fast}");
    }
}
