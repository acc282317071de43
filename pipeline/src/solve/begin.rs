//! Where a run begins: its first state, its folder made or taken up, its histories, and what differs from the case before.

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

/// What a run has written so far.
pub(super) struct Begun<const D: usize> {
    pub(super) history: History<D>,
    pub(super) energy: Option<Energy>,
    pub(super) integrals: Integrals<D>,
    pub(super) fields: FieldWriter<D>,
    /// The flow on the whole, each time it was looked at.
    pub(super) looks: Vec<Bulk>,
    /// Keeps other runs out of the folder.
    pub(super) lock: FolderLock,
}

/// Puts the initial state into a flow: that of the case, or that of another run.
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
        observer.note(&earlier.told());
        return Ok(flow.set(&|x| earlier.on_lattice(frame, units, x))?);
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
        Some(why) => Err(Error::input(format!("[initial]: {why}"))
            .hint("it is evaluated in solid cells too: if(a, b, c) may help")),
    }
}

/// Makes the folder, or takes up the run in it.
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
        .map(|[from, every]| Averages::new(mesh, from, every));
    let mut looks = Vec::new();
    let start = if options.resume {
        let restore = |from: &mut dyn Read| {
            flow.restore(from)?;
            match &mut averages {
                Some(averages) => averages.restore(from),
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

/// Clears the way for a run from the start.
fn begin(options: &RunOptions, case_file: Option<&Path>, folder: &Path) -> Result<(), Error> {
    const NAMES: [&str; 6] = [
        "case.toml",
        "forces.csv",
        "forces.png",
        "energy.csv",
        "integrals.csv",
        "summary.json",
    ];
    for name in NAMES {
        output::check(&folder.join(name), options.replace, case_file)?;
    }
    let old = checkpoint::list(folder);
    if let Some(path) = old.first().filter(|_| !options.replace) {
        return Err(Error::input(format!("{} is there already", path.display()))
            .hint("go on from it with --resume, or start again with --force"));
    }
    for path in old {
        fs::remove_file(&path).map_err(|e| output::failed(&path, &e))?;
    }
    Ok(())
}

/// Takes up the last checkpoint that is sound; its header.
fn resume(
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
                        "that was a run on {device}, and this one is on {}: they agree to rounding, not bit for bit",
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

/// Says what of the case in the folder is not as it was.
pub(super) fn tell_changes(before: &Path, now: &str, observer: &mut dyn Observer) {
    let Ok(before) = fs::read_to_string(before) else {
        return;
    };
    for change in checkpoint::differences(&before, now) {
        observer.note(&format!("goes on with another case: {change}"));
    }
}
