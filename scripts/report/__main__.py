"""gmod report: reads logs of many processes and hosts, and says what is wrong, where. See gmod-report(1)."""
import argparse
import collections
import os
import re
import shutil
import sys

if sys.version_info < (3, 8):
    sys.exit("gmod report: needs Python 3.8 or later; this python3 is " + sys.version.split()[0])

import as_html
import as_json
import as_sarif
import as_text
import baseline
import clocks
import groups
import html_parts
import job
import logs
import sites
import suppressions
import symbols
from snapshot import Snapshot


FOUND = 86  # as a program's with exit_on_findings
NAMED = 8   # processes, of those that a note is about


def say(text):
    print("gmod report: " + as_text.clean(text), file=sys.stderr)


def folder(path):
    if not os.path.isdir(path):
        raise argparse.ArgumentTypeError(f"{path} is no folder")
    return path


def program(name):
    if not shutil.which(name):
        raise argparse.ArgumentTypeError(f"{name} is no program")
    return name


FAILS = ("findings", "incomplete", "unguarded", "new")


def fails(words):
    wrong = [word for word in words.split(",") if word not in FAILS]
    if wrong:
        raise argparse.ArgumentTypeError(f"{wrong[0]} is none of {', '.join(FAILS)}")
    return words.split(",")


class Parser(argparse.ArgumentParser):
    def error(self, message):
        say(f"{message}; see gmod report --help")
        sys.exit(2)


def arguments():
    parser = Parser(prog="gmod report", allow_abbrev=False,
                                     description="Groups the findings of GMOD's logs, and puts source lines to them.")
    parser.add_argument("file", nargs="+", help="a log in text or JSON; - is standard input")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object")
    form.add_argument("--sarif", action="store_true", help="print SARIF 2.1.0")
    parser.add_argument("--html", metavar="FILE", help="write one HTML page there, too")
    parser.add_argument("--snapshot", metavar="[RANK:]FILE", action="append", default=[],
                        help="a memory snapshot of PyTorch's; may be repeated")
    parser.add_argument("--modules", metavar="DIR", type=folder, action="append", default=[],
                        help="where the modules lie, if not where they were; may be repeated")
    parser.add_argument("--symbolizer", metavar="PROGRAM", type=program, help="llvm-symbolizer or addr2line, whichever is there")
    parser.add_argument("--fail", metavar="WHAT[,WHAT]", type=fails, default=[],
                        help="end with status 86 if there are findings (--fail alone), incomplete: processes that did not get to "
                             "their end, or unguarded: some of which no memory was guarded")
    parser.add_argument("--baseline", metavar="LOG", nargs="+", action="append", default=[],
                        help="logs of an earlier run, up to the word --: say what is new, the same, and gone")
    form.add_argument("--sites", action="store_true", help="print where the findings' buffers were allocated, for gmod --exact=FILE")
    parser.add_argument("--no-symbols", action="store_true", help="leave the modules alone: no source lines")
    # The next word is a log's name, not the option's value.
    options = parser.parse_args(["--fail=findings" if word == "--fail" else word for word in sys.argv[1:]])
    options.baseline = [name for names in options.baseline for name in names]
    if "new" in options.fail and not options.baseline:
        parser.error("--fail=new needs a --baseline")
    return options


def read_snapshots(names):
    """(snapshots, problems)"""
    found, problems = [], []
    for name in names:
        m = re.match(r"(?:(\d+):)?(.*)", name, re.S)
        try:
            found.append(Snapshot(m[2], int(m[1]) if m[1] else None))
        except OSError as error:
            problems.append(f"{m[2]}: {error.strerror}")
        except ValueError as error:
            problems.append(f"{m[2]}: {error}")
    return found, problems


def put_names(findings, memory, options):
    """Source lines to frames, readable names to what is mangled. Returns notes."""
    table = symbols.Symbols(options.modules, options.symbolizer)
    stacks = [moment for finding in findings for _, moment in groups.moments(finding)]
    stacks += [site for event in memory for site in event["peak"]["sites"]]
    frames = [frame for moment in stacks for frame in moment.get("frames", ())]
    if options.no_symbols:
        return []
    table.resolve(frames)
    faults = [finding["fault"] for finding in findings if finding.get("fault")]
    kernels = faults + [suspect for finding in findings for suspect in finding["suspects"]]
    symbols.disassemble(faults)
    readable = symbols.demangle([thing.get("symbol") for thing in frames + kernels])
    for frame in frames:
        frame["function"] = readable.get(frame.get("symbol")) or frame.get("function")
    for kernel in kernels:
        kernel["name"] = readable.get(kernel.get("symbol")) or kernel.get("kernel")
    return table.notes


def put_tensors(findings, snapshots):
    for finding in findings:
        address = groups.damage_address(finding)
        near = [s.around(address, finding.get("device"), finding.get("rank")) for s in snapshots] if address else []
        finding["tensors"] = [one for one in near if one]


def processes_of(events):
    found = {}
    for event in events:
        one = found.setdefault(groups.process_of(event), {
            "host": event.get("host"), "pid": event["pid"], "rank": event.get("rank"), "version": event.get("version"),
            "command": None, "findings": None, "guarded_permille": None})
        for key in ("command", "findings", "guarded_permille"):
            if event.get(key) is not None:
                one[key] = event[key]
    return sorted(found.values(), key=lambda p: (str(p["host"]), p["rank"] is None, p["rank"] or 0, p["pid"]))


def not_shown(events, findings):
    """Notes: a process counts what it does not report, beyond five of a site and max_reports in all."""
    shown = collections.Counter(map(groups.process_of, findings))
    counted = [(event, event["findings"] - shown[groups.process_of(event)]) for event in events if event["event"] == "summary"]
    counted = [(event, more) for event, more in counted if more > 0]
    for event, more in counted[:NAMED]:
        where = f" on {event['host']}" if event["host"] else ""
        yield f"process {event['pid']}{where}: {as_text.plural(more, 'further finding')} counted, and not in its log"
    if counted[NAMED:]:
        others, rest = len(counted) - NAMED, sum(more for _, more in counted[NAMED:])
        yield f"{as_text.plural(others, 'other process')}: {as_text.plural(rest, 'further finding')} counted, and not in their logs"


def not_looked_at(events):
    """(those that did not get to their end, those that guarded nothing): they may be without findings because of that."""
    began = dict.fromkeys(groups.process_of(e) for e in events if groups.is_start(e))
    share = {groups.process_of(e): e.get("guarded_permille") for e in events if e["event"] == "summary"}
    return [p for p in began if p not in share], [p for p in began if share.get(p) == 0]


def not_looked_at_notes(incomplete, unguarded):
    for who, what in ((incomplete, "no closing line: killed, or still running, so what came last was not looked at"),
                      (unguarded, "0.0 % of the device memory guarded")):
        if who:
            more = f" and {as_text.plural(len(who) - 1, 'other')}" if who[1:] else ""
            yield f"process {who[0][1]} ({who[0][0]}){more}: {what}"


def read(names):
    """(events, findings, problems) of a run's logs."""
    events, problems = logs.read(dict.fromkeys(names))
    groups.join_processes(events)
    return events, groups.final(events), problems


def main():
    sys.stdout.reconfigure(errors="backslashreplace")
    sys.stderr.reconfigure(errors="backslashreplace")
    options = arguments()
    events, findings, problems = read(options.file)
    if options.sites:
        print(",".join(sites.of(findings)), sites.nearness(findings), sep="\n")
        return 0
    _, earlier, more = read(options.baseline)
    suppressions.count_covered(findings)
    clocks.put_order(findings)
    snapshots, unread = read_snapshots(options.snapshot)
    problems += more + unread
    facts = job.Job(events, findings)
    notes = put_names(findings + earlier, facts.memory.values(), options)
    put_tensors(findings, snapshots)
    found, processes = groups.group(findings), processes_of(events)
    gone = baseline.compare(found, groups.group(earlier)) if options.baseline else None
    notes += clocks.notes(findings)
    notes += not_shown(events, findings)
    incomplete, unguarded = not_looked_at(events)
    notes += not_looked_at_notes(incomplete, unguarded)
    if options.html:
        page = as_html.render(found, processes, notes, problems, facts, gone, with_source=not options.no_symbols)
        problems += html_parts.write(options.html, page)
    form = as_json if options.json else as_sarif if options.sarif else as_text
    if events or not problems or form is not as_text:
        problems += as_text.put(form.render(found, processes, notes, gone))
    for problem in problems:
        say(problem)
    there = {"findings": findings, "incomplete": incomplete, "unguarded": unguarded,
             "new": [group for group in found if group.state == baseline.NEW]}
    return 1 if problems else FOUND if any(there[what] for what in options.fail) else 0


if __name__ == "__main__":
    sys.exit(main())
