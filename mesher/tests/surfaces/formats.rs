//! A tetrahedron in every format, written here.

use cutlink_mesher::read::Format;

pub(crate) const POINTS: [[f64; 3]; 4] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
];
pub(crate) const FACETS: [[u32; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [2, 0, 3]];

/// Name, bytes and format of each file.
pub(crate) fn all() -> Vec<(&'static str, Vec<u8>, Format)> {
    let obj = lines("v ", &POINTS)
        + &FACETS
            .map(|f| format!("f {} {} {}\n", f[0] + 1, f[1] + 1, f[2] + 1))
            .concat();
    let off = format!("OFF\n4 4 0\n{}{}", lines("", &POINTS), indices("3 "));
    let model = threemf::model(
        "meter",
        &threemf::object(1, "tetra"),
        "<item objectid=\"1\"/>",
    );
    let nodes = r#"[{"mesh":0}]"#;
    vec![
        ("obj", obj.into_bytes(), Format::Obj),
        ("off", off.into_bytes(), Format::Off),
        ("3mf", threemf::package(&model), Format::ThreeMf),
        (
            "glb",
            glb::with(nodes, r#"[{"nodes":[0]}]"#, ""),
            Format::Gltf,
        ),
        ("gltf", glb::embedded(nodes), Format::Gltf),
        ("vtk ascii", vtk::ascii(), Format::Vtk),
        ("vtk binary", vtk::binary(), Format::Vtk),
        ("vtk binary 5.1", vtk::offsets(), Format::Vtk),
        ("vtp ascii", vtp::ascii(), Format::Vtp),
        ("vtp base64", vtp::base64(false), Format::Vtp),
        ("vtp base64 zlib", vtp::base64(true), Format::Vtp),
        ("vtp raw", vtp::raw(), Format::Vtp),
    ]
}

fn lines(start: &str, points: &[[f64; 3]]) -> String {
    points
        .iter()
        .map(|p| format!("{start}{} {} {}\n", p[0], p[1], p[2]))
        .collect()
}

fn indices(start: &str) -> String {
    FACETS
        .map(|[a, b, c]| format!("{start}{a} {b} {c}\n"))
        .concat()
}

fn encode(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..=group.len()].copy_from_slice(group);
        let word = u32::from_be_bytes(word);
        for k in 0..4 {
            let digit = DIGITS[(word >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= group.len() { digit.into() } else { '=' });
        }
    }
    text
}

/// A zip archive of stored parts (APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.16).
pub(crate) fn zip(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in parts {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let (at, len) = (out.len() as u32, bytes.len() as u32);
        // Version 2.0, no flags, stored, a date; checksum, sizes, length of the name, no extra field.
        let mut common = vec![20, 0, 0, 0, 0, 0, 0, 0, 0x21, 0x58];
        common.extend([crc.sum(), len, len].iter().flat_map(|x| x.to_le_bytes()));
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x14\0");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(at.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let at = out.len() as u32;
    out.extend(&directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([parts.len() as u16; 2].iter().flat_map(|x| x.to_le_bytes()));
    out.extend(
        [directory.len() as u32, at]
            .iter()
            .flat_map(|x| x.to_le_bytes()),
    );
    out.extend([0, 0]);
    out
}

pub(crate) mod threemf {
    use super::{FACETS, POINTS, zip};

    pub(crate) fn object(id: u32, name: &str) -> String {
        let vertices = POINTS
            .map(|[x, y, z]| format!("<vertex x=\"{x}\" y=\"{y}\" z=\"{z}\"/>"))
            .concat();
        let triangles = FACETS
            .map(|[a, b, c]| format!("<triangle v1=\"{a}\" v2=\"{b}\" v3=\"{c}\"/>"))
            .concat();
        let name = if name.is_empty() {
            String::new()
        } else {
            format!(" name=\"{name}\"")
        };
        format!(
            "<object id=\"{id}\"{name}><mesh><vertices>{vertices}</vertices>\n<triangles>{triangles}</triangles></mesh></object>"
        )
    }

    pub(crate) fn model(unit: &str, objects: &str, build: &str) -> String {
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- made by hand -->\n<model unit=\"{unit}\" \
             xmlns=\"http://schemas.microsoft.com/3dmanufacturing/core/2015/02\"><resources>{objects}</resources>\
             <build>{build}</build></model>"
        )
    }

    pub(crate) fn package(model: &str) -> Vec<u8> {
        let rels = "<?xml version=\"1.0\"?><Relationships><Relationship Target=\"/3D/My.model\" Id=\"r0\" \
                    Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>";
        zip(&[
            ("[Content_Types].xml", b"<Types/>"),
            ("_rels/.rels", rels.as_bytes()),
            ("3D/a.model", b"another one"),
            ("3D/My.model", model.as_bytes()),
        ])
    }
}

pub(crate) mod glb {
    use super::{FACETS, POINTS, encode};

    /// Indices as u16, then positions as f32.
    fn buffer() -> Vec<u8> {
        let mut bytes: Vec<u8> = FACETS
            .iter()
            .flatten()
            .flat_map(|&v| (v as u16).to_le_bytes())
            .collect();
        bytes.extend(
            POINTS
                .iter()
                .flatten()
                .flat_map(|&x| (x as f32).to_le_bytes()),
        );
        bytes
    }

    fn json(nodes: &str, scenes: &str, uri: &str, more: &str) -> String {
        format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":{scenes},"nodes":{nodes},
            "meshes":[{{"name":"tetra","primitives":[{{"attributes":{{"POSITION":1}},"indices":0}},
            {{"attributes":{{"POSITION":1}},"mode":1}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5123,"count":12,"type":"SCALAR"}},
            {{"bufferView":1,"componentType":5126,"count":4,"type":"VEC3"}}],
            "bufferViews":[{{"buffer":0,"byteLength":24}},{{"buffer":0,"byteOffset":24,"byteLength":48}}],
            "buffers":[{{"byteLength":72{uri}}}]{more}}}"#
        )
    }

    /// glTF 2.0, section 4.4: header, JSON padded by spaces, binary.
    pub(crate) fn with(nodes: &str, scenes: &str, more: &str) -> Vec<u8> {
        let mut json = json(nodes, scenes, "", more).into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let binary = buffer();
        let mut out = b"glTF\x02\0\0\0".to_vec();
        out.extend((28 + json.len() as u32 + binary.len() as u32).to_le_bytes());
        for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &binary)] {
            out.extend((chunk.len() as u32).to_le_bytes());
            out.extend(kind);
            out.extend(chunk);
        }
        out
    }

    pub(crate) fn embedded(nodes: &str) -> Vec<u8> {
        let data = encode(&buffer());
        let uri = format!(r#","uri":"data:application/octet-stream;base64,{data}""#);
        json(nodes, r#"[{"nodes":[0]}]"#, &uri, "").into_bytes()
    }
}

pub(crate) mod vtk {
    use super::{FACETS, POINTS, indices, lines};

    const HEAD: &str = "# vtk DataFile Version 4.2\na tetrahedron\n";

    pub(crate) fn ascii() -> Vec<u8> {
        let points = lines("", &POINTS);
        let cells = indices("3 ");
        format!("{HEAD}ASCII\nDATASET POLYDATA\nPOINTS 4 float\n{points}\nPOLYGONS 4 16\n{cells}")
            .into_bytes()
    }

    fn points(bytes: &mut Vec<u8>, version: &str) {
        let head = HEAD.replace("4.2", version);
        bytes.extend(format!("{head}BINARY\nDATASET POLYDATA\nPOINTS 4 float\n").as_bytes());
        bytes.extend(
            POINTS
                .iter()
                .flatten()
                .flat_map(|&x| (x as f32).to_be_bytes()),
        );
    }

    pub(crate) fn binary() -> Vec<u8> {
        let mut bytes = Vec::new();
        points(&mut bytes, "4.2");
        bytes.extend(b"\nPOLYGONS 4 16\n");
        for f in FACETS {
            bytes.extend(3u32.to_be_bytes());
            bytes.extend(f.iter().flat_map(|v| v.to_be_bytes()));
        }
        bytes.extend(b"\n");
        bytes
    }

    pub(crate) fn offsets() -> Vec<u8> {
        let mut bytes = Vec::new();
        points(&mut bytes, "5.1");
        bytes.extend(b"\nPOLYGONS 5 12\nOFFSETS vtktypeint64\n");
        bytes.extend([0i64, 3, 6, 9, 12].iter().flat_map(|x| x.to_be_bytes()));
        bytes.extend(b"\nCONNECTIVITY vtktypeint64\n");
        bytes.extend(
            FACETS
                .iter()
                .flatten()
                .flat_map(|&v| i64::from(v).to_be_bytes()),
        );
        bytes.extend(b"\n");
        bytes
    }
}

pub(crate) mod vtp {
    use super::{FACETS, POINTS, encode, indices, lines};
    use std::io::Write as _;

    /// A file with three arrays: attributes and content of each.
    fn file(attributes: &str, arrays: [(&str, String); 3], end: &str) -> String {
        let [points, cells, ends] = arrays;
        let array = |kind: &str, name: &str, (attributes, text): (&str, String)| {
            format!(
                "<DataArray type=\"{kind}\" Name=\"{name}\" {attributes}>\n{text}\n</DataArray>\n"
            )
        };
        format!(
            "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" {attributes}>\n<PolyData>\n\
             <Piece NumberOfPoints=\"4\" NumberOfPolys=\"4\">\n<PointData>\n</PointData>\n\
             <Points>\n{}</Points>\n<Polys>\n{}{}</Polys>\n</Piece>\n</PolyData>\n{end}",
            array("Float64", "Points", points),
            array("Int32", "connectivity", cells),
            array("Int32", "offsets", ends),
        )
    }

    fn bytes() -> [Vec<u8>; 3] {
        let int = |x: u32| x.to_le_bytes();
        [
            POINTS
                .iter()
                .flatten()
                .flat_map(|x| x.to_le_bytes())
                .collect(),
            FACETS.iter().flatten().flat_map(|&v| int(v)).collect(),
            [3, 6, 9, 12].into_iter().flat_map(int).collect(),
        ]
    }

    pub(crate) fn ascii() -> Vec<u8> {
        let format = "format=\"ascii\"";
        let arrays = [lines("", &POINTS), indices(""), "3 6 9 12".into()];
        file(
            "byte_order=\"LittleEndian\"",
            arrays.map(|text| (format, text)),
            "</VTKFile>",
        )
        .into_bytes()
    }

    /// The blocks of an array, of 32 bytes at most: their header, and the blocks themselves.
    fn zlib(bytes: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let blocks: Vec<Vec<u8>> = bytes
            .chunks(32)
            .map(|block| {
                let mut packer =
                    flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
                packer.write_all(block).expect("memory takes bytes");
                packer.finish().expect("memory takes bytes")
            })
            .collect();
        let mut header = vec![blocks.len() as u64, 32, bytes.len() as u64 % 32];
        header.extend(blocks.iter().map(|block| block.len() as u64));
        (
            header.iter().flat_map(|x| x.to_le_bytes()).collect(),
            blocks.concat(),
        )
    }

    pub(crate) fn base64(is_packed: bool) -> Vec<u8> {
        let arrays = bytes().map(|bytes| {
            let text = if is_packed {
                let (header, blocks) = zlib(&bytes);
                encode(&header) + &encode(&blocks)
            } else {
                encode(&[&(bytes.len() as u64).to_le_bytes()[..], &bytes].concat())
            };
            ("format=\"binary\"", text)
        });
        let compressor = if is_packed {
            "compressor=\"vtkZLibDataCompressor\""
        } else {
            ""
        };
        let attributes = format!("byte_order=\"LittleEndian\" header_type=\"UInt64\" {compressor}");
        file(&attributes, arrays, "</VTKFile>").into_bytes()
    }

    pub(crate) fn raw() -> Vec<u8> {
        let bytes = bytes();
        let mut data = Vec::new();
        let offsets = bytes.map(|bytes| {
            let at = data.len();
            data.extend((bytes.len() as u32).to_le_bytes());
            data.extend(bytes);
            format!("format=\"appended\" offset=\"{at}\"")
        });
        let arrays = offsets
            .each_ref()
            .map(|offset| (offset.as_str(), String::new()));
        let end = "<AppendedData encoding=\"raw\">\n_";
        let mut out = file("byte_order=\"LittleEndian\"", arrays, end).into_bytes();
        out.extend(data);
        out.extend(b"\n</AppendedData>\n</VTKFile>\n");
        out
    }

    pub(crate) fn bomb() -> Vec<u8> {
        let header: Vec<u8> = [1u64, 1 << 60, 0, 4]
            .iter()
            .flat_map(|x| x.to_le_bytes())
            .collect();
        let arrays = [(); 3].map(|()| ("format=\"binary\"", encode(&header) + "AAAAAA=="));
        let attributes = "byte_order=\"LittleEndian\" header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\"";
        file(attributes, arrays, "</VTKFile>").into_bytes()
    }
}
