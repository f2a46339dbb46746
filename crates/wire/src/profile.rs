//! What a network is like: how fast each pair's link is.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::Deserialize;

/// The longest round trip that a text may name.
const LONGEST: Duration = Duration::from_hours(1);

/// How fast a link is, in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// From sending a byte to receiving an answer to it.
    pub rtt: Duration,
    /// Bits per second; at least 1.
    pub bandwidth: u64,
}

/// How fast each pair's link is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    default: Option<Shape>,
    pairs: Vec<(String, String, Shape)>,
}

/// A text that describes no shape or profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{detail}")]
pub struct ProfileError {
    detail: String,
}

impl Shape {
    /// A local network: 1 Gbit/s, round trip 0.47 ms.
    pub const LAN: Self = Self { rtt: Duration::from_micros(470), bandwidth: 1_000_000_000 };
    /// A wide-area network: 100 Mbit/s, round trip 40 ms.
    pub const WAN: Self = Self { rtt: Duration::from_millis(40), bandwidth: 100_000_000 };

    /// How long this many bytes take to pass.
    pub fn passing(&self, bytes: usize) -> Duration {
        Duration::from_nanos((bytes as u128 * 8 * 1_000_000_000 / u128::from(self.bandwidth.max(1))) as u64)
    }
}

impl FromStr for Shape {
    type Err = ProfileError;

    /// `lan`, `wan`, or `RTT,BANDWIDTH` like `40ms,100mbit`: us, ms or s; bit, kbit, mbit or gbit (per second).
    fn from_str(text: &str) -> Result<Self, ProfileError> {
        match text {
            "lan" => return Ok(Self::LAN),
            "wan" => return Ok(Self::WAN),
            _ => {}
        }
        let wrong = || ProfileError {
            detail: format!("{text:?} is not lan, wan, or a round trip and a bandwidth like 40ms,100mbit"),
        };
        let (rtt, bandwidth) = text.split_once(',').ok_or_else(wrong)?;
        let rtt = quantity(rtt, &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0)]).ok_or_else(wrong)?;
        let rtt = Duration::try_from_secs_f64(rtt).map_err(|_| wrong())?;
        // Rounded, so that what is printed is read as the same.
        let bandwidth = quantity(bandwidth, &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9), ("bit", 1.0)]);
        let bandwidth = bandwidth.ok_or_else(wrong)?.round();
        if rtt > LONGEST || !(1.0..=1e15).contains(&bandwidth) {
            return Err(wrong());
        }
        Ok(Self { rtt, bandwidth: bandwidth as u64 })
    }
}

/// A number that is not negative, with one of these units.
fn quantity(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    let text = text.strip_suffix("/s").unwrap_or(&text);
    let (unit, scale) = units.iter().find(|(unit, _)| text.ends_with(unit))?;
    let number: f64 = text.strip_suffix(unit)?.trim().parse().ok()?;
    (number.is_finite() && number >= 0.0).then_some(number * scale)
}

impl fmt::Display for Shape {
    /// As [`Shape::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ms,{}mbit", self.rtt.as_secs_f64() * 1e3, self.bandwidth as f64 / 1e6)
    }
}

impl Profile {
    /// The same shape for all links.
    pub fn uniform(shape: Shape) -> Self {
        Self { default: Some(shape), pairs: Vec::new() }
    }

    /// These pairs' shapes; of other links nothing is known.
    pub fn of_pairs(pairs: Vec<(String, String, Shape)>) -> Self {
        Self { default: None, pairs }
    }

    /// Reads a profile with a shape per pair. Links that are not named have the default, or no shape if there
    /// is none.
    ///
    /// ```toml
    /// default = "lan"
    /// [[pair]]
    /// between = ["P0", "P2"]
    /// net = "40ms,100mbit"
    /// ```
    ///
    /// # Errors
    /// If it is not TOML, has other keys, or names a pair twice.
    pub fn parse(text: &str) -> Result<Self, ProfileError> {
        let file: File = toml::from_str(text).map_err(|error| ProfileError { detail: error.to_string() })?;
        let mut profile =
            Self { default: file.default.map(|net| net.parse()).transpose()?, pairs: Vec::new() };
        for FilePair { between: [one, other], net } in file.pair {
            if profile.named(&one, &other).is_some() {
                return Err(ProfileError { detail: format!("the pair {one}, {other} is named twice") });
            }
            profile.pairs.push((one, other, net.parse()?));
        }
        Ok(profile)
    }

    /// The profile for each of so many lanes: the same round trips, and an equal part of each pair's bandwidth. A
    /// lane can't use what another leaves idle, so a run whose lanes are uneven takes longer than it would.
    #[must_use]
    pub fn shared_by(&self, lanes: u16) -> Self {
        let part =
            |shape: Shape| Shape { bandwidth: (shape.bandwidth / u64::from(lanes.max(1))).max(1), ..shape };
        let pairs = self.pairs.iter().map(|(one, other, shape)| (one.clone(), other.clone(), part(*shape)));
        Self { default: self.default.map(part), pairs: pairs.collect() }
    }

    /// The shape of the link between two endpoints, by their names.
    pub fn between(&self, one: &str, other: &str) -> Option<Shape> {
        self.named(one, other).or(self.default)
    }

    fn named(&self, one: &str, other: &str) -> Option<Shape> {
        let is_it = |a: &str, b: &str| (a, b) == (one, other) || (b, a) == (one, other);
        self.pairs.iter().find(|(a, b, _)| is_it(a, b)).map(|(_, _, shape)| *shape)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    default: Option<String>,
    #[serde(default)]
    pair: Vec<FilePair>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FilePair {
    between: [String; 2],
    net: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_profiles_are_read() {
        assert_eq!("40ms,100mbit".parse(), Ok(Shape::WAN));
        assert_eq!("0.47ms, 1gbit".parse(), Ok(Shape::LAN));
        assert_eq!("wan".parse(), Ok(Shape::WAN));
        let odd = Shape { rtt: Duration::from_nanos(3_599_999_999_999), bandwidth: 1_004 };
        let least = Shape { rtt: Duration::ZERO, bandwidth: 1 };
        for shape in [Shape::LAN, Shape::WAN, odd, least] {
            assert_eq!(shape.to_string().parse(), Ok(shape));
        }
        let slow = Shape { rtt: Duration::from_secs(2), bandwidth: 64_000 };
        assert_eq!("2s,64kbit".parse(), Ok(slow));
        assert_eq!("2S, 64000bit/s".parse(), Ok(slow));
        for bad in [
            "",
            "man",
            "40ms",
            "40,100",
            "-1ms,1mbit",
            "nans,1mbit",
            "1ms,0mbit",
            "1ms,infgbit",
            "1e9s,1mbit",
        ] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
        let text = "default = \"lan\"\n[[pair]]\nbetween = [\"P0\", \"P2\"]\nnet = \"wan\"";
        let profile = Profile::parse(text).unwrap();
        assert_eq!(profile.between("P2", "P0"), Some(Shape::WAN));
        assert_eq!(profile.between("P0", "P1"), Some(Shape::LAN));
        let open = Profile::parse(&text.replace("default = \"lan\"\n", "")).unwrap();
        assert_eq!(open.between("P0", "P1"), None);
        let twice = format!("{text}\n[[pair]]\nbetween = [\"P2\", \"P0\"]\nnet = \"lan\"");
        assert!(Profile::parse(&twice).unwrap_err().to_string().contains("named twice"));
        assert!(Profile::parse("speed = 1").is_err());
        let half = profile.shared_by(2);
        let fifty = Shape { bandwidth: 50_000_000, ..Shape::WAN };
        assert_eq!(half.between("P0", "P2"), Some(fifty));
        assert_eq!(half.between("P0", "P1").map(|shape| shape.bandwidth), Some(500_000_000));
        assert_eq!(Profile::uniform(least).shared_by(64).between("P0", "P1"), Some(least));
    }
}
