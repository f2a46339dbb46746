//! From text to a circuit.

use super::lines::{Lines, Words, is_number};
use super::{Fault, FormatError};
use crate::circuit::{Circuit, Gate, MAX_INPUT_BITS, Wire};

/// Reads a circuit of either format.
///
/// They are told apart by the third line that isn't blank: in Bristol Fashion it holds numbers only, in the older
/// format it is a gate and ends with a name, or is missing where there are no gates. So no valid file of one is
/// read as the other, whatever the numbers in its header.
///
/// # Errors
/// [`FormatError`] with the line, what is expected there and what was found.
pub fn read(text: &[u8]) -> Result<Circuit, FormatError> {
    match Lines::new(text).nth(2).and_then(Iterator::last) {
        Some(word) if is_number(word) => read_fashion(text),
        _ => read_old(text),
    }
}

/// Reads a circuit in Bristol Fashion.
///
/// # Errors
/// [`FormatError`] with the line, what is expected there and what was found.
pub fn read_fashion(text: &[u8]) -> Result<Circuit, FormatError> {
    let mut lines = Lines::new(text);
    let (first, gates, wires) = counts(&mut lines)?;
    let (_, inputs) = widths(&mut lines, "the number of inputs")?;
    let (last, outputs) = widths(&mut lines, "the number of outputs")?;
    read_gates(text, lines, Header { gates, wires, inputs, outputs, first, last, fashion: true })
}

/// Reads a circuit in the older format. One whose second input has no bits has one input.
///
/// # Errors
/// [`FormatError`] with the line, what is expected there and what was found.
pub fn read_old(text: &[u8]) -> Result<Circuit, FormatError> {
    let mut lines = Lines::new(text);
    let (first, gates, wires) = counts(&mut lines)?;
    let mut last = lines.expect("the bits of both inputs and of the output")?;
    let left = last.number("the bits of the first input")?;
    let right = last.number("the bits of the second input")?;
    let outputs = vec![last.number("the bits of the output")?];
    last.end()?;
    let inputs = if right == 0 { vec![left] } else { vec![left, right] };
    read_gates(text, lines, Header { gates, wires, inputs, outputs, first, last, fashion: false })
}

/// What stands before the gates.
struct Header<'a> {
    gates: u32,
    wires: u32,
    inputs: Vec<u32>,
    outputs: Vec<u32>,
    /// Its first and its last line.
    first: Words<'a>,
    last: Words<'a>,
    fashion: bool,
}

/// Line 1: the number of gates and of wires.
fn counts<'a>(lines: &mut Lines<'a>) -> Result<(Words<'a>, u32, u32), FormatError> {
    let mut line = lines.expect("the number of gates and of wires")?;
    let gates = line.number("the number of gates")?;
    let wires = line.number("the number of wires")?;
    line.end()?;
    Ok((line, gates, wires))
}

/// A line with a count and as many numbers of bits.
fn widths<'a>(lines: &mut Lines<'a>, what: &'static str) -> Result<(Words<'a>, Vec<u32>), FormatError> {
    let mut line = lines.expect(what)?;
    let count = line.number(what)?;
    let widths = line.clone().numbers("a number of bits")?;
    if widths.len() != count as usize {
        let found = format!("{} for {count}", widths.len());
        return Err(line.fault(Fault::Expected { expected: "as many numbers of bits as are counted", found }));
    }
    Ok((line, widths))
}

fn read_gates(text: &[u8], mut lines: Lines<'_>, header: Header<'_>) -> Result<Circuit, FormatError> {
    let mut reader = Reader::new(text, &header)?;
    for found in 0..header.gates {
        let gates = Fault::Gates { expected: header.gates, found };
        let line = lines.next().ok_or_else(|| lines.at_end(gates))?;
        reader.gate(line)?;
    }
    if let Some(mut line) = lines.next() {
        let word = line.next();
        return Err(line.unexpected("the end of the file, after as many gates as the header says", word));
    }
    let outputs = reader.outputs(&header.outputs).map_err(|fault| lines.at_end(fault))?;
    Ok(Circuit::new(header.inputs, reader.gates, outputs).expect("every wire was looked up"))
}

/// The place of a wire that no gate has written.
const UNWRITTEN: Wire = Wire::MAX;

struct Reader {
    fashion: bool,
    /// Wires by the header.
    wires: u32,
    /// The wires below are inputs.
    input_bits: u32,
    /// For each of the other wires the one that it is in the circuit.
    places: Vec<Wire>,
    gates: Vec<Gate>,
    /// The wires of a line.
    named: Vec<u32>,
}

impl Reader {
    fn new(text: &[u8], header: &Header<'_>) -> Result<Self, FormatError> {
        let sum = |bits: &[u32]| bits.iter().map(|&bits| u64::from(bits)).sum::<u64>();
        let (inputs, outputs, wires) = (sum(&header.inputs), sum(&header.outputs), header.wires);
        if inputs + outputs > wires.into() {
            return Err(header.last.fault(Fault::Bits { inputs, outputs, wires }));
        }
        if inputs > MAX_INPUT_BITS {
            return Err(header.last.fault(Fault::Inputs { bits: inputs }));
        }
        // A gate takes more bytes than it writes wires; and a circuit has no wire of the largest number.
        let most = (inputs + text.len() as u64).min(u64::from(Wire::MAX) - 1);
        if u64::from(wires) > most {
            return Err(header.first.fault(Fault::Wires { wires, most }));
        }
        let input_bits = inputs as u32;
        let places = vec![UNWRITTEN; (wires - input_bits) as usize];
        let (gates, named) = (Vec::new(), Vec::new());
        Ok(Self { fashion: header.fashion, wires, input_bits, places, gates, named })
    }

    /// Reads a gate's line.
    fn gate(&mut self, mut line: Words<'_>) -> Result<(), FormatError> {
        let reads = line.number("how many wires the gate reads")?;
        let writes = line.number("how many wires the gate writes")?;
        let mut named = std::mem::take(&mut self.named);
        named.clear();
        while let Some(number) = line.another_number()? {
            named.push(number);
        }
        let name = line.next();
        let Some(kind) = name.and_then(|name| GateKind::new(name, self.fashion)) else {
            let expected = if self.fashion {
                "a wire or XOR, AND, INV, EQ, EQW or MAND"
            } else {
                "a wire or XOR, AND or INV"
            };
            return Err(line.unexpected(expected, name));
        };
        line.end()?;
        let counted = u64::from(reads) + u64::from(writes);
        if !kind.allows(reads, writes) || counted != named.len() as u64 {
            let found = format!("{reads} and {writes} counted, {} named", named.len());
            let (gate, expected) = kind.description();
            return Err(line.fault(Fault::Arity { gate, expected, found }));
        }
        let (from, to) = named.split_at(reads as usize);
        self.apply(kind, from, to).map_err(|fault| line.fault(fault))?;
        self.named = named;
        Ok(())
    }

    /// Adds a gate's effect to the circuit.
    fn apply(&mut self, kind: GateKind, from: &[u32], to: &[u32]) -> Result<(), Fault> {
        match (kind, from, to) {
            (GateKind::Eq, &[bit], &[to]) => {
                let found = || format!("`{bit}`");
                let constant = match bit {
                    0 | 1 => Gate::Constant(bit == 1),
                    _ => return Err(Fault::Expected { expected: "a constant, 0 or 1", found: found() }),
                };
                self.push(constant, to)
            }
            (GateKind::Eqw, &[from], &[to]) => {
                let place = self.place(from)?;
                self.write(to, place)
            }
            (GateKind::Inv, &[from], &[to]) => {
                let gate = Gate::Not(self.place(from)?);
                self.push(gate, to)
            }
            (GateKind::Xor, &[a, b], &[to]) => {
                let gate = Gate::Xor(self.place(a)?, self.place(b)?);
                self.push(gate, to)
            }
            (GateKind::And, &[a, b], &[to]) => {
                let gate = Gate::And(self.place(a)?, self.place(b)?);
                self.push(gate, to)
            }
            _ => {
                // As many ANDs as wires are written; none reads what another one of them writes.
                let (left, right) = from.split_at(to.len());
                let and = |(&a, &b)| Ok(Gate::And(self.place(a)?, self.place(b)?));
                let ands: Vec<Gate> = left.iter().zip(right).map(and).collect::<Result<_, Fault>>()?;
                ands.into_iter().zip(to).try_for_each(|(and, &to)| self.push(and, to))
            }
        }
    }

    fn push(&mut self, gate: Gate, to: u32) -> Result<(), Fault> {
        self.write(to, self.input_bits + self.gates.len() as u32)?;
        self.gates.push(gate);
        Ok(())
    }

    /// The circuit's wire for one that is read.
    fn place(&self, wire: u32) -> Result<Wire, Fault> {
        self.check(wire)?;
        let Some(index) = wire.checked_sub(self.input_bits) else { return Ok(wire) };
        match self.places[index as usize] {
            UNWRITTEN => Err(Fault::Unwritten { wire }),
            place => Ok(place),
        }
    }

    fn write(&mut self, wire: u32, place: Wire) -> Result<(), Fault> {
        self.check(wire)?;
        let index = wire.checked_sub(self.input_bits).ok_or(Fault::Input { wire })?;
        let old = &mut self.places[index as usize];
        if *old != UNWRITTEN {
            return Err(Fault::Twice { wire });
        }
        *old = place;
        Ok(())
    }

    fn check(&self, wire: u32) -> Result<(), Fault> {
        if wire < self.wires { Ok(()) } else { Err(Fault::Range { wire, wires: self.wires }) }
    }

    /// The circuit's wires for the last ones of the file.
    fn outputs(&self, widths: &[u32]) -> Result<Vec<Vec<Wire>>, Fault> {
        let bits: u32 = widths.iter().sum();
        let mut wires = self.wires - bits..self.wires;
        let place = |wire| self.place(wire).map_err(|_| Fault::Output { wire });
        widths.iter().map(|&bits| wires.by_ref().take(bits as usize).map(place).collect()).collect()
    }
}

/// Kinds of gates.
#[derive(Clone, Copy)]
enum GateKind {
    Xor,
    And,
    Inv,
    Eq,
    Eqw,
    Mand,
}

impl GateKind {
    fn new(name: &[u8], fashion: bool) -> Option<Self> {
        match name {
            b"XOR" => Some(Self::Xor),
            b"AND" => Some(Self::And),
            b"INV" => Some(Self::Inv),
            b"EQ" if fashion => Some(Self::Eq),
            b"EQW" if fashion => Some(Self::Eqw),
            b"MAND" if fashion => Some(Self::Mand),
            _ => None,
        }
    }

    /// Whether it can read and write so many wires.
    fn allows(self, reads: u32, writes: u32) -> bool {
        match self {
            Self::Xor | Self::And => (reads, writes) == (2, 1),
            Self::Inv | Self::Eq | Self::Eqw => (reads, writes) == (1, 1),
            Self::Mand => writes > 0 && writes.checked_mul(2) == Some(reads),
        }
    }

    /// Its name, and how many wires it reads and writes.
    fn description(self) -> (&'static str, &'static str) {
        match self {
            Self::Xor => ("XOR", "2 and 1"),
            Self::And => ("AND", "2 and 1"),
            Self::Inv => ("INV", "1 and 1"),
            Self::Eq => ("EQ", "1 and 1"),
            Self::Eqw => ("EQW", "1 and 1"),
            Self::Mand => ("MAND", "2n and n, with n of 1 or more,"),
        }
    }
}
