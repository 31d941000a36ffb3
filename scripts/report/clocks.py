"""The findings of all processes on one clock: which came first, and how much later the others came."""
from groups import clock, process_of, seconds, stamp_of

SHOWN, FAULTS_SHOWN = 3, 8  # processes of a group, in their order


def put_order(findings):
    """To each finding how many seconds it came later than the first one: where there are several processes, or faults."""
    several = len(set(map(process_of, findings))) > 1
    compared = findings if several else [f for f in findings if f["class"] == "gpu-fault"]
    times = [(f, seconds(stamp_of(f))) for f in compared]
    times = [(f, time) for f, time in times if time is not None]
    first = min((time for _, time in times), default=None)
    for f, time in times if len(times) > 1 else ():
        f["later"] = round(time - first, 6)


def who_words(finding):
    who = f"rank {finding['rank']}" if finding.get("rank") is not None else f"process {finding['pid']}"
    where = f" on {finding['host']}" if finding.get("host") else ""
    return who + where + (f" (start {finding['life']})" if finding["life"] > 1 else "")


def by_process(group):
    """The first finding of each process, in their order."""
    first = {}
    for finding in sorted((f for f in group.findings if "later" in f), key=lambda f: f["later"]):
        first.setdefault(process_of(finding), finding)
    return list(first.values())


def order_lines(group):
    ordered = by_process(group)
    fault = group.first["class"] == "gpu-fault"
    shown = FAULTS_SHOWN if fault else SHOWN
    for f in ordered[:shown]:
        yield (f"later, on {who_words(f)}, by {f['later']:.3f} s" if f["later"] else
               f"the first {'fault' if fault else 'finding'}, on {who_words(f)}, at {clock(stamp_of(f))}")
    if len(ordered) > shown:
        yield f"and {len(ordered) - shown} more"


def notes(findings):
    """No line of a log says what two hosts' clocks showed at one moment."""
    hosts = {f.get("host") for f in findings if "later" in f and f.get("host")}
    if len(hosts) > 1:
        yield f"the order is by the clocks of {len(hosts)} hosts, which may differ: by how much is not known"
