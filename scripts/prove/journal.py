"""Reads journals: folders of images, and of JSON lines about launches (gmod(1), JOURNAL). What is wrong with a line
makes one problem, and the line does not count."""
import collections
import errno
import json
import os
import re
import stat

VERSION = "gmod-journal-2"
LONGEST_LINE = 64 << 10
MOST_KEPT = 256 << 20  # bytes of lines of one file
MOST_BYTES = 1 << 48
MOST_TEXT = 64 << 20
MOST_PARAMETERS = 32 << 10
KINDS = {b"\x7fELF": "cubin", b"\x50\xed\x55\xba": "fatbin"}  # by an image's first bytes


class BadLine(Exception):
    """Its text says what is wrong with a line."""


def open_plain(path):
    """A file to be read. A pipe or a device may have no end, and opening one may wait for ever."""
    file = open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is no plain file", path)
    return file


class Function:
    """parameters: None if they are not known; launches, looked_at: as far as they were counted."""

    def __init__(self, name, image, parameters):
        self.name, self.image, self.parameters = name, image, parameters  # image: (folder, hash, kind, bytes) or None
        self.launches = self.looked_at = 0


class Site:
    """Where a buffer was allocated: the innermost of each stack first."""

    def __init__(self, line):
        self.python = _frames(line, "python", ("file", "function", "line"))
        self.frames = _frames(line, "frames", ("module", "offset"))


class PointerWord:
    """A word of the parameters that points into a buffer, or beside it."""

    def __init__(self, at, offset, size, site, memory):
        self.at, self.offset, self.size, self.site, self.memory = at, offset, size, site, memory


class Launch:
    def __init__(self, function, grid, block, shared, capability, parameters, pointers):
        self.function, self.grid, self.block, self.shared = function, grid, block, shared
        self.capability, self.parameters, self.pointers = capability, parameters, pointers
        self.command, self.per_tensor = None, False

    def signature(self):
        """Equal for launches that are proved alike."""
        image = self.function.image and self.function.image[1]
        return (image, self.function.name, self.capability, self.grid, self.block, self.shared, self.parameters,
                tuple((p.at, p.offset, p.size, p.memory) for p in self.pointers))


def _whole(value, low, high, what):
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise BadLine(f"{what} is no number from {low} to {high}")
    return value


def _text(value, what):
    if not isinstance(value, str):
        raise BadLine(f"{what} is no text")
    return value


def _list(value, most, what):
    if not isinstance(value, list) or len(value) > most:
        raise BadLine(f"{what} is no list, or too long")
    return value


def _triple(value, limits, what):
    value = _list(value, 3, what)
    if len(value) != 3:
        raise BadLine(f"{what} has not three sides")
    return tuple(_whole(side, 1, limit, what) for side, limit in zip(value, limits))


class Journal:
    """One file. launches: those that can be read."""

    def __init__(self, path):
        self.path, self.folder = path, os.path.dirname(path)
        self.launches, self.problems = [], []
        self.command, self.per_tensor, self.ended, self.unplaced, self.dropped = None, False, False, 0, 0
        self._images, self._functions, self._sites, self._linked = {}, {}, {}, set()
        self._bad = []

    def read(self):
        try:
            with open_plain(self.path) as source:
                self._read_lines(source)
        except OSError as error:
            self.problems.append(f"{self.path}: {error.strerror}")
        self._find_linked()
        if self._bad:
            number, why = self._bad[0]
            more = f", and {len(self._bad) - 1} more such lines" if len(self._bad) > 1 else ""
            self.problems.append(f"{self.path}:{number}: a line cannot be read: {why}{more}")
        return self

    def _read_lines(self, source):
        kept = number = 0
        while True:
            line = source.readline(LONGEST_LINE + 1)
            number += 1
            if not line.endswith(b"\n"):
                if len(line) <= LONGEST_LINE:
                    return  # the end, or a line without its end
                while line and not line.endswith(b"\n"):
                    line = source.readline(LONGEST_LINE + 1)
                self._complain(number, "it is longer than 64 KiB")
                if not line:
                    return
                continue
            kept += len(line)
            if kept > MOST_KEPT:
                self.problems.append(f"{self.path}:{number}: the journal is too large: the rest is not read")
                return
            try:
                self._take(json.loads(line.decode("utf-8")), number)
            except BadLine as error:
                self._complain(number, str(error))
            except (ValueError, RecursionError):
                self._complain(number, "it is no JSON")
            except TypeError:
                self._complain(number, "an id is no number")
            if number == 1 and self._bad:
                return

    def _complain(self, number, why):
        if len(self._bad) < 1000:
            self._bad.append((number, why))

    def _take(self, line, number):
        if not isinstance(line, dict):
            raise BadLine("it is no object")
        if number == 1:
            if line.get("journal") != VERSION:
                raise BadLine(f"it is no journal of the version {VERSION}")
            self.command = _text(line.get("command") or "", "the command")
            self.per_tensor = line.get("per_tensor") is True
            return
        for word, take in (("launch", self._launch), ("function", self._function), ("image", self._image),
                           ("site", self._site), ("count", self._count), ("end", self._end)):
            if word in line:
                take(line)
                return
        # Lines of other kinds are of later versions.

    def _image(self, line):
        name = _text(line.get("hash"), "the hash")
        if not re.fullmatch(r"[0-9a-f]{16}", name):
            raise BadLine("the hash is none")
        kind, size = _kind_of(os.path.join(self.folder, name + ".image"))
        image = self._images[_whole(line["image"], 0, 1 << 31, "image")] = self.folder, name, kind, size
        if line.get("linked") is True and kind == "ptx":
            self._linked.add(image)

    def _find_linked(self):
        """What the driver's linker has made of PTX is a cubin: its kernel is the one of that name, if one text alone has it."""
        made = {one.name: [] for one in self._functions.values() if one.image and one.image[2] == "cubin"}
        for image in self._linked if made else ():
            for name in {m[1].decode() for m in re.finditer(rb"\.entry\s+([\w$]+)", _bytes_of(image))}:
                if name in made:
                    made[name].append(image)
        for one in self._functions.values():
            if one.image and one.image[2] == "cubin" and len(made[one.name]) == 1:
                one.image = made[one.name][0]

    def _function(self, line):
        image = line.get("image")
        if image is not None and image not in self._images:
            raise BadLine("its image is not known")
        unknown, parameters, behind = line.get("parameters") is None, [], 0
        for pair in () if unknown else _list(line["parameters"], 4096, "parameters"):
            if len(_list(pair, 2, "a parameter")) != 2:
                raise BadLine("a parameter is no pair")
            offset = _whole(pair[0], behind, MOST_PARAMETERS, "the offset of a parameter")
            size = _whole(pair[1], 0, MOST_PARAMETERS, "the size of a parameter")
            behind = offset + size
            parameters.append((offset, size))
        self._functions[_whole(line["function"], 0, 1 << 31, "function")] = Function(
            _text(line.get("name") or "", "the name"), self._images.get(image), None if unknown else parameters)

    def _count(self, line):
        function = self._functions.get(line["count"])
        if function is None:
            raise BadLine("its function is not known")
        function.launches = _whole(line.get("launches"), 0, 1 << 62, "launches")
        function.looked_at = _whole(line.get("looked_at"), 0, function.launches, "looked_at")

    def unseen(self):
        """[(launches that were not looked at, launches, name)], of functions; the name None: of all others."""
        found = [(one.launches - one.looked_at, one.launches, one.name) for one in self._functions.values()]
        return found + [(self.unplaced, self.unplaced, None)]

    def _site(self, line):
        self._sites[_text(line["site"], "the site")] = Site(line)

    def _launch(self, line):
        function = self._functions.get(line["launch"])
        if function is None or function.parameters is None:
            raise BadLine("its function is not known")
        grid = _triple(line.get("grid"), (2 ** 31 - 1, 65535, 65535), "the grid")
        block = _triple(line.get("block"), (1024, 1024, 64), "the block")
        if block[0] * block[1] * block[2] > 1024:
            raise BadLine("the block has more than 1024 threads")
        words = _list(line.get("words"), MOST_PARAMETERS // 8, "words")
        parameters = b"".join(_word(word) for word in words)
        if any(offset + size > len(parameters) for offset, size in function.parameters):
            raise BadLine("the words are fewer than the function's parameters take")
        pointers = [self._pointer(word, 8 * i) for i, word in enumerate(words) if not isinstance(word, str)]
        launch = Launch(function, grid, block, _whole(line.get("shared"), 0, 1 << 20, "shared"),
                        _whole(line.get("capability"), 0, 10000, "capability"), parameters, pointers)
        launch.command, launch.per_tensor = self.command, self.per_tensor
        self.launches.append(launch)

    def _pointer(self, word, at):
        return PointerWord(at,
                           _whole(word.get("offset"), -MOST_BYTES, MOST_BYTES, "the offset"),
                           _whole(word.get("size"), 0, MOST_BYTES, "the size"),
                           self._sites.get(word.get("site")), _text(word.get("memory"), "the memory"))

    def _end(self, line):
        self.ended = True
        self.unplaced = _whole(line.get("launches"), 0, 1 << 62, "launches")
        self.dropped = _whole(line.get("dropped"), 0, 1 << 62, "dropped")


def _frames(line, stack, members):
    """Those that can be read."""
    return [frame for frame in _list(line.get(stack) or [], 1000, stack)
            if isinstance(frame, dict) and isinstance(frame.get(members[0]), str) and all(name in frame for name in members)]


def _kind_of(path):
    """(kind, bytes) of an image."""
    try:
        with open_plain(path) as source:
            return KINDS.get(source.read(4), "ptx"), os.fstat(source.fileno()).st_size
    except OSError:
        return "unknown", 0


def _bytes_of(image):
    try:
        with open_plain(os.path.join(image[0], image[1] + ".image")) as source:
            return source.read(MOST_TEXT)
    except OSError:
        return b""


def _word(word):
    """8 bytes of the parameters; zeros in the place of a pointer."""
    if isinstance(word, dict):
        return bytes(8)
    if not isinstance(word, str) or not re.fullmatch(r"[0-9a-f]{16}", word):
        raise BadLine("a word is none")
    return bytes.fromhex(word)


def read(folders):
    """(journals, problems)"""
    journals, problems = [], []
    for folder in folders:
        try:
            names = sorted(name for name in os.listdir(folder) if name.endswith(".journal"))
        except OSError as error:
            problems.append(f"{folder}: {error.strerror}")
            continue
        if not names:
            problems.append(f"{folder}: it has no journal")
        for name in names:
            one = Journal(os.path.join(folder, name)).read()
            journals.append(one)
            problems += one.problems
    return journals, problems


def unseen(journals):
    """A note of the launches that were not looked at, and which functions have the most of them; None: all were."""
    missed, launches = collections.Counter(), collections.Counter()
    for one in journals:
        for unseen_ones, all_of_them, name in one.unseen():
            missed[name] += unseen_ones
            launches[name] += all_of_them
    if not sum(missed.values()):
        return None
    most = [f"{count} of {launches[name]} of {name[:200]}" for name, count in missed.most_common(4) if name and count][:3]
    return f"{sum(missed.values())} launches were not looked at" + (": " + ", ".join(most) if most else "")
