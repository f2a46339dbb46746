//! One endpoint's inputs and outputs, part by part.

use crate::circuit::form::Form;
use crate::circuit::parts::Parts;
use crate::circuit::values::{Given, Lines};
use crate::failure::Failure;
use crate::progress::Bar;
use serde_json::json;
use std::fmt::Write as _;
use std::io::Write;
use tacit::advanced::engine::{Clear, bytes_of};
use tacit::advanced::program::plan::Domain;
use tacit::circuit::Circuit;
use tacit::{Error, Feed};
use tacit_kernel::{Buffer, bits};

/// Reads what this endpoint gives and prints what it learns, if it is to.
pub(crate) struct Tap<'a> {
    circuit: &'a Circuit,
    parts: Parts,
    form: Form,
    inputs: Vec<Option<Values>>,
    /// Which inputs have one value for all instances.
    once: Vec<bool>,
    printer: Option<Printer<'a>>,
}

/// Where an input's values come from.
enum Values {
    Same(Vec<u64>),
    Each(Lines),
}

/// Where outputs go.
pub(crate) struct Printer<'a> {
    pub(crate) out: &'a mut (dyn Write + Send),
    /// Whether they are for machines.
    pub(crate) json: bool,
    pub(crate) bar: &'a Bar,
}

impl<'a> Tap<'a> {
    /// `given` has this endpoint's inputs; `once` says which inputs, of all, have one value for all instances.
    pub(crate) fn new(
        circuit: &'a Circuit,
        parts: Parts,
        form: Form,
        given: Vec<Option<Given>>,
        once: Vec<bool>,
        printer: Option<Printer<'a>>,
    ) -> Result<Self, Failure> {
        let open = |(given, &width): (Option<Given>, &u32)| {
            Ok(match given {
                Some(Given::Same { value, .. }) => Some(Values::Same(value)),
                Some(Given::Each { path, .. }) => {
                    Some(Values::Each(Lines::open(&path, form, width as usize).map_err(Failure::input)?))
                }
                None => None,
            })
        };
        let inputs = given.into_iter().zip(circuit.inputs()).map(open).collect::<Result<_, Failure>>()?;
        Ok(Self { circuit, parts, form, inputs, once, printer })
    }
}

impl Feed for Tap<'_> {
    fn inputs(&mut self, part: u64) -> Result<Vec<Option<Clear>>, Error> {
        let instances = self.parts.of(part);
        let count = (instances.end - instances.start) as usize;
        let inputs = self.inputs.iter_mut().zip(self.circuit.inputs()).zip(&self.once);
        inputs
            .map(|((values, &width), &once)| {
                let count = if once { 1 } else { count };
                values.as_mut().map(|values| values.packed(width as usize, count)).transpose()
            })
            .collect()
    }

    fn outputs(&mut self, part: u64, outputs: Vec<Option<Clear>>) -> Result<(), Error> {
        let Some(printer) = &mut self.printer else { return Ok(()) };
        let outputs: Vec<&[u64]> = outputs.iter().flatten().map(|output| output.data().words()).collect();
        let mut text = String::new();
        for (place, instance) in self.parts.of(part).enumerate() {
            let widths = self.circuit.outputs().iter().map(Vec::len);
            let values = outputs.iter().zip(widths).map(|(output, width)| {
                let mut value = String::new();
                self.form.write(output, place * width, width, &mut value);
                value
            });
            if printer.json {
                let values: Vec<String> = values.collect();
                // Writing into a string can't fail.
                let _ = writeln!(text, "{}", json!({"instance": instance, "outputs": values}));
            } else {
                for (output, value) in values.enumerate() {
                    let _ = writeln!(text, "output {output}={value}");
                }
            }
            if text.len() >= CHUNK {
                printer.put(&mut text)?;
            }
        }
        printer.put(&mut text)?;
        printer.bar.at(self.parts.of(part).end as usize, self.parts.instances as usize);
        Ok(())
    }
}

/// Bytes of text that are written at a time.
const CHUNK: usize = 1 << 16;

impl Printer<'_> {
    fn put(&mut self, text: &mut String) -> Result<(), Error> {
        let written = self.out.write_all(text.as_bytes()).and_then(|()| self.out.flush());
        text.clear();
        written.map_err(|error| Error::Feed(format!("the results can't be written: {error}")))
    }
}

impl Values {
    /// The next `count` values of `width` bits each, one after the other.
    fn packed(&mut self, width: usize, count: usize) -> Result<Clear, Error> {
        let mut packed = Buffer::new(bytes_of(Domain::Bits, width * count));
        for instance in 0..count {
            let next;
            let value = match self {
                Self::Same(value) => value,
                Self::Each(lines) => {
                    next = lines.next().map_err(|what| changed(&what))?.ok_or_else(|| {
                        changed(&format!("{}: fewer values than before", lines.path().display()))
                    })?;
                    &next
                }
            };
            bits::copy(value, 0, packed.words_mut(), instance * width, width);
        }
        Ok(Clear::new(Domain::Bits, width * count, packed))
    }
}

/// All lines were read once, and were good then.
fn changed(what: &str) -> Error {
    Error::Feed(format!("a file has changed: {what}"))
}
