//! Notes on a case that its user should know before the flow runs.

use cutlink_solver::{FaceCondition, Params, Plan};

/// Notes on the flow of a plan.
pub(super) fn of<const D: usize>(plan: &Plan<'_, D>) -> Vec<String> {
    let params = &plan.params;
    let mut notes = Vec::new();
    if let Some(face) = wall_beside_stream(params) {
        notes.push(format!(
            "{face} has a tangential velocity, which makes it a moving wall with a boundary layer; for a free \
             stream use \"far-field\" or \"free-slip\""
        ));
    }
    let census = &plan.census;
    if let Some(unstable) = plan.at_moving_walls() {
        notes.push(unstable.to_string());
    }
    if !params.modeled.is_empty() {
        notes.push(
            "with a wall model, where the flow leaves a smooth surface depends on the mesh: compare forces on two meshes \
             (docs/validation.md)"
                .into(),
        );
    }
    let drift = 1e5 * census.inflow / census.volume;
    if drift.abs() > 1e-4 && plan.holds_density() {
        notes.push(format!(
            "the moving walls of this closed box have a net mass flux, which would change its density by \
             {drift:+.1e} % in 1000 root steps; the mean density is reset every {} root steps, and pressures are \
             relative to it",
            cutlink_solver::HOLD_EVERY
        ));
    }
    notes
}

/// A face with a tangential velocity in a box with a flow through another face.
fn wall_beside_stream<const D: usize>(params: &Params<D>) -> Option<String> {
    let faces = params.faces.iter().enumerate();
    let moving = faces.flat_map(|(axis, faces)| {
        faces
            .iter()
            .enumerate()
            .filter_map(move |(side, face)| match face {
                FaceCondition::Velocity(v) if v.iter().any(|&v| v != 0.0) => {
                    Some((axis, side, v[axis]))
                }
                _ => None,
            })
    });
    let (walls, through): (Vec<_>, Vec<_>) = moving.partition(|&(.., normal)| normal == 0.0);
    let (axis, side, _) = walls.first().filter(|_| !through.is_empty())?;
    Some(format!("{}{}", ["x", "y", "z"][*axis], ["-", "+"][*side]))
}
