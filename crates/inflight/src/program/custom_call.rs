//! Custom calls: host functions (host callbacks) that programs call by name with `stablehlo.custom_call`.

use super::lapack;
use inflight_backend::{FaultKind, HostFunction};
use inflight_hlo::check::{self, Check};
use inflight_hlo::module::Attributes;
use inflight_hlo::program::ValueType;
use inflight_ir::{DType, Element, Shape};
use parking_lot::RwLock;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// An input of a custom call: a tensor's elements in host memory.
#[derive(Clone, Copy, Debug)]
pub struct HostView<'a> {
    /// Shape of the tensor.
    pub shape: &'a Shape,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Elements, little-endian and row-major.
    pub bytes: &'a [u8],
}

/// An output of a custom call. Initialized to zeros.
#[derive(Debug)]
pub struct HostViewMut<'a> {
    /// Shape of the tensor.
    pub shape: &'a Shape,
    /// Dtype of the elements.
    pub dtype: DType,
    /// Elements, little-endian and row-major.
    pub bytes: &'a mut [u8],
}

impl HostView<'_> {
    /// Copies the elements to a vector.
    ///
    /// # Errors
    /// If `T` does not match the dtype.
    pub fn to_vec<T: Element + bytemuck::Pod>(&self) -> Result<Vec<T>, String> {
        expect_dtype::<T>(self.dtype)?;
        Ok(bytemuck::pod_collect_to_vec(self.bytes))
    }
}

impl HostViewMut<'_> {
    /// Overwrites all elements.
    ///
    /// # Errors
    /// If `T` does not match the dtype, or if the number of elements differs.
    pub fn fill_from<T: Element + bytemuck::Pod>(&mut self, elements: &[T]) -> Result<(), String> {
        expect_dtype::<T>(self.dtype)?;
        let bytes: &[u8] = bytemuck::cast_slice(elements);
        if bytes.len() != self.bytes.len() {
            let (expected, found) = (self.shape.element_count(), elements.len());
            return Err(format!("expected {expected} elements, found {found}"));
        }
        self.bytes.copy_from_slice(bytes);
        Ok(())
    }
}

fn expect_dtype<T: Element>(found: DType) -> Result<(), String> {
    match found == T::DTYPE {
        true => Ok(()),
        false => Err(format!("expected {}, found {found}", T::DTYPE)),
    }
}

type CustomCallFn =
    dyn Fn(&[HostView<'_>], &mut [HostViewMut<'_>]) -> Result<(), String> + Send + Sync;

static REGISTERED: LazyLock<RwLock<BTreeMap<String, Arc<CustomCallFn>>>> =
    LazyLock::new(RwLock::default);

/// The registry of host functions that programs can call by name.
///
/// ```
/// use inflight::program::CustomCalls;
/// use inflight::{Device, Program, Tensor};
///
/// # fn main() -> inflight::Result<()> {
/// CustomCalls::register("example.reverse", |inputs, outputs| {
///     let mut elements = inputs[0].to_vec::<f32>()?;
///     elements.reverse();
///     outputs[0].fill_from(&elements)
/// });
/// let device = Device::cpu();
/// let program = Program::parse(
///     "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
///        %0 = stablehlo.custom_call @example.reverse(%x) : (tensor<3xf32>) -> tensor<3xf32>
///        return %0 : tensor<3xf32>
///      }",
/// )?;
/// let x = Tensor::from_vec(vec![1.0f32, 2.0, 3.0], [3], &device)?;
/// let reversed = device.compile(&program)?.execute(&[&x])?;
/// assert_eq!(reversed[0].to_vec::<f32>()?, [3.0, 2.0, 1.0]);
/// # Ok(())
/// # }
/// ```
///
/// A call runs in stream order, once its inputs are written; the caller of `execute` does not wait for it. If the
/// function returns an error or panics, the call's outputs fail with that error.
///
/// Built in are `check.expect_eq`, `check.expect_eq_const`, `check.eq`, `check.expect_close`,
/// `check.expect_almost_eq` and `check.expect_almost_eq_const`, and the LAPACK calls that JAX exports for Cholesky,
/// LU and QR factorizations, triangular solves and Hermitian eigendecompositions.
pub struct CustomCalls;

impl CustomCalls {
    /// Registers a function for programs compiled from now on, replacing one of the same name. The function gets
    /// the inputs and fills the outputs; see the example of [`CustomCalls`].
    pub fn register(
        name: &str,
        function: impl Fn(&[HostView<'_>], &mut [HostViewMut<'_>]) -> Result<(), String>
        + Send
        + Sync
        + 'static,
    ) {
        REGISTERED.write().insert(name.to_owned(), Arc::new(function));
    }

    /// Returns the names of all functions, built-in ones included, sorted.
    pub fn names() -> Vec<String> {
        let mut names: Vec<String> = REGISTERED.read().keys().cloned().collect();
        names.extend(check::NAMES.iter().map(|&name| name.to_owned()));
        names.sort();
        names.dedup();
        names
    }
}

/// Whether a call's target is registered, built in, or lowered to ordinary ops.
pub(super) fn is_known(target: &str) -> bool {
    let is_registered = || CustomCalls::names().iter().any(|name| name == target);
    inflight_hlo::lower::has_lowering(target) || is_registered()
}

/// Error message for a target that is not registered.
pub(super) fn unknown_target_message(target: &str) -> String {
    let registered = CustomCalls::names().join(", ");
    format!(
        "no function is registered as {target:?}: register it with CustomCalls::register; registered are {registered}"
    )
}

/// Resolves a call's target for the given types.
pub(super) fn resolve(
    target: &str,
    attributes: &Attributes,
    inputs: Vec<ValueType>,
    outputs: Vec<ValueType>,
) -> Result<HostFunction, String> {
    let registered = REGISTERED.read().get(target).cloned();
    let function: Arc<CustomCallFn> = match registered {
        Some(function) => function,
        None => match Check::resolve(target, attributes, &inputs)? {
            Some(check) => {
                return Ok(Arc::new(move |read, _| check.compare(read).map_err(FaultKind::Failed)));
            }
            None => lapack::resolve(target, attributes, &inputs, &outputs)?
                .ok_or_else(|| unknown_target_message(target))?,
        },
    };
    Ok(Arc::new(move |read, written| {
        let views: Vec<HostView<'_>> = inputs
            .iter()
            .zip(read)
            .map(|(ty, bytes)| HostView { shape: &ty.shape, dtype: ty.dtype, bytes })
            .collect();
        let mut results: Vec<HostViewMut<'_>> = outputs
            .iter()
            .zip(written)
            .map(|(ty, bytes)| HostViewMut { shape: &ty.shape, dtype: ty.dtype, bytes })
            .collect();
        function(&views, &mut results).map_err(FaultKind::Failed)
    }))
}
