//! Any text parses to a module or an error, and a module round-trips through the printer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|source: &str| {
    let Ok(module) = inflight_hlo::parse(source) else { return };
    let text = inflight_hlo::print(&module);
    let again = inflight_hlo::parse(&text).expect("printed text parses");
    assert_eq!(inflight_hlo::print(&again), text);
});
