//! Preprocessed material: what it is good for, and which of it a run uses.

use crate::endpoint::{Endpoint, of_version};
use crate::error::Error;
use crate::kept::{Instance, Kept, StorePath, has_stocks};
use crate::registry::Chosen;
use std::path::Path;
use tacit_engine::supply::{Blocks, Stock, agreed, list_message, read_lists};
use tacit_engine::{Material, Participants, Protocol};
use tacit_session::{At, Session, step};
use tacit_store::{Available, Binding, MAX_LIST_BYTES, PlanBinding, Store, Unit, WHOLE};

impl StorePath {
    /// Opens a party's store.
    pub(crate) fn open(&self, endpoint: &Endpoint, me: usize) -> Result<Store, Error> {
        two_phases(&*endpoint.protocol)?;
        Ok(Store::open(&self.store, &self.anchors, &binding(endpoint, me))?)
    }

    /// Opens a party's store for what its material was made under, of all that a protocol's name can come to; of a protocol
    /// that draws from supplies, that of its supplies.
    pub(crate) fn open_made(&self, endpoint: &Endpoint, chosen: &Chosen, me: usize) -> Result<Kept, Error> {
        if has_stocks(&*endpoint.protocol, &endpoint.parties) {
            let store = self.supplies(&*endpoint.protocol, &endpoint.parties, me, Store::open)?;
            return Ok(Kept::Supplies(Stock::new(store)));
        }
        let made = self.made(endpoint, chosen, me)?;
        Ok(Kept::Material(Box::new(self.open(made.as_ref().unwrap_or(endpoint), me)?)))
    }

    /// An endpoint as it was when a party's store was made, if there is one. If it was made for something else it is for the
    /// store to say so when it is opened.
    pub(crate) fn made(
        &self,
        endpoint: &Endpoint,
        chosen: &Chosen,
        me: usize,
    ) -> Result<Option<Endpoint>, Error> {
        let Some(bound) = Store::binding_at(&self.store)? else { return Ok(None) };
        let made = find_made(endpoint, chosen, me, |binding| *binding == bound)?;
        Ok(Some(made.unwrap_or_else(|| endpoint.clone())))
    }

    /// Opens a party's store, and makes it first if there is none.
    pub(crate) fn create(&self, endpoint: &Endpoint, me: usize) -> Result<Store, Error> {
        two_phases(&*endpoint.protocol)?;
        Ok(Store::create(&self.store, &self.anchors, &binding(endpoint, me))?)
    }

    /// Opens a party's store of supplies for a protocol, and makes it first if there is none. One process at a time can
    /// have it open.
    ///
    /// # Errors
    /// [`Error::Store`], for a store of something else too.
    pub fn open_supplies(
        &self,
        protocol: &dyn Protocol,
        parties: &[String],
        me: usize,
    ) -> Result<Store, Error> {
        self.supplies(protocol, parties, me, Store::create)
    }

    pub(crate) fn supplies(
        &self,
        protocol: &dyn Protocol,
        parties: &[String],
        me: usize,
        open: fn(&Path, &Path, &Binding) -> Result<Store, tacit_store::Error>,
    ) -> Result<Store, Error> {
        Ok(open(&self.store, &self.anchors, &stock_binding(protocol, parties, me))?)
    }
}

/// Refuses a protocol without an offline phase.
pub(crate) fn two_phases(protocol: &dyn Protocol) -> Result<(), Error> {
    if protocol.prepares() {
        return Ok(());
    }
    let spec = protocol.spec();
    let name = spec.name;
    if !protocol.stocks(*spec.parties.start()).is_empty() {
        return Err(Error::Refused(format!(
            "protocol {name:?} fills stores for any program, and what that sends isn't declared; `tacit cost` says what one run takes"
        )));
    }
    Err(Error::Refused(format!(
        "protocol {name:?} has no offline phase: it makes nothing ahead of time, and takes nothing from a store"
    )))
}

/// An endpoint as it was when the material of a party's store was made.
///
/// # Errors
/// [`Error::Refused`] if that was for something else.
pub(crate) fn made_under(
    endpoint: &Endpoint,
    chosen: &Chosen,
    me: usize,
    store: &Store,
) -> Result<Endpoint, Error> {
    find_made(endpoint, chosen, me, |binding| store.is_for(binding))?.ok_or_else(other)
}

/// Refuses a store whose material is for something else.
pub(crate) fn refuse_other(endpoint: &Endpoint, me: usize, store: &Store) -> Result<(), Error> {
    let is_mine = me < endpoint.parties.len() && store.is_for(&binding(endpoint, me));
    if is_mine { Ok(()) } else { Err(other()) }
}

fn other() -> Error {
    Error::Refused("the store was opened for another program, protocol or list of parties".to_owned())
}

/// An endpoint with what its protocol's name leaves open such that its binding is the one that is looked for.
fn find_made(
    endpoint: &Endpoint,
    chosen: &Chosen,
    me: usize,
    is_bound: impl Fn(&Binding) -> bool,
) -> Result<Option<Endpoint>, Error> {
    for protocol in chosen.all() {
        let made = endpoint.under(protocol)?;
        if is_bound(&binding(&made, me)) {
            return Ok(Some(made));
        }
    }
    Ok(None)
}

/// What a party's material is good for: all that the parties agree on before a run, but the window, on which no material
/// depends, and the plan.
fn binding(endpoint: &Endpoint, me: usize) -> Binding {
    Binding {
        me: endpoint.parties[me].clone(),
        parties: endpoint.parties.clone(),
        // Those who take part: a deployment's others come and go.
        clients: Participants::clients_of(endpoint.compiled.plan(), &endpoint.parties),
        protocol: endpoint.protocol.spec().name.to_owned(),
        parameters: endpoint.parameters(),
        plan: Some(PlanBinding {
            inputs: endpoint.compiled.describe_inputs(),
            program: endpoint.compiled.hash(),
            plan: endpoint.compiled.plan_digest(),
        }),
    }
}

/// What a party's supplies are good for: any program that the same parties run under the protocol.
pub(crate) fn stock_binding(protocol: &dyn Protocol, parties: &[String], me: usize) -> Binding {
    Binding {
        me: parties[me].clone(),
        parties: parties.to_vec(),
        clients: Vec::new(),
        protocol: protocol.spec().name.to_owned(),
        parameters: of_version(&protocol.material_values()),
        plan: None,
    }
}

/// Refuses supplies that are for something else.
pub(crate) fn refuse_other_stock(endpoint: &Endpoint, me: usize, stock: &Stock) -> Result<(), Error> {
    let parties = &endpoint.parties;
    let is_mine = me < parties.len() && stock.is_for(&stock_binding(&*endpoint.protocol, parties, me));
    if is_mine { Ok(()) } else { Err(other_stock()) }
}

pub(crate) fn other_stock() -> Error {
    Error::Refused(
        "the store was opened for a program, or for supplies of another protocol or list of parties"
            .to_owned(),
    )
}

/// Makes sure that all parties make what they need in the run, if the protocol has any of that, or all take it from supplies
/// in stores, and draw as many blocks of each kind. One round in the setup, of empty messages without a store.
pub(crate) fn agree_source(
    endpoint: &Endpoint,
    session: &mut Session,
    drawn: Option<&Blocks>,
) -> Result<(), Error> {
    // The same at all parties, whoever has a store.
    if drawn.is_none() && !endpoint.protocol.prepares() && endpoint.draws().is_empty() {
        return Ok(());
    }
    let own = drawn.map_or_else(Vec::new, |blocks| {
        let each = blocks.iter().flat_map(|(kind, count)| [kind.code(), *count].map(u64::to_le_bytes));
        [vec![LIST], each.flatten().collect()].concat()
    });
    let at = At { lane: 0, part: step::STORED, op: 0, batch: 0 };
    let read = |bytes: &[u8]| Some(bytes.to_vec());
    let told = session.tell_all(at, &own, 5 + MAX_LIST_BYTES, "what it draws", read).map_err(|error| {
        session.abort(&error.to_string());
        endpoint.compiled.aborted(error.into())
    })?;
    let stores: Vec<bool> = told.iter().map(|told| !told.is_empty()).collect();
    all_or_none(&endpoint.parties, &stores).map_err(|error| part(session, error))?;
    match told.iter().position(|told| *told != own) {
        None => Ok(()),
        Some(party) => {
            let name = session.name(party).to_owned();
            let reason = format!(
                "{name} draws other amounts from its supplies; does it run the same programs in all lanes?"
            );
            Err(part(session, Error::Refused(reason)))
        }
    }
}

/// Agrees with the other parties on the instance that a run uses, and takes its material, which is used from here on,
/// whatever becomes of the run: of the lists that all have sent one another, and of which they make sure that all were sent
/// the same, [`agree`] picks. Two rounds in the setup; nothing secret is sent.
pub(crate) fn take_agreed(
    endpoint: &Endpoint,
    session: &mut Session,
    store: &mut Store,
) -> Result<(Instance, Material), Error> {
    let lists = tell(endpoint, session, &store.available(WHOLE))?;
    // One for each shelf that is wanted.
    let run = agreed(session, &[(WHOLE, 1, Unit::default())], &lists, |_| false)
        .inspect_err(|none| session.abort(&none.to_string()))?[0];
    let mut take = || {
        let mut taken = store.take_run(run)?;
        let bytes = taken.next().unwrap_or(Err(tacit_store::Error::Unknown { epoch: run.epoch }))?;
        Ok(Material::of_bytes(&bytes))
    };
    let material = take().inspect_err(|error: &tacit_store::Error| session.abort(&error.to_string()))?;
    Ok((Instance { epoch: run.epoch, index: run.first }, material))
}

/// Tells the other parties what this one has; a list of what each has, by party, once all hold the same lists.
fn tell(
    endpoint: &Endpoint,
    session: &mut Session,
    own: &[Available],
) -> Result<Vec<Vec<Vec<Available>>>, Error> {
    let at = At { lane: 0, part: step::STORED, op: 0, batch: 0 };
    let lists = session.tell_all(at, &message(own), 5 + MAX_LIST_BYTES, "list of its material", read);
    let lists = lists.map_err(|error| {
        session.abort(&error.to_string());
        endpoint.compiled.aborted(error.into())
    })?;
    let stores: Vec<bool> = lists.iter().map(|lists| !lists.is_empty()).collect();
    all_or_none(&endpoint.parties, &stores).map_err(|error| part(session, error))?;
    // Of encodings that come back, one is one list.
    let all: Vec<u8> = lists.iter().flatten().flat_map(|list| message(list)).collect();
    session.echo(&all).map_err(|error| endpoint.compiled.aborted(error.into()))?;
    Ok(lists)
}

/// Refuses a run for which some parties have a store and others haven't.
pub(crate) fn all_or_none(parties: &[String], stores: &[bool]) -> Result<(), Error> {
    let apart = |with: bool| -> Vec<&str> {
        let parties = parties.iter().zip(stores);
        parties.filter(|(_, has)| **has == with).map(|(name, _)| name.as_str()).collect()
    };
    let (with, without) = (apart(true), apart(false));
    if with.is_empty() || without.is_empty() {
        return Ok(());
    }
    Err(Error::Refused(format!(
        "all parties take their material from a store (--store), or none does; {} with one, {} without",
        with.join(" and "),
        without.join(" and ")
    )))
}

/// Ends a session in which all parties come to see the same, once all of them do: who is told of the end before knows only
/// the other's word for it.
pub(crate) fn part(session: &mut Session, error: Error) -> Error {
    // If one doesn't come, this one has its error nonetheless.
    let _ = session.barrier();
    session.abort(&error.to_string());
    error
}

/// Before a list in a message, which is empty without a store.
const LIST: u8 = 1;

fn message(list: &[Available]) -> Vec<u8> {
    [vec![LIST], list_message(&[list.to_vec()])].concat()
}

/// What a peer says that it has: a list, or none if it has no store; nothing if it says something else.
fn read(bytes: &[u8]) -> Option<Vec<Vec<Available>>> {
    match bytes.split_first() {
        None => Some(Vec::new()),
        Some((&LIST, list)) => read_lists(list, 1),
        Some(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Compiled, Local, play};
    use tacit_engine::executor::Unobserved;
    use tacit_net::{Limits, Mesh, memory};
    use tacit_program::{Builder, Data, Dtype, Range, Recipient, Value, plan};
    use tacit_store::Epoch;

    /// The plan counts, and not only the program and its shapes: what was made for another one is refused before anything is
    /// sent, whoever opens the store and whoever runs on one that is open.
    #[test]
    fn material_for_another_plan_of_the_same_shapes_is_refused() {
        let mut builder = Builder::new();
        let [a, b] = ["P1", "P2"]
            .map(|owner| builder.input(owner, owner, Dtype::Int, &[3], Range::new(-9, 9)).unwrap());
        let product = builder.mul(a, b).unwrap();
        builder.reveal(product, Recipient::All).unwrap();
        let local = Local::new("astra").unwrap();
        let compiled = Compiled::new(builder.finish().unwrap()).unwrap();
        let compiled = local.endpoint(&compiled).unwrap().compiled;
        let square = compiled.altered(|plan| match &mut plan.ops[0].kind {
            plan::OpKind::Mul { a, b, .. } => *b = *a,
            other => panic!("{other:?} is no product"),
        });
        assert_eq!((square.hash(), square.describe_inputs()), (compiled.hash(), compiled.describe_inputs()));
        assert_eq!(compiled.clone().with_window(1).plan_digest(), compiled.plan_digest());

        let folder = tempfile::tempdir().unwrap();
        let place = StorePath::simulated(folder.path().join("stores"));
        local.offline(&compiled, 1, &place, &|_, _| {}).unwrap();
        let says = local.open_stores(&square, &place).unwrap_err().to_string();
        assert!(says.contains("made for something else: the plan of the program (its hash)"), "{says}");

        let mut stores = local.open_stores(&compiled, &place).unwrap();
        let inputs =
            [[1, 2, 3], [4, 5, 6]].map(|values| Value { shape: vec![3], data: Data::Int(values.to_vec()) });
        let error = local.run_stored(&square, &mut stores, &inputs, &|_, _| {}).unwrap_err();
        assert!(matches!(error, Error::Refused(_)), "{error}");
        // Alone, as nobody is waited for.
        let endpoint = local.endpoint(&square).unwrap();
        let links = memory::mesh(3, 0).into_iter().next().unwrap();
        let mesh = Mesh::new(Box::new(links), 0, local.parties.clone(), Limits::default());
        let source = stores[0].source();
        let played = play(&endpoint, mesh, source, vec![None, None], &mut Unobserved);
        assert!(matches!(played, Err(Error::Refused(reason)) if reason.contains("for another program")));
        let unused =
            |kept: &Kept| matches!(kept, Kept::Material(store) if store.available(WHOLE)[0].next == 0);
        assert!(stores.iter().all(unused));
        local.run_stored(&compiled, &mut stores, &inputs, &|_, _| {}).unwrap();
    }

    #[test]
    fn what_a_party_has_is_read_and_nothing_else_is() {
        let list = vec![Available { epoch: Epoch([3; 32]), next: 2, count: 5 }];
        assert_eq!(read(&[]), Some(Vec::new()));
        assert_eq!(read(&message(&[])), Some(vec![Vec::new()]));
        let bytes = message(&list);
        assert_eq!(read(&bytes), Some(vec![list]));
        for len in 1..bytes.len() {
            assert!(read(&bytes[..len]).is_none(), "{len}");
        }
        for at in 0..5 {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(read(&changed).is_none(), "{at}");
        }
        assert!(read(&[bytes, vec![0]].concat()).is_none());
    }
}
