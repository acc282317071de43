//! From a job to its mesh, stage by stage: read → health → place → box → snap → gate → embed.
//!
//! In: a [`Job`] and an opened device. Out: a surface in its box ([`Placed`]), snapped and checked ([`Prepared`]), and
//! the mesh in host memory; also the notes for the user and the time of each stage. The mesh is bit-identical for any
//! number of threads and on any device.

use crate::compiled::compiled;
use crate::estimate::memory;
use crate::mesh::domain::{self, Domain};
use crate::mesh::intersections::{self, Found};
use crate::mesh::report::{PatchArea, Times, counted, point as place};
use crate::mesh::resolve::{self, Job, Source};
use crate::mesh::source::{self, Shape, Sketch};
use crate::mesh::{WALL_SHARE, gate};
use crate::options::{MeshOptions, Root};
use crate::polymesh::ZoneSurface;
use crate::refine;
use cutlink_common::{
    Error, Observer,
    device::{Opened, Opening, on},
};
use cutlink_device::Host;
use cutlink_hex::polymesh::word;
use cutlink_mesher::Surface;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::health::{self, Health};
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::placement::Affine;
use cutlink_mesher::primitives::AnyShape;
use cutlink_mesher::read::{AnySurface, Loaded, ReadReport, read_all};
use cutlink_mesher::robust::{RobustReport, first_gap};
use cutlink_mesher::snap::Snapped;
use cutlink_mpi::World;
use cutlink_voxelizer::{
    EmbedParams, Fill, Frame, Gap, Mesh, MeshCounts, Reach, SeedError, Spots, Stage, StageObserver,
    WallRule, check_levels, check_periodic, embed, finest_reach, keep_connected, keep_sheltered,
    kernels::MeshKernels, prepare, tell_gaps_apart,
};
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// Closed holes that a note lists.
const SHOWN_HOLES: usize = 6;

/// A surface, in its own frame and placed in its box.
#[derive(Debug)]
#[non_exhaustive]
pub struct Placed<const D: usize> {
    /// In its own frame.
    pub surface: Surface<D>,
    /// Its health report.
    pub health: Health<D>,
    /// How its file was read.
    pub read: Option<ReadReport>,
    /// From its own frame to that of the box.
    pub affine: Affine<D>,
    /// In the frame of the box, in metres.
    pub placed: Surface<D>,
    /// The box and its root grid.
    pub domain: Domain<D>,
    /// Distance from the surface up to which cells are refined, in metres.
    pub wall_distance: f64,
    /// Largest distance of a shape's facets from the true surface, in metres.
    pub deviation: Option<f64>,
    /// Cells that rules have found.
    pub spots: Arc<Spots>,
}

/// A placed surface in 2D or 3D.
#[derive(Debug)]
pub enum AnyPlaced {
    /// In 2D.
    D2(Placed<2>),
    /// In 3D.
    D3(Placed<3>),
}

/// The input of the embedding.
#[derive(Debug)]
#[non_exhaustive]
pub struct Prepared<const D: usize> {
    /// The surface's health report.
    pub health: Health<D>,
    /// How its file was read.
    pub read: Option<ReadReport>,
    /// Names of its patches.
    pub patches: Vec<String>,
    /// Area of each patch of the snapped surface, in m² (2D: length in m): as placed, and of the caps of each gap.
    pub areas: Vec<f64>,
    /// From its own frame to that of the box.
    pub affine: Affine<D>,
    /// The box and its root grid.
    pub domain: Domain<D>,
    /// Levels, wall distance, fill rule and refinement.
    pub params: EmbedParams,
    /// Largest distance of a shape's facets from the true surface, in metres.
    pub deviation: Option<f64>,
    /// The surface on the integer lattice.
    pub snapped: Snapped<D>,
    /// The surface as placed, where the walls of a `polyMesh` are moved onto it.
    pub placed: Option<Surface<D>>,
    /// Surfaces of zones of a `polyMesh`.
    pub zones: Vec<ZoneSurface>,
    /// Self-intersections, if they were searched for.
    pub intersections: Option<Found<D>>,
}

/// Builds a mesh in stages: the methods are called in the order in which they are declared.
pub struct Builder<'a> {
    /// The checked job.
    pub job: &'a Job,
    /// Where the mesh is built.
    device: Device<'a>,
    /// Levels: those of the job, or fewer if not all fit.
    pub levels: usize,
    /// Other processes that make parts of the mesh.
    pub(super) world: Option<Arc<World>>,
    /// Receives notes and progress.
    pub observer: &'a mut dyn Observer,
    /// Milliseconds of each stage so far.
    pub times: Times,
    /// All notes so far.
    pub notes: Vec<String>,
    /// Patches of holes that `--close-holes` closed, behind those of the surface.
    pub(crate) gaps: Vec<PatchArea>,
    /// Links that pass facets inside the fluid, each counted from both ends: see [`Fill::passes_facets`].
    pub(super) passed: u64,
}

/// A device that is open, or will be.
#[derive(Debug, Clone, Copy)]
enum Device<'a> {
    Opened(&'a Opened),
    Opening(&'a Opening),
}

impl<const D: usize> Placed<D> {
    /// All options with resolved values.
    pub fn options(&self, job: &Job) -> MeshOptions {
        let Domain { bounds, frame, .. } = &self.domain;
        job.to_options(
            *bounds,
            frame.root_cells,
            self.wall_distance,
            self.deviation,
        )
    }
}

impl fmt::Debug for Builder<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("job", &self.job)
            .field("device", &self.device)
            .field("levels", &self.levels)
            .field("times", &self.times)
            .field("notes", &self.notes)
            .finish_non_exhaustive()
    }
}

impl<'a> Builder<'a> {
    /// A builder before its first stage.
    pub fn new(job: &'a Job, opened: &'a Opened, observer: &'a mut dyn Observer) -> Self {
        Self::on(job, Device::Opened(opened), observer)
    }

    /// A builder whose first stages run while the device opens.
    pub fn opening(job: &'a Job, opening: &'a Opening, observer: &'a mut dyn Observer) -> Self {
        Self::on(job, Device::Opening(opening), observer)
    }

    fn on(job: &'a Job, device: Device<'a>, observer: &'a mut dyn Observer) -> Self {
        Self {
            job,
            device,
            levels: job.levels,
            world: None,
            observer,
            times: Times::default(),
            notes: Vec::new(),
            gaps: Vec::new(),
            passed: 0,
        }
    }

    /// The device; waits until it is open, which the times count.
    ///
    /// # Errors
    /// As [`Opening::get`].
    pub fn opened(&mut self) -> Result<&'a Opened, Error> {
        match self.device {
            Device::Opened(opened) => Ok(opened),
            Device::Opening(opening) => {
                let begin = Instant::now();
                let made = opening.get();
                self.times.open += ms(begin);
                Ok(&made?.opened)
            }
        }
    }

    /// Passes a note to the observer and stores it.
    pub fn note(&mut self, note: String) {
        self.observer.note(&note);
        self.notes.push(note);
    }

    /// Reads or generates the surface, and chooses the box.
    ///
    /// # Errors
    /// A file that cannot be read, a placement or box that does not fit the surface.
    pub fn place(&mut self) -> Result<AnyPlaced, Error> {
        let job = self.job;
        Ok(match &job.source {
            Source::Files(paths) => {
                let begin = Instant::now();
                let any = read_all(paths)?;
                self.times.read = ms(begin);
                match any {
                    AnySurface::D2(loaded) => AnyPlaced::D2(self.place_file(loaded)?),
                    AnySurface::D3(loaded) => AnyPlaced::D3(self.place_file(loaded)?),
                }
            }
            Source::Shape(AnyShape::D2(shape)) => AnyPlaced::D2(self.place_shape(shape)?),
            Source::Shape(AnyShape::D3(shape)) => AnyPlaced::D3(self.place_shape(shape)?),
            Source::Memory => {
                return Err(Error::input(
                    "this call needs a file or a shape, the options name a \
            surface in memory",
                ));
            }
        })
    }

    fn place_file<const D: usize>(&mut self, loaded: Loaded<D>) -> Result<Placed<D>, Error>
    where
        Facet<D>: Exact<D>,
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
        self.place_checked(surface, health, Some(report))
    }

    /// Places a surface that the caller has in memory, and chooses the box.
    ///
    /// # Errors
    /// A placement or box that does not fit the surface.
    pub fn place_surface<const D: usize>(
        &mut self,
        surface: Surface<D>,
    ) -> Result<Placed<D>, Error> {
        (compiled::<D>().place_surface)(self, surface)
    }

    pub(crate) fn place_surface_here<const D: usize>(
        &mut self,
        surface: Surface<D>,
    ) -> Result<Placed<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let begin = Instant::now();
        let health = health::check(&surface);
        self.times.health = ms(begin);
        self.place_checked(surface, health, None)
    }

    fn place_checked<const D: usize>(
        &mut self,
        surface: Surface<D>,
        health: Health<D>,
        read: Option<ReadReport>,
    ) -> Result<Placed<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let affine = self.job.placement.resolve_surface(&surface)?;
        let mut placed = surface.clone();
        affine.apply_surface(&mut placed);
        let bounds = placed.bounds().unwrap_or([[0.0; D]; 2]);
        let domain = self.domain(bounds)?;
        self.looked_at(Placed {
            wall_distance: self.job.wall_distance_in(&domain),
            surface,
            health,
            read,
            affine,
            placed,
            domain,
            deviation: None,
            spots: Arc::default(),
        })
    }

    fn place_shape<const D: usize, S: Shape<D>>(&mut self, shape: &S) -> Result<Placed<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let begin = Instant::now();
        let placement = &self.job.placement;
        let (sketch, bounds) = Sketch::new(shape, placement)?;
        let domain = self.domain(bounds)?;
        let deviation = source::deviation(self.job, domain.frame.dx_at(self.job.levels - 1));
        let surface = sketch.surface(deviation)?;
        self.times.read = ms(begin);
        let begin = Instant::now();
        let health = health::check(&surface);
        self.times.health = ms(begin);
        let affine = sketch.affine;
        let mut placed = surface.clone();
        affine.apply_surface(&mut placed);
        self.looked_at(Placed {
            wall_distance: self.job.wall_distance_in(&domain),
            surface,
            health,
            read: None,
            affine,
            placed,
            domain,
            deviation: Some(deviation),
            spots: Arc::default(),
        })
    }

    fn domain<const D: usize>(&self, bounds: domain::BoxBounds<D>) -> Result<Domain<D>, Error> {
        let domain = domain::choose(
            bounds,
            self.job.domain.as_deref(),
            &self.job.root,
            self.job.snap_domain,
        )
        .map_err(|e| e.about(&self.job.name()))?;
        check_levels(&domain.frame, self.job.levels)?;
        Ok(domain)
    }

    /// The parameters of the embedding, with the levels that fit.
    ///
    /// # Errors
    /// Rules that name a patch the surface does not have.
    pub fn params<const D: usize>(&self, of: &Placed<D>) -> Result<EmbedParams, Error> {
        (compiled::<D>().params)(self, of)
    }

    pub(crate) fn params_here<const D: usize>(&self, of: &Placed<D>) -> Result<EmbedParams, Error> {
        let params = self.job.params::<D>(of.wall_distance, &of.placed.patches)?;
        let spots = of.spots.clone();
        let params = EmbedParams { spots, ..params };
        let mut params = params.with_levels(self.levels);
        if let Some(size) = self.job.close_holes {
            let finest = of.domain.frame.dx_at(params.levels - 1);
            let reach = Reach::Within(finest_reach(size, finest));
            let walls = params.wall_rules();
            let around = walls.iter().cloned();
            params.walls = around.map(|rule| WallRule { reach, ..rule }).collect();
            params.walls.extend(walls);
        }
        Ok(params)
    }

    /// The rules of a mesh graded by cell: where no distance is given, cells with cut links are fine, and the others as coarse
    /// as they may be.
    ///
    /// # Errors
    /// As [`Self::params`].
    pub fn params_by_cell<const D: usize>(
        &self,
        prepared: &Prepared<D>,
    ) -> Result<EmbedParams, Error> {
        let distance = self.job.wall_distance.unwrap_or(0.0);
        let params = EmbedParams {
            spots: prepared.params.spots.clone(),
            ..self.job.params::<D>(distance, &prepared.patches)?
        };
        Ok(params.with_levels(self.levels))
    }

    /// Drops the levels beyond `--max-cells`; an error if the mesh does not fit into memory.
    fn fit<const D: usize>(&mut self, of: &Placed<D>) -> Result<(), Error>
    where
        Facet<D>: Exact<D>,
    {
        let opened = self.opened()?;
        let begin = Instant::now();
        let params = self.params(of)?;
        let (levels, note) = on!(opened, kernels => {
            memory::levels(kernels, &of.placed, of.domain.frame, params, self.job.max_cells, self.parts())
        })?;
        self.levels = levels;
        self.times.estimate += ms(begin);
        if let Some(note) = note {
            self.note(note);
        }
        Ok(())
    }

    /// Snaps the surface to the lattice of the box, and checks the requirements of the embedding.
    ///
    /// # Errors
    /// A mesh that will not fit into memory, a surface outside the box, one that is open or not consistently oriented.
    pub fn prepare<const D: usize>(&mut self, from: Placed<D>) -> Result<Prepared<D>, Error> {
        (compiled::<D>().prepare)(self, from)
    }

    pub(crate) fn prepare_here<const D: usize>(
        &mut self,
        from: Placed<D>,
    ) -> Result<Prepared<D>, Error>
    where
        Facet<D>: Meet<D> + Exact<D>,
    {
        if D != 3 && self.job.targets.polymesh.is_some() {
            return Err(crate::polymesh::planar());
        }
        if let Some(target) = &self.job.targets.polymesh {
            let patches = &from.placed.patches;
            crate::polymesh::check_types(&target.types, patches, self.job.periodic.0)?;
            let (layers, template) = (&target.layers, target.template.as_ref());
            crate::polymesh::check_layers(layers, template, patches, self.job.periodic.0)?;
        }
        let name = self.job.name();
        let (placed, frame) = (&from.placed, &from.domain.frame);
        let bounds = placed.bounds().unwrap_or([[0.0; D]; 2]);
        let inside = gate::check_inside(&name, bounds, frame, self.job.periodic.0)?;
        // The device may open meanwhile. If not all levels fit, the lattice is a coarser one.
        let mut params = self.params(&from)?;
        let mut snap = self.snap(&from, &params)?;
        self.fit(&from)?;
        if self.levels != params.levels {
            params = self.params(&from)?;
            snap = self.snap(&from, &params)?;
        }
        let (snapped, closed) = snap;
        if let Some(note) = closed.and_then(gate::closing) {
            self.note(note);
        }
        if let Source::Files(files) = &self.job.source
            && files.len() > 1
            && let Some(note) = gate::other_units(placed, frame.dx_at(params.levels - 1))
        {
            self.note(note);
        }
        let closed = gate::check_closed(&name, &from.health, &snapped, &params)?;
        for note in closed.into_iter().chain(inside) {
            self.note(note);
        }
        let zones = self.zones(&from, &params)?;
        let found = self.intersections(&from, &snapped)?;
        let mut areas = from.placed.patch_areas();
        areas.extend(snapped.patch_areas().into_iter().skip(areas.len()));
        Ok(Prepared {
            placed: self.job.targets.snap.then_some(from.placed),
            areas,
            health: from.health,
            read: from.read,
            patches: from.surface.patches,
            affine: from.affine,
            domain: from.domain,
            params,
            deviation: from.deviation,
            snapped,
            zones,
            intersections: found,
        })
    }

    /// Finds the cells that rules leave to the surface, and to files.
    ///
    /// # Errors
    /// As [`refine::spots`], and rules that name a patch the surface does not have.
    fn looked_at<const D: usize>(&mut self, mut at: Placed<D>) -> Result<Placed<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        if self.job.refine.is_empty() {
            return Ok(at);
        }
        let begin = Instant::now();
        let job = self.job;
        let params = self.params(&at)?;
        let health = &at.health;
        let told = health.unbalanced_edges == 0;
        let scene = refine::Scene {
            surface: &at.placed,
            frame: &at.domain.frame,
            periodic: params.periodic_axes(),
            affine: &at.affine,
            sides: refine::sides(job.fill, job.flow, health.inward, told),
        };
        at.spots = Arc::new(refine::spots(&job.refine, scene)?);
        self.times.estimate += ms(begin);
        Ok(at)
    }

    fn snap<const D: usize>(
        &mut self,
        from: &Placed<D>,
        params: &EmbedParams,
    ) -> Result<(Snapped<D>, Option<RobustReport>), Error>
    where
        Facet<D>: Exact<D>,
    {
        let begin = Instant::now();
        let made = prepare(&Host, &from.placed, &from.domain.frame, params)?;
        self.times.snap += ms(begin);
        Ok(made)
    }

    /// Reads the surfaces of zones, places them like the other one, and snaps them to its lattice.
    ///
    /// # Errors
    /// A file that cannot be read, a surface that is not closed, two zones of a name.
    fn zones<const D: usize>(
        &mut self,
        from: &Placed<D>,
        params: &EmbedParams,
    ) -> Result<Vec<ZoneSurface>, Error> {
        let target = self.job.targets.polymesh.as_ref();
        let paths = target.map_or(&[][..], |target| &target.zones);
        let (affine, frame): (&dyn Any, &dyn Any) = (&from.affine, &from.domain.frame);
        let (Some(affine), Some(frame)) = (
            affine.downcast_ref::<Affine<3>>(),
            frame.downcast_ref::<Frame<3>>(),
        ) else {
            return Ok(Vec::new());
        };
        let mut zones: Vec<ZoneSurface> = Vec::new();
        for path in paths {
            let name = path.display().to_string();
            let AnySurface::D3(Loaded {
                mut surface,
                report,
            }) = read_all(std::slice::from_ref(path))?
            else {
                return Err(Error::input(format!("{name} is 2D, and a zone is 3D")));
            };
            let (health, _) = source::health_of(&mut surface, &report);
            affine.apply_surface(&mut surface);
            let closed = EmbedParams {
                periodic: params.periodic,
                ..EmbedParams::new(params.levels, 0.0, Fill::NonZero)
            };
            let (snapped, _) = prepare(&Host, &surface, frame, &closed)?;
            for note in gate::check_closed(&name, &health, &snapped, &closed)? {
                self.note(note);
            }
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            let zone = word(&stem);
            if zones.iter().any(|other| other.name == zone) {
                return Err(Error::input(format!("two zones would be called {zone}"))
                    .hint("zones are named after their files: rename one"));
            }
            zones.push(ZoneSurface {
                name: zone,
                surface: snapped,
            });
        }
        Ok(zones)
    }

    /// Finds self-intersections, if the options request it.
    fn intersections<const D: usize>(
        &mut self,
        of: &Placed<D>,
        snapped: &Snapped<D>,
    ) -> Result<Option<Found<D>>, Error>
    where
        Facet<D>: Meet<D>,
    {
        if self.job.targets.intersections.is_none() {
            return Ok(None);
        }
        let begin = Instant::now();
        let found = intersections::find(&of.surface, &of.affine, &of.placed, snapped)?;
        self.times.intersections = ms(begin);
        if let Some(note) = found.report.note() {
            self.note(note);
        }
        Ok(Some(found))
    }

    /// Builds the mesh on the job's device and returns the host copy.
    ///
    /// # Errors
    /// A device error, or not enough memory.
    pub fn build<const D: usize>(&mut self, prepared: &Prepared<D>) -> Result<Mesh<D>, Error> {
        Ok((compiled::<D>().make)(self, prepared, false)?.0)
    }

    /// The same, with what a report says about the mesh if it was counted on another device than the CPU: where nothing
    /// changes the mesh after its copy to the host.
    ///
    /// # Errors
    /// As [`Self::build`].
    pub fn build_counted<const D: usize>(
        &mut self,
        prepared: &Prepared<D>,
    ) -> Result<(Mesh<D>, Option<MeshCounts<D>>), Error> {
        let is_final = self.job.seed.is_none() && first_gap(&prepared.snapped).is_none();
        (compiled::<D>().make)(self, prepared, is_final)
    }

    #[cfg_attr(
        not(feature = "cuda"),
        expect(
            unused_variables,
            reason = "meshes on the CPU are counted beside their writing"
        )
    )]
    pub(crate) fn make<const D: usize>(
        &mut self,
        prepared: &Prepared<D>,
        count: bool,
    ) -> Result<(Mesh<D>, Option<MeshCounts<D>>), Error>
    where
        Facet<D>: Exact<D>,
    {
        let (mut mesh, counts) = match self.opened()? {
            _ if self.parts() > 1 => (self.in_parts(prepared)?, None),
            Opened::Cpu => (self.embed(&Host, prepared)?, None),
            #[cfg(feature = "cuda")]
            Opened::Cuda(cuda) => {
                let mesh = self.embed(cuda, prepared)?;
                let begin = Instant::now();
                let counts = count.then(|| mesh.counts(cuda)).transpose()?;
                self.times.counts = ms(begin);
                let begin = Instant::now();
                let copy = mesh.download(cuda)?;
                self.times.download = ms(begin);
                (copy, counts)
            }
        };
        tell_gaps_apart(&mut mesh, &prepared.snapped);
        check_periodic(&mesh)?;
        self.keep_seed(&mut mesh, &prepared.affine)?;
        Ok((mesh, counts))
    }

    fn embed<const D: usize, K: MeshKernels<D>>(
        &mut self,
        kernels: &K,
        prepared: &Prepared<D>,
    ) -> Result<Mesh<D, K>, Error> {
        self.begin_stages(prepared.params.levels, 1);
        let mut watch = Watch {
            observer: &mut *self.observer,
            times: &mut self.times,
            passed: &mut self.passed,
        };
        let frame = prepared.domain.frame;
        let begin = Instant::now();
        let mesh = embed(
            kernels,
            &prepared.snapped,
            frame,
            &prepared.params,
            &mut watch,
        );
        self.times.embed = ms(begin);
        self.observer.end();
        Ok(mesh?)
    }

    /// Begins the progress of a mesh of so many levels, in so many parts made here.
    pub(super) fn begin_stages(&mut self, levels: usize, parts: u64) {
        let work: u64 = (0..levels).map(|l| 4 * weight(l)).sum();
        self.observer.begin(parts * work);
    }

    /// Drops the fluid that is not connected to `--seed`; `affine` leads from the file's frame to that of the box.
    fn keep_seed<const D: usize>(
        &mut self,
        mesh: &mut Mesh<D>,
        affine: &Affine<D>,
    ) -> Result<(), Error> {
        let Some(point) = &self.job.seed else {
            return Ok(());
        };
        let point: [f64; D] = point.as_slice().try_into().map_err(|_| {
            Error::input(format!(
                "--seed has {} numbers, but the surface is {D}D",
                point.len()
            ))
        })?;
        let kept = if mesh.fill.is_sheets() {
            let kept = keep_sheltered(mesh, point, self.job.close_holes);
            let kept = kept.map_err(|e| seed_error(&self.job.name(), e, affine))?;
            self.name_gaps(mesh, &kept.gaps);
            kept.kept
        } else {
            keep_connected(mesh, point)?
        };
        self.note(format!(
            "connected to the seed: {}; {} became solid",
            counted(kept.fluid, "fluid cell"),
            counted(kept.dropped, "other fluid cell")
        ));
        Ok(())
    }

    /// Keeps the area of each patch of closed holes for the report; small holes share one.
    fn name_gaps<const D: usize>(&mut self, mesh: &Mesh<D>, gaps: &[Gap]) {
        for gap in gaps {
            let name = &mesh.patches[usize::from(gap.patch)];
            match self.gaps.last_mut().filter(|last| last.name == *name) {
                Some(last) => last.area += gap.area,
                None => self.gaps.push(PatchArea {
                    name: name.clone(),
                    area: gap.area,
                }),
            }
        }
        if let Some(size) = self.job.close_holes {
            let holes = gaps.iter().take(SHOWN_HOLES).map(|gap| {
                let name = &mesh.patches[usize::from(gap.patch)];
                format!("\"{name}\" around {}", place(&gap.center))
            });
            let mut shown: Vec<String> = holes.collect();
            if gaps.len() > shown.len() {
                shown.push(format!("{} more", gaps.len() - shown.len()));
            }
            let colon = if shown.is_empty() { "" } else { ": " };
            self.note(format!(
                "--close-holes {size}: {} closed{colon}{}",
                counted(gaps.len() as u64, "hole"),
                shown.join(", ")
            ));
        }
    }
}

/// The error, with the place of a leak in the file's frame too.
fn seed_error<const D: usize>(name: &str, error: SeedError, affine: &Affine<D>) -> Error {
    let in_file = match &error {
        SeedError::Leak { place: at, .. } if !affine.is_identity() => {
            let at: Option<[f64; D]> = at.as_slice().try_into().ok();
            at.and_then(|at| Some(affine.inverse()?.apply(at)))
        }
        _ => None,
    };
    let mut error = Error::from(error).about(name);
    if let Some(at) = in_file {
        error.message += &format!("; in the file's coordinates {}", place(&at));
    }
    error
}

/// A box without a body: root cells only, all fluid, and one patch without facets.
///
/// # Errors
/// A box or root grid that [`domain::of_case`] refuses, or that does not fit into memory.
pub fn bare<const D: usize>(bounds: &[f64], root: &Root) -> Result<Mesh<D>, Error> {
    bare_periodic(bounds, root, [false; 3])
}

/// The same, periodic along some axes, as a mesh has to be that is adapted to a flow with periodic faces.
///
/// # Errors
/// As [`bare`].
pub fn bare_periodic<const D: usize>(
    bounds: &[f64],
    root: &Root,
    periodic: [bool; 3],
) -> Result<Mesh<D>, Error> {
    (compiled::<D>().bare)(bounds, root, periodic)
}

pub(crate) fn bare_here<const D: usize>(
    bounds: &[f64],
    root: &Root,
    periodic: [bool; 3],
) -> Result<Mesh<D>, Error>
where
    Facet<D>: Exact<D>,
{
    let frame = domain::of_case::<D>(bounds, root)?.frame;
    let params = EmbedParams {
        periodic,
        ..EmbedParams::new(1, 0.0, Fill::default())
    };
    let nothing = Surface::single_patch(Vec::new(), Vec::new(), "none");
    memory::levels(&Host, &nothing, frame, params.clone(), None, 1)?;
    Ok(embedded_here(&nothing, frame, &params)?.0)
}

/// Embeds a surface in the frame of the box on the CPU, without the checks of [`Builder::prepare`]. Also returns the surface
/// on the lattice.
///
/// # Errors
/// A surface that does not fit the lattice of the box, or a mesh that does not fit into memory.
pub fn embedded<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Result<(Mesh<D>, Snapped<D>), Error> {
    (compiled::<D>().embedded)(surface, frame, params)
}

pub(crate) fn embedded_here<const D: usize>(
    surface: &Surface<D>,
    frame: Frame<D>,
    params: &EmbedParams,
) -> Result<(Mesh<D>, Snapped<D>), Error>
where
    Facet<D>: Exact<D>,
{
    let (snapped, _) = prepare(&Host, surface, &frame, params)?;
    let mesh = embed(&Host, &snapped, frame, params, &mut ())?;
    Ok((mesh, snapped))
}

impl Job {
    /// The near-wall distance in a box, in metres.
    pub fn wall_distance_in<const D: usize>(&self, domain: &Domain<D>) -> f64 {
        let [lower, upper] = domain.bounds;
        let longest = (0..D).map(|a| upper[a] - lower[a]).fold(0.0, f64::max);
        self.wall_distance.unwrap_or(WALL_SHARE * longest)
    }

    /// The parameters of the embedding.
    ///
    /// # Errors
    /// Rules that name a patch the surface does not have.
    pub fn params<const D: usize>(
        &self,
        wall_distance: f64,
        patches: &[String],
    ) -> Result<EmbedParams, Error> {
        let mut params = EmbedParams::new(self.base_levels, wall_distance, self.solid_rule());
        params.robust = self.robust;
        params.periodic = self.periodic.0;
        refine::apply::<D>(&self.refine, params, patches)
    }

    /// The surface, as messages name it.
    pub fn name(&self) -> String {
        match &self.source {
            Source::Files(paths) => resolve::listed(paths),
            Source::Shape(shape) => format!("shape {shape}"),
            Source::Memory => "surface".into(),
        }
    }
}

/// Milliseconds since `begin`.
pub fn ms(begin: Instant) -> f64 {
    1e3 * begin.elapsed().as_secs_f64()
}

/// Work of a level relative to the root level: near a surface each level has four times the cells.
fn weight(level: usize) -> u64 {
    1 << (2 * level.min(20))
}

/// Name of a stage in reports.
pub fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Upload => "upload",
        Stage::Bins => "bins",
        Stage::Voxelize => "voxelize",
        Stage::Refine => "refine",
        Stage::Links => "links",
    }
}

/// Sums the times and passes the stages to the observer.
pub(super) struct Watch<'a> {
    pub(super) observer: &'a mut dyn Observer,
    pub(super) times: &'a mut Times,
    /// Links that pass facets.
    pub(super) passed: &'a mut u64,
}

impl StageObserver for Watch<'_> {
    fn facets_passed(&mut self, links: u64) {
        *self.passed += links;
    }

    fn stage_done(&mut self, stage: Stage, level: usize, seconds: f64) {
        let sum = match stage {
            Stage::Upload => &mut self.times.upload,
            Stage::Bins => &mut self.times.bins,
            Stage::Voxelize => &mut self.times.voxelize,
            Stage::Refine => &mut self.times.refine,
            Stage::Links => &mut self.times.links,
        };
        *sum += 1e3 * seconds;
        self.observer.stage(stage, level, seconds);
        let status = format!("level {level}, {} done", stage_name(stage));
        self.observer.advance(weight(level), &status);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_box_is_fluid_and_has_no_links() {
        let mesh = bare::<3>(&[0.0, 0.0, 0.0, 2.0, 1.0, 1.0], &Root::Longest(16)).expect("a box");
        let [root] = mesh.level_counts()[..] else {
            unreachable!("one level");
        };
        assert_eq!((root.fluid, root.boundary, root.solid), (16 * 8 * 8, 0, 0));
        assert_eq!((mesh.frame.dx, mesh.links.len()), (0.125, 0));
        let mesh = bare::<2>(&[-1.0, 0.0, 1.0, 1.0], &Root::Cells(vec![8, 4])).expect("a box");
        assert_eq!(mesh.level_counts()[0].fluid, 32);
        assert!(bare::<2>(&[0.0; 6], &Root::Longest(8)).is_err(), "of space");
    }
}
