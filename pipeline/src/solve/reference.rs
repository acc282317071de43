//! Reference values of coefficients: the axes of drag, lift and side force, groups of patches, the frontal area.

use crate::solve::{
    case::{Case, FaceKind, FreeStreamTable},
    value::Value,
};
use cutlink_common::{Error, config::suggestion};
use cutlink_flow::{history::Group, setting::positive};
use std::collections::BTreeMap;

/// The group of all patches.
const ALL: &str = "all";

/// Directions of drag, lift and side force: x, y and z, rotated by the angle of attack from x towards y; the drag also
/// by the sideslip towards z.
///
/// # Errors
/// Angles that are not finite; a sideslip in 2D.
pub(crate) fn axes<const D: usize>(
    stream: Option<&FreeStreamTable>,
) -> Result<[[f64; 3]; 3], Error> {
    let Some(stream) = stream else {
        return Ok([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
    };
    let degrees = |key: &str, value: Option<f64>| match value.unwrap_or(0.0) {
        angle if angle.is_finite() => Ok(angle.to_radians()),
        angle => Err(Error::input(format!("[free_stream] {key} is {angle}"))
            .hint("it must be a finite number of degrees")),
    };
    let (attack, slip) = (
        degrees("angle", stream.angle)?,
        degrees("sideslip", stream.sideslip)?,
    );
    if D == 2 && stream.sideslip.is_some() {
        return Err(
            Error::input("[free_stream] has sideslip, but the mesh is 2D").hint("remove it"),
        );
    }
    Ok(frame(
        [attack.sin(), attack.cos()],
        [slip.sin(), slip.cos()],
    ))
}

/// The directions by sine and cosine of the angle of attack and of the sideslip.
pub(crate) fn frame([sa, ca]: [f64; 2], [sb, cb]: [f64; 2]) -> [[f64; 3]; 3] {
    [
        [ca * cb, sa * cb, sb],
        [-sa, ca, 0.0],
        [-ca * sb, -sa * sb, cb],
    ]
}

/// The case with the free stream set at the velocity faces without other keys, and its speed as the default reference
/// velocity.
///
/// # Errors
/// As [`axes`]; an invalid speed.
pub(crate) fn with_free_stream<const D: usize>(case: &Case) -> Result<Case, Error> {
    let mut case = case.clone();
    let Some(stream) = case.free_stream else {
        return Ok(case);
    };
    let speed = stream.speed.or(case.physics.velocity).ok_or_else(|| {
        Error::input("[free_stream] speed is missing")
            .hint("give it, or [physics] velocity, which is its default")
    })?;
    let speed = positive("[free_stream] speed", speed)?;
    case.physics.velocity.get_or_insert(speed);
    let [along, ..] = axes::<D>(Some(&stream))?;
    let velocity: Vec<Value> = along[..D].iter().map(|x| (speed * x).into()).collect();
    for face in case.boundary.faces_mut().into_iter().flatten().flatten() {
        let takes = matches!(face.kind, FaceKind::Velocity | FaceKind::FarField);
        if takes && face.profile.is_none() && face.table.is_none() {
            face.velocity.get_or_insert_with(|| velocity.clone());
        }
    }
    Ok(case)
}

/// Groups by name, with the patches of each; `all` if there are several patches.
///
/// # Errors
/// Names that no patch has, groups with the name of a patch.
pub(crate) fn groups(
    given: &BTreeMap<String, Vec<String>>,
    patches: &[String],
) -> Result<Vec<Group>, Error> {
    let mut groups = Vec::new();
    if patches.len() > 1 && !given.contains_key(ALL) && !patches.iter().any(|p| p == ALL) {
        groups.push((ALL.to_owned(), (0..patches.len()).collect()));
    }
    let known: Vec<&str> = patches.iter().map(String::as_str).collect();
    for (name, patterns) in given {
        let what = format!("[groups] {name}");
        if known.contains(&name.as_str()) {
            return Err(Error::input(format!("{what} is the name of a patch"))
                .hint("give the group another name"));
        }
        let mut of: Vec<usize> = Vec::new();
        for pattern in patterns {
            let found = (0..patches.len()).filter(|&n| matches(pattern, &patches[n]));
            let before = of.len();
            of.extend(found);
            if of.len() == before {
                return Err(
                    Error::input(format!("{what}: no patch matches \"{pattern}\""))
                        .hint(suggestion("name", pattern, &known)),
                );
            }
        }
        of.sort_unstable();
        of.dedup();
        if of.is_empty() {
            return Err(Error::input(format!("{what} has no patches"))
                .hint("name patches, or patterns such as \"wing*\""));
        }
        groups.push((name.clone(), of));
    }
    Ok(groups)
}

/// Whether a name matches a pattern, in which `*` matches any text.
pub(crate) fn matches(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(name) = name.strip_prefix(head) else {
        return false;
    };
    (0..=name.len())
        .filter(|&n| name.is_char_boundary(n))
        .any(|n| matches(rest, &name[n..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_globs_do() {
        for (pattern, name, is) in [
            ("wing", "wing", true),
            ("wing", "wings", false),
            ("wing*", "wings", true),
            ("*wing", "left wing", true),
            ("w*g*", "wing-2", true),
            ("w*x", "wing", false),
            ("*", "", true),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, name), is, "{pattern} {name}");
        }
    }

    #[test]
    fn groups_that_name_no_patch_are_refused() {
        let patches = ["hull", "rotor", "rotor-2"].map(str::to_owned);
        let of = |name: &str, patterns: &[&str]| {
            let patterns = patterns.iter().map(|&p| p.to_owned()).collect();
            groups(&BTreeMap::from([(name.to_owned(), patterns)]), &patches)
        };
        let made = of("both", &["rotor*", "rotor"]).expect("groups");
        let want = [("all", vec![0, 1, 2]), ("both", vec![1, 2])];
        assert_eq!(made, want.map(|(name, of)| (name.to_owned(), of)));
        assert_eq!(
            of("all", &["hull"]).expect("its own"),
            [("all".to_owned(), vec![0])]
        );
        assert_eq!(
            groups(&BTreeMap::new(), &patches[..1]),
            Ok(vec![]),
            "one patch is all"
        );
        for (name, patterns, word) in [
            ("x", &["hul"] as &[&str], "did you mean"),
            ("x", &[], "has no patch"),
            ("hull", &["rotor"], "name of a patch"),
        ] {
            let message = of(name, patterns).expect_err(word).to_string();
            assert!(message.contains(word), "{message}");
        }
    }

    #[test]
    fn axes_are_at_right_angles_and_turn_with_the_stream() {
        let stream = FreeStreamTable {
            speed: None,
            angle: Some(10.0),
            sideslip: Some(5.0),
        };
        let axes = axes::<3>(Some(&stream)).expect("angles");
        for a in 0..3 {
            for b in 0..3 {
                let dot: f64 = (0..3).map(|k| axes[a][k] * axes[b][k]).sum();
                assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-15);
            }
        }
        // tan 10°, and sin 5° for the drag.
        assert!((axes[0][1] / axes[0][0] - 0.176_326_980_7).abs() < 1e-9);
        assert!((axes[0][2] - 0.087_155_742_7).abs() < 1e-9);
        assert!(super::axes::<2>(Some(&stream)).is_err(), "a sideslip in 2D");
    }
}
