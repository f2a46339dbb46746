//! Outputs for clients: what hides their components, and who accepts them.

use sha2::{Digest, Sha256};
use tacit_net::{Event, Frame};
use tacit_program::plan::{Builder, OpKind, Rows, To};
use tacit_replicated::planted::{Mistake, session};
use tacit_replicated::step;
use tacit_session::{Draw, PrssStream};
use tacit_testkit::react::{Act, Attacker};
use tacit_testkit::{Case, Draws, Rng};

use super::stage::{first_line, judge, protocol};
use crate::table::{Outcome, Version};

/// Bytes of an acceptance.
const ACCEPTANCE: usize = 32;
/// The client's number.
const CLIENT: usize = 3;

/// `x & y` of eight columns, of two parties, for a client.
fn case(corrupt: usize, mistakes: &'static [Mistake], version: Version) -> Case {
    let mut build = Builder::new();
    let [x, y, dst] = std::array::from_fn(|_| build.bits(1, 8));
    for (party, reg) in [((corrupt + 1) % 3, x), ((corrupt + 2) % 3, y)] {
        let owner = build.role(&format!("P{party}"));
        build.input(owner, reg);
    }
    let [a, b, rows] = [x, y, dst].map(|reg| Rows::one(reg, 0));
    build.interact(OpKind::And { a, b, dst: rows });
    let client = build.role("carol");
    build.output(dst, To::One(client));
    let mistakes = if version == Version::Planted { mistakes } else { &[] };
    let inputs = [vec![1, 0, 1, 1, 0, 0, 1, 0], vec![1, 1, 0, 1, 0, 1, 1, 0]];
    Case::new(protocol(&[], mistakes, corrupt, |_, _| {}), 3, build.finish(), &inputs)
}

/// `P_0` says `P_2` another key of what hides components: one that leaves `m_1` as it is and changes `m_2`. `P_2` hides
/// `x_2` by that, `P_0` says its digest accordingly, and what the client adds up is off by the two `m_2`. `P_1` notices
/// nothing: of what it sends and says only `m_1` and `m_0 = m_1 ^ m_2` as it has them are part.
pub(crate) fn key_searched(mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let case = case(0, mistakes, version);
    let attacker = Searches { masks: [0; 2], component: 0, rng: Rng::new(seed) };
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), 0, Box::new(attacker));
    judge(&case, &run, 0)
}

struct Searches {
    /// `m_1` and `m_2` as `P_2` has them.
    masks: [u8; 2],
    /// `x_2` of the output, which is what `P_2` sent for the ANDs.
    component: u8,
    rng: Rng,
}

/// `m_1` and `m_2` of eight bits by a key.
fn masks(key: &[u8; 16]) -> [u8; 2] {
    [step::OUTPUT, step::OUTPUT_DIGEST].map(|part| {
        let mut block = [0; 16];
        PrssStream::new(key, 0).fill(Draw { part, op: 0 }, 0, &mut block);
        block[0]
    })
}

impl Attacker for Searches {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if to == 2
            && frame.at.part == step::OUTPUT_KEY
            && let Some(key) = frame.payload.first_chunk()
        {
            let [one, two] = masks(key);
            let other = loop {
                let key = [self.rng.word(), self.rng.word()];
                let key: [u8; 16] = bytes(key);
                self.masks = masks(&key);
                if self.masks[0] == one && self.masks[1] != two {
                    break key;
                }
            };
            frame.payload = other.to_vec();
        }
        if to == CLIENT && frame.at.part == step::OUTPUT_DIGEST {
            let mut hash = Sha256::new_with_prefix(b"tacit replicated output component 1");
            hash.update(session());
            // The plan's first operation, and the output.
            hash.update([0; 8]);
            hash.update([self.component ^ self.masks[1]]);
            frame.payload.truncate(ACCEPTANCE);
            frame.payload.extend(hash.finalize());
        }
        act.send(to, frame);
    }

    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        if let Event::Frame(frame) = &event
            && from == 2
            && (step::OPERATION..step::CIRCUIT).contains(&frame.at.part)
        {
            self.component = frame.payload[0];
        }
        act.hear(from, event);
    }
}

fn bytes(words: [u64; 2]) -> [u8; 16] {
    let [low, high] = words.map(u128::from);
    (high << 64 | low).to_le_bytes()
}

/// A party tells a client anything but that it accepts.
pub(crate) fn unaccepted(mistakes: &'static [Mistake], version: Version, seed: u64) -> Outcome {
    let corrupt = (seed % 3) as usize;
    let case = case(corrupt, mistakes, version);
    let run = case.run_attacked(&case.world(), &Draws::fixed(seed), corrupt, Box::new(Refuses));
    match &run.endings[CLIENT].as_ref().expect("the client was there").result {
        Ok(_) => Outcome::Broken(format!("the client takes what P{corrupt} doesn't accept")),
        Err(error) => Outcome::Held(first_line(error)),
    }
}

struct Refuses;

impl Attacker for Refuses {
    fn sends(&mut self, to: usize, mut frame: Frame, act: &mut Act<'_>) {
        if to == CLIENT && frame.at.part == step::OUTPUT_DIGEST {
            frame.payload[..ACCEPTANCE].fill(0);
        }
        act.send(to, frame);
    }
}
