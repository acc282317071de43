//! A server for one page on this machine alone, which follows a file that is replaced from time to time.
//!
//! | request | answer |
//! |---|---|
//! | `GET /TOKEN/` | a page with the one that is followed in a frame; it asks for the stamp every two seconds |
//! | `GET /TOKEN/page` | the file |
//! | `GET /TOKEN/stamp` | a number that changes with the file, and whether the run goes on |
//! | anything else | 404 |
//!
//! It listens on 127.0.0.1. The token has 128 random bits, so that other users of the machine do not see the page; a name
//! of another host in `Host` is refused, so that no other site reaches it by a name that it points here (DNS rebinding).
//! Nothing of a request reaches the file system. One connection at a time, with a limit on time and size.

use cutlink::{Error, ErrorKind};
use std::fs::{self, Metadata};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Largest head of a request, bytes.
const HEAD: u64 = 8192;
/// Time to read a request or to write a part of an answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// The server ends when nobody has asked for so long.
const IDLE: Duration = Duration::from_secs(30);
/// Time for somebody to open the page.
const FIRST: Duration = Duration::from_secs(600);

const WRAPPER: &str = r#"<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>cutlink</title>
<style nonce="NONCE">html,body{margin:0;height:100%;overflow:hidden}iframe{border:0;width:100%;height:100%}</style>
<iframe src="page" title="report"></iframe>
<script nonce="NONCE">
let last = null;
async function look() {
  try {
    const [stamp, state] = (await (await fetch("stamp", { cache: "no-store" })).text()).split(" ");
    if (last !== null && stamp !== last) document.querySelector("iframe").contentWindow.location.reload();
    last = stamp;
    if (state === "ended") return;
  } catch { return; }
  setTimeout(look, 2000);
}
look();
</script></html>
"#;

/// A listening server.
#[derive(Debug)]
pub(super) struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
    nonce: String,
    file: PathBuf,
}

fn failed(error: &io::Error) -> Error {
    Error::new(ErrorKind::Runtime, "cannot serve the page on 127.0.0.1").because(error)
}

/// So many random bytes in hexadecimal.
fn random<const N: usize>() -> Result<String, Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| {
        Error::new(ErrorKind::Runtime, "the system has no random numbers").because(&e)
    })?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

impl Server {
    /// Listens on a free port.
    ///
    /// # Errors
    /// A system without one.
    pub(super) fn open(file: &Path) -> Result<Self, Error> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| failed(&e))?;
        let port = listener.local_addr().map_err(|e| failed(&e))?.port();
        listener.set_nonblocking(true).map_err(|e| failed(&e))?;
        Ok(Self {
            listener,
            port,
            token: random::<16>()?,
            nonce: random::<16>()?,
            file: file.to_owned(),
        })
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    /// The address of the page.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Answers until nobody asks any more; `goes_on` says whether the file will change.
    ///
    /// # Errors
    /// A listener that fails.
    pub(super) fn serve(&self, goes_on: impl Fn() -> bool) -> Result<(), Error> {
        let mut until = Instant::now() + FIRST;
        while Instant::now() < until {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    // A connection that breaks is that of its client.
                    if self.answer(stream, &goes_on).unwrap_or(false) {
                        until = Instant::now() + IDLE;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(20));
                }
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) => return Err(failed(&e)),
            }
        }
        Ok(())
    }

    /// Answers one request; whether it had the token.
    fn answer(&self, mut stream: TcpStream, goes_on: &impl Fn() -> bool) -> io::Result<bool> {
        stream.set_nonblocking(false)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_write_timeout(Some(PATIENCE))?;
        let asked = self.read(&stream)?;
        let page = match asked.as_deref() {
            Some("") => {
                let text = WRAPPER.replace("NONCE", &self.nonce).into_bytes();
                respond(
                    &mut stream,
                    "200 OK",
                    "text/html; charset=utf-8",
                    &self.policy(),
                    &text,
                )
            }
            Some("page") => {
                let text = fs::read(&self.file).unwrap_or_else(|_| WAITING.as_bytes().to_vec());
                respond(&mut stream, "200 OK", "text/html; charset=utf-8", "", &text)
            }
            Some("stamp") => {
                let state = if goes_on() { "running" } else { "ended" };
                let stamp = fs::metadata(&self.file).map_or(0, |meta| stamp_of(&meta));
                let text = format!("{stamp} {state}");
                respond(&mut stream, "200 OK", "text/plain", "", text.as_bytes())
            }
            _ => {
                respond(
                    &mut stream,
                    "404 Not Found",
                    "text/plain",
                    "",
                    b"not found\n",
                )?;
                return Ok(false);
            }
        };
        page.map(|()| true)
    }

    /// What a request asks for behind the token; none for any other request.
    fn read(&self, stream: &TcpStream) -> io::Result<Option<String>> {
        let mut lines = BufReader::new(stream.take(HEAD));
        let mut first = String::new();
        lines.read_line(&mut first)?;
        let mut host = None;
        loop {
            let mut line = String::new();
            if lines.read_line(&mut line)? == 0 {
                // Longer than a head may be, or broken off.
                return Ok(None);
            }
            let line = line.trim_end();
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = Some(value.trim().to_owned());
            }
        }
        let hosts = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !host.is_some_and(|host| hosts.contains(&host)) {
            return Ok(None);
        }
        let path = first
            .strip_prefix("GET /")
            .and_then(|rest| rest.split(' ').next());
        let asked = path.and_then(|path| path.strip_prefix(&self.token)?.strip_prefix('/'));
        Ok(asked.map(str::to_owned))
    }

    fn policy(&self) -> String {
        let nonce = &self.nonce;
        format!(
            "Content-Security-Policy: default-src 'none'; frame-src 'self'; connect-src 'self'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'\r\n"
        )
    }
}

/// What is shown before there is a page.
const WAITING: &str = "<!doctype html><meta charset=\"utf-8\"><title>cutlink</title><p>The run has not written its page yet; it comes by itself.";

/// A number that changes with a file.
fn stamp_of(meta: &Metadata) -> u128 {
    let time = meta.modified().ok();
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.unwrap_or_default().as_nanos()
}

fn respond(
    stream: &mut TcpStream,
    status: &str,
    kind: &str,
    more: &str,
    body: &[u8],
) -> io::Result<()> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(body)?;
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

    /// The status and the body that a request gets.
    fn ask(server: &Server, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).expect("a server");
        stream.write_all(request.as_bytes()).expect("a request");
        let mut text = String::new();
        // A server that closes before it has read everything resets the connection.
        let _ = stream.read_to_string(&mut text);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).unwrap_or_default();
        (status.to_owned(), body.to_owned())
    }

    #[test]
    fn only_who_has_the_token_sees_the_page() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("report.html");
        fs::write(folder.path().join("secret"), "secret").expect("a file");
        let server = Server::open(&file).expect("a server");
        let (port, token) = (server.port, server.token.clone());
        let goes_on = AtomicBool::new(true);
        let get = |path: &str, host: &str| {
            ask(
                &server,
                &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
            )
        };
        let here = format!("127.0.0.1:{port}");
        let status = |path: &str, host: &str| get(path, host).0;
        let ended = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !ended.load(Relaxed) {
                    if let Ok((stream, _)) = server.listener.accept() {
                        let _ = server.answer(stream, &|| goes_on.load(Relaxed));
                    } else {
                        std::thread::sleep(Duration::from_millis(1));
                    }
                }
            });
            let page = format!("/{token}/page");
            let all = || {
                assert!(get(&page, &here).1.contains("not written its page yet"));
                fs::write(&file, "<p>first").expect("a file");
                assert_eq!(get(&page, &here), ("200".into(), "<p>first".into()));
                assert_eq!(status(&page, &format!("localhost:{port}")), "200");
                assert_eq!(status(&format!("/{token}/"), &here), "200");
                for (path, host) in [
                    ("/", &*here),
                    ("/page", &here),
                    ("/0000/page", &here),
                    (&format!("/{token}/secret"), &here),
                    (&format!("/{token}/../secret"), &here),
                    (&format!("/{token}/%2e%2e/secret"), &here),
                    (&format!("/{token}page"), &here),
                    (&page, "evil.example"),
                    (&page, &format!("evil.example:{port}")),
                    (&page, "127.0.0.1"),
                ] {
                    assert_eq!(status(path, host), "404", "{path} at {host}");
                }
                for request in [
                    format!("POST {page} HTTP/1.1\r\nHost: {here}\r\n\r\n"),
                    format!("GET {page} HTTP/1.1\r\n\r\n"),
                    "\r\n\r\n".into(),
                ] {
                    assert_eq!(ask(&server, &request).0, "404", "{request:?}");
                }
                let long = format!(
                    "GET {page} HTTP/1.1\r\nX: {}\r\nHost: {here}\r\n\r\n",
                    "x".repeat(9000)
                );
                assert_ne!(ask(&server, &long).0, "200", "a head without end");
                let stamp = format!("/{token}/stamp");
                let first = get(&stamp, &here).1;
                assert!(first.ends_with(" running"), "{first}");
                std::thread::sleep(Duration::from_millis(20));
                fs::write(&file, "<p>second").expect("a file");
                goes_on.store(false, Relaxed);
                let second = get(&stamp, &here).1;
                assert!(
                    second.ends_with(" ended")
                        && second.split(' ').next() != first.split(' ').next()
                );
            };
            let done = std::panic::catch_unwind(std::panic::AssertUnwindSafe(all));
            ended.store(true, Relaxed);
            if let Err(panic) = done {
                std::panic::resume_unwind(panic);
            }
        });
        let other = Server::open(&file).expect("a server");
        assert_ne!(other.token, token);
        assert_eq!(token.len(), 32);
    }
}
