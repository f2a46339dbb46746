//! `tacit state`: what a party keeps of programs, and what is to go.

use crate::args::{FolderArgs, LookArgs, RefreshArgs, StateArgs, StateCommand};
use crate::context::Context;
use crate::failure::Failure;
use crate::progress::meeting;
use crate::run::simulation;
use crate::store::overview;
use crate::table::bytes;
use serde_json::{Value as Json, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use tacit::advanced::net::setup::Config;
use tacit::advanced::store::EpochStanding;
use tacit::{About, Fill, Listed, Seat, Standing, State, StorePath};

impl StateArgs {
    /// What a party keeps, if a folder is named.
    pub(crate) fn open(&self, config: &Config) -> Result<Option<State>, Failure> {
        Ok(self.state.as_ref().map(|folder| State::of(config, folder)).transpose()?)
    }

    /// Which values fill the program's slots, and which rows it keeps.
    pub(crate) fn fill(&self) -> Fill {
        let slots: Fill = self.fill.iter().cloned().collect();
        self.rows.iter().fold(slots, |fill, (table, rows)| fill.keeping(table, rows))
    }

    /// Refuses words about what a party keeps where it keeps nothing.
    pub(crate) fn refuse_homeless(&self) -> Result<(), Failure> {
        if self.state.is_some() || self.fill().is_empty() {
            return Ok(());
        }
        Err(Failure::usage("--kept and --rows say what is read and kept of --state, which isn't given"))
    }
}

pub(crate) fn state(context: &mut Context<'_>, command: &StateCommand) -> Result<(), Failure> {
    match command {
        StateCommand::List(args) => list(context, &look(args)?, &Epochs::of(args)?),
        StateCommand::Show { look: args, name } => show(context, &look(args)?, &Epochs::of(args)?, name),
        StateCommand::Refresh(args) => refresh(context, args),
        StateCommand::Export { folder, file } => {
            open(folder)?.export(file)?;
            context.note(&format!("{} holds all that {} keeps", file.display(), folder.folder.display()));
            Ok(())
        }
        StateCommand::Import { folder, file } => {
            let state = State::import(file, &folder.folder, key(folder)?)?;
            list(context, &state.list(), &Epochs::default())
        }
        StateCommand::Drop { folder, value } => {
            let mut state = open(folder)?;
            state.drop_value(value)?;
            list(context, &state.list(), &Epochs::default())
        }
    }
}

/// A folder that is there, to be changed or copied.
fn open(args: &FolderArgs) -> Result<State, Failure> {
    refuse_missing(args)?;
    Ok(State::open(&args.folder, key(args)?)?)
}

/// What lies in a folder that is there, whether a server has it open or not.
fn look(args: &LookArgs) -> Result<Vec<Listed>, Failure> {
    refuse_missing(&args.folder)?;
    Ok(State::look(&args.folder.folder, key(&args.folder)?)?)
}

/// How the epochs stand under whose keys values may be, as far as stores say it.
#[derive(Default)]
struct Epochs(BTreeMap<[u8; 32], EpochStanding>);

impl Epochs {
    /// Those of the store that is named; of several parties' stores, as in the one that is worst off: a value is read by all.
    fn of(args: &LookArgs) -> Result<Self, Failure> {
        let mut epochs = BTreeMap::new();
        if let Some(store) = &args.store {
            for place in StorePath::all_in(store, args.anchors.as_ref())? {
                for (epoch, standing) in overview(&place)?.known {
                    let worst = epochs.entry(epoch.0).or_insert(standing);
                    *worst = standing.max(*worst);
                }
            }
        }
        Ok(Self(epochs))
    }

    /// Of the value's epoch, if it has one that a store knows.
    fn standing(&self, about: &About) -> Option<EpochStanding> {
        self.0.get(about.key.as_ref()?).copied()
    }

    /// What is to be said of a value because of its epoch.
    fn warning(&self, about: &About) -> String {
        let unread = match self.standing(about) {
            None | Some(EpochStanding::Here) => return String::new(),
            Some(EpochStanding::Checking) => {
                "a check of its epoch has no verdict: unless a run is at it now, the epoch is destroyed when its store is \
                 opened next, and nobody can read the value any more; then"
            }
            Some(EpochStanding::Gone) => "its epoch is destroyed; nobody can read it any more;",
        };
        format!("; {unread} drop it at every party (tacit state drop DIR {about})")
    }
}

fn refuse_missing(args: &FolderArgs) -> Result<(), Failure> {
    if args.folder.is_dir() {
        return Ok(());
    }
    Err(Failure::usage(format!("there is no folder {}", args.folder.display())))
}

/// The key of the party whose folder it is, if it has one.
fn key(args: &FolderArgs) -> Result<Option<[u8; 32]>, Failure> {
    let Some(config) = &args.config else { return Ok(None) };
    let config = Config::load(config).map_err(tacit::Error::from)?;
    Ok(State::key(&config)?)
}

/// Fresh shares of a value, at this party or at all; with a store under the key of another epoch.
fn refresh(context: &mut Context<'_>, args: &RefreshArgs) -> Result<(), Failure> {
    let place = args.store.as_ref().map(|store| store.place(args.config.is_none())).transpose()?;
    let fresh = if let Some(config) = &args.config {
        let config = args.wait.within(Config::load(config).map_err(tacit::Error::from)?);
        let mut seat = Seat::with(config)?;
        seat.tell(meeting(seat.name()));
        let mut state = seat.open_state(&args.state)?;
        let within = seat.config().limits().connect;
        match &place {
            None => seat.refresh(&mut state, &args.name, within)?,
            Some(place) => seat.rekey(&mut state, &args.name, place, within)?,
        }
    } else {
        let local = simulation(&args.protocol, args.simulate)?;
        let mut states = local.open_states(&args.state)?;
        match &place {
            None => local.refresh(&mut states, &args.name)?,
            Some(place) => local.rekey(&mut states, &args.name, place)?,
        }
    };
    context.line(&if context.json { json!({"kept": fresh}).to_string() } else { format!("kept {fresh}") })
}

/// All that is known of a name.
fn show(context: &mut Context<'_>, all: &[Listed], epochs: &Epochs, name: &str) -> Result<(), Failure> {
    let mut versions = all.iter().filter(|listed| listed.about.name == name).peekable();
    if versions.peek().is_none() {
        return Err(Failure::input(format!("nothing is kept under the name {name:?}")));
    }
    for listed in versions {
        if context.json {
            context.line(&to_json(listed, epochs).to_string())?;
            continue;
        }
        context.line(&to_text(listed, epochs))?;
        if listed.standing != Standing::Dropped {
            details(&listed.about).iter().try_for_each(|line| context.line(&format!("  {line}")))?;
        }
    }
    Ok(())
}

/// What may be done with a version, and where it comes from, by lines.
fn details(about: &About) -> Vec<String> {
    let hashes = |hashes: &[[u8; 32]]| -> String {
        hashes.iter().map(|hash| digits(hash)).collect::<Vec<_>>().join(" ")
    };
    let readers = if about.readers.is_empty() { "any".to_owned() } else { hashes(&about.readers) };
    let learners = match about.learners.as_deref() {
        None => "anybody".to_owned(),
        Some([]) => "nobody".to_owned(),
        Some(names) => names.join(", "),
    };
    let mut lines = vec![
        format!("shared by: {}", about.parties.join(", ")),
        format!("kept by program: {}", digits(&about.program)),
        format!("programs that may read it: {readers}"),
        format!("programs that may keep the next version: {}", hashes(&about.writers)),
        format!("who may learn of it: {learners}"),
    ];
    lines.extend(about.key.map(|key| format!("under the key of epoch: {}", digits(&key))));
    lines.extend(about.soundness.map(|bits| format!("soundness: {bits}")));
    lines.extend(about.replaces.map(|version| format!("fresh shares of: {}@{version}", about.name)));
    lines
}

fn list(context: &mut Context<'_>, listed: &[Listed], epochs: &Epochs) -> Result<(), Failure> {
    for value in listed {
        let said = if context.json { to_json(value, epochs).to_string() } else { to_text(value, epochs) };
        context.line(&said)?;
    }
    if listed.is_empty() && !context.json {
        context.line("nothing is kept")?;
    }
    Ok(())
}

fn standing(listed: &Listed) -> &'static str {
    match listed.standing {
        Standing::Pending => "pending",
        Standing::Settled => "kept",
        Standing::Dropped => "dropped",
    }
}

/// A hash, or its first bytes.
pub(crate) fn digits(hash: &[u8]) -> String {
    hash.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn to_json(listed: &Listed, epochs: &Epochs) -> Json {
    let about = &listed.about;
    json!({
        "value": about.to_string(),
        "standing": standing(listed),
        "kind": about.kind,
        "shape": about.shape,
        "bytes": listed.bytes,
        "parties": about.parties,
        "sharing": about.sharing,
        "epoch": about.key.map(|key| digits(&key)),
        "epoch_standing": epochs.standing(about).map(|standing| match standing {
            EpochStanding::Here => "here",
            EpochStanding::Checking => "checking",
            EpochStanding::Gone => "destroyed",
        }),
        "program": digits(&about.program),
        "readers": about.readers.iter().map(|hash| digits(hash)).collect::<Vec<_>>(),
        "learners": about.learners,
        "writers": about.writers.iter().map(|hash| digits(hash)).collect::<Vec<_>>(),
        "soundness": about.soundness,
        "replaces": about.replaces,
    })
}

fn to_text(listed: &Listed, epochs: &Epochs) -> String {
    let about = &listed.about;
    let mut text = format!("{about}: {}", standing(listed));
    if listed.standing == Standing::Dropped {
        return text;
    }
    let _ = write!(
        text,
        ", {} {:?}, {} bytes, under {}",
        about.kind,
        about.shape,
        bytes(listed.bytes),
        about.sharing
    );
    if let Some(key) = &about.key {
        let _ = write!(text, " and the key of epoch {}", digits(&key[..8]));
    }
    let _ = write!(text, ", of program {}", digits(&about.program[..8]));
    text + &uses(&about.readers, about.learners.as_deref(), &[]) + &epochs.warning(about)
}

/// Which programs may read a kept value, and who may learn of it, where not all may; and which others may keep later versions.
pub(crate) fn uses(readers: &[[u8; 32]], learners: Option<&[String]>, writers: &[[u8; 32]]) -> String {
    let mut text = String::new();
    if !readers.is_empty() {
        let readers: Vec<String> = readers.iter().map(|hash| digits(hash)).collect();
        let _ = write!(text, ", read by {}", readers.join(" and "));
    }
    if let Some(learners) = learners {
        let learners = if learners.is_empty() { "nobody".to_owned() } else { learners.join(", ") };
        let _ = write!(text, ", for {learners} to learn");
    }
    if !writers.is_empty() {
        let writers: Vec<String> = writers.iter().map(|hash| digits(hash)).collect();
        let _ = write!(text, ", kept again by {}, too", writers.join(" and "));
    }
    text
}

#[cfg(test)]
mod tests {
    use crate::npy;
    use crate::tests::tacit;
    use std::path::Path;
    use tacit::SavedPlan;
    use tacit::advanced::store::Store;
    use tacit::program::{Builder, Data, Dtype, Program, Recipient, Uses, Value};

    fn save(folder: &Path, name: &str, program: Program) -> String {
        let path = folder.join(name);
        std::fs::write(&path, SavedPlan::new(program, name).to_bytes()).unwrap();
        path.display().to_string()
    }

    fn keeps() -> Program {
        let mut build = Builder::new();
        let x = build.input("P0", "x", Dtype::Int, &[3], None).unwrap();
        build.keep(x, "x", Uses::new(Vec::new(), Some(vec!["P1".into()]))).unwrap();
        build.finish().unwrap()
    }

    fn reads(to: &str) -> Program {
        let mut build = Builder::new();
        let x = build.kept("x", Dtype::Int, &[3], None).unwrap();
        build.reveal(x, Recipient::Role(to.into())).unwrap();
        build.finish().unwrap()
    }

    #[test]
    fn values_are_kept_read_listed_and_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        let value = Value { shape: vec![3], data: Data::Int(vec![4, 5, 6]) };
        npy::write(&folder.path().join("x.npy"), &value).unwrap();
        let (keep, read) =
            (save(folder.path(), "keep.plan", keeps()), save(folder.path(), "read.plan", reads("P1")));
        let (input, state) = (format!("x={}", path("x.npy")), path("state"));
        for version in 1..3 {
            let (code, _, note) = tacit(&["run", &keep, "--simulate", "--state", &state, "--input", &input]);
            assert!(code == 0 && note.contains(&format!("kept x@{version}")), "{note}");
        }
        let (code, out, error) = tacit(&["run", &read, "--simulate", "--state", &state, "--kept", "x=x@1"]);
        assert!(code == 0 && out.contains('4'), "{out}{error}");
        let other = save(folder.path(), "other.plan", reads("P2"));
        let (code, _, error) = tacit(&["run", &other, "--simulate", "--state", &state]);
        assert!(code == 2 && error.contains("what depends on x@2 may be learnt by P1 only"), "{error}");
        let (code, _, error) = tacit(&["run", &read, "--simulate"]);
        assert!(code == 2 && error.contains("`--state FOLDER`"), "{error}");

        let own = format!("{state}/P0");
        let (code, listed, _) = tacit(&["state", "list", &own]);
        assert!(
            code == 0 && listed.contains("x@1: kept, int [3]") && listed.contains("for P1 to learn"),
            "{listed}"
        );
        let (code, listed, _) = tacit(&["state", "drop", &own, "x@2"]);
        assert!(code == 0 && listed.contains("x@2: dropped"), "{listed}");
        let (code, listed, _) = tacit(&["state", "list", &own, "--json"]);
        assert!(code == 0 && listed.contains(r#""standing":"dropped""#), "{listed}");
        let (code, _, error) = tacit(&["run", &read, "--simulate", "--state", &state]);
        assert!(code == 2 && error.contains("x@2 was dropped by P0"), "{error}");
        let (code, _, error) = tacit(&["state", "drop", &own, "x@7"]);
        assert!(code == 2 && error.contains("nothing is kept as"), "{error}");
    }

    /// A folder with stores of `mascot`, and `x` kept under the key of their epoch.
    struct Mascot {
        folder: tempfile::TempDir,
        store: String,
        state: String,
    }

    impl Mascot {
        fn keeping() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name).display().to_string();
            let (store, state, input) = (path("store"), path("state"), format!("x={}", path("x.npy")));
            let value = Value { shape: vec![3], data: Data::Int(vec![4, 5, 6]) };
            npy::write(&folder.path().join("x.npy"), &value).unwrap();
            let mut build = Builder::new();
            let x = build.input("P0", "x", Dtype::Int, &[3], tacit::program::Range::new(-9, 9)).unwrap();
            build.keep(x, "x", Uses::default()).unwrap();
            let keep = save(folder.path(), "keep.plan", build.finish().unwrap());
            let own = Self { folder, store, state };
            own.call(&["offline", "--bits", "64", "--masks", "128"]);
            own.call(&["run", &keep, "--state", &own.state, "--input", &input]);
            own
        }

        fn tacit(&self, args: &[&str]) -> (i32, String) {
            let mascot = ["--simulate", "--protocol", "mascot", "--store", &self.store];
            let (code, out, error) = tacit(&[args, &mascot].concat());
            (code, out + &error)
        }

        fn call(&self, args: &[&str]) -> String {
            let (code, said) = self.tacit(args);
            assert_eq!(code, 0, "{said}");
            said
        }

        fn party(&self, name: &str) -> String {
            format!("{}/{name}", self.state)
        }

        /// What P1 keeps, by the words that follow.
        fn list(&self, more: &[&str]) -> String {
            let (code, listed, error) = tacit(&[&["state", "list", &self.party("P1")], more].concat());
            assert_eq!(code, 0, "{error}");
            listed
        }

        /// The epoch of the newest value.
        fn epoch(&self) -> String {
            let newest = self.list(&[]).lines().last().unwrap_or_default().to_owned();
            newest.split("key of epoch ").nth(1).map(|rest| rest[..16].to_owned()).unwrap_or(newest)
        }
    }

    #[test]
    fn a_value_moves_to_the_key_of_another_epoch() {
        let own = Mascot::keeping();
        let before = own.epoch();
        own.call(&["offline", "--masks", "64"]);
        let moved = own.call(&["state", "refresh", "x", "--state", &own.state]);
        assert!(moved.contains("kept x@2"), "{moved}");
        assert_ne!(own.epoch(), before);
        // Without a store shares are fresh, and the key stays.
        let moved = own.epoch();
        let (code, _, error) =
            tacit(&["state", "refresh", "x", "--state", &own.state, "--simulate", "--protocol", "mascot"]);
        assert_eq!((code, own.epoch()), (0, moved), "{error}");
    }

    /// P0 ends in the midst of a check, as if it were killed: the next opening of its store destroys the epoch.
    #[test]
    fn a_value_whose_epoch_is_destroyed_is_told_of() {
        let own = Mascot::keeping();
        let list = |more: &[&str]| own.list(&[&["--store", own.store.as_str()], more].concat());
        let path = Path::new(&own.store);
        let binding = Store::binding_at(&path.join("P0")).unwrap().unwrap();
        let open = || Store::open(&path.join("P0"), &path.join("anchors"), &binding).unwrap();
        assert!(!list(&[]).contains("epoch is destroyed"));
        assert!(list(&["--json"]).contains(r#""epoch_standing":"here""#));
        let mut store = open();
        store.begin_check(store.kept_keys()[0].epoch).unwrap();
        drop(store);
        let listed = list(&[]);
        assert!(
            listed.contains("a check of its epoch has no verdict: unless a run is at it now"),
            "{listed}"
        );
        assert!(list(&["--json"]).contains(r#""epoch_standing":"checking""#));

        assert!(open().kept_keys().is_empty());
        let listed = list(&[]);
        assert!(listed.contains("its epoch is destroyed; nobody can read it any more; drop it"), "{listed}");
        assert!(list(&["--json"]).contains(r#""epoch_standing":"destroyed""#));
        let (_, shown, _) = tacit(&["state", "show", &own.party("P1"), "x", "--store", &own.store]);
        assert!(shown.contains("tacit state drop DIR x@1"), "{shown}");
        let read = save(own.folder.path(), "read.plan", reads("P1"));
        let (code, refused) = own.tacit(&["run", &read, "--state", &own.state]);
        assert!(code != 0 && refused.contains("store of supplies has no more"), "{refused}");

        // Nothing is known of it without the store, and nothing is to be said of what is dropped.
        assert!(!own.list(&[]).contains("destroyed"));
        assert!(own.list(&["--json"]).contains(r#""epoch_standing":null"#));
        tacit(&["state", "drop", &own.party("P1"), "x@1"]);
        assert_eq!(list(&[]), "x@1: dropped\n");
    }
}
