#!/usr/bin/env python3
"""trim.py ARCHIVE DUMP...: packs dumps, gzipped or not, for tests/unit/test_dump.c. Images without a kernel of this
folder are the driver's own and become zeros, and the folder's path is another. places.cu goes with them, because the
dumps have the lines of that day."""
import gzip
import io
import os
import re
import sys
import tarfile

import read_dump

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = [os.path.join(HERE, name) for name in ('places.cu', 'kernels.cu')]
IMAGE = 0x80000007
PLACE = b'/home/gmod'


def kernels():
    names = []
    for path in SOURCES:
        with open(path) as f:
            names += re.findall(r'^KERNEL (\w+)\(', f.read(), re.M)
    return [b'.text.%s\0' % n.encode() for n in names]


def placed(match):
    """A path of the same length."""
    return PLACE.ljust(len(match.group(1)), b'_')[:len(match.group(1))] + match.group(2)


def trimmed(data):
    out = bytearray(data)
    for start, size in read_dump.places_of(data, IMAGE):
        image = data[start:start + size]
        if any(k in image for k in kernels()):
            image = re.sub(rb'(/[\w./-]*)(/tests/gpu/faults\b)', placed, image)
        else:
            image = bytes(size)
        out[start:start + size] = image
    return bytes(out)


def main():
    with tarfile.open(sys.argv[1], 'w:xz', preset=9) as tar:
        def add(path, data):
            row = tarfile.TarInfo(os.path.basename(path).replace('.gz', ''))
            row.size = len(data)
            tar.addfile(row, io.BytesIO(data))
        with open(SOURCES[0], 'rb') as f:
            add(SOURCES[0], f.read())
        for path in sorted(sys.argv[2:]):
            with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
                add(path, trimmed(f.read()))


if __name__ == '__main__':
    main()
