//! The mesh of bodies in the memory of a device, which embeds them and makes the tables of the finest level there.

use super::{Movement, movement::Followed, refuse};
use crate::{SolverError, adapt::own_mesh, kernels::FlowKernels, tables::Level};
use cutlink_device::Memory;
use cutlink_voxelizer::{Mesh, VoxelError};
use std::sync::OnceLock;

/// See the module.
pub(crate) struct Embedded<const D: usize, B: FlowKernels<D>> {
    /// Missing only after an embedding that failed.
    mesh: Option<Mesh<D, B>>,
    /// By patch its body, or the number of bodies.
    owner: B::Buf<u32>,
    /// The mesh on the host, if it was requested.
    copy: OnceLock<Mesh<D>>,
}

impl<const D: usize, B: FlowKernels<D>> Embedded<D, B> {
    /// The mesh as the host has it; nothing where the host embeds: in its own memory, and where the flow is periodic and the mesh is
    /// not, so that tables are made there.
    pub(crate) fn of(backend: &B, movement: &Movement<D>) -> Result<Option<Self>, SolverError> {
        match B::MEMORY == Memory::Host || !movement.is_periodic_alike()? {
            true => Ok(None),
            false => Self::copied(backend, movement).map(Some),
        }
    }

    fn copied(backend: &B, movement: &Movement<D>) -> Result<Self, SolverError> {
        Ok(Self {
            mesh: Some(movement.mesh()?.upload(backend)?),
            owner: backend.upload(movement.owner.clone())?,
            copy: OnceLock::new(),
        })
    }

    /// Embeds the bodies where they are; the [`tables`](Self::tables) have to follow.
    pub(crate) fn embed(
        &mut self,
        backend: &B,
        movement: &mut Movement<D>,
    ) -> Result<(), SolverError> {
        movement.place();
        self.copy = OnceLock::new();
        let old = self.mesh.take().ok_or_else(missing)?;
        let bodies = &movement.bodies;
        let poses = bodies.placed_in(&movement.frame, &movement.placed);
        let (surface, embedding) = (&bodies.surface, &bodies.embedding);
        let made = backend.embed_bodies(surface, old.forest, movement.frame, embedding, &poses);
        self.mesh = Some(made.map_err(|error| match error {
            VoxelError::Device(error) => error.into(),
            other => refuse(&bodies.names(), other.to_string()),
        })?);
        Ok(())
    }

    /// The tables of the finest level, whose blocks have these ids by slot, with the mesh as it is.
    pub(crate) fn tables(
        &self,
        backend: &B,
        movement: &Movement<D>,
        level: &Level<D, B>,
        blocks: &B::Buf<u32>,
    ) -> Result<Followed<B>, SolverError> {
        let mesh = self.mesh.as_ref().ok_or_else(missing)?;
        let [stepped, solid] = backend.masks(mesh, blocks)?;
        let cuts = backend.cuts(mesh, blocks, level.special)?;
        let (bodies, exchanging) = (movement.states().len() as u32, level.exchanging);
        if backend.has_fault(mesh, &cuts, exchanging, &self.owner, bodies)? {
            movement.check_mesh(self.on_host(backend)?)?;
            return Err(SolverError::Tables {
                level: level.index,
                reason:
                    "the device finds that bodies may not be where they are, the host that they may"
                        .into(),
            });
        }
        Ok(Followed {
            fresh: backend.uncovered(&level.solid, &solid)?,
            walls: backend.walls(&cuts.boundary, &level.neighbors, &solid, exchanging)?,
            stepped,
            solid,
            cuts,
        })
    }

    /// The mesh in host memory.
    pub(crate) fn on_host(&self, backend: &B) -> Result<&Mesh<D>, SolverError> {
        let mesh = self.mesh.as_ref().ok_or_else(missing)?;
        own_mesh::on_host(backend, mesh, &self.copy)
    }
}

fn missing() -> SolverError {
    refuse("all", "an embedding of them has failed before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BodyMotion, BodyState, LatticeKind, Params, PatchCondition, RigidBodies, WallScheme,
        tables::Built,
    };
    use cutlink_device::Host;
    use cutlink_mesher::{
        Surface,
        primitives::Shape2,
        rigid::{Pose, Quaternion},
    };
    use cutlink_voxelizer::{
        EmbedParams, Fill, Frame, MovingPatches, MovingSurface, Region, RegionShape,
    };
    use std::sync::Arc;

    const CENTERS: [[f64; 2]; 2] = [[20.2, 24.1], [34.0, 23.7]];
    const RADII: [f64; 2] = [4.07, 3.3];

    fn surface() -> Surface<2> {
        let mut all = Surface::single_patch(Vec::new(), Vec::new(), "one");
        for (n, (radius, center)) in RADII.into_iter().zip(CENTERS).enumerate() {
            let circle = Shape2::Circle { radius }.surface(1e-2).expect("a circle");
            let first = all.vertices.len() as u32;
            let there = circle
                .vertices
                .iter()
                .map(|x| [x[0] + center[0], x[1] + center[1]]);
            all.vertices.extend(there);
            all.facets
                .extend(circle.facets.iter().map(|f| f.map(|v| v + first)));
            all.facet_patch.resize(all.facets.len(), n as u16);
        }
        all.patches = vec!["one".into(), "two".into()];
        all
    }

    /// Two circles in a region of the finer level: one turns and moves along x at this speed, the other one turns.
    fn bodies(speed: f64) -> Arc<RigidBodies<2>> {
        let motion = |n: usize| {
            BodyMotion::Prescribed(Arc::new(move |time: f64| {
                let along = if n == 0 { speed } else { 0.0 };
                Ok(BodyState {
                    pose: Pose {
                        center: [CENTERS[n][0] + along * time, CENTERS[n][1]],
                        rotation: Quaternion::about_z(0.003 * time),
                    },
                    velocity: [along, 0.0],
                    spin: [0.0, 0.0, 0.003],
                })
            }))
        };
        let part = |n: usize| MovingPatches {
            name: format!("body {n}"),
            patches: vec![n],
            center: CENTERS[n],
        };
        let (lower, upper) = ([8.0, 8.0, 0.0], [48.0, 40.0, 0.0]);
        Arc::new(RigidBodies {
            surface: MovingSurface::new(&surface(), vec![part(0), part(1)]).expect("closed"),
            motions: vec![motion(0), motion(1)],
            paths: vec![Some(Vec::new()), Some(Vec::new())],
            embedding: EmbedParams {
                regions: vec![Region {
                    shape: RegionShape::Box { lower, upper },
                    levels: 2,
                }],
                ..EmbedParams::new(2, 0.0, Fill::NonZero)
            },
            rebin: 1,
        })
    }

    fn moving(speed: f64) -> (Movement<2>, Vec<Built<2>>) {
        let bodies = bodies(speed);
        let frame = Frame::new([0.0; 2], 1.0, [64, 48]).expect("a box");
        let params = Params {
            patches: vec![PatchCondition::wall(WallScheme::Linear); 2],
            ..Params::new(LatticeKind::D2Q9, 0.1)
        };
        let mesh = bodies.first_mesh(frame).expect("a mesh");
        Movement::new(&mesh, &params, bodies).expect("bodies")
    }

    type Tables = (Vec<Vec<u64>>, Vec<Vec<u32>>, Vec<f32>, Vec<u16>);

    fn all(of: &Followed) -> Tables {
        let (cuts, walls) = (&of.cuts, &of.walls);
        let masks = [&of.stepped, &of.solid, &cuts.boundary, &cuts.cells];
        let lists = [
            &of.fresh,
            &cuts.cell_start,
            &walls.linked,
            &walls.walled,
            &walls.faced,
            &walls.bounded,
            &walls.cut,
            &walls.open,
        ];
        let masks = masks.into_iter().cloned().collect();
        (
            masks,
            lists.into_iter().cloned().collect(),
            cuts.q.clone(),
            cuts.patch.clone(),
        )
    }

    /// By the stages of a device, on the host's: all blocks are embedded anew, where the host's own way embeds those near bodies.
    #[test]
    fn both_ways_give_the_same_tables() {
        let (mut near, _) = moving(0.05);
        let (mut whole, mut built) = moving(0.05);
        let mut embedded = Embedded::copied(&Host, &whole).expect("a copy");
        let finest = built.last_mut().expect("levels");
        let mut uncovered = 0;
        for step in 1..=40 {
            let time = 0.5 * f64::from(step);
            assert!(near.advance(time).expect("a place") && whole.advance(time).expect("a place"));
            let expected = near.follow().expect("tables");
            embedded.embed(&Host, &mut whole).expect("embedded");
            let (level, blocks) = (&finest.level, &finest.blocks);
            let found = embedded
                .tables(&Host, &whole, level, blocks)
                .expect("tables");
            assert!(all(&found) == all(&expected), "tables of step {step}");
            assert_eq!(near.epoch(), whole.epoch());
            uncovered += found.fresh.len();
            finest.level.solid = found.solid;
        }
        assert!(uncovered > 10, "{uncovered} cells were uncovered");
    }

    /// Bodies that come near each other end with the same error, at the same step.
    #[test]
    fn both_ways_refuse_bodies_that_meet() {
        let (mut near, _) = moving(0.1);
        let (mut whole, built) = moving(0.1);
        let mut embedded = Embedded::copied(&Host, &whole).expect("a copy");
        let finest = built.last().expect("levels");
        for step in 1..400 {
            let time = 0.5 * f64::from(step);
            near.advance(time).expect("a place");
            whole.advance(time).expect("a place");
            embedded.embed(&Host, &mut whole).expect("embedded");
            let found = embedded.tables(&Host, &whole, &finest.level, &finest.blocks);
            match (near.follow(), found) {
                (Ok(_), Ok(_)) => {}
                (Err(one), Err(two)) => {
                    assert_eq!(one.to_string(), two.to_string());
                    assert!(one.to_string().contains("are between it and"), "{one}");
                    return;
                }
                (one, two) => panic!("{:?}, {:?}", one.err(), two.err()),
            }
        }
        panic!("the bodies did not meet");
    }
}
