//! `cutlink mesh`: what a job comes to, reported and written; [`crate::mesh::build`] makes it.

use crate::cli::MeshArgs;
use crate::config;
use crate::console::{self, Console};
use crate::device::{Opened, on};
use crate::estimate;
use crate::failure::Failure;
use crate::mesh::build::{AnyPlaced, Builder, Placed, Prepared, ms};
use crate::mesh::intersections;
use crate::mesh::product::{self, IntoAny};
use crate::mesh::report::{self, Device, Report, Times, Written, grouped};
use crate::mesh::resolve;
use crate::output;
use crate::picture::SliceOptions;
use cutlink_device::memory;
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mesher::intersect::Meet;
use cutlink_voxelizer::{Mesh, thin};
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
struct Run<'a> {
    work: Builder<'a>,
    args: &'a MeshArgs,
    goal: Goal,
    began: Instant,
}

impl Run<'_> {
    /// Does the job on the current thread pool.
    fn go(mut self) -> Result<(), Failure> {
        match self.work.place()? {
            AnyPlaced::D2(placed) => self.mesh(placed),
            AnyPlaced::D3(placed) => self.mesh(placed),
        }
    }

    fn mesh<const D: usize>(mut self, placed: Placed<D>) -> Result<(), Failure>
    where
        Facet<D>: Meet<D> + Exact<D>,
        Mesh<D>: IntoAny,
    {
        let job = self.work.job;
        if let Some(path) = &self.args.write_config {
            let options = placed.options(job);
            return write_config(path, &config::write(&options)?, self.args.force);
        }
        if let Goal::Estimate { memory } = self.goal {
            return self.estimate(&placed, memory);
        }
        let prepared = self.work.prepare(placed)?;
        let device = Device::new(&job.selected, self.work.opened);
        let mut report = product::plan(job, &prepared, device);
        self.work.console.summary(&report.plan())?;
        if !self.args.dry_run {
            let mesh = self.work.build(&prepared)?;
            self.describe(&mut report, &mesh, prepared.snapped.caps > 0);
            self.write(&mut report, &prepared, mesh)?;
        }
        self.finish(report)
    }

    fn estimate<const D: usize>(
        &self,
        placed: &Placed<D>,
        memory: Option<u64>,
    ) -> Result<(), Failure>
    where
        Facet<D>: Exact<D>,
    {
        let Builder {
            job,
            opened,
            console,
            ..
        } = &self.work;
        let asked = estimate::Asked {
            name: job.name(),
            input_bytes: placed.read.as_ref().map_or(0, |r| r.bytes),
            levels: job.levels,
            memory,
            max_cells: job.max_cells,
        };
        let params = self.work.params(placed)?;
        let device = Device::new(&job.selected, opened);
        on!(opened, kernels => {
            estimate::tell(
                kernels, &asked, &placed.placed, placed.domain.frame, params, &device, console
            )
        })
    }

    /// What the links say that the user should know: links at gaps, and thin parts.
    fn look_at_links<const D: usize>(&mut self, mesh: &Mesh<D>, gap: bool) -> (u64, report::Thin) {
        let mut links = 0;
        if gap && let (Some(count), Some(name)) = (mesh.patch_links().pop(), mesh.patches.last()) {
            links = count;
            self.work.note(format!(
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
            self.work.note(note.trim_end_matches(';').to_owned());
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
            self.work.note(
                "no cell centre lies inside the body: it is thinner than the finest cells, and only \
                 its cut links are there"
                    .into(),
            );
        }
        let (gap_links, thin) = self.look_at_links(mesh, gap);
        if fluid + boundary == 0 {
            self.work
                .note("every cell is solid: the box lies inside the body".into());
        }
        report.built = Some(report::Built {
            blocks: mesh.forest.blocks(),
            cells: fluid + boundary + solid,
            solid_finest: mesh.solid_at(self.work.levels - 1),
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
        let targets = &self.work.job.targets;
        let begin = Instant::now();
        let extra = product::metadata(self.work.job, report);
        let bytes = product::write_mesh(&mesh, &extra, &targets.mesh, targets.force)?;
        self.work.times.write = ms(begin);
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
            self.work.times.picture = ms(begin);
            let path = path.clone();
            report.files.insert("picture", Written { path, bytes });
        }
        Ok(())
    }

    fn finish(self, mut report: Report) -> Result<(), Failure> {
        report.times_ms = Times {
            total: ms(self.began),
            ..self.work.times
        };
        report.dry_run = self.args.dry_run;
        report.peak_rss_bytes = memory::peak_resident();
        report.device.peak_bytes = self.work.opened.peak_bytes();
        report.notes = self.work.notes;
        self.work.console.summary(&report.result())?;
        self.work.console.object(&report)
    }
}

/// Does what `cutlink mesh` was asked for.
pub(crate) fn run(args: &MeshArgs, console: Console, goal: Goal) -> Result<(), Failure> {
    let mut job = resolve::resolve(args)?;
    crate::in_pool(job.threads, || {
        let opened = Opened::open(job.device.0, &mut job.selected)?;
        Run {
            work: Builder::new(&job, &opened, console),
            args,
            goal,
            began: Instant::now(),
        }
        .go()
    })
}

fn write_config(path: &Path, text: &str, force: bool) -> Result<(), Failure> {
    if path == Path::new("-") {
        return console::print(text);
    }
    output::check(path, force, None)?;
    output::write_text(path, force, text)
}
