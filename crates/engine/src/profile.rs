//! Where a thread's time goes, for benchmarks: a protocol says which of a few kinds of work it is doing.
//!
//! Off unless [`start`] turns it on for the calling thread: then a section costs two looks at the clock, else a look
//! at a flag. A section is a message, a tile's layer or a block of masks, never a gate. Sections don't nest: what
//! runs inside another would be counted twice.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// A kind of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Transposing bits, into tiles or planes and back.
    Slicing,
    /// Exclusive ors, ANDs and other arithmetic on shares.
    Gates,
    /// Making masks.
    Randomness,
    /// Handing over messages, packing them included.
    Sending,
    /// Waiting for messages, and storing what they bring.
    Receiving,
    /// Proving that all was computed right, and checking others' proofs.
    Proving,
}

impl Section {
    /// All of them; one's number is its place here.
    pub const ALL: [Self; 6] =
        [Self::Slicing, Self::Gates, Self::Randomness, Self::Sending, Self::Receiving, Self::Proving];

    /// What it is called in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slicing => "slicing",
            Self::Gates => "gates",
            Self::Randomness => "randomness",
            Self::Sending => "sending",
            Self::Receiving => "receiving",
            Self::Proving => "proving",
        }
    }
}

/// The time that each kind of work took, in the order of [`Section::ALL`].
pub type Sections = [Duration; Section::ALL.len()];

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
    static SECTIONS: Cell<Sections> = const { Cell::new([Duration::ZERO; Section::ALL.len()]) };
}

/// Counts this thread's sections from now on, from zero.
pub fn start() {
    SECTIONS.set(Sections::default());
    ON.set(true);
}

/// Counts no more, and says what has been counted since [`start`]; nothing if that wasn't called.
pub fn take() -> Sections {
    ON.set(false);
    SECTIONS.take()
}

/// Does some work, whose time counts for a section if this thread's are counted.
pub fn section<T>(section: Section, work: impl FnOnce() -> T) -> T {
    if !ON.get() {
        return work();
    }
    let start = Instant::now();
    let done = work();
    let mut sections = SECTIONS.get();
    sections[section as usize] += start.elapsed();
    SECTIONS.set(sections);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Works until the clock has moved.
    fn work() -> u8 {
        let start = Instant::now();
        while start.elapsed().is_zero() {}
        7
    }

    #[test]
    fn a_sections_number_is_its_place() {
        assert!(Section::ALL.iter().enumerate().all(|(place, &section)| section as usize == place));
    }

    #[test]
    fn time_counts_for_its_section_between_start_and_take() {
        assert_eq!(section(Section::Gates, work), 7);
        assert_eq!(take(), Sections::default());
        start();
        assert_eq!(section(Section::Gates, work), 7);
        let once = SECTIONS.get()[Section::Gates as usize];
        section(Section::Gates, work);
        section(Section::Sending, work);
        let counted = take();
        let moved = counted.map(|time| !time.is_zero());
        assert_eq!(moved, [false, true, false, true, false, false]);
        assert!(counted[Section::Gates as usize] > once);
        section(Section::Gates, work);
        assert_eq!(take(), Sections::default());
    }

    #[test]
    fn every_thread_counts_its_own() {
        start();
        let other = std::thread::spawn(|| {
            section(Section::Slicing, work);
            take()
        });
        assert_eq!(other.join().unwrap(), Sections::default());
        assert_eq!(take(), Sections::default());
    }
}
