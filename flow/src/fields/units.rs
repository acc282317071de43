//! Conversion from root lattice units to output units.

use super::FieldName;

/// A conversion factor and the name of the unit.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldUnit {
    /// Value of one lattice unit in this unit.
    pub factor: f64,
    /// Its name, as in `m/s`.
    pub name: String,
}

impl FieldUnit {
    /// A unit.
    pub fn new(factor: f64, name: impl Into<String>) -> Self {
        let name = name.into();
        Self { factor, name }
    }
}

/// Units of the outputs of a flow. Coordinates are always in the length unit of the mesh.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldUnits {
    /// Time; lattice unit: one root step.
    pub time: FieldUnit,
    /// Velocity; lattice unit: one root cell per root step.
    pub velocity: FieldUnit,
    /// Pressure, zero at density 1; lattice unit: density times velocity squared.
    pub pressure: FieldUnit,
    /// Density; lattice unit: density 1.
    pub density: FieldUnit,
    /// Vorticity; lattice unit: 1 per root step.
    pub vorticity: FieldUnit,
    /// Q criterion; lattice unit: 1 per root step squared.
    pub q: FieldUnit,
    /// Scalars that the flow has besides, by name.
    pub scalars: Vec<(FieldName, FieldUnit)>,
    /// Whether the flow has spheres, whose values are in SI units.
    pub particles: bool,
}

impl FieldUnits {
    /// The units of the root lattice.
    pub fn lattice() -> Self {
        let one = |name: &str| FieldUnit::new(1.0, name);
        Self {
            time: one("steps"),
            velocity: one("dx/dt"),
            pressure: one("rho (dx/dt)^2"),
            density: one("rho"),
            vorticity: one("1/dt"),
            q: one("1/dt^2"),
            scalars: Vec::new(),
            particles: false,
        }
    }

    /// The unit of a scalar that the flow has besides.
    pub fn scalar(&self, name: FieldName) -> Option<&FieldUnit> {
        let mut scalars = self.scalars.iter();
        scalars.find(|(own, _)| *own == name).map(|(_, unit)| unit)
    }

    /// SI units, from the spacing of the root level in m, its time step in s, and the value of density 1 in kg/m³.
    pub fn si(dx: f64, dt: f64, density: f64) -> Self {
        let speed = dx / dt;
        Self {
            time: FieldUnit::new(dt, "s"),
            velocity: FieldUnit::new(speed, "m/s"),
            pressure: FieldUnit::new(density * speed * speed, "Pa"),
            density: FieldUnit::new(density, "kg/m^3"),
            vorticity: FieldUnit::new(1.0 / dt, "1/s"),
            q: FieldUnit::new(1.0 / (dt * dt), "1/s^2"),
            scalars: Vec::new(),
            particles: false,
        }
    }

    /// Multiples of a reference velocity U (root cells per root step), a reference length D (root cells), and density
    /// 1.
    pub fn reference(velocity: f64, length: f64) -> Self {
        let rate = velocity / length;
        Self {
            time: FieldUnit::new(rate, "D/U"),
            velocity: FieldUnit::new(1.0 / velocity, "U"),
            pressure: FieldUnit::new(1.0 / (velocity * velocity), "rho U^2"),
            density: FieldUnit::new(1.0, "rho"),
            vorticity: FieldUnit::new(1.0 / rate, "U/D"),
            q: FieldUnit::new(1.0 / (rate * rate), "(U/D)^2"),
            scalars: Vec::new(),
            particles: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_agree_with_one_another() {
        // Vorticity is velocity over length, pressure density times velocity squared.
        let (dx, dt, rho) = (0.01, 2e-4, 1.2);
        let si = FieldUnits::si(dx, dt, rho);
        assert!((si.velocity.factor - 50.0).abs() < 1e-12, "m/s");
        assert!((si.pressure.factor - rho * 2500.0).abs() < 1e-9, "Pa");
        assert!(
            (si.vorticity.factor - si.velocity.factor / dx).abs() < 1e-9,
            "1/s"
        );
        // The same flow in reference units: U = 0.05, D = 20 root cells.
        let (u, d) = (0.05, 20.0);
        let by = FieldUnits::reference(u, d);
        let (u_si, d_si) = (u * si.velocity.factor, d * dx);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-9 * b.abs();
        assert!(close(by.time.factor * d_si / u_si, si.time.factor), "time");
        assert!(
            close(by.velocity.factor * u_si, si.velocity.factor),
            "velocity"
        );
        assert!(
            close(by.vorticity.factor * u_si / d_si, si.vorticity.factor),
            "vorticity"
        );
        assert!(close(by.q.factor * (u_si / d_si).powi(2), si.q.factor), "Q");
        assert!(
            close(by.pressure.factor * rho * u_si * u_si, si.pressure.factor),
            "pressure"
        );
    }
}
