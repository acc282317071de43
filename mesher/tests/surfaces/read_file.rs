//! Reading from the file system: what is no file, and what is not there.

use cutlink_mesher::read::{AnySurface, ReadError, read_any};

#[test]
fn a_folder_and_a_missing_file_are_named() {
    let folder = tempfile::tempdir().expect("a temporary folder should be had");
    let error = read_any(folder.path()).expect_err("a folder is no file");
    assert!(matches!(error, ReadError::NotAFile { .. }), "{error}");
    let missing = folder.path().join("missing.stl");
    let error = read_any(&missing)
        .expect_err("the file is missing")
        .to_string();
    assert!(error.contains("missing.stl"), "{error}");
}

/// A binary STL of so many triangles, none of them degenerate.
fn stl(triangles: u32) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend(triangles.to_le_bytes());
    for i in 0..triangles {
        let x = i as f32;
        let corners = [[x, 0.0, 0.0], [x + 1.0, 0.0, 0.0], [x, 1.0, 0.0]];
        bytes.extend([0; 12]);
        bytes.extend(corners.as_flattened().iter().flat_map(|c| c.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// A mapped file ended this whole process with SIGBUS here.
#[test]
fn a_file_that_is_cut_while_it_is_read_is_an_error() {
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
    let folder = tempfile::tempdir().expect("a temporary folder should be had");
    let path = folder.path().join("cut.stl");
    let whole = stl(200_000);
    let (mut cut, mut sound) = (0, 0);
    // Cut at other moments each time, until some reads were interrupted; others come before or after the cut.
    for round in 0..400u64 {
        std::fs::write(&path, &whole).expect("the folder should be writable");
        let file = std::fs::OpenOptions::new().write(true).open(&path);
        let file = file.expect("the file should be writable");
        let begun = AtomicBool::new(false);
        let read = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !begun.load(Relaxed) {
                    std::hint::spin_loop();
                }
                let wait = std::time::Duration::from_micros(37 * (round % 100));
                let since = std::time::Instant::now();
                while since.elapsed() < wait {
                    std::hint::spin_loop();
                }
                file.set_len(4096).expect("the file should be cut");
            });
            begun.store(true, Relaxed);
            read_any(&path)
        });
        match read {
            Ok(AnySurface::D3(loaded)) => {
                assert_eq!(loaded.surface.facets.len(), 200_000);
                sound += 1;
            }
            Ok(other) => panic!("{other:?}"),
            Err(ReadError::Changed { before, read, .. }) => {
                assert_eq!(before, whole.len() as u64);
                assert!(read < before, "{read} of {before} bytes");
                cut += 1;
            }
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("truncated"), "opened after the cut: {text}");
            }
        }
        if cut > 2 && sound > 2 {
            break;
        }
    }
    assert!(cut > 0, "no read was interrupted ({sound} came first)");
}
