use cutlink_solver::{Collision, FaceCondition};
use cutlink_tests::flows::{self, AnyFlow};

cutlink_tests::backend_test!(faces_reflect_as_much_sound_as_documented);

/// What is left of a pulse of sound (Gaussian, 10 cells) that has been to a face and back, of its first amplitude.
fn echo<K: AnyFlow>(kernels: &K, face: FaceCondition<2>) -> f64 {
    const U: f64 = 0.05;
    let mesh = flows::empty_box([240, 4], 1, Vec::new());
    let mut params = flows::params(&mesh, 1e-3);
    params.collision = Collision::Regularized;
    let far = FaceCondition::FarField {
        velocity: [U, 0.0],
        density: 1.0,
    };
    params.faces[0] = [far, face];
    let mut flow = flows::start(kernels, &mesh, params);
    let (size, c) = (1e-4, (1.0f64 / 3.0).sqrt());
    // A wave that runs to the right alone: u' = c rho'.
    flow.set(&|x| {
        let pulse = size * (-((x[0] - 120.0) / 10.0).powi(2)).exp();
        (1.0 + pulse, [U + c * pulse, 0.0])
    })
    .expect("a start");
    // 120 cells there at c + u and back at c - u.
    flow.advance(420).expect("steps");
    let mut most = 0.0f64;
    flows::each_cell(
        &mesh,
        &flow.snapshot().expect("a snapshot"),
        |_, _, density, _| {
            most = most.max((density - 1.0).abs());
        },
    );
    most / size
}

fn faces_reflect_as_much_sound_as_documented<K: AnyFlow>(kernels: &K) {
    // All of it comes back, less what viscosity takes on the way.
    let whole = echo(kernels, FaceCondition::Pressure(1.0));
    assert!(whole > 0.5 && whole < 0.7, "a pressure face: {whole}");
    let far = FaceCondition::FarField {
        velocity: [0.05, 0.0],
        density: 1.0,
    };
    for (name, face, share) in [
        ("velocity", FaceCondition::Velocity([0.05, 0.0]), 0.9..1.1),
        ("outflow", FaceCondition::Outflow, 0.2..0.35),
        ("far field", far, 0.0..0.02),
    ] {
        let echo = echo(kernels, face) / whole;
        assert!(share.contains(&echo), "{name}: {echo}");
    }
}
