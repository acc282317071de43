//! The output folder of a run: prepared for a new one, or resumed from the last checkpoint of an earlier one.

use super::{Flow, RunOptions, RunSetting};
use crate::fields::{Averages, FieldWriter, Start};
use crate::{
    checkpoint::{self, Header},
    leftovers::{self, RESULTS},
};
use cutlink_common::{Error, Observer, lock::FolderLock, output};
use std::{fs, io::Read, path::Path};

/// What a run begins with, besides the flow and its tables.
pub(super) struct Begun<const D: usize> {
    pub(super) fields: FieldWriter<D>,
    pub(super) header: Header,
    /// Prevents other runs in the folder.
    pub(super) lock: FolderLock,
}

/// Creates the output folder, or resumes the run in it.
pub(super) fn open<const D: usize>(
    setting: &mut RunSetting<D>,
    flow: &mut dyn Flow<D>,
    options: &RunOptions,
    observer: &mut dyn Observer,
) -> Result<Begun<D>, Error> {
    let folder = setting.folder.clone();
    fs::create_dir_all(&folder).map_err(|e| output::failed(&folder, &e))?;
    let lock = FolderLock::take(&folder)?;
    let header = Header {
        version: checkpoint::VERSION,
        cutlink: env!("CARGO_PKG_VERSION").into(),
        case: setting.fixed.clone(),
        mesh: setting.mesh,
        device: setting.device_kind.clone(),
        step: 0,
        notes: serde_json::Map::new(),
    };
    let mut averages = match setting.averages {
        Some([from, every]) => Some(Averages::new(flow.mesh()?, from, every)?),
        None => None,
    };
    let start = if options.resume {
        output::remove_abandoned(&folder);
        let restore = |from: &mut dyn Read| {
            flow.restore(from)?;
            match &mut averages {
                Some(averages) => averages.restore(flow.mesh()?, from),
                None => Ok(()),
            }
        };
        let found = resume(&folder, &header, setting.step_name, observer, restore)?;
        let step = found.step;
        flow.take_notes(found.notes)?;
        setting.history.read(&folder.join("forces.csv"), step)?;
        for table in flow.tables() {
            let path = folder.join(table.file());
            table.read(&path, step)?;
        }
        note_changes(&folder.join("case.toml"), &setting.case, observer);
        Start::Resumed { step }
    } else {
        begin(options, setting.file.as_deref(), &folder)?;
        Start::Fresh {
            force: options.replace,
        }
    };
    let (specs, units) = (&setting.specs, setting.units.clone());
    let mut fields = FieldWriter::new(&folder, specs, units, flow.mesh()?, start)?;
    if let Some(averages) = averages {
        fields = fields.with_averages(averages);
    }
    Ok(Begun {
        fields,
        header,
        lock,
    })
}

/// Prepares the folder for a new run: an earlier run is an error, or with `replace` its results are removed.
fn begin(options: &RunOptions, case_file: Option<&Path>, folder: &Path) -> Result<(), Error> {
    for name in RESULTS {
        output::check(&folder.join(name), options.replace, case_file)?;
    }
    let old = checkpoint::list(folder);
    if let Some(path) = old.first().filter(|_| !options.replace) {
        return Err(Error::input(format!("{} exists already", path.display()))
            .hint("continue with --resume, or replace it with --force"));
    }
    match options.replace {
        true => leftovers::remove(folder),
        false => Ok(()),
    }
}

/// Restores the last valid checkpoint; returns its header.
fn resume(
    folder: &Path,
    header: &Header,
    step_name: &str,
    observer: &mut dyn Observer,
    mut restore: impl FnMut(&mut dyn Read) -> Result<(), Error>,
) -> Result<Header, Error> {
    let mut refused = None;
    for path in checkpoint::list(folder) {
        match checkpoint::read(&path, &header.case, header.mesh, &mut restore) {
            Ok(found) => {
                let (path, step, device) = (path.display(), found.step, &found.device);
                observer.note(&format!("resumed at {step_name} {step} from {path}"));
                if !device.is_empty() && *device != header.device {
                    observer.note(&format!(
                        "the earlier run used {device}, this one uses {}: results agree to rounding, not bit for bit",
                        header.device
                    ));
                }
                return Ok(found);
            }
            Err(failure) => {
                observer.note(&failure.message);
                refused.get_or_insert(failure);
            }
        }
    }
    Err(refused.unwrap_or_else(|| {
        Error::input(format!(
            "{} has no checkpoint to resume from",
            folder.display()
        ))
        .hint("start without --resume")
    }))
}

/// Notes the changes of the case relative to the one in the folder.
fn note_changes(before: &Path, now: &str, observer: &mut dyn Observer) {
    let Ok(before) = fs::read_to_string(before) else {
        return;
    };
    for change in checkpoint::differences(&before, now) {
        observer.note(&format!("resuming with a changed case: {change}"));
    }
}
