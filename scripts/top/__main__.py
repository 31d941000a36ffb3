"""gmod top: a line for each process that runs under GMOD with stats_path, refreshed. See gmod(1)."""

import argparse
import os
import re
import signal
import socket
import sys
import time

METRIC = re.compile(r'gmod_([a-z_]+)\{([^}]*)\} ([0-9.]+)$')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')
MOST = 1 << 20  # no file of GMOD's is as long
COLUMNS = (("HOST", 12), ("RANK", 4), ("PID", 7), ("STATE", 7), ("FOUND", 6), ("GUARDED", 8), ("BUFFERS", 8), ("OWN COST", 9), ("AGE", 5))


def arguments():
    parser = argparse.ArgumentParser(prog="gmod top", description="Shows the processes that run under GMOD, a line each.",
                                     epilog="They need stats_path: gmod --stats_path=DIR/%h.%p.prom command...")
    parser.add_argument("paths", nargs="*", metavar="DIR|FILE", help="what stats_path names, or the folder of it (default: here)")
    parser.add_argument("--once", action="store_true", help="print the lines once, and end")
    parser.add_argument("--interval", type=float, default=2, metavar="S", help="seconds between two looks (default: 2)")
    given = parser.parse_args()
    if not 0.1 <= given.interval <= 3600:
        parser.error("--interval is between 0.1 and 3600 seconds")
    return given


def files_of(path):
    if not os.path.isdir(path):
        return [path]
    return [entry.path for entry in os.scandir(path) if entry.is_file()]


def read(path):
    """What a file of stats_path says, or None for another file."""
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read(MOST)
    if not text.startswith("# TYPE gmod_"):
        return None
    process = {"findings": {}, "age": time.time() - os.stat(path).st_mtime}
    for line in text.splitlines():
        found = METRIC.match(line)
        if not found:
            continue
        name, labels, value = found[1], dict(LABEL.findall(found[2])), float(found[3])
        process.update({key: labels[key] for key in ("host", "rank", "pid") if key in labels})
        if name == "findings_total":
            process["findings"][labels.get("class", "?")] = int(value)
        elif name != "guarded_ratio" or labels.get("kind") == "all":
            process[name] = value
    return process


def state_of(process):
    if process.get("ended"):
        return "ended"
    if process.get("host") != socket.gethostname() or not process.get("pid", "").isdigit():
        return "-"  # of another host, or of a container
    return "runs" if os.path.exists(f"/proc/{process['pid']}") else "killed?"


def cost_of(process):
    """CPU time of GMOD's threads and of its hooks, in percent of the time that the process has run."""
    run = process.get("run_ms_total")
    if not run:
        return "-"
    return f"{100 * (process.get('own_cpu_ms_total', 0) + process.get('own_hooks_ms_total', 0)) / run:.2f} %"


def age_words(seconds):
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= size:
            return f"{int(seconds / size)}{unit}"
    return f"{max(int(seconds), 0)}s"


def clean(words):
    """No terminal is moved by what a file says."""
    return "".join(c if c.isprintable() else "?" for c in words)


def line_of(process):
    guarded = process.get("guarded_ratio")
    found = {name: count for name, count in process["findings"].items() if count}
    cells = (process.get("host", "?"), process.get("rank", "-"), process.get("pid", "?"), state_of(process), str(sum(found.values())),
             "-" if guarded is None else f"{100 * guarded:.1f} %", f"{process.get('buffers_guarded_total', 0):.0f}",
             cost_of(process), age_words(process["age"]))
    words = " ".join(clean(cell).ljust(width) for cell, (_, width) in zip(cells, COLUMNS))
    return f"{words} " + (", ".join(f"{clean(name)} {count}" for name, count in sorted(found.items())))


def screen(paths):
    """The lines, and how many processes they are of."""
    processes, problems = [], []
    for path in paths:
        try:
            named = files_of(path)
        except OSError as error:
            problems.append(f"gmod top: {path}: {error.strerror}")
            continue
        for file in named:
            try:
                process = read(file)
            except FileNotFoundError:
                process = None  # replaced, or gone, since the folder was read
                if file == path:
                    problems.append(f"gmod top: {path}: not there yet")
            except OSError as error:
                problems.append(f"gmod top: {file}: {error.strerror}")
                continue
            if process:
                processes.append(process)
            elif file == path and os.path.exists(path):
                problems.append(f"gmod top: {path} is no file of stats_path")
    processes.sort(key=lambda p: (state_of(p) in ("ended", "killed?"), p.get("host", ""), *((len(p.get(key, "")), p.get(key, "")) for key in ("rank", "pid"))))
    if not processes and not problems:
        problems.append("gmod top: no process has written there; run it as: gmod --stats_path=DIR/%h.%p.prom command...")
    head = " ".join(name.ljust(width) for name, width in COLUMNS) + " BY CLASS"
    return ([head] if processes else []) + [line_of(p) for p in processes] + problems, len(processes)


def main():
    given = arguments()
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    refreshed = sys.stdout.isatty() and not given.once
    while True:
        lines, count = screen(given.paths or ["."])
        if refreshed:
            size = os.get_terminal_size()
            rows, columns = size.lines or 24, size.columns or 80  # 0: nobody has said
            hidden = len(lines) - (rows - 1)
            if hidden > 0:
                lines[rows - 2:] = [f"and {hidden + 1} more lines"]
            print("\033[H\033[J", end="")
            lines = [line[:columns] for line in lines]
        print("\n".join(lines), flush=True)
        if given.once:
            return 0 if count else 1
        time.sleep(given.interval)
        if not refreshed:
            print(flush=True)


if __name__ == "__main__":
    sys.exit(main())
