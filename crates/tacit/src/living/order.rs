//! Which requests are next: party 0's queue. Pure; nothing waits here.
//!
//! Requests that name the same program and tag meet in one run, which is ready when each of the program's names is played.
//! Of the runs that are ready the one is next whose clients were served longest ago, so one client with many connections
//! doesn't keep others waiting.

use super::control::{Player, Request};
use std::collections::HashMap;
use tacit_net::setup::{Client, Fingerprint};

/// Runs that wait to be, and that one client has asked for first, at most.
pub(crate) const EACH: usize = 8;

/// A request that has a place in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seated {
    /// The client's connection.
    pub(crate) guest: u64,
    pub(crate) player: Player,
    pub(crate) request: u64,
}

/// A run that is to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) program: [u8; 32],
    pub(crate) tag: String,
    /// The program's names that are no party's, in its order.
    needs: Vec<String>,
    pub(crate) seats: Vec<Seated>,
}

impl Group {
    /// Names that nobody plays yet.
    pub(crate) fn missing(&self) -> Vec<String> {
        let taken = |name: &&String| self.seats.iter().any(|seated| seated.player.plays == **name);
        self.needs.iter().filter(|name| !taken(name)).cloned().collect()
    }

    /// The place of a name in the program.
    fn place(&self, name: &str) -> usize {
        self.needs.iter().position(|other| other == name).unwrap_or(self.needs.len())
    }
}

/// What becomes of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// Its run is ready.
    Ready,
    /// These names are still to be played.
    Waits(Vec<String>),
    /// There is no room.
    Busy,
}

/// Requests that wait.
pub(crate) struct Order {
    groups: Vec<Group>,
    /// Runs that wait to be, at most.
    most: usize,
    /// When each client was served last.
    served: HashMap<String, u64>,
    turn: u64,
}

impl Order {
    pub(crate) fn new(most: usize) -> Self {
        Self { groups: Vec::new(), most, served: HashMap::new(), turn: 0 }
    }

    /// Takes in a client's request for a program that needs these names played.
    pub(crate) fn ask(
        &mut self,
        guest: u64,
        client: &Client,
        request: &Request,
        needs: Vec<String>,
    ) -> Taken {
        let print = client.fingerprint.map(|Fingerprint(print)| print);
        let player = Player { plays: request.plays.clone(), client: client.name.clone(), print };
        let seated = Seated { guest, player, request: request.id };
        let fits = |group: &Group| {
            let same = group.program == request.program && group.tag == request.tag;
            same && group.missing().contains(&request.plays)
                && !group.seats.iter().any(|other| other.player.is(client))
        };
        let at = match self.groups.iter().position(fits) {
            // Others wait for it: a full queue of those would never end.
            Some(at) => at,
            None if self.groups.len() >= self.most || self.seats_of(client) >= EACH => return Taken::Busy,
            None => {
                let (program, tag) = (request.program, request.tag.clone());
                self.groups.push(Group { program, tag, needs, seats: Vec::new() });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[at];
        let place = group.place(&seated.player.plays);
        let before = group.seats.iter().take_while(|other| group.place(&other.player.plays) < place).count();
        group.seats.insert(before, seated);
        let missing = group.missing();
        if missing.is_empty() { Taken::Ready } else { Taken::Waits(missing) }
    }

    /// Puts back a run that was taken out and couldn't begin. It had its turn, and is the first of those served as long ago.
    pub(crate) fn put_back(
        &mut self,
        program: [u8; 32],
        tag: String,
        needs: Vec<String>,
        seats: Vec<Seated>,
    ) {
        for seated in &seats {
            self.served.remove(&seated.player.client);
        }
        self.groups.insert(0, Group { program, tag, needs, seats });
    }

    /// In how many runs that wait to be a client has a place.
    fn seats_of(&self, client: &Client) -> usize {
        self.groups.iter().filter(|group| group.seats.iter().any(|seated| seated.player.is(client))).count()
    }

    /// Forgets the request of a connection.
    pub(crate) fn leave(&mut self, guest: u64) {
        for group in &mut self.groups {
            group.seats.retain(|seated| seated.guest != guest);
        }
        self.groups.retain(|group| !group.seats.is_empty());
    }

    /// The names that some request waits for.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut missing: Vec<String> = self.groups.iter().flat_map(Group::missing).collect();
        missing.sort();
        missing.dedup();
        missing
    }

    /// Takes out the run that is next, if one is ready of those whose clients may all have one more.
    pub(crate) fn next(&mut self, may: impl Fn(&Player) -> bool) -> Option<Group> {
        let last = |group: &Group| {
            let each = group.seats.iter().map(|seated| self.served.get(&seated.player.client).copied());
            each.map(Option::unwrap_or_default).max()
        };
        let is_ready = |group: &Group| {
            group.missing().is_empty() && group.seats.iter().all(|seated| may(&seated.player))
        };
        let ready = self.groups.iter().enumerate().filter(|(_, group)| is_ready(group));
        let (at, _) = ready.min_by_key(|(at, group)| (last(group), *at))?;
        let group = self.groups.remove(at);
        self.turn += 1;
        if self.served.len() > 2 * self.most {
            self.served.clear();
        }
        for seated in &group.seats {
            self.served.insert(seated.player.client.clone(), self.turn);
        }
        Some(group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(name: &str) -> Client {
        Client { name: name.into(), fingerprint: None }
    }

    fn ask(order: &mut Order, guest: u64, name: &str, plays: &str, tag: &str) -> Taken {
        let request = Request {
            id: guest,
            program: [1; 32],
            protocol: "replicated".into(),
            plays: plays.into(),
            tag: tag.into(),
        };
        order.ask(guest, &client(name), &request, vec!["x".into(), "y".into()])
    }

    fn guests(group: Option<Group>) -> Vec<u64> {
        group.map_or_else(Vec::new, |group| group.seats.iter().map(|seated| seated.guest).collect())
    }

    #[test]
    fn requests_of_one_tag_meet_in_the_programs_order() {
        let mut order = Order::new(10);
        assert_eq!(ask(&mut order, 1, "alice", "y", "a"), Taken::Waits(vec!["x".into()]));
        assert_eq!(ask(&mut order, 2, "bob", "x", "b"), Taken::Waits(vec!["y".into()]));
        assert!(order.next(|_| true).is_none());
        assert_eq!(ask(&mut order, 3, "carol", "x", "a"), Taken::Ready);
        assert_eq!(guests(order.next(|_| true)), [3, 1]);
        assert_eq!((guests(order.next(|_| true)), order.missing()), (vec![], vec!["y".to_owned()]));
    }

    #[test]
    fn one_client_takes_neither_the_whole_queue_nor_more_runs_than_it_may() {
        let mut order = Order::new(100);
        for guest in 0..EACH as u64 {
            assert_eq!(ask(&mut order, guest, "greedy", "x", ""), Taken::Waits(vec!["y".into()]));
        }
        assert_eq!(ask(&mut order, 20, "greedy", "x", ""), Taken::Busy);
        // Others wait for it: it may join them, and they may begin runs of their own.
        assert_eq!(ask(&mut order, 21, "modest", "y", ""), Taken::Ready);
        assert_eq!(ask(&mut order, 22, "modest", "y", "own"), Taken::Waits(vec!["x".into()]));
        assert_eq!(ask(&mut order, 23, "greedy", "x", "own"), Taken::Ready);
        assert!(order.next(|player| player.client != "greedy").is_none());
        assert_eq!(guests(order.next(|_| true)), [0, 21]);
    }

    #[test]
    fn nobody_plays_both_names_and_a_second_request_begins_another_run() {
        let mut order = Order::new(10);
        ask(&mut order, 1, "alice", "x", "");
        assert_eq!(ask(&mut order, 2, "alice", "y", ""), Taken::Waits(vec!["x".into()]));
        assert_eq!(ask(&mut order, 3, "alice", "x", ""), Taken::Waits(vec!["y".into()]));
        assert_eq!(ask(&mut order, 4, "bob", "y", ""), Taken::Ready);
        assert_eq!(guests(order.next(|_| true)), [1, 4]);
    }

    #[test]
    fn who_was_served_longest_ago_is_next() {
        let mut order = Order::new(100);
        let one = |order: &mut Order, guest, name: &str| {
            let request = Request {
                id: guest,
                program: [2; 32],
                protocol: String::new(),
                plays: "x".into(),
                tag: String::new(),
            };
            assert_eq!(order.ask(guest, &client(name), &request, vec!["x".into()]), Taken::Ready);
        };
        for guest in 0..3 {
            one(&mut order, guest, "greedy");
        }
        one(&mut order, 10, "modest");
        one(&mut order, 11, "meek");
        let turns: Vec<Vec<u64>> = (0..5).map(|_| guests(order.next(|_| true))).collect();
        assert_eq!(turns, [vec![0], vec![10], vec![11], vec![1], vec![2]]);
    }

    #[test]
    fn the_queue_is_bounded_but_for_those_whom_others_wait_for() {
        let mut order = Order::new(2);
        ask(&mut order, 1, "alice", "x", "");
        ask(&mut order, 2, "bob", "x", "");
        assert_eq!(ask(&mut order, 3, "carol", "x", ""), Taken::Busy);
        assert_eq!(ask(&mut order, 4, "dave", "y", ""), Taken::Ready);
        assert_eq!(ask(&mut order, 3, "carol", "x", ""), Taken::Busy);
        order.leave(2);
        assert_eq!(
            (ask(&mut order, 3, "carol", "x", ""), order.missing()),
            (Taken::Waits(vec!["y".into()]), vec!["y".to_owned()])
        );
        assert_eq!(guests(order.next(|_| true)), [1, 4]);
    }
}
