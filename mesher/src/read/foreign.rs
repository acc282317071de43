//! Formats that are recognized only to be refused by name: what a file is, and the way out.
//!
//! Binary formats are recognized by their first bytes. Text formats are recognized by what no polyline holds, so that
//! no file which could be read is refused.

use memchr::memmem;

/// A format that is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Foreign {
    /// Its name, with the article.
    pub(super) what: &'static str,
    /// What the user can do.
    pub(super) remedy: &'static str,
}

const CONVERT: &str = "convert it to STL, PLY or OBJ first (meshio, assimp, MeshLab)";
const CAD: &str = "it holds a CAD model: export STL or PLY from the CAD program (FreeCAD, Gmsh)";
const UNPACK: &str = "unpack it first and give the surface file in it";
const NO_SURFACE: &str =
    "a surface is required: STL, PLY, OBJ, OFF, 3MF, glTF, VTK, VTP or a 2D polyline";
/// A zip archive that is no 3MF file.
pub(super) const ZIP: &str = "a zip archive without a 3MF model";
/// What to do with it.
pub(super) const NO_SURFACE_IN_ZIP: &str = UNPACK;
const RECODE: &str = "save it as UTF-8 or ASCII first";

/// First bytes of binary formats.
const BINARY: [(&[u8], &str, &str); 21] = [
    (b"PK\x05\x06", "an empty zip archive", UNPACK),
    (b"\xfd7zXZ\0", "an xz archive", UNPACK),
    (b"BZh", "a bzip2 archive", UNPACK),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive", UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", UNPACK),
    (b"Rar!\x1a\x07", "a RAR archive", UNPACK),
    (b"\xff\xfe\0\0", "UTF-32 text", RECODE),
    (b"\0\0\xfe\xff", "UTF-32 text", RECODE),
    (b"\xff\xfe", "UTF-16 text", RECODE),
    (b"\xfe\xff", "UTF-16 text", RECODE),
    (b"s\0o\0l\0i\0d\0", "UTF-16 text", RECODE),
    (b"p\0l\0y\0", "UTF-16 text", RECODE),
    (b"%PDF-", "a PDF document", NO_SURFACE),
    (b"\x89PNG\r\n\x1a\n", "a PNG picture", NO_SURFACE),
    (b"\xff\xd8\xff", "a JPEG picture", NO_SURFACE),
    (b"Kaydara FBX Binary", "an FBX file", CONVERT),
    (b"BLENDER", "a Blender file", CONVERT),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file", CONVERT),
    (b"CGNS", "a CGNS file", CONVERT),
    (b"CDF\x01", "a NetCDF file", CONVERT),
    (b"CDF\x02", "a NetCDF file", CONVERT),
];

/// First characters of text formats; no polyline starts like these.
const TEXT: [(&str, &str, &str); 11] = [
    ("# AmiraMesh", "an Amira file", CONVERT),
    ("ISO-10303-21", "a STEP file", CAD),
    ("$MeshFormat", "a Gmsh mesh", CONVERT),
    ("#VRML", "a VRML file", CONVERT),
    ("#Inventor", "an Inventor file", CONVERT),
    ("; FBX", "an FBX file", CONVERT),
    (
        "version https://git-lfs",
        "a Git LFS pointer, not the file itself",
        "fetch the file with `git lfs pull`",
    ),
    (
        "<!DOCTYPE html",
        "a web page",
        "the download went wrong: fetch the file itself",
    ),
    (
        "<html",
        "a web page",
        "the download went wrong: fetch the file itself",
    ),
    ("DBRep_DrawableShape", "a BREP file", CAD),
    ("CASCADE Topology", "a BREP file", CAD),
];

/// What is found in XML that starts with `<`.
const XML: [(&[u8], &str, &str); 6] = [
    (
        b"<model",
        "the model of a 3MF file",
        "zip it into a 3MF file, or convert it to STL",
    ),
    (b"<svg", "an SVG picture", NO_SURFACE),
    (b"<COLLADA", "a COLLADA file", CONVERT),
    (b"<amf", "an AMF file", CONVERT),
    (b"<X3D", "an X3D file", CONVERT),
    (
        b"<html",
        "a web page",
        "the download went wrong: fetch the file itself",
    ),
];

/// How far into a file a format is searched for.
pub(super) const PREFIX: usize = 1 << 16;

/// The format of bytes that start like a binary format which is not read.
pub(super) fn binary(bytes: &[u8]) -> Option<Foreign> {
    if bytes.get(8..10) == Some(b"{\"") {
        return container(bytes);
    }
    let (_, what, remedy) = *BINARY.iter().find(|(start, ..)| bytes.starts_with(start))?;
    // The two bytes of a byte order mark alone say little: text of ASCII characters has a zero in each pair.
    if what == "UTF-16 text" && !bytes.iter().take(8).any(|&b| b == 0) {
        return None;
    }
    Some(Foreign { what, remedy })
}

/// A safetensors file: eight bytes with the length of a JSON header, then the header.
fn container(bytes: &[u8]) -> Option<Foreign> {
    let head = &bytes[8..bytes.len().min(1 << 20)];
    if memmem::find(head, b"cutlink-mesh").is_some() {
        return Some(Foreign {
            what: "a cutlink mesh file, not a surface",
            remedy: "`cutlink inspect` reads it; a new mesh or a flow starts from the surface",
        });
    }
    let is_one =
        head.starts_with(b"{\"__metadata__\"") || memmem::find(head, b"\"data_offsets\"").is_some();
    is_one.then_some(Foreign {
        what: "a safetensors file",
        remedy: NO_SURFACE,
    })
}

/// The format of text that is not read; `text` starts with its first character that is no white space.
pub(super) fn text(text: &[u8]) -> Option<Foreign> {
    let found = TEXT
        .iter()
        .find(|(start, ..)| starts_with(text, start.as_bytes()));
    if let Some(&(_, what, remedy)) = found {
        return Some(Foreign { what, remedy });
    }
    let head = &text[..text.len().min(PREFIX)];
    if head.starts_with(b"<") {
        let found = XML
            .iter()
            .find(|(tag, ..)| memmem::find(head, tag).is_some());
        let (what, remedy) = found.map_or(("an XML file", CONVERT), |&(_, what, remedy)| {
            (what, remedy)
        });
        return Some(Foreign { what, remedy });
    }
    let foreign = |what, remedy| Some(Foreign { what, remedy });
    match head {
        _ if is_iges(head) => foreign("an IGES file", CAD),
        _ => None,
    }
}

pub(super) fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len())
        .is_some_and(|head| head.eq_ignore_ascii_case(start))
}

/// The lines that are neither blank nor comments, as words.
fn lines(text: &[u8]) -> impl Iterator<Item = Vec<&[u8]>> {
    text.split(|&b| matches!(b, b'\n' | b'\r'))
        .filter(|line| !line.trim_ascii().is_empty() && !line.trim_ascii().starts_with(b"#"))
        .map(|line| {
            line.split(u8::is_ascii_whitespace)
                .filter(|word| !word.is_empty())
                .collect()
        })
}

/// `OFF`, `COFF`, `NOFF` or the like, then three counts on the same line or the next.
pub(super) fn is_off(text: &[u8]) -> bool {
    let mut lines = lines(text);
    let first = lines.next().unwrap_or_default();
    let Some((keyword, rest)) = first.split_first() else {
        return false;
    };
    let counts = match rest {
        [] => lines.next().unwrap_or_default(),
        _ => rest.to_vec(),
    };
    let is_count = |word: &&[u8]| word.iter().all(u8::is_ascii_digit);
    keyword.ends_with(b"OFF")
        && keyword.len() <= 6
        && counts.len() == 3
        && counts.iter().all(is_count)
}

/// A line `v x y z`, or `mtllib` first.
pub(super) fn is_obj(text: &[u8]) -> bool {
    let number = |word: &&[u8]| fast_float2::parse::<f64, _>(word).is_ok();
    let first = lines(text).next();
    let library = first.is_some_and(|words| words.len() > 1 && words[0] == b"mtllib");
    library
        || lines(text)
            .any(|words| words.len() >= 4 && words[0] == b"v" && words[1..4].iter().all(number))
}

/// Lines of 80 columns, the first of section `S`.
fn is_iges(text: &[u8]) -> bool {
    let line = text
        .split(|&b| matches!(b, b'\n' | b'\r'))
        .next()
        .unwrap_or(text);
    line.get(72) == Some(&b'S')
        && line
            .get(73..80)
            .is_some_and(|number| number.trim_ascii() == b"1")
        || line.get(72) == Some(&b'S') && line.get(73..80) == Some(b"0000001")
}
