"""A small stress of in-kernel memory under compute-sanitizer: a part of bench/run.

With libgmod preloaded, and told to be on there (enabled=1), over its own heap. Over CUDA's own malloc first, without GMOD: what
the tool makes of that says how far it is to be believed here, and is no verdict.
"""

import re

import machine
from inkernel import LIMIT, KernelRecord
from record import last_line

PAIRS, BLOCKS = 20000, 2


def last_match(pattern, text):
    """What the last line that matches has; an empty text where none does."""
    return ([""] + re.findall(pattern, text, re.M))[-1]


class Sanitizer(KernelRecord):
    name, title = "sanitizer", "In-kernel memory under compute-sanitizer"
    sections = ("memcheck", "racecheck")

    def memcheck(self):
        self.check_both("memcheck")

    def racecheck(self):
        self.check_both("racecheck")

    def check_both(self, tool):
        if not machine.compute_sanitizer():
            self.result(f"not measured: {tool}: there is no compute-sanitizer here")
            return
        _, found = self.check(tool, "cuda")
        self.result(f"{tool}, CUDA's malloc, without GMOD: {found}")
        good, found = self.check(tool, "slab")
        self.result(f"{'met' if good else 'FAIL'}: {tool}, slab: {found}")

    def check(self, tool, arm):
        """(whether there is nothing to find, what was found)"""
        command = [machine.compute_sanitizer(), "--tool", tool, "--error-exitcode", "9"]
        command += self.program(arm, "stress", PAIRS, BLOCKS)
        status, output, errors = self.execute(command, self.environment(arm, "enabled=1"), LIMIT)
        with open(f"{self.scratch}/{tool}-{arm}.log", "w") as f:
            f.write(output)
        summary = last_match("^=* *(.*SUMMARY: .*)", output)
        stress = last_match("^(?:pairs=|FAIL ).*", output)
        if status == 0 and "SUMMARY: 0 " in summary and stress.startswith("pairs="):
            return True, f"{summary} ({stress})"
        said = [line for line in output.splitlines() if line.startswith("=========")]
        print(*said[:40], sep="\n")
        found = [each for each in (summary, stress) if each] + [self.outcome(status, LIMIT, last_line(errors))]
        wrong = [line.strip("= ") for line in said if re.search("Invalid|Error encountered", line)]
        return False, "; ".join(found) + (f"; first: {wrong[0]}" if wrong else "")
