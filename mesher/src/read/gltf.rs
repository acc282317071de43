//! glTF 2.0: binary (`.glb`), and in JSON with its buffers inside.
//!
//! Read: the nodes of the default scene with their transforms, meshes of triangles, strips and fans, indexed or not,
//! positions as f32 or quantized (KHR_mesh_quantization). A transform that mirrors turns its triangles round.
//! Coordinates stay as they are: in metres, with y up. Skipped with a note: points and lines, skins, morph targets.
//! Refused: sparse accessors, compressed meshes (Draco, meshopt) and all other extensions that a file requires, but those
//! of materials, textures and lights; buffers in other files; accessors that are not aligned (`gltf_data`); transforms that
//! are none (`gltf_node`).
//!
//! Patches: the name of the node, else of its mesh; materials where those differ in a group
//! (see [`super::assemble`]).

use std::collections::HashMap;

use serde::Deserialize;

use super::assemble::{Assembly, MOST_INSTANCED, Tag};
use super::gltf_data::{Accessor, Buffer, View};
use super::gltf_node::Node;
use super::source::Source;
use super::transform::{Transform, fits};
use super::{FilePlace, Format, Loaded, ReadError};
use crate::placement::Affine;

pub(super) const FORMAT: Format = Format::Gltf;
/// Positions as integers.
pub(super) const QUANTIZED: &str = "KHR_mesh_quantization";
/// Beginnings of names of extensions that change neither triangles nor their places.
const HARMLESS: [&str; 9] = [
    QUANTIZED,
    "KHR_materials_",
    "KHR_texture_",
    "EXT_texture_",
    "MSFT_texture_dds",
    "KHR_lights_",
    "EXT_lights_",
    "KHR_xmp",
    "KHR_animation_pointer",
];

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Root {
    asset: Asset,
    scene: Option<usize>,
    scenes: Vec<Scene>,
    nodes: Vec<Node>,
    meshes: Vec<Mesh>,
    materials: Vec<Named>,
    pub(super) accessors: Vec<Accessor>,
    pub(super) buffer_views: Vec<View>,
    pub(super) buffers: Vec<Buffer>,
    extensions_required: Vec<String>,
    pub(super) extensions_used: Vec<String>,
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

/// The document with the bytes of its buffers.
pub(super) struct Document<'a> {
    pub(super) source: Source<'a>,
    pub(super) root: Root,
    pub(super) binary: Option<&'a [u8]>,
    /// Buffers that stand in the JSON, decoded.
    pub(super) decoded: Vec<Option<Vec<u8>>>,
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
    let is_read = |name: &&String| HARMLESS.iter().any(|known| name.starts_with(known));
    if let Some(name) = root.extensions_required.iter().find(|n| !is_read(n)) {
        let expected = "no required extension of geometry (export it without compression and extensions, or as STL or PLY)";
        return Err(source.syntax(FORMAT, FilePlace::File, expected, shortened(name)));
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

pub(super) fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

pub(super) fn item(what: &'static str, index: usize) -> FilePlace {
    FilePlace::Item {
        what,
        index: index as u64,
    }
}

impl<'a> Document<'a> {
    pub(super) fn syntax(
        &self,
        place: FilePlace,
        expected: &str,
        found: impl Into<String>,
    ) -> ReadError {
        self.source.syntax(FORMAT, place, expected, found)
    }

    pub(super) fn get<'b, T>(
        &self,
        all: &'b [T],
        what: &'static str,
        i: usize,
    ) -> Result<&'b T, ReadError> {
        all.get(i).ok_or_else(|| {
            let found = format!("{} of them", all.len());
            self.syntax(item(what, i), "what another part refers to", found)
        })
    }

    /// The nodes of the scene that have a mesh, with their transforms, parents first.
    fn placed(&self) -> Result<Vec<(usize, Affine<3>)>, ReadError> {
        let nodes = &self.root.nodes;
        let scenes = &self.root.scenes;
        if let Some(scene) = self.root.scene {
            self.get(scenes, "scene", scene)?;
        }
        let roots = match scenes.get(self.root.scene.unwrap_or(0)) {
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
            let own = node.affine().map_err(|found| {
                let expected = "a transform: a matrix, or translation, rotation and scale";
                self.syntax(item("node", n), expected, found)
            })?;
            let here = above.compose(&own);
            if !fits(&here) {
                let found = format!("{}", Transform(&here));
                return Err(self.syntax(item("node", n), Transform::EXPECTED, found));
            }
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
