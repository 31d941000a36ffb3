"""Makes Markdown and a plot of a result: report.py FILE.json. The same file always gives the same text.

The plot has mid-tones on no background, to be read on light and on dark pages.
"""

import contextlib
import json
import os
import sys
from math import ceil, floor, log10
from xml.sax.saxutils import escape

import pairs

TEXT, FAINT = "#7d848c", "#8b949e"
BLUE, RED = "#2f81f7", "#e5534b"
PLOT = "-overhead.svg"
FONT = "font-family='sans-serif' font-size='12'"
# How the plot calls cases and groups; a group that says nothing more has an empty name.
CASES = {
    "resnet50": "ResNet-50",
    "inception_v3": "Inception v3",
    "vgg16": "VGG-16",
    "alexnet": "AlexNet",
    "jax train": "JAX",
    "llama prefill": "decoder, prompt",
    "llama decode": "decoder, token",
    "llama decode-graph": "decoder, token by CUDA graph",
    "llama decode, unified": "decoder, token, backend=unified",
}
GROUPS = {"frameworks": "", "decode": "", "unified": "backend=unified", "tensors, beside PyTorch's pool": "sample of tensors, against pool"}
GROUPS.update({"tensors, a sample": "sample of tensors", "tensors, all": "all tensors"})


# ---- numbers as text ----


def short(x):
    """Three digits or so."""
    if x is None:
        return "-"
    return f"{x:.0f}" if abs(x) >= 100 else f"{x:.1f}" if abs(x) >= 10 else f"{x:.2f}" if abs(x) >= 1 else f"{x:.3g}"


def signed(x):
    return f"{round(x, 2) + 0.0:+.2f}"  # never -0.00


def percent(ratio):
    return signed(pairs.percent(ratio))


def in_ns(row):
    """Of calls only the difference means something: a launch's goes beside a driver that does nothing."""
    return row["unit"].startswith("ns")


def added(row):
    return [slow - fast for slow, fast in zip(row["samples"]["gmod"], row["samples"]["native"])]


def overhead(row):
    if in_ns(row):
        return f"{signed(pairs.median(added(row)))} ns"
    if row["variant"] == "memcheck":
        return f"{row['ratio_median']:.2f}x"
    return percent(row["ratio_median"]) + " %"


def interval(row):
    """A single pair has none."""
    if row["pairs"] == 1:
        return "-"
    if in_ns(row):
        return f"{signed(min(added(row)))} to {signed(max(added(row)))}, all"
    if row["variant"] == "memcheck":
        return f"{row['ratio_low']:.2f}x to {row['ratio_high']:.2f}x"
    text = f"{percent(row['ratio_low'])} to {percent(row['ratio_high'])}"
    return text if row["interval_level"] >= pairs.LEVEL else f"{text} ({row['interval_level'] * 100:.0f} % interval)"


def quartile(row):
    """What the lower quartiles of a job's blocks say."""
    if "quartile_median" not in row:
        return "-"
    if row["pairs"] == 1:
        return percent(row["quartile_median"])
    return f"{percent(row['quartile_median'])} ({percent(row['quartile_low'])} to {percent(row['quartile_high'])})"


def of_pairs(row):
    planned = row.get("planned")
    return f"{row['pairs']} of {planned}" if planned else row["pairs"]


def median_of(row, variant, key):
    """The median of what the runs said beside their figure."""
    values = row["beside"][variant].get(key) if "beside" in row else None
    return pairs.median(values) if values else None


def noise(row):
    if row.get("noise_median") is None or in_ns(row):
        return "-"
    return f"{percent(row['noise_median'])} ({percent(row['noise_low'])} to {percent(row['noise_high'])})"


def permille(row):
    share = row["guarded_permille"]
    return "-" if share is None else f"{share / 10:.1f} %"


def trouble(row):
    return "" if row["status"] == "ok" else f"{row['status']}: {row['error']}"


# ---- Markdown ----


def table(heads, rows):
    """Columns whose head ends with a colon are numbers."""
    yield "| " + " | ".join(head.rstrip(":") for head in heads) + " |"
    yield "| " + " | ".join("---:" if head.endswith(":") else "---" for head in heads) + " |"
    for row in rows:
        yield "| " + " | ".join(str(cell).replace("|", "\\|") for cell in row) + " |"


def measured_with(result):
    """What parts were measured with, in words, and which ones."""
    found = {}
    for name, part in result["parts"].items():
        versions = [f"{module} {version}" for module, version in sorted(part["versions"].items()) if version]
        words = [part["date"][:10], f"commit {part['commit']}", part["device"], f"driver {part['driver'] or 'unknown'}"]
        words += [f"CUDA {part['cuda'] or 'unknown'}", *versions]
        found.setdefault(", ".join(words), []).append(name)
    return found


def header(result):
    yield "# What GMOD costs"
    yield ""
    yield "Written by `make bench`; `bench/README.md` says what the figures mean."
    yield ""
    for words, names in sorted(measured_with(result).items()):
        yield f"- {', '.join(names)}: {words}"
    for name, part in result["parts"].items():
        if not part["complete"]:
            yield f"- part {name} was cut off"
    if result["quick"]:
        yield "- quick: fewer cases and pairs than a verdict needs"


def verdict_figures(one):
    """Value, interval, target and what the paper has, as text."""
    sign = "<" if one["strict"] else "<="
    if "limit_ns" in one:
        known = one.get("value_ns") is not None
        value, low, high = (short(one.get(key)) for key in ("value_ns", "low_ns", "high_ns"))
        return value + " ns" if known else "-", f"{low} to {high}" if known else "-", f"{sign} {one['limit_ns']} ns", "-"
    known = one["value_percent"] is not None
    value, low, high = (signed(one[key]) if known else None for key in ("value_percent", "low_percent", "high_percent"))
    paper = one["paper_percent"]
    return (
        value + " %" if known else "-",
        f"{low} to {high}" if known and low != high else "-",
        f"{sign} {one['limit_percent']} %",
        "-" if paper is None else f"{paper} %" + ("" if one["name"] == "mean" else " at most"),
    )


def verdict_rows(result):
    for one in result["verdicts"]:
        value, interval_text, target, paper = verdict_figures(one)
        outcome = one["verdict"] + (f": {one['why']}" if one["why"] else "")
        yield one["group"], one["name"], value, interval_text, target, outcome, paper


def paired(result):
    """What has been compared with native runs."""
    return [row for row in result["results"] if row["variant"] != "again" and "values" not in row]


def result_rows(result):
    for row in paired(result):
        known = row["ratio_median"] is not None
        yield (
            row["group"],
            row["name"],
            row["variant"],
            short(row["native_median"]),
            short(row["median"]),
            row["unit"],
            overhead(row) if known else row["status"],
            interval(row) if known else row["error"],
            quartile(row),
            noise(row),
            permille(row),
            of_pairs(row),
        )


def allocation_rows(result):
    for row in result["results"]:
        if "us_per_allocations" in row and row["status"] == "ok":
            cost = row["us_per_allocations"]
            yield row["name"], short(cost["native"]), short(cost["gmod"])


def latency_rows(result):
    for row in result["results"]:
        if row["group"] != "latency" or "values" not in row:
            continue
        v = row["values"]
        figures = [short(v.get(key)) for key in ("p50_us", "p99_us", "max_us")]
        device = "busy" if v.get("busy") else "idle"
        yield v["buffers"], v["scan_interval_us"], device, *figures, short(v.get("trials")), permille(row), trouble(row)


def cpu_rows(result):
    """The whole CPU time of both: GMOD's thread shares the program's CPUs, and need not show in the wall time."""
    for row in paired(result):
        cpu = [median_of(row, variant, "cpu_ms") for variant in ("native", "gmod")]
        if row["variant"] == "gmod" and row["status"] == "ok" and None not in cpu and not in_ns(row):
            yield row["group"], row["name"], *map(short, (row["native_median"], row["median"], *cpu)), signed(cpu[1] - cpu[0])


def job_rows(result):
    for row in paired(result):
        memory = [median_of(row, variant, "memory_bytes") for variant in ("native", "gmod")]
        tokens = median_of(row, "gmod", "tokens")
        monitor = median_of(row, "gmod", "monitor_percent")
        each = [median_of(row, variant, key) for key in ("each_ms", "each_99_ms") for variant in ("native", "gmod")]
        if row["status"] == "ok" and any(x is not None for x in (*memory, tokens, monitor)):
            yield (
                row["group"],
                row["name"],
                *(short(m and m / 2**20) for m in memory),
                *(short(tokens and tokens / ms * 1e3) for ms in (row["native_median"], row["median"])),
                *map(short, each),
                short(monitor),
            )


def effectiveness_rows(result):
    rows = [row for row in result["results"] if row["group"] == "effectiveness"]
    tools = {row["name"]: row for row in rows if row["variant"] == "memcheck"}
    for row in rows:
        if row["variant"] != "gmod":
            continue
        v, tool = row["values"], tools.get(row["name"])
        yield (
            row["name"],
            f"{v['buffer_bytes']:.0f}" if "buffer_bytes" in v else "-",
            f"{v['found']} of {v['runs']}",
            v["class"] or "-",
            f"{v['size_named']} of {v['found']}",
            f"{v['kernel_named']} of {v['found']}",
            short(v["latency_us"]),
            short(v["latency_most_us"]),
            short(row["native_median"]),
            short(row["median"]),
            found_by(tool),
            short(tool["median"]) if tool else "-",
            trouble(row),
        )


def found_by(tool):
    """What became of the store under memcheck."""
    if not tool or not tool["values"]:
        return tool["status"] if tool else "-"
    return "yes" if tool["values"]["found"] else f"no: {tool['values']['said']}"


def footprint_rows(result):
    for row in result["results"]:
        if row["group"] != "footprint":
            continue
        native, v = row["native_values"], row["values"]
        pairs_of = [short(each.get(key)) for key in ("host_bytes", "device_bytes", "alloc_us") for each in (native, v)]
        ns = short(v.get("ns_per_buffer"))
        ns += f" ({short(v['ns_low'])} to {short(v['ns_high'])})" if "ns_low" in v else ""
        yield row["name"], *pairs_of, short(v.get("us_per_sweep")), ns, trouble(row)


def traffic(counts):
    """What moved to the device and to the host, and the faults of CPU and GPU."""
    moved = [counts.get(key) for key in ("htod_bytes", "dtoh_bytes")]
    faults = [counts.get(key) for key in ("cpu_faults", "gpu_faults")]
    return *(short(n and n / 2**20) for n in moved), *("-" if n is None else f"{n:.0f}" for n in faults)


def page_rows(result):
    """A program's native figures are those beside its first row."""
    native = set()
    for row in result["results"]:
        if row["group"] != "pages" or row["variant"] != "gmod":
            continue
        v = row["values"]
        if v["program"] not in native and row["native_values"]:
            native.add(v["program"])
            yield v["program"], "native", *traffic(row["native_values"]), short(row["native_median"]), ""
        yield v["program"], f"GMOD {v['options']}".strip(), *traffic(v), short(row["median"]), trouble(row)


def monitor_rows(result):
    for row in result["results"]:
        if row["group"] == "monitor" and "values" in row:
            said = ", ".join(f"{key} {short(v)}" for key, v in sorted(row["values"].items()))
            yield row["name"], trouble(row) or said


SECTIONS = (
    ("Verdicts", ("group", "case", "overhead:", "interval:", "target:", "verdict", "the paper's:"), verdict_rows),
    (
        "Results",
        ("group", "case", "variant", "native:", "with:", "unit", "overhead:", "95 % interval:", "lower quartile:")
        + ("A against A:", "guarded:", "pairs:"),
        result_rows,
    ),
    ("An allocation, in short runs", ("program", "native, us:", "GMOD, us:"), allocation_rows),
    (
        "Jobs",
        ("group", "job", "native, MiB at most:", "GMOD, MiB at most:", "native, tokens/s:", "GMOD, tokens/s:")
        + ("native, ms alone:", "GMOD, ms alone:", "native, 99 of 100:", "GMOD, 99 of 100:", "monitor, % of a core:"),
        job_rows,
    ),
    (
        "CPU time",
        ("group", "case", "native, wall ms:", "GMOD, wall ms:", "native, CPU ms:", "GMOD, CPU ms:", "added, CPU ms:"),
        cpu_rows,
    ),
    (
        "From the store to the finding",
        ("live buffers:", "interval, us:", "device", "median, us:", "99 of 100, us:", "most, us:", "trials:")
        + ("guarded:", ""),
        latency_rows,
    ),
    (
        "What is found of a planted store",
        ("program", "buffer, bytes:", "found", "class", "size named", "kernel named", "found after, us:", "most, us:")
        + ("kernels, ms:", "with GMOD, ms:", "memcheck finds it", "with memcheck, ms:", ""),
        effectiveness_rows,
    ),
    (
        "Page traffic",
        ("program", "with", "to the device, MiB:", "to the host, MiB:", "faults of the CPU:", "of the GPU:", "ms:", ""),
        page_rows,
    ),
    ("The monitor", ("case", "figures"), monitor_rows),
    (
        "What a live buffer takes",
        ("live buffers", "native, host bytes:", "GMOD, host bytes:", "native, device bytes:", "GMOD, device bytes:")
        + ("native, us to allocate:", "GMOD, us to allocate:", "a sweep, us:", "a sweep, ns a buffer:", ""),
        footprint_rows,
    ),
)


def markdown(result, plot):
    """plot: the name of its file, or None"""
    yield from header(result)
    for title, heads, rows in SECTIONS:
        lines = list(rows(result))
        if lines:
            yield from ("", f"## {title}", "", *table(heads, lines))
    if plot:
        yield from ("", "## Plot", "", f"![overhead]({plot})")


# ---- the plot ----


def text(x, y, what, anchor="start", color=TEXT):
    return f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{color}' {FONT}>{escape(str(what))}</text>"


def line(x1, y1, x2, y2, color=FAINT, more=""):
    return f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{color}' {more}/>"


def box(x, y, width, height, color, more=""):
    return f"<rect x='{x:.1f}' y='{y:.1f}' width='{max(width, 0.5):.1f}' height='{height:.1f}' fill='{color}' {more}/>"


def dot(x, y, color, hollow=False):
    inside = f"fill='#ffffff' stroke='{color}' stroke-width='2'" if hollow else f"fill='{color}'"
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='4' {inside}/>"


def linear(low, high, start, end):
    return lambda x: start + (x - low) / (high - low) * (end - start)


def steps(low, high):
    """Round numbers, about six of them, from the first at or below low to the first at or above high."""
    rough = (high - low) / 6
    power = 10 ** floor(log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough)
    return [i * step for i in range(floor(low / step), ceil(high / step) + 1)]


def label(row):
    case, group = CASES.get(row["name"], row["name"]), GROUPS.get(row["group"], row["group"])
    return f"{case}, {group}" if group else case


def overhead_plot(result):
    """A dot a program, its interval, the band of A against A, and the target; None: there is no program."""
    rows = [r for r in paired(result) if r["group"] in pairs.TARGETS and r["variant"] == "gmod" and r["ratio_median"]]
    if not rows:
        return None
    limits = [pairs.TARGETS[r["group"]]["each"] for r in rows]
    keys = ("ratio_low", "ratio_high", "noise_low", "noise_high")
    ends = [pairs.percent(r[key]) for r in rows for key in keys if r[key] is not None] + limits + [0]
    ticks = steps(min(ends), max(ends))
    bottom = 44 + 22 * len(rows)
    x = linear(ticks[0], ticks[-1], 280, 790)
    passed = {(one["group"], one["name"]) for one in result["verdicts"] if one["verdict"] == "pass"}
    title = f"Overhead of GMOD, {', '.join(sorted({result['parts'][r['part']]['device'] for r in rows}))}"
    marks = [f"<title>{escape(title)}</title>", text(12, 20, title)]
    for tick in ticks:
        marks.append(line(x(tick), 36, x(tick), bottom, more=f"stroke-opacity='{0.8 if abs(tick) < 1e-9 else 0.25}'"))
        marks.append(text(x(tick), bottom + 16, f"{tick:+.4g} %" if abs(tick) > 1e-9 else "0", "middle"))
    for i, (row, limit) in enumerate(zip(rows, limits)):
        y = 54 + 22 * i
        low, middle, high = (x(pairs.percent(row[key])) for key in ("ratio_low", "ratio_median", "ratio_high"))
        marks.append(text(272, y + 4, label(row), "end"))
        if row["noise_low"] is not None:
            a, b = x(pairs.percent(row["noise_low"])), x(pairs.percent(row["noise_high"]))
            marks.append(box(a, y - 8, b - a, 16, FAINT, "fill-opacity='0.3'"))
        marks.append(line(x(limit), y - 11, x(limit), y + 11, RED, "stroke-width='2'"))
        marks.append(line(low, y, high, y, BLUE, "stroke-width='2'"))
        marks.append(dot(middle, y, BLUE, (row["group"], row["name"]) not in passed))
    legend = "median (hollow: not proved yet) and 95 % interval; grey: two runs without GMOD; red: the target"
    marks.append(text(12, bottom + 38, legend))
    size = f"viewBox='0 0 840 {bottom + 50}' width='840' height='{bottom + 50}'"
    return [f"<svg xmlns='http://www.w3.org/2000/svg' {size}>", *marks, "</svg>"]


# ---- files ----


def write_lines(path, lines):
    with open(path, "w") as f:
        f.writelines(each + "\n" for each in lines)


def summary(result):
    count = {}
    for one in result["verdicts"]:
        count[one["verdict"]] = count.get(one["verdict"], 0) + 1
    return ", ".join(f"{n} {outcome}" for outcome, n in sorted(count.items())) or "no verdicts"


def remove(path, kinds=(".json", ".md", PLOT)):
    """Removes FILE.json, FILE.md and the plot, where they are."""
    for kind in kinds:
        with contextlib.suppress(FileNotFoundError):
            os.remove(path.removesuffix(".json") + kind)


def write(path):
    """Writes FILE.md and the plot beside FILE.json, or removes the plot that was there; what there is to say."""
    with open(path) as f:
        result = json.load(f)
    stem = path.removesuffix(".json")
    plot = overhead_plot(result)
    remove(path, kinds=(PLOT,))
    if plot:
        write_lines(stem + PLOT, plot)
    write_lines(f"{stem}.md", markdown(result, plot and os.path.basename(stem + PLOT)))
    return f"bench: {summary(result)}: {os.path.relpath(stem)}.md"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: report.py FILE.json")
    print(write(sys.argv[1]))
