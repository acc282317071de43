//! The isentropic vortex in a periodic box, an exact solution of the Euler equations.

use crate::Primitive;
use std::f64::consts::PI;

/// The isentropic vortex of W24 (§5.2, eq. 12), carried by a free stream of density 1 and velocity 1 along x and y. It is
/// in the middle of a square box at time 0, and there is one in each of the box' periodic copies: the nearest counts.
///
/// W24 leaves units open. The printed errors follow with the gas constant 1, the free stream's temperature by the Mach
/// number of its whole velocity, T = |U|² / (γ Ma²), and the square of the distance where `exp(φ (1 - r²))` has r².
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IsentropicVortex {
    /// The ratio of specific heats.
    pub gamma: f64,
    /// The Mach number of the free stream.
    pub mach: f64,
    /// φ: how fast it decays with the square of the distance.
    pub decay: f64,
    /// α: its strength.
    pub strength: f64,
    /// The middle of the box.
    pub middle: [f64; 2],
    /// The edge of the box; also the time after which all is as it was.
    pub period: f64,
}

impl IsentropicVortex {
    /// W24's numbers (φ = 1/2, α = 5, Ma 0.5, γ 1.4) in a box around the origin.
    pub fn w24(period: f64) -> Self {
        Self {
            gamma: 1.4,
            mach: 0.5,
            decay: 0.5,
            strength: 5.0,
            middle: [0.0; 2],
            period,
        }
    }

    /// The state at a point; the same along z.
    pub fn at<const D: usize>(&self, time: f64, point: [f64; D]) -> Primitive<D> {
        // From the nearest of the vortices.
        let arm = [0, 1].map(|a: usize| {
            let from = point[a] - self.middle[a] - time;
            from - self.period * (from / self.period).round()
        });
        let square = arm[0] * arm[0] + arm[1] * arm[1];
        let bell = (self.decay * (1.0 - square)).exp();
        let swirl = self.strength / (2.0 * PI) * bell;
        let warm = 2.0 / (self.gamma * self.mach * self.mach);
        let drop = self.strength * self.strength * (self.gamma - 1.0)
            / (16.0 * self.decay * self.gamma * PI * PI)
            * bell
            * bell;
        let temperature = warm - drop;
        let density = (temperature / warm).powf(1.0 / (self.gamma - 1.0));
        let mut velocity = [0.0; D];
        velocity[0] = 1.0 - swirl * arm[1];
        velocity[1] = 1.0 + swirl * arm[0];
        Primitive {
            density,
            velocity,
            pressure: density * temperature,
        }
    }
}
