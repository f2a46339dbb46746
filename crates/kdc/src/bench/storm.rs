//! The paper's flow as clients see it: three processes, whose links are TLS over TCP on loopback, and logins that come one after
//! another and go together every so often. What is measured is in the measuring process: from when a login comes until all servers
//! have replied, of whom two say the same.

use super::paper::{BLOCKS, keeper, logins};
use super::streams::{BLOCK, Clear, NONCE, nonce, nonces_value, pattern, sum, value};
use super::{Running, SERVERS, refused};
use crate::programs::{given, to_bits, to_bytes};
use crate::server::Failure;
use crate::wire::{self, Kind};
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};
use tacit::setup::{self, Config};
use tacit::{Asker, Compiled, Fill, Holdings, Served, Server, Serving, State, Wanted};

/// Logins that programs are for: the least number that a batch fits into.
const TOGETHER: [usize; 7] = [1, 16, 64, 256, 512, 1024, 2048];
/// Bytes of a login's nonces, and of its texts.
const NONCES: usize = BLOCKS.len() * NONCE;
const TEXTS: usize = BLOCK * (BLOCKS[0] + BLOCKS[1] + BLOCKS[2]);
/// How long a server waits for the others.
const WITHIN: Duration = Duration::from_mins(1);
/// Keys of the client and of krbtgt.
const KEYS: [[u8; BLOCK]; 2] = [[3; BLOCK], [5; BLOCK]];

/// What is measured.
#[derive(Clone, Debug)]
pub struct Storm {
    /// The protocol.
    pub protocol: String,
    /// Logins in all.
    pub logins: usize,
    /// Logins that come in a second.
    pub per_second: usize,
    /// How often batches begin; if never, a login goes at once if none is under way.
    pub every: Duration,
    /// The first of three ports.
    pub port: u16,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Waited {
    /// From the first login that came to the last reply, in seconds.
    pub seconds: f64,
    /// How long each batch's run took, in ascending order.
    pub runs: Vec<f64>,
    /// How long each login waited for its reply, in ascending order.
    pub logins: Vec<f64>,
}

/// A batch that was answered: logins from one on, what they have come to, and how long the slowest server's run took.
struct Answered {
    first: usize,
    replies: Vec<Vec<u8>>,
    run: f64,
}

impl Storm {
    /// Measures, in a new folder.
    ///
    /// # Errors
    /// If a server doesn't start, or a reply is wrong.
    pub fn run(&self, folder: &Path) -> Result<Waited, Failure> {
        setup::init(folder, SERVERS.len(), &[], "127.0.0.1", self.port).map_err(tacit::Error::Setup)?;
        let mut servers = Vec::new();
        for part in SERVERS {
            let mut command = Command::new(std::env::current_exe()?);
            command.arg("paper-server").arg(folder.join(part)).args(["--protocol", &self.protocol]);
            command.args(["--most", &self.most().to_string()]);
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let pipes = child.stdin.take().zip(child.stdout.take());
            let (to, from) = pipes.ok_or_else(|| refused("a server has no pipes"))?;
            servers.push((Running(child), to, told_by(from)));
        }
        for (_, _, told) in &servers {
            told.recv().map_err(|_| refused("a server has ended"))?;
        }
        let gap = 1.0 / self.per_second.max(1) as f64;
        let (start, mut first, mut answered) = (Instant::now(), 0, Vec::new());
        let mut waited = Vec::with_capacity(self.logins);
        for tick in 1.. {
            // Login `n` comes `n` gaps after the start.
            let due = if self.every.is_zero() {
                Duration::from_secs_f64(first as f64 * gap)
            } else {
                self.every * tick
            };
            thread::sleep(due.saturating_sub(start.elapsed()));
            let have_come = (start.elapsed().as_secs_f64() / gap) as usize + 1;
            let last = have_come.min(self.logins).min(first + self.most());
            if last > first {
                answered.push(self.batch(first..last, &mut servers)?);
                let now = start.elapsed().as_secs_f64();
                waited.extend((first..last).map(|login| now - login as f64 * gap));
                first = last;
            }
            if first == self.logins {
                break;
            }
        }
        let seconds = start.elapsed().as_secs_f64();
        for batch in &answered {
            batch.verify()?;
        }
        let mut runs: Vec<f64> = answered.iter().map(|batch| batch.run).collect();
        runs.sort_by(f64::total_cmp);
        waited.sort_by(f64::total_cmp);
        Ok(Waited { seconds, runs, logins: waited })
    }

    /// Logins of a batch at most.
    fn most(&self) -> usize {
        self.logins.min(TOGETHER[TOGETHER.len() - 1])
    }

    /// Has all servers answer a batch; the slowest of them says the same as another one.
    fn batch(
        &self,
        logins: Range<usize>,
        servers: &mut [(Running, ChildStdin, Receiver<Vec<u8>>)],
    ) -> Result<Answered, Failure> {
        let (first, count) = (logins.start, logins.len());
        let mut sent = (first as u64).to_le_bytes().to_vec();
        for login in logins {
            (0..BLOCKS.len()).for_each(|message| sent.extend(nonce(0, (login, self.logins), message)));
            sent.extend(texts(login).concat());
        }
        for (_, to, _) in servers.iter_mut() {
            wire::write(to, Kind::Batch, &sent)?;
            to.flush()?;
        }
        let (mut run, mut told) = (0.0_f64, Vec::new());
        for (_, _, from) in servers {
            let bytes = from.recv().map_err(|_| refused("a server has ended"))?;
            let (took, replies) =
                bytes.split_first_chunk().ok_or_else(|| refused("a server said nothing"))?;
            run = run.max(f64::from_le_bytes(*took));
            told.push(replies.to_vec());
        }
        let alike = told.pop().filter(|last| told.contains(last));
        let replies = alike.ok_or_else(|| refused("servers don't say the same"))?;
        let replies: Vec<Vec<u8>> = replies.chunks(TEXTS).map(<[u8]>::to_vec).collect();
        if replies.len() != count {
            return Err(refused("a login has no reply"));
        }
        Ok(Answered { first, replies, run })
    }
}

impl Answered {
    /// Opens each message: ticket and reply have one session key, in their first blocks.
    fn verify(&self) -> Result<(), Failure> {
        let [client, krbtgt] = KEYS.map(Clear::new);
        for (login, reply) in (self.first..).zip(&self.replies) {
            let (mut at, mut sessions) = (0, Vec::new());
            for (message, (text, key)) in texts(login).iter().zip([&client, &krbtgt, &client]).enumerate() {
                let sealed = &reply[at..at + text.len()];
                at += text.len();
                let opened = sum(&key.add_stream(nonce(0, (login, usize::MAX), message), 1, sealed), text);
                let (session, others) = opened.split_at(if message == 0 { 0 } else { BLOCK });
                sessions.push(session.to_vec());
                if others.iter().any(|&byte| byte != 0) {
                    return Err(refused(format!("login {login} differs from the clear one")));
                }
            }
            if sessions[1] != sessions[2] {
                return Err(refused(format!("login {login} has two session keys")));
            }
        }
        Ok(())
    }
}

/// What a server says, once it serves and then of each batch.
fn told_by(mut from: ChildStdout) -> Receiver<Vec<u8>> {
    let (sender, told) = channel();
    thread::spawn(move || {
        while let Ok((_, bytes)) = wire::read(&mut from) {
            if sender.send(bytes).is_err() {
                return;
            }
        }
    });
    told
}

/// Texts of a login's messages.
fn texts(login: usize) -> [Vec<u8>; 3] {
    std::array::from_fn(|at| pattern(3 * login + at, 0, BLOCK * BLOCKS[at]))
}

/// One of the processes: it keeps its shares of the keys, and answers batches that come by standard input, of so many logins at
/// most.
///
/// # Errors
/// If its folder isn't as it should be, or a run fails.
pub fn serve(folder: &Path, protocol: &str, most: usize) -> Result<(), Failure> {
    let config = Config::load(&folder.join("parties.toml")).map_err(tacit::Error::Setup)?;
    let parties: Vec<String> = config.parties().iter().map(|party| party.name.clone()).collect();
    let holdings = Holdings { store: None, state: Some((State::new(), Fill::new())) };
    let serving = Serving { holdings, ..Serving::new(protocol, 1) };
    let mut server = Server::open(&config, Vec::new(), serving)?;
    let keeper = keeper()?;
    server.expect(&keeper)?;
    let mut programs = Vec::new();
    let smaller = TOGETHER.iter().filter(|count| **count < most).count();
    for count in TOGETHER.into_iter().take(smaller + 1) {
        let compiled = logins(&parties, count)?;
        server.expect(&compiled)?;
        programs.push((count, compiled));
    }
    let (me, asker) = (config.me(), server.asker());
    thread::spawn(move || {
        let keep = |(name, key): (&str, [u8; BLOCK])| {
            let (inputs, fill) = (vec![(me == 0).then(|| to_bits(&key))], Fill::new().keeping("key", name));
            let (compiled, tag) = (keeper.clone(), format!("keep {name}"));
            asker.run(Wanted { compiled, tag, inputs, fill, within: WITHIN })
        };
        let answered = ["client", "krbtgt"].into_iter().zip(KEYS).try_for_each(|key| keep(key).map(drop));
        let party = Party { me, asker, programs };
        if let Err(error) = answered.map_err(Failure::from).and_then(|()| party.answer_all()) {
            eprintln!("error: {error}");
        }
        std::process::exit(1);
    });
    server.serve(&mut |_: Served<'_>| Ok::<_, Failure>(()))
}

/// What one of the processes runs logins with.
struct Party {
    me: usize,
    asker: Asker,
    /// Each for so many logins, in ascending order.
    programs: Vec<(usize, Arc<Compiled>)>,
}

impl Party {
    /// Answers batches until no more come. Each program is run once before that, as by a KDC that has been up for a while.
    fn answer_all(&self) -> Result<(), Failure> {
        let (mut from, mut to) = (io::stdin().lock(), io::stdout().lock());
        let mut say = |bytes: &[u8]| wire::write(&mut to, Kind::Batch, bytes).and_then(|()| to.flush());
        for (count, _) in &self.programs {
            // Nonces that no login has.
            self.streams(format!("first {count}"), &vec![vec![0xff; NONCES]; *count])?;
        }
        say(&[])?;
        loop {
            let (_, sent) = wire::read(&mut from)?;
            let (number, sent) = sent.split_first_chunk().ok_or_else(|| refused("a batch has no number"))?;
            let logins = sent.chunks_exact(NONCES + TEXTS).map(|login| login.split_at(NONCES));
            let (nonces, texts): (Vec<Vec<u8>>, Vec<&[u8]>) =
                logins.map(|(nonces, texts)| (nonces.to_vec(), texts)).unzip();
            let start = Instant::now();
            let streams = self.streams(format!("batch {}", u64::from_le_bytes(*number)), &nonces)?;
            let mut told = start.elapsed().as_secs_f64().to_le_bytes().to_vec();
            streams.iter().zip(texts).for_each(|(stream, texts)| told.extend(sum(stream, texts)));
            say(&told)?;
        }
    }

    /// Key streams of logins with these nonces, session keys added.
    fn streams(&self, tag: String, nonces: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, Failure> {
        let program = self.programs.iter().find(|(count, _)| nonces.len() <= *count);
        let (count, compiled) = program.ok_or_else(|| refused("too many logins"))?;
        let last = nonces.last().ok_or_else(|| refused("a batch without logins"))?;
        // There is room for more: the last one comes again, and nobody looks at what comes of that.
        let padded: Vec<Vec<u8>> =
            nonces.iter().chain(std::iter::repeat(last)).take(*count).cloned().collect();
        let mut drawn = vec![0; count * BLOCK];
        getrandom::fill(&mut drawn).map_err(refused)?;
        let drawn = value(&drawn.chunks(BLOCK).map(<[u8]>::to_vec).collect::<Vec<_>>());
        let inputs = given(self.me, 0, vec![drawn], Some(nonces_value(&padded)));
        let (compiled, fill) = (compiled.clone(), Fill::new());
        let run = self.asker.run(Wanted { compiled, tag, inputs, fill, within: WITHIN })?;
        let outputs: Vec<Vec<Vec<u8>>> =
            run.outputs.iter().flatten().map(|output| to_bytes(output, *count)).collect();
        let of = |login: usize| outputs.iter().flat_map(|part| &part[login]).copied().collect();
        Ok((0..nonces.len()).map(of).collect())
    }
}
