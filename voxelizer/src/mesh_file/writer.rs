//! A mesh file written by several threads: arrays in any order, each at its place, the header last.
//!
//! The places follow from the sizes of the arrays. The file checksum is a sum over words ([`Sum`]), so each piece adds
//! its own share; words that two pieces share are kept until the end. The bytes are those of
//! [`write()`](super::write()).

use super::error::FileError;
use super::header::Entry;
use super::stream::Sum;
use super::write::Plan;
use crate::Mesh;
use bytemuck::NoUninit;
use cutlink_device::FileMap;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Bytes that a thread writes and sums at a time, at least and at most: the most stays in its L2 cache between the two.
const PIECE: [usize; 2] = [1 << 12, 1 << 20];
/// Pieces of a small file.
const PIECES: u64 = 64;
/// Threads that write an array of a file that is not mapped. File systems let one thread at a time copy into a file; the
/// others compute checksums meanwhile.
const WRITERS: usize = 4;
/// Threads from which a file in memory is mapped: one thread fills a mapping at half the rate of positioned writes.
const MAPPED_FROM: usize = 4;

#[cfg(unix)]
fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, at)
}

/// One thread at a time, since the position belongs to the file.
#[cfg(not(unix))]
fn write_at(mut file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    use std::io::{Seek, Write};
    static POSITION: Mutex<()> = Mutex::new(());
    let _held = POSITION.lock().unwrap_or_else(PoisonError::into_inner);
    file.seek(io::SeekFrom::Start(at))?;
    file.write_all(bytes)
}

/// A file in the making.
struct Writer<'a> {
    file: &'a File,
    /// The file, where it is mapped.
    map: Option<FileMap>,
    /// Length of the header, its own length included.
    header: u64,
    entries: BTreeMap<String, Entry>,
    size: u64,
    written: AtomicU64,
    sum: AtomicU64,
    /// Words that a piece has a part of, the rest zero, by index.
    shared: Mutex<BTreeMap<u64, [u8; 8]>>,
}

impl<'a> Writer<'a> {
    /// For arrays of these sizes behind a header of `header` bytes.
    fn new(file: &'a File, header: u64, plan: &Plan) -> Self {
        let (entries, arrays) = plan.sizes.entries();
        let size = header + arrays;
        Self {
            file,
            map: (rayon::current_num_threads() >= MAPPED_FROM)
                .then(|| FileMap::new(file, size))
                .flatten(),
            header,
            entries,
            size,
            written: AtomicU64::new(0),
            sum: AtomicU64::new(0),
            shared: Mutex::default(),
        }
    }

    /// Writes a part of the file from byte `at` on, and adds it to the checksum.
    fn put(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.copy(at, bytes)?;
        self.written.fetch_add(bytes.len() as u64, Relaxed);
        // Up to the next whole word, the whole words, and from the last one on.
        let before = (at.wrapping_neg() % 8) as usize;
        let (before, rest) = bytes.split_at(before.min(bytes.len()));
        let (words, behind) = rest.as_chunks::<8>();
        let first = at.div_ceil(8);
        self.sum.fetch_add(Sum::of(first, words), Relaxed);
        self.share(at, before);
        self.share(8 * (first + words.len() as u64), behind);
        Ok(())
    }

    /// Copies bytes into the file.
    fn copy(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        #[expect(unsafe_code, reason = "threads are kept apart here")]
        let is_there = self.map.as_ref().is_some_and(|map| {
            // SAFETY: pieces of arrays, the header and the checksum do not overlap, and each is copied once.
            unsafe { map.put(at, bytes) }
        });
        if is_there {
            return Ok(());
        }
        write_at(self.file, bytes, at)
    }

    /// Keeps a part of a word.
    fn share(&self, at: u64, bytes: &[u8]) {
        if !bytes.is_empty() {
            let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            let word = shared.entry(at / 8).or_default();
            word[(at % 8) as usize..][..bytes.len()].copy_from_slice(bytes);
        }
    }

    /// Writes a whole array.
    fn array<T: NoUninit>(&self, name: &str, items: &[T]) -> io::Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(items);
        self.pieces(name, bytes.len(), |from, to, put| put(&bytes[from..to]))
    }

    /// Writes an array of one item per block in the new order.
    fn by_block<T: NoUninit + Send>(
        &self,
        name: &str,
        plan: &Plan,
        item: impl Fn(u32) -> T + Sync,
    ) -> io::Result<()> {
        let (width, bytes) = (size_of::<T>(), size_of::<T>() * plan.blocks());
        self.pieces(name, bytes, |from, to, put| {
            // A piece begins and ends anywhere in an item.
            let items: Vec<T> = (from / width..to.div_ceil(width))
                .map(|new| item(plan.old_id(new as u32)))
                .collect();
            put(&bytemuck::cast_slice(&items)[from % width..][..to - from])
        })
    }

    /// Has several threads of the current pool write an array of `bytes` bytes; `part` passes the bytes of a range.
    fn pieces(
        &self,
        name: &str,
        bytes: usize,
        part: impl Fn(usize, usize, &dyn Fn(&[u8]) -> io::Result<()>) -> io::Result<()> + Sync,
    ) -> io::Result<()> {
        let [from, to] = self.entries[name].data_offsets;
        assert_eq!(
            to - from,
            bytes as u64,
            "{name} should be as long as planned"
        );
        let (start, next) = (self.header + from, AtomicUsize::new(0));
        let piece = ((self.size / PIECES) as usize).clamp(PIECE[0], PIECE[1]);
        let writers = rayon::current_num_threads();
        let writers = match self.map {
            Some(_) => writers,
            None => writers.min(WRITERS),
        };
        (0..writers)
            .into_par_iter()
            .with_max_len(1)
            .try_for_each(|_| {
                loop {
                    let from = next.fetch_add(piece, Relaxed);
                    if from >= bytes {
                        return Ok(());
                    }
                    let to = bytes.min(from + piece);
                    part(from, to, &|bytes| self.put(start + from as u64, bytes))?;
                }
            })
    }

    /// Writes the header and the checksum; returns the bytes of the file.
    fn finish(mut self, header: &[u8]) -> io::Result<u64> {
        assert_eq!(
            header.len() as u64,
            self.header,
            "the header should be as long as planned"
        );
        self.put(0, header)?;
        let written = *self.written.get_mut();
        assert_eq!(written + 8, self.size, "every array should be written");
        let shared = self
            .shared
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        let shared = std::mem::take(shared).into_iter();
        let shared = shared.map(|(i, word)| Sum::of(i, &[word]));
        let sum = shared.fold(*self.sum.get_mut(), u64::wrapping_add);
        self.copy(written, &sum.to_le_bytes())?;
        Ok(self.size)
    }
}

/// Writes a mesh into an empty file, in parallel on the current thread pool; `extra` and the bytes are those of
/// [`write()`](super::write()). `meanwhile` runs beside the writing and returns [`Mesh::checksum`], which the header
/// holds. Returns the bytes written, and the second value of `meanwhile`.
///
/// # Errors
/// As [`write()`](super::write()).
pub fn write_file<const D: usize, T: Send>(
    mesh: &Mesh<D>,
    extra: &BTreeMap<String, String>,
    file: &File,
    meanwhile: impl FnOnce() -> (u64, T) + Send,
) -> Result<(u64, T), FileError> {
    let plan = Plan::of(mesh)?;
    let writer = Writer::new(file, plan.header(mesh, extra, 0)?.len() as u64, &plan);
    let (written, (checksum, value)) = rayon::join(|| put_all(&writer, &plan, mesh), meanwhile);
    written?;
    let bytes = writer.finish(&plan.header(mesh, extra, checksum)?)?;
    Ok((bytes, value))
}

/// Writes all arrays of a mesh on the host.
fn put_all<const D: usize>(writer: &Writer<'_>, plan: &Plan, mesh: &Mesh<D>) -> io::Result<()> {
    let (classes, forest, links) = (&mesh.classes, &mesh.forest, &mesh.links);
    let masks = [
        ("solid", &classes.solid),
        ("boundary", &classes.boundary),
        ("ghost", &classes.ghost),
        ("interface", &classes.interface),
    ];
    if plan.is_canonical() {
        for (name, mask) in masks {
            writer.array(name, mask)?;
        }
        writer.array("coord", &forest.coord)?;
        writer.array("first_child", &forest.first_child)?;
        writer.array("link_blocks", &links.blocks)?;
    } else {
        for (name, mask) in masks {
            writer.by_block(name, plan, |old| mask[old as usize])?;
        }
        writer.by_block("coord", plan, |old| forest.coord[old as usize])?;
        writer.by_block("first_child", plan, |old| {
            plan.renumbered(forest.first_child[old as usize])
        })?;
        let rows: Vec<u32> = links
            .blocks
            .iter()
            .map(|&old| plan.renumbered(old))
            .collect();
        writer.array("link_blocks", &rows)?;
    }
    writer.array("level_start", &plan.level_start)?;
    writer.array("link_cells", &links.cells)?;
    writer.array("link_cell_start", &links.cell_start)?;
    writer.array("link_q", &links.q)?;
    writer.array("link_patch", &links.patch)
}
