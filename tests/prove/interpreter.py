"""Runs a PTX kernel on small grids with concrete values and tells each access that its object does not hold.

    module = parse(text)
    data = Buffer(64, b"...", "data")                      # zeros follow the contents
    launch = pack(module, "kernel", [data, 16, 1.5, b"a struct"])   # or Launch(bytes, {offset: (buffer, delta)})
    result = run(module, "kernel", (2, 1, 1), (32, 1, 1), launch, dynamic=128, max_steps=1000000)
    result.accesses, result.stopped, result.steps, data.data

A block's threads run one after the other up to the next barrier or warp operation, blocks one after the other, so that
a race has one of its legal outcomes. Memory that nobody has written is zero. An access outside its object, or
misaligned, is noted; such a load yields zero and such a store is dropped. Which object an address belongs to follows
from where it lies: see memory.py. What the interpreter does not know raises Unsupported when it is reached.
"""
import math
import re
import struct
from collections import namedtuple

import arithmetic
from arithmetic import TYPES, Type, Unspecified
from memory import NARROW, WINDOWS, Object, Space, lies_in, space_of
from ptx_text import (Decimal, Function, Int, Label, List, Memory, Name, Not, Pair, Real, Register, Targets,
                      Unsupported, Variable, Vector, parse)

__all__ = ["Access", "Buffer", "Launch", "Result", "Unsupported", "pack", "parse", "run"]

# space: as the instruction names it. object, offset: the nearest object, or None and the address itself. outside,
# misaligned: what is wrong; both False only in a trace.
Access = namedtuple("Access", "kernel function line source space kind width object offset address block thread"
                              " outside misaligned")
Launch = namedtuple("Launch", "bytes pointers")  # pointers: offset in bytes to a Buffer, or to (Buffer, delta)
# stopped: None, or why the run ended early: steps, deadlock, trap. approximate: lines whose result a machine may round
# otherwise. trace: all accesses in order, if they were asked for.
Result = namedtuple("Result", "accesses stopped steps approximate trace")

SLICE = 20000  # steps after which another thread of the block runs, in case this one waits for it in a loop
U8, U16, U32, U64, S32, PRED = (TYPES[name] for name in ("u8", "u16", "u32", "u64", "s32", "pred"))
WARP = 32
FUNCTION_START = 1 << 20  # addresses of functions, 16 apart


class Buffer:
    def __init__(self, size, contents=b"", name=None):
        self.data, self.name = bytearray(size), name
        self.data[:len(contents)] = contents
        if len(self.data) != size:
            raise ValueError("the contents are longer than the buffer")


class Trap(Exception):
    pass


# ---- reading and writing operands ----

class Modifiers:
    """The words behind an opcode. Each is taken by who knows it, and one that is left is unknown."""

    def __init__(self, instruction):
        self.left, self.instruction = list(instruction.modifiers), instruction

    def unknown(self, what=None):
        return Unsupported(what or self.instruction.opcode, self.instruction.line)

    def flag(self, *names):
        found = [name for name in names if name in self.left]
        for name in found:
            self.left.remove(name)
        return bool(found)

    def require(self, name):
        if not self.flag(name):
            raise self.unknown()

    def choose(self, *names, default=None):
        for name in names:
            if name in self.left:
                self.left.remove(name)
                return name
        return default

    def type(self, *kinds):
        """The first type among the words, which has to be one of the kinds if there are any."""
        for name in self.left:
            if name in TYPES:
                self.left.remove(name)
                if kinds and TYPES[name].kind not in kinds:
                    break
                return TYPES[name]
        raise self.unknown()

    def done(self, *counts):
        """Nothing is left, and there is one of these numbers of operands."""
        if self.left or (counts and len(self.instruction.operands) not in counts):
            raise self.unknown()


def unsupported(instruction, what=None):
    return Unsupported(f"{instruction.opcode}: {what}" if what else instruction.opcode, instruction.line)


SPECIAL = {
    "%laneid": lambda thread: thread.lane, "%warpid": lambda thread: thread.linear // WARP,
    "%clock": lambda thread: thread.machine.steps & U32.mask, "%clock64": lambda thread: thread.machine.steps,
    "%clock_hi": lambda thread: thread.machine.steps >> 32, "%globaltimer": lambda thread: thread.machine.steps,
    "WARP_SZ": lambda thread: WARP, "%gridid": lambda thread: 1,
    "%lanemask_eq": lambda thread: 1 << thread.lane, "%lanemask_lt": lambda thread: (1 << thread.lane) - 1,
    "%lanemask_le": lambda thread: (2 << thread.lane) - 1,
    "%lanemask_gt": lambda thread: U32.mask & -(2 << thread.lane),
    "%lanemask_ge": lambda thread: U32.mask & -(1 << thread.lane),
    "%dynamic_smem_size": lambda thread: thread.machine.dynamic,
}
for axis in range(3):
    for word, value in (("tid", lambda thread, axis: thread.index[axis]),
                        ("ntid", lambda thread, axis: thread.machine.block[axis]),
                        ("ctaid", lambda thread, axis: thread.block.index[axis]),
                        ("nctaid", lambda thread, axis: thread.machine.grid[axis])):
        SPECIAL[f"%{word}.{'xyz'[axis]}"] = lambda thread, value=value, axis=axis: value(thread, axis)


def literal(instruction, operand, kind):
    """The bit pattern of a number."""
    if isinstance(operand, Int):
        if kind.float:
            raise unsupported(instruction, "integer as a float")
        return (operand.value != 0) if kind.kind == "pred" else operand.value & kind.mask
    if isinstance(operand, Real):
        if operand.bits != kind.bits:
            raise unsupported(instruction, "width of a literal")
        return operand.pattern
    if not kind.float:
        raise unsupported(instruction, "float as an integer")
    return kind.encode(arithmetic.rounded(operand.value, kind))


def pattern_reader(instruction, operand, kind):
    """A function of a thread to the operand's bit pattern."""
    if isinstance(operand, Not):
        inner = pattern_reader(instruction, operand.operand, PRED)
        return lambda thread: not inner(thread)
    if isinstance(operand, (Int, Real, Decimal)):
        pattern = literal(instruction, operand, kind)
        return lambda thread: pattern
    if isinstance(operand, Vector):
        return packed_reader(instruction, operand, kind)
    if not isinstance(operand, Name):
        raise unsupported(instruction, "operand")
    if operand.name in SPECIAL and not operand.offset:
        special = SPECIAL[operand.name]
        return lambda thread: special(thread) & kind.mask
    meaning = instruction.scope.find(operand.name)
    if isinstance(meaning, Register) and not operand.offset:
        return register_reader(instruction, operand.name, meaning, kind)
    if isinstance(meaning, (Variable, Function)):
        return lambda thread: (thread.address_of(meaning, instruction) + operand.offset) & kind.mask
    raise unsupported(instruction, operand.name)


def register_reader(instruction, name, register, kind):
    if register.bits < kind.bits:
        raise unsupported(instruction, f"{name} is narrower than {kind.kind}{kind.bits}")
    slot, mask = register.slot, kind.mask

    def read(thread):
        pattern = thread.registers[slot]
        if pattern is None:
            raise unsupported(instruction, f"{name} has no value yet")
        return pattern & mask
    return read


def packed_reader(instruction, vector, kind):
    """{low, high} as one value."""
    bits = kind.bits // len(vector.items)
    part = TYPES.get(f"b{bits}")
    if not part:
        raise unsupported(instruction)
    readers = [pattern_reader(instruction, item, part) for item in vector.items]
    return lambda thread: sum(read(thread) << (bits * place) for place, read in enumerate(readers))


def reader(instruction, operand, kind):
    """The same, decoded: an int, a bool or a float."""
    pattern = pattern_reader(instruction, operand, kind)
    if kind.kind in ("u", "b"):
        return pattern
    return lambda thread: kind.decode(pattern(thread))


def pattern_writer(instruction, operand, kind):
    """A function of a thread and a bit pattern of the type. A wider register takes the sign of a signed type."""
    if isinstance(operand, Vector):
        return unpacking_writer(instruction, operand, kind)
    if not isinstance(operand, Name):
        raise unsupported(instruction, "destination")
    if operand.name == "_":
        return lambda thread, pattern: None
    register = instruction.scope.find(operand.name)
    if not isinstance(register, Register) or register.bits < kind.bits:
        raise unsupported(instruction, f"destination {operand.name}")
    slot = register.slot
    above = ((1 << register.bits) - 1) & ~kind.mask
    top = kind.bits - 1

    def write(thread, pattern):
        thread.registers[slot] = pattern

    def write_signed(thread, pattern):
        thread.registers[slot] = pattern | above if pattern >> top else pattern
    return write_signed if kind.kind == "s" and above else write


def unpacking_writer(instruction, vector, kind):
    bits = kind.bits // len(vector.items)
    part = TYPES.get(f"b{bits}")
    if not part:
        raise unsupported(instruction)
    writers = [pattern_writer(instruction, item, part) for item in vector.items]

    def write(thread, pattern):
        for place, put in enumerate(writers):
            put(thread, pattern >> (bits * place) & part.mask)
    return write


def writer(instruction, operand, kind):
    """The same for a value, which is encoded and so wraps."""
    put = pattern_writer(instruction, operand, kind)
    encode = kind.encode
    return lambda thread, value: put(thread, encode(value))


def computing(instruction, result, kinds, function):
    """The step that has the function of the operands behind the first written to the first."""
    target, *sources = instruction.operands
    if len(sources) != len(kinds):
        raise unsupported(instruction, "number of operands")
    write = writer(instruction, target, result)
    readers = [reader(instruction, source, kind) for source, kind in zip(sources, kinds)]
    if len(readers) == 1:
        (first,) = readers
        return lambda thread: write(thread, function(first(thread)))
    if len(readers) == 2:
        first, second = readers
        return lambda thread: write(thread, function(first(thread), second(thread)))
    return lambda thread: write(thread, function(*[read(thread) for read in readers]))


# ---- arithmetic ----

def build_arithmetic(instruction):
    """add, sub, mul, div, min and so on, of integers or floats."""
    words = Modifiers(instruction)
    if words.flag("cc") or instruction.name in ("addc", "subc"):
        return build_carry(instruction)
    kind = words.type()
    if kind.float:
        return build_float(instruction, words, kind)
    if kind.kind == "b" or instruction.name not in arithmetic.INTEGER:
        raise words.unknown()
    saturates = instruction.name in ("add", "sub") and words.flag("sat")
    words.done()
    count, function = arithmetic.INTEGER[instruction.name]
    if saturates:
        return computing(instruction, kind, [kind] * count,
                         lambda *values: arithmetic.clamped(kind, function(kind, *values)))
    return computing(instruction, kind, [kind] * count, lambda *values: function(kind, *values))


def build_carry(instruction):
    """add.cc, addc, sub.cc and subc: the carry is the thread's."""
    words = Modifiers(instruction)
    sets, uses = words.flag("cc"), instruction.name in ("addc", "subc")
    kind = words.type("u", "s")
    words.done(3)
    if instruction.name not in ("add", "addc", "sub", "subc"):
        raise words.unknown()
    sign = 1 if instruction.name.startswith("add") else -1
    write = writer(instruction, instruction.operands[0], kind)
    left, right = (pattern_reader(instruction, operand, kind) for operand in instruction.operands[1:])

    def step(thread):
        total = left(thread) + sign * (right(thread) + (thread.carry if uses else 0))
        if sets:
            thread.carry = int(total > kind.mask or total < 0)
        write(thread, total)
    return step


def build_float(instruction, words, kind):
    """Rounding, .ftz and .sat around an operation of one format; halves in pairs."""
    name, mode = instruction.name, words.choose(*arithmetic.ROUNDINGS, default="rn")
    flush, saturate = words.flag("ftz"), words.flag("sat")
    exact = not words.flag("approx", "full")
    spreads_nan = name in ("min", "max") and words.flag("NaN")
    words.done()
    if name not in arithmetic.FLOAT or (kind == TYPES["f64"] and not exact):
        raise words.unknown()
    count, operation = arithmetic.FLOAT[name]
    form = kind.element

    def once(*values):
        if flush:
            values = [arithmetic.flushed(value, form) for value in values]
        if spreads_nan and any(map(math.isnan, values)):
            return math.nan
        result = operation(form, mode, *values)
        if flush:
            result = arithmetic.flushed(result, form)
        return arithmetic.saturated(result) if saturate else result

    def both(*pairs):
        return tuple(once(*values) for values in zip(*pairs))
    step = computing(instruction, kind, [kind] * count, both if kind.kind.endswith("x2") else once)
    return step if exact else approximating(instruction, step)


def approximating(instruction, step):
    def approximate(thread):
        thread.machine.approximate.add(instruction.line)
        return step(thread)
    return approximate


def build_approximate(instruction):
    words = Modifiers(instruction)
    kind, flush = words.type("f"), words.flag("ftz")
    words.require("approx")
    words.done(2)
    if kind != TYPES["f32"]:
        raise words.unknown()
    function = arithmetic.APPROXIMATE[instruction.name]

    def call(value):
        value = arithmetic.flushed(value, kind) if flush else value
        result = arithmetic.rounded(function(value), kind)
        return arithmetic.flushed(result, kind) if flush else result
    return approximating(instruction, computing(instruction, kind, [kind], call))


def build_product(instruction):
    """mul and mad of integers; of floats they are like add."""
    words = Modifiers(instruction)
    kind = words.type()
    if kind.float:
        return build_float(instruction, words, kind)
    narrow = instruction.name.endswith("24")
    part, result = arithmetic.part_of_product(words.choose("lo", "hi", "wide"), kind)
    words.done()
    if not part or narrow:
        raise words.unknown()
    if instruction.name == "mul":
        return computing(instruction, result, [kind] * 2, lambda left, right: part(left * right))
    return computing(instruction, result, [kind, kind, result],
                     lambda left, right, addend: part(left * right) + addend)


def build_product_24(instruction):
    """mul24 and mad24: the low 24 bits of each factor."""
    words = Modifiers(instruction)
    kind = words.type("u", "s")
    high = words.choose("lo", "hi") == "hi"
    words.done()
    cut = Type(kind.kind, 24)

    def product(left, right, addend=0):
        whole = cut_value(cut, left) * cut_value(cut, right)
        return (whole >> 16 if high else whole) + addend
    return computing(instruction, kind, [kind] * (len(instruction.operands) - 1), product)


def cut_value(cut, value):
    value &= cut.mask
    return value - (1 << cut.bits) if cut.kind == "s" and value >> (cut.bits - 1) else value


def build_logic(instruction):
    words = Modifiers(instruction)
    kind = words.type("b", "pred")
    words.done()
    count, function = arithmetic.LOGIC[instruction.name]
    if kind.kind == "pred" and instruction.name == "not":
        return computing(instruction, kind, [kind], lambda value: not value)
    return computing(instruction, kind, [kind] * count, lambda *values: function(kind, *values))


def build_shift(instruction):
    words = Modifiers(instruction)
    kind = words.type(*("b" if instruction.name == "shl" else "bus"))
    words.done(3)
    shift = arithmetic.shift_left if instruction.name == "shl" else arithmetic.shift_right
    return computing(instruction, kind, [kind, U32], lambda value, amount: shift(kind, value, amount))


def build_funnel(instruction):
    words = Modifiers(instruction)
    left, wrap, kind = words.choose("l", "r") == "l", words.choose("wrap", "clamp") == "wrap", words.type("b")
    words.done(4)
    return computing(instruction, kind, [U32] * 3,
                     lambda low, high, amount: arithmetic.funnel(left, wrap, low, high, amount))


def build_bits(instruction):
    """bfe, bfi, popc, clz, brev, bfind, fns, prmt, lop3, bmsk, szext."""
    words, name = Modifiers(instruction), instruction.name
    mode = words.choose(*arithmetic.PERMUTED) if name == "prmt" else None
    shift_amount = name == "bfind" and words.flag("shiftamt")
    clamps = name in ("bmsk", "szext") and words.choose("clamp", "wrap") == "clamp"
    kind = words.type()
    words.done()

    def mask_bits(start, length):
        start, length = (min(start, 32), min(length, 32)) if clamps else (start & 31, length & 31)
        return ((1 << length) - 1) << start

    def extended(value, length):
        length = length if clamps else length & 31
        if length >= 32:
            return value
        return cut_value(Type(kind.kind, length), value) if length else 0
    table = {
        "popc": (U32, [kind], lambda value: arithmetic.BITS["popc"](kind, value)),
        "clz": (U32, [kind], lambda value: arithmetic.BITS["clz"](kind, value)),
        "brev": (kind, [kind], lambda value: arithmetic.reversed_bits(kind, value)),
        "bfind": (U32, [kind], lambda value: arithmetic.find_high(kind, value, shift_amount)),
        "bfe": (kind, [kind, U32, U32], lambda *values: arithmetic.field(kind, *values)),
        "bfi": (kind, [kind, kind, U32, U32], lambda *values: arithmetic.inserted(kind, *values)),
        "fns": (kind, [U32, U32, S32], arithmetic.find_nth),
        "prmt": (kind, [U32] * 3, lambda *values: arithmetic.permuted(mode, *values)),
        "lop3": (kind, [kind, kind, kind, U32], lambda *values: arithmetic.looked_up(kind, *values)),
        "bmsk": (kind, [U32, U32], mask_bits),
        "szext": (kind, [kind, U32], extended),
    }
    result, kinds, function = table[name]
    return computing(instruction, result, kinds, function)


def build_dot(instruction):
    """dp4a: four products of bytes."""
    words = Modifiers(instruction)
    left, right = words.type("u", "s"), words.type("u", "s")
    words.done(4)

    def dot(first, second, addend):
        return addend + sum(Type(left.kind, 8).decode(first >> at) * Type(right.kind, 8).decode(second >> at)
                            for at in (0, 8, 16, 24))
    return computing(instruction, U32, [U32] * 3, dot)


# ---- comparisons, selections, moves, conversions ----

def comparison_of(words, kind):
    unordered = [name + "u" for name in arithmetic.ORDERED]
    name = words.choose(*arithmetic.ORDERED, *arithmetic.UNSIGNED, *unordered, "num", "nan")
    compare = name and arithmetic.comparison(name, kind.element)
    if not compare:
        raise words.unknown()
    return compare


def build_setp(instruction):
    words = Modifiers(instruction)
    kind, flush = words.type(), words.flag("ftz")
    if kind.kind.endswith("x2"):
        raise words.unknown()
    combine = arithmetic.BOOLEAN.get(words.choose("and", "or", "xor"))
    compare = comparison_of(words, kind)
    words.done(4 if combine else 3)
    target, left, right, *third = instruction.operands
    first, second = target if isinstance(target, Pair) else (target, Name("_", 0))
    write, write_other = writer(instruction, first, PRED), writer(instruction, second, PRED)
    left, right = reader(instruction, left, kind), reader(instruction, right, kind)
    other = reader(instruction, third[0], PRED) if third else None

    def step(thread):
        values = (left(thread), right(thread))
        if flush:
            values = [arithmetic.flushed(value, kind) for value in values]
        holds = compare(*values)
        with_other = combine or (lambda result, _: result)
        beside = other(thread) if other else None
        write(thread, with_other(holds, beside))
        write_other(thread, with_other(not holds, beside))
    return step


def build_set(instruction):
    words = Modifiers(instruction)
    result, kind, flush = words.type(), words.type(), words.flag("ftz")
    combine = arithmetic.BOOLEAN.get(words.choose("and", "or", "xor"))
    compare = comparison_of(words, kind)
    words.done()
    if kind.kind.endswith("x2") or result.kind.endswith("x2"):
        raise words.unknown()

    def call(left, right, *other):
        if flush:
            left, right = arithmetic.flushed(left, kind), arithmetic.flushed(right, kind)
        holds = combine(compare(left, right), *other) if combine else compare(left, right)
        return float(holds) if result.float else -int(holds)
    return computing(instruction, result, [kind, kind] + [PRED] * bool(combine), call)


def as_bits(kind):
    """A type whose values are their patterns, so that a NaN is moved unchanged."""
    return kind if kind.kind == "pred" else Type("b", kind.bits)


def build_selp(instruction):
    words = Modifiers(instruction)
    kind = as_bits(words.type())
    words.done(4)
    return computing(instruction, kind, [kind, kind, PRED], lambda left, right, first: left if first else right)


def build_slct(instruction):
    words = Modifiers(instruction)
    kind, chooser = as_bits(words.type()), words.type("s", "f")
    flush = words.flag("ftz")
    words.done(4)

    def choose(left, right, third):
        third = arithmetic.flushed(third, chooser) if flush else third
        return left if third >= 0 else right
    return computing(instruction, kind, [kind, kind, chooser], choose)


def build_mov(instruction):
    words = Modifiers(instruction)
    kind = as_bits(words.type())
    words.done(2)
    if all(isinstance(operand, Vector) for operand in instruction.operands):
        raise words.unknown()
    return computing(instruction, kind, [kind], lambda value: value)


def build_cvt(instruction):
    words = Modifiers(instruction)
    whole = words.choose("rni", "rzi", "rmi", "rpi")
    mode = words.choose(*arithmetic.ROUNDINGS) or (whole and whole[:2]) or "rn"
    flush, saturate = words.flag("ftz"), words.flag("sat")
    target, source = words.type(), words.type()
    words.done()
    if target.kind.endswith("x2"):
        return build_cvt_pair(instruction, target, source, mode, flush or saturate)
    if source.kind == "b" or target.kind == "b" or source.kind.endswith("x2"):
        raise words.unknown()
    if source.float and not target.float and not whole:
        raise words.unknown()

    def of_float(value):
        value = arithmetic.flushed(value, source) if flush and source.bits == 32 else value
        if not target.float:
            return arithmetic.float_to_integer(source, target, value, mode)
        value = arithmetic.float_to_float(target, value, whole, mode)
        value = arithmetic.flushed(value, target) if flush and target.bits == 32 else value
        return arithmetic.saturated(value) if saturate else value

    def of_integer(value):
        if target.float:
            value = arithmetic.rounded(arithmetic.Fraction(value), target, mode)
            return arithmetic.saturated(value) if saturate else value
        return arithmetic.clamped(target, value) if saturate else value
    return computing(instruction, target, [source], of_float if source.float else of_integer)


def build_cvt_pair(instruction, target, source, mode, more):
    """Two floats to a pair of halves; the first operand is the upper one."""
    if more or source != TYPES["f32"]:
        raise unsupported(instruction)
    return computing(instruction, target, [source] * 2, lambda upper, lower: tuple(
        arithmetic.rounded(value, target.element, mode) for value in (lower, upper)))


def build_cvta(instruction):
    words = Modifiers(instruction)
    back = words.flag("to")
    space = words.choose("global", "shared", "shared::cta", "local", "const", "param")
    kind = words.type("u")
    words.done(2)
    if not space or kind != U64:
        raise words.unknown()
    start = WINDOWS[space.split("::")[0]]
    return computing(instruction, kind, [kind], lambda address: address - start if back else address + start)


def build_isspacep(instruction):
    words = Modifiers(instruction)
    space = words.choose("global", "shared", "shared::cta", "local", "const", "param")
    words.done(2)
    if not space:
        raise words.unknown()
    return computing(instruction, PRED, [U64], lambda address: lies_in(space.split("::")[0], address))


# ---- memory ----

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


# ---- control ----

def build_branch(instruction):
    words = Modifiers(instruction)
    indexed = words.flag("idx")
    words.flag("uni")
    words.done(2 if indexed else 1)
    if indexed:
        return build_indexed_branch(instruction)
    target = instruction.scope.find(instruction.operands[0].name)
    if not isinstance(target, Label):
        raise words.unknown()
    pc = target.pc

    def step(thread):
        thread.pc = pc
    return step


def build_indexed_branch(instruction):
    index, table = instruction.operands
    read, targets = reader(instruction, index, U32), instruction.scope.find(table.name)
    if not isinstance(targets, Targets):
        raise unsupported(instruction)
    places = [instruction.scope.find(name) for name in targets.labels]

    def step(thread):
        chosen = read(thread)
        if chosen >= len(places):
            raise unsupported(instruction, "index past the targets")
        thread.pc = places[chosen].pc
    return step


def variable_of(instruction, operand):
    meaning = instruction.scope.find(operand.name) if isinstance(operand, Name) else None
    if not isinstance(meaning, Variable) or meaning.space != "param":
        raise unsupported(instruction, "argument in a register")
    return meaning


def build_call(instruction):
    words = Modifiers(instruction)
    words.flag("uni")
    words.done()
    operands = list(instruction.operands)
    returns = operands.pop(0).items if isinstance(operands[0], List) else []
    callee = operands.pop(0)
    arguments = operands.pop(0).items if operands and isinstance(operands[0], List) else []
    returns, arguments = ([variable_of(instruction, item) for item in items] for items in (returns, arguments))
    meaning = instruction.scope.find(callee.name)
    address = reader(instruction, callee, U64) if isinstance(meaning, Register) else None
    if not address and not isinstance(meaning, Function):
        raise words.unknown()

    def step(thread):
        function = thread.machine.function_at(address(thread)) if address else meaning
        if function is None:
            raise unsupported(instruction, "no function at this address")
        if function.defined:
            return thread.enter(function, arguments, returns, instruction)
        if function.name not in EXTERNAL:
            raise unsupported(instruction, function.name)
        values = [bytes(thread.locals[argument].data) for argument in arguments]
        result = EXTERNAL[function.name](thread, *values)
        if returns:
            thread.locals[returns[0]].data[:] = result.to_bytes(returns[0].size, "little")
        return None
    return step


def printed(thread, text, _):
    """vprintf returns how many arguments the format prints."""
    space, address = space_of(int.from_bytes(text, "little"))
    near = thread.space(space).near(address) if space else None
    if near is None:
        return U32.mask
    string = bytes(near.data[address - near.base:]).split(b"\0")[0]
    return len(re.findall(rb"%[^%]", string.replace(b"%%", b"")))


def assertion_failed(thread, *_):
    raise Trap


EXTERNAL = {"vprintf": printed, "__assertfail": assertion_failed}


def build_end(instruction):
    words = Modifiers(instruction)
    words.flag("uni")
    words.done(0)
    return Thread.leave if instruction.name == "ret" else Thread.exit


def build_trap(instruction):
    return assertion_failed


# ---- barriers and warps ----

class Barrier:
    """A thread waits at a barrier of its block. combine: of bar.red, on the predicates of all."""

    def __init__(self, number, count, value=None, finish=None, combine=None, waits=True):
        self.number, self.count, self.value, self.finish = number, count, value, finish
        self.combine, self.waits = combine, waits


class Gather:
    """A thread waits for the other lanes of the mask. finish(values by lane) ends the wait of one of them."""

    def __init__(self, key, mask, value, finish):
        self.key, self.mask, self.value, self.finish = key, mask, value, finish


COMBINED = {"and": all, "or": any, "popc": sum}


def build_barrier(instruction):
    words = Modifiers(instruction)
    words.flag("cta", "aligned")
    if words.flag("warp"):
        return build_warp_barrier(instruction, words)
    action = words.choose("sync", "arrive", "red")
    combine = COMBINED.get(words.choose(*COMBINED)) if action == "red" else None
    kind = words.type() if action == "red" else None
    words.done()
    operands = list(instruction.operands)
    if not action or (action == "red" and not combine):
        raise words.unknown()
    write = writer(instruction, operands.pop(0), kind) if action == "red" else None
    value = reader(instruction, operands.pop(), PRED) if action == "red" else None
    number, *count = [reader(instruction, operand, U32) for operand in operands]

    def step(thread):
        finish = write and (lambda result: write(thread, result))
        return Barrier(number(thread), count[0](thread) if count else None, value and value(thread), finish, combine,
                       action != "arrive")
    return step


def build_warp_barrier(instruction, words):
    words.flag("sync")
    words.done(1)
    return gathering(instruction, instruction.operands[0], lambda thread: None, lambda thread, values: None)


def gathering(instruction, mask, value, finish):
    """The step of a warp operation."""
    mask = reader(instruction, mask, U32)

    def step(thread):
        lanes = mask(thread)
        if not lanes >> thread.lane & 1:
            raise unsupported(instruction, "the mask leaves out the thread")
        return Gather((instruction.opcode, lanes), lanes, value(thread),
                      lambda values: finish(thread, values))
    return step


def build_shuffle(instruction):
    words = Modifiers(instruction)
    words.require("sync")
    mode, kind = words.choose("up", "down", "bfly", "idx"), words.type("b")
    words.done(5)
    if not mode:
        raise words.unknown()
    target, value, shift, clamp, mask = instruction.operands
    first, second = target if isinstance(target, Pair) else (target, Name("_", 0))
    write, write_inside = writer(instruction, first, kind), writer(instruction, second, PRED)
    value, shift, clamp = (reader(instruction, operand, U32) for operand in (value, shift, clamp))

    def source(lane, by, limits):
        by, limit, segment = by & 31, limits & 31, limits >> 8 & 31
        most = (lane & segment) | (limit & ~segment)
        if mode == "up":
            return lane - by, lane - by >= most
        place = {"down": lane + by, "bfly": lane ^ by, "idx": (lane & segment) | (by & ~segment)}[mode]
        return place, place <= most

    def finish(thread, values):
        lane, inside = source(thread.lane, *values[thread.lane][1:])
        lane = lane if inside else thread.lane
        if lane not in values:
            raise unsupported(instruction, "from a lane that takes no part")
        write(thread, values[lane][0])
        write_inside(thread, inside)
    return gathering(instruction, mask, lambda thread: (value(thread), shift(thread), clamp(thread)), finish)


VOTES = {"all": all, "any": any, "uni": lambda values: len(set(values)) == 1}


def build_vote(instruction):
    words = Modifiers(instruction)
    words.require("sync")
    mode, kind = words.choose("ballot", *VOTES), words.type("pred", "b")
    words.done(3)
    target, value, mask = instruction.operands
    if not mode:
        raise words.unknown()
    write, value = writer(instruction, target, kind), reader(instruction, value, PRED)

    def finish(thread, values):
        if mode == "ballot":
            write(thread, sum(bool(holds) << lane for lane, holds in values.items()))
        else:
            write(thread, VOTES[mode]([bool(holds) for holds in values.values()]))
    return gathering(instruction, mask, value, finish)


def build_match(instruction):
    words = Modifiers(instruction)
    words.require("sync")
    mode, kind = words.choose("any", "all"), words.type("b")
    words.done(3)
    target, value, mask = instruction.operands
    first, second = target if isinstance(target, Pair) else (target, Name("_", 0))
    write, write_same = writer(instruction, first, U32), writer(instruction, second, PRED)

    def finish(thread, values):
        same = sum(1 << lane for lane, value in values.items() if value == values[thread.lane])
        whole = same == sum(1 << lane for lane in values)
        write(thread, same if mode == "any" or whole else 0)
        write_same(thread, whole)
    return gathering(instruction, mask, reader(instruction, value, kind), finish)


def build_redux(instruction):
    words = Modifiers(instruction)
    words.require("sync")
    kind = words.type("u", "s", "b")
    operation = arithmetic.ATOMIC.get(words.choose("add", "min", "max", "and", "or", "xor"))
    words.done(3)
    target, value, mask = instruction.operands
    write = writer(instruction, target, kind)
    if not operation:
        raise words.unknown()

    def finish(thread, values):
        total, *others = values.values()
        for other in others:
            total = operation(kind, total, other)
        write(thread, total)
    return gathering(instruction, mask, reader(instruction, value, kind), finish)


BUILDERS = {}
for family, names in {
        build_arithmetic: "add sub addc subc div rem min max abs neg sad fma sqrt rcp copysign",
        build_approximate: "sin cos tanh ex2 lg2 rsqrt",
        build_product: "mul mad", build_product_24: "mul24 mad24",
        build_logic: "and or xor not cnot", build_shift: "shl shr", build_funnel: "shf",
        build_bits: "bfe bfi popc clz brev bfind fns prmt lop3 bmsk szext", build_dot: "dp4a",
        build_setp: "setp", build_set: "set", build_selp: "selp", build_slct: "slct", build_mov: "mov",
        build_cvt: "cvt", build_cvta: "cvta", build_isspacep: "isspacep",
        build_load: "ld ldu", build_store: "st", build_atomic: "atom red", build_copy: "cp",
        build_nothing: "membar fence prefetch prefetchu nanosleep",
        build_branch: "bra brx", build_call: "call", build_end: "ret exit", build_trap: "trap",
        build_barrier: "bar barrier", build_shuffle: "shfl", build_vote: "vote", build_match: "match",
        build_redux: "redux"}.items():
    BUILDERS.update(dict.fromkeys(names.split(), family))


def build_step(instruction):
    builder = BUILDERS.get(instruction.name)
    if not builder:
        raise unsupported(instruction)
    step = builder(instruction)
    if not instruction.guard:
        return step
    name, negated = instruction.guard
    holds = reader(instruction, Name(name, 0), PRED)
    return lambda thread: step(thread) if holds(thread) != negated else None


# ---- threads, blocks, the machine ----

class Thread:
    def __init__(self, machine, block, index, linear):
        self.machine, self.block, self.index, self.linear = machine, block, index, linear
        self.lane, self.carry, self.alive, self.waiting = linear % WARP, 0, True, None
        self.local, self.stack = Space("local"), []
        self.start_function(machine.entry, machine.parameters)

    def start_function(self, function, parameters):
        self.function, self.code, self.pc = function, function.code, 0
        self.registers, self.locals = [None] * function.slots, dict(parameters)
        for variable in function.variables:
            if variable.space == "param":
                self.locals[variable] = Object(variable.name, "param", 0, bytearray(variable.size))
            elif variable.space == "local":
                if self.local.full():
                    raise Unsupported("recursion this deep", variable.line)
                self.locals[variable] = self.local.add(variable.name, bytearray(variable.size))

    def enter(self, function, arguments, returns, instruction):
        if len(arguments) != len(function.parameters) or len(returns) != len(function.returns):
            raise unsupported(instruction, "arguments")
        passed = {}
        for formal, actual in zip(function.parameters, arguments):
            data = bytearray(self.locals[actual].data)
            passed[formal] = Object(formal.name, "param", 0, data[:formal.size].ljust(formal.size, b"\0"))
        for formal in function.returns:
            passed[formal] = Object(formal.name, "param", 0, bytearray(formal.size))
        self.stack.append((self.function, self.pc, self.registers, self.locals, returns, len(self.local.objects)))
        self.start_function(function, passed)

    def leave(self):
        """ret: from the kernel itself it ends the thread."""
        if not self.stack:
            return self.exit()
        results = [self.locals[formal].data for formal in self.function.returns]
        self.function, self.pc, self.registers, self.locals, returns, kept = self.stack.pop()
        self.code = self.function.code
        del self.local.objects[kept:]
        for actual, data in zip(returns, results):
            self.locals[actual].data[:] = data[:actual.size]
        return None

    def exit(self):
        self.alive = False

    def space(self, name):
        return {"local": self.local, "shared": self.block.shared}.get(name) or self.machine.spaces[name]

    def object_of(self, variable, instruction):
        if variable.space in ("param", "local"):
            found = self.locals.get(variable)
        elif variable.space == "shared":
            found = self.block.objects.get(variable)
        else:
            found = self.machine.objects.get(variable)
        if found is None:
            raise unsupported(instruction, f"{variable.name} has no known size")
        return found

    def address_of(self, meaning, instruction):
        if isinstance(meaning, Function):
            return self.machine.address_of_function(meaning)
        found = self.object_of(meaning, instruction)
        if meaning.space == "param" and not found.base:
            raise unsupported(instruction, f"address of {meaning.name}")
        return found.base

    def advance(self):
        """Runs up to a wait, the end, or as many steps as are its turn."""
        machine = self.machine
        limit = min(machine.steps + SLICE, machine.max_steps)
        while self.alive and not self.waiting and machine.steps < limit:
            machine.steps += 1
            if self.pc >= len(self.code):
                self.leave()
                continue
            instruction = self.code[self.pc]
            self.pc += 1
            if not instruction.step:
                instruction.step = build_step(instruction)
            try:
                wait = instruction.step(self)
            except Unspecified as why:
                raise unsupported(instruction, why) from None
            if wait:
                self.block.wait(self, wait)


class Block:
    def __init__(self, machine, index):
        self.machine, self.index = machine, index
        self.shared, self.objects = Space("shared"), {}
        self.arrived = {}  # by a barrier's number: the (thread, Barrier) that came to it
        self.make_shared()
        width, height, depth = machine.block
        self.threads = [Thread(machine, self, (x, y, z), x + width * (y + height * z))
                        for z in range(depth) for y in range(height) for x in range(width)]
        self.warps = [self.threads[at:at + WARP] for at in range(0, len(self.threads), WARP)]

    def make_shared(self):
        machine = self.machine
        dynamic = self.shared.add("dynamic shared", bytearray(machine.dynamic))
        for variable in machine.shared_variables:
            if variable.size is None or variable.extern:
                self.objects[variable] = dynamic
            else:
                self.objects[variable] = self.shared.add(variable.name, bytearray(variable.size))

    def wait(self, thread, wait):
        if isinstance(wait, Barrier):
            self.arrived.setdefault(wait.number, []).append((thread, wait))
            if wait.waits:
                thread.waiting = wait
        else:
            thread.waiting = wait

    def run(self):
        """None, or why the block cannot end."""
        while any(thread.alive for thread in self.threads):
            runnable = [thread for thread in self.threads if thread.alive and not thread.waiting]
            for thread in runnable:
                thread.advance()
            if self.machine.steps >= self.machine.max_steps:
                return "steps"
            released = any([self.release_barrier(number) for number in list(self.arrived)])
            released |= any([self.release_lanes(warp) for warp in self.warps])
            if not runnable and not released:
                return "deadlock"
        return None

    def release_barrier(self, number):
        """A barrier opens for the threads that it counts; it counts whole warps, and without a count all that live."""
        arrived = self.arrived[number]
        count = arrived[0][1].count
        if count is None:
            waiting = {thread for thread, _ in arrived}
            if any(thread.alive and thread not in waiting for thread in self.threads):
                return False
        elif WARP * len({thread.linear // WARP for thread, _ in arrived}) < count or self.warp_is_split(arrived):
            return False
        del self.arrived[number]
        values = [wait.value for _, wait in arrived if wait.combine]
        for thread, wait in arrived:
            if wait.finish:
                wait.finish(wait.combine(values))
            if wait.waits:
                thread.waiting = None
        return True

    def warp_is_split(self, arrived):
        """Whether lanes of a warp that came are still on their way."""
        here = {thread for thread, _ in arrived}
        return any(thread.alive and thread not in here
                   for number in {thread.linear // WARP for thread in here} for thread in self.warps[number])

    def release_lanes(self, warp):
        released = False
        for thread in warp:
            if not isinstance(thread.waiting, Gather):
                continue
            key, mask = thread.waiting.key, thread.waiting.mask
            members = [other for other in warp if other.alive and mask >> other.lane & 1]
            waits = [other.waiting for other in members]
            if not all(isinstance(wait, Gather) and wait.key == key for wait in waits):
                continue
            values = {other.lane: wait.value for other, wait in zip(members, waits)}
            for other, wait in zip(members, waits):
                other.waiting = None
                wait.finish(values)
            released = True
        return released


class Machine:
    def __init__(self, module, kernel, grid, block, launch, dynamic, max_steps, trace):
        self.module, self.kernel, self.grid, self.block = module, kernel, grid, block
        self.dynamic, self.max_steps, self.steps = dynamic, max_steps, 0
        self.accesses, self.approximate, self.trace = [], set(), [] if trace else None
        self.entry = module.functions[kernel]
        self.functions = list(module.functions.values())
        self.spaces = {name: Space(name) for name in ("global", "const", "param")}
        self.objects = {}
        self.shared_variables = [variable for holder in [module, *self.functions] for variable in holder.variables
                                 if variable.space == "shared"]
        self.parameters = self.make_parameters(launch)
        self.make_variables()

    def make_parameters(self, launch):
        data, seen = bytearray(launch.bytes), {}
        for offset, pointer in launch.pointers.items():
            buffer, delta = pointer if isinstance(pointer, tuple) else (pointer, 0)
            if id(buffer) not in seen:
                name = buffer.name or f"buffer {len(seen)}"
                seen[id(buffer)] = self.spaces["global"].add(name, buffer.data)
            struct.pack_into("<Q", data, offset, (seen[id(buffer)].base + delta) & U64.mask)
        parameters, end = {}, 0
        for variable, offset in zip(self.entry.parameters, parameter_offsets(self.entry)):
            end = offset + variable.size
            if end > len(data):
                raise ValueError(f"{variable.name} lies behind the {len(data)} parameter bytes")
            parameters[variable] = self.spaces["param"].add(variable.name, data[offset:end])
        return parameters

    def make_variables(self):
        """Addresses first, because a value may hold the address of a later variable."""
        kept = [variable for variable in self.module.variables
                if variable.space in ("global", "const") and variable.size is not None]
        for variable in kept:
            self.objects[variable] = self.spaces[variable.space].add(variable.name, bytearray(variable.size))
        for variable in kept:
            for place, value in enumerate(variable.initial or []):
                start = place * variable.element
                self.objects[variable].data[start:start + variable.element] = self.initial_bytes(variable, value)

    def initial_bytes(self, variable, value):
        size = variable.element
        if isinstance(value, Int):
            return (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if isinstance(value, Real) and value.bits == 8 * size:
            return value.pattern.to_bytes(size, "little")
        if not isinstance(value, tuple) or isinstance(value, (Real, Decimal)) or size != 8:
            raise Unsupported(f"initial value of {variable.name}", variable.line)
        name, offset, generic = value
        meaning = self.module.scope.find(name)
        if isinstance(meaning, Function):
            address = self.address_of_function(meaning)
        elif meaning in self.objects:
            address = self.objects[meaning].base + (WINDOWS[meaning.space] if generic else 0)
        else:
            raise Unsupported(f"initial value of {variable.name}", variable.line)
        return (address + offset).to_bytes(size, "little")

    def address_of_function(self, function):
        return FUNCTION_START + 16 * self.functions.index(function)

    def function_at(self, address):
        place, rest = divmod(address - FUNCTION_START, 16)
        return self.functions[place] if not rest and 0 <= place < len(self.functions) else None

    def run(self):
        width, height, depth = self.grid
        stopped = None
        try:
            for linear in range(width * height * depth):
                index = (linear % width, linear // width % height, linear // (width * height))
                stopped = Block(self, index).run()
                if stopped:
                    break
        except Trap:
            stopped = "trap"
        return Result(self.accesses, stopped, self.steps, sorted(self.approximate), self.trace)


def parameter_offsets(function):
    offsets, end = [], 0
    for variable in function.parameters:
        if variable.size is None:
            raise Unsupported(f"size of {variable.name}", variable.line)
        start = -(-end // variable.align) * variable.align
        offsets.append(start)
        end = start + variable.size
    return offsets


def pack(module, kernel, values):
    """A Launch from a value for each parameter: a Buffer or (Buffer, delta), an int, a float, or bytes."""
    function = module.functions[kernel]
    if len(values) != len(function.parameters):
        raise ValueError(f"{kernel} takes {len(function.parameters)} parameters")
    data, pointers = bytearray(), {}
    for variable, offset, value in zip(function.parameters, parameter_offsets(function), values):
        data.extend(bytes(offset + variable.size - len(data)))
        if isinstance(value, (Buffer, tuple)):
            pointers[offset] = value
            continue
        if isinstance(value, float):
            value = struct.pack({4: "<f", 8: "<d"}[variable.size], value)
        elif isinstance(value, int):
            value = (value & ((1 << 8 * variable.size) - 1)).to_bytes(variable.size, "little")
        data[offset:offset + len(value)] = value
    return Launch(bytes(data), pointers)


def run(module, kernel, grid, block, launch, dynamic=0, max_steps=1000000, trace=False):
    """Runs the grid; see the top of the file. module: what parse returned, or the text."""
    if isinstance(module, str):
        module = parse(module)
    whole = [tuple(shape) + (1,) * (3 - len(shape)) for shape in (grid, block)]
    return Machine(module, kernel, *whole, launch, dynamic, max_steps, trace).run()
