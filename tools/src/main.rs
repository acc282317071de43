//! See the library.

use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: cutlink_tools::allocator::EndingAllocator =
    cutlink_tools::allocator::EndingAllocator;

fn main() -> ExitCode {
    cutlink_tools::run(&cutlink_tools::parse()).into()
}
