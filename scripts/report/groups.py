"""Groups findings of many processes: one group for each class, site and suspect.

The site is the stack of the call for a misuse, else that of the allocation. Findings of one site whose suspects have a
kernel in common are one group: what they all have in common is the likely culprit.
"""
import hashlib
import os
import re
from datetime import datetime, timezone

RUNTIME = re.compile(r"^(libcuda\.so|libcudart|libgmod\.so|libc\.so|libc-|ld-linux|libpthread|libffi|_ctypes\.)")
# A wrapper of CUDA's headers for C++ is a function of the program's: cudaMalloc<float>.
CUDA = re.compile(r"^(_start$|__cudart|libcudart_static_|(_ZL\d+|cudaError )?cu(da)?[A-Z]\w*(?![\w ]))")
HOSTS, SPANS = 8, 12  # that are named: hosts of a group, and ranks that follow each other


def process_of(event):
    return event.get("host") or event["file"], event["pid"], event["life"]


def is_start(event):
    return event["event"] == "note" and event["text"].startswith("started: ")


def _lives_of(row):
    """The number of the life that each event of a row is of: a process that is started anew says so in a line.

    One that goes on behind its closing line is several that wrote at the same time, or lines are missing. Nobody can
    tell then which is whose, and all are one.
    """
    lives, life, begun, closed = [], 1, False, False
    for event in row:
        if is_start(event):
            life, begun, closed = life + begun, True, False
        elif event["event"] in ("finding", "summary"):
            if closed:
                return [1] * len(row)
            begun, closed = True, event["event"] == "summary"
        lives.append(life)
    return lives


def _number_lives(events, *names):
    """The rows are the events that have these members in common. JSON apart from text: a process may write both."""
    rows = {}
    for event in events:
        rows.setdefault((not event["schema"], *(event[name] for name in names)), []).append(event)
    for row in rows.values():
        for event, life in zip(row, _lives_of(row)):
            event["life"] = life


def join_processes(events):
    """Lines of text that have no host and rank take them from a report of the same process in the same file.

    A container that is started again has the process number that it had: its lives are told apart, before, and after,
    when the hosts are known, so that the first one of a host has the same number in each file.
    """
    _number_lives(events, "file", "pid")
    known = {}
    for event in events:
        if event.get("host"):
            known[event["file"], event["pid"]] = known[event["file"], event["pid"], event["life"]] = event
    for event in events:
        report = known.get((event["file"], event["pid"], event["life"])) or known.get((event["file"], event["pid"]))
        if not event.get("host") and report:
            for key in ("host", "rank", "version"):
                event[key] = report[key]
    _number_lives(events, "file", "pid", "host")


def _key_of_finding(event):
    """With the buffer: a container that is started again may write to another file, or not say that it has started."""
    return process_of(event), event["id"], (event.get("buffer") or {}).get("base")


def final(events):
    """The findings, each once: a provisional report only where no final one of its id follows. What was caught goes to its finding."""
    findings = [e for e in events if e["event"] == "finding" and e["status"] != "caught"]
    done = {_key_of_finding(e) for e in findings if e["status"] == "final"}
    left, seen = [], set()
    for event in findings:
        key = _key_of_finding(event)
        if event["status"] != "final" and (key in done or key in seen):
            continue
        seen.add(key)
        left.append(event)
    by_id = {(process_of(event), event["id"]): event for event in left}
    for event in events:
        if event["event"] == "finding" and event["status"] == "caught" and (process_of(event), event["id"]) in by_id:
            by_id[process_of(event), event["id"]].setdefault("caught_again", []).append(event)
    return left


def clock(time):
    return time.split("T")[-1][:15].rstrip("Z")


def seconds(stamp):
    """Of a stamp; None: unknown."""
    try:
        m = re.match(r"^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)\.(\d{1,9})Z$", stamp)
        day = datetime.strptime(m[1] + " " + m[2], "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc)
        return day.timestamp() + int(m[3]) / 10 ** len(m[3])
    except (TypeError, ValueError, OverflowError):
        return None


def _moment_words(words, moment):
    """When it was, and by which thread."""
    when = f" at {clock(moment['time'])}" if moment.get("time") else ""
    return words + when + (f" by thread {moment['thread']}" if moment.get("thread") is not None else "")


def _name_words(buffer):
    """Of a range that the program has named by gmod_guard()."""
    return f", named {buffer['name']}" if buffer.get("name") else ""


def _allocated_words(buffer):
    words = _moment_words("allocated", buffer["allocated"])
    if buffer.get("allocation"):
        words += f", allocation #{buffer['allocation']}"
    words += _name_words(buffer)
    if buffer.get("site_allocations") != buffer.get("site_guarded"):
        words += f", one of a sample: {buffer['site_guarded']} of {buffer['site_allocations']} allocations there"
    return words


def _call_words(call, words):
    words = _moment_words(f"{words} {call.get('entry_point') or ''}".rstrip(), call)
    if call.get("address"):
        words += f", {call['address']}" + (f", {call['length']} bytes" if call.get("length") else "")
    if call.get("error_name"):
        words += f"; the program got {call['error_name']} ({call['error']})"
    return words


def moments(finding):
    """(words, moment) for each place of a finding that is known: a stack, or a thread of a kernel."""
    buffer, call = finding.get("buffer") or {}, finding.get("call")
    twice = finding["class"] == "double-free"
    for words, moment in ((_allocated_words(buffer) if buffer.get("allocated") else "", buffer.get("allocated")),
                          (_moment_words("first freed" if twice else "freed", buffer["freed"]) if buffer.get("freed") else "", buffer.get("freed")),
                          (_call_words(call, "freed again by" if twice else "called") if call else "", call)):
        if moment and (moment.get("frames") or moment.get("python") or moment.get("kernel_thread") is not None):
            yield words, moment


def site_moment(finding):
    """The stack that tells one bug from another; an empty one where there is none."""
    call = finding.get("call") or {}
    allocated = (finding.get("buffer") or {}).get("allocated") or {}
    return call if call.get("frames") else allocated


def is_program(frame):
    name = frame.get("symbol") or frame.get("function") or ""
    return bool(frame.get("module")) and not RUNTIME.match(frame["module"]) and not CUDA.match(name)


def _key_of(frame):
    if frame.get("lines"):
        return tuple((line["file"], line["line"]) for line in frame["lines"])
    return frame["module"], frame["offset"]


def fault_words(fault):
    """As GMOD writes the site of a fault."""
    name = fault["function"] or fault["kernel"]
    return f"{name}+{fault['offset']}" if name and fault["offset"] else name or "-"


def fault_places(fault):
    """(function, file, line) of the instruction, and of where that was inlined."""
    name = fault["function"] or fault["kernel"]
    places = [(line["function"] or name, line["file"], line["line"]) for line in fault["lines"]]
    return places or [(None, fault_words(fault) if name else "a kernel that is not known", None)]


def stamp_of(finding):
    """When it came to light; None: unknown."""
    return (finding.get("corruption") or {}).get("seen") or finding.get("time")


def _site_key(finding):
    if finding["class"] == "gpu-fault" and finding.get("fault"):
        return finding["class"], finding["fault"]["kernel"], fault_places(finding["fault"])[0], None
    moment = site_moment(finding)
    frames = tuple(_key_of(f) for f in moment.get("frames", ()) if is_program(f))
    python = tuple((p["file"], p["line"]) for p in moment.get("python", ()))
    # Without a stack, as of what kernels allocate, programs are told apart at least.
    other = None if frames or python else (finding["site"], (finding.get("command") or "").split(" ")[0])
    return finding["class"], frames, python, other


def _own_lines(frame):
    """Those that are none of CUDA's, if there are any."""
    lines = frame.get("lines") or []
    return [line for line in lines if not CUDA.match(line["function"] or "")] or lines


def place(frame):
    """(function, file, line) of a frame as well as it is known."""
    if frame.get("lines"):
        line = _own_lines(frame)[0]
        return line["function"] or frame.get("function"), line["file"], line["line"]
    where = f"{frame['module']}+{frame['offset']}" if frame.get("module") else str(frame.get("offset"))
    return frame.get("function"), where, None


def _places(frame):
    """As place(), of all that is inlined there, too: the innermost first."""
    return [place({**frame, "lines": [line]}) for line in _own_lines(frame)] or [place(frame)]


# What no user wrote.
OTHERS = re.compile(r"/(site|dist)-packages/|/lib/python3[^/]*/|^<frozen ")


def _is_own(where):
    return where[0] != "_start" and not OTHERS.search(where[1])


def place_words(function, file, line):
    where = f"{os.path.basename(file)}:{line}" if line else file
    return f"{function} {where}" if function else where


def where_words(frames):
    """The innermost of some frames of Python and, where that is a library's, the next of the user's own."""
    words = [f"{f['file']}:{f['line']} in {f['function']}" for f in frames]
    own = next((i for i, f in enumerate(frames) if not OTHERS.search(f["file"])), 0)
    return words[0] + (f", from {words[own]}" if own else "")


def damage_lines(corruption):
    """How much was changed, and what else is known of it."""
    changed, extent = corruption.get("changed") or 0, corruption.get("extent")
    if extent != changed:
        yield f"{changed} of {extent} bytes changed"
    if corruption.get("restored"):
        yield "put back since"
    if corruption.get("front_size"):
        yield f"{corruption['past_front']} bytes past the end of the {corruption['front_size']}-byte buffer in front of it"


def nearby_lines(finding):
    """The buffers that a post-mortem or a fault lists."""
    what = {"arguments": "buffer of an argument", "launches": "buffer of a launch"}.get(finding.get("nearby_given"), "live buffer")
    for near in finding.get("nearby") or ():
        number = f", allocation #{near['allocation']}" if near.get("allocation") else ""
        freed = ", freed since" * near.get("freed", False)
        yield f"{what}: {near['size']} bytes at {near['base']} on device {near['device']}, backend {near['backend']}{number}{_name_words(near)}{freed}, by {near['site']}"


def stream_words(suspect):
    """None: several."""
    stream = suspect.get("stream")
    named = {"0x1": "the default stream", "0x2": "the per-thread stream", None: "several streams"}
    words = named.get(stream, f"stream {stream}")
    return words + (f" in graph {suspect['graph']}" if suspect.get("graph") else "")


def is_exported(finding):
    return (finding.get("buffer") or {}).get("exported", False)


def points(suspect):
    """The less, the more its arguments say."""
    return {"buffer": 0, "maybe": 1, "near": 2, "none": 4}.get((suspect.get("arguments") or {}).get("point"), 3)


def missing_suspects(finding):
    """How many there are that the log does not name: omitted, or in lines that have been lost."""
    return max(finding.get("suspects_omitted") or 0, (finding.get("suspects_total") or 0) - len(finding["suspects"]))


def is_incomplete(finding):
    """The list of suspects may lack the culprit."""
    return bool(is_exported(finding) or missing_suspects(finding) or finding.get("launches_lost") or finding.get("unknown_before"))


class Group:
    def __init__(self, key):
        self.key = key
        self.findings = []
        self.alone = True   # no other group is of this site
        self.state = None   # as baseline.py says; None: nothing to compare with
        self.common = None  # kernels that every finding suspects; None: no finding has a complete list yet

    @staticmethod
    def _kernels(finding):
        """The kernels; None: others may be missing from the list."""
        if is_incomplete(finding):
            return None
        return {s["kernel"] or "unknown" for s in finding["suspects"]}

    def takes(self, finding):
        kernels = self._kernels(finding)
        return finding["class"] == "gpu-fault" or kernels is None or self.common is None or kernels == self.common or bool(kernels & self.common)

    def add(self, finding):
        kernels = self._kernels(finding)
        if kernels is not None:
            self.common = kernels if self.common is None else self.common & kernels
        self.findings.append(finding)

    @property
    def incomplete(self):
        """Why the suspects may lack the culprit, a reason each."""
        reasons = []
        for name, words in (("suspects_omitted", "up to {} more kernels were under way than a log names"),
                            ("launches_lost", "up to {} launches were of kernels that found no place to be counted"),
                            ("unknown_before", "kernels launched before {} may be missing")):
            values = [v for v in (missing_suspects(f) if name == "suspects_omitted" else f.get(name) for f in self.findings) if v]
            if values:
                reasons.append(words.format(clock(max(values)) + " UTC" if name == "unknown_before" else max(values)))
        if any(map(is_exported, self.findings)):
            reasons.append("another process, which imported the buffer, may have written")
        few = sum(map(is_incomplete, self.findings))
        if reasons and few < len(self.findings):
            reasons[0] = f"in {few} of {len(self.findings)} findings " + reasons[0]
        return reasons

    @property
    def first(self):
        """The one that is shown: of those that are final the first one of those that say most."""
        return max(self.findings, key=lambda f: (f["status"] == "final", bool((f.get("corruption") or {}).get("expected")), -f.get("later", 0)))

    @property
    def fingerprint(self):
        """Suspects differ from run to run: they are in it only where they tell groups apart."""
        what = self.key, () if self.alone else sorted(self.common or ())
        return hashlib.sha256(repr(what).encode("utf-8", "replace")).hexdigest()[:16]

    def places(self):
        """(function, file, line) of the program's frames, of Python if there are any, the innermost first."""
        if self.first["class"] == "gpu-fault" and self.first.get("fault"):
            return fault_places(self.first["fault"])
        moment = site_moment(self.first)
        places = [(f["function"], f["file"], f["line"]) for f in moment.get("python", ())]
        places = places or [p for frame in moment.get("frames", ()) if is_program(frame) for p in _places(frame)]
        of_kernels = (self.first.get("buffer") or {}).get("memory") == "kernel" and self.first["site"] == "-"
        return places or [(None, "memory that kernels allocate" if of_kernels else self.first["site"], None)]

    def site(self):
        return self.places()[0]

    def title(self):
        """The class, the site, and the next frame of the user's own: the site is often a wrapper, or a framework's."""
        site, *callers = self.places()
        caller = next((f", from {place_words(*p)}" for p in callers if _is_own(p)), "")
        return f"{self.first['class']}: {place_words(*site)}{caller}"

    def suspects(self):
        """[(kernel, in how many findings, an example)], those of all findings first, then those whose arguments say most."""
        counts = {}
        first = self.first
        for finding in [first] + [f for f in self.findings if f is not first]:
            for name, suspect in {s["kernel"] or "unknown": s for s in reversed(finding["suspects"])}.items():
                count, example = counts.get(name, (0, suspect))
                counts[name] = (count + 1, min(example, suspect, key=points))
        order = [s["kernel"] or "unknown" for s in first["suspects"]]
        return sorted(((name, count, example) for name, (count, example) in counts.items()),
                      key=lambda s: (-s[1], points(s[2]), order.index(s[0]) if s[0] in order else len(order)))

    def processes(self):
        return sorted({process_of(f) for f in self.findings}, key=str)

    def hosts(self):
        """{host: [the ranks of the processes there]}, None for a rank that is not known."""
        hosts = {}
        for finding in self.findings:
            hosts.setdefault(finding.get("host"), {})[process_of(finding)] = finding.get("rank")
        return {host: sorted(ranks.values(), key=lambda r: (r is None, r)) for host, ranks in
                sorted(hosts.items(), key=lambda item: str(item[0]))}

    def begin(self):
        """When its first finding came to light; infinity: unknown."""
        times = (seconds(stamp_of(f)) for f in self.findings)
        return min((time for time in times if time is not None), default=float("inf"))


def group(findings):
    """The groups: the one that came first is first; of those that are of no known time, those of most processes."""
    by_site = {}
    for finding in findings:
        key = _site_key(finding)
        groups = by_site.setdefault(key, [])
        for one in groups:
            if one.takes(finding):
                break
        else:
            one = Group(key)
            groups.append(one)
            for each in groups:
                each.alone = len(groups) == 1
        one.add(finding)
    every = [one for groups in by_site.values() for one in groups]
    return sorted(every, key=lambda g: (g.begin(), -len(g.processes()), -len(g.findings), str(g.key)))


def ranks_words(ranks):
    """[0, 1, 2, 5] as "ranks 0-2, 5"; processes without a rank are only counted."""
    known = sorted({rank for rank in ranks if rank is not None})
    spans = []
    for rank in known:
        if spans and rank == spans[-1][1] + 1:
            spans[-1][1] = rank
        else:
            spans.append([rank, rank])
    words = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans[:SPANS])
    if spans[SPANS:]:
        words += f" and {sum(b - a + 1 for a, b in spans[SPANS:])} more"
    rest = sum(rank is None for rank in ranks)
    parts = [f"rank{'s' if len(known) > 1 else ''} {words}"] if known else []
    if rest:
        parts.append(f"{rest} process{'es' if rest > 1 else ''}" + (" of no rank" if known else ""))
    return " and ".join(parts)


def hosts_words(group_):
    """"in 3 processes: ranks 0-1 on a; rank 2 on b"; the ranks and hosts as far as they are known."""
    hosts = group_.hosts()
    count = len(group_.processes())
    words = f"in {count} process{'' if count == 1 else 'es'}"
    if all(rank is None for ranks in hosts.values() for rank in ranks) and len(hosts) == 1:
        return words + "".join(f" on {host}" for host in hosts if host)
    if len(hosts) > HOSTS:
        return f"{words} on {len(hosts)} hosts: " + ranks_words([rank for ranks in hosts.values() for rank in ranks])
    return words + ": " + "; ".join(ranks_words(ranks) + (f" on {host}" if host else "") for host, ranks in hosts.items())


def damage_address(finding):
    """The lowest address that is damaged; None: it is not known."""
    buffer, corruption = finding.get("buffer"), finding.get("corruption")
    try:
        base = int(buffer["base"], 16)
        if (finding.get("fault") or {}).get("address"):
            return min(max(int(finding["fault"]["address"], 16), base), base + buffer["size"])
        if not corruption:
            return base
        return base + corruption["offset"] + (buffer["size"] if finding["class"] == "heap-buffer-overflow" else 0)
    except (TypeError, KeyError, ValueError):
        return None
