//! What crates share of the mistakes that tests plant in them.

/// Makes of a crate's enum of mistakes what plants them, and what asks for them: `plant`, which plants mistakes in what this
/// thread does, and takes out those from before, and `planted`, which says whether one is planted.
///
/// Where `when` doesn't hold nothing is ever planted, and nothing of this is left in the code. With `then` a function is
/// called with what was planted.
///
/// # Security
/// The feature `planted` breaks protocols on purpose. It doesn't compile without debug assertions.
#[macro_export]
macro_rules! planted {
    ($mistake:ident, $when:meta $(, then $then:path)?) => {
        #[cfg(all(feature = "planted", not(debug_assertions)))]
        compile_error!(
            "the feature \"planted\" breaks protocols on purpose: it is for tests with debug assertions alone"
        );

        #[cfg($when)]
        thread_local! {
            static PLANTED: std::cell::Cell<&'static [$mistake]> = const { std::cell::Cell::new(&[]) };
        }

        /// Plants mistakes in what this thread does, and takes out those from before.
        #[cfg($when)]
        pub fn plant(mistakes: &'static [$mistake]) {
            PLANTED.set(mistakes);
            $($then(mistakes);)?
        }

        /// Whether a mistake is planted.
        #[cfg($when)]
        pub(crate) fn planted(mistake: $mistake) -> bool {
            PLANTED.get().contains(&mistake)
        }

        /// None is.
        #[cfg(not($when))]
        pub(crate) const fn planted(_: $mistake) -> bool {
            false
        }
    };
}
