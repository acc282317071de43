//! The start of a run: initial state, output folder, histories, and changes of the case since the earlier run.

use crate::{
    error::Error,
    fields::{Averages, FieldWriter, Start},
    observer::Observer,
    output,
    solve::{
        bulk::Bulk,
        checkpoint::{self, Header},
        earlier::Earlier,
        energy::Energy,
        history::History,
        integrals::Integrals,
        leftovers::{self, RESULTS},
        lock::FolderLock,
        resolve::{Resolved, Until},
        run::RunOptions,
    },
};
use cutlink_solver::Flow;
use cutlink_voxelizer::{Frame, Mesh};
use std::{
    fs,
    io::Read,
    path::Path,
    sync::{Mutex, PoisonError},
};

/// The outputs of a run so far, empty for a new run.
pub(super) struct Begun<const D: usize> {
    pub(super) history: History<D>,
    pub(super) energy: Option<Energy>,
    pub(super) integrals: Integrals<D>,
    pub(super) fields: FieldWriter<D>,
    /// Bulk quantities of the flow at each check.
    pub(super) looks: Vec<Bulk>,
    /// Prevents other runs in the folder.
    pub(super) lock: FolderLock,
}

/// Sets the initial state of a flow: from the case, or from another run.
pub(super) fn set<const D: usize>(
    flow: &mut dyn Flow<D>,
    resolved: &Resolved<D>,
    frame: &Frame<D>,
    earlier: Option<Earlier<D>>,
    observer: &mut dyn Observer,
) -> Result<(), Error> {
    let (initial, units) = (&resolved.initial, &resolved.units);
    if let Some(earlier) = earlier {
        earlier.check_covers(frame)?;
        observer.note(&earlier.note());
        return Ok(flow.set(&|x| earlier.on_lattice(frame, units, x))?);
    }
    let failed = |why: String| {
        Error::input(format!("[initial]: {why}"))
            .hint("it is evaluated in solid cells as well: if(a, b, c) may help")
    };
    if let Some((density, velocity)) = initial.same().map_err(failed)? {
        return Ok(flow.set_uniform(density, velocity)?);
    }
    let wrong = Mutex::new(None);
    flow.set(&|x| {
        initial.at(x).unwrap_or_else(|why| {
            wrong
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .get_or_insert(why);
            (1.0, [0.0; D])
        })
    })?;
    match wrong.into_inner().unwrap_or_else(PoisonError::into_inner) {
        None => Ok(()),
        Some(why) => Err(failed(why)),
    }
}

/// Creates the output folder, or resumes the run in it.
pub(super) fn open<const D: usize>(
    options: &RunOptions,
    case_file: Option<&Path>,
    mesh: &Mesh<D>,
    resolved: &Resolved<D>,
    header: &Header,
    observer: &mut dyn Observer,
    flow: &mut dyn Flow<D>,
) -> Result<Begun<D>, Error> {
    let folder = &resolved.folder;
    fs::create_dir_all(folder).map_err(|e| output::failed(folder, &e))?;
    let lock = FolderLock::take(folder)?;
    let mut history = History::new(resolved, &mesh.patches);
    let settles = matches!(resolved.until, Until::Settled { .. });
    let bare = settles && !resolved.params.forces;
    let mut energy = bare.then(|| Energy::new(resolved));
    let mut integrals = Integrals::new(resolved, &mesh.patches);
    let outputs = &resolved.outputs;
    let mut averages = outputs
        .averages
        .map(|[from, every]| Averages::new(mesh, from, every))
        .transpose()?;
    let mut looks = Vec::new();
    let start = if options.resume {
        output::remove_abandoned(folder);
        let restore = |from: &mut dyn Read| {
            flow.restore(from)?;
            match &mut averages {
                Some(averages) => averages.restore(flow.mesh()?, from),
                None => Ok(()),
            }
        };
        let found = resume(folder, header, observer, restore)?;
        let step = found.step;
        looks = found.looks;
        history.read(&folder.join("forces.csv"), step)?;
        if let Some(energy) = &mut energy {
            energy.read(&folder.join("energy.csv"), step)?;
        }
        if integrals.every > 0 {
            integrals.read(&folder.join("integrals.csv"), step)?;
        }
        Start::Resumed { step }
    } else {
        begin(options, case_file, folder)?;
        Start::Fresh {
            force: options.replace,
        }
    };
    let (specs, units) = (&outputs.specs, outputs.units.clone());
    let mut fields = FieldWriter::new(folder, specs, units, mesh, start)?;
    if let Some(averages) = averages {
        fields = fields.with_averages(averages);
    }
    Ok(Begun {
        history,
        energy,
        integrals,
        fields,
        looks,
        lock,
    })
}

/// Prepares the folder for a new run: an earlier run is an error, or with `replace` its results are removed.
pub(super) fn begin(
    options: &RunOptions,
    case_file: Option<&Path>,
    folder: &Path,
) -> Result<(), Error> {
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
pub(super) fn resume(
    folder: &Path,
    header: &Header,
    observer: &mut dyn Observer,
    mut restore: impl FnMut(&mut dyn Read) -> Result<(), Error>,
) -> Result<Header, Error> {
    let mut refused = None;
    for path in checkpoint::list(folder) {
        match checkpoint::read(&path, &header.case, header.mesh, &mut restore) {
            Ok(found) => {
                let (path, step, device) = (path.display(), found.step, &found.device);
                observer.note(&format!("resumed at root step {step} from {path}"));
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
pub(super) fn note_changes(before: &Path, now: &str, observer: &mut dyn Observer) {
    let Ok(before) = fs::read_to_string(before) else {
        return;
    };
    for change in checkpoint::differences(&before, now) {
        observer.note(&format!("resuming with a changed case: {change}"));
    }
}
