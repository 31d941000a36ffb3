"""Reads a journal of launches, as gmod(1) describes it, and holds it against that.

  journal.py DIR            a line for each journal, by its name: how many of what there is, and "end" or "cut"
  journal.py DIR launches   a line for each launch: kernel, grid, values of scalars, pointers

What is not as described ends it with 1 and a line on stderr.
"""
import json
import re
import sys
from pathlib import Path

THREE = [int, int, int]
HEAD = {"journal": str, "gmod": str, "host": str, "pid": int, "rank": (int, None), "command": str, "time": str}
IMAGE = {"image": int, "hash": str, "kind": str, "bytes": int}
FUNCTION = {"function": int, "image": (int, None), "name": str, "parameters": list}
SITE = {"site": int, "frames": list, "python": list}
LAUNCH = {"launch": int, "function": int, "grid": THREE, "block": THREE, "cluster": (THREE, None), "shared": int, "device": int,
          "capability": int, "parameters": str, "pointers": list, "graph": bool}
POINTER = {"at": int, "offset": int, "size": int, "site": (int, None), "memory": str}
FRAME = {"module": (str, None), "offset": str, "symbol": (str, None)}
END = {"end": bool, "launches": int, "looked_at": int, "signatures": int, "dropped": int}


def need(holds, what):
    if not holds:
        sys.exit(f"journal.py: {what}")


def fits(value, kind):
    if isinstance(kind, tuple):
        return any(fits(value, one) for one in kind)
    if kind is None:
        return value is None
    if isinstance(kind, list):
        return isinstance(value, list) and len(value) == len(kind) and all(map(fits, value, kind))
    return isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def check(record, kinds, more=False):
    need(set(kinds) <= set(record) if more else set(kinds) == set(record), f"members of {record}")
    for name, kind in kinds.items():
        need(fits(record[name], kind), f"{name} in {record}")


def fnv(data):
    h = 0xcbf29ce484222325
    for byte in data:
        h = (h ^ byte) * 0x100000001b3 & 0xffffffffffffffff
    return f"{h:016x}"


def lines_of(path):
    data = path.read_bytes()
    whole, _, cut = data.rpartition(b"\n")
    for line in whole.split(b"\n") if whole else []:
        need(len(line) < 65536, "a line is too long")
        yield json.loads(line.decode("utf-8"))


def end_of(offset, size):
    return offset + size


def check_launch(record, functions, sites):
    check(record, LAUNCH)
    need(record["function"] in functions, f"no function of {record}")
    parameters = functions[record["function"]]["parameters"]
    data = bytes.fromhex(record["parameters"])
    need(all(end_of(*one) <= len(data) for one in parameters), f"too few bytes in {record}")
    for pointer in record["pointers"]:
        check(pointer, POINTER)
        need(data[pointer["at"]:pointer["at"] + 8] == bytes(8), f"an address in {record}")
        need(pointer["memory"] in ("device", "managed", "pinned", "pool"), f"memory in {record}")
        need(pointer["site"] is None or pointer["site"] in sites, f"no site of {record}")


def read(path):
    need(re.fullmatch(r"[^/]+\.\d+\.[\d-]+\.journal", path.name), path.name)
    of = {"image": {}, "function": {}, "site": {}, "launch": {}, "end": {}}
    for number, record in enumerate(lines_of(path)):
        need(not of["end"], "something behind the end")
        kind = next(iter(record))
        if number == 0:
            check(record, HEAD)
            need(record["journal"] == "gmod-journal-1", record["journal"])
            continue
        if kind == "image":
            check(record, IMAGE)
            data = (path.parent / f"{record['hash']}.image").read_bytes()
            need(len(data) == record["bytes"] and fnv(data) == record["hash"], f"bytes of {record}")
        elif kind == "function":
            check(record, FUNCTION)
            need(record["image"] is None or record["image"] in of["image"], f"no image of {record}")
            need(all(fits(one, [int, int]) for one in record["parameters"]), f"parameters of {record}")
        elif kind == "site":
            check(record, SITE)
            for frame in record["frames"]:
                check(frame, FRAME, more=True)
        elif kind == "launch":
            check_launch(record, of["function"], of["site"])
        else:
            check(record, END)
        need(kind in of and record[kind] not in of[kind], f"one more of {record}")
        of[kind][record[kind]] = record
    if of["end"]:
        need(of["end"][True]["signatures"] == len(of["launch"]), f"not as many signatures as {of['end']}")
    return of


def launch_words(record, functions):
    function, data = functions[record["function"]], bytes.fromhex(record["parameters"])
    at = {pointer["at"]: pointer for pointer in record["pointers"]}
    values = [f"{p['memory']}{p['offset']:+}/{p['size']}" if (p := at.get(offset)) else
              str(int.from_bytes(data[offset:offset + size], "little", signed=True)) for offset, size in function["parameters"]]
    return f"{function['name']} {record['grid'][0]}x{record['block'][0]} {' '.join(values)}{' graph' if record['graph'] else ''}"


def main(folder, what="counts"):
    for path in sorted(Path(folder).glob("*.journal")):
        of = read(path)
        if what == "launches":
            for record in of["launch"].values():
                print(launch_words(record, of["function"]))
            continue
        end = of["end"].get(True)
        counts = " ".join(f"{len(of[kind])} {kind}" for kind in ("image", "function", "site", "launch"))
        print(counts, f"end {end['launches']} {end['looked_at']} {end['dropped']}" if end else "cut")


if __name__ == "__main__":
    main(*sys.argv[1:])
