"""Training of a perceptron in JAX, on made-up data.

    jax_train.py [--block N] [--warm-up N]

Which allocator JAX takes, and how much memory at once, is for the caller's environment to say. worker.py has the
protocol.
"""

import worker


def most_memory(jax):
    return (jax.devices()[0].memory_stats() or {}).get("peak_bytes_in_use", -1)


def main():
    options = worker.Parser(block=50).parse_args()
    jax = worker.framework("jax")
    if jax.default_backend() != "gpu":
        worker.skip("JAX sees no GPU")
    import perceptron

    state = perceptron.beginning()
    images, labels = perceptron.examples()

    def step():
        nonlocal state
        state = perceptron.train(state, images, labels)

    job = worker.Job(step, lambda: jax.block_until_ready(state), lambda: most_memory(jax))
    worker.serve(job, options.block, options.warm_up)


if __name__ == "__main__":
    main()
