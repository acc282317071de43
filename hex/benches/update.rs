//! The mesh update of a flow on a case: its `polyMesh` is refined by a field, with five fields of cells. For a comparison
//! with other programs (`peers/refine.py`). Arguments: the folder of the mesh, the file of a scalar of cells, which are
//! refined where it is above 0.5, repetitions. Prints one JSON object: counts, and of each repetition seconds on the clock
//! and on the processor.
#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use cutlink_device::Host;
use cutlink_hex::polymesh::{FieldValue, FoamField};
use cutlink_hex::refine::CellRanges;
use cutlink_hex::{HexMesh, RefinedMesh};
use std::path::Path;
use std::time::Instant;

/// Fields of cells that are mapped.
const FIELDS: usize = 5;

/// Seconds that the threads of this process have run; 0 where the system does not tell.
fn processor_seconds() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let times = tasks.flatten().filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<f64>().ok()
    });
    times.sum::<f64>() / 1e9
}

fn main() {
    let mut given = std::env::args().skip(1).filter(|a| a != "--bench");
    let mut next = || given.next().expect("MESH FIELD [REPETITIONS]");
    let (folder, field) = (next(), next());
    let repeat: usize = given.next().map_or(5, |n| n.parse().expect("a number"));
    let (parent, _) = RefinedMesh::read(Path::new(&folder)).expect("a polyMesh");
    let parent = HexMesh::of(parent);
    let field = FoamField::read(Path::new(&field))
        .expect("a file")
        .expect("a field");
    let Some(FieldValue::List { values, .. }) = field.get("internalField") else {
        panic!("a list of values");
    };
    let marks: Vec<u8> = values.iter().map(|&x| u8::from(x > 0.5)).collect();
    let volumes = parent.volumes(&Host).expect("volumes");
    let mut runs = Vec::new();
    let mut counts = [0; 2];
    for _ in 0..=repeat {
        let mut mesh = parent.copy(&Host).expect("memory");
        let mut marks = marks.clone();
        let (start, before) = (Instant::now(), processor_seconds());
        let split = mesh
            .refine(&Host, &mut marks)
            .expect("a mesh")
            .expect("marks");
        let ranges = CellRanges::new(&Host, &parent, &mesh).expect("one parent");
        for _ in 0..FIELDS {
            std::hint::black_box(ranges.map(&Host, &volumes, values).expect("a field"));
        }
        runs.push([start.elapsed().as_secs_f64(), processor_seconds() - before]);
        counts = [split.refined, mesh.cells()];
    }
    // The first run is not counted.
    let times = |i: usize| {
        format!(
            "{:?}",
            runs[1..].iter().map(|run| run[i]).collect::<Vec<_>>()
        )
    };
    println!(
        "{{\"parent\": {}, \"refined\": {}, \"cells\": {}, \"wall\": {}, \"cpu\": {}}}",
        parent.cells(),
        counts[0],
        counts[1],
        times(0),
        times(1)
    );
}
