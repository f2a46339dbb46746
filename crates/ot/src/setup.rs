//! Base OTs and trees with some peers, in one direction or both: two rounds.

use crate::base::{Chosen, Key, Offered};
use crate::context::Context;
use crate::delta::Delta;
use crate::pairs::{Ot, Pair, Roles};
use crate::params::{BASE_BYTES, LAMBDA, Params};
use crate::planted::{Mistake, planted};
use crate::receiver::Receiver;
use crate::sender::Sender;
use crate::step;
use crate::tile::Secret;
use crate::tree::{Grown, grow, regrow};
use subtle::ConstantTimeEq;
use tacit_kernel::leaves::Leaves;
use tacit_net::At;
use tacit_session::{Error, Session};
use zeroize::Zeroize;

/// The base OTs of a direction, between the first message and the keys.
struct Begun {
    peer: usize,
    /// As sender of the OTs: the base OTs' receiver.
    sender: Option<(Context, Delta, Chosen)>,
    /// As receiver of the OTs: the base OTs' sender.
    receiver: Option<(Context, Offered)>,
}

impl Ot {
    /// Makes base OTs and trees with each of `peers`, all of which do the same with this party at the same point: in both
    /// directions, or in one, the peers in the other one. `op` is a number that no other setup or extension of the plan has.
    /// Two rounds, in the phase that is on.
    ///
    /// # Errors
    /// If a peer sends something that isn't a point, or trees that aren't; or a link fails.
    pub fn setup(
        session: &mut Session,
        peers: &[usize],
        roles: Roles,
        params: Params,
        op: u32,
    ) -> Result<Self, Error> {
        let mut begun = Vec::new();
        for &peer in peers {
            begun.push(begin(session, peer, roles, &params, op)?);
        }
        // A peer of both roles sent what it chose first.
        let (mut receivers, mut keys) = (Vec::new(), Vec::new());
        for one in &begun {
            receivers.push(match &one.receiver {
                Some((context, offered)) => Some(plant(session, one.peer, *context, offered, &params, op)?),
                None => None,
            });
            keys.push(match &one.sender {
                Some((context, _, chosen)) => base_keys(session, one.peer, context, chosen, op)?,
                None => Vec::new(),
            });
        }
        let mut pairs = Vec::new();
        for ((one, keys), receiver) in begun.into_iter().zip(keys).zip(receivers) {
            let sender = match one.sender {
                Some((context, delta, _)) => {
                    Some(harvest(session, one.peer, (context, delta), &keys, &params, op)?)
                }
                None => None,
            };
            pairs.push(Pair::new(one.peer, sender, receiver));
        }
        Ok(Self { params, pairs, memory: [Secret::default(), Secret::default()], failure: None })
    }
}

const fn at(part: u16, op: u32) -> At {
    At { lane: 0, part, op, batch: 0 }
}

/// Sends the base OTs' points.
fn begin(session: &mut Session, peer: usize, roles: Roles, params: &Params, op: u32) -> Result<Begun, Error> {
    let me = session.me();
    let mut begun = Begun { peer, sender: None, receiver: None };
    if roles.sends() {
        let context = Context::new(session, [me, peer], op, params);
        let delta = Delta::draw(session.entropy())?;
        let chosen = Chosen::new(&context, delta.choices(params.heights()), session.entropy())?;
        session.mesh().send(peer, at(step::BASE_CHOICES, op), chosen.message())?;
        begun.sender = Some((context, delta, chosen));
    }
    if roles.receives() {
        let context = Context::new(session, [peer, me], op, params);
        let offered = Offered::new(LAMBDA, session.entropy())?;
        session.mesh().send(peer, at(step::BASE_POINTS, op), offered.message())?;
        begun.receiver = Some((context, offered));
    }
    Ok(begun)
}

/// As sender of the OTs: the keys that the base OTs gave.
fn base_keys(
    session: &mut Session,
    peer: usize,
    context: &Context,
    chosen: &Chosen,
    op: u32,
) -> Result<Vec<Key>, Error> {
    let theirs = session.mesh().recv(peer, at(step::BASE_POINTS, op), LAMBDA * BASE_BYTES[1])?;
    match chosen.keys(context, &theirs) {
        Some(keys) => Ok(keys),
        None => Err(no_point(session, peer)),
    }
}

/// As receiver of the OTs: grows all trees from the keys of the base OTs, and sends what the peer needs of them.
fn plant(
    session: &mut Session,
    peer: usize,
    context: Context,
    offered: &Offered,
    params: &Params,
    op: u32,
) -> Result<Receiver, Error> {
    let theirs = session.mesh().recv(peer, at(step::BASE_CHOICES, op), LAMBDA * BASE_BYTES[0])?;
    let Some(keys) = offered.keys(&context, &theirs) else { return Err(no_point(session, peer)) };
    let mut message = Vec::with_capacity(params.tree_bytes());
    let (mut trees, mut digests) = (Vec::new(), Vec::new());
    let mut rest = keys.as_slice();
    for (tree, height) in params.heights().enumerate() {
        let (base, after) = rest.split_at(height);
        rest = after;
        let Grown { keys, digest } = grow(&context, tree, base, params.is_malicious(), &mut message);
        trees.push(leaves(&keys));
        digests.extend(digest);
    }
    if params.digest_bytes() > 0 {
        message.extend_from_slice(&context.hash("trees", &[], &[digests.as_flattened()]));
    }
    session.mesh().send_vec(peer, at(step::TREES, op), message)?;
    Ok(Receiver::new(context, *params, trees))
}

/// As sender of the OTs: grows all trees but for the missing leaves, and compares them with their digest.
fn harvest(
    session: &mut Session,
    peer: usize,
    (context, delta): (Context, Delta),
    keys: &[Key],
    params: &Params,
    op: u32,
) -> Result<Sender, Error> {
    let message = session.mesh().recv(peer, at(step::TREES, op), params.tree_bytes())?;
    let (mut trees, mut digests) = (Vec::new(), Vec::new());
    let (mut rest, mut corrections, mut first) = (keys, message.as_slice(), 0);
    for (tree, height) in params.heights().enumerate() {
        let (base, after) = rest.split_at(height);
        let (own, others) = corrections.split_at(params.bytes_of_tree(height));
        (rest, corrections) = (after, others);
        let missing = delta.block(first, height);
        let Grown { keys, digest } = regrow(&context, tree, missing, base, params.is_malicious(), own);
        trees.push(leaves(&keys));
        digests.extend(digest);
        first += height;
    }
    if params.digest_bytes() > 0 {
        let digest = context.hash("trees", &[], &[digests.as_flattened()]);
        if !bool::from(digest.ct_eq(corrections)) && !planted(Mistake::TreesUnchecked) {
            let peer = session.name(peer).to_owned();
            return Err(
                session.reject(&format!("{peer}'s trees for oblivious transfer aren't those of its digest"))
            );
        }
    }
    Ok(Sender::new(context, *params, delta, trees))
}

/// Leaves whose streams are summed.
fn leaves(keys: &[Key]) -> Leaves {
    let mut plain: Vec<[u8; 16]> = keys.iter().map(|key| **key).collect();
    let leaves = Leaves::new(&plain);
    plain.zeroize();
    leaves
}

fn no_point(session: &mut Session, peer: usize) -> Error {
    let peer = session.name(peer).to_owned();
    session.reject(&format!("what {peer} sent for a base oblivious transfer is no point"))
}
