"""Writes the programs of this folder: each as text in pretty form, in generic form, and as portable bytecode.

    pip install jax==0.10.2
    python make.py
"""

import os

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src.interpreters import mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

HERE = os.path.dirname(os.path.abspath(__file__))
f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
i32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.int32)


def convnet(x, k1, k2, w):
    layout = ("NHWC", "HWIO", "NHWC")
    x = lax.conv_general_dilated(x, k1, (2, 1), "SAME", dimension_numbers=layout)
    x = jax.nn.relu(x)
    x = lax.conv_general_dilated(
        x, k2, (1, 1), "VALID", rhs_dilation=(1, 2), feature_group_count=2, dimension_numbers=layout)
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME")
    return jax.nn.log_softmax(x.reshape(x.shape[0], -1) @ w)


def control(x, n):
    def step(carry):
        i, total, history = carry
        total = lax.cond(i % 2 == 0, lambda t: t + x.sum(), lambda t: t * 0.5, total)
        history = lax.dynamic_update_slice(history, total[None], (i,))
        return i + 1, total, history
    state = lax.while_loop(lambda c: c[0] < n, step, (0, jnp.float32(0), jnp.zeros(8, jnp.float32)))
    return state, lax.switch(n, [jnp.sin, jnp.cos, jnp.exp], x)


def indexing(x, i, y):
    a = x[i, :2]
    b = x.at[i].add(y, indices_are_sorted=True)
    c = jnp.take_along_axis(x, jnp.argsort(x, axis=1), axis=1)
    d = lax.dynamic_slice(x, (i[0], i[1]), (2, 2))
    return a, b, c, d, jnp.sort(x, axis=0), lax.cumsum(x, axis=1), jnp.argmax(x, axis=1)


def special(x):
    return (jax.scipy.special.gammaln(x), lax.erf_inv(x), jax.scipy.special.digamma(x), lax.erf(x), jnp.tan(x),
            jnp.arcsinh(x))


def linear(a, b):
    l = jnp.linalg.cholesky(a)
    s = lax.linalg.triangular_solve(l, b, left_side=True, lower=True, transpose_a=True)
    d = lax.dot_general(a[None], b[None], (((2,), (1,)), ((0,), (0,))), precision=lax.Precision.HIGHEST)
    return s, d, jnp.fft.rfft(a), jnp.fft.ifft(a + 1j * a)


def random(key):
    bits = lax.rng_bit_generator(key, (4,), jnp.uint32, algorithm=lax.RandomAlgorithm.RNG_THREE_FRY)
    return bits, jax.random.normal(jax.random.wrap_key_data(key[:2].astype(jnp.uint32)), (3,))


def types(x, p):
    big = np.arange(300) % 3 == 0
    y = jnp.where(big, 1.0, x.astype(jnp.float64)).astype(jnp.bfloat16)
    z = (x + 2j).astype(jnp.complex64) * np.array([1 + 1j], dtype=np.complex64)
    return y, z, lax.reduce_precision(x, 5, 10), lax.population_count(p), p.astype(jnp.uint8), ~p, lax.bitcast_convert_type(
        x, jnp.int32), np.array([True, False, True]), np.arange(40, dtype=np.int16), np.array([np.inf, np.nan, -0.0])


def polymorphic(x):
    return jnp.concatenate([x, x * 2], axis=0).sum(axis=0), x.reshape(-1), jnp.broadcast_to(x[:1], x.shape)


PROGRAMS = {
    "convnet": (convnet, [f32(2, 8, 8, 3), f32(3, 3, 3, 4), f32(3, 3, 2, 6), f32(12, 10)]),
    "control": (control, [f32(4), i32()]),
    "indexing": (indexing, [f32(5, 4), i32(3), f32(3, 4)]),
    "special": (special, [f32(4)]),
    "linear": (linear, [f32(4, 4), f32(4, 2)]),
    "random": (random, [jax.ShapeDtypeStruct((2,), jnp.uint64)]),
    "types": (types, [f32(300), i32(5)]),
}


def write(name, data):
    with open(os.path.join(HERE, name), "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def save(name, module):
    """`module` is text."""
    with mlir.make_ir_context():
        module = ir.Module.parse(module)
        write(f"{name}.mlir", str(module) + "\n")
        write(f"{name}.generic.mlir", module.operation.get_asm(print_generic_op_form=True) + "\n")
        # Serialization changes the module, so it comes last. CHLO has no portable artifacts; JAX lowers it on export.
        if "chlo." not in str(module):
            write(f"{name}.mlirbc", stablehlo.serialize_portable_artifact(module, "1.9.0"))


jax.config.update("jax_enable_x64", True)
for name, (function, arguments) in PROGRAMS.items():
    # Lowered for a TPU, so that factorizations are StableHLO operations instead of LAPACK custom calls.
    save(name, jax.jit(function).trace(*arguments).lower(lowering_platforms=("tpu",)).as_text())

rows, = jax.export.symbolic_shape("b")
exported = jax.export.export(jax.jit(polymorphic))(jax.ShapeDtypeStruct((rows, 3), jnp.float32))
save("polymorphic", exported.mlir_module())

# With source locations, as debug text has them.
write("located.mlir", jax.jit(lambda x: jnp.tanh(x).sum(), donate_argnums=0).lower(f32(3)).as_text(debug_info=True))
