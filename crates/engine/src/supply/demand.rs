//! What a run draws from supplies, counted before it begins.

use super::SupplyKind;
use crate::Error;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use tacit_program::plan::{Domain, Local, Plan, Reg, Region, Rows, Section};

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
    /// Arms that exclude one another draw triples from the same range, so a branch takes as many as its largest arm.
    /// All else they draw, as what is opened under it is opened in every arm, has ranges of its own.
    ///
    /// # Security
    /// All arms are executed, whichever is active. So this is only for a protocol whose inactive arms send nothing that a triple
    /// masks as it is ([`SupplyKind::Masks`]): two values under one item show their difference.
    ///
    /// It holds for branches with one condition for all columns; where each column has its own, other columns may be active in
    /// either arm, and ranges stay apart. In what repeats another arm may be active in each turn: a branch whose masks each turn
    /// draws anew shares ranges within a turn, and any other's stay apart.
    Shared,
    /// Arms' ANDs are those of one circuit, in which all wires of inactive arms are zero ([`tacit_circuit::motif`]):
    /// plans have no regions.
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
        let ops = (0..plan.op_count()).map(|at| (Drawer::Op(at), layout.counted(plan, at)));
        let ops: Vec<_> = ops.collect();
        let mut own = Vec::new();
        for (drawer, region) in inputs.chain(ops).chain(outputs) {
            for (kind, count) in needs(drawer).into_iter().filter(|(_, count)| *count > 0) {
                let region = if kind == SupplyKind::Triple(Domain::Bits) { region } else { 0 };
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

/// Where regions lie, each turn's of those that draw masks in each. What a region draws itself comes first, then its branches
/// one after another, each as long as its longest arm.
struct Layout {
    arms: Arms,
    /// The section in whose turns each region draws its masks.
    homes: Vec<Option<usize>>,
    /// Whether it may be active where it isn't counted on.
    changing: Vec<bool>,
    /// Where each region's draws are counted, by what its turn adds to addresses: at a place of its own, or where
    /// ranges stay apart at that of the one around it.
    places: HashMap<(u32, u32), usize>,
    /// What each draws itself.
    own: Vec<Counts>,
    /// The branches in each: their conditions, and for each arm the places of its regions.
    branches: Vec<Vec<Branch>>,
}

struct Branch {
    /// The region that it stands in, what says which arm is active, and the turn.
    condition: (u32, Rows, u32),
    arms: BTreeMap<u8, Vec<usize>>,
}

impl Layout {
    fn of(plan: &Plan, arms: Arms) -> Self {
        let homes = homes(plan);
        let changing = changing(plan, &homes);
        let places = HashMap::from([((0, 0), 0)]);
        let mut layout =
            Self { arms, homes, changing, places, own: vec![Counts::new()], branches: vec![Vec::new()] };
        for region in 1..=plan.regions.len() as u32 {
            if layout.homes[region as usize].is_none() {
                layout.place(plan, region, 0);
            }
        }
        layout
    }

    /// Where the draws of the operation at an address are counted.
    fn counted(&mut self, plan: &Plan, at: u32) -> usize {
        match plan.op(at).region {
            0 => 0,
            region => self.place(plan, region, plan.shift(at)),
        }
    }

    /// The place of a region in the turn that adds so much to addresses. A region's comes after that of the one that
    /// it stands in.
    fn place(&mut self, plan: &Plan, region: u32, shift: u32) -> usize {
        let Some(own) = plan.region(region) else { return 0 };
        let shift = if self.homes[region as usize].is_some() { shift } else { 0 };
        if let Some(&known) = self.places.get(&(region, shift)) {
            return known;
        }
        let parent = self.place(plan, own.parent, shift);
        let is_apart = self.arms != Arms::Shared || self.changing[region as usize];
        let place = if is_apart || plan.register(own.condition.reg).cols != 1 {
            parent
        } else {
            let place = self.own.len();
            self.own.push(Counts::new());
            self.branches.push(Vec::new());
            let condition = (own.parent, own.condition, shift);
            let found = self.branches[parent].iter().position(|branch| branch.condition == condition);
            let number = found.unwrap_or_else(|| {
                self.branches[parent].push(Branch { condition, arms: BTreeMap::new() });
                self.branches[parent].len() - 1
            });
            self.branches[parent][number].arms.entry(own.arm).or_default().push(place);
            place
        };
        self.places.insert((region, shift), place);
        place
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

/// The section, for each region by number, in each of whose turns its masks are drawn; `None` where they are drawn once, or not.
fn homes(plan: &Plan) -> Vec<Option<usize>> {
    let own = |region: &Region| region.swap.and_then(|swap| plan.section_of(swap.op));
    std::iter::once(None).chain(plan.regions.iter().map(own)).collect()
}

/// The regions, by number, that may be active in one turn of a section and not in another, while masks of both turns
/// are the same: those with an operation in a section where they have no masks of each turn, or a condition that such
/// turns write, and all around them.
fn changing(plan: &Plan, homes: &[Option<usize>]) -> Vec<bool> {
    let mut changing = vec![false; plan.regions.len() + 1];
    for (op, address, _) in plan.counted_ops() {
        changing[op.region as usize] |= plan.section_of(address) != homes[op.region as usize];
    }
    let copies = |section: &Section| {
        let slices = section.slices.iter().map(|slice| &slice.step);
        section.carry.iter().chain(slices).map(Local::writes).collect::<Vec<_>>()
    };
    let written: Vec<HashSet<Reg>> =
        plan.sections.iter().map(|section| copies(section).into_iter().collect()).collect();
    // A region comes after the one that it stands in.
    for (index, region) in (1..changing.len()).zip(&plan.regions).rev() {
        let elsewhere = written.iter().enumerate().filter(|(section, _)| homes[index] != Some(*section));
        changing[index] |= elsewhere.into_iter().any(|(_, written)| written.contains(&region.condition.reg));
        changing[index] |= region.parent != 0 && homes[region.parent as usize] != homes[index];
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
