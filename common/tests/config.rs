//! TOML as structs: the values, messages and places of the toml crate's own deserializer, and unknown keys and names.

use cutlink_common::config::{from_table, parse};
use serde::Deserialize;
use std::{collections::BTreeMap, path::PathBuf};

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Tables {
    switch: bool,
    small: u8,
    signed: i64,
    wide: u64,
    number: f64,
    single: f32,
    text: String,
    letter: Option<char>,
    path: Option<PathBuf>,
    list: Vec<f64>,
    pair: [i32; 2],
    mixed: (u32, String),
    by_name: BTreeMap<String, Vec<u16>>,
    inner: Inner,
    inners: Vec<Inner>,
    kind: Option<Kind>,
    either: Option<Either>,
    new: Option<Newtype>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Inner {
    two_words: i32,
    #[serde(default)]
    deep: Option<Box<Inner>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Plain,
    Number(f64),
    Pair(u8, u8),
    Keys { a: bool },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(f64),
    Names(Vec<String>),
}

#[derive(Debug, PartialEq, Deserialize)]
struct Newtype(u32);

/// Texts that are [`Tables`].
const SOUND: &[&str] = &[
    "",
    "switch = true\nsmall = 255\nsigned = -9223372036854775808\nwide = 18446744073709551615",
    "number = 1.5\nsingle = 3\ntext = \"a\\u00e9\\n\"\nletter = \"x\"\npath = 'C:\\a b'",
    "number = 1\nsigned = 0x7f\nsmall = 0b11\nwide = 0o17",
    "number = inf\nsingle = -inf\nlist = [1, 2.5, 1e3, -0.0]",
    "pair = [1, 2]\nmixed = [7, \"seven\"]\nby_name = { a = [1], \"b c\" = [] }",
    "by_name.x = [3]\n[inner]\ntwo-words = 4\n[inner.deep]\ntwo-words = 5",
    "[[inners]]\ntwo-words = 1\n[[inners]]\ntwo-words = 2\ndeep = { two-words = 3 }",
    "inner = [4]\ninners = [[5], { two-words = 6 }]",
    "kind = \"plain\"\neither = 1.5\nnew = 4",
    "kind = { number = 2 }\neither = [\"a\", \"b\"]",
    "kind = { pair = [1, 2] }",
    "kind = { keys = { a = true } }\neither = 3",
    "kind = { plain = {} }",
];

/// Texts that are not, for another reason than an unknown key or name.
const BROKEN: &[&str] = &[
    "switch = 1",
    "switch = \"true\"",
    "small = 256",
    "small = -1",
    "signed = 1.0",
    "signed = 9223372036854775808",
    "wide = 340282366920938463463374607431768211455",
    "wide = -9223372036854775809",
    "number = 170141183460469231731687303715884105727",
    "number = 9999999999999999999999999999999999999999999",
    "number = 1e999",
    "number = \"1\"",
    "number = 1979-05-27",
    "text = 4",
    "text = 07:32:00",
    "letter = \"xy\"",
    "path = []",
    "list = 1",
    "list = [1,\n 2, \"3\"]",
    "list = { a = 1 }",
    "pair = [1]",
    "pair = [1, 2.5]",
    "mixed = [1]",
    "mixed = [\"1\", \"2\"]",
    "by_name = 1979-05-27T07:32:00Z",
    "by_name = [1]",
    "by_name = { a = 1 }",
    "[by_name]\na = [1, 65536]",
    "inner = 3",
    "inner = {}",
    "inner = []",
    "[inner]\ntwo-words = 1\ndeep = { }",
    "[inner]\ntwo-words = 1\n[inner.deep]\ntwo-words = true",
    "[[inner]]",
    "[inners]\ntwo-words = 1",
    "[[inners]]\ntwo-words = 1\n[[inners]]\n",
    "kind = 3",
    "kind = {}",
    "kind = { plain = {}, number = 2 }",
    "kind = { plain = { a = 1 } }",
    "kind = { plain = [1] }",
    "kind = { plain = 1 }",
    "kind = \"number\"",
    "kind = { number = \"2\" }",
    "kind = { pair = [1, 2, 3] }",
    "kind = { pair = [1, 256] }",
    "kind = { keys = 3 }",
    "kind = { keys = {} }",
    "either = true",
    "either = [1]",
    "new = \"4\"",
    "new = -4",
    // No TOML.
    "a = ",
    "switch = true\nswitch = true",
    "[inner\n",
    "text = \"é\n",
];

#[test]
fn values_are_those_of_the_toml_crate() {
    for text in SOUND {
        let theirs: Tables = toml::from_str(text).expect(text);
        assert_eq!(parse::<Tables>("it", text), Ok(theirs), "{text}");
        // In memory an integer is an i64.
        let text = text.replace("18446744073709551615", "5");
        let table: toml::Table = text.parse().expect("TOML");
        let theirs: Tables = table.clone().try_into().expect("tables");
        assert_eq!(from_table::<Tables>("it", table), Ok(theirs), "{text}");
    }
    let nan = parse::<Tables>("it", "number = nan").expect("a number");
    assert!(nan.number.is_nan());
}

#[test]
fn mistakes_have_the_words_and_places_of_the_toml_crate() {
    let (mut in_memory, mut others) = (0, Vec::new());
    for text in BROKEN {
        let theirs = toml::from_str::<Tables>(text).expect_err(text);
        let before = &text[..theirs.span().expect("a place").start];
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
        let message = format!("it, line {line}, column {column}: {}", theirs.message());
        let ours = parse::<Tables>("it", text).expect_err(text).message;
        if ours != message {
            others.push([message, ours]);
        }
        let Ok(table) = text.parse::<toml::Table>() else {
            continue;
        };
        let theirs = table.clone().try_into::<Tables>().map_err(|error| {
            let whole = error.to_string();
            let keys = whole.lines().find_map(|line| line.strip_prefix("in "));
            let keys = keys.map_or_else(String::new, |keys| format!(", {keys}"));
            format!("it{keys}: {}", error.message())
        });
        let ours = from_table::<Tables>("it", table).map_err(|error| error.message);
        in_memory += u32::from(theirs.is_err());
        // Of values in memory the toml crate says "string only", though a table is right too.
        let is_better = |message: &String| message.contains("expected string only");
        if ours != theirs && !theirs.as_ref().is_err_and(is_better) {
            others.push([theirs, ours].map(|made| format!("{text}: {made:?}")));
        }
    }
    assert!(in_memory > 40, "{in_memory}");
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn unknown_keys_and_names_come_with_the_nearest_known_ones() {
    for (text, message, hint) in [
        (
            "switch = true\n  smal = 3",
            "it, line 2, column 3: unknown key `smal`",
            "did you mean `small`?",
        ),
        (
            "[inner]\ntwo-words = 1\n\"é\" = { twowords = 2 }\n",
            "it, line 3, column 1: unknown key `é`",
            "keys: two-words, deep",
        ),
        (
            "[inner]\ntwo-words = 1\ndeep = { two-wods = 2 }",
            "it, line 3, column 10: unknown key `two-wods`",
            "did you mean `two-words`?",
        ),
        (
            "kind = \"plan\"",
            "it, line 1, column 8: unknown name `plan`",
            "did you mean `plain`?",
        ),
        (
            "kind = { nummer = 3 }",
            "it, line 1, column 10: unknown name `nummer`",
            "did you mean `number`?",
        ),
        (
            "kind = { keys = { a = true, b = 3 } }",
            "it, line 1, column 29: unknown key `b`",
            "keys: a",
        ),
    ] {
        let error = parse::<Tables>("it", text).expect_err(text);
        assert_eq!(error.message, message, "{text}");
        let given = error.hint.expect("a way out");
        assert!(given.contains(hint), "{given}");
    }
    let table = "[inner]\ntwo-words = 1\ndeep = { two-wods = 2 }".parse();
    let error = from_table::<Tables>("it", table.expect("TOML")).expect_err("a mistake");
    assert_eq!(error.message, "it, `inner.deep`: unknown key `two-wods`");
}
