"""What pages are made of. Nothing of a log gets into one but through text() or el(), which escape it."""
import html
import os

from as_text import clean
from html_style import HASH, SCRIPT, STYLE

BEGIN = "<!DOCTYPE html>\n"
EMPTY = ("input",)
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Safe(str):
    """What is HTML already."""


def text(value):
    return value if isinstance(value, Safe) else Safe(html.escape(clean(value)))


def el(name, *inside, **attributes):
    """An element; attributes are escaped, and so is what is inside unless it is made here."""
    marks = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value)}"' for key, value in attributes.items())
    return Safe(f"<{name}{marks}/>" if name in EMPTY else f"<{name}{marks}>{''.join(map(text, inside))}</{name}>")


def join(*parts):
    return Safe("".join(map(text, parts)))


def aside(*words):
    return el("p", *words, class_="dim small")


def table(*rows):
    """One that is as wide as it needs to be, on a small screen, too."""
    return el("div", el("table", *rows, class_="small"), class_="scroll")


def span_words(span):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if abs(span) >= size:
            return f"{span / size:.3g} {unit}" if span < 1000 else f"{span:.0f} s"
    return "0"


def size_words(size):
    for unit, shift in (("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):.1f} {unit}"
    return f"{size} B"


# ---- drawings: lengths are shares of the width, so that text keeps its size on a small screen ----

def share(value):
    return f"{100 * min(max(value, 0), 1):.2f}%"


def box(kind, x, width, title, y=3, height=14, **data):
    """A rectangle that begins at the share x, wide enough to be seen."""
    width = max(width, 0.004)
    return el("rect", el("title", title), class_=kind, x=share(min(x, 1 - width)), y=y, width=share(width), height=height, **data)


def drawing(height, *parts):
    return el("svg", *parts, height=height, role="img")


def row(words, *cells, kind="row", **attributes):
    return el("div", el("div", words), *cells, class_=kind, **attributes)


def time_axis(begin, span):
    """What stands over drawings that have the time to the right."""
    return drawing(16, el("text", f"{begin} UTC", x=0, y=12), el("text", f"+{span_words(span)}", x=share(1), y=12, text_anchor="end"))


def hatch():
    """The pattern for what is not known, once in a page."""
    pattern = el("pattern", el("path", d="M0 6L6 0", class_="hatch"), id="hatch", width=6, height=6, patternUnits="userSpaceOnUse")
    return el("svg", el("defs", pattern), height=0, aria_hidden="true")


# ---- the page ----

def page(title, *body, searched=False):
    policy = POLICY + f"; script-src '{HASH}'" if searched else POLICY
    head = (f'<meta charset="utf-8"/><meta http-equiv="Content-Security-Policy" content="{policy}"/>'
            '<meta name="viewport" content="width=device-width"/>')
    script = (el("script", Safe(SCRIPT)),) if searched else ()
    return (BEGIN + el("html", el("head", Safe(head), el("title", title), el("style", Safe(STYLE))),
                        el("body", *body, *script), lang="en") + "\n")


def is_page(path):
    with open(path, "rb") as file:
        return file.read(len(BEGIN)) == BEGIN.encode()


def write(path, text_):
    """What is wrong. Nothing is written over but an earlier page: a forgotten name makes the first log the page's."""
    try:
        if os.path.isfile(path) and os.path.getsize(path) and not is_page(path):
            return [f"{path} is there, and no page of GMOD's: not written over"]
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text_)
    except OSError as error:
        return [f"{path}: {error.strerror}"]
    return []
