//! One case: its surface prepared as in `cutlink mesh`, then embedded repeatedly.

use crate::bench::bytes::{STAGES, bytes};
use crate::bench::cases::{Case, add_bumps};
use crate::bench::report::{CaseReport, Copy, Spread, StageReport, StageTimes};
use crate::console::Console;
use cutlink::device::{Opened, on};
use cutlink::estimate::memory;
use cutlink::mesh::build::stage_name;
use cutlink::mesh::domain::{self, Domain};
use cutlink::mesh::gate;
use cutlink::mesh::resolve::{self, Job, Source};
use cutlink::mesh::source::{self, Shape, Sketch};
use cutlink::{Error, Observer as _};
use cutlink_amr::dims;
use cutlink_device::{Backend, DeviceError, Memory};
use cutlink_mesher::Surface;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::health::{self, Health};
use cutlink_mesher::primitives::AnyShape;
use cutlink_mesher::read::{AnySurface, Loaded, read_all};
use cutlink_mesher::snap::Snapped;
use cutlink_mesher::split::split;
use cutlink_voxelizer::kernels::MeshKernels;
use cutlink_voxelizer::{
    EmbedParams, Frame, Mesh, Stage, StageObserver, check_levels, embed, prepare,
};
use std::time::Instant;

/// Runs before the measured ones.
pub(super) const WARM_UP: u32 = 3;
/// Maximum number of times a surface is read and snapped: large ones take seconds.
const READS: u32 = 3;

/// What all cases of a bench share.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bench<'a> {
    pub(super) opened: &'a Opened,
    pub(super) runs: u32,
    pub(super) console: &'a Console,
}

/// A placed surface, with its health report before placement.
struct PlacedSurface<const D: usize> {
    surface: Surface<D>,
    health: Health<D>,
    read_ms: f64,
}

/// A surface ready for embedding.
struct Ready<const D: usize> {
    name: String,
    surface: String,
    split: u32,
    facets: usize,
    snapped: Snapped<D>,
    frame: Frame<D>,
    params: EmbedParams,
    read_ms: f64,
    snap_ms: f64,
}

/// Times of one embedding.
struct RunTimes {
    wall: f64,
    /// Seconds of each of [`STAGES`].
    stages: [f64; 5],
    launches: [Option<u64>; 5],
}

impl RunTimes {
    fn new() -> Self {
        Self {
            wall: 0.0,
            stages: [0.0; 5],
            launches: [None; 5],
        }
    }

    /// Bins to links.
    fn sum(&self) -> f64 {
        self.stages[1..].iter().sum()
    }
}

fn at(stage: Stage) -> usize {
    let at = STAGES.iter().position(|&s| s == stage);
    at.expect("every stage should be listed")
}

impl StageObserver for RunTimes {
    fn stage_done(&mut self, stage: Stage, _: usize, seconds: f64) {
        self.stages[at(stage)] += seconds;
    }

    fn stage_launched(&mut self, stage: Stage, launches: u64) {
        *self.launches[at(stage)].get_or_insert(0) += launches;
    }
}

/// The job of a case; it writes nothing.
pub(super) fn job(case: &Case) -> Result<Job, Error> {
    resolve::resolve(&case.options)
}

impl Bench<'_> {
    /// Measures a case.
    pub(super) fn case(&self, case: &Case, copy: &Copy) -> Result<CaseReport, Error> {
        let job = job(case)?;
        match &job.source {
            Source::Files(paths) => {
                let (read_ms, any) = median_of(|| Ok(read_all(paths)?))?;
                match any {
                    AnySurface::D2(loaded) => self.file(case, &job, loaded, read_ms, copy),
                    AnySurface::D3(loaded) => self.file(case, &job, loaded, read_ms, copy),
                }
            }
            Source::Shape(AnyShape::D2(shape)) => self.shape(case, &job, shape, copy),
            Source::Shape(AnyShape::D3(shape)) => self.shape(case, &job, shape, copy),
            Source::Memory => Err(Error::input("a case must name its surface")),
        }
    }

    fn file<const D: usize>(
        &self,
        case: &Case,
        job: &Job,
        loaded: Loaded<D>,
        read_ms: f64,
        copy: &Copy,
    ) -> Result<CaseReport, Error>
    where
        Facet<D>: Exact<D>,
    {
        let Loaded {
            mut surface,
            report,
        } = loaded;
        let (health, _) = source::health_of(&mut surface, &report);
        let affine = job.placement.resolve_surface(&surface)?;
        affine.apply_surface(&mut surface);
        let domain = choose(job, surface.bounds().unwrap_or([[0.0; D]; 2]))?;
        let made = PlacedSurface {
            surface,
            health,
            read_ms,
        };
        self.surface(case, job, made, &domain, copy)
    }

    fn shape<const D: usize, S: Shape<D>>(
        &self,
        case: &Case,
        job: &Job,
        shape: &S,
        copy: &Copy,
    ) -> Result<CaseReport, Error>
    where
        Facet<D>: Exact<D>,
    {
        let (sketch, bounds) = Sketch::new(shape, &job.placement)?;
        let domain = choose(job, bounds)?;
        let deviation = source::deviation(job, domain.frame.dx_at(job.levels - 1));
        let (read_ms, mut surface) = median_of(|| sketch.surface(deviation))?;
        if case.bumps {
            add_bumps(&mut surface);
        }
        let health = health::check(&surface);
        sketch.affine.apply_surface(&mut surface);
        let made = PlacedSurface {
            surface,
            health,
            read_ms,
        };
        self.surface(case, job, made, &domain, copy)
    }

    fn surface<const D: usize>(
        &self,
        case: &Case,
        job: &Job,
        made: PlacedSurface<D>,
        domain: &Domain<D>,
        copy: &Copy,
    ) -> Result<CaseReport, Error>
    where
        Facet<D>: Exact<D>,
    {
        let name = job.name();
        let placed = match case.split {
            1 => made.surface,
            parts => {
                split(&made.surface, parts).map_err(|e| Error::input(format!("{name}: {e}")))?
            }
        };
        let frame = domain.frame;
        gate::check_inside(
            &name,
            placed.bounds().unwrap_or([[0.0; D]; 2]),
            &frame,
            [false; 3],
        )?;
        let params = job.params::<D>(job.wall_distance_in(domain), &placed.patches)?;
        on!(self.opened, kernels => {
            memory::levels(kernels, &placed, frame, params.clone(), None, 1)
        })?;
        let (snap_ms, (snapped, _)) =
            median_of(|| Ok(prepare(&cutlink_device::Host, &placed, &frame, &params)?))?;
        gate::check_closed(&name, &made.health, &snapped, &params)?;
        let ready = Ready {
            name: match case.name.as_str() {
                "" => name.clone(),
                of_case => of_case.to_owned(),
            },
            surface: name,
            split: case.split,
            facets: placed.facets.len(),
            snapped,
            frame,
            params,
            read_ms: made.read_ms,
            snap_ms,
        };
        drop(placed);
        on!(self.opened, kernels => self.embed(kernels, &ready, copy))
    }

    /// Embeds repeatedly; each mesh is dropped before the next, so that its memory is reused.
    fn embed<const D: usize, K: MeshKernels<D>>(
        &self,
        kernels: &K,
        ready: &Ready<D>,
        copy: &Copy,
    ) -> Result<CaseReport, Error>
    where
        Facet<D>: Exact<D>,
    {
        let mut console = self.console.clone();
        console.begin(u64::from(WARM_UP + self.runs));
        console.advance(0, &ready.name);
        let mut peak = 0;
        let mut laps = Vec::with_capacity(self.runs as usize);
        let mut last = None;
        for run in 0..WARM_UP + self.runs {
            drop(last.take());
            kernels.reset_peak();
            let (mesh, lap) = once(kernels, ready)?;
            // The query costs time, and the peak is the same in each run.
            if run < WARM_UP {
                peak = kernels.peak_bytes();
            } else {
                laps.push(lap);
            }
            last = Some(mesh);
            console.advance(1, &ready.name);
        }
        console.end();
        let mesh = last.expect("there should be a run").download(kernels)?;
        let moved = bytes(&ready.snapped, &mesh, &ready.params)?;
        Ok(describe(ready, &mesh, &laps, moved, peak, copy))
    }
}

fn choose<const D: usize>(job: &Job, bounds: domain::BoxBounds<D>) -> Result<Domain<D>, Error> {
    let domain = domain::choose(bounds, job.domain.as_deref(), &job.root, job.snap_domain)
        .map_err(|e| e.about(&job.name()))?;
    check_levels(&domain.frame, job.levels)?;
    Ok(domain)
}

fn once<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    ready: &Ready<D>,
) -> Result<(Mesh<D, K>, RunTimes), Error> {
    let mut lap = RunTimes::new();
    let begin = Instant::now();
    let mesh = embed(
        kernels,
        &ready.snapped,
        ready.frame,
        &ready.params,
        &mut lap,
    )?;
    wait(kernels)?;
    lap.wall = begin.elapsed().as_secs_f64();
    Ok((mesh, lap))
}

fn wait<B: Backend>(backend: &B) -> Result<(), DeviceError> {
    let now = backend.stamp()?;
    backend.seconds(&now, &now).map(drop)
}

/// The median time of the repetitions in milliseconds, and the result of the last one.
fn median_of<T>(mut work: impl FnMut() -> Result<T, Error>) -> Result<(f64, T), Error> {
    let mut times = Vec::new();
    loop {
        let begin = Instant::now();
        let made = work()?;
        times.push(begin.elapsed().as_secs_f64());
        if times.len() >= READS as usize {
            return Ok((Spread::of(times).median, made));
        }
    }
}

/// Copies memory of a backend to itself.
pub(super) struct Copier<B: Backend> {
    backend: B,
    from: B::Buf<u32>,
    to: B::Buf<u32>,
}

impl<B: Backend> Copier<B> {
    pub(super) fn new(backend: &B) -> Result<Self, DeviceError> {
        // Larger than any cache.
        let most = match B::MEMORY {
            Memory::Host => 1 << 28,
            Memory::Device => 1 << 30,
        };
        let bytes = most.min(backend.free_bytes() / 8);
        let items = (bytes / 4) as usize;
        Ok(Self {
            backend: backend.clone(),
            from: backend.alloc("a copy", items, 1u32)?,
            to: backend.alloc("a copy", items, 2u32)?,
        })
    }

    /// Bytes read and written by a copy.
    pub(super) fn bytes(&self) -> u64 {
        2 * 4 * B::len(&self.from) as u64
    }

    /// Seconds of a copy.
    pub(super) fn once(&mut self) -> Result<f64, DeviceError> {
        let begin = self.backend.stamp()?;
        self.backend.copy(&self.from, &mut self.to)?;
        let end = self.backend.stamp()?;
        self.backend.seconds(&begin, &end)
    }

    /// The bandwidth, from the median of `runs` runs.
    pub(super) fn measure(&mut self, runs: u32) -> Result<Copy, DeviceError> {
        for _ in 0..WARM_UP {
            self.once()?;
        }
        let times = (0..runs).map(|_| self.once());
        let ms = Spread::of(times.collect::<Result<_, _>>()?);
        Ok(Copy {
            bytes: self.bytes(),
            bytes_per_second: self.bytes() as f64 / (1e-3 * ms.median),
            ms,
        })
    }
}

/// The copy bandwidth of the memory.
pub(super) fn copy<B: Backend>(backend: &B, runs: u32) -> Result<Copy, DeviceError> {
    Copier::new(backend)?.measure(runs)
}

fn describe<const D: usize>(
    ready: &Ready<D>,
    mesh: &Mesh<D>,
    laps: &[RunTimes],
    moved: [u64; 5],
    peak_bytes: u64,
    copy: &Copy,
) -> CaseReport {
    let spread = |of: &dyn Fn(&RunTimes) -> f64| Spread::of(laps.iter().map(of).collect());
    let stages = STAGES.iter().enumerate().map(|(i, &stage)| {
        let ms = spread(&|lap: &RunTimes| lap.stages[i]);
        let rate = moved[i] as f64 / (1e-3 * ms.median);
        StageReport {
            stage: stage_name(stage),
            ms,
            bytes: moved[i],
            bytes_per_second: rate,
            of_copy: rate / copy.bytes_per_second,
            launches: laps.last().and_then(|lap| lap.launches[i]),
        }
    });
    let stages: Vec<StageReport> = stages.collect();
    let median = |i: usize| stages[i].ms.median;
    let leaf_blocks: usize = mesh.level_counts().iter().map(|c| c.leaf_blocks).sum();
    let of_a_block = dims::cells(D) as u64;
    let (cells, block_cells) = (
        leaf_blocks as u64 * of_a_block,
        mesh.forest.blocks() as u64 * of_a_block,
    );
    CaseReport {
        name: ready.name.clone(),
        surface: ready.surface.clone(),
        dimensions: D,
        split: ready.split,
        facets: ready.facets,
        levels: ready.params.levels,
        blocks: mesh.forest.blocks(),
        cells,
        block_cells,
        links: mesh.links.len(),
        checksum: format!("{:016x}", mesh.checksum()),
        times_ms: StageTimes {
            read: ready.read_ms,
            snap: ready.snap_ms,
            upload: median(0),
            bins: median(1),
            voxelize: median(2),
            refine: median(3),
            links: median(4),
            sum: spread(&RunTimes::sum),
            wall: spread(&|lap: &RunTimes| lap.wall),
        },
        stages,
        peak_bytes,
        peak_bytes_per_cell: peak_bytes as f64 / cells as f64,
        peak_bytes_per_block_cell: peak_bytes as f64 / block_cells as f64,
    }
}
