"""Results for programs: one object."""
import json

from alarms import confirming, site_of, site_words


def _access(access, launch):
    if access["verdict"] != "alarm":
        return access
    memory = dict(access["memory"], site=site_words(site_of(launch, access)))
    return dict(access, memory=memory, confirm=confirming(access, launch))


def _launch(launch, times, result):
    return {"kernel": launch.function.name, "image": launch.function.image[1] if launch.function.image else None,
            "grid": launch.grid, "block": launch.block, "shared": launch.shared, "launches_recorded": times, "ptx": result.ptx,
            "undecided": result.why, "note": result.note, "accesses": [_access(access, launch) for access in result.accesses]}


def render(told):
    value = {"schema": "gmod-prove-1", "launches": [_launch(launch, times, result)
                                                    for (launch, times), result in zip(told.launches, told.results)],
             "suppressed": told.covered, "notes": told.notes}
    return json.dumps(value, indent=1) + "\n"
