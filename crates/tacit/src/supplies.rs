//! Supplies: parties that fill their stores with what any program draws from.

use crate::deployment::Seat;
use crate::error::Error;
use crate::filling::{Filling, play_fill, stocked};
use crate::kept::StorePath;
use crate::local::{Local, all_of, together};
use crate::made::Prepared;
use crate::progress::{Progress, Tally};
use crate::registry::protocol;
use std::time::Instant;
use tacit_engine::Protocol;
use tacit_engine::supply::Stock;
use tacit_net::Mesh;

impl Seat {
    /// Fills this party's store with supplies for any program, together with all other parties: a new epoch under a key of
    /// its own. It is in the stores of all when this returns; a store is made if there is none.
    ///
    /// # Errors
    /// [`Error::Refused`] on a client's seat or if the protocol has no such supplies; [`Error::Store`]; else the first
    /// failure, after which nothing of the epoch is kept.
    pub fn stock(
        &mut self,
        protocol_name: &str,
        filling: &Filling,
        place: &StorePath,
        progress: Progress<'_>,
    ) -> Result<Prepared, Error> {
        let protocol = protocol(protocol_name)?;
        self.refuse_client()?;
        self.counted(|seat| seat.stock_once(&*protocol, filling, place, progress))
    }

    pub(crate) fn stock_once(
        &mut self,
        protocol: &dyn Protocol,
        filling: &Filling,
        place: &StorePath,
        progress: Progress<'_>,
    ) -> Result<Prepared, Error> {
        let (me, parties) = (self.config().me(), self.parties());
        let stock = Stock::new(place.open_supplies(protocol, &parties, me)?);
        let within = self.config().limits().connect;
        let mesh = self.gather(&[], 1, within)?.swap_remove(0);
        let (tally, start) = (Tally::new(progress), Instant::now());
        let made = play_fill(protocol, &parties, mesh, filling, &stock, &mut tally.lane())?;
        Ok(stocked(protocol, &parties, me, filling, &made, start))
    }
}

impl Local {
    /// Fills the stores of all parties, each in a folder of its own under the place's ([`StorePath::simulated`]). Else as
    /// [`Seat::stock`].
    ///
    /// # Errors
    /// As [`Seat::stock`].
    pub fn stock(
        &self,
        filling: &Filling,
        place: &StorePath,
        progress: Progress<'_>,
    ) -> Result<Vec<Prepared>, Error> {
        let (protocol, parties) = (&*protocol(&self.protocol)?, &self.parties);
        let open = |(me, name): (usize, &String)| {
            Ok::<_, Error>(Stock::new(place.of(name).open_supplies(protocol, parties, me)?))
        };
        let stocks = parties.iter().enumerate().map(open).collect::<Result<Vec<_>, _>>()?;
        let (told, untold) = (Tally::new(progress), Tally::new(&|_, _| {}));
        let start = Instant::now();
        let play = |mut meshes: Vec<Mesh>, stock: &Stock| {
            let tally = if meshes[0].me() == 0 { &told } else { &untold };
            play_fill(protocol, parties, meshes.swap_remove(0), filling, stock, &mut tally.lane())
        };
        let made = all_of(together(parties, &[], 1, stocks.iter(), play))?;
        let made = made.iter().enumerate();
        Ok(made.map(|(me, made)| stocked(protocol, parties, me, filling, made, start)).collect())
    }
}
