//! The test kit: oracles with arithmetic of their own, comparators that name the first
//! difference, random closed surfaces, bodies and scans.
//!
//! | module | what |
//! |---|---|
//! | [`analytic`] | bodies of known distance and volume |
//! | [`oracle`] | brute force: winding numbers and cuts of links from the definition |
//! | [`compare`] | a mesh against the oracle, a mesh against a mesh by places |
//! | [`arrays`] | a mesh against a mesh, array by array |
//! | [`backends`] | one list of tests for all backends; a backend's mesh against the host's |
//! | [`chains`] | random closed chains of facets on the lattice, for proptest |
//! | [`flows`] | flows with known answers |
//! | [`literature`] | flows whose answer is known: formulas, printed tables |
//! | [`rules`] | random rules for refining, for proptest |
//! | [`bodies`] | surfaces to frames to meshes, rotations, splitting, shapes of known volume |
//! | [`scans`] | the files of `../shared/meshes` |
//! | [`worst()`] | the largest of many differences; NaN if any is |

pub mod analytic;
pub mod arrays;
pub mod backends;
pub mod bodies;
pub mod chains;
pub mod compare;
pub mod flows;
pub mod literature;
pub mod oracle;
pub mod rules;
pub mod scans;
pub mod spectrum;
mod threads;
mod worst;

pub use worst::worst;

#[cfg(test)]
mod tests {
    use super::worst;

    #[test]
    fn the_worst_of_values_with_a_nan_is_nan() {
        assert_eq!(worst([0.5, 2.0, 1e-9]), 2.0);
        assert_eq!(worst([0.5f32, 0.25]), 0.5, "single precision");
        assert_eq!(worst([-3.0, -1.0, -2.0]), -1.0, "no value is 0");
        assert_eq!(worst([0.0, f64::INFINITY]), f64::INFINITY);
        assert_eq!(worst(Vec::<f64>::new()), 0.0, "of none");
        for at in 0..3 {
            let mut values = [0.5, 1e-9, 0.25];
            values[at] = f64::NAN;
            assert!(worst(values).is_nan(), "at {at}");
            values[2] = f64::INFINITY;
            assert!(
                at == 2 || worst(values).is_nan(),
                "at {at}, before infinity"
            );
        }
        assert!(worst([f64::NAN; 2]).is_nan(), "all");
        assert!(worst([1.0, f32::NAN]).is_nan(), "single precision");
    }
}
