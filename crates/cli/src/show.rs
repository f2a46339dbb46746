//! Values as people and machines read them.

use serde_json::{Value as Json, json};
use tacit::program::{Data, Value};

/// Elements above which the middle of an axis is left out, as NumPy does.
const SUMMARISE: usize = 1000;
/// Entries kept at either end of such an axis.
const EDGE: usize = 3;

/// A value as NumPy prints it.
pub(crate) fn text(value: &Value) -> String {
    let short = value.data.len() > SUMMARISE;
    let mut text = String::new();
    nested(value, 0, 0, short, &mut text);
    text
}

/// A value as nested lists.
pub(crate) fn json(value: &Value) -> Json {
    lists(value, 0, 0)
}

fn nested(value: &Value, axis: usize, start: usize, short: bool, out: &mut String) {
    let Some(&length) = value.shape.get(axis) else {
        out.push_str(&element(&value.data, start));
        return;
    };
    let inner: usize = value.shape[axis + 1..].iter().product();
    let last = axis + 1 == value.shape.len();
    let separator = if last { " ".to_owned() } else { format!("\n{}", " ".repeat(axis + 1)) };
    out.push('[');
    let mut at = 0;
    while at < length {
        if at > 0 {
            out.push_str(&separator);
        }
        if short && at == EDGE && length > 2 * EDGE {
            out.push_str("...");
            at = length - EDGE;
            continue;
        }
        nested(value, axis + 1, start + at * inner, short, out);
        at += 1;
    }
    out.push(']');
}

fn element(data: &Data, at: usize) -> String {
    match data {
        Data::Bool(data) => if data[at] { "True" } else { "False" }.to_owned(),
        Data::Int(data) => data[at].to_string(),
        Data::Unsigned(data) => data[at].to_string(),
        Data::Wide(data) => data[at].to_string(),
        Data::Float(data) => float(data[at]),
    }
}

/// Up to eight digits after the point, and always a point.
fn float(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e16).contains(&x.abs()) {
        return format!("{x:e}");
    }
    let text = format!("{x:.8}");
    let text = text.trim_end_matches('0');
    text.to_owned()
}

fn lists(value: &Value, axis: usize, start: usize) -> Json {
    let Some(&length) = value.shape.get(axis) else {
        return match &value.data {
            Data::Bool(data) => json!(data[start]),
            Data::Int(data) => json!(data[start]),
            Data::Unsigned(data) => json!(data[start]),
            // Numbers that readers of JSON would round.
            Data::Wide(data) => json!(data[start].to_string()),
            Data::Float(data) => json!(data[start]),
        };
    };
    let inner: usize = value.shape[axis + 1..].iter().product();
    (0..length).map(|at| lists(value, axis + 1, start + at * inner)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_vectors_and_matrices() {
        let value = |shape: &[usize], data| Value { shape: shape.to_vec(), data };
        assert_eq!(text(&value(&[], Data::Int(vec![-7]))), "-7");
        assert_eq!(text(&value(&[2], Data::Bool(vec![true, false]))), "[True False]");
        let matrix = value(&[2, 2], Data::Float(vec![1.0, 0.5, -2.25, 1e-9]));
        assert_eq!(text(&matrix), "[[1. 0.5]\n [-2.25 1e-9]]");
        assert_eq!(json(&matrix), json!([[1.0, 0.5], [-2.25, 1e-9]]));
        assert_eq!(json(&value(&[], Data::Unsigned(vec![u64::MAX]))), json!(u64::MAX));
        let wide = value(&[1], Data::Wide(vec![u128::MAX]));
        assert_eq!(json(&wide), json!([u128::MAX.to_string()]));
        assert_eq!(text(&wide), format!("[{}]", u128::MAX));
    }

    #[test]
    fn long_ones_are_cut_in_the_middle() {
        let value = Value { shape: vec![2000], data: Data::Int((0..2000).collect()) };
        assert_eq!(text(&value), "[0 1 2 ... 1997 1998 1999]");
        assert_eq!(json(&value).as_array().unwrap().len(), 2000);
    }
}
