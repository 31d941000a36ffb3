"""Results for programs: one object."""
import json

import as_text


def one(launch, times, result):
    accesses = [dict(access, confirm=as_text.confirming(access, launch)) if access["verdict"] == "alarm" else access
                for access in result.accesses]
    return {"kernel": launch.function.name, "image": launch.function.image[1] if launch.function.image else None,
            "grid": launch.grid, "block": launch.block, "shared": launch.shared, "launches_recorded": times,
            "undecided": result.why, "note": result.note, "accesses": accesses}


def render(launches, results, notes):
    value = {"schema": "gmod-prove-1", "launches": [one(launch, times, result)
                                                    for (launch, times), result in zip(launches, results)], "notes": notes}
    return json.dumps(value, indent=1) + "\n"
