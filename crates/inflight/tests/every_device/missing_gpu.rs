//! Opening a GPU that does not exist.

use inflight::Device;

#[test]
fn opening_a_missing_gpu_fails_with_the_number_of_gpus_or_the_missing_library() {
    let error = Device::cuda(1000).expect_err("no machine has a thousand GPUs").to_string();
    match Device::cuda_count() {
        Ok(count) => assert!(error.contains(&format!("there are {count}")), "{error}"),
        Err(reason) => {
            // There is no driver, it cannot be started, or it is too old.
            let message = ["install", "starting the driver", "asking for the driver"];
            assert!(message.iter().any(|message| error.contains(message)), "{error}");
            assert!(message.iter().any(|message| reason.to_string().contains(message)), "{reason}");
        }
    }
}
