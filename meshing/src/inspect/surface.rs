//! The health report of a surface file, and its self-intersections.

use crate::mesh::intersections::{self, IntersectionReport};
use crate::mesh::report::{bytes, short};
use crate::mesh::source::health_of;
use cutlink_common::Error;
use cutlink_mesher::exact::Facet;
use cutlink_mesher::health::Health;
use cutlink_mesher::intersect::Meet;
use cutlink_mesher::read::{Loaded, ReadReport};
use serde_json::json;
use std::path::{Path, PathBuf};

/// The corners of a facet.
pub type FacetCorners<const D: usize> = [[f64; D]; D];

/// What `cutlink inspect` says about a surface.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SurfaceReport<const D: usize> {
    /// The file.
    pub path: PathBuf,
    /// How it was read.
    pub read: ReadReport,
    /// Names of its patches.
    pub patches: Vec<String>,
    /// Area of each patch, in the file's unit; lengths in 2D.
    pub areas: Vec<f64>,
    /// Its health.
    pub health: Health<D>,
    /// Its self-intersections, if they were searched for.
    pub intersections: Option<IntersectionReport>,
    /// Notes of the reader.
    pub notes: Vec<String>,
}

impl<const D: usize> SurfaceReport<D> {
    /// Checks a surface; `intersections`: also for self-intersections.
    ///
    /// # Errors
    /// Self-intersections of a surface that is too large for the search.
    pub fn new(path: &Path, mut loaded: Loaded<D>, intersections: bool) -> Result<Self, Error>
    where
        Facet<D>: Meet<D>,
    {
        Self::with_crossing(path, &mut loaded, intersections).map(|(report, _)| report)
    }

    /// As [`new`](Self::new), with the corners of the facets that intersect others, for [`surface_page`](super::surface_page).
    /// The surface stays, welded.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_crossing(
        path: &Path,
        loaded: &mut Loaded<D>,
        intersections: bool,
    ) -> Result<(Self, Vec<FacetCorners<D>>), Error>
    where
        Facet<D>: Meet<D>,
    {
        let (health, welded) = health_of(&mut loaded.surface, &loaded.report);
        let found = match intersections {
            true => Some(intersections::find_as_is(&loaded.surface)?),
            false => None,
        };
        let (found, crossing) = found.map_or((None, Vec::new()), |f| (Some(f.report), f.facets));
        let report = Self {
            path: path.to_owned(),
            notes: loaded.report.notes.iter().cloned().chain(welded).collect(),
            read: loaded.report.clone(),
            areas: loaded.surface.patch_areas(),
            patches: loaded.surface.patches.clone(),
            health,
            intersections: found,
        };
        Ok((report, crossing))
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let read = &self.read;
        let mut text = format!(
            "file      {} ({}{}, {})\n",
            self.path.display(),
            read.format,
            if read.gzipped { ", gzipped" } else { "" },
            bytes(read.bytes)
        );
        if self.patches.len() > 1 {
            let each = self.patches.iter().zip(&self.areas);
            let of = if D == 2 { "length" } else { "area" };
            let each = each.map(|(name, area)| format!("{name} ({of} {})", short(*area)));
            text += &format!("patches   {}\n", each.collect::<Vec<_>>().join(", "));
        }
        text += &format!("{}\n", self.health);
        if let Some(found) = &self.intersections {
            text += &format!("{}\n", found.text());
        }
        for note in &self.notes {
            text += &format!("note: {note}\n");
        }
        text
    }

    /// The JSON object; `docs/json-schema.md` describes its keys.
    pub fn to_json(&self) -> serde_json::Value {
        let health = &self.health;
        json!({
            "schema": cutlink_common::JSON_SCHEMA,
            "cutlink": env!("CARGO_PKG_VERSION"),
            "command": "inspect",
            "kind": "surface",
            "file": { "path": self.path, "bytes": self.read.bytes },
            "dimensions": D,
            "input": {
                "format": self.read.format.to_string(),
                "gzipped": self.read.gzipped,
                "triangles": health.facets,
                "closed": health.closed(),
                "closed_evenodd": health.closed_evenodd(),
                "patches": self.patches,
                "patch_areas": self.areas,
            },
            "health": health,
            "intersections": self.intersections,
            "notes": self.notes,
        })
    }
}
