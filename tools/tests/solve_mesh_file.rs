//! `cutlink solve` on a mesh file.

mod kit;

use kit::Folder;

const MESH: &str = r#"[mesh]
shape = "circle:r=0.5"
domain = [-2, -2, 6, 2]
root = 32
levels = 2
wall-distance = 0.5
"#;

const FLOW: &str = r#"
[physics]
re = 20
length = 1
velocity = 1
area = 1

[boundary]
"x-" = { type = "velocity", velocity = [1, 0] }
"x+" = { type = "pressure", pressure = 0 }
"y-" = "free-slip"
"y+" = "free-slip"

[run]
steps = 200

[output]
folder = "FOLDER"
"#;

const OPTIONS: &str =
    "--shape circle:r=0.5 --domain -2,-2,6,2 --root 32 --levels 2 --wall-distance 0.5 --no-picture";

fn case(folder: &Folder, name: &str, mesh: &str) {
    let flow = FLOW.replace("FOLDER", name);
    folder.write(&format!("{name}.toml"), &format!("{mesh}{flow}"));
}

#[test]
fn a_mesh_file_gives_the_same_flow_as_its_surface() {
    let folder = Folder::new();
    folder
        .run(&format!("mesh {OPTIONS} -o circle.cutlink"))
        .ok();
    let file = "[mesh]\nfile = \"circle.cutlink\"\nthreads = 1\n";
    case(&folder, "surface", MESH);
    case(&folder, "file", file);
    case(
        &folder,
        "option",
        "[domain]\nbox = [0, 0, 1, 1]\nroot = 4\n",
    );
    folder.run("solve surface.toml").ok();
    folder.run("solve file.toml").ok();
    folder.run("solve option.toml --mesh circle.cutlink").ok();
    let forces = folder.read("surface/forces.csv");
    assert!(forces.len() > 1000, "a history");
    assert_eq!(folder.read("file/forces.csv"), forces);
    assert_eq!(folder.read("option/forces.csv"), forces);

    // The resolved case is on the mesh file too, and a run goes on from its checkpoint.
    let resolved = String::from_utf8(folder.read("option/case.toml")).expect("text");
    assert!(resolved.contains("file = \"circle.cutlink\""), "{resolved}");
    // Threads and device may be others.
    let threads = resolved.replace("[mesh]\n", "[mesh]\nthreads = 1\ndevice = \"cpu\"\n");
    assert_ne!(threads, resolved);
    folder.write("threads.toml", &threads);
    folder.run("solve threads.toml --resume --steps 300").ok();
    case(&folder, "longer", MESH);
    folder.run("solve longer.toml --steps 300").ok();
    assert_eq!(
        folder.read("option/forces.csv"),
        folder.read("longer/forces.csv")
    );
}

#[test]
fn what_a_mesh_file_lacks_is_named() {
    let folder = Folder::new();
    folder
        .run(&format!("mesh {OPTIONS} -o circle.cutlink"))
        .ok();
    folder
        .run(&format!("mesh {OPTIONS} --periodic y -o sides.cutlink"))
        .ok();
    let file = "[mesh]\nfile = \"circle.cutlink\"\n";
    let refused = |mesh: &str, change: [&str; 2], words: &[&str]| {
        let flow = FLOW.replace("FOLDER", "none").replace(change[0], change[1]);
        folder.write("none.toml", &format!("{mesh}{flow}"));
        folder.run("solve none.toml").failed(2, words);
        assert!(!folder.path("none").exists(), "nothing was written");
    };
    let same = ["", ""];
    refused(
        &format!("{file}levels = 3\nrobust = true\n"),
        same,
        &[
            "none.toml",
            "levels, robust",
            "circle.cutlink",
            "remove these keys",
        ],
    );
    refused(
        file,
        ["area = 1\n", ""],
        &["[physics] area is missing", "circle.cutlink"],
    );
    refused(
        file,
        [
            "[output]",
            "[[output.write]]\nkind = \"surface\"\n\n[output]",
        ],
        &["surface", "needs the facets", "circle.cutlink"],
    );
    let sides = [
        "\"y-\" = \"free-slip\"\n\"y+\" = \"free-slip\"",
        "\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"",
    ];
    refused(file, sides, &["y- and y+", "--periodic y"]);
    let file = "[mesh]\nfile = \"sides.cutlink\"\n";
    refused(file, same, &["are not periodic", "is periodic along y"]);
    refused(
        file,
        [
            sides[0],
            "\"y-\" = \"periodic\"\n\"y+\" = \"periodic\"\n[output.recirculation]",
        ],
        &["from is missing", "without a surface"],
    );

    // A damaged mesh file is reported as damaged. It is not read as a surface.
    let mut bytes = folder.read("circle.cutlink");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(folder.path("broken.cutlink"), &bytes).expect("a file");
    refused(
        "[mesh]\nfile = \"broken.cutlink\"\n",
        same,
        &["broken.cutlink", "damaged"],
    );
}
