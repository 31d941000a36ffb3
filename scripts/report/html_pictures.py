"""The pictures of one group: what ran while the bytes were changed, and what lies around them."""

from as_text import launch_words, numbers_of, plural
from groups import clock, damage_lines, seconds, stream_words, where_words
from html_parts import aside, box, drawing, el, join, row, share, size_words, span_words

LANES = 12        # suspects that are drawn
WINDOWS = 12      # of its width, what is drawn before the window
ROW_BYTES = 8


# ---- lanes ----

class Axis:
    """Of the time around the window. What began long before is cut off, so that the window can be seen."""

    def __init__(self, intact, seen, times):
        last = max([seen, *times])
        first = min([seen if intact is None else intact, *times])
        if intact is not None and seen > intact:
            first = max(first, seen - WINDOWS * (seen - intact))
        margin = (last - first) * 0.04 or 1e-6
        self.begin, self.end = first - margin, last + margin

    def at(self, time):
        return min(max((time - self.begin) / (self.end - self.begin), 0), 1)

    def is_before(self, time):
        return time is None or time < self.begin


def _window(axis, intact, seen):
    """The window and the two looks, behind what a lane shows."""
    left = axis.at(intact) if intact is not None else 0
    parts = [el("rect", el("title", "the bytes were changed in this time"), class_="window", x=share(left), y=0,
                width=share(max(axis.at(seen) - left, 0.003)), height=20)]
    looks = [share(axis.at(t)) for t in (intact, seen) if t is not None]
    return parts + [el("line", class_="edge", x1=x, x2=x, y1=0, y2=20) for x in looks]


def _look(axis, time, words, y):
    at = axis.at(time)
    return el("text", f"{words} ▾" if at > 0.5 else f"▾ {words}", x=share(at), y=y, text_anchor="end" if at > 0.5 else "start")


def _suspect_parts(axis, suspect, name):
    first, last = (seconds(suspect.get(key)) for key in ("first", "launched"))
    first = last if first is None else first
    if last is None:  # nobody knows how long the latest one ran
        return [box("unknown", axis.at(first) if first is not None else 0, 1, f"{name}: perhaps it still ran")]
    parts = [box("unknown", axis.at(last), 1 - axis.at(last), f"{name}: perhaps it still ran"),
             box("kernel", axis.at(first), axis.at(last) - axis.at(first), (suspect["kernel"] or "unknown") + launch_words(suspect),
                 data_launches=suspect["launches"], data_first=suspect.get("first") or "", data_launched=suspect["launched"])]
    return parts + ([el("text", "◂", x="0", y=14, class_="over")] if axis.is_before(first) else [])


def _buffer_parts(axis, buffer):
    allocated, freed = (seconds((buffer.get(key) or {}).get("time")) for key in ("allocated", "freed"))
    begin, end = (axis.at(t) if t is not None else other for t, other in ((allocated, 0), (freed, 1)))
    when = "a time that is not known" if allocated is None else clock(buffer["allocated"]["time"])
    words = f"{buffer.get('size')} bytes, allocated at {when}"
    parts = [box("allocated" if allocated is not None else "unknown", begin, end - begin, words)] if end > 0 else []
    at, since, over = begin, allocated, {"class_": "over"}
    if freed is not None:
        words = f"freed at {clock(buffer['freed']['time'])}"
        parts.append(box("freed", end, 1 - end, words))
        at, since, over = end, freed, {}
    return parts + [el("text", f"◂ {words}" if axis.is_before(since) else words, x=share(min(at, 0.5) + 0.004), y=14, **over)]


def _streams(suspects):
    """{stream in words: suspects}, the likeliest suspect's stream first."""
    streams = {}
    for suspect in suspects[:LANES]:
        streams.setdefault(stream_words(suspect), []).append(suspect)
    return streams


def lanes(finding):
    """A lane for each stream, a box for the launches of each suspect; nothing where it is not known when bytes were changed."""
    corruption, buffer, suspects = finding.get("corruption") or {}, finding.get("buffer") or {}, finding["suspects"]
    intact, seen = seconds(corruption.get("intact")), seconds(corruption.get("seen"))
    if seen is None:
        return ""
    times = [seconds(s.get(key)) for s in suspects for key in ("first", "launched")]
    axis = Axis(intact, seen, [t for t in times if t is not None])
    looks = [_look(axis, seen, "first seen changed", 12)]
    looks += [_look(axis, intact, "last seen intact", 28)] if intact is not None else []
    rows = [row(f"{span_words(axis.end - axis.begin)} in all", drawing(32, *looks), kind="row head")]
    if buffer:
        rows.append(row("the buffer", drawing(20, *_window(axis, intact, seen), *_buffer_parts(axis, buffer))))
    for stream, those in _streams(suspects).items():
        rows.append(row(stream, kind="row head"))
        for suspect in those:
            name = f"{suspect.get('name') or suspect['kernel'] or 'unknown'} x{suspect['launches']}"
            drawn = drawing(20, *_window(axis, intact, seen), *_suspect_parts(axis, suspect, name))
            rows.append(row(el("div", name, class_="m short", title=name), drawn))
    before = seconds(finding.get("unknown_before"))
    if before is not None:
        hatched = box("unknown", 0, axis.at(before), f"kernels launched before {clock(finding['unknown_before'])} may be missing")
        rows.append(row("perhaps others", drawing(20, *_window(axis, intact, seen), hatched)))
    rows += [aside(f"and {len(suspects) - LANES} more, in the list")] if len(suspects) > LANES else []
    keys = [el("li", "launches, first to latest", class_="key k-kernel"), el("li", "perhaps it still ran", class_="key k-unknown"),
            el("li", "the bytes were changed in this time", class_="key k-window")]
    looked = {f"data-{name}": corruption[name] for name in ("intact", "seen") if corruption.get(name)}
    return el("div", el("h3", "What ran"), *rows, el("ul", *keys, class_="keys"), class_="lanes", **looked)


# ---- the strip of memory ----

def _part(kind, title, *lines):
    return el("div", el("b", title), *(el("div", line) for line in lines), class_=kind)


SIDES = {"heap-buffer-overflow": 2, "heap-buffer-underflow": 0}
FAULT_SIDES = {"past-end": 2, "before-start": 0, "inside": 1}


def _hit_words(finding):
    """(which of the three parts was hit, in words); None: it is not known."""
    corruption, fault = finding.get("corruption"), finding.get("fault")
    if corruption:
        changed, extent = corruption.get("changed") or 0, corruption.get("extent") or 0
        words = f"{plural(changed, 'byte')} changed at {corruption.get('offset') or 0:+d}"
        return SIDES.get(finding["class"], 1), words + (f", over {extent}" if extent > changed else "")
    if fault and fault["relation"] in FAULT_SIDES:
        where = fault["address"] or "an address that is not certain"
        return FAULT_SIDES[fault["relation"]], f"{fault['access'] or 'access'} at {where}"
    return None


def strip(finding):
    """The buffer, what guards it, its neighbours as far as the log names them, and where it was hit. Not to scale."""
    buffer, corruption, hit = finding.get("buffer"), finding.get("corruption") or {}, _hit_words(finding)
    if not buffer or not hit:
        return ""
    size = corruption.get("front_size")
    front = ("buffer", "buffer in front", size_words(size)) if size else ("gap", "in front", "not in the log")
    life = "freed" if buffer.get("freed") else "allocated"
    parts = [["guard", "guard", "before the start"], ["buffer", f"{buffer['size']} bytes", f"{life}, at {buffer['base']}"],
             ["guard", "guard", "behind the end"]]
    if not corruption:  # a fence, or what happens to be there
        parts[0][1:], parts[2][1:] = ["in front"], ["behind"]
    side, words = hit
    parts[side][0] += " hit"
    parts[side].append(words)
    numbers = {f"data-{name}": corruption[name] for name in ("offset", "changed") if corruption.get(name) is not None}
    if corruption and side and buffer["backend"] not in ("unified", "managed", "pinned"):
        del parts[0]  # these have guard bytes behind the end alone
    around = (front, *parts, ("gap", "behind", "not in the log")) if corruption else parts
    drawn = el("div", *(_part(*part) for part in around), class_="strip", data_size=buffer["size"], **numbers)
    return join(el("h3", "The memory, not to scale"), drawn)


def tensors(near):
    """The blocks of PyTorch's around the damage, as a strip."""
    parts = []
    for b in near["blocks"]:
        asked = f"asked for {b['requested']}" if b["requested"] not in (None, b["size"]) else ""
        where = where_words(b["python"]) if b["python"] else ""
        kind = "buffer" if b["state"].startswith("active") else "guard"
        parts.append(_part(kind, f"{b['size']} bytes", b["state"], asked, f"{b['address']:#x}", where))
    history = "; ".join(f"{t['action']} {t['size']} bytes at {t['address']:#x}" for t in near["history"])
    segment = f"PyTorch's segment at {near['address']:#x}, {near['size']} bytes ({near['kind']}), from {near['snapshot']}"
    return join(el("h3", segment),
                el("div", *parts, class_="strip"), el("p", "latest: " + history, class_="dim") if history else "")


# ---- the bytes ----

def _decoded(some):
    """What a row of bytes is as characters, and as the numbers that its words may be."""
    raw = bytes.fromhex("".join(some))
    letters = "".join(chr(b) if 32 <= b < 127 else "·" for b in raw)
    numbers = []
    for i in range(0, len(raw) - 3, 4):
        whole, real = numbers_of(raw[i:i + 4])
        numbers.append(f"{real:.6g}" if real is not None else str(whole) if whole is not None else "–")
    return el("td", letters, class_="m dim"), el("td", " ".join(numbers), class_="dim")


def bytes_table(corruption):
    observed, expected = corruption.get("observed") or "", corruption.get("expected") or ""
    if not isinstance(observed, str) or not observed:
        return ""
    pairs = [(observed[i:i + 2], expected[i:i + 2] if isinstance(expected, str) else "") for i in range(0, len(observed), 2)]
    offset = corruption.get("offset") or 0
    rows = [el("tr", el("th"), el("th", "bytes", colspan=ROW_BYTES), el("th", "as text"), el("th", "as numbers of 4 bytes"))]
    for at in range(0, len(pairs), ROW_BYTES):
        some = pairs[at:at + ROW_BYTES]
        fill = (el("td"),) * (ROW_BYTES - len(some))
        cells = [el("td", new, class_="bad" if new != old and old else "m") for new, old in some]
        rows.append(el("tr", el("th", f"{offset + at:+d}"), *cells, *fill, *_decoded([new for new, _ in some])))
        if any(old for _, old in some):
            rows.append(el("tr", el("th", "was", class_="dim"), *(el("td", old, class_="m dim") for _, old in some), *fill))
    words = "; ".join(damage_lines(corruption))
    return join(el("p", words) if words else "", el("div", el("table", *rows, class_="bytes"), class_="scroll"))
