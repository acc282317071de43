//! What a flow is computed with, and its state at a point.

use crate::{FrError, GasWalls, basis::MAX_ORDER};

/// Density, velocity and pressure at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Primitive<const D: usize> {
    /// Density ρ.
    pub density: f64,
    /// Velocity v.
    pub velocity: [f64; D],
    /// Pressure p.
    pub pressure: f64,
}

impl<const D: usize> Primitive<D> {
    /// Unknown `i` of the Euler equations: ρ, then ρ v, then ρ E = p / (γ - 1) + ρ v² / 2.
    pub fn unknown(&self, gamma: f64, i: usize) -> f64 {
        let Self {
            density,
            velocity,
            pressure,
        } = self;
        if i == 0 {
            return *density;
        }
        if i <= D {
            return density * velocity[i - 1];
        }
        let square: f64 = velocity.iter().map(|v| v * v).sum();
        pressure / (gamma - 1.0) + 0.5 * density * square
    }

    fn is_valid(&self) -> bool {
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        is_positive(self.density)
            && is_positive(self.pressure)
            && self.velocity.iter().all(|v| v.is_finite())
    }
}

/// Strong-stability-preserving Runge–Kutta methods of third order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RungeKutta {
    /// Three stages (Shu & Osher 1988).
    #[default]
    Rk33,
    /// Four stages, stable to steps twice as long (Spiteri & Ruuth 2002).
    Rk43,
}

/// A stage: `u + keep (u⁰ - u) + step Δt R(u)` of the state u and that at the start of the step, u⁰.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stage {
    pub(crate) keep: f64,
    pub(crate) step: f64,
}

impl RungeKutta {
    /// The stages, the first of which keeps nothing.
    pub(crate) fn stages(self) -> &'static [Stage] {
        const fn stage(keep: f64, step: f64) -> Stage {
            Stage { keep, step }
        }
        const RK33: [Stage; 3] = [
            stage(0.0, 1.0),
            stage(0.75, 0.25),
            stage(1.0 / 3.0, 2.0 / 3.0),
        ];
        const RK43: [Stage; 4] = [
            stage(0.0, 0.5),
            stage(0.0, 0.5),
            stage(2.0 / 3.0, 1.0 / 6.0),
            stage(0.0, 0.5),
        ];
        match self {
            Self::Rk33 => &RK33,
            Self::Rk43 => &RK43,
        }
    }

    /// Evaluations of the right-hand side a step.
    pub fn evaluations(self) -> usize {
        self.stages().len()
    }
}

/// How long a step is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TimeStep {
    /// Always the same.
    Fixed(f64),
    /// This number over the largest of `(2 p + 1) Σ (|v_a| + c) / h_a` at the points, with the speed of sound c and the
    /// element's edges h: found before each step. A viscous flow adds `(2 p + 1)² (p² + p + 6) / 4 ν Σ 1 / h_a²`, with the
    /// largest diffusivity `ν = max(4/3, γ / Pr) μ / ρ`.
    Courant(f64),
}

/// The viscosity and heat conduction of a Newtonian fluid whose bulk viscosity is 0 (Stokes' hypothesis).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viscosity {
    /// Dynamic viscosity μ, the same everywhere.
    pub dynamic: f64,
    /// Prandtl number μ c_p / k of the heat conductivity k.
    pub prandtl: f64,
}

impl Viscosity {
    /// The heat conductivity over the gas constant: the heat flux is this times the gradient of p / ρ.
    pub(crate) fn conductivity(&self, gamma: f64) -> f64 {
        gamma / (gamma - 1.0) * self.dynamic / self.prandtl
    }

    /// The largest diffusivity times density: of longitudinal momentum 4/3 μ, of energy γ μ / Pr.
    pub(crate) fn largest(&self, gamma: f64) -> f64 {
        self.dynamic * (4.0 / 3.0_f64).max(gamma / self.prandtl)
    }
}

/// What a flow is computed with.
#[derive(Debug, Clone, PartialEq)]
pub struct EulerParams<const D: usize> {
    /// The degree p of the polynomials, 1 to 4.
    pub order: usize,
    /// The ratio of specific heats.
    pub gamma: f64,
    /// The time integration.
    pub runge_kutta: RungeKutta,
    /// The length of steps.
    pub time_step: TimeStep,
    /// The state beyond faces of the box that are neither periodic nor walls; it enters through the Riemann solver. Viscous
    /// fluxes through these faces are zero.
    pub far_field: Option<Primitive<D>>,
    /// Viscosity; `None` for the Euler equations.
    pub viscosity: Option<Viscosity>,
    /// Walls on faces of the box, and bodies in it.
    pub walls: GasWalls<D>,
}

impl<const D: usize> EulerParams<D> {
    /// What [`TimeStep::Courant`] divides its number by, of one state on elements with such edges.
    pub fn wave_rate(&self, edges: [f64; D], state: &Primitive<D>) -> f64 {
        let sound = (self.gamma * state.pressure / state.density).sqrt();
        let speeds = (0..D).map(|a| (state.velocity[a].abs() + sound) / edges[a]);
        let diffusion = self.diffusion(edges) / state.density;
        (2 * self.order + 1) as f64 * (speeds.sum::<f64>() + diffusion)
    }

    /// What viscosity adds to the rate of waves, times the density, over `2 p + 1`.
    pub(crate) fn diffusion(&self, edges: [f64; D]) -> f64 {
        let p = self.order;
        self.viscosity.map_or(0.0, |viscosity| {
            let squares = edges.iter().map(|h| 1.0 / (h * h)).sum::<f64>();
            // Half the largest eigenvalue of the second derivative, over 2 p + 1: within 1 % of it from above.
            let per_wave = ((2 * p + 1) * (p * p + p + 6)) as f64 / 4.0;
            per_wave * viscosity.largest(self.gamma) * squares
        })
    }

    /// # Errors
    /// Where a number makes no sense.
    pub(crate) fn validate(&self) -> Result<(), FrError> {
        let is_positive = |x: f64| x > 0.0 && x.is_finite();
        let step = match self.time_step {
            TimeStep::Fixed(step) | TimeStep::Courant(step) => step,
        };
        if !(1..=MAX_ORDER).contains(&self.order) {
            return Err(FrError::Order { order: self.order });
        }
        if !(self.gamma > 1.0 && self.gamma.is_finite()) {
            return Err(FrError::Gamma { gamma: self.gamma });
        }
        if !is_positive(step) {
            return Err(FrError::TimeStep { step });
        }
        if self.far_field.is_some_and(|state| !state.is_valid()) {
            return Err(FrError::FarField);
        }
        if let Some(Viscosity { dynamic, prandtl }) = self.viscosity
            && !(is_positive(dynamic) && is_positive(prandtl))
        {
            return Err(FrError::Viscosity { dynamic, prandtl });
        }
        self.walls.validate(self.viscosity.is_some())
    }
}
