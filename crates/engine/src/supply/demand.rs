//! What a run draws from supplies, counted before it begins.

use super::SupplyKind;
use crate::Error;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use tacit_program::plan::{Domain, Local, Plan, Reg, Rows, Section};

/// What draws: it has one range of each kind, and draws every item of it once or never.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Drawer {
    /// An input of the plan.
    Input(u32),
    /// The operation at an address ([`Plan::op`]), all its stages: in a section that repeats, each turn's by itself.
    Op(u32),
    /// An output.
    Output(u32),
    /// Whoever fills a store, without any plan.
    Stock,
}

/// Whether arms of a branch share ranges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arms {
    /// Every draw has a range of its own.
    Apart,
    /// Arms that exclude one another draw triples from the same range, so a branch takes as many as its largest arm. All else they
    /// draw, as what is opened under it is opened in every arm, has ranges of its own.
    ///
    /// # Security
    /// All arms are executed, whichever is active. So this is only for a protocol whose inactive arms send nothing that a triple
    /// masks as it is ([`SupplyKind::Masks`]): two values under one item show their difference. It holds for branches with one
    /// condition for all columns; where each column has its own, other columns may be active in either arm, and ranges stay
    /// apart. So they do in what repeats, where another arm may be active in each turn.
    Shared,
    /// Arms' ANDs are those of one circuit, in which all wires of inactive arms are zero ([`tacit_circuit::motif`]): plans have no
    /// regions.
    Zeroed,
}

/// What a run draws: of each kind so many items, and who has which of them. The same at all parties.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    counts: BTreeMap<SupplyKind, u64>,
    ranges: BTreeMap<(Drawer, SupplyKind), Range<u64>>,
}

/// How many blocks of a store's, by kind.
pub type Blocks = BTreeMap<SupplyKind, u64>;

/// Counts of items by kind.
type Counts = BTreeMap<SupplyKind, u64>;

impl Demand {
    /// That of a plan. `needs` says how many items of which kinds each input, operation and output draws, no kind twice.
    pub fn of(plan: &Plan, arms: Arms, needs: impl Fn(Drawer) -> Vec<(SupplyKind, u64)>) -> Self {
        let mut layout = Layout::of(plan, arms);
        let inputs = (0..plan.inputs.len() as u32).map(|input| (Drawer::Input(input), 0));
        let outputs = (0..plan.outputs.len() as u32).map(|output| (Drawer::Output(output), 0));
        let ops = (0..plan.op_count()).map(|at| (Drawer::Op(at), plan.op(at).region as usize));
        let mut own = Vec::new();
        for (drawer, region) in inputs.chain(ops).chain(outputs) {
            for (kind, count) in needs(drawer).into_iter().filter(|(_, count)| *count > 0) {
                let region =
                    if kind == SupplyKind::Triple(Domain::Bits) { layout.counted[region] } else { 0 };
                let before = layout.own[region].entry(kind).or_default();
                own.push(((drawer, kind), region, *before..*before + count));
                *before += count;
            }
        }
        let (counts, starts) = layout.finish();
        let placed = own.into_iter().map(|((drawer, kind), region, range)| {
            let start = starts[region].get(&kind).copied().unwrap_or_default();
            ((drawer, kind), start + range.start..start + range.end)
        });
        Self { counts, ranges: placed.collect() }
    }

    /// So many items of each kind, for whoever fills a store.
    pub fn stock(wanted: &[(SupplyKind, u64)]) -> Self {
        let counts: Counts = wanted.iter().copied().filter(|(_, count)| *count > 0).collect();
        let ranges = counts.iter().map(|(kind, count)| ((Drawer::Stock, *kind), 0..*count));
        Self { ranges: ranges.collect(), counts }
    }

    /// Whether nothing is drawn.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// How many items of each kind a run takes; ranges that arms share count once.
    pub fn counts(&self) -> impl Iterator<Item = (SupplyKind, u64)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// How many blocks of each kind that takes from a store, which gives out whole ones.
    pub fn blocks(&self) -> Blocks {
        self.counts.iter().map(|(kind, count)| (*kind, count.div_ceil(kind.per_block()))).collect()
    }

    /// Which items of a kind one draws.
    pub fn range(&self, drawer: Drawer, kind: SupplyKind) -> Option<Range<u64>> {
        self.ranges.get(&(drawer, kind)).cloned()
    }

    /// All ranges of a kind.
    pub(crate) fn ranges(&self, kind: SupplyKind) -> impl Iterator<Item = Range<u64>> {
        self.ranges.iter().filter(move |((_, own), _)| *own == kind).map(|(_, range)| range.clone())
    }
}

/// Where regions lie. What a region draws itself comes first, then its branches one after another, each as long as its
/// longest arm.
struct Layout {
    /// The region in which each region's draws are counted: its own, or where ranges stay apart the one around it.
    counted: Vec<usize>,
    /// What each draws itself.
    own: Vec<Counts>,
    /// The branches in each: their conditions, and for each arm its regions.
    branches: Vec<Vec<Branch>>,
}

struct Branch {
    /// The region that it stands in, and what says which arm is active.
    condition: (u32, Rows),
    arms: BTreeMap<u8, Vec<usize>>,
}

impl Layout {
    fn of(plan: &Plan, arms: Arms) -> Self {
        let count = plan.regions.len() + 1;
        let mut counted: Vec<usize> = vec![0; count];
        let mut branches: Vec<Vec<Branch>> = (0..count).map(|_| Vec::new()).collect();
        let changing = changing(plan);
        for (index, region) in (1..).zip(&plan.regions) {
            let parent = counted[region.parent as usize];
            let is_apart = arms != Arms::Shared || changing[index];
            if is_apart || plan.register(region.condition.reg).cols != 1 {
                counted[index] = parent;
                continue;
            }
            counted[index] = index;
            let condition = (region.parent, region.condition);
            let found = branches[parent].iter().position(|branch| branch.condition == condition);
            let place = found.unwrap_or_else(|| {
                branches[parent].push(Branch { condition, arms: BTreeMap::new() });
                branches[parent].len() - 1
            });
            branches[parent][place].arms.entry(region.arm).or_default().push(index);
        }
        Self { counted, own: vec![Counts::new(); count], branches }
    }

    /// What all takes, and where each region begins.
    fn finish(self) -> (Counts, Vec<Counts>) {
        let count = self.own.len();
        // A region comes after the one that it stands in: sizes from the inside, places from the outside.
        let mut sizes = vec![Counts::new(); count];
        for region in (0..count).rev() {
            let mut size = self.own[region].clone();
            for branch in &self.branches[region] {
                add(&mut size, &branch.size(&sizes));
            }
            sizes[region] = size;
        }
        let mut starts = vec![Counts::new(); count];
        for region in 0..count {
            let mut next = starts[region].clone();
            add(&mut next, &self.own[region]);
            for branch in &self.branches[region] {
                for arm in branch.arms.values() {
                    let mut start = next.clone();
                    for &inner in arm {
                        starts[inner] = start.clone();
                        add(&mut start, &sizes[inner]);
                    }
                }
                add(&mut next, &branch.size(&sizes));
            }
        }
        (std::mem::take(&mut sizes[0]), starts)
    }
}

/// The regions, by number, that may be active in one turn of a section and not in another: those with an operation in a
/// section or a condition that turns write, and all around them.
fn changing(plan: &Plan) -> Vec<bool> {
    let mut changing = vec![false; plan.regions.len() + 1];
    for (op, _, times) in plan.counted_ops() {
        changing[op.region as usize] |= times > 1;
    }
    let copies = |section: &Section| {
        let slices = section.slices.iter().map(|slice| &slice.step);
        section.carry.iter().chain(slices).map(Local::writes).collect::<Vec<_>>()
    };
    let written: HashSet<Reg> = plan.sections.iter().flat_map(copies).collect();
    // A region comes after the one that it stands in.
    for (index, region) in (1..changing.len()).zip(&plan.regions).rev() {
        changing[index] |= written.contains(&region.condition.reg);
        changing[region.parent as usize] |= changing[index];
    }
    changing
}

impl Branch {
    /// The most that an arm takes of each kind.
    fn size(&self, sizes: &[Counts]) -> Counts {
        let mut most = Counts::new();
        for arm in self.arms.values() {
            let mut all = Counts::new();
            for region in arm {
                add(&mut all, &sizes[*region]);
            }
            for (kind, count) in all {
                let before = most.entry(kind).or_default();
                *before = count.max(*before);
            }
        }
        most
    }
}

fn add(to: &mut Counts, more: &Counts) {
    for (kind, count) in more {
        *to.entry(*kind).or_default() += count;
    }
}

/// Holds draws against their demand: no drawer draws anything twice, nor what isn't its own.
#[derive(Debug, Default)]
pub struct Draws {
    demand: Arc<Demand>,
    /// What each has drawn: ends of ranges by their beginnings, apart from one another.
    drawn: HashMap<(Drawer, SupplyKind), BTreeMap<u64, u64>>,
}

impl Draws {
    /// Nothing is drawn yet.
    pub fn new(demand: Arc<Demand>) -> Self {
        Self { demand, drawn: HashMap::new() }
    }

    /// Notes a draw of items, counted from the drawer's first; which they are of all.
    ///
    /// # Errors
    /// [`Error::Supply`] if one isn't the drawer's, or it has drawn it before.
    pub fn note(&mut self, drawer: Drawer, kind: SupplyKind, items: Range<u64>) -> Result<Range<u64>, Error> {
        let own = self.demand.range(drawer, kind).unwrap_or_default();
        let within = items.start <= items.end && items.end <= own.end - own.start;
        if !within {
            let reason = format!("{drawer:?} draws {kind} {items:?}, and its demand has {own:?}");
            return Err(Error::Supply(reason));
        }
        let placed = own.start + items.start..own.start + items.end;
        if items.is_empty() {
            return Ok(placed);
        }
        let drawn = self.drawn.entry((drawer, kind)).or_default();
        let before = drawn.range(..items.end).next_back().map(|(start, end)| (*start, *end));
        match before {
            Some((_, end)) if end > items.start => {
                return Err(Error::Supply(format!("{drawer:?} draws {kind} {items:?} again")));
            }
            Some((start, end)) if end == items.start => drawn.insert(start, items.end),
            _ => drawn.insert(items.start, items.end),
        };
        Ok(placed)
    }
}
