//! Information-theoretic zero-sharing: masks that no key makes.
//!
//! Araki et al. 2016, section 2.2: every party chooses a fresh random element for each AND and product and sends it
//! to a neighbour; what it chose and what it received differ by its part of a sharing of zero. There the chosen
//! element goes to the next party, so that a party has to wait for the one that it receives before it can send the
//! product's message. Here it goes to the party before, and both messages go in one round:
//!
//! `P_i` draws `t_i`, sends `t_i` to `P_(i-1)` and `s_i = x_i y_i + x_i y_(i-1) + x_(i-1) y_i - t_i` to `P_(i+1)`.
//! Component `z_i = s_i + t_(i+1)` is then known to `P_i`, which receives `t_(i+1)`, and to `P_(i+1)`, which receives
//! `s_i`. The masks `t_(i+1) - t_i` sum to zero. Of the two elements that `P_j` receives, `t_(j+1)` is fresh, and
//! `s_(j-1)` is hidden by `t_(j-1)`, which `P_j` doesn't see.
//!
//! Between the two stages of a job `t_i` stands where the previous party's component will.

use crate::state::ReplicatedEngine;
use tacit_engine::bank::{row_words, words_of};
use tacit_engine::{Error, Job, with_element};
use tacit_kernel::Element;
use tacit_threeparty::prev;
use tacit_threeparty::products::{Products, Results};

impl ReplicatedEngine {
    /// Draws what hides a job's results where the previous party's components of them will be, and sends it to that party.
    pub(crate) fn draw_fresh(&mut self, job: &Job, results: &Results) -> Result<(), Error> {
        let shape = self.party.plan.register(results.reg());
        let mut drawn = self.party.prev.take(results.reg());
        match results {
            Results::Rows(rows) => {
                let (stride, words) = (row_words(shape.cols), words_of(&job.cols, shape.cols));
                for index in 0..rows.count {
                    let start = rows.row(index) as usize * stride;
                    let row = &mut drawn.words_mut::<u64>()[start + words.start..start + words.end];
                    self.party.session.entropy().fill(bytemuck::cast_slice_mut(row))?;
                }
            }
            Results::Elements(_, cols) => with_element!(shape.domain, E => {
                let mut bytes = vec![0; cols.len() * E::DRAWN];
                self.party.session.entropy().fill(&mut bytes)?;
                E::draw(&bytes, &mut drawn.words_mut::<E>()[cols.clone()]);
            }),
        }
        let message = self.party.message_of(job, results, &drawn);
        self.party.prev.put(results.reg(), drawn);
        self.send(job, prev(self.me), message)
    }

    /// Adds what a neighbour sends of a job's results to the component that this party shares with it.
    pub(crate) fn add_fresh(&mut self, job: &Job, from: usize, results: &Results) -> Result<(), Error> {
        let message = self.recv(job, from, results.message_bytes(&self.party.plan, job))?;
        let bank = if from == prev(self.me) { &mut self.party.prev } else { &mut self.party.own };
        results.add(bank, job, &message);
        self.party.session.mesh().recycle(message);
        Ok(())
    }
}
