//! Every class of failure: its exit code, its message, and that no file is changed.

mod kit;

use kit::{Folder, solid, stl};

#[test]
fn usage_errors_end_with_2() {
    let folder = Folder::new();
    folder.write("text.txt", "this is no surface\n");
    folder.write("cut.stl", &stl(&solid("box"))[..200]);
    let cases: &[(&str, &[&str])] = &[
        ("", &["Usage"]),
        ("mesh", &["no surface", "--shape sphere"]),
        ("mesh nope.stl", &["nope.stl", "No such file"]),
        ("mesh text.txt", &["text.txt"]),
        ("mesh cut.stl", &["cut.stl", "line"]),
        ("mesh text.txt --shape sphere", &["two surfaces"]),
        ("mesh --shape spere", &["did you mean 'sphere'"]),
        ("mesh --shape sphere --levls 3", &["--levels"]),
        ("mesh --shape sphere --levels 0", &["--levels is 0"]),
        ("mesh --shape sphere --levels 40", &["1 to 29"]),
        ("mesh --shape sphere --levels 20", &["at most 14 levels"]),
        ("mesh --shape sphere --root 30", &["use 28 or 32"]),
        ("mesh --shape sphere --root 8x8", &["3D"]),
        ("mesh --shape sphere --domain 0,0,1,1", &["needs 6"]),
        (
            "mesh --shape sphere --domain 0,0,0,1,1,1 --root 16x8x8",
            &["use --domain -0.5,0,0,1.5,1,1"],
        ),
        ("mesh --shape sphere --wall-distance -1", &["wall-distance"]),
        ("mesh --shape sphere --deviation 0", &["--deviation"]),
        ("mesh --shape sphere --scale 0", &["scale"]),
        ("mesh --shape sphere --unit yard", &["yard", "mm"]),
        ("mesh --shape circle --rotate x:90", &["about z only"]),
        ("mesh --shape sphere --device cuda", &["--device cpu"]),
        ("mesh --shape sphere --device tpu", &["tpu"]),
        ("mesh --shape sphere --threads 99999", &["--threads"]),
        (
            "mesh --shape sphere --output no/such/folder/x",
            &["no/such/folder"],
        ),
        ("mesh --shape sphere --config none.toml", &["none.toml"]),
        ("inspect none.cutlink", &["none.cutlink"]),
        ("inspect text.txt", &["text.txt"]),
        ("completions tcsh", &["bash"]),
    ];
    for (args, words) in cases {
        let ran = folder.run(args);
        assert_eq!(ran.code, 2, "{args}: {}", ran.stderr);
        for word in *words {
            assert!(ran.stderr.contains(word), "{args}: {}", ran.stderr);
        }
    }
    assert_eq!(folder.files(), ["cut.stl", "text.txt"], "nothing written");
}

#[test]
fn refused_geometry_ends_with_3_and_names_the_edges() {
    let folder = Folder::new();
    let mut open = solid("box");
    open.facets.pop();
    folder.write("open.stl", &stl(&open));
    let words = ["3 open edges of 11 facets", "0.5", "facet", "hint:"];
    folder.run("mesh open.stl").failed(3, &words);
    folder.run("mesh open.stl --fill evenodd").failed(3, &words);
    folder.run("mesh open.stl --dry-run").failed(3, &words);

    let json = folder.run("mesh open.stl --json").failed(3, &words).json();
    assert_eq!(json["error"]["exit_code"], 3, "{json}");
    assert_eq!(
        json["error"]["details"]["health"]["open_edges"], 3,
        "{json}"
    );

    let mut flipped = solid("box");
    flipped.facets[0].swap(0, 1);
    folder.write("flipped.stl", &stl(&flipped));
    let ran = folder.run("mesh flipped.stl");
    ran.failed(3, &["flipped edges", "--fill evenodd"]);
    folder
        .run("mesh flipped.stl --fill evenodd --root 8 --levels 2")
        .ok();

    let outside = "mesh --shape sphere --domain 5,5,5,6,6,6";
    folder.run(outside).failed(3, &["outside the box"]);
    folder.write("empty.stl", "solid nothing\nendsolid nothing\n");
    folder
        .run("mesh empty.stl")
        .failed(3, &["empty.stl", "no facet"]);
}

#[test]
fn existing_outputs_are_refused_before_the_work_starts() {
    let folder = Folder::new();
    let small = "mesh --shape sphere --root 8 --levels 2";
    folder.write("sphere.png", "mine");
    let ran = folder
        .run(small)
        .failed(2, &["sphere.png exists", "--force"]);
    assert_eq!(ran.stdout, "", "nothing was done");
    assert_eq!(folder.files(), ["sphere.png"], "nothing was written");
    assert_eq!(folder.read("sphere.png"), b"mine", "untouched");
    folder.run(&format!("{small} --no-picture")).ok();
    assert_eq!(folder.read("sphere.png"), b"mine", "without --force");
    folder.run(&format!("{small} --force")).ok();
    assert_ne!(folder.read("sphere.png"), b"mine", "with --force");

    let input = stl(&solid("box"));
    folder.write("in.stl", &input);
    let onto_itself = "mesh in.stl --output in.stl --force";
    folder.run(onto_itself).failed(2, &["in.stl is the input"]);
    assert_eq!(folder.read("in.stl"), input.as_bytes(), "untouched");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_grow_leaves_nothing_behind() {
    let folder = Folder::new();
    folder.write("sphere.cutlink", "old");
    let line =
        "trap '' XFSZ; ulimit -f 8; exec $CUTLINK mesh --shape sphere --root 16 --levels 2 --force";
    let ran = folder.shell(line);
    ran.failed(1, &["cannot write sphere.cutlink", "caused by", "hint"]);
    assert_eq!(folder.files(), ["sphere.cutlink"], "no temporary file");
    assert_eq!(folder.read("sphere.cutlink"), b"old", "untouched");
}

#[cfg(target_os = "linux")]
#[test]
fn too_little_memory_ends_with_4() {
    let folder = Folder::new();
    let line =
        "ulimit -v 400000; exec $CUTLINK mesh --shape sphere --root 1024 --levels 1 --threads 1";
    let ran = folder.shell(line);
    ran.failed(4, &["not enough memory", "bytes free"]);
    assert!(folder.files().is_empty(), "nothing was written");
}
