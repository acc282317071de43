//! Thread pools of a given size, checked against the memory that they need.

use crate::error::{Error, ErrorKind};

/// More threads than any machine has cores, fewer than would exhaust its memory.
const MAX_THREADS: usize = 4096;

/// Stack of a worker thread, in bytes.
const STACK: usize = 2 << 20;

/// What a thread needs beside its stack, in bytes: signal stack, guard pages, its share of the heap.
const BESIDE_STACK: u64 = 1 << 18;

/// Address space that a thread's heap may reserve, in bytes.
const ARENA: u64 = 128 << 20;

/// Refuses threads whose stacks will not fit. A thread that finds too little memory while it starts ends the process,
/// and the pool cannot tell.
///
/// # Errors
/// [`ErrorKind::Memory`].
pub fn check_memory(threads: usize) -> Result<(), Error> {
    let needed = threads as u64 * (STACK as u64 + BESIDE_STACK) + (1 << 20);
    let free = cutlink_device::memory::available();
    if needed <= free {
        return Ok(());
    }
    let s = if threads == 1 { "" } else { "s" };
    Err(Error::new(
        ErrorKind::Memory,
        format!(
            "not enough memory for {threads} thread{s}: {needed} bytes needed, {free} bytes free"
        ),
    )
    .hint("allow more memory (ulimit -v), or give fewer --threads"))
}

/// Runs `work` on a thread pool of `threads` workers, 0 for one a core.
///
/// # Errors
/// Those of `work`; more threads than possible, or than fit into memory.
pub fn install<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if threads > MAX_THREADS {
        return Err(Error::input(format!(
            "--threads is {threads}: at most {MAX_THREADS} are possible"
        )));
    }
    let count = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    check_memory(count)?;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .build();
    match pool {
        Ok(pool) => pool.install(work),
        Err(e) => {
            // Where address space is scarce, the heap of the first thread (up to `ARENA`, most
            // of it given back at once) may leave too little for the stack of the next.
            let wanted = count as u64 * (STACK as u64 + ARENA);
            let free = cutlink_device::memory::available();
            let kind = if free < wanted {
                ErrorKind::Memory
            } else {
                ErrorKind::Runtime
            };
            let message = format!("cannot start {count} threads");
            Err(Error::new(kind, message).because(&e).hint(format!(
                "give --threads a smaller number: {count} may take up to {wanted} bytes of \
                 address space at first, {free} bytes are free"
            )))
        }
    }
}
