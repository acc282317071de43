//! Pictures against the cells they show.

use super::*;

/// Width, height and red, green, blue of a PNG.
fn pixels(path: &PathBuf) -> ([usize; 2], Vec<[u8; 3]>) {
    let file = std::io::BufReader::new(std::fs::File::open(path).expect("a picture"));
    let mut reader = png::Decoder::new(file).read_info().expect("a PNG file");
    let size = [reader.info().width as usize, reader.info().height as usize];
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    reader.next_frame(&mut bytes).expect("its pixels");
    (
        size,
        bytes.chunks_exact(3).map(|c| [c[0], c[1], c[2]]).collect(),
    )
}

#[test]
fn pictures_show_the_value_of_the_cell_at_each_pixel() {
    let mesh = ball_mesh([4, 4], 3);
    let folder = tempfile::tempdir().expect("a folder");
    let spec =
        parsed("kind = \"picture\"\nwidth = 524\nquantity = \"velocity-y\"\nrange = [-1.0, 1.0]");
    let scale = 0.1 / 3.0 / 1e-3;
    let flow = snapshot(&mesh, 0, |x| {
        (
            1.0,
            [
                0.0,
                if x[0] < 4.0 {
                    -2.0
                } else if x[0] > 12.0 {
                    2.0
                } else {
                    0.0
                } / scale,
            ],
        )
    });
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    let files = writer.write(&mesh, &flow, Moment::End).expect("written");
    let ([width, _], pixels) = pixels(&files[0]);
    let map = colours::colours(colours::Map::Diverging);
    // The frame begins right of 6 and below 19 pixels; 512 pixels are 16 root cells.
    let mut seen = [0; 4];
    for y in (1..512).step_by(3) {
        for x in (1..511).step_by(3) {
            let at = [(x as f64 + 0.5) / 32.0, 16.0 - (y as f64 + 0.5) / 32.0];
            let cell = mesh.forest.leaf_at(at).expect("in the box");
            let solid = mesh.classes.solid[cell.block as usize] >> cell.cell & 1 == 1;
            let found = pixels[(y + 19) * width + x + 6];
            let (what, expected) = match at[0] {
                _ if solid => (0, [[128, 134, 142], [34, 40, 49]]),
                x if x < 4.0 => (1, [map[0]; 2]),
                x if x > 12.0 => (2, [map[255]; 2]),
                _ => (3, [map[127], map[128]]),
            };
            seen[what] += 1;
            assert!(
                expected.contains(&found),
                "pixel {x}, {y}: {found:?}, not {expected:?}"
            );
        }
    }
    assert!(seen.iter().all(|&n| n > 100), "all are seen: {seen:?}");
}

#[test]
fn smooth_pictures_of_linear_fields_are_linear() {
    let mesh = ball_mesh([4, 4], 1);
    let folder = tempfile::tempdir().expect("a folder");
    let spec = parsed(
        "kind = \"picture\"\nwidth = 524\nsmooth = true\nquantity = \"speed\"\nrange = [0.0, 16.0]",
    );
    let scale = 0.1 / 3.0 / 1e-3;
    let flow = snapshot(&mesh, 0, |x| (1.0, [x[0] / scale, 0.0]));
    let mut writer = fresh(folder.path(), &[spec], &mesh);
    let files = writer.write(&mesh, &flow, Moment::End).expect("written");
    let ([width, _], pixels) = pixels(&files[0]);
    let map = colours::colours(colours::Map::Sequential);
    // Below the ball, one cell from the walls, where corners have cells on all sides.
    for x in 40..470 {
        let found = pixels[(19 + 512 - 60) * width + x + 6];
        let share = (x as f64 + 0.5) / 32.0 / 16.0 * 255.0;
        let near = [
            share.floor() - 1.0,
            share.floor(),
            share.ceil(),
            share.ceil() + 1.0,
        ];
        assert!(
            near.iter().any(|&i| map[i as usize] == found),
            "pixel {x}: {found:?}"
        );
    }
}

#[test]
fn memory_of_a_picture_grows_with_its_pixels() {
    let mesh = ball_mesh([4, 4], 2);
    let bytes = |width: usize| {
        let spec = parsed(&format!("kind = \"picture\"\nwidth = {width}"));
        memory(&[spec], false, &mesh)
    };
    // A square box: a value and a grid line take 12 bytes a pixel, a colour 3.
    let least = 15 * 8000 * 8000;
    assert!(bytes(8000) > least, "{}", bytes(8000));
    assert!(bytes(8000) < 2 * least, "{}", bytes(8000));
}
