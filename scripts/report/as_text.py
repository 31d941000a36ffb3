"""Groups for people at a terminal. What comes from logs is printed with its control characters escaped."""
import os
import re
import struct
import sys

from baseline import counts_words
from clocks import order_lines
from groups import clock, damage_lines, fault_words, hosts_words, moments, nearby_lines, place, stream_words, where_words
from text_log import POINT_WORDS


def clean(text):
    return re.sub(r"[^\x20-\x7e\xa0-\u200a\u2010-\u2027\u2030-\u205f\u2070-\ud7ff\uf900-\ufefe\uff00-\uffef\U00010000-\U0010ffff]",
                  lambda m: ascii(m[0])[1:-1], str(text))


def put(text):
    """Print the text. Returns what is wrong; that nobody reads it is not."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            return [f"standard output: {error.strerror}"]
    return []


def plural(count, noun):
    return f"{count} {noun}{'' if count == 1 else 'es' if noun.endswith(('s', 'ch')) else 's'}"


def stack_lines(moment):
    if moment.get("kernel_thread") is not None:
        call = moment.get("entry_point") or "mallocN"
        yield f"{call} in thread {moment['kernel_thread']} of block {moment['kernel_block']} of a kernel"
    for frame in moment.get("python") or ():
        yield f"at {frame['file']}:{frame['line']} in {frame['function']}"
    number = 0
    for frame in moment.get("frames") or ():
        inlined = frame.get("lines") or [None]
        for i, line in enumerate(inlined):
            function, file, at = (line["function"], line["file"], line["line"]) if line else place(frame)
            yield f"#{number} {function or frame.get('function') or '?'}  {file}{f':{at}' if at else ''}{' (inlined)' if i + 1 < len(inlined) else ''}"
        number += 1


def extent(three):
    """Of a grid or a block, without what is 1 at its end."""
    return re.sub(r"( x 1)+$", "", " x ".join(map(str, three or ())))


def times_words(suspect):
    """When it was launched, as far as the log says."""
    first, latest = suspect.get("first"), suspect.get("launched")
    if first and latest and first != latest:
        return f"from {clock(first)} to {clock(latest)}"
    return f"at {clock(latest or first)}" if latest or first else ""


def why_words(suspect):
    """What its arguments say."""
    a = suspect.get("arguments") or {}
    at = f"argument {a.get('argument')}" + (f" at byte {a['byte']}" if a.get("byte") else "")
    return {**POINT_WORDS, "buffer": f"{at} points into the buffer",
            "near": f"{at} points {a.get('distance')} bytes in front"}.get(a.get("point"), "")


def shape_words(grid, block):
    """"8 blocks of 128 threads"; nothing where that is not known."""
    grid, block = extent(grid), extent(block)
    known = grid not in ("", "0 x 0 x 0") and block
    return f"{grid} block{'' if grid == '1' else 's'} of {block} thread{'' if block == '1' else 's'}" if known else ""


def launch_words(suspect):
    """How it was launched, as far as the log says."""
    shape = shape_words(suspect.get("grid"), suspect.get("block"))
    words = f" x{suspect['launches']} on {stream_words(suspect)}" + (f", {shape}" if shape else "")
    if suspect.get("unfinished"):
        words += f", {suspect['unfinished']} not proven complete"
    when = times_words(suspect)
    return words + (f", launched {when}" if when else "")


def window_line(corruption):
    intact, seen = corruption.get("intact"), corruption.get("seen")
    return f"written between {clock(intact)} (last seen intact) and {clock(seen)} UTC" if intact and seen else None


def suspects_words(finding):
    kernel = (finding.get("fault") or {}).get("kernel")
    return "launches of the kernel" if kernel else "unfinished launches" if finding["class"] in ("post-mortem", "gpu-fault") else "suspects"


def _thread_words(fault):
    if not fault["thread"] or not fault["block"]:
        return "which thread it was is not known" + (": its warp had left" if fault["pc"] else "")
    block, thread = (f"({','.join(map(str, three))})" for three in (fault["block"], fault["thread"]))
    other = " or another one" if fault["threads"] > 1 and not fault["address"] else ""
    return f"block {block}, thread {thread}{other}; {plural(fault['threads'], 'thread')} of that warp, {plural(fault['warps'], 'warp')} in all"


def fault_lines(group):
    """What a fault's first line does not say."""
    fault = group.first.get("fault")
    if not fault:
        return
    at = [f"at {line['file']}:{line['line']}" + (f" in {line['function']}" if line["function"] else "") for line in fault["lines"]]
    function = [f"function {fault['function']}"] if fault["function"] else []
    yield ", ".join([f"in kernel {fault.get('name') or fault['kernel'] or 'unknown'}", *function, *at[:1]])
    yield from ("  inlined " + where for where in at[1:])
    if fault["pc"]:
        words = [f"instruction {fault_words(fault)} at {fault['pc']}", *(fault["instruction"] or ())]
        words += [f"of sm_{fault['capability']}"] if fault["capability"] else []
        words += [f"({fault['sass']})"] if fault.get("sass") else []
        yield " ".join(words) + (f", the first of {fault['places']} that faulted" if (fault["places"] or 0) > 1 else "")
    yield _thread_words(fault)
    if fault["grid"]:
        yield f"grid of {shape_words(fault['grid'], fault['block_size'])}" + (f", launched by thread {fault['launched_tid']}" if fault["launched_tid"] else "")
    if fault["parameters"]:
        yield "parameters: " + " ".join(re.findall(".{1,16}", fault["parameters"]))
    if fault["address"]:
        yield f"address {fault['address']}"
    yield "the program's context is lost" + (f" (exception {fault['driver_kind']} of the driver)" if fault["driver_kind"] else "")


def suspect_lines(group):
    total = len(group.findings)
    suspects = group.suspects()
    if not suspects and not group.incomplete and group.first.get("corruption"):
        yield "no kernel is suspected: a copy, a fill, the CPU, or a launch that GMOD cannot see"
    for name, count, example in suspects:
        why = why_words(example)
        verb = "launched in" if group.first["class"] == "gpu-fault" else "suspected by"
        yield (f"{name}: {verb} {'all' if count == total else count} of {plural(total, 'finding')}" if total > 1 else (
            name + launch_words(example))) + (f": {why}" if why and total == 1 else f"; {why}" if why else "")
        for i, python in enumerate([example["python"], *example.get("python_elsewhere", ())] if example.get("python") else ()):
            yield f"    {'also ' if i else ''}launched at {where_words(python)}"


def tensor_lines(near):
    yield f"segment of PyTorch's at {near['address']:#x}, {near['size']} bytes ({near['kind']}), from {near['snapshot']}:"
    for block in near["blocks"]:
        where = f", {where_words(block['python'])}" if block["python"] else ""
        asked = f", asked for {block['requested']}" if block["requested"] not in (None, block["size"]) else ""
        yield f"  {block['address']:#x} {block['size']} bytes{asked}, {block['state']}{where}"


def numbers_of(word):
    """(int, float) that four bytes may be, None where that is no number of moderate size."""
    whole, real = struct.unpack("<i", word)[0], struct.unpack("<f", word)[0]
    return whole if -1000000 < whole < 1000000 else None, real if 1e-6 < abs(real) < 1e9 else None


def value_words(corruption):
    """The first changed word as what it may be."""
    word = bytes.fromhex(corruption.get("observed") or "")[:4]
    if corruption["offset"] % 4 or len(word) < 4 or (corruption.get("extent") or 0) < 4:
        return ""
    whole, real = numbers_of(word)
    words = [f"{whole} as an int"] if whole is not None else []
    words += [f"{real:.6g} as a float"] if real is not None else []
    return f"; the first word is {' or '.join(words)}" if words else ""


def bytes_line(corruption):
    def spaced(text):
        return " ".join(text[i:i + 2] for i in range(0, len(text), 2))
    text = f"bytes at {corruption['offset']:+d}: {spaced(corruption.get('observed') or '')}"
    if corruption.get("expected"):
        text += f", where {spaced(corruption['expected'])} had been"
    return text + value_words(corruption)


def message_words(finding):
    return finding["message"] + (" (the report is cut short)" if finding.get("cut") else
                                 " (provisional: no final report came)" if finding["status"] != "final" else "")


def caught_lines(group):
    """The launches that were seen to do it again, each once."""
    told = []
    for event in (event for finding in group.findings for event in finding.get("caught_again", ())):
        words = event["message"].rpartition(": ")[0]
        if words not in told:
            told.append(words)
    return told


def covered_words(finding, total):
    return f"covers {finding['covered']} of {plural(total, 'finding')}"


def group_lines(number, group, total):
    f = group.first
    yield f"{number}. {group.state + ': ' if group.state else ''}{group.title()}"
    yield f"    {plural(len(group.findings), 'finding')} {hosts_words(group)}"
    yield "    " + message_words(f)
    yield from ("    " + line for line in caught_lines(group))
    yield from ("    " + line for line in fault_lines(group))
    yield from ("    " + line for line in order_lines(group))
    for words, moment in moments(f):
        yield f"    {words}:"
        yield from ("      " + line for line in stack_lines(moment))
    if window := window_line(f.get("corruption") or {}):
        yield "    " + window
    if group.incomplete:
        yield "    incomplete: " + "; ".join(group.incomplete)
    for i, line in enumerate(suspect_lines(group)):
        yield (f"    {suspects_words(f)}: " if i == 0 else "              ") + line
    if f.get("corruption"):
        yield "    " + bytes_line(f["corruption"]) + "".join("; " + line for line in damage_lines(f["corruption"]))
    for line in nearby_lines(f):
        yield "    " + line
    for near in f.get("tensors", ()):
        yield from ("    " + line for line in tensor_lines(near))
    if f.get("next_step"):
        yield f"    next step: {f['next_step']}"
    if f.get("suppression"):
        yield f"    or, for the file of suppressions ({covered_words(f, total)}): {f['suppression']}"


def gone_line(group):
    return f"gone: {group.title()} ({plural(len(group.findings), 'finding')} {hosts_words(group)})"


def render(groups, processes, notes, gone):
    """gone: groups of the run to compare with; None: there is no such run."""
    count = sum(len(group.findings) for group in groups)
    lines = [f"{plural(count, 'finding')} in {plural(len(groups), 'group')}, from logs of {plural(len(processes), 'process')}"]
    if gone is not None:
        lines.append("compared with the baseline: " + counts_words(groups, gone))
    for number, group in enumerate(groups, 1):
        lines += ["", *group_lines(number, group, count)]
    if gone:
        lines += ["", *map(gone_line, gone)]
    if notes:
        lines += ["", *("note: " + note for note in notes)]
    return "\n".join(clean(line) for line in lines) + "\n"
