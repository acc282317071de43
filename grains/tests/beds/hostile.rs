//! Bad input: refused with counts and a place.

use crate::{Numbers, SOFT, params, touch};
use cutlink_grains::{
    Bed, BoxAxis, Grain, GrainError, GrainParams, GrainSide, Material, Materials, SurfaceWall,
};
use cutlink_mesher::primitives::Shape3;

const R: f64 = 1e-3;

fn usual() -> GrainParams {
    params([0.01; 3], touch(0.5, 0.3, 0.0), 1e-6)
}

fn refused(params: GrainParams, surface: Option<SurfaceWall>, grains: &[Grain]) -> GrainError {
    Bed::start(params, surface, grains).expect_err("should be refused")
}

#[test]
fn materials_without_stiffness_and_the_like() {
    let broken = [
        Material { young: 0.0, ..SOFT },
        Material {
            young: f64::NAN,
            ..SOFT
        },
        Material {
            young: f64::INFINITY,
            ..SOFT
        },
        Material {
            poisson: 0.51,
            ..SOFT
        },
        Material {
            poisson: -1.0,
            ..SOFT
        },
        Material {
            density: -1.0,
            ..SOFT
        },
    ];
    for material in broken {
        let error = Materials::alike(&[material], touch(1.0, 0.0, 0.0)).expect_err("broken");
        assert!(matches!(error, GrainError::Value { .. }), "{error}");
    }
    for touch in [
        touch(0.0, 0.0, 0.0),
        touch(1.1, 0.0, 0.0),
        touch(f64::NAN, 0.0, 0.0),
        touch(1.0, -0.1, 0.0),
        touch(1.0, f64::INFINITY, 0.0),
        touch(1.0, 0.0, -1.0),
    ] {
        let error = Materials::alike(&[SOFT], touch).expect_err("broken");
        assert!(matches!(error, GrainError::Value { .. }), "{error}");
    }
    assert!(
        Materials::alike(&[], touch(1.0, 0.0, 0.0)).is_err(),
        "no material"
    );
}

#[test]
fn overlapping_starts() {
    let at = |x: f64| Grain::at([x, 5e-3, 5e-3], R);
    let grains = [at(2e-3), at(3.9e-3), at(6e-3), at(7.5e-3), at(8e-3)];
    let error = refused(usual(), None, &grains);
    let GrainError::Overlap {
        count,
        first,
        second,
        ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!((count, first, second), (3, 0, 1), "{error}");
    assert!(
        error
            .to_string()
            .contains("3 pairs of grains overlap by more than 1 %"),
        "{error}"
    );
    let mut lenient = usual();
    lenient.max_overlap = 0.9;
    assert!(
        Bed::start(lenient, None, &grains[..4]).is_ok(),
        "if it is asked for"
    );
}

#[test]
fn places_outside_and_inside_walls() {
    let outside = [Grain::at([5e-3; 3], R), Grain::at([0.011, 5e-3, 5e-3], R)];
    let error = refused(usual(), None, &outside);
    assert!(
        matches!(
            error,
            GrainError::Place {
                count: 1,
                id: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(error.to_string().contains("outside of the box"), "{error}");
    let near = [
        Grain::at([5e-3, 5e-3, 0.5e-3], R),
        Grain::at([5e-3, 0.1e-3, 5e-3], R),
    ];
    let error = refused(usual(), None, &near);
    assert!(
        matches!(
            error,
            GrainError::Place {
                count: 2,
                id: 0,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("reach into a wall of the box"),
        "{error}"
    );

    let body = Shape3::Sphere { radius: 3e-3 }
        .surface(1e-4)
        .expect("a sphere");
    let wall = |side| Some(SurfaceWall::new(&body, 0, side).expect("closed"));
    let mut around = usual();
    around.domain.lower = [-0.01; 3];
    let grains = [Grain::at([0.0; 3], R), Grain::at([0.0, 0.0, 3.5e-3], R)];
    let error = refused(around.clone(), wall(Some(GrainSide::Outside)), &grains);
    assert!(
        error.to_string().contains("wrong side of the surface"),
        "{error}"
    );
    let error = refused(around.clone(), wall(None), &grains);
    assert!(
        matches!(
            error,
            GrainError::Place {
                count: 1,
                id: 1,
                ..
            }
        ),
        "{error}"
    );
    assert!(
        error.to_string().contains("reach into the surface"),
        "{error}"
    );
    let error = refused(around.clone(), wall(Some(GrainSide::Inside)), &grains);
    assert!(
        matches!(
            error,
            GrainError::Place {
                count: 1,
                id: 1,
                ..
            }
        ),
        "{error}"
    );
    around.domain.axes[0] = BoxAxis::Periodic;
    around.domain.lower[0] = -3.5e-3;
    let error = refused(around, wall(Some(GrainSide::Inside)), &grains[..1]);
    assert!(
        matches!(error, GrainError::SurfaceAtPeriod { axis: "x", .. }),
        "{error}"
    );
}

#[test]
fn numbers_that_are_none() {
    for at in 0..3 {
        let mut grain = Grain::at([5e-3; 3], R);
        match at {
            0 => grain.center[1] = f64::NAN,
            1 => grain.velocity[2] = f64::INFINITY,
            _ => grain.spin[0] = f64::NAN,
        }
        let error = refused(usual(), None, &[grain]);
        assert!(matches!(error, GrainError::Place { id: 0, .. }), "{error}");
    }
    for radius in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = refused(usual(), None, &[Grain::at([5e-3; 3], radius)]);
        assert!(matches!(error, GrainError::Value { .. }), "{error}");
    }
    let mut grain = Grain::at([5e-3; 3], R);
    grain.material = 1;
    let error = refused(usual(), None, &[grain]);
    assert!(
        matches!(
            error,
            GrainError::Length {
                got: 1,
                expected: 0,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn steps_that_do_not_resolve_contacts() {
    let mut params = usual();
    params.dt = 1e-3;
    let error = refused(params.clone(), None, &[Grain::at([5e-3; 3], R)]);
    assert!(
        matches!(
            error,
            GrainError::TimeStep {
                rule: "Rayleigh",
                id: 0,
                ..
            }
        ),
        "{error}"
    );
    params.dt = 1e-5;
    let mut fast = Grain::at([5e-3; 3], R);
    assert!(Bed::start(params.clone(), None, &[fast]).is_ok(), "at rest");
    fast.velocity[0] = 3000.0;
    let error = refused(params, None, &[fast]);
    assert!(
        matches!(error, GrainError::TimeStep { rule: "Hertz", .. }),
        "{error}"
    );
    for dt in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let mut params = usual();
        params.dt = dt;
        let error = refused(params, None, &[]);
        assert!(
            matches!(
                error,
                GrainError::Value {
                    what: "time step",
                    ..
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn boxes_and_periods() {
    let mut flat = usual();
    flat.domain.upper[1] = 0.0;
    assert!(matches!(refused(flat, None, &[]), GrainError::Box { .. }));
    let mut narrow = usual();
    narrow.domain.axes[2] = BoxAxis::Periodic;
    narrow.domain.upper[2] = 5e-3;
    let error = refused(narrow, None, &[Grain::at([2e-3; 3], R)]);
    assert!(
        matches!(error, GrainError::Period { axis: "z", .. }),
        "{error}"
    );
    let mut wall = usual();
    wall.domain.axes[0] = BoxAxis::Walls([Some(3), None]);
    assert!(matches!(
        refused(wall, None, &[]),
        GrainError::Length { got: 3, .. }
    ));
}

#[test]
fn what_diverges_is_named() {
    // Gravity without bounds: grains move by more than their radius in a step.
    let mut params = usual();
    params.gravity = [0.0, 0.0, -1e12];
    let mut bed = Bed::start(params, None, &[Grain::at([5e-3; 3], R)]).expect("a start");
    let error = bed.run(1000).expect_err("too fast");
    assert!(
        matches!(
            error,
            GrainError::Diverged {
                count: 1,
                id: 0,
                ..
            }
        ),
        "{error}"
    );
}

#[test]
fn no_grain_is_a_bed() {
    let mut bed = Bed::start(usual(), None, &[]).expect("nothing");
    bed.run(10).expect("steps");
    assert!(bed.is_empty() && bed.validate().is_ok());
}

#[test]
fn grains_leave_through_open_faces() {
    let mut params = usual();
    params.domain.axes = [BoxAxis::Walls([None; 2]); 3];
    let mut numbers = Numbers(1);
    let mut grains = [Grain::at([2e-3; 3], R), Grain::at([7e-3; 3], R)];
    for grain in &mut grains {
        grain.velocity = numbers.vector().map(|x| 100.0 * (x + 0.1));
    }
    let mut bed = Bed::start(params, None, &grains).expect("a start");
    bed.run(1000).expect("steps");
    assert_eq!(bed.validate(), Ok(()));
    for (before, after) in grains.iter().zip(bed.grains()) {
        assert_eq!(before.velocity, after.velocity, "nothing is there");
        let way = after.center[0] - before.center[0];
        assert!((way / (before.velocity[0] * 1e-3) - 1.0).abs() < 1e-12);
    }
}
