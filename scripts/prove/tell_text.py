"""Results for people at a terminal."""
import alarms
from as_text import clean


def _told(number, alarm):
    lines = [*alarm.source(), alarms.what(alarm.access), *alarm.witness(), f"to confirm it: {alarm.confirming()}",
             f"or, for the file of suppressions: {alarm.suppression()}"]
    return ["", f"{number}. {alarm.title()}"] + ["    " + line for line in lines]


def _told_undecided(undecided):
    lines = ["", "undecided:"] if undecided else []
    whole, kernel = {}, None
    for name, access, reason in undecided:
        if access is None:
            whole.setdefault(reason, []).append(name)
            continue
        if kernel != name:
            lines.append(f"    {name}")
        lines.append(f"      {access}: {reason}")
        kernel = name
    return lines + [f"    {alarms.some(names)}: {reason}" for reason, names in whole.items()]


def render(told):
    lines = alarms.summary(told.results, told.covered, told.undecided)
    for number, alarm in enumerate(told.alarms, 1):
        lines += _told(number, alarm)
    lines += _told_undecided(told.undecided)
    lines += [""] * bool(told.notes) + [f"note: {note}" for note in told.notes]
    return "\n".join(map(clean, lines)) + "\n"
