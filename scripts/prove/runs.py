"""Runs of a program whose kernels do nothing, and the launches that it would make. Each run is limited in time, memory and
output, has a folder of its own, and leaves no process behind."""
import ctypes
import hashlib
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import images
import journal
import ptx

MOST_COPIED, MOST_OF_FILE = 16 << 20, 1 << 20  # bytes of the working directory
MOST_WRITTEN = 64 << 20  # of a file
MOST_MEMORY = 8 << 30
PR_SET_CHILD_SUBREAPER = 36


class NoRuns(Exception):
    """Its text says why the program cannot be run so."""


def _kernels_of(text):
    """{name: [(offset, size)]} of the kernels of a text of PTX."""
    found = {}
    module = ptx.Module(text)
    for name in module.names():
        try:
            parameters = module.kernel(name).parameters
        except ptx.BadPtx:
            continue
        at, layout = 0, []
        for _, size, align in parameters:
            at += -at % max(align, 1)
            layout.append((at, size))
            at += size
        found[name] = layout
    return found


class Runs:
    """Of one program, in a temporary folder that goes with leave()."""

    def __init__(self, program, runtime, beside, seconds):
        self.program, self.runtime, self.seconds = program, runtime, seconds
        self.folder = tempfile.mkdtemp(prefix="gmod-sweep-")
        self.files = os.path.join(self.folder, "journal")
        os.mkdir(self.files)
        self.kernels, self.images = [], []
        try:
            self._find_kernels(beside)
        except BaseException:
            self.leave()
            raise
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)

    def leave(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _find_kernels(self, beside):
        try:
            texts, why = images.of_program(self.program), None
        except images.NoPtx as error:
            texts, why = [], str(error)
        texts += [text for path in beside.named_texts() for text in [images.text_of(path)] if text not in texts]
        for text in texts:
            try:
                kernels = _kernels_of(text)
            except (ptx.BadPtx, RecursionError):
                continue
            data = text.encode("utf-8", "replace")
            name = hashlib.sha256(data).hexdigest()[:16]
            with open(os.path.join(self.files, name + ".image"), "wb") as file:
                file.write(data)
            self.images.append(name)
            known = {kernel for kernel, _, _ in self.kernels}
            self.kernels += [(kernel, len(self.images) - 1, layout) for kernel, layout in kernels.items() if kernel not in known]
        if not self.kernels:
            raise NoRuns(f"{self.program}: {why or 'its PTX has no kernel that is understood'}")
        with open(os.path.join(self.folder, "kernels"), "w", encoding="utf-8") as file:
            for number, (kernel, _, layout) in enumerate(self.kernels):
                file.write(f"{kernel} {number} " + " ".join(f"{at}:{size}" for at, size in layout) + "\n")

    def _begin_journal(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"journal":"gmod-journal-2","gmod":null,"rank":null,"command":null}\n')
            for number, name in enumerate(self.images):
                file.write(f'{{"image":{number},"hash":"{name}","linked":false}}\n')
            for number, (kernel, image, layout) in enumerate(self.kernels):
                pairs = ",".join(f"[{at},{size}]" for at, size in layout)
                file.write(f'{{"function":{number},"image":{image},"name":"{kernel}","parameters":[{pairs}]}}\n')

    def _make_room(self):
        """A folder that looks like the working directory: small files are copied, so that nothing of the user's is written
        over, and the rest are links. Its neighbours are there, too."""
        room = tempfile.mkdtemp(prefix="run-", dir=self.folder)
        here, above = os.getcwd(), os.path.dirname(os.getcwd())
        own = os.path.join(room, os.path.basename(here) or "root")
        os.mkdir(own)
        left = MOST_COPIED
        for folder, into in ((here, own), (above, room)):
            try:
                entries = list(os.scandir(folder))
            except OSError:
                continue
            for entry in entries:
                target = os.path.join(into, entry.name)
                if not os.path.lexists(target):
                    left -= _copy_or_link(entry, target, min(left, MOST_OF_FILE) if into == own else -1)
        return room, own

    def _limit(self):
        os.setsid()
        soft = int(self.seconds) + 1
        for kind, most in ((resource.RLIMIT_CPU, soft), (resource.RLIMIT_FSIZE, MOST_WRITTEN), (resource.RLIMIT_CORE, 0),
                           (resource.RLIMIT_DATA, MOST_MEMORY)):
            resource.setrlimit(kind, (most, most))

    def run(self, arguments):
        """(journal, why it came to its end: words)"""
        path = os.path.join(self.files, "run.journal")
        self._begin_journal(path)
        room, own = self._make_room()
        environment = dict(os.environ, LD_PRELOAD=self.runtime, GMOD_SWEEP_JOURNAL=path, CUDA_VISIBLE_DEVICES="0",
                           GMOD_SWEEP_KERNELS=os.path.join(self.folder, "kernels"))
        environment.pop("GMOD_OPTIONS", None)
        try:
            child = subprocess.Popen([self.program, *arguments], cwd=own, env=environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=self._limit)
        except (OSError, subprocess.SubprocessError) as error:
            shutil.rmtree(room, ignore_errors=True)
            raise NoRuns(f"{self.program}: {getattr(error, 'strerror', None) or error}") from None
        try:
            child.wait(self.seconds)
            end = f"status {child.returncode}" if child.returncode >= 0 else signal.Signals(-child.returncode).name
        except subprocess.TimeoutExpired:
            end = "its time"
        finally:
            _end_all(child)
            shutil.rmtree(room, ignore_errors=True)
        one = journal.Journal(path).read()
        return one, end


def _copy_or_link(entry, target, most):
    """How many bytes were copied."""
    try:
        size = entry.stat().st_size
        if entry.is_file() and size <= most:
            shutil.copy(entry.path, target)
            return size
    except OSError:
        pass
    os.symlink(entry.path, target)
    return 0


def _end_all(child):
    """The process, its group, and what has left the group: without a parent it is ours."""
    until = time.monotonic() + 5
    while True:
        for pid in [child.pid] if child.returncode is None else _children():
            try:
                os.killpg(pid, signal.SIGKILL)
            except OSError:
                pass
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if child.returncode is None:
            child.wait()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            if not _children() or time.monotonic() > until:
                return
        except ChildProcessError:
            return
        time.sleep(0.01)


def _children():
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []
