//! Sizes that no compiler checks, in Rust and in CUDA: a function has at most 100 lines, a trait of kernels at most ten
//! methods.

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 100;
const MOST_METHODS: usize = 10;

/// Functions of GPUs that are longer yet, each one pass over what a thread has in registers: they may not grow, and no other one
/// may join them.
const LONGER: [(&str, &str, usize); 4] = [
    ("fr/src/kernels/cuda/advance.cu", "advance", 176),
    ("fr/src/kernels/cuda/viscous.cu", "rates", 165),
    ("solver/src/kernels/cuda/step.cu", "step_faced", 114),
    ("solver/src/kernels/cuda/step.cu", "step_walled", 125),
];

/// All files below a folder with one of some extensions; not in folders of builds and of tools.
fn files(folder: &Path, extensions: &[&str], into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().and_then(|name| name.to_str());
        if name.is_none_or(|name| name.starts_with('.') || name == "target") {
            continue;
        }
        if path.is_dir() {
            files(&path, extensions, into);
        } else if extensions
            .iter()
            .any(|&e| path.extension().is_some_and(|of| of == e))
        {
            into.push(path);
        }
    }
}

fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

/// The place behind `end`, or the end of the text.
fn behind(text: &[u8], from: usize, end: &[u8]) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    let at = rest.windows(end.len()).position(|window| window == end);
    at.map_or(text.len(), |at| from + at + end.len())
}

/// Bytes of the comment, string or character that a text begins with; 0 for none.
fn literal(text: &[u8]) -> usize {
    let is_raw = |text: &[u8]| {
        let hashes = text.iter().skip(1).take_while(|&&c| c == b'#').count();
        (text.first() == Some(&b'r') && text.get(1 + hashes) == Some(&b'"')).then_some(hashes)
    };
    if text.starts_with(b"//") {
        return behind(text, 2, b"\n") - 1;
    }
    if text.starts_with(b"/*") {
        return behind(text, 2, b"*/");
    }
    if let Some(hashes) = is_raw(text) {
        let end = [b"\"".as_slice(), &b"#".repeat(hashes)].concat();
        return behind(text, 2 + hashes, &end);
    }
    match text {
        [b'"', ..] => {
            let mut at = 1;
            while at < text.len() && text[at] != b'"' {
                at += if text[at] == b'\\' { 2 } else { 1 };
            }
            at + 1
        }
        [b'\'', b'\\', ..] => behind(text, 3, b"'"),
        // One character; what has no end is a lifetime.
        [b'\'', first, ..] => {
            let bytes = first.leading_ones().max(1) as usize;
            if text.get(1 + bytes) == Some(&b'\'') {
                2 + bytes
            } else {
                0
            }
        }
        _ => 0,
    }
}

/// A text with blanks in place of comments and literals, so that all braces are those of code. Lines stay.
fn code(text: &str) -> Vec<u8> {
    let mut out = text.as_bytes().to_vec();
    let mut at = 0;
    while at < out.len() {
        let is_in_word = at > 0 && is_word(out[at - 1]) && out[at] == b'r';
        let len = if is_in_word {
            0
        } else {
            literal(&text.as_bytes()[at..])
        };
        let end = (at + len).min(out.len());
        for c in &mut out[at..end] {
            if *c != b'\n' {
                *c = b' ';
            }
        }
        at += len.max(1);
    }
    out
}

/// The place of the brace that closes the one at a place.
fn closing(code: &[u8], open: usize) -> usize {
    let mut depth = 0;
    for (at, &c) in code.iter().enumerate().skip(open) {
        match c {
            b'{' => depth += 1,
            b'}' if depth == 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    code.len()
}

fn lines(code: &[u8], from: usize, to: usize) -> usize {
    1 + code[from..to].iter().filter(|&&c| c == b'\n').count()
}

/// Places of a keyword, each with the name behind it and the place behind that.
fn named<'a>(
    code: &'a [u8],
    keyword: &'a [u8],
) -> impl Iterator<Item = (usize, String, usize)> + 'a {
    let places = (0..code.len())
        .filter(move |&at| code[at..].starts_with(keyword) && (at == 0 || !is_word(code[at - 1])));
    places.filter_map(move |at| {
        let rest = &code[at + keyword.len()..];
        let blanks = rest.iter().take_while(|c| c.is_ascii_whitespace()).count();
        let name: Vec<u8> = rest[blanks..]
            .iter()
            .copied()
            .take_while(|&c| is_word(c))
            .collect();
        let end = at + keyword.len() + blanks + name.len();
        (blanks > 0 && !name.is_empty())
            .then(|| (at, String::from_utf8(name).expect("a name"), end))
    })
}

/// Functions of Rust that have a body, with their lines.
fn functions(text: &str) -> Vec<(String, usize)> {
    let code = code(text);
    let body = |from: usize| {
        let mut depth = 0;
        for (at, &c) in code.iter().enumerate().skip(from) {
            match c {
                b'(' | b'[' => depth += 1,
                b')' | b']' => depth -= 1,
                b'{' if depth == 0 => return Some(at),
                b';' if depth == 0 => return None,
                _ => {}
            }
        }
        None
    };
    let found = named(&code, b"fn").filter_map(|(at, name, end)| {
        let open = body(end)?;
        Some((name, lines(&code, at, closing(&code, open))))
    });
    found.collect()
}

/// The name in the head of a function of C++: what the first parenthesis is behind, but for attributes.
fn name_of(head: &[u8]) -> String {
    let opens = (0..head.len()).filter(|&at| head[at] == b'(');
    let mut names = opens.map(|at| {
        let word = head[..at].iter().rev().take_while(|&&c| is_word(c)).count();
        String::from_utf8_lossy(&head[at - word..at]).into_owned()
    });
    names
        .find(|name| !name.is_empty() && !name.starts_with("__"))
        .unwrap_or_default()
}

/// Functions of CUDA C++, with their lines.
fn kernels(text: &str) -> Vec<(String, usize)> {
    let mut code = code(text);
    // Without directives and the lines that they go on in.
    let mut is_directive = false;
    for line in code.split_mut(|&c| c == b'\n') {
        is_directive |= line.trim_ascii_start().starts_with(b"#");
        let goes_on = line.ends_with(b"\\");
        if is_directive {
            line.fill(b' ');
        }
        is_directive &= goes_on;
    }
    let (mut found, mut from, mut at) = (Vec::new(), 0, 0);
    while at < code.len() {
        let head = code[from..at].trim_ascii_start();
        if code[at] == b'{' && head.contains(&b'(') {
            let end = closing(&code, at);
            found.push((name_of(head), lines(&code, at - head.len(), end)));
            at = end;
        }
        if matches!(code.get(at), Some(b';' | b'{' | b'}')) {
            from = at + 1;
        }
        at += 1;
    }
    found
}

/// Traits of kernels, with the number of their methods.
fn traits(text: &str) -> Vec<(String, usize)> {
    let code = code(text);
    let kernels = named(&code, b"trait").filter(|(_, name, _)| name.ends_with("Kernels"));
    let found = kernels.map(|(_, name, end)| {
        let open = end + code[end..].iter().take_while(|&&c| c != b'{').count();
        let body = &code[open + 1..closing(&code, open)];
        let is_own = |at: usize| {
            let depth = |c: u8| body[..at].iter().filter(|&&of| of == c).count();
            depth(b'{') == depth(b'}')
        };
        let methods = named(body, b"fn").filter(|&(at, ..)| is_own(at));
        (name, methods.count())
    });
    found.collect()
}

/// What is longer than so much: file, name, size.
type Beyond = Vec<(String, String, usize)>;

/// How much is found in all files with some extensions, and what of it is more than so many.
fn beyond(
    extensions: &[&str],
    most: usize,
    found: fn(&str) -> Vec<(String, usize)>,
) -> (usize, Beyond) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut paths, mut all, mut wrong) = (Vec::new(), 0, Vec::new());
    files(&root, extensions, &mut paths);
    for path in paths {
        let text = fs::read_to_string(&path).expect("a source");
        let file = path.strip_prefix(&root).expect("a path below the root");
        for (name, size) in found(&text) {
            all += 1;
            if size > most {
                wrong.push((file.display().to_string(), name, size));
            }
        }
    }
    (all, wrong)
}

#[test]
fn no_function_is_longer_than_a_hundred_lines() {
    let (all, wrong) = beyond(&["rs"], MOST_LINES, functions);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(all > 5000, "{all} functions");
}

#[test]
fn no_kernel_is_longer_than_a_hundred_lines() {
    let (all, wrong) = beyond(&["cu", "cuh"], MOST_LINES, kernels);
    let is_known = |file: &str, name: &str, size: usize| {
        LONGER
            .iter()
            .any(|of| (of.0, of.1) == (file, name) && size <= of.2)
    };
    let (known, wrong): (Beyond, Beyond) =
        (wrong.into_iter()).partition(|of| is_known(&of.0, &of.1, of.2));
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(
        known.len(),
        LONGER.len(),
        "take out what is shorter now: {known:#?}"
    );
    assert!(all > 500, "{all} functions of GPUs");
}

#[test]
fn traits_of_kernels_have_ten_methods_at_most() {
    let (all, wrong) = beyond(&["rs"], MOST_METHODS, traits);
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(all > 20, "{all} traits");
}

#[test]
fn functions_are_measured() {
    let text = "fn a<'a>(x: [u8; 2]) {\n    \"}\";\n    '}'; // }\n    fn b() {}\n}\ntrait T { fn c(); }\n";
    let found = functions(text);
    assert_eq!(found, [("a".to_owned(), 5), ("b".to_owned(), 1)]);
    let raw = [
        "fn d() {\n    r#",
        "\"}\"#;\n    /* } */\n}\nstatic F: fn(u8) = g;\n",
    ]
    .concat();
    assert_eq!(functions(&raw), [("d".to_owned(), 4)]);
    let long = format!("fn long() {{\n{}}}\n", "    f();\n".repeat(MOST_LINES - 1));
    assert_eq!(functions(&long), [("long".to_owned(), MOST_LINES + 1)]);
}

#[test]
fn functions_of_gpus_are_measured() {
    let text = "#define F(x) \\\n    { x\nnamespace n {\nstruct S {\n    int a;\n    int f() const {\n        return '{';\n    }\n};\n\
                template <int D>\n__device__ void g(int x) {\n    if (x) { f(); }\n}\n}\n";
    let found = kernels(text);
    assert_eq!(found, [("f".to_owned(), 3), ("g".to_owned(), 4)]);
}

#[test]
fn methods_are_counted() {
    let text = "pub trait AKernels<const D: usize>: B {\n    type C;\n    fn a(&self, f: fn(u8));\n    fn b() { fn c() {} }\n}\n\
                trait Other { fn d(); }\npub trait EKernels: AKernels<2> {}\n";
    let found = traits(text);
    assert_eq!(
        found,
        [("AKernels".to_owned(), 2), ("EKernels".to_owned(), 0)]
    );
}
