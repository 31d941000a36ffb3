"""State spaces of the interpreter: objects far from each other, and which of them an address belongs to.

Objects of a space lie one stride apart, so that a wild index still falls next to its own object. A stride is no power
of two, because an index that doubles would otherwise meet the next object exactly.
"""

WINDOW = 50  # generic addresses: bits 50 and up say the space, and 8 and more are global memory
WINDOWS = {"shared": 1 << WINDOW, "local": 2 << WINDOW, "const": 3 << WINDOW, "param": 4 << WINDOW, "global": 0}
GLOBAL_START = 8 << WINDOW
STRIDES = {"global": (1 << 44) + (1 << 41), "const": (1 << 38) + (1 << 35), "param": (1 << 38) + (1 << 35),
           "shared": (1 << 26) + (1 << 18), "local": (1 << 24) + (1 << 20)}
NARROW = ("shared", "local")  # their addresses have 32 bits; wider registers are truncated


class Object:
    def __init__(self, name, space, base, data):
        self.name, self.space, self.base, self.data = name, space, base, data

    def holds(self, offset, width):
        return 0 <= offset and offset + width <= len(self.data)


class Space:
    def __init__(self, name):
        self.name, self.stride, self.objects = name, STRIDES[name], []
        self.start = GLOBAL_START if name == "global" else self.stride

    def full(self):
        return self.name in NARROW and self.start + (len(self.objects) + 1) * self.stride > 1 << 32

    def add(self, name, data):
        made = Object(name, self.name, self.start + len(self.objects) * self.stride, data)
        self.objects.append(made)
        return made

    def near(self, address):
        """The object whose half stride on either side holds the address, or None."""
        place = (address - self.start + self.stride // 2) // self.stride
        return self.objects[place] if 0 <= place < len(self.objects) else None


def space_of(generic):
    """The space of a generic address, and the address in it. A little below a window counts as the window."""
    window = (generic + (1 << (WINDOW - 1))) >> WINDOW
    if window >= GLOBAL_START >> WINDOW:
        return "global", generic
    for name, start in WINDOWS.items():
        if start and window == start >> WINDOW:
            return name, generic - start
    return None, generic


def lies_in(space, generic):
    """isspacep."""
    return space_of(generic)[0] == space and (space not in NARROW or 0 <= generic - WINDOWS[space] < 1 << 32)
