"""The image networks as tables of their layers, from which network.py builds them, and which can be counted without it.

A layer is one of the tuples below; a list is a chain of layers. The networks are those of the papers as PyTorch's users
know them: ResNet-50 has its strides in the 3x3 convolutions, Inception v3 has its auxiliary classifier.
"""

from typing import NamedTuple

CLASSES = 1000


class Conv(NamedTuple):
    inside: int
    outside: int
    kernel: tuple
    stride: int = 1
    padding: tuple = (0, 0)
    bias: bool = True


class Norm(NamedTuple):
    channels: int
    epsilon: float = 1e-5


class Linear(NamedTuple):
    inside: int
    outside: int


class Relu(NamedTuple):
    pass


class MaxPool(NamedTuple):
    kernel: int
    stride: int
    padding: int = 0


class AvgPool(NamedTuple):
    kernel: int
    stride: int
    padding: int = 0


class AvgPoolTo(NamedTuple):
    size: int


class Dropout(NamedTuple):
    pass


class Flatten(NamedTuple):
    pass


class Sum(NamedTuple):
    """What both chains make of the same input, added up."""

    main: list
    short: list


class Concat(NamedTuple):
    """What the chains make of the same input, one after another in the channels."""

    branches: list


class Auxiliary(NamedTuple):
    """A second classifier that sees what passes here, in training."""

    chain: list


def count(layer):
    """The parameters of a layer or of a chain."""
    match layer:
        case list():
            return sum(count(part) for part in layer)
        case Conv():
            weights = layer.inside * layer.outside * layer.kernel[0] * layer.kernel[1]
            return weights + (layer.outside if layer.bias else 0)
        case Norm():
            return 2 * layer.channels
        case Linear():
            return layer.inside * layer.outside + layer.outside
        case Sum():
            return count(layer.main) + count(layer.short)
        case Concat():
            return count(layer.branches)
        case Auxiliary():
            return count(layer.chain)
    return 0


# ---- ResNet-50 ----


def conv_norm(inside, outside, kernel, stride=1):
    return [Conv(inside, outside, (kernel, kernel), stride, (kernel // 2, kernel // 2), False), Norm(outside)]


def bottleneck(inside, width, stride):
    outside = width * 4
    main = [
        *conv_norm(inside, width, 1),
        Relu(),
        *conv_norm(width, width, 3, stride),
        Relu(),
        *conv_norm(width, outside, 1),
    ]
    short = [] if stride == 1 and inside == outside else conv_norm(inside, outside, 1, stride)
    return [Sum(main, short), Relu()]


def resnet50():
    layers = [*conv_norm(3, 64, 7, 2), Relu(), MaxPool(3, 2, 1)]
    inside = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(blocks):
            layers += bottleneck(inside, width, stride if i == 0 else 1)
            inside = width * 4
    return [*layers, AvgPoolTo(1), Flatten(), Linear(inside, CLASSES)]


# ---- VGG-16 and AlexNet ----


def vgg16():
    layers = []
    inside = 3
    for width, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            layers += [Conv(inside, width, (3, 3), 1, (1, 1)), Relu()]
            inside = width
        layers.append(MaxPool(2, 2))
    layers += [AvgPoolTo(7), Flatten()]
    layers += [Linear(inside * 7 * 7, 4096), Relu(), Dropout(), Linear(4096, 4096), Relu(), Dropout()]
    return [*layers, Linear(4096, CLASSES)]


def alexnet():
    layers = [Conv(3, 64, (11, 11), 4, (2, 2)), Relu(), MaxPool(3, 2)]
    layers += [Conv(64, 192, (5, 5), 1, (2, 2)), Relu(), MaxPool(3, 2)]
    for inside, outside in ((192, 384), (384, 256), (256, 256)):
        layers += [Conv(inside, outside, (3, 3), 1, (1, 1)), Relu()]
    layers += [MaxPool(3, 2), AvgPoolTo(6), Flatten()]
    layers += [Dropout(), Linear(256 * 6 * 6, 4096), Relu(), Dropout(), Linear(4096, 4096), Relu()]
    return [*layers, Linear(4096, CLASSES)]


# ---- Inception v3 ----


def basic(inside, outside, height, width, stride=1, padding=(0, 0)):
    return [Conv(inside, outside, (height, width), stride, padding, False), Norm(outside, 1e-3), Relu()]


def path(inside, *convolutions):
    """Convolutions (channels, height, width) that keep the size of the image."""
    layers = []
    for outside, height, width in convolutions:
        layers += basic(inside, outside, height, width, 1, (height // 2, width // 2))
        inside = outside
    return layers


def stem():
    layers = basic(3, 32, 3, 3, 2) + basic(32, 32, 3, 3) + path(32, (64, 3, 3)) + [MaxPool(3, 2)]
    return layers + basic(64, 80, 1, 1) + basic(80, 192, 3, 3) + [MaxPool(3, 2)]


def mixed_35(inside, pooled):
    return Concat(
        [
            path(inside, (64, 1, 1)),
            path(inside, (48, 1, 1), (64, 5, 5)),
            path(inside, (64, 1, 1), (96, 3, 3), (96, 3, 3)),
            [AvgPool(3, 1, 1), *path(inside, (pooled, 1, 1))],
        ]
    )


def to_17(inside):
    return Concat(
        [
            basic(inside, 384, 3, 3, 2),
            path(inside, (64, 1, 1), (96, 3, 3)) + basic(96, 96, 3, 3, 2),
            [MaxPool(3, 2)],
        ]
    )


def mixed_17(inside, narrow):
    return Concat(
        [
            path(inside, (192, 1, 1)),
            path(inside, (narrow, 1, 1), (narrow, 1, 7), (192, 7, 1)),
            path(inside, (narrow, 1, 1), (narrow, 7, 1), (narrow, 1, 7), (narrow, 7, 1), (192, 1, 7)),
            [AvgPool(3, 1, 1), *path(inside, (192, 1, 1))],
        ]
    )


def auxiliary(inside):
    layers = [AvgPool(5, 3), *basic(inside, 128, 1, 1), *basic(128, 768, 5, 5)]
    return Auxiliary([*layers, AvgPoolTo(1), Flatten(), Linear(768, CLASSES)])


def to_8(inside):
    return Concat(
        [
            path(inside, (192, 1, 1)) + basic(192, 320, 3, 3, 2),
            path(inside, (192, 1, 1), (192, 1, 7), (192, 7, 1)) + basic(192, 192, 3, 3, 2),
            [MaxPool(3, 2)],
        ]
    )


def mixed_8(inside):
    fork = Concat([path(384, (384, 1, 3)), path(384, (384, 3, 1))])
    return Concat(
        [
            path(inside, (320, 1, 1)),
            [*path(inside, (384, 1, 1)), fork],
            [*path(inside, (448, 1, 1), (384, 3, 3)), fork],
            [AvgPool(3, 1, 1), *path(inside, (192, 1, 1))],
        ]
    )


def inception_v3():
    layers = [*stem(), mixed_35(192, 32), mixed_35(256, 64), mixed_35(288, 64), to_17(288)]
    layers += [mixed_17(768, narrow) for narrow in (128, 160, 160, 192)]
    layers += [auxiliary(768), to_8(768), mixed_8(1280), mixed_8(2048)]
    return [*layers, AvgPoolTo(1), Dropout(), Flatten(), Linear(2048, CLASSES)]


class Network(NamedTuple):
    layers: list
    size: int  # width and height of its images
    parameters: int  # what it is known to have: who builds another one measures something else


NETWORKS = {
    "resnet50": Network(resnet50(), 224, 25557032),
    "inception_v3": Network(inception_v3(), 299, 27161264),
    "vgg16": Network(vgg16(), 224, 138357544),
    "alexnet": Network(alexnet(), 224, 61100840),
}
