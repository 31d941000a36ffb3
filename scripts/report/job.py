"""What the logs say of the job as a whole: its processes, how they ended, how much of their memory was guarded, what it cost."""
import collections

from as_text import plural
from groups import clock, process_of, ranks_words, seconds, stamp_of

FAULTS = ("gpu-fault", "post-mortem")
NAMED = 8  # hosts, GPUs, commands
COSTS = {"own_cpu_ms": "CPU time of its threads", "own_hooks_ms": "in its hooks, an estimate", "own_gpu_ms": "GPU time of its looks"}


class Job:
    def __init__(self, events, findings):
        self.findings = findings
        self.processes = {}   # in the order of hosts and ranks: an event of each
        self.summaries, self.memory = {}, {}
        for event in events:
            process = process_of(event)
            self.processes.setdefault(process, event)
            if event["event"] in ("summary", "memory"):
                (self.summaries if event["event"] == "summary" else self.memory)[process] = event
        self.processes = dict(sorted(self.processes.items(), key=lambda item: order_of(item[1])))

    def hosts(self):
        """{host: its processes}"""
        hosts = {}
        for process, event in self.processes.items():
            hosts.setdefault(event.get("host") or "", []).append(process)
        return hosts

    def is_closed(self, process):
        return process in self.summaries

    def values(self, name):
        """Of findings, each once, the most frequent first."""
        return [value for value, _ in collections.Counter(f[name] for f in self.findings if f.get(name)).most_common()]

    # ---- in words ----

    def host_words(self):
        hosts = [host for host in self.hosts() if host]
        ranks = [event.get("rank") for event in self.processes.values()]
        names = few_words(hosts) if len(hosts) <= NAMED else f"{len(hosts)} hosts, {hosts[0]} to {hosts[-1]}"
        return f"{names or 'not known'}: {ranks_words(ranks)}" if ranks else "not known"

    def time_words(self):
        stamps = [s["time"] for m in self.memory.values() for s in m["samples"]]
        stamps += [stamp for f in self.findings for stamp in (f.get("time"), stamp_of(f), *_born(f))]
        stamps = sorted(s for s in stamps if seconds(s) is not None)
        runs = [s["run_ms"] for s in self.summaries.values() if s.get("run_ms") is not None]
        parts = [f"{stamps[0].split('T')[0]}, {clock(stamps[0])[:8]} to {clock(stamps[-1])[:8]} UTC by the logs"] if stamps else []
        return "; ".join(parts + ([f"{max(runs) / 1000:.1f} s at most in a process"] if runs else []))

    def end_words(self):
        count, closed = len(self.processes), sum(map(self.is_closed, self.processes))
        words = [f"{'all' if closed == count else closed} of {plural(count, 'process')} got to their end"]
        if count == 1:
            words = ["it got to its end"] if closed else []
        if closed < count:
            who = "it has" if count == 1 else "1 has" if count - closed == 1 else f"{count - closed} have"
            words.append(f"{who} no closing line: killed, or still running")
        gone = {process_of(f) for f in self.findings if f["class"] in FAULTS}
        return "; ".join(words + ([f"the GPU gave up in {plural(len(gone), 'process')}"] if gone else []))

    def cost_words(self):
        """Nothing where no closing line has it."""
        told = [s for s in self.summaries.values() if all(s.get(name) is not None for name in ("run_ms", *COSTS))]
        if not told:
            return ""
        run = sum(s["run_ms"] for s in told) or 1
        parts = []
        for name, words in COSTS.items():
            spent = sum(s[name] for s in told)
            parts.append(f"{100 * spent / run:.2f} % {words} ({spent / 1000:.1f} s)")
        of = "" if len(told) == len(self.processes) else f" of {plural(len(told), 'process')}"
        return "; ".join(parts) + f"; of {run / 1000:.1f} s{of}"

    def coverage(self):
        """[(kind, in words, bytes)], as far as closing lines have bytes."""
        sums = collections.Counter()
        for s in self.summaries.values():
            sums.update({name: s[name] for name in s if name.startswith(("bytes_", "buffers_"))})
        if not any("bytes_guarded" in s for s in self.summaries.values()):
            return [], 0
        pool = max(sums["bytes_ordered"] - sums["bytes_ordered_guarded"], 0)
        parts = (("fenced", "fenced: nothing is mapped behind", sums["bytes_fenced"] + sums["bytes_ordered_fenced"]),
                 ("guarded", "guarded", sums["bytes_guarded"] - sums["bytes_fenced"]),
                 ("pool", "guarded in pools", sums["bytes_ordered_guarded"] - sums["bytes_ordered_fenced"]),
                 ("native", "left native", sums["bytes_unguarded"]), ("bare", "in pools, not guarded", pool),
                 ("mapping", "mappings", sums["bytes_mappings"]),
                 ("other", "other kinds that GMOD does not guard", sums["bytes_uncovered"] - sums["bytes_mappings"] - pool))
        return [part for part in parts if part[2] > 0], sums["buffers_capped"]

    def share_words(self):
        """The guarded share, of text logs, too; nothing where no closing line has it."""
        shares = [s["guarded_permille"] for s in self.summaries.values() if s.get("guarded_permille") is not None]
        if not shares:
            return ""
        least, most = min(shares) / 10, max(shares) / 10
        share = f"{least}" if least == most else f"{least} to {most}"
        return f"{share} % of the device memory was guarded"


def _born(finding):
    allocated = (finding.get("buffer") or {}).get("allocated") or {}
    return (allocated.get("time"),)


def order_of(event):
    return str(event.get("host")), event.get("rank") is None, event.get("rank") or 0, event["pid"], event["life"]


def few_words(values, most=NAMED):
    more = len(values) - most
    return ", ".join(map(str, values[:most])) + (f" and {more} more" if more > 0 else "")
