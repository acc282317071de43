//! The flow of `docs/openfoam.md`, as it stands there, by OpenFOAM.

mod kit;

use kit::Folder;

/// The shell blocks of the page up to the first flow.
fn commands() -> [String; 2] {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openfoam.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut blocks = page.split("```sh\n").skip(1);
    let mut next = || {
        let block = blocks.next().and_then(|block| block.split("```").next());
        block.expect("a block").to_owned()
    };
    [next(), next()]
}

#[test]
#[cfg_attr(
    not(all(has_scans, has_openfoam)),
    ignore = "needs ../shared/meshes and OpenFOAM"
)]
fn the_flow_of_the_page_runs() {
    let folder = Folder::new();
    let scan = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../shared/meshes/bunny_unit.stl"
    );
    std::fs::copy(scan, folder.path("bunny_unit.stl")).expect("a scan");
    let [mesh, flow] = commands();
    let said = folder
        .shell(&format!(
            "set -e; cutlink() {{ \"$CUTLINK\" \"$@\"; }}\n{mesh}"
        ))
        .ok()
        .stdout;
    assert!(said.contains("Mesh OK."), "{said}");
    assert!(flow.contains("endTime 50;"), "{flow}");
    let said = folder
        .shell(&format!(
            "set -e\n{}",
            flow.replace("endTime 50;", "endTime 8;")
        ))
        .ok()
        .stdout;
    assert!(said.contains("\nTime = 8\n"), "{said}");
    for name in ["Ux", "p"] {
        let of = format!("Solving for {name}, Initial residual = ");
        let last = said
            .rsplit(&of)
            .next()
            .and_then(|rest| rest.split(',').next());
        let last: f64 = last.expect("a residual").parse().expect("a number");
        assert!(last < 0.15, "{name}: {last}");
    }
}
