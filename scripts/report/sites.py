"""Where the findings' buffers were allocated, as the option fence_sites has it."""

MOST = 28  # as many as the value of an option holds


def of(findings):
    """One for each place."""
    return list(dict.fromkeys(site for site in ((f.get("buffer") or {}).get("fence_site") for f in findings) if site))[:MOST]
