//! Renders of bodies and fields whose pictures are known.

use super::*;
use crate::fields::kinds::OutputKind;
use crate::fields::spec::OutputSpec;
use crate::fields::tests::snapshot;
use crate::fields::units::FieldUnits;
use cutlink_mesher::Surface;
use cutlink_mesher::primitives::Shape3;
use cutlink_meshing::mesh::build::embedded;
use cutlink_solver::{
    Collision, FaceCondition, Interpolation, LatticeKind, Les, Params, PatchCondition, Precision,
    WallScheme,
};
use cutlink_voxelizer::{EmbedParams, Fill, Frame};
use std::f64::consts::PI;

/// A mesh of a surface in a box of edge 8 about the origin, and the facets of the body.
fn meshed(surface: &Surface<3>) -> (Mesh<3>, Body<3>) {
    let frame = Frame::new([-4.0; 3], 0.25, [32; 3]).expect("a box");
    let mut embedding = EmbedParams::new(2, 0.5, Fill::NonZero);
    embedding.robust = false;
    let (mesh, snapped) = embedded(surface, frame, &embedding).expect("a mesh");
    let params = Params {
        lattice: LatticeKind::D3Q19,
        collision: Collision::Bgk,
        les: Les::None,
        precision: Precision::F32,
        viscosity: 0.1,
        acceleration: [0.0; 3],
        faces: [[FaceCondition::FreeSlip; 2]; 3],
        modeled: Vec::new(),
        patches: vec![PatchCondition::wall(WallScheme::Linear); mesh.patches.len()],
        interpolation: Interpolation::Cubic,
        moment_center: [0.0; 3],
        forces: true,
        variations: Vec::new(),
        sponges: Vec::new(),
        adaptation: None,
        heat: None,
    };
    let body = Body::new(&mesh, &snapped, &params, usize::MAX);
    (mesh, body)
}

/// Spheres by middle and radius.
fn spheres(all: &[([f64; 3], f64)]) -> Surface<3> {
    let (mut vertices, mut facets) = (Vec::new(), Vec::new());
    for &(middle, radius) in all {
        let one = Shape3::Sphere { radius }.body(0.003).expect("a sphere");
        let first = vertices.len() as u32;
        let place = |p: &[f64; 3]| -> [f64; 3] { std::array::from_fn(|a| p[a] + middle[a]) };
        vertices.extend(one.vertices.iter().map(place));
        facets.extend(one.facets.iter().map(|f| f.map(|v| v + first)));
    }
    Surface::single_patch(vertices, facets, "body")
}

/// The picture of a flow with a density by place in root cells.
fn picture(
    mesh: &Mesh<3>,
    body: Option<&Body<3>>,
    text: &str,
    density: fn([f64; 3]) -> f64,
) -> (usize, Vec<Rgb>) {
    let spec: OutputSpec = toml::from_str(&format!("kind = \"render\"\n{text}")).expect("a render");
    assert_eq!(spec.kind, OutputKind::Render);
    let spec = resolve(&spec, mesh).expect("a sound render");
    let flow = snapshot(mesh, 0, |x| (density(x), [0.0; 3]));
    let units = FieldUnits::lattice();
    let scene = Scene {
        pressure: None,
        scalars: &[],
        particles: None,
        mesh,
        snapshot: &flow,
        units: &units,
        average: None,
    };
    let canvas = draw(scene, &spec, body).expect("a picture");
    let mut file = Vec::new();
    canvas.write_png(&mut file).expect("written");
    let ([width, _], pixels) = crate::png_kit::decoded(&file);
    let [_, height] = spec.pixels();
    // Without the text above and the bars below.
    let top = 2 * margin_of(spec.width) + text_height(text_size(spec.width));
    (width, pixels[top * width..(top + height) * width].to_vec())
}

/// A view along x from the lower side: y points right to left, z up; 4 lengths high.
const SIDE: &str =
    "width = 400\naspect = 1.0\ncamera = { from = [-9, 0, 0], at = [0, 0, 0], height = 4 }\n";

#[test]
fn the_disk_of_a_sphere_has_its_area() {
    let (mesh, body) = meshed(&spheres(&[([0.0; 3], 1.3)]));
    let (_, pixels) = picture(&mesh, Some(&body), SIDE, |_| 1.0);
    // By the share of body in pixels at the rim, where the shading is even all around on average.
    let inside = pixels.iter().filter(|p| **p != [255; 3]).count() as f64;
    let radius = 130.0;
    let (least, most) = (PI * radius * radius, PI * (radius + 1.0f64).powi(2));
    assert!(
        inside > 0.995 * least && inside < most,
        "{inside}, not {least} to {most}"
    );
    // From a point at distance 9 a sphere is wider: its rim is at radius / sqrt(d² - r²) of the height of the view.
    let text =
        "width = 400\naspect = 1.0\ncamera = { from = [-9, 0, 0], at = [0, 0, 0], angle = 30 }\n";
    let (_, pixels) = picture(&mesh, Some(&body), text, |_| 1.0);
    let inside = pixels.iter().filter(|p| **p != [255; 3]).count() as f64;
    let radius = 1.3 / (81.0f64 - 1.69).sqrt() / 15f64.to_radians().tan() * 200.0;
    let (least, most) = (PI * radius * radius, PI * (radius + 1.0).powi(2));
    assert!(
        inside > 0.995 * least && inside < most,
        "{inside}, not {least} to {most}"
    );
}

#[test]
fn the_nearer_body_hides_the_other() {
    let two = [([-2.0, 0.4, 0.0], 0.7), ([2.0, -0.4, 0.0], 0.7)];
    let (mesh, body) = meshed(&spheres(&two));
    // Pressure by x tells them apart: below the middle of the range in front, above it behind.
    let text = format!("{SIDE}surface = \"pressure\"\nrange = [-1, 1]\n");
    let pressure = |x: [f64; 3]| if x[0] < 16.0 { -2.0 } else { 4.0 };
    for (camera, front, at) in [(-9, true, 0.4), (9, false, 0.4)] {
        let text = text.replace("-9", &camera.to_string());
        let (width, pixels) = picture(&mesh, Some(&body), &text, pressure);
        // Seen from the lower side y points left; from the upper side right. Each body is where its middle is.
        let column = |y: f64| (200.0 - f64::from(camera).signum() * -100.0 * y) as usize;
        let near = if front { at } else { -at };
        for (y, is_blue) in [
            (near, front),
            (near + 0.2, front),
            (-near, !front),
            (0.0, front),
        ] {
            let pixel = pixels[200 * width + column(y)];
            let blue = pixel[2] > pixel[0];
            assert_eq!(blue, is_blue, "y = {y} from {camera}: {pixel:?}");
        }
    }
}

#[test]
fn an_isosurface_is_where_its_field_has_the_value() {
    let (mesh, _) = meshed(&spheres(&[([0.0; 3], 0.5)]));
    // Density falls off from the middle: 1 + 0.1 - r / 100 in lengths; the surface at r = 1.5.
    let field = |x: [f64; 3]| {
        let r = x.map(|x| 0.25 * x - 4.0);
        1.1 - 0.01 * cutlink_pictures::camera::length(r)
    };
    let text = format!(
        "{SIDE}isosurface = {{ field = \"density\", value = 1.085, colour = \"velocity\" }}\n"
    );
    let (_, pixels) = picture(&mesh, None, &text, field);
    let inside = pixels.iter().filter(|p| **p != [255; 3]).count() as f64;
    let (least, most) = (PI * 149.0f64.powi(2), PI * 151.5f64.powi(2));
    assert!(
        inside > least && inside < most,
        "{inside}, not {least} to {most}"
    );
    let none = text.replace("1.085", "1.2");
    let (_, pixels) = picture(&mesh, None, &none, field);
    assert!(
        pixels.iter().all(|p| *p == [255; 3]),
        "no cell has the value"
    );
}

#[test]
fn an_isosurface_ends_at_the_distance_from_the_body() {
    let (mesh, body) = meshed(&spheres(&[([0.0; 3], 0.5)]));
    // A plane through the middle, which the view faces: beside the body a ring of paper is left.
    let field = |x: [f64; 3]| 1.0 + 0.01 * (0.25 * x[0] - 4.0);
    let paper = |wall: f64| {
        let text = format!(
            "{SIDE}isosurface = {{ field = \"density\", value = 1.0, colour = \"velocity\", wall = {wall:?} }}\n"
        );
        let (_, pixels) = picture(&mesh, Some(&body), &text, field);
        pixels.iter().filter(|p| **p == [255; 3]).count() as f64
    };
    assert_eq!(
        paper(0.0),
        0.0,
        "without a distance the plane fills the view"
    );
    for wall in [0.3f64, 0.7] {
        let ring = PI * ((50.0 + 100.0 * wall).powi(2) - 2500.0);
        let found = paper(wall);
        // Pixels at both rims are part body or surface.
        let rims = PI * 2.0 * (100.0 + 100.0 * wall);
        assert!(
            found < ring && found > ring - 1.5 * rims,
            "{wall}: {found} of {ring}"
        );
    }
}

#[test]
fn wrong_keys_are_refused_by_name() {
    let (mesh, _) = meshed(&spheres(&[([0.0; 3], 1.0)]));
    for (text, part) in [
        ("camera = { angle = 150 }", "camera: angle is 150"),
        (
            "camera = { angle = 20, height = 2 }",
            "camera: angle and height exclude",
        ),
        ("camera = { height = 0 }", "camera: height is 0"),
        ("camera = { up = [0, 0, 0] }", "camera: up is zero"),
        (
            "camera = { from = [0, 0, 0], at = [0, 0, 0] }",
            "camera: from and at",
        ),
        (
            "camera = { from = [0, 0, 9], at = [0, 0, 0] }",
            "camera: up points along",
        ),
        (
            "camera = { from = [nan, 0, 9] }",
            "camera: from should be finite",
        ),
        ("aspect = 9", "aspect is 9"),
        ("width = 3", "width is 3"),
        ("range = [0, 1]", "range needs surface"),
        ("surface = \"pressure\"\nrange = [1, 0]", "range [1, 0]"),
        ("isosurface = { value = inf }", "isosurface: value is inf"),
        (
            "isosurface = { value = 1, range = [2, 2] }",
            "isosurface: range [2, 2]",
        ),
        (
            "isosurface = { value = 1, wall = -0.1 }",
            "isosurface: wall is -0.1",
        ),
        ("average = \"rms\"", "average = \"rms\""),
    ] {
        let spec: OutputSpec = toml::from_str(&format!("kind = \"render\"\n{text}")).expect(text);
        let error = resolve(&spec, &mesh).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
    }
    let flat = crate::files_kit::ball_mesh([4, 4], 1);
    let spec = OutputSpec::new(OutputKind::Render);
    let error = resolve(&spec, &flat).expect_err("2D");
    assert!(error.contains("needs a 3D mesh"), "{error}");
    let empty: Mesh<3> = crate::files_kit::ball_mesh([2, 2, 2], 1);
    assert!(
        empty.links.is_empty() || resolve(&spec, &empty).is_ok(),
        "a body or none"
    );
}

#[test]
fn memory_grows_with_pixels_and_with_an_isosurface() {
    let (mesh, _) = meshed(&spheres(&[([0.0; 3], 1.0)]));
    let bytes = |text: &str| {
        let spec: OutputSpec =
            toml::from_str(&format!("kind = \"render\"\naspect = 1.0\n{text}")).expect("one");
        memory(&mesh, &resolve(&spec, &mesh).expect("sound"))
    };
    // Nine samples of eleven bytes, and the colours of the picture.
    assert!(
        bytes("width = 4000") > 99 * 4000 * 4000,
        "{}",
        bytes("width = 4000")
    );
    assert!(
        bytes("width = 4000") < 116 * 4000 * 4000,
        "{}",
        bytes("width = 4000")
    );
    let cells = (mesh.forest.capacity() * 64 * 4) as u64;
    let more = bytes("width = 400\nisosurface = { value = 1 }") - bytes("width = 400");
    assert!(more >= cells, "{more}, the values take {cells}");
}
