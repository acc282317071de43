//! 3MF (core specification 1.3, production extension): a zip archive with a model in XML.
//!
//! Read: the build items of the root model, their objects, components of components, transforms, and objects in other
//! model parts (`p:path`). Coordinates stay in the model's unit, which a note tells. A transform that mirrors turns its
//! triangles round. Skipped: materials, colours, supports (with a note), slices and lattices. Without build items, all
//! objects that no component refers to are read, with a note.
//!
//! Patches: the name of the object that holds the triangles, else `object_ID`; `body` for a single object without name.
//!
//! Bounds: the parts that are read unpack to at most what a gzipped file may ([`most_unpacked_surface`]); objects
//! are counted before they are placed.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use cutlink_device::limits::most_unpacked_surface;
use cutlink_vtkxml::attribute;
use quick_xml::events::{BytesStart, Event};
use quick_xml::reader::Reader;

use super::assemble::{Assembly, MOST_INSTANCED, Tag};
use super::foreign::{NO_SURFACE_IN_ZIP, PREFIX, ZIP};
use super::source::Source;
use super::transform::{Transform, fits};
use super::{FilePlace, Format, Loaded, ReadError};
use crate::placement::Affine;

const FORMAT: Format = Format::ThreeMf;
/// Objects in objects in objects: deeper nesting is refused.
const MOST_NESTED: usize = 64;
/// Placed objects: more are refused, even without a triangle.
const MOST_PLACED: u64 = 1 << 20;

/// A reference to an object, with its placement.
#[derive(Debug, Clone)]
struct Placed {
    /// The part that holds the object, if another one.
    path: Option<String>,
    object: u32,
    transform: Affine<3>,
}

#[derive(Debug, Default)]
struct Object {
    name: String,
    is_support: bool,
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    components: Vec<Placed>,
}

/// A model part.
#[derive(Debug, Default)]
struct Model {
    unit: String,
    objects: HashMap<u32, Object>,
    /// Ids of objects in file order.
    order: Vec<u32>,
    items: Vec<Placed>,
}

/// The archive and the parts that are read so far.
struct Package<'a> {
    source: Source<'a>,
    archive: zip::ZipArchive<Cursor<&'a [u8]>>,
    models: HashMap<String, Model>,
    /// Bytes that may still be unpacked.
    left: u64,
}

pub(super) fn read(source: Source<'_>) -> Result<Loaded<3>, ReadError> {
    let archive = match zip::ZipArchive::new(Cursor::new(source.bytes)) {
        Ok(archive) => archive,
        Err(error) => {
            let head = &source.bytes[..source.bytes.len().min(PREFIX)];
            let is_3mf = memchr::memmem::find(head, b"3D/").is_some();
            return Err(if is_3mf {
                damaged(source, error.to_string())
            } else {
                no_model(source)
            });
        }
    };
    let mut package = Package {
        source,
        archive,
        models: HashMap::new(),
        left: most_unpacked_surface(source.bytes.len() as u64),
    };
    let root = package.root()?;
    package.load(&root)?;
    package.load_referenced(&root)?;
    package.surface(&root)
}

fn damaged(source: Source<'_>, found: String) -> ReadError {
    source.syntax(FORMAT, FilePlace::File, "a whole zip archive", found)
}

fn no_model(source: Source<'_>) -> ReadError {
    ReadError::Foreign {
        path: source.name.into(),
        what: ZIP,
        remedy: NO_SURFACE_IN_ZIP,
    }
}

/// A part's name without the slash in front, in lower case: names in packages do not differ by case.
fn normal(path: &str) -> String {
    path.trim_start_matches('/').to_ascii_lowercase()
}

impl Package<'_> {
    /// The names of all parts that are sound.
    fn names(&self) -> Vec<String> {
        let names = self.archive.file_names().flatten();
        names.map(|name| name.into_owned()).collect()
    }

    /// The name of the root model.
    fn root(&mut self) -> Result<String, ReadError> {
        let names = self.names();
        if let Some(rels) = names.iter().find(|n| normal(n) == "_rels/.rels") {
            let text = self.unpack(&rels.clone())?;
            if let Some(target) = model_of(&text)
                && names.iter().any(|n| normal(n) == normal(&target))
            {
                return Ok(normal(&target));
            }
        }
        let mut models = names.iter().filter(|n| normal(n).ends_with(".model"));
        let first = models.next().map(|n| normal(n));
        first.ok_or_else(|| no_model(self.source))
    }

    fn unpack(&mut self, name: &str) -> Result<Vec<u8>, ReadError> {
        let source = self.source;
        let names = self.names();
        let Some(found) = names.into_iter().find(|n| normal(n) == normal(name)) else {
            return Err(source.syntax(
                FORMAT,
                FilePlace::File,
                format!("a part {name}, to which its model refers"),
                "none",
            ));
        };
        let file = self.archive.by_name(&found);
        let file = file.map_err(|e| damaged(source, format!("{found}: {e}")))?;
        let mut out = Vec::new();
        let read = file.take(self.left + 1).read_to_end(&mut out);
        read.map_err(|e| damaged(source, format!("{found}: {e}")))?;
        if out.len() as u64 > self.left {
            return Err(source.too_large());
        }
        self.left -= out.len() as u64;
        Ok(out)
    }

    fn load(&mut self, path: &str) -> Result<(), ReadError> {
        if !self.models.contains_key(path) {
            let text = self.unpack(path)?;
            let model = Model::parse(self.source, &text)?;
            self.models.insert(path.to_owned(), model);
        }
        Ok(())
    }

    /// Reads the parts that items and components refer to.
    fn load_referenced(&mut self, root: &str) -> Result<(), ReadError> {
        let mut todo = vec![root.to_owned()];
        while let Some(part) = todo.pop() {
            let model = &self.models[&part];
            let components = model.objects.values().flat_map(|o| &o.components);
            let mut paths: Vec<String> = model
                .items
                .iter()
                .chain(components)
                .filter_map(|placed| placed.path.as_deref().map(normal))
                .filter(|path| !self.models.contains_key(path))
                .collect();
            paths.sort_unstable();
            paths.dedup();
            for path in paths {
                self.load(&path)?;
                todo.push(path);
            }
        }
        Ok(())
    }

    fn object(&self, part: &str, id: u32) -> Result<&Object, ReadError> {
        let model = self.models.get(part);
        model.and_then(|m| m.objects.get(&id)).ok_or_else(|| {
            let expected = format!("an object {id}, to which a build item or component refers");
            self.source
                .syntax(FORMAT, FilePlace::File, expected, "none")
        })
    }

    fn surface(&self, root: &str) -> Result<Loaded<3>, ReadError> {
        let source = self.source;
        let model = &self.models[root];
        let mut notes = Vec::new();
        if model.unit != "meter" {
            notes.push(unit_note(&model.unit));
        }
        let items = match &model.items[..] {
            [] => {
                notes.push("no build item: all objects were read".into());
                model.free_objects()
            }
            items => items.to_vec(),
        };
        let mut walk = Walk {
            package: self,
            counts: HashMap::new(),
            leaves: Vec::new(),
            skipped: 0,
        };
        let mut total = Count::default();
        for item in &items {
            let part = item.path.as_deref().map_or_else(|| root.to_owned(), normal);
            total.add(walk.count(&part, item.object, 0)?);
        }
        let most = MOST_INSTANCED.max(source.bytes.len() as u64);
        let most = most.min(u64::from(u32::MAX) - 1);
        if total.triangles > most || total.vertices > most || total.placed > MOST_PLACED {
            return Err(ReadError::TooManyCopies {
                path: source.name.into(),
                format: FORMAT,
                triangles: total.triangles,
            });
        }
        for item in &items {
            let part = item.path.as_deref().map_or_else(|| root.to_owned(), normal);
            walk.place(&part, item.object, item.transform)?;
        }
        let Walk {
            leaves, skipped, ..
        } = walk;
        if skipped > 0 {
            notes.push(format!("skipped {skipped} support objects"));
        }
        if total.triangles == 0 {
            return Err(source.no_facets(FORMAT, "its objects have no triangle"));
        }
        let mut out =
            Assembly::with_room(source, total.vertices as usize, total.triangles as usize)?;
        let several = leaves
            .iter()
            .any(|leaf| (leaf.part.as_str(), leaf.id) != (leaves[0].part.as_str(), leaves[0].id));
        let mut groups = Vec::new();
        let mut known: HashMap<(&str, u32), u32> = HashMap::new();
        for leaf in &leaves {
            let object = self.object(&leaf.part, leaf.id)?;
            let group = *known.entry((&leaf.part, leaf.id)).or_insert_with(|| {
                groups.push(match object.name.as_str() {
                    "" if several => format!("object_{}", leaf.id),
                    name => name.to_owned(),
                });
                groups.len() as u32 - 1
            });
            append(source, &mut out, object, &leaf.transform, group)?;
        }
        out.finish(source, FORMAT, &groups, &[], notes)
    }
}

fn unit_note(unit: &str) -> String {
    let option = match unit {
        "micron" => "--unit um",
        "centimeter" => "--unit cm",
        "inch" => "--unit in",
        "foot" => "--unit ft",
        _ => "--unit mm",
    };
    let unit = if unit.is_empty() { "millimeter" } else { unit };
    format!("the unit of the file is the {unit}, which {option} makes metres")
}

fn append(
    source: Source<'_>,
    out: &mut Assembly,
    object: &Object,
    transform: &Affine<3>,
    group: u32,
) -> Result<(), ReadError> {
    let base = out.vertices.len() as u32;
    for p in &object.vertices {
        let q = transform.apply(*p);
        if let Some(&x) = q.iter().find(|x| !x.is_finite()) {
            let place = FilePlace::Vertex(out.vertices.len() as u64);
            return Err(source.not_finite(FORMAT, place, x));
        }
        out.vertices.push(q);
    }
    let mirrored = transform.determinant() < 0.0;
    for &[a, b, c] in &object.triangles {
        let corners = if mirrored { [a, c, b] } else { [a, b, c] };
        out.polygon(&corners.map(|v| base + v), Tag { group, material: 0 });
    }
    Ok(())
}

/// What placing an object makes, all its components included.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    placed: u64,
    vertices: u64,
    triangles: u64,
}

impl Count {
    fn add(&mut self, other: Self) {
        self.placed = self.placed.saturating_add(other.placed);
        self.vertices = self.vertices.saturating_add(other.vertices);
        self.triangles = self.triangles.saturating_add(other.triangles);
    }
}

/// An object with triangles, placed.
struct Leaf {
    part: String,
    id: u32,
    transform: Affine<3>,
}

/// Objects counted, then placed.
struct Walk<'a> {
    package: &'a Package<'a>,
    counts: HashMap<(String, u32), Count>,
    leaves: Vec<Leaf>,
    skipped: u64,
}

impl Walk<'_> {
    fn count(&mut self, part: &str, id: u32, depth: usize) -> Result<Count, ReadError> {
        let key = (part.to_owned(), id);
        if let Some(&count) = self.counts.get(&key) {
            return Ok(count);
        }
        let source = self.package.source;
        if depth > MOST_NESTED {
            let expected = format!("components of at most {MOST_NESTED} levels");
            let found = "more, or an object within itself";
            return Err(source.syntax(FORMAT, FilePlace::File, expected, found));
        }
        let object = self.package.object(part, id)?;
        let mut count = Count {
            placed: 1,
            vertices: object.vertices.len() as u64,
            triangles: object.triangles.len() as u64,
        };
        for component in &object.components {
            let part = component
                .path
                .as_deref()
                .map_or_else(|| part.to_owned(), normal);
            count.add(self.count(&part, component.object, depth + 1)?);
        }
        self.counts.insert(key, count);
        Ok(count)
    }

    fn place(&mut self, part: &str, id: u32, transform: Affine<3>) -> Result<(), ReadError> {
        let object = self.package.object(part, id)?;
        if object.is_support {
            self.skipped += 1;
            return Ok(());
        }
        if !fits(&transform) {
            let place = FilePlace::Item {
                what: "object",
                index: id.into(),
            };
            let found = Transform(&transform).to_string();
            let source = self.package.source;
            return Err(source.syntax(FORMAT, place, Transform::EXPECTED, found));
        }
        if !object.triangles.is_empty() {
            self.leaves.push(Leaf {
                part: part.to_owned(),
                id,
                transform,
            });
        }
        for component in &object.components {
            let part = component
                .path
                .as_deref()
                .map_or_else(|| part.to_owned(), normal);
            let transform = transform.compose(&component.transform);
            self.place(&part, component.object, transform)?;
        }
        Ok(())
    }
}

/// The target of the relationship to the root model.
fn model_of(text: &[u8]) -> Option<String> {
    let mut reader = Reader::from_reader(text);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) | Event::Empty(tag)
                if attribute(&tag, "Type").is_some_and(|kind| kind.ends_with("/3dmodel")) =>
            {
                return attribute(&tag, "Target");
            }
            Event::Eof => return None,
            _ => {}
        }
    }
}

/// Where a model is read, for messages.
struct Spot<'a> {
    source: Source<'a>,
    /// Byte in the model part.
    at: u64,
}

impl Spot<'_> {
    fn syntax(&self, expected: impl Into<String>, found: impl Into<String>) -> ReadError {
        let place = FilePlace::ModelByte(self.at);
        self.source.syntax(FORMAT, place, expected, found)
    }

    fn bad(&self, tag: &BytesStart<'_>, name: &str) -> ReadError {
        let expected = format!("a number as {name} of <{}>", tag.local_name().as_ref());
        let found = attribute(tag, name).map_or("none".into(), |t| format!("{:?}", shortened(&t)));
        self.syntax(expected, found)
    }

    fn index(&self, tag: &BytesStart<'_>, name: &str) -> Result<u32, ReadError> {
        let value = attribute(tag, name).and_then(|text| text.parse().ok());
        value.ok_or_else(|| self.bad(tag, name))
    }

    fn vertex(&self, tag: &BytesStart<'_>) -> Result<[f64; 3], ReadError> {
        // One pass over the attributes, without a copy of each: most of a file are vertices.
        let mut point = [f64::NAN; 3];
        for attribute in tag.attributes().with_checks(false).flatten() {
            let axis = match attribute.key.local_name().as_ref() {
                "x" => 0,
                "y" => 1,
                "z" => 2,
                _ => continue,
            };
            point[axis] = fast_float2::parse(attribute.value.trim()).unwrap_or(f64::NAN);
        }
        match point.iter().position(|x| !x.is_finite()) {
            Some(axis) => Err(self.bad(tag, ["x", "y", "z"][axis])),
            None => Ok(point),
        }
    }

    fn triangle(&self, tag: &BytesStart<'_>) -> Result<[u32; 3], ReadError> {
        let mut corners = [None; 3];
        for attribute in tag.attributes().with_checks(false).flatten() {
            let k = match attribute.key.local_name().as_ref() {
                "v1" => 0,
                "v2" => 1,
                "v3" => 2,
                _ => continue,
            };
            corners[k] = attribute.value.trim().parse().ok();
        }
        match corners {
            [Some(a), Some(b), Some(c)] => Ok([a, b, c]),
            _ => {
                let k = corners.iter().position(Option::is_none).unwrap_or(0);
                Err(self.bad(tag, ["v1", "v2", "v3"][k]))
            }
        }
    }

    fn placed(&self, tag: &BytesStart<'_>) -> Result<Placed, ReadError> {
        Ok(Placed {
            path: attribute(tag, "path"),
            object: self.index(tag, "objectid")?,
            transform: self.transform(tag)?,
        })
    }

    fn transform(&self, tag: &BytesStart<'_>) -> Result<Affine<3>, ReadError> {
        let Some(text) = attribute(tag, "transform") else {
            return Ok(Affine::identity());
        };
        let numbers: Vec<f64> = text
            .split_ascii_whitespace()
            .filter_map(|word| fast_float2::parse(word).ok())
            .filter(|x: &f64| x.is_finite())
            .take(13)
            .collect();
        match numbers.as_chunks::<3>().0 {
            // The images of the axes, then the shift.
            &[x, y, z, offset] if numbers.len() == 12 => Ok(Affine {
                linear: std::array::from_fn(|a| [x[a], y[a], z[a]]),
                offset,
            }),
            _ => {
                let found = format!("{:?}", shortened(&text));
                Err(self.syntax("twelve finite numbers as transform", found))
            }
        }
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

impl Model {
    fn parse(source: Source<'_>, text: &[u8]) -> Result<Self, ReadError> {
        let mut model = Self::default();
        let mut reader = Reader::from_reader(text);
        reader.config_mut().check_end_names = false;
        let mut open: Option<(u32, Object)> = None;
        loop {
            let spot = Spot {
                source,
                at: reader.buffer_position(),
            };
            let event = reader.read_event().map_err(|e| {
                let found = shortened(&e.to_string());
                spot.syntax("XML", found)
            })?;
            let (tag, is_whole) = match event {
                Event::Start(tag) => (tag, false),
                Event::Empty(tag) => (tag, true),
                Event::End(tag) if tag.local_name().as_ref() == "object" => {
                    model.close(source, open.take())?;
                    continue;
                }
                Event::End(tag) if tag.local_name().as_ref() == "model" => return Ok(model),
                Event::Eof => return Err(spot.syntax("</model>", "the end of the model")),
                _ => continue,
            };
            match (tag.local_name().as_ref(), &mut open) {
                ("model", _) => model.unit = attribute(&tag, "unit").unwrap_or_default(),
                ("object", _) => {
                    model.close(source, open.take())?;
                    let object = Object {
                        name: attribute(&tag, "name").unwrap_or_default(),
                        is_support: attribute(&tag, "type")
                            .is_some_and(|kind| kind.ends_with("support")),
                        ..Object::default()
                    };
                    open = Some((spot.index(&tag, "id")?, object));
                    if is_whole {
                        model.close(source, open.take())?;
                    }
                }
                ("vertex", Some((_, object))) => object.vertices.push(spot.vertex(&tag)?),
                ("triangle", Some((_, object))) => object.triangles.push(spot.triangle(&tag)?),
                ("component", Some((_, object))) => object.components.push(spot.placed(&tag)?),
                ("item", _) => model.items.push(spot.placed(&tag)?),
                _ => {}
            }
        }
    }

    /// Checks the indices of an object and keeps it.
    fn close(&mut self, source: Source<'_>, open: Option<(u32, Object)>) -> Result<(), ReadError> {
        let Some((id, object)) = open else {
            return Ok(());
        };
        let vertices = object.vertices.len() as u64;
        let mut corners = object.triangles.iter().flatten();
        if let Some(at) = corners.position(|&v| u64::from(v) >= vertices) {
            return Err(ReadError::IndexOutOfRange {
                path: source.name.into(),
                format: FORMAT,
                place: FilePlace::Item {
                    what: "object",
                    index: id.into(),
                },
                index: object.triangles[at / 3][at % 3].into(),
                vertices,
            });
        }
        self.order.push(id);
        self.objects.insert(id, object);
        Ok(())
    }

    /// The objects that are no components of others.
    fn free_objects(&self) -> Vec<Placed> {
        let used: std::collections::HashSet<u32> = self
            .objects
            .values()
            .flat_map(|o| o.components.iter().map(|c| c.object))
            .collect();
        let free = self.order.iter().filter(|id| !used.contains(id));
        free.map(|&object| Placed {
            path: None,
            object,
            transform: Affine::identity(),
        })
        .collect()
    }
}
