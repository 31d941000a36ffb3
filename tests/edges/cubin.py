"""
cubin.py CUBIN KERNEL...: a line for each kernel whose mangled name contains the word: registers, bytes of stack, and bytes of
code, with that of all functions that it calls.
"""
import struct
import sys
from collections import namedtuple

Section = namedtuple("Section", "name at size link")
REGISTERS, STACK = 0x2F, 0x12  # in .nv.info: EIATTR_REGCOUNT, EIATTR_MIN_STACK_SIZE
WITH_DATA = 4  # EIFMT_SVAL


class Cubin:
    def __init__(self, data):
        self.data = data
        at, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        heads = [struct.unpack_from("<IIQQQQII", data, at + i * size) for i in range(count)]
        self.sections = [Section(self.text(heads[names][4], h[0]), h[4], h[5], h[6]) for h in heads]
        table = self.section(".symtab")
        strings = self.sections[table.link].at
        self.symbols = [self.text(strings, struct.unpack_from("<I", data, at)[0])
                        for at in range(table.at, table.at + table.size, 24)]

    def text(self, table, offset):
        return self.data[table + offset:self.data.index(b"\0", table + offset)].decode()

    def section(self, name):
        return next((s for s in self.sections if s.name == name), Section(name, 0, 0, 0))

    def attribute(self, wanted):
        """Of each symbol that has it."""
        info, values = self.section(".nv.info"), {}
        at = info.at
        while at < info.at + info.size:
            form, attribute, size = struct.unpack_from("<BBH", self.data, at)
            at += 4
            if form == WITH_DATA:
                if attribute == wanted:
                    symbol, value = struct.unpack_from("<II", self.data, at)
                    values[self.symbols[symbol]] = value
                at += size
        return values

    def code(self, name):
        return self.section(".text." + name).size

    def reached(self, name):
        graph, calls = self.section(".nv.callgraph"), {}
        for at in range(graph.at, graph.at + graph.size, 8):
            caller, callee = struct.unpack_from("<II", self.data, at)
            if callee < len(self.symbols):  # others end a list
                calls.setdefault(self.symbols[caller], []).append(self.symbols[callee])
        seen, new = set(), [name]
        while new:
            name = new.pop()
            if name not in seen:
                seen.add(name)
                new += calls.get(name, [])
        return seen


def main(path, words):
    with open(path, "rb") as file:
        cubin = Cubin(file.read())
    registers, stack = cubin.attribute(REGISTERS), cubin.attribute(STACK)
    for word in words:
        for name in [n[6:] for n in (s.name for s in cubin.sections) if n.startswith(".text.") and word in n]:
            print(registers[name], stack[name], sum(map(cubin.code, cubin.reached(name))))


main(sys.argv[1], sys.argv[2:])
