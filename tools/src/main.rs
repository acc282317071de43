//! See the library.

use clap::Parser;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: cutlink_tools::allocator::EndingAllocator =
    cutlink_tools::allocator::EndingAllocator;

fn main() -> ExitCode {
    cutlink_tools::run(&cutlink_tools::cli::Cli::parse()).into()
}
