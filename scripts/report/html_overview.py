"""What stands in front of the groups: the verdict, the job, who had findings when, and which kernels are suspected."""
from as_text import message_words, plural
from baseline import GONE, NEW, SAME, counts_words
from clocks import by_process, who_words
from groups import clock, hosts_words, process_of, seconds, stamp_of
from html_parts import aside, box, drawing, el, join, row, size_words, span_words, time_axis
from job import few_words
from schema import CLASSES

BINS = 48             # of the time in which findings came
ROWS, BANDS = 16, 16  # of the heat map
KERNELS, COLUMNS = 12, 24


def chip(group):
    name = group.first["class"]
    return el("span", name, class_="chip mark" + (f" c-{name}" if name in CLASSES else ""))


def where(group):
    """The title without the class, which stands in front of it."""
    return group.title().split(": ", 1)[1]


# ---- the verdict ----

def _culprit(group):
    if fault := group.first.get("fault"):
        return join("In kernel ", el("b", fault.get("name") or fault["kernel"] or "unknown"), ". ")
    suspects = group.suspects()
    total = len(group.findings)
    every = [(s.get("name") or name) for name, count, s in suspects if count == total]
    if not every or group.first["class"] in ("leak", "double-free", "invalid-free"):
        return ""
    if len(every) == 1 and not group.incomplete:
        return join("Suspected: ", el("b", every[0]), ". ")
    return join("Suspected first: ", el("b", every[0]), f", of {plural(len(suspects), 'kernel')}. ")


def _nothing(words, job):
    guarded = job.share_words()
    return el("p", words, f" {guarded}." if guarded else " How much of the memory was guarded is not known.", class_="lead")


def verdict(groups, job, any_read):
    """What came first; compared with an earlier run, what came first of what is new."""
    if not groups:
        return _nothing("No finding.", job) if any_read else ""
    group = next((g for g in groups if g.state == NEW), groups[0])
    if group.state == SAME:
        return _nothing("Nothing new.", job)
    f, count, of = group.first, len(group.processes()), len(job.processes)
    spread = "" if of == 1 else f" In {'all' if count == of else count} of {plural(of, 'process')}."
    ordered = by_process(group)
    came = f"First on {who_words(ordered[0])} at {clock(stamp_of(ordered[0]))} UTC." if ordered else ""
    new = (el("span", "new ", class_="red"),) if group.state else ()
    lead = el("p", *new, chip(group), ": ", el("a", where(group), href=f"#g{groups.index(group) + 1}"), class_="lead")
    return join(lead, el("p", f"{message_words(f)}.{spread} ", _culprit(group), came))


def is_listed(groups, gone):
    """One group alone is what the verdict says."""
    return gone is not None or len(groups) > 1


def group_list(groups, gone):
    items = []
    for n, group in enumerate(groups, 1):
        state = (el("span", group.state, class_="mark red" if group.state == NEW else "dim"), " ") if group.state else ()
        spread = f"{plural(len(group.findings), 'finding')} {hosts_words(group)}"
        items.append(el("li", f"{n}. ", *state, chip(group), ": ", el("a", where(group), href=f"#g{n}"),
                        el("div", spread, class_="dim small"), class_="find"))
    items += [el("li", el("span", GONE, class_="dim"), " ", chip(group), ": ", where(group), class_="find") for group in gone or ()]
    compared = (el("p", "Compared with the baseline: ", counts_words(groups, gone), "."),) if gone is not None else ()
    field = el("input", id="search", type="search", placeholder="search", hidden="hidden")
    return el("div", el("h2", "What was found"), field, *compared, el("ol", *items, class_="groups"))


# ---- the job ----

def _facts(job):
    commands, gpus = job.values("command"), job.values("gpu")
    versions = sorted({e["version"] for e in job.processes.values() if e.get("version")})
    yield "command", few_words(commands, 2)
    yield "hosts", job.host_words()
    yield "GPUs", f"{len(gpus)} that findings name" if gpus[2:] else few_words(gpus)
    yield "GMOD", few_words(versions)
    yield "time", job.time_words()
    yield "end", job.end_words()
    yield "guarded", "" if job.coverage()[0] else job.share_words()
    yield "own cost", job.cost_words()


def coverage(job):
    """How the bytes that the program asked for were guarded, all processes together."""
    parts, capped = job.coverage()
    whole = sum(size for _, _, size in parts)
    if not whole:
        return ""
    boxes, keys, at = [], [], 0
    for kind, words, size in parts:
        told = f"{words}: {size_words(size)}, {100 * size / whole:.1f} %"
        boxes.append(box(kind, at / whole, size / whole - 0.002, told, y=0, height=18, data_bytes=size))
        keys.append(el("li", told, class_=f"key k-{kind}"))
        at += size
    few = (el("li", f"{plural(capped, 'buffer')} left native because redzone_mb was used up", class_="red"),) if capped else ()
    return el("div", el("h3", f"{size_words(whole)} of device memory asked for"), drawing(18, *boxes),
              el("ul", *keys, *few, class_="keys"), class_="coverage")


def facts(job):
    items = [part for name, words in _facts(job) if words for part in (el("dt", name), el("dd", words))]
    return el("div", el("h2", "The job"), el("dl", *items, class_="small"))


def head(groups, gone, job):
    """The groups beside the job; the coverage is beside it where there is no more than the group of the verdict."""
    listed = is_listed(groups, gone)
    parts = [group_list(groups, gone), el("div", facts(job), coverage(job))] if listed else [facts(job), coverage(job)]
    return el("section", *parts, class_="columns")


# ---- who had findings when ----

def _fold(job):
    """[(words, processes)]: ranks if they are few, else hosts; those of hosts without a finding in one row, or hosts by bands."""
    hit = {process_of(f) for f in job.findings}
    if len(job.processes) <= ROWS:
        return [(who_words(e), [p]) for p, e in job.processes.items()]
    hosts = {host or "no host": those for host, those in job.hosts().items()}
    having = {host: those for host, those in hosts.items() if hit & set(those)}
    if len(having) > BANDS:
        names, size = list(hosts), -(-len(hosts) // BANDS)
        bands = [names[i:i + size] for i in range(0, len(names), size)]
        return [(f"{band[0]}–{band[-1]}" if band[1:] else band[0], [p for host in band for p in hosts[host]]) for band in bands]
    rows = [(f"{host}, {plural(len(those), 'process')}", those) for host, those in having.items()]
    rest = [p for host, those in hosts.items() if host not in having for p in those]
    return rows + ([(f"{plural(len(hosts) - len(having), 'other host')}", rest)] if rest else [])


def _cell(words, number, count, most, span):
    darkness = 1 + (count > 1) + (4 * count > most) + (2 * count > most)
    title = f"{words}, {span_words(number / BINS * span)} after the first: {plural(count, 'finding')}"
    return box(f"h{darkness}", number / BINS, 0.92 / BINS, title, y=1, height=14, data_n=count)


def heat_map(job):
    """A row for each rank, host or band of hosts; the darker, the more findings came in that time."""
    times = [(process_of(f), seconds(stamp_of(f))) for f in job.findings]
    known = [t for _, t in times if t is not None]
    if len(job.processes) < 2 or not known:
        return ""
    begin, span = min(known), max(known) - min(known) or 1e-6
    counts = {}
    for process, t in times:
        counts.setdefault(process, []).append(None if t is None else min(int((t - begin) / span * BINS), BINS - 1))
    folded = [(words, [b for p in those for b in counts.get(p, ())]) for words, those in _fold(job)]
    most = max((bins.count(b) for _, bins in folded for b in bins), default=1)
    first = min(stamp_of(f) for f in job.findings if seconds(stamp_of(f)) is not None)
    rows = [row("", time_axis(clock(first), span), el("div", "all", class_="n"), kind="row head")]
    for words, bins in folded:
        cells = [_cell(words, b, bins.count(b), most, span) for b in sorted(set(bins) - {None})]
        rows.append(row(words, drawing(16, *cells), el("div", len(bins) or "", class_="n"), data_row=words, data_n=len(bins)))
    hosts = len([host for host in job.hosts() if host])
    clocks = aside(f"By the clocks of {hosts} hosts, which may differ: by how much is not known.") if hosts > 1 else ""
    return el("section", el("h2", "Findings by rank and time"), el("div", *rows, class_="heat"), clocks, id="ranks")


# ---- which kernels are suspected ----

def _suspected(count, of):
    kind = "all" if count == of else "some" if count else "none"
    words = "all" if count == of else f"{count}/{of}" if count else ""
    return el("td", words, class_=kind, data_count=count, data_of=of, title=f"{count} of {of}")


def matrix(groups):
    """Kernels against groups: in how many of its findings each is suspected."""
    shown = [(n, group, {name: count for name, count, _ in group.suspects()}) for n, group in enumerate(groups, 1)]
    shown = [one for one in shown if one[2]][:COLUMNS]
    kernels = {}
    for n, group, counts in shown:
        for name, count in counts.items():
            kernels.setdefault(name, []).append(count / len(group.findings))
    if len(shown) < 2 or len(kernels) < 2:
        return ""
    order = sorted(kernels, key=lambda name: (-sum(kernels[name]), name))
    head = el("tr", el("th", "kernel"), *(el("th", el("a", n, href=f"#g{n}", title=group.title())) for n, group, _ in shown))
    rows = []
    for name in order[:KERNELS]:
        cells = [(counts.get(name, 0), len(group.findings)) for _, group, counts in shown]
        rows.append(el("tr", el("td", name, class_="m"), *(_suspected(count, of) for count, of in cells)))
    more = len(order) - KERNELS
    left = aside(f"and {plural(more, 'kernel')} that fewer findings suspect") if more > 0 else ""
    return el("section", el("h2", "Suspected kernels"),
              aside("A column for each group: in how many of its findings the kernel is suspected."),
              el("div", el("table", head, *rows, class_="matrix"), class_="scroll"), left, id="kernels")
