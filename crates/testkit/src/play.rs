//! Endpoints in threads, without a plan: what they do in a session is a test's own.

use std::thread;

use tacit_net::{Limits, Mesh, Transport};
use tacit_session::{Agreement, Error, Session};

use crate::Draws;
use crate::case::Links;

/// Lets every endpoint do its part over its links, each in a thread; what came of it, by endpoint.
///
/// # Panics
/// If one does.
pub fn in_threads<T: Send>(links: Links, part: impl Fn(usize, Box<dyn Transport>) -> T + Sync) -> Vec<T> {
    thread::scope(|scope| {
        let part = &part;
        let start = |(me, links): (usize, Option<Box<dyn Transport>>)| {
            links.map(|links| scope.spawn(move || part(me, links)))
        };
        let threads: Vec<_> = links.into_iter().enumerate().filter_map(start).collect();
        threads.into_iter().map(|thread| thread.join().expect("no endpoint panics")).collect()
    })
}

/// Lets every endpoint establish a session and then do its part, each in a thread; how it ended for each.
///
/// # Panics
/// As [`in_threads`].
pub fn play<T: Send, E: From<Error> + Send>(
    links: Links,
    agreement: &Agreement,
    draws: &Draws,
    part: impl Fn(&mut Session) -> Result<T, E> + Sync,
) -> Vec<Result<T, E>> {
    let names = [&agreement.parties[..], &agreement.clients[..]].concat();
    in_threads(links, |me, links| {
        let mesh = Mesh::new(links, me, names.clone(), Limits::default());
        let mut session = Session::establish(mesh, agreement.clone(), draws.of(me))?;
        let result = part(&mut session)?;
        session.close()?;
        Ok(result)
    })
}
