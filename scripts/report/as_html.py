"""Groups as one HTML page with no outside parts and no scripts. Nothing of a log gets into it but through text() or el()."""
import html
import os

from as_text import caught_lines, clean, covered_words, fault_lines, message_words, plural, times_words, why_words, window_line
from baseline import counts_words
from clocks import order_lines
from groups import damage_lines, hosts_words, moments, nearby_lines, place, seconds, stream_words, where_words

BEGIN = "<!DOCTYPE html>\n"

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff;
overflow-wrap: break-word; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin: 2.5rem 0 .3rem; border-top: 1px solid #ccc; padding-top: 1rem; }
code, pre, td.m, .bytes { font-family: ui-monospace, monospace; font-size: 13px; }
table { border-collapse: collapse; margin: .3rem 0 .8rem; } td, th { padding: .15rem .7rem .15rem 0; text-align: left; vertical-align: top; }
th { font-weight: 600; color: #555; } pre { overflow-x: auto; background: #f4f4f4; padding: .5rem; }
summary { cursor: pointer; } .where { color: #b00020; } .dim { color: #666; } .bad { background: #ffd7d7; }
svg { display: block; margin: .5rem 0; max-width: 100%; } svg text { font: 12px system-ui, sans-serif; fill: #1a1a1a; }
.allocated { fill: #7aa6d8; } .kernel { fill: #e0a84f; } .unknown { fill: #888; fill-opacity: .15; stroke: #888; stroke-dasharray: 3 3; }
.window { fill: #b00020; fill-opacity: .25; } .edge { stroke: #b00020; }
@media (prefers-color-scheme: dark) { body { color: #e4e4e4; background: #161616; } pre { background: #242424; }
svg text { fill: #e4e4e4; } .dim, th { color: #aaa; } .where { color: #ff8a8a; } .bad { background: #5c1f1f; } }
"""
WIDTH, NAMES, ROW = 1000, 260, 22
SHOWN = 200  # findings of a group that the table lists


class Safe(str):
    """What is HTML already."""


def text(value):
    return value if isinstance(value, Safe) else Safe(html.escape(clean(value)))


def el(name, *inside, **attributes):
    """An element; attributes are escaped, and so is what is inside unless it is made here."""
    marks = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return Safe(f"<{name}{marks}>{''.join(map(text, inside))}</{name}>")


def span_words(span):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(span) >= size:
            return f"{span / size:.3g} {unit}"
    return "0"


# ---- the timeline ----

def _bars(finding):
    """(name, class, begin, end) of the buffer and the suspects, whose end is their latest launch; None: not known."""
    buffer = finding.get("buffer") or {}
    allocated, freed = buffer.get("allocated") or {}, buffer.get("freed") or {}
    bars = [(f"buffer, {buffer.get('size')} bytes", "allocated", seconds(allocated.get("time")), seconds(freed.get("time")))]
    for near in finding.get("nearby") or ():
        bars.append((f"buffer, {near.get('size')} bytes, {near.get('site')}", "allocated", None, None))
    for suspect in finding["suspects"]:
        bars.append((f"{suspect['kernel'] or 'unknown'} x{suspect['launches']}", "kernel",
                     seconds(suspect.get("first") or suspect.get("launched")), seconds(suspect.get("launched"))))
    return bars


def _rect(kind, x, y, width, title):
    return el("rect", el("title", title), class_=kind, x=f"{x:.1f}", y=y, width=f"{max(width, 2):.1f}", height=ROW - 6, rx=2)


def timeline(finding):
    """What lived and ran around the time in which the bytes were changed; nothing where that is not known."""
    corruption = finding.get("corruption") or {}
    intact, seen = seconds(corruption.get("intact")), seconds(corruption.get("seen"))
    if seen is None:
        return ""
    bars = _bars(finding)
    known = [t for _, _, a, b in bars for t in (a, b) if t is not None] + [seen] + ([intact] if intact is not None else [])
    begin, end = min(known), max(known)
    margin = (end - begin) * 0.05 or 1e-6
    begin, end = begin - margin, end + margin

    def x(t):
        return NAMES + (t - begin) / (end - begin) * (WIDTH - NAMES)

    height = ROW * (len(bars) + 2)
    left = x(intact if intact is not None else begin)
    parts = [el("rect", el("title", "the bytes were changed in this time"), class_="window", x=f"{left:.1f}", y=0,
                width=f"{max(x(seen) - left, 2):.1f}", height=height - ROW)]
    for row, (name, kind, first, last) in enumerate(bars, 1):
        y = row * ROW
        parts.append(el("text", name if len(name) < 38 else name[:36] + "…", x=0, y=y + 12))
        from_, to = x(first if first is not None else begin), x(last if last is not None else end)
        if kind == "kernel":  # nobody knows how long the latest one ran
            parts.append(_rect("unknown", to if last is not None else from_, y, x(end) - to, f"{name}: perhaps it still ran"))
        elif first is None:
            kind = "unknown"
        title = f"{name}: from {span_words(seen - first) + ' before the change was seen' if first is not None else 'a time that is not known'}"
        parts.append(_rect(kind, from_, y, to - from_, title))
    for t, words in ((intact, "last seen intact"), (seen, "first seen changed")):
        if t is not None:
            parts.append(el("line", class_="edge", x1=f"{x(t):.1f}", x2=f"{x(t):.1f}", y1=0, y2=height - ROW))
            parts.append(el("text", words, x=f"{min(x(t), WIDTH - 5):.1f}", y=14 if t == seen else height - 6, text_anchor="end"))
    parts.append(el("text", f"{span_words(end - begin)} in all", x=0, y=height - 6))
    return el("svg", *parts, viewBox=f"0 0 {WIDTH} {height}", width=WIDTH, height=height, role="img")


# ---- the rest ----

def bytes_table(corruption):
    observed, expected = corruption.get("observed") or "", corruption.get("expected") or ""
    if not isinstance(observed, str) or not observed:
        return ""
    pairs = [(observed[i:i + 2], expected[i:i + 2] if isinstance(expected, str) else "") for i in range(0, len(observed), 2)]
    offset = corruption.get("offset") or 0
    rows = []
    for at in range(0, len(pairs), 16):
        some = pairs[at:at + 16]
        rows.append(el("tr", el("th", f"{offset + at:+d}"), *(el("td", new, class_="bad" if new != old and old else "m") for new, old in some)))
        if any(old for _, old in some):
            rows.append(el("tr", el("th", "expected"), *(el("td", old, class_="m dim") for _, old in some)))
    words = "; ".join(damage_lines(corruption)) or f"{plural(corruption.get('changed') or 0, 'byte')} changed"
    return Safe(el("p", words) + el("table", *rows, class_="bytes"))


def stack(words, moment):
    rows = [el("tr", el("td", "Python"), el("td", f["function"], class_="m"), el("td", f"{f['file']}:{f['line']}", class_="m"))
            for f in moment.get("python") or ()]
    for number, frame in enumerate(moment.get("frames") or ()):
        for line in frame.get("lines") or [None]:
            function, file, at = (line["function"], line["file"], line["line"]) if line else place(frame)
            module = f"{frame.get('path') or frame.get('module') or ''} {frame.get('build_id') or ''}".strip()
            rows.append(el("tr", el("td", f"#{number}"), el("td", function or frame.get("function") or "?", class_="m"),
                           el("td", f"{file}:{at}" if at else file, class_="m", title=module)))
    thread = ""
    if moment.get("kernel_thread") is not None:
        thread = f", thread {moment['kernel_thread']} of block {moment['kernel_block']} of a kernel"
    return el("details", el("summary", f"{words}{thread}"), el("table", *rows), **({"open": "open"} if rows else {}))


def launches_words(suspect):
    unfinished = suspect.get("unfinished")
    return str(suspect["launches"]) + (f", {unfinished} not proven complete" if unfinished else "")


def suspects_table(group):
    suspects = group.suspects()
    if not suspects:
        return ""
    total = len(group.findings)
    rows = [el("tr", *(el("th", h) for h in ("suspect", "of findings", "its arguments", "launches", "launched", "grid", "block", "stream", "launched at")))]
    for name, count, s in suspects:
        places = [p for p in [s.get("python"), *(s.get("python_elsewhere") or ())] if p]
        rows.append(el("tr", el("td", s.get("name") or name, class_="m"), el("td", "all" if count == total else f"{count} of {total}"),
                       el("td", why_words(s)), el("td", launches_words(s)), el("td", times_words(s), class_="m"),
                       *(el("td", "×".join(map(str, s.get(key) or ())), class_="m") for key in ("grid", "block")),
                       el("td", stream_words(s), class_="m"),
                       el("td", "; ".join(map(where_words, places)), class_="m")))
    return el("table", *rows)


def tensors_table(near):
    rows = [el("tr", *(el("th", h) for h in ("block", "bytes", "asked for", "state", "allocated at")))]
    for b in near["blocks"]:
        where = where_words(b["python"]) if b["python"] else ""
        rows.append(el("tr", el("td", f"{b['address']:#x}", class_="m"), el("td", b["size"]),
                       el("td", "" if b["requested"] is None else b["requested"]), el("td", b["state"]), el("td", where, class_="m")))
    history = "; ".join(f"{t['action']} {t['size']} bytes at {t['address']:#x}" for t in near["history"])
    return Safe(el("p", f"PyTorch's segment at {near['address']:#x}, {near['size']} bytes ({near['kind']}), from {near['snapshot']}") +
                el("table", *rows) + (el("p", "latest: " + history, class_="dim") if history else ""))


def findings_table(group):
    rows = [el("tr", *(el("th", h) for h in ("host", "rank", "process", "GPU", "finding", "time", "log")))]
    for f in group.findings[:SHOWN]:
        time = f.get("time") or (f.get("corruption") or {}).get("seen") or ""
        rows.append(el("tr", *(el("td", "" if v is None else v) for v in (f.get("host"), f.get("rank"), f["pid"], f.get("gpu"),
                    f"{f['id']}{'' if f['status'] == 'final' else ', provisional'}", time, f"{f['file']}:{f['line']}"))))
    left = len(group.findings) - SHOWN
    return el("details", el("summary", plural(len(group.findings), "finding")), el("table", *rows),
              el("p", f"and {left} more" if left > 0 else ""))


def section(number, group, total):
    f = group.first
    parts = [el("h2", f"{number}. ", el("span", group.title(), class_="where"), id=f"g{number}"),
             el("p", f"{message_words(f)}. ", el("span", f"{plural(len(group.findings), 'finding')} {hosts_words(group)}", class_="dim"))]
    parts += [el("p", el("b", words)) for words in caught_lines(group)]
    if told := [*fault_lines(group), *order_lines(group)]:
        parts.append(el("ul", *(el("li", line) for line in told)))
    parts += [stack(words, moment) for words, moment in moments(f)]
    if group.incomplete:
        parts.append(el("p", el("b", "incomplete: "), "; ".join(group.incomplete)))
    if window := window_line(f.get("corruption") or {}):
        parts.append(el("p", window))
    parts += [suspects_table(group), timeline(f)]
    if f.get("nearby"):
        parts.append(el("ul", *(el("li", "live buffer: " + line) for line in nearby_lines(f))))
    if f.get("corruption"):
        parts.append(bytes_table(f["corruption"]))
    parts += [tensors_table(near) for near in f.get("tensors", ())]
    if f.get("next_step"):
        parts.append(Safe(el("p", "Next step:") + el("pre", f["next_step"])))
    if f.get("suppression"):
        parts.append(Safe(el("p", f"Or, for the file of suppressions ({covered_words(f, total)}):") + el("pre", f["suppression"])))
    parts.append(findings_table(group))
    return el("section", *parts)


def processes_table(processes):
    rows = [el("tr", *(el("th", h) for h in ("host", "rank", "process", "findings", "guarded", "GMOD", "command")))]
    for p in processes:
        share = "" if p["guarded_permille"] is None else f"{p['guarded_permille'] / 10} %"
        rows.append(el("tr", *(el("td", "" if v is None else v) for v in (p["host"], p["rank"], p["pid"], p["findings"], share,
                    p["version"], p["command"]))))
    return el("details", el("summary", plural(len(processes), "process")), el("table", *rows))


def render(groups, processes, notes, problems, any_read, gone):
    """Where nothing could be read nobody is told that nothing was found."""
    count = sum(len(group.findings) for group in groups)
    title = f"GMOD: {plural(count, 'finding')} in {plural(len(groups), 'group')}" if any_read or not problems else "GMOD: no log could be read"
    links = [el("li", el("a", g.title(), href=f"#g{n}"),
                f" ({plural(len(g.findings), 'finding')})") for n, g in enumerate(groups, 1)]
    body = [el("h1", title, **({"class_": "where"} if problems and not any_read else {})),
            *(el("p", problem, class_="where") for problem in problems),
            *([el("p", "Compared with the baseline: ", counts_words(groups, gone))] if gone is not None else []), el("ol", *links),
            *(el("p", "Gone: ", group.title()) for group in gone or ()), *(section(n, g, count) for n, g in enumerate(groups, 1)), el("h2", "Processes"),
            processes_table(processes), *(el("p", "Note: " + note, class_="dim") for note in notes)]
    return page(title, *body)


def page(title, *body):
    head = ('<meta charset="utf-8"/>' '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'"/>'
            '<meta name="viewport" content="width=device-width"/>')
    return (BEGIN + el("html", el("head", Safe(head), el("title", title), el("style", Safe(STYLE))),
                        el("body", *body), lang="en") + "\n")


def is_page(path):
    with open(path, "rb") as file:
        return file.read(len(BEGIN)) == BEGIN.encode()


def write(path, text_):
    """What is wrong. Nothing is written over but an earlier page: a forgotten name makes the first log the page's."""
    try:
        if os.path.isfile(path) and os.path.getsize(path) and not is_page(path):
            return [f"{path} is there, and no page of GMOD's: not written over"]
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text_)
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    return []
