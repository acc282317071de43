//! Heat: from tables to parameters. What a run tells of it is in [`crate::solve::heat`].

use super::case::{SolidTable, TwoPhaseCase, TwoPhaseFaceKind, TwoPhaseFaceTable};
use super::frame;
use super::resolve::side_name;
use super::surface::SurfaceKeys;
use crate::solve::{
    heat::{HeatRecord, Patches},
    resolve::missing,
};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_prescribed::expression::Expression;
use cutlink_vof::{BoxFace, HeatParams, TwoPhaseFlow, WallHeat};
use std::f64::consts::PI;
use std::sync::OnceLock;

/// Bytes of a cell for heat, beside those of the flow.
pub(super) const fn bytes_of_heat(d: u64) -> u64 {
    60 + 23 * d
}

/// Heat of a case.
pub(super) struct CaseHeat<const D: usize> {
    pub(super) params: HeatParams<D>,
    temperature: Expression,
    /// Patches that heat may come from, by number and name.
    patches: Patches,
}

impl<const D: usize> CaseHeat<D> {
    /// Whether a body has a temperature or a flux of heat.
    pub(super) fn has_bodies(&self) -> bool {
        !self.params.bodies.is_empty()
    }

    /// Gives a flow its heat.
    ///
    /// # Errors
    /// An expression without a value, and what the flow refuses.
    pub(super) fn give(&self, flow: TwoPhaseFlow<D>) -> Result<TwoPhaseFlow<D>, Error> {
        let failed = OnceLock::new();
        let of = |x: [f64; D]| match self.temperature.at(&x, 0.0) {
            Ok(value) => value,
            Err(reason) => {
                let _ = failed.set(reason);
                0.0
            }
        };
        let flow = flow.with_heat(self.params.clone(), of)?;
        match failed.into_inner() {
            None => Ok(flow),
            Some(reason) => Err(Error::input(format!("[heat] temperature: {reason}"))),
        }
    }
}

impl TwoPhaseCase {
    /// Heat, if the case has some.
    ///
    /// # Errors
    /// Keys that are missing, make no sense, or are given without `[heat]`.
    pub(super) fn heat<const D: usize>(
        &self,
        faces: &[[BoxFace<D>; 2]; D],
    ) -> Result<Option<CaseHeat<D>>, Error> {
        let Some(table) = &self.heat else {
            return match self.key_of_heat() {
                None => Ok(None),
                Some(key) => Err(Error::input(format!("{key} is given, and no [heat]"))
                    .hint("give [heat] with the temperature at the start, or remove the key")),
            };
        };
        if self.run.settle.is_some() && self.output.integrals_every == Some(0) {
            return Err(Error::input(
                "[run] settle of a flow with heat, with [output] integrals_every = 0",
            )
            .hint(
                "whether heat has settled is told by the lines of heat.csv: give integrals_every",
            ));
        }
        if !self.particles.is_empty() {
            return Err(Error::input("a case has [heat] and [[particles]]")
                .hint("flows with spheres have no temperature: remove one of both"));
        }
        let fluids = [("liquid", &self.phases.liquid), ("gas", &self.phases.gas)];
        let [mut capacity, mut conductivity, mut expansion] = [[0.0; 2]; 3];
        for (i, (name, fluid)) in fluids.into_iter().enumerate() {
            let required = |key: &str, given: Option<f64>| {
                let what = format!("[phases.{name}] {key}");
                positive(&what, given.ok_or_else(|| missing(&what))?)
            };
            capacity[i] = required("heat_capacity", fluid.heat_capacity)?;
            conductivity[i] = required("conductivity", fluid.conductivity)?;
            expansion[i] = fluid.expansion.unwrap_or(0.0);
        }
        let expands = expansion != [0.0; 2];
        let reference = match table.reference {
            Some(given) => given,
            None if expands => {
                return Err(missing("[heat] reference")
                    .hint("the temperature at which the fluids have their densities"));
            }
            None => 0.0,
        };
        if expands && self.frame.as_ref().is_some_and(|of| of.angle.is_some()) {
            return Err(
                Error::input("fluids expand by heat in a box whose [frame] turns")
                    .hint("a [frame] with translation alone, or [phases] without expansion"),
            );
        }
        let scope = frame::scope(D, false);
        let start = table.temperature.as_ref();
        let start = start.ok_or_else(|| missing("[heat] temperature"))?;
        let (at_faces, mut patches) = self.heat_of_faces(faces)?;
        let bodies = self.heat_of_bodies()?;
        for (i, of) in bodies.iter().enumerate() {
            if *of != WallHeat::Insulated {
                patches.push((2 * D + i, format!("body {}", i + 1)));
            }
        }
        Ok(Some(CaseHeat {
            params: HeatParams {
                capacity,
                conductivity,
                expansion,
                reference,
                faces: at_faces,
                bodies,
            },
            temperature: start.expression("[heat] temperature", &scope)?,
            patches,
        }))
    }

    /// A key that only flows with heat have.
    fn key_of_heat(&self) -> Option<String> {
        for (name, fluid) in [("liquid", &self.phases.liquid), ("gas", &self.phases.gas)] {
            let keys = [
                ("heat_capacity", fluid.heat_capacity),
                ("conductivity", fluid.conductivity),
                ("expansion", fluid.expansion),
            ];
            if let Some((key, _)) = keys.into_iter().find(|(_, given)| given.is_some()) {
                return Some(format!("[phases.{name}] {key}"));
            }
        }
        for (side, given) in self.boundary.faces().into_iter().flatten().enumerate() {
            let keys = given
                .as_ref()
                .map(|face| [face.temperature, face.heat_flux]);
            if let Some([temperature, flux]) = keys {
                let name = || format!("[boundary] {}:", side_name(side));
                match (temperature, flux) {
                    (Some(_), _) => return Some(format!("{} temperature", name())),
                    (None, Some(_)) => return Some(format!("{} heat_flux", name())),
                    (None, None) => {}
                }
            }
        }
        let of_body = |body: &SolidTable| body.temperature.is_some() || body.heat_flux.is_some();
        let body = self.bodies.iter().position(of_body)?;
        Some(format!("[[body]] {}: temperature or heat_flux", body + 1))
    }

    fn heat_of_faces<const D: usize>(
        &self,
        faces: &[[BoxFace<D>; 2]; D],
    ) -> Result<([[WallHeat; 2]; D], Patches), Error> {
        let (mut found, mut patches) = ([[WallHeat::Insulated; 2]; D], Vec::new());
        for (axis, pair) in self.boundary.faces().into_iter().enumerate().take(D) {
            for (upper, given) in pair.into_iter().enumerate() {
                let (side, face) = (2 * axis + upper, &faces[axis][upper]);
                let Some(table) = given else { continue };
                let of = heat_of_face(side, table, face)?;
                let is_open = matches!(face, BoxFace::Inflow { .. } | BoxFace::Pressure { .. });
                if of != WallHeat::Insulated || is_open {
                    patches.push((side, side_name(side)));
                }
                found[axis][upper] = of;
            }
        }
        Ok((found, patches))
    }

    /// By body; empty where all are insulated.
    fn heat_of_bodies(&self) -> Result<Vec<WallHeat>, Error> {
        let of = |(i, body): (usize, &SolidTable)| {
            let what = format!("[[body]] {}", i + 1);
            if body.has_surface() && body.heat_flux.is_some() {
                return Err(Error::input(format!("{what}: heat_flux of a surface"))
                    .hint("its cells have more area than it: give its temperature, or a box"));
            }
            wall(&what, body.temperature, body.heat_flux)
        };
        let bodies: Result<Vec<WallHeat>, Error> = self.bodies.iter().enumerate().map(of).collect();
        let bodies = bodies?;
        let is_insulated = |of: &WallHeat| *of == WallHeat::Insulated;
        Ok(match bodies.iter().all(is_insulated) {
            true => Vec::new(),
            false => bodies,
        })
    }
}

/// A wall with a temperature, a flux of heat, or none of both.
fn wall(what: &str, temperature: Option<f64>, flux: Option<f64>) -> Result<WallHeat, Error> {
    match (temperature, flux) {
        (Some(_), Some(_)) => Err(Error::input(format!(
            "{what} has a temperature and a heat_flux"
        ))
        .hint("give one of both; without, a wall is insulated")),
        (Some(held), None) => Ok(WallHeat::Temperature(held)),
        (None, Some(flux)) => Ok(WallHeat::Flux(flux)),
        (None, None) => Ok(WallHeat::Insulated),
    }
}

fn heat_of_face<const D: usize>(
    side: usize,
    table: &TwoPhaseFaceTable,
    face: &BoxFace<D>,
) -> Result<WallHeat, Error> {
    let name = format!("[boundary] {}", side_name(side));
    let of = wall(&name, table.temperature, table.heat_flux)?;
    let wrong =
        |text: &str, hint: &str| Err(Error::input(format!("{name}: {text}")).hint(hint.to_owned()));
    if table.kind == TwoPhaseFaceKind::Periodic && of != WallHeat::Insulated {
        return wrong(
            "heat at a periodic face",
            "remove temperature and heat_flux",
        );
    }
    match face {
        BoxFace::Slip | BoxFace::NoSlip => {}
        BoxFace::Inflow { velocity, .. } => {
            let along = velocity[side / 2];
            let inward = if side.is_multiple_of(2) {
                along
            } else {
                -along
            };
            let is_held = matches!(of, WallHeat::Temperature(_));
            if inward > 0.0 && !is_held {
                return wrong("temperature is missing", "that of what flows in");
            }
            if inward < 0.0 && of != WallHeat::Insulated {
                return wrong(
                    "heat at an outflow",
                    "what flows out has its own temperature: remove temperature and heat_flux",
                );
            }
        }
        BoxFace::Pressure { .. } => {
            if matches!(of, WallHeat::Flux(_)) {
                return wrong(
                    "heat_flux at a face of given pressure",
                    "give the temperature of what flows in, or nothing: then it is that of the cell inside",
                );
            }
        }
    }
    Ok(of)
}

/// What a run tells of the heat of a flow, with steps of so many seconds.
pub(super) fn record<const D: usize>(
    heat: &CaseHeat<D>,
    flow: &TwoPhaseFlow<D>,
    dt: f64,
) -> Option<HeatRecord> {
    let start = (flow.heat_account()?.clone(), flow.heat_spread()?);
    let remedy = "a smaller [numerics] tolerance or cfl";
    let record = HeatRecord::new(heat.patches.clone(), start, slowest(heat, flow), dt);
    Some(record.with_remedy(remedy))
}

/// The time in which conduction alone takes the box's longest wave down by a factor of e, in the fluid that takes longest, s.
pub(super) fn slowest<const D: usize>(heat: &CaseHeat<D>, flow: &TwoPhaseFlow<D>) -> f64 {
    let [low, high] = flow.mesh().corners();
    let edge = (0..D).map(|a| high[a] - low[a]).fold(0.0, f64::max);
    let density = flow.params().phases.density;
    let of = |i: usize| density[i] * heat.params.capacity[i] / heat.params.conductivity[i];
    (edge / PI).powi(2) * of(0).max(of(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(more: &str) -> String {
        let text = format!(
            "[solver]\nkind = \"two-phase\"\n[domain]\nbox = [0, 0, 1, 1]\nroot = 16\n[run]\nsteps = 1\n[numerics]\ndt = 1\n{more}"
        );
        let case = TwoPhaseCase::from_toml(&text).expect("a case");
        match case.setting::<2>(None) {
            Ok(_) => String::new(),
            Err(error) => format!("{error}: {error:?}"),
        }
    }

    const PHASES: &str = "[phases]\nliquid = { density = 1000, heat_capacity = 4180, conductivity = 0.6 }\n\
                          gas = { density = 1.2, heat_capacity = 1005, conductivity = 0.026 }\n";

    #[test]
    fn what_makes_no_sense_is_refused_by_name() {
        let heat = "[heat]\ntemperature = 300\n";
        assert_eq!(refused(&format!("{PHASES}{heat}")), "");
        let face = |of: &str| format!("{PHASES}{heat}[boundary]\n\"x-\" = {{ {of} }}\n");
        for (text, expected) in [
            (PHASES.to_owned(), "no [heat]"),
            (format!("{PHASES}[heat]\n"), "[heat] temperature"),
            (
                format!("{}{heat}", PHASES.replace(", conductivity = 0.6", "")),
                "[phases.liquid] conductivity",
            ),
            (
                format!(
                    "{}{heat}",
                    PHASES.replace("0.026", "0.026, expansion = 0.003")
                ),
                "[heat] reference",
            ),
            (
                face("type = \"no-slip\", temperature = 1, heat_flux = 1"),
                "a temperature and a heat_flux",
            ),
            (
                face("type = \"velocity\", velocity = [1, 0]"),
                "temperature is missing",
            ),
            (
                face("type = \"velocity\", velocity = [-1, 0], temperature = 1"),
                "outflow",
            ),
            (face("type = \"pressure\", heat_flux = 1"), "heat_flux"),
            (
                format!("{PHASES}{heat}[[body]]\nshape = \"circle:r=0.1\"\nheat_flux = 3\n"),
                "heat_flux of a surface",
            ),
        ] {
            let found = refused(&text);
            assert!(found.contains(expected), "{expected}: {found}");
        }
    }
}
