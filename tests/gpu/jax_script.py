# guarded: no
# limit: 150
# env: XLA_PYTHON_CLIENT_MEM_FRACTION=.05 XLA_FLAGS=--xla_gpu_autotune_level=0
"""Steps of a small network in JAX, whose default pool is one piece of virtual memory that GMOD lets pass.

Autotuning is off: it picks kernels by their speed of the day, and the last digits of the losses with them (seen in one of
six runs without GMOD).
"""

from frameworks import needs_jax

jax = needs_jax()

import jax.numpy as jnp

SIZES = (101, 257, 33, 1)


def init(key):
    keys = jax.random.split(key, len(SIZES) - 1)
    return [jax.random.normal(k, (m, n)) / m**0.5 for k, m, n in zip(keys, SIZES, SIZES[1:])]


def loss(params, x):
    y = x
    for w in params:
        y = jnp.tanh(y @ w)
    return jnp.mean((y - 0.25) ** 2)


@jax.jit
def step(params, x):
    value, grads = jax.value_and_grad(loss)(params, x)
    return value, [p - 0.1 * g for p, g in zip(params, grads)]


params = init(jax.random.key(0))
x = jax.random.normal(jax.random.key(1), (50, SIZES[0]))
for i in range(30):
    value, params = step(params, x)
    if i % 5 == 0:
        print(f"step {i}: loss {float(value):.6f}")
