//! Data movement workloads: transposes and gathers.

use super::super::work::{Amount, Input, Values, Work, one};
use super::{extents, words};
use inflight::Tensor;

pub fn works() -> Vec<Work> {
    let n = 2048;
    vec![
        Work {
            name: "transpose + add",
            function: "transpose_add",
            size: extents(&[n, n]),
            inputs: vec![Input::new([n, n]), Input::new([n, n])],
            amount: Amount::Bytes { read: words(2 * n * n), written: words(n * n) },
            read: false,
            tolerance: 1e-6,
            ours: one(|x| &x[0] + x[1].transpose()),
        },
        moved("batched transpose", "batched_transpose", &[64, 256, 256], |x| x[0].swap_dims(1, 2)),
        moved("split heads", "split_heads", &[8, 512, 8, 64], |x| x[0].permute([0, 2, 1, 3])),
        gather_rows(50_000, 256, 8_192),
    ]
}

/// A permutation of the elements.
fn moved(
    name: &'static str,
    function: &'static str,
    shape: &[usize],
    f: fn(&[Tensor]) -> Tensor,
) -> Work {
    let bytes = words(shape.iter().product());
    Work {
        name,
        function,
        size: extents(shape),
        inputs: vec![Input::new(shape)],
        amount: Amount::Bytes { read: bytes, written: bytes },
        read: false,
        tolerance: 0.0,
        ours: one(f),
    }
}

fn gather_rows(rows: usize, columns: usize, picked: usize) -> Work {
    Work {
        name: "gather rows",
        function: "gather_rows",
        size: format!("{picked} of {}", extents(&[rows, columns])),
        inputs: vec![
            Input::new([rows, columns]),
            Input::new([picked]).with(Values::Below(rows as i32)),
        ],
        amount: Amount::Bytes {
            read: words(picked * columns + picked),
            written: words(picked * columns),
        },
        read: false,
        tolerance: 0.0,
        ours: one(|x| x[0].index_select(0, &x[1])),
    }
}
