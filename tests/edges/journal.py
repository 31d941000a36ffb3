"""Reads a journal of launches, as gmod(1) describes it, and holds it against that.

  journal.py DIR            a line for each journal, by its name: how many of what there is, and "end" or "cut"
  journal.py DIR launches   a line for each launch: kernel, grid, values of scalars, pointers
  journal.py DIR functions  a line for each function: whether its image is known, how often it was launched and looked at

What is not as described ends it with 1 and a line on stderr.
"""
import json
import re
import sys
from pathlib import Path

THREE = [int, int, int]
HEAD = {"journal": str, "gmod": str, "rank": (int, None), "command": str, "per_tensor": bool}
IMAGE = {"image": int, "hash": str, "linked": bool}
FUNCTION = {"function": int, "image": (int, None), "name": (str, None), "parameters": (list, None)}
SITE = {"site": str, "frames": list, "python": list}
LAUNCH = {"launch": int, "grid": THREE, "block": THREE, "cluster": THREE, "shared": int, "capability": int, "graph": bool, "words": list}
POINTER = {"offset": int, "size": int, "memory": str, "site": (str, None)}
FRAME = {"module": (str, None), "offset": str, "symbol": (str, None)}
COUNT = {"count": int, "launches": int, "looked_at": int}
END = {"end": bool, "launches": int, "dropped": int}


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


def check_launch(record, functions, sites):
    check(record, LAUNCH)
    need(record["launch"] in functions, f"no function of {record}")
    size = 8 * len(record["words"])
    need(all(offset + length <= size for offset, length in functions[record["launch"]]["parameters"]), f"too few words in {record}")
    need(record["capability"] == 90, f"capability of {record}")
    for word in record["words"]:
        if isinstance(word, str):
            need(re.fullmatch("[0-9a-f]{16}", word), f"a word of {record}")
            continue
        check(word, POINTER)
        need(word["memory"] in ("device", "managed", "pinned", "pool"), f"memory in {record}")
        need(word["site"] is None or word["site"] in sites, f"no site of {record}")


def check_function(record, images):
    check(record, FUNCTION)
    need(record["image"] is None or record["image"] in images, f"no image of {record}")
    need(all(fits(one, [int, int]) for one in record["parameters"] or ()), f"parameters of {record}")


def read(path):
    need(re.fullmatch(r"[^/]+\.\d+\.[\d-]+\.journal", path.name), path.name)
    of = {"image": {}, "function": {}, "site": {}, "launch": {}, "count": {}, "end": {}}
    for number, record in enumerate(lines_of(path)):
        need(not of["end"], "something behind the end")
        kind = next(iter(record))
        if number == 0:
            check(record, HEAD)
            need(record["journal"] == "gmod-journal-2", record["journal"])
            continue
        if kind == "image":
            check(record, IMAGE)
            need(fnv((path.parent / f"{record['hash']}.image").read_bytes()) == record["hash"], f"bytes of {record}")
        elif kind == "function":
            check_function(record, of["image"])
        elif kind == "site":
            check(record, SITE)
            for frame in record["frames"]:
                check(frame, FRAME, more=True)
        elif kind == "launch":
            check_launch(record, of["function"], of["site"])
        elif kind == "count":
            check(record, COUNT)
            need(record["count"] in of["function"] and record["looked_at"] <= record["launches"], f"counts of {record}")
        else:
            check(record, END)
        key = json.dumps(record) if kind == "launch" else record[kind]
        need(kind in of and key not in of[kind], f"one more of {record}")
        of[kind][key] = record
    need(not of["end"] or of["count"].keys() == of["function"].keys(), "a function without counts")
    return of


def launch_words(record, functions):
    function, values = functions[record["launch"]], []
    for offset, size in function["parameters"]:
        word = record["words"][offset // 8]
        if isinstance(word, dict):
            values.append(f"{word['memory']}{word['offset']:+}/{word['size']}")
        else:
            values.append(str(int.from_bytes(bytes.fromhex(word)[offset % 8:offset % 8 + size], "little", signed=True)))
    clusters = f" clusters {record['cluster'][0]}" if any(record["cluster"]) else ""
    return (f"{function['name']} {record['grid'][0]}x{record['block'][0]}{clusters} {' '.join(values)}"
            f"{' graph' if record['graph'] else ''}")


def function_words(record, counts):
    count = counts[record["function"]]
    return f"{record['name']}, image {'unknown' if record['image'] is None else 'known'}: {count['launches']} {count['looked_at']}"


def main(folder, what="counts"):
    for path in sorted(Path(folder).glob("*.journal")):
        of = read(path)
        if what == "launches":
            for record in of["launch"].values():
                print(launch_words(record, of["function"]))
            continue
        if what == "functions":
            for record in of["function"].values():
                print(function_words(record, of["count"]))
            continue
        end = of["end"].get(True)
        counts = " ".join(f"{len(of[kind])} {kind}" for kind in ("image", "function", "site", "launch"))
        launches = sum(one["launches"] for one in of["count"].values())
        looked_at = sum(one["looked_at"] for one in of["count"].values())
        print(counts, f"end {launches + end['launches']} {looked_at} {end['dropped']}" if end else "cut")


if __name__ == "__main__":
    main(*sys.argv[1:])
