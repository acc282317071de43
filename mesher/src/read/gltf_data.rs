//! Accessors, buffer views and buffers of glTF.
//!
//! As the specification has them (2.0, 3.6): offsets are multiples of the size of a component, of vertices multiples of 4;
//! strides, of vertices only, are multiples of 4 from 4 to 252; views are inside their buffers, elements inside their
//! views.

use serde::Deserialize;

use super::gltf::{Document, FORMAT, QUANTIZED, item, shortened};
use super::{FilePlace, ReadError};
use crate::placement::Affine;

/// Largest stride of a buffer view, in bytes.
const MAX_STRIDE: u64 = 252;
/// The component type of 32-bit reals.
const FLOAT: u32 = 5126;

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Accessor {
    buffer_view: Option<usize>,
    byte_offset: u64,
    component_type: u32,
    normalized: bool,
    pub(super) count: u64,
    r#type: String,
    sparse: Option<serde::de::IgnoredAny>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    buffer: usize,
    byte_offset: u64,
    byte_length: u64,
    byte_stride: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Buffer {
    uri: Option<String>,
    byte_length: Option<u64>,
}

/// What elements of an accessor are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    /// Three components each.
    Positions,
    /// One.
    Indices,
}

impl Document<'_> {
    /// Decodes the buffers that stand in the JSON.
    pub(super) fn decode(&mut self) -> Result<(), ReadError> {
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
        let buffer = self.get(&self.root.buffers, "buffer", i)?;
        let bytes = match (&self.decoded[i], self.binary) {
            (Some(bytes), _) => bytes,
            (None, Some(bytes)) if i == 0 => bytes,
            _ => return Err(self.syntax(item("buffer", i), "its bytes", "none")),
        };
        // A binary chunk is padded.
        let Some(len) = buffer.byte_length else {
            return Ok(bytes);
        };
        usize::try_from(len)
            .ok()
            .and_then(|len| bytes.get(..len))
            .ok_or_else(|| {
                let expected = format!("{len} bytes, as its byteLength says");
                self.syntax(item("buffer", i), &expected, bytes.len().to_string())
            })
    }

    /// The bytes of a view.
    fn view(&self, i: usize) -> Result<(&View, &[u8]), ReadError> {
        let view = self.get(&self.root.buffer_views, "buffer view", i)?;
        let buffer = self.buffer(view.buffer)?;
        let end = view.byte_offset.checked_add(view.byte_length);
        let range = usize::try_from(view.byte_offset)
            .ok()
            .zip(end.and_then(|end| usize::try_from(end).ok()));
        let bytes = range.and_then(|(from, end)| buffer.get(from..end));
        bytes.map(|bytes| (view, bytes)).ok_or_else(|| {
            let (from, len) = (view.byte_offset, view.byte_length);
            let found = format!("{len} bytes from byte {from} on, of {}", buffer.len());
            self.syntax(
                item("buffer view", i),
                "a buffer view inside its buffer",
                found,
            )
        })
    }

    /// The elements of an accessor: a slice of bytes for each; components have `size` bytes.
    fn elements(&self, i: usize, of: Use, size: usize) -> Result<Elements<'_>, ReadError> {
        let accessor = self.get(&self.root.accessors, "accessor", i)?;
        let place = item("accessor", i);
        let (kind, components) = match of {
            Use::Positions => ("VEC3", 3),
            Use::Indices => ("SCALAR", 1),
        };
        if accessor.sparse.is_some() {
            return Err(self.syntax(place, "one that is not sparse", "a sparse one"));
        }
        if accessor.r#type != kind {
            return Err(self.syntax(place, kind, shortened(&accessor.r#type)));
        }
        let Some(view) = accessor.buffer_view else {
            return Err(self.syntax(place, "a buffer view", "none"));
        };
        let (view, bytes) = self.view(view)?;
        self.check_aligned(place, accessor, view, of, size as u64)?;
        let element = (components * size) as u64;
        let stride = view.byte_stride.unwrap_or(element);
        let needed = (accessor.count.saturating_sub(1))
            .checked_mul(stride)
            .and_then(|before| before.checked_add(element));
        let from = usize::try_from(accessor.byte_offset).ok();
        let bytes = from.and_then(|from| bytes.get(from..));
        match (bytes, needed) {
            (Some(bytes), Some(needed)) if stride >= element && needed <= bytes.len() as u64 => {
                Ok(Elements {
                    bytes,
                    stride: stride as usize,
                    size: element as usize,
                    count: accessor.count as usize,
                })
            }
            _ => {
                let found = format!("{} elements, {stride} bytes apart", accessor.count);
                Err(self.syntax(place, "elements inside the buffer view", found))
            }
        }
    }

    /// Refuses offsets and strides at which numbers would be read askew.
    fn check_aligned(
        &self,
        place: FilePlace,
        accessor: &Accessor,
        view: &View,
        of: Use,
        size: u64,
    ) -> Result<(), ReadError> {
        let least = match of {
            Use::Positions => size.max(4),
            Use::Indices => size,
        };
        let [own, its] = [accessor.byte_offset, view.byte_offset];
        if !own.is_multiple_of(least) || !(own % size + its % size).is_multiple_of(size) {
            let expected = format!("a byteOffset that is a multiple of {least}");
            let found = format!("{own}, in a view from byte {its} on");
            return Err(self.syntax(place, &expected, found));
        }
        match (of, view.byte_stride) {
            (_, None) => Ok(()),
            (Use::Indices, Some(stride)) => {
                let expected = "a buffer view of indices without byteStride";
                Err(self.syntax(place, expected, format!("{stride}")))
            }
            (Use::Positions, Some(stride)) => {
                if (4..=MAX_STRIDE).contains(&stride) && stride.is_multiple_of(4) {
                    return Ok(());
                }
                let expected = "a byteStride from 4 to 252, a multiple of 4";
                Err(self.syntax(place, expected, format!("{stride}")))
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
            5125 | FLOAT => 4,
            _ => {
                let found = format!("component type {kind}");
                return Err(self.syntax(item("accessor", i), "a component type", found));
            }
        };
        Ok((kind, size))
    }

    pub(super) fn positions(
        &self,
        i: usize,
        to: &Affine<3>,
        out: &mut Vec<[f64; 3]>,
    ) -> Result<(), ReadError> {
        let (kind, size) = self.component(i)?;
        let is_quantized = self
            .root
            .extensions_used
            .iter()
            .any(|name| name == QUANTIZED);
        if kind != FLOAT && (kind == 5125 || !is_quantized) {
            let expected = "positions of component type 5126 (others need KHR_mesh_quantization)";
            let found = format!("component type {kind}");
            return Err(self.syntax(item("accessor", i), expected, found));
        }
        let normalized = self.root.accessors[i].normalized;
        for (v, bytes) in self.elements(i, Use::Positions, size)?.iter().enumerate() {
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

    pub(super) fn indices(&self, i: usize, vertices: u64) -> Result<Vec<u32>, ReadError> {
        let (kind, size) = self.component(i)?;
        if !matches!(kind, 5121 | 5123 | 5125) {
            let found = format!("component type {kind}");
            return Err(self.syntax(item("accessor", i), "unsigned integers as indices", found));
        }
        let elements = self.elements(i, Use::Indices, size)?;
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
        FLOAT => return f32::from_bits(bits).into(),
        _ => return f64::from(bits),
    };
    if normalized {
        (value / most).max(-1.0)
    } else {
        value
    }
}
