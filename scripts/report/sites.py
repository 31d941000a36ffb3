"""Where the findings' buffers were allocated, and how near the fences have to be, as options of GMOD have it."""

import re

MOST = 28  # as many as the value of an option holds
STEP = re.compile(r"gmod --exact (?:--per-tensor )?(?:--fence_side=(start|end) )?(?:--fence_align=(\d+) )?")


def of(findings):
    """For fence_sites: one for each place."""
    return list(dict.fromkeys(site for site in ((f.get("buffer") or {}).get("fence_site") for f in findings) if site))[:MOST]


def nearness(findings):
    """The least alignment of their next steps, and the side where all have it at the start; by default it is the end."""
    steps = [m for m in (STEP.match(f.get("next_step") or "") for f in findings if f.get("buffer")) if m]
    aligns = [int(m[2]) for m in steps if m[2]]
    options = ["fence_side=start"] if steps and all(m[1] == "start" for m in steps) else []
    return ":".join(options + ([f"fence_align={min(aligns)}"] if aligns else []))
