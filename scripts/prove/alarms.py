"""Alarms in words, as the text, the page and SARIF have them, and which of them a file of suppressions covers."""
import collections
import functools
import itertools

from as_text import plural
from groups import is_program, place as place_of, place_words, where_words
from solver import MISSING
from source import around
from suppressions import matches
from symbols import Symbols, demangle

ALIGNS = (512, 256, 128, 64, 32, 16)  # of option fence_align, the default first
RULES = {
    "possible-out-of-bounds": "An access of the launch is possible outside of its memory.",
    "possible-misaligned": "An access of the launch is possible at an address that is no multiple of its width.",
}


def short(text, most=200):
    return text if len(text) <= most else text[:most - 3] + "..."


def place(access):
    if access["source"]:
        text = f"{access['source']['file']}:{access['source']['line']}"
        return text + "".join(f", inlined at {at['file']}:{at['line']}" for at in access["inlined_at"])
    return f"line {access['ptx_line']} of the PTX"


def triple(numbers):
    return "(" + ",".join(map(str, numbers)) + ")"


def _memory_words(memory):
    kind, name, size = memory["kind"], memory["name"], memory["size"]
    return {"buffer": f"a {size}-byte buffer ({name})", "shared": f"the {size} bytes of shared memory {name}",
            "local": f"the {size} bytes of local memory", "const": f"the {size}-byte constant {name}",
            "global": f"the {size}-byte variable {name}", "param": f"the {size}-byte {name}"}[kind]


def what(access):
    """The access in words, as gmod report has them."""
    memory, extent = access["memory"], access["extent"]
    of = _memory_words(memory)
    if access["kind"] == "misaligned":
        return f"{access['access']} of {extent} bytes at byte {access['offset']} of {of}, no multiple of {access['bytes']}"
    bytes_of = f"{access['access']} of {plural(extent, 'byte')}"
    if access["offset"] < 0:
        return f"{bytes_of}, {-access['offset']} bytes before the start of {of}"
    past = access["offset"] - memory["size"]
    if past < 0:
        return f"{bytes_of}, the last {extent + past} past the end of {of}"
    return f"{bytes_of}, {past} bytes past the end of {of}"


@functools.lru_cache(maxsize=None)
def _readable(symbol):
    return demangle([symbol], "-p").get(symbol, symbol)


def site_of(launch, access):
    return next((one.site for one in launch.pointers if one.at == access["memory"]["at"]), None)


def put_lines(launches, results):
    """Source lines to where the buffers of alarms were allocated. Returns notes."""
    sites = [site_of(launch, access) for (launch, _), result in zip(launches, results)
             for access in result.accesses if access["verdict"] == "alarm"]
    table = Symbols()
    table.resolve([frame for site in sites if site for frame in site.frames])
    return table.notes


def site_words(site):
    """Where a buffer was allocated, or None."""
    if site and site.python:
        return where_words(site.python)
    program = [frame for frame in site.frames if is_program(frame)] or site.frames if site else ()
    if not program:
        return None
    function, where, line = place_of(program[0])
    return place_words(function or _readable(program[0].get("symbol")), where, line)


def _site_names(site):
    yield site_words(site)
    for frame in site.python + site.frames:
        yield from (frame[key] for key in ("function", "file", "symbol", "module") if isinstance(frame.get(key), str))
        yield _readable(frame.get("symbol"))


def _fence(access):
    """Options of `gmod --exact` for the fence to be where the access goes; None: no fence can be."""
    size, offset = access["memory"]["size"], access["offset"]
    if offset < 0:
        return " --fence_side=start"
    # Behind the last byte nothing lies from the next multiple of the alignment on.
    align = next((a for a in ALIGNS if offset + access["extent"] > size + -size % a), None)
    return align and " --fence_side=end" + f" --fence_align={align}" * (align < ALIGNS[0])


def confirming(access, launch):
    command = launch.command or "COMMAND"
    is_out = access["memory"]["kind"] == "buffer" and access["kind"] == "out of bounds"
    fence = _fence(access) if is_out else None
    if fence:
        return f"gmod --exact{' --per-tensor' * launch.per_tensor}{fence} {command}"
    return f"compute-sanitizer --kernel-name kernel_name={launch.function.name} {command}"


class Alarm:
    """One of a line, a kernel and a memory; the first launch is shown."""

    def __init__(self, launch, access, kernel):
        self.launch, self.access, self.kernel = launch, access, kernel
        self.launches = {id(launch)}
        self.site = site_of(launch, access)

    @property
    def rule(self):
        return "possible-" + self.access["kind"].replace(" ", "-")

    @property
    def key(self):
        """Lines of the PTX are an image's own."""
        memory, image = self.access["memory"], self.launch.function.image[1]
        return (self.rule, self.launch.function.name, place(self.access), self.access["access"], memory["kind"], memory["name"],
                None if self.access["source"] else image)

    def title(self):
        return f"{self.rule}: {self.kernel} {place(self.access)}"

    def source(self):
        """The line itself, if its file is at hand."""
        at = self.access["source"]
        some, _ = at and around(at["file"], at["line"], None) or ((), False)
        return [f"{number} | {text.strip()}" for number, text in some if number == at["line"]]

    def witness(self):
        access, launch = self.access, self.launch
        yield (f"possible with block {triple(access['block'])}, thread {triple(access['thread'])}"
               + (f", the access's iteration {access['iteration'] + 1}" if access["iteration"] else ""))
        yield (f"of a grid of {triple(launch.grid)} blocks of {triple(launch.block)} threads"
               + (f", {launch.shared} bytes of dynamic shared memory" if launch.shared else ""))
        allocated = site_words(self.site)
        if allocated:
            yield f"allocated by {allocated}"
        if len(self.launches) > 1:
            yield f"and in {len(self.launches) - 1} more of its launches"

    def confirming(self):
        return short(confirming(self.access, self.launch), 2000)

    def suppression(self):
        """The line that covers it, and the kernel's others at that line."""
        source = self.access["source"]
        return f"{self.rule}:{self.kernel}" + (f" && {source['file']}:{source['line']}" if source else "")

    def names(self):
        """What a pattern may match."""
        yield from (self.kernel, self.launch.function.name)
        for at in [self.access["source"] or {}, *self.access["inlined_at"]]:
            if at:
                yield from (at["file"], f"{at['file']}:{at['line']}")
        if self.site:
            yield from _site_names(self.site)


class Kernels:
    """Their names as the source has them, without parameters, where there is a c++filt."""

    def __init__(self, launches):
        self._names = demangle({launch.function.name for launch, _ in launches if len(launch.function.name) < 10000}, "-p")

    def name(self, launch):
        return short(self._names.get(launch.function.name, launch.function.name))


def some(names):
    """Kernels, in a line or two: without what templates were made with."""
    bare = list(dict.fromkeys(name.partition("<")[0] or name for name in names))
    fit = max(1, sum(total <= 200 for total in itertools.accumulate(len(name) + 2 for name in bare)))
    rest = f" and {len(bare) - fit} more" if fit < len(bare) else ""
    return f"{len(bare)} kernels ({', '.join(bare[:fit])}{rest})" if len(bare) > 1 else bare[0]


def not_looked_at(undecided):
    """What nobody is to take for safe, in a line, or none."""
    names = [name for name, access, _ in undecided if access is None]
    return [f"launches of {some(names)} were not looked at, and nothing is said of them"] if names else []


def summary(results, covered, undecided):
    counts = {word: sum(result.count(word) for result in results) for word in ("safe", "alarm", "undecided")}
    proved = sum(not result.why and result.count("safe") == len(result.accesses) for result in results)
    none = sum(bool(result.why) for result in results)
    hidden = f" ({covered} suppressed)" if covered else ""
    if not results:
        return ["no launch was found, so nothing is proved"]
    return not_looked_at(undecided) + [
            f"{plural(len(results), 'launch signature')}, {sum(counts.values())} accesses: {counts['safe']} proved for any "
            f"contents of memory, {counts['alarm']} possibly out of bounds or misaligned{hidden}, {counts['undecided']} undecided",
            f"{plural(proved, 'launch signature')} {'are' if proved != 1 else 'is'} safe: proved for any contents of memory"
            + (f"; {none} undecided as a whole" if none else "")]


def undecided(launches, results, kernels):
    """[(kernel, access or None for all of them, reason)], each once. What z3 was missing for, a note counts."""
    found = {}
    for (launch, _), result in zip(launches, results):
        name = kernels.name(launch)
        if result.why:
            found[name, None, result.why + (f" ({result.note})" if result.note else "")] = True
        for access in result.accesses:
            if access["verdict"] == "undecided" and access["reason"] != MISSING:
                found[name, f"{access['access']} of {plural(access['bytes'], 'byte')}, {place(access)}", access["reason"]] = True
    return list(found)


def judged(launches, results, kernels, lines):
    """(alarms that no line of suppressions covers, each once; how many accesses are covered; lines that cover none).
    An access that is covered is marked as suppressed."""
    found, used, covered = collections.OrderedDict(), set(), 0
    for (launch, _), result in zip(launches, results):
        for access in result.accesses:
            if access["verdict"] != "alarm":
                continue
            alarm = Alarm(launch, access, kernels.name(launch))
            by = [i for i, (rule, patterns) in enumerate(lines)
                  if rule in ("*", alarm.rule) and all(matches(pattern, alarm.names()) for pattern in patterns)]
            used.update(by)
            covered += bool(by)
            access["suppressed"] = bool(by)
            if not by:
                found.setdefault(alarm.key, alarm).launches.add(id(launch))
    unused = [f"{rule}:{' && '.join(patterns)}" for i, (rule, patterns) in enumerate(lines) if i not in used and rule in RULES]
    return list(found.values()), covered, unused
