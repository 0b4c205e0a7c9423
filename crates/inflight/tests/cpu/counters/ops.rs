//! Counters of the runtime: launches, bytes, compiles, plans, waits and memory. A change that makes the runtime do
//! unnecessary work fails here, without measuring time.

use crate::device;
use crate::support::{f32s, ramp};
use inflight::{ConvOptions, DType, Device, PoolOptions, Stats, Tensor, Transaction, WaitReason};

/// The counters of computing a value.
fn counted(device: &Device, value: &Tensor) -> Stats {
    let before = device.stats();
    value.wait().expect("the value is computed");
    device.stats().since(&before)
}

#[test]
fn softmax_is_one_launch_that_reads_its_input_once() {
    let device = device();
    let x = ramp([64, 300], &device);
    for axis in [0, 1] {
        let stats = counted(&device, &x.softmax(axis));
        assert_eq!(stats.launches, 1, "axis {axis}");
        assert_eq!(stats.bytes_read, f32s(64 * 300), "axis {axis}");
        assert_eq!(stats.bytes_written, f32s(64 * 300), "axis {axis}");
    }
}

#[test]
fn layer_norm_is_one_launch_that_reads_its_input_once() {
    let device = device();
    let x = ramp([64, 256], &device);
    let weight = ramp([256], &device);
    let bias = ramp([256], &device);
    let stats = counted(&device, &x.layer_norm([1], Some(&weight), Some(&bias), 1e-5));
    assert_eq!(stats.launches, 1);
    // The input, the weight and the bias.
    assert_eq!(stats.bytes_read, f32s(64 * 256 + 256 + 256));
    assert_eq!(stats.bytes_written, f32s(64 * 256));
}

#[test]
fn a_chain_of_twelve_ops_is_one_launch() {
    let device = device();
    let x = ramp([1000], &device);
    let y = (((&x + 1.0) * 2.0 - 3.0).abs().sqrt() + &x).exp().log1p().tanh().maximum(0.1);
    let stats = counted(&device, &(y / 2.0).neg());
    assert_eq!(stats.launches, 1);
    assert_eq!(stats.bytes_read, f32s(1000));
    assert_eq!(stats.bytes_written, f32s(1000));
}

#[test]
fn a_dropped_intermediate_is_not_materialized() {
    let device = device();
    let x = ramp([1000], &device);
    let y = {
        let intermediate = x.exp();
        intermediate * 2.0
    };
    let stats = counted(&device, &y);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(1000)));
}

#[test]
fn unreachable_values_are_not_computed() {
    let device = device();
    let x = ramp([1000], &device);
    drop(x.exp());
    device.flush();
    device.wait().unwrap();
    assert_eq!(device.stats().launches, 0);
}

#[test]
fn a_live_handle_on_a_cheap_value_costs_nothing() {
    let device = device();
    let x = ramp([1000], &device);
    let retained = &x + 1.0;
    let stats = counted(&device, &(&retained * 2.0));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(1000)));
    // The value is still readable.
    assert_eq!(retained.to_vec::<f32>().unwrap()[0], 0.0);
}

#[test]
fn temporaries_of_an_expression_are_not_materialized() {
    let device = device();
    let x = ramp([64, 100], &device);
    // Every temporary of the chain is alive while the last value is read.
    let before = device.stats();
    x.softmax(1).log().neg().exp().tanh().sum([1]).to_vec::<f32>().unwrap();
    let stats = device.stats().since(&before);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(64)));
}

#[test]
fn a_live_value_is_materialized_when_it_is_recomputed() {
    let device = device();
    let x = ramp([64, 100], &device);
    let retained = x.softmax(1).tanh();
    assert_eq!(counted(&device, &retained.sum([1])).bytes_written, f32s(64));
    // The second use stores it together with the requested value.
    let stats = counted(&device, &retained.max([1]));
    assert_eq!(stats.bytes_written, f32s(64 * 100) + f32s(64));
    // Later uses read it from memory.
    let stats = counted(&device, &retained.min([1]));
    assert_eq!((stats.bytes_read, stats.bytes_written), (f32s(64 * 100), f32s(64)));
}

#[test]
fn an_expensive_live_value_is_materialized_once() {
    let device = device();
    let x = ramp([64, 64], &device);
    let expensive = x.matmul(&x);
    counted(&device, &(&expensive + 1.0));
    let before = device.stats();
    expensive.wait().unwrap();
    (&expensive + 2.0).wait().unwrap();
    let stats = device.stats().since(&before);
    // The matmul is already in memory; only the addition runs.
    assert_eq!((stats.launches, stats.bytes_read), (1, f32s(64 * 64)));
}

#[test]
fn a_new_batch_size_compiles_nothing() {
    let device = device();
    let forward = |batch: usize| {
        let x = ramp([batch, 32], &device);
        let weight = ramp([32, 16], &device);
        let bias = ramp([16], &device);
        (x.matmul(&weight) + &bias).gelu().softmax(1)
    };
    forward(64).wait().unwrap();
    let before = device.stats();
    for batch in [65, 17, 3, 128, 1000] {
        forward(batch).wait().unwrap();
    }
    let stats = device.stats().since(&before);
    assert_eq!(stats.compiles, 0);
    assert_eq!(stats.plans, 5, "plans are specialized to extents");
}

#[test]
fn the_second_run_of_a_loop_body_plans_nothing() {
    let device = device();
    let x = ramp([32, 32], &device);
    let mut weight = ramp([32, 32], &device);
    let mut step = |rate: f32| {
        let gradient = x.matmul(&weight).tanh();
        weight = &weight - gradient * rate;
        weight.wait().unwrap();
    };
    step(0.1);
    step(0.2);
    let before = device.stats();
    // A new rate changes a scalar argument, not the plan.
    for rate in [0.3, 0.4, 0.5] {
        step(rate);
    }
    let stats = device.stats().since(&before);
    assert_eq!((stats.plans, stats.compiles, stats.plan_hits), (0, 0, 3));
}

#[test]
fn a_loop_that_never_reads_stays_within_bounds() {
    let device = device();
    let elements = 4096;
    let mut x = ramp([elements], &device);
    let mut metric = Tensor::zeros::<f32>([], &device);
    for _ in 0..100_000 {
        x = &x * 0.999 + 0.001;
        metric = x.sum_all();
    }
    // The work in flight of a thread is a bounded number of segments, each with a few live values.
    let peak = device.memory().peak;
    assert!(peak <= 64 * elements * 4, "peak {peak}");
    assert!(metric.item::<f32>().unwrap().is_finite());
}

#[test]
fn a_chain_of_a_million_ops_builds_runs_and_drops() {
    let device = device();
    let mut x = Tensor::zeros::<f32>([8], &device);
    for _ in 0..1_000_000 {
        x += 1.0;
    }
    assert_eq!(x.to_vec::<f32>().unwrap(), [1e6; 8]);
}

#[test]
fn a_long_chain_that_is_never_submitted_drops_without_recursion() {
    // The last handle alone keeps the chain alive, and it fits the budget of one segment.
    let device = device();
    let mut x = Tensor::zeros::<f32>([8], &device);
    for _ in 0..500 {
        x += 1.0;
    }
    drop(x);
    assert_eq!(device.stats().launches, 0);
}

#[test]
fn only_the_documented_calls_wait() {
    let device = device();
    let x = ramp([16, 16], &device);
    let y = x.matmul(&x).softmax(1) + 1.0;
    let _ = (y.shape(), y.dtype(), y.device(), y.check(), format!("{y:?}"), y.is_ready());
    device.flush();
    let read = y.sum_all().item_async::<f32>();
    let _ = y.to_device(&device);
    assert_eq!(device.stats().all_waits(), 0);
    read.get().unwrap();
    y.to_vec::<f32>().unwrap();
    y.wait().unwrap();
    let stats = device.stats();
    let backpressure = stats.waits_for(WaitReason::Backpressure);
    assert_eq!(backpressure, 0);
}

#[test]
fn views_of_a_matmul_operand_are_not_copied() {
    let device = device();
    let a = ramp([48, 64], &device);
    let b = ramp([80, 64], &device);
    // Transpose, slice and expand are strides of the operands.
    let stats = counted(&device, &a.matmul(&b.transpose()));
    assert_eq!(stats.launches, 1);
    let stats = counted(&device, &a.slice([0..48, 8..40]).matmul(&b.slice([8..40, 0..64])));
    assert_eq!(stats.launches, 1);
    let batch = ramp([3, 16, 48], &device);
    let stats = counted(&device, &batch.matmul(&a.expand([3, 48, 64])));
    assert_eq!(stats.launches, 1);
}

#[test]
fn a_reshape_costs_nothing() {
    let device = device();
    let x = ramp([12, 10], &device);
    let stats = counted(&device, &x.reshape([10, 12]));
    assert_eq!(stats.launches, 0);
    // In the middle of a chain it is an index map.
    let stats = counted(&device, &(x.exp().reshape([120]) + 1.0).reshape([4, 30]));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(120)));
}

#[test]
fn a_transaction_waits_once_and_preserves_order() {
    let (first, second) = (device(), device());
    let x = ramp([32, 32], &first);
    let count = Tensor::ones::<i64>([3], &second).sum_all();
    let data = Transaction::default()
        .register(&x.matmul(&x))
        .register(&count)
        .register(&x.sum_all())
        .register(&x.matmul(&x).exp())
        .execute()
        .unwrap();
    assert_eq!(first.stats().all_waits() + second.stats().all_waits(), 1);
    let [matmul, count, sum, exponential] = data.try_into().expect("four tensors");
    assert_eq!(matmul.shape().extents(), [32, 32]);
    assert_eq!(count.item::<i64>().unwrap(), 3);
    assert_eq!(sum.dtype(), DType::F32);
    assert_eq!(exponential.to_vec::<f32>().unwrap().len(), 32 * 32);
    assert!(Transaction::default().execute().unwrap().is_empty());
}

#[test]
fn row_wise_epilogues_fuse_into_the_gemm() {
    let device = device();
    let (m, k, n) = (200, 64, 96);
    let x = ramp([m, k], &device);
    let weight = ramp([k, n], &device);
    let bias = ramp([n], &device);
    let residual = ramp([m, n], &device);
    let operands = f32s(m * k + k * n);
    // Bias and activation: the GEMM result itself is never stored.
    let dense = (x.matmul(&weight) + &bias).gelu();
    let stats = counted(&device, &dense);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, operands + f32s(n));
    // Residual and row normalization.
    let normalized = (x.matmul(&weight) + &residual).layer_norm([1], None, None, 1e-5);
    let stats = counted(&device, &normalized);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, operands + f32s(m * n));
    // Batched GEMM: attention scores.
    let query = ramp([6, 50, 32], &device);
    let key = ramp([6, 40, 32], &device);
    let scores = (query.matmul(&key.transpose()) * 0.125).softmax(-1);
    let stats = counted(&device, &scores);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(6 * 50 * 40)));
    // Row reduction.
    let norms = x.matmul(&weight).square().sum([1]);
    let stats = counted(&device, &norms);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m)));
    // Only some rows are used: the result is materialized, and those rows are read.
    let part = x.matmul(&weight).tanh().slice((0..10, ..));
    assert_eq!(part.to_vec::<f32>().unwrap().len(), 10 * n);
    // Two readers: the result is materialized.
    let gemm = x.matmul(&weight);
    let stats = counted(&device, &(gemm.sum([0]) + gemm.sum([1]).sum_all()));
    assert!(stats.bytes_written >= f32s(m * n));
}

#[test]
fn fusion_can_be_disabled_in_a_scope() {
    let device = device();
    let x = Tensor::from_vec((0..64 * 64).map(|i| i as f32 * 1e-3).collect(), [64, 64], &device);
    let x = x.unwrap();
    let compute = || ((&x + 1.0).exp() * &x).sum([1]).sqrt();
    let before = device.stats();
    let fused = compute().to_vec::<f32>().unwrap();
    let middle = device.stats();
    let unfused = inflight::no_fuse(|| compute().to_vec::<f32>().unwrap());
    let after = device.stats();
    // Row sums may differ by summation order only.
    for (a, b) in fused.iter().zip(&unfused) {
        assert!((a - b).abs() <= 1e-5 * a.abs(), "{a} {b}");
    }
    assert_eq!(middle.since(&before).launches, 1);
    // add, exp, mul, sum and sqrt are one launch each.
    assert_eq!(after.since(&middle).launches, 5);
    // Fusion is enabled again after the scope.
    compute().wait().unwrap();
    assert_eq!(device.stats().since(&after).launches, 1);
}

#[test]
fn counting_is_scoped() {
    let device = device();
    let x = Tensor::ones::<f32>([1000], &device);
    (&x + 1.0).wait().unwrap();
    let (_, stats) = inflight::collect_stats(|| {
        (&x * 3.0).wait().unwrap();
        (&x * 4.0).wait().unwrap();
    });
    // Other tests run concurrently: the counts are lower bounds.
    assert!(stats.launches >= 2 && stats.bytes_written >= 8000, "{stats:?}");
    assert!(stats.allocations >= 2 && stats.peak_memory >= 4000, "{stats:?}");
    assert!(stats.waits_for(inflight::WaitReason::Sync) >= 2, "{stats:?}");
    assert!(inflight::stats().launches >= device.stats().launches);
}

#[test]
fn a_pool_is_one_launch_that_reads_its_input_once() {
    let device = device();
    let x = ramp([2, 3, 32, 32], &device);
    let stats = counted(&device, &x.max_pool2d(PoolOptions::new(2)));
    assert_eq!(stats.launches, 1);
    assert_eq!(stats.bytes_written, f32s(2 * 3 * 16 * 16));
    // Producers and consumers of the windows fuse with the pool.
    let pooled = (&x * 2.0).relu().avg_pool2d(PoolOptions::new(3).stride(2).padding(1)) + 1.0;
    assert_eq!(counted(&device, &pooled).launches, 1);
}

#[test]
fn a_pointwise_convolution_reads_its_operand_in_place() {
    let device = device();
    let x = ramp([4, 16, 8, 8], &device);
    let weight = ramp([32, 16, 1, 1], &device);
    let bias = ramp([32], &device);
    let y = x.conv2d(&weight, Some(&bias), ConvOptions::default()).relu();
    let stats = counted(&device, &y);
    assert_eq!(stats.launches, 1, "a GEMM with a fused epilogue");
    assert_eq!(stats.bytes_written, f32s(4 * 32 * 8 * 8));
}

#[test]
fn a_sort_is_one_launch_between_its_producer_and_consumer() {
    let device = device();
    let x = ramp([50, 20], &device);
    let stats = counted(&device, &x.sort(1, false));
    assert_eq!((stats.launches, stats.compiles), (1, 0));
    assert_eq!((stats.bytes_read, stats.bytes_written), (f32s(1000), f32s(1000)));
    let stats = counted(&device, &((&x * 2.0).sort(0, true) + 1.0));
    assert_eq!(stats.launches, 3);
}

#[test]
fn results_reuse_dead_operands_in_place() {
    let device = device();
    let mut x = Tensor::from_vec(vec![1.0f32; 100_000], [100, 1000], &device).unwrap();
    let before = device.memory().allocations;
    for _ in 0..10 {
        x = (&x * 0.5 + 1.0).sqrt();
        x.wait().unwrap();
        x = x.softmax(1);
        x.wait().unwrap();
    }
    assert_eq!(device.memory().allocations, before, "twenty results reuse one allocation");
    let sums = x.sum([1]).to_vec::<f32>().unwrap();
    assert!(sums.iter().all(|sum| (sum - 1.0).abs() < 1e-5));
}

#[test]
fn live_operands_are_not_reused_in_place() {
    let device = device();
    let ramp = |scale: f32| (0..1000).map(|i| i as f32 * scale).collect::<Vec<f32>>();
    let x = Tensor::from_vec(ramp(1.0), [1000], &device).unwrap();
    // The caller holds the operand.
    let y = &x * 2.0;
    y.wait().unwrap();
    assert_eq!((x.to_vec::<f32>().unwrap(), y.to_vec::<f32>().unwrap()), (ramp(1.0), ramp(2.0)));
    // A view, a reshape that shares the memory, and an asynchronous read hold the operand.
    let first = x.slice(0..10);
    let table = x.reshape([10, 100]);
    let read = x.to_vec_async::<f32>();
    let z = x * 3.0;
    z.wait().unwrap();
    assert_eq!(table.to_vec::<f32>().unwrap(), ramp(1.0));
    assert_eq!(first.to_vec::<f32>().unwrap(), ramp(1.0)[..10]);
    assert_eq!((read.get().unwrap(), z.to_vec::<f32>().unwrap()), (ramp(1.0), ramp(3.0)));
    // Reads and writes have different index maps.
    let backwards = z.flip([0]) + &y;
    drop((y, z));
    let expected: Vec<f32> = (0..1000).map(|i| (999 - i) as f32 * 3.0 + i as f32 * 2.0).collect();
    assert_eq!(backwards.to_vec::<f32>().unwrap(), expected);
}

#[test]
fn prologues_fuse_into_the_gemm() {
    let device = device();
    let (m, k, n) = (200, 64, 96);
    let x = ramp([m, k], &device);
    let weight = ramp([k, n], &device);
    let (gain, bias) = (ramp([k], &device), ramp([k], &device));
    // A scale: only the operands are read and only the result is written.
    let stats = counted(&device, &(&x * 0.125).matmul(&weight));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, f32s(m * k + k * n));
    // A row normalization with its statistics.
    let stats =
        counted(&device, &x.layer_norm([1], Some(&gain), Some(&bias), 1e-5).matmul(&weight));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, f32s(m * k + 2 * k + k * n));
    // A cast from bf16: half the bytes of the operand.
    let half = x.cast(DType::BF16);
    half.wait().unwrap();
    let stats = counted(&device, &half.cast(DType::F32).matmul(&weight));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, f32s(m * k) / 2 + f32s(k * n));
    // A cast of transposed weights.
    let half = ramp([n, k], &device).cast(DType::BF16);
    half.wait().unwrap();
    let stats = counted(&device, &x.matmul(&half.cast(DType::F32).transpose()));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, f32s(m * k) + f32s(k * n) / 2);
    // A row lookup: reads the selected rows and their 8-byte indices.
    let table = ramp([1000, k], &device);
    let rows = Tensor::from_vec((0..m as i64).map(|i| i * 5).collect(), [m], &device).unwrap();
    let stats = counted(&device, &table.index_select(0, &rows).matmul(&weight));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, 8 * m as u64 + f32s(m * k + k * n));
    // Axes that strides cannot express: concatenated attention heads.
    let heads = ramp([4, m, k / 4], &device);
    let joined = heads.permute([1, 0, 2]).reshape([m, k]);
    let stats = counted(&device, &joined.matmul(&weight));
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(m * n)));
    assert_eq!(stats.bytes_read, f32s(m * k + k * n));
}

#[test]
fn a_feed_forward_block_is_two_launches() {
    let device = device();
    let (m, k, n) = (300, 64, 256);
    let x = ramp([m, k], &device);
    let (up, down) = (ramp([k, n], &device), ramp([n, k], &device));
    let hidden = x.layer_norm([1], None, None, 1e-5).matmul(&up).gelu();
    let stats = counted(&device, &hidden.matmul(&down));
    // The first launch reads the input and its weights and writes the hidden layer; the second reads that and its
    // weights, and writes the result.
    assert_eq!(stats.launches, 2);
    assert_eq!(stats.bytes_read, f32s(m * k + k * n) + f32s(m * n + n * k));
    assert_eq!(stats.bytes_written, f32s(m * n) + f32s(m * k));
}

#[test]
fn attention_is_one_launch_and_stores_no_scores() {
    let device = device();
    let (heads, rows, keys, depth) = (6, 160, 144, 32);
    let query = ramp([2, heads, rows, depth], &device);
    let key = ramp([2, heads, keys, depth], &device);
    let value = ramp([2, heads, keys, depth], &device);
    let mask = ramp([rows, keys], &device);
    let (queries, all_keys) = (2 * heads * rows * depth, 2 * heads * keys * depth);
    let scores = || query.matmul(&key.transpose()) * 0.25;
    // Reads queries, keys and values, and writes a result of the size of the queries.
    let result = scores().softmax(-1).matmul(&value);
    let stats = counted(&device, &result);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(queries)));
    assert_eq!(stats.bytes_read, f32s(queries + 2 * all_keys));
    // An additive mask is read too.
    let result = (scores() + &mask).softmax(-1).matmul(&value);
    let stats = counted(&device, &result);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(queries)));
    assert_eq!(stats.bytes_read, f32s(queries + 2 * all_keys + rows * keys));
    // A causal mask is computed in the kernel: no further bytes are read.
    let count = |end: usize| Tensor::arange(0..end as i32, &device);
    let later = count(keys).reshape([1, keys]).gt(count(rows).reshape([rows, 1]));
    let result = scores().masked_fill(&later, -1e9).softmax(-1).matmul(&value);
    drop(later);
    let stats = counted(&device, &result);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(queries)));
    assert_eq!(stats.bytes_read, f32s(queries + 2 * all_keys));
    // The first row attends to the first value only.
    let first = result.slice((0..1, 0..1, 0..1, ..)).to_vec::<f32>().unwrap();
    let expected = value.slice((0..1, 0..1, 0..1, ..)).to_vec::<f32>().unwrap();
    for (found, expected) in first.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }
    // The epilogue of the second GEMM fuses too.
    let result = scores().softmax(-1).matmul(&value).tanh();
    let stats = counted(&device, &result);
    assert_eq!((stats.launches, stats.bytes_written), (1, f32s(queries)));
}

#[test]
fn long_attention_allocates_no_memory_for_its_scores() {
    let device = device();
    let (rows, depth) = (2048, 16);
    let query = ramp([1, rows, depth], &device);
    let before = device.memory().peak;
    let result = query.matmul(&query.transpose()).softmax(-1).matmul(&query);
    result.wait().unwrap();
    // Only the result is allocated; the scores would be 16 MiB.
    let grown = device.memory().peak - before;
    assert!(grown < 1 << 20, "{grown} bytes");
}

#[test]
fn a_convolution_does_not_materialize_windows() {
    let device = device();
    let (examples, features, side, outputs) = (2, 8, 20, 12);
    let x = ramp([examples, features, side, side], &device);
    let kernel = ramp([outputs, features, 3, 3], &device);
    let bias = ramp([outputs], &device);
    let result = x.conv2d(&kernel, Some(&bias), ConvOptions::default().padding(1)).relu();
    let stats = counted(&device, &result);
    // Reads input, kernel and bias once each, and writes the result.
    assert_eq!(stats.launches, 1);
    assert_eq!(stats.bytes_written, f32s(examples * outputs * side * side));
    let read = examples * features * side * side + outputs * features * 9 + outputs;
    assert_eq!(stats.bytes_read, f32s(read));
    // The producer of the input fuses as a prologue.
    let result = (&x + 1.0).conv2d(&kernel, Some(&bias), ConvOptions::default().padding(1)).relu();
    let stats = counted(&device, &result);
    assert_eq!((stats.launches, stats.bytes_read), (1, f32s(read)));
}

#[test]
fn graph_traversal_visits_shared_nodes_once() {
    let device = device();
    let x = Tensor::ones::<f32>([1000], &device);
    x.wait().unwrap();
    // Each value is used twice: there are 2⁶⁰ paths from the last value to the first. A traversal that follows every path
    // does not terminate.
    let mut y = x.clone();
    for _ in 0..60 {
        y = &y + &y;
    }
    let total = y.sum_all();
    assert_eq!(total.item::<f32>().unwrap(), 1000.0 * 2f32.powi(60));
    // The intermediate value is still readable.
    assert_eq!(y.to_vec::<f32>().unwrap(), vec![2f32.powi(60); 1000]);
}
