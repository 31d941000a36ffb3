"""Reads PTX: the variables of a module, and of a kernel its parameters, registers, instructions and labels, with source lines."""
import re

SIZES = {"b8": 1, "u8": 1, "s8": 1, "b16": 2, "u16": 2, "s16": 2, "f16": 2, "bf16": 2, "b32": 4, "u32": 4, "s32": 4, "f32": 4,
         "f16x2": 4, "bf16x2": 4, "tf32": 4, "b64": 8, "u64": 8, "s64": 8, "f64": 8, "b128": 16, "pred": 1,
         "e4m3": 1, "e5m2": 1, "e4m3x2": 2, "e5m2x2": 2, "u16x2": 4, "s16x2": 4, "f32x2": 8}
MOST_INSTRUCTIONS = 50000
LONGEST_STATEMENT = 64 << 10


class BadPtx(Exception):
    """Text that is no PTX, or none that is understood; its text says why."""


class Variable:
    """size is None where it is said elsewhere: a dynamic array, or an external one."""

    def __init__(self, space, name, size, align):
        self.space, self.name, self.size, self.align = space, name, size, align


class Instruction:
    """op: its words. operands: ("register", name), ("number", n), ("real",), ("name", name, offset), ("memory", operand,
    offset), ("vector", operands), ("list", text), ("not", operand), ("pair", operands)."""
    __slots__ = ("at", "guard", "negated", "op", "operands", "line", "source", "inlined", "text")

    def __repr__(self):
        return f"{self.line}: {self.text}"


class Kernel:
    def __init__(self, name):
        self.name = name
        self.parameters = []  # (name, size, align)
        self.instructions = []
        self.labels = {}  # to the index of an instruction
        self.targets = {}  # of a .branchtargets, to labels
        self.variables = {}
        self._types, self._families = {}, {}

    def declare(self, name, kind, family):
        (self._families if family else self._types)[name] = kind

    def type_of(self, register):
        kind = self._types.get(register)
        if kind is None:
            kind = self._families.get(register.rstrip("0123456789"))
            if kind is not None:
                self._types[register] = kind
        return kind


VARIABLE = re.compile(r"((?:\.(?:extern|visible|weak|common)\s+)*)\.(global|shared|const|local|param)\s+(.*)", re.S)
NAMED = re.compile(r"(?:\.attribute\([^)]*\)\s*)?(?:\.align\s+(\d+)\s+)?(?:\.v([24])\s+)?\.(\w+)\s+(?:\.ptr\s*(?:\.(?:global|shared|const|local)\s*)?(?:\.align\s+\d+\s+)?)?"
                   r"([\w$%]+)((?:\s*\[\s*(?:\d+\s*)?\])*)")


def read_variables(text):
    """The Variables that a statement declares."""
    m = VARIABLE.match(" ".join(text[:LONGEST_STATEMENT].split()))
    if not m:
        return []
    n = NAMED.match(m[3].strip())
    if not n or n[3] not in SIZES:
        return []
    unit = SIZES[n[3]] * int(n[2] or 1)
    size = unit
    for length in re.findall(r"\[\s*(\d*)\s*\]", n[5]):
        size = size * int(length) if length and size is not None else None
    found = [Variable(m[2], n[4], size, int(n[1] or unit))]
    if "," in m[3] and "=" not in m[3]:
        found += [Variable(m[2], name.strip(), unit, unit) for name in m[3].split(",")[1:] if re.fullmatch(r"[\w$%]+", name.strip())]
    return found


class Module:
    """What a text of PTX has. Kernels are read when they are asked for."""

    def __init__(self, text):
        self.target = int(m[1]) if (m := re.search(r"^\s*\.target\s+sm_(\d+)", text, re.M)) else 0
        if not re.search(r"^\s*\.version\s", text, re.M):
            raise BadPtx("it has no .version")
        self.files = {int(m[1]): m[2] for m in re.finditer(r'^\s*\.file\s+(\d+)\s+"([^"\n]*)"', text, re.M)}
        self.text = _without_comments(text)
        self.variables = {}
        self._headers, self._kernels, self._functions = {}, {}, {}
        self._find_functions()

    def _find_functions(self):
        behind, last_end = 0, self.text.rfind(";")
        for m in re.finditer(r"^[ \t]*(?:\.(?:visible|weak|extern|common)\s+)*\.(entry|func)\b", self.text, re.M):
            if m.start() < behind:
                continue
            self._take_variables(self.text[behind:m.start()])
            end = self.text.find(";", m.end()) if m.end() <= last_end else len(self.text)
            opening = self.text.find("{", m.end(), end)
            if opening < 0:  # a declaration
                behind = end + 1
                continue
            behind = _closing(self.text, opening)
            header = re.match(r"\s*(?:\([^)]*\)\s*)?([\w$]+)", self.text[m.end():opening])
            if header:
                found = self._headers if m[1] == "entry" else self._functions
                found[header[1]] = (m.end(), opening, behind)
        self._take_variables(self.text[behind:])

    def _take_variables(self, text):
        for statement in re.split(r";", re.sub(r"^\s*\.(?:version|target|address_size|file|section).*$", "", text, flags=re.M)):
            for variable in read_variables(statement.strip()):
                self.variables[variable.name] = variable

    def defines(self, name):
        return name in self._functions

    def is_plain(self, name):
        """Whether a function accesses no memory and calls nothing."""
        if name not in self._functions:
            return False
        _, opening, end = self._functions[name]
        body = re.sub(r"\b(?:ld|st)\.param\.[\w.]+\s+[^;]*;", "", self.text[opening:end])
        return "[" not in body and not re.search(r"\bcall\b", body)

    def names(self):
        return list(self._headers)

    def kernel(self, name):
        """The Kernel of that name, or None."""
        if name not in self._headers:
            return None
        if name not in self._kernels:
            after, opening, end = self._headers[name]
            kernel = Kernel(name)
            _read_parameters(kernel, self.text[after:opening])
            _Body(kernel, self.text.count("\n", 0, opening) + 1).read(self.text[opening + 1:end - 1])
            self._kernels[name] = kernel
        return self._kernels[name]


def _without_comments(text):
    parts, behind = [], 0
    while (start := text.find("/*", behind)) >= 0:
        end = text.find("*/", start + 2)
        end = len(text) if end < 0 else end + 2
        parts += [text[behind:start], "\n" * text.count("\n", start, end)]
        behind = end
    text = "".join(parts) + text[behind:]
    return re.sub(r"//[^\n]*", "", text)


def _closing(text, opening):
    """The index behind the brace that closes the one at opening."""
    depth = 0
    for m in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if m[0] == "{" else -1
        if depth == 0:
            return m.end()
    raise BadPtx("a function has no end")


def _read_parameters(kernel, header):
    start = header.find("(")
    for part in header[start + 1:header.rfind(")")].split(",") if start >= 0 else ():
        for variable in read_variables(part.strip()):
            if variable.size is None:
                raise BadPtx(f"the size of the parameter {variable.name} is not known")
            kernel.parameters.append((variable.name, variable.size, variable.align))


LOCATION = re.compile(r"\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*\binlined_at\s+(\d+)\s+(\d+)\s+(\d+))?")
IDENTIFIER = re.compile(r"(?<![\w%$.])[%A-Za-z_$][\w$]*")


class _Body:
    """Reads the statements of a function. Names of an inner scope get the scope's number."""

    def __init__(self, kernel, line):
        self.kernel, self.line = kernel, line
        self.location, self.callers = (None, ()), {}
        self.scopes, self.scope_count = [{}], 0
        self.pending, self.began = "", 0

    def read(self, text):
        for number, line in enumerate(text.split("\n"), self.line):
            stripped = line.strip()
            if not self.pending and re.match(r"\.loc\s", stripped):
                m = LOCATION.match(stripped)
                if m:
                    self._locate(m)
                continue
            if stripped:
                self._take(stripped, number)
        if self.pending.strip():
            raise BadPtx(f"line {self.began}: a statement has no end")

    def _locate(self, m):
        """The file and line, and those of the calls that were inlined, the innermost first."""
        place = int(m[1]), int(m[2]), int(m[3])
        caller = (int(m[4]), int(m[5]), int(m[6])) if m[4] else None
        self.callers[place] = caller
        chain = []
        while caller is not None and len(chain) < 20:
            chain.append(caller[:2])
            caller = self.callers.get(caller)
        self.location = place[:2], tuple(chain)

    def _take(self, text, number):
        while text:
            if not self.pending:
                text = text.lstrip()
                if not text:
                    return
                if text[0] in "{}":
                    self._scope(text[0], number)
                    text = text[1:]
                    continue
                label = re.match(r"([\w$%]+)\s*:(?!:)\s*", text)
                if label:
                    text = self._label(self._renamed(label[1]), text[label.end():])
                    continue
                self.began = number
            end = text.find(";")
            if end < 0:
                self.pending += text + " "
                if len(self.pending) > LONGEST_STATEMENT:
                    raise BadPtx(f"line {self.began}: a statement is too long")
                return
            statement, text = " ".join((self.pending + text[:end]).split()), text[end + 1:]
            if len(statement) > LONGEST_STATEMENT:
                raise BadPtx(f"line {self.began}: a statement is too long")
            self.pending = ""
            if statement:
                self._statement(statement)

    def _scope(self, brace, number):
        if brace == "{":
            self.scope_count += 1
            self.scopes.append({})
        elif len(self.scopes) > 1:
            self.scopes.pop()
        else:
            raise BadPtx(f"line {number}: a brace too many")

    def _label(self, name, rest):
        if rest.startswith(".branchtargets"):
            end = rest.find(";")
            self.kernel.targets[name] = [self._renamed(one.strip()) for one in rest[len(".branchtargets"):end].split(",")]
            return rest[end + 1:]
        if rest.startswith(".call"):
            return rest[rest.find(";") + 1:] if ";" in rest else ""
        self.kernel.labels[name] = len(self.kernel.instructions)
        return rest

    def _renamed(self, name):
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return name

    def _declare(self, name):
        """The name in the kernel's one space of names."""
        if len(self.scopes) == 1:
            return name
        self.scopes[-1][name] = f"{name}@{self.scope_count}"
        return self.scopes[-1][name]

    def _statement(self, text):
        if text.startswith(".reg"):
            m = re.match(r"\.reg\s+(?:\.v\d\s+)?\.(\w+)\s+(.*)$", text, re.S)
            for name in m[2].split(",") if m else ():
                family = re.match(r"([%\w$]+)<\d+>$", name.strip())
                self.kernel.declare(family[1] if family else self._declare(name.strip()), m[1], bool(family))
        elif text.startswith("."):
            for variable in read_variables(text):
                self.kernel.variables[self._declare(variable.name) if variable.space != "param" else variable.name] = variable
        else:
            self._instruction(text)

    def _instruction(self, text):
        one = Instruction()
        one.at, one.line, one.text = len(self.kernel.instructions), self.began, text
        one.source, one.inlined = self.location
        if any(self.scopes):
            text = IDENTIFIER.sub(lambda m: self._renamed(m[0]), text)
        one.guard, one.negated = None, False
        m = re.match(r"@(!?)\s*([%\w$@]+)\s+(.*)$", text, re.S)
        if m:
            one.guard, one.negated, text = m[2], bool(m[1]), m[3]
        words = text.split(None, 1)
        one.op = words[0].split(".")
        if text.count("[") > 16 or text.count("{") > 16:
            raise BadPtx(f"line {self.began}: a statement nests too deep")
        one.operands = [read_operand(part) for part in split_operands(words[1] if len(words) > 1 else "")]
        self.kernel.instructions.append(one)
        if one.at > MOST_INSTRUCTIONS:
            raise BadPtx(f"{self.kernel.name} has more than {MOST_INSTRUCTIONS} instructions")


def split_operands(text):
    parts, depth, part = [], 0, ""
    for piece in re.findall(r"[\[{(]|[\]})]|,|[^\[\](){},]+", text):
        depth += (piece in "[{(") - (piece in "]})")
        if piece == "," and depth == 0:
            parts.append(part.strip())
            part = ""
        else:
            part += piece
    return parts + [part.strip()] if part.strip() else parts


NUMBER = re.compile(r"-?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|\d+)U?$")


def read_number(text):
    text = text.rstrip("U")
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    if len(digits) > 70:
        raise BadPtx("a number is too long")
    if digits[:2] in ("0x", "0X", "0b", "0B"):
        return sign * int(digits, 0)
    return sign * int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)


def read_operand(text):
    if text.startswith("["):
        inside = split_operands(text[1:text.rfind("]")])
        m = re.match(r"(.+?)\s*([+-])\s*(-?\w+)$", inside[0]) if len(inside) == 1 else None
        if m and NUMBER.match(m[3]):
            return ("memory", read_operand(m[1].strip()), read_number(m[3]) * (-1 if m[2] == "-" else 1))
        return ("memory", read_operand(inside[0]), 0) if len(inside) == 1 else ("list", text)
    if text.startswith("{"):
        return ("vector", [read_operand(part) for part in split_operands(text[1:text.rfind("}")])])
    if text.startswith("("):
        return ("list", text)
    if text.startswith("!"):
        return ("not", read_operand(text[1:].strip()))
    if re.match(r"0[fFdD][0-9a-fA-F]+$", text):
        return ("real",)
    if NUMBER.match(text):
        return ("number", read_number(text))
    if "|" in text:
        return ("pair", [read_operand(part.strip()) for part in text.split("|")])
    m = re.match(r"([\w$@]+)\s*\+\s*(-?\w+)$", text)
    if m and NUMBER.match(m[2]):
        return ("name", m[1], read_number(m[2]))
    if text.startswith("%") or "@" in text:
        return ("register", text)
    return ("name", text, 0) if re.match(r"[A-Za-z_$][\w$]*$", text) else ("list", text)


def registers_of(operand):
    """The names that an operand may mean registers by."""
    kind = operand[0]
    if kind in ("register", "name"):
        yield operand[1]
    elif kind in ("memory", "not"):
        yield from registers_of(operand[1])
    elif kind in ("vector", "pair"):
        for part in operand[1]:
            yield from registers_of(part)
    elif kind == "list":
        yield from (m[0] for m in re.finditer(r"[%\w$][\w$]*(?:@\d+)?", operand[1]))
