"""Groups as SARIF 2.1.0, for code hosts and editors: a result for each group."""
import json
import os
from urllib.parse import quote

import baseline
from as_text import caught_lines, clean, fault_lines, message_words, plural, stack_lines, suspect_lines
from clocks import order_lines
from groups import hosts_words, moments, place
from schema import CLASSES

STATES = {baseline.NEW: "new", baseline.SAME: "unchanged", baseline.GONE: "absent"}


def _uri(file):
    return ("file://" if os.path.isabs(file) else "") + quote(file)


def location(function, file, line):
    """A place in a source file; a module and an offset are no such place, and only named."""
    where = {}
    if line:
        where["physicalLocation"] = {"artifactLocation": {"uri": _uri(file)}, "region": {"startLine": line}}
    if function or not line:
        where["logicalLocations"] = [{"fullyQualifiedName": clean(function or file), "kind": "function"}]
    return where


def _stack(words, moment):
    frames = [{"location": location(f["function"], f["file"], f["line"])} for f in moment.get("python") or ()]
    for frame in moment.get("frames") or ():
        one = {"location": location(*place(frame))}
        if frame.get("module"):
            one["module"] = clean(frame["module"])
        frames.append(one)
    return {"message": {"text": words}, "frames": frames}


def _result(group):
    f = group.first
    lines = [f"{message_words(f)} ({plural(len(group.findings), 'finding')} {hosts_words(group)})"]
    lines += caught_lines(group)
    lines += fault_lines(group)
    lines += order_lines(group)
    for words, moment in moments(f):
        lines.append(f"{words}:")
        lines += ["  " + line for line in stack_lines(moment)]
    if group.incomplete:
        lines.append("incomplete: " + "; ".join(group.incomplete))
    lines += ["suspects: " + line for line in suspect_lines(group)]
    if f.get("next_step"):
        lines.append("next step: " + f["next_step"])
    launches = [(s[0], s[2]["python"][0]) for s in group.suspects() if s[2].get("python")]
    result = {
        "ruleId": f["class"], "level": "error", "message": {"text": "\n".join(clean(line) for line in lines)},
        "locations": [location(*group.site())], "occurrenceCount": len(group.findings),
        "stacks": [_stack(words, moment) for words, moment in moments(f)],
        "partialFingerprints": {"gmodSite/v1": group.fingerprint},
    }
    if group.state:
        result["baselineState"] = STATES[group.state]
    if launches:
        result["relatedLocations"] = [dict(location(p["function"], p["file"], p["line"]),
                                           message={"text": clean(f"{kernel} is launched here")}) for kernel, p in launches]
    return result


def document(rules, results, notes, version=None):
    """rules: {id: in words}"""
    driver = {"name": "GMOD", "rules": [{"id": rule, "shortDescription": {"text": words}} for rule, words in rules.items()]}
    if version:
        driver["version"] = clean(version)
    run = {"tool": {"driver": driver}, "results": results}
    if notes:
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications":
                               [{"message": {"text": clean(note)}, "level": "note"} for note in notes]}]
    value = {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}
    return json.dumps(value, indent=1) + "\n"


def render(groups, processes, notes, gone):
    groups = [*groups, *(gone or ())]
    rules = {c: CLASSES.get(c, "Another class of finding.") for c in sorted({group.first["class"] for group in groups})}
    version = next((p["version"] for p in processes if p["version"]), None)
    return document(rules, [_result(group) for group in groups], notes, version)
