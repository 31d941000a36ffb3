#!/usr/bin/env python3
"""Kernels of many lines, in the shapes that compilers make, and how long gmod prove takes for each.

    large.py PROVE [LINES] [SHAPE...]     # PROVE: the folder of gmod prove; 5000 lines and all shapes if none is named
    large.py --print SHAPE [LINES]        # the PTX

Each launch has to end within its limit, and in 2 GiB. A line for each shape: seconds, MiB, accesses, and verdicts.

Exit status: 0 all did, 1 one did not.
"""
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

from write_journal import Buffer, Journal

HEADER = """.version 8.0
.target sm_80
.address_size 64
.visible .entry large(
    .param .u64 out,
    .param .u64 in,
    .param .u32 n,
    .param .u32 m
)
{
    .reg .pred %p<9999>;
    .reg .b32 %r<99999>;
    .reg .b64 %d<99999>;
    .reg .f32 %f<9999>;
    .shared .align 16 .b8 tile[4096];
    ld.param.u64 %d1, [out];
    ld.param.u64 %d2, [in];
    ld.param.u32 %r1, [n];
    ld.param.u32 %r2, [m];
    mov.u32 %r3, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.s32 %r6, %r4, %r5, %r3;
"""


class Text:
    def __init__(self, lines):
        self.most, self.lines, self.register, self.labels = lines, HEADER.splitlines(), 10, 0
        self.random = random.Random(lines)

    def full(self, left=0):
        return len(self.lines) + left + 2 >= self.most

    def put(self, *lines):
        self.lines += ["    " + line for line in lines]

    def new(self, kind="r"):
        self.register += 1
        return f"%{kind}{self.register}"

    def label(self):
        self.labels += 1
        return f"L{self.labels}"

    def word(self, operation, *operands):
        register = self.new()
        self.put(f"{operation} {register}, {', '.join(map(str, operands))};")
        return register

    def compare(self, how, a, b):
        predicate = f"%p{self.register % 9000}"
        self.register += 1
        self.put(f"setp.{how} {predicate}, {a}, {b};")
        return predicate

    def store(self, index, guard="", base="%d1"):
        offset, address = self.new("d"), self.new("d")
        self.put(f"mul.wide.s32 {offset}, {index}, 4;", f"add.s64 {address}, {base}, {offset};",
                 f"{guard}st.global.u32 [{address}], {index};")

    def load(self, index, guard=""):
        offset, address, value = self.new("d"), self.new("d"), self.new()
        self.put(f"mul.wide.s32 {offset}, {index}, 4;", f"add.s64 {address}, %d2, {offset};",
                 f"{guard}ld.global.u32 {value}, [{address}];")
        return value

    def text(self):
        return "\n".join(self.lines + ["    ret;", "}"]) + "\n"


def straight(t):
    """Sums and products, and now and then a guarded store."""
    values = ["%r6", "%r3", "%r4", "%r1"]
    while not t.full(20):
        for _ in range(12):
            operation = t.random.choice(("add.s32", "sub.s32", "mul.lo.s32", "and.b32", "xor.b32", "shl.b32", "min.s32", "max.u32"))
            other = t.random.choice(values[-6:] + ["3", "5", "8"])
            values.append(t.word(operation, t.random.choice(values[-6:]), "2" if operation == "shl.b32" else other))
        t.store(values[-1], f"@{t.compare('lt.u32', values[-1], '%r1')} ")


def branches(t):
    """Conditions one behind the other, each of which may change what all later ones ask."""
    while not t.full(12):
        end, index = t.label(), t.word("add.s32", "%r6", t.random.randrange(100))
        t.put(f"@{t.compare('ge.s32', index, '%r1')} bra {end};", f"add.s32 %r7, {index}, %r7;")
        t.store(index)
        t.put(f"{end}:")


def carried(t):
    """Conditions that each change the register which the next one asks."""
    t.put("mov.u32 %r7, %r6;")
    while not t.full(12):
        end = t.label()
        t.put(f"@{t.compare('ge.s32', '%r7', t.random.randrange(2000))} bra {end};", f"add.s32 %r7, %r7, {t.random.randrange(9)};")
        t.store("%r7")
        t.put(f"{end}:")


def ladder(t):
    """else if, with a return in each."""
    while not t.full(8):
        end, index = t.label(), t.word("add.s32", "%r6", t.labels * 3)
        t.put(f"@{t.compare('ne.s32', '%r3', t.labels)} bra {end};")
        t.store(index)
        t.put("ret;", f"{end}:")


def returns(t):
    """Guards that end the thread, one behind the other."""
    while not t.full(8):
        index = t.word("mad.lo.s32", "%r6", t.random.randrange(1, 9), t.random.randrange(99))
        t.put(f"@{t.compare('ge.u32', index, '%r1')} ret;")
        t.store(index)


def _loop(t, limit, body):
    counter, again, end = t.new(), t.label(), t.label()
    t.put(f"mov.u32 {counter}, 0;", f"{again}:")
    t.put(f"@{t.compare('ge.s32', counter, limit)} bra {end};")
    body(counter)
    t.put(f"add.s32 {counter}, {counter}, 1;", f"bra {again};", f"{end}:")


def loops(t):
    """Loops one behind the other."""
    while not t.full(20):
        _loop(t, "%r2", lambda i: t.store(t.word("mad.lo.s32", i, 256, "%r3")))


def nested(t, depth=8):
    """Loops in loops, eight deep, over and over."""
    def body(left, index):
        t.store(index)
        if left and not t.full(12 * depth):
            _loop(t, "%r2", lambda i: body(left - 1, t.word("mad.lo.s32", i, 3, index)))
        t.store(index)
    while not t.full(20 * depth):
        body(depth, "%r6")


def counted(t):
    """Loops of a few known rounds that are unrolled, because they double a number."""
    while not t.full(20):
        counter, again = t.new(), t.label()
        t.put(f"mov.u32 {counter}, 1;", f"{again}:")
        t.store(t.word("mad.lo.s32", counter, 64, "%r3"))
        t.put(f"shl.b32 {counter}, {counter}, 1;")
        t.put(f"@{t.compare('lt.u32', counter, 512)} bra {again};")


def unrolled(t):
    """One base and a row of offsets, and a sum of what was loaded."""
    total = "%r6"
    while not t.full(20):
        address = t.new("d")
        t.put(f"mul.wide.s32 {address}, %r6, {t.random.randrange(1, 64) * 4};", f"add.s64 {address}, {address}, %d2;")
        for at in range(16):
            value = t.new()
            t.put(f"ld.global.u32 {value}, [{address}+{4 * at}];")
            total = t.word("add.s32", total, value)
    t.store("%r6")


def tiles(t):
    """A tile of shared memory, by quotient and remainder."""
    while not t.full(20):
        e = t.word("add.s32", "%r3", t.random.randrange(8) * 128)
        row, column = t.word("shr.u32", e, t.random.randrange(2, 6)), t.word("rem.u32", e, t.random.randrange(3, 40))
        at = t.word("mad.lo.s32", row, t.random.randrange(8, 40), column)
        value = t.load(t.word("mad.lo.s32", at, 3, "%r4"), f"@{t.compare('lt.s32', at, '%r1')} ")
        address, base = t.word("shl.b32", at, 2), t.word("mov.u32", "tile")
        t.put(f"st.shared.u32 [{t.word('add.s32', base, address)}], {value};")


def selects(t):
    """Values chosen by conditions, of which each depends on the last."""
    value = "%r6"
    while not t.full(12):
        p = t.compare("lt.s32", value, t.random.randrange(3000))
        value = t.word("selp.b32", t.word("add.s32", value, t.random.randrange(9)), t.word("mul.lo.s32", value, 3), p)
        t.store(t.word("min.s32", t.word("max.s32", value, 0), 1000))


def hashes(t):
    """Shifts, exclusive ors and products, over and over, and a remainder at the end."""
    value = "%r6"
    while not t.full(12):
        value = t.word("xor.b32", value, t.word("shr.u32", value, t.random.randrange(3, 17)))
        value = t.word("mul.lo.s32", value, t.random.randrange(3, 1 << 20, 2))
        t.store(t.word("rem.u32", value, 1000))


def products(t):
    """Polynomials that grow."""
    values = ["%r3", "%r4", "%r6"]
    while not t.full(12):
        values.append(t.word("mad.lo.s32", t.random.choice(values[-5:]), t.random.choice(values[-5:]), t.random.choice(values)))
        t.store(t.word("and.b32", values[-1], 1023))


def from_memory(t):
    """Indices out of memory, with guards."""
    index = "%r3"
    while not t.full(12):
        index = t.load(t.word("add.s32", t.word("and.b32", index, 255), t.random.randrange(800)))
        t.store(index, f"@{t.compare('lt.u32', index, 1000)} ")


def pointers(t):
    """Pointers that are moved on in branches."""
    t.put("mov.u64 %d3, %d1;")
    while not t.full(12):
        end = t.label()
        t.put("st.global.u32 [%d3], %r3;")
        t.put(f"@{t.compare('lt.s32', '%r6', t.random.randrange(2000))} bra {end};", "add.s64 %d3, %d3, 4;", f"{end}:")


def states(t):
    """A loop with a switch of states in it."""
    state, count = t.new(), t.new()
    t.put(f"mov.u32 {state}, %r3;", f"mov.u32 {count}, 0;", "AGAIN:")
    number = 0
    while not t.full(20):
        end, number = t.label(), number + 1
        t.put(f"@{t.compare('ne.s32', state, number)} bra {end};", f"add.s32 {state}, {state}, {t.random.randrange(1, 5)};")
        t.store(count)
        t.put("bra BACK;", f"{end}:")
    t.put("BACK:", f"add.s32 {count}, {count}, 1;")
    t.put(f"@{t.compare('lt.s32', count, '%r2')} bra AGAIN;")


SHAPES = {shape.__name__: shape for shape in (
    straight, branches, carried, ladder, returns, loops, nested, counted, unrolled, tiles, selects, hashes, products,
    from_memory, pointers, states)}


def written(shape, lines):
    t = Text(lines)
    SHAPES[shape](t)
    return t.text()


def timed(prove, shape, lines):
    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(folder)
        journal.launch(journal.image(written(shape, lines).encode()), "large", 8, 128, [Buffer(4000), Buffer(4096), 1000, 64])
        journal.close()
        began = time.monotonic()
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
        with subprocess.Popen([sys.executable, "-B", prove, "--json", "-j", "1", folder], stdout=subprocess.PIPE,
                              preexec_fn=limit) as child:
            output = child.stdout.read()
            usage = os.wait4(child.pid, 0)[2]
        seconds = time.monotonic() - began
    launch = json.loads(output)["launches"][0]
    verdicts = [access["verdict"] for access in launch["accesses"]]
    reasons = [access["reason"] for access in launch["accesses"] if access["reason"]]
    words = [f"{word} {verdicts.count(word)}" for word in ("safe", "alarm", "undecided")]
    words += [f"{reason}: {reasons.count(reason)}" for reason in sorted(set(reasons))]
    words += [f"{launch['undecided']} ({launch['note']})"] if launch["undecided"] else []
    print(f"{shape}: {seconds:.1f} s, {usage.ru_maxrss >> 10} MiB, {', '.join(words)}", flush=True)
    return seconds


def main(arguments):
    if arguments[0] == "--print":
        print(written(arguments[1], int(arguments[2]) if len(arguments) > 2 else 5000), end="")
        return 0
    lines = int(arguments[1]) if len(arguments) > 1 else 5000
    return int(any([timed(arguments[0], shape, lines) > 60 for shape in arguments[2:] or SHAPES]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
