#!/usr/bin/env python3
"""read_dump.py DUMP...: the exceptions that a dump's tables name, one line for each distinct one."""
import gzip
import struct
import sys

KINDS = {0: 'none', 1: 'lane illegal address', 2: 'lane user stack overflow', 3: 'device hardware stack overflow',
         4: 'warp illegal instruction', 5: 'warp out of range address', 6: 'warp misaligned address',
         7: 'warp invalid address space', 8: 'warp invalid PC', 9: 'warp hardware stack overflow',
         10: 'device illegal address', 11: 'lane misaligned address', 12: 'warp assert', 13: 'lane syscall error',
         14: 'warp illegal address', 15: 'non-migratable atomic', 16: 'invalid atomic', 17: 'cluster out of range',
         18: 'cluster block not present', 19: 'stack canary'}


def text_at(data, at):
    return data[at:data.find(b'\0', at)].decode()


def headers(data):
    """The rows of the table of sections, and which of them has the names."""
    start, = struct.unpack_from('<Q', data, 40)
    size, count, names_at = struct.unpack_from('<HHH', data, 58)
    return [struct.unpack_from('<IIQQQQIIQQ', data, start + i * size) for i in range(count)], names_at


def places_of(data, kind):
    """(start, size) of the sections of a type."""
    return [r[4:6] for r in headers(data)[0] if r[1] == kind]


def sections(data):
    rows, names_at = headers(data)
    names = data[rows[names_at][4]:rows[names_at][4] + rows[names_at][5]]
    return [{'name': text_at(names, r[0]) if r[0] < len(names) else '', 'type': r[1], 'addr': r[3],
             'entry': r[9], 'data': b'' if r[1] in (0, 8) else data[r[4]:r[4] + r[5]]} for r in rows]


class Dump:
    def __init__(self, path):
        with (gzip.open if path.endswith('.gz') else open)(path, 'rb') as f:
            self.sections = sections(f.read())
        self.by = {s['name']: s for s in self.sections}

    def rows(self, name, form):
        s = self.by.get(name)
        if not s:
            return
        need = struct.calcsize(form)
        for at in range(0, len(s['data']), s['entry'] or need):
            yield struct.unpack_from(form, s['data'][at:at + max(need, s['entry'])].ljust(need, b'\0'))

    def place(self, pc):
        """"kernel+offset" of a code address."""
        for image in self.sections:
            if image['type'] != 0x80000007 or not image['data'].startswith(b'\x7fELF'):
                continue
            for t in sections(image['data']):
                if t['name'].startswith('.text.') and t['addr'] and t['addr'] <= pc < t['addr'] + len(t['data']):
                    return '%s+%#x' % (t['name'][6:], pc - t['addr'])
        return '%#x' % pc

    def exceptions(self):
        """{(where, kind, errorPC valid, place, extra): how often}"""
        out = {}

        def add(*key):
            out[key] = out.get(key, 0) + 1
        for d, _ in enumerate(self.rows('.cudbg.devtbl', '<Q')):
            for s, sm in enumerate(self.rows('.cudbg.smtbl.dev%d' % d, '<IIIIQ')):
                if sm[2] or sm[3]:
                    add('sm', sm[2], sm[3], self.place(sm[4]), '')
                for c, _ in enumerate(self.rows('.cudbg.ctatbl.dev%d.sm%d' % (d, s), '<Q')):
                    base = 'dev%d.sm%d.cta%d' % (d, s, c)
                    for w, warp in enumerate(self.rows('.cudbg.wptbl.' + base, '<QIIIII')):
                        lanes = list(self.rows('.cudbg.lntbl.%s.wp%d' % (base, w), '<QQIIIII'))
                        kinds = sorted({l[6] for l in lanes if l[6]})
                        lane_pc = next((l[0] for l in lanes if l[6]), lanes[0][0] if lanes else 0)
                        if warp[4] or warp[5] or kinds:
                            add('warp', '/'.join(map(str, kinds)) or '0', warp[5], self.place(warp[0]),
                                'broken=%d lanes=%d virtualPC=%s' % (warp[4], sum(1 for l in lanes if l[6]), self.place(lane_pc)))
        return out

    def grids(self):
        return [self.place(g[3]).rsplit('+', 1)[0] for d, _ in enumerate(self.rows('.cudbg.devtbl', '<Q'))
                for g in self.rows('.cudbg.gridtbl.dev%d' % d, '<7Q12I')]

    def warps(self):
        return sum(len(s['data']) // (s['entry'] or 64) for s in self.sections if s['name'].startswith('.cudbg.wptbl.'))


def describe(path):
    d = Dump(path)
    yield 'grids %s, %d resident warps' % (', '.join(d.grids()) or 'none', d.warps())
    for (where, kind, valid, place, extra), n in sorted(d.exceptions().items(), key=str):
        name = KINDS.get(kind, '') if isinstance(kind, int) else '/'.join(KINDS.get(int(k), k) for k in kind.split('/'))
        yield '%d x %s: kind %s (%s), errorPC %s %s' % (n, where, kind, name, ('valid at ' + place) if valid else 'not valid', extra)


if __name__ == '__main__':
    for path in sys.argv[1:]:
        print(path)
        try:
            for line in describe(path):
                print('    ' + line)
        except (OSError, ValueError, struct.error, IndexError) as e:
            print('    not readable: %s' % e)
