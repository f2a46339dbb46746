//! Which instructions this machine has, found out once at run time.

use std::cell::Cell;
use std::sync::OnceLock;

/// A set of instructions that kernels are compiled for; a higher one includes the lower ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// What every machine of the target has.
    Portable,
    /// AVX2, AES and carry-less multiplication.
    Avx2,
    /// AVX-512 (F, BW, DQ, VL, VBMI, VBMI2, IFMA, VPOPCNTDQ), VAES, GFNI and wide carry-less multiplication.
    Avx512,
}

impl Level {
    /// Every level, low to high.
    pub const ALL: [Self; 3] = [Self::Portable, Self::Avx2, Self::Avx512];
}

/// The level that kernels use on this thread: the machine's highest, or less inside [`at`].
#[inline]
pub fn level() -> Level {
    HELD.get().unwrap_or_else(detected)
}

/// The levels that this machine has, low to high.
pub fn available() -> impl Iterator<Item = Level> {
    Level::ALL.into_iter().filter(|&level| level <= detected())
}

/// Runs `work` with this thread's kernels held to `level`, or to the machine's highest if that is lower.
///
/// For tests and benchmarks, which compare the levels. Threads that `work` starts are not held.
pub fn at<R>(level: Level, work: impl FnOnce() -> R) -> R {
    let _restore = Restore(HELD.replace(Some(level.min(detected()))));
    work()
}

thread_local! {
    /// What [`at`] holds this thread to; never above [`detected`], on which the safety of dispatch rests.
    static HELD: Cell<Option<Level>> = const { Cell::new(None) };
}

/// Puts the former level back, also when `work` panics.
struct Restore(Option<Level>);

impl Drop for Restore {
    fn drop(&mut self) {
        HELD.set(self.0);
    }
}

/// The machine's highest level.
pub(crate) fn detected() -> Level {
    static DETECTED: OnceLock<Level> = OnceLock::new();
    *DETECTED.get_or_init(detect)
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("aes")
        && is_x86_feature_detected!("pclmulqdq");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512vbmi")
        && is_x86_feature_detected!("avx512vbmi2")
        && is_x86_feature_detected!("avx512ifma")
        && is_x86_feature_detected!("avx512vpopcntdq")
        && is_x86_feature_detected!("vaes")
        && is_x86_feature_detected!("gfni")
        && is_x86_feature_detected!("vpclmulqdq");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        (false, _) => Level::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Portable
}

/// Runs `work` compiled for the thread's [`level`], so that its plain loops become that level's vector code.
///
/// `work` must be an `#[inline(always)]` closure: only what is inlined is compiled for the level.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn run<R>(work: impl FnOnce() -> R) -> R {
    match level() {
        Level::Portable => work(),
        // SAFETY: `level` is never above what was detected, so the machine has these instructions.
        Level::Avx2 => unsafe { with_avx2(work) },
        // SAFETY: as above.
        Level::Avx512 => unsafe { with_avx512(work) },
    }
}

/// Runs `work`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub(crate) fn run<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,aes,pclmulqdq")]
fn with_avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,aes,pclmulqdq,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")]
#[target_feature(enable = "avx512ifma,avx512vpopcntdq,vaes,gfni,vpclmulqdq")]
fn with_avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_held_to_a_level_for_the_time_of_the_call() {
        let best = level();
        at(Level::Portable, || {
            assert_eq!(level(), Level::Portable);
            assert_eq!(std::thread::spawn(level).join().unwrap(), best);
        });
        assert_eq!(level(), best);
        assert!(std::panic::catch_unwind(|| at(Level::Portable, || panic!("on purpose"))).is_err());
        assert_eq!(level(), best);
    }

    #[test]
    fn a_level_that_the_machine_lacks_is_never_used() {
        for wanted in Level::ALL {
            assert_eq!(at(wanted, level), wanted.min(detected()));
        }
        assert_eq!(available().last(), Some(detected()));
    }
}
