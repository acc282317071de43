//! `cutlink bench hex`: how fast hexahedra are refined, with fields and fluxes.
//!
//! The mesh is that of the dam break of Yu & Zhao 2025 (§3.2): 131 x 96 x 32 cells less an obstacle of 5 x 11 x 32, 400,672
//! in all. 44,266 of them are refined, which makes the 710,534 cells that the paper has; it does not print which ones they
//! are. Here they are those nearest to a wave.

use super::measure::Copier;
use super::report::{Head, Spread};
use super::{WARM_UP, wait};
use crate::cli::BenchHexArgs;
use crate::console::Console;
use cutlink::device::DeviceReport;
use cutlink::device::{OpenedDevice, on};
use cutlink::mesh::report::{bytes, columns, grouped};
use cutlink::{Error, ErrorKind};
use cutlink_device::{Memory, memory};
use cutlink_hex::kernels::RefineKernels;
use cutlink_hex::refine::CellRanges;
use cutlink_hex::{HexMesh, PolyMesh, PolyPatch, RefinedMesh};
use serde::Serialize;
use std::time::Instant;

/// Default number of measured runs.
const RUNS: u32 = 5;
/// Cells along each axis, the first and the end of the obstacle, and the cells that are refined.
const BOX: [usize; 3] = [131, 96, 32];
const OBSTACLE: [[usize; 3]; 2] = [[65, 0, 0], [70, 11, 32]];
const REFINED: usize = 44_266;
/// Bytes that a cell of the refined mesh takes at most: on the CPU with all that is measured, and on a device.
const BYTES: [u64; 2] = [1500, 800];
/// Fields of cells that are mapped.
const FIELDS: usize = 5;

/// The object that `cutlink bench hex --json` prints.
#[derive(Debug, Clone, Serialize)]
#[expect(missing_docs, reason = "docs/json-schema.md describes the keys")]
pub struct HexBenchReport {
    #[serde(flatten)]
    pub head: Head,
    pub parent_cells: usize,
    pub refined: usize,
    pub cells: usize,
    pub mesh_ms: Spread,
    pub fields_ms: Spread,
    pub adapt_ms: Spread,
    pub fluxes_ms: Spread,
    pub cells_per_second: f64,
    pub peak_bytes_a_cell: f64,
}

/// Runs `cutlink bench hex`.
///
/// # Errors
/// Any failure; `docs/cli.md` lists the exit codes.
pub fn command(args: &BenchHexArgs) -> Result<(), Error> {
    let choice = args.run.device.unwrap_or_default().0;
    let console = Console::new(args.run.output);
    cutlink::pool::install(args.run.threads.unwrap_or(0), || {
        let OpenedDevice { opened, selected } = OpenedDevice::new(choice)?;
        let device = DeviceReport::new(&selected, &opened);
        let mut report = on!(&opened, backend => measure(args, backend, device))?;
        report.head.device.peak_bytes = opened.peak_bytes();
        console.show(&report.table())?;
        console.object(&report)
    })
}

/// The mesh, its marks, and values on it.
struct Dam {
    coarse: RefinedMesh,
    marks: Vec<u8>,
    fields: Vec<Vec<f64>>,
    fluxes: Vec<f64>,
}

impl Dam {
    fn new(scale: usize) -> Result<Self, Error> {
        let parent = dam(scale);
        let geometry = parent.face_geometry();
        let cells = parent.cell_geometry(&geometry);
        let field = |i: usize| cells.iter().map(|c| c.center[i % 3] + i as f64).collect();
        Ok(Self {
            marks: marks(&parent, REFINED * scale.pow(3)),
            fields: (0..FIELDS).map(field).collect(),
            fluxes: geometry.iter().map(|face| face.area.iter().sum()).collect(),
            coarse: RefinedMesh::new(&parent)?,
        })
    }
}

/// Seconds of each run, and the most bytes that a run took beside the parent and its fields.
#[derive(Default)]
struct Times {
    mesh: Vec<f64>,
    fields: Vec<f64>,
    adapt: Vec<f64>,
    peak: u64,
}

fn measure<B: RefineKernels>(
    args: &BenchHexArgs,
    backend: &B,
    device: DeviceReport,
) -> Result<HexBenchReport, Error> {
    let (runs, scale) = (args.run.runs.unwrap_or(RUNS), usize::from(args.scale));
    let copy = Copier::new(backend)?.measure(runs)?;
    let cells = ((BOX.iter().product::<usize>() + 7 * REFINED) * scale.pow(3)) as u64;
    check_memory(BYTES[0] * cells, memory::available())?;
    if B::MEMORY == Memory::Device {
        check_memory(BYTES[1] * cells, backend.free_bytes())?;
    }
    let dam = Dam::new(scale)?;
    let parent = HexMesh::upload(backend, &dam.coarse)?;
    let (times, refined) = refine(backend, &dam, &parent, runs)?;
    let fluxes_ms = fluxes(backend, &dam, (&parent, &refined), runs)?;
    let (mesh_ms, fields_ms) = (Spread::of(times.mesh), Spread::of(times.fields));
    let (before, cells) = (parent.cells(), refined.cells());
    Ok(HexBenchReport {
        head: Head::new("bench hex", device, runs, copy),
        parent_cells: before,
        refined: (cells - before) / 7,
        cells,
        cells_per_second: cells as f64 / (1e-3 * (mesh_ms.median + fields_ms.median)),
        mesh_ms,
        fields_ms,
        adapt_ms: Spread::of(times.adapt),
        fluxes_ms,
        peak_bytes_a_cell: times.peak as f64 / cells as f64,
    })
}

/// Refines the parent again and again: the marks, the mesh and its fields stay in the memory of the backend.
fn refine<B: RefineKernels>(
    backend: &B,
    dam: &Dam,
    parent: &HexMesh<B>,
    runs: u32,
) -> Result<(Times, HexMesh<B>), Error> {
    let volumes = parent.volumes(backend)?;
    let uploaded = dam.fields.iter().map(|field| backend.upload(field.clone()));
    let fields: Vec<B::Buf<f64>> = uploaded.collect::<Result<_, _>>()?;
    let mut times = Times::default();
    let mut last = None;
    for run in 0..WARM_UP + runs {
        drop(last.take());
        let mut mesh = parent.copy(backend)?;
        let mut marks = backend.upload(dam.marks.clone())?;
        wait(backend)?;
        backend.reset_peak();
        let before = backend.peak_bytes();
        let start = Instant::now();
        mesh.refine(backend, &mut marks)?;
        wait(backend)?;
        let refined = start.elapsed().as_secs_f64();
        let start = Instant::now();
        let ranges = CellRanges::new(backend, parent, &mesh)?;
        let mapped = fields
            .iter()
            .map(|field| ranges.map(backend, &volumes, field));
        let mapped: Vec<B::Buf<f64>> = mapped.collect::<Result<_, _>>()?;
        wait(backend)?;
        let of_fields = start.elapsed().as_secs_f64();
        let peak = backend.peak_bytes().saturating_sub(before);
        drop((mapped, ranges));
        // The mesh from its parent again, as if each cell wanted to stay.
        let levels = backend.download(mesh.paths())?;
        let levels = levels.iter().map(|path| path.level()).collect();
        let wanted = backend.upload(levels)?;
        wait(backend)?;
        let start = Instant::now();
        let again = mesh.adapt(backend, parent, &wanted)?;
        wait(backend)?;
        let adapted = start.elapsed().as_secs_f64();
        if run >= WARM_UP {
            times.mesh.push(refined);
            times.fields.push(of_fields);
            times.adapt.push(adapted);
            times.peak = times.peak.max(peak);
        }
        last = Some(again);
    }
    let last = last.ok_or_else(|| Error::new(ErrorKind::Runtime, "bench hex: no run"))?;
    Ok((times, last))
}

/// Fluxes from the parent to the refined mesh.
fn fluxes<B: RefineKernels>(
    backend: &B,
    dam: &Dam,
    (parent, refined): (&HexMesh<B>, &HexMesh<B>),
    runs: u32,
) -> Result<Spread, Error> {
    let mut times = Vec::new();
    // The first run is not counted.
    for _ in 0..=runs {
        let fluxes = vec![backend.upload(dam.fluxes.clone())?];
        wait(backend)?;
        let start = Instant::now();
        let mapped = parent.map_fluxes(backend, refined, fluxes)?;
        wait(backend)?;
        times.push(start.elapsed().as_secs_f64());
        drop(mapped);
    }
    Ok(Spread::of(times.split_off(1)))
}

fn check_memory(need: u64, free: u64) -> Result<(), Error> {
    if need <= free {
        return Ok(());
    }
    let (need, free) = (bytes(need), bytes(free));
    let what = format!("bench hex needs some {need}, and {free} are free");
    Err(Error::new(ErrorKind::Memory, what).hint("use a smaller --scale"))
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
        let row = |what: &str, of: &Spread| [what.to_owned(), format!("{:.2}", of.median)];
        let lines = [
            ["stage", "ms"].map(str::to_owned),
            row("mesh", &self.mesh_ms),
            row("5 fields of cells", &self.fields_ms),
            row("mesh again from its parent", &self.adapt_ms),
            row("fluxes", &self.fluxes_ms),
        ];
        format!(
            "{}{} cells, {} of them refined: {} cells\n{}mesh and fields {:.2} M cells/s, {:.0} bytes a cell at the peak\n",
            self.head.text("medians"),
            grouped(self.parent_cells as u64),
            grouped(self.refined as u64),
            grouped(self.cells as u64),
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
