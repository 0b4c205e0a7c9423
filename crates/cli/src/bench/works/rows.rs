//! Reduction workloads over rows and columns.

use super::super::work::{Amount, Input, Values, Work, one};
use super::{extents, words};
use inflight::Tensor;

/// Rows and columns: larger than the cache, and in cache.
const SIZES: [[usize; 2]; 2] = [[4096, 1024], [64, 1024]];

pub fn works() -> Vec<Work> {
    let mut works = Vec::new();
    for size in SIZES {
        let [rows, columns] = size;
        let all = rows * columns;
        works.push(work("softmax", "softmax", size, 0, all, |x| x[0].softmax(1)));
        works.push(work("layer norm", "layer_norm", size, 2, all, |x| {
            x[0].layer_norm([1], Some(&x[1]), Some(&x[2]), 1e-5)
        }));
        works.push(work("RMS norm", "rms_norm", size, 1, all, |x| {
            x[0].rms_norm([1], Some(&x[1]), 1e-5)
        }));
        works.push(work("row sum", "row_sum", size, 0, rows, |x| x[0].sum([1])));
        works.push(work("column sum", "column_sum", size, 0, columns, |x| x[0].sum([0])));
    }
    works.push(cross_entropy(SIZES[0]));
    works
}

/// A workload on a matrix and some vectors with one element for each column.
fn work(
    name: &'static str,
    function: &'static str,
    [rows, columns]: [usize; 2],
    vectors: usize,
    results: usize,
    f: fn(&[Tensor]) -> Tensor,
) -> Work {
    let vector = |_| Input::new([columns]).with(Values::Between(0.5, 1.5));
    let matrix = Input::new([rows, columns]).with(Values::Between(-4.0, 4.0));
    Work {
        name,
        function,
        size: extents(&[rows, columns]),
        inputs: std::iter::once(matrix).chain((0..vectors).map(vector)).collect(),
        amount: Amount::Bytes {
            read: words(rows * columns + vectors * columns),
            written: words(results),
        },
        read: false,
        tolerance: 1e-5,
        ours: one(f),
    }
}

/// Mean over the rows of logsumexp minus the logit of the label.
fn cross_entropy([rows, columns]: [usize; 2]) -> Work {
    let logits = Input::new([rows, columns]).with(Values::Between(-4.0, 4.0));
    let labels = Input::new([rows]).with(Values::Below(columns as i32));
    Work {
        name: "cross-entropy",
        function: "cross_entropy",
        size: extents(&[rows, columns]),
        inputs: vec![logits, labels],
        amount: Amount::Bytes { read: words(rows * columns + rows), written: words(1) },
        read: false,
        tolerance: 1e-5,
        ours: one(|x| {
            let (logits, labels) = (&x[0], &x[1]);
            let picked = logits.gather(1, &labels.unsqueeze(1)).squeeze(1);
            (logits.logsumexp([1]) - picked).mean_all()
        }),
    }
}
