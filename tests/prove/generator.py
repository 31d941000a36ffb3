#!/usr/bin/env python3
"""Makes small random kernels and launches for them, the same for the same seed.

    text, kernel, grid, block, launch, dynamic = generate(seed)     # launch: see interpreter.py
    generator.py SEED                                               # prints the text
    generator.py --assemble COUNT [FIRST]                           # has ptxas judge so many of them

A kernel indexes two buffers, a static and a dynamic shared array, a local array, a table of constants and a module
variable. An index grows from thread and block numbers, parameters, loop counters and loaded values by the operations
that compilers make of C. Guards compare indices with sizes, sometimes with a wrong one, and bounds are off by one at
times, so that two of three kernels have a bad access. Loops end for every launch, and no divisor is zero.
"""
import random
import struct
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

from interpreter import Buffer, Launch

Case = namedtuple("Case", "text kernel grid block launch dynamic")
# An array: where it lies, its name, the elements that a guard may compare with, and the type of one.
Array = namedtuple("Array", "space name bound type")

SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "s32": 4, "f32": 4, "u64": 8, "f64": 8}
SPECIALS = ("%tid.x", "%tid.y", "%tid.z", "%ctaid.x", "%ctaid.y", "%ntid.x", "%ntid.y", "%nctaid.x")
HEADER = """.version 8.0
.target sm_90
.address_size 64

.global .align 8 .b8 module_array[{module_bytes}];
.const .align 4 .u32 table[{table_words}] = {{{table}}};
.extern .shared .align 16 .b8 dynamic_array[];

.visible .entry fuzzed(
    .param .u64 first,
    .param .u64 second,
    .param .u32 n,
    .param .s32 m,
    .param .align 4 .b8 shape[12]
)
{{
    .reg .pred %p<{preds}>;
    .reg .b16 %h<{halves}>;
    .reg .b32 %r<{words}>;
    .reg .b64 %d<{longs}>;
    .reg .f32 %f<{floats}>;
    .reg .f64 %g<{doubles}>;
    .shared .align 16 .b8 static_array[{static_bytes}];
    .local .align 16 .b8 local_array[{local_bytes}];
"""


class Writer:
    """The text of one kernel. Values that dominate the current place are in self.words; a block forgets its own."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines, self.counts, self.labels, self.depth = [], {}, 0, 1
        self.words = []  # 32-bit registers with a value
        self.sizes = {"module_bytes": 8 * self.random.randint(1, 32), "static_bytes": 8 * self.random.randint(1, 32),
                      "local_bytes": 8 * self.random.randint(1, 8), "table_words": self.random.randint(1, 16)}

    # ---- registers and lines ----

    def new(self, kind):
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return f"%{kind}{self.counts[kind]}"

    def put(self, line):
        self.lines.append("    " * self.depth + line)

    def label(self):
        self.labels += 1
        return f"$L{self.labels}"

    def word(self, line):
        """A new 32-bit value; the line has {} for its register."""
        register = self.new("r")
        self.put(line.format(register))
        self.words.append(register)
        return register

    # ---- indices ----

    def start(self):
        """The parameters, and the addresses of the objects."""
        self.n, self.m = self.word("ld.param.u32 {}, [n];"), self.word("ld.param.s32 {}, [m];")
        for offset in (0, 4, 8):
            self.word("ld.param.u32 {}, [shape+%d];" % offset)
        for special in self.random.sample(SPECIALS, 4):
            self.word("mov.u32 {}, %s;" % special)
        tid = self.word("mov.u32 {}, %tid.x;")
        block, width = self.word("mov.u32 {}, %ctaid.x;"), self.word("mov.u32 {}, %ntid.x;")
        self.word("mad.lo.s32 {}, %s, %s, %s;" % (block, width, tid))
        self.bases = {}
        for name in ("first", "second"):
            pointer, base = self.new("d"), self.new("d")
            self.put(f"ld.param.u64 {pointer}, [{name}];")
            self.put(f"cvta.to.global.u64 {base}, {pointer};")
            self.bases[name] = base
        for name in ("module_array", "table", "local_array"):
            self.bases[name] = self.new("d")
            self.put(f"mov.u64 {self.bases[name]}, {name};")
        for name in ("static_array", "dynamic_array"):
            self.bases[name] = self.new("r")
            self.put(f"mov.u32 {self.bases[name]}, {name};")

    def some(self):
        """A value, or rarely a number."""
        if self.random.random() < 0.15:
            return str(self.random.choice((0, 1, 2, 3, 4, 7, 8, 16, 31, 100, -1, -2)))
        # The last values are likelier, because expressions would stay flat otherwise.
        return self.words[-1 - min(int(self.random.expovariate(0.3)), len(self.words) - 1)]

    def register(self):
        return self.random.choice(self.words)

    def grow(self):
        """One more value from those that there are."""
        pick, left, number = self.random.choice, self.register(), self.random.randint(0, 8)
        kind = pick((
            "add.s32 {}, %s, %s;", "add.s32 {}, %s, %s;", "sub.s32 {}, %s, %s;", "mul.lo.s32 {}, %s, %s;",
            "min.s32 {}, %s, %s;", "max.s32 {}, %s, %s;", "min.u32 {}, %s, %s;", "max.u32 {}, %s, %s;",
            "and.b32 {}, %s, %s;", "or.b32 {}, %s, %s;", "xor.b32 {}, %s, %s;", "shl", "shr", "div", "mask", "mad",
            "selp",
            "small", "small", "bfe", "widen", "abs", "lop3"))
        if kind == "shl":
            return self.word("shl.b32 {}, %s, %d;" % (left, pick((1, 2, 3, 4, 8, 30, 31))))
        if kind == "shr":
            return self.word("shr.%s {}, %s, %d;" % (pick(("u32", "s32")), left, pick((1, 2, 3, 5, 16, 31))))
        if kind == "div":
            operation, divisor = pick(("div", "rem")), pick((2, 3, 4, 5, 7, 8, 10, 16, 32))
            return self.word("%s.%s {}, %s, %d;" % (operation, pick(("u32", "s32")), left, divisor))
        if kind == "mask":
            return self.word("and.b32 {}, %s, %d;" % (left, pick((1, 3, 7, 15, 31, 63, 6, 12))))
        if kind == "mad":
            return self.word("mad.lo.s32 {}, %s, %s, %s;" % (left, self.some(), self.some()))
        if kind == "selp":
            condition = self.condition()
            return self.word("selp.b32 {}, %s, %s, %s;" % (left, self.some(), condition))
        if kind == "small":
            return self.word("%s.s32 {}, %s, %d;" % (pick(("add", "sub", "mul.lo")), left, number))
        if kind == "bfe":
            return self.word("bfe.%s {}, %s, %d, %d;" % (pick(("u32", "s32")), left, number, self.random.randint(1, 6)))
        if kind == "widen":
            narrow = pick(("s8", "u8", "s16", "u16"))
            return self.word("cvt.%s32.%s {}, %s;" % (narrow[0], narrow, left))
        if kind == "abs":
            return self.word("%s.s32 {}, %s;" % (pick(("abs", "neg")), left))
        if kind == "lop3":
            return self.word("lop3.b32 {}, %s, %s, %s, %d;" % (left, self.register(), self.register(),
                                                               self.random.randint(0, 255)))
        return self.word(kind % (left, self.some()))

    def index(self):
        for _ in range(self.random.randint(0, 3)):
            self.grow()
        return self.register() if self.random.random() < 0.3 else self.words[-1]

    def condition(self):
        """A predicate, at times of two comparisons."""
        pick, predicate = self.random.choice, self.new("p")
        first = f"setp.{pick(('lt', 'le', 'gt', 'ge', 'eq', 'ne'))}.{pick(('s32', 'u32'))}"
        self.put(f"{first} {predicate}, {self.register()}, {self.some()};")
        if self.random.random() < 0.3:
            both, other = self.new("p"), self.new("p")
            self.put(f"setp.lt.u32 {other}, {self.register()}, {self.random.randint(1, 64)};")
            self.put(f"{pick(('and', 'or'))}.pred {both}, {predicate}, {other};")
            return both
        return predicate

    # ---- accesses ----

    def array(self):
        """An object, and how many elements of a type it has as far as the kernel knows."""
        name = self.random.choice(("first", "first", "second", "second", "module_array", "table", "local_array",
                                   "static_array", "dynamic_array"))
        space = {"table": "const", "local_array": "local", "static_array": "shared",
                 "dynamic_array": "shared"}.get(name, "global")
        kind = self.random.choice(list(SIZES))
        if name in ("first", "second", "dynamic_array"):
            # The launch gives the buffers n, m and n elements of 4 bytes.
            return Array(space, name, self.m if name == "second" else self.n, self.random.choice(("u32", "s32", "f32")))
        size = {"module_array": "module_bytes", "local_array": "local_bytes", "static_array": "static_bytes"}.get(name)
        bound = self.sizes[size] // SIZES[kind] if size else self.sizes["table_words"]
        return Array(space, name, str(bound), kind if size else "u32")

    def guarded_index(self, array):
        """An index, and the predicate under which the access is made, or None."""
        index, way = self.index(), self.random.random()
        if way < 0.2:
            return index, None
        if way < 0.4:  # forced into the array by its size, where that is no register
            if array.bound.isdigit():
                return self.word("rem.u32 {}, %s, %s;" % (index, array.bound)), None
            return self.word("min.u32 {}, %s, %s;" % (index, self.word("sub.s32 {}, %s, 1;" % array.bound))), None
        predicate = self.new("p")
        compare = "le" if self.random.random() < 0.2 else "lt"  # one too far
        kind = "s32" if self.random.random() < 0.2 else "u32"  # lets negative ones pass
        bound = self.n if self.random.random() < 0.15 else array.bound
        self.put(f"setp.{compare}.{kind} {predicate}, {index}, {bound};")
        return index, predicate

    def address(self, array, index, size):
        base = self.bases[array.name]
        if array.space == "shared":
            offset, address = self.new("r"), self.new("r")
            self.put(f"mul.lo.s32 {offset}, {index}, {size};")
            self.put(f"add.s32 {address}, {base}, {offset};")
            return address
        offset, address = self.new("d"), self.new("d")
        if self.random.random() < 0.2:  # an index of 64 bits
            wide = self.new("d")
            self.put(f"cvt.{'s64.s32' if self.random.random() < 0.5 else 'u64.u32'} {wide}, {index};")
            self.put(f"mad.lo.s64 {address}, {wide}, {size}, {base};")
            return address
        self.put(f"mul.wide.{self.random.choice(('s32', 's32', 'u32'))} {offset}, {index}, {size};")
        self.put(f"add.s64 {address}, {base}, {offset};")
        return address

    def value(self, kind):
        """A register with something to store."""
        if kind == "f32":
            register = self.new("f")
            self.put(f"cvt.rn.f32.s32 {register}, {self.register()};")
        elif kind == "f64":
            register = self.new("g")
            self.put(f"cvt.rn.f64.s32 {register}, {self.register()};")
        elif kind == "u64":
            register = self.new("d")
            self.put(f"cvt.u64.u32 {register}, {self.register()};")
        elif SIZES[kind] < 4:
            register = self.new("h")
            self.put(f"cvt.u16.u32 {register}, {self.register()};")
        else:
            register = self.register()
        return register

    def access(self):
        array = self.array()
        index, predicate = self.guarded_index(array)
        size, guard = SIZES[array.type], f"@{predicate} " if predicate else ""
        lanes = self.random.choice((1, 1, 1, 1, 2, 4)) if array.space in ("global", "shared") and size == 4 else 1
        address = self.address(array, index, size * lanes)
        # One element on is misaligned for a vector.
        shift = self.random.choice((0, 0, 0, 0, 0, 0, 0, 0, size * lanes, -size * lanes, size))
        place = f"[{address}{f'+{shift}' if shift else ''}]"
        way = self.random.random()
        if array.space == "global" and array.type in ("u32", "s32") and lanes == 1 and way < 0.15:
            old = self.word("mov.u32 {}, 0;")
            operation = self.random.choice(("add", "min", "max"))
            self.put(f"{guard}atom.global.{operation}.{array.type} {old}, {place}, {self.register()};")
        elif array.space == "const" or way < 0.5:
            self.load(array, guard, place, lanes)
        else:
            vector = f".v{lanes}" if lanes > 1 else ""
            values = [self.value(array.type) for _ in range(lanes)]
            what = "{" + ", ".join(values) + "}" if lanes > 1 else values[0]
            self.put(f"{guard}st.{array.space}{vector}.{array.type} {place}, {what};")

    def load(self, array, guard, place, lanes):
        """Loaded integers are values from then on; they are zero where the guard does not hold."""
        letter = {"f32": "f", "f64": "g", "u64": "d"}.get(array.type, "r")
        targets = [self.new(letter) for _ in range(lanes)]
        for target in targets:
            zero = {"f": "mov.f32 {}, 0f00000000;", "g": "mov.f64 {}, 0d0000000000000000;", "d": "mov.u64 {}, 0;"}
            self.put(zero.get(letter, "mov.u32 {}, 0;").format(target))
        vector = f".v{lanes}" if lanes > 1 else ""
        what = "{" + ", ".join(targets) + "}" if lanes > 1 else targets[0]
        self.put(f"{guard}ld.{array.space}{vector}.{array.type} {what}, {place};")
        if letter == "r":
            self.words.extend(targets)

    # ---- statements ----

    def block(self, nested, uniform):
        """Some statements; returns how many values there were before. uniform: all threads come here."""
        known = len(self.words)
        for _ in range(self.random.randint(1, 3)):
            way = self.random.random()
            if way < 0.6 or nested > 2:
                self.access()
            elif way < 0.75:
                self.condition_block(nested)
            elif way < 0.95:
                self.loop(nested)
            elif uniform:
                self.put("bar.sync 0;")
        return known

    def forget(self, known):
        del self.words[known:]

    def condition_block(self, nested):
        predicate, end = self.condition(), self.label()
        self.put(f"@{self.random.choice(('', '!'))}{predicate} bra {end};")
        self.depth += 1
        self.forget(self.block(nested + 1, False))
        self.depth -= 1
        self.put(f"{end}:")

    def loop(self, nested):
        """Up, down, doubling, or grid-stride. A second counter ends each after 12 rounds."""
        kind = self.random.choice(("up", "up", "down", "doubling", "stride"))
        counter, rounds = self.new("r"), self.new("r")
        predicate, again = self.new("p"), self.label()
        end = self.label()
        limit = self.some() if self.random.random() < 0.5 else str(self.random.randint(1, 12))
        first = {"up": "0", "down": limit, "doubling": "1", "stride": self.words[-1]}[kind]
        step = self.register()
        self.put(f"mov.u32 {counter}, {first};")
        self.put(f"mov.u32 {rounds}, 0;")
        self.put(f"{again}:")
        self.depth += 1
        compare = {"down": f"setp.lt.s32 {predicate}, {counter}, 0;"}.get(
            kind, f"setp.{self.random.choice(('ge', 'ge', 'gt'))}.s32 {predicate}, {counter}, {limit};")
        self.put(compare)
        self.put(f"@{predicate} bra {end};")
        known = len(self.words)
        self.words.append(counter)
        self.block(nested + 1, False)
        self.forget(known)
        self.put({"up": f"add.s32 {counter}, {counter}, {self.random.choice((1, 1, 2, 3))};",
                  "down": f"sub.s32 {counter}, {counter}, 1;", "doubling": f"shl.b32 {counter}, {counter}, 1;",
                  "stride": f"add.s32 {counter}, {counter}, {step};"}[kind])
        self.put(f"add.s32 {rounds}, {rounds}, 1;")
        more = self.new("p")
        self.put(f"setp.lt.u32 {more}, {rounds}, 12;")
        self.put(f"@{more} bra {again};")
        self.depth -= 1
        self.put(f"{end}:")

    def kernel(self):
        self.start()
        uniform = True
        if self.random.random() < 0.4:
            uniform = False
            predicate = self.new("p")
            self.put(f"setp.ge.s32 {predicate}, {self.words[-1]}, {self.n};")
            self.put(f"@{predicate} ret;")
        self.access()
        for _ in range(self.random.randint(1, 3)):
            self.block(0, uniform)
        self.put("ret;")
        counts = {name: self.counts.get(letter, 0) + 1 for name, letter in
                  (("preds", "p"), ("halves", "h"), ("words", "r"), ("longs", "d"), ("floats", "f"), ("doubles", "g"))}
        table = ", ".join(str(self.random.randint(0, 40)) for _ in range(self.sizes["table_words"]))
        return HEADER.format(table=table, **counts, **self.sizes) + "\n".join(self.lines) + "\n}\n"


def random_words(source, count):
    """Contents that are mostly small, because they become indices."""
    return struct.pack(f"<{count}i", *[source.choice((source.randint(0, 20), source.randint(-3, 100)))
                                       for _ in range(count)])


def random_launch(source):
    grid = (source.randint(1, 3), source.choice((1, 1, 2)), 1)
    block = (source.choice((1, 2, 8, 16, 32, 33)), source.choice((1, 1, 2)), source.choice((1, 1, 1, 2)))
    n, m = source.randint(1, 100), source.randint(1, 100)
    first = Buffer(4 * n, random_words(source, n), "first")
    second = Buffer(4 * m, random_words(source, m), "second")
    shape = [source.randint(0, 12) for _ in range(3)]
    data = struct.pack("<QQIi3i", 0, 0, n, m, *shape)
    return grid, block, Launch(data, {0: first, 8: second}), 4 * n


def generate(seed):
    text = Writer(seed).kernel()
    grid, block, launch, dynamic = random_launch(random.Random(f"launch {seed}"))
    return Case(text, "fuzzed", grid, block, launch, dynamic)


def assemble(count, first=0, ptxas="/usr/local/cuda/bin/ptxas"):
    """The seeds whose text ptxas refuses, with what it says."""
    refused = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kernel.ptx")
        for seed in range(first, first + count):
            path.write_text(generate(seed).text)
            done = subprocess.run([ptxas, "-arch=sm_90", "-O0", str(path), "-o", "/dev/null"], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, universal_newlines=True)
            if done.returncode:
                refused.append((seed, done.stdout))
    return refused


def main(arguments):
    if arguments[:1] == ["--assemble"]:
        refused = assemble(*map(int, arguments[1:]))
        for seed, said in refused:
            print(f"seed {seed}: {said.strip()}")
        return bool(refused)
    print(generate(int(arguments[0])).text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
