//! The extension over a session, batch after batch, with all peers at once.
//!
//! A batch takes three messages: the receiver's columns; the sender's coin, once it holds the columns; and the receiver's answer.
//! Nobody waits for them: while a batch's messages travel the next ones are computed. In step `s` each party queues the columns
//! of batch `s`.
//!
//! Then it takes what its peers sent: the coin of batch `s - 3`, the answer for batch `s - 5`, and the columns of batch `s - 1`.
//! Last it computes on them, and queues an answer and a coin. Whatever is queued leaves when the party next waits for something,
//! which is in the next step: so a step's messages leave together, and have most of a step's time to travel.
//!
//! **Order.** A coin is drawn when all of its batch's columns are here. OTs are handed out when their batch has passed: to
//! the receiver when it has answered, to the sender when the answer was right.
//!
//! **No deadlock.** A party waits only for what its peers queued in earlier steps, before they waited for anything later.

use crate::pairs::Ot;
use crate::params::{ANSWER_BYTES, COIN_BYTES, Params};
use crate::planted::{Mistake, planted};
use crate::sink::{Form, Received, Sent, Sink};
use crate::step;
use crate::tile::Secret;
use std::fmt;
use tacit_net::At;
use tacit_session::{Error, Session};

/// A receiver's choices. They are never printed.
#[derive(Clone, Copy)]
pub enum Choices<'a> {
    /// Random ones.
    Random,
    /// For each peer, in the order of the setup, a packed bit for every OT. It costs a bit more for each.
    Given(&'a [&'a [u64]]),
}

impl fmt::Debug for Choices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Random => f.write_str("Random"),
            Self::Given(all) => write!(f, "Given(for {} peers)", all.len()),
        }
    }
}

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// A number that no other setup or extension of the plan has.
    pub op: u32,
    /// How many OTs with each peer, in each direction that there is.
    pub count: usize,
    /// The choices of those that this party receives. Whether they are random or given is the same for all parties.
    pub choices: Choices<'a>,
    /// What the values are.
    pub form: Form,
}

impl Ot {
    /// Makes OTs with all peers, who do the same at the same point, and gives them to `sink`. In the phase that is on.
    ///
    /// A peer that has a coin knows how its check will end. So from the first coin on the session counts as challenged,
    /// until all have accepted ([`Session::accept`]).
    ///
    /// # Errors
    /// If a check fails or a link does, or batches have no numbers left. All secrets are then gone, and every later call
    /// fails for the same reason.
    ///
    /// # Panics
    /// If there aren't choices for every OT that this party receives.
    pub fn extend(
        &mut self,
        session: &mut Session,
        request: &Request<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        if self.pairs.is_empty() {
            return Err(session.reject("oblivious transfers are asked for that no setup is for"));
        }
        if let Choices::Given(all) = request.choices {
            let enough = self.pairs.iter().enumerate().all(|(index, pair)| {
                let words = all.get(index).map(|bits| bits.len());
                pair.receiver.is_none() || words >= Some(request.count.div_ceil(64))
            });
            assert!(enough, "a choice for every OT that is received");
        }
        let done = self.run(session, request, sink);
        if let Err(error) = &done {
            self.failure = Some(error.clone());
            self.pairs.clear();
            self.memory = [Secret::default(), Secret::default()];
        }
        done
    }

    fn run(
        &mut self,
        session: &mut Session,
        request: &Request<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        let params = self.params;
        // A batch's number is part of its messages' addresses.
        let batches = u32::try_from(params.batch_count(request.count)).map_err(|_| Error::Exhausted)?;
        let batch_at = |number: u32| {
            let [rows, ots] = params.batch_of(request.count, number as usize)?;
            Some(Batch { number, rows, ots, first: number as usize * params.batch() })
        };
        let mut run = Run { ot: self, session, request, sink };
        let columns_taken = params.ahead() as u64;
        let last = match params.is_malicious() {
            true if planted(Mistake::AnswersUnawaited) => COIN_TAKEN,
            true => ANSWERED,
            false => columns_taken,
        };
        for step in 0..u64::from(batches) + last {
            let batch = |behind| {
                let number = step.checked_sub(behind).and_then(|number| u32::try_from(number).ok())?;
                batch_at(number)
            };
            let checked = |behind| batch(behind).filter(|_| params.is_malicious());
            if let Some(batch) = batch(0) {
                run.send_columns(&batch)?;
            }
            let due =
                Due { columns: batch(columns_taken), coin: checked(COIN_TAKEN), answer: checked(ANSWERED) };
            run.take(due)?;
        }
        Ok(())
    }
}

/// How many steps after its columns are sent a batch's coin and answer are taken; of columns [`Params::ahead`] says it.
const COIN_TAKEN: u64 = 3;
const ANSWERED: u64 = 5;

/// The batches of which something is taken in a step.
#[derive(Clone, Copy)]
struct Due {
    columns: Option<Batch>,
    coin: Option<Batch>,
    answer: Option<Batch>,
}

/// A batch of a request.
#[derive(Clone, Copy)]
struct Batch {
    number: u32,
    rows: usize,
    ots: usize,
    /// The first OT's place among those asked for.
    first: usize,
}

impl Batch {
    fn ots(&self) -> [usize; 2] {
        [self.first, self.ots]
    }
}

/// A batch, and a message that came for it.
type Taken = Option<(Batch, Vec<u8>)>;

/// The length of a message, by the parameters, whether choices are given, and the batch.
type Length = fn(&Params, bool, &Batch) -> usize;

struct Run<'a, 'r> {
    ot: &'a mut Ot,
    session: &'a mut Session,
    request: &'a Request<'r>,
    sink: &'a mut dyn Sink,
}

impl Run<'_, '_> {
    fn params(&self) -> Params {
        self.ot.params
    }

    fn is_chosen(&self) -> bool {
        matches!(self.request.choices, Choices::Given(_))
    }

    fn at(&self, part: u16, batch: &Batch) -> At {
        At { lane: 0, part, op: self.request.op, batch: batch.number }
    }

    /// As receiver: extends, and sends the columns.
    fn send_columns(&mut self, batch: &Batch) -> Result<(), Error> {
        let at = self.at(step::COLUMNS, batch);
        let bytes = self.params().columns(self.is_chosen()) * batch.rows / 8;
        let malicious = self.params().is_malicious();
        for (index, pair) in self.ot.pairs.iter_mut().enumerate() {
            let Some(receiver) = &mut pair.receiver else { continue };
            let given = match self.request.choices {
                Choices::Random => None,
                Choices::Given(all) => Some(&all[index][batch.first / 64..][..batch.ots.div_ceil(64)]),
            };
            let mut message = self.session.mesh().filled(bytes);
            let used = pair.spare.1.pop().unwrap_or_default();
            let extended = receiver.extend(batch.rows, given, &mut message, used);
            self.session.mesh().send_vec(pair.peer, at, message)?;
            if malicious {
                pair.extended.push_back(extended);
            } else {
                let [memory, _] = &mut self.ot.memory;
                let (peer, sink) = (pair.peer, &mut *self.sink);
                receiver.hand_out(&extended, batch.ots(), self.request.form, memory, |ots| {
                    sink.received(Received { peer, ..ots });
                });
                pair.spare.1.push(extended);
            }
        }
        Ok(())
    }

    /// Takes what is due of each peer, all of it before anything is queued; then computes on it.
    fn take(&mut self, due: Due) -> Result<(), Error> {
        let (params, chosen) = (self.params(), self.is_chosen());
        let (op, form) = (self.request.op, self.request.form);
        let at = |part, batch: &Batch| At { lane: 0, part, op, batch: batch.number };
        for pair in &mut self.ot.pairs {
            let (peer, session) = (pair.peer, &mut *self.session);
            let mut coin = None;
            if let (Some(batch), Some(_)) = (&due.columns, &pair.sender)
                && planted(Mistake::CoinEarly)
            {
                coin = send_coin(session, peer, at(step::COIN, batch), params)?;
            }
            let mut recv = |role: bool, part, batch: Option<Batch>, bytes: Length| -> Result<Taken, Error> {
                let Some(batch) = batch.filter(|_| role) else { return Ok(None) };
                let message = session.mesh().recv(peer, at(part, &batch), bytes(&params, chosen, &batch))?;
                Ok(Some((batch, message)))
            };
            let (sends, receives) = (pair.sender.is_some(), pair.receiver.is_some());
            let coins = recv(receives, step::COIN, due.coin, |_, _, _| COIN_BYTES)?;
            let answers = recv(sends, step::ANSWER, due.answer, |_, _, _| ANSWER_BYTES)?;
            let columns = recv(sends, step::COLUMNS, due.columns, |params, chosen, batch| {
                params.columns(chosen) * batch.rows / 8
            })?;

            let memory = &mut self.ot.memory;
            if let (Some(sender), Some((batch, message))) = (&mut pair.sender, columns) {
                if coin.is_none() {
                    coin = send_coin(session, peer, at(step::COIN, &batch), params)?;
                }
                let used = pair.spare.0.pop().unwrap_or_default();
                pair.arrived.push_back(sender.extend(batch.rows, chosen, &message, coin, used));
                session.mesh().recycle(message);
                if let Some(arrived) = pair.arrived.back()
                    && planted(Mistake::HandedOutEarly)
                {
                    sender.hand_out(arrived, batch.ots(), form, memory.each_mut(), |ots| {
                        self.sink.sent(Sent { peer, ..ots });
                    });
                }
            }
            if let (Some(receiver), Some((batch, message))) = (&pair.receiver, coins)
                && let Some(extended) = pair.extended.pop_front()
            {
                let coin = message.first_chunk().copied().unwrap_or_default();
                session.mesh().recycle(message);
                let answer = receiver.answer(&extended, &coin);
                session.mesh().send(peer, at(step::ANSWER, &batch), &answer)?;
                receiver.hand_out(&extended, batch.ots(), form, &mut memory[0], |ots| {
                    self.sink.received(Received { peer, ..ots });
                });
                pair.spare.1.push(extended);
            }
            // Without checks a batch is as good when its columns are here.
            let early = planted(Mistake::AnswersUnawaited);
            let passed = match answers {
                Some((batch, message)) if !early => {
                    let right = match (&pair.sender, pair.arrived.front()) {
                        (Some(sender), Some(arrived)) => sender.accepts(arrived, &message),
                        _ => false,
                    };
                    if !right {
                        let peer = session.name(peer).to_owned();
                        let what = "choices for oblivious transfer aren't the same in all columns";
                        return Err(session.reject(&format!("{peer}'s {what}")));
                    }
                    session.mesh().recycle(message);
                    Some(batch)
                }
                _ => due.columns.filter(|_| !params.is_malicious() || early),
            };
            if let (Some(sender), Some(batch)) = (&pair.sender, passed)
                && let Some(arrived) = pair.arrived.pop_front()
            {
                sender.hand_out(&arrived, batch.ots(), form, memory.each_mut(), |ots| {
                    self.sink.sent(Sent { peer, ..ots });
                });
                pair.spare.0.push(arrived);
            }
        }
        Ok(())
    }
}

/// Draws and sends a coin, if there is a check.
fn send_coin(
    session: &mut Session,
    peer: usize,
    at: At,
    params: Params,
) -> Result<Option<[u8; COIN_BYTES]>, Error> {
    if !params.is_malicious() {
        return Ok(None);
    }
    let mut coin = [0; COIN_BYTES];
    session.entropy().fill(&mut coin)?;
    // Whoever has it knows whether its answer will be right.
    session.challenge();
    session.mesh().send(peer, at, &coin)?;
    Ok(Some(coin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_not_printed() {
        let choices = Choices::Given(&[&[0x1234_5678], &[77]]);
        let request = Request { op: 1, count: 2, choices, form: Form::Random };
        let printed = "Request { op: 1, count: 2, choices: Given(for 2 peers), form: Random }";
        assert_eq!(format!("{request:?}"), printed);
        assert_eq!(format!("{:?}", Choices::Random), "Random");
    }
}
