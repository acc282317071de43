//! Uses of the library: meshes, their links, cases with an observer, stops.

use crate::worst::worst;
use cutlink::options::Numbers;
use cutlink::{
    AnyMesh, Case, Error, ErrorKind, FlowLook, MeshOptions, Observer, RunOptions, StopToken,
};
use cutlink_amr::dims;

const CHANNEL: &str = r#"
[domain]
box = [0, 0, 0.5, 1]
root = "8x16"

[physics]
re = 10
length = 1
velocity = 1
lattice_velocity = 0.05

[boundary]
"x-" = "periodic"
"x+" = "periodic"
"y-" = "no-slip"
"y+" = { type = "velocity", velocity = [1, 0] }

[run]
steps = STEPS
"#;

fn sphere() -> cutlink::Mesh<3> {
    let options = MeshOptions {
        shape: Some("sphere:r=0.5".into()),
        levels: Some(2),
        ..MeshOptions::default()
    };
    let AnyMesh::D3(mesh) = cutlink::mesh::from_options(&options, &mut ()).expect("a mesh") else {
        unreachable!("a sphere is 3D");
    };
    mesh
}

#[test]
fn links_are_those_of_the_table_and_end_on_the_sphere() {
    let mesh = sphere();
    let links: Vec<_> = mesh.links().collect();
    assert_eq!(links.len(), mesh.links.len(), "all of them");
    for link in &links {
        let of_table = mesh.link(link.cell, dims::direction(link.step));
        let of_table = of_table.expect("the table has it");
        assert_eq!((of_table.q, of_table.patch), (link.q, link.patch));
        let radius = link.point().iter().map(|x| x * x).sum::<f64>().sqrt();
        // Facets of a sphere of the true volume stay within 1/64 of a cell of it.
        assert!((radius - 0.5).abs() < link.dx / 32.0, "{radius}: {link:?}");
        assert_eq!(link.level, 1, "the surface lies in the finest level");
    }
    let order: Vec<_> = links
        .iter()
        .map(|l| (l.cell.block, l.cell.cell, dims::direction(l.step)))
        .collect();
    assert!(order.is_sorted(), "by block, cell and direction");
}

#[test]
fn a_surface_in_memory_gives_the_mesh_of_its_options() {
    let shape = cutlink_mesher::primitives::Shape3::Sphere { radius: 0.5 };
    let deviation = 0.01;
    let surface = shape.body(deviation).expect("a surface");
    let mut options = MeshOptions {
        levels: Some(2),
        // The default box is that of the facets here, and of the true sphere there.
        domain: Some(Numbers::Many(vec![-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])),
        ..MeshOptions::default()
    };
    let of_memory = cutlink::mesh(&surface, &options).expect("a mesh");
    options.shape = Some("sphere:r=0.5".into());
    options.deviation = Some(deviation);
    let AnyMesh::D3(of_shape) = cutlink::mesh::from_options(&options, &mut ()).expect("a mesh")
    else {
        unreachable!("a sphere is 3D");
    };
    assert_eq!(of_memory.checksum(), of_shape.checksum());
    let twice = cutlink::mesh(&surface, &options).expect_err("two surfaces");
    assert_eq!(twice.kind, ErrorKind::Input, "{twice}");
}

/// Records its calls, and stops the run after the first progress report.
#[derive(Default)]
struct Keep {
    begun: u64,
    done: u64,
    ended: bool,
    stop: StopToken,
}

impl Observer for Keep {
    fn begin(&mut self, steps: u64) {
        self.begun = steps;
    }

    fn advance(&mut self, steps: u64, status: &str) {
        assert!(status.contains("MLUPS"), "{status}");
        self.done += steps;
        self.stop.stop();
    }

    fn end(&mut self) {
        self.ended = true;
    }
}

fn case(folder: &std::path::Path, steps: u64) -> Case {
    let mut case = Case::from_toml(&CHANNEL.replace("STEPS", &steps.to_string())).expect("a case");
    case.output.folder = Some(folder.to_owned());
    case
}

#[test]
fn a_stopped_run_is_resumed_to_the_bit() {
    let place = tempfile::tempdir().expect("a folder");
    let (whole, parts) = (place.path().join("whole"), place.path().join("parts"));
    let summary = case(&whole, 300).run(&mut ()).expect("a run");
    assert_eq!((summary.steps, &summary.folder), (300, &whole));
    assert_eq!(summary.json["steps"], 300);

    let mut keep = Keep::default();
    let options = RunOptions {
        stop: keep.stop.clone(),
        ..RunOptions::default()
    };
    let stopped = case(&parts, 300).run_with(&options, &mut keep);
    let stopped = stopped.expect_err("it was stopped");
    assert_eq!(stopped.kind, ErrorKind::Stopped, "{stopped}");
    assert_eq!((keep.begun, keep.done, keep.ended), (300, 64, true));

    let options = RunOptions {
        resume: true,
        ..RunOptions::default()
    };
    let resumed = case(&parts, 300).run_with(&options, &mut ());
    assert_eq!(resumed.expect("a run").steps, 300);
    let integrals = |folder: &std::path::Path| std::fs::read(folder.join("integrals.csv"));
    assert_eq!(
        integrals(&whole).expect("a file"),
        integrals(&parts).expect("a file")
    );
}

#[test]
fn a_plan_writes_nothing_and_errors_name_the_case() -> Result<(), Error> {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("flow");
    let plan = case(&folder, 100).plan(&RunOptions::default(), &mut ())?;
    assert_eq!(plan.json["steps"], 100);
    assert!(plan.text.contains("100 root steps"), "{}", plan.text);
    assert!(!folder.exists(), "nothing is written");
    let wrong = Case::from_toml("[physics]\nreynold = 3\n").expect_err("no such key");
    assert!(wrong.message.starts_with("case, line 2"), "{wrong}");
    Ok(())
}

/// Samples the flow at two points inside the box and one outside.
#[derive(Default)]
struct Sample {
    steps: Vec<u64>,
    values: Vec<f64>,
}

impl Observer for Sample {
    fn look(&mut self, flow: &dyn FlowLook) -> Result<(), Error> {
        assert!(flow.sample(&[0.1]).is_err(), "half a point");
        assert_eq!(flow.coefficients(), None, "there is no body");
        self.steps.push(flow.steps());
        self.values = flow.sample(&[0.1, 0.2, 0.49, 0.99, 0.6, 0.5])?;
        Ok(())
    }
}

#[test]
fn an_observer_samples_the_flow_in_units_of_the_case() {
    let place = tempfile::tempdir().expect("a folder");
    // A uniform flow in a periodic box stays as it is.
    let text = CHANNEL
        .replace("STEPS", "100")
        .replace("\"no-slip\"", "\"periodic\"")
        .replace("{ type = \"velocity\", velocity = [1, 0] }", "\"periodic\"")
        + "\n[initial]\nvelocity = [0.6, -0.25]\n";
    let mut case = Case::from_toml(&text).expect("a case");
    case.output.folder = Some(place.path().join("flow"));
    let mut sample = Sample::default();
    case.run(&mut sample).expect("a run");
    assert_eq!(sample.steps, [64, 100]);
    for point in sample.values[..6].chunks_exact(3) {
        let want = [0.0, 0.6, -0.25];
        let off = worst((0..3).map(|c| (point[c] - want[c]).abs()));
        assert!(off < 1e-4, "{point:?}");
    }
    assert!(sample.values[6..].iter().all(|x| x.is_nan()), "outside");
}
