"""The lines of source around a place, where its file is at hand.

A log names files that whoever wrote it likes, and a page may be handed on: only regular files that are called as source
is are read, by their own names and by what links lead to.
"""
import functools
import os
import stat

from groups import seconds

AROUND = 3
SUFFIXES = (".c", ".cc", ".cpp", ".cxx", ".cu", ".cuh", ".f", ".f90", ".h", ".hh", ".hpp", ".hxx", ".inc", ".jl", ".py", ".pyx", ".rs")
MOST = 4 << 20  # bytes


@functools.lru_cache(maxsize=256)
def _lines(path):
    """(lines, when it was written last); (): it is not at hand, or no source."""
    try:
        if not os.path.isabs(path) or not path.endswith(SUFFIXES) or not os.path.realpath(path).endswith(SUFFIXES):
            return ()
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode) or about.st_size > MOST:
                return ()
            return file.read(MOST).decode("utf-8", "replace").splitlines(), about.st_mtime
    except (OSError, ValueError):
        return ()


def around(path, line, stamp):
    """([(number, text)], has it changed since the run?); None: it is not at hand."""
    found = _lines(path) if line else ()
    if not found or line > len(found[0]):
        return None
    lines, written = found
    first = max(line - AROUND, 1)
    some = [(n, lines[n - 1].expandtabs(4)) for n in range(first, min(line + AROUND, len(lines)) + 1)]
    return some, seconds(stamp) is not None and written > seconds(stamp)
