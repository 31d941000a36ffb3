"""Networks of PyTorch's layers, built from the tables of tables.py."""

import torch
from torch import nn


class Sum(nn.Module):
    def __init__(self, main, short):
        super().__init__()
        self.main = main
        self.short = short

    def forward(self, x):
        return self.main(x) + self.short(x)


class Concat(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        return torch.cat([branch(x) for branch in self.branches], 1)


class Auxiliary(nn.Sequential):
    pass


class Network(nn.Module):
    def __init__(self, layers):
        super().__init__()
        self.layers = nn.ModuleList(build(layer) for layer in layers)

    def forward(self, x):
        """The scores of the classes, and after them those by the auxiliary classifiers."""
        auxiliary = []
        for layer in self.layers:
            if isinstance(layer, Auxiliary):
                auxiliary.append(layer(x))
            else:
                x = layer(x)
        return [x, *auxiliary]


def build(layer):
    match layer:
        case list():
            return nn.Sequential(*map(build, layer))
        case "Sum", main, short:
            return Sum(build(main), build(short))
        case "Concat", branches:
            return Concat(map(build, branches))
        case "Auxiliary", chain:
            return Auxiliary(*build(chain))
        case kind, *arguments:
            return getattr(nn, kind)(*arguments)
