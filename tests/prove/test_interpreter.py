#!/usr/bin/env python3
"""The interpreter against kernels whose bad accesses were computed by hand, and against single instructions."""
import struct
import sys
import unittest
from collections import namedtuple
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from generator import generate  # noqa: E402
from interpreter import Buffer, Launch, Unsupported, pack, parse, run  # noqa: E402

BIG = 1 << 34  # 4 * 2^32
MODULES = {}


def module(name):
    if name not in MODULES:
        MODULES[name] = parse((HERE / "ptx" / f"{name}.ptx").read_text())
    return MODULES[name]


def ints(*values):
    return struct.pack(f"<{len(values)}i", *values)


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


# A pair of kernels: NAME_good has no bad access, NAME_bad those of bad, in order: (kind, space, object, width, offset,
# thread). buffers: size or bytes by name. values: the parameters, buffers by name.
Case = namedtuple("Case", "file name grid block buffers values bad dynamic")


def case(file, name, block, buffers, values, bad, grid=(1,), dynamic=0):
    return Case(file, name, grid, block, buffers, values, bad, dynamic)


def bad(kind, width, offsets_by_thread, space="global", target="to"):
    """Rows of the same kind; a thread is x or (x, y, z)."""
    return [(kind, space, target, width, offset, thread if isinstance(thread, tuple) else (thread, 0, 0))
            for thread, offset in offsets_by_thread]


CASES = [
    case("indices", "copy", (32,), {"to": 80, "from": 80}, ["to", "from", 20],
         bad("load", 4, [(20, 80)], target="from") + bad("store", 4, [(20, 80)])),
    # 3 * thread, in doubles: 12, 15, 18 and 21 are past 9.
    case("indices", "strided", (8,), {"to": 80}, ["to", 3, 10],
        bad("store", 8, [(4, 96), (5, 120), (6, 144), (7, 168)])),
    case("indices", "wrap", (32,), {"to": 128}, ["to", 65536, 65536],
         bad("store", 4, [(thread, BIG + 4 * thread) for thread in range(32)])),
    case("indices", "before", (8,), {"from": 32, "to": 32}, ["from", "to"],
        bad("load", 4, [(0, BIG - 4)], target="from")),
    # 10 / 4 * 5 + 10 % 4 = 12 and the next.
    case("indices", "divided", (12,), {"to": 24}, ["to", 4, 1], bad("store", 2, [(10, 24), (11, 26)])),
    case("indices", "shifted", (8,), {"to": 8}, ["to", 29], bad("store", 1, [(4, 8), (5, 10), (6, 12), (7, 14)])),
    case("indices", "clamped", (5,), {"to": 32, "where": ints(-5, 3, 7, 8, 100)}, ["to", "where", 8],
         bad("store", 4, [(0, -4), (3, 32), (4, 32)])),
    # Rows 4 and 5 of a plane of 6 * 4.
    case("indices", "plane", (4, 4), {"to": 96}, ["to", 6, 4],
         bad("store", 4, [((x, y, 0), 96 + 24 * y + 4 * x) for y in range(2) for x in range(4)]), grid=(2, 2)),
    case("indices", "volume", (2, 3, 4), {"to": 18}, ["to", 3],
         bad("store", 1, [((0, 0, 3), 18), ((1, 0, 3), 19), ((0, 1, 3), 20), ((1, 1, 3), 21), ((0, 2, 3), 22),
                          ((1, 2, 3), 23)])),
    case("indices", "vector", (8,), {"to": 40}, ["to", 10], bad("store", 16, [(2, 32)])),
    case("loops", "grid_stride", (4,), {"to": 40}, ["to", 10], bad("store", 4, [(2, 40), (3, 44)]), grid=(2,)),
    case("loops", "down", (1,), {"to": 16}, ["to", 4], bad("store", 4, [(0, -4)])),
    case("loops", "doubling", (1,), {"to": 64}, ["to", 16], bad("store", 4, [(0, 64)])),
    case("loops", "nested", (1,), {"to": 32}, ["to", 4, 2], bad("store", 4, [(0, 32), (0, 36)])),
    case("loops", "early", (8,), {"to": 16}, ["to", 4], bad("store", 4, [(3, 16)])),
    case("loops", "search", (1,), {"sorted": ints(1, 3, 5, 7), "found": 4}, ["sorted", "found", 4, 9],
         bad("load", 4, [(0, 16)], target="sorted")),
    case("spaces", "tile", (32,), {"to": 128}, ["to"], bad("load", 4, [(0, 128)], "shared", "_ZZ8tile_badE4tile")),
    case("spaces", "dynamic", (8,), {"to": 32}, ["to"], bad("load", 4, [(7, 32)], "shared", "dynamic shared"),
        dynamic=32),
    case("spaces", "halves", (8,), {"to": 4}, ["to"],
         bad("load", 4, [(thread, 32 + 4 * thread) for thread in range(8)], "shared", "dynamic shared"), dynamic=32),
    case("spaces", "local", (1,), {"to": ints(12)}, ["to", 1], bad("load", 4, [(0, 48)], "local", "__local_depot")),
    case("spaces", "table", (7,), {"to": 28}, ["to"], bad("load", 4, [(6, 24)], "const", "primes")),
    case("spaces", "counted", (4,), {"values": ints(0, 7, 8, -1)}, ["values"],
         bad("atom", 4, [(2, 32), (3, -4)], target="counters")),
    case("spaces", "slots", (5,), {"slots": 12, "used": 4}, ["slots", "used", 3],
         bad("store", 4, [(3, 12)], target="slots")),
    case("calls", "call", (8,), {"to": 16}, ["to", 4], bad("store", 4, [(3, 16)], "generic")),
    case("calls", "generic", (8,), {"to": 32}, ["to", 1, 8],
         bad("store", 4, [(4, 16), (5, 20), (6, 24), (7, 28)], "generic", "_ZZ11generic_badE4kept")),
    case("calls", "generic", (8,), {"to": 16}, ["to", 0, 4], []),
    case("calls", "recursion", (1,), {"to": 16}, ["to", 3], bad("store", 4, [(0, 16)])),
    case("calls", "packed", (32,), {"to": 16, "from": ints(1, 2, 3, 4, *[0] * 28)}, ["to", "from"],
         bad("store", 4, [(3, 16)])),
    case("calls", "summed", (32,), {"to": 132, "from": ints(*[1] * 32)}, ["to", "from"], bad("store", 4, [(31, 132)])),
    case("calls", "binned", (4,), {"bins": 16, "from": floats(0, 0.3, 0.999, 1)}, ["bins", "from", 4],
         bad("atom", 4, [(3, 16)], target="bins")),
    case("calls", "switched", (7,), {"to": ints(3, 1, 0, 4, 5, 6, 6)}, ["to", 7],
         bad("store", 4, [(0, -4), (1, 28), (3, 112)])),
]


def buffers_of(given):
    return {name: Buffer(what, b"", name) if isinstance(what, int) else Buffer(len(what), what, name)
            for name, what in given.items()}


def run_case(row, twin):
    buffers = buffers_of(row.buffers)
    code, kernel = module(row.file), f"{row.name}_{twin}"
    launch = pack(code, kernel, [buffers.get(value, value) for value in row.values])
    return run(code, kernel, row.grid, row.block, launch, row.dynamic), buffers


def rows_of(result):
    return [(seen.kind, seen.space, (seen.object or "").rstrip("0123456789") if seen.space == "local" else seen.object,
             seen.width, seen.offset, seen.thread) for seen in result.accesses]


class Kernels(unittest.TestCase):
    def test_twins(self):
        for row in CASES:
            with self.subTest(row.name):
                result, _ = run_case(row, "good")
                self.assertEqual((rows_of(result), result.stopped), ([], None))
                result, _ = run_case(row, "bad")
                self.assertEqual((rows_of(result), result.stopped), (row.bad, None))
                self.assertTrue(all(seen.outside and not seen.misaligned for seen in result.accesses))

    def test_misaligned_vector(self):
        code = module("indices")
        for kernel, expected in (("aligned_good", []), ("aligned_bad", [(16, 4, False, True)])):
            launch = pack(code, kernel, [Buffer(64), 1])
            seen = run(code, kernel, (1,), (1,), launch).accesses
            self.assertEqual([(one.width, one.offset, one.outside, one.misaligned) for one in seen], expected)

    def test_struct_by_value(self):
        code = module("spaces")
        for kernel, size, expected in (("struct_good", 28, []), ("struct_bad", 16, [(16, (1, 0, 0))])):
            target = Buffer(size)
            job = bytes(8) + struct.pack("<2h4i", 3, 4, 10, 11, 12, 13)
            launch = Launch(job.ljust(32, b"\0"), {0: target})
            result = run(code, kernel, (1,), (8,), launch)
            self.assertEqual([(seen.offset, seen.thread) for seen in result.accesses], expected)
            if not expected:
                self.assertEqual(target.data, ints(0, 0, 0, 10, 11, 12, 13))

    def test_results(self):
        """What healthy kernels compute."""
        expected = {"halves": ("to", ints(28)), "tile": ("to", ints(*range(31, -1, -1))), "search": ("found", ints(4)),
                    "table": ("to", ints(2, 3, 5, 7, 11, 13, 2)), "recursion": ("to", ints(1, 2, 3, 3)),
                    "packed": ("to", ints(1, 2, 3, 4)), "summed": ("to", ints(*[0] * 32, 32)),
                    "binned": ("bins", ints(1, 1, 0, 2)), "doubling": ("to", ints(0, 1, 2, 0, 4, 0, 0, 0, 8, *[0] * 7)),
                    "grid_stride": ("to", ints(*range(10)))}
        for row in CASES:
            if row.name in expected:
                with self.subTest(row.name):
                    _, buffers = run_case(row, "good")
                    name, data = expected[row.name]
                    self.assertEqual(buffers[name].data, data)

    def test_zero_for_a_bad_load(self):
        _, buffers = run_case(next(row for row in CASES if row.name == "search"), "bad")
        self.assertEqual(buffers["found"].data, ints(5))

    def test_where(self):
        row = next(row for row in CASES if row.name == "early")
        (seen,) = run_case(row, "bad")[0].accesses
        lines = (HERE / "kernels/loops.cu").read_text().splitlines()
        file, line = seen.source.split(":")
        self.assertEqual((file, lines[int(line) - 1].strip()), ("loops.cu", "to[threadIdx.x + 1] = 2;"))
        text = (HERE / "ptx/loops.ptx").read_text().splitlines()[seen.line - 1]
        self.assertIn("st.global.u32", text)
        self.assertEqual((seen.kernel, seen.function, seen.block), ("early_bad", "early_bad", (0, 0, 0)))

    def test_pointer_into_a_buffer(self):
        code, target = module("loops"), Buffer(16, b"", "to")
        result = run(code, "early_good", (1,), (8,), pack(code, "early_good", [(target, 4), 4]))
        self.assertEqual([(seen.offset, seen.thread[0]) for seen in result.accesses], [(16, 2), (16, 3)])

    def test_trace(self):
        code = module("loops")
        result = run(code, "down_good", (1,), (1,), pack(code, "down_good", [Buffer(8, b"", "to"), 2]), trace=True)
        self.assertEqual([(seen.space, seen.offset) for seen in result.trace],
                         [("param", 0), ("param", 0), ("global", 4), ("global", 0)])


HEAD = ".version 8.0\n.target sm_90\n.address_size 64\n"
KERNEL = HEAD + """{module}
.visible .entry k(.param .u64 k_param_0)
{{
    .reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .f32 %f<8>; .reg .f64 %g<8>;
    ld.param.u64 %d15, [k_param_0];
    {body}
    ret;
}}
"""


def run_body(body, size=64, block=(1,), module_text="", **more):
    """The words of a buffer that a kernel of this body was given."""
    code = parse(KERNEL.format(body=body, module=module_text))
    data = Buffer(size, b"", "data")
    result = run(code, "k", (1,), block, pack(code, "k", [data]), **more)
    return struct.unpack(f"<{size // 4}I", data.data), result


# An instruction with %1, %2 and so on for the sources, their values, and the result; by the registers' widths.
ONE = [
    ("add.s32", "32", [0x7FFFFFFF, 1], 0x80000000), ("add.sat.s32", "32", [0x7FFFFFFF, 1], 0x7FFFFFFF),
    ("add.u64", "64", [(1 << 64) - 1, 2], 1), ("sub.u32", "32", [1, 2], 0xFFFFFFFF),
    ("mul.lo.u32", "32", [0x10000, 0x10001], 0x10000), ("mul.hi.u32", "32", [0x80000000, 6], 3),
    ("mul.hi.s32", "32", [0xFFFFFFFF, 5], 0xFFFFFFFF), ("mul.hi.s64", "64", [1 << 63, 2], (1 << 64) - 1),
    ("mad.lo.s32", "32", [3, 4, 0xFFFFFFFF], 11), ("mad.hi.u32", "32", [0x80000000, 4, 7], 9),
    ("div.s32", "32", [0xFFFFFFF9, 2], 0xFFFFFFFD), ("rem.s32", "32", [0xFFFFFFF9, 2], 0xFFFFFFFF),
    ("div.u32", "32", [0xFFFFFFF9, 2], 0x7FFFFFFC), ("rem.u64", "64", [1 << 63, 1000], 808),
    ("min.s32", "32", [0xFFFFFFFF, 1], 0xFFFFFFFF), ("min.u32", "32", [0xFFFFFFFF, 1], 1),
    ("max.s32", "32", [0xFFFFFFFF, 1], 1), ("abs.s32", "32", [0xFFFFFFFE], 2), ("neg.s32", "32", [5], 0xFFFFFFFB),
    ("sad.s32", "32", [0xFFFFFFFF, 4, 10], 15), ("and.b32", "32", [12, 10], 8), ("or.b32", "32", [12, 10], 14),
    ("xor.b32", "32", [12, 10], 6), ("not.b32", "32", [0], 0xFFFFFFFF), ("cnot.b32", "32", [0], 1),
    ("shl.b32", "32", [1, 32], 0), ("shl.b32", "32", [1, 31], 0x80000000), ("shl.b32", "32", [3, 0x100000001], 6),
    ("shr.u32", "32", [0x80000000, 31], 1), ("shr.s32", "32", [0x80000000, 40], 0xFFFFFFFF),
    ("shr.u32", "32", [0x80000000, 32], 0), ("shf.l.wrap.b32", "32", [0x80000000, 1, 33], 3),
    ("shf.r.clamp.b32", "32", [1, 7, 40], 7), ("bfe.u32", "32", [0xABCD1234, 8, 8], 0x12),
    ("bfe.s32", "32", [0xF0, 4, 4], 0xFFFFFFFF), ("bfe.s32", "32", [0x80000000, 28, 8], 0xFFFFFFF8),
    ("bfe.u32", "32", [0xFF, 4, 0], 0), ("bfi.b32", "32", [0xF, 0xFFFF0000, 4, 8], 0xFFFF00F0),
    ("bfi.b32", "32", [0xF, 5, 32, 8], 5), ("popc.b32", "32", [0xF0F0], 8), ("clz.b32", "32", [0], 32),
    ("clz.b32", "32", [1], 31), ("brev.b32", "32", [1], 0x80000000), ("bfind.u32", "32", [0x100], 8),
    ("bfind.s32", "32", [0xFFFFFFFF], 0xFFFFFFFF), ("bfind.shiftamt.u32", "32", [0x100], 23),
    ("prmt.b32", "32", [0x44332211, 0x88776655, 0x7531], 0x88664422), ("prmt.b32", "32", [0x80, 0, 0x0008], 0x808080FF),
    ("prmt.b32.f4e", "32", [0x44332211, 0x88776655, 1], 0x55443322), ("lop3.b32", "32", [14, 11, 10, 0x80], 10),
    ("lop3.b32", "32", [12, 10, 6, 0x96], 12 ^ 10 ^ 6), ("fns.b32", "32", [0b101100, 0, 2], 3),
    ("fns.b32", "32", [0b101100, 31, 0xFFFFFFFF], 5), ("fns.b32", "32", [0b101100, 0, 9], 0xFFFFFFFF),
    ("cvt.s32.s8", "32", [0xFF], 0xFFFFFFFF), ("cvt.u32.u8", "32", [0x1FF], 0xFF), ("cvt.sat.s8.s32", "32", [300], 127),
    ("cvt.sat.u8.s32", "32", [0xFFFFFFFF], 0), ("cvt.rn.f32.s32", "32", [16777217], 0x4B800000),
    ("cvt.rp.f32.s32", "32", [16777217], 0x4B800001), ("cvt.rzi.s32.f32", "32", [0xC0200000], 0xFFFFFFFE),
    ("cvt.rni.s32.f32", "32", [0x40200000], 2), ("cvt.rpi.s32.f32", "32", [0x40200000], 3),
    ("cvt.rmi.s32.f32", "32", [0xC0200000], 0xFFFFFFFD), ("cvt.rzi.u32.f32", "32", [0xC0200000], 0),
    ("cvt.rzi.s32.f32", "32", [0x7FC00000], 0), ("cvt.rzi.s32.f32", "32", [0x4F800000], 0x7FFFFFFF),
    ("cvt.sat.f32.f32", "32", [0x40200000], 0x3F800000), ("mul24.lo.u32", "32", [0xFF000003, 5], 15),
    ("mad24.lo.s32", "32", [0xFFFFFF, 5, 7], 2), ("dp4a.u32.u32", "32", [0x01020304, 0x01010101, 100], 110),
    ("dp4a.s32.u32", "32", [0xFF, 2, 0], 0xFFFFFFFE), ("bmsk.clamp.b32", "32", [4, 8], 0xFF0),
    ("szext.wrap.s32", "32", [0xF8, 4], 0xFFFFFFF8),
    ("add.f32", "32", [0x3F800000, 0x40000000], 0x40400000), ("add.rz.f32", "32", [0x3F800000, 0xB3000000], 0x3F7FFFFF),
    ("add.rn.f32", "32", [0x3F800000, 0xB2800000], 0x3F800000), ("mul.f32", "32", [0x7F000000, 0x7F000000], 0x7F800000),
    ("mul.rz.f32", "32", [0x7F000000, 0x7F000000], 0x7F7FFFFF),
    ("div.rn.f32", "32", [0x3F800000, 0x40400000], 0x3EAAAAAB),
    ("fma.rn.f32", "32", [0x3F800001, 0x3F800001, 0xBF800002], 0x28800000),
    ("sqrt.rn.f32", "32", [0x40000000], 0x3FB504F3),
    ("mul.ftz.f32", "32", [0x00800000, 0x3F000000], 0), ("mul.f32", "32", [0x00800000, 0x3F000000], 0x00400000),
    ("min.f32", "32", [0x7FC00000, 0x3F800000], 0x3F800000),
    ("min.NaN.f32", "32", [0x7FC00000, 0x3F800000], 0x7FFFFFFF),
    ("add.sat.f32", "32", [0x3F800000, 0x3F800000], 0x3F800000), ("neg.f32", "32", [0], 0x80000000),
    ("copysign.f32", "32", [0x80000000, 0x3F800000], 0xBF800000),
    ("add.f16x2", "32", [0x3C003C00, 0x40003C00], 0x42004000),
    ("fma.rn.f16x2", "32", [0x40004000, 0x42004200, 0], 0x46004600),
    ("add.f64", "64", [0x3FF << 52, 0x3FF << 52], 0x400 << 52), ("div.rn.f64", "64", [0x3FF << 52, 0x4008 << 48],
                                                               0x3FD5555555555555),
    ("fma.rn.f64", "64", [0x3FF0000000000001, 0x3FF0000000000001, 0xBFF0000000000002], 0x3970000000000000),
]


class Instructions(unittest.TestCase):
    def test_one_by_one(self):
        for opcode, bits, sources, expected in ONE:
            with self.subTest(f"{opcode} {sources}"):
                kind = "d" if bits == "64" else "r"
                moves = "".join(f"mov.b{bits} %{kind}{place + 1}, {value & ((1 << int(bits)) - 1)};\n"
                                for place, value in enumerate(sources))
                named = ", ".join(f"%{kind}{place + 1}" for place in range(len(sources)))
                if opcode.startswith("lop3"):  # its table is an immediate
                    named = named.rsplit(",", 1)[0] + f", {sources[-1]}"
                words, _ = run_body(f"{moves}{opcode} %{kind}0, {named};\nst.global.b{bits} [%d15], %{kind}0;")
                self.assertEqual(words[0] | (words[1] << 32 if bits == "64" else 0), expected)

    def test_widening(self):
        words, _ = run_body("""mov.u32 %r1, 0xFFFFFFFF; mul.wide.s32 %d1, %r1, 3; st.global.u64 [%d15], %d1;
            mul.wide.u32 %d1, %r1, 3; st.global.u64 [%d15+8], %d1; cvt.s64.s32 %d1, %r1; st.global.u64 [%d15+16], %d1;
            ld.global.s8 %d1, [%d15]; st.global.u64 [%d15+24], %d1; ld.global.u8 %r2, [%d15];
            st.global.u32 [%d15+32], %r2;
            st.global.u8 [%d15+36], %r1;""")
        self.assertEqual(words[:10], (0xFFFFFFFD, 0xFFFFFFFF, 0xFFFFFFFD, 2, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFD,
                                      0xFFFFFFFF, 0xFD, 0xFF))

    def test_predicates(self):
        words, _ = run_body("""mov.u32 %r1, 0xFFFFFFFF; setp.lt.s32 %p1|%p2, %r1, 0; setp.lt.u32 %p3, %r1, 0;
            setp.gt.and.s32 %p4, 5, %r1, !%p3; selp.b32 %r2, 7, 8, %p1; @%p2 mov.u32 %r2, 9;
            @!%p3 add.s32 %r2, %r2, 100;
            st.global.u32 [%d15], %r2; selp.b32 %r3, 1, 2, %p4; st.global.u32 [%d15+4], %r3;
            mov.f32 %f1, 0f7FC00000; setp.ltu.f32 %p5, %f1, 0f00000000; setp.lt.f32 %p6, %f1, 0f00000000;
            xor.pred %p7, %p5, %p6; not.pred %p7, %p7; selp.b32 %r3, 1, 2, %p7; st.global.u32 [%d15+8], %r3;
            set.lt.u32.s32 %r4, %r1, 0; st.global.u32 [%d15+12], %r4; slct.b32.s32 %r4, 3, 4, %r1;
            st.global.u32 [%d15+16], %r4;""")
        self.assertEqual(words[:5], (107, 1, 2, 0xFFFFFFFF, 4))

    def test_carry(self):
        words, _ = run_body("""mov.u32 %r1, 0xFFFFFFFF; add.cc.u32 %r2, %r1, 1; addc.u32 %r3, 5, 6;
            sub.cc.u32 %r4, 0, 1;
            subc.u32 %r5, 5, 1; st.global.v4.u32 [%d15], {%r2, %r3, %r4, %r5};""")
        self.assertEqual(words[:4], (0, 12, 0xFFFFFFFF, 3))

    def test_packing_and_scopes(self):
        words, _ = run_body("""mov.b64 %d1, {1, 2}; mov.b64 {_, %r1}, %d1; mov.b32 {%h1, %h2}, 0x50004;
            { .reg .b32 %r1; mov.u32 %r1, 99; bra L; L: st.global.u32 [%d15], %r1; }
            st.global.u32 [%d15+4], %r1; st.global.u16 [%d15+8], %h2; mov.b32 %r2, {%h2, %h1};
            st.global.u32 [%d15+12], %r2;""")
        self.assertEqual(words[:4], (99, 2, 5, 0x40005))

    def test_indexed_branch(self):
        words, _ = run_body("""mov.u32 %r1, %tid.x; T: .branchtargets A, B;
            brx.idx %r1, T; A: mov.u32 %r2, 10; bra END; B: mov.u32 %r2, 20; END: mul.wide.u32 %d1, %r1, 4;
            add.s64 %d1, %d15, %d1; st.global.u32 [%d1], %r2;""", block=(2,))
        self.assertEqual(words[:2], (10, 20))

    def test_addresses_of_spaces(self):
        words, _ = run_body("""mov.u32 %r1, kept; cvt.u64.u32 %d1, %r1; cvta.shared.u64 %d2, %d1; st.u32 [%d2+4], 77;
            ld.shared.u32 %r2, [kept+4]; st.global.u32 [%d15], %r2; isspacep.shared %p1, %d2; isspacep.global %p2, %d2;
            selp.b32 %r3, 1, 0, %p1; selp.b32 %r4, 1, 0, %p2; st.global.v2.u32 [%d15+8], {%r3, %r4};
            ld.global.u64 %d3, [pointer]; ld.u32 %r5, [%d3]; st.global.u32 [%d15+16], %r5;""", module_text="""
            .shared .align 4 .b8 kept[16]; .global .align 8 .u64 pointer[1] = {generic(values)+4};
            .const .align 4 .u32 values[2] = {5, 6};""")
        self.assertEqual(words[:5], (77, 0, 1, 0, 6))

    def test_function_pointers(self):
        words, _ = run_body("""mov.u64 %d1, double; { .param .b32 a; .param .b32 b; st.param.b32 [a], 21;
            call (b), %d1, (a), P; ld.param.b32 %r1, [b]; } st.global.u32 [%d15], %r1; bra END;
            P: .callprototype (.param .b32 _) _ (.param .b32 _); END:""", module_text="""
            .func (.param .b32 r) double(.param .b32 v) { .reg .b32 %r<2>; ld.param.u32 %r1, [v]; add.s32 %r1, %r1, %r1;
            st.param.b32 [r], %r1; ret; }""")
        self.assertEqual(words[0], 42)

    def test_asynchronous_copy(self):
        words, result = run_body("""st.global.v4.u32 [%d15], {1, 2, 3, 4}; mov.u32 %r1, kept;
            cp.async.cg.shared.global [%r1], [%d15], 16; cp.async.ca.shared.global [%r1+16], [%d15], 8, 4;
            cp.async.cg.shared.global [%r1+32], [%d15+64], 16;
            cp.async.commit_group; cp.async.wait_group 0; ld.shared.v2.u32 {%r2, %r3}, [kept+8];
            ld.shared.v2.u32 {%r4, %r5}, [kept+16];
            st.global.v4.u32 [%d15+16], {%r2, %r3, %r4, %r5};""", module_text=".shared .align 16 .b8 kept[32];")
        self.assertEqual(words[4:8], (3, 4, 1, 0))
        self.assertEqual([(seen.kind, seen.space, seen.object, seen.offset, seen.width) for seen in result.accesses],
                         [("cp.async", "global", "data", 64, 16), ("cp.async", "shared", "kept", 32, 16)])

    def test_atomics(self):
        words, _ = run_body("""atom.global.cas.b32 %r1, [%d15], 0, 5; atom.global.inc.u32 %r2, [%d15], 5;
            atom.global.exch.b32 %r3, [%d15], 8; red.global.min.s32 [%d15], -3;
            atom.global.add.f32 %f1, [%d15+4], 0f3F800000;
            st.global.v2.u32 [%d15+8], {%r1, %r2}; st.global.u32 [%d15+16], %r3; atom.add.u64 %d1, [%d15+64], 1;
            st.global.u64 [%d15+24], %d1;""")
        self.assertEqual(words[:8], (0xFFFFFFFD, 0x3F800000, 0, 5, 0, 0, 0, 0))

    def test_warp(self):
        words, _ = run_body("""mov.u32 %r1, %laneid; shfl.sync.up.b32 %r2|%p1, %r1, 1, 0, 15; setp.eq.u32 %p2, %r1, 2;
            vote.sync.any.pred %p3, %p2, 15; match.any.sync.b32 %r3, %r1, 15; redux.sync.add.s32 %r4, %r1, 15;
            selp.b32 %r5, 1, 0, %p1; selp.b32 %r6, 1, 0, %p3; mad.lo.u32 %r7, %r1, 16, 0; cvt.u64.u32 %d1, %r7;
            add.s64 %d1, %d1, %d15; shl.b32 %r3, %r3, 8; or.b32 %r5, %r5, %r3;
            st.global.v4.u32 [%d1], {%r2, %r5, %r6, %r4};""",
                            block=(4,))
        self.assertEqual(words, (0, 0x100, 1, 6, 0, 0x201, 1, 6, 1, 0x401, 1, 6, 2, 0x801, 1, 6))

    def test_barrier_with_a_vote(self):
        words, _ = run_body("""mov.u32 %r1, %tid.x; setp.lt.u32 %p1, %r1, 3; bar.red.popc.u32 %r2, 0, %p1;
            st.global.u32 [%d15], %r2; @%p1 bra END; barrier.sync 1, 64; END:""", block=(3,))
        self.assertEqual(words[0], 3)

    def test_deadlock_steps_and_trap(self):
        _, result = run_body("mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0; @!%p1 bar.sync 1;",
                             block=(2,))
        self.assertEqual(result.stopped, "deadlock")
        _, result = run_body("L: bra L;", max_steps=1000)
        self.assertEqual((result.stopped, result.steps), ("steps", 1000))
        self.assertEqual(run_body("trap;")[1].stopped, "trap")

    def test_waiting_in_a_loop(self):
        """A thread that waits for a later one lets it run."""
        words, result = run_body("""mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 1; @%p1 st.volatile.global.u32 [%d15], 1;
            L: ld.volatile.global.u32 %r2, [%d15]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L;""", block=(2,))
        self.assertEqual((words[0], result.stopped), (1, None))

    def test_null(self):
        _, result = run_body("mov.u64 %d1, 0; ld.global.u32 %r1, [%d1+8]; st.global.u32 [%d15], %r1;")
        (seen,) = result.accesses
        self.assertEqual((seen.object, seen.offset, seen.outside), (None, 8, True))

    def test_unsupported(self):
        for body in ("tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [t, {%r1}];", "div.s32 %r1, 5, 0;",
                     "add.s32 %r1, %r2, 1;",
                     "mov.u32 %r1, %smid;", "activemask.b32 %r1;", "vote.ballot.b32 %r1, 1;",
                     "add.strange.s32 %r1, 1, 2;",
                     "shfl.sync.idx.b32 %r1, 5, 3, 31, 1;", "bar.warp.sync 2;", "cvt.s32.f32 %r1, 0f3F800000;",
                     "rcp.approx.ftz.f64 %g1, 0d3FF0000000000000;", "ld.global.u32 %r1, [nothing];"):
            with self.subTest(body), self.assertRaises(Unsupported) as caught:
                run_body(body)
            self.assertGreater(caught.exception.line, 0)

    def test_unsupported_only_where_it_runs(self):
        self.assertIsNone(run_body("bra END; wgmma.fence.sync.aligned; END:")[1].stopped)

    def test_approximations_are_told(self):
        self.assertEqual(len(run_body("sin.approx.f32 %f1, 0f3F800000; div.full.f32 %f2, %f1, %f1;")[1].approximate), 1)


class Generator(unittest.TestCase):
    def test_same_for_the_same_seed(self):
        for seed in range(3):
            first, second = generate(seed), generate(seed)
            self.assertEqual((first.text, first.grid, first.block, first.launch.bytes),
                             (second.text, second.grid, second.block, second.launch.bytes))
        self.assertNotEqual(generate(1).text, generate(2).text)

    def test_runs_to_the_end(self):
        """Each kernel ends, and there are healthy and bad ones."""
        found = set()
        for seed in range(12):
            case = generate(seed)
            result = run(case.text, case.kernel, case.grid, case.block, case.launch, case.dynamic, max_steps=3000000)
            self.assertIsNone(result.stopped)
            found.add(bool(result.accesses))
        self.assertEqual(found, {False, True})


if __name__ == "__main__":
    unittest.main()
