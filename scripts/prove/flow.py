"""The flow graph of a kernel: blocks, dominators, loops, and which registers live into a block."""
import re

import ptx

NO_RESULT = frozenset(("st", "red", "bra", "ret", "exit", "trap", "bar", "barrier", "membar", "fence", "call", "cp", "prefetch",
                       "prefetchu", "brx", "griddepcontrol", "nanosleep", "discard", "applypriority", "brkpt", "pmevent",
                       "setmaxnreg", "stmatrix"))
MOST_BETWEEN = 200
ENDS = frozenset(("ret", "exit", "trap"))


class Irreducible(Exception):
    """A loop with several entries."""


def ends_thread(one):
    return one.op[0] in ENDS or one.op[0] == "call" and "__assertfail" in one.text


def written(one, kernel):
    """The registers that an instruction may write."""
    if one.op[0] == "call":
        results = one.operands[:1] if one.operands and one.operands[0][0] == "list" and len(one.operands) > 1 else []
        return [name for operand in results for name in ptx.registers_of(operand) if kernel.type_of(name)]
    if one.op[0] in NO_RESULT and "red" not in one.op[1:] or not one.operands:
        return []
    return [name for name in ptx.registers_of(one.operands[0]) if kernel.type_of(name)]


def read(one, kernel):
    first = 0 if not written(one, kernel) or one.operands[0][0] == "memory" else 1
    names = [name for operand in one.operands[first:] for name in ptx.registers_of(operand) if kernel.type_of(name)]
    return names + [one.guard] if one.guard else names


class Flow:
    """blocks: (first, behind last) instructions. order: reverse postorder of what is reached. loops: a header to its blocks."""

    def __init__(self, kernel):
        self.kernel = kernel
        if not kernel.instructions:
            raise ptx.BadPtx(f"{kernel.name} has no instruction")
        self._cut()
        self._link()
        self.order = _postorder(0, self.successors)[::-1]
        self.position = {block: at for at, block in enumerate(self.order)}
        self.predecessors = [[] for _ in self.blocks]
        for block in self.order:
            for after in self.successors[block]:
                self.predecessors[after].append(block)
        self.dominator = _dominators(self.order, self.predecessors, self.position)
        self._find_loops()
        self._find_ends()
        self._find_joins()
        self._find_live()

    def _cut(self):
        kernel = self.kernel
        starts = {0} | {at for at in kernel.labels.values()}
        for one in kernel.instructions:
            if one.op[0] in ("bra", "brx") or ends_thread(one):
                starts.add(one.at + 1)
        count = len(kernel.instructions)
        starts = sorted(at for at in starts if at < count)
        self.blocks = list(zip(starts, starts[1:] + [count]))
        self.block_at = {first: block for block, first in enumerate(starts)}

    def _target(self, name):
        if name not in self.kernel.labels:
            raise ptx.BadPtx(f"{self.kernel.name} has no label {name}")
        return self.block_at.get(self.kernel.labels[name])  # None: behind the last instruction

    def _link(self):
        self.successors = []
        for _, behind in self.blocks:
            last = self.kernel.instructions[behind - 1]
            following = self.block_at.get(behind)
            targets = {"bra": 1, "brx": 2}.get(last.op[0], 0)
            if len(last.operands) < targets or any(operand[0] not in ("name", "register") for operand in last.operands[:targets]):
                raise ptx.BadPtx(f"line {last.line}: the targets are not known")
            if last.op[0] == "brx":
                labels = self.kernel.targets.get(last.operands[1][1])
                if not labels:
                    raise ptx.BadPtx(f"line {last.line}: the targets are not known")
                after = [self._target(name) for name in labels]
            elif last.op[0] == "bra":
                after = [self._target(last.operands[0][1])] + ([following] if last.guard else [])
            elif ends_thread(last):
                after = [following] if last.guard else []
            else:
                after = [following]
            self.successors.append([block for block in after if block is not None])

    @staticmethod
    def jumps(last):
        """Whether the last instruction of a block says where to go on."""
        return last.op[0] in ("bra", "brx") or ends_thread(last)

    def dominates(self, a, b):
        while self.position[b] > self.position[a]:
            b = self.dominator[b]
        return a == b

    def _find_loops(self):
        self.loops = {}
        for block in self.order:
            for header in self.successors[block]:
                if self.position[header] <= self.position[block]:
                    if not self.dominates(header, block):
                        raise Irreducible()
                    self._add_to_loop(self.loops.setdefault(header, {header}), block)

    def _add_to_loop(self, body, block):
        waiting = [block]
        while waiting:
            block = waiting.pop()
            if block not in body:
                body.add(block)
                waiting += self.predecessors[block]

    def _find_ends(self):
        """Immediate post-dominators; the number of blocks stands for the end."""
        end = len(self.blocks)
        back, forth = [[] for _ in range(end + 1)], [[] for _ in range(end + 1)]
        for block in self.order:
            last = self.kernel.instructions[self.blocks[block][1] - 1]
            after = list(self.successors[block])
            if ends_thread(last) or not after or last.op[0] == "bra" and last.guard and len(after) < 2:
                after.append(end)
            for one in after:
                back[one].append(block)
                forth[block].append(one)
        order = _postorder(end, back)[::-1]
        position = {block: at for at, block in enumerate(order)}
        known = [[one for one in after if one in position] for after in forth]
        self.end, self.post_dominator = end, _dominators(order, known, position)

    def _find_joins(self):
        """joins: a block to its dominator, where each way from that leads to the block, through no loop, and both are in
        the same loops."""
        self.joins = {}
        for block in self.order:
            if len(self.predecessors[block]) > 1 and block not in self.loops:
                above = self.dominator[block]
                same = all((above in body) == (block in body) for body in self.loops.values())
                if same and self._leads_to(above, block) and not self._loop_between(above, block):
                    self.joins[block] = above

    def _leads_to(self, block, aim):
        while block in self.post_dominator and block != self.end:
            block = self.post_dominator[block]
            if block == aim:
                return True
        return False

    def between(self, block, aim, most=1 << 30):
        """The blocks on the ways from block to aim, without these; it gives up beyond that many."""
        waiting, seen = list(self.successors[block]), set()
        while waiting and len(seen) <= most:
            one = waiting.pop()
            if one != aim and one not in seen:
                seen.add(one)
                waiting += self.successors[one]
        return seen

    def _loop_between(self, block, aim):
        seen = self.between(block, aim, MOST_BETWEEN)
        return len(seen) > MOST_BETWEEN or any(one in self.loops for one in seen)

    def _find_live(self):
        self.numbers = {}
        uses, defs = {}, {}
        self.writes = {}
        for block in self.order:
            use = define = 0
            self.writes[block] = set()
            first, behind = self.blocks[block]
            for one in self.kernel.instructions[first:behind]:
                for name in read(one, self.kernel):
                    use |= self._bit(name) & ~define
                for name in written(one, self.kernel):
                    self.writes[block].add(name)
                    bit = self._bit(name)
                    if one.guard:
                        use |= bit & ~define
                    else:
                        define |= bit
            uses[block], defs[block] = use, define
        live = dict.fromkeys(self.order, 0)
        changed = True
        while changed:
            changed = False
            for block in reversed(self.order):
                out = 0
                for after in self.successors[block]:
                    out |= live[after]
                value = uses[block] | out & ~defs[block]
                if value != live[block]:
                    live[block], changed = value, True
        self._live_bits, self._live, self.names = live, {}, list(self.numbers)

    def _bit(self, name):
        return 1 << self.numbers.setdefault(name, len(self.numbers))

    def live_into(self, block):
        if block not in self._live:
            ones = bin(self._live_bits[block])[:1:-1]
            self._live[block] = [self.names[m.start()] for m in re.finditer("1", ones)]
        return self._live[block]


def _postorder(root, successors):
    seen, order, stack = {root}, [], [(root, iter(successors[root]))]
    while stack:
        block, rest = stack[-1]
        for after in rest:
            if after not in seen:
                seen.add(after)
                stack.append((after, iter(successors[after])))
                break
        else:
            order.append(block)
            stack.pop()
    return order


def _dominators(order, predecessors, position):
    """Each block's immediate dominator; the first of order is its own."""
    found = {order[0]: order[0]}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            new = None
            for one in predecessors[block]:
                if one in found:
                    new = one if new is None else _common(new, one, found, position)
            if new is not None and found.get(block) != new:
                found[block], changed = new, True
    return found


def _common(a, b, found, position):
    while a != b:
        while position[a] > position[b]:
            a = found[a]
        while position[b] > position[a]:
            b = found[b]
    return a
