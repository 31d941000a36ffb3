#!/usr/bin/env python3
"""Has nvdisasm judge what lib/faults/address.c makes of instructions: what they write, where they branch to, what they compute.

    tests/gpu/sass/judge_address.py NVDISASM CUBIN...

The registers hold numbers made of their names, and so does constant bank 0. The result of each instruction that the
library computes is compared with what the words of nvdisasm come to; and of each instruction the registers and
predicates that the words name as written have to be among those that the library expects to be. The capability is in a
cubin's name: x.sm_90.cubin. `cuobjdump -xelf all LIBRARY` takes the cubins out of a library. No GPU is needed.

Exit status: 1 an instruction was decoded wrongly, 2 usage.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
PROGRAM = r"""
#include <stdio.h>
#include "lib/faults/address.c"

static uint32_t number(unsigned id)
{
	uint32_t x = (id + 1) * 0x9e3779b1u;

	x = (x ^ x >> 15) * 0x85ebca6bu;
	return x ^ x >> 13;
}

static void hold(struct walk *w, unsigned id)
{
	w->seen[w->values].before = 0x1000000;
	w->seen[w->values].id = id;
	w->seen[w->values].is_known = true;
	w->seen[w->values++].value = id < GMOD_PREDICATE ? number(id) : number(id) & 1;
}

int main(void)
{
	static uint32_t bank[0x4000];
	unsigned capability;
	unsigned long long low, high;

	for (unsigned i = 0; i < 0x4000; i++)
		bank[i] = number(0x10000 + i * 4);
	while (scanf("%u %llx %llx", &capability, &low, &high) == 3) {
		uint64_t words[2] = {low, high}, target;
		struct gmod_code code = {{(unsigned char *)words, sizeof(words)}, 0x1000000, capability};
		struct gmod_lane_state lane = {.lane = 7, .thread = (uint32_t[]){11, 12, 13}, .block = (uint32_t[]){14, 15, 16},
					       .parameters = {(unsigned char *)bank, sizeof(bank)}};
		struct walk w = {.code = &code, .lane = &lane};

		for (unsigned at = 24; at <= 64; at += at == 24 ? 8 : 32)
			for (unsigned more = 0; more < 4; more++)
				hold(&w, (more & 1 ? GMOD_UNIFORM : 0) + (gmod_bits(words, at, 8) + more / 2) % 256);
		for (unsigned p = 0; p < 7; p++)
			for (unsigned more = 0; more < 2; more++)
				hold(&w, (more ? GMOD_UNIFORM_PREDICATE : GMOD_PREDICATE) + p);
		target = gmod_target_of(words, capability, code.address);
		printf("%d %lld %d;", (int)gmod_flow_of(words), target ? (long long)(target - code.address) : 0, (int)gmod_effect_of(words) | gmod_is_between(words) << 8);
		for (unsigned id = 0; id < GMOD_UNIFORM_PREDICATE + 8; id++) {
			struct reading r = {.walk = &w, .words = {low, high}, .at = code.address};
			uint32_t value;

			if ((id < GMOD_PREDICATE ? id % GMOD_UNIFORM == 255 : id % 8 == ALWAYS) || !gmod_may_write(words, capability, id))
				continue;
			printf(" %u", id);
			if (evaluate(&r, id, &value))
				printf("=%x%s", value, id >= GMOD_PREDICATE && names_two(&r) ? "*" : "");
		}
		puts("");
	}
	return 0;
}
"""
M = 0xFFFFFFFF
UNKNOWN, ON, CALL = 0, 1, 5  # of enum gmod_flow
SPECIAL = {"SR_TID.X": 11, "SR_TID.Y": 12, "SR_TID.Z": 13, "SR_CTAID.X": 14, "SR_CTAID.Y": 15, "SR_CTAID.Z": 16, "SR_LANEID": 7, "SRZ": 0}
JUMPS = {"BRA", "BSSY", "WARPSYNC", "CALL"}
NO_DESTINATION = {"ST", "STG", "STS", "STL", "RED", "REDG", "BAR", "BRA", "BRX", "EXIT", "RET", "CALL", "BSSY", "BSYNC", "BREAK", "WARPSYNC", "NOP",
                  "MEMBAR", "CCTL", "ERRBAR", "CGAERRBAR", "DEPBAR", "LDGDEPBAR", "LDGSTS", "YIELD", "NANOSLEEP", "BPT", "ENDCOLLECTIVE", "STAS", "BMOV.B",
                  "CCTLL", "KILL", "UCGABAR_WAIT", "UCGABAR_ARV", "ARRIVES", "UBLKCP", "UTMALDG", "UTMASTG", "UTMACCTL", "R2P", "ACQBULK",
                  "PREEXIT", "UTMACMDFLUSH", "UTCBAR", "UTCHMMA", "STSM", "STTM", "FENCE", "WARPGROUP", "UVIRTCOUNT"}
PREDICATE_BEHIND = {"IADD3", "UIADD3", "LEA", "ULEA", "IMAD", "UIMAD", "LOP3", "ULOP3", "VOTE", "VOTEU"}


def number(n):
    x = (n + 1) * 0x9E3779B1 & M
    x = (x ^ x >> 15) * 0x85EBCA6B & M
    return x ^ x >> 13


def instructions(nvdisasm, cubin):
    """(section's labels, address, text, low word, high word) of each."""
    text = subprocess.run([nvdisasm, "-hex", cubin], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, text=True, errors="replace").stdout
    labels, waiting = {}, []
    for m in re.finditer(r"^\s+/\*([0-9a-f]+)\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/\n\s+/\* 0x([0-9a-f]{16}) \*/|^(\.section|[.$\w]+(?=:))", text, re.M):
        if m[5] == ".section":
            labels, waiting = {}, []
        elif m[5]:
            waiting.append(m[5])
        else:
            for name in waiting:
                labels[name] = int(m[1], 16)
            waiting = []
            yield labels, int(m[1], 16), re.sub(r"\s+[&?].*", "", m[2]), m[3], m[4]  # newer ones say more behind it


class Instruction:
    def __init__(self, text):
        m = re.match(r"(?:@(!?)(U?P\w+)\s+)?(\S+)\s*(.*)", re.sub(r"\.reuse", "", text))
        self.guard = m[2]
        self.name, *self.mods = m[3].split(".")
        self.args = [a.strip() for a in re.split(r",(?![^\[]*\])", m[4])] if m[4] else []
        self.registers, self.predicates = [], []
        rest = list(self.args)
        if self.name not in NO_DESTINATION:
            while rest and re.fullmatch(r"U?P(\d|T)", rest[0]) and not (self.predicates and self.name in ("VOTE", "VOTEU")):
                self.predicates.append(rest.pop(0))
            setp = "SETP" in self.name or self.name in ("PLOP3", "UPLOP3")
            if rest and not setp and re.fullmatch(r"U?R(\d+|Z)", rest[0]) and self.name != "FCHK":
                name = rest.pop(0)
                if name[-1] != "Z":
                    kind, first = re.match(r"(U?R)(\d+)", name).groups()
                    self.registers = [f"{kind}{int(first) + i}" for i in range(self.width())]
                behind = 1 if self.name in ("VOTE", "VOTEU") else 2
                while rest and self.name in PREDICATE_BEHIND and behind and re.fullmatch(r"U?P(\d|T)", rest[0]):
                    self.predicates.append(rest.pop(0))
                    behind -= 1
            elif setp:
                self.predicates, rest = self.predicates[:2], self.predicates[2:] + rest
        self.sources = rest

    def width(self):
        mods = set(self.mods)
        if mods & {"256"}:
            return 8
        if self.name in ("MUFU", "BMOV", "MATCH", "SHF", "USHF") or self.name.endswith("MNMX"):
            return 1
        if self.name in ("HMMA", "IMMA"):
            return 4
        if self.name == "DMMA":
            return 4
        if mods & {"128"}:
            return 4
        if self.name == "LDSM" or self.name == "LDGMC":
            return 4 if "4" in mods else 2 if "2" in mods else 1
        if self.name.endswith("GMMA"):
            shape = next(m for m in self.mods if re.fullmatch(r"\d+x\d+x\d+", m))
            return int(shape.split("x")[1]) // (4 if self.mods[self.mods.index(shape) + 1] == "F16" else 2)
        if self.name == "LDTM":
            return next((int(m[1:]) for m in mods if re.fullmatch(r"x\d+", m)), 1) * (4 if "16dp256bit" in mods else 2 if "16dp128bit" in mods else 1)
        if self.name == "CS2R":
            return 1 if "32" in mods else 2
        if self.name in ("F2F", "I2F", "UI2F", "F2I", "UF2I", "FRND"):
            return 2 if self.mods and next((m for m in self.mods if re.fullmatch(r"[FSU]\d+", m)), "") in ("F64", "S64", "U64") else 1
        return 2 if mods & {"64", "WIDE", "U64", "S64", "F64", "TRANS64"} or self.name in ("DADD", "DMUL", "DFMA") else 1

    # What it computes: None if it is not computed here.
    def source(self, text, inverted=False):
        """(value, with an inversion of it and 1 for a negation)"""
        sign = ""
        if re.match(r"[-~][^0-9]", text):
            sign, text = text[0], text[1:]
        if re.fullmatch(r"U?RZ", text):
            value = 0
        elif re.fullmatch(r"U?R\d+", text):
            value = number(int(re.sub(r"\D", "", text)) + (256 if text[0] == "U" else 0))
        elif re.fullmatch(r"-?0x[0-9a-f]+", text):
            value = int(text, 16) & M
        elif (m := re.fullmatch(r"c\[0x0\]\[(?:RZ|URZ|(-?0x[0-9a-f]+))\]", text)):
            value = number(0x10000 + int(m[1] or "0", 16) % 0x10000)
        elif text in SPECIAL:
            value = SPECIAL[text]
        else:
            raise ValueError(text)
        return (~value & M) + (sign == "-") if sign else value

    def wide(self, text):
        if re.fullmatch(r"-?U?R\d+|-?c\[.*", text):
            sign, plain = (text[0] == "-"), text.lstrip("-")
            above = re.sub(r"\d+$", lambda m: str(int(m[0]) + 1), plain) if plain[0] != "c" else re.sub(
                r"\[(?:RZ|(-?0x[0-9a-f]+))\]$", lambda m: f"[0x{int(m[1] or '0', 16) % 0x10000 + 4:x}]", plain)
            value = self.source(plain) | self.source(above) << 32
            return -value % 2**64 if sign else value
        if re.fullmatch(r"U?RZ", text):
            return 0
        raise ValueError(text)

    def predicate(self, text):
        inverted, text = text[0] == "!", text.lstrip("!")
        value = 1 if text in ("PT", "UPT") else number((520 if text[0] == "U" else 512) + int(text[-1])) & 1
        return value ^ inverted

    def compute(self):
        """{register's place or predicate's place: value}"""
        name, mods, s = self.name.removeprefix("U") if self.name not in ("UNUSED",) else "", set(self.mods), self.sources
        value = self.source
        if name in ("MOV", "S2R", "2UR") or self.name in ("S2UR",):
            return value(s[0]), None
        if name in ("LDC", "LDCU") or self.name == "LDCU":
            return (self.wide(s[0]) if "64" in mods or "128" in mods else value(s[0])), None
        if name in ("IADD3", "IADD", "VIADD"):
            if "64" in mods:
                return sum(self.wide(t) for t in s if not t.startswith("P")) & (2**64 - 1), None
            total = sum(value(t) for t in s[:3]) + ("X" in mods and sum(self.predicate(t) for t in s[3:]))
            return total & M, total >> 32
        if name == "IMAD":
            signed = "U32" not in mods
            a, b = value(s[0]), value(s[1])
            if signed:
                a, b = (x - 2**32 if x >> 31 else x for x in (a, b))
            if "WIDE" in mods:
                return a * b + self.wide(s[2]) & (2**64 - 1), None
            if "HI" in mods:
                return a * b + self.wide(s[2]) >> 32 & M, None
            return a * b + value(s[2]) + ("X" in mods and self.predicate(s[3])) & M, None
        if name == "LEA":
            a, b, rest = value(s[0]), value(s[1]), s[2:]
            if "HI" not in mods:
                total = (a << int(rest[0], 16) & M) + b
                return total & M, (None if s[0][0] == "-" else total >> 32)
            if "SX32" in mods:
                a -= (a >> 31) << 32
            else:
                a |= value(rest.pop(0)) << 32
            return (a << int(rest[0], 16) >> 32) + b + ("X" in mods and self.predicate(rest[1])) & M, None
        if name == "LOP3":
            a, b, c, lut = value(s[0]), value(s[1]), value(s[2]), int(s[3], 16)
            return sum((lut >> ((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1)) & 1) << i for i in range(32)), None
        if name == "SHF":
            by = value(s[1])
            if by > 31:
                return None
            if "L" in mods:
                both = value(s[0]) | (value(s[2]) << 32 if "HI" in mods else 0)
                return both << by >> (32 if "HI" in mods else 0) & M, None
            if "HI" in mods:
                high = value(s[2])
                return (high - (high >> 31 << 32) if mods & {"S32", "S64"} else high) >> by & M, None
            return (value(s[0]) | value(s[2]) << 32) >> by & M, None
        if name == "ISETP":
            a, b = value(s[0]), value(s[1])
            if not mods & {"U32", "U64"}:
                a, b = (x - 2**32 if x >> 31 else x for x in (a, b))
            holds = {"EQ": a == b, "NE": a != b, "LT": a < b, "LE": a <= b, "GT": a > b, "GE": a >= b, "F": False, "T": True}[self.mods[0]]
            other = bool(self.predicate(s[2]))
            return None, int(holds and other if "AND" in mods else holds or other if "OR" in mods else holds != other)
        if name == "HFMA2":
            return None
        raise ValueError(name)


def id_of(name):
    return int(name[-1]) + (520 if name[0] == "U" else 512) if "P" in name else int(re.sub(r"\D", "", name)) + (256 if name[0] == "U" else 0)


def judge(row, answer):
    """What is wrong, or how it was judged: "computed", "written", "unknown"."""
    labels, at, text = row
    head, _, tail = answer.partition(";")
    flow, target, kind = map(int, head.split())
    said = dict(part.partition("=")[::2] for part in tail.split())
    i = Instruction(text)
    if i.name in JUMPS and (m := re.search(r"`\((.+?)\)", text)):
        if m[1] in labels and "ABS" not in i.mods and target != labels[m[1]] - at:
            return f"target {target + at:#x}, not {labels[m[1]]:#x}"
    elif i.name == "BRA":
        return "no target"
    if not kind and flow != CALL:
        return "unknown"
    if (i.name in ("BRA", "BSSY", "BSYNC", "WARPSYNC", "CALL", "RET", "EXIT", "BRX", "JMP", "BPT")) != (flow != ON):
        return f"flow {flow}"
    if flow in (CALL, UNKNOWN):
        return "written"
    if i.guard and not kind & 256 and (i.guard[0] == "U") != bool(kind & 32):
        return f"guard {i.guard}"
    written = {str(id_of(p)) for p in i.registers + i.predicates if p[-1] != "T"}
    if not written <= set(said):
        return f"writes {', '.join(sorted(written - set(said)))} too"
    if not any(said.values()):
        return "written"
    if i.name.startswith("HFMA2"):
        imm = i.args[-2:]
        return "computed" if all(re.match(r"-?[0-9.e+-]+$", t) for t in imm) and i.args[1] == "-RZ" and i.args[2] == "RZ" else "not a move"
    result = i.compute()
    if result is None:
        return "computed, but should not be"
    places = {str(id_of(r)): ("register", n) for n, r in enumerate(i.registers)} | {
        str(id_of(p)): ("predicate", n) for n, p in enumerate(i.predicates) if p[-1] != "T"}
    carries = 0
    for place, value in said.items():
        if not value:
            continue
        if place not in places:
            return f"computes {place}"
        kind, n = places[place]
        if kind == "register" and (result[0] is None or int(value, 16) != result[0] >> 32 * n & M):
            return f"{place} is {value}, not {result[0]}"
        if kind == "predicate" and value[-1] == "*":
            carries += int(value[:-1], 16)
        elif kind == "predicate" and (result[1] is None or n or int(value, 16) != result[1]):
            return f"{place} is {value}, not {result[1]}"
    if any(v.endswith("*") for v in said.values()) and carries != result[1]:
        return f"carries {carries}, not {result[1]}"
    return "computed"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.splitlines()[2].strip(), file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "decode")
        subprocess.run(["gcc", "-std=gnu11", "-O2", f"-I{TOP}", "-x", "c", "-", os.path.join(TOP, "lib/faults/effect.c"), "-o", program], input=PROGRAM, text=True, check=True)
        counts, kinds, examples = collections.Counter(), collections.Counter(), {}
        for cubin in arguments[1:]:
            capability = re.search(r"sm_(\d+)", os.path.basename(cubin))[1]
            rows = list(instructions(arguments[0], cubin))
            given = "".join(f"{capability} {low} {high}\n" for *_, low, high in rows)
            said = subprocess.run([program], input=given, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
            for (*row, low, high), answer in zip(rows, said):
                try:
                    verdict = judge(row, answer)
                except (ValueError, KeyError, IndexError) as e:
                    verdict = f"not understood: {type(e).__name__} {e}"
                counts[verdict if verdict in ("computed", "written", "unknown") else "wrong"] += 1
                if verdict not in ("computed", "written"):
                    kind = verdict.split()[0] + " " + re.sub(r"^@\S+\s+", "", row[2]).split(" ")[0].split(".")[0]
                    kinds[kind] += 1
                    examples.setdefault(kind, f"{row[2]} (sm_{capability}, 0x{high}{low}): {verdict}; {answer[:60]}")
    print(f"{sum(counts.values())} instructions: {counts['computed']} computed as nvdisasm has them, of {counts['written']} others what they write and where"
          f" they branch to, {counts['unknown']} not known, {counts['wrong']} wrong")
    for kind, count in kinds.most_common():
        print(f"  {count} x {examples[kind]}")
    return int(bool(counts["wrong"]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
