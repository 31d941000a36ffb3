"""A perceptron of several layers in JAX, and a step of its training with Adam."""

import jax
import jax.numpy as jnp

SIZES = (784, 4096, 4096, 4096, 10)
BATCH = 1024
RATE = 1e-4
DECAY = 0.9, 0.999  # of the gradients' mean and of their squares' mean


def layer(key, inside, outside):
    return {"weights": jax.random.normal(key, (inside, outside)) * (2 / inside) ** 0.5, "bias": jnp.zeros(outside)}


def beginning():
    """Parameters, the two means of Adam, and the number of steps taken."""
    keys = jax.random.split(jax.random.key(0), len(SIZES) - 1)
    parameters = [layer(*sizes) for sizes in zip(keys, SIZES, SIZES[1:])]
    zeros = [jax.tree.map(jnp.zeros_like, parameters) for _ in DECAY]
    return parameters, *zeros, jnp.zeros(())


def examples():
    images, labels = jax.random.split(jax.random.key(1))
    return jax.random.normal(images, (BATCH, SIZES[0])), jax.random.randint(labels, (BATCH,), 0, SIZES[-1])


def loss(parameters, images, labels):
    *hidden, last = parameters
    x = images
    for one in hidden:
        x = jax.nn.relu(x @ one["weights"] + one["bias"])
    scores = jax.nn.log_softmax(x @ last["weights"] + last["bias"])
    return -jnp.mean(jnp.take_along_axis(scores, labels[:, None], 1))


@jax.jit
def train(state, images, labels):
    parameters, means, squares, steps = state
    gradients = jax.grad(loss)(parameters, images, labels)
    means = jax.tree.map(lambda m, g: DECAY[0] * m + (1 - DECAY[0]) * g, means, gradients)
    squares = jax.tree.map(lambda s, g: DECAY[1] * s + (1 - DECAY[1]) * g * g, squares, gradients)
    steps = steps + 1
    mean_part, square_part = (1 - decay**steps for decay in DECAY)

    def moved(p, m, s):
        return p - RATE * (m / mean_part) / (jnp.sqrt(s / square_part) + 1e-8)

    return jax.tree.map(moved, parameters, means, squares), means, squares, steps
