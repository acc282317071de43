//! Running means of density and velocity.

use rayon::prelude::*;

/// Welford, Technometrics 4 (1962) 419, in double precision.
pub(super) fn accumulate(density: &[f32], velocity: &[f32], share: f64, values: &mut [[f64; 2]]) {
    assert_eq!(values.len(), density.len() + velocity.len());
    let (of_density, of_velocity) = values.split_at_mut(density.len());
    for (values, fields) in [(of_density, density), (of_velocity, velocity)] {
        values
            .par_iter_mut()
            .zip(fields)
            .with_min_len(1024)
            .for_each(|([mean, squares], &now)| {
                let off = f64::from(now) - *mean;
                *mean += off * share;
                *squares += off * (f64::from(now) - *mean);
            });
    }
}
