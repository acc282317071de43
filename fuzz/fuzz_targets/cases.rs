//! Sound cases with hostile values and expressions: parsed, and flows of gas planned.

#![no_main]

#[path = "../hostile.rs"]
mod hostile;
mod seeds;

use cutlink::RunOptions;
use cutlink::solve::{Case, FluxCase};
use hostile::Choices;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;

static CASES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds::all(&["cases"]));
static EXPRESSIONS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| seeds::all(&["expressions"]));

fuzz_target!(|data: &[u8]| {
    let mut choices = Choices(data);
    let is_expression = choices.below(2) == 1;
    let bytes = match is_expression {
        true => hostile::mutant(&EXPRESSIONS, choices.0),
        false => hostile::mutant(&CASES, choices.0),
    };
    let Ok(mut text) = String::from_utf8(bytes) else {
        return;
    };
    if is_expression {
        let flux = CASES
            .iter()
            .find(|case| !case.windows(7).any(|w| w == b"[adapt]"));
        let flux = String::from_utf8_lossy(flux.expect("a case should be there")).into_owned();
        let quoted = text.escape_default().to_string();
        text = flux.replace("density = 1.0", &format!("density = \"{quoted}\""));
    }
    let _ = Case::from_toml(&text);
    if let Ok(case) = FluxCase::from_toml(&text) {
        // Large ones are not set up, and small ones take no time.
        let _ = case.plan(&RunOptions::default(), &mut ());
    }
});
