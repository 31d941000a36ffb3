"""The section of one group: what was found, its pictures, stacks with their source, suspects, and each finding."""
from as_text import (caught_lines, covered_words, fault_lines, launch_words, message_words, plural, suspects_words, why_words,
                     window_line)
from clocks import order_lines
from groups import hosts_words, moments, nearby_lines, place, where_words
from html_overview import chip, where
from html_parts import Safe, aside, el, join, table
from html_pictures import bytes_table, lanes, strip, tensors
from source import around

SHOWN = 200   # findings of a group that the table lists
SOURCES = 3   # of a stack


class Sources:
    """The lines around places, each place once in a group. Nothing where the user wants no symbols."""

    def __init__(self, wanted, stamp):
        self.wanted, self.stamp, self.told = wanted, stamp, set()

    def lines(self, file, line):
        found = around(file, line, self.stamp) if self.wanted and (file, line) not in self.told else None
        if not found:
            return ""
        self.told.add((file, line))
        some, is_changed = found
        width = len(str(some[-1][0]))
        parts = [join(el("b" if n == line else "span", f"{n:{width}}  {words}"), Safe("\n")) for n, words in some]
        note = el("div", "the file was written after the run", class_="dim small") if is_changed else ""
        return Safe(el("pre", *parts, class_="source") + note)


def _frame_row(number, function, file, line, lines, module=""):
    return el("tr", el("td", number, class_="dim"), el("td", function, class_="m"),
              el("td", f"{file}:{line}" if line else file, lines, class_="m", title=module))


def _native_rows(moment, sources, most):
    for number, frame in enumerate(moment.get("frames") or ()):
        for line in frame.get("lines") or [None]:
            function, file, at = (line["function"], line["file"], line["line"]) if line else place(frame)
            module = f"{frame.get('path') or frame.get('module') or ''} {frame.get('build_id') or ''}".strip()
            lines = sources.lines(file, at) if most > 0 else ""
            most -= bool(lines)
            yield _frame_row(f"#{number}", function or frame.get("function") or "?", file, at, lines, module)


def stack(words, moment, sources):
    """Of a Python program the native frames are folded."""
    python = [_frame_row("Python", f["function"], f["file"], f["line"], sources.lines(f["file"], f["line"]) if i < SOURCES else "")
              for i, f in enumerate(moment.get("python") or ())]
    native = list(_native_rows(moment, sources, 0 if python else SOURCES))
    thread = ""
    if moment.get("kernel_thread") is not None:
        thread = f", thread {moment['kernel_thread']} of block {moment['kernel_block']} of a kernel"
    parts = [el("table", *(python or native), class_="small stack")] if python or native else []
    if python and native:
        parts.append(el("details", el("summary", plural(len(native), "native frame"), class_="dim small"),
                        el("table", *native, class_="small stack")))
    return el("details", el("summary", f"{words}{thread}"), *parts, **({"open": "open"} if parts else {}))


def suspects_list(group, sources):
    suspects = group.suspects()
    if not suspects:
        return ""
    total, items = len(group.findings), []
    verb = "launched" if group.first["class"] == "gpu-fault" else "suspected"
    for name, count, s in suspects:
        told = [f"{verb} in {'all' if count == total else count} of {plural(total, 'finding')}"] if total > 1 else []
        told += [words for words in (why_words(s),) if words]
        places = [p for p in [s.get("python"), *(s.get("python_elsewhere") or ())] if p]
        also = "; ".join(f"launched at {where_words(p)}" for p in places)
        items.append(el("li", el("b", s.get("name") or name, class_="m"), " ", "; ".join(told),
                        el("div", launch_words(s).strip() + (f"; {also}" if also else ""), class_="dim small")))
    first = (suspects[0][2].get("python") or [None])[0]
    lines = sources.lines(first["file"], first["line"]) if first else ""
    return join(el("h3", suspects_words(group.first).capitalize()), el("ol", *items), lines)


def findings_table(number, group):
    """Each with a link of its own, in the order in which they came."""
    rows = [el("tr", *(el("th", h) for h in ("", "host", "rank", "process", "GPU", "finding", "time", "later by", "log")))]
    ordered = sorted(group.findings, key=lambda f: f.get("later", 0))
    for i, f in enumerate(ordered[:SHOWN], 1):
        time = f.get("time") or (f.get("corruption") or {}).get("seen") or ""
        later = f"{f['later']:.3f} s" if "later" in f else ""
        name = f"g{number}f{i}"
        rows.append(el("tr", el("td", el("a", "#", href=f"#{name}", class_="link")), *(el("td", "" if v is None else v) for v in (
            f.get("host"), f.get("rank"), f["pid"], f.get("gpu"), f"{f['id']}{'' if f['status'] == 'final' else ', provisional'}",
            time, later, f"{f['file']}:{f['line']}")), id=name))
    left = len(group.findings) - SHOWN
    more = el("p", f"and {left} more") if left > 0 else ""
    return el("details", el("summary", plural(len(group.findings), "finding")), table(*rows), more)


def fault_source(fault, sources):
    return [lines for line in fault["lines"] if (lines := sources.lines(line["file"], line["line"]))]


def section(number, group, total, wanted):
    f = group.first
    sources = Sources(wanted, f.get("time"))
    spread = f"{plural(len(group.findings), 'finding')} {hosts_words(group)}"
    parts = [el("h2", f"{number}. ", chip(group), ": ", el("span", where(group)), " ", el("a", "#", href=f"#g{number}", class_="link")),
             el("p", f"{message_words(f)}. ", el("span", spread, class_="dim"))]
    parts += [el("p", el("b", words)) for words in caught_lines(group)]
    if f.get("fault"):
        parts += [el("ul", *(el("li", line) for line in fault_lines(group))), *fault_source(f["fault"], sources)]
    if order := list(order_lines(group)):
        parts.append(el("ul", *(el("li", line) for line in order), class_="dim small"))
    if group.incomplete:
        parts.append(el("p", el("b", "incomplete: "), "; ".join(group.incomplete)))
    parts += [strip(f)] + ([bytes_table(f["corruption"])] if f.get("corruption") else [])
    parts += [tensors(near) for near in f.get("tensors", ())]
    parts.append(lanes(f))
    if window := window_line(f.get("corruption") or {}):
        parts.append(aside(window))
    parts.append(suspects_list(group, sources))
    if f.get("nearby"):
        parts.append(el("ul", *(el("li", line) for line in nearby_lines(f))))
    stacks = [stack(words, moment, sources) for words, moment in moments(f)]
    parts += [el("h3", "Where"), *stacks] if stacks else []
    if f.get("next_step"):
        parts.append(Safe(el("h3", "Next step") + el("pre", f["next_step"])))
    if f.get("suppression"):
        parts.append(Safe(el("p", f"Or, for the file of suppressions ({covered_words(f, total)}):") + el("pre", f["suppression"])))
    parts.append(findings_table(number, group))
    return el("section", *parts, id=f"g{number}", class_="find")
