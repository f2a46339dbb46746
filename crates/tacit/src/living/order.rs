//! Which requests are next: party 0's queue. Pure; nothing waits here.
//!
//! Requests that name the same program, tag and choice of rows meet in one run, which is ready when each of the
//! program's names is played. Of the runs that are ready the one is next whose clients were served longest ago, so
//! one client with many connections doesn't keep others waiting. Others of its program and tag are instances of the
//! same run ([`super::batch`]).

use super::control::{Player, Request, is_one_twice};
use crate::state::fill::Fill;
use std::collections::HashMap;
use std::time::{Duration, Instant};
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
    pub(crate) fill: Fill,
    /// The program's names that are no party's, in its order.
    pub(crate) needs: Vec<String>,
    pub(crate) seats: Vec<Seated>,
    /// Whether it is to be a run of one instance.
    pub(crate) alone: bool,
    /// Since when it is ready, or the last of its requests is here.
    pub(crate) since: Instant,
    /// From when on it may be the next.
    pub(crate) from: Instant,
}

impl Group {
    /// Names that nobody plays yet.
    pub(crate) fn missing(&self) -> Vec<String> {
        let taken = |name: &&String| self.seats.iter().any(|seated| seated.player.plays == **name);
        self.needs.iter().filter(|name| !taken(name)).cloned().collect()
    }

    /// Whether those who have a place in another run could have it in this one, which lacks just them.
    fn takes(&self, other: &Self) -> bool {
        let missing = self.missing();
        let fits = |seated: &Seated| {
            missing.contains(&seated.player.plays)
                && !self.seats.iter().any(|own| is_one_twice(&[&own.player, &seated.player]))
        };
        let same = (other.program, &other.tag, &other.fill) == (self.program, &self.tag, &self.fill);
        same && other.seats.iter().all(fits)
    }

    /// Gives a request its place.
    fn seat(&mut self, seated: Seated) {
        let place = self.place(&seated.player.plays);
        let before = self.seats.iter().take_while(|other| self.place(&other.player.plays) < place).count();
        self.seats.insert(before, seated);
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
    /// How long a run that is ready waits for others of its program.
    window: Duration,
    /// When each client was served last.
    served: HashMap<String, u64>,
    turn: u64,
}

impl Order {
    pub(crate) fn new(most: usize, window: Duration) -> Self {
        Self { groups: Vec::new(), most, window, served: HashMap::new(), turn: 0 }
    }

    /// Takes in a client's request for a program that needs these names played.
    pub(crate) fn ask(
        &mut self,
        guest: u64,
        client: &Client,
        request: &Request,
        needs: Vec<String>,
        now: Instant,
    ) -> Taken {
        let print = client.fingerprint.map(|Fingerprint(print)| print);
        let player = Player { plays: request.plays.clone(), client: client.name.clone(), print };
        let seated = Seated { guest, player, request: request.id };
        let fits = |group: &Group| {
            let same =
                (group.program, &group.tag, &group.fill) == (request.program, &request.tag, &request.fill);
            same && group.missing().contains(&request.plays)
                && !group.seats.iter().any(|other| other.player.is(client))
        };
        let at = match self.groups.iter().position(fits) {
            // Others wait for it: a full queue of those would never end.
            Some(at) => at,
            None if self.groups.len() >= self.most || self.seats_of(client) >= EACH => return Taken::Busy,
            None => {
                let (program, tag, fill) = (request.program, request.tag.clone(), request.fill.clone());
                let (seats, alone) = (Vec::new(), request.alone);
                self.groups.push(Group { program, tag, fill, needs, seats, alone, since: now, from: now });
                self.groups.len() - 1
            }
        };
        let group = &mut self.groups[at];
        (group.since, group.alone) = (now, group.alone || request.alone);
        group.seat(seated);
        let missing = group.missing();
        if missing.is_empty() { Taken::Ready } else { Taken::Waits(missing) }
    }

    /// Puts back a run that was taken out and couldn't begin: as one that had no turn, if it is to be the first.
    pub(crate) fn put_back(&mut self, group: Group, first: bool) {
        for seated in group.seats.iter().filter(|_| first) {
            self.served.remove(&seated.player.client);
        }
        self.insert(0, group);
    }

    /// Has a run wait to be, or, if somebody has left it, with another one that lacks just those who are left: nobody
    /// would come any more for whom both wait.
    fn insert(&mut self, at: usize, group: Group) {
        // Nobody fits everywhere: another run would wait longer for a request that is withdrawn.
        if group.seats.is_empty() {
            return;
        }
        let is_whole = group.missing().is_empty();
        match self.groups.iter_mut().find(|other| !is_whole && other.takes(&group)) {
            Some(other) => {
                (other.since, other.alone) = (other.since.max(group.since), other.alone || group.alone);
                other.from = other.from.max(group.from);
                group.seats.into_iter().for_each(|seated| other.seat(seated));
            }
            None => self.groups.insert(at, group),
        }
    }

    /// In how many runs that wait to be a client has a place.
    fn seats_of(&self, client: &Client) -> usize {
        self.groups.iter().filter(|group| group.seats.iter().any(|seated| seated.player.is(client))).count()
    }

    /// Forgets the request of a connection.
    pub(crate) fn leave(&mut self, guest: u64) {
        let has = |group: &Group| group.seats.iter().any(|seated| seated.guest == guest);
        let Some(at) = self.groups.iter().position(has) else { return };
        let mut group = self.groups.remove(at);
        group.seats.retain(|seated| seated.guest != guest);
        self.insert(at, group);
    }

    /// The names that some request waits for.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut missing: Vec<String> = self.groups.iter().flat_map(Group::missing).collect();
        missing.sort();
        missing.dedup();
        missing
    }

    /// How long until a run that waits for others of its program needn't any more, or one may be the next that couldn't begin.
    pub(crate) fn pause(&self, now: Instant) -> Option<Duration> {
        let ready = self.groups.iter().filter(|group| group.missing().is_empty());
        let events = ready.flat_map(|group| [group.since + self.window, group.from]);
        let left = events.map(|then| then.saturating_duration_since(now));
        left.filter(|left| !left.is_zero()).min()
    }

    /// Takes out the instances of the run that is next, if one is ready of those whose clients may all have one more. `most`
    /// says how many instances a run of that program and tag has at most; with 0 there is none now.
    pub(crate) fn next(
        &mut self,
        now: Instant,
        most: impl Fn(&Group) -> usize,
        may: impl Fn(&Player) -> bool,
    ) -> Vec<Group> {
        let last = |group: &Group| {
            let each = group.seats.iter().map(|seated| self.served.get(&seated.player.client).copied());
            each.map(Option::unwrap_or_default).max()
        };
        let is_ready = |group: &Group| {
            let is_whole = now >= group.from && group.missing().is_empty();
            is_whole && group.seats.iter().all(|seated| may(&seated.player))
        };
        let mut ready: Vec<usize> = (0..self.groups.len()).filter(|&at| is_ready(&self.groups[at])).collect();
        ready.sort_by_key(|&at| (last(&self.groups[at]), at));
        let next = ready.iter().find_map(|&first| {
            let most = most(&self.groups[first]);
            if most == 0 {
                return None;
            }
            let together = self.together(first, &ready, most);
            let waits = most > 1 && !self.groups[first].alone && together.len() < most;
            (!waits || now >= self.groups[first].since + self.window).then_some(together)
        });
        let Some(mut next) = next else { return Vec::new() };
        // Runs have 1, 2, 4, ... instances: parties and clients needn't make ready for every number.
        next.truncate(1 << next.len().ilog2());
        let taken: Vec<Group> = next.iter().map(|&at| self.groups[at].clone()).collect();
        let mut at = 0..;
        self.groups.retain(|_| at.next().is_none_or(|at| !next.contains(&at)));
        self.turn += 1;
        if self.served.len() > 2 * self.most {
            self.served.clear();
        }
        for seated in taken.iter().flat_map(|group| &group.seats) {
            self.served.insert(seated.player.client.clone(), self.turn);
        }
        taken
    }

    /// A run that is ready, and others of those that can be instances of the same: no client has a part in two.
    fn together(&self, first: usize, ready: &[usize], most: usize) -> Vec<usize> {
        let one = &self.groups[first];
        let mut players: Vec<&Player> = one.seats.iter().map(|seated| &seated.player).collect();
        let mut together = vec![first];
        for &at in ready.iter().filter(|&&at| at != first && !one.alone) {
            let other = &self.groups[at];
            let own = players.len();
            if together.len() >= most
                || other.alone
                || (&other.program, &other.tag, &other.fill) != (&one.program, &one.tag, &one.fill)
            {
                continue;
            }
            players.extend(other.seats.iter().map(|seated| &seated.player));
            if is_one_twice(&players) {
                players.truncate(own);
            } else {
                together.push(at);
            }
        }
        together
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
            alone: false,
            fill: Fill::new(),
        };
        order.ask(guest, &client(name), &request, vec!["x".into(), "y".into()], Instant::now())
    }

    fn orders(most: usize) -> Order {
        Order::new(most, Duration::ZERO)
    }

    /// The clients of the next run, of one instance.
    fn next(order: &mut Order, may: impl Fn(&Player) -> bool) -> Vec<u64> {
        guests(&order.next(Instant::now(), |_| 1, may))
    }

    fn guests(groups: &[Group]) -> Vec<u64> {
        groups.iter().flat_map(|group| &group.seats).map(|seated| seated.guest).collect()
    }

    #[test]
    fn requests_of_one_tag_meet_in_the_programs_order() {
        let mut order = orders(10);
        assert_eq!(ask(&mut order, 1, "alice", "y", "a"), Taken::Waits(vec!["x".into()]));
        assert_eq!(ask(&mut order, 2, "bob", "x", "b"), Taken::Waits(vec!["y".into()]));
        assert!(next(&mut order, |_| true).is_empty());
        assert_eq!(ask(&mut order, 3, "carol", "x", "a"), Taken::Ready);
        assert_eq!(next(&mut order, |_| true), [3, 1]);
        assert_eq!((next(&mut order, |_| true), order.missing()), (vec![], vec!["y".to_owned()]));
    }

    #[test]
    fn one_client_takes_neither_the_whole_queue_nor_more_runs_than_it_may() {
        let mut order = orders(100);
        for guest in 0..EACH as u64 {
            assert_eq!(ask(&mut order, guest, "greedy", "x", ""), Taken::Waits(vec!["y".into()]));
        }
        assert_eq!(ask(&mut order, 20, "greedy", "x", ""), Taken::Busy);
        // Others wait for it: it may join them, and they may begin runs of their own.
        assert_eq!(ask(&mut order, 21, "modest", "y", ""), Taken::Ready);
        assert_eq!(ask(&mut order, 22, "modest", "y", "own"), Taken::Waits(vec!["x".into()]));
        assert_eq!(ask(&mut order, 23, "greedy", "x", "own"), Taken::Ready);
        assert!(next(&mut order, |player| player.client != "greedy").is_empty());
        assert_eq!(next(&mut order, |_| true), [0, 21]);
    }

    #[test]
    fn nobody_plays_both_names_and_a_second_request_begins_another_run() {
        let mut order = orders(10);
        ask(&mut order, 1, "alice", "x", "");
        assert_eq!(ask(&mut order, 2, "alice", "y", ""), Taken::Waits(vec!["x".into()]));
        assert_eq!(ask(&mut order, 3, "alice", "x", ""), Taken::Waits(vec!["y".into()]));
        assert_eq!(ask(&mut order, 4, "bob", "y", ""), Taken::Ready);
        assert_eq!(next(&mut order, |_| true), [1, 4]);
    }

    #[test]
    fn who_was_served_longest_ago_is_next() {
        let mut order = orders(100);
        let one = |order: &mut Order, guest, name| ask_one(order, guest, name, "", false, Instant::now());
        for guest in 0..3 {
            one(&mut order, guest, "greedy");
        }
        one(&mut order, 10, "modest");
        one(&mut order, 11, "meek");
        let turns: Vec<Vec<u64>> = (0..5).map(|_| next(&mut order, |_| true)).collect();
        assert_eq!(turns, [vec![0], vec![10], vec![11], vec![1], vec![2]]);
    }

    #[test]
    fn the_queue_is_bounded_but_for_those_whom_others_wait_for() {
        let mut order = orders(2);
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
        assert_eq!(next(&mut order, |_| true), [1, 4]);
    }

    /// Alice asks anew before it is noticed that her first connection is gone, and bob has joined that one.
    #[test]
    fn those_who_are_left_of_two_runs_meet() {
        let mut order = orders(10);
        ask(&mut order, 1, "alice", "x", "");
        ask(&mut order, 2, "alice", "x", "");
        assert_eq!(ask(&mut order, 3, "bob", "y", ""), Taken::Ready);
        order.leave(1);
        assert_eq!(next(&mut order, |_| true), [2, 3]);
        // Nobody has two parts in a run by that, and other tags stay apart.
        ask(&mut order, 4, "alice", "x", "");
        assert_eq!(ask(&mut order, 5, "bob", "y", ""), Taken::Ready);
        ask(&mut order, 6, "bob", "x", "");
        ask(&mut order, 7, "carol", "x", "other");
        order.leave(4);
        assert_eq!((next(&mut order, |_| true), order.missing().len()), (vec![], 2));
    }

    /// Asks for a program of one name, whose tag is this.
    fn ask_one(order: &mut Order, guest: u64, name: &str, tag: &str, alone: bool, now: Instant) {
        let (program, plays, tag) = ([2; 32], "x".to_owned(), tag.to_owned());
        let fill = Fill::new();
        let request = Request { id: guest, program, protocol: String::new(), plays, tag, alone, fill };
        assert_eq!(order.ask(guest, &client(name), &request, vec!["x".into()], now), Taken::Ready);
    }

    #[test]
    fn requests_of_a_window_are_instances_of_one_run() {
        let (window, start) = (Duration::from_millis(5), Instant::now());
        let mut order = Order::new(100, window);
        for (guest, name) in ["a", "b", "c", "a"].into_iter().enumerate() {
            ask_one(&mut order, guest as u64, name, "", false, start);
        }
        ask_one(&mut order, 4, "d", "other", false, start);
        assert!(guests(&order.next(start, |_| 4, |_| true)).is_empty());
        assert_eq!(order.pause(start), Some(window));
        // As many as there may be wait for no others; of three there are two.
        assert_eq!(guests(&order.next(start, |_| 3, |_| true)), [0, 1]);
        let due = start + window;
        assert_eq!(order.pause(due), None);
        assert_eq!(guests(&order.next(due, |_| 4, |_| true)), [2, 3]);
        assert_eq!(guests(&order.next(due, |_| 4, |_| true)), [4]);
        assert!(guests(&order.next(due, |_| 4, |_| true)).is_empty());
    }

    #[test]
    fn a_request_that_is_withdrawn_holds_up_no_other() {
        let mut order = orders(10);
        ask(&mut order, 1, "alice", "x", "");
        let since = order.groups[0].since;
        ask(&mut order, 2, "bob", "x", "");
        order.leave(2);
        assert_eq!((order.groups.len(), order.groups[0].since), (1, since));
    }

    #[test]
    fn a_run_that_came_to_nothing_is_the_next_unless_it_has_had_its_turn() {
        let mut order = orders(10);
        let now = Instant::now();
        ask_one(&mut order, 1, "alice", "", false, now);
        ask_one(&mut order, 2, "bob", "", false, now);
        let mut put_back = |first: bool| {
            let mut taken = order.next(now, |_| 1, |_| true);
            let next = guests(&taken);
            order.put_back(taken.swap_remove(0), first);
            next
        };
        assert_eq!([true, false, true, false].map(&mut put_back), [[1], [1], [2], [2]]);
        assert_eq!(put_back(true), [1]);
    }

    #[test]
    fn a_request_that_is_to_be_alone_neither_waits_nor_has_company() {
        let start = Instant::now();
        let mut order = Order::new(100, Duration::from_secs(1));
        for (guest, name) in ["a", "b", "c"].into_iter().enumerate() {
            ask_one(&mut order, guest as u64, name, "", name == "b", start);
        }
        assert_eq!(guests(&order.next(start, |_| 4, |_| true)), [1]);
        assert_eq!(guests(&order.next(start, |_| 2, |_| true)), [0, 2]);
    }
}
