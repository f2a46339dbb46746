//! A batch of products of one domain, step by step.

use super::elements::ElementKind;
use super::parameters::{Parameters, Rules};
use super::permutation::{COIN_BYTES, Piles};
use super::turn::{
    Digests, Drawn, FIRST, PLANES, RESULT, SECOND, Turn, UNDRAWN, VALUES_FROM, VALUES_TO, address, component,
};
use crate::planted::{Mistake, planted};
use crate::step;
use std::collections::VecDeque;
use std::ops::Range;
use tacit_engine::{Error, bank};
use tacit_kernel::sacrifice::{self, Lanes, Sides};
use tacit_kernel::{Buffer, Element, pack};

/// Bytes of a message, about.
const MESSAGE_BYTES: usize = 64 << 10;

/// The steps of a batch's check. Each goes piece by piece, in two halves: one that sends, and one that receives what the
/// others sent in the first half.
pub(super) trait Step {
    /// Pieces in which triples are made and components of results are told.
    fn made(&self) -> usize;
    /// All send their parts of random triples; `P_1` and `P_2` send `P_0` their components of results.
    fn begin_making(&mut self, turn: &mut Turn, index: usize) -> Result<(), Error>;
    /// Receives what the others began.
    fn finish_making(&mut self, turn: &mut Turn, index: usize) -> Result<(), Error>;
    /// Puts the triples in the coin's order.
    fn order(&mut self, coin: &[u8; COIN_BYTES]);
    /// Pieces in which differences are opened.
    fn opened(&self) -> usize;
    /// Sends and digests differences of products and triples.
    fn begin_opening(&mut self, turn: &mut Turn, index: usize, digests: &mut Digests) -> Result<(), Error>;
    /// Receives the others' and digests them, and what has to be zero.
    fn finish_opening(&mut self, turn: &mut Turn, index: usize, digests: &mut Digests) -> Result<(), Error>;
    /// The batch's memory, for another one.
    fn into_memory(self: Box<Self>) -> Memory;
}

/// Memory of a batch: what is as long as the batch is.
#[derive(Default)]
pub(super) struct Memory {
    /// Records of triples, first in the order of their places and then in the coin's.
    triples: Buffer,
    /// The triples' places in the coin's order.
    places: Buffer,
    piles: Piles,
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.triples.wipe();
    }
}

impl Memory {
    /// For a role's batch of so many products.
    pub(super) fn of<K: ElementKind>(count: usize, rules: Rules, me: usize) -> Self {
        let triples = rules.parameters(count).triples(count);
        let records = K::records(triples, UNDRAWN[me]) * size_of::<K::Record>();
        let mut memory = Self {
            triples: Buffer::new(records),
            places: Buffer::of_words::<u32>(triples),
            piles: Piles::new(triples, records),
        };
        bank::touch(memory.triples.bytes_mut());
        bank::touch(memory.places.bytes_mut());
        memory
    }
}

/// A party's components, first and second, of the same numbers.
pub(super) type Pair<'a, K> = [&'a [<K as ElementKind>::Word]; 2];

/// Products that are checked together.
pub(super) struct Batch<'a, K: ElementKind> {
    /// Its number in the session.
    number: u32,
    /// How many products.
    count: usize,
    /// Bits of a number.
    bits: u32,
    parameters: Parameters,
    a: Pair<'a, K>,
    b: Pair<'a, K>,
    /// `P_0` receives them.
    c: [&'a mut [K::Word]; 2],
    memory: Memory,
    /// The pieces of triples, of products, and of what is opened.
    triples: Vec<Piece>,
    products: Vec<Piece>,
    openings: Vec<Piece>,
    /// Triples whose products are on their way: six planes of each piece and this party's part.
    making: VecDeque<Vec<K::Word>>,
    /// Differences that are on their way.
    opening: VecDeque<Opening<K>>,
    /// Memory of those that have arrived.
    made: Vec<Vec<K::Word>>,
    arrived: Vec<Opening<K>>,
    scratch: Scratch<K>,
}

/// Numbers of one piece that are needed for a moment.
struct Scratch<K: ElementKind> {
    plane: Vec<K::Word>,
    packed: [Vec<u8>; 2],
}

/// Both components of some triples.
struct Triples<'a, L> {
    d: [&'a [L]; 2],
    e: [&'a [L]; 2],
    f: [&'a [L]; 2],
}

impl<'a, L: Lanes> Triples<'a, L> {
    /// From their planes.
    fn of<K: ElementKind<Lanes = L>>(planes: &'a [K::Word]) -> Self {
        let words = planes.len() / PLANES;
        let plane = |number: usize| K::lanes(&planes[number * words..][..words]);
        Self { d: [plane(0), plane(2)], e: [plane(1), plane(3)], f: [plane(RESULT), plane(RESULT + 1)] }
    }
}

/// Numbers of a batch that travel together.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) range: Range<usize>,
    /// How many planes of them.
    pub(super) planes: usize,
    /// Whether these are triples that are checked in the clear.
    cut: bool,
}

impl Piece {
    pub(super) fn bytes(&self, bits: u32) -> usize {
        self.planes * pack::packed_len(self.range.len(), bits)
    }

    /// Its words of the products' planes.
    fn words<K: ElementKind>(&self) -> Range<usize> {
        self.range.start / K::LANES..K::words(self.range.end)
    }

    /// A component of a factor or of the result of some of its products: `zeros`, if triples are checked in the clear.
    fn part<'a, K: ElementKind>(
        &self,
        of: &'a [K::Word],
        chunk: &Chunk,
        zeros: &'a [K::Word],
    ) -> &'a [K::Lanes] {
        let first = self.words::<K>().start;
        let part = if self.cut {
            &zeros[..chunk.words.len()]
        } else {
            &of[first + chunk.words.start..first + chunk.words.end]
        };
        K::lanes(part)
    }

    /// Its numbers in chunks.
    fn chunks<K: ElementKind>(&self, bits: u32) -> impl Iterator<Item = Chunk> + use<K> {
        let count = self.range.len();
        (0..K::words(count)).step_by(CHUNK).map(move |first| {
            let words = first..K::words(count).min(first + CHUNK);
            let numbers = words.start * K::LANES..count.min(words.end * K::LANES);
            let packed = pack::packed_len(numbers.start, bits)..pack::packed_len(numbers.end, bits);
            Chunk { words, numbers, packed }
        })
    }

    /// The pieces of `count` numbers.
    fn all(count: usize, bits: u32, planes: usize, cut: bool) -> impl Iterator<Item = Self> {
        // Whole blocks of streams, at any number of bits.
        let grain = (8 * MESSAGE_BYTES / (bits as usize * planes) / 128 * 128).max(128);
        (0..count.div_ceil(grain)).map(move |piece| {
            let range = piece * grain..count.min((piece + 1) * grain);
            Self { range, planes, cut }
        })
    }

    /// Those of products or triples.
    pub(super) fn of_one(count: usize, bits: u32) -> impl Iterator<Item = Self> {
        Self::all(count, bits, 1, false)
    }

    /// Those of what is opened: two differences for each triple.
    pub(super) fn of_opened(count: usize, bits: u32, parameters: Parameters) -> impl Iterator<Item = Self> {
        let buckets = Self::all(count, bits, 2 * parameters.bucket, false);
        buckets.chain(Self::all(parameters.cut, bits, 2, true))
    }
}

/// Words of a plane that are worked on at a time: all that is computed of them stays in the first cache.
const CHUNK: usize = 256;

/// Numbers of a piece that are worked on at a time.
struct Chunk {
    /// Their words in a plane.
    words: Range<usize>,
    numbers: Range<usize>,
    /// Their bytes in a packed plane.
    packed: Range<usize>,
}

/// Differences that are on their way.
struct Opening<K: ElementKind> {
    /// Of each row of triples, chunk by chunk, the six planes.
    triples: Vec<K::Word>,
    /// Of each difference the sum of the components that this party has.
    sums: Vec<K::Word>,
}

impl<K: ElementKind> Opening<K> {
    fn new() -> Self {
        Self { triples: Vec::new(), sums: Vec::new() }
    }
}

impl<'a, K: ElementKind> Batch<'a, K> {
    /// The batch of this number: `count` products of numbers of `bits` bits.
    pub(super) fn new(
        (number, count, bits): (u32, usize, u32),
        (me, rules): (usize, Rules),
        a: Pair<'a, K>,
        b: Pair<'a, K>,
        c: [&'a mut [K::Word]; 2],
        memory: Memory,
    ) -> Self {
        let parameters = rules.parameters(count);
        let triples = parameters.triples(count);
        let mut batch = Self {
            number,
            count,
            bits,
            parameters,
            a,
            b,
            c,
            memory,
            triples: Piece::of_one(triples, bits).collect(),
            products: Piece::of_one(count, bits).collect(),
            openings: Piece::of_opened(count, bits, parameters).collect(),
            making: VecDeque::new(),
            opening: VecDeque::new(),
            made: Vec::new(),
            arrived: Vec::new(),
            scratch: Scratch { plane: Vec::new(), packed: Default::default() },
        };
        batch.memory.triples.reuse(K::records(triples, UNDRAWN[me]) * size_of::<K::Record>());
        batch
    }
}

impl<K: ElementKind> Step for Batch<'_, K> {
    fn made(&self) -> usize {
        // There are more triples than products.
        self.triples.len()
    }

    /// Draws a piece of triples and sends this party's part of their products (figure 3, as `products` has it).
    fn begin_making(&mut self, turn: &mut Turn, index: usize) -> Result<(), Error> {
        self.give_results(turn, index)?;
        let mut all = self.made.pop().unwrap_or_default();
        let (me, range) = (turn.me, self.triples[index].range.clone());
        let words = K::words(range.len());
        all.resize((PLANES + 1) * words, K::Word::ZERO);
        let (planes, part) = all.split_at_mut(PLANES * words);
        let mut drawn = Drawn { turn, batch: self.number };
        let (factors, results) = planes.split_at_mut(RESULT * words);
        for (which, factors) in factors.chunks_exact_mut(2 * words).enumerate() {
            let (d, e) = factors.split_at_mut(words);
            let (stream, draw) = drawn.factors(which);
            stream.fill_pairs(draw, K::block(range.start, 2), [d, e]);
        }
        for (which, f) in results.chunks_exact_mut(words).enumerate() {
            if let Some((stream, draw)) = drawn.result(which) {
                stream.fill_elements(draw, K::block(range.start, 1), f);
            }
        }
        part.fill(K::Word::ZERO);
        if me < 2 {
            // What hides P_0's part from P_2: P_0 takes it off, and P_1 adds it.
            let hidden = &mut self.scratch.plane;
            hidden.resize(words, K::Word::ZERO);
            let (stream, draw) = drawn.with(1 - me, step::CHECK_SHARE);
            stream.fill_elements(draw, K::block(range.start, 1), hidden);
            if me == 0 { (K::ARITHMETIC.sub)(part, hidden) } else { (K::ARITHMETIC.add)(part, hidden) }
        }
        let plane = |number: usize| &planes[number * words..][..words];
        (K::ARITHMETIC.cross)(plane(0), plane(2), plane(1), plane(3), part);
        if me > 0 {
            (K::ARITHMETIC.sub)(part, plane(RESULT + if me == 1 { FIRST } else { SECOND }));
        }
        if me == 2 {
            let mut theirs = std::mem::take(&mut self.scratch.plane);
            theirs.resize(words, K::Word::ZERO);
            self.take_part(turn, 0, index, &mut theirs)?;
            (K::ARITHMETIC.add)(part, &theirs);
            self.scratch.plane = theirs;
        }
        let piece = &self.triples[index];
        let mut message = turn.session.mesh().filled(piece.bytes(self.bits));
        K::pack(part, range.len(), self.bits, &mut message);
        let to = if me == 2 { 1 } else { 2 };
        turn.send(to, address(step::CHECK_TRIPLES, self.number, index), message)?;
        self.making.push_back(all);
        Ok(())
    }

    /// Receives the other part of a piece's products, and keeps the triples.
    fn finish_making(&mut self, turn: &mut Turn, index: usize) -> Result<(), Error> {
        self.take_results(turn, index)?;
        let mut all = self.making.pop_front().unwrap_or_default();
        let range = self.triples[index].range.clone();
        let words = K::words(range.len());
        let (planes, part) = all.split_at_mut(PLANES * words);
        let undrawn = UNDRAWN[turn.me];
        if let Some(place) = undrawn {
            let f = &mut planes[place * words..][..words];
            self.take_part(turn, 3 - turn.me, index, f)?;
            (K::ARITHMETIC.add)(f, part);
        }
        let records = self.memory.triples.words_mut::<K::Record>();
        if let Some(records) = records.get_mut(range) {
            K::store(planes, undrawn, records);
        }
        self.made.push(all);
        Ok(())
    }

    fn order(&mut self, coin: &[u8; COIN_BYTES]) {
        let triples = self.parameters.triples(self.count);
        let Memory { triples: records, places, piles } = &mut self.memory;
        places.reuse(triples * size_of::<u32>());
        piles.order(coin, self.number, places.words_mut(), records.words_mut::<K::Record>());
    }

    fn opened(&self) -> usize {
        self.openings.len()
    }

    /// Computes `rho = a - d` and `sigma = b - e` of a piece, and sends and digests what others lack of them.
    fn begin_opening(&mut self, turn: &mut Turn, index: usize, digests: &mut Digests) -> Result<(), Error> {
        let mut opening = self.arrived.pop().unwrap_or_else(Opening::new);
        let (piece, bits) = (&self.openings[index], self.bits);
        let count = piece.range.len();
        let (words, bytes) = (K::words(count), pack::packed_len(count, bits));
        let records = self.memory.triples.words::<K::Record>();
        let places = self.memory.places.words::<u32>();
        let mut messages = [FIRST, SECOND].map(|_| turn.session.mesh().filled(piece.bytes(bits)));
        opening.triples.resize(piece.planes / 2 * PLANES * words, K::Word::ZERO);
        opening.sums.resize(piece.planes * words, K::Word::ZERO);
        let zeros = [K::Word::ZERO; CHUNK];
        let mut planes = [[K::Word::ZERO; CHUNK]; 2];
        for (row, triples) in opening.triples.chunks_exact_mut(PLANES * words).enumerate() {
            let first = if piece.cut { self.parameters.bucket } else { row } * self.count;
            let all = first + piece.range.start..first + piece.range.end;
            let (places, records) = (&places[all.clone()], records.get(all).unwrap_or_default());
            for chunk in piece.chunks::<K>(bits) {
                let triples = &mut triples[PLANES * chunk.words.start..PLANES * chunk.words.end];
                let mut drawn = Drawn { turn, batch: self.number };
                let places = &places[chunk.numbers.clone()];
                let records = records.get(chunk.numbers.clone()).unwrap_or_default();
                K::fetch(records, places, &mut drawn, triples);
                let Triples { d, e, .. } = Triples::of::<K>(triples);
                for (number, (factor, triple)) in [(self.a, d), (self.b, e)].into_iter().enumerate() {
                    let place = 2 * row + number;
                    let factor = factor.map(|factor| piece.part::<K>(factor, &chunk, &zeros));
                    let [one, other] = &mut planes;
                    let [one, other] = [one, other].map(|plane| &mut plane[..chunk.words.len()]);
                    let sum = &mut opening.sums[place * words..][chunk.words.clone()];
                    let differences = [K::lanes_mut(one), K::lanes_mut(other)];
                    sacrifice::differences(factor, triple, differences, K::lanes_mut(sum));
                    for (message, difference) in messages.iter_mut().zip([&*one, other]) {
                        let packed = &mut message[place * bytes..][chunk.packed.clone()];
                        K::pack(difference, chunk.numbers.len(), bits, packed);
                    }
                }
            }
        }
        for (_, which, digest) in &mut digests.given {
            if planted(Mistake::DifferencesUndigested) {
                break;
            }
            digest.absorb(&messages[*which]);
        }
        let at = address(step::CHECK_OPENED, self.number, index);
        for (which, message) in messages.into_iter().enumerate() {
            match VALUES_TO[turn.me].iter().find(|(_, sent)| *sent == which) {
                Some(&(to, _)) => turn.send(to, at, message)?,
                None => turn.session.mesh().recycle(message),
            }
        }
        self.opening.push_back(opening);
        Ok(())
    }

    /// Receives what this party lacks of `rho` and `sigma`, and digests it and the components of
    /// `tau = c - f - sigma d - rho e - sigma rho`.
    fn finish_opening(&mut self, turn: &mut Turn, index: usize, digests: &mut Digests) -> Result<(), Error> {
        let mut opening = self.opening.pop_front().unwrap_or_else(Opening::new);
        let (piece, bits) = (&self.openings[index], self.bits);
        let count = piece.range.len();
        let (words, bytes) = (K::words(count), pack::packed_len(count, bits));
        let at = address(step::CHECK_OPENED, self.number, index);
        let message = turn.recv(VALUES_FROM[turn.me], at, piece.bytes(bits))?;
        if !planted(Mistake::DifferencesUndigested) {
            digests.received.absorb(&message);
        }
        let [packed_first, packed_third] = &mut self.scratch.packed;
        packed_first.resize(bytes, 0);
        packed_third.resize(bytes, 0);
        let zeros = [K::Word::ZERO; CHUNK];
        let [mut lacked, mut first, mut third] = [zeros; 3];
        let whole = [FIRST, SECOND].into_iter().find(|&which| component(turn.me, which) == 0);
        let rows = opening.triples.chunks_exact(PLANES * words).zip(opening.sums.chunks_exact_mut(2 * words));
        for ((triples, sums), theirs) in rows.zip(message.chunks_exact(2 * bytes)) {
            for chunk in piece.chunks::<K>(bits) {
                let (count, len) = (chunk.numbers.len(), chunk.words.len());
                for (sum, theirs) in sums.chunks_exact_mut(words).zip(theirs.chunks_exact(bytes)) {
                    K::unpack(&theirs[chunk.packed.clone()], count, bits, &mut lacked[..len]);
                    (K::ARITHMETIC.add)(&mut sum[chunk.words.clone()], &lacked[..len]);
                }
                let (rho, sigma) = sums.split_at(words);
                let opened = [rho, sigma].map(|opened| K::lanes(&opened[chunk.words.clone()]));
                let c = [FIRST, SECOND].map(|which| piece.part::<K>(self.c[which], &chunk, &zeros));
                let Triples { d, e, f } =
                    Triples::of::<K>(&triples[PLANES * chunk.words.start..PLANES * chunk.words.end]);
                let (first, third) = (&mut first[..len], &mut third[..len]);
                let sides = Sides { c, d, e, f };
                sacrifice::sacrifice(sides, opened, whole, K::lanes_mut(first), K::lanes_mut(third));
                K::pack(first, count, bits, &mut packed_first[chunk.packed.clone()]);
                K::pack(third, count, bits, &mut packed_third[chunk.packed]);
            }
            digests.first.absorb(packed_first);
            digests.third.absorb(packed_third);
        }
        turn.session.mesh().recycle(message);
        self.arrived.push(opening);
        Ok(())
    }

    fn into_memory(self: Box<Self>) -> Memory {
        self.memory
    }
}

impl<K: ElementKind> Batch<'_, K> {
    /// Of `P_1` and `P_2`: tells `P_0` the component of results that nobody else can. `P_1` has `c_1` first, `P_2` `c_2` second.
    fn give_results(&mut self, turn: &mut Turn, index: usize) -> Result<(), Error> {
        let Some(piece) = self.products.get(index).filter(|_| turn.me > 0) else { return Ok(()) };
        let which = if turn.me == 1 { FIRST } else { SECOND };
        let mut message = turn.session.mesh().filled(piece.bytes(self.bits));
        K::pack(&self.c[which][piece.words::<K>()], piece.range.len(), self.bits, &mut message);
        turn.send(0, address(step::CHECK_PRODUCTS, self.number, index), message)
    }

    fn take_results(&mut self, turn: &mut Turn, index: usize) -> Result<(), Error> {
        let Some(piece) = self.products.get(index).filter(|_| turn.me == 0) else { return Ok(()) };
        for (role, which) in [(1, SECOND), (2, FIRST)] {
            let at = address(step::CHECK_PRODUCTS, self.number, index);
            let message = turn.recv(role, at, piece.bytes(self.bits))?;
            K::unpack(&message, piece.range.len(), self.bits, &mut self.c[which][piece.words::<K>()]);
            turn.session.mesh().recycle(message);
        }
        Ok(())
    }

    fn take_part(
        &self,
        turn: &mut Turn,
        from: usize,
        index: usize,
        out: &mut [K::Word],
    ) -> Result<(), Error> {
        let (at, piece) = (address(step::CHECK_TRIPLES, self.number, index), &self.triples[index]);
        let message = turn.recv(from, at, piece.bytes(self.bits))?;
        K::unpack(&message, piece.range.len(), self.bits, out);
        turn.session.mesh().recycle(message);
        Ok(())
    }
}
