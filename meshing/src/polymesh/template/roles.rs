//! What each patch is to the flow: by its type, by its name or group, and faces of the box by the velocity through them.

use super::{Solver, Template};
use crate::polymesh::{BOX_PATCHES, Castellated};
use cutlink_common::Error;
use cutlink_hex::PolyPatch;

/// What a patch is to the flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Role {
    /// Fluid enters with the given velocity.
    Inlet,
    /// Fluid enters along the normal.
    NormalInlet,
    /// Fluid leaves.
    Outlet,
    /// Open to the gas above a liquid.
    Atmosphere,
    /// Fluid passes along it without friction.
    Slip,
    Wall,
    /// A type of OpenFOAM that fields repeat, such as `symmetryPlane`.
    Constraint(String),
}

/// Whether a name or a group says that a patch is this.
fn says(patch: &PolyPatch, what: &str) -> bool {
    let groups = patch.entries.iter().filter(|(key, _)| key == "inGroups");
    let named = |text: &str| text.to_lowercase().contains(what);
    named(&patch.name) || groups.into_iter().any(|(_, groups)| named(groups))
}

/// Of each patch of a mesh.
///
/// # Errors
/// Patches of the surface that do not say what they are; a flow that nothing drives.
pub(super) fn of(template: &Template, made: &Castellated) -> Result<Vec<Role>, Error> {
    let patches = made.mesh.patches.iter().zip(&made.sources);
    let roles: Vec<Role> = patches
        .map(|(patch, source)| role(template, patch, source.is_some()))
        .collect::<Result<_, _>>()?;
    let has = |role: &Role| roles.contains(role);
    let enters = has(&Role::Inlet) || has(&Role::NormalInlet);
    let hint = "say so by the name or group of a patch: --patch NAME=patch,group=inlet";
    if template.speed() > 0.0 && !enters {
        return Err(Error::input("--template: no patch lets fluid in").hint(hint));
    }
    if enters && !has(&Role::Outlet) && !has(&Role::Atmosphere) {
        return Err(Error::input("--template: no patch lets fluid out")
            .hint(hint.replace("inlet", "outlet")));
    }
    if template.solver != Solver::Inter && !enters {
        return Err(
            Error::input("--template: nothing drives the flow, since the velocity is 0")
                .hint("give the velocity: simpleFoam,velocity=20"),
        );
    }
    Ok(roles)
}

fn role(template: &Template, patch: &PolyPatch, of_surface: bool) -> Result<Role, Error> {
    match patch.kind.as_str() {
        "wall" => return Ok(Role::Wall),
        "patch" => {}
        other => return Ok(Role::Constraint(other.to_owned())),
    }
    let moves = template.speed() > 0.0;
    match [says(patch, "inlet"), says(patch, "outlet")] {
        [true, false] if moves && of_surface => return Ok(Role::NormalInlet),
        [true, false] if moves => return Ok(Role::Inlet),
        [true, false] => {
            return Err(Error::input(format!(
                "--template: {} is an inlet, and the velocity is 0",
                patch.name
            ))
            .hint(format!(
                "give the velocity: {},velocity=1",
                template.solver.name()
            )));
        }
        [false, true] => return Ok(Role::Outlet),
        _ => {}
    }
    if says(patch, "atmosphere") {
        return Ok(Role::Atmosphere);
    }
    let Some(side) = BOX_PATCHES.iter().position(|name| *name == patch.name) else {
        return Err(Error::input(format!(
            "--template: is {}, of type patch, an inlet or an outlet?",
            patch.name
        ))
        .hint(format!(
            "--patch {0}=patch,group=inlet, or group=outlet; --patch {0}=wall",
            patch.name
        )));
    };
    let (axis, sign) = (side / 2, if side % 2 == 0 { -1.0 } else { 1.0 });
    let outward = template.velocity[axis] * sign;
    Ok(match template.solver {
        Solver::Inter if side == 5 => Role::Atmosphere,
        // What is far below the speed is a stream along the face, not through it.
        _ if outward < -1e-9 * template.speed() => Role::Inlet,
        _ if outward > 1e-9 * template.speed() => Role::Outlet,
        _ => Role::Slip,
    })
}
