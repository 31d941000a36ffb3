"""Results for people."""
import collections
import re
import shutil
import subprocess


def clean(text):
    """Without what a terminal would take for orders."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]", "?", str(text))


def short(text, most=200):
    return text if len(text) <= most else text[:most - 3] + "..."


def demangled(names):
    """Names as the source has them, where there is a c++filt."""
    names = sorted({name for name in names if len(name) < 10000 and "\n" not in name})
    if not names or not shutil.which("c++filt"):
        return {}
    done = subprocess.run(["c++filt"], input="\n".join(names), universal_newlines=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL, check=False)
    lines = done.stdout.split("\n")
    return dict(zip(names, lines)) if len(lines) >= len(names) else {}


def place(access):
    if access["source"]:
        text = f"{access['source']['file']}:{access['source']['line']}"
        return text + "".join(f", inlined at {at['file']}:{at['line']}" for at in access["inlined_at"])
    return f"line {access['ptx_line']} of the PTX"


def triple(numbers):
    return "(" + ",".join(map(str, numbers)) + ")"


def what(access):
    """The access in words, as gmod report has them."""
    memory, extent = access["memory"], access["extent"]
    names = {"buffer": f"a {memory['size']}-byte buffer ({memory['name']})", "shared": f"the {memory['size']} bytes of shared memory {memory['name']}",
             "local": f"the {memory['size']} bytes of local memory", "const": f"the {memory['size']}-byte constant {memory['name']}",
             "global": f"the {memory['size']}-byte variable {memory['name']}", "param": f"the {memory['size']}-byte {memory['name']}"}
    of = names[memory["kind"]]
    if access["kind"] == "misaligned":
        return f"{access['access']} of {extent} bytes at byte {access['offset']} of {of}, no multiple of {access['bytes']}"
    bytes_of = f"{access['access']} of {extent} byte{'s' * (extent != 1)}"
    if access["offset"] < 0:
        return f"{bytes_of}, {-access['offset']} bytes before the start of {of}"
    past = access["offset"] - memory["size"]
    if past < 0:
        return f"{bytes_of}, the last {extent + past} past the end of {of}"
    return f"{bytes_of}, {past} bytes past the end of {of}"


def confirming(access, launch):
    command = launch.command or "COMMAND"
    if access["memory"]["kind"] == "buffer" and access["kind"] == "out of bounds":
        return f"gmod --exact {command}"
    return f"compute-sanitizer --kernel-name kernel_name={launch.function.name} {command}"


def alarms(launches, results):
    """[(launch, access, how many more signatures)]: an alarm of one line and kernel is told once."""
    found = collections.OrderedDict()
    for (launch, _), result in zip(launches, results):
        for access in result.accesses:
            if access["verdict"] == "alarm":
                key = launch.function.image, launch.function.name, access["ptx_line"]
                first = found.setdefault(key, [launch, access, -1])
                first[2] += 1
    return list(found.values())


def _told_alarm(number, launch, access, more, names):
    name = short(names.get(launch.function.name, launch.function.name))
    lines = [f"{number}. {access['kind']}: {name} {place(access)}", f"    {what(access)}",
             f"    possible with block {triple(access['block'])}, thread {triple(access['thread'])}"
             + (f", the access's iteration {access['iteration'] + 1}" if access["iteration"] else ""),
             f"    of a grid of {triple(launch.grid)} blocks of {triple(launch.block)} threads"
             + (f", {launch.shared} bytes of dynamic shared memory" if launch.shared else "")]
    if access["memory"]["site"]:
        lines.append(f"    allocated by {access['memory']['site']}")
    if more:
        lines.append(f"    and in {more} more of its launches")
    return lines + [f"    to confirm it: {short(confirming(access, launch), 2000)}"]


def _told_undecided(launches, results, names):
    counts = collections.OrderedDict()
    for (launch, _), result in zip(launches, results):
        name = short(names.get(launch.function.name, launch.function.name))
        if result.why:
            key = name, None, result.why + (f" ({result.note})" if result.note else "")
            counts[key] = counts.get(key, 0) + 1
        for access in result.accesses:
            if access["verdict"] == "undecided":
                key = name, f"{access['access']} of {access['bytes']} bytes, {place(access)}", access["reason"]
                counts[key] = counts.get(key, 0) + 1
    lines = ["", "undecided:"] if counts else []
    kernel = None
    for (name, access, reason), _ in counts.items():
        if access is None:
            lines.append(f"    {name}: {reason}")
        else:
            if kernel != name:
                lines.append(f"    {name}")
            lines.append(f"      {access}: {reason}")
        kernel = name if access else None
    return lines


def render(launches, results, notes):
    names = demangled(launch.function.name for launch, _ in launches)
    found = alarms(launches, results)
    accesses = sum(len(result.accesses) for result in results)
    counts = {word: sum(result.count(word) for result in results) for word in ("safe", "alarm", "undecided")}
    proved = sum(not result.why and result.count("safe") == len(result.accesses) for result in results)
    lines = [f"{len(results)} launch signature{'s' * (len(results) != 1)}, {accesses} accesses: {counts['safe']} proved for any "
             f"contents of memory, {counts['alarm']} possibly out of bounds or misaligned, {counts['undecided']} undecided",
             f"{proved} launch signature{'s are' if proved != 1 else ' is'} safe: proved for any contents of memory"]
    for number, (launch, access, more) in enumerate(found, 1):
        lines += [""] + _told_alarm(number, launch, access, more, names)
    lines += _told_undecided(launches, results, names)
    lines += [""] * bool(notes) + [f"note: {note}" for note in notes]
    return "\n".join(map(clean, lines)) + "\n"
