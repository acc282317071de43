//! The flow of `docs/openfoam.md`, as it stands there, by OpenFOAM.

mod kit;

use kit::Folder;

/// The first shell block of the page.
fn commands() -> String {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/openfoam.md");
    let page = std::fs::read_to_string(page).expect("the page");
    let block = page.split("```sh\n").nth(1);
    let block = block.and_then(|block| block.split("```").next());
    block.expect("a block").to_owned()
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
    let (run, few) = ("\nsimpleFoam ", "s/endTime 500;/endTime 8;/");
    let commands = commands();
    assert!(commands.contains(run), "{commands}");
    let commands = commands.replace(
        run,
        &format!("\nsed -i '{few}' case/system/controlDict{run}"),
    );
    let said = folder
        .shell(&format!(
            "set -e; cutlink() {{ \"$CUTLINK\" \"$@\"; }}\n{commands}"
        ))
        .ok()
        .stdout;
    assert!(said.contains("Mesh OK."), "{said}");
    assert!(said.contains("\nTime = 8\n") && !said.contains("\nTime = 9\n"));
    // The last line is that of the coefficients: time, drag and more.
    let coefficients = said.lines().last().map(str::split_whitespace);
    let mut coefficients = coefficients.expect("a line");
    assert_eq!(coefficients.next(), Some("8"), "{said}");
    let drag: f64 = coefficients.next().expect("drag").parse().expect("drag");
    assert!((0.5..3.0).contains(&drag), "{drag}");
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
