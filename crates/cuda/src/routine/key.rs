//! A key's elements as unsigned integers whose order, smallest first, is the order that is asked for, as text.

use super::order;
use crate::codegen::types;
use inflight_ir::graph::{SortKey, SortOrder};
use inflight_ir::{DType, DTypeClass};

/// The only key of a sort by keys.
pub fn only_key(keys: &[DType], order: &SortOrder) -> Option<(DType, SortKey)> {
    match (keys, order) {
        (&[dtype], SortOrder::Keys(orders)) => orders.first().map(|&order| (dtype, order)),
        _ => None,
    }
}

/// `N`, the element `E`, its bits `U`, the same in a register `W`, and the function `key_of`.
pub fn text(dtype: DType, order: SortKey) -> String {
    let (unsigned, register) = match dtype.size() {
        1 => ("unsigned char", "unsigned"),
        2 => ("unsigned short", "unsigned"),
        4 => ("unsigned", "unsigned"),
        _ => ("unsigned long long", "unsigned long long"),
    };
    let bits = match dtype.class() {
        DTypeClass::Signed => format!("(U)((U)x ^ (U)((U)1 << {}))", 8 * dtype.size() - 1),
        DTypeClass::Float => order::mapped(dtype, order, "x"),
        _ => "(U)x".to_owned(),
    };
    let turned = if order.descending { "~" } else { "" };
    format!(
        "typedef long long N;\ntypedef {} E;\ntypedef {unsigned} U;\ntypedef {register} W;\n{}\
         FN W key_of(E x) {{ return (W)(U){turned}({bits}); }}\n",
        types::name(dtype),
        order::by_keys(&[dtype]),
    )
}
