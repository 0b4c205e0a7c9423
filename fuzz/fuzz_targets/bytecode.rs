//! Any bytes are a module or an error, and a module survives printing.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(module) = inflight_hlo::decode(bytes) else { return };
    let text = inflight_hlo::print(&module);
    let again = inflight_hlo::parse(&text).expect("printed text can be read");
    assert_eq!(inflight_hlo::print(&again), text);
});
