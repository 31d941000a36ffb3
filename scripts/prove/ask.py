"""Says of each access of a launch whether it is safe, possibly out of bounds, or undecided and why.

Intervals are asked first, with up to two of the conditions on the way; then z3. A model of z3's is an alarm only if the
thread that it names, followed alone, comes to the access without any loaded value having a say. Where something stays
undecided, some threads are followed without having been named.
"""
import itertools
import random
import time

import solver
import values
from engine import Engine
from replay import Replay
from values import EXACT, FALSE, ZERO, OutOfTime, TooLarge, add, below, both, clock, either, equal, floor_mod, negate, plus, scale, sub

NO_PTX = "no PTX"
REASONS = {values.MEMORY: "index from memory", values.CALL: "unknown callee", values.LOOP: "loop",
           values.FLOAT: "not modelled", values.UNMODELLED: "not modelled", values.UNDEFINED: "not modelled",
           values.POINTER: "not modelled"}
MOST_MODELS = 4
FIRST_SHARE = 0.05  # of an access's seconds: the hard ones are asked again when all others have their answer
SOME_THREADS, SOME_STEPS = 8, 10000


class Undecided(Exception):
    """Its text is the reason."""


class Verdict:
    """word: safe, alarm, undecided. reason: of an undecided one. kind: out of bounds or misaligned; thing, offset, extent,
    thread, block, round: of an alarm."""

    def __init__(self, instruction, store, width, word, reason=None, **alarm):
        self.instruction, self.store, self.width, self.word, self.reason = instruction, store, width, word, reason
        self.alarm = alarm


def _implied(goal, parts, depth=2):
    """Whether goal <= 0 follows from its interval, or from parts (each <= 0) added to it."""
    if goal.high <= 0:
        return True
    if depth == 0:
        return False
    for part in parts:
        for atoms, c in part.terms.items():
            wanted = goal.terms.get(atoms, 0) if atoms else 0
            if wanted * c > 0:
                rest = sub(scale(goal, abs(c)), scale(part, abs(wanted)))
                if rest.high <= 0 or depth > 1 and len(rest.terms) <= len(goal.terms) \
                        and _implied(rest, parts, depth - 1):
                    return True
    return False


def _inequalities(c):
    found = []
    for part in c.parts():
        if part.kind == "le":
            found.append(part.args[0])
        elif part.kind == "eq":
            found += [part.args[0], scale(part.args[0], -1)]
    return found[:60]


def _told(access, found):
    return Verdict(access.instruction, access.store, access.width, "alarm", kind=found.kind, thing=found.thing, offset=found.offset,
                   extent=found.extent, thread=found.thread, block=found.block, round=found.visit)


class Asker:
    """Answers for one launch of a kernel, until that end."""

    def __init__(self, kernel, flow, module, launch, access_seconds, end):
        self.kernel, self.flow, self.module, self.launch = kernel, flow, module, launch
        self.access_seconds, self.end = access_seconds, end
        self.formulas = solver.Formulas()
        self.replays, self.found = {}, {}  # a thread and its block to its Replay; what all have found

    def verdicts(self):
        """One for each instruction that is reached and accesses memory; or one reason for all of the launch."""
        values.reset()
        engine = Engine(self.kernel, self.flow, self.module, self.launch)
        try:
            engine.run()
        except (OutOfTime, TooLarge, RecursionError):
            raise Undecided("time") from None
        self.specials = engine.machine.specials
        by_instruction = {}
        for access in engine.accesses:
            by_instruction.setdefault(access.instruction.at, []).append(access)
        verdicts = {at: self._verdict(accesses, FIRST_SHARE) for at, accesses in sorted(by_instruction.items())}
        if any(one.word == "undecided" for one in verdicts.values()):
            self._follow_some()
        for at, one in verdicts.items():
            if one.reason == "time":
                verdicts[at] = self._verdict(by_instruction[at], 1)
            elif one.word == "undecided":
                verdicts[at] = self._replayed(by_instruction[at][0]) or one
        return list(verdicts.values())

    def _verdict(self, accesses, share):
        """Of one instruction, within that share of an access's seconds."""
        clock.end = min(self.end, time.monotonic() + share * self.access_seconds)
        verdict = self._replayed(accesses[0])
        if verdict:
            return verdict
        alarm = reason = None
        for access in accesses:
            try:
                clock.look()
                alarm = self._alarm(access)
            except Undecided as why:
                reason = reason or str(why)
            except (OutOfTime, TooLarge, RecursionError):
                reason = reason or "time"
            if alarm:
                return _told(access, alarm)
        return Verdict(accesses[0].instruction, accesses[0].store, accesses[0].width, "undecided" if reason else "safe", reason)

    def _follow_some(self):
        """Follows the threads at the corners, and some between, once."""
        if self.replays:
            return
        until, clock.end = clock.end, self.end
        sides = self.launch.block + self.launch.grid
        corners = itertools.product(*({0, side - 1} for side in sides))
        between = random.Random(0)
        some = [[between.randrange(side) for side in sides] for _ in range(SOME_THREADS)]
        try:
            for numbers in itertools.chain(itertools.islice(corners, SOME_THREADS), some):
                self._thread(numbers).walk(SOME_STEPS)
        except (OutOfTime, RecursionError):
            pass
        clock.end = until

    def _thread(self, numbers):
        numbers = tuple(numbers)
        if numbers not in self.replays:
            self.replays[numbers] = Replay(self.kernel, self.flow, self.module, self.launch, numbers[:3], numbers[3:], self.found)
        return self.replays[numbers]

    def _replayed(self, access):
        """An alarm of a thread that was followed for another reason, or None."""
        at = access.instruction.at
        found = self.found.get((at, "out of bounds")) or self.found.get((at, "misaligned"))
        return found and _told(access, found)

    def _alarm(self, access):
        """The Found of what is wrong with the access, or None where it is safe."""
        if isinstance(access.address, str):
            raise Undecided("pointer from memory" if access.address == values.MEMORY else REASONS[access.address])
        undecided = None
        for c, thing, offset in access.address.choices:
            condition = both(access.condition, c)
            if condition is FALSE:
                continue
            try:
                alarm = self._choice(access, condition, thing, offset)
            except (Undecided, OutOfTime) as why:
                undecided = undecided or why
                continue
            if alarm:
                return alarm
        if undecided:
            raise undecided
        return None

    def _choice(self, access, condition, thing, offset):
        if thing is None:
            if any(root.source == values.MEMORY for root in offset.roots()):
                self._unless_impossible(condition, "pointer from memory")
            else:
                self._unless_impossible(condition, "pointer to no known buffer")
            return None
        if thing.size is None:
            self._unless_impossible(condition, "size not known")
            return None
        return self._outside(access, condition, thing, offset) or self._misaligned(access, condition, thing, offset)

    def _unless_impossible(self, condition, reason):
        if solver.z3 is None or solver.Question(self.formulas, [condition]).answer() is not None:
            raise Undecided(reason)

    def _outside(self, access, condition, thing, offset):
        over = plus(add(offset, access.extent), -thing.size)  # above zero: past the end
        under = scale(offset, -1)
        parts = _inequalities(condition)
        if _implied(over, parts) and _implied(under, parts):
            return None
        wrong = either(below(offset, ZERO), below(ZERO, over))
        return self._ask("out of bounds", access, condition, thing, offset, wrong)

    def _misaligned(self, access, condition, thing, offset):
        width = access.width
        if width == 1 or thing.align is None:
            return None
        if thing.align % width:
            raise Undecided("alignment not known")
        rest = floor_mod(offset, width)
        if rest.constant() == 0:
            return None
        return self._ask("misaligned", access, condition, thing, offset, negate(equal(rest, ZERO)))

    def _ask(self, kind, access, condition, thing, offset, wrong):
        if both(condition, wrong) is FALSE:
            return None
        if solver.z3 is None:
            raise Undecided(solver.MISSING)
        question = solver.Question(self.formulas, [condition, wrong])
        model = question.answer()
        if model is None:
            return None
        self._follow_some()
        if (access.instruction.at, kind) in self.found:
            return self.found[access.instruction.at, kind]
        reason = self._reason(condition, offset, access, thing)
        sides = [self.specials[f"%{word}.{side}"] for word in ("tid", "ctaid") for side in "xyz"]
        # The last threads of a block come to what goes past an end in the fewest steps.
        model = question.raised(model, sides[0])
        for _ in range(MOST_MODELS):
            numbers = [question.value(model, side) for side in sides]
            found = self._thread(numbers).find(access.instruction.at, kind) if thing.certain else None
            if found:
                return found
            question.exclude(sides, numbers)
            model = question.answer() if reason == "loop" else None
            if model is None:
                break
        raise Undecided(reason)

    @staticmethod
    def _reason(condition, offset, access, thing):
        """Why an access that may go wrong is none that certainly does."""
        if not thing.certain:
            return "pointer lies outside its buffer"
        index = {root.source for p in (offset, access.extent) for root in p.roots()} - EXACT
        for source in (values.MEMORY, values.CALL, values.FLOAT, values.UNMODELLED, values.UNDEFINED, values.POINTER, values.LOOP):
            if source in index:
                return REASONS[source]
        guards = {root.source for root in condition.roots()} - EXACT
        if values.MEMORY in guards:
            return "guard depends on data"
        for source in (values.CALL, values.FLOAT, values.UNMODELLED, values.UNDEFINED, values.POINTER):
            if source in guards:
                return REASONS[source]
        return "loop"
