"""report_parity.py SCHEMA FOLDER: every member of a finding is to be found again in what gmod report makes of it.

A finding of made-up values, each another one, is written by the schema into FOLDER/made.json, and read back with what
gmod report prints of it as text and as a page. So is FOLDER/made.text, a report in text, where that is there. Prints a
line for each member that is lost.
"""
import html
import json
import os
import re
import subprocess
import sys

# What a report leaves out, and why; {} is any number.
LEFT_OUT = {
    "buffer.fence_site": "for gmod --exact=LOG",
    "schema": "the form of the line", "event": "what the line is", "status": "said where it is not final",
    "class": "a word of the title", "site": "the title has it, with its source line", "site_hash": "for programs that group findings",
    "device": "with the GPU", "caught": "in the message", "size": "in the message", "offset": "with the bytes", "suspects_total": "what is missing is said",
    "version": "on the page", "command": "on the page", "pid": "on the page", "gpu": "on the page", "time": "on the page", "id": "on the page",
    "buffer.device": "with the GPU", "buffer.size": "in the message", "buffer.base": "addresses are of one process",
    "buffer.memory": "in the message where it is not the device's", "buffer.backend": "it changes nothing for who reads",
    "suspects.{}.symbol": "its readable name is shown",
    "suspects.{}.arguments.address": "the argument and the distance are shown",
    "fault.symbol": "its readable name is shown",
    **{f"fault.{member}": "in the message" for member in ("kind", "access", "bytes", "relation", "distance")},
    **{f"{stack}.frames.{{}}.{member}": why for stack in ("buffer.allocated", "buffer.freed", "call")
       for member, why in (("path", "on the page"), ("build_id", "on the page"), ("symbol", "its readable name is shown"))},
}


def made_up(schema, root, path, numbers):
    """A value that nothing else has."""
    if "$ref" in schema:
        return made_up(root["$defs"][schema["$ref"].rpartition("/")[2]], root, path, numbers)
    for choices in (schema.get("anyOf"), schema.get("oneOf")):
        if choices:
            return made_up(next(c for c in choices if c != {"type": "null"}), root, path, numbers)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return {"point": "near"}.get(path[-1], schema["enum"][0])
    kind = schema["type"] if isinstance(schema["type"], str) else schema["type"][0]
    if kind == "object":
        return {key: made_up(value, root, path + (key,), numbers) for key, value in schema["properties"].items()}
    if kind == "array":
        return [made_up(schema["items"], root, path + (str(i),), numbers) for i in range(schema.get("minItems", 1))]
    n = next(numbers)
    pattern = schema.get("pattern", "")
    if kind == "boolean":
        return True
    if kind == "integer":
        return n
    if pattern.startswith("^0x"):
        return f"0xabc{n:05x}"
    if "T[0-9]" in pattern:
        return f"2026-11-28T13:{n // 60 % 60:02}:{n % 60:02}.{n:06}000Z"
    if pattern.startswith("^GPU"):
        return f"GPU-{n:08x}-0000-0000-0000-000000000000"
    if pattern == "^[0-9a-f]+$":
        return f"{n:08x}"
    if pattern.startswith("^[0-9a-f]{16}"):
        return f"{n:016x}"
    if pattern.startswith("^([0-9a-f]{2})"):
        return f"{n & 0xffff:04x}"
    return f"{path[-1]}_{n}"


def leaves(value, path=()):
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, path + (key,))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from leaves(item, path + (str(i),))
    elif value is not None:
        yield path, value


def forms(path, value):
    """How it may be printed."""
    if isinstance(value, bool):
        return {"exported": ("another process",), "freed": ("freed since",), "restored": ("put back since",)}[path[-1]]
    if path[-1] == "memory":
        return ({"managed": "managed memory", "pinned": "pinned", "kernel": "mallocN"}.get(value, ""),)
    if path[-1] == "nearby_given":
        return ({"arguments": "buffer of an argument"}[value],)
    if path[-1] == "point":
        return {"buffer": ("into the buffer",), "maybe": ("or one that leaves the same mark",), "near": ("in front",), "unknown": ("not known",), "none": ("no argument",)}[value]
    if path[-1] in ("observed", "expected"):
        return (" ".join(value[i:i + 2] for i in range(0, len(value), 2)),)
    if isinstance(value, str) and re.match(r"^\d{4}-\d\d-\d\dT", value):
        return value.split("T")[1][:15], value
    if path[-1] == "stream":
        return {"0x1": ("default",), "0x2": ("per-thread",)}.get(value, (value,))
    return (str(value), f"x{value}")


def plain(page):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", re.sub(r'title="([^"]*)"', r">\1<", page))))


def is_left_out(path, form):
    why = LEFT_OUT.get(re.sub(r"\.\d+(?=\.|$)", ".{}", ".".join(path)))
    return why is not None and (form == "text" or why != "on the page")


def has(text, form):
    return re.search(rf"(?<![0-9a-z]){re.escape(form)}(?![0-9a-z])", text) is not None


def check(name, log, event):
    page = os.path.join(sys.argv[2], name + ".html")
    text = subprocess.run(["scripts/gmod", "report", "--no-symbols", "--html", page, log], stdout=subprocess.PIPE, check=True).stdout.decode()
    shown = {"text": re.sub(r"\s+", " ", text), "html": plain(open(page, encoding="utf-8").read())}
    for form, content in shown.items():
        for path, value in leaves(event):
            if not is_left_out(path, form) and not any(has(content, f) for f in forms(path, value)):
                print(f"{name}, {form}: {'.'.join(path)} is lost: {value}")


root = json.load(open(sys.argv[1], encoding="utf-8"))
made = made_up(root["$defs"]["finding"], root, ("finding",), iter(range(10007, 99999)))
made_log = os.path.join(sys.argv[2], "made.json")
with open(made_log, "w", encoding="utf-8") as out:
    out.write(json.dumps(made) + "\n")
check("json", made_log, made)
sys.path.insert(0, "scripts/report")
import text_log

text_name = os.path.join(sys.argv[2], "made.text")
if os.path.exists(text_name):
    reader = text_log.Reader()
    for line in open(text_name, encoding="utf-8"):
        for found in reader.take(line.rstrip("\n")):
            if found["event"] == "finding":
                check("text log", text_name, found)
