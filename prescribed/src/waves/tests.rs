//! The field of the modes: its divergence, intensity, isotropy, length and net flux; seeds.

use super::{TurbulenceRequest, TurbulenceWaves, WaveBands, turn};
use crate::worst::worst;

const LENGTH: f64 = 0.2;
const SPEED: f64 = 2.0;
const RMS: f64 = 0.05 * SPEED;
/// Sixteen lengths.
const WIDTH: f64 = 16.0 * LENGTH;

fn request(seed: u64, axis: usize) -> TurbulenceRequest {
    let mut face = [[0.3, 0.3 + WIDTH]; 3];
    face[axis] = [-1.0; 2];
    let mut stream = [0.0; 3];
    stream[axis] = SPEED;
    TurbulenceRequest {
        rms: RMS,
        length: LENGTH,
        // Cells of an eighth of the length.
        shortest: 0.5 * LENGTH,
        axis,
        face,
        periodic: [false; 3],
        stream,
        seed,
    }
}

fn waves(request: &TurbulenceRequest) -> TurbulenceWaves {
    let bands = WaveBands::new(request.length, request.shortest).expect("a spectrum");
    TurbulenceWaves::new(request, &bands)
}

#[test]
fn turns_are_the_cosines_and_sines_of_the_library() {
    for n in -4000..4000 {
        let turns = f64::from(n) * 0.001_234_567;
        let (sin, cos) = (std::f64::consts::TAU * (turns - turns.round())).sin_cos();
        let [c, s] = turn(turns);
        assert!(
            (c - cos).abs() < 1e-15 && (s - sin).abs() < 1e-15,
            "{turns}: {c} {cos}, {s} {sin}"
        );
    }
    assert_eq!(turn(0.0), [1.0, 0.0]);
}

/// The largest divergence at some places, as a share of the root mean square of one component's gradient; by sixth-order
/// differences.
fn divergence(velocity: impl Fn([f64; 3]) -> [f64; 3]) -> f64 {
    let h = 2e-3 * LENGTH;
    let (mut most, mut gradient) = (0.0, 0.0);
    const PLACES: usize = 50;
    for n in 0..PLACES {
        let x = [0.37, 0.71, 0.23].map(|step| (step * n as f64).fract() * 3.0);
        let slope = |a: usize| {
            let at = |k: f64| {
                let mut x = x;
                x[a] += k * h;
                velocity(x)[a]
            };
            (45.0 * (at(1.0) - at(-1.0)) - 9.0 * (at(2.0) - at(-2.0)) + at(3.0) - at(-3.0))
                / (60.0 * h)
        };
        let slopes: [f64; 3] = std::array::from_fn(slope);
        most = worst([most, slopes.iter().sum::<f64>().abs()]);
        gradient += slopes.iter().map(|s| s * s).sum::<f64>() / 3.0;
    }
    most / (gradient / PLACES as f64).sqrt()
}

#[test]
fn the_field_has_no_divergence() {
    for periodic in [false, true] {
        let mut request = request(3, 0);
        request.periodic = [false, periodic, periodic];
        let waves = waves(&request);
        let field = waves.at(1.7);
        let found = divergence(|x| waves.velocity(&field, x));
        assert!(found < 1e-8, "{found}");
        let turned = divergence(|x| {
            let [u, v, w] = waves.velocity(&field, x);
            [u, w, v]
        });
        assert!(turned > 0.1, "and it is seen: {turned}");
    }
}

/// Velocities over the face (by place) at many times.
fn sampled(request: &TurbulenceRequest, waves: &TurbulenceWaves) -> Vec<Vec<[f64; 3]>> {
    let of_time = |n: usize| {
        let field = waves.at(0.37 * n as f64 * LENGTH / SPEED);
        let places = (0..64).map(|place| {
            let share = [(place % 8) as f64 + 0.5, (place / 8) as f64 + 0.5].map(|s| s / 8.0);
            let mut x = request.face.map(|[low, _]| low);
            for (n, share) in share.into_iter().enumerate() {
                x[(request.axis + 1 + n) % 3] += share * WIDTH;
            }
            waves.velocity(&field, x)
        });
        places.collect()
    };
    (0..4000).map(of_time).collect()
}

fn rms(samples: &[Vec<[f64; 3]>]) -> [f64; 3] {
    let all = samples.iter().flatten();
    let count = all.clone().count() as f64;
    let mut sum = [0.0; 3];
    all.for_each(|u| (0..3).for_each(|a| sum[a] += u[a] * u[a]));
    sum.map(|s| (s / count).sqrt())
}

/// The integral length along the stream, of the component along it: its autocorrelation in time up to the first zero,
/// times the speed.
fn longitudinal(samples: &[Vec<[f64; 3]>], axis: usize) -> f64 {
    let step = 0.37 * LENGTH;
    let correlation = |lag: usize| -> f64 {
        let pairs = samples.iter().zip(&samples[lag..]);
        let sum = |(a, b): (&Vec<[f64; 3]>, &Vec<[f64; 3]>)| -> f64 {
            a.iter().zip(b).map(|(a, b)| a[axis] * b[axis]).sum()
        };
        let count = samples.len() - lag;
        pairs.map(sum).sum::<f64>() / count as f64
    };
    let whole = correlation(0);
    // Trapezoids.
    let mut sum = 0.5;
    for lag in 1.. {
        let share = correlation(lag) / whole;
        if share < 0.0 {
            break;
        }
        sum += share;
    }
    sum * step
}

#[test]
fn intensity_isotropy_and_length_are_those_asked_for() {
    for (seed, axis) in [(1, 0), (2, 1), (7, 2)] {
        let request = request(seed, axis);
        let samples = sampled(&request, &waves(&request));
        let found = rms(&samples);
        let mean = (found.iter().map(|u| u * u).sum::<f64>() / 3.0).sqrt();
        for of in found {
            assert!(
                (of / RMS - 1.0).abs() < 0.05,
                "seed {seed}: {found:?}, asked {RMS}"
            );
            assert!((of / mean - 1.0).abs() < 0.05, "seed {seed}: {found:?}");
        }
        let length = longitudinal(&samples, axis);
        assert!(
            (length / LENGTH - 1.0).abs() < 0.15,
            "seed {seed}: {length}"
        );
        // Across the stream, the components have half of the length.
        let across = longitudinal(&samples, (axis + 1) % 3);
        assert!(
            (0.3..0.75).contains(&(across / LENGTH)),
            "seed {seed}: {across}"
        );
    }
}

#[test]
fn long_cells_keep_intensity_and_length() {
    // The shortest wave is as long as the integral length.
    let request = TurbulenceRequest {
        shortest: LENGTH,
        ..request(5, 0)
    };
    let bands = WaveBands::new(LENGTH, LENGTH).expect("a spectrum");
    assert!((0.5..0.9).contains(&bands.share), "{}", bands.share);
    let samples = sampled(&request, &waves(&request));
    for of in rms(&samples) {
        assert!((of / RMS - 1.0).abs() < 0.05, "{of}, asked {RMS}");
    }
    let length = longitudinal(&samples, 0);
    assert!((length / LENGTH - 1.0).abs() < 0.15, "{length}");
    assert!(WaveBands::new(0.2 * LENGTH, LENGTH).is_none(), "too coarse");
    let fine = WaveBands::new(LENGTH, 1e-3 * LENGTH).expect("a spectrum");
    assert!((0.95..1.0).contains(&fine.share), "{}", fine.share);
}

#[test]
fn the_face_lets_no_net_flux_through() {
    for periodic in [false, true] {
        let mut request = request(4, 0);
        request.periodic = [false, periodic, periodic];
        // Five lengths, where the flux would be large.
        request.face[1] = [0.0, 5.0 * LENGTH];
        request.face[2] = [0.0, 6.0 * LENGTH];
        let waves = waves(&request);
        let field = waves.at(0.9);
        let (mut sum, mut size) = ([0.0; 3], 0.0);
        const N: usize = 80;
        for place in 0..N * N {
            let share = [place % N, place / N].map(|n| (n as f64 + 0.5) / N as f64);
            let x = [-1.0, share[0] * 5.0 * LENGTH, share[1] * 6.0 * LENGTH];
            let u = waves.velocity(&field, x);
            (0..3).for_each(|a| sum[a] += u[a]);
            size += u[0] * u[0];
        }
        let count = (N * N) as f64;
        let size = (size / count).sqrt();
        let [normal, across, _] = sum.map(|s| s.abs() / count / size);
        assert!(normal < 2e-4, "{normal}");
        assert!(periodic || across > 1e-2, "others are free: {across}");
        // Along periodic axes the waves fit.
        let [a, b] = [0.0, 5.0 * LENGTH].map(|y| waves.velocity(&field, [-1.0, y, 0.4]));
        let apart = worst((0..3).map(|n| (a[n] - b[n]).abs()));
        assert_eq!(apart < 1e-12, periodic, "{apart}");
    }
}

#[test]
fn a_seed_gives_the_same_bits_and_another_seed_others() {
    let at = |seed: u64| {
        let waves = waves(&request(seed, 0));
        waves
            .velocity(&waves.at(12.3), [0.1, 0.2, 0.3])
            .map(f64::to_bits)
    };
    assert_eq!(at(1), at(1));
    assert_ne!(at(1), at(2));
    // Fields of two seeds are not correlated.
    let [a, b] = [1, 2].map(|seed| {
        let request = request(seed, 0);
        sampled(&request, &waves(&request))
    });
    let pairs = a.iter().flatten().zip(b.iter().flatten());
    let both: f64 = pairs.map(|(a, b)| a[0] * b[0]).sum();
    let count = (a.len() * a[0].len()) as f64;
    assert!((both / count).abs() < 0.05 * RMS * RMS, "{both}");
}
