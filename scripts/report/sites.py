"""Where the findings' buffers were allocated, as numbers that libgmod.so makes of a stack, too (backend=fence)."""

MASK = (1 << 64) - 1
MOST = 28  # as many as the value of an option holds


def _hash(numbers):
    """FNV-1a of eight bytes each, as lib/base/hash.h."""
    h = 0xCBF29CE484222325
    for number in numbers:
        for byte in number.to_bytes(8, "little"):
            h = (h ^ byte) * 0x100000001B3 & MASK
    return h


def of(findings):
    """One for each place; frames in no module have other addresses in each run, and of Python there are the lines."""
    found = {}
    for finding in findings:
        allocated = (finding.get("buffer") or {}).get("allocated") or {}
        frames = [int(f["offset"], 16) for f in allocated.get("frames", ()) if f.get("module")]
        lines = [f["line"] for f in allocated.get("python", ())]
        if lines or frames:
            found[f"{_hash(lines or frames):x}"] = True
    return list(found)[:MOST]
