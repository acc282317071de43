//! A state in pieces, each of which has a checksum of its own: threads take the checksums of some pieces and write them while the
//! next ones are made.

use super::Sum;
use cutlink_common::Error;
use cutlink_device::lock;
use rayon::prelude::*;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// Bytes of a piece, but for the last one.
pub(super) const PIECE: usize = if cfg!(test) { 300 } else { 8 << 20 };
/// Most threads that write.
const WRITERS: usize = 4;

/// Passes bytes on in pieces, to one thread after the other.
struct Pieces<'a> {
    writers: Vec<SyncSender<(u64, Vec<u8>)>>,
    /// The piece that is filled, and its number.
    piece: Vec<u8>,
    number: u64,
    /// Buffers that were written.
    spare: &'a Mutex<Vec<Vec<u8>>>,
}

impl Pieces<'_> {
    fn pass_on(&mut self) -> io::Result<()> {
        let empty = lock(self.spare).pop();
        let next = empty.unwrap_or_else(|| Vec::with_capacity(PIECE));
        let piece = (self.number, std::mem::replace(&mut self.piece, next));
        let writer = &self.writers[self.number as usize % self.writers.len()];
        self.number += 1;
        // Only an error ends a writer thread early. `write` returns that error in place of this one.
        let ended = |_| io::Error::other("the thread that writes has ended");
        writer.send(piece).map_err(ended)
    }
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.piece.len() == PIECE {
            self.pass_on()?;
        }
        let taken = bytes.len().min(PIECE - self.piece.len());
        self.piece.extend_from_slice(&bytes[..taken]);
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Writes what `save` gives to a file from a place on. Returns its length, and the checksums of its pieces; `broken` is what an I/O
/// error becomes.
pub(super) fn write(
    file: &File,
    first: u64,
    broken: &dyn Fn(io::Error) -> Error,
    save: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(u64, Vec<Sum>), Error> {
    let (file, spare) = (Mutex::new(file), Mutex::default());
    let cores = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let (mut writers, mut threads) = (Vec::new(), Vec::new());
        for _ in 0..WRITERS.min(cores) {
            let (to, pieces) = sync_channel(1);
            writers.push(to);
            threads.push(scope.spawn(|| write_some(&file, first, pieces, &spare)));
        }
        let mut pieces = Pieces {
            writers,
            piece: Vec::with_capacity(PIECE),
            number: 0,
            spare: &spare,
        };
        let mut saved = save(&mut pieces);
        let bytes = pieces.number * PIECE as u64 + pieces.piece.len() as u64;
        if saved.is_ok() && !pieces.piece.is_empty() {
            saved = pieces.pass_on().map_err(broken);
        }
        // The threads end without any more pieces.
        drop(pieces);
        let mut sums = Vec::new();
        for thread in threads {
            let of_thread = thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            sums.extend(of_thread.map_err(broken)?);
        }
        saved?;
        sums.sort_unstable();
        Ok((bytes, sums.into_iter().map(|(_, sum)| sum).collect()))
    })
}

/// Writes pieces as they come; returns their numbers and checksums.
fn write_some(
    file: &Mutex<&File>,
    first: u64,
    pieces: Receiver<(u64, Vec<u8>)>,
    spare: &Mutex<Vec<Vec<u8>>>,
) -> io::Result<Vec<(u64, Sum)>> {
    let mut sums = Vec::new();
    for (number, mut piece) in pieces {
        sums.push((number, Sum::from(Sha256::digest(&piece))));
        {
            let mut file = lock(file);
            file.seek(SeekFrom::Start(first + number * PIECE as u64))?;
            file.write_all(&piece)?;
        }
        piece.clear();
        lock(spare).push(piece);
    }
    Ok(sums)
}

/// Whether the pieces of a file from a place on have these checksums.
pub(super) fn are_whole(path: &Path, first: u64, bytes: u64, sums: &[Sum]) -> io::Result<bool> {
    let of_piece = |piece: &mut Vec<u8>, (n, sum): (usize, &Sum)| {
        let before = (n * PIECE) as u64;
        let mut file = File::open(path)?;
        file.seek(SeekFrom::Start(first + before))?;
        piece.clear();
        file.take(bytes.saturating_sub(before).min(PIECE as u64))
            .read_to_end(piece)?;
        Ok(Sha256::digest(&*piece)[..] == sum[..])
    };
    let all = sums.par_iter().enumerate();
    all.map_init(|| Vec::with_capacity(PIECE), of_piece)
        .try_reduce(|| true, |a, b| Ok(a && b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cutlink_common::ErrorKind;

    /// On a file that cannot be written, with so many bytes that a thread has failed before all are passed on.
    #[test]
    fn the_error_of_a_writer_thread_is_returned() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("read only");
        File::create(&path).expect("a file");
        let file = File::open(&path).expect("a file");
        let broken = |error: io::Error| {
            let text = format!("{:?}", error.raw_os_error());
            Error::new(ErrorKind::Runtime, text)
        };
        let failure = write(&file, 0, &broken, |out| {
            out.write_all(&vec![1; 100 * PIECE]).map_err(broken)
        });
        let failure = failure.expect_err("nothing can be written");
        assert!(
            failure.message.starts_with("Some("),
            "of the system: {failure}"
        );
    }
}
