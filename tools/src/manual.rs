//! Completions and manual pages, generated from the same definitions as the help.

use crate::cli::Cli;
use crate::console;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;
use cutlink::output;
use cutlink::{Error, ErrorKind};
use std::fs;
use std::io;
use std::path::Path;

/// Prints the completion script of a shell.
///
/// # Errors
/// I/O errors of stdout.
pub fn completions(shell: Shell) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cutlink", &mut script);
    console::print(&String::from_utf8_lossy(&script))
}

/// Prints the main manual page, or writes one page per command into a folder, which is created if needed. Existing
/// pages are replaced.
///
/// # Errors
/// I/O errors.
pub fn man(folder: Option<&Path>) -> Result<(), Error> {
    let all = Cli::command().disable_help_subcommand(true);
    let broken =
        |e: io::Error| Error::new(ErrorKind::Runtime, "cannot create the manual page").because(&e);
    match folder {
        None => {
            let mut page = Vec::new();
            Man::new(all).render(&mut page).map_err(broken)?;
            console::print(&String::from_utf8_lossy(&page))
        }
        Some(folder) => fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(all, folder))
            .map_err(|e| output::failed(folder, &e)),
    }
}
