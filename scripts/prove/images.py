"""The PTX of the images in a journal's folder: as it is, or taken out of a cubin or fatbin by cuobjdump."""
import os
import re
import shutil
import subprocess

import ptx

MOST_TEXT = 64 << 20
MOST_IMAGE = 1 << 30
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


def _texts_of(path, kind):
    """The texts of PTX in the image."""
    size = os.path.getsize(path)
    if kind == "ptx":
        if size > MOST_TEXT:
            raise NoPtx("the image is too large")
        with open(path, "rb") as source:
            return [source.read(MOST_TEXT).rstrip(b"\0").decode("utf-8", "replace")]
    if size > MOST_IMAGE:
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
    starts = [m.start() for m in re.finditer(r"^\.version\s", text, re.M)]
    # Behind each text come the headings of the next one.
    return [re.sub(r"\n(?:Fatbin |={5,}).*", "\n", text[first:behind], flags=re.S)
            for first, behind in zip(starts, starts[1:] + [len(text)])]


class Image:
    """The modules of PTX of one image, or why there are none."""

    def __init__(self, folder, name, kind):
        self.modules, self.why = [], None
        path = os.path.join(folder, name + ".image")
        try:
            self._read(path, kind)
        except NoPtx as error:
            self.why = str(error)
        except OSError as error:
            self.why = f"{path}: {error.strerror}"

    def _read(self, path, kind):
        with open(path, "rb") as source:
            head = source.read(4096)
        if kind == "unknown":
            kind = "ptx" if b".version" in head else "fatbin"
        bad = None
        for text in _texts_of(path, kind):
            try:
                self.modules.append(ptx.Module(text))
            except ptx.BadPtx as error:
                bad = str(error)
            except RecursionError:
                bad = "it nests too deep"
        if not self.modules:
            raise NoPtx(f"the PTX is not understood: {bad}" if bad else "the image has none: compile with -gencode=arch=...,code=compute_...")

    def find(self, name, capability):
        """(module, kernel) of the newest PTX that a device of that capability can take; (None, None) if there is none."""
        for module in sorted(self.modules, key=lambda one: (one.target <= (capability or 10000), one.target), reverse=True):
            kernel = module.kernel(name)
            if kernel is not None:
                return module, kernel
        return None, None
