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
    def __init__(self, folder, command="./app", per_tensor=False):
        self.folder, self.functions, self.launches = folder, {}, {}
        os.makedirs(folder, exist_ok=True)
        self.lines = [{"journal": "gmod-journal-2", "gmod": "0.1.0", "rank": None, "command": command,
                       "per_tensor": per_tensor}]
        self.lines.append({"site": "5173", "frames": [{"module": "/app", "offset": "0x1234", "symbol": "allocate"}], "python": []})
        self.images = {}

    def image(self, data, linked=False):
        name = fnv(data) if len(data) < 1 << 20 else fnv(data[:1 << 16])
        if name not in self.images:
            self.images[name] = len(self.images) + 1
            with open(os.path.join(self.folder, name + ".image"), "wb") as out:
                out.write(data)
            self.lines.append({"image": self.images[name], "hash": name, "linked": linked})
        return self.images[name]

    def launch(self, image, name, grid, block, arguments, shared=0):
        self.put(image, name, grid, block, *packed(arguments), shared)

    def put(self, image, name, grid, block, layout, data, pointers, shared):
        key = image, name
        if key not in self.functions:
            self.functions[key] = len(self.functions) + 1
            self.lines.append({"function": self.functions[key], "image": image, "name": name, "parameters": layout})
        self.launches[self.functions[key]] = self.launches.get(self.functions[key], 0) + 1
        data += bytes(-len(data) % 8)
        words = [data[i:i + 8].hex() for i in range(0, len(data), 8)]
        for at, one in pointers:
            words[at // 8] = {"offset": one.offset, "size": one.size, "memory": one.memory, "site": "5173"}
        side = lambda n: list(n) + [1] * (3 - len(n)) if isinstance(n, tuple) else [n, 1, 1]
        self.lines.append({"launch": self.functions[key], "grid": side(grid), "block": side(block), "cluster": [0, 0, 0],
                           "shared": shared, "capability": 90, "graph": False, "words": words})

    def close(self, missed=0):
        """missed: launches of each function that were not looked at."""
        for function, launches in self.launches.items():
            self.lines.append({"count": function, "launches": launches + missed, "looked_at": launches})
        self.lines.append({"end": True, "launches": 0, "dropped": 0})
        with open(os.path.join(self.folder, "here.7.1.journal"), "w") as out:
            out.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in self.lines)


def write_images(folder):
    """A journal of images that have no PTX, or another's."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "own", "global.ptx"), "rb") as source:
        text = source.read()
    journal = Journal(folder)
    journal.image(text + b"// linked", linked=True)
    journal.image(text.replace(b"wrap32(", b"another("), linked=True)
    cubin = journal.image(b"\x7fELF" + bytes(100))
    journal.launch(cubin, "guard", 1, 32, [Buffer(400), 10])
    journal.launch(cubin, "wrap32", 1, 32, [Buffer(400), 10])
    journal.launch(None, "unknown", 1, 32, [Buffer(400), 10])
    journal.launch(journal.image(text), "guard_off_by_one", 1, 32, [Buffer(400), 10, 11])
    journal.close(missed=5)


if __name__ == "__main__":
    write_images(sys.argv[1])
