//! Exit code of an error, its text for stderr and its JSON object for stdout.

use cutlink::{Error, ErrorKind};

/// The exit code; `docs/cli.md` lists them.
pub fn code(kind: ErrorKind) -> u8 {
    match kind {
        ErrorKind::Input => 2,
        ErrorKind::Geometry => 3,
        ErrorKind::Memory => 4,
        ErrorKind::Diverged => 5,
        ErrorKind::Untrusted => 6,
        ErrorKind::Stopped => 130,
        _ => 1,
    }
}

/// The text for stderr.
pub fn text(error: &Error) -> String {
    format!("error: {error}")
}

/// The object that `--json` prints instead of a result.
pub fn to_json(failed: &Error) -> serde_json::Value {
    let mut error = serde_json::json!({
        "exit_code": code(failed.kind),
        "message": failed.message,
        "causes": failed.causes,
        "hint": failed.hint,
    });
    if let Some(details) = &failed.details {
        error["details"] = (**details).clone();
    }
    serde_json::json!({ "schema": cutlink::JSON_SCHEMA, "error": error })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_the_code_of_the_documentation() {
        let page = include_str!("../../docs/cli.md");
        for (kind, number) in [
            (ErrorKind::Runtime, 1),
            (ErrorKind::Input, 2),
            (ErrorKind::Geometry, 3),
            (ErrorKind::Memory, 4),
            (ErrorKind::Diverged, 5),
            (ErrorKind::Untrusted, 6),
            (ErrorKind::Stopped, 130),
        ] {
            assert_eq!(code(kind), number);
            assert!(
                page.contains(&format!("| {number} |")),
                "docs/cli.md has {number}"
            );
            let object = to_json(&Error::new(kind, "a"));
            assert_eq!(object["error"]["exit_code"], number, "in JSON too");
        }
        assert_eq!(text(&Error::input("a").hint("b")), "error: a\n  hint: b");
    }
}
