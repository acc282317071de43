//! `--patch`: types and groups of the patches of a `polyMesh`.
//!
//! ```text
//! NAME=TYPE[,group=GROUP]...     inlet=patch; in*=patch,group=inlets; zMin=symmetryPlane
//! ```
//! NAME is a patch of the surface or a face of the box; `*` at its end stands for any end. The last rule that names a patch
//! holds.

use super::BOX_PATCHES;
use cutlink_common::Error;
use cutlink_hex::polymesh::word;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

const GRAMMAR: &str = "write NAME=TYPE[,group=GROUP], such as inlet=patch";
/// Types that a patch can be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Patch,
    Wall,
    Symmetry,
    SymmetryPlane,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Patch, Self::Wall, Self::Symmetry, Self::SymmetryPlane];

    /// OpenFOAM's name.
    fn name(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Wall => "wall",
            Self::Symmetry => "symmetry",
            Self::SymmetryPlane => "symmetryPlane",
        }
    }
}

/// Types of OpenFOAM that it cannot, and why.
const REFUSED: [(&str, &str); 7] = [
    (
        "cyclic",
        "two faces of the box are by --periodic; patches of a surface have no faces that match",
    ),
    (
        "cyclicAMI",
        "it needs a pair of patches; type patch here, and createPatch of OpenFOAM makes the pair",
    ),
    (
        "empty",
        "a mesh one cell thick has it, and meshes of --polymesh have four cells at least along each axis",
    ),
    ("wedge", "it is for a mesh one cell thick around an axis"),
    ("processor", "decomposePar makes them"),
    (
        "mappedWall",
        "it needs a region to map from: set it in the case",
    ),
    (
        "mappedPatch",
        "it needs a region to map from: set it in the case",
    ),
];

/// One `--patch` rule, as given and as parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(extend("pattern" = "="))]
pub struct PatchType {
    text: String,
    name: String,
    kind: Kind,
    groups: Vec<String>,
}

impl fmt::Display for PatchType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl From<PatchType> for String {
    fn from(rule: PatchType) -> Self {
        rule.text
    }
}

impl TryFrom<String> for PatchType {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl FromStr for PatchType {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // A name may hold an equals sign; a type may not.
        let mut items = text.split(',').map(str::trim);
        let first = items.next().unwrap_or_default();
        let Some((name, kind)) = first.rsplit_once('=') else {
            return Err(format!("`{text}` has no type; {GRAMMAR}"));
        };
        let (name, kind) = (name.trim(), kind.trim());
        if name.is_empty() {
            return Err(format!("`{text}` has no name; {GRAMMAR}"));
        }
        if let Some((_, why)) = REFUSED.iter().find(|refused| refused.0 == kind) {
            return Err(format!("a patch cannot be of type {kind}: {why}"));
        }
        let Some(kind) = Kind::ALL.into_iter().find(|known| known.name() == kind) else {
            let types = Kind::ALL.map(Kind::name).join(", ");
            return Err(format!(
                "`{kind}` is not one of the types {types}; {GRAMMAR}"
            ));
        };
        let mut groups = Vec::new();
        for item in items {
            match item.split_once('=') {
                Some(("group", group)) if !group.is_empty() && word(group) == group => {
                    groups.push(group.to_owned());
                }
                Some(("group", group)) => {
                    return Err(format!("`{group}` is not a word of OpenFOAM; {GRAMMAR}"));
                }
                _ => return Err(format!("`{item}` is out of place; {GRAMMAR}")),
            }
        }
        Ok(Self {
            text: text.to_owned(),
            name: name.to_owned(),
            kind,
            groups,
        })
    }
}

impl PatchType {
    /// Whether it names a patch.
    fn names(&self, patch: &str) -> bool {
        names(&self.name, patch)
    }
}

/// Whether a name of a rule, with `*` for any end, is that of a patch.
pub(super) fn names(rule: &str, patch: &str) -> bool {
    match rule.strip_suffix('*') {
        Some(begin) => patch.starts_with(begin),
        None => rule == patch,
    }
}

/// Checks rules before any work: `patches` are those of the surface, `periodic` the axes of the box.
///
/// # Errors
/// A rule that names no patch, one for a periodic face, a plane of symmetry that need not be plane.
pub fn check(rules: &[PatchType], patches: &[String], periodic: [bool; 3]) -> Result<(), Error> {
    for rule in rules {
        let in_box = || {
            let named = BOX_PATCHES.iter().enumerate();
            named
                .filter(|(_, name)| rule.names(name))
                .map(|(side, _)| side)
        };
        let of_surface = patches.iter().any(|patch| rule.names(patch));
        if !of_surface && in_box().next().is_none() {
            let known = patches.iter().take(20).map(String::as_str);
            let known: Vec<&str> = known.chain(BOX_PATCHES).collect();
            return Err(
                Error::input(format!("--patch {rule}: there is no such patch"))
                    .hint(format!("there are {}", known.join(", "))),
            );
        }
        if let Some(side) = in_box().find(|side| periodic[side / 2]) {
            return Err(Error::input(format!(
                "--patch {rule}: {} is a periodic face, of type cyclic",
                BOX_PATCHES[side]
            ))
            .hint("omit the axis from --periodic, or the rule"));
        }
        if rule.kind == Kind::SymmetryPlane && of_surface {
            return Err(Error::input(format!(
                "--patch {rule}: OpenFOAM refuses a plane of symmetry that is not plane to the last digits"
            ))
            .hint("patches of a surface can be of type symmetry"));
        }
    }
    Ok(())
}

/// Type and entries of a patch, by the last rule that names it; `default` is its type without one.
pub(super) fn of(
    rules: &[PatchType],
    patch: &str,
    default: Kind,
) -> (&'static str, Vec<(String, String)>) {
    let rule = rules.iter().rev().find(|rule| rule.names(patch));
    let kind = rule.map_or(default, |rule| rule.kind);
    // OpenFOAM puts patches of all types but `patch` in a group of that name.
    let own = (kind != Kind::Patch).then_some(kind.name());
    let given = rule.map_or(&[][..], |rule| &rule.groups);
    let mut groups: Vec<&str> = own.into_iter().collect();
    for group in given {
        if !groups.contains(&group.as_str()) {
            groups.push(group);
        }
    }
    let list = format!("{}({})", groups.len(), groups.join(" "));
    let entry = (!groups.is_empty()).then(|| ("inGroups".to_owned(), list));
    (kind.name(), entry.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str) -> PatchType {
        text.parse().expect("a rule")
    }

    #[test]
    fn rules_read_back_and_mistakes_are_reported() {
        for text in ["inlet=patch", "a=b=wall", "in*=patch,group=ins,group=all"] {
            assert_eq!(rule(text).to_string(), text);
        }
        let bad = [
            ("inlet", "has no type"),
            ("=wall", "has no name"),
            ("a=walls", "not one of the types patch, wall"),
            ("a=empty", "one cell thick"),
            ("zMin=cyclic", "--periodic"),
            ("a=wall,group=b c", "not a word"),
            ("a=wall,b", "out of place"),
        ];
        for (text, why) in bad {
            let error = text.parse::<PatchType>().expect_err(text);
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn the_last_rule_holds_and_groups_are_told_once() {
        let rules = ["*=symmetry", "in*=patch", "in2=wall,group=wall,group=hot"].map(rule);
        let told = |patch: &str| {
            let (kind, entries) = of(&rules, patch, Kind::Wall);
            let entry = entries.into_iter().map(|e| e.1).next();
            (kind, entry.unwrap_or_default())
        };
        assert_eq!(told("in1"), ("patch", String::new()));
        assert_eq!(told("in2"), ("wall", "2(wall hot)".into()));
        assert_eq!(told("side"), ("symmetry", "1(symmetry)".into()));
        let plain = of(&[], "side", Kind::Patch);
        assert_eq!(plain, ("patch", Vec::new()), "without a rule");
    }

    #[test]
    fn rules_that_cannot_hold_are_refused_before_the_work() {
        let patches = ["inlet".to_owned(), "side 1".to_owned()];
        let check = |text: &str| check(&[rule(text)], &patches, [false, false, true]);
        for good in [
            "inlet=patch",
            "side 1=symmetry",
            "in*=wall",
            "xMax=symmetryPlane",
        ] {
            assert!(check(good).is_ok(), "{good}");
        }
        let bad = [
            ("outlet=patch", "no such patch"),
            ("zMin=wall", "periodic"),
            ("z*=wall", "periodic"),
            ("side*=symmetryPlane", "not plane"),
        ];
        for (text, why) in bad {
            let error = check(text).expect_err(text).to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
