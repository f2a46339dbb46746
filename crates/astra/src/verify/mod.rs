//! Cut and choose: the check that products of masks were made right, before any of them is used (figures 7, 8 and 16).
//!
//! **What is checked.** For every product `z = x y` the offline phase leaves a sharing of `a`, `b` and `c`. It
//! satisfies `c = a b` if and only if `P_0` shared `gamma = (x_1 + x_2)(y_1 + y_2)` rightly and `P_1` and `P_2` tell
//! `P_0` the right `chi`.
//!
//! The components of this crate are `v_0 + v_1 + v_2`, of which `P_0` holds `v_2` and `v_1`, `P_1` `v_1` and `v_0`,
//! `P_2` `v_0` and `v_2`. In these `a = (delta_x, x_1, x_2)`, `b = (delta_y, y_1, y_2)`,
//! `c_0 = delta_z + delta_x delta_y` and `c_i = delta_x y_i + delta_y x_i + gamma_i - delta_(z,i)`, where
//! `delta_(z,1) + delta_(z,2) = delta_z`. The sum of `c_0`, `c_1` and `c_2` is
//! `(delta_x + x_1 + x_2)(delta_y + y_1 + y_2)`. `P_0` lacks `c_1` and `c_2` until it is told them; their sum is
//! `-chi`.
//!
//! **How**, for all batches of all domains at once:
//!
//! 1. All make random triples `f = d e` as products are made semi-honestly. Each may be wrong by an error that the
//!    party that made it knows.
//! 2. `P_1` and `P_2` tell `P_0` their `c_1` and `c_2`. Now all that is checked is fixed.
//! 3. All toss a coin, which puts the triples of each batch in a random order (`permutation`). Nobody could know the
//!    order before, as no two parties' key gives it.
//! 4. Each product is checked against the triples of its bucket. The triples of the cut are checked against the product
//!    `0 0 = 0`, which shows them in the clear (`parameters` says how many). For a triple, `rho = a - d` and
//!    `sigma = b - e` are opened: everybody receives the component that it lacks from one of its two holders and a
//!    digest of it from the other, under a key that the first doesn't know.
//! 5. A party goes on if what it was sent is right: `tau = c - f - sigma d - rho e - sigma rho` must be 0. Every two
//!    parties compare digests, under their key, of a component of all `tau` that one of them has and the other computes
//!    from its two as if the sum were 0. Of any three parties two are honest, and these two notice.
//! 6. All say that they accept, and what. Only then does a check return.
//!
//! **Why.** With `f = d e + E` and `c = a b + D`, `tau = D - E`: in any ring, whatever divides zero in it, a check
//! passes only if the errors are the same. So a wrong product passes only if all triples in its bucket have the same
//! error as it, and a wrong triple never passes in the cut. The paper checks the first triple of a bucket against the
//! others and the product against the first; checking the product against each costs the same and has the same result.
//!
//! `rho` and `sigma` say nothing: `d` and `e` are drawn for them, and nobody knows all of a triple. A party that made
//! an error knows `tau` beforehand, as what goes into it was found right before.
//!
//! | module | has |
//! | --- | --- |
//! | `parameters` | how many triples, the error, and what multiplies it |
//! | `permutation` | the random order |
//! | `elements` | arithmetic on elements and on bits |
//! | `batch` | the steps of a batch |
//! | `turn` | who sends whom what, and digests |
//! | `cost` | what a check sends |

mod batch;
mod cost;
mod elements;
mod parameters;
#[cfg(feature = "planted")]
pub(crate) mod permutation;
#[cfg(not(feature = "planted"))]
mod permutation;
#[cfg(test)]
mod tests;
mod turn;

use crate::planted::{Mistake, planted};
use crate::seats::Seats;
use crate::step;
use batch::{Batch, Memory, Step};
pub(crate) use cost::{cost, instances};
use elements::{Bits, ElementKind, Elements};
use parameters::MANY;
pub(crate) use parameters::Rules;
use permutation::COIN_BYTES;
use std::ops::Range;
use tacit_engine::{Error, bank, with_element};
use tacit_kernel::{Buffer, Element, bits, ring};
use tacit_program::plan::Domain;
use tacit_session::Session;
use turn::{Digests, Turn, address};

/// Products that were prepared and are not yet checked: one for a session, since its batches are numbered through it.
pub(crate) struct Unchecked {
    me: usize,
    seats: Seats,
    rules: Rules,
    logs: Vec<Log>,
    /// Which products each call noted.
    notes: Vec<Note>,
    /// Batches that were ever checked.
    batches: u32,
    /// Memory of batches that were checked.
    spare: Vec<Memory>,
}

/// Pieces that a party sends before it waits for the first: their numbers are in the cache still.
const PIPELINE_DEPTH: usize = 2;

/// Products of one domain.
struct Log {
    domain: Domain,
    /// Those that aren't checked.
    count: usize,
    /// First and second components of `a`, `b` and `c` of these.
    planes: [Buffer; 6],
    /// How many were checked since the last [`Unchecked::check`].
    checked: usize,
    /// What `P_0` was told of these.
    told: Buffer,
}

/// What one call noted: its place among all products since the last [`Unchecked::check`].
struct Note {
    log: usize,
    range: Range<usize>,
}

impl Unchecked {
    /// None yet; `me` is the party's role.
    pub(crate) fn new(me: usize, seats: Seats, rules: Rules) -> Self {
        Self { me, seats, rules, logs: Vec::new(), notes: Vec::new(), batches: 0, spare: Vec::new() }
    }

    /// Notes `count` products, in the same order at all parties: this party's two components of `a` and `b`, first and
    /// second, and of `c`, which `P_0` doesn't have. Bits are packed; further ones of the last word are ignored.
    ///
    /// # Panics
    /// If there are fewer, or `c` is there at `P_0` or missing elsewhere.
    pub(crate) fn note<E: Element>(
        &mut self,
        domain: Domain,
        count: usize,
        a: [&[E]; 2],
        b: [&[E]; 2],
        c: Option<[&[E]; 2]>,
    ) {
        assert_eq!(c.is_some(), self.me > 0, "P_1 and P_2 have their components of results");
        let place = self.log(domain);
        let log = &mut self.logs[place];
        let first = log.count;
        log.count += count;
        let values = a.into_iter().chain(b).chain(c.into_iter().flatten()).map(Some).chain([None; 2]);
        for (plane, values) in log.planes.iter_mut().zip(values) {
            grow(plane, bytes_of(domain, log.count));
            if let Some(values) = values {
                copy(domain, bytemuck::cast_slice(values), 0, plane.bytes_mut(), first, count);
            }
        }
        self.notes.push(Note { log: place, range: log.checked + first..log.checked + log.count });
    }

    /// Takes the memory that it takes to check so many products of each domain: a fresh page in the middle of a run
    /// costs more than what is computed on it.
    pub(crate) fn reserve(&mut self, counts: &[(Domain, u64)]) {
        let (me, rules, batch) = (self.me, self.rules, self.rules.batch());
        for &(domain, count) in counts {
            let at_once = (count as usize).min(batch);
            let place = self.log(domain);
            for plane in &mut self.logs[place].planes {
                grow(plane, bytes_of(domain, at_once));
                bank::touch(plane.bytes_mut());
            }
            if me == 0 {
                // As many as pile up before what was made leaves.
                let told = &mut self.logs[place].told;
                grow(told, bytes_of(domain, (count as usize).min((MANY + 1) * batch)));
                bank::touch(told.bytes_mut());
            }
            self.spare.push(match domain {
                Domain::Bits => Memory::of::<Bits>(at_once, rules, me),
                domain => with_element!(domain, E => Memory::of::<Elements<E>>(at_once, rules, me)),
            });
        }
    }

    /// Products that were noted since the last [`Unchecked::check`], checked or not, by domain.
    pub(crate) fn noted(&self) -> impl Iterator<Item = (Domain, u64)> {
        let counts = self.logs.iter().map(|log| (log.domain, (log.checked + log.count) as u64));
        counts.filter(|(_, count)| *count > 0)
    }

    /// Products that are not yet checked.
    pub(crate) fn len(&self) -> usize {
        self.logs.iter().map(|log| log.count).sum()
    }

    /// Whether so many were checked that what was made should leave.
    pub(crate) fn is_full(&self) -> bool {
        self.logs.iter().any(|log| log.checked >= MANY * self.rules.batch())
    }

    /// Checks whole batches, as soon as there are any: one at a time, in the same memory. All parties call it at the same
    /// points, when all that was sent for these products is received.
    ///
    /// # Errors
    /// If anything was wrong: the session is closed for good.
    pub(crate) fn check_full(&mut self, session: &mut Session) -> Result<(), Error> {
        while let Some(log) = self.logs.iter().position(|log| log.count >= self.rules.batch()) {
            self.check_some(session, log..log + 1)?;
        }
        Ok(())
    }

    /// Checks all products that were noted. Else as [`Unchecked::check_full`].
    ///
    /// Gives what `P_0` is told: `c_1 + c_2 = -chi` of every product, for each call that noted some in its order; elements
    /// as they stand in memory, bits in words whose last one ends with zeros. The others are told nothing.
    ///
    /// # Errors
    /// If anything was wrong: the session is closed for good.
    pub(crate) fn check<'a>(
        &'a mut self,
        session: &mut Session,
    ) -> Result<impl Iterator<Item = Buffer> + use<'a>, Error> {
        self.check_full(session)?;
        self.check_some(session, 0..self.logs.len())?;
        Ok(self.finish())
    }

    /// Checks a batch of each of some domains, whole or all that is left.
    fn check_some(&mut self, session: &mut Session, logs: Range<usize>) -> Result<(), Error> {
        let counts: Vec<(Domain, u64)> = self.logs[logs.clone()]
            .iter()
            .map(|log| (log.domain, log.count.min(self.rules.batch()) as u64))
            .collect();
        let first = self.batches;
        let mut turn = Turn { session, seats: self.seats, me: self.me };
        let mut steps = self.begin(logs.clone());
        if steps.is_empty() {
            return Ok(());
        }
        let mut digests = Digests::new(&mut turn, first);
        let early = if planted(Mistake::CoinBeforeTriples) { Some(toss(&mut turn)?) } else { None };
        let pieces = pieces(&steps, |step| step.made());
        for at in 0..pieces.len() + PIPELINE_DEPTH {
            if let Some(&(step, index)) = pieces.get(at) {
                steps[step].begin_making(&mut turn, index)?;
            }
            if let Some(&(step, index)) = at.checked_sub(PIPELINE_DEPTH).and_then(|at| pieces.get(at)) {
                steps[step].finish_making(&mut turn, index)?;
            }
        }
        let coin = match early {
            Some(coin) => coin,
            None => toss(&mut turn)?,
        };
        for step in &mut steps {
            step.order(&coin);
        }
        let pieces = self::pieces(&steps, |step| step.opened());
        for at in 0..pieces.len() + PIPELINE_DEPTH {
            if let Some(&(step, index)) = pieces.get(at) {
                steps[step].begin_opening(&mut turn, index, &mut digests)?;
            } else if at == pieces.len() {
                digests.give(&mut turn, first)?;
            }
            if let Some(&(step, index)) = at.checked_sub(PIPELINE_DEPTH).and_then(|at| pieces.get(at)) {
                steps[step].finish_opening(&mut turn, index, &mut digests)?;
            }
        }
        if planted(Mistake::ZerosBeforeDifferences) {
            digests.compare_zero(&mut turn, first)?;
        }
        digests.compare_opened(&mut turn, first)?;
        // Only now: of a wrong `rho` or `sigma` what has to be zero tells more than its error.
        if !planted(Mistake::ZerosBeforeDifferences) {
            digests.compare_zero(&mut turn, first)?;
        }
        let batches = steps.len() as u32;
        let memory: Vec<Memory> = steps.into_iter().map(Step::into_memory).collect();
        turn.session.accept_at(address(step::CHECK_ACCEPT, first, 0), &claim(first, batches, &counts))?;
        self.spare.extend(memory);
        self.batches += batches;
        let (me, batch) = (self.me, self.rules.batch());
        self.logs[logs].iter_mut().for_each(|log| log.leave(me, batch));
        Ok(())
    }

    /// A domain's place among the logs.
    fn log(&mut self, domain: Domain) -> usize {
        self.logs.iter().position(|log| log.domain == domain).unwrap_or_else(|| {
            let (planes, told) = Default::default();
            self.logs.push(Log { domain, count: 0, planes, checked: 0, told });
            self.logs.len() - 1
        })
    }

    /// The batches, each with its number.
    fn begin(&mut self, logs: Range<usize>) -> Vec<Box<dyn Step + '_>> {
        let (me, rules, spare) = (self.me, self.rules, &mut self.spare);
        let mut steps = Vec::new();
        for (log, number) in self.logs[logs].iter_mut().filter(|log| log.count > 0).zip(self.batches..) {
            let (count, memory) = (log.count.min(self.rules.batch()), spare.pop().unwrap_or_default());
            let numbers = (number, count, log.domain.bits() as u32);
            steps.push(match log.domain {
                Domain::Bits => log.batch::<Bits>(numbers, (me, rules), memory),
                domain => with_element!(domain, E => log.batch::<Elements<E>>(numbers, (me, rules), memory)),
            });
        }
        steps
    }

    /// Forgets all that was noted, and gives `P_0` what it was told.
    fn finish(&mut self) -> impl Iterator<Item = Buffer> {
        let Self { me, logs, notes, .. } = self;
        for log in &mut *logs {
            log.checked = 0;
        }
        notes.drain(..).filter(|_| *me == 0).map(|note| logs[note.log].received(note.range))
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.planes.iter_mut().chain([&mut self.told]).for_each(Buffer::wipe);
    }
}

impl Log {
    /// A batch of the first products: its number, how many, and their bits.
    fn batch<K: ElementKind>(
        &mut self,
        numbers: (u32, usize, u32),
        whose: (usize, Rules),
        memory: Memory,
    ) -> Box<dyn Step + '_> {
        let words = K::words(numbers.1);
        let [a, a_s, b, b_s, c, c_s] = &mut self.planes;
        let [a, a_s, b, b_s] = [a, a_s, b, b_s].map(|plane| &plane.words::<K::Word>()[..words]);
        let c = [c, c_s].map(|plane| &mut plane.words_mut::<K::Word>()[..words]);
        Box::new(Batch::<K>::new(numbers, whose, [a, a_s], [b, b_s], c, memory))
    }

    /// Lets go of a batch that was checked: notes what `P_0` was told, and moves the products that are left to the front.
    fn leave(&mut self, me: usize, batch: usize) {
        let count = self.count.min(batch);
        let (domain, left) = (self.domain, self.count - count);
        let to = self.checked;
        self.checked += count;
        self.count = left;
        if me == 0 {
            grow(&mut self.told, bytes_of(domain, self.checked));
            let [.., sum, second] = &mut self.planes;
            match domain {
                Domain::Bits => {
                    let words = ..count.div_ceil(64);
                    bits::xor_assign(&mut sum.words_mut()[words], &second.words()[words]);
                }
                domain => with_element!(domain, E => {
                    ring::add_assign::<E>(&mut sum.words_mut()[..count], &second.words()[..count]);
                }),
            }
            copy(domain, sum.bytes(), 0, self.told.bytes_mut(), to, count);
        }
        // Products are left only behind whole batches, which end with a word.
        let (from, bytes) = (bytes_of(domain, count), bytes_of(domain, left));
        for plane in &mut self.planes {
            if left > 0 {
                plane.bytes_mut().copy_within(from..from + bytes, 0);
            }
            plane.reuse(bytes);
        }
    }

    /// What `P_0` was told of some products.
    fn received(&self, range: Range<usize>) -> Buffer {
        let mut received = Buffer::new(bytes_of(self.domain, range.len()));
        copy(self.domain, self.told.bytes(), range.start, received.bytes_mut(), 0, range.len());
        received
    }
}

/// The pieces of all batches: each as the batch's place and the piece's.
///
/// All parties go through the same pieces of the same batches, and receive what belongs to a piece when they have sent
/// [`PIPELINE_DEPTH`] more. So whoever is furthest behind never waits for long: what it waits for was sent, or is by
/// somebody who waits for nothing of its; and as nobody is more than a few pieces ahead, nobody's queue is ever full.
fn pieces(steps: &[Box<dyn Step + '_>], of: impl Fn(&dyn Step) -> usize) -> Vec<(usize, usize)> {
    let counts = steps.iter().map(|step| of(step.as_ref())).enumerate();
    counts.flat_map(|(at, count)| (0..count).map(move |index| (at, index))).collect()
}

fn toss(turn: &mut Turn) -> Result<[u8; COIN_BYTES], Error> {
    #[cfg(feature = "planted")]
    if planted(Mistake::CoinOfAllLanes) {
        return crate::planted::toss_alike(turn.session);
    }
    let mut coin = [0; COIN_BYTES];
    coin.copy_from_slice(&turn.session.toss(COIN_BYTES)?);
    Ok(coin)
}

/// What is accepted: which batches, and how many products of each domain.
fn claim(first: u32, batches: u32, counts: &[(Domain, u64)]) -> Vec<u8> {
    let numbers = [u64::from(first), u64::from(batches)].into_iter();
    let counts = counts.iter().flat_map(|&(domain, count)| [domain.bits(), count]);
    numbers.chain(counts).flat_map(u64::to_le_bytes).collect()
}

/// Bytes of a plane of so many products.
fn bytes_of(domain: Domain, count: usize) -> usize {
    match domain {
        Domain::Bits => 8 * count.div_ceil(64),
        domain => with_element!(domain, E => count * E::BYTES),
    }
}

/// Copies `count` numbers of a domain, as they stand in memory, from a place to a place.
fn copy(domain: Domain, src: &[u8], from: usize, dst: &mut [u8], to: usize, count: usize) {
    match domain {
        _ if count == 0 => {}
        Domain::Bits => bits::copy(bytemuck::cast_slice(src), from, bytemuck::cast_slice_mut(dst), to, count),
        domain => {
            let [from, to, bytes] = [from, to, count].map(|count| bytes_of(domain, count));
            dst[to..to + bytes].copy_from_slice(&src[from..from + bytes]);
        }
    }
}

/// Makes a buffer as long as this; what it held stays.
fn grow(buffer: &mut Buffer, bytes: usize) {
    if bytes > buffer.capacity() {
        buffer.resize(bytes.max(2 * buffer.capacity()));
    }
    buffer.reuse(bytes);
}
