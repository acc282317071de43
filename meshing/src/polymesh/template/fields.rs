//! The files of `0`: a condition for each patch and field.

use super::{Flow, Solver, Turbulence, dictionary, roles::Role};
use std::fmt::Write;

/// Closure constants of k-ω SST and of wall functions.
const C_MU: f64 = 0.09;
/// Length of turbulence at inlets over the length of the flow.
const MIXING: f64 = 0.07;
/// y⁺ up to which cells resolve the viscous layer, and from which on they begin in the logarithmic one.
const RESOLVED: f64 = 5.0;
const LOGARITHMIC: f64 = 30.0;

fn vector(of: [f64; 3]) -> String {
    format!("({} {} {})", of[0], of[1], of[2])
}

impl Flow<'_> {
    /// Turbulent kinetic energy and specific dissipation at inlets.
    fn turbulent(&self) -> [f64; 2] {
        let speed = self.template.speed();
        let k = 1.5 * (self.template.intensity * speed).powi(2);
        let omega = k.sqrt() / (C_MU.powf(0.25) * MIXING * self.scales.length);
        // Fluid at rest: the solver divides by them.
        [k.max(1e-10), omega.max(1e-3)]
    }

    /// The wall function of the eddy viscosity, and what is said of it.
    pub(super) fn wall_function(&self) -> (&'static str, String) {
        let y = self.scales.y_plus;
        let (name, what) = match y {
            _ if y <= RESOLVED => ("nutLowReWallFunction", "resolved, no wall function"),
            _ if y < LOGARITHMIC => ("nutUSpaldingWallFunction", "Spalding's wall function"),
            _ => ("nutkWallFunction", "logarithmic wall function"),
        };
        (name, format!("y+ of about {y:.1} at walls: {what}"))
    }

    pub(super) fn fields(&self) -> Vec<(&'static str, String)> {
        let is_inter = self.template.solver == Solver::Inter;
        let [k, omega] = self.turbulent();
        let start = self.starts_with();
        let mut fields = vec![(
            "0/U",
            self.field(
                "volVectorField",
                "U",
                "[0 1 -1 0 0 0 0]",
                &vector(start),
                |role| self.of_velocity(role),
            ),
        )];
        if is_inter {
            let pressure = self.field(
                "volScalarField",
                "p_rgh",
                "[1 -1 -2 0 0 0 0]",
                "0",
                |role| match role {
                    Role::Outlet | Role::Atmosphere => "totalPressure; p0 uniform 0".to_owned(),
                    _ => "fixedFluxPressure; value uniform 0".to_owned(),
                },
            );
            let alpha = self.field(
                "volScalarField",
                "alpha.water",
                "[0 0 0 0 0 0 0]",
                "0",
                |role| match role {
                    Role::Inlet | Role::NormalInlet => "fixedValue; value uniform 0".to_owned(),
                    Role::Outlet | Role::Atmosphere => {
                        "inletOutlet; inletValue uniform 0; value uniform 0".to_owned()
                    }
                    _ => "zeroGradient".to_owned(),
                },
            );
            fields.extend([("0/p_rgh", pressure), ("0/alpha.water", alpha)]);
        } else {
            let pressure =
                self.field(
                    "volScalarField",
                    "p",
                    "[0 2 -2 0 0 0 0]",
                    "0",
                    |role| match role {
                        Role::Outlet | Role::Atmosphere => "fixedValue; value uniform 0".to_owned(),
                        _ => "zeroGradient".to_owned(),
                    },
                );
            fields.push(("0/p", pressure));
        }
        if self.turbulence == Turbulence::Sst {
            let (wall, _) = self.wall_function();
            let of_k = match self.scales.y_plus <= RESOLVED {
                true => "kLowReWallFunction",
                false => "kqRWallFunction",
            };
            let open = |role: &Role, value: f64, at_wall: &str| match role {
                Role::Wall => format!("{at_wall}; value uniform {value}"),
                Role::Inlet | Role::NormalInlet => format!("fixedValue; value uniform {value}"),
                Role::Slip => "zeroGradient".to_owned(),
                _ => format!("inletOutlet; inletValue uniform {value}; value uniform {value}"),
            };
            let of = |name: &str, dimensions: &str, value: f64, at_wall: &str| {
                let start = value.to_string();
                self.field("volScalarField", name, dimensions, &start, |role| {
                    open(role, value, at_wall)
                })
            };
            let nut = self.field(
                "volScalarField",
                "nut",
                "[0 2 -1 0 0 0 0]",
                "0",
                |role| match role {
                    Role::Wall => format!("{wall}; value uniform 0"),
                    _ => "calculated; value uniform 0".to_owned(),
                },
            );
            fields.extend([
                ("0/k", of("k", "[0 2 -2 0 0 0 0]", k, of_k)),
                (
                    "0/omega",
                    of("omega", "[0 0 -1 0 0 0 0]", omega, "omegaWallFunction"),
                ),
                ("0/nut", nut),
            ]);
        }
        fields
    }

    /// The velocity at the start: that of a stream; of a duct rest.
    fn starts_with(&self) -> [f64; 3] {
        let is_stream = self.patches.iter().any(|(_, role)| *role == Role::Inlet);
        match is_stream {
            true => self.template.velocity,
            false => [0.0; 3],
        }
    }

    fn of_velocity(&self, role: &Role) -> String {
        match role {
            Role::Inlet => format!(
                "fixedValue; value uniform {}",
                vector(self.template.velocity)
            ),
            Role::NormalInlet => format!(
                "surfaceNormalFixedValue; refValue uniform {}; value uniform (0 0 0)",
                -self.template.speed()
            ),
            Role::Outlet => {
                "inletOutlet; inletValue uniform (0 0 0); value uniform (0 0 0)".to_owned()
            }
            Role::Atmosphere => "pressureInletOutletVelocity; value uniform (0 0 0)".to_owned(),
            Role::Slip => "slip".to_owned(),
            Role::Wall => "noSlip".to_owned(),
            Role::Constraint(kind) => kind.clone(),
        }
    }

    /// A field with one value inside; `condition` gives the type of a patch's condition and its entries.
    fn field(
        &self,
        class: &str,
        name: &str,
        dimensions: &str,
        inside: &str,
        condition: impl Fn(&Role) -> String,
    ) -> String {
        let mut text = format!(
            "dimensions {dimensions};\ninternalField uniform {inside};\nboundaryField\n{{\n"
        );
        for (patch, role) in &self.patches {
            let condition = match role {
                Role::Constraint(kind) => kind.clone(),
                role => condition(role),
            };
            let _ = writeln!(text, "    {patch} {{ type {condition}; }}");
        }
        // By group: faces between parts.
        for kind in ["processor", "processorCyclic"]
            .iter()
            .filter(|_| self.template.ranks.is_some())
        {
            let _ = writeln!(
                text,
                "    {kind} {{ type {kind}; value uniform {inside}; }}"
            );
        }
        text.push_str("}\n");
        dictionary(class, name, &text)
    }
}
