"""Values of PTX types and the operations on them, after the PTX ISA manual.

A register holds a bit pattern. A Type decodes it to a Python int, bool, float, or pair of floats (x2), and encodes the
result. Floats are exact: an operation rounds once, by `rounded`, in the format and the mode that it names.
"""
import math
import struct
from collections import namedtuple
from fractions import Fraction

Format = namedtuple("Format", "precision least most")  # significant bits, exponents of normal values
FORMATS = {("f", 16): Format(11, -14, 15), ("bf", 16): Format(8, -126, 127),
           ("f", 32): Format(24, -126, 127), ("f", 64): Format(53, -1022, 1023)}
PACKED = {("f", 16): "<e", ("f", 32): "<f", ("f", 64): "<d"}
NAN = {("f", 16): 0x7FFF, ("bf", 16): 0x7FFF, ("f", 32): 0x7FFFFFFF, ("f", 64): 0x7FF8 << 48}
ROUNDINGS = ("rn", "rz", "rm", "rp")


class Unspecified(Exception):
    """The manual leaves the result to the machine."""


# ---- types ----

class Type(namedtuple("Type", "kind bits")):
    """kind: u, s, b, f, bf, pred, or fx2 and bfx2 for two halves in 32 bits."""
    __slots__ = ()

    @property
    def mask(self):
        return (1 << self.bits) - 1

    @property
    def float(self):
        return self.kind in ("f", "bf", "fx2", "bfx2")

    @property
    def element(self):
        return Type(self.kind[:-2], 16) if self.kind.endswith("x2") else self

    def decode(self, pattern):
        pattern &= self.mask
        if self.kind in ("u", "b"):
            return pattern
        if self.kind == "s":
            return pattern - (1 << self.bits) if pattern >> (self.bits - 1) else pattern
        if self.kind == "pred":
            return bool(pattern)
        if self.kind.endswith("x2"):
            return (self.element.decode(pattern & 0xFFFF), self.element.decode(pattern >> 16))
        if self.kind == "bf":
            return struct.unpack("<f", struct.pack("<I", pattern << 16))[0]
        return struct.unpack(PACKED[self], pattern.to_bytes(self.bits // 8, "little"))[0]

    def encode(self, value):
        if self.kind in ("u", "b", "s"):
            return value & self.mask
        if self.kind == "pred":
            return int(bool(value))
        if self.kind.endswith("x2"):
            return self.element.encode(value[0]) | self.element.encode(value[1]) << 16
        if math.isnan(value):
            return NAN[self]
        if self.kind == "bf":
            return struct.unpack("<I", struct.pack("<f", value))[0] >> 16
        return int.from_bytes(struct.pack(PACKED[self], value), "little")


TYPES = {f"{kind}{bits}": Type(kind, bits) for kind in "usb" for bits in (8, 16, 32, 64)}
TYPES.update({"b128": Type("b", 128), "pred": Type("pred", 1), "f16": Type("f", 16), "bf16": Type("bf", 16),
              "f32": Type("f", 32), "f64": Type("f", 64), "f16x2": Type("fx2", 32), "bf16x2": Type("bfx2", 32)})


# ---- rounding ----

def rounded_whole(value, mode):
    """A Fraction to an integer."""
    low = math.floor(value)
    rest = value - low
    if not rest or mode == "rm":
        return low
    if mode == "rp":
        return low + 1
    if mode == "rz":
        return low if value > 0 else low + 1
    return low + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and low % 2 == 1))


def rounded_exactly(value, kind, mode):
    """A Fraction to the nearest value of a format."""
    if not value:
        return 0.0
    form = FORMATS[kind]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if size < Fraction(2) ** exponent:
        exponent -= 1
    unit = max(exponent, form.least) - form.precision + 1
    whole = rounded_whole(value / Fraction(2) ** unit, mode)
    limit = Fraction(2) ** (form.most + 1)
    if abs(whole) * Fraction(2) ** unit >= limit:
        toward_zero = mode == "rz" or (mode == "rm" and value > 0) or (mode == "rp" and value < 0)
        most = math.ldexp((1 << form.precision) - 1, form.most - form.precision + 1) if toward_zero else math.inf
        return math.copysign(most, value)
    return math.copysign(math.ldexp(abs(whole), unit), value)


def rounded(value, kind, mode="rn"):
    """A float or a Fraction to a value of the format kind."""
    if isinstance(value, float):
        if value == 0 or not math.isfinite(value) or (kind == ("f", 64)):
            return value
        if mode == "rn" and kind == ("f", 32):
            try:
                return struct.unpack("<f", struct.pack("<f", value))[0]
            except OverflowError:
                return math.copysign(math.inf, value)
        value = Fraction(value)
    return rounded_exactly(value, kind, mode)


def flushed(value, kind):
    """What .ftz makes of a subnormal value."""
    small = value and abs(value) < math.ldexp(1.0, FORMATS[kind].least)
    return math.copysign(0.0, value) if small else value


def saturated(value):
    return 0.0 if math.isnan(value) else min(max(value, 0.0), 1.0) + 0.0


# ---- floats ----

def exact_or(special, exact, kind, mode, values):
    """Rounds exact(); special is the IEEE result where the exact one is zero or does not exist."""
    if not all(map(math.isfinite, values)):
        return special
    result = exact()
    if result == 0:
        return special
    return rounded(result, kind, mode)


def zero_sum(left, right, mode):
    """The sign of an exact zero depends on the mode if the terms have different signs."""
    if left == 0 and right == 0 and math.copysign(1, left) == math.copysign(1, right):
        return left
    return -0.0 if mode == "rm" else 0.0


def float_add(kind, mode, left, right):
    special = left + right
    if special == 0:
        return zero_sum(left, right, mode)
    return exact_or(special, lambda: Fraction(left) + Fraction(right), kind, mode, (left, right))


def float_sub(kind, mode, left, right):
    return float_add(kind, mode, left, -right)


def float_mul(kind, mode, left, right):
    return exact_or(left * right, lambda: Fraction(left) * Fraction(right), kind, mode, (left, right))


def float_div(kind, mode, left, right):
    if right == 0:
        if left == 0 or math.isnan(left):
            return math.nan
        return math.copysign(math.inf, math.copysign(1, left) * math.copysign(1, right))
    return exact_or(left / right, lambda: Fraction(left) / Fraction(right), kind, mode, (left, right))


def float_fma(kind, mode, left, right, addend):
    product = left * right
    if not all(map(math.isfinite, (left, right, addend))):
        return product + addend if math.isinf(left) or math.isinf(right) or math.isnan(product) else left * 0 + addend
    exact = Fraction(left) * Fraction(right) + Fraction(addend)
    if exact == 0:
        return zero_sum(math.copysign(0.0, product) if left == 0 or right == 0 else product, addend, mode)
    return rounded(exact, kind, mode)


def float_sqrt(kind, mode, value):
    if value < 0 or math.isnan(value):
        return math.nan
    if value == 0 or math.isinf(value):
        return value
    if mode == "rn" and kind != ("f", 64):
        return rounded(math.sqrt(value), kind)
    if mode == "rn":
        return math.sqrt(value)
    raise Unspecified("sqrt." + mode)


def float_rcp(kind, mode, value):
    return float_div(kind, mode, 1.0, value)


def float_least(left, right, pick):
    """min and max: a number wins over a NaN, and -0 lies below +0."""
    if math.isnan(left):
        return right
    if math.isnan(right):
        return left
    return pick(left, right, key=lambda value: (value, math.copysign(1, value)))


FLOAT = {
    "add": (2, float_add), "sub": (2, float_sub), "mul": (2, float_mul), "div": (2, float_div),
    "fma": (3, float_fma), "mad": (3, float_fma), "sqrt": (1, float_sqrt), "rcp": (1, float_rcp),
    "min": (2, lambda kind, mode, left, right: float_least(left, right, min)),
    "max": (2, lambda kind, mode, left, right: float_least(left, right, max)),
    "neg": (1, lambda kind, mode, value: -value),
    "abs": (1, lambda kind, mode, value: abs(value)),
    "copysign": (2, lambda kind, mode, sign, size: math.copysign(size, sign)),
}


def guarded(function):
    """Python raises where a machine has an infinity or a NaN."""
    def call(value):
        try:
            return function(value)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.nan
    return call


def logarithm(value):
    if value == 0:
        return -math.inf
    return math.log2(value)


def inverse_root(value):
    if value == 0:
        return math.copysign(math.inf, value)
    return 0.0 if value == math.inf else 1 / math.sqrt(value)


# The machine's results may differ from these in the last bits; a run says whether it used one.
APPROXIMATE = {
    "sin": guarded(math.sin), "cos": guarded(math.cos), "tanh": guarded(math.tanh),
    "ex2": guarded(lambda value: 0.0 if value == -math.inf else 2.0 ** value),
    "lg2": guarded(logarithm), "rsqrt": guarded(inverse_root),
}


# ---- comparisons ----

ORDERED = {
    "eq": lambda left, right: left == right, "ne": lambda left, right: left != right,
    "lt": lambda left, right: left < right, "le": lambda left, right: left <= right,
    "gt": lambda left, right: left > right, "ge": lambda left, right: left >= right,
}
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def comparison(name, kind):
    """The function of two values behind a comparison's name, or None where the type does not have it."""
    if kind.float:
        unordered = name.endswith("u") and name[:-1] in ORDERED
        if name in ("num", "nan"):
            return lambda left, right: (math.isnan(left) or math.isnan(right)) == (name == "nan")
        compare = ORDERED.get(name[:-1] if unordered else name)
        return compare and (lambda left, right: unordered if math.isnan(left) or math.isnan(right)
                            else compare(left, right))
    if kind.kind == "b" and name not in ("eq", "ne"):
        return None
    if name in UNSIGNED:
        return ORDERED[UNSIGNED[name]] if kind.kind == "u" else None
    return ORDERED.get(name)


BOOLEAN = {"and": lambda left, right: left and right, "or": lambda left, right: left or right,
           "xor": lambda left, right: left != right}


# ---- integers ----

def quotient(left, right):
    """Rounds toward zero."""
    if right == 0:
        raise Unspecified("division by zero")
    whole = abs(left) // abs(right)
    return whole if (left < 0) == (right < 0) else -whole


def remainder(left, right):
    return left - quotient(left, right) * right


# By opcode: how many operands, and a function of the type and their values. The result wraps when it is encoded.
INTEGER = {
    "add": (2, lambda kind, left, right: left + right),
    "sub": (2, lambda kind, left, right: left - right),
    "div": (2, lambda kind, left, right: quotient(left, right)),
    "rem": (2, lambda kind, left, right: remainder(left, right)),
    "min": (2, lambda kind, left, right: min(left, right)),
    "max": (2, lambda kind, left, right: max(left, right)),
    "abs": (1, lambda kind, value: abs(value)),
    "neg": (1, lambda kind, value: -value),
    "sad": (3, lambda kind, left, right, addend: addend + abs(left - right)),
}
LOGIC = {
    "and": (2, lambda kind, left, right: left & right),
    "or": (2, lambda kind, left, right: left | right),
    "xor": (2, lambda kind, left, right: left ^ right),
    "not": (1, lambda kind, value: ~value),
    "cnot": (1, lambda kind, value: value == 0),
}


def part_of_product(part, kind):
    """lo, hi or wide of a product: the function, and the type of its result."""
    if part == "hi":
        return (lambda product: product >> kind.bits), kind
    if part == "wide" and kind.bits in (16, 32):
        return (lambda product: product), Type(kind.kind, kind.bits * 2)
    if part == "lo":
        return (lambda product: product), kind
    return None, None


def shift_left(kind, value, amount):
    return 0 if amount >= kind.bits else value << amount


def shift_right(kind, value, amount):
    """Signed values keep their sign, because Python shifts them as if they had endless sign bits."""
    return value >> min(amount, kind.bits)


def funnel(left, wrap, low, high, amount):
    """shf: 32 bits of a pair."""
    amount = amount & 31 if wrap else min(amount, 32)
    both = high << 32 | low
    return (both << amount) >> 32 if left else both >> amount


def field(kind, value, position, length):
    """bfe. A field past the top is filled with its sign bit, or zeros."""
    position, length = position & 0xFF, length & 0xFF
    pattern, top = value & kind.mask, kind.bits - 1
    sign = (pattern >> min(position + length - 1, top)) & 1 if kind.kind == "s" and length else 0
    result = 0
    for bit in range(kind.bits):
        inside = bit < length and position + bit <= top
        result |= ((pattern >> (position + bit)) & 1 if inside else sign) << bit
    return result


def inserted(kind, value, into, position, length):
    """bfi."""
    position, length = position & 0xFF, length & 0xFF
    if position >= kind.bits:
        return into
    mask = ((1 << length) - 1) << position & kind.mask
    return (into & ~mask) | (value << position & mask)


PERMUTED = {  # by mode and the two low bits of the selector: bytes of the result, the highest first
    "f4e": ("3210", "4321", "5432", "6543"), "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"), "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"), "rc16": ("1010", "3232", "1010", "3232"),
}


def permuted(mode, low, high, selector):
    """prmt."""
    both = (high << 32 | low).to_bytes(8, "little")
    if mode:
        return int.from_bytes(bytes(both[int(place)] for place in PERMUTED[mode][selector & 3]), "big")
    result = 0
    for place in range(4):
        chosen = selector >> (4 * place) & 0xF
        byte = both[chosen & 7]
        if chosen & 8:  # the byte's sign, over the whole byte
            byte = 0xFF if byte & 0x80 else 0
        result |= byte << (8 * place)
    return result


def looked_up(kind, left, middle, right, table):
    """lop3: the table's bit number abc for each bit of the operands."""
    result = 0
    for row in range(8):
        if table >> row & 1:
            result |= ((left if row & 4 else ~left) & (middle if row & 2 else ~middle)
                       & (right if row & 1 else ~right))
    return result


def find_high(kind, value, shift_amount):
    """bfind."""
    if value < 0:
        value = ~value
    place = value.bit_length() - 1
    if place < 0:
        return 0xFFFFFFFF
    return kind.bits - 1 - place if shift_amount else place


def find_nth(mask, base, offset):
    """fns."""
    if offset == 0:
        return base if base < 32 and mask >> base & 1 else 0xFFFFFFFF
    left, step = abs(offset), 1 if offset > 0 else -1
    while 0 <= base < 32:
        left -= mask >> base & 1
        if not left:
            return base
        base += step
    return 0xFFFFFFFF


def reversed_bits(kind, value):
    return int(format(value, f"0{kind.bits}b")[::-1], 2)


BITS = {  # of a type's value to 32 bits
    "popc": lambda kind, value: bin(value).count("1"),
    "clz": lambda kind, value: kind.bits - value.bit_length(),
}


def clamped(kind, value):
    """The nearest value of an integer type."""
    least = -(1 << (kind.bits - 1)) if kind.kind == "s" else 0
    return min(max(value, least), least + kind.mask)


# ---- conversions ----

def float_to_integer(source, target, value, mode):
    if math.isnan(value):
        wide = source.bits == 64 or target.bits == 64
        return 1 << (target.bits - 1) if wide else 0
    if math.isinf(value):
        return clamped(target, (1 << 70) if value > 0 else -(1 << 70))
    return clamped(target, rounded_whole(Fraction(value), mode))


def float_to_float(target, value, whole, mode):
    """whole: rounds to an integer, too."""
    if whole and math.isfinite(value) and value:
        return math.copysign(float(rounded_whole(Fraction(value), mode)), value)
    return rounded(value, target, mode)


# ---- atomics ----

def wrapping_up(kind, old, limit):
    return 0 if old >= limit else old + 1


def wrapping_down(kind, old, limit):
    return limit if old == 0 or old > limit else old - 1


ATOMIC = {name: INTEGER[name][1] for name in ("add", "min", "max")}
ATOMIC.update({name: LOGIC[name][1] for name in ("and", "or", "xor")})
ATOMIC.update({"exch": lambda kind, old, new: new, "inc": wrapping_up, "dec": wrapping_down})
