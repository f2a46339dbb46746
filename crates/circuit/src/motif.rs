//! Branches whose inactive wires are zero (MOTIF: Heath, Kolesnikov, Peceny, ASIACRYPT 2020; section 2.4 of their
//! paper of PKC 2021).
//!
//! What enters an arm is ANDed with the arm's activity, a bit that is 1 where the arm is active. Sums and ANDs of
//! zeros are zeros, and the constant 1 of an arm, by which it complements, is its activity. So in an arm that isn't
//! active all wires are 0, and a branch's result is the sum of its arms' results.
//!
//! **Shared ANDs.** Of arms that exclude one another all but one have zeros. So the `i`-th ANDs `a_j & b_j` of a layer of all arms are
//! `(a_1 ^ a_2 ^ ...) & b_j`: products of one bit with a vector ([`Layer::scalings`](crate::Layer::scalings)), for which a protocol
//! pays as for one AND. How many there are depends on how layers are aligned: in each layer as many as the arm with most has.

use crate::{Builder, Circuit, Gate, Wire};
use std::collections::{BTreeMap, HashMap};

/// The region that is always active.
pub const WHOLE: u32 = 0;

/// A bit of a circuit with branches, and the region that it is in: the whole circuit, or an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Bit {
    wire: Wire,
    region: u32,
}

/// A circuit with branches in the making, of which inactive wires are zero.
#[derive(Debug)]
pub struct Motif {
    inputs: Vec<u32>,
    /// What drives each wire.
    drivers: Vec<Driver>,
    /// ANDs on the longest way to each wire.
    depths: Vec<usize>,
    regions: Vec<Region>,
    /// By region and condition: both arms, that where it isn't set first.
    arms: BTreeMap<(u32, Wire), [u32; 2]>,
    /// What bits of the region around are in an arm.
    entered: HashMap<(u32, Wire), Wire>,
}

#[derive(Clone, Copy, Debug)]
enum Driver {
    Input,
    Constant(bool),
    Xor(Wire, Wire),
    /// The left operand is a scalar, and the region says which others it may share.
    And(Wire, Wire, u32),
}

impl Driver {
    /// The wires that it reads.
    fn operands(self) -> impl Iterator<Item = Wire> {
        let both = match self {
            Self::Input | Self::Constant(_) => None,
            Self::Xor(a, b) | Self::And(a, b, _) => Some([a, b]),
        };
        both.into_iter().flatten()
    }
}

#[derive(Debug)]
struct Region {
    parent: u32,
    condition: Wire,
    /// 1 where it is active.
    active: Wire,
}

/// ANDs of one bit with others, all of one layer: the scalars of all arms, of which at most one isn't zero; what they
/// are multiplied by, with the wires of the products.
struct Scaling {
    scalars: Vec<Wire>,
    products: Vec<(Wire, Wire)>,
}

impl Default for Motif {
    fn default() -> Self {
        Self::new()
    }
}

impl Motif {
    /// An empty circuit.
    pub fn new() -> Self {
        let whole = Region { parent: WHOLE, condition: 1, active: 1 };
        Self {
            inputs: Vec::new(),
            drivers: [false, true].map(Driver::Constant).to_vec(),
            depths: vec![0; 2],
            regions: vec![whole],
            arms: BTreeMap::new(),
            entered: HashMap::new(),
        }
    }

    /// How many wires there are so far.
    pub fn wires(&self) -> usize {
        self.drivers.len()
    }

    /// The next input's bits, outside of all branches.
    pub fn input(&mut self, bits: usize) -> Vec<Bit> {
        self.inputs.push(bits as u32);
        let bit = |_| {
            let wire = self.push(Driver::Input);
            Bit { wire, region: WHOLE }
        };
        (0..bits).map(bit).collect()
    }

    /// A bit that everybody knows.
    pub fn constant(&self, bit: bool) -> Bit {
        Bit { wire: bit.into(), region: WHOLE }
    }

    /// An arm in `region` of the branch by a condition, where that is set or where it isn't.
    pub fn arm(&mut self, region: u32, condition: Bit, set: bool) -> u32 {
        let t = self.enter(region, condition).wire;
        if let Some(arms) = self.arms.get(&(region, t)) {
            return arms[usize::from(set)];
        }
        let around = self.regions[region as usize].active;
        let first = self.regions.len() as u32;
        for set in [false, true] {
            let active = if set { t } else { self.xor_wires(around, t) };
            let arm = first + u32::from(set);
            self.regions.push(Region { parent: region, condition: t, active });
            self.entered.insert((arm, around), active);
            self.arms.entry((region, t)).or_default()[usize::from(set)] = arm;
        }
        first + u32::from(set)
    }

    /// A bit in a region inside of its own: zero where that isn't active.
    ///
    /// # Panics
    /// If the region isn't inside of the bit's.
    pub fn enter(&mut self, region: u32, bit: Bit) -> Bit {
        if region == bit.region || bit.wire == 0 {
            return Bit { region, ..bit };
        }
        assert!(region != WHOLE, "a bit is used in its region or inside of it");
        let Region { parent, condition, .. } = self.regions[region as usize];
        let x = self.enter(parent, bit).wire;
        if let Some(&wire) = self.entered.get(&(region, x)) {
            return Bit { wire, region };
        }
        let set = self.and_wires(condition, x, parent);
        let not = self.xor_wires(x, set);
        let [unset_arm, set_arm] = self.arms[&(parent, condition)];
        self.entered.extend([((unset_arm, x), not), ((set_arm, x), set)]);
        Bit { wire: if region == set_arm { set } else { not }, region }
    }

    /// A result of an arm, in the region around it: zero where the arm isn't active. The results of both arms add up
    /// to a branch's.
    pub fn leave(&self, bit: Bit) -> Bit {
        Bit { region: self.regions[bit.region as usize].parent, ..bit }
    }

    /// `a ^ b`, in a region.
    pub fn xor(&mut self, region: u32, a: Bit, b: Bit) -> Bit {
        let [a, b] = [a, b].map(|bit| self.enter(region, bit).wire);
        Bit { wire: self.xor_wires(a, b), region }
    }

    /// `a & b`, in a region.
    pub fn and(&mut self, region: u32, a: Bit, b: Bit) -> Bit {
        let [a, b] = [a, b].map(|bit| self.enter(region, bit).wire);
        Bit { wire: self.and_wires(a, b, region), region }
    }

    /// `!a`, in a region: with the region's activity for 1.
    pub fn not(&mut self, region: u32, a: Bit) -> Bit {
        self.xor(region, a, self.constant(true))
    }

    /// A circuit's outputs, in a region.
    ///
    /// # Panics
    /// If the inputs aren't as many bits as the circuit has.
    pub fn circuit(&mut self, region: u32, circuit: &Circuit, inputs: &[Bit]) -> Vec<Bit> {
        assert_eq!(inputs.len(), circuit.input_bits(), "a bit for each of the circuit's");
        let mut bits = inputs.to_vec();
        for &gate in circuit.gates() {
            let at = |wire: Wire| bits[wire as usize];
            let bit = match gate {
                Gate::Xor(a, b) => self.xor(region, at(a), at(b)),
                Gate::And(a, b) => self.and(region, at(a), at(b)),
                Gate::Not(a) => self.not(region, at(a)),
                Gate::Constant(bit) => self.constant(bit),
            };
            bits.push(bit);
        }
        circuit.outputs().iter().flatten().map(|&wire| bits[wire as usize]).collect()
    }

    /// The circuit with these outputs, all of them outside of branches: its ANDs are those of arms together.
    ///
    /// # Panics
    /// If a bit is of an arm.
    pub fn finish(self, outputs: &[Bit]) -> Circuit {
        assert!(outputs.iter().all(|bit| bit.region == WHOLE), "what an arm makes leaves it first");
        let mut needed = vec![false; self.drivers.len()];
        for bit in outputs {
            needed[bit.wire as usize] = true;
        }
        // What drives a wire comes before it.
        for (wire, driver) in self.drivers.iter().enumerate().rev() {
            if needed[wire] {
                for operand in driver.operands() {
                    needed[operand as usize] = true;
                }
            }
        }
        let deepest = self.depths.iter().copied().max().unwrap_or(0);
        let mut layers: Vec<Vec<Wire>> = vec![Vec::new(); deepest + 1];
        for (wire, &depth) in self.depths.iter().enumerate().filter(|(wire, _)| needed[*wire]) {
            layers[depth].push(wire as Wire);
        }
        let mut build = Builder::new();
        let mut made: Vec<Wire> = vec![Wire::MAX; self.drivers.len()];
        let mut inputs =
            self.inputs.iter().flat_map(|&bits| build.input(bits)).collect::<Vec<_>>().into_iter();
        for (made, driver) in made.iter_mut().zip(&self.drivers) {
            if matches!(driver, Driver::Input) {
                *made = inputs.next().expect("inputs have as many bits");
            }
        }
        for layer in layers {
            for Scaling { scalars, products } in self.scalings(&layer) {
                let scalars = scalars.into_iter().map(|wire| made[wire as usize]).collect::<Vec<_>>();
                let scalar = scalars.into_iter().reduce(|sum, wire| build.xor(sum, wire));
                let scalar = scalar.expect("an AND has a left operand");
                for (factor, product) in products {
                    made[product as usize] = build.and(scalar, made[factor as usize]);
                }
            }
            for wire in layer {
                match self.drivers[wire as usize] {
                    Driver::Input | Driver::And(..) => {}
                    Driver::Constant(bit) => made[wire as usize] = build.constant(bit),
                    Driver::Xor(a, b) => {
                        made[wire as usize] = build.xor(made[a as usize], made[b as usize]);
                    }
                }
            }
        }
        build.finish(vec![outputs.iter().map(|bit| made[bit.wire as usize]).collect()])
    }

    /// The ANDs of a layer, those of arms that exclude one another together.
    fn scalings(&self, layer: &[Wire]) -> Vec<Scaling> {
        let mut own: BTreeMap<u32, Vec<Scaling>> = BTreeMap::new();
        let mut places: HashMap<(u32, Wire), usize> = HashMap::new();
        for &wire in layer {
            let Driver::And(scalar, factor, region) = self.drivers[wire as usize] else { continue };
            let all = own.entry(region).or_default();
            let place = *places.entry((region, scalar)).or_insert_with(|| {
                all.push(Scaling { scalars: vec![scalar], products: Vec::new() });
                all.len() - 1
            });
            all[place].products.push((factor, wire));
        }
        // Arms come after what they are in: from the inside out.
        for (&(region, _), &[not, set]) in self.arms.iter().rev() {
            let [one, other] = [not, set].map(|arm| own.remove(&arm).unwrap_or_default());
            if !one.is_empty() || !other.is_empty() {
                own.entry(region).or_default().extend(together(one, other));
            }
        }
        own.remove(&WHOLE).unwrap_or_default()
    }

    fn xor_wires(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (0, other) | (other, 0) => other,
            _ if a == b => 0,
            _ => self.push(Driver::Xor(a, b)),
        }
    }

    fn and_wires(&mut self, a: Wire, b: Wire, region: u32) -> Wire {
        let one = self.regions[region as usize].active;
        match (a, b) {
            (0, _) | (_, 0) => 0,
            _ if a == b || b == one => a,
            _ if a == one => b,
            _ => self.push(Driver::And(a, b, region)),
        }
    }

    fn push(&mut self, driver: Driver) -> Wire {
        let below = driver.operands().map(|wire| self.depths[wire as usize]).max().unwrap_or(0);
        self.depths.push(below + usize::from(matches!(driver, Driver::And(..))));
        self.drivers.push(driver);
        self.drivers.len() as Wire - 1
    }
}

/// The first ANDs of both arms become one product of a bit with a vector, the second ones another, and so on.
fn together(one: Vec<Scaling>, other: Vec<Scaling>) -> Vec<Scaling> {
    let (mut longer, shorter) = if one.len() < other.len() { (other, one) } else { (one, other) };
    for (scaling, more) in longer.iter_mut().zip(shorter) {
        scaling.scalars.extend(more.scalars);
        scaling.products.extend(more.products);
    }
    longer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Layered;

    /// Products of a bit with a vector, by layer.
    fn scalings(circuit: &Circuit) -> Vec<usize> {
        let layered = Layered::early(circuit);
        layered.layers.iter().map(|layer| layer.scalings().count()).filter(|count| *count > 0).collect()
    }

    /// Layers of so many ANDs side by side, of which every bit of the next layer depends on the first.
    fn arm(motif: &mut Motif, region: u32, x: &[Bit], ands: &[usize]) -> Vec<Bit> {
        let mut bits = x.to_vec();
        for &ands in ands {
            let both = (0..ands).map(|place| motif.and(region, bits[place], bits[(place + 1) % bits.len()]));
            let both: Vec<Bit> = both.collect();
            for (place, bit) in bits.iter_mut().enumerate() {
                *bit = motif.xor(region, *bit, both[0]);
                if let Some(&and) = both.get(place + 1) {
                    *bit = motif.xor(region, *bit, and);
                }
            }
            bits[4] = motif.not(region, bits[4]);
        }
        bits
    }

    /// What the arm makes, in the clear.
    fn arm_in_clear(x: &[bool], ands: &[usize]) -> Vec<bool> {
        let mut bits = x.to_vec();
        for &ands in ands {
            let both: Vec<bool> =
                (0..ands).map(|place| bits[place] & bits[(place + 1) % bits.len()]).collect();
            for (place, bit) in bits.iter_mut().enumerate() {
                *bit ^= both[0] ^ both.get(place + 1).copied().unwrap_or(false);
            }
            bits[4] = !bits[4];
        }
        bits
    }

    /// The arms of a switch of four, with this many ANDs in their layers.
    const ARMS: [&[usize]; 4] = [&[5, 2], &[3, 4, 1], &[5], &[1, 1, 3]];

    fn switch() -> Circuit {
        let mut motif = Motif::new();
        let (c, x) = (motif.input(2), motif.input(5));
        let mut sum: Vec<Bit> = vec![motif.constant(false); 5];
        for (place, ands) in ARMS.into_iter().enumerate() {
            let outer = motif.arm(WHOLE, c[0], place >= 2);
            let inner = motif.arm(outer, c[1], place % 2 == 1);
            let made = arm(&mut motif, inner, &x, ands);
            for (sum, bit) in sum.iter_mut().zip(made) {
                let bit = motif.enter(inner, bit);
                let bit = motif.leave(motif.leave(bit));
                *sum = motif.xor(WHOLE, *sum, bit);
            }
        }
        motif.finish(&sum)
    }

    #[test]
    fn the_active_arm_is_what_comes_out() {
        let circuit = switch();
        for bits in 0..1_u32 << 7 {
            let bit = |place: u32| bits >> place & 1 == 1;
            let (c, x) = ([bit(0), bit(1)], (2..7).map(bit).collect::<Vec<_>>());
            let expected = arm_in_clear(&x, ARMS[2 * usize::from(c[0]) + usize::from(c[1])]);
            assert_eq!(circuit.evaluate(&[c.to_vec(), x]).unwrap(), [expected], "{bits:b}");
        }
    }

    /// Two for what enters: by the outer condition, which takes the inner one along, and by the inner ones of both arms together.
    /// And in each layer as many as the arm with most has there.
    #[test]
    fn arms_share_ands_layer_by_layer() {
        let layers = |layer: usize| ARMS.iter().map(|arm| arm.get(layer).copied().unwrap_or(0)).max();
        let most: Vec<usize> = (0..3).filter_map(layers).collect();
        assert_eq!(scalings(&switch()), [vec![1, 1], most].concat());
    }
}
