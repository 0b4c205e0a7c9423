//! Joining tensors, taking them apart, and surrounding them.

use super::Tensor;
use super::axis::axis;
use super::operand::fit;
use super::record::{constant, mistake, record_at};
use crate::runtime::Device;
use crate::{DType, Scalar, Shape};
use inflight_ir::graph::{self, Op, PadAxis, SliceAxis};
use std::borrow::Borrow;
use std::panic::Location;

impl Tensor {
    /// Tensors joined along an axis. They have one dtype, and agree on every other axis.
    #[track_caller]
    pub fn cat<T: Borrow<Tensor>>(tensors: &[T], along: isize) -> Tensor {
        let location = Location::caller();
        let tensors: Vec<&Tensor> = tensors.iter().map(Borrow::borrow).collect();
        joined("cat", &tensors, along, location)
    }

    /// Tensors of one shape and dtype, joined along a new axis, which is `axis` of the result.
    #[track_caller]
    pub fn stack<T: Borrow<Tensor>>(tensors: &[T], along: isize) -> Tensor {
        let location = Location::caller();
        let rows: Vec<Tensor> = tensors
            .iter()
            .map(|tensor| tensor.borrow().unsqueezed("stack", along, location))
            .collect();
        joined("stack", &rows.iter().collect::<Vec<_>>(), along, location)
    }

    /// The tensor taken apart along an axis, into parts of these extents, which must add up to the axis's.
    #[track_caller]
    pub fn split(&self, along: isize, extents: &[usize]) -> Vec<Tensor> {
        self.parted("split", along, extents, Location::caller())
    }

    /// The tensor taken apart along an axis, into `parts` parts. Their extents differ by at most one, and the
    /// larger ones come first.
    #[track_caller]
    pub fn chunk(&self, along: isize, parts: usize) -> Vec<Tensor> {
        let location = Location::caller();
        if parts == 0 {
            return vec![self.mistake_like("chunk", "into no parts".to_owned(), location)];
        }
        let extent = axis(along, self.rank()).map_or(0, |along| self.shape()[along]);
        // Parts may be empty, but a number of them that is a slip should not take all memory.
        if parts > extent.max(1 << 16) {
            let message = format!("into {parts} parts, of an axis of {extent} elements");
            return vec![self.mistake_like("chunk", message, location)];
        }
        let extents: Vec<usize> =
            (0..parts).map(|part| extent / parts + usize::from(part < extent % parts)).collect();
        self.parted("chunk", along, &extents, location)
    }

    /// The tensor surrounded by `fill`, a number that its dtype has: for each axis, so many elements before the
    /// first and after the last. Negative numbers cut elements off.
    #[track_caller]
    pub fn pad(&self, amounts: &[(isize, isize)], fill: impl Into<Scalar>) -> Tensor {
        let location = Location::caller();
        let axes = amounts.iter().map(|&(low, high)| PadAxis { low, high, interior: 0 }).collect();
        let op = Op::Pad(axes);
        let fill = match fit(fill.into(), self.dtype()) {
            Ok(fill) => constant(fill, self.device(), location),
            Err(message) => {
                let zero = (&Shape::scalar(), self.dtype());
                let (shape, dtype) = graph::plausible(&op, &[(self.shape(), self.dtype()), zero]);
                return mistake("pad", message, &[self], shape, dtype, location);
            }
        };
        record_at(op, &[self, &fill], location)
    }

    fn parted(
        &self,
        name: &'static str,
        along: isize,
        extents: &[usize],
        location: &'static Location<'static>,
    ) -> Vec<Tensor> {
        let along = match axis(along, self.rank()) {
            Ok(along) => along,
            Err(message) => {
                let part = self.mistake_like(name, message, location);
                return vec![part; extents.len().max(1)];
            }
        };
        let extent = self.shape()[along];
        let sum = extents.iter().try_fold(0usize, |sum, &part| sum.checked_add(part));
        if sum != Some(extent) {
            let message = format!("{extents:?} do not add up to axis {along}, of {extent}");
            let failed = |&part: &usize| {
                let shape = self.shape().with(along, part.min(extent));
                mistake(name, message.clone(), &[self], shape, self.dtype(), location)
            };
            return match extents {
                [] => vec![failed(&extent)],
                _ => extents.iter().map(failed).collect(),
            };
        }
        let mut next = 0;
        let mut parts = Vec::with_capacity(extents.len());
        for &len in extents {
            let start = if len == 0 { 0 } else { next };
            parts.push(self.sliced(along, SliceAxis { start, step: 1, len }, location));
            next += len;
        }
        parts
    }
}

fn joined(
    name: &'static str,
    tensors: &[&Tensor],
    along: isize,
    location: &'static Location<'static>,
) -> Tensor {
    let Some(first) = tensors.first() else {
        // Nobody says where nothing is, so it is where every program can look at it.
        let nothing = constant(Scalar::zero(DType::F32), &Device::cpu(), location);
        let message = "needs at least one tensor".to_owned();
        return mistake(name, message, &[&nothing], Shape::from(0), DType::F32, location);
    };
    match axis(along, first.rank()) {
        Ok(axis) => record_at(Op::Concat { axis }, tensors, location),
        Err(message) => {
            mistake(name, message, tensors, first.shape().clone(), first.dtype(), location)
        }
    }
}
