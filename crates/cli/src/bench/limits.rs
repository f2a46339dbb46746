//! What this machine can do at best, and how much of it a run took.

use super::party::Bench;
use crate::failure::Failure;
use crate::table::{Table, rate, seconds};
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::time::{Duration, Instant};
use tacit::advanced::program::plan::{Plan, Reg};
use tacit_kernel::aes::{Aes128Ctr, xor_streams};
use tacit_kernel::{Buffer, bits};

/// How long each figure is measured for.
const DEFAULT_DURATION: Duration = Duration::from_millis(500);
const QUICK: Duration = Duration::from_millis(20);

/// What fits the first cache.
const BLOCK: usize = 16 << 10;
/// What fits no cache.
const LARGE: usize = 64 << 20;

/// What one core, and all of them, do at best. Speeds are in bytes, or ANDs, per second.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Cores {
    #[serde(rename = "cores")]
    pub(crate) count: usize,
    /// AES-128 in counter mode, in cache, one core.
    pub(crate) aes_bytes_per_second: f64,
    /// Masking and multiplying bits, in cache, one core: what a party does for an AND.
    pub(crate) and_per_second: f64,
    /// Copying from memory to memory, one core; a byte that is copied is read and written.
    pub(crate) copy_bytes_per_second: f64,
    /// The same, by all cores at once.
    pub(crate) copy_bytes_per_second_all: f64,
}

impl Cores {
    pub(crate) fn measure(quick: bool) -> Self {
        let window = if quick { QUICK } else { DEFAULT_DURATION };
        let count = std::thread::available_parallelism().map_or(1, usize::from);
        let copies: Vec<f64> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(move || copy(window))).collect();
            threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
        });
        Self {
            count,
            aes_bytes_per_second: aes(window),
            and_per_second: and(window),
            copy_bytes_per_second: copy(window),
            copy_bytes_per_second_all: copies.into_iter().sum(),
        }
    }
}

/// What loopback carries between three processes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Loopback {
    /// Payload bytes per second, of all three together, each sending to both others at once.
    pub(crate) bytes_per_second: f64,
    /// A message there and back while both sides are awake.
    pub(crate) awake_seconds: f64,
    /// The same to a side that has gone to sleep.
    pub(crate) asleep_seconds: f64,
}

/// All that `bench limits` says; the fields are the keys of the JSON object.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Limits {
    pub(crate) bench: &'static str,
    #[serde(flatten)]
    pub(crate) cores: Cores,
    pub(crate) tcp: Loopback,
    pub(crate) tls: Loopback,
    pub(crate) version: &'static str,
}

impl Limits {
    /// A short table.
    pub(crate) fn to_text(self) -> String {
        let Self { cores, tcp, tls, .. } = self;
        let mut table = Table::new([format!("{} cores", cores.count), String::new()]);
        let mut row = |name: &str, value: String| table.row([format!("  {name}"), value]);
        row("AES-128 in counter mode, one core", rate(cores.aes_bytes_per_second, "B/s"));
        row("masking and ANDing, one core", rate(cores.and_per_second, " ANDs/s"));
        row("copying memory, one core", rate(cores.copy_bytes_per_second, "B/s"));
        row("copying memory, all cores", rate(cores.copy_bytes_per_second_all, "B/s"));
        for (name, loopback) in [("TCP", tcp), ("TLS", tls)] {
            row(&format!("{name}, three processes both ways"), rate(loopback.bytes_per_second, "B/s"));
            row(&format!("{name} round trip, awake"), seconds(loopback.awake_seconds));
            row(&format!("{name} round trip, asleep"), seconds(loopback.asleep_seconds));
        }
        table.to_string()
    }
}

/// How much of one of the machine's limits a run took: 1 is all that there is.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Share {
    limit: &'static str,
    #[serde(rename = "share")]
    taken: f64,
    /// Whether this limit is the nearest.
    binds: bool,
}

impl Share {
    pub(crate) fn name(&self) -> String {
        format!("share of {}", self.limit)
    }

    pub(crate) fn to_text(self) -> String {
        format!("{:.0} %{}", self.taken * 100.0, if self.binds { ", the nearest limit" } else { "" })
    }
}

/// What a run of `elapsed` seconds took of each limit.
///
/// A lower bound of the work: two streams of AES for every byte that is sent; every operand read and every result
/// written once, in both components.
pub(crate) fn shares(
    bench: &Bench,
    elapsed: f64,
    cores: &Cores,
    loopback: Option<&Loopback>,
) -> Result<Vec<Share>, Failure> {
    let parties = bench.spec.parties.len();
    let busy = cores.count.min(parties * bench.lanes.len()) as f64;
    let sent = bench.timed_bytes()? as f64;
    let touched: usize =
        bench.programs().map(|(program, times)| touched_bytes(program.plan()) * times as usize).sum();
    let touched = (parties * touched) as f64;
    let mut shares = vec![
        ("AES", 2.0 * sent / (cores.aes_bytes_per_second * busy)),
        ("memory", touched / (2.0 * cores.copy_bytes_per_second_all)),
    ];
    if let Some(loopback) = loopback {
        shares.push(("loopback", sent / loopback.bytes_per_second));
    }
    let most = shares.iter().map(|(_, needed)| *needed).fold(0.0, f64::max);
    Ok(shares
        .into_iter()
        .map(|(limit, needed)| Share { limit, taken: needed / elapsed, binds: needed >= most })
        .collect())
}

/// Bytes of registers that a party's operations read and write, in both components.
fn touched_bytes(plan: &Plan) -> usize {
    let bytes = |reg: Reg| {
        let register = plan.register(reg);
        register.len() * register.domain.bits() as usize / 8
    };
    let operations = plan.all_ops().flat_map(|op| [op.kind.reads(), op.kind.writes()].concat());
    let steps = plan.visits().flat_map(|visit| &visit.level.local);
    let steps = steps.flat_map(|step| step.reads().into_iter().chain([step.writes()]));
    2 * operations.chain(steps).map(bytes).sum::<usize>()
}

fn aes(window: Duration) -> f64 {
    let cipher = Aes128Ctr::new(&[1; 16]);
    let mut out = vec![0; BLOCK];
    BLOCK as f64 * per_second(window, || cipher.fill(1, 0, black_box(&mut out)))
}

fn and(window: Duration) -> f64 {
    let [a, b] = [[1; 16], [2; 16]].map(|key| Aes128Ctr::new(&key));
    let mut operands = [0, 1, 2, 3].map(|nonce| {
        let mut operand = vec![0_u64; BLOCK / 8];
        a.fill(nonce, 0, bytemuck::cast_slice_mut(&mut operand));
        operand
    });
    let mut out = vec![0_u64; BLOCK / 8];
    let [x, x_prev, y, y_prev] = &mut operands;
    8.0 * BLOCK as f64
        * per_second(window, || {
            xor_streams(&a, &b, 5, 0, bytemuck::cast_slice_mut(black_box(&mut out)));
            bits::cross(x, x_prev, y, y_prev, &mut out);
        })
}

fn copy(window: Duration) -> f64 {
    let cipher = Aes128Ctr::new(&[1; 16]);
    let (mut from, mut to) = (Buffer::new(LARGE), Buffer::new(LARGE));
    cipher.fill(1, 0, from.bytes_mut());
    cipher.fill(2, 0, to.bytes_mut());
    LARGE as f64
        * per_second(window, || black_box(&mut to).bytes_mut().copy_from_slice(black_box(&from).bytes()))
}

/// How often a second something can be done.
fn per_second(window: Duration, mut work: impl FnMut()) -> f64 {
    work();
    let start = Instant::now();
    let mut times = 0_u64;
    while start.elapsed() < window {
        work();
        times += 1;
    }
    times as f64 / start.elapsed().as_secs_f64()
}
