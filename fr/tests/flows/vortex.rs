//! The isentropic vortex of Wang, Witherden & Jameson, J. Comput. Phys. 502 (2024) 112823: errors after one period, as
//! printed in its tables 1 (box of 25, uniform meshes), 2 (the same on meshes that follow the vortex), 4 (box of 100) and 5
//! (in 3D).

use crate::{on_one_thread, params};
use cutlink_amr::linear::{Grid, Leaves};
use cutlink_device::Host;
use cutlink_fr::{
    ElementAdaptation, EulerFlow, IsentropicVortex, Sensor, TimeStep, kernels::Kernels,
};

/// The L2 error of the density after a period of the box of 25, on a uniform mesh.
fn error(order: usize, elements: u32, step: f64) -> f64 {
    let vortex = IsentropicVortex::w24(25.0);
    let grid = Grid::new([elements; 2], [true; 2]).expect("a root grid");
    let leaves = Leaves::new(&Host, grid).expect("leaves");
    // Steps longer than the paper's 0.001, and its errors all the same: those of space dominate.
    let params = params(order, TimeStep::Fixed(step));
    let mut flow = EulerFlow::<2>::new(&leaves, [-12.5; 2], [12.5; 2], params).expect("a flow");
    flow.set(|x| vortex.at(0.0, x));
    flow.advance_to(25.0).expect("a vortex");
    flow.density_error(|x| vortex.at(25.0, x).density)
}

/// The error with three digits is the printed one.
#[expect(clippy::print_stdout, reason = "shown where asked for")]
fn is_as_printed(order: usize, elements: u32, step: f64, printed: &str) {
    let found = error(order, elements, step);
    println!("p{order}, {elements}²: {found:.4e}, W24 {printed}");
    assert_eq!(format!("{found:.2e}"), printed, "p{order}, {elements}²");
}

#[test]
fn errors_are_those_printed() {
    on_one_thread(|| {
        is_as_printed(1, 64, 0.02, "1.75e-2");
        if crate::is_slow() {
            is_as_printed(2, 64, 0.00625, "4.30e-4");
        }
    });
}

#[test]
#[ignore = "it takes minutes"]
fn the_error_of_a_finer_mesh_is_that_printed() {
    is_as_printed(1, 128, 0.005, "2.68e-3");
}

/// A row of W24's tables 2, 4 and 5: a box of a width, with root elements of the paper's coarsest level.
struct Adaptive<const D: usize> {
    order: usize,
    width: f64,
    root: [u32; D],
    /// Levels from the root elements to the finest ones.
    finest: u32,
    step: f64,
}

impl<const D: usize> Adaptive<D>
where
    f64: Kernels<D>,
{
    /// The L2 error after one period, and the elements then.
    fn run(&self) -> (f64, usize) {
        let edge = self.width / f64::from(self.root[0]);
        let upper = std::array::from_fn(|a| match a {
            2 => edge,
            _ => 0.5 * self.width,
        });
        let lower = std::array::from_fn(|a| if a == 2 { 0.0 } else { -0.5 * self.width });
        let vortex = IsentropicVortex::w24(self.width);
        let grid = Grid::new(self.root, [true; D]).expect("a root grid");
        let leaves = Leaves::new(&Host, grid).expect("leaves");
        let params = params(self.order, TimeStep::Fixed(self.step));
        let mut flow = EulerFlow::<D>::new(&leaves, lower, upper, params).expect("a flow");
        let adaptation = ElementAdaptation {
            // The paper's: every 10 steps of 0.001.
            every: (0.01 / self.step).round().max(1.0) as u64,
            sensor: Sensor::MovingLine {
                from: [0.0; 2],
                velocity: [1.0; 2],
                inner: 5.0,
                outer: 6.0,
            },
            levels: [0, self.finest],
            buffer: 0,
            most_elements: usize::MAX,
            at_bodies: 0,
            places: Vec::new(),
        };
        flow.follow(Some(adaptation)).expect("an adaptation");
        flow.set_adapted(|x| vortex.at(0.0, x)).expect("a vortex");
        flow.advance_to(self.width).expect("a vortex");
        let error = flow.density_error(|x| vortex.at(self.width, x).density);
        (error, flow.leaves().len())
    }

    /// The error is within 5 % of the printed one, with no more elements.
    #[expect(clippy::print_stdout, reason = "shown where asked for")]
    fn is_near(&self, printed: f64, most: usize) {
        let (error, elements) = self.run();
        let Self { order, finest, .. } = self;
        println!(
            "{D}D p{order}, box of {}, {finest} levels: {error:.4e} with {elements} elements; W24 {printed:.2e} with {most}",
            self.width
        );
        assert!((error / printed - 1.0).abs() < 0.05, "{error:e}");
        assert!(elements <= most, "{elements}");
    }
}

/// A row of table 2 (box of 25) or 4 (box of 100).
fn in_2d(width: f64, order: usize, finest: u32, step: f64) -> Adaptive<2> {
    Adaptive {
        order,
        width,
        root: [8; 2],
        finest,
        step,
    }
}

#[test]
fn adaptive_errors_are_near_those_printed() {
    on_one_thread(|| {
        in_2d(25.0, 1, 3, 0.01).is_near(1.75e-2, 865);
        if crate::is_slow() {
            in_2d(25.0, 2, 3, 0.01).is_near(4.30e-4, 856);
        }
    });
}

#[test]
#[ignore = "it takes minutes"]
fn finer_rows_of_table_2() {
    in_2d(25.0, 3, 3, 0.005).is_near(1.22e-5, 856);
    in_2d(25.0, 1, 4, 0.005).is_near(2.68e-3, 2803);
    in_2d(25.0, 2, 4, 0.0025).is_near(5.86e-5, 2809);
    in_2d(25.0, 3, 4, 0.0025).is_near(5.21e-7, 2809);
    in_2d(25.0, 1, 5, 0.0025).is_near(4.01e-4, 10519);
    in_2d(25.0, 2, 5, 0.002).is_near(8.59e-6, 10513);
    in_2d(25.0, 3, 5, 0.001).is_near(3.25e-8, 10627);
}

#[test]
#[ignore = "it takes an hour"]
fn table_4() {
    in_2d(100.0, 1, 5, 0.01).is_near(4.64e-2, 961);
    in_2d(100.0, 2, 5, 0.005).is_near(1.18e-3, 952);
    in_2d(100.0, 3, 5, 0.005).is_near(2.68e-5, 952);
    in_2d(100.0, 1, 6, 0.005).is_near(9.19e-3, 2899);
    in_2d(100.0, 2, 6, 0.0025).is_near(9.19e-5, 2905);
    in_2d(100.0, 3, 6, 0.00125).is_near(5.34e-7, 2905);
    in_2d(100.0, 1, 7, 0.0025).is_near(1.28e-3, 10615);
    in_2d(100.0, 2, 7, 0.002).is_near(9.54e-6, 10609);
    in_2d(100.0, 3, 7, 0.001).is_near(3.46e-8, 10723);
}

/// A row of table 5: elements are cubes, one root element along z.
fn in_3d(order: usize, finest: u32, step: f64) -> Adaptive<3> {
    Adaptive {
        order,
        width: 25.0,
        root: [16, 16, 1],
        finest,
        step,
    }
}

#[test]
#[ignore = "it takes minutes"]
fn coarser_rows_of_table_5() {
    in_3d(1, 2, 0.01).is_near(2.19e-2, 3049);
    in_3d(2, 2, 0.005).is_near(5.37e-4, 3028);
    in_3d(3, 2, 0.0025).is_near(1.53e-5, 3028);
    in_3d(1, 3, 0.005).is_near(3.35e-3, 20703);
}

#[test]
#[ignore = "it takes hours"]
fn finer_rows_of_table_5() {
    in_3d(2, 3, 0.0025).is_near(7.32e-5, 20759);
    in_3d(3, 3, 0.002).is_near(6.52e-7, 20787);
    in_3d(1, 4, 0.0025).is_near(5.01e-4, 160_220);
    in_3d(2, 4, 0.00125).is_near(1.07e-5, 160_346);
    in_3d(3, 4, 0.001).is_near(4.05e-8, 162_082);
}
