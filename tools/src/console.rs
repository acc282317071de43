//! What the user sees while a command runs: results on stdout, messages and progress on stderr.
//!
//! A reader that closes stdout early (`cutlink … | head`) is not an error. Progress shows
//! only where stderr is a terminal.

use crate::failure::{Failure, Kind};
use crate::options::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write};

/// Where a command's words go.
#[derive(Debug, Clone)]
pub struct Console {
    output: Output,
    bar: ProgressBar,
}

/// Writes to stdout; a closed pipe is fine.
///
/// # Errors
/// Any other fault of stdout, such as a full disk behind it.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(Kind::Runtime, "cannot write to stdout").because(&e))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr; there is nowhere to report a fault of it.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a failure where the usual streams may be locked by whoever just failed.
pub(crate) fn last_words(failure: &Failure, json: bool) {
    #[cfg(unix)]
    fn put(stream: &impl std::os::fd::AsFd, text: &str) {
        if let Ok(copy) = stream.as_fd().try_clone_to_owned() {
            let _ = std::fs::File::from(copy).write_all(text.as_bytes());
        }
    }
    #[cfg(not(unix))]
    fn put<W>(stream: &W, text: &str)
    where
        for<'a> &'a W: Write,
    {
        let _ = (&mut &*stream).write_all(text.as_bytes());
    }
    if json {
        put(&io::stdout(), &format!("{:#}\n", failure.to_json()));
    }
    put(&io::stderr(), &format!("{failure}\n"));
}

impl Console {
    /// A console that obeys `--json`, `--quiet` and `--verbose`.
    pub fn new(output: Output) -> Self {
        Self {
            output,
            bar: ProgressBar::hidden(),
        }
    }

    /// Whether a JSON object is the result.
    pub fn json(&self) -> bool {
        self.output.json
    }

    /// Whether more than usual is wanted.
    pub fn verbose(&self) -> bool {
        self.output.verbose
    }

    /// A piece of the summary: stdout, unless there is to be JSON or silence.
    ///
    /// # Errors
    /// As [`print()`].
    pub fn summary(&self, text: &str) -> Result<(), Failure> {
        if self.output.json || self.output.quiet {
            return Ok(());
        }
        self.bar.suspend(|| print(text))
    }

    /// Something that the user should know, on stderr.
    pub fn note(&self, text: &str) {
        if !self.output.quiet {
            self.bar.suspend(|| tell(&format!("note: {text}")));
        }
    }

    /// The JSON object, where it is wanted.
    ///
    /// # Errors
    /// As [`print()`].
    pub fn object(&self, object: &impl serde::Serialize) -> Result<(), Failure> {
        if !self.output.json {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(object)
            .map_err(|e| Failure::new(Kind::Runtime, "cannot make the JSON object").because(&e))?;
        print(&(text + "\n"))
    }

    /// Starts a progress bar of so many steps.
    pub fn start(&mut self, steps: u64) {
        if self.output.quiet {
            return;
        }
        let target = ProgressDrawTarget::stderr_with_hz(10);
        self.bar = ProgressBar::with_draw_target(Some(steps), target).with_style(
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  {msg}")
                .expect("the template should be valid"),
        );
    }

    /// Names what runs now.
    pub fn working_on(&self, what: impl Into<std::borrow::Cow<'static, str>>) {
        self.bar.set_message(what);
    }

    /// Moves the bar on.
    pub fn step(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
