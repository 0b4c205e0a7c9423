//! Address arithmetic: the element index and pointer of a load or store.
//!
//! The coordinates of a point are the variables `c0`, `c1`, …, one for each axis of the domain; the variable
//! `b3` is access 3 at the grid's coordinates and zero along all others.

use super::types;
use super::writer::Writer;
use inflight_ir::DType;
use inflight_ir::kernel::{AccessId, Kernel, Kind, Stride, Value};
use std::ops::Range;

/// Declares the coordinates of `axes` from a flat index: the last axis is the fastest.
pub fn unravel(
    writer: &mut Writer,
    index: &str,
    axes: impl DoubleEndedIterator<Item = usize> + Clone,
) {
    let Some(first) = axes.clone().next() else { return };
    if axes.clone().count() == 1 {
        writer.line(format!("const I c{first} = {index};"));
        return;
    }
    writer.line(format!("I rest{first} = {index};"));
    for axis in axes.rev() {
        if axis == first {
            writer.line(format!("const I c{axis} = rest{first};"));
        } else {
            let extent = format!("(I)a.extent[{axis}]");
            writer.line(format!(
                "const I c{axis} = rest{first} % {extent}; rest{first} /= {extent};"
            ));
        }
    }
}

fn stride(kernel: &Kernel, access: AccessId, axis: usize) -> String {
    format!("a.stride[{}]", access as usize * kernel.rank() + axis)
}

/// The type of an access's index arithmetic: 64 bits if the index is used as an `i64` value.
fn index_type(kernel: &Kernel, access: AccessId) -> &'static str {
    let is_large = kernel.body.iter().any(|instruction| {
        instruction.dtype == DType::I64
            && matches!(instruction.kind, Kind::Position(used) if used == access)
    });
    if is_large { "long long" } else { "I" }
}

/// Declares `b0`, `b1`, …: the element index of every access at the coordinates of these axes.
pub fn bases(writer: &mut Writer, kernel: &Kernel, axes: Range<usize>) {
    for access in 0..kernel.accesses.len() as AccessId {
        let kind = index_type(kernel, access);
        let mut sum = format!("({kind})a.offset[{access}]");
        for axis in axes.clone() {
            sum += &format!(" + ({kind}){} * c{axis}", stride(kernel, access, axis));
        }
        writer.line(format!("const {kind} b{access} = {sum};"));
    }
}

/// The element index of an access at the coordinates in scope, `lane` elements further along the vector axis. `reach`
/// says which axes beside the grid's contribute.
pub fn position(kernel: &Kernel, access: AccessId, lane: &str, reach: Reach) -> String {
    let shape = kernel.accesses[access as usize];
    let kind = index_type(kernel, access);
    let vector = kernel.rank() - 1;
    let mut sum = format!("b{access}");
    if reach == Reach::Tile && shape.reduce {
        for axis in kernel.grid_rank..vector {
            sum += &format!(" + ({kind}){} * c{axis}", stride(kernel, access, axis));
        }
    }
    if reach != Reach::Program {
        let coordinate = match lane {
            "0" => format!("c{vector}"),
            lane => format!("(c{vector} + {lane})"),
        };
        match shape.vector {
            Stride::Zero => {}
            Stride::One => sum += &format!(" + {coordinate}"),
            Stride::Any => {
                sum += &format!(" + ({kind}){} * {coordinate}", stride(kernel, access, vector));
            }
        }
    }
    sum
}

/// The axes, beside the grid's, along which an index varies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// None.
    Program,
    /// The vector axis.
    Column,
    /// All.
    Tile,
}

/// The pointer to an access's element. A gather or scatter adds its index value times the index stride.
pub fn pointer(
    kernel: &Kernel,
    access: AccessId,
    index: Option<(Value, &str)>,
    lane: &str,
    reach: Reach,
) -> String {
    let param = kernel.accesses[access as usize].param.expect("a verified kernel");
    let name = types::name(kernel.params[param as usize].dtype);
    let mut element = position(kernel, access, lane, reach);
    if let Some((_, index)) = index {
        element += &format!(" + (I){index} * (I)a.index_stride[{access}]");
    }
    format!("(({name}*)a.buffer[{param}] + ({element}))")
}
