//! glTF 2.0: binary (`.glb`), and in JSON with its buffers inside.
//!
//! Read: the nodes of the default scene with their transforms, meshes of triangles, strips and fans, indexed or not,
//! positions as f32 or quantized (KHR_mesh_quantization). A transform that mirrors turns its triangles round.
//! Coordinates stay as they are: in metres, with y up. Skipped with a note: points and lines, skins, morph targets.
//! Refused: sparse accessors, compressed meshes (Draco, meshopt), buffers in other files.
//!
//! Patches: the name of the node, else of its mesh; materials where those differ in a group
//! (see [`super::assemble`]).

use std::collections::HashMap;

use serde::Deserialize;

use super::assemble::{Assembly, MOST_INSTANCED, Tag};
use super::source::Source;
use super::{FilePlace, Format, Loaded, ReadError};
use crate::placement::Affine;

const FORMAT: Format = Format::Gltf;
const EXPORT: &str = "export it without compression, or as STL or PLY";

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Root {
    asset: Asset,
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Mesh>,
    materials: Vec<Named>,
    accessors: Vec<Accessor>,
    buffer_views: Vec<View>,
    buffers: Vec<Buffer>,
    extensions_required: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Asset {
    version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Scene {
    nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Node {
    name: String,
    mesh: Option<usize>,
    skin: Option<usize>,
    children: Vec<usize>,
    matrix: Option<[f64; 16]>,
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Mesh {
    name: String,
    primitives: Vec<Primitive>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Primitive {
    attributes: HashMap<String, usize>,
    indices: Option<usize>,
    material: Option<usize>,
    mode: Option<u32>,
    targets: Vec<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Named {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Accessor {
    buffer_view: Option<usize>,
    byte_offset: u64,
    component_type: u32,
    normalized: bool,
    count: u64,
    r#type: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct View {
    buffer: usize,
    byte_offset: u64,
    byte_length: u64,
    byte_stride: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Buffer {
    uri: Option<String>,
}

/// The document with the bytes of its buffers.
struct Document<'a> {
    source: Source<'a>,
    root: Root,
    binary: Option<&'a [u8]>,
    /// Buffers that stand in the JSON, decoded.
    decoded: Vec<Option<Vec<u8>>>,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let bytes = super::sniff::strip_bom(source.bytes);
    let (json, binary) = if bytes.starts_with(b"glTF") {
        chunks(source)?
    } else {
        (bytes, None)
    };
    let root: Root = serde_json::from_slice(json).map_err(|e| {
        let place = FilePlace::File;
        source.syntax(FORMAT, place, "glTF 2.0 in its JSON", e.to_string())
    })?;
    if !root.asset.version.starts_with("2.") {
        let found = format!("version {:?}", shortened(&root.asset.version));
        return Err(source.syntax(FORMAT, FilePlace::File, "glTF 2.0", found));
    }
    let refused = ["KHR_draco_mesh_compression", "EXT_meshopt_compression"];
    let names = &root.extensions_required;
    if let Some(name) = names.iter().find(|n| refused.contains(&n.as_str())) {
        let expected = format!("meshes without compression ({EXPORT})");
        return Err(source.syntax(FORMAT, FilePlace::File, expected, name.clone()));
    }
    let mut document = Document {
        source,
        root,
        binary,
        decoded: Vec::new(),
    };
    document.decode()?;
    document.surface()
}

/// The JSON and the binary chunk.
fn chunks<'a>(source: Source<'a>) -> Result<(&'a [u8], Option<&'a [u8]>), ReadError> {
    let bytes = super::sniff::strip_bom(source.bytes);
    let word = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    let truncated = |what: &str, expected: u64| ReadError::Truncated {
        path: source.name.into(),
        format: FORMAT,
        what: what.into(),
        expected,
        found: bytes.len() as u64,
        end: bytes.len() as u64,
    };
    let (Some(version), Some(_)) = (word(4), word(8)) else {
        return Err(truncated("bytes of a header", 12));
    };
    if version != 2 {
        let found = format!("version {version}");
        return Err(source.syntax(FORMAT, FilePlace::File, "glTF 2.0", found));
    }
    let (mut json, mut binary) = (None, None);
    let mut at = 12;
    while let (Some(len), Some(kind)) = (word(at), word(at + 4)) {
        let end = at as u64 + 8 + u64::from(len);
        if end > bytes.len() as u64 {
            return Err(truncated("bytes", end));
        }
        let chunk = &bytes[at + 8..end as usize];
        match kind {
            0x4e4f_534a if json.is_none() => json = Some(chunk),
            0x004e_4942 if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = end as usize;
    }
    let json =
        json.ok_or_else(|| source.syntax(FORMAT, FilePlace::Byte(12), "a JSON chunk", "none"))?;
    Ok((json, binary))
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

fn item(what: &'static str, index: usize) -> FilePlace {
    FilePlace::Item {
        what,
        index: index as u64,
    }
}

impl<'a> Document<'a> {
    fn syntax(&self, place: FilePlace, expected: &str, found: impl Into<String>) -> ReadError {
        self.source.syntax(FORMAT, place, expected, found)
    }

    fn get<'b, T>(&self, all: &'b [T], what: &'static str, i: usize) -> Result<&'b T, ReadError> {
        all.get(i).ok_or_else(|| {
            let found = format!("{} of them", all.len());
            self.syntax(item(what, i), "what another part refers to", found)
        })
    }

    /// Decodes the buffers that stand in the JSON.
    fn decode(&mut self) -> Result<(), ReadError> {
        let mut decoded = Vec::new();
        for (i, buffer) in self.root.buffers.iter().enumerate() {
            decoded.push(match &buffer.uri {
                None => None,
                Some(uri) if uri.starts_with("data:") => {
                    let data = uri.split_once("base64,").map(|(_, data)| data);
                    let bytes =
                        data.and_then(|data| cutlink_vtkxml::decode_base64(data.as_bytes()));
                    let bytes = bytes
                        .ok_or_else(|| self.syntax(item("buffer", i), "base64", shortened(uri)))?;
                    Some(bytes)
                }
                Some(uri) => {
                    let expected = "all buffers in the file (export a binary glTF, .glb)";
                    let found = format!("another file, '{}'", shortened(uri));
                    return Err(self.syntax(item("buffer", i), expected, found));
                }
            });
        }
        self.decoded = decoded;
        Ok(())
    }

    fn buffer(&self, i: usize) -> Result<&[u8], ReadError> {
        self.get(&self.root.buffers, "buffer", i)?;
        match (&self.decoded[i], self.binary) {
            (Some(bytes), _) => Ok(bytes),
            (None, Some(bytes)) if i == 0 => Ok(bytes),
            _ => Err(self.syntax(item("buffer", i), "its bytes", "none")),
        }
    }

    /// The elements of an accessor: a slice of bytes for each.
    fn elements(&self, i: usize, kind: &str, size: usize) -> Result<Elements<'_>, ReadError> {
        let accessor = self.get(&self.root.accessors, "accessor", i)?;
        let place = item("accessor", i);
        if accessor.sparse.is_some() {
            return Err(self.syntax(place, "one that is not sparse", "a sparse one"));
        }
        if accessor.r#type != kind {
            return Err(self.syntax(place, kind, shortened(&accessor.r#type)));
        }
        let Some(view) = accessor.buffer_view else {
            return Err(self.syntax(place, "a buffer view", "none"));
        };
        let view = self.get(&self.root.buffer_views, "buffer view", view)?;
        let buffer = self.buffer(view.buffer)?;
        let end = view.byte_offset.saturating_add(view.byte_length);
        let range = view.byte_offset as usize..end as usize;
        let Some(bytes) = buffer.get(range) else {
            let found = format!("bytes up to {end} of {}", buffer.len());
            return Err(self.syntax(place, "a buffer view inside its buffer", found));
        };
        let stride = view.byte_stride.unwrap_or(size as u64);
        let bytes = bytes.get(accessor.byte_offset.min(u64::from(u32::MAX)) as usize..);
        let needed = accessor.count.saturating_sub(1).saturating_mul(stride) + size as u64;
        match bytes {
            Some(bytes) if stride >= size as u64 && needed <= bytes.len() as u64 => Ok(Elements {
                bytes,
                stride: stride as usize,
                size,
                count: accessor.count as usize,
            }),
            _ => {
                let found = format!("{} elements, {stride} bytes apart", accessor.count);
                Err(self.syntax(place, "elements inside the buffer view", found))
            }
        }
    }

    fn component(&self, i: usize) -> Result<(u32, usize), ReadError> {
        let kind = self
            .get(&self.root.accessors, "accessor", i)?
            .component_type;
        let size = match kind {
            5120 | 5121 => 1,
            5122 | 5123 => 2,
            5125 | 5126 => 4,
            _ => {
                let found = format!("component type {kind}");
                return Err(self.syntax(item("accessor", i), "a component type", found));
            }
        };
        Ok((kind, size))
    }

    fn positions(
        &self,
        i: usize,
        to: &Affine<3>,
        out: &mut Vec<[f64; 3]>,
    ) -> Result<(), ReadError> {
        let (kind, size) = self.component(i)?;
        let normalized = self.root.accessors[i].normalized;
        for (v, bytes) in self.elements(i, "VEC3", 3 * size)?.iter().enumerate() {
            let mut p = [0.0; 3];
            for (x, bytes) in p.iter_mut().zip(bytes.chunks_exact(size)) {
                *x = number(kind, bytes, normalized);
            }
            let q = to.apply(p);
            if let Some(&x) = q.iter().find(|x| !x.is_finite()) {
                let place = FilePlace::Vertex(v as u64);
                return Err(self.source.not_finite(FORMAT, place, x));
            }
            out.push(q);
        }
        Ok(())
    }

    fn indices(&self, i: usize, vertices: u64) -> Result<Vec<u32>, ReadError> {
        let (kind, size) = self.component(i)?;
        if !matches!(kind, 5121 | 5123 | 5125) {
            let found = format!("component type {kind}");
            return Err(self.syntax(item("accessor", i), "unsigned integers as indices", found));
        }
        let elements = self.elements(i, "SCALAR", size)?;
        let all: Vec<u32> = elements
            .iter()
            .map(|bytes| bytes.iter().rev().fold(0, |x, &b| x << 8 | u32::from(b)))
            .collect();
        match all.iter().position(|&v| u64::from(v) >= vertices) {
            None => Ok(all),
            Some(at) => Err(ReadError::IndexOutOfRange {
                path: self.source.name.into(),
                format: FORMAT,
                place: item("accessor", i),
                index: all[at].into(),
                vertices,
            }),
        }
    }

    /// The nodes of the scene that have a mesh, with their transforms, parents first.
    fn placed(&self) -> Result<Vec<(usize, Affine<3>)>, ReadError> {
        let nodes = &self.root.nodes;
        let roots = match self.root.scenes.get(self.root.scene.unwrap_or(0)) {
            Some(scene) => scene.nodes.clone(),
            None => {
                let mut is_child = vec![false; nodes.len()];
                for &child in nodes.iter().flat_map(|n| &n.children) {
                    if let Some(flag) = is_child.get_mut(child) {
                        *flag = true;
                    }
                }
                (0..nodes.len()).filter(|&n| !is_child[n]).collect()
            }
        };
        let mut seen = vec![false; nodes.len()];
        let mut todo: Vec<(usize, Affine<3>)> = roots
            .into_iter()
            .rev()
            .map(|n| (n, Affine::identity()))
            .collect();
        let mut placed = Vec::new();
        while let Some((n, above)) = todo.pop() {
            let node = self.get(nodes, "node", n)?;
            if std::mem::replace(&mut seen[n], true) {
                let found = "one that is reached twice";
                return Err(self.syntax(item("node", n), "a node with one parent", found));
            }
            let here = above.compose(&node.affine());
            if node.mesh.is_some() {
                placed.push((n, here));
            }
            todo.extend(node.children.iter().rev().map(|&child| (child, here)));
        }
        Ok(placed)
    }

    /// Vertices and corners of a primitive.
    fn count(&self, primitive: &Primitive) -> [u64; 2] {
        let of = |i: usize| self.root.accessors.get(i).map_or(0, |a| a.count);
        let vertices = primitive.attributes.get("POSITION").map_or(0, |&i| of(i));
        [vertices, primitive.indices.map_or(vertices, of)]
    }

    fn surface(&self) -> Result<Loaded<3>, ReadError> {
        let source = self.source;
        let placed = self.placed()?;
        let mut totals = [0u64; 2];
        for &(n, _) in &placed {
            let mesh = self.root.nodes[n].mesh.unwrap_or(0);
            for primitive in &self.get(&self.root.meshes, "mesh", mesh)?.primitives {
                let count = self.count(primitive);
                totals = [0, 1].map(|k| totals[k].saturating_add(count[k]));
            }
        }
        let most = MOST_INSTANCED.max(source.bytes.len() as u64);
        if totals.iter().any(|&n| n > most) {
            return Err(ReadError::TooManyCopies {
                path: source.name.into(),
                format: FORMAT,
                triangles: totals[1],
            });
        }
        let mut out = Assembly::default();
        let mut names = Vec::new();
        let mut skipped = Skipped::default();
        for (n, affine) in placed {
            let node = &self.root.nodes[n];
            let mesh = &self.root.meshes[node.mesh.unwrap_or(0)];
            let name = [&node.name, &mesh.name].into_iter().find(|s| !s.is_empty());
            names.push(name.cloned().unwrap_or_default());
            skipped.skins |= node.skin.is_some();
            let group = names.len() as u32 - 1;
            for primitive in &mesh.primitives {
                self.append(primitive, &affine, group, &mut out, &mut skipped)?;
            }
        }
        if out.facets.is_empty() {
            return Err(source.no_facets(FORMAT, "its scene has no triangles"));
        }
        let mut materials = vec![String::new()];
        materials.extend(self.root.materials.iter().enumerate().map(|(i, m)| {
            if m.name.is_empty() {
                format!("material_{i}")
            } else {
                m.name.clone()
            }
        }));
        out.finish(source, FORMAT, &names, &materials, skipped.notes())
    }

    fn append(
        &self,
        primitive: &Primitive,
        affine: &Affine<3>,
        group: u32,
        out: &mut Assembly,
        skipped: &mut Skipped,
    ) -> Result<(), ReadError> {
        let mode = primitive.mode.unwrap_or(4);
        let Some(&position) = primitive.attributes.get("POSITION") else {
            return Ok(());
        };
        if mode < 4 {
            skipped.lines += 1;
            return Ok(());
        }
        skipped.morphs |= !primitive.targets.is_empty();
        let base = out.vertices.len();
        self.positions(position, affine, &mut out.vertices)?;
        let count = (out.vertices.len() - base) as u64;
        if out.vertices.len() as u64 >= u64::from(u32::MAX) {
            return Err(ReadError::TooMany {
                path: self.source.name.into(),
                format: FORMAT,
                corners: out.vertices.len() as u64,
            });
        }
        let mut corners = match primitive.indices {
            Some(i) => self.indices(i, count)?,
            None => (0..count as u32).collect(),
        };
        corners.iter_mut().for_each(|v| *v += base as u32);
        let material = primitive.material.map_or(0, |m| {
            if m < self.root.materials.len() {
                m as u32 + 1
            } else {
                0
            }
        });
        let tag = Tag { group, material };
        let mirrored = affine.determinant() < 0.0;
        let turned = |[a, b, c]: [u32; 3]| if mirrored { [a, c, b] } else { [a, b, c] };
        match mode {
            4 => {
                for &t in corners.as_chunks::<3>().0 {
                    out.polygon(&turned(t), tag);
                }
            }
            5 => {
                for (i, w) in corners.windows(3).enumerate() {
                    let t = if i % 2 == 0 {
                        [w[0], w[1], w[2]]
                    } else {
                        [w[1], w[0], w[2]]
                    };
                    // A strip repeats a corner where it turns.
                    if w[0] != w[1] && w[1] != w[2] && w[2] != w[0] {
                        out.polygon(&turned(t), tag);
                    }
                }
            }
            6 => {
                for w in corners.get(1..).unwrap_or_default().windows(2) {
                    out.polygon(&turned([corners[0], w[0], w[1]]), tag);
                }
            }
            _ => {
                let found = format!("mode {mode}");
                return Err(self.syntax(FilePlace::File, "a primitive of mode 0 to 6", found));
            }
        }
        Ok(())
    }
}

/// What was left out.
#[derive(Debug, Default)]
struct Skipped {
    lines: u64,
    skins: bool,
    morphs: bool,
}

impl Skipped {
    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.lines > 0 {
            notes.push(format!(
                "skipped {} primitives of points or lines",
                self.lines
            ));
        }
        if self.skins {
            notes.push("skins were ignored: the bodies are in their rest pose".into());
        }
        if self.morphs {
            notes.push("morph targets were ignored".into());
        }
        notes
    }
}

/// Elements of an accessor, `stride` bytes apart.
struct Elements<'a> {
    bytes: &'a [u8],
    stride: usize,
    size: usize,
    count: usize,
}

impl Elements<'_> {
    fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.count).map(|k| &self.bytes[k * self.stride..k * self.stride + self.size])
    }
}

fn number(kind: u32, bytes: &[u8], normalized: bool) -> f64 {
    let bits = bytes.iter().rev().fold(0u32, |x, &b| x << 8 | u32::from(b));
    let (value, most) = match kind {
        5120 => (f64::from(bits as u8 as i8), 127.0),
        5121 => (f64::from(bits), 255.0),
        5122 => (f64::from(bits as u16 as i16), 32_767.0),
        5123 => (f64::from(bits), 65_535.0),
        5126 => return f32::from_bits(bits).into(),
        _ => return f64::from(bits),
    };
    if normalized {
        (value / most).max(-1.0)
    } else {
        value
    }
}

impl Node {
    fn affine(&self) -> Affine<3> {
        if let Some(m) = self.matrix {
            // Columns follow one another.
            return Affine {
                linear: std::array::from_fn(|r| std::array::from_fn(|c| m[4 * c + r])),
                offset: [m[12], m[13], m[14]],
            };
        }
        let [x, y, z, w] = self.rotation.unwrap_or([0.0, 0.0, 0.0, 1.0]);
        let scale = self.scale.unwrap_or([1.0; 3]);
        let rows = [
            [
                1.0 - 2.0 * (y * y + z * z),
                2.0 * (x * y - z * w),
                2.0 * (x * z + y * w),
            ],
            [
                2.0 * (x * y + z * w),
                1.0 - 2.0 * (x * x + z * z),
                2.0 * (y * z - x * w),
            ],
            [
                2.0 * (x * z - y * w),
                2.0 * (y * z + x * w),
                1.0 - 2.0 * (x * x + y * y),
            ],
        ];
        Affine {
            linear: rows.map(|row| std::array::from_fn(|c| row[c] * scale[c])),
            offset: self.translation.unwrap_or_default(),
        }
    }
}
