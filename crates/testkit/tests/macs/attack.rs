//! A party that adds errors to what it opens: of an output such as cancel under the last coin that it knows, or in the middle
//! of a run any. The other one's shares, as they come to its own code, have the same errors, so that all it says fits.

use hkdf::Hkdf;
use sha2::{Digest, Sha256};
use tacit_additive::check_weights;
use tacit_engine::Protocol;
use tacit_net::Frame;
use tacit_program::plan::{Builder, Domain, Local, Modulus, OpKind, Opening, Plan, Public, To};
use tacit_session::step;
use tacit_testkit::{Case, Draws, Fate, Run, World};

/// How the honest party's run ends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    WrongOutput,
    Noticed,
}

/// Elements of the output: the first two get errors.
const LEN: usize = 3;

const DOMAIN: Domain = Domain::Modular(Modulus::Prime128);

fn plan() -> Plan {
    let mut build = Builder::new();
    let x = build.row(DOMAIN, LEN);
    let owner = build.role("P0");
    build.input(owner, x);
    build.output(x, To::All);
    build.finish()
}

/// Nobody attacks.
pub(crate) fn nothing(protocol: &'static dyn Protocol) -> Run {
    Case::new(protocol, 2, opened(), &[vec![5, 0, 6, 0, 7, 0]]).run(&Draws::fixed(1))
}

/// The second of two parties attacks.
pub(crate) fn errors_that_cancel(protocol: &'static dyn Protocol) -> End {
    let case = Case::new(protocol, 2, plan(), &[vec![5, 0, 6, 0, 7, 0]]);
    let mut known = Known::default();
    let world = case.world().intercept(Box::new(move |message| {
        let (part, payload) = (message.frame.at.part, &message.frame.payload);
        match part {
            step::CONFIRM if message.from == 0 => known.session.clone_from(payload),
            step::COIN_OPEN => known.values.push((message.frame.at.op, message.from, payload[..32].to_vec())),
            step::OUTPUT => {
                let errors = known.errors();
                let frame = Frame::data(message.frame.at, with_errors(payload, errors));
                return Fate::Replace(vec![frame]);
            }
            _ => {}
        }
        Fate::Deliver
    }));
    end(&case, &world)
}

/// An input by what is opened of it under a mask that nobody knows.
fn opened() -> Plan {
    let mut build = Builder::new();
    let [x, mask, masked, minus, last] = [(); 5].map(|()| build.row(DOMAIN, LEN));
    let seen = build.public(DOMAIN, LEN);
    let owner = build.role("P0");
    build.input(owner, x);
    build.interact(OpKind::Random { dst: mask, bits: false });
    build.local(Local::Add { a: x, b: mask, dst: masked });
    build.interact(OpKind::Open { a: masked, dst: seen, how: Opening::Masked });
    build.local(Local::Sub { a: x, b: masked, dst: minus });
    build.local(Local::AddPublic { a: minus, c: Public::Register(seen), dst: last });
    build.output(last, To::All);
    build.finish()
}

/// The second of two parties adds an error to what it opens in the middle of the run, and has its own code go on with it.
pub(crate) fn an_error_in_an_opening(protocol: &'static dyn Protocol) -> End {
    let case = Case::new(protocol, 2, opened(), &[vec![5, 0, 6, 0, 7, 0]]);
    let world = case.world().intercept(Box::new(|message| {
        let Frame { at, payload, .. } = &message.frame;
        if at.part != step::OPERATION {
            return Fate::Deliver;
        }
        Fate::Replace(vec![Frame::data(*at, with_errors(payload, [1, 0]))])
    }));
    end(&case, &world)
}

/// How the run of the honest party, the first, ends.
fn end(case: &Case, world: &World) -> End {
    let run = case.run_in(world, &Draws::fixed(1));
    match &run.endings[0].as_ref().expect("it came").result {
        Ok(outcome) => {
            assert_ne!(outcome.outputs[0].as_ref(), Some(&case.inputs[0]), "the attack did nothing");
            End::WrongOutput
        }
        Err(error) => {
            assert!(error.is_failed_check(), "{error}");
            End::Noticed
        }
    }
}

/// What the attacker knows.
#[derive(Default)]
struct Known {
    session: Vec<u8>,
    /// What was opened of coins: number, party, value.
    values: Vec<(u32, usize, Vec<u8>)>,
}

impl Known {
    /// Errors that cancel under the last coin: of the weights of a check's first record.
    fn errors(&self) -> [u128; 2] {
        let last = self.values.iter().map(|(number, ..)| *number).max().expect("a coin was tossed before");
        let mut hash = Sha256::new_with_prefix(b"tacit coin 1");
        hash.update(&self.session);
        hash.update(last.to_le_bytes());
        for party in [0, 1] {
            let opened = self.values.iter().find(|(number, from, _)| (*number, *from) == (last, party));
            hash.update(&opened.expect("both have opened it").2);
        }
        let mut coin = [0; 16];
        Hkdf::<Sha256>::new(None, &hash.finalize()).expand(b"coins", &mut coin).expect("a short coin");
        let weights = check_weights(&coin, 0, 0, DOMAIN, LEN);
        // r_0 r_1 - r_1 r_0.
        [weights[1], DOMAIN.modulus().reduce_unsigned(DOMAIN.modulus().last() - weights[0] + 1)]
    }
}

/// Shares as they travel, with errors in the first elements.
fn with_errors(payload: &[u8], errors: [u128; 2]) -> Vec<u8> {
    let mut changed = payload.to_vec();
    for (bytes, error) in changed.chunks_exact_mut(16).zip(errors) {
        let share = u128::from_le_bytes(bytes.try_into().expect("sixteen bytes"));
        let (sum, over) = share.overflowing_add(error);
        let modulus = DOMAIN.modulus().last() + 1;
        let reduced = if over || sum >= modulus { sum.wrapping_sub(modulus) } else { sum };
        bytes.copy_from_slice(&reduced.to_le_bytes());
    }
    changed
}
