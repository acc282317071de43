//! A mesh in which bodies move: what they do not come near stays as it is.

use super::{MovingSurface, near, near::Known, rest::AtRest};
use crate::{
    EmbedParams, Frame, Mesh, VoxelError,
    embed::{embed_fixed, prepare_apart, reach_of_images},
    kernels::MeshKernels,
};
use cutlink_amr::Forest;
use cutlink_device::Host;
use cutlink_mesher::{Surface, rigid::Pose, snap::Snapped};

/// A mesh on given blocks in which the bodies of a surface move.
///
/// After each move, all arrays are, bit for bit, those of [`embed_fixed`] with the surface in that pose. Only blocks with a facet of
/// a body in or beside them, now or before, and those that it has passed over are embedded again. Bodies that come within half a root cell of a periodic
/// face are the exception, as are fills for which links depend on neighbours ([`crate::Fill::passes_facets`]) and gaps:
/// there all blocks are.
///
/// Cost of a move: the facets of the bodies on each level, the blocks near them, a pass over the root blocks and a copy of the table of
/// cut links.
#[derive(Debug)]
pub struct MovingMesh<const D: usize> {
    mesh: Mesh<D>,
    params: EmbedParams,
    /// The bodies where they are.
    bodies: Surface<D>,
    rest: AtRest<D>,
    /// Nothing after all blocks were embedded at once.
    known: Option<Known>,
    changed: Vec<u32>,
}

impl<const D: usize> MovingMesh<D> {
    /// The mesh.
    pub fn mesh(&self) -> &Mesh<D> {
        &self.mesh
    }

    /// The mesh, with which moving ends.
    pub fn into_mesh(self) -> Mesh<D> {
        self.mesh
    }

    /// Ids of the blocks whose masks or links the last move may have changed, ascending; at first all.
    pub fn changed(&self) -> &[u32] {
        &self.changed
    }
}

impl<const D: usize> MovingMesh<D>
where
    Host: MeshKernels<D>,
{
    /// Embeds a surface with its bodies at these poses on the blocks of a forest. Cost: as [`embed_fixed`].
    ///
    /// # Errors
    /// As [`embed_fixed`] and [`prepare`](crate::prepare).
    ///
    /// # Panics
    /// As [`MovingSurface::at`] and [`embed_fixed`].
    pub fn new(
        surface: &MovingSurface<D>,
        forest: Forest<D>,
        frame: Frame<D>,
        params: &EmbedParams,
        poses: &[Pose<D>],
    ) -> Result<Self, VoxelError> {
        let [bodies, rest] = surface.parts();
        let rest_of = |forest: &Forest<D>| AtRest::new(&rest, forest, &frame, params);
        let whole = prepare_apart(&Host, &surface.at(poses), &frame, params)?;
        let mesh = embed_fixed(&Host, &whole, frame, params, forest, &mut ())?;
        Ok(Self {
            changed: mesh.forest.ids().collect(),
            rest: rest_of(&mesh.forest)?,
            mesh,
            params: params.clone(),
            bodies,
            known: None,
        })
    }

    /// Moves the bodies of the surface that the mesh was made with. After an error they are where they were.
    ///
    /// # Errors
    /// As [`prepare`](crate::prepare) and [`embed_fixed`].
    ///
    /// # Panics
    /// As [`MovingSurface::at`]; with another surface.
    pub fn move_to(
        &mut self,
        surface: &MovingSurface<D>,
        poses: &[Pose<D>],
    ) -> Result<(), VoxelError> {
        surface.place(poses, &mut self.bodies.vertices);
        let bodies = prepare_apart(&Host, &self.bodies, &self.mesh.frame, &self.params)?;
        if self.needs_all(&bodies) {
            return self.embed_all(surface, poses);
        }
        let mut known = match self.known.take() {
            Some(known) => known,
            None => Known::nothing(&self.mesh.forest)?,
        };
        let (rest, forest) = (&mut self.rest, &self.mesh.forest);
        let made = near::Embedding::of(&bodies, rest, forest, &self.params, &mut known)?;
        made.finish().put(&mut self.mesh, &mut self.changed)?;
        self.known = Some(known);
        Ok(())
    }

    /// Whether more is to be embedded than the blocks near the bodies.
    fn needs_all(&self, bodies: &Snapped<D>) -> bool {
        if self.params.robust || self.params.fill.passes_facets() {
            return true;
        }
        let reach = reach_of_images(self.params.levels);
        let extent = self.mesh.frame.extent(self.params.levels);
        let periodic = self.params.periodic_axes::<D>();
        bodies.bounds().is_some_and(|[low, high]| {
            (0..D).any(|a| periodic[a] && (low[a] <= reach || high[a] >= extent[a] - reach))
        })
    }

    fn embed_all(
        &mut self,
        surface: &MovingSurface<D>,
        poses: &[Pose<D>],
    ) -> Result<(), VoxelError> {
        let forest = self.mesh.forest.download(&Host)?;
        let (frame, params) = (self.mesh.frame, &self.params);
        let whole = prepare_apart(&Host, &surface.at(poses), &frame, params)?;
        self.mesh = embed_fixed(&Host, &whole, frame, params, forest, &mut ())?;
        self.known = None;
        self.changed = self.mesh.forest.ids().collect();
        Ok(())
    }
}
