//! MSB extraction by garbled circuits: two rounds, whatever the width (section 5.4, `Pi_BitExt`, mended). Here are the
//! semi-honest form and what the checked form ([`checked_garbling`](crate::checked_garbling)) has in common with it.
//!
//! `x = u_1 + u_2` with `u_1 = m`, which `P_1` and `P_2` know online, and `u_2 = x_1 + x_2`, which `P_0` knows offline.
//! `P_0` garbles `y = msb(u_1 + u_2) xor r` with `r = r_1 xor r_2`, where it draws `r_1` with `P_1` and `r_2` with
//! `P_2`. It draws the seed of the garbling with `P_1` too, so `P_1` has the labels of `u_1`.
//!
//! - Offline `P_0` sends `P_2` the tables and the bit that decodes `y`. `u_2` and `r` are folded in: they have no
//!   labels.
//! - Online `P_1` sends `P_2` the labels of `m`'s bits. `P_2` evaluates, decodes `y` and sends it to `P_1`.
//!
//! This shares the result: `msb(x) = y xor r_1 xor r_2`, so `m = y`, `x_1 = r_1` and `x_2 = r_2`.
//!
//! **What they see.** `P_2` has one label of each wire, and the bit of it where it is an input's. As garbling is
//! private, a simulator can make these of `m` and `y` alone. `P_1`, who sees no table, and `P_2` both get `y` masked by
//! a bit that they don't know, `r_2` and `r_1`. `P_0` gets nothing.
//!
//! **Departures.** In the paper `P_0` and `P_1` alone draw `r`, labels of `u_2` are sent, `P_1` shares `r` and `P_2`
//! shares `y`, and the circuit is a prefix adder of 2 l ANDs. That takes 5 l kappa bits offline and two rounds of
//! sharing on top. Here it takes 2 (l - 1) kappa + 1 bits, a ripple-carry adder, and nothing is shared.
//!
//! **Seeds.** A job has a seed, and is a batch of its own as far as labels go. Hashes have the number of the operation
//! and of the job's tile, in the session that made the material. Nothing comes twice.

use crate::draws::Walk;
use crate::garbled::{misfit, piece};
use crate::garbling::BITS;
use crate::state::AstraEngine;
use tacit_engine::profile::{Section, section};
use tacit_engine::{Error, Job, with_word};
use tacit_garble::Garbler;
use tacit_kernel::garble::LABEL;
use tacit_kernel::{Buffer, Word, bits};
use tacit_program::plan::{Reg, Rows};
use tacit_threeparty::products::{Products, Results};

impl AstraEngine {
    pub(crate) fn msb_begin(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        match (self.me, job.stage) {
            (0, 0) => with_word!(self.party.width(a), W => self.give_garbled::<W>(job, a, dst)),
            (1, 0) => with_word!(self.party.width(a), W => self.give_labels::<W>(job, a, dst)),
            (2, 1) => {
                let masked = self.party.component_mut(0).take(dst);
                let message = self.party.message_of(job, &Results::Rows(Rows::one(dst, 0)), &masked);
                self.party.component_mut(0).put(dst, masked);
                self.send(job, self.receiver(), message)
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn msb_finish(&mut self, job: &Job, from: usize, a: Reg, dst: Reg) -> Result<(), Error> {
        if self.walk == Walk::Offline {
            let lengths = self.form(a).lengths(job.cols.len());
            return self.receive_garbled(job, a, &lengths, &mut Buffer::default());
        }
        if self.me == 2 {
            return with_word!(self.party.width(a), W => self.take_labels::<W>(job, from, a, dst));
        }
        let (results, plan) = (Results::Rows(Rows::one(dst, 0)), self.party.plan.clone());
        let message = self.recv(job, from, results.message_bytes(&plan, job))?;
        results.unpack(&plan, job, &message, self.party.component_mut(0).make(dst).bytes_mut());
        self.party.session.mesh().recycle(message);
        if self.verified.is_some() { self.expect_tags(job, dst) } else { Ok(()) }
    }

    /// `P_1`, online: sends the labels of the bits of `m`.
    fn give_labels<W: Word>(&mut self, job: &Job, a: Reg, dst: Reg) -> Result<(), Error> {
        self.draw_mask(job, dst, 1);
        let (circuit, planes) = (self.form(a).circuit, self.operand_planes::<W>(job, a, 0));
        let seed = self.garbling_seed(job);
        let garbler = Garbler::new(circuit, &seed, self.ahead()?.batch(job.op));
        let to = self.receiver();
        for (byte, rows) in planes.chunks_exact(BITS * bits::words(job.cols.len())).enumerate() {
            let mut labels = self.party.session.mesh().filled(BITS * job.cols.len() * LABEL);
            section(Section::Gates, || garbler.labels(byte, piece(job), rows, &mut labels))
                .map_err(|error| misfit(&error))?;
            let at = self.part_at(job, byte);
            section(Section::Sending, || self.party.session.mesh().send_vec(to, at, labels))?;
        }
        Ok(())
    }

    /// `P_2`, online: evaluates on the labels that `P_1` sends, and decodes.
    fn take_labels<W: Word>(&mut self, job: &Job, from: usize, a: Reg, dst: Reg) -> Result<(), Error> {
        self.draw_mask(job, dst, 2);
        let labels = section(Section::Receiving, || {
            let messages = (0..W::BYTES).map(|byte| {
                let at = self.part_at(job, byte);
                self.party.session.mesh().recv(from, at, BITS * job.cols.len() * LABEL)
            });
            messages.collect::<Result<Vec<_>, _>>()
        })?;
        let active: Vec<&[u8]> = labels.iter().map(Vec::as_slice).collect();
        let masked = self.evaluate::<W>(job, a, &active)?;
        let start = job.cols.start / 64;
        self.party.component_mut(0).make(dst).words_mut()[start..start + masked.len()]
            .copy_from_slice(&masked);
        for message in labels {
            self.party.session.mesh().recycle(message);
        }
        Ok(())
    }
}
