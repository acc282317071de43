//! Bounds at moving walls.

use crate::solve::{case::Case, resolve::CaseGrid};
use cutlink_meshing::mesh::build::bare;
use cutlink_solver::Plan;

/// A cavity of 8 cells with a lid, by its collision and the cell Reynolds number at the lid.
fn lid_of(collision: &str, cell_reynolds: f64) -> Option<String> {
    let text = format!(
        "[domain]\nbox = [0, 0, 1, 1]\nroot = 8\n[physics]\nre = {}\nlength = 1\nvelocity = 1\n[numerics]\ncollision = \
         \"{collision}\"\n[boundary]\n\"x-\" = \"no-slip\"\n\"x+\" = \"no-slip\"\n\"y-\" = \"no-slip\"\n\"y+\" = {{ type = \
         \"velocity\", velocity = [1, 0] }}\n[run]\nsteps = 1\n",
        8.0 * cell_reynolds
    );
    let case = Case::parse("case.toml", &text).expect("a case");
    let domain = case.domain.as_ref().expect("a box");
    let mesh = bare::<2>(&domain.bounds, &domain.root).expect("a mesh");
    let made = case.resolve("case.toml", CaseGrid::of(&mesh));
    let params = made.expect("a flow").params;
    let plan = Plan::new(&mesh, params).expect("a plan");
    plan.at_moving_walls().map(|unstable| unstable.to_string())
}

#[test]
fn lids_are_bounded_by_the_cells_there() {
    for (collision, bound, instead) in [
        ("bgk", 8.0, true),
        ("trt", 20.0, true),
        ("regularized", 45.0, false),
        ("kbc", 40.0, true),
    ] {
        assert_eq!(lid_of(collision, 0.99 * bound), None, "{collision}");
        let text = lid_of(collision, 1.05 * bound).expect("a refusal");
        let names = text.contains("at the moving walls") && text.contains("2 times finer");
        assert!(names, "{text}");
        assert_eq!(
            text.contains("or collision = \"regularized\""),
            instead,
            "{text}"
        );
    }
    // The remedy has to be one: beyond its own bound regularized collision is not named.
    let text = lid_of("kbc", 60.0).expect("a refusal");
    assert!(!text.contains("regularized"), "{text}");
}
