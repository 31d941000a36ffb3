"""Inference with a decoder of Llama's shape, in bfloat16.

    llama.py prefill|decode|decode-graph [--block N] [--blocks N] [--warm-up N]

An iteration of prefill reads prompts of 1024 tokens, a batch of 4; one of decode adds a token to each sequence of a
batch of 8; decode-graph does so at the last position, by a CUDA graph. job.py says what it prints.
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
    return lambda: model(prompts, 0)


def decode(torch, model, positions, batch):
    tokens = torch.zeros(batch, 1, dtype=torch.int64)
    position = itertools.cycle(range(PROMPT, positions))

    def step():
        nonlocal tokens
        tokens = model(tokens, next(position))

    return step


def decode_graph(torch, model, positions, batch):
    tokens = torch.zeros(batch, 1, dtype=torch.int64)
    stream, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        model(tokens, positions - 1)
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        tokens.copy_(model(tokens, positions - 1))
    return graph.replay


WORK = {"prefill": (prefill, 4), "decode": (decode, 8), "decode-graph": (decode_graph, 8)}


def main():
    options = arguments()
    torch = job.pytorch()
    import decoder

    torch.manual_seed(0)
    begin, batch = WORK[options.phase]
    tokens = decoder.POSITIONS if begin is prefill else 1
    with torch.device("cuda"):
        model = decoder.Decoder(batch)
    with torch.inference_mode(), decoder.attention():
        with torch.device("cuda"):
            step = begin(torch, model, decoder.POSITIONS, batch)
        job.run_torch(torch, step, options, tokens=batch * tokens, each=tokens == 1)


if __name__ == "__main__":
    main()
