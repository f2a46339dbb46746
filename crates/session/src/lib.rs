//! One party's seat in a run.
