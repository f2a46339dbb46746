//! Checks of which this party has to hear the verdict: while one is under way, faults wait.

use super::Mesh;
use crate::error::Error;

impl Mesh {
    /// From now on, and until [`Mesh::raise_faults`], a peer that is lost, aborts or sends what it should not ends the run only
    /// when something is awaited of it that it hasn't sent; and the failure of another lane doesn't end this one. So nobody
    /// whose messages aren't needed any more, a client above all, can keep this party from what it waits for.
    ///
    /// All endpoints whose messages are awaited meanwhile have to call this before they send the last message that anybody
    /// awaits before it. That a check failed is no fault that waits.
    pub fn hold_faults(&mut self) {
        self.holding = true;
    }

    /// Ends what [`Mesh::hold_faults`] began; if there was a fault, the run ends now. Others may still wait for what this party
    /// has sent. So if the run ends badly within [`Limits::linger`](crate::Limits::linger) from now, this party keeps its links
    /// until then, unless the other [parties](Mesh::trust_check_failures_from) have left before.
    ///
    /// # Errors
    /// The fault, of a peer or of another lane.
    pub fn raise_faults(&mut self) -> Result<(), Error> {
        self.holding = false;
        self.stay = self.stay.max(self.transport.now());
        self.alive()?;
        let mut peers = self.peers.iter().enumerate();
        match peers.find_map(|(peer, state)| Some((peer, state.failed.clone()?))) {
            Some((peer, what)) => Err(self.fail(peer, what)),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Standing;
    use super::super::tests::{at, meshes, names};
    use super::*;
    use crate::error::ErrorKind;
    use crate::frame::{Frame, FrameKind};
    use crate::{AbortFlag, At, Lane, Limits, Transport, memory};

    /// What somebody does whose messages aren't needed.
    type Fault = fn(&mut dyn Transport);

    /// Two parties that hold faults, and a client, or a third party, that does this and is lost.
    fn with(parties: usize, fault: Fault) -> Vec<Mesh> {
        let mut ends = memory::mesh(parties, 3 - parties).into_iter();
        let mut mesh = |me| {
            let end = Box::new(ends.next().unwrap());
            let mut mesh = Mesh::new(end, me, names(parties, 3 - parties), Limits::default());
            mesh.trust_check_failures_from(parties);
            mesh.hold_faults();
            mesh
        };
        let meshes = vec![mesh(0), mesh(1)];
        fault(&mut ends.next().unwrap());
        meshes
    }

    fn abort(end: &mut dyn Transport, check_failed: bool) {
        for to in 0..2 {
            let at = At { part: 2, batch: check_failed.into(), ..At::default() };
            end.send(to, Frame { kind: FrameKind::Abort, at, payload: b"no".to_vec() });
        }
    }

    /// The two exchange messages, and one waits for the other, whatever the third does; then its fault ends the run for both.
    #[test]
    fn who_isnt_awaited_ends_nothing_until_faults_are_raised() {
        let faults: [(usize, Fault); 6] = [
            (2, |_| {}),
            (2, |end| abort(end, false)),
            // It isn't believed.
            (2, |end| abort(end, true)),
            (2, |end| {
                let at = At { part: 9, ..At::default() };
                (0..2).for_each(|to| end.send(to, Frame { kind: FrameKind::KeepAlive, at, payload: vec![] }));
            }),
            (3, |_| {}),
            (3, |end| abort(end, false)),
        ];
        for (number, (parties, fault)) in faults.into_iter().enumerate() {
            let mut meshes = with(parties, fault);
            let mut second = meshes.pop().unwrap();
            let first = &mut meshes[0];
            first.tick_now().unwrap();
            second.tick_now().unwrap();
            let waiting = std::thread::spawn(move || {
                assert_eq!(second.recv(0, at(1), 1).unwrap(), [7], "{number}");
                let error = second.raise_faults().unwrap_err();
                assert_eq!(error.peer().unwrap().index, 2, "{number}: {error}");
            });
            std::thread::sleep(std::time::Duration::from_millis(20));
            first.send(1, at(1), &[7]).unwrap();
            first.tick_now().unwrap();
            waiting.join().unwrap();
            // Of the third, or the other one's word of it, if that was there before.
            let error = first.raise_faults().unwrap_err();
            let is_word =
                error.peer().unwrap().index == 1 && matches!(error.what(), ErrorKind::Aborted { .. });
            assert!(is_word || error.peer().unwrap().index == 2, "{number}: {error}");
            assert_eq!(first.tick().unwrap_err(), error);
        }
    }

    /// What it had sent is taken; then it is lost.
    #[test]
    fn who_is_awaited_is_lost_at_once_but_for_what_it_has_sent() {
        let mut meshes = with(3, |end| {
            (0..2).for_each(|to| end.send(to, Frame::data(at(1), vec![7])));
        });
        let first = &mut meshes[0];
        first.tick_now().unwrap();
        assert_eq!(first.recv(2, at(1), 1).unwrap(), [7]);
        let error = first.recv(2, at(2), 1).unwrap_err();
        assert!(matches!(error.what(), ErrorKind::Closed { .. }), "{error}");
        assert_eq!(first.raise_faults().unwrap_err(), error);
    }

    #[test]
    fn a_check_that_failed_at_a_party_is_heard_at_once() {
        let mut meshes = with(3, |end| abort(end, true));
        let error = meshes[0].recv(1, at(1), 1).unwrap_err();
        assert!(matches!(error.what(), ErrorKind::Aborted { check_failed: true, .. }), "{error}");
        assert_eq!(meshes[0].peers[2].standing, Standing::Left);
    }

    #[test]
    fn another_lane_ends_this_one_once_faults_are_raised() {
        let tie = AbortFlag::default();
        let mut meshes = meshes(2, 0);
        let mut second = meshes.pop().unwrap();
        let mut first = meshes.pop().unwrap().in_lane(Lane { number: 0, count: 2 }, tie.clone());
        first.hold_faults();
        tie.set(Lane { number: 1, count: 2 }, "power");
        first.send(1, at(1), &[7]).unwrap();
        second.send(0, at(1), &[8]).unwrap();
        assert_eq!(first.recv(1, at(1), 1).unwrap(), [8]);
        let error = first.raise_faults().unwrap_err();
        assert!(error.to_string().contains("lane 1 failed: power"), "{error}");
        // And that tells the others, after all that was sent before.
        assert_eq!(second.recv(0, at(1), 1).unwrap(), [7]);
        assert!(matches!(second.tick_now().unwrap_err().what(), ErrorKind::Aborted { .. }));
    }

    #[test]
    fn without_a_fault_nothing_ends() {
        let mut meshes = meshes(2, 0);
        meshes[0].hold_faults();
        meshes[0].raise_faults().unwrap();
        meshes[1].abort("no");
        assert!(matches!(meshes[0].recv(1, at(1), 0).unwrap_err().what(), ErrorKind::Aborted { .. }));
    }
}
