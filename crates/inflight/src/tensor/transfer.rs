//! From one device to another.

use super::read::host_value;
use super::record::{constant, mistake};
use super::{Node, Tensor};
use crate::runtime::{Device, recorder};
use std::panic::Location;
use std::sync::Arc;

impl Tensor {
    /// The value on another device. Never waits: the other device does, when it comes to what reads it.
    ///
    /// Devices whose memory the host can see share the value; nothing is copied. To and from others it is copied
    /// in the background.
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
                let message = "nothing can be moved while its thread is ending".to_owned();
                mistake("to_device", message, &[self], shape, dtype, location)
            }
        }
    }
}
