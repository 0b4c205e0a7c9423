//! Items and comparison of a merge sort, as CUDA C++ source.

use super::scalar_function;
use crate::codegen::types;
use inflight_ir::graph::{FloatOrder, SortKey, SortOrder, SortResult};
use inflight_ir::{DType, DTypeClass};

/// Keys of at most this many bytes together are moved with the items; larger keys are looked up.
const MAX_MOVED_BYTES: usize = 16;

/// Upper bound of the bytes of an item: keys and an index, with padding.
const MAX_ITEM_BYTES: usize = 32;

/// The source shared by the kernels of a merge sort.
pub struct SortItems {
    /// Declares `Item`, and the functions `fetch`, `before` and `put`.
    pub source: String,
    /// Bytes of an item.
    pub item_bytes: usize,
    /// Whether `before` is known to be a strict weak order.
    pub is_consistent: bool,
}

/// Generates the items of a sort. `is_wide` says that indices need 64 bits.
pub fn generate(keys: &[DType], order: &SortOrder, result: SortResult, is_wide: bool) -> SortItems {
    let (functions, used) = match order {
        SortOrder::Keys(_) => (mapping_functions(keys), vec![true; keys.len()]),
        SortOrder::Comparator(comparator) => {
            let generated = scalar_function::generate(comparator, "comes_before");
            let used = generated.used.chunks(2).map(|pair| pair.contains(&true)).collect();
            (generated.source, used)
        }
    };
    let index_dtype = if is_wide { DType::U64 } else { DType::U32 };
    let moved: Vec<usize> = (0..keys.len()).filter(|&key| used[key]).collect();
    let bytes: usize = moved.iter().map(|&key| keys[key].size()).sum();
    let (is_moved, has_index) = match result {
        // The result is the key itself.
        SortResult::Values => (true, false),
        SortResult::Positions | SortResult::FirstPositions(_) => (bytes <= MAX_MOVED_BYTES, true),
    };
    let fields: Vec<usize> = match (result, is_moved) {
        (SortResult::Values, _) => vec![0],
        (_, true) => moved,
        (_, false) => Vec::new(),
    };
    // A key that only decides the order is moved in its mapped form.
    let moves_mapped = result != SortResult::Values && is_moved;
    let compared = match order {
        SortOrder::Keys(orders) => compare_keys(keys, orders, moves_mapped),
        SortOrder::Comparator(_) => compare_by_function(keys),
    };
    let mapped_element = |key: usize, element: String| match order {
        SortOrder::Keys(orders) if moves_mapped => mapped_element(keys[key], orders[key], &element),
        _ => element,
    };
    let moved_dtype = |key: usize| match order {
        SortOrder::Keys(_) if moves_mapped => mapped_dtype(keys[key]),
        _ => keys[key],
    };
    let mut source = String::from("typedef long long N;\n");
    source += &format!(
        "struct Arguments {{ N lines, extent, inner, segment, width; const void* key[{}]; \
         const void* from; void* to; void* result; }};\n",
        keys.len()
    );
    // Large fields first, to save padding.
    let mut sorted = fields.clone();
    sorted.sort_by_key(|&key| std::cmp::Reverse(keys[key].size()));
    let mut layout: Vec<(String, DType)> =
        sorted.iter().map(|&key| (format!("k{key}"), moved_dtype(key))).collect();
    if has_index {
        layout.push(("index".to_owned(), index_dtype));
    }
    let declared: Vec<String> =
        layout.iter().map(|(name, dtype)| format!("{} {name};", types::name(*dtype))).collect();
    source += &format!("struct Item {{ {} }};\n", declared.join(" "));
    source += &format!("static_assert(sizeof(Item) <= {MAX_ITEM_BYTES});\n");
    source += &functions;
    let fetched: Vec<String> = layout
        .iter()
        .map(|(name, _)| match name.strip_prefix('k') {
            Some(key_index) => {
                let key: usize = key_index.parse().expect("a key index");
                let element = element(key_index, keys[key], "start + i * a.inner");
                format!("x.{name} = {};", mapped_element(key, element))
            }
            None => format!("x.{name} = ({})i;", types::name(index_dtype)),
        })
        .collect();
    source += &format!(
        "FN Item fetch(const Arguments& a, N start, N i) {{ Item x; {} return x; }}\n",
        fetched.join(" ")
    );
    // A key that the comparator ignores still needs a value.
    let operand = |item: &str, key: usize| match (is_moved, fields.contains(&key)) {
        (_, true) => format!("{item}.k{key}"),
        (true, false) => format!("{}{{}}", brace_name(keys[key])),
        (false, false) => {
            element(&key.to_string(), keys[key], &format!("start + (N){item}.index * a.inner"))
        }
    };
    let operands: Vec<String> = (0..keys.len())
        .map(|key| {
            let kind =
                types::name(if fields.contains(&key) { moved_dtype(key) } else { keys[key] });
            format!("const {kind} x{key} = {}, y{key} = {};", operand("x", key), operand("y", key))
        })
        .collect();
    source += &format!(
        "FN bool before(const Arguments& a, N start, const Item& x, const Item& y) {{ {} {compared} }}\n",
        operands.join(" ")
    );
    let (kind, value) = match result {
        SortResult::Values => (types::name(keys[0]), "x.k0"),
        SortResult::Positions | SortResult::FirstPositions(_) => ("N", "(N)x.index"),
    };
    source += &format!(
        "FN void put(const Arguments& a, N start, N i, const Item& x) {{ \
         (({kind}*)a.result)[start + i * a.inner] = {value}; }}\n"
    );
    let is_consistent = matches!(order, SortOrder::Keys(_));
    SortItems { source, item_bytes: struct_bytes(&layout), is_consistent }
}

/// An element of a key.
fn element(key: &str, dtype: DType, at: &str) -> String {
    format!("((const {}*)a.key[{key}])[{at}]", types::name(dtype))
}

/// A type name that braces may follow.
fn brace_name(dtype: DType) -> String {
    match types::name(dtype) {
        name if name.contains(' ') => format!("decltype(({name})0)"),
        name => name.to_owned(),
    }
}

/// Bytes of a struct with these fields.
fn struct_bytes(layout: &[(String, DType)]) -> usize {
    let alignment = |dtype: DType| dtype.size();
    let end = layout
        .iter()
        .fold(0usize, |end, (_, dtype)| end.next_multiple_of(alignment(*dtype)) + dtype.size());
    let widest = layout.iter().map(|(_, dtype)| alignment(*dtype)).max().unwrap_or(1);
    end.next_multiple_of(widest)
}

/// The functions that map float keys to integers of the same order.
pub fn mapping_functions(keys: &[DType]) -> String {
    if !keys.iter().any(|key| key.is_float()) {
        return String::new();
    }
    // All NaNs map to one key above all others, and both zeros to one key.
    String::from(
        r"
template <class U> FN U total(U bits) {
    constexpr U sign = (U)((U)1 << (8 * sizeof(U) - 1));
    return bits & sign ? (U)~bits : (U)(bits | sign);
}
template <class U> FN U numeric(U bits, U infinity) {
    constexpr U sign = (U)((U)1 << (8 * sizeof(U) - 1));
    return (U)(bits & (U)~sign) > infinity ? (U)~(U)0 : bits == sign ? sign : total(bits);
}
",
    )
}

/// A lexicographic comparison by keys, which may be mapped already.
fn compare_keys(keys: &[DType], orders: &[SortKey], are_mapped: bool) -> String {
    let mut source = String::new();
    for (key, (&dtype, order)) in keys.iter().zip(orders).enumerate() {
        let of = |name: &str| match are_mapped {
            true => format!("{name}{key}"),
            false => mapped_element(dtype, *order, &format!("{name}{key}")),
        };
        let (first, second) = if order.descending { ("y", "x") } else { ("x", "y") };
        source += &format!("const auto a{key} = {}, b{key} = {}; ", of(first), of(second));
        source += &match key + 1 == keys.len() {
            true => format!("return a{key} < b{key};"),
            false => format!("if (a{key} != b{key}) return a{key} < b{key}; "),
        };
    }
    source
}

/// The dtype of a key's mapped elements.
fn mapped_dtype(dtype: DType) -> DType {
    match (dtype.class(), dtype.size()) {
        (DTypeClass::Float, 2) => DType::U16,
        (DTypeClass::Float, 4) => DType::U32,
        (DTypeClass::Float, _) => DType::U64,
        _ => dtype,
    }
}

/// An element in its mapped form.
pub fn mapped_element(dtype: DType, order: SortKey, element: &str) -> String {
    if dtype.class() != DTypeClass::Float {
        return element.to_owned();
    }
    let (of, infinity) = match dtype {
        DType::F16 => (format!("{element}.bits"), "0x7c00"),
        DType::BF16 => (format!("{element}.bits"), "0x7f80"),
        DType::F32 => (format!("__float_as_uint({element})"), "0x7f800000u"),
        _ => (
            format!("(unsigned long long)__double_as_longlong({element})"),
            "0x7ff0000000000000ull",
        ),
    };
    let unsigned = types::name(mapped_dtype(dtype));
    match order.floats {
        FloatOrder::Total => format!("total<{unsigned}>({of})"),
        FloatOrder::Numeric => format!("numeric<{unsigned}>({of}, {infinity})"),
    }
}

fn compare_by_function(keys: &[DType]) -> String {
    let arguments: Vec<String> = (0..keys.len()).map(|key| format!("x{key}, y{key}")).collect();
    format!("return comes_before({});", arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_hold_compared_keys_and_result() {
        let items_of = |keys: &[DType], result| {
            generate(keys, &SortOrder::ascending(keys.len()), result, false)
        };
        assert_eq!(items_of(&[DType::F32], SortResult::Values).item_bytes, 4);
        assert_eq!(items_of(&[DType::F32], SortResult::Positions).item_bytes, 8);
        assert_eq!(items_of(&[DType::I8], SortResult::Positions).item_bytes, 8);
        assert_eq!(items_of(&[DType::I8, DType::F64], SortResult::Positions).item_bytes, 16);
        assert_eq!(items_of(&[DType::F64; 2], SortResult::Positions).item_bytes, 24);
        // Too large to move: keys are looked up.
        assert_eq!(items_of(&[DType::F64; 3], SortResult::Positions).item_bytes, 4);
    }
}
