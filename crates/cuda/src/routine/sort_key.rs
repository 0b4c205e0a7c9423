//! Sort keys: order-preserving mapping of elements to unsigned integers, as CUDA C++ source.

use super::sort_items;
use crate::codegen::types;
use inflight_ir::graph::{SortKey, SortOrder};
use inflight_ir::{DType, DTypeClass};

/// The key and its order, if a sort has a single key and no comparator.
pub fn single_key(keys: &[DType], order: &SortOrder) -> Option<(DType, SortKey)> {
    match (keys, order) {
        (&[dtype], SortOrder::Keys(orders)) => orders.first().map(|&order| (dtype, order)),
        _ => None,
    }
}

/// Declares `N`, the element type `E`, its bits `U`, the same in a register `W`, and the function `key_of`.
pub fn source(dtype: DType, order: SortKey) -> String {
    let (unsigned, register) = match dtype.size() {
        1 => ("unsigned char", "unsigned"),
        2 => ("unsigned short", "unsigned"),
        4 => ("unsigned", "unsigned"),
        _ => ("unsigned long long", "unsigned long long"),
    };
    let bits = match dtype.class() {
        DTypeClass::Signed => format!("(U)((U)x ^ (U)((U)1 << {}))", 8 * dtype.size() - 1),
        DTypeClass::Float => sort_items::mapped_element(dtype, order, "x"),
        _ => "(U)x".to_owned(),
    };
    let complement = if order.descending { "~" } else { "" };
    format!(
        "typedef long long N;\ntypedef {} E;\ntypedef {unsigned} U;\ntypedef {register} W;\n{}\
         FN W key_of(E x) {{ return (W)(U){complement}({bits}); }}\n",
        types::name(dtype),
        sort_items::mapping_functions(&[dtype]),
    )
}
