use cutlink_mesher::primitives::Shape3;
use cutlink_solver::{Collision, FaceCondition, Motion, PatchCondition, Place, Plan, WallScheme};
use cutlink_tests::{
    bodies,
    flows::{self, AnyFlow},
    worst,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame, Mesh};

cutlink_tests::backend_test!(
    on_one_thread:
    a_duct_with_an_inlet_and_an_outlet,
    velocity_patches_deliver_what_they_are_given if slow_tests,
    a_plate_thinner_than_a_cell_parts_the_fluid
);

/// What enters through one patch leaves through another, and between them is Poiseuille flow.
fn a_duct_with_an_inlet_and_an_outlet<K: AnyFlow>(kernels: &K) {
    // Walls anywhere between cells.
    let (length, height, middle) = (90.4, 13.4, [48.3, 11.8]);
    let mesh = flows::inside_of_rectangle([length, height], middle, [96, 24]);
    let (speed, viscosity, density) = (0.02, 0.1, 1.01);
    let mut params = flows::params(&mesh, viscosity);
    params.faces = [[FaceCondition::Velocity([0.0; 2]); 2]; 2];
    params.patches = mesh
        .patches
        .iter()
        .map(|name| match name.as_str() {
            "x-" => PatchCondition::Wall {
                scheme: WallScheme::Linear,
                motion: Motion::Uniform([speed, 0.0]),
            },
            "x+" => PatchCondition::Pressure(density),
            _ => PatchCondition::wall(WallScheme::Linear),
        })
        .collect();
    let mut flow = flows::start(kernels, &mesh, params);
    flow.advance(15_000).expect("steps");
    flow.check().expect("no divergence");
    let snapshot = flow.snapshot().expect("a snapshot");
    let bottom = middle[1] - 0.5 * height;
    let columns = [15.5, 45.5, 75.5];
    let (mut through, mut pressure, mut farthest) = ([0.0; 3], [[0.0; 2]; 3], 0.0);
    flows::each_cell(&mesh, &snapshot, |x, _, rho, u| {
        let Some(column) = columns.iter().position(|&c| c == x[0]) else {
            return;
        };
        through[column] += rho * u[0];
        pressure[column][0] += rho / 3.0;
        pressure[column][1] += 1.0;
        if column > 0 {
            let y = (x[1] - bottom) / height;
            let exact = 6.0 * speed * y * (1.0 - y);
            farthest = worst([farthest, (u[0] - exact).abs(), u[1].abs()]);
        }
    });
    // The inlet's density is what the flow makes of it; the mean of the profile is exact to second order in cells.
    for flux in through {
        assert!((flux / through[1] - 1.0).abs() < 2e-3, "{through:?}");
    }
    let mean = through[1] / (height * 3.0 * pressure[1][0] / pressure[1][1]);
    assert!((mean / speed - 1.0).abs() < 0.02, "mean velocity {mean}");
    assert!(
        farthest < 0.04 * speed,
        "{} of the inlet's",
        farthest / speed
    );
    let at = |column: usize| pressure[column][0] / pressure[column][1];
    let slope = (at(1) - at(2)) / 30.0;
    let exact = 12.0 * viscosity * density * speed / (height * height);
    assert!(
        (slope / exact - 1.0).abs() < 0.03,
        "{slope} against {exact}"
    );
    // And the outlet has its pressure, but for that of the velocity (6e-4 of the density at most) and of a cell's slope (4e-4).
    let outlet = at(2) - slope * (middle[0] + 0.5 * length - columns[2]);
    assert!((3.0 * outlet - density).abs() < 1e-3, "{}", 3.0 * outlet);
}

/// A pipe of 16 cells a diameter, its axis at any angle to the lattice. Links miss a part of the inlet's area, at its rim; once the
/// velocity makes up for it, what enters in a steady state is the velocity times the area, by the mass that
/// crosses the links, for these bounce back halfway.
fn velocity_patches_deliver_what_they_are_given<K: AnyFlow>(kernels: &K) {
    // Re 3 and Re 100; there sound takes longer to fade.
    let slow = (0.1, Collision::Trt { magic: 3.0 / 16.0 }, 1500);
    let fast = (0.0032, Collision::Regularized, 6000);
    for (tilt, (viscosity, collision, steps)) in
        [(0.0, slow), (0.5, slow), (0.0, fast), (0.5, fast)]
    {
        let (s, c) = f64::sin_cos(tilt);
        let mesh = pipe(s, c);
        let params = |speed: f64| {
            let condition = |name: &String| match name.as_str() {
                "bottom" => PatchCondition::Wall {
                    scheme: WallScheme::BounceBack,
                    motion: Motion::Uniform([0.0, -s * speed, c * speed]),
                },
                "top" => PatchCondition::Pressure(1.0),
                _ => PatchCondition::wall(WallScheme::Linear),
            };
            let mut params = flows::params(&mesh, viscosity);
            params.collision = collision;
            params.faces = [[FaceCondition::Velocity([0.0; 3]); 2]; 3];
            params.patches = mesh.patches.iter().map(condition).collect();
            params.forces = true;
            params
        };
        let exact = 0.02 * std::f64::consts::PI * 64.0;
        let bottom = mesh.patches.iter().position(|name| name == "bottom");
        let bottom = bottom.expect("an inlet");
        let plan = Plan::new(&mesh, params(0.02)).expect("a plan");
        let share = plan.inflow(Place::Patch(bottom)) / exact;
        assert!(share > 0.95 && share < 0.995, "by links {share}");
        let mut flow = flows::start(kernels, &mesh, params(0.02 / share));
        flow.set(&|_| (1.0, [0.0, -0.02 * s, 0.02 * c]))
            .expect("a start");
        flow.sample_forces_every(u64::MAX);
        flow.advance(steps).expect("steps");
        flow.take_forces().expect("forces");
        // Over two periods of the lowest tone, of a quarter of a wave in the pipe.
        let (mut volume, mut rest, samples) = (0.0, 0.0, 16);
        for _ in 0..samples {
            flow.advance(21).expect("steps");
            let sample = flow.take_forces().expect("forces").pop();
            let inflow = sample.expect("a sample").inflow;
            let (mut sum, mut count) = (0.0, 0.0);
            flows::each_cell(
                &mesh,
                &flow.snapshot().expect("a snapshot"),
                |x, _, rho, _| {
                    // Within a cell and a half of the inlet.
                    if c * (x[2] - 20.2) - s * (x[1] - 20.1) < -10.5 {
                        (sum, count) = (sum + rho, count + 1.0);
                    }
                },
            );
            volume += inflow[bottom] / (sum / count) / f64::from(samples);
            rest += inflow.iter().sum::<f64>() / f64::from(samples);
        }
        assert!(
            (volume / exact - 1.0).abs() < 0.005,
            "viscosity {viscosity}, tilt {tilt}: {volume} of {exact}"
        );
        // All that enters leaves, what walls exchange by interpolation included.
        assert!(
            rest.abs() < 1e-3 * exact,
            "viscosity {viscosity}, tilt {tilt}: {rest}"
        );
    }
}

/// A pipe whose axis lies in the y-z plane, at an angle of this sine and cosine to z.
fn pipe(s: f64, c: f64) -> Mesh<3> {
    let shape = Shape3::Cylinder {
        radius: 8.0,
        height: 24.0,
    };
    let mut surface = shape.surface(1e-3).expect("a pipe");
    for x in &mut surface.vertices {
        let [y, z] = [c * x[1] - s * x[2], s * x[1] + c * x[2]];
        *x = [x[0] + 16.3, y + 20.1, z + 20.2];
    }
    let frame = Frame::new([0.0; 3], 1.0, [32, 40, 40]).expect("a box");
    bodies::mesh_of(&surface, frame, &EmbedParams::new(1, 0.0, Fill::Even))
}

/// Both sides of a plate of a third of a cell have fluid, and links from either side are cut. The lid moves what is
/// above; below, the fluid feels nothing.
fn a_plate_thinner_than_a_cell_parts_the_fluid<K: AnyFlow>(kernels: &K) {
    let surface = flows::rectangle([40.0, 0.3], [8.0; 2]);
    let frame = Frame::new([0.0; 2], 1.0, [16; 2]).expect("a box");
    let mesh = bodies::mesh_of(&surface, frame, &EmbedParams::new(1, 0.0, Fill::NonZero));
    let solid: u32 = mesh.classes.solid.iter().map(|s| s.count_ones()).sum();
    assert_eq!(solid, 0, "no cell's middle is in the plate");
    let lid = |plate: bool| {
        let open = flows::empty_box([16; 2], 1, Vec::new());
        let mesh = if plate { &mesh } else { &open };
        let mut params = flows::params(mesh, 0.1);
        params.faces = [[FaceCondition::Velocity([0.0; 2]); 2]; 2];
        params.faces[1][1] = FaceCondition::Velocity([0.05, 0.0]);
        params.forces = plate;
        let mut flow = flows::start(kernels, mesh, params);
        flow.advance(2000).expect("steps");
        let (mut above, mut below) = (0.0, 0.0);
        flows::each_cell(mesh, &flow.snapshot().expect("a snapshot"), |x, _, _, u| {
            let side = if x[1] > 8.0 { &mut above } else { &mut below };
            *side = worst([*side, u[0].hypot(u[1])]);
        });
        let forces = flow.take_forces().expect("forces");
        let push: f64 = forces
            .last()
            .map_or(0.0, |last| last.patches.iter().map(|patch| patch[0]).sum());
        (above, below, push)
    };
    let (above, below, push) = lid(true);
    assert!(
        above > 0.02 && below < 1e-12,
        "{above} above, {below} below"
    );
    assert!(push < 0.0, "the return flow drags the plate back: {push}");
    let (_, below, _) = lid(false);
    assert!(below > 1e-3, "without the plate there is a flow: {below}");
}
