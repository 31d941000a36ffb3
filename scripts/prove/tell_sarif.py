"""Alarms as SARIF 2.1.0: a result for each."""
import hashlib

import alarms
from as_sarif import document, location
from as_text import clean


def _result(alarm):
    access = alarm.access
    source = access["source"] or {"file": alarm.kernel, "line": None}
    lines = [f"{alarms.what(access)}: {alarm.kernel} {alarms.place(access)}", *alarm.witness(), f"to confirm it: {alarm.confirming()}"]
    result = {"ruleId": alarm.rule, "level": "warning", "message": {"text": "\n".join(map(clean, lines))},
              "locations": [location(alarm.kernel, source["file"], source["line"])],
              "partialFingerprints": {"gmodPossible/v1": hashlib.sha256(repr(alarm.key).encode("utf-8", "replace")).hexdigest()[:16]}}
    if access["inlined_at"]:
        result["relatedLocations"] = [dict(location(None, at["file"], at["line"]), message={"text": "inlined here"})
                                      for at in access["inlined_at"]]
    return result


def render(told):
    used = sorted({alarm.rule for alarm in told.alarms})
    return document({rule: alarms.RULES[rule] for rule in used}, [_result(alarm) for alarm in told.alarms],
                    alarms.not_looked_at(told.undecided) + told.notes)
