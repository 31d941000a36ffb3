"""Whether lib/faults/sass.c says of each memory instruction what nvdisasm says, in as many cubins as one likes.

    judge.py NVDISASM CUBIN...        a cubin's name has its compute capability in it: anything.sm_90.cubin

Builds the decoder with gcc. Prints how many instructions there were, how many were decoded, and what was wrong or left out, an
example each. `cuobjdump -xelf all LIBRARY` takes the cubins out of a library. No GPU is needed.

Exit status: 1 an instruction was decoded wrongly, 2 usage.
"""

import collections
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
MOVES = {"LDG": "global", "LD": "generic", "LDL": "local", "LDS": "shared", "STG": "global", "ST": "generic", "STL": "local", "STS": "shared"}
ATOMICS = {"ATOM": "generic", "ATOMG": "global", "ATOMS": "shared", "RED": "global", "REDG": "global"}
BYTES = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "U64": 8, "S64": 8, "F64": 8, "128": 16, "256": 32}
PROGRAM = """
#include <stdio.h>
#include "lib/faults/sass.h"
int main(void)
{
	static const char *const access[] = {"load", "store", "atomic"}, *const space[] = {"global", "generic", "shared", "local"};
	unsigned long long low, high;
	struct gmod_operand o;
	unsigned capability;

	while (scanf("%u %llx %llx", &capability, &low, &high) == 3)
		if (gmod_sass_operand((const uint64_t[]){low, high}, capability, &o))
			printf("%s %s %u %u %d %u %d\\n", access[o.access], space[o.space], o.bytes, o.base, o.wide, o.scale, o.offset);
		else
			puts("-");
	return 0;
}
"""


def instructions(nvdisasm, cubin):
    """(text, low word, high word) of each."""
    text = subprocess.run([nvdisasm, "-hex", cubin], stdout=subprocess.PIPE, check=True, text=True, errors="replace").stdout
    return re.findall(r"^\s+/\*[0-9a-f]+\*/\s+(.*?)\s*;\s+/\* 0x([0-9a-f]{16}) \*/\n\s+/\* 0x([0-9a-f]{16}) \*/", text, re.M)


def operand(text):
    """As the program prints it; None: no memory instruction. "other": a form with a uniform register, or one that is not known."""
    words = re.sub(r"^@!?U?P\w+\s+", "", text)
    operation, _, rest = words.partition(" ")
    name, *modifiers = operation.split(".")
    address = re.search(r"(?:desc\[UR\w+\])?\[([^]]*)\]", rest)
    if name not in MOVES and name not in ATOMICS or not address:
        return None
    access = "atomic" if name in ATOMICS else "store" if name.startswith("ST") else "load"
    size = max([BYTES[m] for m in modifiers if m in BYTES], default=4) if not {"U8", "S8", "U16", "S16"} & set(modifiers) else min(
        BYTES[m] for m in modifiers if m in BYTES)
    base, scale, offset = 255, 1, 0
    for term in re.findall(r"[+-]?[^+-]+", address[1].replace(" ", "")):
        register = re.fullmatch(r"\+?R(\d+|Z)(\.64|\.X\d+)?", term)
        if register:
            base = 255 if register[1] == "Z" else int(register[1])
            scale = int(register[2][2:]) if (register[2] or "").startswith(".X") else 1
        elif re.fullmatch(r"[+-]?0x[0-9a-f]+", term):
            offset += int(term, 16)
        else:
            return "other"
    return f"{access} {(MOVES.get(name) or ATOMICS[name])} {size} {base} {int('E' in modifiers)} {scale} {offset}"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__.splitlines()[2].strip(), file=sys.stderr)
        return 2
    rows = []
    for cubin in arguments[1:]:
        capability = re.search(r"sm_(\d+)", os.path.basename(cubin))[1]
        rows += [(capability, low, high, text, operand(text)) for text, low, high in instructions(arguments[0], cubin)]
    rows = [row for row in rows if row[4]]
    with tempfile.TemporaryDirectory() as scratch:
        program = os.path.join(scratch, "decode")
        subprocess.run(["gcc", "-O2", f"-I{TOP}", "-x", "c", "-", os.path.join(TOP, "lib/faults/sass.c"), "-o", program], input=PROGRAM,
                       text=True, check=True)
        given = "".join(f"{capability} {low} {high}\n" for capability, low, high, _, _ in rows)
        said = subprocess.run([program], input=given, stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    wrong, left = collections.Counter(), collections.Counter()
    examples = {}
    for (capability, low, high, text, wanted), answer in zip(rows, said):
        if answer != wanted and (answer != "-" or wanted != "other"):
            kind = re.sub(r"^@\S+\s+", "", text).split(".")[0].split(" ")[0]
            counter = left if answer == "-" else wrong
            counter[kind] += 1
            examples.setdefault((id(counter), kind), f"{text} (sm_{capability}, 0x{high}{low}): {answer}")
    uniform = sum(row[4] == "other" for row in rows)
    print(f"{len(rows)} memory instructions: {len(rows) - uniform - sum(left.values()) - sum(wrong.values())} decoded as nvdisasm has them,"
          f" {sum(wrong.values())} wrong, {uniform} with a uniform register and {sum(left.values())} others left out")
    for counter, words in ((wrong, "wrong"), (left, "left out")):
        for kind, count in counter.most_common():
            print(f"  {words}: {count} x {examples[id(counter), kind]}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
