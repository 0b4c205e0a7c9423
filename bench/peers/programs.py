"""Programs exported from JAX, executed by JAX and by inflight in the same run, on the CPU.

    bench/peers/setup
    cargo build --release -p inflight-cli
    bench/peers/.venv/bin/python bench/peers/programs.py [--inflight target/release/inflight] [--only NAME] [--rounds 5]

Each program is exported as StableHLO text. Both execute it on the same inputs, alternating, and wait for each call.
Outputs are compared before anything is timed. Prints a table for docs/benchmarks.md.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

import jax
import jax.numpy as jnp
import numpy


def layer_norm(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred / jnp.sqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


def mlp_loss(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return -jnp.take_along_axis(jax.nn.log_softmax(x @ w + b), y[:, None], 1).mean()


def adam(loss):
    """A training step of Adam for a loss of (params, x, y)."""

    def step(params, first, second, count, x, y):
        value, gradients = jax.value_and_grad(loss)(params, x, y)
        count = count + 1
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        scale1, scale2 = 1 - 0.9**count, 1 - 0.999**count
        params = jax.tree.map(
            lambda p, m, v: p - 1e-3 * (m / scale1) / (jnp.sqrt(v / scale2) + 1e-8),
            params, first, second)
        return params, first, second, count, value

    return step


def training(loss, params, x, y):
    zeros = jax.tree.map(jnp.zeros_like, params)
    return adam(loss), (params, zeros, zeros, jnp.float32(3), x, y)


def random(*shape, scale=1.0, seed=0):
    values = numpy.random.default_rng(seed + sum(shape)).standard_normal(shape) * scale
    return jnp.asarray(values, jnp.float32)


def mlp(batch):
    sizes = [784, 256, 128, 10]
    params = [(random(a, b, scale=a**-0.5), jnp.zeros(b)) for a, b in zip(sizes, sizes[1:])]
    labels = jnp.asarray(numpy.arange(batch) % 10, jnp.int32)
    return training(mlp_loss, params, random(batch, 784), labels)


def transformer(tokens=128, width=512, heads=8):
    weights = [random(width, 3 * width, scale=width**-0.5), random(width, width, scale=width**-0.5, seed=1),
               random(width, 4 * width, scale=width**-0.5, seed=2), random(4 * width, width, scale=width**-0.5 / 2)]

    def block(x, qkv, out, up, down):
        q, k, v = jnp.split(layer_norm(x) @ qkv, 3, axis=-1)
        q, k, v = (t.reshape(tokens, heads, -1).transpose(1, 0, 2) for t in (q, k, v))
        scores = q @ k.transpose(0, 2, 1) / jnp.sqrt(width / heads)
        scores = jnp.where(jnp.tril(jnp.ones((tokens, tokens), bool)), scores, -1e9)
        attended = (jax.nn.softmax(scores) @ v).transpose(1, 0, 2).reshape(tokens, width)
        x = x + attended @ out
        return x + jax.nn.gelu(layer_norm(x) @ up) @ down

    return block, (random(tokens, width), *weights)


def convnet(batch=32):
    def loss(params, x, y):
        (k1, k2), (w, b) = params
        for kernel in (k1, k2):
            x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))
            x = jax.lax.reduce_window(jax.nn.relu(x), -jnp.inf, jax.lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
        x = x.reshape(batch, -1) @ w + b
        return -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()

    params = ((random(16, 1, 3, 3, scale=0.3), random(32, 16, 3, 3, scale=0.1)),
              (random(32 * 7 * 7, 10, scale=0.02), jnp.zeros(10)))
    labels = jnp.asarray(numpy.arange(batch) % 10, jnp.int32)
    return training(loss, params, random(batch, 1, 28, 28), labels)


def tiny_steps(iterations=1000):
    def steps(x):
        return jax.lax.while_loop(lambda s: s[0] < iterations, lambda s: (s[0] + 1, jnp.sin(s[1]) * 0.5 + 0.1), (0, x))[1]

    return steps, (random(16),)


PROGRAMS = {
    "MLP training step, batch 32": lambda: mlp(32),
    "MLP training step, batch 1024": lambda: mlp(1024),
    "transformer block, T 128, D 512": transformer,
    "convnet training step, batch 32": convnet,
    "cumulative sums, 1024 × 1024": lambda: (lambda x: jnp.cumsum(x, axis=1), (random(1024, 1024),)),
    "sort of 1 Mi": lambda: (jnp.sort, (random(1 << 20),)),
    "1,000 tiny steps in a while": tiny_steps,
}


def measure_jax(function, inputs, calls):
    begun = time.perf_counter()
    compiled = jax.jit(function).lower(*inputs).compile()
    compile_time = time.perf_counter() - begun
    outputs = jax.block_until_ready(compiled(*inputs))

    def run():
        begun = time.perf_counter()
        for _ in range(calls):
            jax.block_until_ready(compiled(*inputs))
        return (time.perf_counter() - begun) / calls

    return compile_time, jax.tree.leaves(outputs), run


def run_inflight(command, program, inputs, calls, output=None):
    arguments = [command, "run", str(program), "--repeat", str(calls), "--sync", "--json"]
    for path in inputs:
        arguments += ["--input", str(path)]
    if output:
        arguments += ["--output", str(output)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"inflight run: {done.stderr}")
    return json.loads(done.stdout)


def compare(name, expected, folder):
    for number, value in enumerate(expected):
        value = numpy.asarray(value)
        ours = numpy.load(folder / f"out_{number:02}.npy")
        scale = max(float(numpy.abs(value).max()), 1e-6) if value.size else 1.0
        error = float(numpy.abs(ours.astype(numpy.float64) - value).max()) / scale if value.size else 0.0
        if ours.shape != value.shape or not error <= 1e-3:
            raise SystemExit(f"{name}: output {number} differs by {error} of its largest value")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--inflight", default="target/release/inflight")
    parser.add_argument("--only", default="")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    print(f"JAX {jax.__version__}, {jax.devices()[0].platform}; median of {options.rounds} alternating rounds\n")
    print("| program | inflight, ms | JAX, ms | JAX / inflight | compile: inflight, ms | JAX, ms |")
    print("|---|---|---|---|---|---|")
    for name, make in PROGRAMS.items():
        if options.only not in name:
            continue
        function, inputs = make()
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            program = folder / "program.mlir"
            program.write_text(jax.jit(function).lower(*inputs).as_text())
            paths = []
            for number, value in enumerate(jax.tree.leaves(inputs)):
                paths.append(folder / f"in_{number:02}.npy")
                numpy.save(paths[-1], numpy.asarray(value))
            compile_time, expected, run = measure_jax(function, inputs, 1)
            once = max(run(), 1e-6)
            calls = max(3, min(1000, int(0.3 / once)))
            _, _, run = measure_jax(function, inputs, calls)
            first = run_inflight(options.inflight, program, paths, 1, folder)
            compare(name, expected, folder)
            theirs, ours, compiles = [], [], [first["compile_seconds"]]
            for _ in range(options.rounds):
                theirs.append(run())
                result = run_inflight(options.inflight, program, paths, calls)
                ours.append(result["seconds"] / result["executions"])
                compiles.append(result["compile_seconds"])
            ours, theirs = statistics.median(ours), statistics.median(theirs)
            print(f"| {name} | {ours * 1e3:.3f} | {theirs * 1e3:.3f} | {theirs / ours:.2f} "
                  f"| {statistics.median(compiles) * 1e3:.1f} | {compile_time * 1e3:.0f} |", flush=True)


if __name__ == "__main__":
    main()
