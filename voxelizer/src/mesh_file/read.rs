//! Bytes to a mesh.

use super::error::{Fault, FileError};
use super::header::{self, About, Header, Sizes};
use super::stream::Source;
use super::{FORMAT_VERSIONS, check};
use crate::{AnyMesh, Classes, LinkTable, Mesh};
use cutlink_amr::{ChangeKernels, Forest, NONE, bytes_per_block, bytes_per_root_block};
use cutlink_device::{Backend, Host, Item, memory};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The mesh of a file, and the caller's part of its string map.
pub type Contents = (AnyMesh, BTreeMap<String, String>);

/// The container's own limit on the header.
const MAX_HEADER: u64 = 100_000_000;

/// Reads and checks the mesh file at `path`.
pub fn read(path: &Path) -> Result<Contents, FileError> {
    let open = || {
        // Before opening: a pipe without a writer would block there.
        let about = std::fs::metadata(path)?;
        if !about.is_file() {
            return Err(Fault::NotAMesh("not a regular file".into()));
        }
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        from_reader(file, len)
    };
    open().map_err(|fault: Fault| fault.of(path.into()))
}

/// The same from bytes in memory; `name` is for messages.
pub fn parse(name: &Path, bytes: &[u8]) -> Result<Contents, FileError> {
    from_reader(bytes, bytes.len() as u64).map_err(|fault| fault.of(name.into()))
}

fn from_reader(mut input: impl Read, len: u64) -> Result<Contents, Fault> {
    let mut source = Source::new(&mut input, len);
    let header = read_header(&mut source, len)?;
    let map = &header.metadata;
    let format = map.get("format").map(String::as_str);
    if format != Some(header::FORMAT) {
        let found = format.unwrap_or("none");
        return Err(Fault::NotAMesh(format!(
            "a safetensors file of format {found:?}, not {:?}",
            header::FORMAT
        )));
    }
    let version = header::text(map, "format_version")?;
    if !FORMAT_VERSIONS.contains(&version) {
        return Err(Fault::Version {
            found: version.into(),
            program: map.get("program").cloned().unwrap_or_default(),
        });
    }
    let mesh = match header::text(map, "dimension")? {
        "2" => AnyMesh::D2(Body::<2>::read(source, &header, len)?),
        "3" => AnyMesh::D3(Body::<3>::read(source, &header, len)?),
        other => {
            return Err(Fault::damaged(
                "dimension",
                format!("{other:?} is neither 2 nor 3"),
            ));
        }
    };
    let mut extra = header.metadata;
    extra.retain(|key, _| !header::RESERVED.contains(&key.as_str()));
    Ok((mesh, extra))
}

fn read_header(source: &mut Source<impl Read>, len: u64) -> Result<Header, Fault> {
    if len < 24 {
        return Err(Fault::NotAMesh(format!("it has only {len} bytes")));
    }
    let mut json_len = [0; 8];
    source.take(&mut json_len)?;
    let json_len = u64::from_le_bytes(json_len);
    if json_len > MAX_HEADER || json_len > len - 16 {
        let mut start = [0; 15];
        // Too few bytes are no mesh file either.
        if source.take(&mut start).is_ok() && start == *b"{\"__metadata__\"" {
            let reason =
                format!("a header of {json_len} bytes announced, in a file of {len} bytes");
            return Err(Fault::damaged("the header", reason));
        }
        return Err(Fault::NotAMesh(format!(
            "it does not start with the length of a header ({json_len}), or it is truncated at {len} bytes"
        )));
    }
    let mut json = vec![0; json_len as usize];
    source.take(&mut json)?;
    let header: Header = serde_json::from_slice(&json).map_err(|e| {
        let mut starts = json.windows(header::FORMAT.len());
        if starts.any(|text| text == header::FORMAT.as_bytes()) {
            Fault::damaged("the header", e.to_string())
        } else {
            Fault::NotAMesh(format!("its header is not that of a mesh: {e}"))
        }
    })?;
    let found = len - 8 - json_len;
    let expected = header.arrays.values().map(|e| e.data_offsets[1]).max();
    if expected != Some(found) {
        return Err(Fault::damaged(
            "the size of the file",
            format!(
                "{found} bytes of arrays, {} expected by the header (is the file truncated?)",
                expected.unwrap_or(0)
            ),
        ));
    }
    Ok(header)
}

/// The arrays as they stand in the file.
pub(super) struct Body<const D: usize> {
    pub(super) about: About<D>,
    pub(super) classes: Classes,
    pub(super) coord: Vec<[i32; D]>,
    pub(super) first_child: Vec<u32>,
    pub(super) level_start: Vec<u32>,
    pub(super) links: LinkTable,
}

impl<const D: usize> Body<D> {
    fn read(mut source: Source<impl Read>, header: &Header, len: u64) -> Result<Mesh<D>, Fault> {
        let about = About::from_map(&header.metadata)?;
        let sizes = Sizes::claimed(header, D as u64)?;
        let root = about.frame.root_blocks().map(u64::from);
        let roots = root.iter().fold(1, |n: u64, &r| n.saturating_mul(r));
        let derived = sizes.blocks.min(roots) * (bytes_per_root_block(D) + 4)
            + sizes.blocks.saturating_sub(roots) * (bytes_per_block(D) + 4);
        Host.reserve("the mesh of the file", len.saturating_add(derived))?;
        let blocks = sizes.blocks as usize;
        let solid = array(&mut source, blocks)?;
        let boundary = array(&mut source, blocks)?;
        let ghost = array(&mut source, blocks)?;
        let interface = array(&mut source, blocks)?;
        let cells = array(&mut source, sizes.cells as usize)?;
        let coord = array(&mut source, blocks)?;
        let first_child = array(&mut source, blocks)?;
        let level_start = array(&mut source, sizes.levels as usize + 1)?;
        let link_blocks = array(&mut source, sizes.rows as usize)?;
        let cell_start = array(&mut source, sizes.rows as usize + 1)?;
        let q = array(&mut source, sizes.links as usize)?;
        let patch = array(&mut source, sizes.patches as usize)?;
        let (found, stored) = source.finish()?;
        if found != stored {
            return Err(Fault::damaged(
                "file_checksum",
                format!("the bytes of the file sum up to {found:016x}, {stored:016x} is stored"),
            ));
        }
        let body = Self {
            about,
            classes: Classes {
                solid,
                boundary,
                ghost,
                interface,
            },
            coord,
            first_child,
            level_start,
            links: LinkTable {
                blocks: link_blocks,
                row_of: Vec::new(),
                cell_start,
                cells,
                q,
                patch,
            },
        };
        body.into_mesh()
    }

    fn into_mesh(mut self) -> Result<Mesh<D>, Fault> {
        let parent = check::tree(&self)?;
        check::classes(&self)?;
        self.links.row_of = check::rows(&self)?;
        check::links(&self)?;
        let forest = rebuild(&mut self, parent)?;
        forest
            .validate()
            .map_err(|violation| Fault::damaged("the forest", violation.to_string()))?;
        let stored = self.about.checksum;
        let mesh = Mesh {
            frame: self.about.frame,
            forest,
            classes: self.classes,
            links: self.links,
            patches: self.about.patches,
            fill: self.about.fill,
            graded: self.about.graded,
        };
        let found = mesh.checksum();
        if found != stored {
            return Err(Fault::damaged(
                "checksum",
                format!("that of the mesh is {found:016x}, {stored:016x} is stored"),
            ));
        }
        Ok(mesh)
    }
}

fn array<T: Item>(source: &mut Source<impl Read>, len: usize) -> Result<Vec<T>, Fault> {
    let mut items = Vec::new();
    memory::grow("the mesh of the file", &mut items, len, T::zeroed())?;
    source.take(bytemuck::cast_slice_mut(&mut items))?;
    Ok(items)
}

/// The forest of arrays that [`check::tree`] has accepted; neighbours by the forest's own
/// kernels, level after level.
fn rebuild<const D: usize>(body: &mut Body<D>, parent: Vec<u32>) -> Result<Forest<D>, Fault> {
    let fault = |e: cutlink_amr::ForestError| Fault::damaged("the forest", e.to_string());
    let forest = Forest::new(&Host, body.about.frame.root_blocks()).map_err(fault)?;
    let mut forest = forest.with_periodic(body.about.periodic);
    let roots = forest.levels[0].len();
    if forest.coord[..] != body.coord[..roots] {
        return Err(Fault::damaged(
            "coord",
            "the root blocks are not in x-fastest order",
        ));
    }
    let blocks = body.coord.len();
    forest.coord = std::mem::take(&mut body.coord);
    forest.first_child = std::mem::take(&mut body.first_child);
    forest.parent = parent;
    let places = forest.families_len(blocks);
    memory::grow("neighbours", &mut forest.families, places, NONE)?;
    for level in 1..body.level_start.len() - 1 {
        let ids = body.level_start[level]..body.level_start[level + 1];
        memory::grow("levels", &mut forest.level, ids.end as usize, level as u8)?;
        forest.levels.push(ids.collect());
        Host.connect(&mut forest, level).map_err(fault)?;
    }
    Ok(forest)
}
