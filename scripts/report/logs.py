"""Reads logs: files of text and of JSON lines, mixed with whatever else the programs wrote, from many processes.

Everything becomes an event of log.schema.json, a dictionary, with two members more: "file" and "line", where it stands.
What cannot be read is a problem, one line of words, and the rest is read all the same.

A line may have been written anew on its way: its JSON with blanks or in another order; as a member of an object of
docker's or a log shipper's, as text or as an object; in the parts that CRI makes of a long line.
"""
import json
import re
import sys

import schema
import text_log

SCHEMA = "gmod-report-2"
EVENT = re.compile(r'gmod-report-\d')
TORN = re.compile(r'\{"schema": ?"gmod-report-')
QUOTES = re.compile(r"^[^{]*==\d+==GMOD: the command of on_finding ")  # what it printed, which may be its input
CARRIERS = ("log", "message", "msg", "line", "text", "MESSAGE")  # members that hold what a program has written
CRI = re.compile(r"^\S+ (?P<stream>stdout|stderr) (?P<part>[FP])(?::\S+)? (?P<text>.*)$")


def _is_event(value):
    return isinstance(value, dict) and isinstance(value.get("schema"), str) and value["schema"].startswith("gmod-report-")


def _object(line):
    """The first object of the line; None: it has none of its own."""
    begin = -1 if QUOTES.match(line) else line.find("{")
    try:
        value = json.JSONDecoder().raw_decode(line[begin:])[0] if begin >= 0 else None
    except (ValueError, RecursionError):
        value = None
    return value if isinstance(value, dict) else None


def _carried(value):
    """What an object of somebody else's holds of a program's: an event or text; None: nothing."""
    for one in [value[key] for key in CARRIERS if key in value] + [v for v in value.values() if isinstance(v, dict)]:
        if _is_event(one) or isinstance(one, str):
            return one
    return None


def _event(event):
    if event["schema"] != SCHEMA:
        raise ValueError("this gmod does not know " + event["schema"][:40])
    for fault in schema.faults(event, strict=False):
        raise ValueError(fault[:200])
    return event


class Reader:
    """Of one file."""

    def __init__(self, name):
        self.name = name
        self.events = []
        self.bad = []
        self.text = text_log.Reader()
        self.is_prose = False
        self.parts = {}  # of a line that CRI has split, by its stream

    def keep(self, event, number):
        if event["event"] == "suspects":
            self.add_suspects(event, number)
            return
        event.update(file=self.name, line=number)
        self.events.append(event)

    def add_suspects(self, event, number):
        """To the finding that they belong to, the latest of that number."""
        same = [f for f in self.events if f["event"] == "finding" and
                all(f.get(key) == event.get(key) for key in ("host", "pid", "id", "status"))]
        if not same:
            self.bad.append((number, "suspects of a finding that is not here"))
        elif len(same[-1]["suspects"]) == event["from"]:
            same[-1]["suspects"] += event["suspects"]

    def take(self, number, line):
        m = CRI.match(line)
        if m:
            line = self.parts.pop(m["stream"], "") + m["text"]
            if m["part"] == "P":
                self.parts[m["stream"]] = line
                return
        value = _object(line) if EVENT.search(line) or line.startswith("{") else None
        if value is not None and not _is_event(value):
            value = _carried(value)
        if isinstance(value, str):
            for inner in value.rstrip("\n").split("\n"):
                self.take_plain(number, inner, _object(inner) if EVENT.search(inner) else None)
        else:
            self.take_plain(number, line, value)

    def take_plain(self, number, line, value):
        if _is_event(value):
            try:
                self.keep(_event(value), number)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                self.bad.append((number, str(error).split(": line ")[0]))
        elif value is None and TORN.search(line) and not QUOTES.match(line):
            self.bad.append((number, "its JSON ends too early"))
        else:
            for event in self.text.take(line):
                self.keep(event, number)

    def end(self, number):
        for event in self.text.rest():
            self.keep(event, number)

    def leave_prose(self):
        """Prose may quote the first line of a report. A log in which nothing else is GMOD's was not written by GMOD: a report is
        written as a whole, and a torn one has more than that."""
        self.is_prose = bool(self.events) and not self.bad and self.text.cut == len(self.events) and all(
            event.get("cut") and not any(event[key] for key in ("buffer", "call", "fault", "time")) for event in self.events)
        if self.is_prose:
            self.events.clear()
            self.text.cut = 0

    def problems(self):
        torn = self.text.cut
        if self.bad:
            number, why = self.bad[0]
            more = f", and {len(self.bad) - 1} more such lines" if len(self.bad) > 1 else ""
            yield f"{self.name}:{number}: a line cannot be read: {why}{more}"
        if torn:
            yield f"{self.name}: {torn} report{'s are' if torn > 1 else ' is'} cut short"
        if self.is_prose:
            yield f"{self.name}: it is no log of GMOD's: it has the first line of a report, and nothing of what follows one"
        elif not self.events and not self.bad and not torn:
            yield f"{self.name}: it has no line of GMOD's"


def read(paths):
    """(events, problems) of all the files; "-" is standard input."""
    events, problems = [], []
    for path in paths:
        reader = Reader(path)
        try:
            source = sys.stdin.buffer if path == "-" else open(path, "rb")
            with source:
                number = 0
                for number, line in enumerate(source, 1):
                    reader.take(number, line.decode("utf-8", "backslashreplace").rstrip("\r\n"))
                reader.end(number)
            reader.leave_prose()
        except OSError as error:
            problems.append(f"{path}: {error.strerror}")
            continue
        events += reader.events
        problems += reader.problems()
    return events, problems
