"""The seed's pipeline in JAX, for `cargo bench -p inflight --bench pipeline`.

    python pipeline.py STEPS PREPARATION_MS EXTENT ROUNDS

Each step prepares a batch on the host for PREPARATION_MS, multiplies it by a matrix of EXTENT rows and columns,
and logs a loss. Prints {"versions": TEXT, "ways": {NAME: MS A STEP, ...}, "sums": {NAME: SUM OF LOSSES}}, where
the milliseconds are the medians of ROUNDS runs.
"""

import json
import os
import queue
import statistics
import sys
import threading
import time

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

STEPS, MILLISECONDS, EXTENT, ROUNDS = (int(argument) for argument in sys.argv[1:5])
ELEMENTS = EXTENT * EXTENT


@jax.jit
def forward(x, weights):
    return jnp.mean(jnp.square(jnp.tanh(x @ weights)))


def prepare(step):
    """Keeps a core busy with preparing a batch, without holding the GIL."""
    end = time.perf_counter() + MILLISECONDS / 1e3
    batch = ((np.arange(ELEMENTS, dtype=np.int32) + step) % 7).astype(np.float32) * np.float32(0.01)
    busy = np.ones(1 << 14, dtype=np.float32)
    while time.perf_counter() < end:
        np.multiply(busy, np.float32(0.999), out=busy)
    return batch.reshape(EXTENT, EXTENT)


def sync(weights):
    return sum(float(forward(jnp.asarray(prepare(step)), weights)) for step in range(STEPS))


def log_previous(weights):
    total, previous = 0.0, None
    for step in range(STEPS):
        loss = forward(jnp.asarray(prepare(step)), weights)
        if previous is not None:
            total += float(previous)
        previous = loss
    return total + float(previous)


def loader(weights):
    batches = queue.Queue(maxsize=2)

    def load():
        for step in range(STEPS):
            batches.put(prepare(step))

    thread = threading.Thread(target=load)
    thread.start()
    total = sum(float(forward(jnp.asarray(batches.get()), weights)) for _ in range(STEPS))
    thread.join()
    return total


WAYS = {"sync": sync, "log the previous step": log_previous, "loader thread": loader}


def main():
    # Same values as in the bench, so that the sums can be compared.
    positions = np.arange(ELEMENTS, dtype=np.int64).reshape(EXTENT, EXTENT)
    weights = jnp.asarray((positions * 37 % 101).astype(np.float32) * np.float32(0.001))
    sums = {name: way(weights) for name, way in WAYS.items()}
    times = {name: [] for name in WAYS}
    for _ in range(ROUNDS):
        for name, way in WAYS.items():
            begun = time.perf_counter()
            way(weights)
            times[name].append((time.perf_counter() - begun) / STEPS * 1e3)
    ways = {name: statistics.median(each) for name, each in times.items()}
    print(json.dumps({"versions": f"JAX {jax.__version__}", "ways": ways, "sums": sums}))


if __name__ == "__main__":
    main()
