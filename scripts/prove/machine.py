"""What each instruction of PTX does to the registers of a thread, and where it accesses memory.

The values are those of values.py: the same code serves all threads of a launch at once (engine.py) and a single one
(replay.py), whose thread and block are numbers. What is not modelled leaves Unknown in the registers that it writes, and an
access of an unknown address if it has an address.
"""
import flow
import ptx
from integers import INTEGER, product
from pointers import Pointer, Thing, Unknown, merge, pointer_to
from values import (CALL, FALSE, FLOAT, MEMORY, ONE, POINTER, TRUE, UNDEFINED, UNMODELLED, ZERO, Cond, Poly, TooLarge, add,
                    anything, at_most, below, both, either, equal, flag, floor_div, floor_mod, least, negate, number, scale,
                    sub, unsigned, variable, worst, wrap)

BASE_ALIGN = 256  # of what the driver allocates
HARMLESS = ("vprintf", "__assertfail", "malloc", "free")
SIDE = {"x": 0, "y": 1, "z": 2}


class Access:
    """address: a Pointer, or the source that keeps it unknown. extent: the bytes, a Poly; width: what it is aligned by."""
    __slots__ = ("instruction", "address", "extent", "width", "store", "condition")

    def __init__(self, instruction, address, extent, width, store, condition):
        self.instruction, self.address, self.extent, self.width = instruction, address, extent, width
        self.store, self.condition = store, condition


def type_in(op):
    for word in reversed(op):
        if word in ptx.SIZES:
            return word
    return None


def is_real(kind):
    return kind[0] in "fte" or kind.startswith("bf")


def _of_parameters(op):
    return any(word.split("::")[0] == "param" for word in op)


def vector_length(op):
    for word in op:
        if word in ("v2", "v4", "v8"):
            return int(word[1])
    return 1


def thread_numbers(launch, thread=None, block=None):
    """The special registers that say which thread it is: of all, or of one."""
    found = {}
    for side, at in SIDE.items():
        threads, blocks = launch.block[at], launch.grid[at]
        found[f"%tid.{side}"] = number(thread[at]) if thread else variable(0, threads - 1, "thread", f"tid.{side}")
        found[f"%ctaid.{side}"] = number(block[at]) if block else variable(0, blocks - 1, "thread", f"ctaid.{side}")
        found[f"%ntid.{side}"], found[f"%nctaid.{side}"] = number(threads), number(blocks)
    rows = add(found["%tid.y"], scale(found["%tid.z"], launch.block[1]))
    found["%laneid"] = floor_mod(add(found["%tid.x"], scale(rows, launch.block[0])), 32)
    found["%dynamic_smem_size"] = number(launch.shared)
    return found


class Machine:
    """on_access is called with each Access."""

    def __init__(self, kernel, module, launch, specials, on_access):
        self.kernel, self.module, self.launch, self.specials = kernel, module, launch, specials
        self.on_access = on_access
        self.things, self.pointers = {}, {}
        self.parameters = {name: at for at, (name, _, _) in enumerate(kernel.parameters)}

    # ---- operands ----

    def bits(self, register):
        return ptx.SIZES.get(self.kernel.type_of(register), 8) * 8

    def value(self, operand, state, bits):
        kind = operand[0]
        if kind == "number":
            return wrap(number(operand[1]), bits)
        if kind == "register" or kind == "name" and self.kernel.type_of(operand[1]):
            name = operand[1]
            if name in state:
                return state[name]
            if name in self.specials:
                return self.specials[name]
            return Unknown(UNDEFINED if self.kernel.type_of(name) else UNMODELLED)
        if kind == "name":
            return self.address_of(operand[1], operand[2], bits)
        if kind == "not":
            c = self.condition(operand[1], state)
            return negate(c)
        return Unknown(FLOAT if kind == "real" else UNMODELLED)

    def number(self, operand, state, bits):
        """A Poly; None for a pointer."""
        value = self.value(operand, state, bits)
        if isinstance(value, Unknown):
            own = operand[0] in ("register", "name") and self.kernel.type_of(operand[1])
            value = anything(max(self.bits(operand[1]), 8) if own else bits, value.source)
            if own:
                state[operand[1]] = value
        if not isinstance(value, Poly):
            return None
        return wrap(value, bits)

    def condition(self, operand, state):
        if operand[0] == "number":
            return TRUE if operand[1] else FALSE
        if operand[0] == "not":
            return negate(self.condition(operand[1], state))
        value = self.value(operand, state, 8)
        if isinstance(value, Cond):
            return value
        c = flag(value.source if isinstance(value, Unknown) else UNMODELLED)
        if operand[0] in ("register", "name") and self.kernel.type_of(operand[1]):
            state[operand[1]] = c
        return c

    def address_of(self, name, offset, bits):
        if name == "WARP_SZ":
            return number(32)
        thing = self.things.get(name)
        if thing is None:
            found = self.kernel.variables.get(name) or self.module.variables.get(name)
            if found is not None and found.space != "param":
                size = found.size
                if size is None and found.space == "shared":
                    size = self.launch.shared
                thing = Thing(found.space, name, size, found.align)
            elif name in self.parameters:
                _, size, align = self.kernel.parameters[self.parameters[name]]
                thing = Thing("param", name, size, align)
            else:
                return Unknown(UNMODELLED)
            self.things[name] = thing
        return pointer_to(thing, wrap(number(offset), bits), bits)

    def parameter(self, name, offset, kind, bits):
        """What a parameter of the kernel holds there, for a register of so many bits."""
        at = self.parameters[name]
        first, size = self.launch.function.parameters[at]
        length = ptx.SIZES[kind]
        if offset < 0 or offset + length > size:
            return Unknown(UNMODELLED)
        begin = first + offset
        for pointer in self.launch.pointers:
            if pointer.at < begin + length and begin < pointer.at + 8:
                whole = pointer.at == begin and length == 8
                return self._buffer(at, pointer) if whole else Unknown(POINTER)
        if is_real(kind):
            return Unknown(FLOAT)
        value = int.from_bytes(self.launch.parameters[begin:begin + length], "little", signed=kind[0] == "s")
        return wrap(number(value), bits)

    def _buffer(self, at, pointer):
        thing = self.pointers.get(pointer.at)
        if thing is None:
            certain = 0 <= pointer.offset < max(pointer.size, 1)
            align = None if pointer.memory == "pinned" else BASE_ALIGN
            byte = pointer.at - self.launch.function.parameters[at][0]
            name = f"argument {at}" + (f" at byte {byte}" if byte else "")  # as gmod's reports have it
            thing = self.pointers[pointer.at] = Thing("buffer", name, pointer.size, align, certain, pointer)
        return pointer_to(thing, number(pointer.offset), 64)

    # ---- one instruction ----

    def execute(self, one, state, condition):
        """Changes the state. A guard of the instruction that may fail leaves the old values there."""
        try:
            self._guarded(one, state, condition)
        except TooLarge:
            self._not_modelled(one, state, condition)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ptx.BadPtx(f"line {one.line}: {type(error).__name__}") from None

    def _guarded(self, one, state, condition):
        if one.guard is None:
            self._perform(one, state, condition)
            return
        guard = self.condition(("register", one.guard), state)
        guard = negate(guard) if one.negated else guard
        if guard is FALSE:
            return
        names = flow.written(one, self.kernel)
        old = {name: state.get(name) for name in names}
        self._perform(one, state, both(condition, guard))
        if guard is not TRUE:
            for name in names:
                state[name] = merge(guard, state.get(name), old[name], self.bits(name))

    def _perform(self, one, state, condition):
        handler = HANDLERS.get(one.op[0])
        kind = type_in(one.op)
        if handler is None and (kind is None or is_real(kind)):
            self._not_modelled(one, state, condition, FLOAT if kind and is_real(kind) else UNMODELLED)
        elif handler is not None:
            handler(self, one, state, condition, kind)
        else:
            self._integer(one, state, condition, kind)

    def put(self, one, state, value):
        """Writes the value, None for what is not modelled, into the register that is the first operand."""
        target = one.operands[0]
        if target[0] in ("register", "name") and self.kernel.type_of(target[1]):
            state[target[1]] = Unknown(UNMODELLED) if value is None else value
        else:
            self._spoil(one, state, UNMODELLED)

    def _spoil(self, one, state, source):
        for name in flow.written(one, self.kernel):
            state[name] = Unknown(source)

    def _not_modelled(self, one, state, condition, source=UNMODELLED, _kind=None):
        self._spoil(one, state, source if isinstance(source, str) else UNMODELLED)
        if any(operand[0] == "memory" or operand[0] == "list" and "[" in operand[1] for operand in one.operands):
            self._unknown_access(one, condition, UNMODELLED)

    def _unknown_access(self, one, condition, source):
        self.on_access(Access(one, source, ONE, 1, one.op[0] in ("st", "red", "atom"), condition))

    def _access(self, one, state, condition, operand, width, store, extent=None):
        if operand[0] != "memory":
            self._unknown_access(one, condition, UNMODELLED)
            return
        value = self.value(operand[1], state, 64)
        if isinstance(value, Poly):
            value = Pointer(64, ((TRUE, None, value),))
        if isinstance(value, Pointer):
            address = value.moved(number(operand[2]))
        else:
            address = value.source if isinstance(value, Unknown) else UNMODELLED
        self.on_access(Access(one, address, number(width) if extent is None else extent, width, store, condition))

    # ---- memory ----

    def _load(self, one, state, condition, kind):
        if kind is None or len(one.operands) < 2:
            self._not_modelled(one, state, condition)
            return
        targets = one.operands[0][1] if one.operands[0][0] == "vector" else [one.operands[0]]
        operand, length = one.operands[1], ptx.SIZES[kind]
        known = self._parameter_at(operand, state, length * len(targets)) if operand[0] == "memory" else None
        if _of_parameters(one.op) and operand[0] == "memory" and operand[1][0] == "name" \
                and operand[1][1] not in self.parameters and not self.kernel.type_of(operand[1][1]):
            self._spoil(one, state, CALL)  # what a callee returns
            return
        if known is None:
            self._access(one, state, condition, operand, length * vector_length(one.op), False)
        for at, target in enumerate(targets):
            name = target[1] if target[0] in ("register", "name") else None
            if name is None or not self.kernel.type_of(name):
                continue
            if known is not None:
                state[name] = self.parameter(known[0], known[1] + at * length, kind, self.bits(name))
            elif is_real(kind) or length * 8 >= self.bits(name):
                state[name] = Unknown(MEMORY)
            elif kind[0] == "s":
                state[name] = anything(length * 8, MEMORY)
            else:
                state[name] = variable(0, (1 << length * 8) - 1, MEMORY)

    def _parameter_at(self, operand, state, length):
        """(parameter, offset) where the operand is a known place in one, with so many bytes behind it."""
        base = operand[1]
        value = self.value(base, state, 64)
        if isinstance(value, Pointer):
            thing, offset = value.single()
            if thing is not None and thing.kind == "param" and offset.constant() is not None:
                at = offset.constant() + operand[2]
                if 0 <= at <= thing.size - length:
                    return thing.name, at
        return None

    def _store(self, one, state, condition, kind):
        if _of_parameters(one.op):
            return  # an argument of a call
        if "async" in one.op or "bulk" in one.op or kind is None:
            self._not_modelled(one, state, condition)
            return
        self._access(one, state, condition, one.operands[0], ptx.SIZES[kind] * vector_length(one.op), True)

    def _atomic(self, one, state, condition, kind):
        if "async" in one.op or kind is None:
            self._not_modelled(one, state, condition)
            return
        self._access(one, state, condition, one.operands[1 if one.op[0] == "atom" else 0],
                     ptx.SIZES[kind] * vector_length(one.op), True)
        if one.op[0] == "atom":
            self._spoil(one, state, MEMORY)

    def _copy(self, one, state, condition, _kind):
        operands = one.operands
        memory = [operand for operand in operands if operand[0] == "memory"]
        if "bulk" in one.op or "mbarrier" in one.op or "reduce" in one.op:
            self._not_modelled(one, state, condition)
            return
        if not memory:
            return  # a wait for it
        if len(memory) != 2 or operands[0][0] != "memory" or len(operands) < 3 or operands[2][0] != "number":
            self._unknown_access(one, condition, UNMODELLED)
            return
        width, extent = operands[2][1], None
        self._access(one, state, condition, operands[0], width, True)
        if len(operands) > 3 and operands[3][0] != "number" and self.kernel.type_of(operands[3][1]) == "pred":
            condition = both(condition, negate(self.condition(operands[3], state)))
        elif len(operands) > 3 and not (len(operands) == 4 and "L2::cache_hint" in one.op):
            extent = self.number(operands[3], state, 32)
            if extent is None:
                self._unknown_access(one, condition, UNMODELLED)
                return
            extent = least(unsigned(extent, 32), number(width))
            condition = both(condition, below(ZERO, extent))
        self._access(one, state, condition, operands[1], width, False, extent)

    def _matrix(self, one, state, condition, kind):
        rows = next((8 * int(word[1]) for word in one.op if word in ("x1", "x2", "x4")), None)
        load = one.op[0] == "ldmatrix"
        if rows is None or "m8n8" not in one.op or kind != "b16":
            self._not_modelled(one, state, condition)
            return
        self._access(one, state, both(condition, below(self.specials["%laneid"], number(rows))),
                     one.operands[1 if load else 0], 16, not load)
        if load:
            self._spoil(one, state, MEMORY)

    def _call(self, one, state, condition, _kind):
        self._spoil(one, state, CALL)
        callee = next((operand[1] for operand in one.operands if operand[0] == "name"), "")
        own = self.module.defines(callee)
        if not self.module.is_plain(callee) if own else callee not in HARMLESS:
            self._unknown_access(one, condition, CALL)

    def _nothing(self, one, state, _condition, _kind):
        self._spoil(one, state, UNMODELLED)

    # ---- moves ----

    def _move(self, one, state, condition, kind):
        target, source = one.operands[0], one.operands[1]
        bits = ptx.SIZES.get(kind, 0) * 8
        if kind == "pred":
            self.put(one, state, self.condition(source, state))
        elif not bits:
            self._not_modelled(one, state, condition)
        elif source[0] == "vector":
            self.put(one, state, self._packed(source[1], state, bits))
        elif target[0] == "vector":
            self._unpack(one, target[1], source, state, bits)
        else:
            value = self.value(source, state, bits)
            self.put(one, state, wrap(value, bits) if isinstance(value, Poly) else value)

    def _packed(self, parts, state, bits):
        if len(parts) != 2:
            return None
        half = bits // 2
        low, high = (self.number(part, state, half) for part in parts)
        if low is None or high is None:
            return Unknown(POINTER)
        return wrap(add(unsigned(low, half), scale(high, 1 << half)), bits)

    def _unpack(self, one, targets, source, state, bits):
        whole = self.number(source, state, bits)
        self._spoil(one, state, POINTER if whole is None else UNMODELLED)
        if whole is None or len(targets) != 2:
            return
        half = bits // 2
        for target, value in zip(targets, (whole, floor_div(whole, 1 << half))):
            if target[0] in ("register", "name") and self.kernel.type_of(target[1]):
                state[target[1]] = wrap(value, half)

    def _convert_address(self, one, state, _condition, kind):
        value = self.value(one.operands[1], state, ptx.SIZES[kind] * 8)
        self.put(one, state, value)

    def _convert(self, one, state, condition, _kind):
        kinds = [word for word in one.op[1:] if word in ptx.SIZES]
        if len(kinds) != 2 or any(map(is_real, kinds)) or "sat" in one.op:
            self._not_modelled(one, state, condition, FLOAT)
            return
        to, of = kinds
        bits, old = ptx.SIZES[to] * 8, ptx.SIZES[of] * 8
        value = self.value(one.operands[1], state, old)
        if isinstance(value, Pointer):
            self.put(one, state, self._converted_pointer(value, bits, of))
            return
        value = self.number(one.operands[1], state, old)
        if value is None:
            self.put(one, state, None)
            return
        value = wrap(unsigned(value, old) if of[0] != "s" else value, bits)
        if to[0] != "s" and bits < self.bits(one.operands[0][1]):
            value = unsigned(value, bits)
        self.put(one, state, value)

    @staticmethod
    def _converted_pointer(value, bits, of):
        if bits == value.bits:
            return value
        if bits < 32 or value.bits < bits and of[0] == "s":
            return Unknown(POINTER)
        choices = []
        for c, thing, offset in value.choices:
            if bits > value.bits:
                if thing is None:
                    offset = unsigned(offset, value.bits)
                elif thing.size is None or offset.low < 0 or offset.high > thing.size:
                    return Unknown(POINTER)  # the sum may turn over
            choices.append((c, thing, wrap(offset, bits)))
        return Pointer(bits, tuple(choices))

    def _select(self, one, state, condition, kind):
        bits = ptx.SIZES.get(kind, 0) * 8
        if not bits or one.op[0] != "selp":
            self._not_modelled(one, state, condition)
            return
        c = self.condition(one.operands[3], state)
        chosen = [self.value(operand, state, bits) for operand in one.operands[1:3]]
        self.put(one, state, merge(c, chosen[0], chosen[1], bits))

    # ---- comparisons and predicates ----

    def _compare(self, one, state, _condition, kind):
        c = None
        if kind is not None and not is_real(kind) and kind != "pred":
            c = self._comparison(one, state, kind)
        if c is None:
            c = flag(FLOAT if kind and is_real(kind) else self._source_of(one, state))
        word = next((word for word in one.op[2:] if word in ("and", "or", "xor")), None)
        targets = one.operands[0][1] if one.operands[0][0] == "pair" else [one.operands[0]]
        opposite = negate(c)
        if word:
            other = self.condition(one.operands[3], state)
            c, opposite = _combined(word, c, other), _combined(word, opposite, other)
        for target, value in zip(targets, (c, opposite)):
            if target[0] in ("register", "name") and self.kernel.type_of(target[1]):
                state[target[1]] = value

    def _source_of(self, one, state):
        for operand in one.operands[1:3]:
            value = self.value(operand, state, 64)
            if isinstance(value, Unknown):
                return value.source
            if isinstance(value, Pointer):
                return POINTER
        return UNMODELLED

    def _comparison(self, one, state, kind):
        bits, word = ptx.SIZES[kind] * 8, one.op[1]
        pair = [self.value(operand, state, bits) for operand in one.operands[1:3]]
        if any(isinstance(value, Pointer) for value in pair):
            return _pointer_comparison(word, *pair)
        p, q = (self.number(operand, state, bits) for operand in one.operands[1:3])
        if p is None or q is None:
            return None
        if word in ("lo", "ls", "hi", "hs") or kind[0] == "u" and word not in ("eq", "ne"):
            p, q = unsigned(p, bits), unsigned(q, bits)
        return _ordered(word, p, q)

    def _predicate(self, one, state, condition, kind):
        """and, or, xor, not of predicates; else of numbers."""
        if kind != "pred":
            self._integer(one, state, condition, kind)
            return
        c = self.condition(one.operands[1], state)
        if one.op[0] == "not":
            self.put(one, state, negate(c))
        else:
            self.put(one, state, _combined(one.op[0], c, self.condition(one.operands[2], state)))

    # ---- arithmetic ----

    def _integer(self, one, state, condition, kind):
        compute = INTEGER.get(one.op[0])
        if compute is None or kind is None or is_real(kind) or kind.endswith("x2") or "sat" in one.op \
                or "relu" in one.op:
            self._not_modelled(one, state, condition, FLOAT if kind and is_real(kind) else UNMODELLED)
            return
        bits = ptx.SIZES[kind] * 8
        widths = [bits] * (len(one.operands) - 1)
        if one.op[0] == "mad" and "wide" in one.op:
            widths[2] = 2 * bits
        if one.op[0] in ("shl", "shr"):
            widths[1] = 32
        if one.op[0] == "bfe":
            widths[1:] = [32, 32]
        values = [self.value(operand, state, width) for operand, width in zip(one.operands[1:], widths)]
        if any(isinstance(value, Pointer) for value in values):
            values = [value if isinstance(value, Pointer) else self.number(operand, state, width)
                      for operand, value, width in zip(one.operands[1:], values, widths)]
            self.put(one, state, _with_pointers(one.op, kind, values) or Unknown(POINTER))
            return
        numbers = [self.number(operand, state, width) for operand, width in zip(one.operands[1:], widths)]
        if any(value is None for value in numbers):
            self.put(one, state, None)
            return
        try:
            found = compute(one.op, kind, bits, *numbers)
        except TooLarge:
            found = Unknown(worst(*numbers))
        self.put(one, state, found)


def _combined(word, c, d):
    if word == "and":
        return both(c, d)
    if word == "or":
        return either(c, d)
    return either(both(c, negate(d)), both(negate(c), d))


def _ordered(word, p, q):
    if word in ("lt", "lo"):
        return below(p, q)
    if word in ("le", "ls"):
        return at_most(p, q)
    if word in ("gt", "hi"):
        return below(q, p)
    if word in ("ge", "hs"):
        return at_most(q, p)
    if word == "eq":
        return equal(p, q)
    return negate(equal(p, q)) if word == "ne" else None


def _pointer_comparison(word, p, q):
    """Of two pointers into one thing, or of one with NULL; else None."""
    if isinstance(p, Pointer) and isinstance(q, Pointer):
        thing, offset = p.single()
        other, behind = q.single()
        if thing is None or thing is not other or p.bits != q.bits:
            return None
        if word in ("eq", "ne"):
            return _ordered(word, wrap(sub(offset, behind), p.bits), ZERO)
        room = (1 << 62) if p.bits == 64 else (1 << 30)
        inside = all(0 <= one.low and one.high < room for one in (offset, behind))
        return _ordered(word, offset, behind) if inside else None
    pointer, other = (p, q) if isinstance(p, Pointer) else (q, p)
    thing, offset = pointer.single()
    null = isinstance(other, Poly) and other.constant() == 0
    if thing is not None and thing.kind == "buffer" and null and word in ("eq", "ne") and 0 <= offset.low \
            and offset.high < 1 << 62:
        return FALSE if word == "eq" else TRUE
    return None


def _with_pointers(op, kind, values):
    """A sum with a pointer, or a difference of two; None for all else."""
    bits = ptx.SIZES[kind] * 8
    if op[0] == "mad" and not isinstance(values[0], Pointer) and not isinstance(values[1], Pointer):
        wide = "wide" in op
        if values[2].bits != (2 * bits if wide else bits) or "hi" in op or values[0] is None or values[1] is None:
            return None
        return values[2].moved(product(op, kind, bits, values[0], values[1]))
    if op[0] not in ("add", "sub") or len(values) != 2 or any(value is None for value in values):
        return None
    p, q = values
    if isinstance(p, Pointer) and isinstance(q, Pointer):
        thing, offset = p.single()
        other, behind = q.single()
        same = op[0] == "sub" and thing is not None and thing is other and p.bits == q.bits == bits
        return wrap(sub(offset, behind), bits) if same else None
    if op[0] == "add" and isinstance(q, Pointer):
        p, q = q, p
    if not isinstance(p, Pointer) or p.bits != bits:
        return None
    return p.moved(q if op[0] == "add" else scale(q, -1))


HANDLERS = {
    "ld": Machine._load, "ldu": Machine._load, "st": Machine._store, "atom": Machine._atomic, "red": Machine._atomic,
    "cp": Machine._copy, "ldmatrix": Machine._matrix, "stmatrix": Machine._matrix, "call": Machine._call,
    "mov": Machine._move, "cvta": Machine._convert_address, "cvt": Machine._convert, "selp": Machine._select,
    "setp": Machine._compare, "and": Machine._predicate, "or": Machine._predicate, "xor": Machine._predicate,
    "not": Machine._predicate,
}
HANDLERS.update(dict.fromkeys(("bar", "barrier", "membar", "fence", "prefetch", "prefetchu", "griddepcontrol", "nanosleep",
                               "brkpt", "pmevent", "setmaxnreg", "applypriority"), Machine._nothing))
