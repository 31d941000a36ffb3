"""The launches of the kernels beside this file, and what gmod prove has to say of each. cases.py FOLDER writes their journal.

An expectation is "bug": one alarm, on the line that ends with "bug" of that kernel; "ok": all accesses proved; "quiet": no
alarm; or "undecided: REASON".
"""
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from write_journal import Buffer, Journal  # noqa: E402


def floats(count, offset=0):
    return Buffer(4 * count, offset)


def matrix(size, rows, columns):
    return [struct.pack("<qii", 0, rows, columns), {0: floats(size)}]


def long(n):
    return ("q", n)


def unsigned(n):
    return ("I", n)


# (file, kernel, grid, block, arguments, dynamic shared bytes, expectation)
CASES = [
    ("global", "guard", 4, 256, [floats(1000), 1001], 0, "bug"),
    ("global", "guard", 4, 256, [floats(1000), 1000], 0, "ok"),
    ("global", "guard", 3, 256, [floats(768), 1000], 0, "ok"),
    ("global", "guard", 4, 256, [Buffer(4000, 8), 1000], 0, "bug"),
    ("global", "guard", 4, 256, [Buffer(4000, 8), 998], 0, "ok"),
    ("global", "guard", 4, 256, [Buffer(3999), 1000], 0, "bug"),
    ("global", "guard", 4, 256, [Buffer(4002, 2), 1000], 0, "bug"),  # misaligned
    ("global", "guard_off_by_one", 4, 256, [floats(1000), 1000], 0, "bug"),
    ("global", "guard_off_by_one", 4, 256, [floats(1024), 1000], 0, "ok"),
    ("global", "early_return", 4, 256, [floats(1000), floats(1000), unsigned(1000)], 0, "bug"),
    ("global", "early_return", 4, 256, [floats(1001), floats(1000), unsigned(1000)], 0, "ok"),
    ("global", "before_start", 4, 256, [floats(1000), floats(1000), 1000], 0, "bug"),
    ("global", "before_start", 4, 256, [Buffer(4004, 4), floats(1000), 1000], 0, "ok"),
    ("global", "before_start_checked", 4, 256, [floats(1000), floats(1000), 1000], 0, "ok"),
    ("global", "wrap32", 524289, 256, [Buffer(1 << 31), 134217732], 0, "bug"),
    ("global", "wrap32", 524288, 256, [Buffer(1 << 31), 134217728], 0, "ok"),
    ("global", "wrap64", 524289, 256, [Buffer((1 << 31) + 64), 134217732], 0, "ok"),
    ("global", "unsigned_difference", 1, 256, [floats(256), unsigned(256)], 0, "bug"),
    ("global", "unsigned_difference_checked", 1, 256, [floats(252), unsigned(252)], 0, "ok"),
    ("global", "stride", 4, 256, [floats(3067), 3072, 3], 0, "bug"),
    ("global", "stride", 4, 256, [floats(3070), 3072, 3], 0, "ok"),
    ("global", "by_value", (2, 3), (32, 8), [matrix(999, 20, 50)], 0, "bug"),
    ("global", "by_value", (2, 3), (32, 8), [matrix(1000, 20, 50)], 0, "ok"),
    ("global", "transposed", (2, 3), (32, 8), [floats(1000), floats(1000), 20, 50], 0, "quiet"),
    ("global", "transposed", (2, 7), (16, 8), [floats(1000), floats(1000), 50, 20], 0, "bug"),
    ("global", "transposed_right", (2, 7), (16, 8), [floats(1000), floats(1000), 50, 20], 0, "ok"),
    ("global", "cube", (2, 2, 2), (8, 4, 4), [floats(9 * 7 * 5), 9, 7, 5], 0, "bug"),
    ("global", "cube_right", (2, 2, 2), (8, 4, 4), [floats(9 * 7 * 5), 9, 7, 5], 0, "ok"),
    ("global", "vectors", 2, 128, [floats(998), 998], 0, "bug"),
    ("global", "vectors", 2, 128, [floats(1000), 998], 0, "ok"),
    ("global", "misaligned", 1, 64, [floats(64), 64], 0, "bug"),
    ("global", "misaligned", 1, 1, [floats(64), 64], 0, "ok"),
    ("global", "aligned", 1, 64, [floats(64), 64], 0, "ok"),
    ("global", "divided", 4, 256, [floats(801), 1000, 10], 0, "bug"),
    ("global", "divided", 4, 256, [floats(802), 1000, 10], 0, "ok"),
    ("global", "magic", 4, 256, [floats(1000), floats(142), 1000], 0, "bug"),
    ("global", "magic", 4, 256, [floats(1000), floats(143), 1000], 0, "ok"),
    ("global", "magic_of_signed", 4, 256, [floats(100), 1000], 0, "bug"),
    ("global", "magic_of_signed", 1, 256, [floats(25), 1000], 0, "bug"),
    ("global", "modulo", 4, 256, [floats(12), unsigned(1000)], 0, "bug"),
    ("global", "modulo", 4, 256, [floats(13), unsigned(1000)], 0, "ok"),
    ("global", "shifts", 4, 256, [floats(503), 1000], 0, "bug"),
    ("global", "shifts", 4, 256, [floats(504), 1000], 0, "ok"),
    ("global", "masked", 4, 256, [floats(127)], 0, "bug"),
    ("global", "masked", 4, 256, [floats(128)], 0, "ok"),
    ("global", "exclusive", 1, 64, [floats(127), 1], 0, "bug"),
    ("global", "exclusive", 1, 128, [floats(128), 1], 0, "ok"),
    ("global", "clamped", 1, 256, [floats(200), floats(256), 200], 0, "bug"),
    ("global", "clamped_right", 1, 256, [floats(200), floats(256), 200], 0, "ok"),
    ("global", "selected", 1, 256, [floats(200), floats(256), 200], 0, "bug"),
    ("global", "selected_right", 1, 256, [floats(200), floats(256), 200], 0, "ok"),
    ("global", "one_of_two", 1, 256, [floats(100), floats(255), 100], 0, "bug"),
    ("global", "one_of_two", 1, 256, [floats(100), floats(256), 100], 0, "ok"),
    ("global", "counted", 4, 256, [floats(31), 1000], 0, "bug"),
    ("global", "counted", 4, 256, [floats(32), 1000], 0, "ok"),
    ("global", "exchanged", 1, 64, [Buffer(8 * 64), 63], 0, "bug"),
    ("global", "exchanged", 1, 64, [Buffer(8 * 65), 63], 0, "ok"),
    ("global", "bytes", 1, 64, [Buffer(58), ("H", 200)], 0, "ok"),
    ("global", "bytes", 1, 64, [Buffer(57), ("H", 200)], 0, "bug"),
    ("global", "bytes", 1, 64, [Buffer(200), ("H", 300)], 0, "bug"),
    ("global", "predicated", 1, 256, [floats(256), floats(199), 200], 0, "bug"),
    ("global", "predicated", 1, 256, [floats(256), floats(200), 200], 0, "ok"),
    ("global", "from_memory", 1, 256, [floats(256), floats(256), 256], 0, "undecided: index from memory"),
    ("global", "guard_from_memory", 1, 256, [floats(1), floats(200)], 0, "undecided: guard depends on data"),
    ("global", "guard_from_memory", 1, 256, [floats(1), floats(256)], 0, "ok"),
    ("global", "checked_from_memory", 1, 256, [floats(256), floats(200), 200], 0, "ok"),
    ("global", "linked", 1, 256, [Buffer(800), 100], 0, "undecided: pointer from memory"),
    ("loops", "up", 1, 32, [floats(3199), 100], 0, "bug"),
    ("loops", "up", 1, 32, [floats(3200), 100], 0, "ok"),
    ("loops", "up", 1, 33, [floats(3200), 100], 0, "bug"),
    ("loops", "down", 1, 1, [floats(100), 100], 0, "bug"),
    ("loops", "down_right", 1, 1, [floats(100), 100], 0, "ok"),
    ("loops", "grid_stride", 3, 64, [floats(1000), floats(999), 1000], 0, "bug"),
    ("loops", "grid_stride", 3, 64, [floats(1000), floats(1000), 1000], 0, "ok"),
    ("loops", "grid_stride_64", 3, 64, [floats(1000), floats(1000), long(1000)], 0, "bug"),
    ("loops", "grid_stride_64_right", 3, 64, [floats(1000), floats(1000), long(1000)], 0, "ok"),
    ("loops", "doubling", 1, 1, [floats(1024), 1024], 0, "bug"),
    ("loops", "doubling_right", 1, 1, [floats(1024), 1024], 0, "ok"),
    ("loops", "nested", 1, 8, [floats(349), 14, 25], 0, "bug"),
    ("loops", "nested", 1, 8, [floats(350), 14, 25], 0, "ok"),
    ("loops", "triangle", 1, 32, [floats(400), 20], 0, "bug"),
    ("loops", "triangle_right", 1, 32, [floats(400), 20], 0, "ok"),
    ("loops", "pointer_walk", 1, 1, [floats(99), 100], 0, "bug"),
    ("loops", "pointer_walk", 1, 1, [floats(100), 100], 0, "ok"),
    ("loops", "stencil", 2, 64, [floats(500), floats(500), 500], 0, "bug"),
    ("loops", "stencil_right", 2, 64, [floats(500), floats(500), 500], 0, "ok"),
    ("loops", "ring", 1, 96, [floats(95), 50], 0, "bug"),
    ("loops", "ring", 1, 96, [floats(96), 50], 0, "ok"),
    ("loops", "until_found", 1, 1, [floats(100), floats(1), 100], 0, "quiet"),
    ("loops", "until_found_right", 1, 1, [floats(100), floats(1), 100], 0, "ok"),
    ("loops", "reduced", 4, 256, [floats(1024), floats(4), 129], 0, "bug"),
    ("loops", "reduced", 4, 256, [floats(1024), floats(4), 128], 0, "ok"),
    ("loops", "matrix_product", (4, 4), (16, 16), [floats(4096), floats(4096), floats(4095), 64], 0, "bug"),
    ("loops", "matrix_product", (4, 4), (16, 16), [floats(4096), floats(4096), floats(4096), 64], 0, "ok"),
    ("spaces", "shared_static", 1, 256, [floats(256)], 0, "bug"),
    ("spaces", "shared_static", 1, 128, [floats(256)], 0, "ok"),
    ("spaces", "shared_neighbour", 1, 64, [floats(64), 1], 0, "bug"),
    ("spaces", "shared_neighbour", 1, 64, [floats(64), 0], 0, "ok"),
    ("spaces", "shared_dynamic", 1, 64, [floats(64), 64], 508, "bug"),
    ("spaces", "shared_dynamic", 1, 64, [floats(64), 64], 512, "ok"),
    ("spaces", "shared_tile", 4, 32, [floats(128), floats(128), 128], 0, "bug"),
    ("spaces", "shared_tile_right", 4, 32, [floats(128), floats(128), 128], 0, "ok"),
    ("spaces", "local", 1, 32, [floats(32), 17], 0, "bug"),
    ("spaces", "local", 1, 32, [floats(32), 16], 0, "ok"),
    ("spaces", "constant", 1, 256, [Buffer(8 * 256), 172], 0, "bug"),
    ("spaces", "constant", 1, 256, [Buffer(8 * 256), 171], 0, "ok"),
    ("spaces", "variable", 2, 256, [257], 0, "bug"),
    ("spaces", "variable", 2, 256, [256], 0, "ok"),
    ("spaces", "in_parameters", 1, 32, [floats(8), bytes(48), 5], 0, "bug"),
    ("spaces", "in_parameters", 1, 32, [floats(8), bytes(48), 4], 0, "ok"),
    ("spaces", "asynchronous", 2, 64, [Buffer(16 * 100), floats(128), 100], 0, "bug"),
    ("spaces", "asynchronous_right", 2, 64, [Buffer(16 * 100), floats(128), 100], 0, "ok"),
    ("spaces", "shuffled", 1, 64, [floats(100), 100], 0, "bug"),
    ("spaces", "shuffled", 1, 64, [floats(101), 100], 0, "ok"),
    ("spaces", "calls_plain", 1, 64, [floats(73), 10], 0, "bug"),
    ("spaces", "calls_plain", 1, 64, [floats(74), 10], 0, "ok"),
    ("spaces", "calls", 1, 64, [floats(100), 10], 0, "undecided: unknown callee"),
]


def bug_lines():
    """{(file, kernel): line} of the lines that end with "bug"."""
    found = {}
    for name in ("global", "loops", "spaces"):
        kernel = None
        with open(os.path.join(HERE, name + ".cu")) as source:
            for number, line in enumerate(source, 1):
                if line.startswith("KERNEL "):
                    kernel = line.split("(")[0].split()[1]
                if line.rstrip().endswith("// bug"):
                    found[name, kernel] = number
    return found


def write(folder, only=None):
    """The journal of the cases, or of those with these indices."""
    journal = Journal(folder)
    for index, (name, kernel, grid, block, arguments, shared, _) in enumerate(CASES):
        if only is None or index in only:
            with open(os.path.join(HERE, name + ".ptx"), "rb") as source:
                image = journal.image(source.read())
            journal.launch(image, kernel, grid, block, arguments, shared)
    journal.close()


def judge(result, lines):
    """[(name, what is wrong or None, expectation, whether there is an alarm)] of the JSON of gmod prove."""
    verdicts = []
    for index, ((name, kernel, _, _, _, _, wanted), one) in enumerate(zip(CASES, result["launches"])):
        assert one["kernel"] == kernel, (one["kernel"], kernel)
        alarms = [access for access in one["accesses"] if access["verdict"] == "alarm"]
        reasons = {access["reason"] for access in one["accesses"]} - {None} | ({one["undecided"]} - {None})
        wrong = None
        if wanted == "bug":
            places = {([access["source"]] + access["inlined_at"])[-1]["line"] for access in alarms}
            if not alarms:
                wrong = f"no alarm; undecided: {sorted(reasons)}"
            elif places != {lines[name, kernel]}:
                wrong = f"alarms on the lines {sorted(places)}, not {lines[name, kernel]} alone"
        elif alarms:
            wrong = f"an alarm on line {alarms[0]['source']['line']}: {alarms[0]}"
        elif wanted == "ok" and reasons:
            wrong = f"undecided: {sorted(reasons)}"
        elif wanted.startswith("undecided: ") and wanted[11:] not in reasons:
            wrong = f"reasons: {sorted(reasons)}"
        verdicts.append((f"{index}: {kernel}, {wanted}", wrong, wanted, bool(alarms)))
    return verdicts


def main():
    """cases.py FOLDER; or cases.py --judge FILE [intervals]: what is wrong with the JSON, which has no z3 in the second form."""
    if sys.argv[1] != "--judge":
        write(sys.argv[1])
        return
    with open(sys.argv[2]) as source:
        verdicts = judge(json.load(source), bug_lines())
    if sys.argv[3:] == ["intervals"]:
        false = [name for name, _, wanted, alarm in verdicts if alarm and wanted != "bug"]
        found = sum(alarm for _, _, _, alarm in verdicts)
        safe = sum(not wrong for _, wrong, wanted, _ in verdicts if wanted == "ok")
        print("without z3 no twin raises an alarm", ", ".join(false), sep="\t")
        print("25 of the bugs do", "" if found >= 25 else f"only {found}", sep="\t")
        print("20 of the healthy twins are proved", "" if safe >= 20 else f"only {safe}", sep="\t")
        return
    for name, wrong, _, _ in verdicts:
        print(name, wrong or "", sep="\t")


if __name__ == "__main__":
    main()
