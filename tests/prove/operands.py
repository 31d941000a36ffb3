"""Operands of an instruction: functions of a thread that read and write them, and the words behind an opcode.

A step is a function of a thread that does what the instruction does. Each file steps_*.py has those of a family: a
function for each opcode makes the step of an instruction, and what it does not know raises Unsupported.
"""
import arithmetic
from arithmetic import TYPES, Type
from ptx_text import Decimal, Function, Int, Name, Not, Real, Register, Unsupported, Variable, Vector

U32, U64, S32, PRED = (TYPES[name] for name in ("u32", "u64", "s32", "pred"))
WARP = 32


# ---- an instruction ----

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


def builders(families):
    """By opcode: the function that makes its steps. families: opcodes by function, in one string."""
    return {name: function for function, names in families.items() for name in names.split()}


# ---- reading ----

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


def as_bits(kind):
    """A type whose values are their patterns, so that a NaN is moved unchanged."""
    return kind if kind.kind == "pred" else Type("b", kind.bits)


# ---- writing ----

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
