//! Threads of tests. Tests of all crates take it, by `#[path]`.

#![allow(unreachable_pub, reason = "public in the kit, private elsewhere")]

/// Runs a test with a thread of its own. Tests run side by side: small steps of one would wait for the threads behind steps of
/// another, up to ten times as long.
///
/// # Panics
/// Where no thread starts.
pub fn on_one_thread(test: impl FnOnce() + Send) {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.expect("a thread should start").install(test);
}
