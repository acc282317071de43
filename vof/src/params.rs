//! What a flow is: its phases, forces, and what happens at the faces of the box.

use crate::{Turning, TwoPhaseError};

/// Liquid first, gas second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Phases {
    /// kg/m³.
    pub density: [f64; 2],
    /// Dynamic viscosity, Pa s.
    pub viscosity: [f64; 2],
    /// N/m.
    pub surface_tension: f64,
}

impl Phases {
    /// Density of a mixture, by the volume fraction of the liquid.
    #[inline]
    pub(crate) fn rho(&self, c: f64) -> f64 {
        self.density[1] + (self.density[0] - self.density[1]) * c.clamp(0.0, 1.0)
    }

    /// One over the viscosity of a mixture.
    #[inline]
    pub(crate) fn fluidity(&self, c: f64) -> f64 {
        let c = c.clamp(0.0, 1.0);
        c / self.viscosity[0] + (1.0 - c) / self.viscosity[1]
    }

    /// Viscosity of a mixture: the harmonic mean; zero where the fluids have none.
    #[inline]
    pub(crate) fn mu(&self, c: f64) -> f64 {
        if self.viscosity == [0.0; 2] {
            return 0.0;
        }
        1.0 / self.fluidity(c)
    }

    /// # Errors
    /// Densities that are not positive, with a ratio above 1e5; a negative viscosity or surface tension.
    pub(crate) fn check(&self) -> Result<(), TwoPhaseError> {
        for rho in self.density {
            crate::check("a density", rho, rho > 0.0, "positive, in kg/m³")?;
        }
        let ratio = (self.density[0] / self.density[1]).max(self.density[1] / self.density[0]);
        crate::check(
            "the ratio of the densities",
            ratio,
            ratio <= 1e5,
            "at most 1e5, which is tested",
        )?;
        for mu in self.viscosity {
            crate::check("a viscosity", mu, mu >= 0.0, "zero or positive, in Pa s")?;
        }
        let sigma = self.surface_tension;
        crate::check(
            "the surface tension",
            sigma,
            sigma >= 0.0,
            "zero or positive, in N/m",
        )
    }
}

/// What is at a face of the box that is not periodic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum BoxFace<const D: usize> {
    /// A wall without friction.
    Slip,
    /// A wall at rest.
    NoSlip,
    /// A given velocity, and the liquid's part of what flows in, 0 or 1.
    Inflow {
        /// m/s.
        velocity: [f64; D],
        /// 0 or 1.
        liquid: f64,
    },
    /// A given pressure (without the weight of what is above), and the liquid's part of what flows back in, 0 or 1.
    Pressure {
        /// Pa.
        value: f64,
        /// 0 or 1.
        liquid: f64,
    },
}

/// All that a flow is set up with, beside its mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct FlowParams<const D: usize> {
    /// Of both phases.
    pub phases: Phases,
    /// m/s².
    pub gravity: [f64; D],
    /// How the box turns; none: it does not.
    pub turning: Option<Turning<D>>,
    /// By side, `2 · axis` plus 1 for the upper one; of periodic axes ignored.
    pub faces: [[BoxFace<D>; 2]; D],
    /// By side, the angle in the liquid between the interface and the face, 30° to 150° in rad: at walls, where there is
    /// surface tension.
    pub contact_angles: [[f64; 2]; D],
    /// Largest Courant number of a step, up to 0.5.
    pub courant: f64,
    /// Longest step, s.
    pub longest_step: f64,
    /// The pressure's residual over its right side's, 2-norms.
    pub tolerance: f64,
    /// Curvature that is given instead of found, 1/m: for tests of the balance of forces.
    pub fixed_curvature: Option<f64>,
}

impl<const D: usize> FlowParams<D> {
    /// Checks the parameters, with the box's periodic axes. Along these the pressure less the weight is not periodic: nothing
    /// carries the weight there.
    pub(crate) fn check(&self, periodic: [bool; D]) -> Result<(), TwoPhaseError> {
        self.phases.check()?;
        for a in (0..D).filter(|&a| periodic[a]) {
            let g = self.gravity[a];
            crate::check(
                "gravity along a periodic axis",
                g,
                g == 0.0,
                "zero: walls or a pressure face on this axis carry weight",
            )?;
            let across = |x: [f64; 3]| (0..3).filter(|&k| k != a).map(|k| x[k].abs()).sum::<f64>();
            let turns: f64 =
                (self.turning.as_ref()).map_or(0.0, |of| across(of.spin) + across(of.rate));
            crate::check(
                "the turning of a box about an axis that is not the periodic one",
                turns,
                turns == 0.0 || self.phases.density[0] == self.phases.density[1],
                "zero: centrifugal forces are not periodic",
            )?;
        }
        let co = self.courant;
        crate::check(
            "the Courant number",
            co,
            co > 0.0 && co <= 0.5,
            "above 0, at most 0.5",
        )?;
        let longest = self.longest_step;
        crate::check("the longest step", longest, longest > 0.0, "positive, in s")?;
        let tolerance = self.tolerance;
        crate::check(
            "the tolerance",
            tolerance,
            tolerance > 0.0 && tolerance <= 1e-3,
            "above 0, at most 1e-3",
        )?;
        for g in self.gravity {
            crate::check("gravity", g, g.is_finite(), "finite, in m/s²")?;
        }
        if let Some(Turning { center, spin, rate }) = &self.turning {
            for &x in center.iter().chain(spin).chain(rate) {
                crate::check(
                    "how the box turns",
                    x,
                    x.is_finite(),
                    "finite, in rad and s",
                )?;
            }
        }
        for angle in self.contact_angles.iter().flatten().map(|a| a.to_degrees()) {
            crate::check(
                "a contact angle",
                angle,
                (30.0 - 1e-9..=150.0 + 1e-9).contains(&angle),
                "30° to 150°, which is tested",
            )?;
        }
        for face in self.faces.iter().flatten() {
            match face {
                BoxFace::Slip | BoxFace::NoSlip => {}
                BoxFace::Inflow { velocity, liquid } => {
                    for v in velocity {
                        crate::check("an inflow velocity", *v, v.is_finite(), "finite, in m/s")?;
                    }
                    check_liquid(*liquid)?;
                }
                BoxFace::Pressure { value, liquid } => {
                    crate::check("a pressure", *value, value.is_finite(), "finite, in Pa")?;
                    check_liquid(*liquid)?;
                }
            }
        }
        Ok(())
    }

    /// Whether there is weight, or the box turns.
    pub(crate) fn has_head(&self) -> bool {
        self.turning.is_some() || self.gravity.iter().any(|&g| g != 0.0)
    }

    /// The potential of weight and of centrifugal forces, m²/s²: it grows along their direction.
    pub fn head(&self, at: [f64; D]) -> f64 {
        let weight: f64 = (0..D).map(|a| self.gravity[a] * at[a]).sum();
        weight + self.turning.as_ref().map_or(0.0, |of| of.head(at))
    }

    pub(crate) fn face(&self, side: usize) -> BoxFace<D> {
        self.faces[side / 2][side % 2]
    }
}

fn check_liquid(liquid: f64) -> Result<(), TwoPhaseError> {
    crate::check(
        "the liquid's part of an inflow",
        liquid,
        liquid == 0.0 || liquid == 1.0,
        "0 or 1",
    )
}
