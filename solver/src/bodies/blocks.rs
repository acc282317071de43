//! The blocks that hold bodies: those of whole paths, and those that follow a body.

use super::{FOLLOWED_PATH, Movement, RigidBodies, checks, refuse};
use crate::{Params, SolverError, adapt::AdaptationLook, tables::Built};
use cutlink_amr::{Forest, FormerIds, NONE, dims};
use cutlink_device::{Backend, Host, of_dimension};
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{
    EmbedParams, Frame, Mesh, MovingMesh, MovingSurface, VoxelError, kernels::MeshKernels,
};

/// Bytes that a facet takes while blocks are made: vertices in f64 and on the lattice, facets, lists.
const FACET_BYTES: u64 = 100;

/// How bodies of a dimension are embedded; see [`of_dimension`].
struct Embeds<const D: usize> {
    on: On<D>,
    to: To<D>,
    blocks: Blocks<D>,
}

type On<const D: usize> = fn(
    &MovingSurface<D>,
    Forest<D>,
    Frame<D>,
    &EmbedParams,
    &[Pose<D>],
) -> Result<MovingMesh<D>, VoxelError>;

type To<const D: usize> =
    fn(&mut MovingMesh<D>, &MovingSurface<D>, &[Pose<D>]) -> Result<(), VoxelError>;

type Blocks<const D: usize> =
    fn(&MovingSurface<D>, Frame<D>, &EmbedParams, &[Vec<Pose<D>>]) -> Result<Forest<D>, VoxelError>;

impl<const D: usize> Embeds<D>
where
    Host: MeshKernels<D>,
{
    const fn new() -> Self {
        Self {
            on: |surface, forest, frame, params, poses| {
                MovingMesh::new(surface, forest, frame, params, poses)
            },
            to: |mesh, surface, poses| mesh.move_to(surface, poses),
            blocks: |surface, frame, params, poses| surface.blocks(&Host, frame, params, poses),
        }
    }
}

static EMBEDS_2D: Embeds<2> = Embeds::new();
static EMBEDS_3D: Embeds<3> = Embeds::new();

impl<const D: usize> Embeds<D> {
    fn get() -> &'static Self {
        of_dimension::<D, Self>(&EMBEDS_2D, &EMBEDS_3D)
    }
}

/// A pose in lengths, from one in root cells.
fn metres<const D: usize>(frame: &Frame<D>, pose: &Pose<D>) -> Pose<D> {
    Pose {
        center: std::array::from_fn(|a| frame.origin[a] + frame.dx * pose.center[a]),
        ..*pose
    }
}

impl<const D: usize> RigidBodies<D> {
    /// Whether the mesh follows any of the bodies.
    pub fn is_followed(&self) -> bool {
        self.paths.iter().any(Option::is_none)
    }

    /// Poses in lengths, from those in root cells.
    pub(super) fn placed_in(&self, frame: &Frame<D>, poses: &[Pose<D>]) -> Vec<Pose<D>> {
        poses.iter().map(|pose| metres(frame, pose)).collect()
    }

    /// The surface at these poses, in root cells, on the blocks of a forest.
    ///
    /// # Errors
    /// [`SolverError::Body`] where it cannot be embedded.
    pub fn embed_on(
        &self,
        forest: Forest<D>,
        frame: Frame<D>,
        poses: &[Pose<D>],
    ) -> Result<MovingMesh<D>, SolverError> {
        let poses = self.placed_in(&frame, poses);
        let mesh = (Embeds::get().on)(&self.surface, forest, frame, &self.embedding, &poses);
        mesh.map_err(|reason| refuse(&self.names(), reason.to_string()))
    }

    /// Moves the bodies of a mesh that [`embed_on`](Self::embed_on) has made, to these poses, in root cells.
    ///
    /// # Errors
    /// As [`embed_on`](Self::embed_on).
    pub fn move_to(&self, mesh: &mut MovingMesh<D>, poses: &[Pose<D>]) -> Result<(), SolverError> {
        let poses = self.placed_in(&mesh.mesh().frame, poses);
        let moved = (Embeds::get().to)(mesh, &self.surface, &poses);
        moved.map_err(|reason| refuse(&self.names(), reason.to_string()))
    }

    /// The blocks for bodies at these poses, in root cells: around each body that the mesh follows, along the paths of the others, and
    /// as the embedding says. Cost: an embedding with the facets of all poses of the paths.
    ///
    /// # Errors
    /// [`SolverError::Body`] where it cannot be embedded; memory that is short.
    pub fn blocks(&self, frame: Frame<D>, poses: &[Pose<D>]) -> Result<Forest<D>, SolverError> {
        let of = |(path, pose): (&Option<Vec<Pose<D>>>, &Pose<D>)| match path {
            Some(path) => path.iter().map(|pose| metres(&frame, pose)).collect(),
            None => vec![metres(&frame, pose)],
        };
        let poses: Vec<Vec<Pose<D>>> = self.paths.iter().zip(poses).map(of).collect();
        let facets = poses.iter().enumerate();
        let facets = facets.map(|(n, of)| of.len() * self.surface.body(n).facets.len());
        let bytes = FACET_BYTES * facets.sum::<usize>() as u64;
        Host.reserve("surfaces along the paths of bodies", bytes)?;
        let forest = (Embeds::get().blocks)(&self.surface, frame, &self.embedding, &poses);
        forest.map_err(|reason| refuse(&self.names(), reason.to_string()))
    }

    /// The mesh at the start: the blocks for the bodies at their first poses, with the bodies there.
    ///
    /// # Errors
    /// As [`blocks`](Self::blocks); a path without a place at time 0.
    pub fn first_mesh(&self, frame: Frame<D>) -> Result<Mesh<D>, SolverError> {
        let (states, _) = checks::first(self)?;
        let poses: Vec<Pose<D>> = states.iter().map(|state| state.pose).collect();
        let mesh = self.embed_on(self.blocks(frame, &poses)?, frame, &poses)?;
        Ok(mesh.into_mesh())
    }

    /// The names of all bodies.
    pub(super) fn names(&self) -> String {
        let names = self.surface.bodies().iter();
        let names: Vec<&str> = names.map(|of| of.name.as_str()).collect();
        names.join(", ")
    }
}

impl<const D: usize> Movement<D> {
    /// Whether a body that the mesh follows has used up its margin, or will in the next root step.
    pub(crate) fn is_off(&self) -> bool {
        let next = f64::from(1u32 << self.level);
        (self.bodies.paths.iter().enumerate()).any(|(n, path)| {
            let moved = self.moved(n, &self.meshed[n]);
            path.is_none() && moved > 0.0 && moved + next * self.speed(n) > FOLLOWED_PATH
        })
    }

    /// The blocks that the bodies need where they were embedded last: nowhere is the mesh coarser.
    pub(crate) fn needed(&self) -> Result<Forest<D>, SolverError> {
        self.needed_at(&self.placed)
    }

    fn needed_at(&self, poses: &[Pose<D>]) -> Result<Forest<D>, SolverError> {
        match &self.first {
            Some(first) => Ok(first.download(&Host)?),
            None => self.bodies.blocks(self.frame, poses),
        }
    }

    /// Whether blocks change while the flow runs.
    pub(super) fn changes_blocks(&self) -> bool {
        self.adapts || self.bodies.is_followed()
    }

    /// Takes other blocks: the tables of all levels on them, with the bodies where they were embedded last.
    pub(crate) fn take_blocks(
        &mut self,
        forest: Forest<D>,
        params: &Params<D>,
    ) -> Result<Vec<Built<D>>, SolverError> {
        self.meshed.clone_from(&self.placed);
        self.embed_in(forest)?;
        self.build(params)
    }

    /// Blocks and tables as they were made when the bodies were at the poses that the mesh was made for; with the blocks that these
    /// poses need where none are given.
    pub(super) fn rebuild(
        &mut self,
        forest: Option<Forest<D>>,
        params: &Params<D>,
    ) -> Result<Vec<Built<D>>, SolverError> {
        let forest = match forest {
            Some(forest) => forest,
            None => self.needed_at(&self.meshed)?,
        };
        self.placed.clone_from(&self.meshed);
        self.take_blocks(forest, params)
    }
}

/// What a change of blocks did.
pub(crate) fn look<const D: usize>(
    mesh: &Mesh<D>,
    former: &[FormerIds<Host>],
    seconds: f64,
) -> AdaptationLook {
    let (mut refined, mut coarsened) = (0, 0);
    for of in former {
        let fresh = of.ids().iter().filter(|&&id| id == NONE).count();
        let kept = of.ids().len() - fresh;
        refined += (fresh / dims::children(D)) as u64;
        coarsened += ((of.blocks() - kept) / dims::children(D)) as u64;
    }
    let counts = mesh.level_counts();
    AdaptationLook {
        step: 0,
        leaves: counts.iter().map(|of| of.leaf_blocks as u64).collect(),
        refined,
        coarsened,
        withheld: 0,
        raised: 1.0,
        seconds,
    }
}
