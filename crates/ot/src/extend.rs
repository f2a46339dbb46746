//! The extension over a session, batch after batch, with all peers at once.
//!
//! A batch takes three messages after the one with its columns: the sender's coin, once it holds the columns; the receiver's
//! answer; and then the sender knows. Nobody waits for them: while a batch's messages travel the next ones are computed. In
//! step `s` each party sends the columns of batch `s`, takes those of batch `s - 1` and sends its coin, answers the coin of
//! batch `s - 2` and looks at the answer for batch `s - 3`. So whatever is waited for was sent a step before.
//!
//! **Order.** A coin is drawn and sent when all of its batch's columns are here. OTs are handed out when their batch has
//! passed: to the receiver when it has answered, to the sender when the answer was right.
//!
//! **No deadlock.** In each step a party sends before it receives, and only receives what its peers sent in the step before.

use crate::pairs::Ot;
use crate::params::{ANSWER_BYTES, COIN_BYTES, Params};
use crate::planted::{Mistake, planted};
use crate::sink::{Form, Received, Sent, Sink};
use crate::step;
use tacit_net::At;
use tacit_session::{Error, Session};

/// A receiver's choices.
#[derive(Clone, Copy, Debug)]
pub enum Choices<'a> {
    /// Random ones.
    Random,
    /// For each peer, in the order of the setup, a packed bit for every OT. It costs a bit more for each.
    Given(&'a [&'a [u64]]),
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
    /// If a check fails or a link does. All secrets are then gone.
    ///
    /// # Panics
    /// If there aren't choices for every OT and peer.
    pub fn extend(
        &mut self,
        session: &mut Session,
        request: &Request<'_>,
        sink: &mut dyn Sink,
    ) -> Result<(), Error> {
        if let Choices::Given(all) = request.choices {
            let enough = all.iter().all(|bits| bits.len() >= request.count.div_ceil(64));
            assert!(all.len() == self.pairs.len() && enough, "a choice for every OT and peer");
        }
        if self.pairs.is_empty() {
            return Err(
                session.reject("oblivious transfers are asked for that no setup, or a failed one, is for")
            );
        }
        let done = self.run(session, request, sink);
        if done.is_err() {
            self.pairs.clear();
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
        let mut first = 0;
        let batches: Vec<Batch> = (0..)
            .zip(params.batches(request.count))
            .map(|(number, [rows, ots])| {
                let batch = Batch { number, rows, ots, first };
                first += ots;
                batch
            })
            .collect();
        let mut run = Run { ot: self, session, request, sink };
        let lag = if params.is_malicious() { 3 } else { 1 };
        for step in 0..batches.len() + lag {
            let batch = |behind: usize| step.checked_sub(behind).and_then(|at| batches.get(at));
            if let Some(batch) = batch(0) {
                run.send_columns(batch)?;
            }
            if let Some(batch) = batch(1) {
                run.take_columns(batch)?;
            }
            if !params.is_malicious() {
                continue;
            }
            if let Some(batch) = batch(2) {
                run.answer(batch)?;
            }
            if let Some(batch) = batch(3) {
                run.check(batch)?;
            }
        }
        Ok(())
    }
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

    /// As sender: takes the columns, and sends the coin that they'll be checked by.
    fn take_columns(&mut self, batch: &Batch) -> Result<(), Error> {
        let (at, coin_at) = (self.at(step::COLUMNS, batch), self.at(step::COIN, batch));
        let (params, chosen) = (self.params(), self.is_chosen());
        let bytes = params.columns(chosen) * batch.rows / 8;
        for pair in &mut self.ot.pairs {
            let Some(sender) = &mut pair.sender else { continue };
            let early = planted(Mistake::CoinEarly);
            let mut coin = if early { send_coin(self.session, pair.peer, coin_at, params)? } else { None };
            let message = self.session.mesh().recv(pair.peer, at, bytes)?;
            if !early {
                coin = send_coin(self.session, pair.peer, coin_at, params)?;
            }
            let used = pair.spare.0.pop().unwrap_or_default();
            let arrived = sender.extend(batch.rows, chosen, &message, coin, used);
            self.session.mesh().recycle(message);
            if params.is_malicious() {
                pair.arrived.push_back(arrived);
            } else {
                let (peer, sink) = (pair.peer, &mut *self.sink);
                let memory = self.ot.memory.each_mut();
                sender.hand_out(&arrived, batch.ots(), self.request.form, memory, |ots| {
                    sink.sent(Sent { peer, ..ots });
                });
                pair.spare.0.push(arrived);
            }
        }
        Ok(())
    }

    /// As receiver: answers a coin, and hands out what it was for.
    fn answer(&mut self, batch: &Batch) -> Result<(), Error> {
        let (at, answer_at) = (self.at(step::COIN, batch), self.at(step::ANSWER, batch));
        for pair in &mut self.ot.pairs {
            let Some(receiver) = &pair.receiver else { continue };
            let Some(extended) = pair.extended.pop_front() else { continue };
            let message = self.session.mesh().recv(pair.peer, at, COIN_BYTES)?;
            let coin = message.first_chunk().copied().unwrap_or_default();
            self.session.mesh().recycle(message);
            let answer = receiver.answer(&extended, &coin);
            self.session.mesh().send(pair.peer, answer_at, &answer)?;
            let [memory, _] = &mut self.ot.memory;
            let (peer, sink) = (pair.peer, &mut *self.sink);
            receiver.hand_out(&extended, batch.ots(), self.request.form, memory, |ots| {
                sink.received(Received { peer, ..ots });
            });
            pair.spare.1.push(extended);
        }
        Ok(())
    }

    /// As sender: checks an answer, and hands out what it was for.
    fn check(&mut self, batch: &Batch) -> Result<(), Error> {
        let at = self.at(step::ANSWER, batch);
        for pair in &mut self.ot.pairs {
            let Some(sender) = &pair.sender else { continue };
            let Some(arrived) = pair.arrived.pop_front() else { continue };
            let answer = self.session.mesh().recv(pair.peer, at, ANSWER_BYTES)?;
            if !sender.accepts(&arrived, &answer) {
                let peer = self.session.name(pair.peer).to_owned();
                let what = "choices for oblivious transfer aren't the same in all columns";
                return Err(self.session.reject(&format!("{peer}'s {what}")));
            }
            self.session.mesh().recycle(answer);
            let (peer, sink) = (pair.peer, &mut *self.sink);
            let memory = self.ot.memory.each_mut();
            sender.hand_out(&arrived, batch.ots(), self.request.form, memory, |ots| {
                sink.sent(Sent { peer, ..ots });
            });
            pair.spare.0.push(arrived);
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
