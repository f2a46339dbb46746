#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| tacit_kdc::readers::lists(bytes));
