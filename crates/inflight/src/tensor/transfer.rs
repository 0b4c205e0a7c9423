//! Transfers between devices.

use super::read::host_value;
use super::record::{constant, mistake};
use super::{Node, Tensor};
use crate::runtime::{Device, recorder};
use std::panic::Location;
use std::sync::Arc;

impl Tensor {
    /// Moves the value to another device. Never waits: work on the target device that reads the value waits for it there.
    ///
    /// Devices with host-visible memory share the value without a copy. Transfers to and from other devices are copied
    /// in the background. Moving to the tensor's own device returns a clone.
    ///
    /// The result carries an error if the calling thread is shutting down.
    #[doc(alias("to", "cuda", "cpu", "device_put"))]
    #[track_caller]
    pub fn to_device(&self, device: &Device) -> Tensor {
        let location = Location::caller();
        if self.device() == device {
            return self.clone();
        }
        let (shape, dtype) = (self.shape().clone(), self.dtype());
        if let Some(error) = self.node().error() {
            let node = Node::failed(error.clone(), shape, dtype, device, location);
            return Tensor::from_node(Arc::new(node));
        }
        if let Some(value) = self.node().constant() {
            return constant(value, device, location);
        }
        recorder::schedule(self.node());
        match self.node().value() {
            Some(value) => {
                let value = host_value(self.device(), value);
                let value = match device.capabilities().host_visible {
                    true => value,
                    false => device.uploads().upload(&value),
                };
                let node = Node::realized(value, shape, dtype, device, location);
                Tensor::from_node(Arc::new(node))
            }
            None => {
                let message = "expected a running thread, found one that is shutting down and cannot submit the \
                    tensor; move it before the thread ends"
                    .to_owned();
                mistake("to_device", message, &[self], shape, dtype, location)
            }
        }
    }
}
