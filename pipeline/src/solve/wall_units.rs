//! Wall units of a flow before it is computed: the friction of a flat plate, and the cells that a y⁺ needs.

use crate::solve::units::Physics;

/// Reynolds number of the distance from the leading edge at which the boundary layer of a flat plate becomes turbulent
/// (Schlichting & Gersten, Boundary-Layer Theory, 2017, ch. 1).
const TRANSITION: f64 = 5e5;

/// Friction at the end of a flat plate of the reference length.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct WallUnits {
    /// Whether the boundary layer is taken for turbulent.
    pub(crate) turbulent: bool,
    /// Skin friction coefficient, wall shear stress over ρ u² / 2.
    pub(crate) friction: f64,
    /// Friction velocity, m/s.
    pub(crate) velocity: f64,
    /// Viscous length ν / u_τ, m.
    pub(crate) length: f64,
}

impl WallUnits {
    /// By the one-seventh power law C_f = 0.027 Re_x^(-1/7) (White, Viscous Fluid Flow, 3rd ed., 2006, §6-6), or for a
    /// laminar layer C_f = 0.664 Re_x^(-1/2) (Blasius 1908).
    pub(crate) fn of(physics: &Physics) -> Self {
        let re = physics.reynolds();
        let turbulent = re >= TRANSITION;
        let friction = match turbulent {
            true => 0.027 * re.powf(-1.0 / 7.0),
            false => 0.664 / re.sqrt(),
        };
        let velocity = physics.velocity * (0.5 * friction).sqrt();
        Self {
            turbulent,
            friction,
            velocity,
            length: physics.viscosity / velocity,
        }
    }

    /// y⁺ of the centre of a cell of size `dx` at the wall.
    pub(crate) fn y_plus(&self, dx: f64) -> f64 {
        0.5 * dx / self.length
    }

    /// The size of a cell whose centre has this y⁺.
    pub(crate) fn cell(&self, y_plus: f64) -> f64 {
        2.0 * y_plus * self.length
    }

    /// The law's name, for messages.
    pub(crate) fn law(&self) -> &'static str {
        match self.turbulent {
            true => "turbulent, C_f = 0.027 Re^(-1/7)",
            false => "laminar, C_f = 0.664 Re^(-1/2)",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 50 m/s of air over 1 m: White's book and common calculators of first cells give C_f = 0.0032 and 8e-6 m for
    /// the distance of y⁺ = 1.
    #[test]
    fn a_plate_in_air_has_the_first_cell_of_the_handbooks() {
        let air = Physics {
            length: 1.0,
            velocity: 50.0,
            viscosity: 1.5e-5,
            density: 1.2,
            lattice_velocity: 0.05,
        };
        let wall = WallUnits::of(&air);
        assert!(wall.turbulent);
        assert!((wall.friction / 0.0032 - 1.0).abs() < 0.02, "{wall:?}");
        assert!((wall.length / 7.5e-6 - 1.0).abs() < 0.02, "{wall:?}");
        let cell = wall.cell(1.0);
        assert!((wall.y_plus(cell) - 1.0).abs() < 1e-12);
        assert!(
            (cell / wall.length - 2.0).abs() < 1e-12,
            "the centre is half a cell from the wall"
        );
        let slow = Physics {
            velocity: 1.0,
            ..air
        };
        let wall = WallUnits::of(&slow);
        assert!(!wall.turbulent);
        // Re 66,667: 0.664 / 258.2.
        assert!((wall.friction / 2.5717e-3 - 1.0).abs() < 1e-3, "{wall:?}");
    }
}
