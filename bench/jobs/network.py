"""Networks of PyTorch's layers, built from the tables of tables.py."""

import torch
from torch import nn

import tables


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
            return nn.Sequential(*(build(part) for part in layer))
        case tables.Conv():
            return nn.Conv2d(*layer[:5], bias=layer.bias)
        case tables.Norm():
            return nn.BatchNorm2d(*layer)
        case tables.Linear():
            return nn.Linear(*layer)
        case tables.Relu():
            return nn.ReLU(inplace=True)
        case tables.MaxPool():
            return nn.MaxPool2d(*layer)
        case tables.AvgPool():
            return nn.AvgPool2d(*layer)
        case tables.AvgPoolTo():
            return nn.AdaptiveAvgPool2d(layer.size)
        case tables.Dropout():
            return nn.Dropout()
        case tables.Flatten():
            return nn.Flatten()
        case tables.Sum():
            return Sum(build(layer.main), build(layer.short))
        case tables.Concat():
            return Concat(build(branch) for branch in layer.branches)
        case tables.Auxiliary():
            return Auxiliary(*build(layer.chain))
    raise TypeError(f"no layer: {layer}")
