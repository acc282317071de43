//! Several files as one surface, each with its patches.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{AnySurface, DEFAULT_PATCH, Format, Loaded, ReadError, ReadReport, read_any};
use crate::Surface;

/// Reads one or several files of any known format; those of several are one surface, in the order of `paths`.
///
/// Patches of several files: that of a file without names is the file's stem; a name that several files have becomes
/// `stem/name` in each; what is then still there twice gets `_2`, `_3`, ... Facets of one file never join the patch of
/// another. Vertices stay as they are: those of different files at one place are merged by [`Surface::weld`].
///
/// # Errors
/// As [`read_any`], file by file; files of different dimensions; more than 2^32 - 1 vertices.
///
/// # Panics
/// Without a path.
pub fn read_all(paths: &[PathBuf]) -> Result<AnySurface, ReadError> {
    let (first, rest) = paths.split_first().expect("a path should be given");
    if rest.is_empty() {
        return read_any(first);
    }
    let (mut planar, mut spatial) = (Vec::new(), Vec::new());
    for path in paths {
        match read_any(path)? {
            AnySurface::D2(loaded) => planar.push((path.as_path(), loaded)),
            AnySurface::D3(loaded) => spatial.push((path.as_path(), loaded)),
        }
        if let (Some((planar, _)), Some((spatial, _))) = (planar.first(), spatial.first()) {
            return Err(ReadError::Mixed {
                planar: (*planar).to_owned(),
                spatial: (*spatial).to_owned(),
            });
        }
    }
    Ok(if planar.is_empty() {
        AnySurface::D3(join(spatial)?)
    } else {
        AnySurface::D2(join(planar)?)
    })
}

fn join<const D: usize>(files: Vec<(&Path, Loaded<D>)>) -> Result<Loaded<D>, ReadError> {
    let of = |(path, loaded): &(&Path, Loaded<D>)| (stem(path), loaded.surface.patches.clone());
    let names = names(&files.iter().map(of).collect::<Vec<_>>());
    let corners: u64 = files
        .iter()
        .map(|(_, l)| l.surface.vertices.len() as u64)
        .sum();
    if corners > u64::from(u32::MAX) - 1 {
        return Err(ReadError::TooMany {
            path: files[0].0.to_owned(),
            format: Format::Several,
            corners,
        });
    }
    let mut all = Surface {
        vertices: Vec::new(),
        facets: Vec::new(),
        facet_patch: Vec::new(),
        patches: Vec::new(),
    };
    let mut report = ReadReport {
        format: Format::Several,
        gzipped: false,
        bytes: 0,
        facets_in_file: 0,
        notes: Vec::new(),
    };
    // Numbers of patches have 16 bits: beyond them, a file is a patch.
    let is_fine = names.iter().map(Vec::len).sum::<usize>() <= 1 << 16;
    if !is_fine {
        report
            .notes
            .push("more than 65536 patch names: each file is one patch".into());
    }
    for ((path, loaded), names) in files.into_iter().zip(names) {
        let Loaded {
            surface,
            report: of,
        } = loaded;
        let (base, first) = (all.vertices.len() as u32, all.patches.len() as u16);
        let count = surface.facets.len();
        match (is_fine, surface.facet_patch.is_empty()) {
            (true, false) => {
                let patches = surface.facet_patch.iter().map(|p| first + p);
                all.facet_patch.extend(patches);
            }
            _ => all.facet_patch.extend(std::iter::repeat_n(first, count)),
        }
        all.patches
            .extend(if is_fine { names } else { vec![stem(path)] });
        all.vertices.extend(surface.vertices);
        let facets = surface.facets.into_iter().map(|f| f.map(|v| base + v));
        all.facets.extend(facets);
        report.gzipped |= of.gzipped;
        report.bytes += of.bytes;
        report.facets_in_file += of.facets_in_file;
        let notes = of
            .notes
            .iter()
            .map(|note| format!("{}: {note}", path.display()));
        report.notes.extend(notes);
    }
    Ok(Loaded {
        surface: all,
        report,
    })
}

/// The file name without its extension and without `.gz`.
fn stem(path: &Path) -> String {
    let is_packed = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let inner = path.with_extension("");
    let path = if is_packed { &inner } else { path };
    match path.file_stem() {
        Some(stem) if stem != "-" => stem.to_string_lossy().into_owned(),
        _ => "stdin".into(),
    }
}

/// The names of the patches of each file, from the files' stems and their own names.
fn names(files: &[(String, Vec<String>)]) -> Vec<Vec<String>> {
    let own: Vec<Vec<String>> = files
        .iter()
        .map(|(stem, patches)| match &patches[..] {
            [one] if one == DEFAULT_PATCH || one == "solid" => vec![stem.clone()],
            _ => patches.clone(),
        })
        .collect();
    let mut files_with: HashMap<&str, u32> = HashMap::new();
    for name in own.iter().flatten() {
        *files_with.entry(name).or_default() += 1;
    }
    let mut taken: HashSet<String> = HashSet::new();
    let mut unique = |name: String| {
        let numbered = (2..).map(|k| format!("{name}_{k}"));
        let free = std::iter::once(name.clone()).chain(numbered);
        let mut free = free.skip_while(|name| taken.contains(name));
        let name = free.next().expect("numbers should not end");
        taken.insert(name.clone());
        name
    };
    let of = |((stem, _), names): (&(String, Vec<String>), &Vec<String>)| -> Vec<String> {
        let with_stem = |name: &String| {
            if files_with[name.as_str()] > 1 && name != stem {
                unique(format!("{stem}/{name}"))
            } else {
                unique(name.clone())
            }
        };
        names.iter().map(with_stem).collect()
    };
    files.iter().zip(&own).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patches_are_named_by_file_where_names_are_missing_or_clash() {
        let of = |files: &[(&str, &[&str])]| -> Vec<Vec<String>> {
            let owned = |&(stem, names): &(&str, &[&str])| {
                (
                    stem.to_owned(),
                    names.iter().map(|&n| n.to_owned()).collect(),
                )
            };
            names(&files.iter().map(owned).collect::<Vec<_>>())
        };
        assert_eq!(
            of(&[
                ("hull", &["body"]),
                ("wheels", &["front", "rear"]),
                ("road", &["solid"])
            ]),
            [vec!["hull"], vec!["front", "rear"], vec!["road"]]
        );
        assert_eq!(
            of(&[("a", &["wall", "inlet"]), ("b", &["wall", "outlet"])]),
            [["a/wall", "inlet"], ["b/wall", "outlet"]]
        );
        assert_eq!(of(&[("a", &["body"]), ("a", &["body"])]), [["a"], ["a_2"]]);
        assert_eq!(of(&[("a", &["body"]), ("b", &["a"])]), [["a"], ["b/a"]]);
        assert_eq!(stem(Path::new("x/wing.obj.gz")), "wing");
        assert_eq!(stem(Path::new("-")), "stdin");
    }
}
