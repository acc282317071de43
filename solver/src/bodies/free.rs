//! A rigid body that moves by forces.

use super::BodyState;
use cutlink_mesher::rigid::Pose;

/// Smallest ratio of a free body's mass to that of the fluid that it displaces. The added mass of the fluid answers a step late,
/// which is unstable for lighter bodies.
pub const LIGHTEST_BODY: f64 = 1.1;

/// A body that moves by the forces of the fluid, its weight, springs and dampers; see [`crate::RigidBodies`] for the
/// units. The origin of its frame is its centre of mass.
#[derive(Debug, Clone, PartialEq)]
pub struct FreeMotion<const D: usize> {
    /// Mass.
    pub mass: f64,
    /// Mass of the fluid that it displaces.
    pub displaced: f64,
    /// Moments of inertia about the centre of mass, along the axes of the space where the body is not rotated; in 2D the last one.
    pub inertia: [[f64; 3]; 3],
    /// A constant force: weight less buoyancy.
    pub force: [f64; D],
    /// What may not change: places along x, y, z and turns about them.
    pub locked: [bool; 6],
    /// Stiffness of springs that draw the body to its first pose, along and about x, y, z.
    pub springs: [f64; 6],
    /// Damping of the velocity along, and of the angular velocity about x, y, z.
    pub dampers: [f64; 6],
    /// Where it is and how it moves at first.
    pub start: BodyState<D>,
}

/// What a free body keeps from step to step beside its state.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Momentum {
    /// Angular momentum, in the frame of the space.
    pub(super) spin: [f64; 3],
    /// Force and torque of the fluid in the step before, if there was one.
    pub(super) before: Option<[f64; 6]>,
}

fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|a| (0..3).map(|b| matrix[a][b] * v[b]).sum())
}

/// The inverse by the adjugate.
fn inverse(m: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
    let minor = |a: usize, b: usize| {
        let [r, s] = [(a + 1) % 3, (a + 2) % 3];
        let [p, q] = [(b + 1) % 3, (b + 2) % 3];
        m[r][p] * m[s][q] - m[r][q] * m[s][p]
    };
    let determinant: f64 = (0..3).map(|b| m[0][b] * minor(0, b)).sum();
    std::array::from_fn(|a| std::array::from_fn(|b| minor(b, a) / determinant))
}

impl<const D: usize> FreeMotion<D> {
    /// What is wrong with its numbers, with the way out.
    pub(super) fn fault(&self) -> Option<String> {
        let numbers = self.springs.iter().chain(&self.dampers).chain(&self.force);
        if !(self.mass.is_finite() && self.mass > 0.0 && self.displaced > 0.0) {
            return Some(format!(
                "its mass is {}: a positive number is needed",
                self.mass
            ));
        }
        if self.mass < LIGHTEST_BODY * self.displaced {
            let ratio = self.mass / self.displaced;
            return Some(format!(
                "it has {ratio:.3} times the mass of the fluid that it displaces, and less than {LIGHTEST_BODY} is unstable, as the fluid's added mass answers a step late: make it heavier, or prescribe its motion"
            ));
        }
        let moments: Vec<usize> = if D == 2 { vec![2] } else { vec![0, 1, 2] };
        if moments
            .iter()
            .any(|&a| self.inertia[a][a].is_nan() || self.inertia[a][a] <= 0.0)
        {
            return Some("its moments of inertia have to be positive".into());
        }
        numbers
            .into_iter()
            .any(|x| !x.is_finite())
            .then(|| "springs, dampers and weight have to be finite numbers".into())
    }

    /// The moments of inertia in the frame of the space.
    fn turned_inertia(&self, state: &BodyState<D>) -> [[f64; 3]; 3] {
        if D == 2 {
            let mut only = [[0.0; 3]; 3];
            (only[0][0], only[1][1], only[2][2]) = (1.0, 1.0, self.inertia[2][2]);
            return only;
        }
        let r = state.pose.rotation.matrix();
        let entry = |a: usize, b: usize| -> f64 {
            let pairs = (0..3).flat_map(|k| (0..3).map(move |l| (k, l)));
            pairs
                .map(|(k, l)| r[a][k] * self.inertia[k][l] * r[b][l])
                .sum()
        };
        std::array::from_fn(|a| std::array::from_fn(|b| entry(a, b)))
    }

    /// The momentum of the state that it starts from.
    pub(super) fn momentum(&self) -> Momentum {
        let spin = times(&self.turned_inertia(&self.start), self.start.spin);
        Momentum { spin, before: None }
    }

    /// A time `dt` later, under the force and torque of the fluid now: velocities by the mean of these and those of the step before,
    /// none before the first one, so that the body takes all the momentum that the fluid gives, half of it a step late; then
    /// places by the new velocities (symplectic Euler); rotations by the exponential map, with the angular momentum
    /// kept in the frame of the space.
    pub(super) fn advance(
        &self,
        state: &BodyState<D>,
        momentum: &mut Momentum,
        load: [f64; 6],
        dt: f64,
    ) -> BodyState<D> {
        let before = momentum.before.unwrap_or_default();
        momentum.before = Some(load);
        let mean: [f64; 6] = std::array::from_fn(|n| 0.5 * (load[n] + before[n]));
        let turned = state
            .pose
            .rotation
            .after(self.start.pose.rotation.inverse())
            .vector();
        let mut next = *state;
        for a in 0..D {
            let away = state.pose.center[a] - self.start.pose.center[a];
            let force = mean[a] + self.force[a]
                - self.springs[a] * away
                - self.dampers[a] * state.velocity[a];
            next.velocity[a] = match self.locked[a] {
                true => 0.0,
                false => state.velocity[a] + dt / self.mass * force,
            };
        }
        for a in if D == 2 { 2..3 } else { 0..3 } {
            let torque =
                mean[3 + a] - self.springs[3 + a] * turned[a] - self.dampers[3 + a] * state.spin[a];
            momentum.spin[a] += dt * torque;
        }
        let inertia = self.turned_inertia(state);
        let spin = times(&inverse(&inertia), momentum.spin);
        next.spin = std::array::from_fn(|a| match self.locked[3 + a] || D == 2 && a < 2 {
            true => 0.0,
            false => spin[a],
        });
        let is_held = (0..3).any(|a| self.locked[3 + a]);
        if is_held {
            // What the guide takes away.
            momentum.spin = times(&inertia, next.spin);
        }
        next.pose = Pose::advance(&state.pose, next.velocity, next.spin, dt);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worst::worst;

    fn top(spin: [f64; 3]) -> FreeMotion<3> {
        FreeMotion {
            mass: 2.0,
            displaced: 1.0,
            inertia: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 2.5]],
            force: [0.0; 3],
            locked: [false; 6],
            springs: [0.0; 6],
            dampers: [0.0; 6],
            start: BodyState {
                pose: Pose::at([0.0; 3]),
                velocity: [0.0; 3],
                spin,
            },
        }
    }

    fn run(of: &FreeMotion<3>, steps: u32, time: f64) -> (BodyState<3>, Momentum) {
        let (mut state, mut momentum) = (of.start, of.momentum());
        for _ in 0..steps {
            state = of.advance(&state, &mut momentum, [0.0; 6], time / f64::from(steps));
        }
        (state, momentum)
    }

    #[test]
    fn a_symmetric_top_precesses_about_its_angular_momentum() {
        // Free symmetric top: the axis turns about L by L / I₁ a time (Landau & Lifshitz, Mechanics, §33).
        let of = top([0.3, 0.0, 0.8]);
        let axis_after = |steps: u32, time: f64| {
            let (state, momentum) = run(&of, steps, time);
            assert_eq!(momentum.spin, [0.3, 0.0, 2.0], "angular momentum is kept");
            state.pose.rotation.rotate([0.0, 0.0, 1.0])
        };
        let length = (0.3f64 * 0.3 + 4.0).sqrt();
        let axis = [0.3 / length, 0.0, 2.0 / length];
        let time = 1.7;
        let (sin, cos) = (length * time).sin_cos();
        // Rodrigues: z about the axis.
        let along = axis[2];
        let expected: [f64; 3] = std::array::from_fn(|a| {
            let z = [0.0, 0.0, 1.0];
            let cross = [axis[1], -axis[0], 0.0];
            z[a] * cos + cross[a] * sin + axis[a] * along * (1.0 - cos)
        });
        let off = [400, 4000].map(|steps| {
            let found = axis_after(steps, time);
            worst((0..3).map(|a| (found[a] - expected[a]).abs()))
        });
        assert!(
            off[0] < 2e-3 && off[1] < 0.12 * off[0],
            "first order: {off:?}"
        );
    }

    #[test]
    fn a_body_on_a_damped_spring_oscillates() {
        let mut of = top([0.0; 3]);
        (of.springs[0], of.dampers[0]) = (0.5, 0.04);
        of.start.velocity[0] = 0.1;
        // x = v₀/ω e^(-γt) sin ωt, γ = c/2m, ω² = k/m - γ².
        let (gamma, time) = (0.04 / 4.0, 9.0);
        let omega = (0.25f64 - gamma * gamma).sqrt();
        let expected = 0.1 / omega * (-gamma * time).exp() * (omega * time).sin();
        let off =
            [500, 5000].map(|steps| (run(&of, steps, time).0.pose.center[0] - expected).abs());
        assert!(
            off[0] < 2e-3 && off[1] < 0.15 * off[0],
            "first order: {off:?}"
        );
    }

    #[test]
    fn what_is_locked_stays() {
        let mut of = top([0.1, 0.2, 0.3]);
        of.force = [0.1, 0.2, 0.3];
        of.locked = [true, false, true, true, true, false];
        let (state, _) = run(&of, 100, 2.0);
        assert_eq!([state.velocity[0], state.velocity[2]], [0.0; 2]);
        assert!((state.velocity[1] - 0.2).abs() < 1e-12, "{state:?}");
        assert_eq!([state.spin[0], state.spin[1]], [0.0; 2]);
        assert!(state.spin[2] > 0.2, "{state:?}");
    }

    #[test]
    fn faults_have_names() {
        let mut of = top([0.0; 3]);
        assert_eq!(of.fault(), None);
        of.displaced = 1.9;
        assert!(
            of.fault().is_some_and(|text| text.contains("1.053")),
            "{:?}",
            of.fault()
        );
        of = top([0.0; 3]);
        of.springs[3] = f64::NAN;
        assert!(of.fault().is_some_and(|text| text.contains("finite")));
        of = top([0.0; 3]);
        of.inertia[1][1] = f64::NAN;
        assert!(of.fault().is_some_and(|text| text.contains("inertia")));
        of.mass = f64::NAN;
        assert!(of.fault().is_some_and(|text| text.contains("mass")));
    }
}
