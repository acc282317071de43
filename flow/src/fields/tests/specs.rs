//! Valid and invalid output specifications.

use super::*;
use cutlink_common::ErrorKind;

#[test]
fn periods_become_root_steps_and_defaults_are_resolved() {
    let frame = cutlink_voxelizer::Frame::new([0.0; 3], 0.1, [40, 20, 20]).expect("a frame");
    let clock = Clock {
        step: 0.5,
        through: 8.0,
    };
    let specs = [
        parsed("kind = \"volume\"\nevery_seconds = 1.1"),
        parsed("kind = \"slice\"\nevery_flow_through = 0.25"),
        parsed("kind = \"picture\""),
        parsed("kind = \"picture\"\naxis = \"x\"\nevery_steps = 7"),
    ];
    let full = written(&specs, &frame, &clock).expect("outputs");
    let steps: Vec<Option<u64>> = full.iter().map(|s| s.every_steps).collect();
    assert_eq!(steps, [Some(2), Some(4), None, Some(7)]);
    let places: Vec<Option<f64>> = full.iter().map(|s| s.position).collect();
    assert_eq!(places, [None, Some(1.0), Some(1.0), Some(2.0)]);
    assert_eq!(full[3].name.as_deref(), Some("picture-2"));
    assert_eq!(full[0].fields.as_ref().map(Vec::len), Some(4));
    let again = written(&full, &frame, &clock).expect("outputs");
    assert_eq!(again, full, "nothing is left to resolve");
    for (text, part) in [
        ("every_seconds = 1.0\nevery_steps = 3", "exclude"),
        ("every_seconds = 0.0", "positive"),
        ("every_flow_through = -1.0", "positive"),
        ("every_seconds = inf", "positive"),
    ] {
        let spec = parsed(&format!("kind = \"volume\"\n{text}"));
        let failure = written(&[spec], &frame, &clock).expect_err(text);
        assert!(failure.message.contains(part), "{failure}");
    }
}

#[test]
fn names_that_no_file_system_takes_are_refused() {
    let mesh = ball_mesh([3, 3], 2);
    let named = |length: usize| {
        let name = "n".repeat(length);
        check(
            &[parsed(&format!("kind = \"slice\"\nname = \"{name}\""))],
            &units(),
            &mesh,
        )
    };
    assert!(named(200).is_ok());
    let refused = named(201).expect_err("too long");
    assert!(refused.message.contains("201 characters"), "{refused}");
}

#[test]
fn outputs_that_a_mesh_does_not_support_are_refused() {
    let space = ball_mesh([3, 3, 3], 2);
    let flat = ball_mesh([3, 3], 2);
    let folder = tempfile::tempdir().expect("a folder");
    let start = Start::Fresh { force: false };
    let cases = [
        ("kind = \"box\"", "box is missing"),
        ("kind = \"box\"\nbox = [0.0, 1.0]", "6 are needed"),
        (
            "kind = \"box\"\nbox = [5.0, 5.0, 5.0, 6.0, 6.0, 6.0]",
            "lies outside the domain",
        ),
        (
            "kind = \"slice\"\nposition = 7.0",
            "lies outside the domain",
        ),
        (
            "kind = \"slice\"\nwidth = 700",
            "width is not for this kind",
        ),
        (
            "kind = \"span\"\nposition = 0.1",
            "position is not for this kind",
        ),
        ("kind = \"span\"\naverage = \"rms\"", "no rms values"),
        ("kind = \"probes\"", "points are missing"),
        (
            "kind = \"volume\"\nfields = [\"q\", \"density\", \"q\"]",
            "duplicate",
        ),
        ("kind = \"probes\"\npoints = [[0.0, 0.5]]", "2 numbers"),
        (
            "kind = \"probes\"\npoints = [[0.1, 0.5333, 0.201]]",
            "in the body",
        ),
        ("kind = \"picture\"\nwidth = 3", "3"),
        ("kind = \"picture\"\nrange = [1.0, 1.0]", "is not ascending"),
        ("kind = \"volume\"\nevery_steps = 0", "at least 1"),
        ("kind = \"volume\"\nevery_seconds = 1.0", "in root steps"),
        (
            "kind = \"probes\"\npoints = [[0.05, 0.5, 0.2]]\naverage = \"mean\"",
            "average is not for this kind",
        ),
        (
            "kind = \"slice\"\naverage = \"rms\"\nfields = [\"q\"]",
            "supports velocity and density only",
        ),
        (
            "kind = \"picture\"\naverage = \"rms\"\nquantity = \"pressure\"",
            "supports speed and velocity components only",
        ),
        (
            "kind = \"picture\"\ncontours = true\nsmooth = false",
            "excludes them",
        ),
        (
            "kind = \"picture\"\nlines = \"arrows\"\naverage = \"rms\"",
            "lines show a velocity",
        ),
        ("kind = \"picture\"\nfilm = \"apng\"", "film needs pictures"),
        ("kind = \"render\"\nframe_rate = 9", "frame_rate needs film"),
        (
            "kind = \"picture\"\nfilm = \"apng\"\nevery_steps = 9\nframe_rate = 0",
            "must be 1 to 60",
        ),
        (
            "kind = \"slice\"\nlines = \"arrows\"",
            "lines is not for this kind",
        ),
        ("kind = \"volume\"\nname = \"a/b\"", "name"),
    ];
    for (text, part) in cases {
        let specs = [parsed(text)];
        let failure =
            FieldWriter::new(folder.path(), &specs, units(), &space, start).expect_err(text);
        assert!(failure.message.contains(part), "{text}: {failure}");
        assert_eq!(failure.kind, ErrorKind::Input, "{failure}");
    }
    for text in [
        "kind = \"slice\"\naxis = \"x\"",
        "kind = \"picture\"\nquantity = \"velocity-z\"",
        "kind = \"span\"",
    ] {
        let specs = [parsed(text)];
        FieldWriter::new(folder.path(), &specs, units(), &flat, start).expect_err(text);
    }
    let twice = [
        parsed("kind = \"volume\"\nname = \"a\""),
        parsed("kind = \"slice\"\nname = \"a\""),
    ];
    FieldWriter::new(folder.path(), &twice, units(), &space, start).expect_err("a name twice");
    let unknown: Result<OutputSpec, _> = toml::from_str("kind = \"volume\"\nevry = 3");
    assert!(unknown.is_err(), "an unknown key");
    assert!(names(folder.path()).is_empty(), "nothing was written");
}

#[test]
fn specs_survive_the_round_trip() {
    let text = "kind = \"picture\"\nquantity = \"velocity-x\"\nbox = [0.0, 1.0, 2.0, 3.0]\ngrid = true\nrange = [-1.0, 1.0]";
    let spec = parsed(text);
    assert_eq!(
        parsed(&toml::to_string(&spec).expect("TOML")),
        spec,
        "round trip"
    );
}
