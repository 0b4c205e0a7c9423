"""The rows of `cargo bench -p inflight --bench gpu`, by torch, torch.compile and JAX, on the same GPU.

Calls are queued back to back and timed together, as many as take a tenth of a second; the median of several rounds by
wall time, and for torch by events around them as well. Words on the command line choose the rows whose names have one of
them; `torch` and `jax` among them choose one of the two, `calls=30` says how many calls are timed together, and with
`equal` all numbers of an input are the same.

Inputs are the same bits as ours, and a row ends with two means of its result, which `compare.py` compares with ours: a
device's speed depends on the numbers that it multiplies.
"""

import statistics
import sys
import time

ROWS, COLUMNS, ROUNDS, ROUND_SECONDS = 16384, 4096, 7, 0.1


def report(peer, name, timings, units, unit, means):
    seconds, device, calls = timings
    on_device = f"{device * 1e3:9.3f} ms on the device, " if device else ""
    rate = f"{units / seconds / 1e9:9.0f} {unit}"
    means = " ".join(f"{mean:e}" for mean in means)
    print(f"{peer:14} {name:28} {seconds * 1e3:9.3f} ms {rate} {on_device}{calls} calls, means {means}", flush=True)


def noise_of(i, number=int, mask=lambda i: i):
    """24 pseudo-random bits for each index. The mask drops overflow beyond 32 bits."""
    i = mask((i ^ (i >> 16)) * number(0x85EBCA6B))
    i = mask((i ^ (i >> 13)) * number(0xC2B2AE35))
    return ((i ^ (i >> 16)) >> 8) if "equal" not in sys.argv else i * number(0) + number(3 << 22)


OTHERS = ("torch", "jax", "equal")
WORDS = [word for word in sys.argv[1:] if word not in OTHERS and not word.startswith("calls=")]
ASKED = [int(word.removeprefix("calls=")) for word in sys.argv[1:] if word.startswith("calls=")]


def chosen(rows):
    return [row for row in rows if not WORDS or any(word in row[0] for word in WORDS)]


def timed(call, wait, event=None):
    """Median wall time of a call, median device time if events are available, and the number of timed calls."""

    def round(calls):
        first, last = (event(), event()) if event else (None, None)
        start = time.perf_counter()
        if event:
            first.record()
        for _ in range(calls):
            result = call()
        if event:
            last.record()
        wait(result)
        wall = (time.perf_counter() - start) / calls
        return wall, first.elapsed_time(last) / 1e3 / calls if event else 0.0

    for _ in range(3):
        round(1)
    calls = ASKED[0] if ASKED else max(10, min(3000, int(ROUND_SECONDS / round(10)[0])))
    walls, devices = zip(*[round(calls) for _ in range(ROUNDS)])
    return statistics.median(walls), statistics.median(devices), calls


def with_torch():
    import torch
    import torch.nn.functional as F

    print("torch", torch.__version__)
    # Convolutions in full f32 precision, as ours (no TF32).
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    bits = (1 << 32) - 1

    def noise(which, *shape):
        count = 1
        for extent in shape:
            count *= extent
        places = (torch.arange(count, device="cuda") + (which << 27)) & bits
        return (noise_of(places, mask=lambda i: i & bits).float() / (1 << 23) - 1).reshape(shape)

    def means(result):
        flat = result.reshape(-1).float()
        weights = (torch.arange(flat.numel(), device="cuda") % 13).float()
        return flat.abs().mean().item(), (flat * weights).mean().item()

    x, y, square = noise(0, ROWS, COLUMNS), noise(1, ROWS, COLUMNS), noise(2, 8192, 8192)
    row = noise(3, COLUMNS)
    less, other_square = noise(2, 4096, 4096), square * 0.5
    a, b = square.bfloat16(), other_square.bfloat16()
    half, other_half = x.bfloat16(), y.bfloat16()
    bias = noise(4, 1, 8192).bfloat16()
    size = ROWS * COLUMNS * 4
    layer = 2 * 8192 * 4096 * 16384
    left, right = noise(0, 8192, 4096).bfloat16(), noise(1, 4096, 16384).bfloat16()
    wide = noise(2, 16384).bfloat16()
    million, many = noise(0, 1 << 20), noise(0, 1 << 26)

    def positive(*shape):
        x = noise(0, *shape)
        return (x + x.mT) / 2 + 2 * shape[-1] * torch.eye(shape[-1], device="cuda")

    small, large = positive(4096, 32, 32), positive(4096, 4096)

    def chain(x):
        return torch.clamp(((((x + 1.0) * 2.0 - 3.0).abs()) * 0.5 + x), 0.1, 2.0) * 3.0 - 1.0

    rows = [
        ("chain of 9 ops", chain, (x,), 2 * size, "GB/s"),
        ("gelu (tanh)", lambda x: F.gelu(x, approximate="tanh"), (x,), 2 * size, "GB/s"),
        ("softmax", lambda x: torch.softmax(x, 1), (x,), 2 * size, "GB/s"),
        ("layer norm", lambda x: F.layer_norm(x, (COLUMNS,)), (x,), 2 * size, "GB/s"),
        ("row sum", lambda x: x.sum(1), (x,), size, "GB/s"),
        ("column sum", lambda x: x.sum(0), (x,), size, "GB/s"),
        ("sum of all", lambda x: x.sum(), (x,), size, "GB/s"),
        ("x + y", lambda x, y: x + y, (x, y), 3 * size, "GB/s"),
        ("transpose + add", lambda x: x.t() + x, (square,), 2 * 8192 * 8192 * 4, "GB/s"),
        ("x * row", lambda x, r: x * r, (x, row), 2 * size, "GB/s"),
        ("bf16 gelu (tanh)", lambda x: F.gelu(x, approximate="tanh"), (half,), size, "GB/s"),
        ("bf16 softmax", lambda x: torch.softmax(x, 1), (half,), size, "GB/s"),
        ("bf16 layer norm", lambda x: F.layer_norm(x, (COLUMNS,)), (half,), size, "GB/s"),
        ("bf16 row sum", lambda x: x.sum(1), (half,), size // 2, "GB/s"),
        ("bf16 column sum", lambda x: x.sum(0), (half,), size // 2, "GB/s"),
        ("bf16 x + y", lambda x, y: x + y, (half, other_half), 3 * size // 2, "GB/s"),
        ("bf16 transpose + add", lambda x: x.t() + x, (a,), 2 * 8192 * 8192 * 2, "GB/s"),
        ("bf16 matmul 8192", lambda a, b: a @ b, (a, b), 2 * 8192**3, "GFLOP/s"),
        (
            "bf16 matmul + bias + gelu",
            lambda a, b, c: F.gelu(a @ b + c, approximate="tanh"),
            (a, b, bias),
            2 * 8192**3,
            "GFLOP/s",
        ),
        *[
            (f"{numbers} {work}", f, arguments, 2 * side**3, "GFLOP/s")
            for numbers in ["f32", "tf32"]
            for work, f, arguments, side in [
                ("matmul 4096", lambda a, b: a @ b, (less, less * 0.5), 4096),
                ("matmul 8192", lambda a, b: a @ b, (square, other_square), 8192),
                (
                    "matmul + bias + relu",
                    lambda a, b, c: F.relu(a @ b + c),
                    (square, other_square, noise(4, 1, 8192)),
                    8192,
                ),
            ]
        ],
        ("bf16 layer, GEMM alone", lambda a, b: a @ b, (left, right), layer, "GFLOP/s"),
        (
            "bf16 layer + bias + gelu",
            lambda a, b, c: F.gelu(torch.addmm(c, a, b), approximate="tanh"),
            (left, right, wide),
            layer,
            "GFLOP/s",
        ),
        *[
            (
                f"{name} conv 3x3, {features} of {size}x{size}",
                lambda x, w: F.conv2d(x, w, padding=1),
                (
                    noise(0, 64, features, size, size).to(dtype),
                    noise(1, features, features, 3, 3).to(dtype),
                ),
                2 * 64 * size**2 * features**2 * 9,
                "GFLOP/s",
            )
            for size, features in [(56, 64), (14, 256)]
            for name, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16)]
        ],
        ("sort 1 Mi floats", lambda x: torch.sort(x)[0], (million,), 1 << 20, "G/s"),
        ("argsort 1 Mi floats", lambda x: torch.sort(x, stable=True)[1], (million,), 1 << 20, "G/s"),
        ("sort 64 Mi floats", lambda x: torch.sort(x)[0], (many,), 1 << 26, "G/s"),
        ("sort rows of 4096", lambda x: torch.sort(x, dim=1)[0], (many.reshape(ROWS, COLUMNS),), 1 << 26, "G/s"),
        ("top 8 of rows of 4096", lambda x: torch.topk(x, 8)[0], (many.reshape(ROWS, COLUMNS),), 1 << 26, "G/s"),
        ("cholesky 4096 of 32 x 32", torch.linalg.cholesky, (small,), 4096 * 32 * 32, "G/s"),
        ("cholesky 4096 x 4096", torch.linalg.cholesky, (large,), 4096**3 // 3, "GFLOP/s"),
    ]
    wait = lambda _: torch.cuda.synchronize()
    event = lambda: torch.cuda.Event(enable_timing=True)
    for name, f, arguments, units, unit in chosen(rows):
        torch.backends.cuda.matmul.allow_tf32 = name.startswith("tf32")
        timings = timed(lambda: f(*arguments), wait, event)
        report("torch", name, timings, units, unit, means(f(*arguments)))
    # Rows before the convolutions and routines.
    last = [name for name, *_ in rows].index("bf16 layer + bias + gelu")
    for name, f, arguments, units, unit in chosen(rows[: last + 1]):
        torch.backends.cuda.matmul.allow_tf32 = name.startswith("tf32")
        compiled = torch.compile(f)
        timings = timed(lambda: compiled(*arguments), wait, event)
        report("torch.compile", name, timings, units, unit, means(compiled(*arguments)))
    if WORDS:
        return
    rounds = []
    for _ in range(ROUNDS):
        z = torch.zeros(1024, device="cuda")
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(1000):
            z = z + 1.0
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - start) / 1000)
    print(f"{'torch':14} {'1000 dependent small adds':28} {statistics.median(rounds) * 1e6:9.2f} us")


def with_jax():
    import jax
    import jax.numpy as jnp

    print("jax", jax.__version__)

    def noise(which, *shape):
        count = 1
        for extent in shape:
            count *= extent
        places = jnp.arange(count, dtype=jnp.uint32) + jnp.uint32((which << 27) & 0xFFFFFFFF)
        return (noise_of(places, number=jnp.uint32).astype(jnp.float32) / (1 << 23) - 1).reshape(shape)

    @jax.jit
    def means(result):
        flat = result.reshape(-1).astype(jnp.float32)
        weights = (jnp.arange(flat.size) % 13).astype(jnp.float32)
        return jnp.abs(flat).mean(), (flat * weights).mean()

    x, y, square = noise(0, ROWS, COLUMNS), noise(1, ROWS, COLUMNS), noise(2, 8192, 8192)
    row = noise(3, COLUMNS)
    less, other_square = noise(2, 4096, 4096), square * 0.5
    a, b = square.astype(jnp.bfloat16), other_square.astype(jnp.bfloat16)
    half, other_half = x.astype(jnp.bfloat16), y.astype(jnp.bfloat16)
    bias = noise(4, 1, 8192).astype(jnp.bfloat16)
    size = ROWS * COLUMNS * 4

    layer = 2 * 8192 * 4096 * 16384
    left, right = noise(0, 8192, 4096).astype(jnp.bfloat16), noise(1, 4096, 16384).astype(jnp.bfloat16)
    wide = noise(2, 16384).astype(jnp.bfloat16)
    million = noise(0, 1 << 20)

    def positive(*shape):
        x = noise(0, *shape)
        return (x + jnp.swapaxes(x, -1, -2)) / 2 + 2 * shape[-1] * jnp.eye(shape[-1])

    small, large = positive(4096, 32, 32), positive(4096, 4096)

    def product(precision):
        return lambda a, b: jnp.matmul(a, b, precision=precision)

    def norm(x):
        mean = x.mean(1, keepdims=True)
        variance = ((x - mean) ** 2).mean(1, keepdims=True)
        return (x - mean) * jax.lax.rsqrt(variance + 1e-5)

    def chain(x):
        return jnp.clip(jnp.abs((x + 1.0) * 2.0 - 3.0) * 0.5 + x, 0.1, 2.0) * 3.0 - 1.0

    rows = [
        ("chain of 9 ops", chain, (x,), 2 * size, "GB/s"),
        ("gelu (tanh)", lambda x: jax.nn.gelu(x, approximate=True), (x,), 2 * size, "GB/s"),
        ("softmax", lambda x: jax.nn.softmax(x, 1), (x,), 2 * size, "GB/s"),
        ("layer norm", norm, (x,), 2 * size, "GB/s"),
        ("row sum", lambda x: x.sum(1), (x,), size, "GB/s"),
        ("column sum", lambda x: x.sum(0), (x,), size, "GB/s"),
        ("sum of all", lambda x: x.sum(), (x,), size, "GB/s"),
        ("x + y", lambda x, y: x + y, (x, y), 3 * size, "GB/s"),
        ("transpose + add", lambda x: x.T + x, (square,), 2 * 8192 * 8192 * 4, "GB/s"),
        ("x * row", lambda x, r: x * r, (x, row), 2 * size, "GB/s"),
        ("bf16 gelu (tanh)", lambda x: jax.nn.gelu(x, approximate=True), (half,), size, "GB/s"),
        ("bf16 softmax", lambda x: jax.nn.softmax(x, 1), (half,), size, "GB/s"),
        ("bf16 layer norm", norm, (half,), size, "GB/s"),
        ("bf16 row sum", lambda x: x.sum(1), (half,), size // 2, "GB/s"),
        ("bf16 column sum", lambda x: x.sum(0), (half,), size // 2, "GB/s"),
        ("bf16 x + y", lambda x, y: x + y, (half, other_half), 3 * size // 2, "GB/s"),
        ("bf16 transpose + add", lambda x: x.T + x, (a,), 2 * 8192 * 8192 * 2, "GB/s"),
        ("bf16 matmul 8192", lambda a, b: a @ b, (a, b), 2 * 8192**3, "GFLOP/s"),
        (
            "bf16 matmul + bias + gelu",
            lambda a, b, c: jax.nn.gelu(a @ b + c, approximate=True),
            (a, b, bias),
            2 * 8192**3,
            "GFLOP/s",
        ),
        *[
            (f"{numbers} {work}", f, arguments, 2 * side**3, "GFLOP/s")
            for numbers, product in [("f32", product("highest")), ("tf32", product("tensorfloat32"))]
            for work, f, arguments, side in [
                ("matmul 4096", product, (less, less * 0.5), 4096),
                ("matmul 8192", product, (square, other_square), 8192),
                (
                    "matmul + bias + relu",
                    lambda a, b, c, product=product: jax.nn.relu(product(a, b) + c),
                    (square, other_square, noise(4, 1, 8192)),
                    8192,
                ),
            ]
        ],
        ("bf16 layer, GEMM alone", lambda a, b: a @ b, (left, right), layer, "GFLOP/s"),
        (
            "bf16 layer + bias + gelu",
            lambda a, b, c: jax.nn.gelu(a @ b + c, approximate=True),
            (left, right, wide),
            layer,
            "GFLOP/s",
        ),
        *[
            (
                f"{name} conv 3x3, {features} of {size}x{size}",
                lambda x, w: jax.lax.conv(x, w, (1, 1), "SAME", precision="highest"),
                (
                    noise(0, 64, features, size, size).astype(dtype),
                    noise(1, features, features, 3, 3).astype(dtype),
                ),
                2 * 64 * size**2 * features**2 * 9,
                "GFLOP/s",
            )
            for size, features in [(56, 64), (14, 256)]
            for name, dtype in [("f32", jnp.float32), ("bf16", jnp.bfloat16)]
        ],
        ("sort 1 Mi floats", jnp.sort, (million,), 1 << 20, "G/s"),
        ("argsort 1 Mi floats", jnp.argsort, (million,), 1 << 20, "G/s"),
        ("sort rows of 4096", lambda x: jnp.sort(x, axis=1), (x,), 1 << 26, "G/s"),
        ("top 8 of rows of 4096", lambda x: jax.lax.top_k(x, 8)[0], (x,), 1 << 26, "G/s"),
        ("cholesky 4096 of 32 x 32", jnp.linalg.cholesky, (small,), 4096 * 32 * 32, "G/s"),
        ("cholesky 4096 x 4096", jnp.linalg.cholesky, (large,), 4096**3 // 3, "GFLOP/s"),
    ]
    for name, f, arguments, units, unit in chosen(rows):
        compiled = jax.jit(f)
        wait = lambda result: result.block_until_ready()
        timings = timed(lambda: compiled(*arguments), wait)
        report("jax", name, timings, units, unit, means(compiled(*arguments)))
    for name, sides in chosen(STEPS):
        jax_step(jax, jnp, noise, name, sides)


# Programs, and the layers of the MLP that each trains.
STEPS = [
    ("mlp_adam_step_4096.mlir", [4096, 4096, 4096, 4096]),
    ("mlp_adam_step_784_4096_10.mlir", [784, 4096, 4096, 4096, 10]),
]


def jax_step(jax, jnp, noise, name, sides):
    """Runs the named program from the same initial values, as often as the bench does."""
    from programs import adam, mlp_loss

    def start(position, *shape):
        return noise(position, *shape) * (0.02 if len(shape) == 2 else 0.5)

    weights = [
        (start(2 * layer, a, b), start(2 * layer + 1, b)) for layer, (a, b) in enumerate(zip(sides, sides[1:]))
    ]
    # Parameters, and two moments of each.
    fed = 6 * len(weights)
    state = weights, jax.tree.map(jnp.zeros_like, weights), jax.tree.map(jnp.zeros_like, weights), start(fed)
    x, labels = start(fed + 1, 1024, sides[0]), jnp.arange(1024, dtype=jnp.int32) % 10
    step = jax.jit(adam(mlp_loss), donate_argnums=(0, 1, 2))

    def steps(state, count):
        for _ in range(count):
            *state, loss = step(*state, x, labels)
        loss.block_until_ready()
        return state, loss

    losses = []
    for _ in range(5):
        state, loss = steps(state, 1)
        losses.append(abs(float(loss)))
    rounds = []
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        state, _ = steps(state, 30)
        rounds.append((time.perf_counter() - begun) / 30)
    # The losses of the first steps are compared.
    print(f"{'jax':14} {name:28} {statistics.median(rounds) * 1e3:9.3f} ms a step, means {losses[0]:e} {losses[2]:e}")


peers = {"torch": with_torch, "jax": with_jax}
for peer in [peers[name] for name in peers if name in sys.argv[1:]] or peers.values():
    try:
        peer()
    except Exception as error:
        print(f"{peer.__name__}: {type(error).__name__}: {error}")
