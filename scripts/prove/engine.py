"""All threads of a launch at once: one pass over the flow graph of a kernel, which finds each access with its condition.

A loop is walked with its registers as they are in any iteration: those that a round adds the same number to are
start + count * step, in the arithmetic of the register, with one count a loop. The condition to go round bounds the count
where no round before can have turned the number over. Other loops are unrolled if that ends soon, and else leave Unknown.
"""
from machine import Machine, thread_numbers
from pointers import Pointer, Unknown, merge, pointer_to
from values import (FALSE, LOOP, MEMORY, TRUE, Atom, Cond, OutOfTime, Poly, TooLarge, add, at_most, at_most_zero, both, choose,
                    clock, either, flag, floor_div, multiply, negate, of_atom, plus, put_in, scale, signed_range, sub,
                    variable, wrap)

MOST_STEPS = 150000
MOST_ROUNDS = 70
MOST_ACCESSES = 100000
FOREVER = 1 << 64


def _narrowed(condition, more):
    """Both; or the first alone, which covers more, where that is too large."""
    try:
        return both(condition, more())
    except TooLarge:
        return condition


class Engine:
    """accesses: what run() has found."""

    def __init__(self, kernel, flow, module, launch):
        self.kernel, self.flow = kernel, flow
        self.accesses, self.steps, self.trials = [], 0, 0
        self.machine = Machine(kernel, module, launch, thread_numbers(launch), self._keep)
        self.reached = {}  # a block to its condition, when it was last walked
        self.orders = {}
        self.loops = 0

    def _keep(self, access):
        if not self.trials and access.condition is not FALSE:
            self.accesses.append(access)
            if len(self.accesses) > MOST_ACCESSES:
                raise OutOfTime()

    def run(self):
        self._region(None, set(self.flow.order), 0, {}, TRUE)

    # ---- regions ----

    def _region(self, header, body, entry, state, condition):
        """Walks the blocks of body, once each. (ways out, ways back to the header), each as (block, condition, state)."""
        waiting, out, back, done = {entry: [(condition, state)]}, [], [], set()
        for block in self._order(header, body):
            if block in done or block not in waiting:
                continue
            condition, state = self._join(block, waiting.pop(block))
            if condition is FALSE:
                continue
            if block in self.flow.loops and block != header:
                inner = self.flow.loops[block]
                done |= inner
                ways = self._loop(block, inner, state, condition)
            else:
                self.reached[block] = condition
                ways = self._block(block, dict(state), condition)
            for after, reached, left in ways:
                if reached is FALSE:
                    continue
                if after == header:
                    back.append((after, reached, left))
                elif after not in body:
                    out.append((after, reached, left))
                else:
                    waiting.setdefault(after, []).append((reached, left))
        return out, back

    def _order(self, header, body):
        if header not in self.orders:
            self.orders[header] = [block for block in self.flow.order if block in body]
        return self.orders[header]

    def _join(self, block, ways):
        ways = [way for way in ways if way[0] is not FALSE]
        if not ways:
            return FALSE, {}
        if len(ways) == 1:
            return ways[0]
        others = [set(c.parts()) for c, _ in ways[1:]]
        shared = {part: True for part in ways[0][0].parts() if all(part in parts for parts in others)}
        own = [both(*(part for part in c.parts() if part not in shared)) for c, _ in ways]
        state = {}
        for name in self.flow.live_into(block):
            value = ways[-1][1].get(name)
            for c, (_, other) in zip(own[-2::-1], ways[-2::-1]):
                new = other.get(name)
                if new is not value:
                    value = merge(c, new, value, self.machine.bits(name))
            if value is not None:
                state[name] = value
        above = self.flow.joins.get(block)
        if above is not None and above in self.reached:
            return self.reached[above], state
        return _narrowed(both(*shared), lambda: either(*own)), state

    def _block(self, block, state, condition):
        """Executes it; the ways out of it."""
        first, behind = self.flow.blocks[block]
        self.steps += behind - first
        if self.steps > MOST_STEPS:
            raise OutOfTime()
        clock.look()
        after = self.flow.successors[block]
        last = self.kernel.instructions[behind - 1]
        jumps = self.flow.jumps(last)
        for one in self.kernel.instructions[first:behind - 1 if jumps else behind]:
            self.machine.execute(one, state, condition)
        if last.op[0] == "brx":
            return [(one, _narrowed(condition, lambda: flag(self._index_source(last, state))), dict(state)) for one in after]
        if not jumps or not last.guard:
            return [(one, condition, state) for one in after]
        taken = self.machine.condition(("register", last.guard), state)
        return self._branch(last, behind, taken, state, condition)

    def _index_source(self, last, state):
        value = self.machine.value(last.operands[0], state, 32)
        return value.source if isinstance(value, Unknown) else "unmodelled"

    def _branch(self, last, behind, taken, state, condition):
        """The ways behind an instruction that jumps or ends where taken holds, or where it does not (negated)."""
        following = self.flow.block_at.get(behind)
        jumps, goes_on = (lambda: taken), (lambda: negate(taken))
        if last.negated:
            jumps, goes_on = goes_on, jumps
        ways = []
        if last.op[0] == "bra":
            at = self.kernel.labels[last.operands[0][1]]
            target = self.flow.block_at.get(at)
            if target is not None:
                ways.append((target, _narrowed(condition, jumps), dict(state)))
        if following is not None:
            ways.append((following, _narrowed(condition, goes_on), state))
        return ways

    # ---- loops ----

    def _loop(self, header, body, state, condition):
        """The ways out of a loop."""
        before = clock.atoms
        return [(block, self._without_rounds(c, block, left, before), left)
                for block, c, left in self._ways_out(header, body, state, condition)]

    def _without_rounds(self, condition, block, state, before):
        """The condition without what it says of numbers that are younger than that atom and live in no register."""
        def young(x):
            return {root for root in x.roots() if root.id > before}
        live = set()
        for name in self.flow.live_into(block):
            value = state.get(name)
            for part in [part for choice in value.choices for part in (choice[0], choice[2])] if isinstance(value, Pointer) else [value]:
                if isinstance(part, (Poly, Cond)):
                    live |= young(part)
        left = [(part, young(part)) for part in condition.parts()]
        if not any(own - live for _, own in left):
            return condition
        grows = True
        while grows:
            more = set().union(*(own for _, own in left if own & live)) - live
            live |= more
            grows = bool(more)
        return both(*(part for part, own in left if not own or own & live))

    def _ways_out(self, header, body, state, condition):
        writes = set().union(*(self.flow.writes[block] for block in body))
        carried = [name for name in self.flow.live_into(header) if name in writes]
        trial = _Trial(self, header, body, state, carried, condition)
        if trial.unclear and not trial.from_memory:
            out = self._unrolled(header, body, state, condition)
            if out is not None:
                return out
        if trial.unclear and not self.trials:
            trial = self._with_ranges(trial, header, body, state, carried, condition)
        state, more = trial.any_round()
        out, _ = self._region(header, body, header, state, both(condition, *more))
        return out

    def _with_ranges(self, first, header, body, state, carried, condition):
        """A trial whose unclear numbers stay in ranges that they begin in and that no round leaves; else the first."""
        ranges = first.first_ranges()
        for _ in range(4):
            trial = _Trial(self, header, body, state, carried, condition, ranges)
            grown = trial.grown_ranges(ranges)
            if grown is None:
                return first
            if grown == ranges:
                return trial
            ranges = grown
        return first

    def _unrolled(self, header, body, state, condition):
        """The ways out of a loop that ends within a few rounds, or None."""
        kept, steps, all_out = len(self.accesses), self.steps, []
        size = sum(self.flow.blocks[block][1] - self.flow.blocks[block][0] for block in body)
        for _ in range(MOST_ROUNDS):
            if self.steps - steps > MOST_STEPS // 8 or self.steps + size > MOST_STEPS:
                break
            out, back = self._region(header, body, header, state, condition)
            all_out += out
            back = [(c, left) for _, c, left in back if c is not FALSE]
            if not back:
                return all_out
            condition, state = self._join(header, back)
        del self.accesses[kept:]
        return None


class _Trial:
    """A round of a loop that begins with unknown numbers in the registers that it carries (seeds), and what that shows."""

    def __init__(self, engine, header, body, state, carried, condition, ranges=None):
        self.ranges = ranges or {}
        self.before_loop = set(condition.parts())
        self.engine, self.state, self.carried = engine, state, carried
        self.seeds, self.steps, self.lagging, self.unclear = {}, {}, {}, []
        start = dict(state)
        for name in carried:
            start[name] = self._seed(name, state.get(name))
        engine.trials += 1
        _, back = engine._region(header, body, header, start, TRUE)
        engine.trials -= 1
        self.back = [(c, left) for _, c, left in back]
        self.seeded = {seed: name for name, (seed, _) in self.seeds.items()}
        self.from_memory = False
        before = min((seed.id for seed in self.seeded), default=None)
        self.before = before
        for name in self.seeds:
            self._classify(name)
        self._find_lagging()

    def _seed(self, name, value):
        bits = self.engine.machine.bits(name)
        thing = None
        if isinstance(value, Pointer):
            thing, _ = value.single()
            bits = value.bits
        if not isinstance(value, Poly) and thing is None:
            return value if value is not None and isinstance(value, Unknown) else Unknown(LOOP)
        seed = Atom("variable", (), *self.ranges.get(name, signed_range(bits)), LOOP)
        self.seeds[name] = (seed, thing)
        return pointer_to(thing, of_atom(seed), bits) if thing else of_atom(seed)

    def _numbers(self, name):
        """What the rounds leave in the register, or None where it is no number (no offset in the same thing)."""
        thing, found = self.seeds[name][1], []
        for _, left in self.back:
            value = left.get(name)
            if thing is not None:
                other, value = value.single() if isinstance(value, Pointer) else (None, None)
                if other is not thing:
                    return None
            if not isinstance(value, Poly):
                return None
            found.append(value)
        return found

    def first_ranges(self):
        """Of the unclear numbers: what they are before the first round."""
        starts = {name: self._start(name) for name in self.unclear if self._numbers(name)}
        return {name: (start.low, start.high + (start.low == start.high)) for name, start in starts.items()}

    def grown_ranges(self, ranges):
        """The ranges, and what a round that begins with them makes of them; None where that is no number."""
        grown = {}
        for name, (low, high) in ranges.items():
            numbers = self._numbers(name) if name in self.seeds else None
            if not numbers:
                return None
            grown[name] = (min([low] + [value.low for value in numbers]), max([high] + [value.high for value in numbers]))
        return grown

    def _invariant(self, x, besides=()):
        return all(root in besides or self.before is None or root.id < self.before for root in x.roots())

    def _bits(self, name):
        value = self.state[name]
        return value.bits if isinstance(value, Pointer) else self.engine.machine.bits(name)

    def _classify(self, name):
        numbers = self._numbers(name)
        if numbers is None:
            self.unclear.append(name)
            return
        steps = [self._step(value, self.seeds[name][0], self._bits(name)) for value in numbers]
        if steps and all(step is not None and step.key() == steps[0].key() for step in steps):
            self.steps[name] = steps[0]
        elif steps:
            self.unclear.append(name)
            self.from_memory |= any(root.source not in ("thread", "count", LOOP) for value in numbers for root in value.roots())

    def _step(self, value, seed, bits):
        """What a round adds, modulo 2^bits, or None."""
        atom = value.only_atom()
        if atom is not None and atom.kind == "wrap" and atom.args[1] == bits:
            value = atom.args[0]
        if value.terms.get((seed,)) != 1:
            return None
        step = sub(value, of_atom(seed))
        return step if seed not in step.roots() and self._invariant(step) else None

    def _find_lagging(self):
        """Registers that a round sets from those with steps alone."""
        known = {self.seeds[name][0] for name in self.steps}
        for name in list(self.unclear):
            numbers = self._numbers(name)
            if numbers and len({value.key() for value in numbers}) == 1 and self._invariant(numbers[0], known):
                self.lagging[name] = numbers[0]
                self.unclear.remove(name)

    # ---- any round ----

    def _start(self, name):
        value = self.state[name]
        return value.single()[1] if isinstance(value, Pointer) else value

    def _at(self, count):
        """The seeds of registers with steps, in the round of that number."""
        return {self.seeds[name][0]: wrap(add(self._start(name), multiply(count, step)), self._bits(name))
                for name, step in self.steps.items()}

    def _staying(self):
        """The conditions that each way back has, of what is known of a round."""
        if not self.back:
            return []
        known = {self.seeds[name][0] for name in self.steps}
        shared = set(self.back[0][0].parts())
        for c, _ in self.back[1:]:
            shared &= set(c.parts())
        return [c for c in self.back[0][0].parts() if c in shared and self._invariant(c, known)]

    def any_round(self):
        """(state, conditions) at the header in any round."""
        state = dict(self.state)
        if not self.back:
            return state, []
        staying = self._staying()
        bounds = [bound for bound in (self._bound(c) for c in staying) if bound is not None]
        most = max(0, min([FOREVER] + [bound[0] for bound in bounds]))
        self.engine.loops += 1
        count = variable(0, most, "count", f"round {self.engine.loops}")
        earlier = plus(count, -1)
        more = []
        for c in staying:
            more.append(either(at_most_zero(count), put_in(c, self._at(earlier))))
        for _, condition_of in bounds:
            more.append(condition_of(count))
        for name in self.carried:
            state[name] = self._carried_value(name, count, earlier)
        return state, more

    def _carried_value(self, name, count, earlier):
        if name not in self.seeds:
            value = self.state.get(name)
            sources = [left[name].source for _, left in self.back if isinstance(left.get(name), Unknown)]
            return value if isinstance(value, Unknown) and value.source == MEMORY else Unknown(
                MEMORY if MEMORY in sources else sources[0] if sources else LOOP)
        thing, bits, start = self.seeds[name][1], self._bits(name), self._start(name)
        if name in self.steps:
            value = wrap(add(start, multiply(count, self.steps[name])), bits)
        elif name in self.lagging:
            value = choose(at_most_zero(count), start, put_in(self.lagging[name], self._at(earlier)))
        else:
            value = self._hull(name, start, bits)
        if isinstance(value, Poly) and thing is not None:
            return pointer_to(thing, value, bits)
        return value

    def _hull(self, name, start, bits):
        numbers = self._numbers(name)
        if numbers is None:
            sources = [left[name].source for _, left in self.back if isinstance(left.get(name), Unknown)]
            return Unknown(MEMORY if MEMORY in sources else sources[0] if sources else LOOP)
        sources = {root.source for value in numbers for root in value.roots()} - {"thread", "count"}
        source = MEMORY if MEMORY in sources else next(iter(sorted(sources)), LOOP)
        return variable(min([start.low] + [value.low for value in numbers]),
                        max([start.high] + [value.high for value in numbers]), source)

    # ---- how many rounds ----

    def _bound(self, c):
        """(most rounds, the condition on the number of rounds that c means), or None.

        c holds in each round but the last. It must compare a number that grows or falls by the same step each round, which
        starts in the range of its type and cannot leave it in the step that ends the loop: then the number has not turned
        over in any round, and what c says of the last round but one it says of all before.
        """
        if c.kind not in ("le", "ne"):
            return None
        moving = self._moving_part(c.args[0])
        if moving is None:
            return None
        factor, rest, inner, low, high, seed = moving
        name = self.seeded[seed]
        step, start = self.steps[name], put_in(inner, {seed: self._start(name)})
        if step.constant() in (0, None) or start.low < low or start.high > high:
            return None
        step = step.constant()
        if c.kind == "le":
            return self._bound_of_order(factor, rest, step, start, low, high)
        return self._bound_of_difference(factor, rest, step, start, low, high)

    def _moving_part(self, p):
        """(factor, rest, inner, low, high, seed): p = factor * (inner in the range of its type) + rest; inner = seed + what
        does not move; the rest does not move."""
        known = {self.seeds[name][0] for name in self.steps}
        moving = [(atoms, c) for atoms, c in p.terms.items() if any(root in known for atom in atoms for root in atom.roots)]
        if len(moving) != 1 or len(moving[0][0]) != 1:
            return None
        (atom,), factor = moving[0]
        if atom.kind == "wrap":
            inner, (low, high) = atom.args[0], signed_range(atom.args[1])
        elif atom.kind == "mod":
            inner, low, high = atom.args[0], 0, atom.args[1] - 1
        else:
            inner, low, high = of_atom(atom), atom.low, atom.high
        seeds = [root for root in inner.roots() if root in known]
        if len(seeds) != 1 or inner.terms.get((seeds[0],)) != 1 or seeds[0] in sub(inner, of_atom(seeds[0])).roots():
            return None
        if atom.kind == "mod" and atom.args[1] != 1 << self._bits(self.seeded[seeds[0]]) \
                or atom.kind == "wrap" and atom.args[1] != self._bits(self.seeded[seeds[0]]):
            return None
        return factor, Poly({k: v for k, v in p.terms.items() if k != (atom,)}), inner, low, high, seeds[0]

    def _bound_of_order(self, factor, rest, step, start, low, high):
        """factor * x + rest <= 0, for x = start, start + step, ..."""
        if (factor > 0) != (step > 0):
            return None
        size = abs(factor)
        # x <= limit for an x that grows, -x <= limit for one that falls.
        limit = floor_div(scale(rest, -1), size)
        first = start if step > 0 else scale(start, -1)
        end = high if step > 0 else -low
        if limit.high + abs(step) > end:
            return None
        most = (limit.high - first.low) // abs(step) + 1

        def condition_of(count):
            # The last round that was left by the way back: first + (count - 1) * step <= limit, or there was none.
            last = add(first, scale(plus(count, -1), abs(step)))
            holds = at_most(last, limit)
            before = at_most(plus(first, -abs(step)), limit)
            return holds if before is TRUE or before in self.before_loop else either(at_most_zero(count), holds)
        return most, condition_of

    @staticmethod
    def _bound_of_difference(factor, rest, step, start, low, high):
        """factor * x + rest != 0, for x = start, start + step, ...: it ends where x meets the other number exactly."""
        if abs(factor) != 1:
            return None
        other = scale(rest, -factor)
        way = sub(other, start) if step > 0 else sub(start, other)
        if other.low < low or other.high > high or any(c % abs(step) for c in way.terms.values()):
            return None
        rounds = Poly({atoms: c // abs(step) for atoms, c in way.terms.items()})
        ahead = at_most_zero(scale(rounds, -1))
        most = rounds.high if rounds.low >= 0 else FOREVER

        def condition_of(count):
            return either(negate(ahead), at_most(count, rounds))
        return most, condition_of
