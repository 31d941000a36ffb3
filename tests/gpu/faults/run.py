#!/usr/bin/env python3
"""run.py OUT PART... : runs the programs, each fault in a process of its own with a limit of 10 s, and prints tables.
PART: a=N (faults in each of four settings), b=N (runs of each call), c, d. The lines of every run are in OUT/runs.jsonl."""
import gzip
import itertools
import json
import os
import struct
import subprocess
import sys
import time
from collections import Counter

import read_dump

BUILT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', 'build', 'gpu', 'faults')  # by the Makefile
PROBES = ['kernel', 'copy', 'sync', 'query', 'launch', 'none']
TURNS = [('store_one', p) for p in PROBES[:5] * 2 + ['none']] + \
    [('store_stay', 'sync'), ('store_stay', 'kernel'), ('load_one', 'sync'), ('load_one', 'none')]
SETTINGS = {'idle, one context': [], 'idle, two contexts': ['contexts=2'],
            'a kernel of 100 ms in another stream': ['load=spin', 'wait=stream'],
            'another process copies in memory': ['wait=stream']}
CALLS = ['free_fenced', 'unmap', 'free', 'free_async', 'free_host', 'unregister', 'unload', 'destroy_stream',
         'destroy_context', 'reset', 'allocate', 'exit', 'exit_at_once']
KINDS = ['store_one', 'store_stay', 'load_one', 'add_one', 'trap', 'breakpoint', 'assertion',
         'misaligned', 'shared_range', 'local_range', 'address_space', 'stack', 'call_data', 'illegal',
         'cluster', 'async_load', 'bulk_load', 'bulk_store']
planted = 0


class Log:
    def __init__(self, out):
        self.out = out
        self.file = open(os.path.join(out, 'runs.jsonl'), 'a')

    def run(self, part, *words, limit=10):
        """One child; its lines as a dict, with how it ended."""
        global planted
        begin = time.monotonic()
        with subprocess.Popen(['timeout', '-k', '1', str(limit)] + ['./' + words[0]] + list(words[1:]), cwd=BUILT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
            text, errors = child.communicate()
        lines = {'part': part, 'words': list(words), 'status': child.returncode, 's': round(time.monotonic() - begin, 3),
                 'stderr': errors.decode('utf-8', 'replace')[:300]}
        for line in text.decode('utf-8', 'replace').split('\n'):
            key, mark, value = line.partition('=')
            if mark:
                lines[key] = value
        if 'setup_failed' not in lines and 'fine' not in words:
            planted += 1
        self.file.write(json.dumps(lines) + '\n')
        self.file.flush()
        return lines


def field(value, name):
    """A number out of "word,name:number,..."."""
    for part in (value or '').split(','):
        key, mark, number = part.partition(':')
        if mark and key == name:
            return int(number)
    return None


def word(value):
    return (value or '?').split(',')[0].replace('CUDA_', '').replace('ERROR_', '')


def spread(values):
    v = sorted(x for x in values if x is not None)
    return '%.1f / %.1f / %.1f (%d)' % (v[0] / 1e6, v[len(v) // 2] / 1e6, v[-1] / 1e6, len(v)) if v else '-'


def ended(status):
    if status in (124, 137):
        return 'hang'
    return 'ok' if status == 0 else 'signal %d' % (status - 128 if status > 128 else -status) if status > 128 or status < 0 \
        else 'status %d' % status


def part_a(log, n):
    table = {}
    for name, words in SETTINGS.items():
        load = None
        if 'process' in name:
            load = subprocess.Popen(['timeout', '-k', '1', '120', './busy', '110'], cwd=BUILT)
            time.sleep(1.5)
        for kernel, probe in itertools.islice(itertools.cycle(TURNS), n):
            line = log.run('a', 'late', kernel, 'probe=' + probe, *words)
            table.setdefault((name, kernel), []).append((probe, line))
        if load:
            load.terminate()
            load.wait()
    print('a: ms (least / median / most (runs)); the time from the wait\'s return to the sign, negative: before it')
    for (name, kernel), runs in table.items():
        print('%s, %s: %d runs, ends %s' % (name, kernel, len(runs), dict(Counter(ended(l['status']) for _, l in runs))))
        print('  wait says %s' % dict(Counter(word(l.get('wait')) for _, l in runs)))
        late = [(p, l) for p, l in runs if word(l.get('wait')) == 'SUCCESS']
        for title, some in (('late', late), ('told at once', [r for r in runs if r not in late])):
            if not some:
                continue
            back = [field(l.get('wait'), 'returned') for _, l in some]
            first = [field(l.get('after'), 'first') or field(l.get('dump0'), 'first') for _, l in some]
            opened = [field(l.get('after'), 'opened') for _, l in some]
            last = [field(l.get('after'), 'last') or field(l.get('dump0'), 'last') for _, l in some]
            error = [field(l.get('error'), 'at') for _, l in some]
            start = [field(l.get('wait'), 'launched') for _, l in some]

            def since(values):
                return spread([v - b for v, b in zip(values, back) if v and b])
            print('  %s: launch to wait\'s return %s; then file opened %s, first byte %s, last byte %s, error %s' % (
                title, spread([b - s for b, s in zip(back, start) if b and s]), since(opened), since(first), since(last), since(error)))
        for probe in PROBES:
            some = [l for p, l in late if p == probe]
            if some:
                print('    probe %s: first answer %s after %s; later %s, longest answer %s; at last %s; ends %s' % (
                    probe, dict(Counter(word(l.get('probe_first')) for l in some)),
                    spread([int(l['probe_first'].split(',')[1]) for l in some if 'probe_first' in l]),
                    dict(Counter(word(l.get('error', 'none')) for l in some)),
                    spread([field(l.get('error') or l.get('no_error'), 'longest') for l in some]),
                    dict(Counter(word(l.get('final', 'none')) for l in some)), dict(Counter(ended(l['status']) for l in some))))
        other = Counter(word(l['other_context']) for _, l in runs if 'other_context' in l)
        if other:
            print('  the other context then: %s' % dict(other))


def part_b(log, n):
    print('b: each call, without a fault, at once after the wait, at the dump\'s first byte, at the first error')
    for call in CALLS:
        for when in ('no fault', 'wait', 'dump', 'error'):
            runs = []
            times = 1 if when in ('no fault', 'error') else n
            for i in range(times):
                kernel = 'fine' if when == 'no fault' else 'store_one'
                runs.append(log.run('b', 'late', kernel, 'act=' + call, 'when=' + ('wait' if when == 'no fault' else when)))
            print('%-15s %-9s ends %s; wait %s; returned %s in %s; dumps whole %s; dies in %s' % (
                call, when, dict(Counter(ended(l['status']) for l in runs)), dict(Counter(word(l.get('wait')) for l in runs)),
                dict(Counter(word(l.get('returned', 'not')) for l in runs)),
                spread([int(l['returned'].split(',')[1]) for l in runs if 'returned' in l]),
                '/'.join(str(field(l.get('dump0'), 'complete')) for l in runs),
                ', '.join(sorted({l['death'] for l in runs if 'death' in l})) or '-'))


def patch_illegal(source, target):
    """Overwrites the first instruction of kernel "illegal" with bytes that are none."""
    with open(source, 'rb') as f:
        data = bytearray(f.read())
    start, = struct.unpack_from('<Q', data, 40)
    size, count, names_at = struct.unpack_from('<HHH', data, 58)
    rows = [struct.unpack_from('<IIQQQQIIQQ', data, start + i * size) for i in range(count)]
    for r in rows:
        if read_dump.text_at(data, rows[names_at][4] + r[0]) == '.text.illegal':
            data[r[4]:r[4] + 2] = b'\xff\x0f'
    with open(target, 'wb') as f:
        f.write(data)


def part_c(log, kinds, second):
    print('c: kinds')
    patch_illegal(os.path.join(BUILT, 'kernels.cubin'), '/tmp/illegal.cubin')
    for kernel in kinds:
        keep = '/tmp/%s.dump' % kernel
        if os.path.exists(keep):
            os.unlink(keep)
        words = ['again', kernel, 'keep=' + keep] + (['image=/tmp/illegal.cubin'] if kernel == 'illegal' else []) + \
            (['second=1'] if second else [])
        line = log.run('c', *words)
        print(kernel, ended(line['status']), {k: v for k, v in line.items() if k not in ('part', 'words', 'status', 'stderr')})
        if line['stderr']:
            print('    says: ' + line['stderr'].strip()[:200])
        if os.path.exists(keep):
            try:
                for text in read_dump.describe(keep):
                    print('    ' + text)
            except (ValueError, struct.error, IndexError) as e:
                print('    not readable: %s' % e)
            with open(keep, 'rb') as f, gzip.open(os.path.join(log.out, kernel + '.dump.gz'), 'wb') as g:
                g.write(f.read())


def part_d(log):
    print('d: the dump\'s file')
    for kind in ('own_pipe', 'pipe', 'memfd', 'socket', 'pipe'):
        line = log.run('d', 'table', kind)
        print(kind, ended(line['status']), {k: v for k, v in line.items() if k not in ('part', 'words', 'status')})


def part_long(log):
    print('long: does a dump of many warps end, and a context that is destroyed beside a dump?')
    for words in (['store_many', 'blocks=9'], ['store_many', 'blocks=32'], ['store_many', 'blocks=128'],
                  ['store_many', 'blocks=512'], ['store_many', 'blocks=1024'], ['load_many', 'blocks=1024'],
                  ['store_many', 'blocks=1024', 'probe=sync']):
        line = log.run('long', 'late', *words, limit=30)
        print(words, ended(line['status']), {k: v for k, v in line.items() if k not in ('part', 'words', 'status')}, flush=True)


def part_runtime(log, n):
    print('runtime: the end of a program of the CUDA runtime beside its dump')
    os.environ.update({'CUDA_ENABLE_COREDUMP_ON_EXCEPTION': '1', 'CUDA_COREDUMP_FILE': '/tmp/runtime.dump',
                       'CUDA_COREDUMP_GENERATION_FLAGS': 'skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,'
                       'skip_local_memory,skip_constbank_memory,skip_abort'})
    for act in ('none', 'free', 'copy', 'reset') * n:
        line = log.run('runtime', 'runtime', act)
        size = os.path.getsize('/tmp/runtime.dump') if os.path.exists('/tmp/runtime.dump') else None
        if size is not None:
            os.unlink('/tmp/runtime.dump')
        print(act, ended(line['status']), 'dump', size, {k: v for k, v in line.items() if k not in ('part', 'words', 'stderr')})


def part_gone(log):
    print('gone: what the dump says of warps that have left; a probe in another stream; when the driver says that it begins')
    for k, words in enumerate((['store_one'], ['store_one', 'blocks=1024'], ['store_one', 'probe=beside'],
                               ['store_one', 'probe=beside'], ['add_one', 'probe=beside'], ['store_one', 'contexts=2', 'probe=beside'],
                               ['store_one', 'load=spin', 'wait=stream', 'probe=beside'], ['store_one'], ['bulk_store'])):
        keep = os.path.join(log.out, 'gone%d.dump' % k)
        line = log.run('gone', 'late', *words, 'keep=' + keep)
        print(words, ended(line['status']), {k: v for k, v in line.items() if k not in ('part', 'words', 'status', 'stderr')})
        if os.path.exists(keep):
            for text in read_dump.describe(keep):
                print('    ' + text)
            with open(keep, 'rb') as f, gzip.open(keep + '.gz', 'wb') as g:
                g.write(f.read())
            os.unlink(keep)


def main():
    log = Log(sys.argv[1])
    for part in sys.argv[2:]:
        name, _, number = part.partition('=')
        begin = time.monotonic()
        if name == 'a':
            part_a(log, int(number))
        elif name == 'b':
            part_b(log, int(number))
        elif name == 'c':
            part_c(log, number.split(',') if number else KINDS, False)
        elif name == 'again':
            part_c(log, number.split(','), True)
        elif name == 'runtime':
            part_runtime(log, int(number))
        elif name == 'gone':
            part_gone(log)
        elif name == 'long':
            part_long(log)
        elif name == 'd':
            part_d(log)
        print('(%s: %.0f s, %d faults so far)' % (part, time.monotonic() - begin, planted), flush=True)


if __name__ == '__main__':
    main()
