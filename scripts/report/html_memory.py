"""Device memory over time, and by the site that allocated it."""
from as_text import plural
from clocks import who_words
from groups import clock, is_program, place, place_words, seconds
from html_parts import aside, box, drawing, el, row, share, size_words, time_axis
from job import order_of

ROWS = 8            # processes, those of the highest peak
STEPS = 160         # of a process's curve
DEPTH, LEAST = 14, 0.004  # of the flame graph: its rows, and the share of the whole below which a box is not drawn
HEIGHT, STEP = 34, 19


def _steps(samples):
    """(time, bytes), in order; where there are more than can be seen, the highest of some that follow each other."""
    known = [(seconds(s["time"]), s["bytes"], s) for s in samples if seconds(s["time"]) is not None]
    size = -(-len(known) // STEPS) or 1
    return [max(known[i:i + size], key=lambda one: one[1]) for i in range(0, len(known), size)]


def _curve(steps, begin, span, most):
    parts = []
    for (time, size, sample), after in zip(steps, [time for time, _, _ in steps[1:]] + [begin + span]):
        height = max(round(size / most * HEIGHT, 1), 0.5)
        title = f"{clock(sample['time'])}: {size_words(size)} in {plural(sample['buffers'], 'buffer')}"
        parts.append(box("allocated", (time - begin) / span, (after - time) / span, title,
                         y=HEIGHT - height, height=height, data_bytes=size))
    return parts


def over_time(job):
    """A curve for each process, all of one scale."""
    curves = sorted(((event, _steps(event["samples"])) for event in job.memory.values()), key=lambda one: -one[0]["peak"]["bytes"])
    curves = [(event, steps) for event, steps in curves if steps]
    times = [t for _, steps in curves for t, _, _ in steps]
    if not times or max(times) == min(times):
        return ""
    begin, span = min(times), max(times) - min(times)
    most = max(size for _, steps in curves for _, size, _ in steps) or 1
    first = min(sample["time"] for _, steps in curves for _, _, sample in steps)
    shown = [row("the most of each", time_axis(clock(first), span), kind="row head")]
    for event, steps in sorted(curves[:ROWS], key=lambda one: order_of(one[0])):
        peak = event["peak"]["bytes"]
        curve = drawing(HEIGHT, *_curve(steps, begin, span, most))
        shown.append(row(f"{who_words(event)}, {size_words(peak)}", curve, data_peak=peak))
    rest = [event["peak"]["bytes"] for event, _ in curves[ROWS:]]
    left = aside(f"{plural(len(rest), 'other process')}: {size_words(min(rest))} to {size_words(max(rest))} at most") if rest else ""
    return el("section", el("h2", "Guarded device memory over time"), el("div", *shown, class_="uses"), left, id="memory")


# ---- the flame graph ----

def _stack(site):
    """Places from the outermost to the one that allocated: of Python if there are any, else the program's own frames."""
    python = [place_words(f["function"], f["file"], f["line"]) for f in site["python"]]
    native = [place_words(*place(f)) for f in site["frames"] if is_program(f) and (f.get("function") or f.get("lines"))]
    return list(reversed(python or native or [site["site"]]))[-DEPTH:]


class Node:
    def __init__(self):
        self.bytes, self.buffers, self.below = 0, 0, {}

    def add(self, stack, size, buffers):
        self.bytes += size
        self.buffers += buffers
        if stack:
            self.below.setdefault(stack[0], Node()).add(stack[1:], size, buffers)


def _boxes(node, x, level, whole):
    """The boxes below a node, and the deepest level."""
    parts, deepest = [], level
    for name, below in sorted(node.below.items(), key=lambda item: -item[1].bytes):
        width = below.bytes / whole
        if width >= LEAST:
            title = f"{name}: {size_words(below.bytes)} in {plural(below.buffers, 'buffer')}, {100 * width:.1f} %"
            parts.append(box(f"f{level % 3}", x, width - 0.001, title, y=level * STEP, height=STEP - 1, data_bytes=below.bytes))
            words = el("text", name, x=4, y=13, class_="over")
            parts.append(el("svg", words, x=share(x), y=level * STEP, width=share(width - 0.002), height=STEP))
            more, deep = _boxes(below, x, level + 1, whole)
            parts, deepest = parts + more, max(deepest, deep)
        x += width
    return parts, deepest


def by_site(job):
    """Who held the memory when each process had most, all processes together."""
    root, elsewhere = Node(), sum(event["peak"]["elsewhere_bytes"] for event in job.memory.values())
    for event in job.memory.values():
        for site in event["peak"]["sites"]:
            root.add(_stack(site), site["bytes"], site["buffers"])
    whole = root.bytes + elsewhere
    if not root.bytes:
        return ""
    parts, depth = _boxes(root, 0, 0, whole)
    if elsewhere / whole >= LEAST:
        title = f"at sites that the log does not name: {size_words(elsewhere)}"
        parts.append(box("unknown", root.bytes / whole, elsewhere / whole, title, y=0, height=STEP - 1, data_bytes=elsewhere))
    processes = "the process" if len(job.memory) == 1 else f"each of {len(job.memory)} processes"
    return el("section", el("h2", "Who held it at the peak"),
              aside(f"{size_words(whole)} when {processes} had most. Each row was called by the one above it."),
              drawing(depth * STEP + 4, *parts), id="sites")
