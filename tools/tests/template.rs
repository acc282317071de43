//! `--template`: a condition for each patch and field, and cases that OpenFOAM runs where it is installed.

mod kit;

use kit::Folder;

const SPHERE: &str = "mesh --shape sphere:r=0.5 --domain -3,-3,-3,5,3,3 --root 32 --levels 4 --no-picture --snap --polymesh c";

/// A duct along x, with inlet and outlet as solids of its own.
fn duct() -> String {
    let point = |i: usize| format!("vertex {} {} {}", 2 * (i & 1), i >> 1 & 1, i >> 2);
    let sides: [(&str, [usize; 4]); 6] = [
        ("inflow", [0, 4, 6, 2]),
        ("outflow", [1, 3, 7, 5]),
        ("wall", [0, 1, 5, 4]),
        ("wall", [2, 6, 7, 3]),
        ("wall", [0, 2, 3, 1]),
        ("wall", [4, 5, 7, 6]),
    ];
    let mut text = String::new();
    for name in ["inflow", "outflow", "wall"] {
        text += &format!("solid {name}\n");
        for (_, [a, b, c, d]) in sides.iter().filter(|(of, _)| *of == name) {
            for facet in [[a, b, c], [a, c, d]] {
                let corners = facet.map(|&i| point(i)).join(" ");
                text += &format!("facet normal 0 0 0 outer loop {corners} endloop endfacet\n");
            }
        }
        text += &format!("endsolid {name}\n");
    }
    text
}

const DUCT: &str = "mesh duct.stl --flow inside --domain -0.5,-0.5,-0.5,2.5,1.5,1.5 --root 24 --levels 1 --no-picture \
                    --patch inflow=patch,group=inlet --patch outflow=patch,group=outlet --polymesh c";

fn text(folder: &Folder, file: &str) -> String {
    let path = folder.path("c").join(file);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

/// The condition of a patch in a field.
fn condition(folder: &Folder, field: &str, patch: &str) -> String {
    let text = text(folder, field);
    let begin = format!("    {patch} {{ ");
    let line = text.lines().find(|line| line.starts_with(&begin));
    let line = line.unwrap_or_else(|| panic!("{patch} in {field}:\n{text}"));
    line[begin.len()..].trim_end_matches(" }").to_owned()
}

#[test]
fn a_stream_enters_and_leaves_by_the_faces_that_it_crosses() {
    let folder = Folder::new();
    let line = format!(
        "exec $CUTLINK {SPHERE} --json --template 'simpleFoam,velocity=3 0 4,viscosity=1e-5'"
    );
    let json = folder.shell(&line).ok().json();
    let told = json["polymesh"]["case"].to_string();
    // 5 m/s past 0.6 + 0.8 m, since the flow crosses the sphere's box of edge 1 along its diagonal.
    assert!(
        told.contains("Re 7.0") && told.contains("kOmegaSST"),
        "{told}"
    );
    assert_eq!(
        condition(&folder, "0/U", "xMin"),
        "type fixedValue; value uniform (3 0 4);"
    );
    let patches = ["sphere", "xMin", "xMax", "yMin", "yMax", "zMin", "zMax"];
    let kinds = patches.map(|patch| {
        let condition = condition(&folder, "0/U", patch);
        condition
            .split([' ', ';'])
            .nth(1)
            .unwrap_or_default()
            .to_owned()
    });
    assert_eq!(
        kinds.each_ref().map(String::as_str),
        [
            "noSlip",
            "fixedValue",
            "inletOutlet",
            "slip",
            "slip",
            "fixedValue",
            "inletOutlet"
        ]
    );
    for field in ["0/p", "0/k", "0/omega", "0/nut"] {
        for patch in patches {
            assert!(
                condition(&folder, field, patch).starts_with("type "),
                "{field} {patch}"
            );
        }
    }
    // Finest cells of 8 m / 32 / 8, and u_tau = U (0.013 Re^(-1/7))^(1/2) in y+ = 0.5 dx u_tau / nu.
    let y_plus: f64 = 0.5 * (0.25 / 8.0) * 5.0 * (0.013 * 7e5_f64.powf(-1.0 / 7.0)).sqrt() / 1e-5;
    assert!(
        told.contains(&format!("y+ of about {y_plus:.1}")),
        "{told} {y_plus}"
    );
    assert!(condition(&folder, "0/nut", "sphere").contains("nutkWallFunction"));
    folder.shell(&line).failed(2, &["exists", "--force"]);
    // What another flow had does not stay.
    folder
        .run(&format!(
            "{SPHERE} --force --template simpleFoam,viscosity=0.1"
        ))
        .ok();
    assert!(!folder.path("c/0/k").exists() && folder.path("c/0/U").exists());
}

#[test]
fn patches_that_do_not_say_what_they_are_are_refused() {
    let folder = Folder::new();
    folder.write("duct.stl", &duct());
    let unnamed = DUCT.replace(",group=outlet", "");
    // `outflow` is no word for an outlet.
    folder
        .run(&format!("{unnamed} --force --template simpleFoam"))
        .failed(
            2,
            &[
                "is outflow, of type patch, an inlet or an outlet?",
                "group=outlet",
            ],
        );
    let closed = DUCT.replace("outflow=patch,group=outlet", "outflow=wall");
    folder
        .run(&format!("{closed} --force --template simpleFoam"))
        .failed(2, &["no patch lets fluid out"]);
    folder
        .run(&format!("{DUCT} --force --template simpleFoam,velocity=0"))
        .failed(2, &["the velocity is 0"]);
    folder
        .run("mesh --shape sphere --no-picture --template simpleFoam")
        .failed(2, &["--template needs --polymesh"]);
    assert!(
        !folder.path("c").exists(),
        "nothing is left of a refused case"
    );
}

/// The last line of a table of a function object.
fn last(folder: &Folder, table: &str) -> Vec<f64> {
    let text = text(folder, table);
    let line = text.lines().rfind(|line| !line.starts_with('#'));
    let numbers = line.unwrap_or_default().split_whitespace();
    numbers.map(|n| n.parse().expect("a number")).collect()
}

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn the_drag_of_a_sphere_is_that_of_the_literature() {
    let folder = Folder::new();
    folder
        .run(&format!("{SPHERE} --template simpleFoam,viscosity=0.05"))
        .ok();
    folder
        .shell("sed -i 's/endTime 500/endTime 80/' c/system/controlDict && simpleFoam -case c")
        .ok();
    // Columns of OpenFOAM 1912: time, Cd and more. Clift, Grace and Weber (1978): 2.61 to 2.74 at Re 20; the box is narrow.
    let drag = last(&folder, "postProcessing/coefficients/0/coefficient.dat")[1];
    assert!((2.5..3.1).contains(&drag), "{drag}");
}

#[test]
#[cfg_attr(not(has_openfoam), ignore = "needs OpenFOAM")]
fn openfoam_runs_ducts_and_liquids() {
    let folder = Folder::new();
    folder.write("duct.stl", &duct());
    // As root too, and on fewer cores than parts.
    let mpi =
        "OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --oversubscribe -np 2";
    let few = "sed -i 's/^endTime .*/endTime 2e-3;/; s/^deltaT .*/deltaT 5e-4;/; s/^writeInterval .*/writeInterval 2e-3;/' c/system/controlDict";
    folder
        .run(&format!(
            "{DUCT} --template pimpleFoam,velocity=2,turbulence=kOmegaSST,ranks=2"
        ))
        .ok();
    folder
        .shell(&format!(
            "{few} && pimpleFoam -case c && {mpi} checkMesh -allTopology -case c -parallel && {mpi} pimpleFoam -case c -parallel && \
             reconstructPar -newTimes -case c"
        ))
        .ok();
    let twice = folder.run(&format!("{DUCT} --template pimpleFoam,velocity=2"));
    twice.failed(2, &["exists", "--force"]);
    // The pressure falls along the duct.
    assert!(
        last(
            &folder,
            "postProcessing/inflowPressure/0/surfaceFieldValue.dat"
        )[1] > 0.0
    );
    std::fs::remove_dir_all(folder.path("c")).expect("removed");
    let closed =
        "mesh --shape box:size=1x1x1 --flow inside --root 24 --levels 1 --no-picture --polymesh c";
    folder
        .run(&format!("{closed} --template interFoam,liquid=0"))
        .ok();
    let said = folder
        .shell(&format!("{few} && setFields -case c && interFoam -case c"))
        .ok()
        .stdout;
    let fraction = said
        .lines()
        .rfind(|line| line.starts_with("Phase-1 volume fraction = "));
    let fraction = fraction.and_then(|line| line.split_whitespace().nth(4)?.parse::<f64>().ok());
    assert!((fraction.expect("a fraction") - 0.5).abs() < 0.02, "{said}");
}
