"""The PTX of the images in a journal's folder: as it is, or taken out of a cubin or fatbin by cuobjdump."""
import functools
import hashlib
import os
import re
import shutil
import subprocess

import ptx

MOST_TEXT = 64 << 20
MOST_IMAGE = 1 << 30
NONE = "the image has none: compile with -gencode=arch=...,code=compute_..."
INSTALL = "install cuobjdump (CUDA toolkit), or: pip install nvidia-cuda-cuobjdump"


class NoPtx(Exception):
    """Its text says why there is no PTX of an image."""


def cuobjdump():
    """The program, or None: what is installed, or the package's of PyPI."""
    found = shutil.which("cuobjdump")
    if found:
        return found
    for folder in ("/usr/local/cuda/bin",):
        if os.access(os.path.join(folder, "cuobjdump"), os.X_OK):
            return os.path.join(folder, "cuobjdump")
    try:
        from importlib import metadata
        files = metadata.files("nvidia-cuda-cuobjdump") or ()
    except Exception:  # no such package, whatever says so
        return None
    for one in files:
        if one.name == "cuobjdump":
            path = str(one.locate())
            return path if os.access(path, os.X_OK) else None
    return None


def _read(path, most):
    if os.path.getsize(path) > most:
        raise NoPtx("the image is too large")
    with open(path, "rb") as source:
        return source.read(most)


def _decoded(data):
    return data.rstrip(b"\0").decode("utf-8", "replace")


def _in_fatbin(path):
    if os.path.getsize(path) > MOST_IMAGE:
        raise NoPtx("the image is too large")
    program = cuobjdump()
    if program is None:
        raise NoPtx(INSTALL)
    try:
        with subprocess.Popen([program, "-ptx", path], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as child:
            text = child.stdout.read(MOST_TEXT).decode("utf-8", "replace")
            child.kill()
    except OSError:
        raise NoPtx("cuobjdump has failed") from None
    # Behind each text come the headings of the next one.
    return [re.sub(r"\n(?:Fatbin |={5,}).*", "\n", one, flags=re.S) for one in _each(text)]


def _each(text):
    """The texts of one that are behind each other."""
    starts = [m.start() for m in re.finditer(r"^\.version\s", text, re.M)]
    return [text[first:behind] for first, behind in zip(starts, starts[1:] + [len(text)])]


class Image:
    """The modules of PTX of one image."""

    def __init__(self, texts):
        self._texts = texts
        self.digest = hashlib.sha256("\0".join(self._texts).encode("utf-8", "surrogatepass")).hexdigest()

    @functools.cached_property
    def _modules(self):
        found, bad = [], None
        for text in self._texts:
            try:
                found.append(ptx.Module(text))
            except ptx.BadPtx as error:
                bad = str(error)
            except RecursionError:
                bad = "it nests too deep"
        if not found:
            raise NoPtx(f"the PTX is not understood: {bad}")
        return found

    def find(self, name, capability):
        """(module, kernel) of the newest PTX that a device of that capability can take; (None, None) if there is none."""
        for module in sorted(self._modules, key=lambda one: (one.target <= (capability or 10000), one.target), reverse=True):
            kernel = module.kernel(name)
            if kernel is not None:
                return module, kernel
        return None, None


def of_journal(folder, name, kind):
    """Of an image that a journal names. NoPtx: it has none."""
    path = os.path.join(folder, name + ".image")
    with open(path, "rb") as source:
        head = source.read(4096)
    if kind == "unknown":
        kind = "ptx" if b".version" in head else "fatbin"
    texts = [_decoded(_read(path, MOST_TEXT))] if kind == "ptx" else _in_fatbin(path)
    if not texts:
        raise NoPtx(NONE)
    return Image(texts)
