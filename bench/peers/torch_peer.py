"""The workloads in PyTorch: eager, with PyTorch's own fused functions where it has them, and under torch.compile."""

import os

os.environ["CUDA_VISIBLE_DEVICES"] = ""

import torch
import torch.nn.functional as F


def scale_shift(x):
    return x * 1.5 + 0.5


def chain(x):
    y = torch.abs((x + 1.0) * 2.0 - 3.0) * 0.5 + x
    return torch.clamp_max(torch.clamp_min(y, 0.1), 2.0) * 3.0 - 1.0


def gelu(x):
    return F.gelu(x, approximate="tanh")


def softmax(x):
    return F.softmax(x, dim=1)


def layer_norm(x, weight, bias):
    return F.layer_norm(x, weight.shape, weight, bias, 1e-5)


def rms_norm(x, weight):
    return F.rms_norm(x, weight.shape, weight, 1e-5)


def row_sum(x):
    return x.sum(dim=1)


def column_sum(x):
    return x.sum(dim=0)


def cross_entropy(logits, labels):
    return F.cross_entropy(logits, labels)


def attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def matmul(a, b):
    return a @ b


def matmul_bias_gelu(x, weight, bias):
    return F.gelu(torch.addmm(bias, x, weight), approximate="tanh")


def mlp(x, weight1, bias1, weight2, bias2):
    return torch.addmm(bias2, F.relu(torch.addmm(bias1, x, weight1)), weight2)


def transpose_add(a, b):
    return a + b.T


def batched_transpose(x):
    return x.transpose(1, 2).contiguous()


def split_heads(x):
    return x.permute(0, 2, 1, 3).contiguous()


def gather_rows(table, index):
    return F.embedding(index, table)


def optimizer(parameters, gradients, means, squares, **options):
    """Adam with a given state, before its first step."""
    for parameter, gradient in zip(parameters, gradients):
        parameter.grad = gradient
    adam = torch.optim.Adam(parameters, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, **options)
    for parameter, mean, square in zip(parameters, means, squares):
        adam.state[parameter] = {"step": torch.tensor(0.0), "exp_avg": mean, "exp_avg_sq": square}
    return adam


def adam(arrays, compiled):
    """A call that updates the parameters in place."""
    p, g, m, v = (arrays[part::4] for part in range(4))
    # Eager mode uses PyTorch's fused kernel; torch.compile gets the individual ops.
    steps = optimizer(p, g, m, v, **({"capturable": False} if compiled else {"fused": True}))
    step = torch.compile(steps.step) if compiled else steps.step

    def call():
        step()
        return p + m + v

    return call


class Peer:
    def __init__(self, name, threads):
        self.compiled = name == "torch.compile"
        torch.set_num_threads(threads)
        torch.set_num_interop_threads(1)
        torch.set_grad_enabled(False)

    def versions(self):
        return f"PyTorch {torch.__version__}"

    def call(self, work, arrays, read):
        tensors = [torch.from_numpy(array) for array in arrays]
        if work == "adam":
            return adam(tensors, self.compiled)
        if work == "cross_entropy":
            # PyTorch accepts 64-bit labels only.
            tensors[1] = tensors[1].long()
        function = globals()[work]
        if self.compiled:
            function = torch.compile(function, fullgraph=True, dynamic=False)
        if read:
            return lambda: function(*tensors).numpy()
        return lambda: function(*tensors)

    def to_numpy(self, result):
        results = result if isinstance(result, list) else [result]
        return [torch.as_tensor(each).numpy() for each in results]

    def finish(self):
        torch.compiler.reset()
