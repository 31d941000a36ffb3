"""Puts source lines and readable names to frames, from the modules' files, wherever they are now.

A module is known by its path and its build-id. A file of that path is taken if it has that build-id; else one that has
it is looked for below the folders that the user names, where distributions keep debug information, and by
debuginfod-find, where DEBUGINFOD_URLS is set.
"""
import os
import re
import shutil
import struct
import subprocess
import tempfile
import time

DEBUG_FOLDERS = ("/usr/lib/debug/.build-id",)
SECONDS = 120  # for one module
INSTRUCTION_SECONDS = 5  # for one instruction of the GPU's, and until the last one is begun
MODULES_MAX = 20000  # files looked at in the user's folders


def build_id(path):
    """Of an ELF file, in hex; "": it has none, or it is no such file."""
    try:
        with open(path, "rb") as file:
            return _build_id(file)
    except (OSError, struct.error, ValueError, OverflowError):
        return ""


def _build_id(file):
    head = file.read(64)
    if head[:6] != b"\x7fELF\x02\x01":
        return ""
    at, = struct.unpack_from("<Q", head, 32)
    size, count = struct.unpack_from("<HH", head, 54)
    for i in range(min(count, 200)):
        file.seek(at + i * size)
        kind, _, offset, _, _, length = struct.unpack_from("<IIQQQQ", file.read(56))
        if kind == 4:  # PT_NOTE
            file.seek(offset)
            found = _note(file.read(min(length, 65536)))
            if found:
                return found
    return ""


def _note(notes):
    at = 0
    while at + 12 <= len(notes):
        name, length, kind = struct.unpack_from("<III", notes, at)
        begin = at + 12 + (name + 3 & ~3)
        if kind == 3 and notes[at + 12:at + 12 + name] == b"GNU\0":
            return notes[begin:begin + length].hex()
        at = begin + (length + 3 & ~3)
    return ""


def _run(command, text, seconds=SECONDS):
    """What it prints, or None."""
    try:
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8",
                              errors="backslashreplace", timeout=seconds, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def _line(place):
    """(file, line) from "file:41:9" or "file:41 (discriminator 2)"; None: unknown."""
    m = re.match(r"^(.*?):(\d+)(?::\d+)?(?: \(.*\))?$", place)
    return (m[1], int(m[2])) if m and m[1] not in ("??", "") and int(m[2]) > 0 else None


def _pairs(lines):
    """From a function's line and a place's line in turn: the functions of one address, the innermost inlined one first, and
    the name of the outermost, which is known without lines, too."""
    found, name = [], None
    for function, place in zip(lines[::2], lines[1::2]):
        where, name = _line(place), None if function == "??" else function
        if where:
            found.append({"function": name, "file": where[0], "line": where[1]})
    return found, name


def _llvm(tool, path, offsets):
    out = _run([tool, "--demangle", "--inlining", "--obj=" + path], "".join(f"{offset:#x}\n" for offset in offsets))
    answers = (out or "").split("\n\n")
    return [_pairs(answer.strip("\n").split("\n")) for answer in answers[:len(offsets)]]


def _binutils(tool, path, offsets):
    out = _run([tool, "-a", "-i", "-f", "-C", "-e", path], "".join(f"{offset:#x}\n" for offset in offsets))
    answers = re.split(r"^0x[0-9a-f]+\n", out or "", flags=re.M)[1:]
    return [_pairs(answer.strip("\n").split("\n")) for answer in answers]


class Symbols:
    """folders: where the user keeps modules. tool: the path of a symboliser; None: whichever there is."""

    def __init__(self, folders=(), tool=None):
        self.folders = folders
        self.tool = tool or shutil.which("llvm-symbolizer") or shutil.which("addr2line")
        self.notes = []
        self.below = None  # in the user's folders: {build-id: path}, {name: [path]}

    def say(self, text):
        if text not in self.notes:
            self.notes.append(text)

    def _index(self):
        ids, names, seen = {}, {}, 0
        for folder in self.folders:
            for top, _, files in os.walk(folder):
                for name in files:
                    path = os.path.join(top, name)
                    seen += 1
                    if seen > MODULES_MAX:
                        self.say(f"only the first {MODULES_MAX} files of the folders with modules were looked at")
                        return ids, names
                    known = build_id(path)
                    if known:
                        ids.setdefault(known, path)
                    names.setdefault(name, []).append(path)
        return ids, names

    def _in_folders(self, path, wanted):
        if not self.folders:
            return None
        if self.below is None:
            self.below = self._index()
        ids, names = self.below
        if wanted:
            return ids.get(wanted)
        return names.get(os.path.basename(path), [None])[0]

    def _elsewhere(self, wanted):
        for folder in DEBUG_FOLDERS:
            path = os.path.join(folder, wanted[:2], wanted[2:] + ".debug")
            if os.path.exists(path):
                return path
        finder = shutil.which("debuginfod-find")
        if finder and os.environ.get("DEBUGINFOD_URLS"):
            for kind in ("debuginfo", "executable"):
                out = _run([finder, kind, wanted], "")
                if out:
                    return out.strip()
        return None

    def find(self, path, wanted):
        """The file that has what is known of a module; None: there is none."""
        here = os.path.isabs(path) and os.path.isfile(path)
        if here and (not wanted or build_id(path) == wanted):
            return path
        found = self._in_folders(path, wanted) or (wanted and self._elsewhere(wanted))
        if not found and here:
            self.say(f"{path} is another build than the one of the log: no lines for its frames")
        return found or None

    def resolve(self, frames):
        """Give each frame "lines": what the module's file says of it, the innermost inlined function first."""
        modules = {}
        for frame in frames:
            if frame.get("lines"):  # GMOD has put them there by itself
                continue
            frame["lines"] = []
            if frame.get("path") and isinstance(frame.get("offset"), str):
                try:
                    offset = int(frame["offset"], 16)
                except ValueError:
                    continue
                modules.setdefault((frame["path"], frame.get("build_id")), {}).setdefault(offset, []).append(frame)
        if modules and not self.tool:
            self.say("there is neither llvm-symbolizer nor addr2line: no source lines")
            return
        for (path, wanted), offsets in modules.items():
            file = self.find(path, wanted)
            if file:
                self._ask(file, offsets)
            if file and wanted and not any(frame["lines"] for of in offsets.values() for frame in of):
                other = self._elsewhere(wanted)  # it is stripped
                if other and other != file:
                    self._ask(other, offsets)

    def _ask(self, file, offsets):
        ask = _llvm if "llvm" in os.path.basename(self.tool) else _binutils
        answers = ask(self.tool, file, list(offsets))
        if len(answers) != len(offsets):
            self.say(f"{os.path.basename(self.tool)} could not read {file}")
            return
        for (lines, name), of in zip(answers, offsets.values()):
            for frame in of:
                frame["lines"] = lines
                if not (frame.get("symbol") or frame.get("function")):
                    frame["function"] = name


def demangle(names, *flags):
    """{name: readable} of those that are mangled. The flags are for c++filt."""
    mangled = sorted({name for name in names if isinstance(name, str) and name.startswith("_Z") and "\n" not in name})
    tool = shutil.which("c++filt") or shutil.which("llvm-cxxfilt")
    out = _run([tool, *flags], "".join(name + "\n" for name in mangled)) if tool and mangled else None
    readable = out.split("\n")[:-1] if out else []
    return dict(zip(mangled, readable)) if len(readable) == len(mangled) else {}


def disassemble(faults):
    """Give each fault "sass", the instruction in words, if there is an nvdisasm and it knows it."""
    tool = shutil.which("nvdisasm") or shutil.which("nvdisasm", path="/usr/local/cuda/bin")
    asked, deadline = {}, time.monotonic() + INSTRUCTION_SECONDS
    for fault in faults if tool else ():
        key = fault["capability"], tuple(fault["instruction"] or ())
        if all(key) and key not in asked and time.monotonic() < deadline:
            asked[key] = _instruction(tool, *key)
        fault["sass"] = asked.get(key)


def _instruction(tool, capability, words):
    try:
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"".join(int(word, 16).to_bytes(8, "little") for word in words))
            file.flush()
            text = _run([tool, "-b", f"SM{capability}", file.name], "", INSTRUCTION_SECONDS)
    except (OSError, OverflowError):
        return None
    m = re.search(r"/\*0000\*/\s+(.*?)\s*;", text or "")
    return m[1] if m else None
