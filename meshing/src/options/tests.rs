use super::*;
use cutlink_common::config::{from_table, parse};

fn full() -> MeshOptions {
    MeshOptions {
        file: Some(vec!["a b.stl".into(), "c.obj".into()]),
        shape: Some("sphere".into()),
        deviation: Some(1e-3),
        unit: Some(Unit::Mm),
        scale: Some(Numbers::Many(vec![1.0, 2.0, -3.5])),
        rotate: Some(vec!["x:90".parse().expect("a rotation")]),
        fit: Some(Numbers::One(2.0)),
        translate: Some(Numbers::Many(vec![0.1, 0.2, 0.3])),
        domain: Some(Numbers::Many(vec![0.0, 0.0, 0.0, 1.0, 1.0, 1.0])),
        snap_domain: Some(SnapDomain::Grow),
        periodic: Some(Axes([true, false, true])),
        root: Some(Root::Cells(vec![64, 32, 32])),
        levels: Some(3),
        max_cells: Some(1_000_000),
        wall_distance: Some(0.05),
        fill: Some(FillRule::EvenOdd),
        flow: Some(FlowSide::Inside),
        seed: Some(Numbers::Many(vec![0.5, 0.0, -0.25])),
        close_holes: Some(0.01),
        robust: true,
        check_intersections: true,
        refine: Some(vec![
            "near:*,levels=3,distance=0.5".parse().expect("a rule"),
        ]),
        device: Some(DeviceOption::default()),
        threads: Some(2),
        ranks: Some(3),
        gpus: Some(1),
        output: Some("out".into()),
        polymesh: Some("case".into()),
        polymesh_format: Some(PolyMeshEncoding::Ascii),
        grading: Some(PolyMeshGrading::Cell),
        cells_between_levels: Some(2),
        patch: Some(vec!["inlet=patch,group=ins".parse().expect("a rule")]),
        zone: Some(vec!["rotor.stl".into()]),
        template: Some("simpleFoam,velocity=20".parse().expect("a template")),
        layers: Some(vec!["body=3,first=1e-4".parse().expect("a rule")]),
        snap: true,
        no_picture: true,
    }
}

#[test]
fn every_option_survives_the_round_trip() {
    let text = write(&full()).expect("TOML");
    assert_eq!(parse("test", &text), Ok(full()), "{text}");
    let table: toml::Table = text.parse().expect("TOML");
    let mut written: Vec<&String> = table.keys().collect();
    let mut keys = keys();
    written.sort();
    keys.sort();
    assert_eq!(written, keys.iter().collect::<Vec<_>>(), "names");
}

#[test]
fn tables_in_memory_are_read_like_texts() {
    let table: toml::Table = write(&full()).expect("TOML").parse().expect("a table");
    assert_eq!(from_table("test", table), Ok(full()));
    let cases = [
        (
            "rooot = 64",
            "test: unknown key `rooot`",
            "did you mean `root`",
        ),
        ("levels = \"three\"", "test, `levels`: ", ""),
    ];
    for (text, message, hint) in cases {
        let table = text.parse().expect("a table");
        let failure = from_table::<MeshOptions>("test", table).expect_err("a mistake");
        assert!(failure.message.starts_with(message), "{failure}");
        assert!(failure.hint.unwrap_or_default().contains(hint), "{text}");
    }
}

#[test]
fn mistakes_are_named_with_their_place() {
    let cases = [
        ("levels = 3\nrooot = 64\n", "line 2, column 1", "`root`"),
        ("levels = \"three\"\n", "line 1, column 10", ""),
        ("root = \"64y32\"\n", "line 1, column 8", ""),
        ("levels = [\n", "line", ""),
    ];
    for (text, place, hint) in cases {
        let failure = parse::<MeshOptions>("case.toml", text).expect_err("a mistake");
        assert!(failure.message.contains(place), "{failure}");
        assert!(failure.message.starts_with("case.toml"), "{failure}");
        assert!(failure.hint.unwrap_or_default().contains(hint), "{text}");
    }
    let far = parse::<MeshOptions>("case.toml", "qqqq = 1").expect_err("no such key");
    let hint = far.hint.unwrap_or_default();
    assert!(!hint.contains("did you mean"), "{hint}");
    let mut named: Vec<&str> = hint.trim_start_matches("keys: ").split(", ").collect();
    let mut keys = keys();
    named.sort_unstable();
    keys.sort();
    assert_eq!(named, keys, "all of them");
}

#[test]
fn rotations_have_a_long_and_a_short_form() {
    for (text, want) in [("x:90", "x:90"), ("z30", "z:30"), ("y-12.5", "y:-12.5")] {
        assert_eq!(rotation(text).map(|r| r.to_string()), Ok(want.into()));
    }
    for text in ["", "90", "x", "w90", "x:ninety", "é90"] {
        assert!(rotation(text).is_err(), "{text:?} is not a rotation");
    }
}

#[test]
fn counts_and_sizes_have_units() {
    let counts = [("7", 7), ("20M", 20_000_000), ("1.5G", 1_500_000_000)];
    for (text, want) in counts {
        assert_eq!(count(text), Ok(want), "{text}");
    }
    let sizes = [
        ("16GiB", 16 << 30),
        ("16G", 16 << 30),
        ("500MB", 500_000_000),
    ];
    for (text, want) in sizes {
        assert_eq!(size(text), Ok(want), "{text}");
    }
    for text in ["", "M", "-1", "0", "nan", "inf", "1x", "1e30"] {
        assert!(count(text).is_err() && size(text).is_err(), "{text:?}");
    }
}

#[test]
fn root_and_numbers_read_what_they_print_and_refuse_the_rest() {
    for text in ["64", "64x32x32", "8x4"] {
        let root: Root = text.parse().expect("a root grid");
        assert_eq!(root.to_string(), text, "round trip");
    }
    for text in ["", "x", "64x", "-4", "6.5", "64,32"] {
        assert!(text.parse::<Root>().is_err(), "{text:?} is not a root grid");
    }
    assert_eq!("1, -2e3".parse(), Ok(Numbers::Many(vec![1.0, -2e3])));
    for text in ["", "1,,2", "nan", "inf", "1;2"] {
        assert!(
            text.parse::<Numbers>().is_err(),
            "{text:?} is not a list of numbers"
        );
    }
}

#[test]
fn a_file_is_a_path_or_a_list_of_paths() {
    let read = |text: &str| toml::from_str::<MeshOptions>(text).expect("options").file;
    let several: Vec<PathBuf> = vec!["a.stl".into(), "b.obj".into()];
    assert_eq!(read("file = \"a.stl\""), Some(vec!["a.stl".into()]));
    let text = "file = [\"a.stl\", \"b.obj\"]";
    assert_eq!(read(text), Some(several.clone()));
    assert_eq!(read("levels = 2"), None);
    for file in [None, Some(vec!["a.stl".into()]), Some(several)] {
        let options = MeshOptions {
            file: file.clone(),
            ..MeshOptions::default()
        };
        let text = toml::to_string(&options).expect("TOML");
        assert_eq!(read(&text), file, "{text}");
    }
    let error = toml::from_str::<MeshOptions>("file = 3").expect_err("a number");
    assert!(
        error.message().contains("a path or a list of paths"),
        "{error}"
    );
}

#[test]
fn given_options_take_precedence_and_a_shape_replaces_a_file() {
    let here = MeshOptions {
        shape: Some("sphere".into()),
        levels: Some(2),
        ..MeshOptions::default()
    };
    let there = MeshOptions {
        file: Some(vec!["a.stl".into()]),
        levels: Some(5),
        threads: Some(3),
        ..MeshOptions::default()
    };
    let both = here.or(there);
    assert_eq!((both.file, both.shape), (None, Some("sphere".into())));
    assert_eq!((both.levels, both.threads), (Some(2), Some(3)));
}
