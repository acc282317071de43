//! `--layers`: layers of prisms at the walls of a `polyMesh`.
//!
//! ```text
//! NAME=N[,KEY=VALUE]...     body=3; *=10,first=1e-4,expansion=1.25; hull=12,y-plus=1; deck=0
//! ```
//! NAME is a patch of the surface or a face of the box; `*` at its end stands for any end. The last rule that names a patch
//! holds; a patch without one has no layers, nor has one with `N` = 0.
//!
//! | key | what | default |
//! |---|---|---|
//! | `first`, `final`, `total` | height of the layer at the wall, of the last one, or of all: in m, or with `%` of the edge of the cell at the wall; one of them | `final=30%` |
//! | `y-plus` | instead of these: of the centres of the layer at the wall, by the flow of `--template` | |
//! | `expansion` | height of a layer as a share of the one before | 1.2 |
//! | `angle` | degrees between normals of faces around a point, beyond which they have no layers | 130 |
//! | `least` | share of the thickness below which there are none, with or without `%` | 10% |

use super::patch_type::names;
use super::template::Template;
use super::{BOX_PATCHES, Castellated};
use cutlink_common::Error;
use cutlink_hex::{LayerCounts, LayerLength, LayerRule, LayerThickness, QualityLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const GRAMMAR: &str = "write NAME=N[,KEY=VALUE]..., such as body=5,first=1e-4,expansion=1.2";
/// More layers than anybody needs, so that numbers of cells stay in reach.
const MOST: u32 = 100;

/// What gives the thickness.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Given {
    Thickness(LayerThickness),
    YPlus(f64),
}

/// One `--layers` rule, as given and as parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "="))]
pub struct PatchLayers {
    text: String,
    name: String,
    layers: u32,
    given: Given,
    expansion: f64,
    angle: f64,
    least: f64,
}

impl fmt::Display for PatchLayers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<PatchLayers> for String {
    fn from(rule: PatchLayers) -> Self {
        rule.text
    }
}

impl TryFrom<String> for PatchLayers {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// A positive number, and whether it is in percent.
fn number(key: &str, text: &str) -> Result<(f64, bool), String> {
    let (digits, percent) = match text.strip_suffix('%') {
        Some(digits) => (digits, true),
        None => (text, false),
    };
    match digits.parse::<f64>() {
        Ok(x) if x.is_finite() && x > 0.0 => Ok((if percent { 0.01 * x } else { x }, percent)),
        _ => Err(format!("{key}={text}: it is a positive number")),
    }
}

impl FromStr for PatchLayers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut items = text.split(',').map(str::trim);
        let first = items.next().unwrap_or_default();
        let Some((name, count)) = first.rsplit_once('=') else {
            return Err(format!("`{text}` has no number of layers; {GRAMMAR}"));
        };
        let layers = count.trim().parse().ok().filter(|&n: &u32| n <= MOST);
        let Some(layers) = layers else {
            return Err(format!(
                "`{count}` is not a number of layers up to {MOST}; {GRAMMAR}"
            ));
        };
        if name.trim().is_empty() {
            return Err(format!("`{text}` has no name; {GRAMMAR}"));
        }
        let mut rule = Self {
            text: text.to_owned(),
            name: name.trim().to_owned(),
            layers,
            given: Given::Thickness(LayerThickness::Final(LayerLength::OfCell(0.3))),
            expansion: 1.2,
            angle: 130.0,
            least: 0.1,
        };
        let mut seen = Vec::new();
        for item in items {
            let Some((key, value)) = item.split_once('=') else {
                return Err(format!("`{item}` has no value; {GRAMMAR}"));
            };
            // Each of these gives the thickness.
            let of = match key {
                "first" | "final" | "total" | "y-plus" => "thickness",
                other => other,
            };
            if seen.contains(&of) {
                return Err(format!("{key}={value}: the {of} is given already"));
            }
            seen.push(of);
            rule.set(key, value)?;
        }
        Ok(rule)
    }
}

impl PatchLayers {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let (found, percent) = number(key, value)?;
        let length = match percent {
            true => LayerLength::OfCell(found),
            false => LayerLength::Absolute(found),
        };
        match key {
            "first" => self.given = Given::Thickness(LayerThickness::First(length)),
            "final" => self.given = Given::Thickness(LayerThickness::Final(length)),
            "total" => self.given = Given::Thickness(LayerThickness::Total(length)),
            "y-plus" => self.given = Given::YPlus(found),
            "expansion" if (0.5..=3.0).contains(&found) => self.expansion = found,
            "expansion" => return Err(format!("expansion={value}: it is 0.5 to 3")),
            "angle" if found <= 180.0 => self.angle = found,
            "angle" => return Err(format!("angle={value}: it is at most 180 degrees")),
            "least" if found <= 1.0 => self.least = found,
            "least" => return Err(format!("least={value}: it is at most 1")),
            _ => {
                return Err(format!(
                    "there is no key `{key}`: keys are first, final, total, y-plus, expansion, angle, least"
                ));
            }
        }
        Ok(())
    }

    /// The rule where y⁺ 1 is this far from the wall.
    fn rule(&self, wall_unit: Option<f64>) -> Option<LayerRule> {
        let thickness = match self.given {
            Given::Thickness(thickness) => thickness,
            // The centre of the layer is at half its height.
            Given::YPlus(y_plus) => {
                LayerThickness::First(LayerLength::Absolute(2.0 * y_plus * wall_unit?))
            }
        };
        (self.layers > 0).then_some(LayerRule {
            layers: self.layers,
            expansion: self.expansion,
            thickness,
            angle: self.angle,
            least: self.least,
        })
    }
}

/// Checks rules before any work: `patches` are those of the surface, `periodic` the axes of the box.
///
/// # Errors
/// A rule that names no patch, or a periodic face; y⁺ without a template, or with one at rest.
pub fn check(
    rules: &[PatchLayers],
    template: Option<&Template>,
    patches: &[String],
    periodic: [bool; 3],
) -> Result<(), Error> {
    for rule in rules {
        let of_box = BOX_PATCHES.iter().enumerate();
        let mut of_box = of_box.filter(|(_, name)| names(&rule.name, name));
        let wild = rule.name.ends_with('*');
        match of_box.next() {
            Some((side, name)) if periodic[side / 2] && !wild => {
                return Err(Error::input(format!(
                    "--layers {rule}: {name} is a periodic face, not a wall"
                )));
            }
            None if !patches.iter().any(|patch| names(&rule.name, patch)) => {
                let known = patches.iter().take(20).map(String::as_str);
                let known: Vec<&str> = known.chain(BOX_PATCHES).collect();
                return Err(
                    Error::input(format!("--layers {rule}: there is no such patch"))
                        .hint(format!("there are {}", known.join(", "))),
                );
            }
            _ => {}
        }
        if matches!(rule.given, Given::YPlus(_)) && template.is_none_or(|t| t.speed() == 0.0) {
            return Err(Error::input(format!(
                "--layers {rule}: y-plus needs a flow, and there is no --template with a velocity"
            ))
            .hint("give --template simpleFoam,velocity=…,viscosity=…, or first=HEIGHT"));
        }
    }
    Ok(())
}

/// Layers of a patch, and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct PatchLayerCounts {
    /// The patch.
    pub name: String,
    /// What it got.
    pub counts: LayerCounts,
}

impl Castellated {
    /// Adds layers to walls by the rules; `wall_unit` is the distance of y⁺ 1 from the wall, in m, for rules that ask for y⁺.
    /// Patches of other types than `wall` have none under a rule with `*`. Cells and faces of zones are numbered anew: prisms
    /// are in the zone of the cell beside them. See [`cutlink_hex::layers`].
    ///
    /// # Errors
    /// Memory that is not there; a rule for a patch that is no wall.
    pub fn add_layers(
        &mut self,
        rules: &[PatchLayers],
        wall_unit: Option<f64>,
    ) -> Result<(), Error> {
        let mut found = Vec::with_capacity(self.mesh.patches.len());
        for (patch, source) in self.mesh.patches.iter().zip(&self.given) {
            let rule = rules.iter().rev().find(|rule| names(&rule.name, source));
            let is_wall = patch.kind == "wall";
            if let Some(rule) = rule
                && !is_wall
                && !rule.name.ends_with('*')
                && rule.layers > 0
            {
                return Err(Error::input(format!(
                    "--layers {rule}: {} is of type {}, and only walls have layers",
                    patch.name, patch.kind
                ))
                .hint(format!("--patch {source}=wall makes it a wall")));
            }
            found.push(
                rule.filter(|_| is_wall)
                    .and_then(|rule| rule.rule(wall_unit)),
            );
        }
        if found.iter().all(Option::is_none) {
            return Ok(());
        }
        let layers = self.mesh.add_layers(&found, &QualityLimits::default());
        let layers = layers.map_err(super::no_memory)?;
        self.zones.extend(&self.mesh, &layers.parent);
        self.layers = layers
            .patches
            .iter()
            .map(|&counts| PatchLayerCounts {
                name: self.mesh.patches[counts.patch].name.clone(),
                counts,
            })
            .collect();
        Ok(())
    }

    /// Height of the cells at walls: the mean over the walls with layers, or that of the finest cells.
    pub(super) fn wall_height(&self, finest: f64) -> f64 {
        let sum =
            |of: fn(&LayerCounts) -> f64| self.layers.iter().map(|l| of(&l.counts)).sum::<f64>();
        let area = sum(|counts| counts.covered_area);
        match area > 0.0 {
            true => sum(|counts| counts.covered_area * counts.first[1]) / area,
            false => finest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> PatchLayers {
        text.parse().expect("a rule")
    }

    #[test]
    fn rules_read_back_and_mistakes_are_reported() {
        for text in [
            "body=3",
            "in*=10,first=1e-4,expansion=1.25",
            "a=b=2,total=50%,angle=180,least=20%",
        ] {
            assert_eq!(rule(text).to_string(), text);
        }
        let bad = [
            ("body", "has no number of layers"),
            ("body=many", "not a number of layers"),
            ("body=101", "not a number of layers up to 100"),
            ("=3", "has no name"),
            ("a=3,first", "has no value"),
            ("a=3,first=-1", "positive number"),
            ("a=3,first=1,final=2", "thickness is given already"),
            ("a=3,expansion=9", "0.5 to 3"),
            ("a=3,angle=181", "at most 180"),
            ("a=3,least=2", "at most 1"),
            ("a=3,height=2", "there is no key"),
        ];
        for (text, why) in bad {
            let error = text.parse::<PatchLayers>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn thickness_is_that_of_a_geometric_series() {
        // 1 + 2 + 4 = 7 firsts, 7/4 lasts.
        let total = |text: &str| {
            let found = rule(&format!("a=3,expansion=2,{text}")).rule(Some(0.01));
            found.expect("layers").total(0.5)
        };
        let expected = [
            ("first=0.1", 0.7),
            ("first=10%", 0.35),
            ("final=0.4", 0.7),
            ("total=40%", 0.2),
            ("y-plus=5", 0.7),
        ];
        for (text, sum) in expected {
            assert!((total(text) - sum).abs() < 1e-12, "{text}: {}", total(text));
        }
        assert_eq!(rule("a=0").rule(None), None, "none");
        assert_eq!(rule("a=2,y-plus=1").rule(None), None, "no flow");
    }

    #[test]
    fn rules_that_cannot_hold_are_refused_before_the_work() {
        let patches = ["body".to_owned()];
        let still: Template = "interFoam".parse().expect("a template");
        let flow: Template = "simpleFoam,velocity=2".parse().expect("a template");
        let check =
            |text: &str, template| check(&[rule(text)], template, &patches, [false, false, true]);
        for (text, template) in [
            ("body=3", None),
            ("*=3", None),
            ("yMin=2", None),
            ("body=3,y-plus=1", Some(&flow)),
        ] {
            assert!(check(text, template).is_ok(), "{text}");
        }
        let bad = [
            ("wing=3", None, "no such patch"),
            ("zMin=3", None, "periodic"),
            ("body=3,y-plus=1", None, "needs a flow"),
            ("body=3,y-plus=1", Some(&still), "needs a flow"),
        ];
        for (text, template, why) in bad {
            let error = check(text, template).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
