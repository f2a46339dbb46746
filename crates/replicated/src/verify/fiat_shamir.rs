//! Proofs whose points the prover finds itself, by hashing (Fiat and Shamir 1986): two rounds in all.
//!
//! A prover can try as many first messages as it likes until the hash gives it points that suit it. So points are from
//! the extension of F_p, where a wrong proof passes with a chance of at most `254 / p (p - 1)`, less than 2^-113, for
//! each attempt. With points of F_p that would be too much. So it would with repetitions of a proof, which could be
//! tried one by one.
//!
//! **What is hashed** is all that the verifiers' equations use: the session (the program, the parties, fresh nonces),
//! the plan in it, the prover, the batch, its length and rounds, and what each verifier knows. A verifier knows its
//! bits, its random value of the last round and its shares of the values.
//!
//! One verifier mustn't see what the other knows. So its part goes in as a digest, salted from the key that it has in
//! common with the prover. Each verifier computes the digests of what it knows, and the prover tells it the others.
//! Both verifiers compare the hash in the end, which shows that they were told the truth.
//!
//! | step | to the previous party | to the next party |
//! | --- | --- | --- |
//! | 0 | as prover, to the right verifier: the left digest, all values | as prover, to the left verifier: the right digests |
//! | 1 | as right verifier: hash, share of `G(r)`, `q(r)` | as left verifier: hash, share of `G(r)`, `p(r)` |
//! | 2 | nothing: both compare the hash and check `p(r) q(r) = G(r)` | |

use super::draws;
use super::field::{BaseField, Extended, Field, Spare, write};
use super::log::Batch;
use super::part::{Bytes, Memory, Out, Proof, Reader, check_ends, other_verifier};
use super::proof::{Vectors, claim, first_values, fold_to_point};
use super::schedule::FoldingSchedule;
#[cfg(feature = "planted")]
use crate::planted::Moment;
use crate::planted::{Mistake, planted};
use crate::step;
use sha2::{Digest, Sha256};
use tacit_engine::Error;
use tacit_kernel::Element;
use tacit_kernel::field::Fp61;
use tacit_kernel::relation::{LeftPlanes, Planes};
use tacit_session::Session;
use tacit_threeparty::{next, prev};

/// Bytes of a hash.
const HASH_BYTES: usize = 32;

/// A hash of everything so far.
type Hash = [u8; HASH_BYTES];

/// Steps in which a batch sends anything.
pub(super) const STEPS: usize = 2;

/// What a batch sends at this age.
pub(super) fn bytes(schedule: &FoldingSchedule, age: usize) -> Bytes {
    let (first, all) = (schedule.values(0), schedule.values_before(schedule.rounds()));
    let end = HASH_BYTES + 2 * Extended::SENT;
    match age {
        0 => Bytes {
            back: HASH_BYTES + Fp61::SENT * first + Extended::SENT * (all - first),
            forth: HASH_BYTES * (1 + schedule.rounds()),
        },
        1 => Bytes { back: end, forth: end },
        _ => Bytes::default(),
    }
}

/// This party's parts in the three proofs of a batch.
pub(super) struct FiatShamir {
    number: u32,
    /// The bits, until the neighbours' proofs are here.
    batch: Option<Batch>,
    /// From then on, as left verifier of the previous party's proof and as right verifier of the next party's.
    ends: Vec<End>,
}

/// What a verifier shows the other one.
struct End {
    transcript: Hash,
    /// Its share of `G(r)`, and `p(r)` or `q(r)`.
    end: [Extended; 2],
}

impl End {
    /// Compares the hash with the other verifier's, and checks `p(r) q(r) = G(r)`.
    fn check(&self, theirs: &mut Reader<'_>, prover: usize, session: &mut Session) -> Result<(), Error> {
        if theirs.take() != self.transcript {
            let (prover, other) = (session.name(prover), session.name(other_verifier(session.me(), prover)));
            let what = format!("the hashes of the proof of {prover} differ, by {prover} or by {other}");
            return Err(session.reject(&what).into());
        }
        check_ends(&[self.end], theirs, prover, session)
    }
}

impl FiatShamir {
    pub(super) fn begin(batch: Batch, number: u32) -> Self {
        Self { number, batch: Some(batch), ends: Vec::new() }
    }

    fn about<'a>(&self, session: &Session, prover: usize, batch: &'a Batch) -> About<'a> {
        let (id, plan) = (*session.id(), session.first_operation());
        About {
            session: id,
            plan,
            prover,
            number: self.number,
            words: batch.words,
            schedule: &batch.schedule,
        }
    }

    /// Makes the whole proof.
    fn prove(&self, batch: &mut Batch, out: Out<'_>, session: &mut Session, spare: &mut Spare) {
        let Out { back, forth } = out;
        let (me, schedule) = (session.me(), batch.schedule.clone());
        let shares = left_shares(session, next(me), &schedule, self.number);
        let masks @ [eta, tau] = draws::masks(session, (self.number, 0));
        let left = left_digest(session, next(me), self.number, batch.own_left(), eta, &shares);
        let salt = draws::seed(session, prev(me), step::PROOF_SALT, self.number);
        let right = digest(&salt, batch.own_right().into(), tau);
        back.extend(left);
        forth.extend(right);

        let mut transcript = Transcript::new(&self.about(session, me, batch), [left, right]);
        let mut shares = shares.as_slice();
        let mut vectors: Option<Vectors<Extended>> = None;
        for round in 0..schedule.rounds() {
            let mut values = match &mut vectors {
                None => first_values(&schedule, &[], batch.own_left(), batch.own_right()),
                Some(vectors) => vectors.values(&schedule, round, || masks),
            };
            let (own, after) = shares.split_at(values.len());
            shares = after;
            for (value, share) in values.iter_mut().zip(own) {
                *value = value.sub(*share);
            }
            write_values(round, &values, back);
            let round_digest = values_digest(&salt, round, &values);
            forth.extend(round_digest);
            let point = transcript.point(&round_digest);
            #[cfg(feature = "planted")]
            if round == 0 {
                let moment = Moment::Challenged(vec![point.parts().map(|part| part.to_u128() as u64)]);
                crate::planted::tapped(moment, batch.noted(session.me(), self.number));
            }
            match &mut vectors {
                None => {
                    let (left, right) = (batch.own_left(), batch.own_right());
                    vectors = Some(Vectors::fold_bits(&schedule, &[], left, right, point, spare));
                }
                Some(vectors) if !schedule.is_last(round) => {
                    vectors.fold(schedule.blocks(round), point, spare);
                }
                Some(_) => {}
            }
        }
    }

    /// Follows the next party's proof as its right verifier.
    fn follow_right(
        &self,
        batch: &Batch,
        from_next: &mut Reader<'_>,
        session: &mut Session,
        spare: &mut Spare,
    ) -> Result<End, Error> {
        let (schedule, planes, prover) = (&batch.schedule, batch.right_of_next().into(), next(session.me()));
        let tau = draws::mask(session, prover, step::PROOF_RIGHT_MASK, (self.number, 0));
        let salt = draws::seed(session, prover, step::PROOF_SALT, self.number);
        let digests = [from_next.take(), digest(&salt, planes, tau)];
        let mut transcript = Transcript::new(&self.about(session, prover, batch), digests);
        let (mut values, mut points) = (Vec::new(), Vec::new());
        for round in 0..schedule.rounds() {
            let rest = read_values(round, schedule.values(round), from_next, session)?;
            points.push(transcript.point(&values_digest(&salt, round, &rest)));
            values.extend(rest);
        }
        Ok(transcript.end(schedule, planes, &values, &points, tau, spare))
    }

    /// Follows the previous party's proof as its left verifier.
    fn follow_left(
        &self,
        batch: &Batch,
        from_prev: &mut Reader<'_>,
        session: &mut Session,
        spare: &mut Spare,
    ) -> End {
        let (schedule, planes, prover) = (&batch.schedule, batch.left_of_prev(), prev(session.me()));
        let shares = left_shares(session, prover, schedule, self.number);
        let eta = draws::mask(session, prover, step::PROOF_LEFT_MASK, (self.number, 0));
        let left = left_digest(session, prover, self.number, planes, eta, &shares);
        let digests = [left, from_prev.take()];
        let mut transcript = Transcript::new(&self.about(session, prover, batch), digests);
        let points: Vec<Extended> =
            (0..schedule.rounds()).map(|_| transcript.point(&from_prev.take())).collect();
        transcript.end(schedule, planes.into(), &shares, &points, eta, spare)
    }
}

impl Proof for FiatShamir {
    fn send(&mut self, age: usize, out: Out<'_>, session: &mut Session, memory: &mut Memory) {
        if let Some(mut batch) = self.batch.take() {
            self.prove(&mut batch, out, session, &mut memory.spare);
            self.batch = Some(batch);
        } else if age == 1 {
            for (end, out) in self.ends.iter().zip([out.forth, out.back]) {
                out.extend(end.transcript);
                write(&end.end, out);
            }
        }
    }

    fn receive(
        &mut self,
        _: usize,
        from_next: &mut Reader<'_>,
        from_prev: &mut Reader<'_>,
        session: &mut Session,
        memory: &mut Memory,
    ) -> Result<(), Error> {
        if let Some(batch) = self.batch.take() {
            let right = self.follow_right(&batch, from_next, session, &mut memory.spare)?;
            let left = self.follow_left(&batch, from_prev, session, &mut memory.spare);
            self.ends = vec![left, right];
            memory.batches.push(batch);
        } else {
            let [left, right] = &self.ends[..] else {
                unreachable!("a proof is followed before it is checked")
            };
            let me = session.me();
            left.check(from_next, prev(me), session)?;
            right.check(from_prev, next(me), session)?;
        }
        Ok(())
    }
}

/// Which proof it is.
#[derive(Clone, Copy)]
struct About<'a> {
    session: Hash,
    /// The first operation of the plan, counted through the session.
    plan: u32,
    prover: usize,
    number: u32,
    /// Without the padding.
    words: usize,
    schedule: &'a FoldingSchedule,
}

/// The hash of everything so far, from which each round's point comes.
struct Transcript(Hash);

impl Transcript {
    /// What a proof is about, before the first round: and digests of what the left verifier knows, and the right one.
    fn new(about: &About<'_>, digests: [Hash; 2]) -> Self {
        let mut hash = Sha256::new_with_prefix(b"tacit hashed proof 1");
        hash.update(about.session);
        let schedule = about.schedule;
        let about = [about.plan as usize, about.prover, about.number as usize, about.words];
        let rounds =
            [schedule.rounds()].into_iter().chain((0..schedule.rounds()).map(|at| schedule.blocks(at)));
        for number in about.into_iter().chain([schedule.block_words]).chain(rounds) {
            hash.update((number as u64).to_le_bytes());
        }
        hash.update(digests.as_flattened());
        Self(hash.finalize().into())
    }

    /// The point of a round whose values have this digest. It isn't in F_p, where the known values are.
    fn point(&mut self, values: &Hash) -> Extended {
        self.0 = Sha256::new_with_prefix(b"tacit hashed round 1")
            .chain_update(self.0)
            .chain_update(values)
            .finalize()
            .into();
        let [re, im] = [0, 16].map(|at| {
            self.0[at..at + 16].iter().rev().fold(0_u128, |value, byte| value << 8 | u128::from(*byte))
        });
        let im = im % (u128::from(Fp61::MODULUS) - 1) + 1;
        Extended::of(&[Fp61::from_u128(re), Fp61::from_u128(im)])
    }

    /// What a verifier shows that has followed a proof to its end.
    fn end(
        self,
        schedule: &FoldingSchedule,
        planes: Planes<'_>,
        values: &[Extended],
        points: &[Extended],
        mask: Extended,
        spare: &mut Spare,
    ) -> End {
        let first = Extended::from_base(Fp61::first_claim(schedule, &[], planes));
        let own = fold_to_point(schedule, &[], planes, points, mask, spare);
        End { transcript: self.0, end: [claim(schedule, first, values, points), own] }
    }
}

/// All of the left verifier's shares. The first round's are of F_p.
fn left_shares(session: &mut Session, peer: usize, schedule: &FoldingSchedule, number: u32) -> Vec<Extended> {
    let first = draws::shares::<Fp61>(session, peer, schedule, (number, 0), 0);
    let mut shares: Vec<Extended> = first.into_iter().map(Extended::from_base).collect();
    for round in 1..schedule.rounds() {
        shares.extend(draws::shares::<Extended>(session, peer, schedule, (number, 0), round));
    }
    shares
}

/// The digest of all that the left verifier knows.
fn left_digest(
    session: &mut Session,
    peer: usize,
    number: u32,
    planes: LeftPlanes<'_>,
    eta: Extended,
    shares: &[Extended],
) -> Hash {
    let salt = draws::seed(session, peer, step::PROOF_SALT_LEFT, number);
    let e: &[u64] = if planted(Mistake::MessagesUnhashed) { &[] } else { planes.e };
    let known = digest(&salt, LeftPlanes { e, ..planes }.into(), eta);
    Sha256::new_with_prefix(known).chain_update(values_digest(&salt, 0, shares)).finalize().into()
}

/// The digest of what a verifier knows before the first round.
fn digest(salt: &Hash, planes: Planes<'_>, mask: Extended) -> Hash {
    let mut hash = Sha256::new_with_prefix(b"tacit proof bits 1");
    hash.update(salt);
    for plane in planes.all() {
        hash.update(bytemuck::cast_slice::<u64, u8>(plane));
    }
    let mut bytes = Vec::new();
    write(&[mask], &mut bytes);
    hash.chain_update(bytes).finalize().into()
}

/// The digest of a verifier's shares of a round's values.
fn values_digest(salt: &Hash, round: usize, values: &[Extended]) -> Hash {
    if round == 1 && planted(Mistake::RoundUnhashed) {
        return Hash::default();
    }
    let mut bytes = Vec::new();
    write(values, &mut bytes);
    let mut hash = Sha256::new_with_prefix(b"tacit proof values 1");
    hash.update(salt);
    hash.update((round as u64).to_le_bytes());
    hash.chain_update(bytes).finalize().into()
}

/// Appends a round's values; the first round's are of F_p.
fn write_values(round: usize, values: &[Extended], out: &mut Vec<u8>) {
    if round == 0 {
        let base: Vec<Fp61> = values.iter().map(|value| value.parts()[0]).collect();
        write(&base, out);
    } else {
        write(values, out);
    }
}

fn read_values(
    round: usize,
    count: usize,
    reader: &mut Reader<'_>,
    session: &mut Session,
) -> Result<Vec<Extended>, Error> {
    if round == 0 {
        let base = reader.elements::<Fp61>(count, session)?;
        Ok(base.into_iter().map(Extended::from_base).collect())
    } else {
        reader.elements(count, session)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schedule::ProofParams;
    use super::*;

    /// All that a verifier's equations use. What only two know, such as masks, is fixed by keys from the beginning and would
    /// do without; so would session and plan, since salts are new in each. They are hashed all the same.
    #[test]
    fn points_differ_by_everything_that_is_hashed() {
        let [short, long] = [1, 65].map(|words| FoldingSchedule::of(words, ProofParams::DEFAULT));
        let about = About { session: [0; 32], plan: 0, prover: 0, number: 0, words: 1, schedule: &short };
        let abouts = [
            about,
            About { session: [1; 32], ..about },
            About { plan: 1, ..about },
            About { prover: 1, ..about },
            About { number: 1, ..about },
            About { words: 2, ..about },
            About { schedule: &long, ..about },
        ];
        let mut points: Vec<[u128; 2]> = Vec::new();
        let mut note = |transcript: &mut Transcript, values: Hash| {
            points.push(transcript.point(&values).parts().map(Element::to_u128));
        };
        for about in abouts {
            note(&mut Transcript::new(&about, [[0; 32]; 2]), [0; 32]);
        }
        // The left digest, the right one, this round's values, and those of the round before.
        note(&mut Transcript::new(&about, [[1; 32], [0; 32]]), [0; 32]);
        note(&mut Transcript::new(&about, [[0; 32], [1; 32]]), [0; 32]);
        note(&mut Transcript::new(&about, [[0; 32]; 2]), [1; 32]);
        for values in [[0; 32], [1; 32]] {
            let mut transcript = Transcript::new(&about, [[0; 32]; 2]);
            transcript.point(&values);
            note(&mut transcript, [0; 32]);
        }
        let distinct: std::collections::HashSet<[u128; 2]> = points.iter().copied().collect();
        assert_eq!(distinct.len(), points.len());
    }

    #[test]
    fn digests_differ_by_every_plane_the_mask_and_the_salt() {
        let planes = LeftPlanes { a: &[1], c: &[2], e: &[3] };
        let digest = |salt, planes: LeftPlanes<'_>, mask| digest(salt, planes.into(), mask);
        let one = Extended::from_base(Fp61::ONE);
        let mut digests = vec![digest(&[0; 32], planes, one), digest(&[1; 32], planes, one)];
        digests.push(digest(&[0; 32], planes, one.add(one)));
        let other = &[4][..];
        for other in [
            LeftPlanes { a: other, ..planes },
            LeftPlanes { c: other, ..planes },
            LeftPlanes { e: other, ..planes },
        ] {
            digests.push(digest(&[0; 32], other, one));
        }
        digests.push(values_digest(&[0; 32], 0, &[one]));
        digests.push(values_digest(&[0; 32], 1, &[one]));
        digests.push(values_digest(&[1; 32], 0, &[one]));
        digests.push(values_digest(&[0; 32], 0, &[one.add(one)]));
        let distinct: std::collections::HashSet<Hash> = digests.iter().copied().collect();
        assert_eq!(distinct.len(), digests.len());
    }

    /// 2^-113 for each attempt: the sum of the degrees over the number of points.
    #[test]
    fn a_points_field_is_large_enough_to_be_searched() {
        let points = Fp61::MODULUS as f64 * (Fp61::MODULUS - 1) as f64;
        assert!(254.0 / points < 2_f64.powi(-113));
    }
}
