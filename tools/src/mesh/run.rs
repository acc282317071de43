//! The stages of `cutlink mesh`, in order: read → health → place → box → snap → gate → embed →
//! write → picture.

use crate::cli::MeshArgs;
use crate::config;
use crate::console::{self, Console};
use crate::device::{Opened, on};
use crate::estimate::{self, room};
use crate::failure::Failure;
use crate::mesh::domain::{self, Domain};
use crate::mesh::intersections::{self, Found};
use crate::mesh::product::IntoAny;
use crate::mesh::report::{self, Device, Report, Times, Written, grouped};
use crate::mesh::resolve::{self, Job, Source};
use crate::mesh::source::{self, Shape, Sketch};
use crate::mesh::{WALL_SHARE, gate, product};
use crate::picture::SliceOptions;
use crate::refine;
use cutlink_device::{Host, memory};
use cutlink_mesher::Surface;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::health::{self, Health};
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::placement::Affine;
use cutlink_mesher::primitives::AnyShape;
use cutlink_mesher::read::{AnySurface, Loaded, ReadReport, read_any};
use cutlink_mesher::snap::Snapped;
use cutlink_voxelizer::{
    EmbedParams, Frame, Mesh, Observer, Stage, check_levels, embed, keep_connected,
    kernels::Kernels, prepare, thin,
};
use std::path::Path;
use std::time::Instant;

/// What a run is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    /// A mesh.
    Mesh,
    /// The estimate of one, or of the finest that fits into so many bytes.
    Estimate {
        /// The bytes.
        memory: Option<u64>,
    },
}

/// A run under way.
pub(super) struct Run<'a> {
    pub(super) job: &'a Job,
    opened: &'a Opened,
    args: &'a MeshArgs,
    goal: Goal,
    /// Those of the job, or as many of them as fit.
    levels: usize,
    pub(super) console: Console,
    began: Instant,
    times: Times,
    notes: Vec<String>,
}

/// A surface in its own frame, with its health.
struct Loading<const D: usize> {
    surface: Surface<D>,
    health: Health<D>,
    report: Option<ReadReport>,
}

/// All that the embedding needs.
pub(super) struct Prepared<const D: usize> {
    pub(super) health: Health<D>,
    pub(super) read: Option<ReadReport>,
    pub(super) patches: Vec<String>,
    pub(super) affine: Affine<D>,
    pub(super) domain: Domain<D>,
    pub(super) params: EmbedParams,
    pub(super) deviation: Option<f64>,
    pub(super) snapped: Snapped<D>,
    pub(super) intersections: Option<Found<D>>,
}

impl<'a> Run<'a> {
    fn new(
        job: &'a Job,
        opened: &'a Opened,
        args: &'a MeshArgs,
        console: Console,
        goal: Goal,
    ) -> Self {
        Self {
            job,
            opened,
            args,
            goal,
            levels: job.levels,
            console,
            began: Instant::now(),
            times: Times::default(),
            notes: Vec::new(),
        }
    }

    /// Does the job on the current thread pool.
    pub(super) fn go(mut self) -> Result<(), Failure> {
        let job = self.job;
        match &job.source {
            Source::File(path) => match self.read(path)? {
                AnySurface::D2(loaded) => self.mesh_file(loaded),
                AnySurface::D3(loaded) => self.mesh_file(loaded),
            },
            Source::Shape(AnyShape::D2(shape)) => self.mesh_shape(shape),
            Source::Shape(AnyShape::D3(shape)) => self.mesh_shape(shape),
        }
    }

    fn read(&mut self, path: &Path) -> Result<AnySurface, Failure> {
        let begin = Instant::now();
        let any = read_any(path)?;
        self.times.read = ms(begin);
        Ok(any)
    }

    fn note(&mut self, note: String) {
        self.console.note(&note);
        self.notes.push(note);
    }

    fn mesh_file<const D: usize>(mut self, loaded: Loaded<D>) -> Result<(), Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
        Mesh<D>: IntoAny,
    {
        let Loaded {
            mut surface,
            report,
        } = loaded;
        let begin = Instant::now();
        let (health, welded) = source::health_of(&mut surface, &report);
        self.times.health = ms(begin);
        for note in report.notes.iter().cloned().chain(welded) {
            self.note(note);
        }
        let loading = Loading {
            surface,
            health,
            report: Some(report),
        };
        let affine = self.job.placement.resolve_surface(&loading.surface)?;
        let mut placed = loading.surface.clone();
        affine.apply_surface(&mut placed);
        let bounds = placed.bounds().unwrap_or([[0.0; D]; 2]);
        let domain = self.domain(bounds)?;
        self.mesh(loading, placed, affine, domain, None)
    }

    fn mesh_shape<const D: usize, S: Shape<D>>(mut self, shape: &S) -> Result<(), Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
        Mesh<D>: IntoAny,
    {
        let begin = Instant::now();
        let placement = &self.job.placement;
        let (sketch, bounds) = Sketch::new(shape, placement)?;
        let domain = self.domain(bounds)?;
        let deviation = source::deviation(self.job, domain.frame.dx_at(self.job.levels - 1));
        let surface = sketch.surface(deviation)?;
        self.times.read = ms(begin);
        let begin = Instant::now();
        let loading = Loading {
            health: health::check(&surface),
            surface,
            report: None,
        };
        self.times.health = ms(begin);
        let affine = placement.resolve_surface(&loading.surface)?;
        let mut placed = loading.surface.clone();
        affine.apply_surface(&mut placed);
        self.mesh(loading, placed, affine, domain, Some(deviation))
    }

    fn domain<const D: usize>(&self, bounds: domain::Bounds<D>) -> Result<Domain<D>, Failure> {
        let domain = domain::choose(bounds, self.job.domain.as_deref(), &self.job.root)
            .map_err(|e| e.about(&self.job.name()))?;
        check_levels(&domain.frame, self.job.levels)?;
        Ok(domain)
    }

    fn mesh<const D: usize>(
        mut self,
        loading: Loading<D>,
        placed: Surface<D>,
        affine: Affine<D>,
        domain: Domain<D>,
        deviation: Option<f64>,
    ) -> Result<(), Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
        Mesh<D>: IntoAny,
    {
        let wall_distance = self.job.wall_distance_in(&domain);
        if let Some(path) = &self.args.write_config {
            let cells = domain.frame.root_cells;
            let options = self
                .job
                .to_options(domain.bounds, cells, wall_distance, deviation);
            return write_config(path, &config::write(&options)?, self.args.force);
        }
        if let Goal::Estimate { memory } = self.goal {
            let asked = estimate::Asked {
                name: self.job.name(),
                input_bytes: loading.report.as_ref().map_or(0, |r| r.bytes),
                levels: self.job.levels,
                memory,
                max_cells: self.job.max_cells,
            };
            let params = self.params::<D>(wall_distance, &placed.patches)?;
            let device = Device::new(&self.job.selected, self.opened);
            let console = &self.console;
            return on!(self.opened, kernels => {
                estimate::tell(kernels, &asked, &placed, domain.frame, params, &device, console)
            });
        }
        self.fit(&placed, &domain.frame, wall_distance)?;
        let prepared = self.prepare(loading, placed, affine, domain, wall_distance, deviation)?;
        let device = Device::new(&self.job.selected, self.opened);
        let mut report = product::plan(self.job, &prepared, device);
        self.console.summary(&report.plan())?;
        if !self.args.dry_run {
            let mesh = self.build(&prepared)?;
            self.describe(&mut report, &mesh, prepared.snapped.caps > 0);
            self.write(&mut report, &prepared, mesh)?;
        }
        self.finish(report)
    }

    fn params<const D: usize>(
        &self,
        wall_distance: f64,
        patches: &[String],
    ) -> Result<EmbedParams, Failure> {
        let params = self.job.params::<D>(wall_distance, patches)?;
        Ok(params.with_levels(self.levels))
    }

    /// Drops the levels beyond `--max-cells`, and refuses what will not fit into memory.
    fn fit<const D: usize>(
        &mut self,
        placed: &Surface<D>,
        frame: &Frame<D>,
        wall_distance: f64,
    ) -> Result<(), Failure>
    where
        Facet<D>: Exact<D>,
    {
        let params = self.params::<D>(wall_distance, &placed.patches)?;
        let (levels, note) = on!(self.opened, kernels => {
            room::levels(kernels, placed, *frame, params, self.job.max_cells)
        })?;
        self.levels = levels;
        if let Some(note) = note {
            self.note(note);
        }
        Ok(())
    }

    fn prepare<const D: usize>(
        &mut self,
        loading: Loading<D>,
        placed: Surface<D>,
        affine: Affine<D>,
        domain: Domain<D>,
        wall_distance: f64,
        deviation: Option<f64>,
    ) -> Result<Prepared<D>, Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        let name = self.job.name();
        let bounds = placed.bounds().unwrap_or([[0.0; D]; 2]);
        let params = self.params::<D>(wall_distance, &placed.patches)?;
        let inside = gate::check_inside(&name, bounds, &domain.frame)?;
        let begin = Instant::now();
        let (snapped, closed) = prepare(&Host, &placed, &domain.frame, &params)?;
        self.times.snap = ms(begin);
        if let Some(note) = closed.and_then(gate::closing) {
            self.note(note);
        }
        let closed = gate::check_closed(&name, &loading.health, &snapped, &params)?;
        for note in closed.into_iter().chain(inside) {
            self.note(note);
        }
        let found = self.intersections(&loading.surface, &affine, &placed, &snapped)?;
        Ok(Prepared {
            health: loading.health,
            read: loading.report,
            patches: loading.surface.patches,
            affine,
            domain,
            params,
            deviation,
            snapped,
            intersections: found,
        })
    }

    /// Looks for facets that intersect one another, where that was asked for.
    fn intersections<const D: usize>(
        &mut self,
        surface: &Surface<D>,
        affine: &Affine<D>,
        placed: &Surface<D>,
        snapped: &Snapped<D>,
    ) -> Result<Option<Found<D>>, Failure>
    where
        Facet<D>: Meet<D>,
    {
        if self.job.targets.intersections.is_none() {
            return Ok(None);
        }
        let begin = Instant::now();
        let found = intersections::find(surface, affine, placed, snapped)?;
        self.times.intersections = ms(begin);
        if let Some(note) = found.report.note() {
            self.note(note);
        }
        Ok(Some(found))
    }

    /// Builds the mesh on the run's device; the host's copy of it.
    fn build<const D: usize>(&mut self, prepared: &Prepared<D>) -> Result<Mesh<D>, Failure>
    where
        Facet<D>: Exact<D>,
    {
        let mut mesh = match self.opened {
            Opened::Cpu => self.embed(&Host, prepared)?,
            #[cfg(feature = "cuda")]
            Opened::Cuda(cuda) => {
                let mesh = self.embed(cuda, prepared)?;
                let begin = Instant::now();
                let copy = mesh.download(cuda)?;
                self.times.download = ms(begin);
                copy
            }
        };
        self.keep_seed(&mut mesh)?;
        Ok(mesh)
    }

    fn embed<const D: usize, K: Kernels<D>>(
        &mut self,
        kernels: &K,
        prepared: &Prepared<D>,
    ) -> Result<Mesh<D, K>, Failure> {
        let levels = prepared.params.levels;
        self.console.start((0..levels).map(|l| 4 * weight(l)).sum());
        let mut watch = Watch {
            console: &self.console,
            times: &mut self.times,
            laps: Vec::new(),
        };
        let frame = prepared.domain.frame;
        let mesh = embed(
            kernels,
            &prepared.snapped,
            frame,
            &prepared.params,
            &mut watch,
        );
        let laps = watch.laps;
        self.console.finish();
        let mesh = mesh?;
        if self.console.verbose() {
            for (stage, level, seconds) in laps {
                let stage = stage_name(stage);
                self.console
                    .note(&format!("level {level}: {stage} {:.3} ms", 1e3 * seconds));
            }
        }
        Ok(mesh)
    }

    /// Drops the fluid that is not connected to `--seed`.
    fn keep_seed<const D: usize>(&mut self, mesh: &mut Mesh<D>) -> Result<(), Failure> {
        let Some(point) = &self.job.seed else {
            return Ok(());
        };
        let point: [f64; D] = point.as_slice().try_into().map_err(|_| {
            Failure::usage(format!(
                "--seed has {} numbers, and the surface is {D}D",
                point.len()
            ))
        })?;
        let kept = keep_connected(mesh, point)?;
        self.note(format!(
            "{} fluid cells are connected to the seed; {} others became solid",
            grouped(kept.fluid),
            grouped(kept.dropped)
        ));
        Ok(())
    }

    /// What the links say that the user should know: links at gaps, and thin parts.
    fn look_at_links<const D: usize>(&mut self, mesh: &Mesh<D>, gap: bool) -> (u64, report::Thin) {
        let mut links = 0;
        if gap && let (Some(count), Some(name)) = (mesh.patch_links().pop(), mesh.patches.last()) {
            links = count;
            self.note(format!(
                "{} links lead into the body where no facet is: cut halfway, patch \"{name}\"",
                grouped(links)
            ));
        }
        let thin = thin(mesh);
        if thin.cells > 0 {
            let mut note = format!(
                "the body is thinner than a cell at {} cells in {} places ({} links have fluid at \
                 both ends); the largest:",
                grouped(thin.cells),
                grouped(thin.places.len() as u64),
                grouped(thin.links)
            );
            for place in thin.places.iter().take(3) {
                let [lower, upper] = place.bounds.map(|p| report::point(&p));
                note += &format!(" {} cells in {lower} to {upper};", grouped(place.cells));
            }
            self.note(note.trim_end_matches(';').to_owned());
        }
        (links, thin.into())
    }

    fn describe<const D: usize>(&mut self, report: &mut Report, mesh: &Mesh<D>, gap: bool) {
        report.levels = mesh
            .level_counts()
            .into_iter()
            .map(report::Level::from)
            .collect();
        let sum = |of: fn(&report::Counts) -> u64| {
            let each = |l: &report::Level| l.counts.as_ref().map_or(0, of);
            report.levels.iter().map(each).sum::<u64>()
        };
        let (fluid, boundary, solid) = (sum(|c| c.fluid), sum(|c| c.boundary), sum(|c| c.solid));
        if solid == 0 {
            self.note(
                "no cell centre lies inside the body: it is thinner than the finest cells, and only \
                 its cut links are there"
                    .into(),
            );
        }
        let (gap_links, thin) = self.look_at_links(mesh, gap);
        if fluid + boundary == 0 {
            self.note("every cell is solid: the box lies inside the body".into());
        }
        report.built = Some(report::Built {
            blocks: mesh.forest.blocks(),
            cells: fluid + boundary + solid,
            solid_finest: mesh.solid_at(self.levels - 1),
            links: mesh.links.len(),
            boundary_cells: boundary,
            gap_links,
            thin,
            checksum: format!("{:016x}", mesh.checksum()),
        });
    }

    fn write<const D: usize>(
        &mut self,
        report: &mut Report,
        prepared: &Prepared<D>,
        mesh: Mesh<D>,
    ) -> Result<(), Failure>
    where
        Mesh<D>: IntoAny,
    {
        let targets = &self.job.targets;
        let begin = Instant::now();
        let extra = product::metadata(self.job, report);
        let bytes = product::write_mesh(&mesh, &extra, &targets.mesh, targets.force)?;
        self.times.write = ms(begin);
        let path = targets.mesh.clone();
        report.files.insert("mesh", Written { path, bytes });
        if let (Some(path), Some(found)) = (&targets.intersections, &prepared.intersections)
            && let Some(bytes) = intersections::write(&found.facets, path, targets.force)?
        {
            let path = path.clone();
            report
                .files
                .insert("intersections", Written { path, bytes });
        }
        if let Some(path) = &targets.picture {
            let begin = Instant::now();
            let slice = SliceOptions::default();
            let bytes = product::write_picture(&mesh.into_any(), &slice, path, targets.force)?;
            self.times.picture = ms(begin);
            let path = path.clone();
            report.files.insert("picture", Written { path, bytes });
        }
        Ok(())
    }

    fn finish(self, mut report: Report) -> Result<(), Failure> {
        report.times_ms = Times {
            total: ms(self.began),
            ..self.times
        };
        report.dry_run = self.args.dry_run;
        report.peak_rss_bytes = memory::peak_resident();
        report.device.peak_bytes = self.opened.peak_bytes();
        report.notes = self.notes;
        self.console.summary(&report.result())?;
        self.console.object(&report)
    }
}

impl Job {
    /// The near-wall distance in a box.
    pub(crate) fn wall_distance_in<const D: usize>(&self, domain: &Domain<D>) -> f64 {
        let [lower, upper] = domain.bounds;
        let longest = (0..D).map(|a| upper[a] - lower[a]).fold(0.0, f64::max);
        self.wall_distance.unwrap_or(WALL_SHARE * longest)
    }

    /// What the embedding is told.
    pub(crate) fn params<const D: usize>(
        &self,
        wall_distance: f64,
        patches: &[String],
    ) -> Result<EmbedParams, Failure> {
        let mut params = EmbedParams::new(self.base_levels, wall_distance, self.solid_rule());
        params.robust = self.robust;
        refine::apply::<D>(&self.refine, params, patches)
    }

    /// The surface, as messages name it.
    pub fn name(&self) -> String {
        match &self.source {
            Source::File(path) => path.display().to_string(),
            Source::Shape(shape) => format!("shape {shape}"),
        }
    }
}

/// Does what `cutlink mesh` was asked for.
pub(crate) fn run(args: &MeshArgs, console: Console, goal: Goal) -> Result<(), Failure> {
    let mut job = resolve::resolve(args)?;
    crate::in_pool(job.threads, || {
        let opened = Opened::open(job.device.0, &mut job.selected)?;
        Run::new(&job, &opened, args, console, goal).go()
    })
}

fn write_config(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    use std::io::Write as _;
    if path == Path::new("-") {
        return console::print(text);
    }
    crate::output::check(path, force, None)?;
    crate::output::write(path, force, |out| {
        out.write_all(text.as_bytes())
            .map_err(|e| crate::output::failed(path, &e))
    })
    .map(drop)
}

fn ms(begin: Instant) -> f64 {
    1e3 * begin.elapsed().as_secs_f64()
}

/// Share of a level in the work: surfaces have four times the cells each level.
fn weight(level: usize) -> u64 {
    1 << (2 * level.min(20))
}

pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Upload => "upload",
        Stage::Bins => "bins",
        Stage::Voxelize => "voxelize",
        Stage::Refine => "refine",
        Stage::Links => "links",
    }
}

/// Adds up the times and moves the progress bar.
struct Watch<'a> {
    console: &'a Console,
    times: &'a mut Times,
    laps: Vec<(Stage, usize, f64)>,
}

impl Observer for Watch<'_> {
    fn stage_done(&mut self, stage: Stage, level: usize, seconds: f64) {
        let sum = match stage {
            Stage::Upload => &mut self.times.upload,
            Stage::Bins => &mut self.times.bins,
            Stage::Voxelize => &mut self.times.voxelize,
            Stage::Refine => &mut self.times.refine,
            Stage::Links => &mut self.times.links,
        };
        *sum += 1e3 * seconds;
        self.laps.push((stage, level, seconds));
        self.console.step(weight(level));
        self.console
            .working_on(format!("level {level}, {} done", stage_name(stage)));
    }
}
