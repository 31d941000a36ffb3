"""One thread of a launch, step by step, as far as it depends on no content of memory: confirms what the solver has found.

A branch that depends on memory is gone around: the thread goes on where its ways meet, and what they write is unknown.
"""
from machine import Machine, thread_numbers
from pointers import Pointer, Unknown
from values import FALSE, LOOP, TRUE, Poly, TooLarge, clock, variable, worst

MOST_STEPS = 400000
STEPS_BEHIND = 5000  # of a thread that goes wrong once, because it often does at other accesses, too


class Found:
    """An access that goes wrong, in the thread's visit of that number."""

    def __init__(self, replay, kind, thing, offset, extent, visit):
        self.thread, self.block = replay.thread, replay.block
        self.kind, self.thing, self.offset, self.extent, self.visit = kind, thing, offset, extent, visit


def wrong(thing, offset, extent, width):
    """What is wrong with an access, or None. Nothing is known of a thing that the pointer may not belong to."""
    if not thing.certain or thing.size is None:
        return None
    if extent > 0 and (offset < 0 or offset + extent > thing.size):
        return "out of bounds"
    if width > 1 and thing.align is not None and thing.align % width == 0 and offset % width:
        return "misaligned"
    return None


class _Lone(Machine):
    """Of one thread, where a number that is no constant comes from memory, and matters by its interval at most."""

    def put(self, one, state, value):
        if isinstance(value, Poly) and (len(value.terms) > 4 or len(value.roots()) > 2):
            value = variable(value.low, value.high, worst(value))
        super().put(one, state, value)


class Replay:
    """found: (index of an instruction, kind) to the first access there that goes wrong in that way, of any thread."""

    def __init__(self, kernel, flow, module, launch, thread, block, found):
        self.kernel, self.flow, self.thread, self.block = kernel, flow, thread, block
        self.found, self.visits = found, {}
        self.machine = _Lone(kernel, module, launch, thread_numbers(launch, thread, block), self._look)
        self.at, self.state, self.steps = 0, {}, 0

    def _look(self, access):
        at = access.instruction.at
        visit = self.visits[at] = self.visits.get(at, -1) + 1
        if access.condition is not TRUE or not isinstance(access.address, Pointer):
            return
        thing, offset = access.address.single()
        offset, extent = offset and offset.constant(), access.extent.constant()
        if thing is None or offset is None or extent is None:
            return
        kind = wrong(thing, offset, extent, access.width)
        if kind:
            self.found.setdefault((at, kind), Found(self, kind, thing, offset, extent, visit))

    def find(self, at, kind):
        """Goes on until the access goes wrong, and a little farther. Found, or None."""
        self.walk(MOST_STEPS, lambda: (at, kind) in self.found)
        self.walk(min(MOST_STEPS, self.steps + STEPS_BEHIND))
        return self.found.get((at, kind))

    def walk(self, most, is_over=lambda: False):
        """Goes on until so many steps are done."""
        try:
            while self.at is not None and self.at != self.flow.end and not is_over() and self.steps <= most:
                first, behind = self.flow.blocks[self.at]
                self.steps += behind - first
                clock.look()
                self.at = self._block(self.at, self.state)
        except TooLarge:
            self.at = None

    def _block(self, block, state):
        """The next block, or None."""
        first, behind = self.flow.blocks[block]
        last = self.kernel.instructions[behind - 1]
        jumps = self.flow.jumps(last)
        for one in self.kernel.instructions[first:behind - 1 if jumps else behind]:
            self.machine.execute(one, state, TRUE)
        following = self.flow.block_at.get(behind)
        if not jumps:
            return following
        taken = TRUE
        if last.op[0] == "brx":
            return self._around(block, state)
        if last.guard:
            taken = self.machine.condition(("register", last.guard), state)
            if taken not in (TRUE, FALSE):
                return self._around(block, state)
        if (taken is TRUE) == last.negated and last.guard:
            return following
        return self.flow.block_at.get(self.kernel.labels[last.operands[0][1]]) if last.op[0] == "bra" else None

    def _around(self, block, state):
        """Where the ways from the block meet again, or None. An access between is not certain."""
        meeting = self.flow.post_dominator.get(block, self.flow.end)
        if meeting == self.flow.end:
            return None
        for between in self.flow.between(block, meeting):
            for name in self.flow.writes[between]:
                state[name] = Unknown(LOOP)
        return meeting
