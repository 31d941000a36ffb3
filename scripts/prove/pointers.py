"""What a register holds besides numbers and conditions: addresses, and what is not known; and how two states are one."""
from values import (FALSE, POINTER, TRUE, UNDEFINED, UNMODELLED, Cond, Poly, TooLarge, add, both, choose, either, negate,
                    variable, worst, wrap)


class Unknown:
    """A value of which only its source is known. It becomes an atom when something asks for a number."""
    __slots__ = ("source",)

    def __init__(self, source):
        self.source = source


class Thing:
    """What a pointer points into. size is None where it is not known, align where that is not. certain: that the pointer
    belongs to it."""
    __slots__ = ("kind", "name", "size", "align", "certain", "pointer")

    def __init__(self, kind, name, size, align, certain=True, pointer=None):
        self.kind, self.name, self.size, self.align, self.certain = kind, name, size, align, certain
        self.pointer = pointer


class Pointer:
    """choices: (condition, thing or None, offset); a None thing has an address that is a number. The offset is of so many
    bits: an address is the thing's plus the offset, modulo 2^bits, and so is each sum."""
    __slots__ = ("bits", "choices")

    def __init__(self, bits, choices):
        self.bits, self.choices = bits, choices

    def moved(self, p):
        return Pointer(self.bits, tuple((c, thing, wrap(add(offset, p), self.bits)) for c, thing, offset in self.choices))

    def single(self):
        """(thing, offset), or (None, None) where there are several."""
        return self.choices[0][1:] if len(self.choices) == 1 else (None, None)


def pointer_to(thing, offset, bits):
    return Pointer(bits, ((TRUE, thing, offset),))


def merge(c, new, old, bits):
    """new where c holds, else old, of a register with so many bits (0: a predicate)."""
    if new is old or c is TRUE:
        return new
    if c is FALSE:
        return old
    for value in (new, old):
        if value is None or isinstance(value, Unknown):
            return value or Unknown(UNDEFINED)
    try:
        return _merged(c, new, old, bits)
    except TooLarge:
        if isinstance(new, Poly) and isinstance(old, Poly):
            return variable(min(new.low, old.low), max(new.high, old.high), worst(new, old))
        return Unknown(worst(new, old))


def _merged(c, new, old, bits):
    if isinstance(new, Cond) and isinstance(old, Cond):
        return either(both(c, new), both(negate(c), old))
    if isinstance(new, Poly) and isinstance(old, Poly):
        return choose(c, new, old)
    if isinstance(new, Cond) or isinstance(old, Cond):
        return Unknown(UNMODELLED)
    return _merge_pointers(c, _as_pointer(new, bits), _as_pointer(old, bits))


def _as_pointer(value, bits):
    return value if isinstance(value, Pointer) else Pointer(bits, ((TRUE, None, value),))


def _merge_pointers(c, new, old):
    thing, offset = new.single()
    other, behind = old.single()
    if new.bits != old.bits:
        return Unknown(POINTER)
    if thing is not None and thing is other:
        return pointer_to(thing, choose(c, offset, behind), new.bits)
    choices = tuple((both(c, g), t, o) for g, t, o in new.choices) + tuple(
        (both(negate(c), g), t, o) for g, t, o in old.choices)
    choices = tuple(one for one in choices if one[0] is not FALSE)
    return Pointer(new.bits, choices) if 0 < len(choices) <= 8 else Unknown(POINTER)
