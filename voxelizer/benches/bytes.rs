//! What share of the memory's copy bandwidth each stage of an embedding reaches, on the torus
//! of the bench `embed`: the best of several runs, on the clock and on the processor (Linux; what
//! rates are worked out from, for other programs disturb it less), bytes by the formulas
//! below, and the copy measured between the runs. Arguments: levels, repetitions. Prints a table.
//!
//! Bytes are what the data structures make each stage read and write, once for every
//! pass over an array; a gather counts its elements, not cache lines. Per level, with B
//! blocks, P pairs of a block and a facet in its list, F = 40 bytes to reach a facet
//! (its number and the coordinates of its corners), as `bytes` adds them up.
#![expect(clippy::print_stdout, reason = "its output is the measurement")]

use cutlink_amr::dims;
use cutlink_device::Host;
use cutlink_mesher::{
    kernels::{BinKernels, Bins, ChildBoxes},
    primitives::Shape3,
    snap::{Snapped, snap},
};
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Mesh, Observer, SUBCELL_BITS, Stage, embed, fluid_layers,
};
use rayon::prelude::*;
use std::time::Instant;

const STAGES: [Stage; 5] = [
    Stage::Upload,
    Stage::Bins,
    Stage::Voxelize,
    Stage::Refine,
    Stage::Links,
];
/// A facet's number in a list, three corners.
const FACET: u64 = 4 + 36;
/// A family's places, read once for all of its blocks.
const NEIGHBORS: u64 = 4 * (dims::cells(3) / dims::children(3)) as u64;

/// Seconds on the clock, and on the processor as a mean of the threads.
#[derive(Clone, Copy, Default)]
struct Time {
    clock: f64,
    processor: f64,
}

impl Time {
    const WORST: Self = Self {
        clock: f64::INFINITY,
        processor: f64::INFINITY,
    };

    fn now(since: Instant) -> Self {
        let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
        let ran = tasks.flatten().filter_map(|task| {
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        });
        Self {
            clock: since.elapsed().as_secs_f64(),
            processor: ran.sum::<f64>() / 1e9 / rayon::current_num_threads() as f64,
        }
    }

    fn after(self, before: Self) -> Self {
        Self {
            clock: self.clock - before.clock,
            processor: self.processor - before.processor,
        }
    }

    fn add(&mut self, other: Self) {
        self.clock += other.clock;
        self.processor += other.processor;
    }

    fn min(self, other: Self) -> Self {
        Self {
            clock: self.clock.min(other.clock),
            processor: self.processor.min(other.processor),
        }
    }
}

struct Times {
    start: Instant,
    last: Time,
    stages: [Time; 5],
}

impl Times {
    fn new(start: Instant) -> Self {
        Self {
            start,
            last: Time::now(start),
            stages: [Time::default(); 5],
        }
    }
}

impl Observer for Times {
    fn stage_done(&mut self, stage: Stage, _: usize, _: f64) {
        let now = Time::now(self.start);
        if let Some(i) = STAGES.iter().position(|&s| s == stage) {
            self.stages[i].add(now.after(self.last));
        }
        self.last = now;
    }
}

/// What the formulas need of one level.
struct Level {
    blocks: u64,
    pairs: u64,
    leaf_pairs: u64,
}

/// The lists of every level, made again on the finished forest.
fn levels(surface: &Snapped<3>, mesh: &Mesh<3>) -> Vec<Level> {
    let set = Host.facet_set(surface).expect("memory");
    let forest = &mesh.forest;
    let finest = forest.finest();
    let (mut first, mut first_parent) = (0, 0);
    let mut above: Option<Bins> = None;
    let mut found = Vec::new();
    for level in 0..=finest {
        let edge = 4 << (SUBCELL_BITS as usize + finest - level);
        let count = forest.levels[level].len();
        let bins = match &above {
            None => Host.bin_root(&set, forest.root, edge),
            Some(above) => {
                let children = ChildBoxes {
                    coord: &forest.coord,
                    parent: &forest.parent,
                    first_child: &forest.first_child,
                    first,
                    count,
                    first_parent,
                    edge,
                };
                Host.bin_children(&set, above, children)
            }
        }
        .expect("memory");
        let leaf_pairs = (0..count)
            .filter(|&row| forest.is_leaf((first + row) as u32))
            .map(|row| bins.of(row).len() as u64)
            .sum();
        found.push(Level {
            blocks: count as u64,
            pairs: bins.facets.len() as u64,
            leaf_pairs,
        });
        (first_parent, first) = (first, first + count);
        above = Some(bins);
    }
    found
}

/// Bytes of each of [`STAGES`].
fn bytes(surface: &Snapped<3>, mesh: &Mesh<3>, layers: u64) -> [u64; 5] {
    let levels = levels(surface, mesh);
    let facets = surface.facets.len() as u64;
    let (mut bins, mut voxelize, mut refine, mut links) = (0, 0, 0, 0);
    for (i, level) in levels.iter().enumerate() {
        let (blocks, pairs) = (level.blocks, level.pairs);
        // The parents' lists and their facets; blocks' coordinates and parents; then
        // lengths and lists written in parts, read, and put together.
        let from = i.checked_sub(1).map_or(facets, |up| levels[up].pairs);
        bins += FACET * from + 16 * blocks + 3 * 4 * (blocks + pairs);
        // Start, coordinate, parent, its anchor; facets; mask and eight anchors written.
        voxelize += (4 + 12 + 4 + 4) * blocks + FACET * pairs + (8 + 32) * blocks;
        if i + 1 < levels.len() {
            // Marks: list starts, then for every layer a copy of the marks, the
            // neighbours and the mask; closing and choosing reads marks and children.
            refine += 5 * blocks + layers * (2 + NEIGHBORS + 8) * blocks + 2 * 5 * blocks;
        }
        if i > 0 {
            // New blocks: coordinate, level, parent, children, list, classes and link row;
            // neighbours made empty, then written; the parent's and their children read once.
            refine += (12 + 1 + 4 + 4 + 4 + 16 + 4) * blocks;
            refine += 2 * NEIGHBORS * blocks + (4 * 27 + 4 * 27) * blocks / 8;
        }
        // Ghosts and interfaces: neighbours read, two masks written.
        refine += (NEIGHBORS + 16) * blocks;
        links += (4 + 4) * blocks + FACET * level.leaf_pairs;
    }
    // Cells and links written in parts, read, and put together.
    links += 3 * (8 * mesh.links.cells.len() + 6 * mesh.links.q.len()) as u64;
    // Corners in, a key and a number a facet sorted in one pass, corners out.
    let upload = facets * (36 + 2 * 16 + 36);
    [upload, bins, voxelize, refine, links]
}

/// Time to copy a quarter of a gigabyte on all threads, and to write as much fresh memory.
fn copy(start: Instant) -> (Time, Time) {
    let before = Time::now(start);
    let from: Vec<u64> = (0..1 << 25).into_par_iter().collect();
    let fresh = Time::now(start).after(before);
    let mut to = vec![1u64; 1 << 25];
    let best = (0..5).fold(Time::WORST, |best, _| {
        let before = Time::now(start);
        to.par_chunks_mut(1 << 16)
            .zip(from.par_chunks(1 << 16))
            .for_each(|(to, from)| to.copy_from_slice(from));
        best.min(Time::now(start).after(before))
    });
    (best, fresh)
}

fn main() {
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    let levels = given.first().copied().unwrap_or(2);
    let repeat = given.get(1).copied().unwrap_or(1);
    let torus = Shape3::Torus {
        major: 0.25,
        minor: 0.1,
    };
    let mut surface = torus.surface(1.2e-5).expect("a torus");
    for v in &mut surface.vertices {
        *v = v.map(|x| x + 0.5);
    }
    let frame = Frame::new([0.0; 3], 1.0 / 64.0, [64; 3]).expect("a box");
    let params = EmbedParams::new(levels, 0.05, Fill::NonZero);
    let snapped = snap(&surface, frame.lattice(levels)).expect("inside");
    let start = Instant::now();
    let (mut best, mut copied, mut fresh) = ([Time::WORST; 5], Time::WORST, Time::WORST);
    let mut mesh = None;
    for _ in 0..repeat.max(1) {
        let (warm, cold) = copy(start);
        (copied, fresh) = (copied.min(warm), fresh.min(cold));
        let mut times = Times::new(start);
        mesh = Some(embed(&Host, &snapped, frame, &params, &mut times).expect("memory"));
        for (best, time) in best.iter_mut().zip(times.stages) {
            *best = best.min(time);
        }
    }
    let mesh = mesh.expect("at least one run");
    let layers = u64::from(fluid_layers(params.wall_distance, frame.dx));
    let limit = 2.0 * 8.0 * f64::from(1 << 25) / copied.processor;
    let threads = rayon::current_num_threads();
    println!("{threads} threads, {} blocks", mesh.forest.blocks());
    let row = |name: &str, time: Time, bytes: f64| {
        let (clock, ms) = (time.clock * 1e3, time.processor * 1e3);
        let (mb, rate) = (bytes / 1e6, bytes / time.processor);
        let (gb, share) = (rate / 1e9, 100.0 * rate / limit);
        println!(
            "| {name} | {clock:.1} ms | {ms:.1} ms | {mb:.0} MB | {gb:.1} GB/s | {share:.0} % |"
        );
    };
    row("copy", copied, 16.0 * f64::from(1 << 25));
    row("fresh memory", fresh, 8.0 * f64::from(1 << 25));
    let bytes = bytes(&snapped, &mesh, layers);
    for (i, stage) in STAGES.iter().enumerate() {
        let name = format!("{stage:?}").to_lowercase();
        row(&name, best[i], bytes[i] as f64);
    }
}
