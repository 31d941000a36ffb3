"""One thread of a launch, step by step, as far as it depends on no content of memory: confirms what the solver has found.

A branch that depends on memory is gone around: the thread goes on where its ways meet, and what they write is unknown.
"""
import time

from machine import Machine, thread_numbers
from values import FALSE, LOOP, TRUE, Pointer, TooLarge, TooMany, Unknown

MOST_STEPS = 120000


class Found(Exception):
    """The access was reached: its text says nothing, the attributes say all."""

    def __init__(self, thing, offset, extent, visit):
        super().__init__()
        self.thing, self.offset, self.extent, self.visit = thing, offset, extent, visit


class Replay:
    """wrong(thing, offset, extent, width): whether an access there is the one that is looked for."""

    def __init__(self, kernel, flow, module, launch, thread, block, at, wrong):
        self.kernel, self.flow, self.at, self.wrong = kernel, flow, at, wrong
        self.visits = 0
        self.machine = Machine(kernel, module, launch, thread_numbers(launch, thread, block), self._look)

    def _look(self, access):
        if access.instruction.at != self.at:
            return
        self.visits += 1
        if access.condition is not TRUE or not isinstance(access.address, Pointer):
            return
        thing, offset = access.address.single()
        extent = access.extent.constant()
        if thing is None or offset.constant() is None or extent is None:
            return
        if self.wrong(thing, offset.constant(), extent, access.width):
            raise Found(thing, offset.constant(), extent, self.visits - 1)

    def run(self, end):
        """Found, or None; it gives up at that time."""
        try:
            self._walk(end)
        except Found as found:
            return found
        except (TooLarge, TooMany):
            pass
        return None

    def _walk(self, end):
        block, state, steps = 0, {}, 0
        while block is not None and block != self.flow.end:
            first, behind = self.flow.blocks[block]
            steps += behind - first
            if steps > MOST_STEPS or time.monotonic() > end:
                return
            block = self._block(block, state)

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
