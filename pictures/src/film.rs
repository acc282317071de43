//! Films: pictures one after the other as an animated PNG, which browsers and most viewers show.
//!
//! Format: PNG (third edition, W3C 2025, §4.9), chunks `acTL`, `fcTL` and `fdAT`; 24 bits a pixel, endless. Memory: one
//! frame. Cost: each frame is read and compressed once.

use std::fs::File;
use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

/// Allowed frames per second.
pub const RATES: std::ops::RangeInclusive<u16> = 1..=60;

/// Writes a film of pictures of one size.
///
/// # Errors
/// Those of the writer; a picture that cannot be read or has another size, by its name.
pub fn write_film(frames: &[PathBuf], rate: u16, out: &mut impl Write) -> io::Result<()> {
    let Some(first) = frames.first() else {
        return Err(io::Error::other("a film needs at least one picture"));
    };
    let (size, _) = decoded(first)?;
    let mut encoder = png::Encoder::new(out, size[0], size[1]);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Balanced);
    encoder.set_animated(frames.len() as u32, 0).map_err(said)?;
    encoder.set_frame_delay(1, rate).map_err(said)?;
    let mut writer = encoder.write_header().map_err(said)?;
    for path in frames {
        let (found, pixels) = decoded(path)?;
        if found != size {
            let [width, height] = size;
            let [wide, high] = found;
            return Err(io::Error::other(format!(
                "{} has {wide} × {high} pixels, the first picture {width} × {height}",
                path.display()
            )));
        }
        writer.write_image_data(&pixels).map_err(said)?;
    }
    writer.finish().map_err(said)
}

/// Size and pixels of a picture, three bytes each.
fn decoded(path: &Path) -> io::Result<([u32; 2], Vec<u8>)> {
    let named = |e: io::Error| io::Error::new(e.kind(), format!("{}: {e}", path.display()));
    let file = File::open(path).map_err(named)?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
    let mut reader = decoder.read_info().map_err(|e| named(e.into()))?;
    let bytes = reader
        .output_buffer_size()
        .ok_or_else(|| named(io::Error::other("it is too large")))?;
    let mut pixels = vec![0; bytes];
    let info = reader
        .next_frame(&mut pixels)
        .map_err(|e| named(e.into()))?;
    if info.color_type != png::ColorType::Rgb {
        return Err(named(io::Error::other("it is not a picture in colour")));
    }
    pixels.truncate(info.buffer_size());
    Ok(([info.width, info.height], pixels))
}

fn said(error: png::EncodingError) -> io::Error {
    match error {
        png::EncodingError::IoError(e) => e,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::Canvas;

    /// The frames of a film, by the decoder of the library, and the numerator and denominator of their delays.
    fn frames(film: &[u8]) -> Vec<(Vec<u8>, [u16; 2])> {
        let mut reader = png::Decoder::new(io::Cursor::new(film))
            .read_info()
            .expect("a film");
        let count = reader
            .info()
            .animation_control
            .expect("animated")
            .num_frames;
        (0..count)
            .map(|_| {
                let mut pixels = vec![0; reader.output_buffer_size().expect("small")];
                reader.next_frame(&mut pixels).expect("a frame");
                let control = reader.info().frame_control.expect("its control");
                (pixels, [control.delay_num, control.delay_den])
            })
            .collect()
    }

    #[test]
    fn a_film_has_the_pixels_of_its_pictures_in_order() {
        let folder = std::env::temp_dir().join(format!("cutlink-film-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let paths: Vec<PathBuf> = (0..3).map(|i| folder.join(format!("{i}.png"))).collect();
        let mut wanted = Vec::new();
        for (i, path) in paths.iter().enumerate() {
            let mut canvas = Canvas::new([40, 30]);
            // Of few colours, and of more than a palette has.
            for n in 0..if i == 1 { 1200 } else { 5 } {
                canvas.set([n % 40, n / 40], [n as u8, (n >> 3) as u8, i as u8]);
            }
            let mut file = Vec::new();
            canvas.write_png(&mut file).expect("written");
            wanted.push(crate::png_kit::decoded(&file).1.concat());
            std::fs::write(path, file).expect("disk space");
        }
        let mut film = Vec::new();
        write_film(&paths, 12, &mut film).expect("a film");
        let found = frames(&film);
        assert_eq!(found.len(), 3, "frames");
        for (i, (frame, wanted)) in found.into_iter().zip(wanted).enumerate() {
            assert!(frame.0 == wanted, "frame {i}");
            assert_eq!(frame.1, [1, 12], "frame {i}");
        }
        let mut other = Vec::new();
        Canvas::new([41, 30])
            .write_png(&mut other)
            .expect("written");
        std::fs::write(&paths[2], other).expect("disk space");
        let refused = write_film(&paths, 12, &mut Vec::new()).expect_err("another size");
        assert!(
            refused.to_string().contains("2.png has 41 × 30"),
            "{refused}"
        );
        assert!(write_film(&[], 12, &mut Vec::new()).is_err(), "no picture");
        std::fs::remove_dir_all(&folder).expect("removed");
    }
}
