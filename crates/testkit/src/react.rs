//! An endpoint that reacts: it plays the protocol's own code with its own keys, and does as it likes with what that code
//! sends and hears.
//!
//! An [`Interceptor`](crate::Interceptor) decides on frames one by one, as a network would. An [`Attacker`] sits between one
//! endpoint's code and its links. It sees each message as it arrives.
//!
//! It may withhold what its code sends, release it later, replace it by what it computes from all it has seen, in any order and
//! to each peer differently; it may keep from its code what would end it, go by a clock of its own, and act on after its code has
//! ended.
//!
//! What the code knows inside, such as its shares, a protocol's `planted` module tells.
//!
//! It can't send under another endpoint's name: links are authenticated.

use std::collections::VecDeque;
use std::time::Duration;

use tacit_net::{Event, Frame, Transport, WireBytes};

/// What a corrupt endpoint does. Whatever isn't overridden is what an honest one does.
pub trait Attacker: Send {
    /// Its code sends a frame: pass it on with [`Act::send`], keep it, or send others.
    fn sends(&mut self, to: usize, frame: Frame, act: &mut Act<'_>) {
        act.send(to, frame);
    }

    /// A frame, or the end of a link, has come: pass it on with [`Act::hear`], or keep it from the code.
    fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
        act.hear(from, event);
    }

    /// When it wants to act though nothing comes: [`Attacker::woken`] is called then, if its code waits.
    fn wakes(&self) -> Option<Duration> {
        None
    }

    /// The time that [`Attacker::wakes`] named has come. It has to name another one, or none, from then on.
    fn woken(&mut self, _act: &mut Act<'_>) {}

    /// What its code takes for the time.
    fn clock(&self, now: Duration) -> Duration {
        now
    }

    /// Its code has nothing more to send: whether the links may say so by themselves, to all.
    fn finishes(&self) -> bool {
        true
    }

    /// Its code has ended. What is to be done after that is done here, with [`Act::poll`]; the links end with it.
    fn ends(&mut self, _act: &mut Act<'_>) {}
}

/// What an [`Attacker`] can do.
pub struct Act<'a> {
    links: &'a mut dyn Transport,
    heard: &'a mut VecDeque<(usize, Event)>,
}

impl Act<'_> {
    /// Sends a frame, at once.
    pub fn send(&mut self, to: usize, frame: Frame) {
        self.links.send(to, frame);
        self.links.flush();
    }

    /// Lets its code hear something, after what it was let hear before.
    pub fn hear(&mut self, from: usize, event: Event) {
        self.heard.push_back((from, event));
    }

    /// The time.
    pub fn now(&self) -> Duration {
        self.links.now()
    }

    /// What comes next, waiting so long at most: for [`Attacker::ends`], where nobody else asks.
    pub fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        self.links.poll(wait)
    }
}

/// An endpoint's links, with an attacker on them.
pub fn reacting(links: Box<dyn Transport>, attacker: Box<dyn Attacker>) -> Box<dyn Transport> {
    Box::new(Reacting { links, attacker, heard: VecDeque::new() })
}

struct Reacting {
    links: Box<dyn Transport>,
    attacker: Box<dyn Attacker>,
    /// What the code is still to hear.
    heard: VecDeque<(usize, Event)>,
}

impl Reacting {
    fn act(&mut self, act: impl FnOnce(&mut dyn Attacker, &mut Act<'_>)) {
        act(self.attacker.as_mut(), &mut Act { links: self.links.as_mut(), heard: &mut self.heard });
    }
}

impl Transport for Reacting {
    fn is_linked(&self, peer: usize) -> bool {
        self.links.is_linked(peer)
    }

    fn send(&mut self, to: usize, frame: Frame) {
        self.act(|attacker, act| attacker.sends(to, frame, act));
    }

    fn flush(&mut self) -> bool {
        self.links.flush()
    }

    fn backlog(&self, to: usize) -> usize {
        self.links.backlog(to)
    }

    fn poll(&mut self, wait: Duration) -> Option<(usize, Event)> {
        let until = self.links.now() + wait;
        loop {
            if let Some(heard) = self.heard.pop_front() {
                return Some(heard);
            }
            let (now, wakes) = (self.links.now(), self.attacker.wakes());
            if wakes.is_some_and(|at| at <= now) {
                self.act(|attacker, act| attacker.woken(act));
                assert_ne!(self.attacker.wakes(), wakes, "an attacker that is woken names another time");
                continue;
            }
            let next = wakes.map_or(until, |at| at.min(until));
            match self.links.poll(next.saturating_sub(now)) {
                Some((from, event)) => self.act(|attacker, act| attacker.hears(from, event, act)),
                None if self.links.now() >= until => return None,
                None => {}
            }
        }
    }

    fn hold(&mut self, peer: usize, hold: bool) {
        self.links.hold(peer, hold);
    }

    fn now(&self) -> Duration {
        self.attacker.clock(self.links.now())
    }

    fn wire_bytes(&self, peer: usize) -> WireBytes {
        self.links.wire_bytes(peer)
    }

    fn finish(&mut self) -> bool {
        self.attacker.finishes() && self.links.finish()
    }
}

impl Drop for Reacting {
    fn drop(&mut self) {
        // A thread that panics has nothing more to do to others.
        if !std::thread::panicking() {
            self.act(|attacker, act| attacker.ends(act));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::World;
    use tacit_net::At;

    const SECOND: Duration = Duration::from_secs(1);

    fn frame(op: u32) -> Frame {
        Frame::data(At::op(op), vec![1])
    }

    fn op(heard: Option<(usize, Event)>) -> Option<u32> {
        match heard {
            Some((_, Event::Frame(frame))) => Some(frame.at.op),
            _ => None,
        }
    }

    /// Withholds what its code sends until it has heard something, answers that first, and says a last word.
    #[derive(Default)]
    struct Late(Vec<(usize, Frame)>);

    impl Attacker for Late {
        fn sends(&mut self, to: usize, frame: Frame, _: &mut Act<'_>) {
            self.0.push((to, frame));
        }

        fn hears(&mut self, from: usize, event: Event, act: &mut Act<'_>) {
            act.send(from, frame(9));
            for (to, frame) in self.0.drain(..) {
                act.send(to, frame);
            }
            act.hear(from, event);
        }

        fn ends(&mut self, act: &mut Act<'_>) {
            assert!(act.poll(2 * SECOND).is_none());
            act.send(1, frame(10));
        }
    }

    #[test]
    fn it_withholds_answers_releases_and_outlives_its_code() {
        let world = World::new(2, 0);
        let mut links = world.transports().into_iter().flatten();
        let (first, mut second) = (links.next().unwrap(), links.next().unwrap());
        let other = std::thread::spawn(move || {
            assert!(second.poll(SECOND).is_none(), "it is withheld");
            second.send(0, frame(7));
            let heard = [(); 3].map(|()| op(second.poll(4 * SECOND)));
            (heard, second.now())
        });
        let mut corrupt = reacting(first, Box::new(Late::default()));
        corrupt.send(1, frame(5));
        assert_eq!(op(corrupt.poll(9 * SECOND)), Some(7));
        drop(corrupt);
        let (heard, now) = other.join().unwrap();
        assert_eq!(heard, [Some(9), Some(5), Some(10)]);
        assert!(now > 3 * SECOND);
    }

    /// Acts by itself, on a clock that runs ahead for its code.
    struct Restless(Duration);

    impl Attacker for Restless {
        fn wakes(&self) -> Option<Duration> {
            Some(self.0)
        }

        fn woken(&mut self, act: &mut Act<'_>) {
            assert_eq!(act.now(), self.0);
            act.hear(1, Event::Frame(frame(3)));
            self.0 += SECOND;
        }

        fn clock(&self, now: Duration) -> Duration {
            2 * now
        }
    }

    #[test]
    fn it_acts_by_itself_and_has_a_clock_of_its_own() {
        let world = World::new(1, 1);
        let mut links = world.transports().into_iter().flatten();
        let mut corrupt = reacting(links.next().unwrap(), Box::new(Restless(SECOND)));
        drop(links);
        assert!(matches!(corrupt.poll(SECOND / 2), Some((1, Event::Lost(_)))));
        assert!(corrupt.poll(SECOND / 2).is_none());
        assert_eq!(op(corrupt.poll(SECOND)), Some(3));
        assert_eq!(corrupt.now(), 2 * SECOND);
    }
}
