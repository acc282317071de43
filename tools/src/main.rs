//! See the library.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    cutlink_tools::run(&cutlink_tools::cli::Cli::parse())
}
