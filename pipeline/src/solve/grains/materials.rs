//! `[materials]` and `[[contact]]`.

use super::case::{ContactTable, MaterialTable};
use crate::solve::{particles::material, resolve::missing};
use cutlink_common::Error;
use cutlink_flow::setting::positive;
use cutlink_grains::{Grain, MAX_MATERIALS, Material, Materials, Touch};
use std::collections::BTreeMap;

const POISSON: f64 = 0.25;
/// Density of materials of walls, which is not used.
const WALL_DENSITY: f64 = 1.0;

/// A material and its touch, with the key of what is wrong.
fn properties(name: &str, table: &MaterialTable) -> Result<(Material, Touch), Error> {
    let key = |key: &str| format!("[materials.{name}] {key}");
    let given = |value: Option<f64>, of: &str| value.ok_or_else(|| missing(&key(of)));
    let within = |value: f64, of: &str, is: bool, range: &str| match is && value.is_finite() {
        true => Ok(value),
        false => {
            Err(Error::input(format!("{} is {value}", key(of))).hint(format!("it must be {range}")))
        }
    };
    let young = given(table.youngs_modulus, "youngs_modulus")?;
    let poisson = table.poissons_ratio.unwrap_or(POISSON);
    let restitution = given(table.restitution, "restitution")?;
    let friction = given(table.friction, "friction")?;
    let rolling = table.rolling_friction.unwrap_or(0.0);
    let density = match table.density {
        Some(density) => positive(&key("density"), density)?,
        None => WALL_DENSITY,
    };
    Ok((
        Material {
            young: positive(&key("youngs_modulus"), young)?,
            poisson: within(
                poisson,
                "poissons_ratio",
                poisson > -1.0 && poisson <= 0.5,
                "above -1, at most 0.5",
            )?,
            density,
        },
        Touch {
            restitution: within(
                restitution,
                "restitution",
                restitution > 0.0 && restitution <= 1.0,
                "above 0, at most 1",
            )?,
            friction: within(
                friction,
                "friction",
                friction >= 0.0,
                "finite and not negative",
            )?,
            rolling: within(
                rolling,
                "rolling_friction",
                rolling >= 0.0,
                "finite and not negative",
            )?,
        },
    ))
}

/// Two materials by index, the lower one first, and what their contact has of its own.
type Given<'a> = ((usize, usize), &'a ContactTable);

/// `[materials]` and `[[contact]]` of a case.
#[derive(Debug, Clone, Copy)]
pub(in crate::solve) struct MaterialTables<'a> {
    pub(in crate::solve) materials: &'a BTreeMap<String, MaterialTable>,
    pub(in crate::solve) contacts: &'a [ContactTable],
}

impl<'a> MaterialTables<'a> {
    /// Names of materials, by index.
    pub(in crate::solve) fn names(&self) -> Vec<String> {
        self.materials.keys().cloned().collect()
    }

    /// The materials, in the order of their names.
    ///
    /// # Errors
    /// Keys that are missing or make no sense.
    pub(in crate::solve) fn resolve(&self, names: &[String]) -> Result<Materials, Error> {
        if names.is_empty() {
            return Err(missing("[materials]").hint(
                "a table of a material, such as [materials.glass] with youngs_modulus, density, restitution and friction",
            ));
        }
        if names.len() > MAX_MATERIALS {
            return Err(Error::input(format!("there are {} materials", names.len()))
                .hint(format!("at most {MAX_MATERIALS}")));
        }
        let each = self.materials.iter();
        let each = each.map(|(name, table)| properties(name, table));
        let each: Vec<(Material, Touch)> = each.collect::<Result<_, _>>()?;
        let given = self.given_contacts(names)?;
        let list: Vec<Material> = each.iter().map(|(material, _)| *material).collect();
        let touch = |a: usize, b: usize| {
            let [one, two] = [each[a].1, each[b].1];
            let table = given.iter().find(|(pair, _)| *pair == (a, b));
            let asked = |of: fn(&ContactTable) -> Option<f64>, less: f64| {
                table.and_then(|(_, table)| of(table)).unwrap_or(less)
            };
            Touch {
                restitution: asked(|t| t.restitution, one.restitution.min(two.restitution)),
                friction: asked(|t| t.friction, one.friction.min(two.friction)),
                rolling: asked(|t| t.rolling_friction, one.rolling.min(two.rolling)),
            }
        };
        Ok(Materials::new(&list, touch)?)
    }

    fn given_contacts(&self, names: &[String]) -> Result<Vec<Given<'a>>, Error> {
        let mut given: Vec<Given<'a>> = Vec::new();
        for (i, table) in self.contacts.iter().enumerate() {
            let named = |error: Error| error.within(&format!("[[contact]] {}", i + 1));
            let [a, b] = &table.between[..] else {
                let text = format!("between has {} names", table.between.len());
                return Err(named(Error::input(text)).hint("it takes the names of two materials"));
            };
            let find = |name: &String| material(Some(name), names).map_err(named);
            let (a, b) = (usize::from(find(a)?), usize::from(find(b)?));
            let pair = (a.min(b), a.max(b));
            if given.iter().any(|(other, _)| *other == pair) {
                let text = "another one is between the same materials";
                return Err(named(Error::input(text)).hint("give one for each pair"));
            }
            check_contact(table).map_err(named)?;
            given.push((pair, table));
        }
        Ok(given)
    }

    /// Materials of spheres have a density.
    ///
    /// # Errors
    /// One that has none.
    pub(in crate::solve) fn check_densities(
        &self,
        grains: &[Grain],
        names: &[String],
    ) -> Result<(), Error> {
        for (index, name) in names.iter().enumerate() {
            let is_used = || grains.iter().any(|g| usize::from(g.material) == index);
            if self.materials[name].density.is_none() && is_used() {
                return Err(missing(&format!("[materials.{name}] density"))
                    .hint("spheres are of this material: give kg/m³"));
            }
        }
        Ok(())
    }
}

fn check_contact(table: &ContactTable) -> Result<(), Error> {
    let restitution = table.restitution.filter(|e| !(*e > 0.0 && *e <= 1.0));
    if let Some(value) = restitution {
        return Err(
            Error::input(format!("restitution is {value}")).hint("it must be above 0, at most 1")
        );
    }
    for (key, value) in [
        ("friction", table.friction),
        ("rolling_friction", table.rolling_friction),
    ] {
        if let Some(value) = value.filter(|x| !(*x >= 0.0 && x.is_finite())) {
            return Err(Error::input(format!("{key} is {value}"))
                .hint("it must be finite and not negative"));
        }
    }
    Ok(())
}
