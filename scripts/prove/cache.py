"""Verdicts that are kept from run to run, in a folder of the user's: a file for each, named by all that the verdict depends on.

A file is the SHA-256 of what follows its first line, and that. What cannot be read is proved again; what cannot be written is not
kept.
"""
import contextlib
import hashlib
import json
import os

import solver

MOST_BYTES = 64 << 20


def folder():
    """None where there is no place for it."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    path = os.path.join(base if os.path.isabs(base) else os.path.expanduser("~/.cache"), "gmod", "prove")
    return path if os.path.isabs(path) else None


def _digest(*parts):
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _version():
    """Of the prover and of its solver."""
    here, sources = os.path.dirname(os.path.abspath(__file__)), []
    for name in sorted(os.listdir(here)):
        if name.endswith(".py"):
            with open(os.path.join(here, name), "rb") as source:
                sources.append((name, source.read()))
    return _digest(sources, solver.z3 and solver.z3.get_version_string())


class Cache:
    """path: None where nothing is to be kept."""

    def __init__(self, path, limits):
        self.path = path
        self.version = path and _digest(_version(), limits)

    def file(self, launch, ptx):
        """Of the launch's verdicts, or None."""
        return self.path and os.path.join(self.path, _digest(self.version, ptx, launch.signature(), launch.function.parameters))

    def get(self, file):
        """What put() was given, or None."""
        if not file:
            return None
        try:
            with open(file, "rb") as source:
                digest, body = source.read(MOST_BYTES).split(b"\n", 1)
            return json.loads(body) if digest.decode() == hashlib.sha256(body).hexdigest() else None
        except (OSError, ValueError):
            return None

    def put(self, file, value):
        if not file:
            return
        body = json.dumps(value).encode()
        new = f"{file}.{os.getpid()}"
        try:
            os.makedirs(self.path, 0o700, exist_ok=True)
            with open(new, "wb") as out:
                out.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)
            os.replace(new, file)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(new)

    def trim(self):
        """Remove the oldest files where all are too large together."""
        if not self.path:
            return
        with contextlib.suppress(OSError):
            with os.scandir(self.path) as entries:
                files = sorted(((one.stat(follow_symlinks=False), one.path) for one in entries), key=lambda one: -one[0].st_mtime)
            total = 0
            for status, path in files:
                total += max(status.st_size, 512)
                if total > MOST_BYTES:
                    os.unlink(path)
