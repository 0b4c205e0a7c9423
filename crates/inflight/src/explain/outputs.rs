//! What a closure for [`explain`](super::explain()) may return: one tensor, or several.

use crate::Tensor;

/// One or more tensors: `Tensor`, `&Tensor`, arrays, slices, `Vec`s and tuples of them.
///
/// This trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tensor, nor an array, slice, `Vec` or tuple of tensors",
    note = "return what should be explained, such as `|| x.softmax(1)` or `|| (a, b)`"
)]
pub trait ExplainOutputs: sealed::Sealed {
    /// Calls `visit` with each tensor, in order.
    #[doc(hidden)]
    fn for_each_tensor(&self, visit: &mut dyn FnMut(&Tensor));
}

mod sealed {
    pub trait Sealed {}
}

impl sealed::Sealed for Tensor {}
impl ExplainOutputs for Tensor {
    fn for_each_tensor(&self, visit: &mut dyn FnMut(&Tensor)) {
        visit(self);
    }
}

impl<T: ExplainOutputs + ?Sized> sealed::Sealed for &T {}
impl<T: ExplainOutputs + ?Sized> ExplainOutputs for &T {
    fn for_each_tensor(&self, visit: &mut dyn FnMut(&Tensor)) {
        (**self).for_each_tensor(visit);
    }
}

macro_rules! lists {
    ($([$($generics:tt)*] $list:ty;)*) => {$(
        impl<$($generics)*> sealed::Sealed for $list {}
        impl<$($generics)*> ExplainOutputs for $list {
            fn for_each_tensor(&self, visit: &mut dyn FnMut(&Tensor)) {
                self.iter().for_each(|outputs| outputs.for_each_tensor(visit));
            }
        }
    )*};
}

lists! {
    [T: ExplainOutputs] [T];
    [T: ExplainOutputs, const N: usize] [T; N];
    [T: ExplainOutputs] Vec<T>;
}

macro_rules! tuples {
    ($(($($name:ident $position:tt),+))*) => {$(
        impl<$($name: ExplainOutputs),+> sealed::Sealed for ($($name,)+) {}
        impl<$($name: ExplainOutputs),+> ExplainOutputs for ($($name,)+) {
            fn for_each_tensor(&self, visit: &mut dyn FnMut(&Tensor)) {
                $(self.$position.for_each_tensor(visit);)+
            }
        }
    )*};
}

tuples! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
