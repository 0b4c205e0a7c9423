"""Exports the programs that train on handwritten digits: a step of Adam, and the prediction.

    python -m venv venv && venv/bin/pip install jax
    venv/bin/python bench/peers/export_digits.py programs
"""

import pathlib
import sys

import jax
import jax.numpy as jnp

PIXELS, HIDDEN, CLASSES, BATCH, TEST = 64, 128, 10, 64, 359


def logits(params, images):
    (w1, b1), (w2, b2) = params
    return jax.nn.relu(images @ w1 + b1) @ w2 + b2


def loss(params, images, labels):
    chosen = jnp.take_along_axis(jax.nn.log_softmax(logits(params, images)), labels[:, None], 1)
    return -chosen.mean()


def step(params, first, second, count, images, labels):
    """One step of Adam. The parameters, their moments and the count are donated."""
    value, gradients = jax.value_and_grad(loss)(params, images, labels)
    count = count + 1
    rate, decay1, decay2, epsilon = 1e-3, 0.9, 0.999, 1e-8
    first = jax.tree.map(lambda m, g: decay1 * m + (1 - decay1) * g, first, gradients)
    second = jax.tree.map(lambda v, g: decay2 * v + (1 - decay2) * g * g, second, gradients)
    scale1 = 1 - decay1 ** count.astype(jnp.float32)
    scale2 = 1 - decay2 ** count.astype(jnp.float32)
    params = jax.tree.map(
        lambda p, m, v: p - rate * (m / scale1) / (jnp.sqrt(v / scale2) + epsilon),
        params, first, second)
    return params, first, second, count, value


def predict(params, images):
    return jnp.argmax(logits(params, images), axis=1)


def main(folder):
    f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
    i32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.int32)
    params = ((f32(PIXELS, HIDDEN), f32(HIDDEN)), (f32(HIDDEN, CLASSES), f32(CLASSES)))
    lowered = jax.jit(step, donate_argnums=(0, 1, 2, 3)).lower(
        params, params, params, i32(), f32(BATCH, PIXELS), i32(BATCH))
    (folder / "digits_step.mlir").write_text(lowered.as_text())
    lowered = jax.jit(predict).lower(params, f32(TEST, PIXELS))
    (folder / "digits_predict.mlir").write_text(lowered.as_text())


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
