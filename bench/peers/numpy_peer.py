"""The workloads in NumPy, as a user would write them. Temporaries are reused where NumPy makes that easy."""

import math

import numpy as np


def scale_shift(x):
    return x * np.float32(1.5) + np.float32(0.5)


def chain(x):
    y = x + np.float32(1.0)
    y *= np.float32(2.0)
    y -= np.float32(3.0)
    np.abs(y, out=y)
    y *= np.float32(0.5)
    y += x
    np.maximum(y, np.float32(0.1), out=y)
    np.minimum(y, np.float32(2.0), out=y)
    y *= np.float32(3.0)
    y -= np.float32(1.0)
    return y


def gelu(x):
    y = x * x
    y *= x
    y *= np.float32(0.044715)
    y += x
    y *= np.float32(math.sqrt(2.0 / math.pi))
    np.tanh(y, out=y)
    y += np.float32(1.0)
    y *= x
    y *= np.float32(0.5)
    return y


def softmax(x):
    y = x - x.max(axis=-1, keepdims=True)
    np.exp(y, out=y)
    y /= y.sum(axis=-1, keepdims=True)
    return y


def layer_norm(x, weight, bias):
    y = x - x.mean(axis=1, keepdims=True)
    variance = np.mean(y * y, axis=1, keepdims=True)
    y *= 1.0 / np.sqrt(variance + np.float32(1e-5))
    y *= weight
    y += bias
    return y


def rms_norm(x, weight):
    square = np.mean(x * x, axis=1, keepdims=True)
    y = x * (1.0 / np.sqrt(square + np.float32(1e-5)))
    y *= weight
    return y


def row_sum(x):
    return x.sum(axis=1)


def column_sum(x):
    return x.sum(axis=0)


def cross_entropy(logits, labels):
    largest = logits.max(axis=1, keepdims=True)
    logarithm = np.log(np.exp(logits - largest).sum(axis=1)) + largest[:, 0]
    picked = logits[np.arange(len(labels)), labels]
    return np.mean(logarithm - picked)


def scores(q, k):
    return np.matmul(q, k.swapaxes(2, 3)) * np.float32(1.0 / math.sqrt(q.shape[-1]))


def attention(q, k, v):
    return np.matmul(softmax(scores(q, k)), v)


def causal_attention(q, k, v):
    length = q.shape[2]
    seen = np.tri(length, dtype=bool)
    return np.matmul(softmax(np.where(seen, scores(q, k), np.float32(-np.inf))), v)


def matmul(a, b):
    return a @ b


def matmul_bias_gelu(x, weight, bias):
    return gelu(x @ weight + bias)


def mlp(x, weight1, bias1, weight2, bias2):
    hidden = np.maximum(x @ weight1 + bias1, np.float32(0.0))
    return hidden @ weight2 + bias2


def transpose_add(a, b):
    return a + b.T


def batched_transpose(x):
    return np.ascontiguousarray(x.swapaxes(1, 2))


def split_heads(x):
    return np.ascontiguousarray(x.transpose(0, 2, 1, 3))


def gather_rows(table, index):
    return table[index]


def adam(arrays):
    """A call that updates the parameters in place."""
    p, g, m, v = (arrays[part::4] for part in range(4))
    rate, beta1, beta2, epsilon = 1e-3, 0.9, 0.999, 1e-8
    step = 0

    def call():
        nonlocal step
        step += 1
        scale = np.float32(rate / (1.0 - beta1**step))
        correction = np.float32(1.0 / math.sqrt(1.0 - beta2**step))
        for parameter, gradient, mean, square in zip(p, g, m, v):
            mean *= np.float32(beta1)
            mean += np.float32(1.0 - beta1) * gradient
            square *= np.float32(beta2)
            square += np.float32(1.0 - beta2) * gradient * gradient
            root = np.sqrt(square)
            root *= correction
            root += np.float32(epsilon)
            parameter -= scale * mean / root
        return p + m + v

    return call


class Peer:
    def __init__(self, name, threads):
        pass

    def versions(self):
        return f"NumPy {np.__version__}"

    def call(self, work, arrays, read):
        # Results are in host memory already.
        if work == "adam":
            return adam(arrays)
        function = globals()[work]
        return lambda: function(*arrays)

    def to_numpy(self, result):
        results = result if isinstance(result, list) else [result]
        return [np.asarray(each) for each in results]

    def finish(self):
        pass
