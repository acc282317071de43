//! `cutlink bench hex`: how fast hexahedra are refined, with fields and fluxes.
//!
//! The mesh is that of the dam break of Yu & Zhao 2025 (§3.2): 131 x 96 x 32 cells less an obstacle of 5 x 11 x 32, 400,672
//! in all. 44,266 of them are refined, which makes the 710,534 cells that the paper has; it does not print which ones they
//! are. Here they are those nearest to a wave.

use super::report::Spread;
use crate::cli::BenchHexArgs;
use crate::console::Console;
use cutlink::mesh::report::{columns, grouped};
use cutlink::{Error, ErrorKind};
use cutlink_device::memory;
use cutlink_hex::refine::{MeanMap, map_fluxes};
use cutlink_hex::{PolyMesh, PolyPatch, RefinedMesh};
use serde::Serialize;
use std::time::Instant;

/// Default number of measured runs.
const RUNS: u32 = 5;
/// Cells along each axis, the first and the end of the obstacle, and the cells that are refined.
const BOX: [usize; 3] = [131, 96, 32];
const OBSTACLE: [[usize; 3]; 2] = [[65, 0, 0], [70, 11, 32]];
const REFINED: usize = 44_266;
/// Bytes that a cell of the refined mesh takes at most, with all that is measured.
const BYTES: u64 = 1500;
/// Fields of cells that are mapped.
const FIELDS: usize = 5;

/// The object that `cutlink bench hex --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct HexBenchReport {
    pub schema: u32,
    pub cutlink: &'static str,
    pub command: &'static str,
    pub threads: usize,
    pub runs: u32,
    pub parent_cells: usize,
    pub refined: usize,
    pub cells: usize,
    pub mesh_ms: Spread,
    pub fields_ms: Spread,
    pub fluxes_ms: Spread,
    pub cells_per_second: f64,
    pub peak_bytes_a_cell: f64,
}

/// Runs `cutlink bench hex`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchHexArgs) -> Result<(), Error> {
    let console = Console::new(args.output);
    let report = cutlink::pool::install(args.threads, || measure(args))?;
    console.show(&report.table())?;
    console.object(&report)
}

fn measure(args: &BenchHexArgs) -> Result<HexBenchReport, Error> {
    let (runs, scale) = (args.runs.unwrap_or(RUNS), usize::from(args.scale));
    let cells = ((BOX.iter().product::<usize>() + 7 * REFINED) * scale.pow(3)) as u64;
    let (need, free) = (BYTES * cells, memory::available());
    if need > free {
        let what = format!("bench hex needs some {need} bytes, and {free} are free");
        return Err(Error::new(ErrorKind::Memory, what).hint("use a smaller --scale"));
    }
    let parent = dam(scale);
    let marks = marks(&parent, REFINED * scale.pow(3));
    let coarse = RefinedMesh::new(&parent)?;
    let geometry = parent.face_geometry();
    let cells = parent.cell_geometry(&geometry);
    let volumes: Vec<f64> = cells.iter().map(|c| c.volume).collect();
    let fields: Vec<Vec<f64>> = (0..FIELDS)
        .map(|i| cells.iter().map(|c| c.center[i % 3] + i as f64).collect())
        .collect();
    let fluxes: Vec<f64> = geometry.iter().map(|face| face.area.iter().sum()).collect();
    let [mut mesh_times, mut field_times, mut flux_times] = [const { Vec::new() }; 3];
    let (mut refined, mut peak) = (coarse.clone(), 0);
    // The first run is not counted.
    for run in 0..=runs {
        refined = coarse.clone();
        memory::reset_peak();
        let before = memory::peak_resident();
        let start = Instant::now();
        refined.refine(marks.clone())?;
        let mesh = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let map = MeanMap::of_cells(&coarse.paths, &volumes, &refined.paths);
        for field in &fields {
            std::hint::black_box(map.apply(field, 1));
        }
        let mapped = start.elapsed().as_secs_f64();
        peak = peak.max(memory::peak_resident().saturating_sub(before));
        let start = Instant::now();
        std::hint::black_box(map_fluxes(&coarse, &refined, vec![fluxes.clone()])?);
        let flux = start.elapsed().as_secs_f64();
        if run > 0 {
            mesh_times.push(mesh);
            field_times.push(mapped);
            flux_times.push(flux);
        }
    }
    let [mesh_ms, fields_ms, fluxes_ms] = [mesh_times, field_times, flux_times].map(Spread::of);
    let cells = refined.mesh.cells;
    Ok(HexBenchReport {
        schema: cutlink::JSON_SCHEMA,
        cutlink: env!("CARGO_PKG_VERSION"),
        command: "bench hex",
        threads: rayon::current_num_threads(),
        runs,
        parent_cells: parent.cells,
        refined: (cells - parent.cells) / 7,
        cells,
        cells_per_second: cells as f64 / (1e-3 * (mesh_ms.median + fields_ms.median)),
        mesh_ms,
        fields_ms,
        fluxes_ms,
        peak_bytes_a_cell: peak as f64 / cells as f64,
    })
}

/// The cells nearest to a wave, so many.
fn marks(parent: &PolyMesh, count: usize) -> Vec<u8> {
    let cells = parent.cell_geometry(&parent.face_geometry());
    let away = |[x, y, z]: [f64; 3]| (y - 0.15 - 0.05 * (12.0 * x + 6.0 * z).sin()).abs();
    let mut nearest: Vec<(f64, usize)> = cells.iter().map(|c| away(c.center)).zip(0..).collect();
    nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut marks = vec![0; parent.cells];
    nearest[..count]
        .iter()
        .for_each(|&(_, cell)| marks[cell] = 1);
    marks
}

/// The parent, with so many times the cells along each axis.
fn dam(scale: usize) -> PolyMesh {
    let n = BOX.map(|n| n * scale);
    let [low, high] = OBSTACLE.map(|corner| corner.map(|c| c * scale));
    let is_solid = |c: [usize; 3]| (0..3).all(|a| low[a] <= c[a] && c[a] < high[a]);
    let mut number = vec![u32::MAX; n.iter().product()];
    let at = |c: [usize; 3]| c[0] + n[0] * (c[1] + n[1] * c[2]);
    let mut cells = Vec::new();
    for z in 0..n[2] {
        for y in 0..n[1] {
            for x in (0..n[0]).filter(|&x| !is_solid([x, y, z])) {
                number[at([x, y, z])] = cells.len() as u32;
                cells.push([x, y, z]);
            }
        }
    }
    let beside = |c: [usize; 3], axis: usize, up: bool| -> Option<u32> {
        let mut other = c;
        other[axis] = match up {
            true => c[axis] + 1,
            false => c[axis].checked_sub(1)?,
        };
        let id = (other[axis] < n[axis]).then(|| number[at(other)])?;
        (id != u32::MAX).then_some(id)
    };
    let point = |p: [usize; 3]| (p[0] + (n[0] + 1) * (p[1] + (n[1] + 1) * p[2])) as u32;
    // Counter-clockwise, seen from outside.
    let side = |c: [usize; 3], axis: usize, up: bool| -> [u32; 4] {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let loops = if up {
            [[0, 0], [1, 0], [1, 1], [0, 1]]
        } else {
            [[0, 0], [0, 1], [1, 1], [1, 0]]
        };
        loops.map(|[du, dv]: [usize; 2]| {
            let mut p = c;
            p[axis] += usize::from(up);
            p[u] += du;
            p[v] += dv;
            point(p)
        })
    };
    let mut mesh = PolyMesh {
        cells: cells.len(),
        face_start: vec![0],
        ..PolyMesh::default()
    };
    let put = |mesh: &mut PolyMesh, owner: usize, ids: [u32; 4]| {
        mesh.face_points.extend(ids);
        mesh.face_start.push(mesh.face_points.len() as u32);
        mesh.owner.push(owner as u32);
    };
    for (cell, &c) in cells.iter().enumerate() {
        for axis in 0..3 {
            if let Some(neighbour) = beside(c, axis, true) {
                put(&mut mesh, cell, side(c, axis, true));
                mesh.neighbour.push(neighbour);
            }
        }
    }
    let start = mesh.faces();
    for (cell, &c) in cells.iter().enumerate() {
        for (axis, up) in (0..3).flat_map(|axis| [(axis, false), (axis, true)]) {
            if beside(c, axis, up).is_none() {
                put(&mut mesh, cell, side(c, axis, up));
            }
        }
    }
    mesh.patches.push(PolyPatch {
        name: "walls".into(),
        kind: "wall".into(),
        start,
        faces: mesh.faces() - start,
        entries: Vec::new(),
    });
    let mut used = vec![false; (0..3).map(|a| n[a] + 1).product()];
    mesh.face_points
        .iter()
        .for_each(|&p| used[p as usize] = true);
    let size = 4.5e-3 / scale as f64;
    let mut numbers = vec![u32::MAX; used.len()];
    for (p, _) in used.iter().enumerate().filter(|(_, used)| **used) {
        let (x, rest) = (p % (n[0] + 1), p / (n[0] + 1));
        let place = [x, rest % (n[1] + 1), rest / (n[1] + 1)];
        numbers[p] = mesh.points.len() as u32;
        mesh.points.push(place.map(|i| size * i as f64));
    }
    mesh.face_points
        .iter_mut()
        .for_each(|p| *p = numbers[*p as usize]);
    mesh
}

impl HexBenchReport {
    fn table(&self) -> String {
        let row = |what: &str, of: &Spread| [what.to_owned(), format!("{:.1}", of.median)];
        let lines = vec![
            ["stage", "ms"].map(str::to_owned),
            row("mesh", &self.mesh_ms),
            row("5 fields of cells", &self.fields_ms),
            row("fluxes", &self.fluxes_ms),
        ];
        format!(
            "{} cells, {} of them refined: {} cells; {} threads, medians of {} runs\n{}mesh and fields {:.2} M cells/s, \
             {:.0} bytes a cell at the peak\n",
            grouped(self.parent_cells as u64),
            grouped(self.refined as u64),
            grouped(self.cells as u64),
            self.threads,
            self.runs,
            columns(&lines),
            1e-6 * self.cells_per_second,
            self.peak_bytes_a_cell,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_counts_are_those_of_the_paper() {
        let parent = dam(1);
        assert_eq!(parent.cells, 400_672);
        assert_eq!(parent.validate(), Ok(()), "every invariant");
        let mut refined = RefinedMesh::new(&parent).expect("a parent");
        let marks = marks(&parent, REFINED);
        assert_eq!(
            refined.refine(marks),
            Ok(REFINED),
            "no cell beyond the marks"
        );
        assert_eq!(refined.mesh.cells, 710_534);
    }
}
