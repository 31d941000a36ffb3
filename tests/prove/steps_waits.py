"""What waits for other threads: barriers of a block, and operations of a warp. The step returns what it waits for."""
import arithmetic
from operands import PRED, U32, Modifiers, builders, reader, unsupported, writer
from ptx_text import Name, Pair


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


BUILDERS = builders({build_barrier: "bar barrier", build_shuffle: "shfl", build_vote: "vote", build_match: "match",
                     build_redux: "redux"})
