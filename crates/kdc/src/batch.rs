//! Requests that came together: each is answered in a thread of its own, and what they compute on shared keys at the
//! same time runs together ([`tacit::batcher`]).

use crate::circuits::{self, Class, Expected, Form};
use crate::enctype::CONFOUNDER;
use crate::exchange::{
    Answer, Given, Knowing, Message, Sealed, Shares, Steps, Verified, Wiped, answer, asks_for_shares,
};
use crate::messages::{self, Code};
use crate::programs::Task;
use crate::realm::Sessions;
use crate::server::node::{Node, Step, log, now};
use crate::took::Took;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Instant;
use tacit::batcher::{self, Named, Service};
use tacit::{Error, Report};
use terms::Terms;
use zeroize::Zeroizing;

mod terms;

#[cfg(test)]
mod attackers;
#[cfg(test)]
mod long;
#[cfg(test)]
mod tests;

/// Answers requests until a time; those that aren't answered then get an error. `named` is what all servers were sent of them.
pub(crate) fn answer_all(node: &Node, named: &[u8], requests: &[Vec<u8>], until: Instant) -> Vec<Vec<u8>> {
    let mut name = String::new();
    for byte in Sha256::digest(named) {
        // Writing into a string can't fail.
        let _ = write!(name, "{byte:02x}");
    }
    let turn = node.batcher.turn();
    let terms = Terms::new(node, until);
    let principals = &*terms.principals;
    let begins = requests.iter().any(|request| asks_for_shares(request));
    let batch = Named { name: &name, requests: requests.len(), begins };
    let answers = turn.answer(&terms, batch, |request| {
        let settings = &node.settings;
        let bytes = &requests[request.number()];
        let shares = Together { node, request, relies_on: BTreeSet::new() };
        let mut shares: Box<dyn Shares + '_> = match settings.sessions {
            Sessions::Shared => Box::new(shares),
            Sessions::Servers => Box::new(Knowing::new(settings.enctype, shares)),
        };
        logged(answer(settings, principals, bytes, now(), &node.memory, &mut *shares))
    });
    let unanswered = || messages::error(Code::Unavailable, now(), &node.settings.realm, None, None);
    match answers {
        Ok(answers) => answers.into_iter().map(|answer| answer.unwrap_or_else(unanswered)).collect(),
        Err(error) => {
            log(error);
            requests.iter().map(|_| unanswered()).collect()
        }
    }
}

fn logged(Answer { bytes, line, failed }: Answer) -> Vec<u8> {
    log(line);
    if let Some(error) = failed {
        log(error);
    }
    bytes
}

impl batcher::Step for Step {
    type Kind = Task;

    fn kind(&self) -> Task {
        self.task
    }

    fn mark(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(format!("{:?} {:?} ", self.task, self.records));
        hash.update(Zeroizing::new(self.public.iter().map(|&bit| u8::from(bit)).collect::<Vec<_>>()));
        hash.finalize().into()
    }

    fn is_last(&self) -> bool {
        self.task.is_last()
    }
}

/// Its outputs, and the median of the clocks.
type Outcome = (Vec<Wiped>, i64);

impl Service for Terms<'_> {
    type Step = Step;
    type Outcome = Outcome;

    fn refusal(&self) -> impl Fn(&Step) -> Option<String> {
        let now = self.now();
        move |step| now.refusal(step).map(str::to_owned)
    }

    fn run(&self, tag: String, steps: &[Step]) -> Result<Vec<Outcome>, Error> {
        let (outputs, median) = self.node.run(tag, steps)?;
        Ok(outputs.into_iter().map(|outputs| (outputs, median)).collect())
    }

    fn has_called(&self, report: &Report, wanted: usize) {
        log(Took::of(report, wanted));
    }
}

/// One request among those that came together.
struct Together<'r, 'n> {
    node: &'n Node,
    request: batcher::Request<'r, Terms<'n>>,
    /// The records of principals that must be as they were.
    relies_on: BTreeSet<String>,
}

impl Together<'_, '_> {
    fn step(&mut self, task: Task, public: Vec<bool>, records: &[&str]) -> Result<(Vec<Wiped>, i64), Error> {
        let records: Vec<String> = records.iter().map(|record| (*record).to_owned()).collect();
        self.relies_on.extend(records.iter().cloned());
        let (public, relies_on) = (public.into(), self.relies_on.clone());
        let step = Step { task, public, records, relies_on };
        self.request.want(step).map_err(Error::Refused)
    }

    /// The class of messages of so many bytes, codes not counted.
    fn class(longest: usize) -> Result<Class, Error> {
        Class::of(longest).ok_or_else(|| Error::Refused("a message is too long for any program".to_owned()))
    }

    fn sizes(&self, given: Given<'_>, more: usize) -> Result<circuits::Sizes, Error> {
        let code = self.node.settings.enctype.mac_bytes();
        let longest = given.ticket.len().max(given.authenticator.len()).saturating_sub(code).max(more);
        Ok(circuits::Sizes { class: Self::class(longest)?, key_at: given.key_at })
    }

    /// Ciphertexts with their codes, of plaintexts of so many bytes.
    fn sealed(outputs: &[Wiped], plains: &[usize]) -> Vec<Vec<u8>> {
        let put = |([blocks, code], plain): (&[Wiped; 2], &usize)| {
            let end = (CONFOUNDER + plain).min(blocks.len());
            [&blocks[..end], &code[..]].concat()
        };
        outputs.as_chunks().0.iter().zip(plains).map(put).collect()
    }

    /// What was sealed under a long-term key where servers know session keys, and what they drew.
    fn verified(&mut self, task: Task, class: Class, record: &str, sealed: &[u8]) -> Result<Verified, Error> {
        let enctype = self.node.settings.enctype;
        let (mut outputs, now) = self.step(task, circuits::verifies(enctype, class, sealed), &[record])?;
        let drawn = outputs.pop().unwrap_or_default();
        Ok(Verified { plain: opened(outputs, sealed.len() - enctype.sealed_bytes(0)), now, drawn })
    }
}

/// What was opened if a bit says that it was, cut to so many bytes.
fn opened(outputs: Vec<Wiped>, bytes: usize) -> Option<Wiped> {
    let [is_right, mut opened] = <[Wiped; 2]>::try_from(outputs).ok()?;
    opened.truncate(bytes);
    (is_right[..] == [1]).then_some(opened)
}

/// The same of what isn't secret.
fn shown(outputs: Vec<Wiped>, bytes: usize) -> Option<Vec<u8>> {
    opened(outputs, bytes).map(|opened| opened.to_vec())
}

impl Shares for Together<'_, '_> {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<(Option<Vec<u8>>, i64), Error> {
        let enctype = self.node.settings.enctype;
        let public = circuits::verifies(enctype, Class::TIMESTAMP, sealed);
        let (outputs, now) = self.step(Task::Verify, public, &[client])?;
        Ok((shown(outputs, sealed.len() - enctype.sealed_bytes(0)), now))
    }

    fn reply(
        &mut self,
        service: &str,
        client: &str,
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Sealed, Error> {
        let class = Self::class(CONFOUNDER + ticket.0.len().max(part.0.len()))?;
        let public = circuits::replies(self.node.settings.enctype, class, ticket, part);
        let (outputs, _) = self.step(Task::Reply(class), public, &[service, client])?;
        Sealed::of(Self::sealed(&outputs, &[ticket.0.len(), part.0.len()]))
    }

    fn verify_further(&mut self, krbtgt: &str, given: Given<'_>) -> Result<(Option<Vec<u8>>, i64), Error> {
        let (enctype, sizes) = (self.node.settings.enctype, self.sizes(given, 0)?);
        let public = circuits::verifies_further(enctype, sizes, given.ticket, given.authenticator);
        let (outputs, now) = self.step(Task::VerifyFurther(sizes.class), public, &[krbtgt])?;
        Ok((shown(outputs, given.ticket.len() - enctype.sealed_bytes(0)), now))
    }

    fn open_authenticator(
        &mut self,
        krbtgt: &str,
        given: Given<'_>,
        expected: Expected<'_>,
    ) -> Result<Option<Vec<u8>>, Error> {
        let (enctype, sizes) = (self.node.settings.enctype, self.sizes(given, 0)?);
        let public =
            circuits::opens_authenticator(enctype, sizes, given.ticket, given.authenticator, expected);
        let (outputs, _) = self.step(Task::OpenAuthenticator(sizes.class), public, &[krbtgt])?;
        Ok(shown(outputs, expected.bytes.len()))
    }

    fn reply_further(
        &mut self,
        krbtgt: &str,
        service: &str,
        (given, expected, body): (Given<'_>, Expected<'_>, &[u8]),
        ticket: (&[u8], Form),
        part: (&[u8], Form),
    ) -> Result<Option<Sealed>, Error> {
        let plain = CONFOUNDER + ticket.0.len().max(part.0.len());
        let sizes = self.sizes(given, plain.max(body.len()))?;
        let sent = (given.ticket, given.authenticator);
        let enctype = self.node.settings.enctype;
        let public = circuits::replies_further(enctype, sizes, sent, expected, body, ticket, part);
        let (outputs, _) = self.step(Task::ReplyFurther(sizes.class), public, &[krbtgt, service])?;
        let Some((is_right, outputs)) = outputs.split_first() else { return Ok(None) };
        if is_right[..] != [1] {
            return Ok(None);
        }
        Sealed::of(Self::sealed(outputs, &[ticket.0.len(), part.0.len()])).map(Some)
    }

    fn relies_on(&mut self, record: &str) {
        self.relies_on.insert(record.to_owned());
    }
}

impl Steps for Together<'_, '_> {
    fn verify(&mut self, client: &str, sealed: &[u8]) -> Result<Verified, Error> {
        self.verified(Task::VerifyAndDraw, Class::TIMESTAMP, client, sealed)
    }

    fn open_ticket(&mut self, krbtgt: &str, sealed: &[u8]) -> Result<Verified, Error> {
        let class = Self::class(sealed.len().saturating_sub(self.node.settings.enctype.mac_bytes()))?;
        self.verified(Task::OpenTicket(class), class, krbtgt, sealed)
    }

    fn seal(&mut self, messages: &[Message<'_>]) -> Result<Vec<Vec<u8>>, Error> {
        let plains: Vec<usize> = messages.iter().map(|(.., plain)| plain.len()).collect();
        let class = Self::class(CONFOUNDER + plains.iter().max().unwrap_or(&0))?;
        let task = if messages.len() == 1 { Task::SealTicket(class) } else { Task::SealReply(class) };
        let of: Vec<_> = messages.iter().map(|&(_, confounder, plain)| (confounder, plain)).collect();
        let records: Vec<&str> = messages.iter().map(|&(record, ..)| record).collect();
        let public = circuits::seals(self.node.settings.enctype, class, &of);
        let (outputs, _) = self.step(task, public, &records)?;
        Ok(Self::sealed(&outputs, &plains))
    }

    fn relies_on(&mut self, record: &str) {
        Shares::relies_on(self, record);
    }
}
