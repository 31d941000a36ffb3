#!/usr/bin/env python3
"""Feeds gmod prove with journals and PTX that are broken, each by a seed.

    fuzz.py PROVE --seconds N [--first SEED]     # PROVE: the folder of gmod prove; as many seeds as fit into that time
    fuzz.py PROVE SEED...                        # these seeds; KEEP=1 leaves their folders and says where

A seed takes launches of the tree's own kernels or of a random one, changes some bytes, values, lines or files, and runs gmod prove on
them in a process of its own, which has 2 GiB and a time limit. Wrong is: a traceback or a failure of the prover's own, an exit
status that gmod-prove(1) does not have, a death, more than that time, a problem that is not told in lines of the program's, and
lines that are too long for a terminal. The last line says how many seeds there were, how long the slowest took, and the most memory.

Exit status: 0 none of it was seen, 1 it was.
"""
import argparse
import importlib.util
import json
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time

import generator
import write_journal

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "own"))
import cases  # noqa: E402

MEMORY = 2 << 30
SECONDS = 40  # a process; a launch has a tenth of it
LONGEST = 5000  # characters of a line

NUMBERS = (0, 1, -1, 2, 7, 31, 32, 255, 1024, 65535, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 48, 2 ** 63 - 1, 2 ** 63, 2 ** 64, 10 ** 18,
           -2 ** 31, -2 ** 63, 10 ** 30, 10 ** 300)
WORDS = ("", "a", "x" * 100000, "\x00\x1b[31m\x07", "\ud800", "../../etc/passwd", "\u202e", "0" * 16, "g" * 16, "%s%n", "\n", "-1", "0x7f")


# ---- values of JSON ----

def odd_value(r):
    kind = r.randrange(9)
    if kind < 3:
        return r.choice(NUMBERS)
    if kind == 3:
        return r.choice((0.5, -0.0, 1e308, float("nan"), float("inf"), 3.0))
    if kind == 4:
        return r.choice(WORDS)
    if kind == 5:
        return r.choice((None, True, False))
    if kind == 6:
        return [odd_value(r) for _ in range(r.randrange(4))]
    if kind == 7:
        return {r.choice(("at", "file", "size", "", "frames")): odd_value(r) for _ in range(r.randrange(3))}
    return [r.choice(NUMBERS)] * r.choice((3, 5000))


def change_value(r, value):
    """Somewhere in a line of the journal."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    if not keys:
        return
    key = r.choice(keys)
    if isinstance(value[key], (dict, list)) and value[key] and r.random() < 0.7:
        change_value(r, value[key])
    elif isinstance(value, dict) and r.random() < 0.1:
        del value[key]
    elif isinstance(value[key], int) and r.random() < 0.5:
        value[key] = value[key] + r.choice((-8, -4, -1, 1, 4, 8, 4096)) if r.random() < 0.5 else r.choice(NUMBERS)
    elif isinstance(value[key], str) and value[key] and r.random() < 0.5:
        at = r.randrange(len(value[key]))
        value[key] = value[key][:at] + r.choice(("", "0", "f", "\n", "é")) + value[key][at + r.randrange(3):]
    else:
        value[key] = odd_value(r)


def change_journal(r, text):
    lines = text.splitlines()
    for _ in range(r.randint(1, 4)):
        at, way = r.randrange(len(lines)), r.randrange(8)
        if way == 0:
            del lines[at]
        elif way == 1:
            lines.insert(r.randrange(len(lines)), lines[at])
        elif way == 2:
            lines.append("[" * r.choice((10, 1000, 30000)) + "{" * r.randrange(3))
        else:
            try:
                value = json.loads(lines[at])
                change_value(r, value)
                lines[at] = json.dumps(value)
            except (ValueError, AttributeError, TypeError, RecursionError):
                lines[at] = lines[at][:r.randrange(len(lines[at]) + 1)]
        if not lines:
            break
    return "\n".join(lines) + "\n"


# ---- PTX ----

TOKEN = re.compile(r"[%\w$.]+|\s+|.", re.S)
PIECES = ("{", "}", "[", "]", "(", ")", ",", ";", ":", "@", "@!", "|", "!", "+", "-", "<", ">", "//", "/*", "*/", '"', ".reg", ".param",
          ".shared", ".entry", ".func", ".loc 1 1 1", "bra", "ret", "call", "%tid.x", "0x", "1e5", "0f00000000", ".b8", ".v4", "\0", "\xff")


def change_token(r, tokens, at):
    token = tokens[at]
    like = [one for one in (r.choice(tokens) for _ in range(60)) if one[:1] == token[:1] and one != token]
    way = r.randrange(6)
    if way == 0:
        return r.choice(PIECES)
    if way == 1 and re.match(r"-?\d", token):
        return str(r.choice(NUMBERS))
    if way == 2:
        return ""
    if way == 3:
        return token + r.choice((token, ".f32", ".u8", ".v2", ".b128", ".sat", "0", "\n"))
    return r.choice(like) if like else r.choice(tokens)


def change_ptx(r, text):
    for _ in range(r.choice((1, 1, 2, 3, 8))):
        way = r.randrange(10)
        lines = text.split("\n")
        a, b = r.randrange(len(lines)), r.randrange(len(lines))
        if way < 5:
            tokens = TOKEN.findall(text)
            for _ in range(r.choice((1, 2, 5, 30))):
                at = r.randrange(len(tokens))
                tokens[at] = change_token(r, tokens, at)
            text = "".join(tokens)
        elif way == 5:
            lines[a], lines[b] = lines[b], lines[a]
            text = "\n".join(lines)
        elif way == 6:
            a, b = min(a, b), min(max(a, b), min(a, b) + 20)
            lines[a:b] = lines[a:b] * r.choice((0, 0, 2, 2, 30))
            text = "\n".join(lines)
        elif way == 7:
            labels = re.findall(r"^(\$?\w+):", text, re.M)
            guard = r.choice(("", "@%p1 ", "@!%p1 "))
            lines.insert(a, f"{guard}bra {r.choice(labels)};" if labels else "AGAIN: @%p1 bra AGAIN;")
            text = "\n".join(lines)
        elif way == 8:
            text = text[:r.randrange(len(text) + 1)]
        else:
            lines.insert(a, r.choice(("{", "}", "[", "(", "-", "!", "x", ",", "/*", "{ret;}", ".reg .b32 %r<9>;", "@%p1 ret;", "%r1,")) *
                         r.choice((1, 40, 3000)))
            text = "\n".join(lines)
        if len(text) > 1 << 20 or not text:
            break
    return text


# ---- bytes and files ----

def change_bytes(r, data):
    data = bytearray(data)
    for _ in range(r.choice((1, 3, 30))):
        at = r.randrange(len(data) + 1)
        way = r.randrange(5)
        if way == 0:
            data[at:at + 1] = bytes((r.randrange(256),))
        elif way == 1:
            data[at:at] = r.choice((b"\n", b"\0", b"\xff\xfe", b"{", bytes(r.randrange(300))))
        elif way == 2:
            del data[at:at + r.choice((1, 10, 1000))]
        elif way == 3:
            data[at:at] = data[r.randrange(len(data) + 1):][:r.randrange(200)]
        else:
            del data[at:]
    return bytes(data)


def change_file(r, path):
    """What is no plain file, or is none at all."""
    way = r.randrange(8)
    os.remove(path)
    if way == 0:
        os.mkdir(path)
    elif way == 1:
        os.mkfifo(path)
    elif way == 2:
        os.symlink(r.choice(("/dev/zero", "/dev/tty", os.path.basename(path), "/", "/proc/self/mem", "/dev/stdin")), path)
    elif way == 3:
        with open(path, "wb") as out:
            out.truncate(r.choice((0, 1, 1 << 20, 1 << 27, 5 << 30)))
    elif way == 4:
        with open(path, "wb") as out:
            out.write(r.choice((b"x", b"{", b".version 8.0\n", b".visible .entry x(")) * r.choice((10, 1000, 10 ** 7)))
    elif way == 5:
        with open(path, "wb") as out:
            out.write(bytes(r.randrange(256) for _ in range(r.randrange(5000))))
    elif way == 6:
        with open(path, "wb") as out:
            out.write(r.choice((b"\x7fELF\x02\x01\x01", b"\x50\xed\x55\xba", b".version 8.0\n.target sm_90\n")) + bytes(r.randrange(5000)))


# ---- one seed ----

def alone(text, kernel):
    """The PTX without the other kernels."""
    parts = re.split(r"^(?=\.visible \.entry )", text, flags=re.M)
    return "".join(part for at, part in enumerate(parts) if at == 0 or re.match(rf"\.visible \.entry {kernel}\b", part))


def write(r, folder):
    journal = write_journal.Journal(folder)
    for _ in range(r.randint(1, 3)):
        if r.random() < 0.3:
            case = generator.generate(r.randrange(1 << 30))
            pointers = [(at, write_journal.Buffer(len(buffer.data))) for at, buffer in case.launch.pointers.items()]
            journal.put(journal.image(changed_text(r, case.text)), case.kernel, case.grid, case.block,
                        [[0, 8], [8, 8], [16, 4], [20, 4], [24, 12]], case.launch.bytes, pointers, case.dynamic)
        else:
            file, kernel, grid, block, arguments, shared, _ = r.choice(cases.CASES)
            with open(os.path.join(HERE, "own", file + ".ptx"), encoding="ascii") as source:
                text = alone(source.read(), kernel)
            kind = r.choice(("ptx", "ptx", "ptx", "ptx", "unknown", "fatbin"))
            journal.launch(journal.image(changed_text(r, text), kind), kernel, grid, block, arguments, shared)
    journal.close()
    path = os.path.join(folder, "here.7.1.journal")
    if r.random() < 0.4:
        with open(path, encoding="ascii") as source:
            text = change_journal(r, source.read())
        with open(path, "w", encoding="utf-8", errors="surrogatepass") as out:
            out.write(text)
    if r.random() < 0.1:
        with open(path, "rb") as source:
            data = change_bytes(r, source.read())
        with open(path, "wb") as out:
            out.write(data)
    if r.random() < 0.05:
        change_file(r, os.path.join(folder, r.choice(sorted(os.listdir(folder)))))


def changed_text(r, text):
    if r.random() < 0.7:
        text = change_ptx(r, text)
    data = text.encode("latin-1", "replace")
    return change_bytes(r, data) if data and r.random() < 0.15 else data


def loaded(prove):
    """The program's main()."""
    sys.path.insert(0, prove)
    spec = importlib.util.spec_from_file_location("prover", os.path.join(prove, "__main__.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.main


def prove(main, folder, arguments, files):
    """Runs it in a process of its own: (exit status, or None if it took too long; its resources)."""
    child = os.fork()
    if child == 0:
        status = 99
        try:
            os.setpgid(0, 0)
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            with open(os.devnull, "rb") as nothing:
                os.dup2(nothing.fileno(), 0)
            for number, path in enumerate(files, 1):
                with open(path, "wb") as out:
                    os.dup2(out.fileno(), number)
            for name in ("XDG_CACHE_HOME", "TRITON_CACHE_DIR", "TORCHINDUCTOR_CACHE_DIR"):
                os.environ[name] = os.path.join(folder, os.pardir, "cache")
            sys.argv = ["gmod prove"] + arguments + [folder]
            status = main()
            sys.stdout.flush()
        except SystemExit as end:
            status = end.code
        except BaseException:
            sys.excepthook(*sys.exc_info())
        finally:
            sys.stderr.flush()
            os._exit(status if isinstance(status, int) else 98)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        ended, status, used = os.wait4(child, os.WNOHANG)
        if ended:
            return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status), used
        time.sleep(0.002)
    os.killpg(child, signal.SIGKILL)
    return None, os.wait4(child, 0)[2]


def judge(status, out, err):
    """What is wrong, or None."""
    if status is None:
        return f"it takes more than {SECONDS} s"
    if status not in (0, 1, 86):
        return f"exit status {status}: {err[-300:]}"
    if "Traceback" in err + out or "the prover has failed" in out:
        return "a failure of its own: " + "; ".join(re.findall(r".*(?:Error|has failed).*", out + err)[:2])
    if any(not line.startswith("gmod prove: ") for line in err.splitlines()) or (status == 1) != bool(err):
        return f"status {status}, and it says: {err[:300]}"
    if max(map(len, (out + err).splitlines()), default=0) > LONGEST and not out.startswith("{"):
        return "a line is too long"
    return None


def one_seed(main, seed):
    """(what is wrong or None, seconds, MiB)"""
    r = random.Random(seed)
    folder = tempfile.mkdtemp(prefix=f"fuzz.{seed}.")
    files = [os.path.join(folder, name) for name in ("stdout", "stderr")]
    write(r, os.path.join(folder, "journal"))
    arguments = ["--time-limit", str(SECONDS / 50), "-j", r.choice(("1", "1", "1", "2")),
                 *r.choice(([], ["--json"], ["--sarif"], ["--fail"], ["--no-cache"], ["--html", os.path.join(folder, "page.html")]))]
    began = time.monotonic()
    status, used = prove(main, os.path.join(folder, "journal"), arguments, files)
    seconds = time.monotonic() - began
    texts = []
    for path in files:
        with open(path, encoding="utf-8", errors="replace") as source:
            texts.append(source.read(10 << 20))
    wrong = judge(status, *texts)
    if os.environ.get("KEEP"):
        print(folder, arguments)
    else:
        shutil.rmtree(folder)
    return wrong, seconds, used.ru_maxrss >> 10


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("prove")
    parser.add_argument("seeds", type=int, nargs="*")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    program, end = loaded(options.prove), time.monotonic() + (options.seconds or 0)
    count = bad = slowest = most = 0
    seeds = iter(options.seeds) if options.seconds is None else iter(range(options.first, sys.maxsize))
    for seed in seeds:
        wrong, seconds, memory = one_seed(program, seed)
        count, slowest, most = count + 1, max(slowest, seconds), max(most, memory)
        if wrong:
            bad += 1
            print(f"seed {seed}: {wrong}", flush=True)
        if options.seconds is not None and time.monotonic() > end:
            break
    print(f"{count} seeds, {bad} wrong, the slowest took {slowest:.1f} s, at most {most} MiB")
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main())
