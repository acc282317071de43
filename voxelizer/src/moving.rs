//! Surfaces of which some patches move as rigid bodies, embedded again and again on the blocks of one mesh.
//!
//! A body is one or more patches that together are closed. Its vertices at a pose are `center + R r` in f64, `r` the vertex in the
//! body's frame, and are then snapped as those of any surface: a mesh does not depend on the poses before. Where its blocks
//! are those that embedding from scratch would make, masks, links, cut distances and patches have the same bits.

mod mesh;
mod near;
mod rest;

pub use mesh::MovingMesh;

use crate::{
    EmbedParams, Frame, Mesh, VoxelError,
    embed::{embed, embed_fixed, prepare, prepare_apart},
    kernels::MeshKernels,
};
use cutlink_amr::Forest;
use cutlink_mesher::{Surface, health, rigid::Pose};

/// The patches of a body.
#[derive(Debug, Clone, PartialEq)]
pub struct MovingPatches<const D: usize> {
    /// What it is called in messages.
    pub name: String,
    /// Indices of the patches.
    pub patches: Vec<usize>,
    /// The origin of the body's frame in the surface as it is given: the body's place where the pose is there and not rotated.
    pub center: [f64; D],
}

/// A surface with bodies that move; see the module.
#[derive(Debug, Clone, PartialEq)]
pub struct MovingSurface<const D: usize> {
    /// Vertices of bodies in the frame of their body, others in that of the surface; bodies follow one another.
    surface: Surface<D>,
    /// The first vertex of each body, and the first one of what is at rest.
    starts: Vec<usize>,
    bodies: Vec<MovingPatches<D>>,
}

impl<const D: usize> MovingSurface<D> {
    /// Splits a surface into bodies and what is at rest. Facets keep their order; vertices do not.
    ///
    /// # Errors
    /// [`VoxelError::Body`] for a patch that there is not or that two bodies have, and for a body that is not closed.
    pub fn new(surface: &Surface<D>, bodies: Vec<MovingPatches<D>>) -> Result<Self, VoxelError> {
        let body_of = body_of_patches(surface, &bodies)?;
        let rest = bodies.len();
        let body_at = |f: usize| body_of[usize::from(surface.patch_of(f))];
        // Vertices that two bodies share are two vertices from here on.
        let mut pairs: Vec<(usize, u32)> = (0..surface.facets.len())
            .flat_map(|f| surface.facets[f].map(|v| (body_at(f), v)))
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        let starts = (0..=rest)
            .map(|body| pairs.partition_point(|pair| pair.0 < body))
            .collect();
        let vertex = |&(body, v): &(usize, u32)| {
            let x = surface.vertices[v as usize];
            match bodies.get(body) {
                Some(of) => std::array::from_fn(|a| x[a] - of.center[a]),
                None => x,
            }
        };
        let place = |f: usize, v: u32| {
            let at = pairs.binary_search(&(body_at(f), v));
            at.expect("every corner should be listed") as u32
        };
        let facets = (0..surface.facets.len()).map(|f| surface.facets[f].map(|v| place(f, v)));
        let moving = Self {
            surface: Surface {
                vertices: pairs.iter().map(vertex).collect(),
                facets: facets.collect(),
                ..surface.clone()
            },
            starts,
            bodies,
        };
        for (n, body) in moving.bodies.iter().enumerate() {
            let health = health::check(&moving.body(n));
            if !health.closed() {
                let edges = health.unbalanced_edges;
                return Err(refuse(
                    &body.name,
                    format!(
                        "its patches are open at {edges} edges: name all patches of the body, or close the surface"
                    ),
                ));
            }
        }
        Ok(moving)
    }

    /// The bodies.
    pub fn bodies(&self) -> &[MovingPatches<D>] {
        &self.bodies
    }

    /// The surface of a body, in its frame.
    ///
    /// # Panics
    /// Where there is no such body.
    pub fn body(&self, body: usize) -> Surface<D> {
        let vertices = self.starts[body] as u32..self.starts[body + 1] as u32;
        let is_own = |f: &usize| vertices.contains(&self.surface.facets[*f][0]);
        let own = (0..self.surface.facets.len()).filter(is_own);
        let facets = own.map(|f| self.surface.facets[f].map(|v| v - vertices.start));
        let span = vertices.start as usize..vertices.end as usize;
        let name = self.bodies[body].name.clone();
        Surface::single_patch(self.surface.vertices[span].to_vec(), facets.collect(), name)
    }

    /// Vertices of a body, in its frame.
    ///
    /// # Panics
    /// Where there is no such body.
    pub fn vertices(&self, body: usize) -> &[[f64; D]] {
        &self.surface.vertices[self.starts[body]..self.starts[body + 1]]
    }

    /// Vertices that do not move.
    pub fn vertices_at_rest(&self) -> &[[f64; D]] {
        &self.surface.vertices[self.starts[self.bodies.len()]..]
    }

    /// The surface with the bodies at these poses. Cost: a pass over vertices and facets.
    ///
    /// # Panics
    /// Where there is not one pose for each body.
    pub fn at(&self, poses: &[Pose<D>]) -> Surface<D> {
        let mut moved = self.surface.clone();
        self.place(poses, &mut moved.vertices);
        moved
    }

    /// Writes the vertices of the bodies at these poses, body after body.
    fn place(&self, poses: &[Pose<D>], vertices: &mut [[f64; D]]) {
        assert_eq!(poses.len(), self.bodies.len(), "a pose for each body");
        for (body, pose) in poses.iter().enumerate() {
            let span = self.starts[body]..self.starts[body + 1];
            let placed = pose.apply_all(self.vertices(body).iter().copied());
            for (to, x) in vertices[span].iter_mut().zip(placed) {
                *to = x;
            }
        }
    }

    /// The bodies, each in its frame, and what is at rest, as two surfaces of the same patches. Facets keep their order.
    fn parts(&self) -> [Surface<D>; 2] {
        let rest = self.starts[self.bodies.len()];
        let of = |vertices: std::ops::Range<usize>| {
            let is_own = |f: &usize| vertices.contains(&(self.surface.facets[*f][0] as usize));
            let own: Vec<usize> = (0..self.surface.facets.len()).filter(is_own).collect();
            let first = vertices.start as u32;
            let facets = own
                .iter()
                .map(|&f| self.surface.facets[f].map(|v| v - first));
            Surface {
                facets: facets.collect(),
                facet_patch: own.iter().map(|&f| self.surface.patch_of(f)).collect(),
                patches: self.surface.patches.clone(),
                vertices: self.surface.vertices[vertices].to_vec(),
            }
        };
        [of(0..rest), of(rest..self.surface.vertices.len())]
    }

    /// What is at rest, and each body at each of its poses, for the blocks of a mesh that all of them fit in: see
    /// [`embed_fixed`]. A body without poses is left out.
    ///
    /// # Panics
    /// Where there is not one list of poses for each body.
    pub fn swept(&self, poses: &[Vec<Pose<D>>]) -> Surface<D> {
        assert_eq!(poses.len(), self.bodies.len(), "poses for each body");
        let rest = self.starts[self.bodies.len()];
        let mut all = Surface {
            vertices: self.vertices_at_rest().to_vec(),
            facets: Vec::new(),
            facet_patch: Vec::new(),
            patches: self.surface.patches.clone(),
        };
        let mut add = |facets: &[usize], shift: i64| {
            for &f in facets {
                let facet = self.surface.facets[f];
                all.facets
                    .push(facet.map(|v| (i64::from(v) + shift) as u32));
                all.facet_patch.push(self.surface.patch_of(f));
            }
        };
        let of_body = |f: &usize| {
            let first = self.surface.facets[*f][0] as usize;
            self.starts.partition_point(|&start| start <= first) - 1
        };
        let mut facets = vec![Vec::new(); self.bodies.len() + 1];
        for f in 0..self.surface.facets.len() {
            facets[of_body(&f)].push(f);
        }
        add(&facets[self.bodies.len()], -(rest as i64));
        let mut vertices = Vec::new();
        for (body, poses) in poses.iter().enumerate() {
            for pose in poses {
                let next = self.surface.vertices.len() - rest + vertices.len();
                add(&facets[body], next as i64 - self.starts[body] as i64);
                vertices.extend(pose.apply_all(self.vertices(body).iter().copied()));
            }
        }
        all.vertices.extend(vertices);
        all
    }

    /// Embeds the surface at these poses on the blocks of a forest, all of them: see [`embed_fixed`]. [`MovingMesh`] embeds pose after
    /// pose.
    ///
    /// # Errors
    /// As [`embed_fixed`] and [`prepare`].
    ///
    /// # Panics
    /// As [`at`](Self::at).
    pub fn embed_on<K: MeshKernels<D>>(
        &self,
        kernels: &K,
        forest: Forest<D, K>,
        frame: Frame<D>,
        params: &EmbedParams,
        poses: &[Pose<D>],
    ) -> Result<Mesh<D, K>, VoxelError> {
        let snapped = prepare_apart(kernels, &self.at(poses), &frame, params)?;
        embed_fixed(kernels, &snapped, frame, params, forest, &mut ())
    }

    /// The blocks that hold each body at each of its poses, refined around all of them as around a surface.
    ///
    /// # Errors
    /// As [`embed`] and [`prepare`].
    ///
    /// # Panics
    /// As [`swept`](Self::swept).
    pub fn blocks<K: MeshKernels<D>>(
        &self,
        kernels: &K,
        frame: Frame<D>,
        params: &EmbedParams,
        poses: &[Vec<Pose<D>>],
    ) -> Result<Forest<D, K>, VoxelError> {
        let (all, _) = prepare(kernels, &self.swept(poses), &frame, params)?;
        Ok(embed(kernels, &all, frame, params, &mut ())?.forest)
    }
}

fn refuse(body: &str, reason: impl Into<String>) -> VoxelError {
    VoxelError::Body {
        body: body.into(),
        reason: reason.into(),
    }
}

/// By patch its body, or the number of bodies for those at rest.
fn body_of_patches<const D: usize>(
    surface: &Surface<D>,
    bodies: &[MovingPatches<D>],
) -> Result<Vec<usize>, VoxelError> {
    let mut body_of = vec![bodies.len(); surface.patches.len()];
    for (n, body) in bodies.iter().enumerate() {
        if body.patches.is_empty() {
            return Err(refuse(&body.name, "it has no patch: name at least one"));
        }
        for &patch in &body.patches {
            let Some(of) = body_of.get_mut(patch) else {
                let count = surface.patches.len();
                let reason = format!("there is no patch {patch}: the surface has {count}");
                return Err(refuse(&body.name, reason));
            };
            if *of != bodies.len() {
                let (other, patch) = (&bodies[*of].name, &surface.patches[patch]);
                let reason = format!(
                    "its patch \"{patch}\" is named twice, also by \"{other}\": name it once"
                );
                return Err(refuse(&body.name, reason));
            }
            *of = n;
        }
    }
    Ok(body_of)
}

impl<const D: usize> Mesh<D> {
    /// The middle of the first leaf with links of some patches that is not of the finest level, if there is one. Cost: a pass over the
    /// rows of the link table.
    ///
    /// # Panics
    /// Where a patch of the mesh has no entry in `moves`.
    pub fn coarse_link_of(&self, moves: &[bool]) -> Option<[f64; D]> {
        let finest = self.forest.levels.len() - 1;
        let table = &self.links;
        for (row, &block) in table.blocks.iter().enumerate() {
            let level = usize::from(self.forest.level[block as usize]);
            if level == finest {
                continue;
            }
            let link = |entry: u32| {
                let cell = table.cells.get(entry as usize);
                cell.map_or(table.q.len(), |&cell| crate::unpack_cell(cell).1 as usize)
            };
            let links = link(table.cell_start[row])..link(table.cell_start[row + 1]);
            let patch = |at: usize| usize::from(table.patch.get(at).copied().unwrap_or(0));
            if links.into_iter().any(|at| moves[patch(at)]) {
                let corner = self.forest.coord[block as usize].map(|c| 4 * c + 2);
                let dx = self.frame.dx_at(level);
                return Some(std::array::from_fn(|a| {
                    self.frame.origin[a] + dx * f64::from(corner[a])
                }));
            }
        }
        None
    }
}
