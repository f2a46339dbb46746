//! What all servers know of a message: its bytes, and where in a plan for longer ones they stand. It goes into circuits as public
//! bits, whose ANDs nobody pays for, so one plan serves all lengths of a class.
//!
//! Each part is written by a server ([`Bits`]) as the circuit reads it ([`Feed`]).

use crate::enctype::{CONFOUNDER, Enctype};
use tacit::circuit::Wire;

/// Bytes of a block of AES.
pub(super) const BLOCK: usize = 16;
/// Bytes of a block of SHA-1 and of SHA-256, and of what ends the last one at least.
const HASH_BLOCK: usize = 64;
const HASH_END: usize = 9;

/// The bytes of messages that one plan serves: as many at most, confounders counted and codes not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class(usize);

impl Class {
    /// Those of tickets, replies, authenticators and bodies: 3, 4 and 6 blocks of a hash function.
    pub const ALL: [Self; 3] = [Self(183), Self(247), Self(375)];
    /// That of timestamps.
    pub const TIMESTAMP: Self = Self(44);

    /// The least one for messages of so many bytes at most; `None` if they are too long.
    pub fn of(bytes: usize) -> Option<Self> {
        Self::ALL.into_iter().find(|class| bytes <= class.0)
    }

    /// Bytes of its longest message.
    pub fn bytes(self) -> usize {
        self.0
    }

    /// Blocks of AES.
    pub(super) fn blocks(self) -> usize {
        self.0.div_ceil(BLOCK)
    }

    /// Blocks of a hash function, of a message with so many bytes before it.
    pub(super) fn hash_blocks(self, before: usize) -> usize {
        (before + self.0 + HASH_END).div_ceil(HASH_BLOCK)
    }
}

/// Public bits, as a server writes them.
#[derive(Debug, Default)]
pub(super) struct Bits(pub(super) Vec<bool>);

impl Bits {
    /// Bytes, with zeros behind them up to so many.
    pub(super) fn bytes(&mut self, bytes: &[u8], width: usize) {
        let end = self.0.len() + 8 * width;
        self.0.extend(bytes.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 == 1)));
        self.0.resize(end, false);
    }

    /// So many bits, of which those are set that a test says.
    pub(super) fn set(&mut self, count: usize, is_set: impl Fn(usize) -> bool) {
        self.0.extend((0..count).map(is_set));
    }

    /// A number.
    pub(super) fn number(&mut self, number: usize, bits: usize) {
        self.set(bits, |bit| number >> bit & 1 == 1);
    }
}

/// The same bits as a circuit reads them.
pub(super) struct Feed<'w>(pub(super) &'w [Wire]);

impl<'w> Feed<'w> {
    pub(super) fn bits(&mut self, count: usize) -> &'w [Wire] {
        let (first, rest) = self.0.split_at(count);
        self.0 = rest;
        first
    }

    pub(super) fn bytes(&mut self, count: usize) -> &'w [Wire] {
        self.bits(8 * count)
    }
}

/// Where a message's last two blocks are, which ciphertext stealing treats otherwise.
pub(super) struct Places<'w> {
    /// By block: whether it comes before those two.
    pub(super) whole: &'w [Wire],
    /// Whether it is the first of them.
    pub(super) first: &'w [Wire],
    /// Whether it is the last one.
    pub(super) last: &'w [Wire],
    /// The bytes that the last one has, one bit for each.
    pub(super) short: &'w [Wire],
}

impl<'w> Places<'w> {
    fn bits(class: Class) -> usize {
        3 * class.blocks() + BLOCK
    }

    fn write(out: &mut Bits, class: Class, length: usize) {
        let count = length.div_ceil(BLOCK);
        let blocks = class.blocks();
        out.set(blocks, |block| block + 2 < count);
        out.set(blocks, |block| block + 2 == count);
        out.set(blocks, |block| block + 1 == count);
        out.set(BLOCK, |byte| byte < length - BLOCK * (count - 1));
    }

    fn read(feed: &mut Feed<'w>, class: Class) -> Self {
        let blocks = class.blocks();
        let [whole, first, last] = std::array::from_fn(|_| feed.bits(blocks));
        Self { whole, first, last, short: feed.bits(BLOCK) }
    }
}

/// Whole blocks of a message that a hash function takes behind one block that it has taken already.
pub(super) struct Hashed<'w> {
    /// The message's public bytes with what ends it; of a secret message what ends it alone.
    pub(super) bytes: &'w [Wire],
    /// By block: whether it is the last one.
    pub(super) last: &'w [Wire],
}

impl<'w> Hashed<'w> {
    fn bits(blocks: usize) -> usize {
        (8 * HASH_BLOCK + 1) * blocks
    }

    /// Of a message of so many bytes, of which those are public that are given (FIPS 180-4, section 5.1).
    fn write(out: &mut Bits, blocks: usize, length: usize, public: &[u8]) {
        let count = (length + HASH_END).div_ceil(HASH_BLOCK);
        let mut padded = public.to_vec();
        padded.resize(length, 0);
        padded.push(0x80);
        padded.resize(HASH_BLOCK * count - 8, 0);
        padded.extend_from_slice(&(8 * (HASH_BLOCK + length) as u64).to_be_bytes());
        out.bytes(&padded, HASH_BLOCK * blocks);
        out.set(blocks, |block| block + 1 == count);
    }

    pub(super) fn read(feed: &mut Feed<'w>, blocks: usize) -> Self {
        Self { bytes: feed.bytes(HASH_BLOCK * blocks), last: feed.bits(blocks) }
    }
}

/// A ciphertext with its code.
pub(super) struct Sealed<'w> {
    pub(super) class: Class,
    pub(super) places: Places<'w>,
    /// The blocks before the last two.
    pub(super) whole: &'w [Wire],
    /// The one before the last two, again.
    pub(super) before: &'w [Wire],
    /// The last two, as they come: a whole one, and one that may be cut.
    pub(super) full: &'w [Wire],
    pub(super) cut: &'w [Wire],
    pub(super) code: &'w [Wire],
    pub(super) hashed: Hashed<'w>,
}

/// What the code of RFC 8009 takes before a ciphertext: the cipher's state, which is zero.
fn code_begins(enctype: Enctype) -> usize {
    if enctype.encrypts_first() { CONFOUNDER } else { 0 }
}

impl<'w> Sealed<'w> {
    pub(super) fn bits(enctype: Enctype, class: Class) -> usize {
        let hashed = Hashed::bits(class.hash_blocks(code_begins(enctype)));
        Places::bits(class) + 8 * (BLOCK * (class.blocks() + 1) + enctype.mac_bytes()) + hashed
    }

    /// Of a ciphertext with its code. It has two blocks at least, and no more bytes than its class says.
    pub(super) fn write(out: &mut Bits, enctype: Enctype, class: Class, sealed: &[u8]) {
        let (cipher, code) = sealed.split_at(sealed.len() - enctype.mac_bytes());
        let count = cipher.len().div_ceil(BLOCK);
        let (whole, last) = cipher.split_at(BLOCK * (count - 2));
        Places::write(out, class, cipher.len());
        out.bytes(whole, BLOCK * (class.blocks() - 2));
        out.bytes(whole.rchunks(BLOCK).next().unwrap_or(&[]), BLOCK);
        out.bytes(last, 2 * BLOCK);
        out.bytes(code, enctype.mac_bytes());
        let begins = code_begins(enctype);
        let public = if begins > 0 { [&vec![0; begins][..], cipher].concat() } else { Vec::new() };
        Hashed::write(out, class.hash_blocks(begins), begins + cipher.len(), &public);
    }

    pub(super) fn read(feed: &mut Feed<'w>, enctype: Enctype, class: Class) -> Self {
        Self {
            class,
            places: Places::read(feed, class),
            whole: feed.bytes(BLOCK * (class.blocks() - 2)),
            before: feed.bytes(BLOCK),
            full: feed.bytes(BLOCK),
            cut: feed.bytes(BLOCK),
            code: feed.bytes(enctype.mac_bytes()),
            hashed: Hashed::read(feed, class.hash_blocks(code_begins(enctype))),
        }
    }
}

/// A plaintext with a place for a session key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Form {
    /// Its bytes.
    pub bytes: usize,
    /// Where the session key begins.
    pub key_at: usize,
}

/// Where tickets have their session key, and where encrypted parts of replies do, if all lengths in them take one byte.
pub(super) const KEY_IN_TICKET: usize = 26;
pub(super) const KEY_IN_PART: usize = 17;
/// How many places there are: two lengths before it take up to two bytes more each.
const KEY_PLACES: usize = 5;

/// Which of the places a session key has, from a first one on.
pub(super) struct KeyPlace<'w> {
    from: usize,
    at: &'w [Wire],
}

impl<'w> KeyPlace<'w> {
    pub(super) const BITS: usize = KEY_PLACES;

    pub(super) fn write(out: &mut Bits, from: usize, key_at: usize) {
        out.set(KEY_PLACES, |place| from + place == key_at);
    }

    pub(super) fn read(feed: &mut Feed<'w>, from: usize) -> Self {
        Self { from, at: feed.bits(KEY_PLACES) }
    }

    /// Each place, as bytes behind the confounder, and whether it is the one.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, Wire)> + '_ {
        self.at.iter().enumerate().map(|(place, &is_it)| (CONFOUNDER + self.from + place, is_it))
    }
}

/// Whether a ticket's session key, or that of a reply's part, is where a circuit can put it.
pub(crate) fn fits(is_ticket: bool, form: Form) -> bool {
    let from = if is_ticket { KEY_IN_TICKET } else { KEY_IN_PART };
    (from..from + KEY_PLACES).contains(&form.key_at)
}

/// A plaintext to be sealed.
pub(super) struct Whole<'w> {
    /// Its bytes, the confounder first.
    pub(super) bytes: &'w [Wire],
    pub(super) places: Places<'w>,
    pub(super) hashed: Hashed<'w>,
}

impl<'w> Whole<'w> {
    pub(super) fn bits(enctype: Enctype, class: Class) -> usize {
        let hashed = Hashed::bits(class.hash_blocks(code_begins(enctype)));
        8 * BLOCK * class.blocks() + Places::bits(class) + hashed
    }

    pub(super) fn write(
        out: &mut Bits,
        enctype: Enctype,
        class: Class,
        confounder: [u8; CONFOUNDER],
        plain: &[u8],
    ) {
        let length = CONFOUNDER + plain.len();
        out.bytes(&confounder, CONFOUNDER);
        out.bytes(plain, BLOCK * class.blocks() - CONFOUNDER);
        Places::write(out, class, length);
        let begins = code_begins(enctype);
        Hashed::write(out, class.hash_blocks(begins), begins + length, &[]);
    }

    pub(super) fn read(feed: &mut Feed<'w>, enctype: Enctype, class: Class) -> Self {
        Self {
            bytes: feed.bytes(BLOCK * class.blocks()),
            places: Places::read(feed, class),
            hashed: Hashed::read(feed, class.hash_blocks(code_begins(enctype))),
        }
    }
}

/// The same, but for its confounder and its session key.
pub(super) struct Plain<'w> {
    pub(super) key: KeyPlace<'w>,
    /// With zeros for both.
    pub(super) around: Whole<'w>,
}

impl<'w> Plain<'w> {
    pub(super) fn bits(enctype: Enctype, class: Class) -> usize {
        KeyPlace::BITS + Whole::bits(enctype, class)
    }

    pub(super) fn write(
        out: &mut Bits,
        enctype: Enctype,
        class: Class,
        (plain, form): (&[u8], Form),
        key_from: usize,
    ) {
        KeyPlace::write(out, key_from, form.key_at);
        Whole::write(out, enctype, class, [0; CONFOUNDER], plain);
    }

    pub(super) fn read(feed: &mut Feed<'w>, enctype: Enctype, class: Class, key_from: usize) -> Self {
        Self { key: KeyPlace::read(feed, key_from), around: Whole::read(feed, enctype, class) }
    }
}

/// A message that is hashed and that all know.
pub(super) struct Body;

impl Body {
    pub(super) fn bits(class: Class) -> usize {
        Hashed::bits(class.hash_blocks(0))
    }

    pub(super) fn write(out: &mut Bits, class: Class, body: &[u8]) {
        Hashed::write(out, class.hash_blocks(0), body.len(), body);
    }

    pub(super) fn read<'w>(feed: &mut Feed<'w>, class: Class) -> Hashed<'w> {
        Hashed::read(feed, class.hash_blocks(0))
    }
}
