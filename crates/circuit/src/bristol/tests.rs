use super::*;
use crate::arith::{self, Style};
use crate::testing::circuits;
use crate::{Circuit, Gate};
use proptest::prelude::*;

/// A circuit in the older format: exclusive ors, ANDs and complements, whose last wires are the output.
fn write_old(inputs: [u32; 2], gates: &[Gate], output: u32) -> String {
    let first = inputs[0] + inputs[1];
    let line = |(own, gate): (u32, &Gate)| match gate {
        Gate::Xor(a, b) => format!("2 1 {a} {b} {own} XOR\n"),
        Gate::And(a, b) => format!("2 1 {a} {b} {own} AND\n"),
        Gate::Not(a) => format!("1 1 {a} {own} INV\n"),
        Gate::Constant(_) => unreachable!("the older format has no constants"),
    };
    let [left, right] = inputs;
    let header = format!("{} {}\n{left} {right}   {output}\n\n", gates.len(), first + gates.len() as u32);
    header + &(first..).zip(gates).map(line).collect::<String>()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]
    #[test]
    fn what_is_written_is_read(circuit in circuits(80)) {
        let text = write(&circuit);
        let spaced = text.replace(' ', "\t  ").replace('\n', " \r\n\t\n");
        prop_assert_eq!(read_fashion(spaced.as_bytes()), read(text.as_bytes()));
        prop_assert_eq!(read(text.as_bytes()), Ok(circuit));
    }

    #[test]
    fn the_older_format_is_read(left in 1_u32..70, right in 0_u32..70, choices in proptest::collection::vec((0..3, any::<u32>(), any::<u32>()), 1..80), output: u32) {
        let first = left + right;
        let gates: Vec<Gate> = (first..).zip(&choices).map(|(wires, &(kind, a, b))| match kind {
            0 => Gate::Xor(a % wires, b % wires),
            1 => Gate::And(a % wires, b % wires),
            _ => Gate::Not(a % wires),
        }).collect();
        let bits = output % (gates.len() as u32 + 1);
        let text = write_old([left, right], &gates, bits);
        let wires = first + gates.len() as u32;
        let inputs = if right == 0 { vec![left] } else { vec![left, right] };
        let circuit = Circuit::new(inputs, gates, vec![(wires - bits..wires).collect()]);
        prop_assert_eq!(read(text.as_bytes()).ok(), circuit);
        prop_assert_eq!(read(text.trim_end().as_bytes()), read_old(text.as_bytes()));
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "(([0-9]{1,2} ){1,5}(XOR|AND|INV|EQ|EQW|MAND)?\n){0,6}") {
        for read in [read, read_fashion, read_old] {
            if let Ok(circuit) = read(text.as_bytes()) {
                prop_assert_eq!(super::read(write(&circuit).as_bytes()), Ok(circuit));
            }
        }
    }
}

/// All kinds of gates, numbers that jump, a wire that nothing has.
const ALL_KINDS: &str = "\
7 13
2 2 1
2 1 2

1 1 1 6 EQ
4 2 0 1 2 6 5 4 MAND
2 1 5 4 8 XOR
1 1 8 7 INV
1 1 7 10 EQW
1 1 0 11 EQW
2 1 11 10 12 AND
";

#[test]
fn every_kind_of_gate_is_read() {
    let gates = vec![
        Gate::Constant(true),
        Gate::And(0, 2),
        Gate::And(1, 3),
        Gate::Xor(4, 5),
        Gate::Not(6),
        Gate::And(0, 7),
    ];
    let circuit = Circuit::new(vec![2, 1], gates, vec![vec![7], vec![0, 8]]).unwrap();
    assert_eq!(read(ALL_KINDS.as_bytes()), Ok(circuit.clone()));
    for [a, b, c] in [[false, false, true], [true, false, true], [true, true, false], [true, true, true]] {
        let equal = (a && c) == b;
        let outputs = vec![vec![equal], vec![a, a && equal]];
        assert_eq!(circuit.evaluate(&[vec![a, b], vec![c]]), Ok(outputs));
    }
}

#[test]
fn copies_are_written_for_outputs_that_are_not_gates_of_their_own() {
    let circuit = Circuit::new(vec![2], vec![Gate::And(0, 1)], vec![vec![2, 0], vec![2]]).unwrap();
    let text = "3 5\n1 2\n2 2 1\n\n2 1 0 1 2 AND\n1 1 0 3 EQW\n1 1 2 4 EQW\n";
    assert_eq!(write(&circuit), text);
}

#[test]
fn a_file_that_needs_no_copies_keeps_its_gates() {
    let text = write(&arith::circuits::add(Style::Small, 9));
    let count = |text: &str, name: &str| text.lines().filter(|line| line.ends_with(name)).count();
    assert_eq!([" XOR", " AND", " INV", " EQ", " EQW"].map(|name| count(&text, name)), [31, 8, 0, 0, 0]);
    assert_eq!(write(&read(text.as_bytes()).unwrap()), text);
}

#[test]
fn headers_of_the_same_numbers_are_told_apart() {
    // As a header of Bristol Fashion: two inputs of one bit; as the older one's: 2 bits, 1 bit, 1 bit.
    let fashion = read(b"1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n").unwrap();
    assert_eq!((fashion.inputs(), fashion.output_bits()), (&[1, 1][..], 1));
    let old = read(b"1 4\n2 1 1\n2 1 0 1 3 AND\n").unwrap();
    assert_eq!((old.inputs(), old.output_bits()), (&[2, 1][..], 1));
    // Without gates the older format has no third line.
    assert_eq!(read(b"0 3\n2 1 0\n").unwrap().inputs(), [2, 1]);
    assert_eq!(read(b"0 2\n2 1 1\n0").unwrap().inputs(), [1, 1]);
}

/// The fault that `read` finds in a text, which must be on this line.
fn fault(read: fn(&[u8]) -> Result<Circuit, FormatError>, text: &str, line: usize) -> Fault {
    let error = read(text.as_bytes()).expect_err(text);
    assert_eq!(error.line, line, "{text:?}: {error}");
    error.fault
}

fn expected(expected: &'static str, found: &str) -> Fault {
    Fault::Expected { expected, found: found.to_owned() }
}

/// A file with two inputs of a bit, wires up to 4, wire 4 the output, and these gates.
fn with_gates(gates: &str) -> String {
    format!("{} 5\n2 1 1\n1 1\n\n{gates}", gates.lines().count())
}

#[test]
fn wires_that_are_misused_are_found() {
    for (gates, line, fault_of_it) in [
        ("1 1 0 2 INV\n1 1 2 2 INV\n1 1 2 4 INV", 6, Fault::Twice { wire: 2 }),
        ("1 1 0 2 INV\n1 1 3 4 INV", 6, Fault::Unwritten { wire: 3 }),
        ("1 1 4 4 INV", 5, Fault::Unwritten { wire: 4 }),
        ("4 2 0 0 1 2 2 4 MAND", 5, Fault::Unwritten { wire: 2 }),
        ("4 2 0 0 1 1 4 4 MAND", 5, Fault::Twice { wire: 4 }),
        ("2 1 0 5 4 XOR", 5, Fault::Range { wire: 5, wires: 5 }),
        ("2 1 0 1 5 AND", 5, Fault::Range { wire: 5, wires: 5 }),
        ("1 1 0 1 EQW", 5, Fault::Input { wire: 1 }),
        ("1 1 1 0 EQ", 5, Fault::Input { wire: 0 }),
        ("1 1 0 2 INV\n1 1 2 3 INV", 6, Fault::Output { wire: 4 }),
        ("1 1 2 4 EQ", 5, expected("a constant, 0 or 1", "`2`")),
    ] {
        assert_eq!(fault(read_fashion, &with_gates(gates), line), fault_of_it);
        assert_eq!(fault(read, &with_gates(gates), line), fault_of_it);
    }
}

#[test]
fn gates_of_another_form_are_found() {
    for (gate, name, wires) in [
        ("1 1 0 4 XOR", "XOR", "2 and 1"),
        ("2 1 0 1 2 4 AND", "AND", "2 and 1"),
        ("2 1 0 4 AND", "AND", "2 and 1"),
        ("2 1 0 1 4 INV", "INV", "1 and 1"),
        ("1 1 0 4 4 EQW", "EQW", "1 and 1"),
        ("2 2 0 1 3 4 EQ", "EQ", "1 and 1"),
        ("0 0 MAND", "MAND", "2n and n, with n of 1 or more,"),
        ("3 2 0 1 1 3 4 MAND", "MAND", "2n and n, with n of 1 or more,"),
        ("4294967295 4294967295 4 MAND", "MAND", "2n and n, with n of 1 or more,"),
    ] {
        let found = fault(read_fashion, &with_gates(gate), 5);
        assert!(
            matches!(found, Fault::Arity { gate, expected, .. } if gate == name && expected == wires),
            "{found}"
        );
    }
    let any = "a wire or XOR, AND, INV, EQ, EQW or MAND";
    for (gate, fault_of_it) in [
        ("2 1 0 1 4 NAND", expected(any, "`NAND`")),
        ("2 1 0 1 4 xor", expected(any, "`xor`")),
        ("2 1 0 1 4", expected(any, "the end of the line")),
        ("2 1 0 -1 4 XOR", expected(any, "`-1`")),
        ("2 1 0 1 4 X\u{d8}R", expected(any, "`X\\xc3\\x98R`")),
        ("2 1 0 1\r4 XOR", expected(any, "`1\\r4`")),
        ("2", expected("how many wires the gate writes", "the end of the line")),
        ("XOR", expected("how many wires the gate reads", "`XOR`")),
        ("2 1 0 1 4 XOR 4", expected("the end of the line", "`4`")),
        ("2 1 0 1 4294967296 XOR", Fault::Large { found: "`4294967296`".to_owned() }),
    ] {
        assert_eq!(fault(read_fashion, &with_gates(gate), 5), fault_of_it);
    }
    let old = "a wire or XOR, AND or INV";
    for name in ["EQ", "EQW", "MAND"] {
        let text = format!("1 3\n1 1 1\n1 1 0 2 {name}");
        assert_eq!(fault(read_old, &text, 3), expected(old, &format!("`{name}`")));
    }
}

#[test]
fn headers_that_do_not_hold_are_found() {
    let after = "the end of the file, after as many gates as the header says";
    let widths = "as many numbers of bits as are counted";
    let end = "the end of the file";
    for (text, line, fault_of_it) in [
        ("", 1, expected("the number of gates and of wires", end)),
        ("\n\n", 2, expected("the number of gates and of wires", end)),
        ("1\n", 1, expected("the number of wires", "the end of the line")),
        ("1 3 4\n", 1, expected("the end of the line", "`4`")),
        ("1 3\n", 1, expected("the number of inputs", end)),
        ("1 3\n2 1\n", 2, expected(widths, "1 for 2")),
        ("1 3\n1 1 1\n", 2, expected(widths, "2 for 1")),
        ("1 3\n4294967295 1 1\n", 2, expected(widths, "2 for 4294967295")),
        ("1 3\n2 1 one\n", 2, expected("a number of bits", "`one`")),
        ("1 3\n2 1 1\n", 2, expected("the number of outputs", end)),
        ("1 3\n2 1 1\n2 1\n", 3, expected(widths, "1 for 2")),
        ("1 3\n2 1 1\n\n1 2\n", 4, Fault::Bits { inputs: 2, outputs: 2, wires: 3 }),
        (
            "1 4294967295\n2 4294967295 1\n1 1\n",
            3,
            Fault::Bits { inputs: 1 << 32, outputs: 1, wires: u32::MAX },
        ),
        ("2 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n", 4, Fault::Gates { expected: 2, found: 1 }),
        ("0 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n", 4, expected(after, "`2`")),
        ("1 3\n2 1 1\n1 1\n2 1 0 1 2 AND\n\nend", 6, expected(after, "`end`")),
        ("0 2\n1 1\n1 1\n", 3, Fault::Output { wire: 1 }),
        ("99999999999999999999 2\n", 1, Fault::Large { found: "`99999999999999999999`".to_owned() }),
    ] {
        assert_eq!(fault(read_fashion, text, line), fault_of_it);
    }
    for (text, line, fault_of_it) in [
        ("1 3\n", 1, expected("the bits of both inputs and of the output", end)),
        ("1 3\n1 1\n", 2, expected("the bits of the output", "the end of the line")),
        ("1 3\n1 1 1 1\n", 2, expected("the end of the line", "`1`")),
        ("1 3\n1 1 2\n", 2, Fault::Bits { inputs: 2, outputs: 2, wires: 3 }),
        ("1 3\n1 1 1\n", 2, Fault::Gates { expected: 1, found: 0 }),
    ] {
        assert_eq!(fault(read_old, text, line), fault_of_it);
        assert_eq!(fault(read, text, line), fault_of_it);
    }
}

#[test]
fn a_header_reserves_nothing_that_the_file_cannot_fill() {
    let text = "4294967294 4294967294\n1 1\n1 1\n";
    let wires = Fault::Wires { wires: u32::MAX - 1, most: 1 + text.len() as u64 };
    assert_eq!(fault(read, text, 1), wires);
    // Inputs take no line; there is a limit of their own.
    let circuit = read(b"0 16777216\n2 16777215 1\n0\n").unwrap();
    assert_eq!(circuit.input_bits(), 1 << 24);
    assert_eq!(fault(read, "0 16777217\n1 16777217\n0\n", 3), Fault::Inputs { bits: (1 << 24) + 1 });
}

#[test]
fn errors_name_the_line_and_quote_little() {
    let error = read(b"1 3\n2 1 1\n1 1\n2 1 0 7 2 AND\n").unwrap_err();
    assert_eq!(error.to_string(), "line 4: expected a wire below 3, found wire 7");
    let error = read("x".repeat(1_000).as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("line 1: expected the number of gates, found `{}...`", "x".repeat(32))
    );
}
