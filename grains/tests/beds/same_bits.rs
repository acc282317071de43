//! The same bits for any number of threads, after a restart; histories that survive sorts.

use crate::worst::worst;
use crate::{lattice, length, minus, params, start, touch};
use cutlink_grains::{
    Bed, BedViolation, BoxAxis, Grain, GrainError, GrainParams, GrainSide, SurfaceWall,
};
use cutlink_mesher::primitives::Shape3;

/// Some 600 grains that fall on a body, periodic along y.
fn falling() -> (GrainParams, SurfaceWall, Vec<Grain>) {
    let mut params = params(
        [12.0 * 2.2e-3, 10.0 * 2.2e-3, 0.05],
        touch(0.5, 0.4, 0.05),
        1e-5,
    );
    params.domain.axes[1] = BoxAxis::Periodic;
    params.gravity = [0.5, 0.0, -9.81];
    let mut body = Shape3::Sphere { radius: 4e-3 }
        .surface(2e-4)
        .expect("a sphere");
    for p in &mut body.vertices {
        *p = [p[0] + 13e-3, p[1] + 11e-3, p[2] + 4.5e-3];
    }
    let wall = SurfaceWall::new(&body, 0, Some(GrainSide::Outside)).expect("closed");
    let mut grains = lattice([12, 10, 5], 3);
    for grain in &mut grains {
        grain.center[2] += 10e-3;
        grain.velocity[2] -= 0.3;
    }
    (params, wall, grains)
}

fn run(threads: usize, steps: u64) -> (Vec<u8>, Bed) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("a pool").install(|| {
        let (params, wall, grains) = falling();
        let mut bed = Bed::start(params, Some(wall), &grains).expect("a start");
        bed.run(steps).expect("steps");
        (bed.save().expect("memory"), bed)
    })
}

#[test]
fn threads_do_not_change_a_bit_nor_does_a_restart() {
    let (one, bed) = run(1, 5000);
    assert_eq!(bed.validate(), Ok(()));
    assert!(
        bed.touching() > 500 && bed.sorts() > 10,
        "{} {}",
        bed.touching(),
        bed.sorts()
    );
    let facets = bed
        .wall_contacts()
        .iter()
        .filter(|c| c.facet.is_some())
        .count();
    assert!(facets > 10, "{facets} at the body");
    for threads in [2, 5] {
        assert!(run(threads, 5000).0 == one, "{threads} threads");
    }
    let (params, wall, _) = falling();
    let saved = run(2, 4200).0;
    let mut again = Bed::restore(params.clone(), Some(wall.clone()), &saved).expect("a state");
    assert_eq!(again.validate(), Ok(()));
    again.run(800).expect("steps");
    assert!(again.save().expect("memory") == one, "after a restart");
    damaged(&params, &wall, &saved);
}

/// No damaged state is taken for a sound one.
fn damaged(params: &GrainParams, wall: &SurfaceWall, saved: &[u8]) {
    let restore = |bytes: &[u8]| Bed::restore(params.clone(), Some(wall.clone()), bytes);
    for at in [0, 9, 17, 40, 100, 50_000, saved.len() - 1] {
        let mut bytes = saved.to_vec();
        bytes[at] ^= 0x10;
        let error = restore(&bytes).expect_err("damaged");
        assert!(matches!(error, GrainError::Saved { .. }), "{at}: {error}");
    }
    for len in [0, 7, 60, saved.len() - 8, saved.len() - 1] {
        let error = restore(&saved[..len]).expect_err("cut short");
        assert!(matches!(error, GrainError::Saved { .. }), "{len}: {error}");
    }
    // Without the body, its contacts are of no wall.
    let error = Bed::restore(params.clone(), None, saved).expect_err("no surface");
    assert!(matches!(error, GrainError::Saved { .. }), "{error}");
}

/// A heap that friction holds on a slope, with `sorts` candidates made often or seldom: without histories it would creep.
fn heap(skin: f64, grains: &[Grain]) -> Bed {
    let mut params = params(
        [6.0 * 2.2e-3, 6.0 * 2.2e-3, 0.02],
        touch(0.4, 0.6, 0.1),
        1e-5,
    );
    params.skin = skin;
    params.max_overlap = 0.1;
    params.gravity = [1.5, 0.0, -9.81];
    start(params, grains)
}

#[test]
fn sorts_keep_histories() {
    let mut grains = lattice([6, 6, 4], 9);
    grains.iter_mut().for_each(|g| g.velocity = [0.0; 3]);
    let mut settling = heap(0.3, &grains);
    settling.run(30_000).expect("steps");
    // Sorted often, and never: the same sums in other orders.
    let start = settling.grains();
    let (mut often, mut seldom) = (heap(2e-5, &start), heap(1.0, &start));
    for bed in [&mut often, &mut seldom] {
        bed.run(2000).expect("steps");
        assert_eq!(bed.validate(), Ok(()));
        assert!(bed.touching() > 100, "{}", bed.touching());
    }
    assert!(
        often.sorts() > 20 * seldom.sorts(),
        "{} {}",
        often.sorts(),
        seldom.sorts()
    );
    let (a, b) = (often.grains(), seldom.grains());
    let off = worst(
        a.iter()
            .zip(&b)
            .map(|(a, b)| length(minus(a.center, b.center)) / 1e-3),
    );
    assert!(off < 1e-5, "{off:e} radii");
    // A sort by itself changes no force: a grain far away is added.
    let before = often.contact_forces();
    let largest = worst(before.iter().map(|f| length(*f)));
    often
        .insert(&[Grain::at([6e-3, 6e-3, 18e-3], 1e-3)])
        .expect("room");
    assert_eq!(often.validate(), Ok(()));
    let after = often.contact_forces();
    let off = worst(
        before
            .iter()
            .zip(&after)
            .map(|(a, b)| length(minus(*a, *b)) / largest),
    );
    assert!(off < 1e-3, "{off:e}");
}

#[test]
fn validate_finds_what_is_wrong() {
    let sound = heap(0.3, &lattice([3, 3, 1], 1));
    assert_eq!(sound.validate(), Ok(()));
    let violation = BedViolation::Id { id: 3 };
    assert!(violation.to_string().contains("id 3"));
}
