"""Reads PTX text into functions, variables and instructions. It knows the grammar and no opcode.

Names are looked up when an instruction first runs, because PTX may use a label or a function before its definition.
"""
import re
from collections import namedtuple


class Unsupported(Exception):
    """The text holds what the interpreter does not know; it never guesses."""

    def __init__(self, opcode, line):
        super().__init__(f"line {line}: {opcode}")
        self.opcode, self.line = opcode, line


Token = namedtuple("Token", "text line")

# Operands as they are written.
Int = namedtuple("Int", "value")
Real = namedtuple("Real", "bits pattern")  # 0f and 0d literals
Decimal = namedtuple("Decimal", "value")
Name = namedtuple("Name", "name offset")
Not = namedtuple("Not", "operand")
Vector = namedtuple("Vector", "items")
Memory = namedtuple("Memory", "base offset")  # base: a Name, or None for an absolute address
List = namedtuple("List", "items")  # in parentheses
Pair = namedtuple("Pair", "first second")  # d|p

# What a name may stand for.
Register = namedtuple("Register", "slot bits")
Label = namedtuple("Label", "pc")
Targets = namedtuple("Targets", "labels")
Prototype = namedtuple("Prototype", "name")

TOKEN = re.compile(
    r'(?P<blank>[ \t\r\n]+|//[^\n]*|/\*.*?\*/)'
    r'|"(?:\\.|[^"\\\n])*"'
    r'|0[fF][0-9a-fA-F]{8}\b|0[dD][0-9a-fA-F]{16}\b|\d+\.\d*(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+'
    r'|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?|\d+U?'
    r'|[A-Za-z_$%][\w$]*(?:\.\w+(?:::\w+)*)*|\.[A-Za-z_]\w*(?:::\w+)*'
    r'|[-{}()\[\],;:|!@=<>+*/~&^?]', re.S)
TYPE = re.compile(r"\.([usbf]|bf)(\d+)$|\.pred$")
SPACES = (".global", ".const", ".shared", ".local", ".param")
UNTIL_LINE_END = (".loc", ".file", ".version", ".target", ".address_size")


def tokens_of(text):
    line, position, found = 1, 0, []
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise Unsupported(f"character {text[position]!r}", line)
        if match.lastgroup != "blank":
            found.append(Token(match[0], line))
        line += match[0].count("\n")
        position = match.end()
    return found


class Variable:
    """A declared object of a state space. size is None where an extern declaration leaves it open."""

    def __init__(self, name, space, size, align, extern, element, initial, line):
        self.name, self.space, self.size, self.align, self.extern = name, space, size, align, extern
        self.element, self.initial, self.line = element, initial, line  # element: bytes of one


class Scope:
    """The names between two braces; the outer scopes lie behind parent."""

    def __init__(self, parent=None):
        self.parent, self.names, self.ranges = parent, {}, []

    def find(self, name):
        scope = self
        while scope:
            if name in scope.names:
                return scope.names[name]
            for prefix, first, count, bits in scope.ranges:
                rest = name[len(prefix):]
                if name.startswith(prefix) and rest.isdigit() and int(rest) < count:
                    return Register(first + int(rest), bits)
            scope = scope.parent
        return None


class Instruction:
    def __init__(self, opcode, operands, guard, line, source, scope, function):
        self.opcode, self.operands, self.guard = opcode, operands, guard  # guard: (name, negated) or None
        self.line, self.source, self.scope, self.function = line, source, scope, function
        self.name, *self.modifiers = opcode.split(".")
        self.step = None  # made when it first runs


class Function:
    def __init__(self, name, entry, scope):
        self.name, self.entry, self.scope = name, entry, scope
        self.parameters, self.returns = [], []  # Variables
        self.code, self.slots, self.variables, self.defined = [], 0, [], False


class Module:
    def __init__(self):
        self.scope, self.functions, self.variables, self.files = Scope(), {}, [], {}

    def source_of(self, instruction):
        """file:line as .loc has it, or None."""
        if not instruction.source or not instruction.source[1]:
            return None
        number, line = instruction.source
        return f"{self.files.get(number, number)}:{line}"


def integer_of(text):
    text = text.rstrip("U")
    if len(text) > 1 and text[0] == "0" and text[1] in "01234567":
        return int(text, 8)
    return int(text, 0)


def number_of(text):
    if text[:2] in ("0f", "0F") or text[:2] in ("0d", "0D"):
        return Real(32 if text[1] in "fF" else 64, int(text[2:], 16))
    if text[:2] not in ("0x", "0X") and ("." in text or "e" in text or "E" in text):
        return Decimal(float(text))
    return Int(integer_of(text))


class Parser:
    def __init__(self, text):
        self.tokens, self.at = tokens_of(text), 0
        self.module = Module()
        self.scope, self.function, self.source = self.module.scope, None, None

    # ---- tokens ----

    def peek(self, ahead=0):
        place = self.at + ahead
        return self.tokens[place].text if place < len(self.tokens) else ""

    def line(self):
        return self.tokens[min(self.at, len(self.tokens) - 1)].line

    def next(self):
        if self.at == len(self.tokens):
            raise Unsupported("the text ends too soon", self.line())
        self.at += 1
        return self.tokens[self.at - 1].text

    def accept(self, text):
        if self.peek() != text:
            return False
        self.at += 1
        return True

    def expect(self, text):
        if not self.accept(text):
            raise Unsupported(f"{self.peek()} in place of {text}", self.line())

    def skip_past(self, text):
        while self.next() != text:
            pass

    def rest_of_line(self):
        line, rest = self.tokens[self.at - 1].line, []
        while self.at < len(self.tokens) and self.line() == line:
            rest.append(self.next())
        return rest

    # ---- the module ----

    def parse(self):
        while self.at < len(self.tokens):
            self.parse_directive()
        return self.module

    def parse_directive(self):
        """One directive outside of the statements of a body."""
        linkage = set()
        while self.peek() in (".visible", ".extern", ".weak", ".common"):
            linkage.add(self.next())
        word = self.peek()
        if word in (".entry", ".func"):
            self.next()
            self.parse_function(word == ".entry")
        elif word in SPACES:
            self.parse_variables(".extern" in linkage)
        elif not self.parse_note():
            raise Unsupported(word, self.line())

    def parse_note(self):
        """What says something of the text and changes no state."""
        word = self.peek()
        if word in UNTIL_LINE_END:
            self.next()
            rest = self.rest_of_line()
            if word == ".loc":
                self.source = (int(rest[0]), int(rest[1]))
            elif word == ".file":
                self.module.files[int(rest[0])] = rest[1].strip('"')
            elif word == ".address_size" and rest != ["64"]:
                raise Unsupported(".address_size " + " ".join(rest), self.line())
        elif word == ".section":
            self.skip_past("{")
            depth = 1
            while depth:
                depth += {"{": 1, "}": -1}.get(self.next(), 0)
        elif word == ".pragma":
            self.skip_past(";")
        else:
            return False
        return True

    # ---- declarations ----

    def parse_attributes(self):
        """The words before a variable's name: its alignment, bytes of an element, and whether the type is opaque."""
        align, lanes, size, kind = None, 1, None, None
        while self.peek().startswith("."):
            word = self.next()
            if word == ".align":
                align = integer_of(self.next())
            elif word in (".attribute", ".ptr"):
                if self.accept("("):
                    self.skip_past(")")
            elif word in (".v2", ".v4"):
                lanes = int(word[2:])
            elif TYPE.match(word):
                kind = word
                size = None if word == ".pred" else int(TYPE.match(word)[2]) // 8
            elif word not in SPACES:
                kind = word  # .texref and the like have no bytes
        element = size and size * lanes
        return align or element, element, kind

    def parse_extent(self):
        """The product of the dimensions; None for []."""
        count = 1
        while self.accept("["):
            if self.accept("]"):
                count = None
                continue
            dimension = integer_of(self.next())
            count = None if count is None else count * dimension
            self.expect("]")
        return count

    def parse_variable(self, space, align, element, extern):
        line, name = self.line(), self.next()
        count = self.parse_extent()
        initial = None
        if self.accept("="):
            initial = self.parse_initial()
        size = None if element is None or count is None else element * count
        if size is None and initial and element:
            size = element * len(initial)
        variable = Variable(name, space, size, align, extern, element, initial, line)
        self.scope.names[name] = variable
        return variable

    def parse_variables(self, extern=False):
        space = self.next()[1:]
        align, element, _ = self.parse_attributes()
        home = self.function.variables if self.function else self.module.variables
        while True:
            home.append(self.parse_variable(space, align, element, extern))
            if self.accept(";"):
                return
            self.expect(",")

    def parse_initial(self):
        """A list of numbers, and of (name, offset, generic) for addresses."""
        if not self.accept("{"):
            return [self.parse_initial_value()]
        values = []
        while not self.accept("}"):
            values.append(self.parse_initial_value())
            self.accept(",")
        return values

    def parse_initial_value(self):
        sign = -1 if self.accept("-") else 1
        word = self.next()
        if word[0].isdigit():
            value = number_of(word)
            return Int(sign * value.value) if isinstance(value, Int) else value
        generic = word == "generic"
        if generic:
            self.expect("(")
            word = self.next()
            self.expect(")")
        if not re.match(r"[A-Za-z_$%]", word) or self.peek() == "(":
            raise Unsupported(f"initial value {word}", self.line())
        offset = integer_of(self.next()) if self.accept("+") else 0
        return (word, offset, generic)

    def parse_registers(self):
        self.expect(".reg")
        word = self.next()
        if word in (".v2", ".v4"):
            raise Unsupported(".reg " + word, self.line())
        match = TYPE.match(word)
        if not match:
            raise Unsupported(".reg " + word, self.line())
        bits = 1 if word == ".pred" else int(match[2])
        while True:
            name = self.next()
            if self.accept("<"):
                count = integer_of(self.next())
                self.expect(">")
                self.scope.ranges.append((name, self.function.slots, count, bits))
                self.function.slots += count
            else:
                self.scope.names[name] = Register(self.function.slots, bits)
                self.function.slots += 1
            if self.accept(";"):
                return
            self.expect(",")

    # ---- functions ----

    def parse_parameters(self):
        variables = []
        while not self.accept(")"):
            if self.peek() != ".param":
                raise Unsupported(f"parameter in {self.peek()}", self.line())
            self.next()
            align, element, _ = self.parse_attributes()
            variables.append(self.parse_variable("param", align, element, False))
            self.accept(",")
        return variables

    def parse_function(self, entry):
        outer, self.scope = self.scope, Scope(self.scope)
        returns = self.parse_parameters() if self.accept("(") else []
        function = Function(self.next(), entry, self.scope)
        function.returns = returns
        function.parameters = self.parse_parameters() if self.accept("(") else []
        while self.peek() not in ("{", ";"):
            self.next()  # .maxntid, .noreturn and the like bind ptxas and launches, not values
        if self.peek() == "{":
            function.defined = True
            self.function = function
            self.parse_body()
            self.function = None
        else:
            self.expect(";")
        self.scope = outer
        known = self.module.functions.get(function.name)
        if not (known and known.defined):
            self.module.functions[function.name] = function
            self.module.scope.names[function.name] = function

    def parse_body(self):
        self.expect("{")
        self.scope = Scope(self.scope)
        while not self.accept("}"):
            self.parse_statement()
        self.scope = self.scope.parent

    def parse_statement(self):
        word = self.peek()
        if word == "{":
            self.parse_body()
        elif word == ".reg":
            self.parse_registers()
        elif word in SPACES:
            self.parse_variables()
        elif self.peek(1) == ":":
            self.parse_label()
        elif word.startswith("."):
            if not self.parse_note():
                raise Unsupported(word, self.line())
        elif not self.accept(";"):
            self.parse_instruction()

    def parse_label(self):
        name = self.next()
        self.expect(":")
        meaning = Label(len(self.function.code))
        if self.accept(".branchtargets"):
            labels = [self.next()]
            while self.accept(","):
                labels.append(self.next())
            self.expect(";")
            meaning = Targets(labels)
        elif self.accept(".callprototype"):
            self.skip_past(";")
            meaning = Prototype(name)
        self.scope.names[name] = meaning

    def parse_instruction(self):
        guard, line = None, self.line()
        if self.accept("@"):
            negated = self.accept("!")
            guard = (self.next(), negated)
        opcode, operands = self.next(), []
        while not self.accept(";"):
            operands.append(self.parse_operand())
            self.accept(",")
        self.function.code.append(
            Instruction(opcode, operands, guard, line, self.source, self.scope, self.function))

    def parse_operand(self):
        if self.accept("!"):
            return Not(self.parse_operand())
        if self.accept("{"):
            return Vector(self.parse_until("}"))
        if self.accept("("):
            return List(self.parse_until(")"))
        if self.accept("["):
            return self.parse_memory()
        operand = self.parse_atom()
        return Pair(operand, self.parse_atom()) if self.accept("|") else operand

    def parse_until(self, end):
        items = []
        while not self.accept(end):
            items.append(self.parse_operand())
            self.accept(",")
        return items

    def parse_memory(self):
        atom = self.parse_atom()
        self.expect("]")
        if isinstance(atom, Int):
            return Memory(None, atom.value)
        if not isinstance(atom, Name):
            raise Unsupported("address", self.line())
        return Memory(Name(atom.name, 0), atom.offset)

    def parse_atom(self):
        if self.accept("-"):
            value = number_of(self.next())
            if isinstance(value, Real):
                raise Unsupported("negated bit pattern", self.line())
            return type(value)(-value.value)
        word = self.next()
        if word[0].isdigit():
            return number_of(word)
        if not re.match(r"[A-Za-z_$%]", word):
            raise Unsupported(f"operand {word}", self.line())
        offset = 0
        while self.peek() in ("+", "-"):
            sign = 1 if self.next() == "+" else -1
            if self.accept("-"):
                sign = -sign
            offset += sign * integer_of(self.next())
        return Name(word, offset)


def parse(text):
    return Parser(text.rstrip("\0")).parse()
