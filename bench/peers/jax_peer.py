"""The workloads in JAX, each one jitted function."""

import math
import os

import numpy as np


def scale_shift(x):
    return x * 1.5 + 0.5


def chain(x):
    y = jnp.abs((x + 1.0) * 2.0 - 3.0) * 0.5 + x
    return jnp.minimum(jnp.maximum(y, 0.1), 2.0) * 3.0 - 1.0


def gelu(x):
    return jax.nn.gelu(x, approximate=True)


def softmax(x):
    return jax.nn.softmax(x, axis=1)


def layer_norm(x, weight, bias):
    centered = x - x.mean(axis=1, keepdims=True)
    variance = jnp.mean(jnp.square(centered), axis=1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + 1e-5) * weight + bias


def rms_norm(x, weight):
    return x * jax.lax.rsqrt(jnp.mean(jnp.square(x), axis=1, keepdims=True) + 1e-5) * weight


def row_sum(x):
    return x.sum(axis=1)


def column_sum(x):
    return x.sum(axis=0)


def cross_entropy(logits, labels):
    picked = jnp.take_along_axis(logits, labels[:, None], axis=1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=1) - picked)


def scores(q, k):
    return jnp.matmul(q, k.swapaxes(2, 3)) * (1.0 / math.sqrt(q.shape[-1]))


def attention(q, k, v):
    return jnp.matmul(jax.nn.softmax(scores(q, k), axis=3), v)


def causal_attention(q, k, v):
    seen = jnp.tri(q.shape[2], dtype=bool)
    return jnp.matmul(jax.nn.softmax(jnp.where(seen, scores(q, k), -jnp.inf), axis=3), v)


def matmul(a, b):
    return a @ b


def matmul_bias_gelu(x, weight, bias):
    return gelu(x @ weight + bias)


def mlp(x, weight1, bias1, weight2, bias2):
    return jnp.maximum(x @ weight1 + bias1, 0.0) @ weight2 + bias2


def transpose_add(a, b):
    return a + b.T


def batched_transpose(x):
    return x.swapaxes(1, 2)


def split_heads(x):
    return x.transpose(0, 2, 1, 3)


def gather_rows(table, index):
    return jnp.take(table, index, axis=0, mode="clip")


def adam_step(p, g, m, v, scale, correction):
    m = [0.9 * mean + (1.0 - 0.9) * gradient for mean, gradient in zip(m, g)]
    v = [0.999 * square + (1.0 - 0.999) * gradient * gradient for square, gradient in zip(v, g)]
    p = [
        parameter - scale * mean / (jnp.sqrt(square) * correction + 1e-8)
        for parameter, mean, square in zip(p, m, v)
    ]
    return p, m, v


def adam(arrays):
    """A call that donates its old parameters, so that they are updated in place."""
    p, g, m, v = (arrays[part::4] for part in range(4))
    compiled = jax.jit(adam_step, donate_argnums=(0, 2, 3))
    step = 0

    def call():
        nonlocal step, p, m, v
        step += 1
        scale = np.float32(1e-3 / (1.0 - 0.9**step))
        correction = np.float32(1.0 / math.sqrt(1.0 - 0.999**step))
        p, m, v = jax.block_until_ready(compiled(p, g, m, v, scale, correction))
        return p + m + v

    return call


class Peer:
    def __init__(self, name, threads):
        global jax, jnp
        flags = [os.environ.get("XLA_FLAGS", "")]
        if threads == 1:
            flags.append("--xla_cpu_multi_thread_eigen=false")
        os.environ["XLA_FLAGS"] = " ".join(flags).strip()
        os.environ["JAX_PLATFORMS"] = "cpu"
        import jax
        import jax.numpy as jnp

    def versions(self):
        return f"JAX {jax.__version__}"

    def call(self, work, arrays, read):
        arrays = [jnp.asarray(array) for array in arrays]
        if work == "adam":
            return adam(arrays)
        compiled = jax.jit(globals()[work])
        if read:
            return lambda: np.asarray(compiled(*arrays))
        return lambda: compiled(*arrays).block_until_ready()

    def to_numpy(self, result):
        results = result if isinstance(result, list) else [result]
        return [np.asarray(each) for each in results]

    def finish(self):
        jax.clear_caches()
