//! What a sort moves, and when one of them comes before another, as text.

use super::function;
use crate::codegen::types;
use inflight_ir::graph::{FloatOrder, SortKey, SortOrder, SortResult};
use inflight_ir::{DType, DTypeClass};

/// Keys of at most this many bytes in all are moved with the items; others stay where they are.
const MOST_MOVED: usize = 16;

/// The most bytes of an item: keys and a place, with the padding between them.
const MOST_ITEM: usize = 32;

/// The text that the kernels of a sort have in common, and what the host must know of it.
pub struct Order {
    /// `Item`, and the functions `fetch`, `before` and `put`.
    pub text: String,
    /// Bytes of an item.
    pub item: usize,
    /// Whether `before` is known to be a strict weak order.
    pub is_consistent: bool,
}

/// What is sorted: the keys' dtypes, their order, what is answered, and whether places need 64 bits.
pub fn order(keys: &[DType], order: &SortOrder, result: SortResult, is_wide: bool) -> Order {
    let (functions, used) = match order {
        SortOrder::Keys(_) => (by_keys(keys), vec![true; keys.len()]),
        SortOrder::Comparator(comparator) => {
            let written = function::write(comparator, "comes_before");
            let used = written.used.chunks(2).map(|pair| pair.contains(&true)).collect();
            (written.text, used)
        }
    };
    let place = if is_wide { DType::U64 } else { DType::U32 };
    let moved: Vec<usize> = (0..keys.len()).filter(|&key| used[key]).collect();
    let bytes: usize = moved.iter().map(|&key| keys[key].size()).sum();
    let (is_moved, has_place) = match result {
        // The element itself is what is answered.
        SortResult::Values => (true, false),
        SortResult::Positions | SortResult::FirstPositions(_) => (bytes <= MOST_MOVED, true),
    };
    let fields: Vec<usize> = match (result, is_moved) {
        (SortResult::Values, _) => vec![0],
        (_, true) => moved,
        (_, false) => Vec::new(),
    };
    // What only decides the order is moved as what it is compared by.
    let moves_mapped = result != SortResult::Values && is_moved;
    let compared = match order {
        SortOrder::Keys(orders) => keyed(keys, orders, moves_mapped),
        SortOrder::Comparator(_) => compared_by_call(keys),
    };
    let mapped = |key: usize, element: String| match order {
        SortOrder::Keys(orders) if moves_mapped => mapped(keys[key], orders[key], &element),
        _ => element,
    };
    let moved_as = |key: usize| match order {
        SortOrder::Keys(_) if moves_mapped => bits(keys[key]),
        _ => keys[key],
    };
    let mut text = String::from("typedef long long N;\n");
    text += &format!(
        "struct Arguments {{ N lines, extent, inner, segment, width; const void* key[{}]; \
         const void* from; void* to; void* result; }};\n",
        keys.len()
    );
    // Large fields first, so that little is lost to alignment.
    let mut sorted = fields.clone();
    sorted.sort_by_key(|&key| std::cmp::Reverse(keys[key].size()));
    let mut layout: Vec<(String, DType)> =
        sorted.iter().map(|&key| (format!("k{key}"), moved_as(key))).collect();
    if has_place {
        layout.push(("place".to_owned(), place));
    }
    let declared: Vec<String> =
        layout.iter().map(|(name, dtype)| format!("{} {name};", types::name(*dtype))).collect();
    text += &format!("struct Item {{ {} }};\n", declared.join(" "));
    text += &format!("static_assert(sizeof(Item) <= {MOST_ITEM});\n");
    text += &functions;
    let fetched: Vec<String> = layout
        .iter()
        .map(|(name, _)| match name.strip_prefix('k') {
            Some(number) => {
                let key: usize = number.parse().expect("a key's number");
                let element = element(number, keys[key], "start + i * a.inner");
                format!("x.{name} = {};", mapped(key, element))
            }
            None => format!("x.{name} = ({})i;", types::name(place)),
        })
        .collect();
    text += &format!(
        "FN Item fetch(const Arguments& a, N start, N i) {{ Item x; {} return x; }}\n",
        fetched.join(" ")
    );
    // A key that is nowhere looked at still has to be something.
    let named = |item: &str, key: usize| match (is_moved, fields.contains(&key)) {
        (_, true) => format!("{item}.k{key}"),
        (true, false) => format!("{}{{}}", short_name(keys[key])),
        (false, false) => {
            element(&key.to_string(), keys[key], &format!("start + (N){item}.place * a.inner"))
        }
    };
    let operands: Vec<String> = (0..keys.len())
        .map(|key| {
            let kind = types::name(if fields.contains(&key) { moved_as(key) } else { keys[key] });
            format!("const {kind} x{key} = {}, y{key} = {};", named("x", key), named("y", key))
        })
        .collect();
    text += &format!(
        "FN bool before(const Arguments& a, N start, const Item& x, const Item& y) {{ {} {compared} }}\n",
        operands.join(" ")
    );
    let (kind, value) = match result {
        SortResult::Values => (types::name(keys[0]), "x.k0"),
        SortResult::Positions | SortResult::FirstPositions(_) => ("N", "(N)x.place"),
    };
    text += &format!(
        "FN void put(const Arguments& a, N start, N i, const Item& x) {{ \
         (({kind}*)a.result)[start + i * a.inner] = {value}; }}\n"
    );
    let is_consistent = matches!(order, SortOrder::Keys(_));
    Order { text, item: size(&layout), is_consistent }
}

/// An element of a key.
fn element(key: &str, dtype: DType, at: &str) -> String {
    format!("((const {}*)a.key[{key}])[{at}]", types::name(dtype))
}

/// A name that can be followed by braces.
fn short_name(dtype: DType) -> String {
    match types::name(dtype) {
        name if name.contains(' ') => format!("decltype(({name})0)"),
        name => name.to_owned(),
    }
}

/// Bytes of a struct of these fields.
fn size(layout: &[(String, DType)]) -> usize {
    let alignment = |dtype: DType| dtype.size();
    let end = layout
        .iter()
        .fold(0usize, |end, (_, dtype)| end.next_multiple_of(alignment(*dtype)) + dtype.size());
    let widest = layout.iter().map(|(_, dtype)| alignment(*dtype)).max().unwrap_or(1);
    end.next_multiple_of(widest)
}

/// Functions that turn keys into integers of the same order.
pub fn by_keys(keys: &[DType]) -> String {
    if !keys.iter().any(|key| key.is_float()) {
        return String::new();
    }
    // Every NaN is one key, above all others, and both zeros are another.
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

/// The comparison by keys, the first that differs; they may be mapped already.
fn keyed(keys: &[DType], orders: &[SortKey], are_mapped: bool) -> String {
    let mut text = String::new();
    for (key, (&dtype, order)) in keys.iter().zip(orders).enumerate() {
        let of = |name: &str| match are_mapped {
            true => format!("{name}{key}"),
            false => mapped(dtype, *order, &format!("{name}{key}")),
        };
        let (first, second) = if order.descending { ("y", "x") } else { ("x", "y") };
        text += &format!("const auto a{key} = {}, b{key} = {}; ", of(first), of(second));
        text += &match key + 1 == keys.len() {
            true => format!("return a{key} < b{key};"),
            false => format!("if (a{key} != b{key}) return a{key} < b{key}; "),
        };
    }
    text
}

/// The dtype of a key's mapped elements.
fn bits(dtype: DType) -> DType {
    match (dtype.class(), dtype.size()) {
        (DTypeClass::Float, 2) => DType::U16,
        (DTypeClass::Float, 4) => DType::U32,
        (DTypeClass::Float, _) => DType::U64,
        _ => dtype,
    }
}

/// An element as what it is compared by.
pub fn mapped(dtype: DType, order: SortKey, element: &str) -> String {
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
    let unsigned = types::name(bits(dtype));
    match order.floats {
        FloatOrder::Total => format!("total<{unsigned}>({of})"),
        FloatOrder::Numeric => format!("numeric<{unsigned}>({of}, {infinity})"),
    }
}

fn compared_by_call(keys: &[DType]) -> String {
    let arguments: Vec<String> = (0..keys.len()).map(|key| format!("x{key}, y{key}")).collect();
    format!("return comes_before({});", arguments.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_have_what_is_compared_and_answered() {
        let plain =
            |keys: &[DType], result| order(keys, &SortOrder::ascending(keys.len()), result, false);
        assert_eq!(plain(&[DType::F32], SortResult::Values).item, 4);
        assert_eq!(plain(&[DType::F32], SortResult::Positions).item, 8);
        assert_eq!(plain(&[DType::I8], SortResult::Positions).item, 8);
        assert_eq!(plain(&[DType::I8, DType::F64], SortResult::Positions).item, 16);
        assert_eq!(plain(&[DType::F64; 2], SortResult::Positions).item, 24);
        // Too much to move: keys are looked up.
        assert_eq!(plain(&[DType::F64; 3], SortResult::Positions).item, 4);
    }
}
