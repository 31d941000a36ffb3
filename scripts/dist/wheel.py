"""Make a wheel of an installed tree: wheel.py TREE README VERSION PLATFORM FOLDER; prints the file's name."""

import base64
import hashlib
import os
import sys
import time
import zipfile

MAIN = '''"""GMOD's commands, from the tree beside this file."""

import os
import sys

BIN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tree", "bin")


def run(command):
    os.execv(os.path.join(BIN, command), [command] + sys.argv[1:])


def main():
    run("gmod")


def tensorflow():
    run("gmod-tensorflow")


if __name__ == "__main__":
    main()
'''

METADATA = """Metadata-Version: 2.1
Name: gmod
Version: {version}
Summary: GPU heap sanitizer that stays on
License: MIT
Requires-Python: >=3.8
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown
"""

WHEEL = """Wheel-Version: 1.0
Generator: gmod
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""

ENTRY_POINTS = """[console_scripts]
gmod = gmod.__main__:main
gmod-tensorflow = gmod.__main__:tensorflow
"""


def files_of(tree):
    for folder, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, tree), path


def main(tree, readme, version, platform, folder):
    info = f"gmod-{version}.dist-info"
    target = os.path.join(folder, f"gmod-{version}-py3-none-{platform}.whl")
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    record = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")

        add("gmod/__init__.py", f'__version__ = "{version}"\n'.encode())
        add("gmod/__main__.py", MAIN.encode())
        for name, path in files_of(tree):
            # Where man looks, beside the folder of commands on PATH.
            place = f"gmod-{version}.data/data" if name.startswith("share/man/") else "gmod/tree"
            with open(path, "rb") as file:
                add(f"{place}/{name}", file.read(), os.stat(path).st_mode & 0o777)
        with open(readme, encoding="utf-8") as file:
            add(f"{info}/METADATA", (METADATA.format(version=version) + "\n" + file.read()).encode())
        add(f"{info}/WHEEL", WHEEL.format(platform=platform).encode())
        add(f"{info}/entry_points.txt", ENTRY_POINTS.encode())
        name = f"{info}/RECORD"
        add(name, "".join(line + "\n" for line in record + [f"{name},,"]).encode())
    print(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
