use std::cell::Cell;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use super::*;
use crate::setup::init;

thread_local! {
    /// How often this thread waited.
    pub(super) static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// Folders and ports of tests in this process.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Configurations of three parties and two clients, in a folder that is removed in the end.
struct Deployment(PathBuf, Vec<PathBuf>);

impl Deployment {
    fn new() -> Self {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("tacit-gather-{}-{next}", std::process::id()));
        let free = |port: &u16| (*port..port + 3).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok());
        let first = 30_000 + (std::process::id() as u16 % 400) * 6;
        let port = (first..first + 600).step_by(3).find(free).unwrap();
        let clients = ["alice", "bob"].map(str::to_owned);
        let paths = init(&folder, 3, &clients, "127.0.0.1", port).unwrap();
        Self(folder, paths)
    }

    fn config(&self, endpoint: usize) -> Config {
        Config::load(&self.1[endpoint]).unwrap()
    }

    fn folder(&self) -> &Path {
        &self.0
    }
}

impl Drop for Deployment {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(self.folder());
    }
}

/// Whoever waits looks twenty times a second and for every call, and doesn't spin; who waits and for whom is told to all,
/// and whoever comes in the end is not too late.
#[test]
fn who_waits_sleeps_and_knows_for_whom() {
    let deployment = Deployment::new();
    let clients = [3, 4];
    let (arrived, waited) = mpsc::channel();
    let play = |endpoint: usize| {
        let (config, arrived) = (deployment.config(endpoint), arrived.clone());
        move || {
            let (within, start) = (Duration::from_mins(1), Instant::now());
            let told = Arc::new(Mutex::new(Vec::new()));
            let here = Arc::clone(&told);
            // For whom this thread waited when it was told, and how often it had looked, after how long.
            let notes: Notes = Arc::new(move |note| {
                let Note::Waiting(missing) = note else { return };
                let looks = LOOKS.with(Cell::get);
                here.lock().unwrap().push((missing.join(", "), looks, start.elapsed()));
                let _ = arrived.send(endpoint);
            });
            let links = if endpoint < 3 {
                let mut listener = Listener::bind(&config).unwrap();
                listener.tell(notes);
                listener.gather(&clients, within)
            } else {
                connect_lanes(&config, &clients, 1, within, &notes).and_then(only)
            };
            // It stays until all are here.
            let told = told.lock().unwrap().clone();
            (links.unwrap(), told)
        }
    };
    thread::scope(|scope| {
        let early: Vec<_> = [0, 1, 2, 3].map(|endpoint| scope.spawn(play(endpoint))).into_iter().collect();
        // Bob comes when all others have been told.
        let mut telling: Vec<usize> = Vec::new();
        while telling.len() < 4 {
            let endpoint = waited.recv_timeout(Duration::from_mins(1)).unwrap();
            if !telling.contains(&endpoint) {
                telling.push(endpoint);
            }
        }
        let late = scope.spawn(play(4));
        let early: Vec<_> = early.into_iter().map(|thread| thread.join().unwrap()).collect();
        late.join().unwrap();
        for (_, told) in early {
            let [(missing, looks, after)] = &told[..] else { panic!("{told:?}") };
            assert_eq!(missing, "bob");
            // Two hundred for all that comes meanwhile, of which there is little.
            let most = 200 + 20 * after.as_millis() as usize / 1000;
            assert!(*looks <= most, "{looks} looks in {after:?}");
        }
    });
}
