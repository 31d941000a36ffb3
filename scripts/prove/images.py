"""The PTX of the images in a journal's folder: as it is, taken out of a fatbin by cuobjdump, or what a compiler has kept of a
cubin."""
import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
import threading

import cubin
import ptx
from journal import open_plain

MOST_TEXT = 64 << 20
MOST_IMAGE = 1 << 30
MOST_SECONDS = 60  # of cuobjdump
NONE = "the image has none: compile with -gencode=arch=...,code=compute_... or -lineinfo, or give --ptx DIR"
NONE_OF_CUBIN = "the image is a cubin, and no .ptx is there for it: gmod-prove(1), IMAGES WITHOUT PTX"
INSTALL = "install cuobjdump (CUDA toolkit), or: pip install nvidia-cuda-cuobjdump"


class NoPtx(Exception):
    """Its text says why there is no PTX of an image."""


def cuobjdump():
    """The program, or None: what is installed, or the package's of PyPI."""
    found = shutil.which("cuobjdump") or shutil.which("cuobjdump", path="/usr/local/cuda/bin")
    if found:
        return found
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
    with open_plain(path) as source:
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
            watch = threading.Timer(MOST_SECONDS, child.kill)
            watch.start()
            text = child.stdout.read(MOST_TEXT).decode("utf-8", "replace")
            watch.cancel()
            child.kill()
    except OSError:
        raise NoPtx("cuobjdump has failed") from None
    # Behind each text come the headings of the next one.
    return [re.sub(r"\n(?:Fatbin |={5,}).*", "\n", one, flags=re.S) for one in _each(text)] or _in_cubins(program, path)


def _in_cubins(program, path):
    """The texts that the cubins in the fatbin have."""
    found = []
    if os.path.getsize(path) > MOST_TEXT:
        return found
    with tempfile.TemporaryDirectory() as folder:
        try:
            subprocess.run([program, "-xelf", "all", os.path.abspath(path)], cwd=folder, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, check=False, timeout=MOST_SECONDS)
        except (OSError, subprocess.TimeoutExpired):
            return found
        for name in sorted(os.listdir(folder)):
            found += _each(cubin.ptx(_read(os.path.join(folder, name), MOST_TEXT)))
    return found


def _each(text):
    """The texts of one that are behind each other."""
    starts = [m.start() for m in re.finditer(r"^\.version\s", text, re.M)]
    return [text[first:behind] for first, behind in zip(starts, starts[1:] + [len(text)])]


def _settled(text):
    """LLVM counts a line of the source on with each line of inline assembly: what is said before the first one holds for all."""
    parts, behind = [], 0
    for m in re.finditer("// begin inline asm", text):
        if m.start() < behind:
            continue
        end = text.find("// end inline asm", m.end())
        if end < 0:
            break
        first = m.end() + re.match(r"(?:[^\S\n]*(?:\.loc\b.*)?\n)*", text[m.end():end]).end()
        parts += [text[behind:first], re.sub(r"^[ \t]*\.loc\s.*$", "", text[first:end], flags=re.M)]
        behind = end
    return "".join(parts) + text[behind:]


class Image:
    """The modules of PTX of one image. came_from: the file beside a cubin, or None."""

    def __init__(self, texts, came_from=None):
        self.came_from = came_from
        self._texts = [_settled(text) for text in texts]
        self.digest = hashlib.sha256("\0".join(self._texts).encode("utf-8", "surrogatepass")).hexdigest()

    @functools.cached_property
    def _modules(self):
        """(those that are understood, what is wrong with another)"""
        found, bad = [], None
        for text in self._texts:
            try:
                found.append(ptx.Module(text))
            except ptx.BadPtx as error:
                bad = str(error)
            except RecursionError:
                bad = "it nests too deep"
        return found, bad

    def find(self, name, capability):
        """(module, kernel) of the newest PTX that a device of that capability can take; (None, None) if there is none."""
        modules, bad = self._modules
        if not modules:
            raise NoPtx(f"the PTX is not understood: {bad}")
        for module in sorted(modules, key=lambda one: (one.target <= (capability or 10000), one.target), reverse=True):
            kernel = module.kernel(name)
            if kernel is not None:
                return module, kernel
        return None, None


def of_program(path):
    """The texts in an executable."""
    texts = _in_fatbin(path)
    if not texts:
        raise NoPtx("it has no PTX of kernels: link it from files that nvcc has compiled, with -lineinfo or "
                    "-gencode=arch=...,code=compute_..., or give --ptx DIR")
    return texts


def text_of(path):
    return _decoded(_read(path, MOST_TEXT))


def of_file(path):
    return Image([text_of(path)], path)


def of_journal(folder, name, kind, beside):
    """Of an image that a journal names. NoPtx: it has none, and there is none beside it."""
    path = os.path.join(folder, name + ".image")
    if kind == "ptx":
        return Image([text_of(path)])
    if kind == "fatbin":
        texts = _in_fatbin(path)
        if not texts:
            raise NoPtx(NONE)
        return Image(texts)
    kept = beside.of_cubin(path)
    if kept:
        return of_file(kept)
    texts = _each(cubin.ptx(_read(path, MOST_TEXT)))
    if not texts:
        raise NoPtx(NONE_OF_CUBIN)
    return Image(texts)
