//! Numbers and names as people type them.

/// A count, also as `1e6`.
pub(crate) fn count(text: &str) -> Result<u64, String> {
    let plain = text.parse().ok();
    let scientific = || {
        let (digits, zeros) = text.split_once(['e', 'E'])?;
        digits.parse::<u64>().ok()?.checked_mul(10_u64.checked_pow(zeros.parse().ok()?)?)
    };
    plain.or_else(scientific).ok_or_else(|| "a count is a whole number such as 1000000 or 1e6".to_owned())
}

/// The same, of what fits in memory.
pub(crate) fn size(text: &str) -> Result<usize, String> {
    count(text)?.try_into().map_err(|_| "no memory holds so many".to_owned())
}

/// What `--protocol` may be.
pub(crate) fn protocols(before: &str) -> String {
    let names: Vec<&str> = tacit::protocols().map(|protocol| protocol.spec().name).collect();
    format!("{before}: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::tacit;

    #[test]
    fn shells_complete_the_command() {
        assert!(tacit(&["completions", "bash"]).1.contains("_tacit()"));
        let (code, out, err) = tacit(&["completions", "cmd"]);
        assert_eq!((code, out.is_empty(), err.contains("powershell")), (2, true, true));
        assert!(tacit(&["run", "--help"]).1.contains("astra-malicious, astra-fair"));
    }

    #[test]
    fn counts_are_typed_in_two_ways() {
        for (text, number) in
            [("1", 1), ("1000000", 1_000_000), ("1e6", 1_000_000), ("25E1", 250), ("3e0", 3), ("0", 0)]
        {
            assert_eq!(count(text), Ok(number));
        }
        for wrong in ["", "-1", "1.5", "1e", "e6", "1e20", "1e99", "99999999999999999999", "1e-2", "many"] {
            assert!(count(wrong).unwrap_err().contains("1e6"), "{wrong}");
        }
    }
}
