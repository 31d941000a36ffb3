"""The PTX that ptxas leaves in a cubin that has line information: what it was given, without comments and .loc.

One table of the cubin has the line of the PTX that an instruction comes from, another the line of the source, both by the
instruction's address. Together they say where a .loc was: there is an empty line in its place.
"""
import bisect
import struct

UNQUOTED = {ord(character): "_" for character in '"\n'}
MOST_ROWS = 1 << 20
TEXT, SOURCES, LINES = b".nv_debug_ptx_txt", b".debug_line", b".nv_debug_line_sass"


def _sections(data):
    """{name: contents} of those that are needed, of an ELF file of 64 bits."""
    if data[:6] != b"\x7fELF\x02\x01":
        return {}
    start, size, count, names = (*struct.unpack_from("<Q", data, 40), *struct.unpack_from("<HHH", data, 58))
    if size != 64:
        return {}
    heads = [struct.unpack_from("<IIQQQQ", data, start + 64 * at) for at in range(count)]
    table, found = heads[names][4], {}
    for name, _, _, _, at, length in heads:
        word = data[table + name:table + name + 32].split(b"\0")[0]
        if word not in found and word.replace(b".rela", b"") in (TEXT, SOURCES, LINES):
            found[word] = data[at:at + length]
    return found


class _Bytes:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def number(self, kind):
        value, = struct.unpack_from("<" + kind, self.data, self.at)
        self.at += struct.calcsize("<" + kind)
        return value

    def leb(self, signed=False):
        value = shift = 0
        while True:
            byte = self.number("B")
            value |= (byte & 127) << shift
            shift += 7
            if shift > 70:
                raise ValueError
            if not byte & 128:
                return value - (1 << shift) if signed and byte & 64 else value

    def string(self):
        end = self.data.index(b"\0", self.at)
        text, self.at = self.data[self.at:end].decode("utf-8", "replace"), end + 1
        return text

    def strings(self, more):
        """[(string, numbers)] up to an empty one; so many numbers are behind each."""
        found = []
        while (name := self.string()):
            found.append((name, [self.leb() for _ in range(more)]))
        return found


def _rows(sections, name):
    """[(function, address, place, outermost)] of a table of DWARF 2 to 4: a place is (file, line), and the outermost the place that
    a function was inlined into, or None."""
    table, relocations = _Bytes(sections[name]), sections.get(b".rela" + name, b"")
    functions = {at: symbol for at, symbol, _ in struct.iter_unpack("<QQq", relocations)}
    count = 0
    while table.at < len(table.data):
        end = table.number("I") + table.at
        version, program = table.number("H"), table.number("I") + table.at
        step, _, base, span, first = struct.unpack_from("<BBbBB", table.data, table.at + (version >= 4))
        table.at += 5 + (version >= 4)
        operands = [table.number("B") for _ in range(first - 1)]
        folders = [folder for folder, _ in table.strings(0)]
        files = [f"{folders[of[0] - 1]}/{file}" if 0 < of[0] <= len(folders) and file[0] != "/" else file for file, of in table.strings(3)]
        table.at = program
        function, address, file, line, context, before = None, 0, 1, 1, 0, []
        while table.at < end:
            opcode = table.number("B")
            if opcode == 0:
                length = table.leb()
                behind, what = table.at + length, table.number("B")
                if what == 2:
                    function, address = functions.get(table.at), table.number("Q")
                elif what == 1:
                    function, address, file, line, context, before = None, 0, 1, 1, 0, []
                elif what == 0x90:  # NVIDIA's: the row, from 1 on, that the next ones are inlined into
                    context = table.leb()
                table.at = behind
            elif opcode >= first or opcode == 1:
                if opcode != 1:
                    address += (opcode - first) // span * step
                    line += base + (opcode - first) % span
                count += 1
                if count > MOST_ROWS:
                    raise ValueError
                place = files[file - 1] if 0 < file <= len(files) else None, line
                outer = before[context - 1] if 0 < context <= len(before) else (None, None)
                before.append((place, outer[1] or outer[0]))
                yield (function, address, *before[-1])
            elif opcode == 2:
                address += table.leb() * step
            elif opcode == 3:
                line += table.leb(True)
            elif opcode == 4:
                file = table.leb()
            elif opcode == 8:
                address += (255 - first) // span * step
            elif opcode == 9:
                address += table.number("H")
            else:
                for _ in range(operands[opcode - 1]):
                    table.leb()


def _empty(lines, first, behind):
    """The last empty one of lines[first:behind], or None. In front of a function a .loc would be a part of what is declared there."""
    for at in range(behind - 1, first - 1, -1):
        word = lines[at].strip()
        if not word:
            return at
        if word[0] in "{)":
            return None
    return None


def _location(place, outermost, files):
    words = [f"{files.setdefault(file, len(files) + 1)} {line} 0" for file, line in (place, outermost or place) if file]
    return ".loc " + (", inlined_at ".join(words) if outermost else words[0])


def _with_locations(text, sections):
    key = lambda function, address: (str(function), address)
    sources = sorted((row for row in _rows(sections, SOURCES) if row[2][0]), key=lambda row: key(*row[:2]))
    keys = [key(*row[:2]) for row in sources]
    lines, files, behind = text.split("\n"), {}, 0
    for function, address, (_, number), _ in sorted(_rows(sections, LINES), key=lambda row: row[2][1]):
        if not behind < number <= len(lines) or not lines[number - 1].rstrip().endswith(";"):
            continue
        at, empty = bisect.bisect_right(keys, key(function, address)) - 1, _empty(lines, behind, number - 1)
        if at >= 0 and sources[at][0] == function and empty is not None:
            lines[empty] = _location(*sources[at][2:], files)
        behind = number
    return "\n".join(lines + [f'.file {number} "{file.translate(UNQUOTED)}"' for file, number in files.items()]) + "\n"


def ptx(data):
    """The text, or "" where there is none."""
    try:
        sections = _sections(data)
        text = sections.get(TEXT, b"").replace(b"\0", b"\n").decode("utf-8", "replace")
    except (struct.error, ArithmeticError, IndexError):
        return ""
    try:
        # Linked of several texts, the lines are each one's own.
        return _with_locations(text, sections) if text.count("\n.version") == 1 else text
    except (struct.error, ArithmeticError, LookupError, ValueError):
        return text
