//! `--layers` of `cutlink mesh`: reports, refusals, zones; OpenFOAM's own check where it is installed.

mod kit;

use cutlink_hex::PolyMesh;
use kit::Folder;
use std::collections::BTreeSet;

const SPHERE: &str = "mesh --shape sphere:r=0.5 --root 16 --levels 2 --no-picture --json --snap --force --polymesh c";

fn read(folder: &Folder) -> PolyMesh {
    let mesh = PolyMesh::read(&folder.path("c/constant/polyMesh")).expect("a polyMesh");
    assert_eq!(mesh.validate(), Ok(()), "every invariant");
    mesh
}

#[test]
fn the_report_has_the_documented_keys_and_the_layers_of_the_mesh() {
    const DOCUMENTED: &str = include_str!("../../docs/json-schema.md");
    let folder = Folder::new();
    let plain = folder.run(SPHERE).ok().json();
    assert_eq!(plain["polymesh"]["layers"], serde_json::json!([]));
    let layered = format!("{SPHERE} --layers *=3,final=25%");
    let json = folder.run(&layered).ok().json();
    let mesh = read(&folder);
    let layers = json["polymesh"]["layers"].as_array().expect("a list");
    assert_eq!(layers.len(), 1, "the faces of the box are no walls");
    let mut keys = BTreeSet::new();
    kit::keys(&layers[0], "", &mut keys);
    for key in keys {
        let documented = DOCUMENTED.contains(&format!("`polymesh.layers[].{key}`"))
            || DOCUMENTED.contains(&format!("`.{key}`"));
        assert!(documented, "{key}");
    }
    let number = |key: &str| layers[0][key].as_f64().expect("a number");
    let cells = json["polymesh"]["cells"].as_u64().expect("cells") as usize;
    let before = plain["polymesh"]["cells"].as_u64().expect("cells") as usize;
    assert_eq!(cells, mesh.cells);
    assert_eq!(
        cells,
        before + 3 * number("covered") as usize,
        "stacks of three"
    );
    assert!(number("coverage") > 0.95, "{layers:?}");
    assert!((number("mean_layers") - 3.0 * number("coverage")).abs() < 1e-12);
    let refused = [
        ("--layers wing=3", "there is no such patch"),
        ("--layers xMin=3", "only walls have layers"),
        ("--layers sphere=3,y-plus=1", "needs a flow"),
        ("--layers sphere=3,first=0", "positive number"),
    ];
    for (args, why) in refused {
        folder.run(&format!("{SPHERE} {args}")).failed(2, &[why]);
    }
    let alone = "mesh --shape sphere --no-picture --layers sphere=3";
    folder.run(alone).failed(2, &["--layers needs --polymesh"]);
}

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn openfoam_accepts_meshes_with_layers() {
    let folder = Folder::new();
    for args in [
        "--shape sphere:r=0.5 --layers *=3",
        "--shape box:size=1x0.6x0.4 --rotate x:15,y:20,z:25 --layers *=3",
    ] {
        let line = format!(
            "mesh {args} --root 16 --levels 2 --no-picture --quiet --force --snap --polymesh c"
        );
        folder.run(&line).ok();
        read(&folder);
        let said = folder
            .shell("checkMesh -case c -allTopology -allGeometry")
            .stdout;
        assert!(said.contains("Mesh non-orthogonality Max"), "{said}");
        for line in said.lines().filter(|l| l.contains("***")) {
            // Concave cells are beside finer ones and at steps.
            // One face beyond the limit of 4 (decision 068).
            let of_one = line.contains("Max skewness = 4.0") && line.contains(" 1 highly skew");
            let is_known = of_one || line.contains("***Concave cells (using face planes)");
            assert!(is_known, "{args}: {line}");
        }
    }
}
