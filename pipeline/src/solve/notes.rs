//! What a case does not say, and its user should know before the flow runs.

use cutlink_solver::{Collision, FaceCondition, Params, Plan};

/// Largest u Δx / ν of a moving wall beside which regularized collision has been stable, half of what decision 016 has.
const CALM: f64 = 50.0;

/// What the user should know of the flow and has not asked for.
pub(super) fn of<const D: usize>(plan: &Plan<'_, D>) -> Vec<String> {
    let params = &plan.params;
    let mut notes = Vec::new();
    if let Some(face) = wall_beside_stream(params) {
        notes.push(format!(
            "{face} has a velocity along itself: that is a moving wall, with a boundary layer; for an undisturbed stream take \
             \"far-field\" or \"free-slip\""
        ));
    }
    let census = &plan.census;
    let fastest = match params.has_opening() {
        true => census.turning,
        false => census.fastest,
    };
    let value = fastest / params.viscosity;
    if params.collision == Collision::Regularized && value > CALM {
        notes.push(format!(
            "walls move with u dx / viscosity = {value:.1}: regularized collision has been stable beside such walls up to {CALM}; \
             refine there, or take collision = \"trt\""
        ));
    }
    let drift = 1e5 * census.inflow / census.volume;
    if drift.abs() > 1e-4 && plan.holds_density() {
        notes.push(format!(
            "the moving walls of this closed box cut more links one way than the other, which would change its density by \
             {drift:+.1e} % in 1000 root steps: the mean density is brought back every {} steps, and pressures are relative to it",
            cutlink_solver::HOLD_EVERY
        ));
    }
    notes
}

/// A face that moves along itself where the flow passes through another one.
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
