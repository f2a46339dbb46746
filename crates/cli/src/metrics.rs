//! A server's figures in Prometheus' text form, on a port of this machine alone.
//!
//! # Security
//! Counts, times and sizes of traffic; nothing that is given to a run or comes out of one. The port is on loopback. One
//! request is answered at a time, of a bounded size and within a bounded time, by a thread of its own: it holds no run up.

use crate::failure::Failure;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tacit::setup::Config;
use tacit::{Error, Gauges, Level, Run};

/// Bytes of a request that are read at most.
const REQUEST: usize = 4096;
/// How long a request may take, and its answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// Upper ends of the histogram's buckets, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 25.0, 100.0];

/// What has become of runs so far.
#[derive(Debug, Default)]
struct Runs {
    by_outcome: BTreeMap<&'static str, u64>,
    sent_bytes: u64,
    /// Good runs by time: how many took no longer than each bucket's end.
    within: [u64; BUCKETS.len()],
    seconds: f64,
}

/// A server's figures.
#[derive(Clone)]
pub(crate) struct Metrics {
    /// Says where the certificate is, which may be replaced while the server lives.
    config: Arc<Config>,
    gauges: Gauges,
    runs: Arc<Mutex<Runs>>,
}

impl Metrics {
    pub(crate) fn new(config: &Config, gauges: Gauges) -> Self {
        Self { config: Arc::new(config.clone()), gauges, runs: Arc::default() }
    }

    /// Notes a run that has ended.
    pub(crate) fn note(&self, result: &Result<Run, Error>) {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        let outcome = match result {
            Ok(run) => {
                let seconds = run.report.elapsed.as_secs_f64();
                runs.seconds += seconds;
                for (within, end) in runs.within.iter_mut().zip(BUCKETS) {
                    *within += u64::from(seconds <= end);
                }
                let sent: u64 = run.report.endpoints.iter().map(|(_, traffic)| traffic.payload()).sum();
                runs.sent_bytes += sent;
                "ok"
            }
            Err(error) if error.is_attempt() => "attempt",
            Err(error) if error.is_abort() => "aborted",
            Err(_) => "refused",
        };
        *runs.by_outcome.entry(outcome).or_default() += 1;
    }

    /// All figures, as Prometheus reads them.
    fn text(&self) -> String {
        let mut text = String::new();
        let mut figure = |name: &str, kind: &str, help: &str, values: &[(String, f64)]| {
            // Writing into a string can't fail.
            let _ = writeln!(text, "# HELP tacit_{name} {help}\n# TYPE tacit_{name} {kind}");
            for (label, value) in values {
                let _ = writeln!(text, "tacit_{name}{label} {value}");
            }
        };
        let one = |value: f64| [(String::new(), value)];
        {
            let runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
            let count = |outcome| runs.by_outcome.get(outcome).copied().unwrap_or_default() as f64;
            let outcomes = ["ok", "aborted", "attempt", "refused"];
            let outcomes = outcomes.map(|outcome| (format!("{{outcome=\"{outcome}\"}}"), count(outcome)));
            figure("runs_total", "counter", "Runs that have ended.", &outcomes);
            let sent = one(runs.sent_bytes as f64);
            figure("sent_bytes_total", "counter", "Payload that good runs sent from here.", &sent);
            let ends = BUCKETS.map(|end| end.to_string()).into_iter().zip(runs.within);
            let mut rows: Vec<_> =
                ends.map(|(end, within)| (format!("_bucket{{le=\"{end}\"}}"), within as f64)).collect();
            rows.push(("_bucket{le=\"+Inf\"}".to_owned(), count("ok")));
            rows.push(("_sum".to_owned(), runs.seconds));
            rows.push(("_count".to_owned(), count("ok")));
            figure("run_seconds", "histogram", "Time of good runs.", &rows);
        }
        let now = self.gauges.read();
        let gauges = [
            ("requests_waiting", "Requests of clients whose runs haven't begun.", now.waiting as f64),
            ("lanes_busy", "Runs under way.", now.running as f64),
            ("lanes", "Runs under way at most.", now.lanes as f64),
            ("clients_connected", "Connections of clients.", now.clients as f64),
            ("links_up", "Links to other parties that are there.", now.links as f64),
            ("links", "Links to other parties, if all are there.", now.all_links as f64),
            ("attempts", "Attempts to get past this server's checks, so far.", now.attempts as f64),
        ];
        for (name, help, value) in gauges {
            figure(name, "gauge", help, &one(value));
        }
        let levels = self.gauges.levels();
        let rows = |of: fn(&Level) -> u64| -> Vec<(String, f64)> {
            let row = |level: &Level| (format!("{{kind=\"{}\"}}", level.kind), of(level) as f64);
            levels.iter().map(row).collect()
        };
        if !levels.is_empty() {
            let help = "Supplies that are unused, in the epoch of which most is left.";
            figure("supplies_unused", "gauge", help, &rows(|level| level.unused));
            let help = "Supplies up to which the store is filled.";
            figure("supplies_level", "gauge", help, &rows(|level| level.level));
            let help = "How much of what is being made for the store is done; 0 if nothing is.";
            figure("filling_progress", "gauge", help, &one(self.gauges.filling().unwrap_or_default()));
        }
        if let Ok(Some(end)) = self.config.certificate_expiry() {
            let help = "When this server's certificate ends, in seconds since 1970.";
            figure("certificate_expiry_seconds", "gauge", help, &one(end as f64));
        }
        text
    }
}

/// An open port on which figures can be read, until this is dropped.
pub(crate) struct Port {
    address: SocketAddr,
    ends: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Port {
    /// Opens it.
    ///
    /// # Errors
    /// If the address isn't this machine's own, or can't be had.
    pub(crate) fn open(address: SocketAddr, metrics: Metrics) -> Result<Self, Failure> {
        if !address.ip().is_loopback() {
            let says =
                "--metrics: figures are for this machine alone; give an address such as 127.0.0.1:9100";
            return Err(Failure::usage(says));
        }
        let can_not = |error| Failure::input(format!("cannot listen on {address}: {error}"));
        let socket = TcpListener::bind(address).map_err(can_not)?;
        let address = socket.local_addr().map_err(can_not)?;
        let ends = Arc::new(AtomicBool::new(false));
        let has_ended = ends.clone();
        let thread = std::thread::spawn(move || {
            for caller in socket.incoming() {
                if has_ended.load(Ordering::SeqCst) {
                    return;
                }
                match caller {
                    // Who goes away or is too slow gets nothing, and may ask again.
                    Ok(caller) => drop(answer(caller, &metrics)),
                    // Too many files are open, say: not at once again.
                    Err(_) => std::thread::sleep(Duration::from_millis(50)),
                }
            }
        });
        Ok(Self { address, ends, thread: Some(thread) })
    }
}

impl Drop for Port {
    fn drop(&mut self) {
        self.ends.store(true, Ordering::SeqCst);
        // It waits for a call.
        if TcpStream::connect_timeout(&self.address, PATIENCE).is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
    }
}

/// Answers one request.
fn answer(mut caller: TcpStream, metrics: &Metrics) -> std::io::Result<()> {
    let request = read_request(&mut caller)?;
    let (status, body) = match request.split(|&byte| byte == b'\r').next() {
        Some(line) if line.starts_with(b"GET /metrics ") => ("200 OK", metrics.text()),
        _ => ("404 Not Found", "ask for /metrics\n".to_owned()),
    };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    caller.set_write_timeout(Some(PATIENCE))?;
    caller.write_all(head.as_bytes())?;
    caller.write_all(body.as_bytes())
}

/// Reads up to the empty line after a request's head: so much at most, and for so long.
fn read_request(caller: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let deadline = Instant::now() + PATIENCE;
    let (mut request, mut buffer) = (Vec::new(), [0; REQUEST]);
    while !request.windows(4).any(|bytes| bytes == b"\r\n\r\n") {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || request.len() >= REQUEST {
            return Err(ErrorKind::TimedOut.into());
        }
        caller.set_read_timeout(Some(left))?;
        match caller.read(&mut buffer[..REQUEST - request.len()])? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            read => request.extend_from_slice(&buffer[..read]),
        }
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit::advanced::net::setup::{renew, use_renewed};

    /// What a server says to this, before it hangs up.
    fn said(port: &Port, bytes: &[u8]) -> String {
        let mut caller = TcpStream::connect(port.address).unwrap();
        // It may hang up before all is written.
        let _ = caller.write_all(bytes);
        let _ = caller.shutdown(std::net::Shutdown::Write);
        let mut said = Vec::new();
        let _ = caller.read_to_end(&mut said);
        String::from_utf8(said).unwrap()
    }

    #[test]
    fn figures_are_read_by_who_asks_for_them_and_others_do_no_harm() {
        let folder = tempfile::tempdir().unwrap();
        let configs = tacit::setup::init(folder.path(), 3, &[], "127.0.0.1", 30_000).unwrap();
        let config = Config::load(&configs[0]).unwrap();
        let metrics = Metrics::new(&config, Gauges::default());
        assert!(Port::open("192.0.2.1:0".parse().unwrap(), metrics.clone()).is_err());
        let refused = Err(Error::Refused("for some reason".into()));
        metrics.note(&refused);
        let port = Port::open("127.0.0.1:0".parse().unwrap(), metrics).unwrap();
        // Nothing, no request, another path, and more than is read.
        assert_eq!(said(&port, b""), "");
        assert_eq!(said(&port, b"\x16\x03\x01 hello"), "");
        assert!(said(&port, b"GET / HTTP/1.1\r\n\r\n").starts_with("HTTP/1.1 404"));
        assert!(!said(&port, &vec![b'x'; 1 << 20]).contains("200 OK"));
        let text = said(&port, b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
        for line in [
            "HTTP/1.1 200 OK\r",
            "# TYPE tacit_runs_total counter",
            "tacit_runs_total{outcome=\"refused\"} 1",
            "tacit_run_seconds_bucket{le=\"+Inf\"} 0",
            "tacit_links_up 0",
        ] {
            assert!(text.lines().any(|other| other.trim_end() == line.trim_end()), "{line}: {text}");
        }
        let left = |text: &str| {
            let expiry = text.lines().find_map(|line| line.strip_prefix("tacit_certificate_expiry_seconds "));
            let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
            expiry.unwrap().parse::<u64>().unwrap() - now.as_secs()
        };
        assert!((700..740).contains(&(left(&text) / 86_400)), "{text}");
        // Of the certificate that is in use by now, not of the one that the server began with.
        renew(&config, Some(Duration::from_hours(1))).unwrap();
        use_renewed(&config).unwrap();
        let text = said(&port, b"GET /metrics HTTP/1.1\r\n\r\n");
        assert!(left(&text) <= 3600, "{text}");
    }
}
