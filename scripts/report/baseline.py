"""Compares the groups of two runs: a group is the same by its class and its site, whatever its suspects are.

Another build has other offsets. A site without source lines is then the same by its functions, where the logs name other
build-ids for its modules.
"""
from groups import is_program, site_moment

NEW, SAME, GONE = "new", "the same", "gone"


def _keys(group):
    return {group.key} | {(f["class"], f["site_hash"]) for f in group.findings if f.get("site_hash")}


def _frames(group):
    return [f for f in site_moment(group.first).get("frames", ()) if is_program(f)]


def _functions(group):
    """The class and the site's functions; None: some are not known, or it is of Python, which has lines in any build."""
    frames = _frames(group)
    names = tuple((f["module"], f.get("symbol") or f.get("function")) for f in frames)
    known = names and all(name for _, name in names) and not site_moment(group.first).get("python")
    return (group.first["class"], names) if known else None


def _is_rebuilt(one, other):
    builds = {f["module"]: f.get("build_id") for f in _frames(one)}
    return any(builds[f["module"]] != f.get("build_id") for f in _frames(other) if builds.get(f["module"]) and f.get("build_id"))


def is_same(one, other):
    if _keys(one) & _keys(other):
        return True
    functions = _functions(one)
    return functions is not None and functions == _functions(other) and _is_rebuilt(one, other)


def compare(groups, old):
    """Give each group its state. Returns the groups of the old run that are gone."""
    left = list(old)
    for group in groups:
        found = [other for other in old if is_same(group, other)]
        group.state = SAME if found else NEW
        left = [other for other in left if other not in found]
    for group in left:
        group.state = GONE
    return left


def counts_words(groups, gone):
    states = [group.state for group in groups]
    return f"{states.count(NEW)} new, {states.count(SAME)} the same, {len(gone)} gone"
