"""Reads reports in text, as gmod(1) describes them under REPORTS, into events of log.schema.json.

Lines may have something in front that a launcher has put there ("[1,3]<stderr>:"), and reports of several processes may
be interleaved then: lines belong together by what stands in front of them, but for the time.
"""
import json
import re
from datetime import datetime, timedelta

from schema import CLASSES

COLOUR = re.compile(r"\x1b\[[0-9;]*m")
# In front of what GMOD has written: it begins with blanks, or with its process.
STAMP = re.compile(r"^((?:(?!    |==\d|SUMMARY: ).){0,80}?)(?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
                   r"|(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?(?: \d{4})?) ?")
ANY = re.compile(r"^(?P<front>.{0,200}?)==(?P<pid>\d{1,10})==GMOD: (?P<text>.*)$")
FIRST = re.compile(r"^(?P<class>[a-z-]+): (?P<message>.*) \[finding (?P<id>\d{1,10})(?:(?P<provisional>, provisional.*)|(?P<caught>, caught))?\]$")
CLOSING = re.compile(r"^(?:guarded (?P<guarded>\d+) of (?P<buffers>\d+) buffers?.*\((?P<percent>\d{1,3}\.\d) %\)|no device buffers);"
                     r" \d+ sweeps?; (?P<findings>\d{1,10}) finding")
FRAME = re.compile(r"^      #\d+ (?:(?P<function>.*?)  )?(?:(?P<module>\S.*?)\+)?(?P<offset>0x[0-9a-f]+)(?:  (?P<lines>\S.*))?$")
LINE = re.compile(r"^(?P<file>.*?):(?P<line>\d+)(?: in (?P<function>.*))?$")
PYTHON = re.compile(r"^ {4,}at (?P<file>.*):(?P<line>\d+) in (?P<function>.*)$")
NAMED = r'(?:, named (?P<name>"(?:[^"\\]|\\.)*"))?'
BUFFER = re.compile(r"^    buffer \[(?P<base>0x[0-9a-f]+), (?P<end>0x[0-9a-f]+)\) (?P<where>.*?) device (?P<device>-?\d+),"
                    r" backend (?P<backend>[^,]*)(?:, allocation #(?P<allocation>\d+))?" + NAMED +
                    r"(?:, allocated (?P<ago>\d{1,9}\.\d+) s ago by thread (?P<thread>\d+))?"
                    r"(?:, allocated by mallocN in thread (?P<kernel_thread>\d+) of block (?P<kernel_block>\d+) of a kernel)?"
                    r"(?:, one of a sample: (?P<site_guarded>\d+) of (?P<site_allocations>\d+) allocations there)?(?:, fence site (?P<fence_site>0x[0-9a-f]+))?$")
FREED = re.compile(r"^    (?:first )?freed (?:with its context )?(?P<ago>\d{1,9}\.\d+) s ago by thread (?P<thread>\d+)$")
CALLED = re.compile(r"^    (?:called:|freed again by) (?P<entry>.*?) in thread (?P<thread>\d+)"
                    r"(?:; the program got (?P<error_name>.*) \((?P<error>\d+)\)| of block (?P<block>\d+) of a kernel)$")
KERNEL = re.compile(r"^    in kernel (?P<kernel>.*?)(?:, function (?P<function>.*?))?"
                    r"(?:, at (?P<file>.*?):(?P<line>\d+)(?: in (?P<inlined>.*))?)?$")
INLINED = re.compile(r"^      inlined at (?P<file>.*?):(?P<line>\d+)(?: in (?P<inlined>.*))?$")
# Each group is a member of a fault.
FAULT = re.compile(r"^    (?:instruction (?:.*\+(?P<offset>0x[0-9a-f]+)|-) at (?P<pc>0x[0-9a-f]+)(?:: (?P<instruction>0x[0-9a-f]+ 0x[0-9a-f]+))?"
                   r"(?: of sm_(?P<capability>\d+))?(?:, the first of (?P<places>\d+) that faulted)?"
                   r"|block \((?P<block>[\d,]+)\), thread \((?P<thread>[\d,]+)\)(?: or another one)?; (?P<threads>\d+) threads? of that warp,"
                   r" (?P<warps>\d+) warps? in all"
                   r"|grid of (?P<grid>[\d x]+) blocks? of (?P<block_size>[\d x]+) threads?(?:, launched by thread (?P<launched_tid>\d+))?"
                   r"|address (?P<address>0x[0-9a-f]+)|the program's context is lost.* \(exception (?P<driver_kind>\d+) of the driver\))$")
FAULT_MESSAGE = re.compile(r"^(?P<kind>[^:,]*)(?:: (?P<access>read|write|atomic).* of (?P<bytes>\d+) bytes?)?.*?"
                           r"(?:, (?P<distance>\d+) bytes? (?P<relation>past the end|before the start|inside) .*|(?P<none>, near no buffer .*))?$")
KIND_NAMES = {"out of the range of shared or local memory": "out-of-range", "wrong kind of memory for the instruction": "address-space",
              "trap or breakpoint": "trap"}
WRITTEN = re.compile(r"^    written (?:between (?P<intact>\d\d:\d\d:\d\d\.\d+) \(last seen intact\) and |before )"
                     r"(?P<seen>\d\d:\d\d:\d\d\.\d+) UTC$")
INCOMPLETE = re.compile(r"^    incomplete: (?P<all>.*)$")
UNKNOWN_BEFORE = re.compile(r"^kernels launched before (?P<clock>\d\d:\d\d:\d\d\.\d+) UTC may be missing$")
CLOCK = r"\d\d:\d\d:\d\d\.\d+"
SUSPECT = re.compile(r"^      \d+\. (?P<kernel>.*) x(?P<launches>\d+) on (?:(?P<named>the default|the per-thread) stream|"
                     r"stream (?P<stream>0x[0-9a-f]+|\d+)|several streams)(?: in graph (?P<graph>0x[0-9a-f]+))?"
                     r"(?: \((?P<unfinished>\d+) not proven complete\))?"
                     rf"(?:, (?:at|from) (?P<first>{CLOCK}))?(?: to (?P<latest>{CLOCK}))?(?P<in_call>, its call has not returned)?"
                     r"(?:, (?P<grid>[\d x]+) blocks? of (?P<block>[\d x]+) threads?)?(?:: (?P<why>.*))?$")
POINTS = re.compile(r"^argument (?P<argument>\d+)(?: at byte (?P<byte>\d+))? points (?:into the buffer|(?P<distance>\d+) bytes? in front)$")
POINT_WORDS = {"maybe": "an argument of it was the address of the buffer, or one that leaves the same mark",
               "unknown": "its arguments are not known", "none": "no argument of it points there"}
LAUNCHED = re.compile(r"^         (?P<also>also )?launched$")
CHANGED = re.compile(r"^    changed bytes at (?P<offset>[+-]\d+):(?P<bytes>(?: [0-9a-f]{2})*)(?: \.\.)?, where(?P<expected>(?: [0-9a-f]{2})*)(?: \.\.)? had been"
                     r"(?: \((?P<changed>\d+) of (?P<extent>\d+) bytes\))?(?P<restored> \(put back since\))?$")
FRONT = re.compile(r"^    which is (?P<past>\d+) bytes? past the end of the (?P<size>\d+)-byte buffer in front of it$")
NEARBY = re.compile(r"^    (?:live buffer|buffer of an? (?P<given>argument|launch)): (?P<size>\d+) bytes? \[(?P<base>0x[0-9a-f]+), \S+\) .*"
                    r" device (?P<device>-?\d+), backend (?P<backend>[^,]*)(?:, allocation #(?P<allocation>\d+))?" + NAMED + r"(?P<freed>, freed since)?, by (?P<site>.*)$")
PROCESS = re.compile(r"^    process: host (?P<host>[^,]*)(?:, rank (?P<rank>\d+))?(?:, device -?\d+ (?P<gpu>GPU-[0-9a-f-]+))?"
                     r", GMOD (?P<version>[^,]*), at (?P<time>20\d\d-\d\d-\d\d [0-9:.]+) UTC, command (?P<command>.*)$")
MODULE = re.compile(r"^    module (?P<path>.*?)(?: build-id (?P<build_id>[0-9a-f]+))?$")
COVER = re.compile(r"^    or, for the file of suppressions: (?P<line>.*)$")
NEXT = re.compile(r"^    next step: (?P<step>.*)$")
SUMMARY = re.compile(r"^SUMMARY: GMOD: (?P<class>\S+) (?:device (?P<device>-?\d+) size (?P<size>\d+) offset (?P<offset>[+-]\d+) )?(?P<site>.*)$")
COUNT = re.compile(r"^(\d+) bytes? changed")
MEMORY = {"in managed memory on": "managed", "in pinned host memory for": "pinned", "from mallocN on": "kernel"}


def _number(text):
    return None if text is None else int(text)


def _moment(text):
    """None: there is no such time."""
    try:
        return datetime.strptime(text, "%Y-%m-%d %H:%M:%S.%f")
    except ValueError:
        return None


def _before(time, clock):
    """The last moment of that clock before a time."""
    then = clock and time and _moment(f"{time:%Y-%m-%d} {clock}")
    return then - timedelta(days=1) if then and then > time else then


def _stamp(time):
    return time and time.isoformat(timespec="microseconds") + "Z"


def _three(text):
    """Of a grid or a block; what is 1 at its end is left out in text."""
    return text and ([int(n) for n in text.split(" x ")] + [1, 1])[:3]


def _arguments(why):
    """What a suspect's arguments say; None: nothing is said of them."""
    points = POINTS.match(why or "")
    if points:
        found = {"point": "near" if points["distance"] else "buffer", "argument": int(points["argument"]), "byte": _number(points["byte"]) or 0}
        return dict(found, distance=int(points["distance"])) if points["distance"] else found
    return next(({"point": point} for point, words in POINT_WORDS.items() if words == why), None)


class Report:
    """One report in the making."""

    def __init__(self, pid, first):
        self.frames = []   # of the stack that the lines at hand belong to
        self.python = []
        self.modules = {}
        self.ago = []      # (moment, seconds before the report)
        self.time = None   # of the report
        self.event = {
            "schema": None, "event": "finding", "pid": pid, "host": None, "rank": None, "version": None,
            "id": int(first["id"]), "status": "provisional" if first["provisional"] else "caught" if first["caught"] else "final",
            "class": first["class"], "time": None, "command": None, "site_hash": None, "device": None, "gpu": None,
            "size": None, "offset": None, "site": "-", "message": first["message"], "buffer": None, "corruption": None,
            "fault": None,
            "call": None, "suspects": [], "suspects_total": None, "suspects_omitted": 0, "launches_lost": 0, "unknown_before": None, "nearby": [],
            "next_step": "",
        }

    def stack(self, moment):
        """The frames of the lines that follow are this moment's."""
        self.frames = moment["frames"] = []
        self.python = moment["python"] = []
        return moment

    def corruption(self):
        if not self.event["corruption"]:
            self.event["corruption"] = {"offset": 0, "changed": 0, "extent": 0, "observed": "", "expected": None,
                                        "restored": False, "intact": None, "seen": None}
        return self.event["corruption"]

    def take_frame(self, m):
        self.frames.append({"module": m["module"], "path": None, "build_id": None, "offset": m["offset"],
                            "function": m["function"], "symbol": None})
        lines = [LINE.match(line) for line in (m["lines"] or "").split(", inlined at ")]
        if all(lines):
            self.frames[-1]["lines"] = [{"function": line["function"] or m["function"], "file": line["file"], "line": int(line["line"])} for line in lines]

    def take_python(self, m):
        self.python.append({"function": m["function"], "file": m["file"], "line": int(m["line"])})

    def take_buffer(self, m):
        allocated = self.stack({"time": None, "thread": _number(m["thread"])})
        if m["kernel_thread"]:
            allocated.update(kernel_thread=int(m["kernel_thread"]), kernel_block=int(m["kernel_block"]))
        if m["ago"]:
            self.ago.append((allocated, m["ago"]))
        size = int(m["end"], 16) - int(m["base"], 16)
        self.event["buffer"] = {
            "base": m["base"], "size": size, "device": int(m["device"]), "memory": MEMORY.get(m["where"], "device"),
            "backend": m["backend"], "allocation": _number(m["allocation"]) or 0,
            "site_allocations": _number(m["site_allocations"]) or 0, "site_guarded": _number(m["site_guarded"]) or 0, "fence_site": m["fence_site"],
            "allocated": allocated, "freed": None}
        if m["name"]:
            self.event["buffer"]["name"] = json.loads(m["name"])
        self.event.update(device=int(m["device"]), size=size)

    def take_freed(self, m):
        if self.event["buffer"]:
            self.event["buffer"]["freed"] = self.stack({"time": None, "thread": int(m["thread"])})
            self.ago.append((self.event["buffer"]["freed"], m["ago"]))

    def take_called(self, m):
        self.event["call"] = self.stack({"entry_point": m["entry"], "address": None, "length": None,
                                         "thread": int(m["thread"]), "error": _number(m["error"]),
                                         "error_name": m["error_name"]})
        if m["block"]:
            self.event["call"].update(kernel_thread=int(m["thread"]), kernel_block=int(m["block"]))

    def take_kernel(self, m):
        said = FAULT_MESSAGE.match(self.event["message"])
        kind = re.sub("^exception .*", "unknown", said["kind"])
        self.event["fault"] = {
            "kind": KIND_NAMES.get(kind, kind.replace(" ", "-")), "kernel": None if m["kernel"] == "unknown" else m["kernel"], "symbol": None, "function": m["function"],
            "access": {"read": "load", "write": "store"}.get(said["access"], said["access"]), "bytes": _number(said["bytes"]),
            "relation": "none" if said["none"] else said["relation"] and "-".join(said["relation"].replace("the ", "").split()),
            "distance": _number(said["distance"]), "lines": [], "parameters": None, **dict.fromkeys(FAULT.groupindex)}
        if m["file"]:
            self.take_inlined(m)

    def take_inlined(self, m):
        if self.event["fault"]:
            self.event["fault"]["lines"].append({"file": m["file"], "line": int(m["line"]), "function": m["inlined"]})

    def take_fault(self, m):
        for name, text in m.groupdict().items():
            if text is not None and self.event["fault"]:
                self.event["fault"][name] = (
                    text.split() if name == "instruction" else [int(n) for n in text.split(",")] if name in ("block", "thread") else
                    _three(text) if name in ("grid", "block_size") else text if text.startswith("0x") else int(text))

    def take_written(self, m):
        self.corruption().update(intact=m["intact"], seen=m["seen"])

    def take_suspect(self, m):
        self.event["suspects"].append({
            "kernel": None if m["kernel"] == "unknown" else m["kernel"], "symbol": None,
            "launches": int(m["launches"]), "unfinished": _number(m["unfinished"]) or 0, "first": m["first"],
            "launched": None if m["in_call"] else m["latest"] or m["first"],
            "stream": m["stream"] or {"the default": "0x1", "the per-thread": "0x2"}.get(m["named"]), "graph": m["graph"],
            "grid": _three(m["grid"]), "block": _three(m["block"]), "arguments": _arguments(m["why"]),
            "python": [], "python_elsewhere": []})

    def take_incomplete(self, m):
        for item in m["all"].split("; "):
            unknown = UNKNOWN_BEFORE.match(item)
            if unknown:
                self.event["unknown_before"] = unknown["clock"]
            elif re.match(r"^\d+ more kernel", item):
                self.event["suspects_omitted"] = int(item.split()[0])
            elif re.match(r"^\d+ launch", item):
                self.event["launches_lost"] = int(item.split()[0])
            elif item.startswith("another process") and self.event["buffer"]:
                self.event["buffer"]["exported"] = True

    def take_launched(self, m):
        self.python = []
        for suspect in self.event["suspects"][-1:]:
            if m["also"]:
                suspect["python_elsewhere"].append(self.python)
            else:
                suspect["python"] = self.python

    def take_changed(self, m):
        c = self.corruption()
        count = COUNT.match(self.event["message"])
        c.update(offset=int(m["offset"]), observed=m["bytes"].replace(" ", ""), restored=bool(m["restored"]))
        c["expected"] = m["expected"].replace(" ", "")
        c["changed"] = int(m["changed"] or (count and count[1]) or 0)
        c["extent"] = int(m["extent"] or c["changed"])

    def take_front(self, m):
        self.corruption().update(past_front=int(m["past"]), front_size=int(m["size"]))

    def take_nearby(self, m):
        self.event["nearby"].append({"base": m["base"], "size": int(m["size"]), "device": int(m["device"]), "memory": None,
                                     "backend": m["backend"], "allocation": _number(m["allocation"]) or 0, "site": m["site"]})
        if m["name"]:
            self.event["nearby"][-1]["name"] = json.loads(m["name"])
        if m["freed"]:
            self.event["nearby"][-1]["freed"] = True
        if m["given"]:
            self.event["nearby_given"] = {"argument": "arguments", "launch": "launches"}[m["given"]]

    def take_process(self, m):
        self.event.update(host=m["host"], rank=_number(m["rank"]), version=m["version"], command=m["command"], gpu=m["gpu"])
        self.time = _moment(m["time"])

    def take_module(self, m):
        self.modules[m["path"].rpartition("/")[2][:127]] = (m["path"], m["build_id"])

    def take_cover(self, m):
        self.event["suppression"] = m["line"]

    def take_next(self, m):
        self.event["next_step"] = m["step"]
        return self.event["status"] != "final"

    def take_summary(self, m):
        site = m["site"].split(" at ")[0] if m["class"] == "gpu-fault" else m["site"]
        self.event.update(offset=_number(m["offset"]), site=site)
        return True

    TAKERS = ((FRAME, take_frame), (PYTHON, take_python), (BUFFER, take_buffer), (FREED, take_freed), (CALLED, take_called),
              (WRITTEN, take_written), (INCOMPLETE, take_incomplete), (SUSPECT, take_suspect), (CHANGED, take_changed), (FRONT, take_front),
              (NEARBY, take_nearby), (PROCESS, take_process), (COVER, take_cover), (NEXT, take_next),
              (SUMMARY, take_summary), (MODULE, take_module), (LAUNCHED, take_launched), (KERNEL, take_kernel),
              (INLINED, take_inlined), (FAULT, take_fault))

    def take(self, line):
        """True: that was its last line. What is none of a report's is somebody else's."""
        for pattern, taker in self.TAKERS:
            m = pattern.match(line)
            if m:
                return taker(self, m)
        return False

    def done(self):
        self.event["time"] = _stamp(self.time)
        for moment, ago in self.ago:
            moment["time"] = _stamp(self.time and self.time - timedelta(seconds=float(ago)))
        for name in ("intact", "seen") if self.event["corruption"] else ():
            self.event["corruption"][name] = _stamp(_before(self.time, self.event["corruption"][name]))
        self.event["unknown_before"] = _stamp(_before(self.time, self.event["unknown_before"]))
        for suspect in self.event["suspects"]:
            for name in ("first", "launched"):
                suspect[name] = _stamp(_before(self.time, suspect[name]))
        buffer = self.event["buffer"] or {}
        for moment in (buffer.get("allocated"), buffer.get("freed"), self.event["call"]):
            for frame in moment["frames"] if moment else ():
                frame["path"], frame["build_id"] = self.modules.get(frame["module"], (None, None))
        return self.event


class Reader:
    """Of one file: give it a line at a time, and it gives the events that are complete, and in the end the rest."""

    def __init__(self):
        self.open = {}  # the reports in the making, by what stands in front of their lines
        self.cut = 0

    def take(self, line):
        line = STAMP.sub(r"\1", COLOUR.sub("", line))
        m = ANY.match(line) if "GMOD: " in line else None
        if m:
            yield from self.begin(m["front"], int(m["pid"]), m["text"])
            return
        for front in sorted(self.open, key=len, reverse=True):
            if line.startswith(front):
                yield from self.go_on(front, line[len(front):])
                return
        self.cut += "SUMMARY: GMOD: " in line

    def go_on(self, front, line):
        try:
            if self.open[front].take(line):
                yield self.open.pop(front).done()
        except (ValueError, OverflowError):  # a number that none of GMOD's is
            self.open.pop(front, None)
            self.cut += 1

    def begin(self, front, pid, text):
        first, closing = FIRST.match(text), CLOSING.match(text)
        report = first and first["class"] in CLASSES
        ends = (closing or text.startswith("started: ")) and front in self.open and self.open[front].event["pid"] == pid
        if front in self.open and (report or ends):
            yield self.cut_short(front)
        if report:
            self.open[front] = Report(pid, first)
            return
        event = {"schema": None, "event": "note", "pid": pid, "host": None, "rank": None, "version": None, "text": text}
        if closing:
            event.update(event="summary", findings=int(closing["findings"]),
                         guarded_permille=round(float(closing["percent"]) * 10) if closing["percent"] else None)
        yield event

    def cut_short(self, front):
        """What there is of a report: its first line says what was found."""
        self.cut += 1
        return dict(self.open.pop(front).done(), cut=True)

    def rest(self):
        for front in list(self.open):
            yield self.cut_short(front)
