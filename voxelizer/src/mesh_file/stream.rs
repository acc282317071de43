//! Bytes through a buffer, counted and summed on the way.

use cutlink_amr::checksum::mix;
use rayon::prelude::*;
use std::io::{self, Read, Write};

/// A multiple of 8, so that only the last piece of a stream can end inside a word.
const BUFFER: usize = 1 << 20;

/// The sum over all 8-byte words w_i of `mix(w_i + i * K)` modulo 2^64, the last word
/// filled up with zeros. `mix` is a bijection: a change of any one word changes the sum.
#[derive(Default)]
pub(super) struct Sum {
    words: u64,
    value: u64,
}

impl Sum {
    /// The sum of consecutive words, `first` being the index of the first one.
    pub(super) fn of(first: u64, words: &[[u8; 8]]) -> u64 {
        let mixed = (first..).zip(words).map(|(i, word)| Self::mixed(i, *word));
        mixed.fold(0, u64::wrapping_add)
    }

    fn add(&mut self, bytes: &[u8]) {
        /// Words that a task takes.
        const PIECE: usize = 1 << 14;
        let (words, rest) = bytes.as_chunks::<8>();
        let first = self.words;
        let pieces = words.par_chunks(PIECE).enumerate();
        let pieces = pieces.map(|(piece, words)| Self::of(first + (piece * PIECE) as u64, words));
        let sum = pieces.reduce(|| 0, u64::wrapping_add);
        self.value = self.value.wrapping_add(sum);
        self.words += words.len() as u64;
        if !rest.is_empty() {
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            self.value = self.value.wrapping_add(Self::mixed(self.words, word));
            self.words += 1;
        }
    }

    fn mixed(index: u64, word: [u8; 8]) -> u64 {
        let key = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mix(u64::from_le_bytes(word).wrapping_add(key))
    }
}

/// A writer that ends with the sum of all it wrote.
pub(super) struct Sink<W> {
    out: W,
    buffer: Vec<u8>,
    sum: Sum,
    written: u64,
}

impl<W: Write + Send> Sink<W> {
    pub(super) fn new(out: W) -> Self {
        Self {
            out,
            buffer: Vec::with_capacity(BUFFER),
            sum: Sum::default(),
            written: 0,
        }
    }

    pub(super) fn put(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BUFFER - self.buffer.len()));
            self.buffer.extend_from_slice(now);
            bytes = later;
            if self.buffer.len() == BUFFER {
                self.drain()?;
            }
        }
        Ok(())
    }

    fn drain(&mut self) -> io::Result<()> {
        let Self {
            out, buffer, sum, ..
        } = self;
        let ((), written) = rayon::join(|| sum.add(buffer), || out.write_all(buffer));
        written?;
        self.written += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Appends the sum; the bytes written in all.
    pub(super) fn finish(mut self) -> io::Result<u64> {
        self.drain()?;
        self.out.write_all(&self.sum.value.to_le_bytes())?;
        self.out.flush()?;
        Ok(self.written + 8)
    }
}

/// A reader of `len` bytes, the last 8 of which are the sum of the others.
pub(super) struct Source<R> {
    input: R,
    buffer: Vec<u8>,
    at: usize,
    /// Bytes before the sum that are not yet in the buffer.
    left: u64,
    sum: Sum,
}

impl<R: Read> Source<R> {
    pub(super) fn new(input: R, len: u64) -> Self {
        Self {
            input,
            buffer: Vec::new(),
            at: 0,
            left: len.saturating_sub(8),
            sum: Sum::default(),
        }
    }

    pub(super) fn take(&mut self, mut into: &mut [u8]) -> io::Result<()> {
        while !into.is_empty() {
            if self.at == self.buffer.len() {
                self.refill()?;
            }
            let count = into.len().min(self.buffer.len() - self.at);
            let (now, later) = into.split_at_mut(count);
            now.copy_from_slice(&self.buffer[self.at..][..count]);
            self.at += count;
            into = later;
        }
        Ok(())
    }

    fn refill(&mut self) -> io::Result<()> {
        let count = self.left.min(BUFFER as u64) as usize;
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.buffer.resize(count, 0);
        self.input.read_exact(&mut self.buffer)?;
        self.sum.add(&self.buffer);
        self.left -= count as u64;
        self.at = 0;
        Ok(())
    }

    /// The sum of all bytes taken, and the one the stream ends with.
    pub(super) fn finish(mut self) -> io::Result<(u64, u64)> {
        let mut stored = [0; 8];
        self.input.read_exact(&mut stored)?;
        Ok((self.sum.value, u64::from_le_bytes(stored)))
    }
}
