//! Matrix products: cuBLASLt where it has what is asked for, a kernel of our own elsewhere.

mod autotune;
mod cublaslt;
mod description;
pub mod epilogue;
pub mod fused_epilogue;
pub mod operand_split;
mod plain;
pub mod transpose;

use crate::background::EnqueueError;
use crate::device::Shared;
use inflight_backend::{Fault, GemmLaunch, GemmOperand};
use inflight_ir::DType;
use smallvec::SmallVec;
use std::sync::Arc;

pub use cublaslt::{Product, Products, Site, version as library_version};
use description::Tail;
use epilogue::Form;
pub use plain::PlainLaunch;

/// What computes a product, and its arguments.
pub enum Work {
    /// The library.
    Library(Product, Vec<u64>),
    /// A kernel.
    Kernel(PlainLaunch),
}

/// A matrix as the library takes it: columns next to each other or rows, and the distance between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Layout {
    /// Whether the elements of a column, not of a row, are next to each other.
    turned: bool,
    /// The distance from one row (or, turned, column) to the next.
    leading: usize,
}

/// The layout of a matrix, if it has one of the two that the library takes.
fn layout(rows: usize, columns: usize, row: isize, column: isize) -> Option<Layout> {
    let fits = |inner: usize, inner_stride: isize, outer: usize, outer_stride: isize| {
        let near = inner == 1 || inner_stride == 1;
        match outer {
            1 => near.then_some(inner.max(1)),
            _ => (near && outer_stride >= inner as isize && outer_stride > 0)
                .then_some(outer_stride as usize),
        }
    };
    match fits(columns, column, rows, row) {
        Some(leading) => Some(Layout { turned: false, leading }),
        None => fits(rows, row, columns, column).map(|leading| Layout { turned: true, leading }),
    }
}

/// The batch axes of a product: those that the library walks by itself, at most one, and the ones outside.
struct Batches {
    /// Extent and strides of `a`, `b`, `c`, outermost first.
    outer: SmallVec<[(usize, [isize; 3]); 4]>,
    inner: (usize, [isize; 3]),
}

impl Batches {
    fn new(contract: &GemmLaunch) -> Batches {
        let operands = [&contract.a, &contract.b, &contract.c];
        let mut axes: SmallVec<[(usize, [isize; 3]); 4]> = SmallVec::new();
        for (axis, &extent) in contract.batch.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let strides = operands.map(|operand: &GemmOperand| operand.batch_strides[axis]);
            match axes.last_mut() {
                // The outer axis goes on where the inner one ends: they are one.
                Some((outer, before))
                    if before.iter().zip(strides).all(|(b, s)| *b == s * extent as isize) =>
                {
                    *outer *= extent;
                    *before = strides;
                }
                _ => axes.push((extent, strides)),
            }
        }
        let inner = axes.pop().unwrap_or((1, [0; 3]));
        Batches { outer: axes, inner }
    }

    /// The offsets of `a`, `b` and `c` for each point of the outer axes.
    fn offsets(&self) -> impl Iterator<Item = [isize; 3]> + '_ {
        let total: usize = self.outer.iter().map(|(extent, _)| extent).product();
        (0..total).map(|mut position| {
            let mut offsets = [0; 3];
            for (extent, strides) in self.outer.iter().rev() {
                let at = (position % extent) as isize;
                position /= extent;
                offsets.iter_mut().zip(strides).for_each(|(offset, stride)| *offset += at * stride);
            }
            offsets
        })
    }
}

/// Begins what takes a while before the first product of a dtype.
pub fn precompile(shared: &Arc<Shared>, dtype: DType) {
    if description::multiplies(dtype) {
        shared.products.opening();
    } else {
        shared.function(&plain::text(dtype));
    }
}

impl Products {
    /// Whether both operands of a product should be turned first.
    pub fn turns(&self, contract: &GemmLaunch) -> bool {
        self.options.tf32 && transpose::pays(contract)
    }

    /// What computes a product. `addresses` are those of the three buffers. `None` if there is nothing to compute.
    pub fn work(
        &self,
        site: &mut Site<'_>,
        contract: &GemmLaunch,
        addresses: [u64; 3],
    ) -> Result<Option<Work>, EnqueueError> {
        let empty = contract.m * contract.n * contract.batch.iter().product::<usize>() == 0;
        if empty {
            return Ok(None);
        }
        let operand = |operand: &GemmOperand, rows: usize, columns: usize| {
            layout(rows, columns, operand.row_stride, operand.column_stride)
        };
        let layouts = (
            operand(&contract.a, contract.m, contract.k),
            operand(&contract.b, contract.k, contract.n),
            operand(&contract.c, contract.m, contract.n),
        );
        if let (Some(a), Some(b), Some(c)) = layouts
            && description::multiplies(contract.dtype)
            && !c.turned
            && contract.k > 0
        {
            let prepared = self.prepare(site, contract, addresses, [a, b, c], None)?;
            if let Some((product, words)) = prepared {
                return Ok(Some(Work::Library(product, words)));
            }
        }
        let launch = plain::launch(site.shared, contract, addresses)?;
        Ok(Some(Work::Kernel(launch)))
    }

    /// A product with what follows it, as the library computes it. `None` if it does not do that.
    ///
    /// `address` answers that of a param of the epilogue's kernel; `true` says that it is written.
    pub fn work_with(
        &self,
        site: &mut Site<'_>,
        contract: &GemmLaunch,
        form: &Form,
        [a, b]: [u64; 2],
        address: impl Fn(usize, bool) -> Result<u64, Fault>,
    ) -> Result<Option<Work>, EnqueueError> {
        let operand = |operand: &GemmOperand, rows: usize, columns: usize| {
            layout(rows, columns, operand.row_stride, operand.column_stride)
        };
        let (Some(left), Some(right)) = (
            operand(&contract.a, contract.m, contract.k),
            operand(&contract.b, contract.k, contract.n),
        ) else {
            return Ok(None);
        };
        if contract.m * contract.n * contract.k == 0 {
            return Ok(None);
        }
        let bias = form.bias.map(|param| address(param, false)).transpose()?;
        let residual = match form.residual {
            Some((param, factor, leading)) => Some((address(param, false)?, factor, leading)),
            None => None,
        };
        let tail = Tail { scale: form.scale, bias, residual, gelu: form.gelu };
        let (result, leading) = form.result;
        let addresses = [a, b, address(result, true)?];
        let layouts = [left, right, Layout { turned: false, leading }];
        let prepared = self.prepare(site, contract, addresses, layouts, Some(&tail))?;
        Ok(prepared.map(|(product, words)| Work::Library(product, words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::Compiler;

    #[test]
    fn kernels_of_our_own_compile() {
        let compiler = Compiler::new("sm_90".to_owned(), || None);
        if let Err(fault) = compiler.version() {
            println!("SKIPPED: {fault}");
            return;
        }
        for text in DType::ALL.map(plain::text) {
            compiler.compile(&text).unwrap();
        }
    }

    #[test]
    fn layouts_are_found() {
        let plain = |leading| Some(Layout { turned: false, leading });
        let turned = |leading| Some(Layout { turned: true, leading });
        assert_eq!(layout(4, 5, 5, 1), plain(5));
        assert_eq!(layout(4, 5, 8, 1), plain(8));
        assert_eq!(layout(4, 5, 1, 4), turned(4));
        assert_eq!(layout(1, 5, 0, 1), plain(5));
        assert_eq!(layout(4, 1, 1, 0), plain(1));
        assert_eq!(layout(4, 5, 0, 1), None);
        assert_eq!(layout(4, 5, 10, 2), None);
        assert_eq!(layout(4, 5, -5, 1), None);
    }
}
