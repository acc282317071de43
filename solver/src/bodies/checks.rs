//! What bodies may not do: by themselves, with a mesh and its conditions, and while they move.

use super::{
    BodyMotion, BodyState, MAX_BODY_PATH, MAX_BODY_SPEED, Movement, RigidBodies, free::Momentum,
    refuse,
};
use crate::{
    Motion, Params, PatchCondition, Place, SolverError,
    constants::NEAREST_BODIES,
    kernels::cpu::{Fault, cut_tables, fault},
    tables::Cuts,
};
use cutlink_device::Host;
use cutlink_mesher::rigid::Pose;
use cutlink_voxelizer::{Fill, Mesh};

/// Checks bodies against a mesh and its conditions: by patch the body.
///
/// # Errors
/// What is not possible, with the way out.
pub(super) fn check<const D: usize>(
    mesh: &Mesh<D>,
    params: &Params<D>,
    bodies: &RigidBodies<D>,
) -> Result<Vec<u32>, SolverError> {
    let parts = bodies.surface.bodies();
    let refuse_all = |reason: &str| Err(refuse(&bodies.names(), reason));
    let count = parts.len();
    if count == 0 || count != bodies.motions.len() || count != bodies.paths.len() {
        return refuse_all(
            "there has to be one motion and one path for each body, and one body at least",
        );
    }
    if bodies.rebin == 0 {
        return refuse_all("0 steps between two embeddings: 1 or more are needed");
    }
    if let Some(of) = &params.adaptation
        && of.levels > bodies.embedding.levels
    {
        let reason = format!(
            "the flow may ask for {} levels, and bodies that move are on the finest of {}: give the mesh as many levels, or the adaptation fewer",
            of.levels, bodies.embedding.levels
        );
        return Err(refuse(&bodies.names(), reason));
    }
    if !params.modeled.is_empty() {
        return refuse_all(
            "walls by the law of the wall are steady: choose resolved walls beside bodies that move",
        );
    }
    let varies = |of: &crate::Variation<D>| matches!(of.place, Place::Patch(_));
    if params
        .variations
        .iter()
        .any(|of| varies(of) && of.has_profile())
    {
        return refuse_all(
            "values of a patch that vary in space belong to links, which change as bodies move: let them vary at faces, or in time alone",
        );
    }
    let embedding = &bodies.embedding;
    if embedding.robust || !matches!(embedding.fill, Fill::NonZero | Fill::EvenOdd) {
        return refuse_all(
            "bodies that move have to be closed, with the fluid outside: leave --robust, --sheets and flow inside out",
        );
    }
    if mesh.forest.levels.len() != embedding.levels || mesh.fill != embedding.fill {
        return refuse_all(
            "the mesh has other levels or another fill rule than the bodies are embedded with",
        );
    }
    let mut owner = vec![parts.len() as u32; params.patches.len()];
    for (body, part) in parts.iter().enumerate() {
        for &patch in &part.patches {
            let Some(of) = params.patches.get(patch) else {
                return Err(refuse(&part.name, format!("there is no patch {patch}")));
            };
            let still = Motion::Uniform([0.0; D]);
            if !matches!(of, PatchCondition::Wall { motion, .. } if *motion == still)
                || params
                    .variations
                    .iter()
                    .any(|v| v.place == Place::Patch(patch))
            {
                let reason = format!(
                    "its patch \"{}\" has a velocity, a rotation or a pressure of its own: give it a wall at rest, for the body's motion is the wall's",
                    mesh.patches[patch]
                );
                return Err(refuse(&part.name, reason));
            }
            owner[patch] = body as u32;
        }
        if let BodyMotion::Free(free) = &bodies.motions[body]
            && let Some(reason) = free.fault()
        {
            return Err(refuse(&part.name, reason));
        }
    }
    Ok(owner)
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The first states, and the momenta of free bodies.
pub(super) fn first<const D: usize>(
    bodies: &RigidBodies<D>,
) -> Result<(Vec<BodyState<D>>, Vec<Momentum>), SolverError> {
    let of = |(n, motion): (usize, &BodyMotion<D>)| match motion {
        BodyMotion::Prescribed(path) => {
            let state = path(0.0);
            let name = &bodies.surface.bodies()[n].name;
            Ok((
                state.map_err(|reason| refuse(name, format!("at root step 0: {reason}")))?,
                Momentum::default(),
            ))
        }
        BodyMotion::Free(free) => Ok((free.start, free.momentum())),
    };
    let both: Result<Vec<_>, SolverError> = bodies.motions.iter().enumerate().map(of).collect();
    Ok(both?.into_iter().unzip())
}

impl<const D: usize> Movement<D> {
    /// An error of a body at a time.
    pub(super) fn fault(&self, body: usize, time: f64, reason: impl AsRef<str>) -> SolverError {
        let name = &self.bodies.surface.bodies()[body].name;
        refuse(name, format!("at root step {time}: {}", reason.as_ref()))
    }

    /// Checks speeds, paths since the last embedding, and that the bodies are in the box.
    pub(super) fn check_states(&self, time: f64) -> Result<(), SolverError> {
        for n in 0..self.states.len() {
            let speed = self.speed(n);
            if speed.is_nan() || speed > MAX_BODY_SPEED {
                let reason = format!(
                    "its fastest point has a speed of {speed:.4} cells a step, and at most {MAX_BODY_SPEED} is possible: choose a smaller Mach number, or move it more slowly"
                );
                return Err(self.fault(n, time, reason));
            }
            let cells = self.moved(n, &self.placed[n]);
            if cells.is_nan() || cells > MAX_BODY_PATH {
                let reason = format!(
                    "it has moved by {cells:.3} cells of the finest level since it was embedded, and at most {MAX_BODY_PATH} are possible: embed it more often (rebin), or let it move without jumps"
                );
                return Err(self.fault(n, time, reason));
            }
            self.check_inside(n, time)?;
        }
        Ok(())
    }

    /// The speed of the fastest point of a body, at most: cells of any level a step of it.
    pub(super) fn speed(&self, body: usize) -> f64 {
        let state = &self.states[body];
        norm(&state.velocity) + norm(&state.spin) * self.reach[body]
    }

    /// How far points of a body are from where they were at another pose, at most: cells of the finest level.
    pub(super) fn moved(&self, body: usize, from: &Pose<D>) -> f64 {
        let pose = &self.states[body].pose;
        let away: [f64; D] = std::array::from_fn(|a| pose.center[a] - from.center[a]);
        let turned = pose.rotation.after(from.rotation.inverse()).vector();
        let path = norm(&away) + norm(&turned) * self.reach[body];
        path * f64::from(1u32 << self.level)
    }

    /// Whether a body is within the box, of periodic axes too.
    fn check_inside(&self, body: usize, time: f64) -> Result<(), SolverError> {
        let (pose, frame) = (&self.states[body].pose, &self.frame);
        let extent = frame.root_cells.map(f64::from);
        let is_near = |a: usize| {
            let x = pose.center[a];
            !(x > self.reach[body] && x + self.reach[body] < extent[a])
        };
        if !(0..D).any(is_near) {
            return Ok(());
        }
        let vertices = self.bodies.surface.vertices(body).iter();
        let scaled = vertices.map(|x| x.map(|x| x / frame.dx));
        let mut placed = pose.apply_all(scaled);
        let leaves = |x: [f64; D]| {
            (0..D).find_map(|a| match (x[a] > 0.0, x[a] < extent[a]) {
                (true, true) => None,
                (is_above, _) => Some((a, usize::from(is_above))),
            })
        };
        let Some((axis, side)) = placed.find_map(leaves) else {
            return Ok(());
        };
        let reason = format!(
            "it leaves the box through the face {}{}: make the box larger, or end the run before",
            ["x", "y", "z"][axis],
            ["-", "+"][side]
        );
        Err(self.fault(body, time, reason))
    }

    /// Checks that no link of a body is above the finest level.
    pub(super) fn check_levels(&self, mesh: &Mesh<D>) -> Result<(), SolverError> {
        let bodies = self.states.len() as u32;
        let moves: Vec<bool> = self.owner.iter().map(|&body| body < bodies).collect();
        let frame = &self.frame;
        match mesh.coarse_link_of(&moves) {
            None => Ok(()),
            Some(at) => Err(self.leaves(std::array::from_fn(|a| {
                (at[a] - frame.origin[a]) / frame.dx
            }))),
        }
    }

    /// Checks that no link of a body is at the border of the finest level, and that no two bodies meet.
    pub(super) fn check_links(&self, cuts: &Cuts<Host>) -> Result<(), SolverError> {
        let bodies = self.states.len() as u32;
        let [moving, other] = match fault::<D>(cuts, self.exchanging, &self.owner, bodies) {
            None => return Ok(()),
            Some(Fault::Border(slot)) => {
                let dx = 1.0 / f64::from(1u32 << self.level);
                let at = self.places.coord[slot];
                return Err(self.leaves(at.map(|c| dx * (4.0 * f64::from(c) + 2.0))));
            }
            Some(Fault::Meets(bodies)) => bodies,
        };
        let name = |of: u32| {
            let found = self.bodies.surface.bodies().get(of as usize);
            found.map_or("what is at rest", |of| of.name.as_str())
        };
        debug_assert!(moving < bodies, "one of two bodies should move");
        let reason = format!(
            "less than {NEAREST_BODIES} cells of the finest level are between it and {}, and there is no contact: keep them apart, or end the run before",
            name(other)
        );
        Err(refuse(name(moving), reason))
    }

    /// Checks both, of a mesh that a device has made, where it found that one does not hold.
    pub(super) fn check_mesh(&self, mesh: &Mesh<D>) -> Result<(), SolverError> {
        self.check_levels(mesh)?;
        self.check_links(&cut_tables(mesh, &self.blocks))
    }

    /// An error of bodies that come to the border of the finest level.
    pub(super) fn leaves(&self, at: [f64; D]) -> SolverError {
        refuse(
            &self.bodies.names(),
            format!(
                "near {at:?} root cells from the lower corner, its surface is beside or in a coarser level: refine a region to the finest level that holds the whole path and two blocks (8 of the finest cells) around it"
            ),
        )
    }
}
