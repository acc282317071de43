//! Meshes as files of Gmsh and VTK: writers of the tests' own.

use std::fmt::Write as _;
use std::io::Write as _;

/// How a file stores its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    Text,
    Binary { big: bool },
}

/// Cells and named surfaces by their corners.
#[derive(Debug, Clone, Default)]
pub(crate) struct Doc {
    pub(crate) points: Vec<[f64; 3]>,
    /// Eight or four corners, in Gmsh's and VTK's order, and the physical group.
    pub(crate) cells: Vec<(Vec<u32>, i32)>,
    /// Three or four corners, and the physical group.
    pub(crate) faces: Vec<(Vec<u32>, i32)>,
    /// Dimension, number and name of physical groups.
    pub(crate) names: Vec<(i32, i32, &'static str)>,
    /// Numbers of the nodes are `stride * i + 1`.
    pub(crate) stride: u64,
}

/// A block of cubes, mapped; quads name its floor 1 and its roof 2, cells with the least x are of group 7, others of 8.
pub(crate) fn block(n: [usize; 3], map: impl Fn([f64; 3]) -> [f64; 3]) -> Doc {
    let id = |x: usize, y: usize, z: usize| (x + (n[0] + 1) * (y + (n[1] + 1) * z)) as u32;
    let mut doc = Doc {
        names: vec![
            (2, 1, "floor"),
            (2, 2, "the roof"),
            (3, 7, "first"),
            (3, 8, "rest"),
        ],
        stride: 1,
        ..Doc::default()
    };
    for z in 0..=n[2] {
        for y in 0..=n[1] {
            for x in 0..=n[0] {
                doc.points.push(map([x as f64, y as f64, z as f64]));
            }
        }
    }
    for z in 0..n[2] {
        for y in 0..n[1] {
            for x in 0..n[0] {
                let quad = |z| {
                    vec![
                        id(x, y, z),
                        id(x + 1, y, z),
                        id(x + 1, y + 1, z),
                        id(x, y + 1, z),
                    ]
                };
                let cell = [quad(z), quad(z + 1)].concat();
                if z == 0 {
                    doc.faces.push((cell[..4].to_vec(), 1));
                }
                if z + 1 == n[2] {
                    doc.faces.push((cell[4..].to_vec(), 2));
                }
                doc.cells.push((cell, if x == 0 { 7 } else { 8 }));
            }
        }
    }
    doc
}

/// The six tetrahedra of each cell, around its diagonal from corner 0 to corner 6; the faces of neighbours agree.
pub(crate) fn tetrahedra(doc: &Doc) -> Doc {
    const SIX: [[usize; 4]; 6] = [
        [0, 1, 2, 6],
        [0, 2, 3, 6],
        [0, 3, 7, 6],
        [0, 7, 4, 6],
        [0, 4, 5, 6],
        [0, 5, 1, 6],
    ];
    let mut new = doc.clone();
    let six = |(cell, group): &(Vec<u32>, i32)| SIX.map(|t| (t.map(|i| cell[i]).to_vec(), *group));
    new.cells = doc.cells.iter().flat_map(six).collect();
    // Diagonals from the first corner to the third.
    let two =
        |(f, g): &(Vec<u32>, i32)| [(vec![f[0], f[1], f[2]], *g), (vec![f[0], f[2], f[3]], *g)];
    new.faces = doc.faces.iter().flat_map(two).collect();
    new
}

/// Numbers as words or as bytes.
struct Out {
    bytes: Vec<u8>,
    encoding: Encoding,
}

impl Out {
    fn text(&mut self, text: &str) {
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn put<const N: usize>(&mut self, word: String, little: [u8; N]) {
        match self.encoding {
            Encoding::Text => {
                self.text(&word);
                self.text(" ");
            }
            Encoding::Binary { big: false } => self.bytes.extend(little),
            Encoding::Binary { big: true } => self.bytes.extend(little.iter().rev()),
        }
    }

    fn int(&mut self, value: i32) {
        self.put(value.to_string(), value.to_le_bytes());
    }

    fn size(&mut self, value: u64) {
        self.put(value.to_string(), value.to_le_bytes());
    }

    fn real(&mut self, value: f64) {
        self.put(format!("{value:?}"), value.to_le_bytes());
    }

    fn line(&mut self) {
        if self.encoding == Encoding::Text {
            self.text("\n");
        }
    }

    fn header(&mut self, version: &str) {
        let kind = i32::from(self.encoding != Encoding::Text);
        self.text(&format!("$MeshFormat\n{version} {kind} 8\n"));
        if kind == 1 {
            self.int(1);
            self.text("\n");
        }
        self.text("$EndMeshFormat\n");
    }

    fn names(&mut self, doc: &Doc) {
        self.text(&format!("$PhysicalNames\n{}\n", doc.names.len()));
        for (dimension, number, name) in &doc.names {
            self.text(&format!("{dimension} {number} \"{name}\"\n"));
        }
        self.text("$EndPhysicalNames\n");
    }
}

/// Gmsh's type of an element.
fn kind(corners: usize, dimension: i32) -> i32 {
    match (corners, dimension) {
        (3, _) => 2,
        (4, 2) => 3,
        (4, _) => 4,
        _ => 5,
    }
}

pub(crate) fn msh2(doc: &Doc, encoding: Encoding) -> Vec<u8> {
    let mut out = Out {
        bytes: Vec::new(),
        encoding,
    };
    out.header("2.2");
    out.names(doc);
    out.text(&format!("$Nodes\n{}\n", doc.points.len()));
    for (i, p) in doc.points.iter().enumerate() {
        out.int((doc.stride * i as u64 + 1) as i32);
        p.iter().for_each(|&x| out.real(x));
        out.line();
    }
    out.text("\n$EndNodes\n");
    out.text(&format!(
        "$Elements\n{}\n",
        doc.faces.len() + doc.cells.len()
    ));
    let all = doc
        .faces
        .iter()
        .map(|f| (2, f))
        .chain(doc.cells.iter().map(|c| (3, c)));
    for (i, (dimension, (corners, group))) in all.enumerate() {
        let kind = kind(corners.len(), dimension);
        match encoding {
            Encoding::Text => [i as i32 + 1, kind, 2, *group, 99]
                .iter()
                .for_each(|&x| out.int(x)),
            _ => [kind, 1, 2, i as i32 + 1, *group, 99]
                .iter()
                .for_each(|&x| out.int(x)),
        }
        corners
            .iter()
            .for_each(|&p| out.int((doc.stride * u64::from(p) + 1) as i32));
        out.line();
    }
    out.text("\n$EndElements\n");
    out.bytes
}

pub(crate) fn msh4(doc: &Doc, encoding: Encoding) -> Vec<u8> {
    let mut out = Out {
        bytes: Vec::new(),
        encoding,
    };
    out.header("4.1");
    out.names(doc);
    let mut groups: Vec<(i32, i32)> = doc.faces.iter().map(|f| (2, f.1)).collect();
    groups.extend(doc.cells.iter().map(|c| (3, c.1)));
    groups.sort_unstable();
    groups.dedup();
    let count = |d: i32| groups.iter().filter(|g| g.0 == d).count() as u64;
    out.text("$Entities\n");
    [1, 0, count(2), count(3)].iter().for_each(|&n| out.size(n));
    // A point, then a surface or a volume a group, of the number 100 + group.
    out.int(1);
    (0..3).for_each(|_| out.real(0.5));
    out.size(0);
    for &(_, group) in &groups {
        out.int(100 + group);
        (0..6).for_each(|_| out.real(0.0));
        out.size(1);
        out.int(group);
        out.size(2);
        out.int(-5);
        out.int(6);
        out.line();
    }
    out.text("\n$EndEntities\n$Nodes\n");
    // Two blocks of nodes, of a point with none and of a volume with parameters.
    let n = doc.points.len() as u64;
    [2, n, 1, doc.stride * (n - 1) + 1]
        .iter()
        .for_each(|&x| out.size(x));
    [0, 1, 0].iter().for_each(|&x| out.int(x));
    out.size(0);
    [3, 107, 1].iter().for_each(|&x| out.int(x));
    out.size(n);
    (0..n).for_each(|i| out.size(doc.stride * i + 1));
    for p in &doc.points {
        p.iter().chain(&[0.25; 3]).for_each(|&x| out.real(x));
        out.line();
    }
    out.text("\n$EndNodes\n$Elements\n");
    let all = doc.faces.len() + doc.cells.len();
    let blocks: Vec<_> = groups
        .iter()
        .flat_map(|&(dimension, group)| {
            let list = if dimension == 2 {
                &doc.faces
            } else {
                &doc.cells
            };
            let of: Vec<&(Vec<u32>, i32)> = list.iter().filter(|e| e.1 == group).collect();
            [(dimension, group, of)]
        })
        .collect();
    [blocks.len() as u64, all as u64, 1, all as u64]
        .iter()
        .for_each(|&x| out.size(x));
    let mut tag = 0;
    for (dimension, group, elements) in blocks {
        out.int(dimension);
        out.int(100 + group);
        out.int(kind(elements[0].0.len(), dimension));
        out.size(elements.len() as u64);
        for (corners, _) in elements {
            tag += 1;
            out.size(tag);
            corners
                .iter()
                .for_each(|&p| out.size(doc.stride * u64::from(p) + 1));
            out.line();
        }
    }
    out.text("\n$EndElements\n$Comments\nnothing\n$EndComments\n");
    out.bytes
}

/// Where a VTU file has its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Ascii,
    Inline,
    AppendedRaw,
    AppendedBase64,
}

/// How a VTU file has its arrays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Vtu {
    pub(crate) place: Place,
    pub(crate) zlib: bool,
    pub(crate) big: bool,
    pub(crate) wide_header: bool,
    /// Hexahedra as voxels, quads as pixels.
    pub(crate) voxels: bool,
}

impl Vtu {
    pub(crate) const ASCII: Self = Self {
        place: Place::Ascii,
        zlib: false,
        big: false,
        wide_header: false,
        voxels: false,
    };

    /// The file of a document; `fields` are arrays of each cell, faces before cells.
    pub(crate) fn write(self, doc: &Doc, fields: &[(&str, usize, Vec<f64>)]) -> Vec<u8> {
        let mut body = String::new();
        let mut appended = Vec::new();
        let all: Vec<(i32, &(Vec<u32>, i32))> = doc
            .faces
            .iter()
            .map(|f| (2, f))
            .chain(doc.cells.iter().map(|c| (3, c)))
            .collect();
        let kinds: Vec<i64> = all.iter().map(|(d, e)| self.kind(*d, e.0.len())).collect();
        let corners: Vec<i64> = all
            .iter()
            .flat_map(|(d, e)| self.corners(*d, &e.0))
            .collect();
        let mut end = 0;
        let ends: Vec<i64> = all
            .iter()
            .map(|(_, e)| {
                end += e.0.len() as i64;
                end
            })
            .collect();
        let groups: Vec<i64> = all.iter().map(|(_, e)| e.1.into()).collect();
        let points: Vec<f64> = doc.points.iter().flatten().copied().collect();
        let _ = writeln!(
            body,
            "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">\n<Points>",
            doc.points.len(),
            all.len()
        );
        self.reals(&mut body, &mut appended, ("Points", 3), &points);
        body.push_str("</Points>\n<Cells>\n");
        self.integers(
            &mut body,
            &mut appended,
            ("connectivity", "Int32"),
            &corners,
        );
        self.integers(&mut body, &mut appended, ("offsets", "Int64"), &ends);
        self.integers(&mut body, &mut appended, ("types", "UInt8"), &kinds);
        body.push_str("</Cells>\n<CellData>\n");
        self.integers(
            &mut body,
            &mut appended,
            ("gmsh:physical", "Int32"),
            &groups,
        );
        for (name, components, values) in fields {
            self.reals(&mut body, &mut appended, (name, *components), values);
        }
        body.push_str("</CellData>\n</Piece>\n</UnstructuredGrid>\n");
        let order = if self.big {
            "BigEndian"
        } else {
            "LittleEndian"
        };
        let header = if self.wide_header { "UInt64" } else { "UInt32" };
        let zlib = if self.zlib {
            " compressor=\"vtkZLibDataCompressor\""
        } else {
            ""
        };
        let mut out = format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"{order}\" \
             header_type=\"{header}\"{zlib}>\n{body}"
        )
        .into_bytes();
        if matches!(self.place, Place::AppendedRaw | Place::AppendedBase64) {
            let encoding = if self.place == Place::AppendedRaw {
                "raw"
            } else {
                "base64"
            };
            out.extend(format!("<AppendedData encoding=\"{encoding}\">\n_").bytes());
            out.extend(appended);
            out.extend(b"\n</AppendedData>\n");
        }
        out.extend(b"</VTKFile>\n");
        out
    }

    fn kind(self, dimension: i32, corners: usize) -> i64 {
        match (dimension, corners, self.voxels) {
            (_, 3, _) => 5,
            (2, _, true) => 8,
            (2, _, false) => 9,
            (_, 4, _) => 10,
            (_, _, true) => 11,
            (_, _, false) => 12,
        }
    }

    fn corners(self, dimension: i32, corners: &[u32]) -> Vec<i64> {
        let order: &[usize] = match (self.voxels, dimension, corners.len()) {
            (true, 2, 4) => &[0, 1, 3, 2],
            (true, 3, 8) => &[0, 1, 3, 2, 4, 5, 7, 6],
            (_, _, 3) => &[0, 1, 2],
            (_, _, 4) => &[0, 1, 2, 3],
            _ => &[0, 1, 2, 3, 4, 5, 6, 7],
        };
        order.iter().map(|&i| corners[i].into()).collect()
    }

    fn reals(
        self,
        body: &mut String,
        appended: &mut Vec<u8>,
        (name, n): (&str, usize),
        values: &[f64],
    ) {
        let words: Vec<String> = values.iter().map(|x| format!("{x:?}")).collect();
        let bytes = values
            .iter()
            .flat_map(|x| self.bytes(x.to_le_bytes()))
            .collect();
        let tag = format!("type=\"Float64\" Name=\"{name}\" NumberOfComponents=\"{n}\"");
        self.array(body, appended, &tag, &words.join(" "), bytes);
    }

    fn integers(
        self,
        body: &mut String,
        appended: &mut Vec<u8>,
        (name, kind): (&str, &str),
        values: &[i64],
    ) {
        let words: Vec<String> = values.iter().map(i64::to_string).collect();
        let bytes = values
            .iter()
            .flat_map(|&x| match kind {
                "Int32" => self.bytes((x as i32).to_le_bytes()).to_vec(),
                "UInt8" => vec![x as u8],
                _ => self.bytes(x.to_le_bytes()).to_vec(),
            })
            .collect();
        self.array(
            body,
            appended,
            &format!("type=\"{kind}\" Name=\"{name}\""),
            &words.join(" "),
            bytes,
        );
    }

    fn bytes<const N: usize>(self, mut little: [u8; N]) -> [u8; N] {
        if self.big {
            little.reverse();
        }
        little
    }

    fn array(
        self,
        body: &mut String,
        appended: &mut Vec<u8>,
        tag: &str,
        words: &str,
        bytes: Vec<u8>,
    ) {
        let key = "<InformationKey name=\"RANGE\"><Value index=\"0\">17</Value></InformationKey>\n";
        let _ = match self.place {
            Place::Ascii => writeln!(
                body,
                "<DataArray {tag} format=\"ascii\">\n{words}\n{key}</DataArray>"
            ),
            Place::Inline => {
                let text = String::from_utf8(self.stored(bytes, true)).expect("base64");
                writeln!(
                    body,
                    "<DataArray {tag} format=\"binary\">\n  {text}\n</DataArray>"
                )
            }
            Place::AppendedRaw | Place::AppendedBase64 => {
                let offset = appended.len();
                appended.extend(self.stored(bytes, self.place == Place::AppendedBase64));
                writeln!(
                    body,
                    "<DataArray {tag} format=\"appended\" offset=\"{offset}\"/>"
                )
            }
        };
    }

    /// Bytes behind their header; header and bytes are encoded each for itself if compressed.
    fn stored(self, bytes: Vec<u8>, encoded: bool) -> Vec<u8> {
        let word = |x: usize| match self.wide_header {
            true => self.bytes((x as u64).to_le_bytes()).to_vec(),
            false => self.bytes((x as u32).to_le_bytes()).to_vec(),
        };
        let as_text = |bytes: Vec<u8>| if encoded { base64(&bytes) } else { bytes };
        if !self.zlib {
            return as_text([word(bytes.len()), bytes].concat());
        }
        // Blocks of 64 bytes.
        let blocks: Vec<Vec<u8>> = bytes
            .chunks(64)
            .map(|block| {
                let mut out =
                    flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                out.write_all(block).expect("memory");
                out.finish().expect("memory")
            })
            .collect();
        let mut header = [word(blocks.len()), word(64), word(bytes.len() % 64)].concat();
        blocks
            .iter()
            .for_each(|block| header.extend(word(block.len())));
        [as_text(header), as_text(blocks.concat())].concat()
    }
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    const SET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for three in bytes.chunks(3) {
        let all =
            three.iter().fold(0u32, |all, &b| all << 8 | u32::from(b)) << (8 * (3 - three.len()));
        for i in 0..4 {
            let digit = SET[(all >> (18 - 6 * i) & 63) as usize];
            out.push(if i <= three.len() { digit } else { b'=' });
        }
    }
    out
}
