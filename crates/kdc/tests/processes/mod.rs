//! A realm of real processes, on ten ports.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tacit_kdc::admin::{self, Origin};
use tacit_kdc::enctype::Enctype;
use tacit_kdc::order::Holder;
use tacit_kdc::realm::Sessions;

pub(crate) const REALM: &str = "M.EXAMPLE";
pub(crate) const PROGRAM: &str = env!("CARGO_BIN_EXE_tacit-kdc");

/// How long a realm may take to start: it compiles all that it runs.
const STARTS: Duration = Duration::from_mins(15);

/// A process that ends with this.
pub(crate) struct Running(pub(crate) Child);

impl Drop for Running {
    /// At once, as by `kill -9`.
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs() as i64
}

pub(crate) struct Realm {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) port: u16,
    /// Three servers, and the front.
    pub(crate) processes: Vec<Running>,
}

impl Realm {
    /// A realm that serves, and has krbtgt; with fresh shares of its keys every so many seconds, if not 0.
    pub(crate) fn new(enctype: Enctype, sessions: Sessions, refresh_every: i64) -> Self {
        // Tests of one process run side by side.
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = tempfile::tempdir().unwrap();
        let number = std::process::id() % 250 * 4 + NEXT.fetch_add(1, Ordering::Relaxed) % 4;
        let port = 20_000 + 10 * number as u16;
        admin::init(&folder.path().join("realm"), REALM, (enctype, sessions), ["127.0.0.1"; 2], port)
            .unwrap();
        // Programs of many requests take minutes to compile.
        for part in ["P0", "P1", "P2", "front"] {
            let file = folder.path().join("realm").join(part).join("kdc.toml");
            let settings = fs::read_to_string(&file).unwrap();
            let changed = |settings: String, from: &str, to: &str| {
                assert!(settings.contains(from), "{settings}");
                settings.replace(from, to)
            };
            let settings = changed(settings, "max_together = 256", "max_together = 4");
            let every = format!("refresh_every = {refresh_every}");
            fs::write(&file, changed(settings, "refresh_every = 0", &every)).unwrap();
        }
        let started = [("serve", "P0"), ("serve", "P1"), ("serve", "P2"), ("front", "front")];
        let processes = started.map(|(verb, part)| start(folder.path(), verb, part)).into();
        let realm = Self { folder, port, processes };
        let until = Instant::now() + STARTS;
        while admin::give(&realm.admin(), &format!("krbtgt/{REALM}"), Holder::Any, &Origin::Random, Some(1))
            .is_err()
        {
            assert!(Instant::now() < until, "the realm starts");
            thread::sleep(Duration::from_millis(500));
        }
        realm
    }

    pub(crate) fn part(&self, name: &str) -> PathBuf {
        self.folder.path().join("realm").join(name)
    }

    pub(crate) fn admin(&self) -> PathBuf {
        self.part("admin")
    }
}

/// Starts a part of a realm, which writes into a log.
pub(crate) fn start(folder: &Path, verb: &str, part: &str) -> Running {
    let log = File::create(folder.join(format!("{part}.log"))).unwrap();
    Running(Command::new(PROGRAM).arg(verb).arg(folder.join("realm").join(part)).stdout(log).spawn().unwrap())
}
