//! What the crates below export, whole: for those who write a protocol, a transport, a front end or a tool.
//!
//! Programs that only run things need none of this. It follows the inside of the workspace and changes with it, from one
//! version to the next without notice.
//!
//! | crate | is |
//! | --- | --- |
//! | [`program`] | plans, lowering, capabilities, the clear reference, the algebra of costs |
//! | [`engine`] | the interfaces `Engine` and `Protocol`, the executor, the clear-text engine, supplies |
//! | [`session`] | an endpoint's part in a run: agreement, keyed randomness, commitments, coins |
//! | [`net`] | links and meshes, frames, limits, counters, shaped links |
//! | [`store`] | material on disk, used once |
//! | [`circuit`] | circuits in layers and slots |
//!
//! # Security
//! Here promises rest on the caller: a mesh is as safe as its links, material is for one use, and addresses of randomness
//! are drawn once. Each item says which.

pub use tacit_circuit as circuit;
pub use tacit_engine as engine;
pub use tacit_net as net;
pub use tacit_program as program;
pub use tacit_session as session;
pub use tacit_store as store;
