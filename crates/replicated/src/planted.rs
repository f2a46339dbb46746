//! Mistakes of published proof code, planted by tests that show that attackers then get through, or honest runs fail.
//!
//! Only tests have the feature `planted`; without it nothing is planted, and nothing of this is left in the code.
//!
//! An attack that computes with what a party knows learns it by a [`tap`], which shows the corrupt party's log and lets it
//! be changed. Taps are no mistakes: whoever is corrupt has its own memory.

#[cfg(feature = "planted")]
pub use tacit_threeparty::planted::Mistake as Shared;

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "planted"), allow(unreachable_pub))]
pub enum Mistake {
    /// A proof passes if it should fail, and fails if it should pass.
    Inverted,
    /// That a proof fails has no consequences.
    FailureIgnored,
    /// The last quarter of every batch isn't proved.
    QuarterSkipped,
    /// Folding takes another plane than counting.
    WrongMask,
    /// Points don't depend on the seeds.
    ConstantChallenge,
    /// Nor does that of the second round, and all others do.
    ConstantRound,
    /// The right verifier releases seeds without the left one's word that it holds the batch.
    LeftWordUnawaited,
    /// A round's seed is released in the step in which its values are sent, not in the one after.
    SeedsWithValues,
    /// The coefficients of Boyle et al. 2019 come from the anchor, not from the first seed.
    CoefficientsFromAnchor,
    /// Of two repetitions only the first one is checked.
    SecondUnchecked,
    /// Both repetitions have the same points.
    SamePoints,
    /// Both repetitions of a proof of products have the same bits.
    SameBits,
    /// They have the same prime, and the same element of its field.
    SamePrime,
    /// Messages of ANDs aren't hashed.
    MessagesUnhashed,
    /// Nor are the values of the second round.
    RoundUnhashed,
    /// Only the first batch is proved.
    LaterBatchesDropped,
    /// What was proved isn't compared with what the plan says.
    NotCounted,
    /// ANDs outside of circuits aren't noted.
    AndsUnnoted,
    /// Nor are those of a circuit's layer, but for the first message of each.
    PiecesUnnoted,
    /// Nor are those of circuits' full tiles.
    FullTilesUnnoted,
    /// Only the verifier before the prover checks.
    OnlyRightChecks,
    /// Whoever says nothing is taken to accept.
    SilenceAccepts,
    /// Outputs are sent before anything is checked.
    OutputsEarly,
    /// A guard is opened before anything is checked, and all else after it.
    GuardEarly,
    /// The last round has no random values.
    Unmasked,
    /// A prover takes whatever seeds it is given.
    SeedsUnchecked,
    /// What a client gave two parties isn't compared.
    GivenNotCompared,
    /// Or only once all ANDs are proved.
    GivenComparedLate,
    /// Products of numbers aren't noted.
    ProductsUnnoted,
    /// Shares of quotients are read as if none were negative.
    QuotientsUnsigned,
    /// The prime of a proof of products and its point come from the first seed, that of the bits.
    PrimeEarly,
    /// Both repetitions of a proof of products have the same shares of quotients at the left verifier.
    SameQuotientShares,
    /// The left verifier's shares of quotients have 96 bits, not 190.
    ShortQuotientShares,
    /// Of products in narrower rings, a left verifier has words of 64 bits where the prover has those of the ring.
    ReducedOneSide,
    /// Seeds of proofs of products and of proofs of ANDs are drawn at one address.
    OneSeedAddress,
    /// Parts of shuffled elements have no masks.
    ShuffleUnmasked,
    /// Numbers that are composed have no masks.
    PairUnmasked,
    /// A shuffle's orders leave everything where it was.
    ShuffleInPlace,
    /// A party's orders have one place twice, and another not at all.
    ShuffleTwice,
    /// Shuffles aren't noted.
    ShuffleUnnoted,
    /// What a verified opening depends on isn't proved before it.
    OpenedUnproved,
    /// It is proved, but nobody waits until all accept.
    OpenedUnaccepted,
    /// Components that are opened aren't compared with what their other holder has.
    OpeningUnconfirmed,
    /// One in what three-party protocols share.
    #[cfg(feature = "planted")]
    Shared(Shared),
}

tacit_session::planted!(Mistake, feature = "planted", then plant_shared);

/// Plants those that three-party protocols share.
#[cfg(feature = "planted")]
fn plant_shared(mistakes: &[Mistake]) {
    tacit_threeparty::planted::plant(mistakes.iter().filter_map(|mistake| match mistake {
        Mistake::Shared(shared) => Some(*shared),
        _ => None,
    }));
}

#[cfg(feature = "planted")]
pub use taps::{Moment, Noted, NotedProducts, session, tap, tap_products, tap_results};
#[cfg(feature = "planted")]
pub(crate) use taps::{products_tapped, results_tapped, seated, tapped};

#[cfg(feature = "planted")]
mod taps {
    use std::cell::{Cell, RefCell};
    use tacit_session::Session;

    /// When a corrupt party looks into its log.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub enum Moment {
        /// A batch is complete, and nothing of its proofs is computed.
        Complete,
        /// As prover it has the first point of every repetition, and hasn't used it: real and imaginary part.
        Challenged(Vec<[u64; 2]>),
    }

    /// A corrupt party's log of a batch, to look at and to change. Planes have a bit for every AND.
    #[derive(Debug)]
    pub struct Noted<'a> {
        /// Who it is.
        pub me: usize,
        /// The batch's number.
        pub number: u32,
        /// Blocks of the first round.
        pub blocks: usize,
        /// Words of a block.
        pub block_words: usize,
        /// `x_i` and `x_(i-1)`.
        pub x: [&'a mut [u64]; 2],
        /// `y_i` and `y_(i-1)`.
        pub y: [&'a mut [u64]; 2],
        /// `rho_(i-1)`.
        pub mask_prev: &'a mut [u64],
        /// `x_i y_i ^ z_i ^ rho_i`, of its own messages.
        pub e: &'a mut [u64],
        /// The same of the previous party's.
        pub e_prev: &'a mut [u64],
    }

    /// A corrupt prover's log of a batch of products, and the quotients of each repetition, which it is about to send: to look
    /// at and to change.
    #[derive(Debug)]
    pub struct NotedProducts<'a> {
        /// Who it is.
        pub me: usize,
        /// The batch's number.
        pub number: u32,
        /// The seed of the bits.
        pub seed: [u8; 32],
        /// `z_i - x_i y_i - rho_i` of its own messages, as its left verifier has it.
        pub e: &'a mut [u64],
        /// Of each repetition, from the lowest degree on.
        pub quotients: &'a mut [[i128; 127]],
    }

    type Tap = Box<dyn FnMut(Moment, &mut Noted<'_>)>;
    type TapOfProducts = Box<dyn FnMut(&mut NotedProducts<'_>)>;
    type TapOfResults = Box<dyn FnMut(u32, &mut [u8])>;

    thread_local! {
        static TAP: RefCell<Option<Tap>> = const { RefCell::new(None) };
        static TAP_OF_PRODUCTS: RefCell<Option<TapOfProducts>> = const { RefCell::new(None) };
        static TAP_OF_RESULTS: RefCell<Option<TapOfResults>> = const { RefCell::new(None) };
        static SESSION: Cell<[u8; 32]> = const { Cell::new([0; 32]) };
    }

    /// Lets `tap` look into the log of the party whose thread this is.
    pub fn tap(tap: impl FnMut(Moment, &mut Noted<'_>) + 'static) {
        TAP.set(Some(Box::new(tap)));
    }

    /// Lets `tap` look into the log of products of the party whose thread this is, as a prover.
    pub fn tap_products(tap: impl FnMut(&mut NotedProducts<'_>) + 'static) {
        TAP_OF_PRODUCTS.set(Some(Box::new(tap)));
    }

    /// Lets `tap` change what the party whose thread this is has as its component of products of numbers, and so what it sends: it
    /// is told the operation, and given the component's elements as they stand in memory.
    pub fn tap_results(tap: impl FnMut(u32, &mut [u8]) + 'static) {
        TAP_OF_RESULTS.set(Some(Box::new(tap)));
    }

    /// The identity of the last session in which the party whose thread this is took its seat.
    pub fn session() -> [u8; 32] {
        SESSION.get()
    }

    /// Notes a session.
    pub(crate) fn seated(session: &Session) {
        SESSION.set(*session.id());
    }

    /// Shows a batch to whoever looks.
    pub(crate) fn tapped(moment: Moment, mut noted: Noted<'_>) {
        TAP.with_borrow_mut(|tap| {
            if let Some(tap) = tap {
                tap(moment, &mut noted);
            }
        });
    }

    /// Shows a component of products to whoever looks; whether anybody does.
    pub(crate) fn results_tapped(op: u32, component: &mut [u8]) -> bool {
        TAP_OF_RESULTS.with_borrow_mut(|tap| tap.as_mut().map(|tap| tap(op, component)).is_some())
    }

    /// Shows a batch of products to whoever looks.
    pub(crate) fn products_tapped(mut noted: NotedProducts<'_>) {
        TAP_OF_PRODUCTS.with_borrow_mut(|tap| {
            if let Some(tap) = tap {
                tap(&mut noted);
            }
        });
    }
}
