"""The arithmetic of PTX on integers: each of INTEGER takes the words of an opcode, its type, its bits and the operands. None: it is
not modelled."""
import operator

from values import (ZERO, add, at_most, at_most_zero, choose, floor_div, floor_mod, least, most, multiply, number, plus, scale,
                    sub, unsigned, variable, worst, wrap)


def product(op, kind, bits, p, q):
    if kind[0] == "u" and ("wide" in op or "hi" in op):
        p, q = unsigned(p, bits), unsigned(q, bits)
    whole = multiply(p, q)
    if "wide" in op:
        return wrap(whole, 2 * bits)
    return wrap(floor_div(whole, 1 << bits) if "hi" in op else whole, bits)


def _mad(op, kind, bits, p, q, r):
    return wrap(add(product(op, kind, bits, p, q), r), 2 * bits if "wide" in op else bits)


def _divide(op, kind, bits, p, q):
    if kind[0] != "s":
        p, q = unsigned(p, bits), unsigned(q, bits)
    n = q.constant()
    if n is None or n <= 0:
        return _divide_by_any(op, bits, p, q)
    if op[0] == "div":
        up = lambda: scale(floor_div(scale(p, -1), n), -1)
        down = lambda: floor_div(p, n)
    else:
        up = lambda: scale(floor_mod(scale(p, -1), n), -1)
        down = lambda: floor_mod(p, n)
    if p.low >= 0:
        return wrap(down(), bits)
    return up() if p.high <= 0 else choose(at_most_zero(scale(p, -1)), down(), up())


def _divide_by_any(op, bits, p, q):
    if p.low < 0 or q.low <= 0:
        return None
    if op[0] == "rem":
        return wrap(variable(0, min(q.high - 1, p.high), worst(p, q)), bits)
    return wrap(variable(p.low // q.high, p.high // q.low, worst(p, q)), bits)


def _shift_left(_op, _kind, bits, p, q):
    q = unsigned(q, 32)
    return _by_each(q, bits, lambda n: wrap(scale(p, 1 << n), bits) if n < bits else ZERO)


def _shift_right(_op, kind, bits, p, q):
    if kind[0] != "s":
        p = unsigned(p, bits)
    q = unsigned(q, 32)
    return _by_each(q, bits, lambda n: wrap(floor_div(p, 1 << min(n, bits)), bits))


def _by_each(q, bits, result):
    """The result for each value of q that matters, from the least on."""
    low, high = min(q.low, bits), min(q.high, bits)
    if high - low > 40:
        return None
    found = result(high)
    for n in range(high - 1, low - 1, -1):
        found = choose(at_most(q, number(n)), result(n), found)
    return found


def _bitwise(combine, symbolic):
    """Of numbers that are known, the result; else what can be said of it."""
    def compute(op, kind, bits, p, q):
        if p.constant() is not None and q.constant() is not None:
            return wrap(number(combine(p.constant(), q.constant())), bits)
        return symbolic(op, kind, bits, *((q, p) if p.constant() is not None else (p, q)))
    return compute


def _and(_op, _kind, bits, p, q):
    if q.constant() is not None:
        found = _masked(p, q.constant() & ((1 << bits) - 1), bits)
        if found is not None:
            return found
    if p.low >= 0 or q.low >= 0:
        return variable(0, min(one.high for one in (p, q) if one.low >= 0), worst(p, q))
    return None


def _masked(p, mask, bits):
    if mask == 0:
        return ZERO
    lowest = (mask & -mask).bit_length() - 1
    run = mask >> lowest
    if run & (run + 1):
        return None
    if mask >> (bits - 1):  # all above the lowest
        return wrap(sub(p, floor_mod(p, 1 << lowest)), bits)
    return wrap(scale(floor_mod(floor_div(p, 1 << lowest), run + 1), 1 << lowest), bits)


def _low_zeros(p):
    """How many of the lowest bits are certainly zero."""
    together = 0
    for c in p.terms.values():
        together |= c
    return (together & -together).bit_length() - 1 if together else 64


def _or(_op, _kind, bits, p, q):
    for one, other in ((p, q), (q, p)):
        if 0 <= other.low and other.high < 1 << _low_zeros(one):
            return wrap(add(one, other), bits)
    both = None if q.constant() is None else _masked(p, q.constant() & ((1 << bits) - 1), bits)
    if both is not None:
        return wrap(sub(add(p, q), both), bits)
    if p.low >= 0 and q.low >= 0:
        return variable(max(p.low, q.low), (1 << max(p.high, q.high).bit_length()) - 1, worst(p, q))
    return None


def _xor(_op, _kind, bits, p, q):
    n = q.constant()
    if n == 0:
        return p
    if n == -1:
        return plus(scale(p, -1), -1)
    if p.key() == q.key():
        return ZERO
    if n is not None and n > 0 and n & (n - 1) == 0:
        return wrap(add(sub(p, floor_mod(p, 2 * n)), floor_mod(add(p, q), 2 * n)), bits)
    for one, other in ((p, q), (q, p)):
        if 0 <= other.low and other.high < 1 << _low_zeros(one):
            return wrap(add(one, other), bits)
    if p.low >= 0 and q.low >= 0:
        return variable(0, (1 << max(p.high, q.high).bit_length()) - 1, worst(p, q))
    return None


def _extract(_op, kind, bits, p, position, length):
    at, n = position.constant(), length.constant()
    if at is None or n is None or not 0 <= at < bits or not 0 < n <= bits:
        return None
    if kind[0] == "s":
        return wrap(floor_div(p, 1 << at), min(n, bits - at))
    return wrap(floor_mod(floor_div(unsigned(p, bits), 1 << at), 1 << n), bits)


def _by_table(_op, _kind, bits, p, q, r, table):
    """Each bit of the result stands in the table, at the number that the bits of p, q and r make."""
    if any(one.constant() is None for one in (p, q, r, table)):
        return None
    found = 0
    for at in range(8):
        if table.constant() >> at & 1:
            found |= (p.constant() ^ -(~at >> 2 & 1)) & (q.constant() ^ -(~at >> 1 & 1)) & (r.constant() ^ -(~at & 1))
    return wrap(number(found), bits)


def _extreme(op, kind, bits, p, q):
    if kind[0] != "s":
        p, q = unsigned(p, bits), unsigned(q, bits)
    return wrap((least if op[0] == "min" else most)(p, q), bits)


def _count(op, _kind, bits, p):
    return variable(-1 if op[0] == "bfind" else 0, bits, worst(p))


INTEGER = {
    "add": lambda op, kind, bits, p, q: wrap(add(p, q), bits),
    "sub": lambda op, kind, bits, p, q: wrap(sub(p, q), bits),
    "mul": product, "mad": _mad, "div": _divide, "rem": _divide, "min": _extreme, "max": _extreme,
    "neg": lambda op, kind, bits, p: wrap(scale(p, -1), bits),
    "abs": lambda op, kind, bits, p: wrap(most(p, scale(p, -1)), bits),
    "not": lambda op, kind, bits, p: plus(scale(p, -1), -1),
    "shl": _shift_left, "shr": _shift_right, "bfe": _extract,
    "lop3": _by_table, "and": _bitwise(operator.and_, _and), "or": _bitwise(operator.or_, _or), "xor": _bitwise(operator.xor, _xor),
    "popc": _count, "clz": _count, "bfind": _count,
}
