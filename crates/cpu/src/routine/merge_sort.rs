//! Stable merge sort with a user-defined comparison. It terminates even if the comparison is not an order.

/// Sorts `items` on the current thread. `spare` has the same length.
pub fn sort_sequential<T: Copy>(
    items: &mut [T],
    spare: &mut [T],
    is_before: &mut impl FnMut(T, T) -> bool,
) {
    /// Length of the runs that insertion sort produces.
    const RUN: usize = 8;
    for run in items.chunks_mut(RUN) {
        for end in 1..run.len() {
            let mut at = end;
            while at > 0 && is_before(run[at], run[at - 1]) {
                run.swap(at, at - 1);
                at -= 1;
            }
        }
    }
    let mut width = RUN;
    while width < items.len() {
        let pairs = items.chunks(2 * width).zip(spare.chunks_mut(2 * width));
        for (pair, target) in pairs {
            let (a, b) = pair.split_at(width.min(pair.len()));
            merge(a, b, target, is_before);
        }
        items.copy_from_slice(spare);
        width *= 2;
    }
}

/// Merges two sorted runs; equal items of `a` come first.
pub fn merge<T: Copy>(
    a: &[T],
    b: &[T],
    target: &mut [T],
    is_before: &mut impl FnMut(T, T) -> bool,
) {
    // Fast path: `b` follows `a` already.
    if let (Some(&last), Some(&first)) = (a.last(), b.first())
        && !is_before(first, last)
    {
        target[..a.len()].copy_from_slice(a);
        target[a.len()..].copy_from_slice(b);
        return;
    }
    let (mut i, mut j) = (0, 0);
    for slot in target {
        let from_b = match (a.get(i), b.get(j)) {
            (Some(&a), Some(&b)) => is_before(b, a),
            (None, _) => true,
            (_, None) => false,
        };
        if from_b {
            *slot = b[j];
            j += 1;
        } else {
            *slot = a[i];
            i += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merge_sort_is_stable() {
        for len in [0, 1, 2, 7, 8, 9, 100, 1000] {
            let mut items: Vec<(usize, usize)> = (0..len).map(|i| (i * 7919 % 31, i)).collect();
            let mut expected = items.clone();
            expected.sort_by_key(|item| item.0);
            let mut spare = items.clone();
            sort_sequential(&mut items, &mut spare, &mut |a, b| a.0 < b.0);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn an_inconsistent_comparison_gives_a_permutation() {
        let mut items: Vec<usize> = (0..100).collect();
        let mut spare = items.clone();
        sort_sequential(&mut items, &mut spare, &mut |_, _| true);
        items.sort();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
