//! What a run sends: payload bytes for every link and phase, and rounds, from the plan alone.
//!
//! Costs are exact, and they add up. A protocol's cost model gives the bits of every stage of an operation on every
//! link; the payload of a message is its bits over 8, rounded up.
//!
//! A stage's traffic on a link may go in several messages if all but the last carry a multiple of 64 columns. That is a
//! whole number of bytes for any number of rows. So the bytes of all of them are the bits of the stage over 8, rounded
//! up once, however the stage was divided.
//!
//! Rounds are the longest chain of dependent messages. Framing and encryption are not counted here.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::Duration;

use serde::Serialize;
pub use tacit_wire::Phase;
use tacit_wire::Profile;

use crate::plan::{InputOp, Op, OutputOp, Plan, Stage};

/// What an endpoint sends to another in one stage of one operation, or for one input or output. Endpoints are the
/// parties in their order, then the clients in theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// Bits of payload.
    pub bits: u64,
}

impl Flow {
    /// Bytes of payload.
    pub const fn bytes(&self) -> u64 {
        self.bits.div_ceil(8)
    }

    /// As many messages, each of whole bytes.
    #[must_use]
    pub const fn times(self, times: u64) -> Self {
        Self { bits: 8 * times * self.bytes(), ..self }
    }
}

/// A step of a run that has messages of its own, and so a price.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// What a client sends before its first input; its endpoint.
    Seeds {
        /// The client.
        client: usize,
    },
    /// An input, after the seeds.
    Input(&'a InputOp),
    /// One stage of an operation, over all its messages; of a circuit, one layer.
    Stage {
        /// The operation.
        op: &'a Op,
        /// The stage or layer, from 0.
        stage: u32,
    },
    /// An output.
    Output(&'a OutputOp),
}

/// Flows, all in one phase.
pub fn in_phase(phase: Phase, flows: Vec<Flow>) -> impl Iterator<Item = (Phase, Flow)> {
    flows.into_iter().map(move |flow| (phase, flow))
}

/// A protocol's price list, for given parties.
pub trait CostModel {
    /// What a step sends, in each phase that it sends anything in.
    fn price(&self, plan: &Plan, step: Step<'_>) -> Vec<(Phase, Flow)>;
    /// Rounds that some stages of one level take online.
    fn rounds(&self, plan: &Plan, stages: &[Stage]) -> u64;
}

/// Payload bytes on one link, one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Link {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// Payload bytes.
    pub bytes: u64,
}

/// The cost of one phase.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PhaseCost {
    /// The longest chain of dependent messages.
    pub rounds: u64,
    /// Links that carry anything, by sender and receiver.
    pub links: Vec<Link>,
}

impl PhaseCost {
    /// Payload bytes that an endpoint sends.
    pub fn sent_by(&self, endpoint: usize) -> u64 {
        total(self.links.iter().filter(|link| link.from == endpoint).map(|link| link.bytes))
    }

    /// Payload bytes on all links.
    pub fn bytes(&self) -> u64 {
        total(self.links.iter().map(|link| link.bytes))
    }

    /// Payload bytes on the busiest link.
    pub fn busiest(&self) -> u64 {
        self.links.iter().map(|link| link.bytes).max().unwrap_or(0)
    }

    /// An estimate of the seconds that the network takes: half a round trip for every round, and then what the
    /// slowest of its links takes to let through all that it carries.
    ///
    /// In a phase of rounds that all wait for one link, a round takes what the link needs for its bytes and half a round trip,
    /// and so the sum over all rounds is just this; of several links the slowest counts, in round trip and in transmission apart.
    ///
    /// Neglected are: that rounds may need only some of the phase's links, of which the farthest then counts too often; that
    /// different links may be the busiest in different rounds, and then more is waited for; that links of one machine share its
    /// line; that rounds which don't depend on one another overlap; computing, framing and encryption.
    ///
    /// `endpoints` are the names by which the profile knows the endpoints, in order. A link that it doesn't know takes no
    /// time.
    pub fn network_seconds(&self, net: &Profile, endpoints: &[String]) -> f64 {
        let between = |one: usize, other: usize| net.between(endpoints.get(one)?, endpoints.get(other)?);
        let links = || self.links.iter().filter_map(|link| Some((link, between(link.from, link.to)?)));
        let longest = |rtt: &mut dyn Iterator<Item = Duration>| rtt.max().unwrap_or_default().as_secs_f64();
        let rtt = if self.links.is_empty() {
            // Messages without payload, and nothing says between whom.
            let pairs = (0..endpoints.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
            longest(&mut pairs.filter_map(|(one, other)| Some(between(one, other)?.rtt)))
        } else {
            longest(&mut links().map(|(_, shape)| shape.rtt))
        };
        let passing = links().map(|(carried, shape)| carried.bytes as f64 * 8.0 / shape.bandwidth as f64);
        self.rounds as f64 * rtt / 2.0 + passing.fold(0.0, f64::max)
    }

    fn carry(&mut self, from: usize, to: usize, bytes: u64) {
        if bytes == 0 {
            return;
        }
        match self.links.binary_search_by_key(&(from, to), |link| (link.from, link.to)) {
            Ok(place) => {
                let carried = &mut self.links[place].bytes;
                *carried = carried.saturating_add(bytes);
            }
            Err(place) => self.links.insert(place, Link { from, to, bytes }),
        }
    }
}

/// All of these together, or the largest number there is.
fn total(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(0, u64::saturating_add)
}

/// The cost of a run, or of a part of one. As JSON it is an object with a key for each phase that costs anything.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Cost {
    phases: BTreeMap<Phase, PhaseCost>,
}

impl Cost {
    /// Adds what one stage, input or output sends on a link.
    pub fn add_flow(&mut self, phase: Phase, flow: &Flow) {
        self.phases.entry(phase).or_default().carry(flow.from, flow.to, flow.bytes());
    }

    /// Adds rounds that follow on those already there.
    pub fn add_rounds(&mut self, phase: Phase, rounds: u64) {
        if rounds > 0 {
            let own = &mut self.phases.entry(phase).or_default().rounds;
            *own = own.saturating_add(rounds);
        }
    }

    /// Adds a phase's cost so many times, one after another; what is beyond 64 bits stays the largest number there is.
    pub fn add_times(&mut self, phase: Phase, cost: &PhaseCost, times: u64) {
        self.add_rounds(phase, times.saturating_mul(cost.rounds));
        let own = self.phases.entry(phase).or_default();
        for link in &cost.links {
            own.carry(link.from, link.to, times.saturating_mul(link.bytes));
        }
    }

    /// Adds what runs beside it: bytes add up, and each phase has the rounds of whichever has the most.
    pub fn add_beside(&mut self, other: &Self) {
        for (&phase, cost) in &other.phases {
            let own = self.phases.entry(phase).or_default();
            own.rounds = own.rounds.max(cost.rounds);
            for link in &cost.links {
                own.carry(link.from, link.to, link.bytes);
            }
        }
    }

    /// The phases that cost anything, in order.
    pub fn phases(&self) -> impl Iterator<Item = (Phase, &PhaseCost)> {
        self.phases.iter().map(|(phase, cost)| (*phase, cost))
    }

    /// The cost of one phase; nothing if it costs nothing.
    pub fn phase(&self, phase: Phase) -> PhaseCost {
        self.phases.get(&phase).cloned().unwrap_or_default()
    }

    /// Payload bytes that an endpoint sends, over all phases.
    pub fn sent_by(&self, endpoint: usize) -> u64 {
        total(self.phases.values().map(|cost| cost.sent_by(endpoint)))
    }

    /// Payload bytes on all links, over all phases.
    pub fn bytes(&self) -> u64 {
        total(self.phases.values().map(PhaseCost::bytes))
    }

    /// Rounds of all phases, one after another.
    pub fn rounds(&self) -> u64 {
        total(self.phases.values().map(|cost| cost.rounds))
    }

    /// An estimate of the seconds that the network takes: those of all phases, one after another
    /// ([`PhaseCost::network_seconds`]). Start-up is left out.
    pub fn network_seconds(&self, net: &Profile, endpoints: &[String]) -> f64 {
        self.phases.values().map(|cost| cost.network_seconds(net, endpoints)).sum()
    }
}

/// One after the other: bytes add up, and so do rounds.
impl AddAssign<&Cost> for Cost {
    fn add_assign(&mut self, other: &Cost) {
        for (&phase, cost) in &other.phases {
            self.add_rounds(phase, cost.rounds);
            let own = self.phases.entry(phase).or_default();
            for link in &cost.links {
                own.carry(link.from, link.to, link.bytes);
            }
        }
    }
}

/// The cost of a plan, and of every node of its program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Itemised {
    /// Of the whole plan: inputs, operations, outputs.
    pub total: Cost,
    /// What each node has a part in. With what is shared bytes add up to the total's; rounds don't, since independent
    /// nodes share them: a node's are the levels in which it sends anything.
    pub nodes: BTreeMap<u32, Cost>,
    /// What belongs to no node, but to all of them: clients' seeds, and checks with what is made for them.
    pub shared: Cost,
    /// ANDs of each node that has some, if nothing but ANDs is computed with messages; else none.
    pub ands: BTreeMap<u32, u64>,
    /// Random oblivious transfers from each party to each other one, where triples are made of nothing else.
    pub transfers: u64,
}

/// What a plan costs by a protocol's cost model: inputs and outputs one round each, and a guard one, operations as many as the
/// levels take. What a protocol sends besides (seeds, checks, proofs) is for it to add.
pub fn of_plan(plan: &Plan, model: &dyn CostModel) -> Itemised {
    let mut breakdown = Itemised { ands: ands(plan), ..Itemised::default() };
    for input in &plan.inputs {
        breakdown.charge(input.node, &model.price(plan, Step::Input(input)));
    }
    for (level, times) in plan.counted_levels() {
        let mut nodes: BTreeMap<u32, Vec<Stage>> = BTreeMap::new();
        for stage in &level.stages {
            let op = plan.op(stage.op);
            for layer in op.kind.layers(stage.stage) {
                let flows = model.price(plan, Step::Stage { op, stage: layer });
                let flows = flows.into_iter().map(|(phase, flow)| (phase, flow.times(times)));
                breakdown.charge(op.node, &flows.collect::<Vec<_>>());
            }
            nodes.entry(op.node).or_default().push(*stage);
        }
        for (node, stages) in nodes {
            let rounds = times * model.rounds(plan, &stages);
            breakdown.nodes.entry(node).or_default().add_rounds(Phase::Online, rounds);
        }
        breakdown.total.add_rounds(Phase::Online, times * model.rounds(plan, &level.stages));
    }
    for output in &plan.outputs {
        breakdown.charge(output.node, &model.price(plan, Step::Output(output)));
    }
    breakdown.total.add_rounds(Phase::Input, u64::from(!plan.inputs.is_empty()));
    let rounds = u64::from(plan.guard.is_some()) + u64::from(plan.own_outputs() > 0);
    breakdown.total.add_rounds(Phase::Output, rounds);
    breakdown
}

fn ands(plan: &Plan) -> BTreeMap<u32, u64> {
    let mut ands = BTreeMap::new();
    if plan.ops.iter().all(|op| op.kind.is_of_ands()) {
        for (op, _, times) in plan.counted_ops() {
            let all = times.saturating_mul(op.kind.ands(plan));
            if all > 0 {
                let of_node: &mut u64 = ands.entry(op.node).or_default();
                *of_node = of_node.saturating_add(all);
            }
        }
    }
    ands
}

impl Itemised {
    /// Adds a flow that belongs to no node.
    pub fn share(&mut self, phase: Phase, flow: &Flow) {
        self.total.add_flow(phase, flow);
        self.shared.add_flow(phase, flow);
    }

    /// Adds rounds that belong to no node.
    pub fn share_rounds(&mut self, phase: Phase, rounds: u64) {
        self.total.add_rounds(phase, rounds);
        self.shared.add_rounds(phase, rounds);
    }

    fn charge(&mut self, node: u32, flows: &[(Phase, Flow)]) {
        for (phase, flow) in flows {
            self.total.add_flow(*phase, flow);
            self.nodes.entry(node).or_default().add_flow(*phase, flow);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Builder, Domain, OpKind, Rows, To, Width};
    use tacit_wire::Shape;

    fn party_names() -> Vec<String> {
        (0..4).map(|party| format!("P{party}")).collect()
    }

    /// An element or a bit from each party to the next, for every result.
    struct Ring {
        parties: usize,
    }

    impl CostModel for Ring {
        fn price(&self, plan: &Plan, step: Step<'_>) -> Vec<(Phase, Flow)> {
            let Self { parties } = *self;
            let (phase, flows) = match step {
                Step::Seeds { .. } => (Phase::Input, vec![]),
                Step::Input(input) => {
                    let bits = plan.register(input.reg).domain.bits();
                    (Phase::Input, vec![Flow { from: parties, to: 0, bits }])
                }
                Step::Stage { op, stage } => {
                    let bits = match &op.kind {
                        OpKind::And { dst, .. } => u64::from(dst.count) * plan.register(dst.reg).cols as u64,
                        OpKind::Inject { .. } if stage == 1 => 0,
                        kind => plan.register(kind.writes()[0]).len() as u64 * 64,
                    };
                    let flow = |from| Flow { from, to: (from + 1) % parties, bits };
                    (Phase::Online, (0..parties).map(flow).collect())
                }
                Step::Output(_) => (Phase::Output, [0, 0].map(|from| Flow { from, to: 1, bits: 1 }).to_vec()),
            };
            in_phase(phase, flows).collect()
        }

        fn rounds(&self, _: &Plan, stages: &[Stage]) -> u64 {
            u64::from(!stages.is_empty())
        }
    }

    fn plan() -> Plan {
        let mut builder = Builder::new();
        let owner = builder.role("alice");
        let (bits, number) = (builder.bits(1, 65), builder.ring(Width::W64, 65));
        let (both, injected, product) =
            (builder.bits(1, 65), builder.ring(Width::W64, 65), builder.ring(Width::W64, 65));
        builder.at_node(0);
        builder.input(owner, bits);
        builder.input(owner, number);
        builder.at_node(1);
        let row = Rows::one(bits, 0);
        builder.interact(OpKind::And { a: row, b: row, dst: Rows::one(both, 0) });
        builder.at_node(2);
        builder.interact(OpKind::Mul { a: number, b: number, dst: product });
        builder.interact(OpKind::Inject { a: Rows::one(both, 0), dst: injected });
        builder.output(product, To::All);
        builder.finish()
    }

    #[test]
    fn bytes_are_rounded_up_for_each_stage_and_add_up_over_nodes() {
        for parties in [2, 3, 12] {
            let breakdown = of_plan(&plan(), &Ring { parties });
            let online = breakdown.total.phase(Phase::Online);
            // 65 bits are 9 bytes; 65 words for the product and for the injection's first stage.
            assert_eq!(online.sent_by(0), 9 + 2 * 65 * 8);
            assert_eq!(online.bytes(), parties as u64 * online.busiest());
            assert_eq!(
                breakdown.total.phase(Phase::Input).links,
                [Link { from: parties, to: 0, bytes: 1 + 8 }]
            );
            assert_eq!(breakdown.total.phase(Phase::Output).sent_by(0), 2);
            let mut sum = Cost::default();
            breakdown.nodes.values().for_each(|cost| sum += cost);
            assert_eq!(sum.bytes(), breakdown.total.bytes());
            assert_eq!(breakdown.total.sent_by(parties), 9);
            assert!(breakdown.ands.is_empty(), "there are products, too");
        }
        assert_eq!(Domain::Bits.bits(), 1);
    }

    #[test]
    fn ands_are_those_of_each_node_where_there_is_nothing_else() {
        let mut builder = Builder::new();
        let (a, dst) = (builder.bits(3, 70), builder.bits(3, 70));
        let rows = |reg, count| Rows { reg, first: 0, step: 1, count };
        for (node, count) in [(4, 2), (9, 1), (4, 1)] {
            builder.at_node(node);
            builder.interact(OpKind::And { a: rows(a, count), b: rows(a, count), dst: rows(dst, count) });
        }
        let breakdown = of_plan(&builder.finish(), &Ring { parties: 3 });
        assert_eq!(breakdown.ands, BTreeMap::from([(4, 3 * 70), (9, 70)]));
    }

    #[test]
    fn independent_nodes_share_rounds() {
        let breakdown = of_plan(&plan(), &Ring { parties: 3 });
        assert_eq!(breakdown.total.phase(Phase::Online).rounds, 3);
        assert_eq!(breakdown.nodes[&1].rounds(), 1);
        assert_eq!(breakdown.nodes[&2].rounds(), 3);
        assert_eq!(breakdown.total.rounds(), 5);
    }

    #[test]
    fn seconds_are_those_of_rounds_and_of_the_busiest_link() {
        let mut cost = Cost::default();
        cost.add_rounds(Phase::Online, 10);
        cost.add_flow(Phase::Online, &Flow { from: 0, to: 1, bits: 8_000_000 });
        cost.add_flow(Phase::Online, &Flow { from: 1, to: 2, bits: 100_000_000 });
        let seconds = cost.network_seconds(&Profile::uniform(Shape::WAN), &party_names());
        assert!((seconds - 1.2).abs() < 1e-9);
    }

    #[test]
    fn a_phase_waits_for_the_links_that_carry_something_in_it() {
        let pair = |one: usize, other: usize, rtt, bandwidth| {
            let [one, other] = [one, other].map(|party| party_names().swap_remove(party));
            (one, other, Shape { rtt: Duration::from_millis(rtt), bandwidth })
        };
        let net = Profile::of_pairs(vec![pair(1, 0, 200, 1_000_000), pair(1, 2, 80, 100_000_000)]);
        let seconds = |phase: PhaseCost| phase.network_seconds(&net, &party_names());
        let near = Link { from: 1, to: 2, bytes: 12_500_000 };
        let far = Link { from: 1, to: 0, bytes: 125 };
        let free = Link { from: 2, to: 0, bytes: 1 << 40 };
        let phase = |rounds, links: &[Link]| seconds(PhaseCost { rounds, links: links.to_vec() });
        assert!((phase(10, &[near]) - (10.0 * 0.04 + 1.0)).abs() < 1e-9);
        // The farthest for all rounds, and the slowest for its bytes.
        assert!((phase(10, &[far, near, free]) - (10.0 * 0.1 + 1.0)).abs() < 1e-9);
        assert!((phase(1, &[far]) - (0.1 + 0.001)).abs() < 1e-9);
        assert!(phase(3, &[free]).abs() < 1e-9);
        // Messages without payload go between any two.
        assert!((phase(2, &[]) - 0.2).abs() < 1e-9);
    }

    #[test]
    fn a_cost_is_json_by_phase() {
        let mut cost = Cost::default();
        cost.add_flow(Phase::Online, &Flow { from: 0, to: 1, bits: 9 });
        cost.add_rounds(Phase::Output, 1);
        assert_eq!(
            serde_json::to_string(&cost).unwrap(),
            r#"{"online":{"rounds":0,"links":[{"from":0,"to":1,"bytes":2}]},"output":{"rounds":1,"links":[]}}"#
        );
        assert!(serde_json::to_string(&of_plan(&plan(), &Ring { parties: 3 })).is_ok());
    }
}
