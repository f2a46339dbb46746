//! The module that JavaScript loads: texts go in and out through one piece of memory, which grows as it has to.
//!
//! `room(n)` makes room for n bytes of a request and says where it is. `call(n)` does what they say, and gives the length of the
//! answer, which lies at `answer()`.

#![allow(missing_docs, reason = "JavaScript reads no documentation of Rust")]

use std::sync::{Mutex, MutexGuard, PoisonError};

static TEXT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn text() -> MutexGuard<'static, Vec<u8>> {
    TEXT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[unsafe(no_mangle)]
pub extern "C" fn room(bytes: usize) -> *const u8 {
    let mut text = text();
    text.clear();
    text.resize(bytes, 0);
    text.as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn call(bytes: usize) -> usize {
    let mut text = text();
    let request = text.get(..bytes).and_then(|request| std::str::from_utf8(request).ok()).unwrap_or_default();
    *text = tacit_client_js::call(request).into_bytes();
    text.len()
}

#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    text().as_ptr()
}
