"""Inference with a decoder of Llama's shape, in bfloat16.

    llama.py prefill|decode [--block N] [--blocks N] [--warm-up N]

An iteration of prefill reads prompts of 1024 tokens, a batch of 4; one of decode adds a token to each sequence of a
batch of 8. job.py says what it prints.
"""

import itertools

import job

PROMPT = 512  # where decoding begins; at the last position of the cache it begins anew


def arguments():
    parser = job.Parser(block=20)
    parser.add_argument("phase", metavar="PHASE", choices=WORK, help=" or ".join(WORK))
    return parser.parse_args()


def prefill(torch, model, positions, batch):
    prompts = torch.randint(model.embedding.num_embeddings, (batch, positions))
    return lambda: model(prompts, 0), prompts.numel()


def decode(torch, model, positions, batch):
    tokens = torch.zeros(batch, 1, dtype=torch.int64)
    position = itertools.cycle(range(PROMPT, positions))

    def step():
        nonlocal tokens
        tokens = model(tokens, next(position))

    return step, batch


WORK = {"prefill": (prefill, 4), "decode": (decode, 8)}


def main():
    options = arguments()
    torch = job.pytorch()
    import decoder

    torch.manual_seed(0)
    begin, batch = WORK[options.phase]
    with torch.device("cuda"):
        step, tokens = begin(torch, decoder.Decoder(batch), decoder.POSITIONS, batch)
    with torch.inference_mode(), decoder.attention():
        job.run_torch(torch, step, options, tokens)


if __name__ == "__main__":
    main()
