//! A GPU that does not exist.

use inflight::Device;

#[test]
fn a_gpu_that_is_not_there_is_an_error_that_says_what_was_looked_for() {
    let error = Device::cuda(1000).expect_err("nobody has a thousand GPUs").to_string();
    match Device::cuda_count() {
        Ok(count) => assert!(error.contains(&format!("there are {count}")), "{error}"),
        Err(reason) => {
            // There is no driver, it cannot be started, or it is too old.
            let said = ["install", "starting the driver", "asking for the driver"];
            assert!(said.iter().any(|said| error.contains(said)), "{error}");
            assert!(said.iter().any(|said| reason.to_string().contains(said)), "{reason}");
        }
    }
}
