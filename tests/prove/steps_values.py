"""What computes: arithmetic, logic, comparisons, selections, moves and conversions."""
import math

import arithmetic
from arithmetic import TYPES, Type
from memory import WINDOWS, lies_in
from operands import (PRED, S32, U32, U64, Modifiers, as_bits, builders, computing, pattern_reader, reader, unsupported,
                      writer)
from ptx_text import Name, Pair, Vector


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


BUILDERS = builders({
    build_arithmetic: "add sub addc subc div rem min max abs neg sad fma sqrt rcp copysign",
    build_approximate: "sin cos tanh ex2 lg2 rsqrt",
    build_product: "mul mad", build_product_24: "mul24 mad24",
    build_logic: "and or xor not cnot", build_shift: "shl shr", build_funnel: "shf",
    build_bits: "bfe bfi popc clz brev bfind fns prmt lop3 bmsk szext", build_dot: "dp4a",
    build_setp: "setp", build_set: "set", build_selp: "selp", build_slct: "slct", build_mov: "mov",
    build_cvt: "cvt", build_cvta: "cvta", build_isspacep: "isspacep"})
