"""A decoder of Llama's shape with random weights: grouped queries, rotary positions, SwiGLU, RMS norms, a KV cache."""

import torch
from torch import nn
from torch.nn import functional
from torch.nn.attention import SDPBackend, sdpa_kernel

LAYERS = 16
WIDTH = 2048
HEADS = 16
KV_HEADS = 8
HEAD = WIDTH // HEADS
INNER = 5632
VOCABULARY = 32000
POSITIONS = 1024
TYPE = torch.bfloat16


def attention():
    """The kernels that attention may take: not cuDNN's, which are planned anew for each length of the cache."""
    return sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


def linear(inside, outside):
    return nn.Linear(inside, outside, bias=False, dtype=TYPE)


def norm():
    return nn.RMSNorm(WIDTH, eps=1e-5, dtype=TYPE)


def rotations():
    """Cosines and sines: a row for each position, the same for all heads."""
    frequencies = 10000.0 ** (-torch.arange(0, HEAD, 2) / HEAD)
    angles = torch.outer(torch.arange(POSITIONS), frequencies).unsqueeze(1)
    return angles.cos().to(TYPE), angles.sin().to(TYPE)


def rotate(x, cos, sin):
    first, second = x.chunk(2, -1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), -1)


class Attention(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.query = linear(WIDTH, HEADS * HEAD)
        self.key = linear(WIDTH, KV_HEADS * HEAD)
        self.value = linear(WIDTH, KV_HEADS * HEAD)
        self.output = linear(HEADS * HEAD, WIDTH)
        # As if all positions had been seen: a decoder that is measured starts in the middle.
        self.keys = torch.randn(batch, POSITIONS, KV_HEADS, HEAD, dtype=TYPE)
        self.values = torch.randn(batch, POSITIONS, KV_HEADS, HEAD, dtype=TYPE)

    def forward(self, x, cos, sin, start):
        batch, tokens, _ = x.shape
        end = start + tokens
        query = rotate(self.query(x).view(batch, tokens, HEADS, HEAD), cos, sin)
        self.keys[:, start:end] = rotate(self.key(x).view(batch, tokens, KV_HEADS, HEAD), cos, sin)
        self.values[:, start:end] = self.value(x).view(batch, tokens, KV_HEADS, HEAD)
        mixed = functional.scaled_dot_product_attention(
            query.transpose(1, 2),
            self.keys[:, :end].transpose(1, 2),
            self.values[:, :end].transpose(1, 2),
            is_causal=tokens > 1,
            enable_gqa=True,
        )
        return self.output(mixed.transpose(1, 2).reshape(batch, tokens, HEADS * HEAD))


class Swiglu(nn.Module):
    def __init__(self):
        super().__init__()
        self.gate = linear(WIDTH, INNER)
        self.up = linear(WIDTH, INNER)
        self.down = linear(INNER, WIDTH)

    def forward(self, x):
        return self.down(functional.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.attention_norm = norm()
        self.attention = Attention(batch)
        self.inner_norm = norm()
        self.inner = Swiglu()

    def forward(self, x, cos, sin, start):
        x = x + self.attention(self.attention_norm(x), cos, sin, start)
        return x + self.inner(self.inner_norm(x))


class Decoder(nn.Module):
    def __init__(self, batch):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, dtype=TYPE)
        self.layers = nn.ModuleList(Layer(batch) for _ in range(LAYERS))
        self.norm = norm()
        self.head = linear(WIDTH, VOCABULARY)
        self.cos, self.sin = rotations()

    def forward(self, tokens, start):
        """The token after the last, for tokens at positions from START on: one token, or more where START is 0."""
        end = start + tokens.shape[1]
        cos, sin = self.cos[start:end], self.sin[start:end]
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, cos, sin, start)
        return self.head(self.norm(x[:, -1:])).argmax(-1)
