"""What says where a thread goes on: branches, calls, ends."""
import re

from memory import space_of
from operands import U32, U64, Modifiers, builders, reader, unsupported
from ptx_text import Function, Label, List, Name, Register, Targets, Variable


class Trap(Exception):
    pass


def build_branch(instruction):
    words = Modifiers(instruction)
    indexed = words.flag("idx")
    words.flag("uni")
    words.done(2 if indexed else 1)
    if indexed:
        return build_indexed_branch(instruction)
    target = instruction.scope.find(instruction.operands[0].name)
    if not isinstance(target, Label):
        raise words.unknown()
    pc = target.pc

    def step(thread):
        thread.pc = pc
    return step


def build_indexed_branch(instruction):
    index, table = instruction.operands
    read, targets = reader(instruction, index, U32), instruction.scope.find(table.name)
    if not isinstance(targets, Targets):
        raise unsupported(instruction)
    places = [instruction.scope.find(name) for name in targets.labels]

    def step(thread):
        chosen = read(thread)
        if chosen >= len(places):
            raise unsupported(instruction, "index past the targets")
        thread.pc = places[chosen].pc
    return step


def variable_of(instruction, operand):
    meaning = instruction.scope.find(operand.name) if isinstance(operand, Name) else None
    if not isinstance(meaning, Variable) or meaning.space != "param":
        raise unsupported(instruction, "argument in a register")
    return meaning


def build_call(instruction):
    words = Modifiers(instruction)
    words.flag("uni")
    words.done()
    operands = list(instruction.operands)
    returns = operands.pop(0).items if isinstance(operands[0], List) else []
    callee = operands.pop(0)
    arguments = operands.pop(0).items if operands and isinstance(operands[0], List) else []
    returns, arguments = ([variable_of(instruction, item) for item in items] for items in (returns, arguments))
    meaning = instruction.scope.find(callee.name)
    address = reader(instruction, callee, U64) if isinstance(meaning, Register) else None
    if not address and not isinstance(meaning, Function):
        raise words.unknown()

    def step(thread):
        function = thread.machine.function_at(address(thread)) if address else meaning
        if function is None:
            raise unsupported(instruction, "no function at this address")
        if function.defined:
            return thread.enter(function, arguments, returns, instruction)
        if function.name not in EXTERNAL:
            raise unsupported(instruction, function.name)
        values = [bytes(thread.locals[argument].data) for argument in arguments]
        result = EXTERNAL[function.name](thread, *values)
        if returns:
            thread.locals[returns[0]].data[:] = result.to_bytes(returns[0].size, "little")
        return None
    return step


def printed(thread, text, _):
    """vprintf returns how many arguments the format prints."""
    space, address = space_of(int.from_bytes(text, "little"))
    near = thread.space(space).near(address) if space else None
    if near is None:
        return U32.mask
    string = bytes(near.data[address - near.base:]).split(b"\0")[0]
    return len(re.findall(rb"%[^%]", string.replace(b"%%", b"")))


def assertion_failed(thread, *_):
    raise Trap


EXTERNAL = {"vprintf": printed, "__assertfail": assertion_failed}


def build_end(instruction):
    words = Modifiers(instruction)
    words.flag("uni")
    words.done(0)
    if instruction.name == "ret":
        return lambda thread: thread.leave()
    return lambda thread: thread.exit()


def build_trap(instruction):
    return assertion_failed


BUILDERS = builders({build_branch: "bra brx", build_call: "call", build_end: "ret exit", build_trap: "trap"})
