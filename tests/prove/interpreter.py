"""Runs a PTX kernel on small grids with concrete values and tells each access that its object does not hold.

    module = parse(text)
    data = Buffer(64, b"...", "data")                      # zeros follow the contents
    launch = pack(module, "kernel", [data, 16, 1.5, b"a struct"])   # or Launch(bytes, {offset: (buffer, delta)})
    result = run(module, "kernel", (2, 1, 1), (32, 1, 1), launch, dynamic=128, max_steps=1000000)
    result.accesses, result.stopped, result.steps, data.data

A block's threads run one after the other up to the next barrier or warp operation, blocks one after the other, so that
a race has one of its legal outcomes. Memory that nobody has written is zero. An access outside its object, or
misaligned, is noted; such a load yields zero and such a store is dropped. Which object an address belongs to follows
from where it lies: see memory.py. What the interpreter does not know raises Unsupported when it is reached.
"""
import struct
from collections import namedtuple

import steps_control
import steps_memory
import steps_values
import steps_waits
from arithmetic import Unspecified
from memory import WINDOWS, Object, Space
from operands import PRED, U64, WARP, reader, unsupported
from ptx_text import Decimal, Function, Int, Name, Real, Unsupported, parse
from steps_control import Trap
from steps_memory import Access
from steps_waits import Barrier, Gather

__all__ = ["Access", "Buffer", "Launch", "Result", "Unsupported", "pack", "parse", "run"]

Launch = namedtuple("Launch", "bytes pointers")  # pointers: offset in bytes to a Buffer, or to (Buffer, delta)
# stopped: None, or why the run ended early: steps, deadlock, trap. approximate: lines whose result a machine may round
# otherwise. trace: all accesses in order, if they were asked for.
Result = namedtuple("Result", "accesses stopped steps approximate trace")

SLICE = 20000  # steps after which another thread of the block runs, in case this one waits for it in a loop
FUNCTION_START = 1 << 20  # addresses of functions, 16 apart


class Buffer:
    def __init__(self, size, contents=b"", name=None):
        self.data, self.name = bytearray(size), name
        self.data[:len(contents)] = contents
        if len(self.data) != size:
            raise ValueError("the contents are longer than the buffer")


BUILDERS = {**steps_values.BUILDERS, **steps_memory.BUILDERS, **steps_control.BUILDERS, **steps_waits.BUILDERS}


def build_step(instruction):
    builder = BUILDERS.get(instruction.name)
    if not builder:
        raise unsupported(instruction)
    step = builder(instruction)
    if not instruction.guard:
        return step
    name, negated = instruction.guard
    holds = reader(instruction, Name(name, 0), PRED)
    return lambda thread: step(thread) if holds(thread) != negated else None


# ---- threads, blocks, the machine ----

class Thread:
    def __init__(self, machine, block, index, linear):
        self.machine, self.block, self.index, self.linear = machine, block, index, linear
        self.lane, self.carry, self.alive, self.waiting = linear % WARP, 0, True, None
        self.local, self.stack = Space("local"), []
        self.start_function(machine.entry, machine.parameters)

    def start_function(self, function, parameters):
        self.function, self.code, self.pc = function, function.code, 0
        self.registers, self.locals = [None] * function.slots, dict(parameters)
        for variable in function.variables:
            if variable.space == "param":
                self.locals[variable] = Object(variable.name, "param", 0, bytearray(variable.size))
            elif variable.space == "local":
                if self.local.full():
                    raise Unsupported("recursion this deep", variable.line)
                self.locals[variable] = self.local.add(variable.name, bytearray(variable.size))

    def enter(self, function, arguments, returns, instruction):
        if len(arguments) != len(function.parameters) or len(returns) != len(function.returns):
            raise unsupported(instruction, "arguments")
        passed = {}
        for formal, actual in zip(function.parameters, arguments):
            data = bytearray(self.locals[actual].data)
            passed[formal] = Object(formal.name, "param", 0, data[:formal.size].ljust(formal.size, b"\0"))
        for formal in function.returns:
            passed[formal] = Object(formal.name, "param", 0, bytearray(formal.size))
        self.stack.append((self.function, self.pc, self.registers, self.locals, returns, len(self.local.objects)))
        self.start_function(function, passed)

    def leave(self):
        """ret: from the kernel itself it ends the thread."""
        if not self.stack:
            return self.exit()
        results = [self.locals[formal].data for formal in self.function.returns]
        self.function, self.pc, self.registers, self.locals, returns, kept = self.stack.pop()
        self.code = self.function.code
        del self.local.objects[kept:]
        for actual, data in zip(returns, results):
            self.locals[actual].data[:] = data[:actual.size]
        return None

    def exit(self):
        self.alive = False

    def space(self, name):
        return {"local": self.local, "shared": self.block.shared}.get(name) or self.machine.spaces[name]

    def object_of(self, variable, instruction):
        if variable.space in ("param", "local"):
            found = self.locals.get(variable)
        elif variable.space == "shared":
            found = self.block.objects.get(variable)
        else:
            found = self.machine.objects.get(variable)
        if found is None:
            raise unsupported(instruction, f"{variable.name} has no known size")
        return found

    def address_of(self, meaning, instruction):
        if isinstance(meaning, Function):
            return self.machine.address_of_function(meaning)
        found = self.object_of(meaning, instruction)
        if meaning.space == "param" and not found.base:
            raise unsupported(instruction, f"address of {meaning.name}")
        return found.base

    def advance(self):
        """Runs up to a wait, the end, or as many steps as are its turn."""
        machine = self.machine
        limit = min(machine.steps + SLICE, machine.max_steps)
        while self.alive and not self.waiting and machine.steps < limit:
            machine.steps += 1
            if self.pc >= len(self.code):
                self.leave()
                continue
            instruction = self.code[self.pc]
            self.pc += 1
            if not instruction.step:
                instruction.step = build_step(instruction)
            try:
                wait = instruction.step(self)
            except Unspecified as why:
                raise unsupported(instruction, why) from None
            if wait:
                self.block.wait(self, wait)


class Block:
    def __init__(self, machine, index):
        self.machine, self.index = machine, index
        self.shared, self.objects = Space("shared"), {}
        self.arrived = {}  # by a barrier's number: the (thread, Barrier) that came to it
        self.make_shared()
        width, height, depth = machine.block
        self.threads = [Thread(machine, self, (x, y, z), x + width * (y + height * z))
                        for z in range(depth) for y in range(height) for x in range(width)]
        self.warps = [self.threads[at:at + WARP] for at in range(0, len(self.threads), WARP)]

    def make_shared(self):
        machine = self.machine
        dynamic = self.shared.add("dynamic shared", bytearray(machine.dynamic))
        for variable in machine.shared_variables:
            if variable.size is None or variable.extern:
                self.objects[variable] = dynamic
            else:
                self.objects[variable] = self.shared.add(variable.name, bytearray(variable.size))

    def wait(self, thread, wait):
        if isinstance(wait, Barrier):
            self.arrived.setdefault(wait.number, []).append((thread, wait))
            if wait.waits:
                thread.waiting = wait
        else:
            thread.waiting = wait

    def run(self):
        """None, or why the block cannot end."""
        while any(thread.alive for thread in self.threads):
            runnable = [thread for thread in self.threads if thread.alive and not thread.waiting]
            for thread in runnable:
                thread.advance()
            if self.machine.steps >= self.machine.max_steps:
                return "steps"
            released = any([self.release_barrier(number) for number in list(self.arrived)])
            released |= any([self.release_lanes(warp) for warp in self.warps])
            if not runnable and not released:
                return "deadlock"
        return None

    def release_barrier(self, number):
        """A barrier opens for the threads that it counts; it counts whole warps, and without a count all that live."""
        arrived = self.arrived[number]
        count = arrived[0][1].count
        if count is None:
            waiting = {thread for thread, _ in arrived}
            if any(thread.alive and thread not in waiting for thread in self.threads):
                return False
        elif WARP * len({thread.linear // WARP for thread, _ in arrived}) < count or self.warp_is_split(arrived):
            return False
        del self.arrived[number]
        values = [wait.value for _, wait in arrived if wait.combine]
        for thread, wait in arrived:
            if wait.finish:
                wait.finish(wait.combine(values))
            if wait.waits:
                thread.waiting = None
        return True

    def warp_is_split(self, arrived):
        """Whether lanes of a warp that came are still on their way."""
        here = {thread for thread, _ in arrived}
        return any(thread.alive and thread not in here
                   for number in {thread.linear // WARP for thread in here} for thread in self.warps[number])

    def release_lanes(self, warp):
        released = False
        for thread in warp:
            if not isinstance(thread.waiting, Gather):
                continue
            key, mask = thread.waiting.key, thread.waiting.mask
            members = [other for other in warp if other.alive and mask >> other.lane & 1]
            waits = [other.waiting for other in members]
            if not all(isinstance(wait, Gather) and wait.key == key for wait in waits):
                continue
            values = {other.lane: wait.value for other, wait in zip(members, waits)}
            for other, wait in zip(members, waits):
                other.waiting = None
                wait.finish(values)
            released = True
        return released


class Machine:
    def __init__(self, module, kernel, grid, block, launch, dynamic, max_steps, trace):
        self.module, self.kernel, self.grid, self.block = module, kernel, grid, block
        self.dynamic, self.max_steps, self.steps = dynamic, max_steps, 0
        self.accesses, self.approximate, self.trace = [], set(), [] if trace else None
        self.entry = module.functions[kernel]
        self.functions = list(module.functions.values())
        self.spaces = {name: Space(name) for name in ("global", "const", "param")}
        self.objects = {}
        self.shared_variables = [variable for holder in [module, *self.functions] for variable in holder.variables
                                 if variable.space == "shared"]
        self.parameters = self.make_parameters(launch)
        self.make_variables()

    def make_parameters(self, launch):
        data, seen = bytearray(launch.bytes), {}
        for offset, pointer in launch.pointers.items():
            buffer, delta = pointer if isinstance(pointer, tuple) else (pointer, 0)
            if id(buffer) not in seen:
                name = buffer.name or f"buffer {len(seen)}"
                seen[id(buffer)] = self.spaces["global"].add(name, buffer.data)
            struct.pack_into("<Q", data, offset, (seen[id(buffer)].base + delta) & U64.mask)
        parameters, end = {}, 0
        for variable, offset in zip(self.entry.parameters, parameter_offsets(self.entry)):
            end = offset + variable.size
            if end > len(data):
                raise ValueError(f"{variable.name} lies behind the {len(data)} parameter bytes")
            parameters[variable] = self.spaces["param"].add(variable.name, data[offset:end])
        return parameters

    def make_variables(self):
        """Addresses first, because a value may hold the address of a later variable."""
        kept = [variable for variable in self.module.variables
                if variable.space in ("global", "const") and variable.size is not None]
        for variable in kept:
            self.objects[variable] = self.spaces[variable.space].add(variable.name, bytearray(variable.size))
        for variable in kept:
            for place, value in enumerate(variable.initial or []):
                start = place * variable.element
                self.objects[variable].data[start:start + variable.element] = self.initial_bytes(variable, value)

    def initial_bytes(self, variable, value):
        size = variable.element
        if isinstance(value, Int):
            return (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
        if isinstance(value, Real) and value.bits == 8 * size:
            return value.pattern.to_bytes(size, "little")
        if not isinstance(value, tuple) or isinstance(value, (Real, Decimal)) or size != 8:
            raise Unsupported(f"initial value of {variable.name}", variable.line)
        name, offset, generic = value
        meaning = self.module.scope.find(name)
        if isinstance(meaning, Function):
            address = self.address_of_function(meaning)
        elif meaning in self.objects:
            address = self.objects[meaning].base + (WINDOWS[meaning.space] if generic else 0)
        else:
            raise Unsupported(f"initial value of {variable.name}", variable.line)
        return (address + offset).to_bytes(size, "little")

    def address_of_function(self, function):
        return FUNCTION_START + 16 * self.functions.index(function)

    def function_at(self, address):
        place, rest = divmod(address - FUNCTION_START, 16)
        return self.functions[place] if not rest and 0 <= place < len(self.functions) else None

    def run(self):
        width, height, depth = self.grid
        stopped = None
        try:
            for linear in range(width * height * depth):
                index = (linear % width, linear // width % height, linear // (width * height))
                stopped = Block(self, index).run()
                if stopped:
                    break
        except Trap:
            stopped = "trap"
        return Result(self.accesses, stopped, self.steps, sorted(self.approximate), self.trace)


def parameter_offsets(function):
    offsets, end = [], 0
    for variable in function.parameters:
        if variable.size is None:
            raise Unsupported(f"size of {variable.name}", variable.line)
        start = -(-end // variable.align) * variable.align
        offsets.append(start)
        end = start + variable.size
    return offsets


def pack(module, kernel, values):
    """A Launch from a value for each parameter: a Buffer or (Buffer, delta), an int, a float, or bytes."""
    function = module.functions[kernel]
    if len(values) != len(function.parameters):
        raise ValueError(f"{kernel} takes {len(function.parameters)} parameters")
    data, pointers = bytearray(), {}
    for variable, offset, value in zip(function.parameters, parameter_offsets(function), values):
        data.extend(bytes(offset + variable.size - len(data)))
        if isinstance(value, (Buffer, tuple)):
            pointers[offset] = value
            continue
        if isinstance(value, float):
            value = struct.pack({4: "<f", 8: "<d"}[variable.size], value)
        elif isinstance(value, int):
            value = (value & ((1 << 8 * variable.size) - 1)).to_bytes(variable.size, "little")
        data[offset:offset + len(value)] = value
    return Launch(bytes(data), pointers)


def run(module, kernel, grid, block, launch, dynamic=0, max_steps=1000000, trace=False):
    """Runs the grid; see the top of the file. module: what parse returned, or the text."""
    if isinstance(module, str):
        module = parse(module)
    whole = [tuple(shape) + (1,) * (3 - len(shape)) for shape in (grid, block)]
    return Machine(module, kernel, *whole, launch, dynamic, max_steps, trace).run()
