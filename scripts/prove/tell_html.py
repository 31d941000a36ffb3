"""Results as one page, of the parts of gmod report's."""
import alarms
from as_text import plural
from html_group import Sources
from html_parts import el, page


def _section(number, alarm):
    at = alarm.access["source"] or {"file": "", "line": 0}
    return el("section", el("h2", f"{number}. ", el("span", alarm.title(), class_="where"), id=f"g{number}"),
              Sources(True, None).lines(at["file"], at["line"]), el("p", f"{alarms.what(alarm.access)}."), el("ul", *(el("li", line) for line in alarm.witness())),
              el("p", "To confirm it:"), el("pre", alarm.confirming()),
              el("p", "Or, for the file of suppressions:"), el("pre", alarm.suppression()))


def _undecided(undecided):
    rows = [el("li", el("code", name), f" {access}: {reason}" if access else f": {reason}") for name, access, reason in undecided]
    return el("details", el("summary", plural(len(rows), "reason")), el("ul", *rows))


def render(told, problems):
    lost = problems and not told.launches
    title = "GMOD: no journal could be read" if lost else (
        f"GMOD: {plural(len(told.alarms), 'alarm')}: accesses that are possibly out of bounds or misaligned")
    links = [el("li", el("a", alarm.title(), href=f"#g{n}")) for n, alarm in enumerate(told.alarms, 1)]
    return page(title, el("h1", title, **({"class_": "where"} if lost else {})), *(el("p", problem, class_="where") for problem in problems),
                *(el("p", line) for line in alarms.summary(told.results, told.covered, told.undecided)), el("ol", *links),
                *(_section(n, alarm) for n, alarm in enumerate(told.alarms, 1)), el("h2", "Undecided"), _undecided(told.undecided),
                *(el("p", "Note: " + note, class_="dim") for note in told.notes))
