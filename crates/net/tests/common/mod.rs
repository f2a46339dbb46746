//! Deployments on this machine: configurations in a temporary folder, one thread per endpoint.

#![allow(dead_code, reason = "not every test file needs everything")]

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, fs, process, thread};

use rcgen::{CertificateParams, KeyPair};
use tacit_net::setup::{Config, Fingerprint, Listener, Security, SetupError, connect, init};
use tacit_net::stream::StreamTransport;
use tacit_net::{Limits, Mesh, memory};

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A folder of configurations, removed in the end.
pub(crate) struct Deployment {
    folder: PathBuf,
    configs: Vec<PathBuf>,
}

impl Drop for Deployment {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Ports that are free at present, below those that the operating system gives to callers.
pub(crate) fn free_ports(count: u16) -> u16 {
    loop {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let base = 10_000 + (process::id().wrapping_mul(37).wrapping_add(next) % 1200) as u16 * 16;
        if (base..base + count).all(|port| TcpListener::bind(("127.0.0.1", port)).is_ok()) {
            return base;
        }
    }
}

impl Deployment {
    /// Parties and clients (`C0`, `C1`, ...) under TLS.
    pub(crate) fn new(parties: usize, clients: usize) -> Self {
        let name = format!("tacit-net-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = env::temp_dir().join(name);
        let clients: Vec<String> = (0..clients).map(|client| format!("C{client}")).collect();
        let port = free_ports(parties as u16);
        let configs = init(&folder, parties, &clients, "127.0.0.1", port).unwrap();
        Self { folder, configs }
    }

    pub(crate) fn path(&self, endpoint: usize) -> &Path {
        &self.configs[endpoint]
    }

    /// Replaces text in one endpoint's configuration.
    pub(crate) fn edit(&self, endpoint: usize, from: &str, to: &str) {
        let text = fs::read_to_string(self.path(endpoint)).unwrap();
        assert!(text.contains(from), "{from:?} not in {text}");
        fs::write(self.path(endpoint), text.replace(from, to)).unwrap();
    }

    pub(crate) fn add(&self, lines: &str) {
        for path in &self.configs {
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, format!("{text}\n{lines}\n")).unwrap();
        }
    }

    pub(crate) fn with(self, security: Security) -> Self {
        if security == Security::Tcp {
            for endpoint in 0..self.configs.len() {
                self.edit(endpoint, "transport = \"tls\"", "transport = \"tcp\"");
            }
        }
        self
    }

    pub(crate) fn config(&self, endpoint: usize) -> Config {
        Config::load(self.path(endpoint)).unwrap()
    }

    /// Everybody's links, without a mesh.
    pub(crate) fn transports(&self) -> Vec<StreamTransport> {
        let threads: Vec<_> = (0..self.configs.len())
            .map(|endpoint| {
                let config = self.config(endpoint);
                thread::spawn(move || transport(&config).unwrap())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }

    /// Everybody's mesh, or what kept it from coming about.
    pub(crate) fn try_meshes(&self) -> Vec<Result<Mesh, SetupError>> {
        let threads: Vec<_> = (0..self.configs.len())
            .map(|endpoint| {
                let config = self.config(endpoint);
                thread::spawn(move || mesh(&config))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    }

    pub(crate) fn meshes(&self) -> Vec<Mesh> {
        self.try_meshes().into_iter().map(Result::unwrap).collect()
    }
}

/// One endpoint's mesh with all others.
pub(crate) fn mesh(config: &Config) -> Result<Mesh, SetupError> {
    Ok(over(config, transport(config)?))
}

/// A client's mesh for a run in which these clients take part.
pub(crate) fn client_mesh(config: &Config, clients: &[usize]) -> Result<Mesh, SetupError> {
    Ok(over(config, connect(config, clients)?))
}

/// One endpoint's mesh over its links.
pub(crate) fn over(config: &Config, links: StreamTransport) -> Mesh {
    Mesh::new(Box::new(links), config.me(), config.names(), config.limits().clone())
}

/// Where a party listens.
pub(crate) fn address(config: &Config, party: usize) -> String {
    config.parties()[party].address.clone()
}

/// Puts another certificate in place of an endpoint's own, for itself; the others are told or not.
pub(crate) fn replace_certificate(
    deployment: &Deployment,
    endpoint: usize,
    years: (i32, i32),
    tell: &[usize],
) {
    let config = deployment.config(endpoint);
    let old = match config.parties().get(endpoint) {
        Some(party) => party.fingerprint,
        None => config.clients()[endpoint - config.parties().len()].fingerprint,
    };
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
    params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
    let certificate = params.self_signed(&key).unwrap();
    let folder = deployment.path(endpoint).parent().unwrap().to_owned();
    fs::write(folder.join("key.pem"), key.serialize_pem()).unwrap();
    fs::write(folder.join("certificate.pem"), certificate.pem()).unwrap();
    let print = Fingerprint::of(certificate.der()).to_string();
    for &endpoint in tell {
        deployment.edit(endpoint, &old.unwrap().to_string(), &print);
    }
}

/// The numbers of all clients.
pub(crate) fn clients(config: &Config) -> Vec<usize> {
    (config.parties().len()..config.names().len()).collect()
}

fn transport(config: &Config) -> Result<StreamTransport, SetupError> {
    let clients = clients(config);
    if config.is_client() {
        return connect(config, &clients);
    }
    Listener::bind(config)?.gather(&clients, config.limits().connect)
}

/// Three parties and a client over memory, TCP and TLS, with a name to show.
pub(crate) fn worlds(limits: &str) -> Vec<(&'static str, Vec<Mesh>)> {
    let tcp = Deployment::new(3, 1).with(Security::Tcp);
    let tls = Deployment::new(3, 1);
    for deployment in [&tcp, &tls] {
        deployment.add(&format!("[limits]\n{limits}"));
    }
    let (names, limits): (Vec<String>, Limits) = (tcp.config(0).names(), tcp.config(0).limits().clone());
    let memory = memory::mesh(3, 1).into_iter().enumerate();
    let memory =
        memory.map(|(me, end)| Mesh::new(Box::new(end), me, names.clone(), limits.clone())).collect();
    vec![("memory", memory), ("tcp", tcp.meshes()), ("tls", tls.meshes())]
}

/// Time enough for anything on a busy machine, and far less than the limit of silence.
pub(crate) const SOON: Duration = Duration::from_secs(1);
