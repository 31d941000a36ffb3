"""The lines of a file of suppressions, and which findings one would cover; see gmod-suppressions(5)."""
import functools
import re

from groups import is_incomplete, moments

BLANKS = " \t\r"
MOST_BYTES, MOST_LINES = 65535, 512


@functools.lru_cache(maxsize=None)
def _compiled(pattern):
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.S)


def matches(pattern, names):
    return any(name and _compiled(pattern).fullmatch(name) for name in names)


def read(path, classes):
    """[(class, patterns)] of the file. ValueError: a line is none."""
    with open(path, "rb") as file:
        text = file.read(MOST_BYTES).decode("utf-8", "replace")
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        line = line.strip(BLANKS)
        of_class, _, patterns = (part.strip(BLANKS) for part in line.partition(":"))
        if not line or line.startswith("#"):
            continue
        if of_class not in classes or not patterns:
            raise ValueError(f"{path}:{number}: not a suppression (CLASS:PATTERN, CLASS as in a report or *)")
        found.append((of_class, [pattern.strip(BLANKS) for pattern in patterns.split(" && ", 1)]))
    return found[:MOST_LINES]


def _names(finding):
    """Of the finding's stacks, and the site."""
    yield finding["site"]
    fault = finding.get("fault") or {"lines": ()}
    yield from (fault.get(key) for key in ("kernel", "symbol", "function"))
    for line in fault["lines"]:
        yield from (line["function"], line["file"])
    for _, moment in moments(finding):
        for frame in moment.get("frames") or ():
            yield from (frame.get("function"), frame.get("symbol"), frame.get("module"))
        for line in moment.get("python") or ():
            yield from (line["function"], line["file"])


def _covers(line, finding):
    of_class, _, patterns = line.partition(":")
    names, suspects = list(_names(finding)), finding["suspects"]
    if of_class not in ("*", finding["class"]):
        return False
    for pattern in patterns.split(" && ", 1):
        by_kernels = suspects and not is_incomplete(finding) and all(
            matches(pattern, (s["kernel"], s.get("symbol"))) for s in suspects)
        if not by_kernels and not matches(pattern, names):
            return False
    return True


def count_covered(findings):
    """Put to each finding how many of all the line that is offered for it would cover. Names are as GMOD wrote them."""
    counts = {}
    for finding in findings:
        line = finding.get("suppression")
        if line and line not in counts:
            counts[line] = sum(_covers(line, other) for other in findings)
        finding["covered"] = counts.get(line)
