"""Groups for programs: one object. The findings in it are as log.schema.json has them, and what was found out besides."""
import json


def one(group):
    function, file, line = group.site()
    compared = {"baseline": group.state} if group.state else {}
    return {
        **compared, "class": group.first["class"], "message": group.first["message"], "fingerprint": group.fingerprint,
        "site": {"function": function, "file": file, "line": line},
        "count": len(group.findings), "processes": len(group.processes()),
        "hosts": [{"host": host, "ranks": ranks} for host, ranks in group.hosts().items()],
        "incomplete": group.incomplete,
        "suspects": [{"kernel": name, "findings": count} for name, count, _ in group.suspects()],
        "findings": group.findings,
    }


def render(groups, processes, notes, gone):
    value = {"schema": "gmod-groups-1", "groups": [one(group) for group in groups],
             "processes": [dict(process) for process in processes], "notes": notes}
    if gone is not None:
        value["gone"] = [one(group) for group in gone]
    return json.dumps(value, indent=1) + "\n"
