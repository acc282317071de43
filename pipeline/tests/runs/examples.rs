//! Every example is a case, and says what it shows.

use cutlink::solve::example::EXAMPLES;
use cutlink::{Case, FluxCase, GrainsCase, TwoPhaseCase};

#[test]
fn every_example_is_a_case_with_an_expected_result() {
    let page = include_str!("../../../docs/cli.md");
    for (name, text) in EXAMPLES {
        if ["square-cylinder", "taylor-green", "vortex"].contains(&name) {
            FluxCase::from_toml(text).expect("a case");
        } else if [
            "dam",
            "bubble",
            "drop",
            "slosh",
            "wave",
            "convection",
            "fluidize",
        ]
        .contains(&name)
        {
            TwoPhaseCase::from_toml(text).expect("a case");
        } else if name == "settle" {
            GrainsCase::from_toml(text).expect("a case");
        } else {
            let case = Case::parse(name, text).expect("a case");
            assert!(case.dimensions_of_domain().is_ok(), "{name}");
        }
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
