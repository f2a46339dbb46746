//! The attacker on the links of a [`World`](crate::World), who decides what becomes of every data frame.
//!
//! **What an interceptor can show.** It is a network that does as it likes, and a sender that deviates in any way that
//! doesn't depend on what the sender alone knows: it drops, delays, repeats, alters, falls silent, dies.
//!
//! **What it can't show.** It sees bytes, not shares. An attacker who computes with its keys (a party that lies
//! consistently about its share to one of two checkers, or answers a challenge by what it has drawn) does more than
//! flip bits. Such attacks need a protocol variant of their own. Signs of life, aborts and goodbyes pass unseen, except
//! on a link that is cut.

use std::time::Duration;
use tacit_net::Frame;

/// Decides what becomes of a data frame. Frames of one link come in the order in which they are sent; those of
/// different links in no certain order.
pub type Interceptor = Box<dyn FnMut(&Message<'_>) -> Fate + Send>;

/// A data frame that is being sent.
#[derive(Debug)]
pub struct Message<'a> {
    /// Who sends.
    pub from: usize,
    /// To whom.
    pub to: usize,
    /// How many data frames were sent on this link, which is one of the frame's lane, before.
    pub nth: usize,
    /// What is sent.
    pub frame: &'a Frame,
}

/// What becomes of a frame.
#[derive(Debug)]
pub enum Fate {
    /// It arrives as it is.
    Deliver,
    /// It arrives later than usual, and so does what follows on its link.
    Delay(Duration),
    /// These arrive in its place, in this order; none if there are none.
    Replace(Vec<Frame>),
    /// It is lost, and so is everything that follows on its link, its end included.
    Cut,
    /// It is lost, and so is everything that its sender sends to anybody from now on.
    Hang,
    /// It is lost, because its sender's process ends before it is sent.
    Die,
    /// It arrives as it is, and the process of this endpoint, another one, ends.
    Lose(usize),
}

/// One way to deviate, at one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deviation {
    /// A bit is flipped: that of this number, counted around the message.
    Flip(usize),
    /// The last byte is missing.
    Truncate,
    /// There is a byte too many.
    Extend,
    /// It arrives twice.
    Replay,
    /// The frame before it on its link arrives once more in its place.
    ReplayOlder,
    /// It and the next one on its link change places.
    Swap,
    /// It arrives so much later.
    Delay(Duration),
    /// It and what follows on its link is lost.
    Silence,
    /// Its sender sends nothing more to anybody, and lives on.
    Hang,
    /// Its sender dies before it is sent.
    Death,
}

impl Deviation {
    /// Deviates at the `nth` data frame from `from` to `to`, and nowhere else. An empty message can't be flipped
    /// or truncated, the first of a link has no older one, and the last can't be swapped: those arrive as they
    /// are, or in the last case not at all.
    pub fn at(self, from: usize, to: usize, nth: usize) -> Interceptor {
        let mut older: Option<Frame> = None;
        Box::new(move |message| {
            if (message.from, message.to) != (from, to) {
                return Fate::Deliver;
            }
            let frame = message.frame.clone();
            match self {
                Self::Swap if message.nth == nth => {
                    older = Some(frame);
                    Fate::Replace(vec![])
                }
                Self::Swap if message.nth == nth + 1 => {
                    Fate::Replace(std::iter::once(frame).chain(older.take()).collect())
                }
                Self::ReplayOlder if message.nth + 1 == nth => {
                    older = Some(frame);
                    Fate::Deliver
                }
                _ if message.nth == nth => self.once(frame, older.take()),
                _ => Fate::Deliver,
            }
        })
    }

    /// As [`Deviation::at`], in one of several lanes and in no other.
    pub fn in_lane(self, lane: u16, from: usize, to: usize, nth: usize) -> Interceptor {
        let mut there = self.at(from, to, nth);
        Box::new(move |message| if message.frame.at.lane == lane { there(message) } else { Fate::Deliver })
    }

    fn once(self, mut frame: Frame, older: Option<Frame>) -> Fate {
        match self {
            Self::Flip(bit) => {
                let bits = 8 * frame.payload.len();
                if let Some(byte) = frame.payload.get_mut((bit % bits.max(1)) / 8) {
                    *byte ^= 1 << (bit % 8);
                }
                Fate::Replace(vec![frame])
            }
            Self::Truncate => {
                frame.payload.pop();
                Fate::Replace(vec![frame])
            }
            Self::Extend => {
                frame.payload.push(0);
                Fate::Replace(vec![frame])
            }
            Self::Replay => Fate::Replace(vec![frame.clone(), frame]),
            Self::ReplayOlder => Fate::Replace(vec![older.unwrap_or(frame)]),
            Self::Delay(later) => Fate::Delay(later),
            Self::Silence => Fate::Cut,
            Self::Hang => Fate::Hang,
            Self::Death => Fate::Die,
            // A swap takes two frames; `at` does it.
            Self::Swap => Fate::Deliver,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_net::At;

    /// What arrives of frames 0 to 3 on one link.
    fn arrivals(deviation: Deviation) -> Vec<(u32, Vec<u8>)> {
        let mut decide = deviation.at(0, 1, 2);
        let mut arrived = Vec::new();
        for nth in 0..4_usize {
            let frame = Frame::data(At::op(nth as u32), vec![nth as u8; 2]);
            match decide(&Message { from: 0, to: 1, nth, frame: &frame }) {
                Fate::Deliver => arrived.push(frame),
                Fate::Replace(frames) => arrived.extend(frames),
                fate => panic!("{fate:?}"),
            }
        }
        arrived.into_iter().map(|frame| (frame.at.op, frame.payload)).collect()
    }

    #[test]
    fn each_deviation_does_what_it_says() {
        let whole = |op: u32| (op, vec![op as u8; 2]);
        let with = |third: Vec<(u32, Vec<u8>)>| [vec![whole(0), whole(1)], third, vec![whole(3)]].concat();
        assert_eq!(arrivals(Deviation::Flip(9)), with(vec![(2, vec![2, 0])]));
        assert_eq!(arrivals(Deviation::Flip(16)), with(vec![(2, vec![3, 2])]));
        assert_eq!(arrivals(Deviation::Truncate), with(vec![(2, vec![2])]));
        assert_eq!(arrivals(Deviation::Extend), with(vec![(2, vec![2, 2, 0])]));
        assert_eq!(arrivals(Deviation::Replay), with(vec![whole(2), whole(2)]));
        assert_eq!(arrivals(Deviation::ReplayOlder), with(vec![whole(1)]));
        assert_eq!(arrivals(Deviation::Swap), [whole(0), whole(1), whole(3), whole(2)]);
    }

    #[test]
    fn other_links_are_left_alone() {
        let mut decide = Deviation::Death.at(0, 1, 0);
        let frame = Frame::data(At::op(0), vec![]);
        assert!(matches!(decide(&Message { from: 1, to: 0, nth: 0, frame: &frame }), Fate::Deliver));
        assert!(matches!(decide(&Message { from: 0, to: 1, nth: 1, frame: &frame }), Fate::Deliver));
        assert!(matches!(decide(&Message { from: 0, to: 1, nth: 0, frame: &frame }), Fate::Die));
    }
}
