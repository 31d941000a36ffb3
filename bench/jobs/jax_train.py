"""Training of a perceptron in JAX, on made-up data.

    jax_train.py [--block N] [--blocks N] [--warm-up N]

Which allocator JAX takes, and how much memory at once, is for the caller's environment to say. job.py has the
protocol.
"""

import job


def most_memory(jax):
    return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


def main():
    options = job.Parser(block=50).parse_args()
    jax = job.framework("jax")
    if jax.default_backend() != "gpu":
        job.skip("JAX sees no GPU")
    import perceptron

    pad = jax.numpy.zeros(job.pad_bytes(), jax.numpy.uint8)
    state = perceptron.beginning()
    images, labels = perceptron.examples()

    def step():
        nonlocal state
        state = perceptron.train(state, images, labels)

    job.run(job.Job(step, lambda: jax.block_until_ready(state), lambda: most_memory(jax)), options)


if __name__ == "__main__":
    main()
