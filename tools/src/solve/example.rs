//! Ready cases: `cutlink solve --example NAME`.

use crate::{
    config::suggestion,
    console::{self, Console},
    failure::Failure,
    options::Output,
    output,
};
use std::path::Path;

/// By name.
pub(crate) const EXAMPLES: [(&str, &str); 5] = [
    ("cavity", include_str!("examples/cavity.toml")),
    ("channel", include_str!("examples/channel.toml")),
    ("cylinder", include_str!("examples/cylinder.toml")),
    ("sphere", include_str!("examples/sphere.toml")),
    ("bunny", include_str!("examples/bunny.toml")),
];

/// Writes an example to a file, or to stdout, which `-` means too.
///
/// # Errors
/// A name that stands for none; a file that is there already, without `force`.
pub(crate) fn write(
    name: &str,
    to: Option<&Path>,
    force: bool,
    output: Output,
) -> Result<(), Failure> {
    let Some((_, text)) = EXAMPLES.iter().find(|(known, _)| *known == name) else {
        let known = EXAMPLES.map(|(known, _)| known);
        return Err(Failure::usage(format!("there is no example \"{name}\""))
            .hint(suggestion("example", name, &known)));
    };
    let Some(path) = to.filter(|path| *path != Path::new("-")) else {
        return console::print(text);
    };
    output::check(path, force, None)?;
    output::write_text(path, force, text)?;
    let path = path.display();
    Console::new(output).summary(&format!(
        "written to {path}; run it: cutlink solve {path}\n"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::solve::case::Case;

    #[test]
    fn every_example_is_a_case_and_says_what_to_expect() {
        let page = include_str!("../../../docs/cli.md");
        for (name, text) in EXAMPLES {
            let case = parse::<Case>(name, text).expect("a case");
            assert!(case.dimensions_of_domain().is_ok(), "{name}");
            for word in ["# Shows:", "# Takes:", "# Expect:", "# Source:"] {
                assert!(text.contains(word), "{name} lacks {word}");
            }
            assert!(text.starts_with("# "), "{name} has a title");
            assert!(
                page.contains(&format!("`{name}`")),
                "docs/cli.md has {name}"
            );
        }
    }
}
