//! `--config` and `--write-config`.

mod kit;

use kit::{Folder, solid, stl};

#[test]
fn a_written_configuration_makes_the_same_mesh_and_writes_itself() {
    let folder = Folder::new();
    folder.write("part.stl", &stl(&solid("cone:r=0.3,h=1.1")));
    let cases = [
        "part.stl --unit cm --rotate y:33 --scale 1,2,1.5",
        "part.stl --fit 0.7 --fill evenodd --wall-distance 0.01",
        "--shape torus --translate 0.1,0.2,0.3",
        "--shape ellipse --fit -1,-1,2,1 --root 32x16",
        "--shape wing:2412 --rotate y:4",
    ];
    for (i, case) in cases.into_iter().enumerate() {
        let args = format!("{case} --levels 2 --no-picture --output m{i}");
        let args = if args.contains("--root") {
            args
        } else {
            format!("{args} --root 16")
        };
        let direct = folder.run(&format!("mesh {args} --json")).ok().json();
        folder
            .run(&format!("mesh {args} --write-config c{i}.toml"))
            .ok();
        let again = folder
            .run(&format!("mesh --config c{i}.toml --force --json"))
            .ok()
            .json();
        for key in [
            "checksum",
            "frame",
            "parameters",
            "transform",
            "solid_finest",
        ] {
            let ignore_how = |v: &serde_json::Value| {
                let mut v = v[key].clone();
                if let Some(frame) = v.as_object_mut() {
                    frame.remove("how");
                }
                v
            };
            assert_eq!(ignore_how(&direct), ignore_how(&again), "{case}: {key}");
        }
        let printed = folder
            .run(&format!("mesh --config c{i}.toml --write-config -"))
            .ok();
        let written = String::from_utf8(folder.read(&format!("c{i}.toml"))).expect("text");
        assert_eq!(printed.stdout, written, "{case}");
    }
}

#[test]
fn options_given_on_the_command_line_win() {
    let folder = Folder::new();
    folder.write(
        "c.toml",
        "shape = \"sphere\"\nroot = 16\nlevels = 3\nno-picture = true\n",
    );
    let run = |more: &str| folder.run(&format!("mesh --config c.toml --dry-run --json {more}"));
    let json = run("--levels 2").ok().json();
    assert_eq!(json["parameters"]["levels"], 2, "the command line's");
    assert_eq!(json["frame"]["root_cells"][0], 16, "the file's");
    let json = run("--shape box").ok().json();
    assert_eq!(
        json["input"]["name"], "box:size=1x1x1",
        "the command line's"
    );
}

#[test]
fn mistakes_in_a_configuration_are_placed_and_the_nearest_key_is_named() {
    let folder = Folder::new();
    folder.write("c.toml", "shape = \"sphere\"\nwall_distance = 0.1\n");
    let words = [
        "c.toml, line 2, column 1",
        "wall_distance",
        "did you mean `wall-distance`",
    ];
    folder.run("mesh --config c.toml").failed(2, &words);
    folder.write("d.toml", "shape = \"sphere\"\nroot = \"64x\"\n");
    folder
        .run("mesh --config d.toml")
        .failed(2, &["d.toml, line 2", "64x32x32"]);
    folder.write("e.toml", "file = \"a.stl\"\nunit = \"yard\"\n");
    folder
        .run("mesh --config e.toml")
        .failed(2, &["e.toml, line 2", "yard"]);
}

#[test]
fn a_configuration_is_not_replaced_without_force() {
    let folder = Folder::new();
    folder.write("c.toml", "mine");
    let args = "mesh --shape sphere --write-config c.toml";
    folder.run(args).failed(2, &["c.toml exists"]);
    assert_eq!(folder.read("c.toml"), b"mine", "untouched");
    folder.run(&format!("{args} --force")).ok();
    assert_eq!(folder.files(), ["c.toml"], "and nothing else was written");
}
