//! Output of a command: results on stdout, messages and progress on stderr.
//!
//! A reader that closes stdout early (`cutlink … | head`) is not an error. Progress is a bar if stderr is a terminal,
//! and one line per minute otherwise.

use crate::cli::Output;
use crate::exit;
use cutlink::mesh::build::stage_name;
use cutlink::{Error, ErrorKind, Observer};
use cutlink_voxelizer::Stage;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

/// The console of a command.
#[derive(Debug, Clone)]
pub struct Console {
    output: Output,
    bar: ProgressBar,
    lines: Option<Lines>,
}

/// Progress in lines, for logs.
#[derive(Debug, Clone)]
struct Lines {
    steps: u64,
    done: u64,
    next: Instant,
}

/// Time between two lines.
const EVERY: Duration = Duration::from_secs(60);

impl Lines {
    fn new(steps: u64, now: Instant) -> Self {
        Self {
            steps,
            done: 0,
            next: now + EVERY,
        }
    }

    /// The line to print after `steps` more steps, if one is due.
    fn advance(&mut self, steps: u64, status: &str, now: Instant) -> Option<String> {
        self.done += steps;
        if now < self.next {
            return None;
        }
        self.next = now + EVERY;
        let percent = 100.0 * self.done as f64 / self.steps.max(1) as f64;
        Some(format!("{percent:.1} %  {status}"))
    }
}

/// Writes to stdout; a closed pipe is not an error.
///
/// # Errors
/// Any other I/O error of stdout, such as a full disk.
pub fn print(text: &str) -> Result<(), Error> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::new(ErrorKind::Runtime, "cannot write to stdout").because(&e))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr; I/O errors are ignored, as there is nowhere to report them.
pub fn tell(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints an error without the locks of the standard streams, which the failing thread may hold.
pub(crate) fn last_words(failure: &Error, json: bool) {
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
        put(&io::stdout(), &format!("{:#}\n", exit::to_json(failure)));
    }
    put(&io::stderr(), &(exit::text(failure) + "\n"));
}

impl Console {
    /// A console for `--json`, `--quiet` and `--verbose`.
    pub fn new(output: Output) -> Self {
        Self {
            output,
            bar: ProgressBar::hidden(),
            lines: None,
        }
    }

    /// Prints a part of the summary to stdout, except with `--json` or `--quiet`.
    ///
    /// # Errors
    /// As [`print()`].
    pub fn show(&self, text: &str) -> Result<(), Error> {
        if self.output.json || self.output.quiet {
            return Ok(());
        }
        self.bar.suspend(|| print(text))
    }

    /// Prints the JSON object, with `--json`.
    ///
    /// # Errors
    /// As [`print()`].
    pub fn object(&self, object: &impl serde::Serialize) -> Result<(), Error> {
        if !self.output.json {
            return Ok(());
        }
        let text = serde_json::to_string_pretty(object).map_err(|e| {
            Error::new(ErrorKind::Runtime, "cannot create the JSON object").because(&e)
        })?;
        print(&(text + "\n"))
    }
}

impl Observer for Console {
    fn note(&mut self, note: &str) {
        if !self.output.quiet {
            self.bar.suspend(|| tell(&format!("note: {note}")));
        }
    }

    fn wants_summary(&self) -> bool {
        !(self.output.json || self.output.quiet)
    }

    fn wants_details(&self) -> bool {
        self.output.verbose
    }

    fn summary(&mut self, text: &str) -> Result<(), Error> {
        self.show(text)
    }

    fn begin(&mut self, steps: u64) {
        if self.output.quiet {
            return;
        }
        if !io::stderr().is_terminal() {
            self.lines = Some(Lines::new(steps, Instant::now()));
            return;
        }
        let target = ProgressDrawTarget::stderr_with_hz(10);
        self.bar = ProgressBar::with_draw_target(Some(steps), target).with_style(
            ProgressStyle::with_template("{bar:30} {percent:>3} %  {elapsed}  {msg}")
                .expect("the template should be valid"),
        );
    }

    fn advance(&mut self, steps: u64, status: &str) {
        if let Some(lines) = &mut self.lines {
            if let Some(line) = lines.advance(steps, status, Instant::now()) {
                tell(&line);
            }
            return;
        }
        self.bar.inc(steps);
        self.bar.set_message(status.to_owned());
    }

    fn end(&mut self) {
        self.lines = None;
        self.bar.finish_and_clear();
    }

    fn stage(&mut self, stage: Stage, level: usize, seconds: f64) {
        if self.output.verbose {
            let stage = stage_name(stage);
            self.note(&format!("level {level}: {stage} {:.3} ms", 1e3 * seconds));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_one_line_per_minute() {
        let begin = Instant::now();
        let mut lines = Lines::new(200, begin);
        let mut at = |seconds: u64, steps: u64| {
            lines.advance(steps, "9 MLUPS", begin + Duration::from_secs(seconds))
        };
        assert_eq!(at(59, 10), None);
        assert_eq!(at(61, 10).as_deref(), Some("10.0 %  9 MLUPS"));
        assert_eq!(at(62, 10), None, "the next one is a minute later");
        assert_eq!(at(122, 10).as_deref(), Some("20.0 %  9 MLUPS"));
    }
}
