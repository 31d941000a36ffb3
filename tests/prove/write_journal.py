"""Writes a journal's folder as GMOD's library would: for tests of gmod prove."""
import json
import os
import struct
import sys


def fnv(data):
    value = 0xcbf29ce484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{value:016x}"


class Buffer:
    """An argument that points into a buffer."""

    def __init__(self, size, offset=0, memory="device"):
        self.size, self.offset, self.memory = size, offset, memory


def packed(arguments):
    """(layout, bytes, pointers): int is 4 bytes, Buffer 8, bytes a struct as it is (aligned to 8), ("q", n) as struct has it."""
    layout, data, pointers = [], b"", []
    for argument in arguments:
        if isinstance(argument, Buffer):
            size, align, piece = 8, 8, bytes(8)
        elif isinstance(argument, bytes):
            size, align, piece = len(argument), 8, argument
        elif isinstance(argument, list):  # a struct with pointers: [bytes, {offset: Buffer}]
            size, align, piece = len(argument[0]), 8, argument[0]
        else:
            code, value = argument if isinstance(argument, tuple) else ("i", argument)
            piece = struct.pack("<" + code, value)
            size = align = len(piece)
        data += bytes(-len(data) % align)
        if isinstance(argument, Buffer):
            pointers.append((len(data), argument))
        elif isinstance(argument, list):
            pointers += [(len(data) + at, buffer) for at, buffer in argument[1].items()]
        layout.append([len(data), size])
        data += piece
    return layout, data, pointers


def side(n):
    return (tuple(n) if isinstance(n, (tuple, list)) else (n,)) + (1,) * (3 - (len(n) if isinstance(n, (tuple, list)) else 1))


class Journal:
    def __init__(self, folder, command="./app"):
        self.folder, self.functions, self.count = folder, {}, 0
        os.makedirs(folder, exist_ok=True)
        self.lines = [{"journal": "gmod-journal-1", "gmod": "0.1.0", "host": "here", "pid": 7, "rank": None, "command": command,
                       "time": "2026-11-29T00:00:00Z"}]
        self.lines.append({"site": 1, "frames": [{"module": "/app", "offset": "0x1234", "symbol": "allocate"}], "python": []})
        self.images = {}

    def image(self, data, kind="ptx"):
        name = fnv(data) if len(data) < 1 << 20 else fnv(data[:1 << 16])
        if name not in self.images:
            self.images[name] = len(self.images) + 1
            with open(os.path.join(self.folder, name + ".image"), "wb") as out:
                out.write(data)
            self.lines.append({"image": self.images[name], "hash": name, "kind": kind, "bytes": len(data)})
        return self.images[name]

    def launch(self, image, name, grid, block, arguments, shared=0):
        self.put(image, name, grid, block, *packed(arguments), shared)

    def put(self, image, name, grid, block, layout, data, pointers, shared):
        key = image, name
        if key not in self.functions:
            self.functions[key] = len(self.functions) + 1
            self.lines.append({"function": self.functions[key], "image": image, "name": name, "parameters": layout})
        self.count += 1
        self.lines.append({"launch": self.count, "function": self.functions[key], "grid": side(grid), "block": side(block),
                           "cluster": None, "shared": shared, "device": 0, "capability": 90, "parameters": data.hex(),
                           "pointers": [{"at": at, "offset": one.offset, "size": one.size, "site": 1, "memory": one.memory}
                                        for at, one in pointers], "graph": False})

    def close(self):
        self.lines.append({"end": True, "launches": self.count, "looked_at": self.count, "signatures": self.count, "dropped": 0})
        with open(os.path.join(self.folder, "here.7.1.journal"), "w") as out:
            out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)


def write_images(folder):
    """A journal of images that have no PTX, or another's."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "own", "global.ptx"), "rb") as source:
        text = source.read()
    journal = Journal(folder)
    journal.launch(journal.image(b"\x7fELF" + bytes(100), "cubin"), "guard", 1, 32, [Buffer(400), 10])
    journal.launch(None, "unknown", 1, 32, [Buffer(400), 10])
    journal.launch(journal.image(text), "guard_off_by_one", 1, 32, [Buffer(400), 10, 11])
    journal.close()


if __name__ == "__main__":
    write_images(sys.argv[1])
