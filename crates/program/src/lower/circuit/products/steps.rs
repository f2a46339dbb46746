//! What the gates of a circuit are where bits are numbers: fewer products than gates.
//!
//! | in the circuit | as numbers | products |
//! | --- | --- | --- |
//! | `a & b` | `a b` | 1 |
//! | `a ^ b` | `a + b - 2 a b` | 1, that of `a & b` |
//! | `a ^ b` of which at most one is set | `a + b` | none |
//! | `y ^ s & (x ^ y)` | `y + s (x - y)` | 1 instead of 3 |
//! | a full adder's carry, `c ^ (x ^ c) & (y ^ c)` | `(x ^ c) y + x c` | none but those of the sum `(x ^ c) ^ y` |

use std::collections::HashSet;
use tacit_circuit::{Circuit, Gate, Wire};

/// What makes a wire's bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The gate.
    Gate(Gate),
    /// One of two bits, of which at most one is set.
    Sum(Wire, Wire),
    /// `x` where `s` is set, else `y`.
    Choice { s: Wire, x: Wire, y: Wire },
    /// Whether two of three bits are set, `s` being `x ^ c`; `s ^ y` is made, too.
    Carry { s: Wire, y: Wire, x: Wire, c: Wire },
}

impl Step {
    pub(super) fn operands(&self) -> Vec<Wire> {
        match *self {
            Self::Gate(gate) => gate.operands().collect(),
            Self::Sum(a, b) => vec![a, b],
            Self::Choice { s, x, y } => vec![s, x, y],
            Self::Carry { s, y, x, c } => vec![s, y, x, c],
        }
    }
}

/// The steps of a circuit's gates, `None` where nothing needs one. `secret` says which inputs are: choices and carries are of
/// secrets alone, since gates with public bits cost nothing anyway. `exclusive` marks gates of whose operands at most one is set.
pub(super) fn steps(circuit: &Circuit, secret: &[bool], exclusive: &[bool]) -> Vec<Option<Step>> {
    let inputs = circuit.input_bits();
    let gate = |wire: Wire| circuit.gates().get((wire as usize).checked_sub(inputs)?).copied();
    let mut uses = vec![0_u32; circuit.wires()];
    let operands = circuit.gates().iter().flat_map(|gate| gate.operands());
    operands.chain(circuit.outputs().iter().flatten().copied()).for_each(|wire| uses[wire as usize] += 1);
    let mut pure = secret.to_vec();
    for gate in circuit.gates() {
        let constant = matches!(gate, Gate::Constant(_));
        pure.push(!constant && gate.operands().all(|wire| pure[wire as usize]));
    }
    let sums: HashSet<(Wire, Wire)> = circuit
        .gates()
        .iter()
        .filter_map(|gate| if let Gate::Xor(a, b) = *gate { Some(pair(a, b)) } else { None })
        .collect();
    let chosen = |and: Wire, y: Wire| {
        let Some(Gate::And(one, other)) = gate(and).filter(|_| uses[and as usize] == 1) else { return None };
        // Either operand may be `x ^ y`.
        let differs = |wire: Wire| match gate(wire) {
            Some(Gate::Xor(a, b)) if b == y => Some(a),
            Some(Gate::Xor(a, b)) if a == y => Some(b),
            _ => None,
        };
        let choice = |s: Wire, d: Wire| differs(d).map(|x| (s, x));
        let all_pure = |wires: &[Wire]| wires.iter().all(|&wire| pure[wire as usize]);
        let carry = |s: Wire, d: Wire| {
            let (x, other) = (differs(s)?, differs(d)?);
            (sums.contains(&pair(s, other)) && all_pure(&[s, other, x, y])).then_some(Step::Carry {
                s,
                y: other,
                x,
                c: y,
            })
        };
        carry(one, other).or_else(|| carry(other, one)).or_else(|| {
            let (s, x) = choice(one, other).or_else(|| choice(other, one))?;
            all_pure(&[s, x, y]).then_some(Step::Choice { s, x, y })
        })
    };
    let mut steps: Vec<Option<Step>> = Vec::with_capacity(circuit.gates().len());
    for (place, gate) in circuit.gates().iter().enumerate() {
        steps.push(Some(match *gate {
            Gate::Xor(a, b) if exclusive.get(place) == Some(&true) => Step::Sum(a, b),
            Gate::Xor(a, b) => chosen(a, b).or_else(|| chosen(b, a)).unwrap_or(Step::Gate(*gate)),
            gate => Step::Gate(gate),
        }));
    }
    let mut needed = vec![false; circuit.wires()];
    circuit.outputs().iter().flatten().for_each(|&wire| needed[wire as usize] = true);
    for (place, step) in steps.iter_mut().enumerate().rev() {
        if needed[inputs + place] {
            step.iter().flat_map(Step::operands).for_each(|wire| needed[wire as usize] = true);
        } else {
            *step = None;
        }
    }
    steps
}

fn pair(a: Wire, b: Wire) -> (Wire, Wire) {
    (a.min(b), a.max(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tacit_circuit::Builder;
    use tacit_circuit::arith::{self, Style};

    /// Products of a circuit's steps if all inputs are secret, and of its gates.
    fn products(b: Builder, outputs: Vec<Wire>) -> [usize; 2] {
        let (circuit, exclusive) = b.finish_marked(vec![outputs]);
        let gates =
            circuit.gates().iter().filter(|gate| matches!(gate, Gate::And(..) | Gate::Xor(..))).count();
        let mut made = HashSet::new();
        for step in steps(&circuit, &vec![true; circuit.input_bits()], &exclusive).into_iter().flatten() {
            match step {
                Step::Gate(Gate::And(a, b) | Gate::Xor(a, b)) => made.extend([(pair(a, b), None)]),
                Step::Carry { s, y, x, c } => made.extend([(pair(s, y), None), (pair(x, c), None)]),
                Step::Choice { s, x, y } => made.extend([(pair(x, y), Some(s))]),
                Step::Sum(..) | Step::Gate(_) => {}
            }
        }
        [made.len(), gates]
    }

    #[test]
    fn a_choice_is_one_product_and_a_full_adder_two() {
        let mut b = Builder::new();
        let (s, x, y) = (b.input(1)[0], b.input(8), b.input(8));
        let chosen = arith::select(&mut b, s, &x, &y);
        assert_eq!(products(b, chosen), [8, 24]);

        let mut b = Builder::new();
        let (x, y, carry) = (b.input(8), b.input(8), b.input(1)[0]);
        let (mut sum, carry) = arith::add_with_carry(&mut b, Style::Small, &x, &y, carry);
        sum.push(carry);
        assert_eq!(products(b, sum), [16, 40]);
    }

    #[test]
    fn bits_of_which_one_is_set_are_added() {
        let mut b = Builder::new();
        let x = b.input(3);
        let [one, other] = [b.and(x[0], x[1]), b.not(x[0])];
        let other = b.and(other, x[2]);
        let sum = b.xor_exclusive(one, other);
        assert_eq!(products(b, vec![sum]), [2, 3]);
        // What a builder folds is no gate, and marks none that was there before.
        let mut b = Builder::new();
        let x = b.input(2);
        let (zero, made) = (b.constant(false), b.xor(x[0], x[1]));
        let same = b.xor_exclusive(made, zero);
        assert_eq!(b.finish_marked(vec![vec![same]]).1, [false]);
    }

    /// With a public bit among them gates cost nothing, and stay what they are.
    #[test]
    fn choices_with_public_bits_stay_gates() {
        let mut b = Builder::new();
        let (s, x, y) = (b.input(1)[0], b.input(1), b.input(1));
        let chosen = arith::select(&mut b, s, &x, &y);
        let circuit = b.finish(vec![chosen]);
        let all = steps(&circuit, &[false, true, true], &[]);
        assert!(all.iter().all(|step| matches!(step, Some(Step::Gate(_)))));
        let all = steps(&circuit, &[true; 3], &[]);
        assert_eq!(all[..2], [None, None]);
        assert!(matches!(all[2], Some(Step::Choice { .. })));
    }
}
