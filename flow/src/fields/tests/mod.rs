//! Outputs of analytic flows, read back independently.

use super::*;
use crate::files_kit::{ball_mesh, random_mesh};
use crate::worst::worst;
use cutlink_amr::{CellRef, dims};
use cutlink_solver::Snapshot;
use cutlink_voxelizer::Mesh;
use std::path::{Path, PathBuf};

mod parts;
mod pictures;
mod specs;
mod spectra;

/// Velocity and density of every cell from a function of its centre in root cells. Refined blocks have the values at
/// their own centres, which are the means of linear fields.
pub(super) fn snapshot<const D: usize>(
    mesh: &Mesh<D>,
    step: u64,
    at: impl Fn([f64; D]) -> (f64, [f64; D]),
) -> Snapshot<D> {
    let cells = dims::cells(D);
    let count = mesh.forest.capacity() * cells;
    let mut density = vec![1f32; count];
    let mut velocity: [Vec<f32>; D] = std::array::from_fn(|_| vec![0.0; count]);
    for block in mesh.forest.ids() {
        for cell in 0..cells as u32 {
            if mesh.classes.solid[block as usize] >> cell & 1 == 1 {
                continue;
            }
            let (rho, u) = at(centre(mesh, CellRef { block, cell }));
            let i = block as usize * cells + cell as usize;
            density[i] = rho as f32;
            for a in 0..D {
                velocity[a][i] = u[a] as f32;
            }
        }
    }
    Snapshot {
        step,
        density,
        velocity,
    }
}

fn centre<const D: usize>(mesh: &Mesh<D>, at: CellRef) -> [f64; D] {
    let dx = 1.0 / f64::from(1u32 << mesh.forest.level[at.block as usize]);
    mesh.forest
        .cell_coord(at)
        .map(|c| (f64::from(c) + 0.5) * dx)
}

/// Potential flow along x around the ball of the mesh, with a few vortices behind it; density
/// by Bernoulli.
fn around_ball<const D: usize>(mesh: &Mesh<D>, step: u64) -> Snapshot<D> {
    let n = mesh.frame.root_cells.map(f64::from);
    let radius = 0.3 * n.iter().copied().fold(f64::MAX, f64::min);
    let speed = 0.1;
    snapshot(mesh, step, |x| {
        let r: [f64; D] = std::array::from_fn(|a| x[a] - n[a] / 2.0);
        let rr: f64 = r.iter().map(|c| c * c).sum();
        let k = (radius * radius / rr).powf(D as f64 / 2.0);
        let mut u: [f64; D] = std::array::from_fn(|a| {
            let own = if a == 0 { 1.0 } else { 0.0 };
            let (alone, along) = if D == 2 { (1.0, 2.0) } else { (0.5, 1.5) };
            speed * (own + k * (alone * own - along * r[0] * r[a] / rr))
        });
        for i in 0..4 {
            let sign = [1.0, -1.0][i % 2];
            let at = [
                r[0] - radius * (1.2 + 0.9 * i as f64),
                r[1] + 0.4 * sign * radius,
            ];
            let pull = (-(at[0].powi(2) + at[1].powi(2)) / (0.12 * radius * radius)).exp();
            u[0] -= 0.35 * speed * sign * pull * at[1] / (0.3 * radius);
            u[1] += 0.35 * speed * sign * pull * at[0] / (0.3 * radius);
        }
        let kinetic: f64 = u.iter().map(|u| u * u).sum();
        (1.0 + 1.5 * (speed * speed - kinetic), u)
    })
}

fn parsed(text: &str) -> OutputSpec {
    toml::from_str(text).expect("an output")
}

fn units() -> FieldUnits {
    FieldUnits::si(0.1 / 3.0, 1e-3, 1.2)
}

fn fresh<const D: usize>(folder: &Path, specs: &[OutputSpec], mesh: &Mesh<D>) -> FieldWriter<D> {
    FieldWriter::new(folder, specs, units(), mesh, Start::Fresh { force: false }).expect("outputs")
}

/// Adds a sample to averages, as [`FieldWriter::sample`] does of a flow.
fn add_if_due<const D: usize>(writer: &mut FieldWriter<D>, flow: &Snapshot<D>) {
    let averages = writer.averages_mut().expect("averages");
    if averages.is_due(flow.step) {
        averages.add(flow).expect("memory");
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    let mut names: Vec<String> = entries
        .map(|e| {
            e.expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

/// An appended array of single precision.
fn array(path: &Path, name: &str) -> Vec<f32> {
    let file = std::fs::read(path).expect("a file");
    let mark = b"<AppendedData encoding=\"raw\">\n_";
    let at = file
        .windows(mark.len())
        .position(|w| w == mark)
        .expect("arrays");
    let text = std::str::from_utf8(&file[..at]).expect("text");
    let tag = text
        .split("<DataArray")
        .find(|t| t.contains(&format!("Name=\"{name}\"")));
    let offset = tag
        .unwrap_or_else(|| panic!("{name} in {text}"))
        .split("offset=\"")
        .nth(1);
    let offset: usize = offset
        .and_then(|t| t.split('"').next())
        .expect("offset")
        .parse()
        .expect("a number");
    let at = at + mark.len() + offset;
    let len = u64::from_le_bytes(file[at..at + 8].try_into().expect("8 bytes")) as usize;
    let floats = file[at + 8..at + 8 + len].chunks_exact(4);
    floats
        .map(|b| f32::from_le_bytes(b.try_into().expect("4 bytes")))
        .collect()
}

fn index(path: &Path) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(path).expect("an index");
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(json["file-series-version"], "1.0", "ParaView's version");
    let files = json["files"].as_array().expect("files");
    let entry = |f: &serde_json::Value| {
        (
            f["name"].as_str().expect("name").to_owned(),
            f["time"].as_f64().expect("time"),
        )
    };
    files.iter().map(entry).collect()
}

#[test]
fn every_kind_is_written_when_it_is_due() {
    let mesh = ball_mesh([4, 3, 3], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let specs = [
        parsed("kind = \"volume\"\nevery_steps = 20"),
        parsed("kind = \"slice\"\naxis = \"y\"\nevery_steps = 10\nfields = [\"pressure\", \"q\"]"),
        parsed("kind = \"box\"\nbox = [0.2, 0.5, 0.1, 0.4, 0.7, 0.3]"),
        parsed("kind = \"probes\"\npoints = [[0.0, 0.4, 0.05]]\nevery_steps = 10"),
        parsed("kind = \"picture\"\nname = \"wake\"\nwidth = 200"),
    ];
    let mut writer = fresh(folder.path(), &specs, &mesh);
    assert_eq!(writer.next_due(0), Some(10), "the tables");
    assert_eq!(writer.next_due(10), Some(20), "20 steps are 0.02 s");
    assert!(
        !writer.is_due(15, Moment::Running) && writer.is_due(15, Moment::End),
        "15"
    );
    for step in [10, 20] {
        writer
            .write(&mesh, &around_ball(&mesh, step).into(), Moment::Running)
            .expect("written");
    }
    let end = writer
        .write(&mesh, &around_ball(&mesh, 20).into(), Moment::End)
        .expect("written");
    assert_eq!(end.len(), 2, "box and picture: {end:?}");
    assert!(!writer.is_due(20, Moment::End), "all is written");
    assert_eq!(
        names(folder.path()),
        [
            "box.vtu.series",
            "box_000000020.vtu",
            "probes.csv",
            "slice.vtu.series",
            "slice_000000010.vtu",
            "slice_000000020.vtu",
            "volume.htg.series",
            "volume_000000020.htg",
            "wake_000000020.png",
        ]
    );
    assert_eq!(
        index(&folder.path().join("slice.vtu.series")),
        [
            ("slice_000000010.vtu".into(), 0.01),
            ("slice_000000020.vtu".into(), 0.02)
        ]
    );
}

#[test]
fn a_span_is_a_plane_in_the_middle_with_means() {
    let mesh = ball_mesh([3, 3, 3], 2);
    let folder = tempfile::tempdir().expect("a folder");
    let specs = [parsed(
        "kind = \"span\"\naxis = \"y\"\nfields = [\"velocity\"]",
    )];
    let flow = snapshot(&mesh, 5, |_| (1.0, [0.01, 0.02, 0.03]));
    let files = fresh(folder.path(), &specs, &mesh)
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    assert_eq!(
        names(folder.path()),
        ["span.vtu.series", "span_000000005.vtu"]
    );
    let speed = (0.1 / 3.0 / 1e-3) as f32;
    let velocity = array(&files[0], "velocity");
    assert!(velocity.len() > 3 * 144, "refined: {}", velocity.len());
    for u in velocity.chunks(3) {
        assert!((u[1] / speed - 0.02).abs() < 1e-6 && (u[2] / speed - 0.03).abs() < 1e-6);
    }
}

#[test]
fn values_are_in_the_units_and_at_their_cells() {
    let mesh = random_mesh(3, [2, 2, 2], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let specs = [
        parsed("kind = \"volume\"\nfields = [\"velocity\", \"density\", \"pressure\"]"),
        parsed("kind = \"slice\"\nfields = [\"velocity\", \"vorticity\", \"q\"]\naxis = \"x\""),
        parsed("kind = \"box\"\nbox = [-9.0, -9.0, -9.0, 9.0, 9.0, 9.0]"),
    ];
    // A shear: vorticity -0.01 about z, Q zero.
    let flow = snapshot(&mesh, 5, |x| {
        (1.0 + 0.001 * x[2], [0.01 * x[1], 0.0, 0.002])
    });
    let mut writer = fresh(folder.path(), &specs, &mesh);
    let files = writer
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    let solid = |velocity: &[f32]| velocity == [0.0; 3];
    let speed = 0.1 / 3.0 / 1e-3;
    let velocity = array(&files[0], "velocity");
    let density = array(&files[0], "density");
    let pressure = array(&files[0], "pressure");
    // Above the cells there are the 8 root blocks and their octants.
    assert_eq!(
        density.len(),
        64 * mesh.forest.blocks() + 8 * 9,
        "one value per node"
    );
    let mut fluid = 0;
    for ((u, rho), p) in velocity.chunks(3).zip(&density).zip(&pressure) {
        let expected = 1.2 * speed * speed * (f64::from(*rho) / 1.2 - 1.0) / 3.0;
        assert!(
            (f64::from(*p) - expected).abs() < 1e-3,
            "pressure {p}, not {expected}"
        );
        if !solid(u) {
            assert!(
                (f64::from(u[2]) - 0.002 * speed).abs() < 1e-6,
                "velocity {u:?}"
            );
            assert!(f64::from(*rho) > 1.2, "density {rho}");
            fluid += 1;
        }
    }
    assert!(fluid > 1000, "{fluid} cells");
    for file in &files[1..] {
        let velocity = array(file, "velocity");
        let vorticity = array(file, "vorticity");
        let q = array(file, "q");
        assert_eq!(
            (velocity.len(), 3 * q.len()),
            (vorticity.len(), velocity.len()),
            "lengths"
        );
        let mut sheared = 0;
        for ((u, w), q) in velocity.chunks(3).zip(vorticity.chunks(3)).zip(&q) {
            // Only cells between solid ones on both sides have no shear.
            if !solid(u) && w[2] != 0.0 {
                let expected = [0.0, 0.0, -0.01 / 1e-3];
                let off = worst((0..3).map(|a| (w[a] - expected[a]).abs()));
                assert!(off < 0.02 && q.abs() < 0.2, "vorticity {w:?}, Q {q}");
                sheared += 1;
            }
        }
        assert!(sheared > 50, "{sheared} cells");
    }
    let leaves = mesh.forest.leaves().count() * 64;
    assert_eq!(
        array(&files[2], "q").len(),
        leaves,
        "the box holds all leaf cells"
    );
}

#[test]
fn a_box_holds_the_leaf_cells_that_meet_it() {
    let mesh = random_mesh(8, [3, 2], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let [low, high] = [[-0.05, 0.36], [0.123, 0.47]];
    let spec = parsed("kind = \"box\"\nbox = [-0.05, 0.36, 0.123, 0.47]\nfields = [\"density\"]");
    let flow = snapshot(&mesh, 0, |x| (x[0] + 100.0 * x[1], [0.0; 2]));
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    let files = writer
        .write(&mesh, &flow.clone().into(), Moment::End)
        .expect("written");
    let mut expected = Vec::new();
    for block in mesh.forest.leaves() {
        let half = mesh
            .frame
            .dx_at(usize::from(mesh.forest.level[block as usize]))
            / 2.0;
        for cell in 0..16 {
            let at = CellRef { block, cell };
            let x = centre(&mesh, at);
            let meets = |a: usize| {
                let x = mesh.frame.origin[a] + x[a] * mesh.frame.dx;
                x + half > low[a] && x - half < high[a]
            };
            if meets(0) && meets(1) {
                let density = flow.density[block as usize * 16 + cell as usize];
                expected.push((f64::from(density) * 1.2) as f32);
            }
        }
    }
    let mut found = array(&files[0], "density");
    found.sort_by(f32::total_cmp);
    expected.sort_by(f32::total_cmp);
    assert!(found.len() > 20, "{} cells", found.len());
    assert_eq!(found, expected, "cells of the box");
}

#[test]
fn probes_follow_linear_fields() {
    let mesh = ball_mesh([4, 4], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let spec = parsed("kind = \"probes\"\npoints = [[0.0, 0.4], [0.31, 0.4123]]\nevery_steps = 1");
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    for step in 0..3 {
        let flow = snapshot(&mesh, step, |x| {
            (1.0, [0.01 * x[0] + 0.001 * step as f64, -0.02 * x[1]])
        });
        writer
            .write(&mesh, &flow.clone().into(), Moment::Running)
            .expect("written");
    }
    let text = std::fs::read_to_string(folder.path().join("probes.csv")).expect("a table");
    let mut lines = text.lines();
    assert_eq!(
        lines.next(),
        Some("step,time (s),u1 (m/s),v1 (m/s),p1 (Pa),u2 (m/s),v2 (m/s),p2 (Pa)")
    );
    let scale = 0.1 / 3.0 / 1e-3;
    for (step, line) in lines.enumerate() {
        let row: Vec<f64> = line
            .split(',')
            .map(|x| x.parse().expect("a number"))
            .collect();
        assert_eq!(row[0], step as f64, "step");
        assert!((row[1] - 0.001 * step as f64).abs() < 1e-12, "time");
        for (point, at) in [[0.0, 0.4], [0.31, 0.4123]].into_iter().enumerate() {
            let x: [f64; 2] =
                std::array::from_fn(|a| (at[a] - mesh.frame.origin[a]) / mesh.frame.dx);
            let expected = [0.01 * x[0] + 0.001 * step as f64, -0.02 * x[1]].map(|u| u * scale);
            for a in 0..2 {
                let found = row[2 + 3 * point + a];
                assert!(
                    (found - expected[a]).abs() < 1e-4,
                    "{found}, not {}",
                    expected[a]
                );
            }
            assert_eq!(row[4 + 3 * point], 0.0, "pressure");
        }
    }
    assert_eq!(text.lines().count(), 4, "rows");
}

/// All files of a run that writes at some steps.
fn run(folder: &Path, mesh: &Mesh<2>, steps: impl Iterator<Item = u64>, start: Start) {
    let specs = [
        parsed("kind = \"slice\"\nevery_steps = 10"),
        parsed("kind = \"probes\"\npoints = [[0.0, 0.4]]\nevery_steps = 5"),
        parsed("kind = \"picture\"\nevery_steps = 20\nwidth = 100\nfilm = \"apng\""),
    ];
    let mut writer = FieldWriter::new(folder, &specs, units(), mesh, start).expect("outputs");
    let mut last = 0;
    for step in steps {
        last = step;
        if writer.is_due(step, Moment::Running) {
            writer
                .write(mesh, &around_ball(mesh, step).into(), Moment::Running)
                .expect("written");
        }
    }
    if last == 50 {
        writer
            .write(mesh, &around_ball(mesh, last).into(), Moment::End)
            .expect("written");
    }
}

#[test]
fn a_resumed_run_ends_with_the_files_of_one_that_was_never_stopped() {
    let mesh = ball_mesh([3, 3], 2);
    let [whole, parts] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
    let fresh = Start::Fresh { force: false };
    run(whole.path(), &mesh, 0..=50, fresh);
    // Stopped at 37; the last checkpoint is at 20, and the last row is truncated.
    run(parts.path(), &mesh, 0..=37, fresh);
    let table = parts.path().join("probes.csv");
    let text = std::fs::read_to_string(&table).expect("a table");
    std::fs::write(&table, &text[..text.len() - 3]).expect("cut short");
    run(parts.path(), &mesh, 20..=50, Start::Resumed { step: 20 });
    assert_eq!(names(whole.path()), names(parts.path()), "files");
    for name in names(whole.path()) {
        let [a, b] = [&whole, &parts].map(|f| std::fs::read(f.path().join(&name)).expect("a file"));
        assert!(a == b, "{name} differs");
    }
    let rows = std::fs::read_to_string(whole.path().join("probes.csv")).expect("a table");
    assert_eq!(rows.lines().count(), 12, "rows of 0, 5, ... 50");
    // Pictures of 0, 20, 40 and of the end.
    let film = std::fs::read(whole.path().join("picture.apng")).expect("a film");
    let frames = film.windows(4).filter(|w| *w == b"fcTL").count();
    assert_eq!(frames, 4, "frames");
}

#[test]
fn outputs_of_an_interrupted_end_are_removed() {
    let mesh = ball_mesh([3, 3], 2);
    let specs = [
        parsed("kind = \"slice\"\nevery_steps = 10"),
        parsed("kind = \"probes\"\npoints = [[0.0, 0.4]]\nevery_steps = 5"),
        parsed("kind = \"picture\"\nwidth = 100"),
        parsed("kind = \"volume\"\naverage = \"mean\""),
    ];
    let [whole, parts] = [(), ()].map(|()| tempfile::tempdir().expect("a folder"));
    let go = |folder: &Path, steps: std::ops::RangeInclusive<u64>, start, state: &[u8]| {
        let mut writer = FieldWriter::new(folder, &specs, units(), &mesh, start)
            .expect("outputs")
            .with_averages(Averages::new(&mesh, 12, 3).expect("memory"));
        let end = *steps.end();
        if !state.is_empty() {
            let averages = writer.averages_mut().expect("averages");
            averages.restore(&mesh, &mut &state[..]).expect("a state");
        }
        let mut saved = Vec::new();
        for step in steps {
            add_if_due(&mut writer, &around_ball(&mesh, step));
            for moment in [Moment::Running, Moment::End] {
                if writer.is_due(step, moment) && (moment == Moment::Running || step == end) {
                    let flow = around_ball(&mesh, step);
                    writer
                        .write(&mesh, &flow.clone().into(), moment)
                        .expect("written");
                }
            }
            if step == 17 {
                let averages = writer.averages().expect("averages");
                averages.save(&mut saved).expect("disk space");
            }
        }
        saved
    };
    let fresh = Start::Fresh { force: false };
    go(whole.path(), 0..=50, fresh, &[]);
    let state = go(parts.path(), 0..=23, fresh, &[]);
    assert!(parts.path().join("slice_000000023.vtu").exists(), "an end");
    assert!(parts.path().join("volume_000000023.htg").exists(), "an end");
    go(parts.path(), 17..=50, Start::Resumed { step: 17 }, &state);
    assert_eq!(names(whole.path()), names(parts.path()), "files");
    for name in names(whole.path()) {
        let [a, b] = [&whole, &parts].map(|f| std::fs::read(f.path().join(&name)).expect("a file"));
        assert!(a == b, "{name} differs");
    }
    // A run that starts again removes the files of the earlier one.
    go(whole.path(), 0..=3, Start::Fresh { force: true }, &[]);
    let left = names(whole.path());
    assert!(!left.iter().any(|n| n.contains("50")), "{left:?}");
    assert!(
        !left.iter().any(|n| n.starts_with("volume")),
        "no sample: {left:?}"
    );
}

#[test]
fn averages_are_those_of_the_samples() {
    let mesh = ball_mesh([3, 3], 2);
    let folder = tempfile::tempdir().expect("a folder");
    let specs = [
        parsed("kind = \"volume\"\nname = \"m\"\naverage = \"mean\"\nfields = [\"velocity\"]"),
        parsed("kind = \"volume\"\nname = \"s\"\naverage = \"rms\"\nfields = [\"velocity\"]"),
    ];
    let mut writer = fresh(folder.path(), &specs, &mesh)
        .with_averages(Averages::new(&mesh, 2, 2).expect("memory"));
    assert_eq!((writer.next_due(0), writer.next_due(2)), (Some(2), Some(4)));
    // A sample takes no snapshot, nor do averaged outputs.
    assert!(!writer.is_due(2, Moment::Running) && writer.is_due(2, Moment::End));
    let blocks = writer.blocks_due(&mesh, 2, Moment::End);
    assert_eq!(blocks, Some(Vec::new()), "of the snapshot");
    let mut files = Vec::new();
    for step in 0..=6 {
        // Steps 2, 4, 6 count: u = 0.02, 0.04, 0.09, a mean of 0.05.
        let u = [9.0, 9.0, 0.02, 9.0, 0.04, 9.0, 0.09][step as usize];
        let moment = if step < 6 {
            Moment::Running
        } else {
            Moment::End
        };
        let flow = snapshot(&mesh, step, |_| (1.0, [u, -0.01]));
        add_if_due(&mut writer, &flow);
        files = writer
            .write(&mesh, &flow.clone().into(), moment)
            .expect("written");
    }
    let scale = 0.1 / 3.0 / 1e-3;
    let rms = ((0.03f64.powi(2) + 0.01f64.powi(2) + 0.04f64.powi(2)) / 3.0).sqrt();
    for (file, name, expected) in [
        (&files[0], "velocity_mean", [0.05, -0.01]),
        (&files[1], "velocity_rms", [rms, 0.0]),
    ] {
        let found = array(file, name);
        let is = |u: &[f32]| (0..2).all(|a| (f64::from(u[a]) - expected[a] * scale).abs() < 1e-6);
        let fluid = found.chunks(3).filter(|u| is(u)).count();
        let solid = found.chunks(3).filter(|u| u == &[0.0; 3]).count();
        assert!(fluid > 100, "{name}: {fluid} cells");
        assert_eq!(3 * (fluid + solid), found.len(), "{name}");
    }
}

#[test]
fn averages_are_taken_to_another_mesh() {
    let [coarse, fine] = [1, 3].map(|levels| ball_mesh([8, 8], levels));
    let stay = fine
        .forest
        .leaves()
        .any(|id| fine.forest.level[id as usize] == 0);
    assert!(
        stay && fine.forest.levels.len() == 3,
        "some blocks are refined, some are not"
    );
    let at = |mesh: &Mesh<2>, block: u32, cell: u32| {
        mesh.forest
            .cell_coord(CellRef { block, cell })
            .map(|x| (f64::from(x) + 0.5) / f64::from(1 << mesh.forest.level[block as usize]))
    };
    let sample = |mesh: &Mesh<2>, step: u64| {
        let mut flow = snapshot(mesh, step, |_| (1.0, [0.0; 2]));
        for block in mesh.forest.ids() {
            for cell in 0..16 {
                let x = at(mesh, block, cell);
                flow.velocity[0][(16 * block + cell) as usize] =
                    (step as f64 * (x[0] - 2.0 * x[1])) as f32;
            }
        }
        flow
    };
    // A linear field has the same values on all levels, in its means too. Steps 1 and 2 on one mesh, 3 on another.
    let check = |first: &Mesh<2>, second: &Mesh<2>, exact: bool| {
        let mut averages = Averages::new(first, 1, 1).expect("memory");
        averages.add(&sample(first, 1)).expect("memory");
        averages.add(&sample(first, 2)).expect("memory");
        averages.follow(second).expect("memory");
        averages.add(&sample(second, 3)).expect("memory");
        let [mean, rms] = [averages.mean(3), averages.rms(3)].map(|all| all.expect("memory"));
        for block in second.forest.leaves() {
            for cell in 0..16 {
                let (x, i) = (at(second, block, cell), (16 * block + cell) as usize);
                let slope = x[0] - 2.0 * x[1];
                // A cell that was refined has the value of the root cell around it in samples 1 and 2.
                let before = match exact {
                    true => slope,
                    false => (x[0].floor() + 0.5) - 2.0 * (x[1].floor() + 0.5),
                };
                let off = if exact { 0.0 } else { 1.5 };
                let error = (f64::from(mean.velocity[0][i]) - (before + slope)).abs();
                assert!(error < 1e-5 * (1.0 + slope.abs()), "mean at {x:?}: {error}");
                let error =
                    (f64::from(rms.velocity[0][i]) - slope.abs() * (2f64 / 3.0).sqrt()).abs();
                assert!(
                    error < 1e-5 * (1.0 + slope.abs()) + off + if exact { 0.3 } else { 0.0 },
                    "rms at {x:?}: {error}"
                );
            }
        }
    };
    check(&coarse, &coarse, true);
    check(&fine, &fine, true);
    check(&fine, &coarse, true);
    check(&coarse, &fine, false);
}

#[test]
fn existing_files_are_replaced_only_with_force() {
    let mesh = ball_mesh([3, 3], 2);
    let folder = tempfile::tempdir().expect("a folder");
    run(folder.path(), &mesh, 0..=0, Start::Fresh { force: false });
    let specs = [parsed("kind = \"picture\"")];
    let again = |start| FieldWriter::new(folder.path(), &specs, units(), &mesh, start).map(drop);
    let failure = again(Start::Fresh { force: false }).expect_err("it is there");
    assert!(
        failure.message.ends_with("picture_000000000.png exists"),
        "{failure}"
    );
    assert_eq!(again(Start::Fresh { force: true }), Ok(()), "replaced");
    std::fs::write(folder.path().join("slice.vtu.series"), "{}").expect("a file");
    let specs = [parsed("kind = \"slice\"")];
    let start = Start::Resumed { step: 3 };
    let failure =
        FieldWriter::new(folder.path(), &specs, units(), &mesh, start).expect_err("no index");
    assert!(failure.message.contains("not the index"), "{failure}");
}
