//! Thread pools of a given size, checked against the available memory.

use crate::{Error, ErrorKind};

/// Maximum number of threads: above the core count of any machine, low enough for its memory.
const MAX_THREADS: usize = 4096;

/// Stack of a worker thread, in bytes.
const STACK: usize = 2 << 20;

/// Memory of a thread besides its stack, in bytes: signal stack, guard pages, its share of the heap.
const BESIDE_STACK: u64 = 1 << 18;

/// Address space that a thread's heap may reserve, in bytes.
const ARENA: u64 = 128 << 20;

/// Checks that the stacks of the threads fit into memory. A thread that runs out of memory at its start ends the
/// process, and the pool cannot detect that.
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

/// Runs `work` on a thread pool of `threads` workers, 0 for one per core.
///
/// # Errors
/// Errors of `work`; too many threads, or more than fit into memory.
pub fn install<R: Send>(
    threads: usize,
    work: impl FnOnce() -> Result<R, Error> + Send,
) -> Result<R, Error> {
    if threads > MAX_THREADS {
        return Err(Error::input(format!(
            "--threads is {threads}: the maximum is {MAX_THREADS}"
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
            // If address space is scarce, the heap of the first thread (up to `ARENA`, most of it released at once) may
            // leave too little for the stack of the next.
            let wanted = count as u64 * (STACK as u64 + ARENA);
            let free = cutlink_device::memory::available();
            let kind = if free < wanted {
                ErrorKind::Memory
            } else {
                ErrorKind::Runtime
            };
            let message = format!("cannot start {count} threads");
            Err(Error::new(kind, message).because(&e).hint(format!(
                "use fewer --threads: {count} threads may reserve up to {wanted} bytes of address space, {free} \
                 bytes are free"
            )))
        }
    }
}
