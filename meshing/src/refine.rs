//! `--refine`: levels at patches, near patches, and in regions.
//!
//! ```text
//! patch:NAME,levels=N[,wall-distance=D]
//! near:NAME,levels=N,distance=D              NAME may be * for all patches
//! box:X0,Y0,Z0,X1,Y1,Z1,levels=N             (2D: box:X0,Y0,X1,Y1,...)
//! sphere:X,Y,Z,r=R,levels=N                  (2D: circle:X,Y,...)
//! cylinder:X0,Y0,Z0,X1,Y1,Z1,r=R,levels=N    the ends of its axis
//! edges:NAME,levels=N[,angle=A][,distance=D] sharp edges, borders of patches and open ones
//! lines:FILE,levels=N[,distance=D]           lines of an OBJ or .eMesh file
//! curvature:NAME,levels=N[,angle=A]          as fine as the surface bends, up to N levels
//! gap:NAME,levels=N[,cells=M]                as fine as gaps are narrow, up to N levels
//! inside:FILE,levels=N                       and outside: a closed surface
//! ```
//! Lengths in metres after the placement, as for `--domain`, angles in degrees. Files are placed as the surface is.

mod bends;
mod found;
mod gaps;
mod lines;
mod solids;

pub(crate) use found::{Scene, sides, spots};

use cutlink_amr::MAX_LEVELS;
use cutlink_common::Error;
use cutlink_voxelizer::{EmbedParams, Reach, Region, RegionShape, WallRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// The grammar of each kind, for messages.
const KINDS: [(&str, &str); 12] = [
    ("patch", "patch:NAME,levels=N[,wall-distance=D]"),
    ("near", "near:NAME,levels=N,distance=D (NAME may be *)"),
    (
        "box",
        "box:X0,Y0,Z0,X1,Y1,Z1,levels=N (2D: box:X0,Y0,X1,Y1,levels=N)",
    ),
    ("sphere", "sphere:X,Y,Z,r=R,levels=N"),
    ("circle", "circle:X,Y,r=R,levels=N"),
    ("cylinder", "cylinder:X0,Y0,Z0,X1,Y1,Z1,r=R,levels=N"),
    (
        "edges",
        "edges:NAME,levels=N[,angle=A][,distance=D] (NAME may be *)",
    ),
    ("lines", "lines:FILE,levels=N[,distance=D]"),
    (
        "curvature",
        "curvature:NAME,levels=N[,angle=A] (NAME may be *)",
    ),
    ("gap", "gap:NAME,levels=N[,cells=M] (NAME may be *)"),
    ("inside", "inside:FILE,levels=N"),
    ("outside", "outside:FILE,levels=N"),
];

/// Degrees between facets from which on an edge is sharp.
const SHARP: f64 = 30.0;
/// Degrees by which the surface may turn within a cell.
const TURN: f64 = 15.0;
/// Cells across a gap.
const ACROSS: f64 = 4.0;

/// One `--refine` rule, as given and as parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "^(patch|near|box|sphere|circle|cylinder|edges|lines|curvature|gap|inside|outside):"))]
pub struct Refine {
    text: String,
    what: What,
    /// Levels there, the root level included.
    pub levels: usize,
}

#[derive(Debug, Clone, PartialEq)]
enum What {
    Patch {
        name: String,
        wall_distance: Option<f64>,
    },
    Near {
        name: String,
        distance: f64,
    },
    Region {
        shape: RegionShape,
        dimensions: usize,
    },
    /// Ridges sharper than an angle in degrees.
    Edges {
        name: String,
        angle: f64,
        distance: f64,
    },
    Lines {
        file: PathBuf,
        distance: f64,
    },
    /// Cells in which the surface turns by more than an angle in degrees.
    Curved {
        name: String,
        angle: f64,
    },
    Gap {
        name: String,
        across: f64,
    },
    /// A closed surface.
    Solid {
        file: PathBuf,
        inside: bool,
    },
}

impl fmt::Display for Refine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<Refine> for String {
    fn from(refine: Refine) -> Self {
        refine.text
    }
}

impl TryFrom<String> for Refine {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for Refine {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let kinds = || KINDS.map(|k| k.1).join("; ");
        let (kind, rest) = text
            .split_once(':')
            .ok_or_else(|| format!("`{text}` has no kind; write one of {}", kinds()))?;
        let kind = kind.trim().to_ascii_lowercase();
        let Some((_, grammar)) = KINDS.iter().find(|k| k.0 == kind) else {
            return Err(format!("`{kind}` is not a kind; write one of {}", kinds()));
        };
        let mut items = Items::new(rest, grammar)?;
        let levels = items
            .take("levels")?
            .ok_or_else(|| items.wrong("levels=N is missing"))?;
        let levels = levels
            .parse::<usize>()
            .ok()
            .filter(|n| (1..=MAX_LEVELS).contains(n))
            .ok_or_else(|| items.wrong(&format!("levels is {levels}, not 1 to {MAX_LEVELS}")))?;
        let what = match kind.as_str() {
            "patch" => What::Patch {
                name: items.name()?,
                wall_distance: items.length("wall-distance", true)?,
            },
            "near" => What::Near {
                name: items.name()?,
                distance: items.needed("distance", true)?,
            },
            "edges" => What::Edges {
                name: items.name()?,
                angle: items.angle(SHARP)?,
                distance: items.length("distance", true)?.unwrap_or(0.0),
            },
            "lines" => What::Lines {
                file: items.name()?.into(),
                distance: items.length("distance", true)?.unwrap_or(0.0),
            },
            "curvature" => What::Curved {
                name: items.name()?,
                angle: items.angle(TURN)?,
            },
            "gap" => What::Gap {
                name: items.name()?,
                across: items.length("cells", false)?.unwrap_or(ACROSS),
            },
            "inside" | "outside" => What::Solid {
                file: items.name()?.into(),
                inside: kind == "inside",
            },
            _ => items.region(&kind)?,
        };
        items.done()?;
        Ok(Self {
            text: text.to_owned(),
            what,
            levels,
        })
    }
}

impl Refine {
    /// The region of a rule for one in 3D.
    pub fn region(&self) -> Option<RegionShape> {
        match &self.what {
            What::Region {
                shape,
                dimensions: 3,
            } => Some(*shape),
            _ => None,
        }
    }
}

/// The comma-separated rest of the text: words first, then `key=value` items.
struct Items<'a> {
    grammar: &'a str,
    words: Vec<&'a str>,
    keys: Vec<(&'a str, &'a str)>,
}

impl<'a> Items<'a> {
    fn new(rest: &'a str, grammar: &'a str) -> Result<Self, String> {
        let mut items = Self {
            grammar,
            words: Vec::new(),
            keys: Vec::new(),
        };
        for item in rest.split(',').map(str::trim) {
            match item.split_once('=') {
                Some((key, value)) => items.keys.push((key.trim(), value.trim())),
                None if items.keys.is_empty() => items.words.push(item),
                None => return Err(items.wrong(&format!("`{item}` is out of place"))),
            }
        }
        Ok(items)
    }

    fn wrong(&self, what: &str) -> String {
        format!("{what}; write {}", self.grammar)
    }

    fn take(&mut self, key: &str) -> Result<Option<&'a str>, String> {
        let Some(at) = self.keys.iter().position(|k| k.0 == key) else {
            return Ok(None);
        };
        let value = self.keys.remove(at).1;
        if self.keys.iter().any(|k| k.0 == key) {
            return Err(self.wrong(&format!("{key} is given twice")));
        }
        Ok(Some(value))
    }

    fn length(&mut self, key: &str, zero: bool) -> Result<Option<f64>, String> {
        let Some(text) = self.take(key)? else {
            return Ok(None);
        };
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() && (x > 0.0 || zero && x == 0.0) => Ok(Some(x)),
            _ => {
                let least = if zero { "of 0 or more" } else { "above 0" };
                Err(self.wrong(&format!("{key} is {text}, which is not a number {least}")))
            }
        }
    }

    /// Degrees, less than 180.
    fn angle(&mut self, default: f64) -> Result<f64, String> {
        let angle = self.length("angle", false)?.unwrap_or(default);
        match angle < 180.0 {
            true => Ok(angle),
            false => Err(self.wrong(&format!("angle is {angle}, not below 180 degrees"))),
        }
    }

    fn needed(&mut self, key: &str, zero: bool) -> Result<f64, String> {
        self.length(key, zero)?
            .ok_or_else(|| self.wrong(&format!("{key}=… is missing")))
    }

    fn name(&mut self) -> Result<String, String> {
        match std::mem::take(&mut self.words)[..] {
            [name] if !name.is_empty() => Ok(name.to_owned()),
            _ => Err(self.wrong("exactly one name is needed")),
        }
    }

    fn region(&mut self, kind: &str) -> Result<What, String> {
        let words = std::mem::take(&mut self.words);
        let numbers: Vec<f64> = words
            .iter()
            .map(|w| w.parse().ok().filter(|x: &f64| x.is_finite()))
            .collect::<Option<_>>()
            .ok_or_else(|| self.wrong("coordinates must be finite numbers"))?;
        let wrong = self.wrong(&format!("{} coordinates", numbers.len()));
        let point = |c: &[f64]| std::array::from_fn(|a| c.get(a).copied().unwrap_or(0.0));
        let dimensions = match (kind, numbers.len()) {
            ("box", 4) | ("circle", 2) => 2,
            ("box" | "cylinder", 6) | ("sphere", 3) => 3,
            _ => return Err(wrong),
        };
        let (first, second) = numbers.split_at(dimensions);
        let shape = match kind {
            "box" => {
                let (lower, upper): ([f64; 3], [f64; 3]) = (point(first), point(second));
                if (0..dimensions).any(|a| lower[a] >= upper[a]) {
                    return Err(self.wrong("the lower corner must come first"));
                }
                RegionShape::Box { lower, upper }
            }
            "cylinder" => RegionShape::Cylinder {
                from: point(first),
                to: point(second),
                radius: self.needed("r", false)?,
            },
            _ => RegionShape::Ball {
                center: point(first),
                radius: self.needed("r", false)?,
            },
        };
        Ok(What::Region { shape, dimensions })
    }

    fn done(&self) -> Result<(), String> {
        match (self.keys.first(), self.words.first()) {
            (Some((key, _)), _) => Err(self.wrong(&format!("{key} is unknown here"))),
            (None, Some(word)) => Err(self.wrong(&format!("`{word}` is out of place"))),
            (None, None) => Ok(()),
        }
    }
}

/// Applies the rules to the parameters, which hold the levels and wall distance of the patches without a rule. The
/// number of levels of the mesh is the largest one.
///
/// # Errors
/// A patch that the surface does not have, or a region of another dimension.
pub fn apply<const D: usize>(
    rules: &[Refine],
    params: EmbedParams,
    patches: &[String],
) -> Result<EmbedParams, Error> {
    let mut made = EmbedParams {
        levels: rules
            .iter()
            .map(|r| r.levels)
            .fold(params.levels, usize::max),
        ..params.clone()
    };
    let mut named = vec![false; patches.len()];
    for rule in rules {
        let levels = rule.levels;
        match &rule.what {
            What::Region { shape, dimensions } => {
                if *dimensions != D {
                    return Err(Error::input(format!(
                        "--refine {rule} is for {dimensions}D, but the surface is {D}D"
                    )));
                }
                made.regions.push(Region {
                    shape: *shape,
                    levels,
                });
            }
            What::Patch {
                name,
                wall_distance,
            } => {
                let at = find(name, patches, rule)?;
                if std::mem::replace(&mut named[usize::from(at)], true) {
                    return Err(Error::input(format!("--refine names patch {name} twice")));
                }
                made.walls.push(WallRule {
                    patches: Some(vec![at]),
                    levels,
                    reach: Reach::Near(wall_distance.unwrap_or(params.wall_distance)),
                });
            }
            What::Near { name, distance } => made.walls.push(WallRule {
                patches: match name.as_str() {
                    "*" => None,
                    name => Some(vec![find(name, patches, rule)?]),
                },
                levels,
                reach: Reach::Within(*distance),
            }),
            What::Edges { name, .. } | What::Curved { name, .. } | What::Gap { name, .. } => {
                if name != "*" {
                    find(name, patches, rule)?;
                }
            }
            What::Lines { file, .. } if D != 3 => {
                return Err(Error::input(format!(
                    "--refine lines:{}: lines of files are for 3D, but the surface is {D}D",
                    file.display()
                )));
            }
            What::Lines { .. } | What::Solid { .. } => {}
        }
    }
    if !made.walls.is_empty() || made.levels > params.levels {
        let others = (0..patches.len() as u16).filter(|&p| !named[usize::from(p)]);
        made.walls.push(WallRule {
            patches: Some(others.collect()),
            levels: params.levels,
            reach: Reach::Near(params.wall_distance),
        });
    }
    Ok(made)
}

fn find(name: &str, patches: &[String], rule: &Refine) -> Result<u16, Error> {
    let at = patches.iter().position(|p| p == name);
    at.map(|at| at as u16).ok_or_else(|| {
        let mut all = patches
            .iter()
            .take(20)
            .cloned()
            .collect::<Vec<_>>()
            .join(", ");
        if patches.len() > 20 {
            all.push_str(", …");
        }
        Error::input(format!(
            "--refine {rule}: the surface has no patch of this name"
        ))
        .hint(format!("its patches: {all}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_voxelizer::Fill;

    #[test]
    fn rules_read_back_and_mistakes_are_reported() {
        let good = [
            "patch:left wing,levels=6",
            "near:*,levels=5,distance=0.25",
            "box:-1,0,0,2,1,1,levels=3",
            "circle:0,0,r=1,levels=2",
            "cylinder:0,0,0,1,0,0,r=0.5,levels=4",
            "edges:*,levels=6,angle=40,distance=0.1",
            "lines:some folder/rim.obj,levels=5",
            "curvature:wing,levels=7,angle=5",
            "gap:*,levels=6,cells=8",
            "outside:tank.stl,levels=2",
        ];
        for text in good {
            let refine: Refine = text.parse().expect("a rule");
            assert_eq!(refine.to_string(), text);
        }
        let bad = [
            ("wake", "no kind"),
            ("wake:1", "not a kind"),
            ("box:0,0,0,1,1,1", "levels=N is missing"),
            ("box:0,0,0,1,1,levels=3", "5 coordinates"),
            ("box:0,0,0,0,1,1,levels=3", "lower corner"),
            ("sphere:0,0,0,levels=3", "r=… is missing"),
            ("sphere:0,0,0,r=-1,levels=3", "above 0"),
            ("curvature:a,levels=3,angle=180", "below 180"),
            ("edges:a,levels=3,cells=4", "cells is unknown"),
            ("gap:a,levels=3,cells=0", "above 0"),
            ("inside:levels=3", "exactly one name"),
            ("near:a,levels=3,distance=1,levels=4", "twice"),
            ("patch:a,levels=99", "99"),
            ("patch:a,levels=2,width=3", "width is unknown"),
        ];
        for (text, why) in bad {
            let error = text.parse::<Refine>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn patches_without_a_rule_keep_theirs() {
        let patches = ["body", "wing"].map(String::from);
        let rule = |text: &str| text.parse::<Refine>().expect("a rule");
        let base = || EmbedParams::new(4, 0.1, Fill::NonZero);
        let none = apply::<3>(&[rule("sphere:0,0,0,r=1,levels=4")], base(), &patches);
        let none = none.expect("possible");
        assert!(
            none.walls.is_empty() && none.regions.len() == 1,
            "as before"
        );
        assert!(!none.is_graded(2), "all patches to the finest level");
        let wing = apply::<3>(&[rule("patch:wing,levels=6")], base(), &patches).expect("possible");
        assert_eq!((wing.levels, wing.walls.len()), (6, 2));
        assert_eq!(wing.walls[1].patches, Some(vec![0]), "the body's rule");
        assert!(wing.is_graded(2), "the body is coarser");
        let error = apply::<3>(&[rule("patch:wings,levels=6")], base(), &patches);
        let error = error.expect_err("no such patch");
        assert!(error.hint.expect("a hint").contains("wing"));
        assert!(apply::<2>(&[rule("sphere:0,0,0,r=1,levels=2")], base(), &patches).is_err());
    }
}
