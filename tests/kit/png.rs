//! Decoding of pictures, for tests that look at their pixels. A crate that includes this file needs the crate `png`.

use std::io;

/// Width, height and pixels of a PNG file, with a palette or without.
pub(crate) fn decoded(file: &[u8]) -> ([usize; 2], Vec<[u8; 3]>) {
    let mut decoder = png::Decoder::new(io::Cursor::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().expect("a PNG file");
    let size = [reader.info().width as usize, reader.info().height as usize];
    let mut bytes = vec![0; reader.output_buffer_size().expect("a small picture")];
    reader.next_frame(&mut bytes).expect("its pixels");
    let pixels = bytes.chunks_exact(3).map(|c| [c[0], c[1], c[2]]);
    (size, pixels.collect())
}
