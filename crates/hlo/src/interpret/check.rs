//! The `check.*` custom calls on the reference interpreter.

use crate::check::Check;
use crate::program::{Call, ValueType};
use inflight_ir::interpret::Array;

/// Executes a `check.*` call. The error names the first element that differs.
pub fn check(call: &Call, inputs: &[&Array]) -> Result<Vec<Array>, String> {
    let ty = |array: &&Array| ValueType { shape: array.shape.clone(), dtype: array.dtype };
    let types: Vec<ValueType> = inputs.iter().map(ty).collect();
    let check = Check::resolve(&call.target, &call.attributes, &types)?
        .ok_or_else(|| format!("{}: expected one of the `check.*` functions", call.target))?;
    let bytes: Vec<&[u8]> = inputs.iter().map(|array| &array.bytes[..]).collect();
    check.compare(&bytes)?;
    Ok(Vec::new())
}
