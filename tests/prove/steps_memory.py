"""What accesses memory: loads, stores, atomics and copies, and what orders or hints."""
from collections import namedtuple

import arithmetic
from arithmetic import TYPES
from memory import NARROW, space_of
from operands import (U32, U64, Modifiers, as_bits, builders, pattern_reader, pattern_writer, reader, register_reader,
                      unsupported)
from ptx_text import Int, Memory, Name, Register, Variable, Vector

# space: as the instruction names it. object, offset: the nearest object, or None and the address itself. outside,
# misaligned: what is wrong; both False only in a trace.
Access = namedtuple("Access", "kernel function line source space kind width object offset address block thread"
                              " outside misaligned")

CACHE = ("ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc", "L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
         "L1::evict_last", "L1::no_allocate", "L2::64B", "L2::128B", "L2::256B", "L2::evict_last", "L2::evict_first",
         "L2::evict_normal", "unified")
ORDER = ("weak", "volatile", "relaxed", "acquire", "release", "acq_rel", "mmio", "cta", "cluster", "gpu", "sys")
SPACE_WORDS = {"global": "global", "shared": "shared", "shared::cta": "shared", "local": "local", "const": "const",
               "param": "param", "param::entry": "param", "param::func": "param"}


def space_word(words):
    return SPACE_WORDS.get(words.choose(*SPACE_WORDS), "generic")


class Place:
    """Where an instruction's address operand points to, and what becomes of it."""

    def __init__(self, instruction, operand, space, kind):
        self.instruction, self.space, self.kind = instruction, space, kind
        if not isinstance(operand, Memory):
            raise unsupported(instruction, "address")
        self.variable, self.offset = None, operand.offset
        meaning = operand.base and instruction.scope.find(operand.base.name)
        if isinstance(meaning, Variable):
            if space == "generic" and meaning.space == "global":
                space = "global"
            if meaning.space != space:
                raise unsupported(instruction, f"{meaning.name} lies in .{meaning.space}")
            self.variable = meaning
        elif operand.base:
            if not isinstance(meaning, Register):
                raise unsupported(instruction, operand.base.name)
            self.read = register_reader(instruction, operand.base.name, meaning, TYPES[f"b{meaning.bits}"])
        else:
            self.read = lambda thread: 0

    def near(self, thread):
        """The object, or None, and the offset in it."""
        if self.variable:
            return thread.object_of(self.variable, self.instruction), self.offset
        address = (self.read(thread) + self.offset) & U64.mask
        space = self.space
        if space == "generic":
            space, address = space_of(address)
        elif space in NARROW:
            address &= U32.mask
        near = thread.space(space).near(address) if space else None
        return near, address - near.base if near else address

    def find(self, thread, width, align=None):
        """The object and the offset if the access is sound; otherwise it is noted, and (None, 0)."""
        near, offset = self.near(thread)
        outside = near is None or not near.holds(offset, width)
        address = offset + near.base if near else offset
        misaligned = address % (align or width) != 0
        machine = thread.machine
        if outside or misaligned or machine.trace is not None:
            seen = Access(machine.kernel, self.instruction.function.name, self.instruction.line,
                          machine.module.source_of(self.instruction), self.space, self.kind, width,
                          near and near.name, offset, address, thread.block.index, thread.index, outside, misaligned)
            if machine.trace is not None:
                machine.trace.append(seen)
            if outside or misaligned:
                machine.accesses.append(seen)
                return None, 0
        return near, offset


def elements(instruction, operand, lanes):
    """The registers of a vector access."""
    if lanes == 1:
        return [operand]
    if not isinstance(operand, Vector) or len(operand.items) != lanes:
        raise unsupported(instruction, "vector")
    return operand.items


def access_words(instruction, extra=()):
    words = Modifiers(instruction)
    space = space_word(words)
    words.flag(*ORDER, *CACHE, *extra)
    lanes = int(words.choose("v2", "v4", "v8", default="v1")[1:])
    if words.flag("L2::cache_hint"):
        instruction.operands = instruction.operands[:-1]
    return words, space, lanes


def build_load(instruction):
    words, space, lanes = access_words(instruction)
    kind = words.type()
    words.done(2)
    target, source = instruction.operands
    size = kind.bits // 8
    place = Place(instruction, source, space, "load")
    writers = [pattern_writer(instruction, item, kind) for item in elements(instruction, target, lanes)]

    def step(thread):
        near, offset = place.find(thread, size * lanes)
        for write in writers:
            write(thread, int.from_bytes(near.data[offset:offset + size], "little") if near else 0)
            offset += size
    return step


def build_store(instruction):
    words, space, lanes = access_words(instruction)
    kind = as_bits(words.type())
    words.done(2)
    target, source = instruction.operands
    size = kind.bits // 8
    place = Place(instruction, target, space, "store")
    if space == "const":
        raise words.unknown()
    readers = [pattern_reader(instruction, item, kind) for item in elements(instruction, source, lanes)]

    def step(thread):
        near, offset = place.find(thread, size * lanes)
        if near is None:
            return
        if near.space == "const":
            raise unsupported(instruction, "store to a constant")
        for read in readers:
            near.data[offset:offset + size] = read(thread).to_bytes(size, "little")
            offset += size
    return step


def atomic_function(words, kind):
    """The new value from the old one and the operands, all as decoded values."""
    name = words.choose("cas", *arithmetic.ATOMIC)
    if name == "cas":
        return 2, lambda old, expected, new: new if old == expected else old
    if not name:
        raise words.unknown()
    if not kind.float:
        operation = arithmetic.ATOMIC[name]
        return 1, lambda old, value: operation(kind, old, value)
    if name not in ("add", "min", "max"):
        raise words.unknown()
    operation = arithmetic.FLOAT[name][1]
    if kind.kind.endswith("x2"):
        return 1, lambda old, value: tuple(operation(kind.element, "rn", *pair) for pair in zip(old, value))
    return 1, lambda old, value: operation(kind, "rn", old, value)


def build_atomic(instruction):
    """atom and red. A red is an atom whose old value goes nowhere."""
    words, space, lanes = access_words(instruction, ("noftz",))
    kind = words.type()
    count, function = atomic_function(words, kind)
    returns = instruction.name == "atom"
    words.done(1 + returns + count)
    if lanes > 1 and count > 1:
        raise words.unknown()
    target = instruction.operands[0] if returns else None
    address, *sources = instruction.operands[returns:]
    size = kind.bits // 8
    place = Place(instruction, address, space, instruction.name)
    targets = elements(instruction, target, lanes) if returns else []
    writers = [pattern_writer(instruction, item, kind) for item in targets]
    columns = [[reader(instruction, item, kind) for item in elements(instruction, source, lanes)] for source in sources]

    def step(thread):
        values = [[read(thread) for read in column] for column in columns]
        near, offset = place.find(thread, size * lanes)
        for lane in range(lanes):
            old = int.from_bytes(near.data[offset:offset + size], "little") if near else 0
            if near:
                new = function(kind.decode(old), *[column[lane] for column in values])
                near.data[offset:offset + size] = kind.encode(new).to_bytes(size, "little")
            if writers:
                writers[lane](thread, old)
            offset += size
    return step


def build_copy(instruction):
    """cp.async: the copy is done at once, so that the waits for it do nothing."""
    words = Modifiers(instruction)
    if not words.flag("async"):
        raise words.unknown()
    if words.flag("commit_group", "wait_group", "wait_all"):
        words.done()
        return lambda thread: None
    words.flag(*CACHE)
    if words.flag("L2::cache_hint"):
        instruction.operands = instruction.operands[:-1]
    if words.choose("shared", "shared::cta") is None or words.choose("global") is None:
        raise words.unknown()
    words.done(3, 4)
    target, source, size, *kept = instruction.operands
    if not isinstance(size, Int) or size.value not in (4, 8, 16):
        raise words.unknown()
    size = size.value
    into, out = Place(instruction, target, "shared", "cp.async"), Place(instruction, source, "global", "cp.async")
    length = pattern_reader(instruction, kept[0], U32) if kept else lambda thread: size
    if kept and isinstance(kept[0], Name) and getattr(instruction.scope.find(kept[0].name), "bits", 32) == 1:
        raise unsupported(instruction, "ignore-src")

    def step(thread):
        count = min(length(thread), size)
        data = bytes(size)
        if count:
            near, offset = out.find(thread, count, size)
            data = (bytes(near.data[offset:offset + count]) if near else b"").ljust(size, b"\0")
        near, offset = into.find(thread, size)
        if near:
            near.data[offset:offset + size] = data
    return step


def build_nothing(instruction):
    """What orders or hints; one thread at a time needs no order, and a hint touches no memory."""
    return lambda thread: None


BUILDERS = builders({
    build_load: "ld ldu", build_store: "st", build_atomic: "atom red", build_copy: "cp",
    build_nothing: "membar fence prefetch prefetchu nanosleep"})
