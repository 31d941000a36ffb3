"""The image networks as tables of their layers, from which network.py builds them, and which can be counted without it.

A layer is a tuple: the name of PyTorch's class and its arguments, or one of those in network.py, ("Sum", main, short),
("Concat", branches) and ("Auxiliary", chain). A list is a chain of layers. The networks are those of the papers as
PyTorch's users know them: ResNet-50 has its strides in the 3x3 convolutions, Inception v3 has its auxiliary classifier.
"""

from typing import NamedTuple

CLASSES = 1000
RELU, DROPOUT, FLATTEN = ("ReLU", True), ("Dropout",), ("Flatten",)


def conv(inside, outside, kernel, stride=1, padding=(0, 0), bias=True):
    return "Conv2d", inside, outside, kernel, stride, padding, 1, 1, bias


def norm(channels, epsilon=1e-5):
    return "BatchNorm2d", channels, epsilon


def linear(inside, outside):
    return "Linear", inside, outside


def max_pool(kernel, stride, padding=0):
    return "MaxPool2d", kernel, stride, padding


def avg_pool(kernel, stride, padding=0):
    return "AvgPool2d", kernel, stride, padding


def avg_pool_to(size):
    return "AdaptiveAvgPool2d", size


def count(layer):
    """The parameters of a layer or of a chain."""
    match layer:
        case list():
            return sum(map(count, layer))
        case "Conv2d", inside, outside, (height, width), *_, bias:
            return (inside * height * width + bias) * outside
        case "BatchNorm2d", channels, _:
            return 2 * channels
        case "Linear", inside, outside:
            return (inside + 1) * outside
        case "Sum", main, short:
            return count(main) + count(short)
        case "Concat" | "Auxiliary", inner:
            return count(inner)
    return 0


# ---- ResNet-50 ----


def conv_norm(inside, outside, kernel, stride=1):
    return [conv(inside, outside, (kernel, kernel), stride, (kernel // 2, kernel // 2), False), norm(outside)]


def bottleneck(inside, width, stride):
    outside = width * 4
    main = [*conv_norm(inside, width, 1), RELU, *conv_norm(width, width, 3, stride), RELU, *conv_norm(width, outside, 1)]
    short = [] if stride == 1 and inside == outside else conv_norm(inside, outside, 1, stride)
    return [("Sum", main, short), RELU]


def resnet50():
    layers = [*conv_norm(3, 64, 7, 2), RELU, max_pool(3, 2, 1)]
    inside = 64
    for width, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for i in range(blocks):
            layers += bottleneck(inside, width, stride if i == 0 else 1)
            inside = width * 4
    return [*layers, avg_pool_to(1), FLATTEN, linear(inside, CLASSES)]


# ---- VGG-16 and AlexNet ----


def vgg16():
    layers = []
    inside = 3
    for width, convolutions in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(convolutions):
            layers += [conv(inside, width, (3, 3), 1, (1, 1)), RELU]
            inside = width
        layers.append(max_pool(2, 2))
    layers += [avg_pool_to(7), FLATTEN]
    layers += [linear(inside * 7 * 7, 4096), RELU, DROPOUT, linear(4096, 4096), RELU, DROPOUT]
    return [*layers, linear(4096, CLASSES)]


def alexnet():
    layers = [conv(3, 64, (11, 11), 4, (2, 2)), RELU, max_pool(3, 2)]
    layers += [conv(64, 192, (5, 5), 1, (2, 2)), RELU, max_pool(3, 2)]
    for inside, outside in ((192, 384), (384, 256), (256, 256)):
        layers += [conv(inside, outside, (3, 3), 1, (1, 1)), RELU]
    layers += [max_pool(3, 2), avg_pool_to(6), FLATTEN]
    layers += [DROPOUT, linear(256 * 6 * 6, 4096), RELU, DROPOUT, linear(4096, 4096), RELU]
    return [*layers, linear(4096, CLASSES)]


# ---- Inception v3 ----


def basic(inside, outside, height, width, stride=1, padding=(0, 0)):
    return [conv(inside, outside, (height, width), stride, padding, False), norm(outside, 1e-3), RELU]


def path(inside, *convolutions):
    """Convolutions (channels, height, width) that keep the size of the image."""
    layers = []
    for outside, height, width in convolutions:
        layers += basic(inside, outside, height, width, 1, (height // 2, width // 2))
        inside = outside
    return layers


def stem():
    layers = basic(3, 32, 3, 3, 2) + basic(32, 32, 3, 3) + path(32, (64, 3, 3)) + [max_pool(3, 2)]
    return layers + basic(64, 80, 1, 1) + basic(80, 192, 3, 3) + [max_pool(3, 2)]


def mixed_35(inside, pooled):
    return "Concat", [
        path(inside, (64, 1, 1)),
        path(inside, (48, 1, 1), (64, 5, 5)),
        path(inside, (64, 1, 1), (96, 3, 3), (96, 3, 3)),
        [avg_pool(3, 1, 1), *path(inside, (pooled, 1, 1))],
    ]


def to_17(inside):
    return "Concat", [
        basic(inside, 384, 3, 3, 2),
        path(inside, (64, 1, 1), (96, 3, 3)) + basic(96, 96, 3, 3, 2),
        [max_pool(3, 2)],
    ]


def mixed_17(inside, narrow):
    return "Concat", [
        path(inside, (192, 1, 1)),
        path(inside, (narrow, 1, 1), (narrow, 1, 7), (192, 7, 1)),
        path(inside, (narrow, 1, 1), (narrow, 7, 1), (narrow, 1, 7), (narrow, 7, 1), (192, 1, 7)),
        [avg_pool(3, 1, 1), *path(inside, (192, 1, 1))],
    ]


def auxiliary(inside):
    layers = [avg_pool(5, 3), *basic(inside, 128, 1, 1), *basic(128, 768, 5, 5)]
    return "Auxiliary", [*layers, avg_pool_to(1), FLATTEN, linear(768, CLASSES)]


def to_8(inside):
    return "Concat", [
        path(inside, (192, 1, 1)) + basic(192, 320, 3, 3, 2),
        path(inside, (192, 1, 1), (192, 1, 7), (192, 7, 1)) + basic(192, 192, 3, 3, 2),
        [max_pool(3, 2)],
    ]


def mixed_8(inside):
    fork = "Concat", [path(384, (384, 1, 3)), path(384, (384, 3, 1))]
    return "Concat", [
        path(inside, (320, 1, 1)),
        [*path(inside, (384, 1, 1)), fork],
        [*path(inside, (448, 1, 1), (384, 3, 3)), fork],
        [avg_pool(3, 1, 1), *path(inside, (192, 1, 1))],
    ]


def inception_v3():
    layers = [*stem(), mixed_35(192, 32), mixed_35(256, 64), mixed_35(288, 64), to_17(288)]
    layers += [mixed_17(768, narrow) for narrow in (128, 160, 160, 192)]
    layers += [auxiliary(768), to_8(768), mixed_8(1280), mixed_8(2048)]
    return [*layers, avg_pool_to(1), DROPOUT, FLATTEN, linear(2048, CLASSES)]


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
