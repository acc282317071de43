//! A mesh made in parts: one after the other, on several GPUs, or by several processes. The same mesh in each case.

use super::build::{Builder, Prepared, Watch, ms};
use super::resolve::Parts;
use crate::compiled::compiled;
use cutlink_common::{Error, ErrorKind, device::on};
use cutlink_mesher::exact::{Exact, Facet};
use cutlink_mpi::{MpiError, World};
use cutlink_voxelizer::kernels::MeshKernels;
use cutlink_voxelizer::{Mesh, OwnBlocks, StageObserver, VoxelError, Window, embed_window, join};
use std::panic::resume_unwind;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// What a window has, and how many blocks it was made with.
struct Made {
    own: OwnBlocks,
    blocks: usize,
}

impl Builder<'_> {
    /// Shares the mesh with other processes, each of which makes a part of it.
    pub fn share(&mut self, world: Option<Arc<World>>) {
        self.world = world;
    }

    /// The parts that the mesh is made in.
    pub(super) fn parts(&self) -> usize {
        match &self.world {
            Some(world) => world.size(),
            None => self.job.parts.count(),
        }
    }

    /// Makes the part of this process, and sends it to the first one: for all processes but that one.
    ///
    /// # Errors
    /// As [`Self::build`].
    ///
    /// # Panics
    /// Where there are no other processes.
    pub fn serve<const D: usize>(&mut self, prepared: &Prepared<D>) -> Result<(), Error> {
        (compiled::<D>().serve)(self, prepared)
    }

    pub(crate) fn serve_here<const D: usize>(&mut self, prepared: &Prepared<D>) -> Result<(), Error>
    where
        Facet<D>: Exact<D>,
    {
        let world = self.world.clone().expect("other processes");
        let opened = self.opened()?;
        let made = on!(opened, kernels => {
            let windows = cut(kernels, prepared, world.size())?;
            make(kernels, prepared, &windows[world.rank()], &mut ())?
        });
        let blocks = (made.blocks as u64).to_le_bytes();
        world.send(0, blocks.into()).map_err(lost)?;
        world.send(0, made.own.to_bytes()).map_err(lost)?;
        world.flush().map_err(lost)
    }

    /// Builds the mesh in parts; the copy on the host.
    pub(super) fn in_parts<const D: usize>(
        &mut self,
        prepared: &Prepared<D>,
    ) -> Result<Mesh<D>, Error>
    where
        Facet<D>: Exact<D>,
    {
        let begin = Instant::now();
        let opened = self.opened()?;
        let made = on!(opened, kernels => self.all_windows(kernels, prepared));
        self.observer.end();
        let made = made?;
        let (of_all, most) = made.iter().fold((0, 0), |(sum, most), made| {
            (sum + made.blocks, made.blocks.max(most))
        });
        let parts: Vec<_> = made.into_iter().map(|made| made.own).collect();
        let frame = prepared.domain.frame;
        let mesh = join(&prepared.snapped, frame, &prepared.params, &parts)?;
        self.times.embed = ms(begin);
        let share = |blocks: usize| blocks as f64 / mesh.forest.blocks() as f64;
        self.note(format!(
            "made in {} parts: {:.2} times the blocks in all, {:.2} of them in the largest part",
            parts.len(),
            share(of_all),
            share(most)
        ));
        Ok(mesh)
    }

    fn all_windows<const D: usize, K: MeshKernels<D>>(
        &mut self,
        kernels: &K,
        prepared: &Prepared<D>,
    ) -> Result<Vec<Made>, Error> {
        let (count, world) = (self.parts(), self.world.clone());
        let windows = cut(kernels, prepared, count)?;
        let here = match (&world, self.job.parts) {
            (None, Parts::InTurn(count)) => count,
            _ => 1,
        };
        self.begin_stages(prepared.params.levels, here as u64);
        let mut watch = Watch {
            observer: &mut *self.observer,
            times: &mut self.times,
            passed: &mut self.passed,
        };
        match (world, self.job.parts) {
            (Some(world), _) => {
                let mut all = vec![make(kernels, prepared, &windows[0], &mut watch)?];
                for from in 1..count {
                    all.push(receive(&world, from)?);
                }
                Ok(all)
            }
            (None, Parts::InTurn(_)) => {
                let mut one = |window| Ok(make(kernels, prepared, window, &mut watch)?);
                windows.iter().map(&mut one).collect()
            }
            (None, Parts::OnGpus(_)) => on_gpus(kernels, prepared, &windows, &mut watch),
        }
    }
}

fn cut<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    prepared: &Prepared<D>,
    windows: usize,
) -> Result<Vec<Window<D>>, VoxelError> {
    let frame = prepared.domain.frame;
    Window::cut(kernels, &prepared.snapped, frame, &prepared.params, windows)
}

fn make<const D: usize, K: MeshKernels<D>>(
    kernels: &K,
    prepared: &Prepared<D>,
    window: &Window<D>,
    observer: &mut dyn StageObserver,
) -> Result<Made, VoxelError> {
    let (surface, frame) = (&prepared.snapped, prepared.domain.frame);
    let mesh = embed_window(kernels, surface, frame, &prepared.params, window, observer)?;
    let mesh = mesh.download(kernels)?;
    Ok(Made {
        own: OwnBlocks::of(&mesh, window),
        blocks: mesh.forest.blocks(),
    })
}

/// A window on each GPU, all at once.
fn on_gpus<const D: usize, K: MeshKernels<D>>(
    first: &K,
    prepared: &Prepared<D>,
    windows: &[Window<D>],
    observer: &mut dyn StageObserver,
) -> Result<Vec<Made>, Error> {
    let (own, others) = windows.split_first().expect("a window at least");
    thread::scope(|scope| {
        let beside = (1..).zip(others).map(|(gpu, window)| {
            scope.spawn(move || make(&first.nth_after(gpu)?, prepared, window, &mut ()))
        });
        let beside: Vec<_> = beside.collect();
        let mut all = vec![make(first, prepared, own, observer)];
        let joined = beside.into_iter().map(|one| one.join());
        all.extend(joined.map(|made| made.unwrap_or_else(|panic| resume_unwind(panic))));
        all.into_iter().map(|made| Ok(made?)).collect()
    })
}

fn receive(world: &World, from: usize) -> Result<Made, Error> {
    let blocks = world.receive(from).map_err(lost)?;
    let own = world.receive(from).map_err(lost)?;
    let blocks = blocks.try_into().ok().map(u64::from_le_bytes);
    match blocks.zip(OwnBlocks::from_bytes(&own)) {
        Some((blocks, own)) => Ok(Made {
            own,
            blocks: blocks as usize,
        }),
        None => {
            let message = format!("process {from} sent what is no part of a mesh");
            Err(Error::new(ErrorKind::Runtime, message)
                .hint("start the same program on every host"))
        }
    }
}

fn lost(error: MpiError) -> Error {
    Error::new(ErrorKind::Runtime, error.to_string())
}
