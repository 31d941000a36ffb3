"""Groups as one HTML page with nothing from elsewhere: the verdict first, then the groups and the job, pictures, and each group.

The one script hides what a search does not find: the page is whole without it.
"""
from as_text import plural
from html_group import section
from html_memory import by_site, over_time
from html_overview import head, heat_map, is_listed, matrix, verdict
from html_parts import el, hatch, page, table

NOTES = 6  # shown; the others are folded


def processes_table(processes):
    rows = [el("tr", *(el("th", h) for h in ("host", "rank", "process", "findings", "guarded", "GMOD", "command")))]
    for p in processes:
        share = "" if p["guarded_permille"] is None else f"{p['guarded_permille'] / 10} %"
        rows.append(el("tr", *(el("td", "" if v is None else v) for v in (p["host"], p["rank"], p["pid"], p["findings"], share,
                    p["version"], p["command"]))))
    return el("details", el("summary", plural(len(processes), "process")), table(*rows))


def notes_list(notes):
    lines = [el("p", "Note: " + note, class_="dim") for note in notes]
    more = (el("details", el("summary", plural(len(lines) - NOTES, "further note")), *lines[NOTES:]),) if lines[NOTES:] else ()
    return (*lines[:NOTES], *more)


def render(groups, processes, notes, problems, job, gone, with_source):
    """Where nothing could be read nobody is told that nothing was found."""
    count, any_read = sum(len(group.findings) for group in groups), bool(job.processes)
    title = f"GMOD: {plural(count, 'finding')} in {plural(len(groups), 'group')}"
    if problems and not any_read:
        title = "GMOD: no log could be read"
    begin = [el("h1", title, **({"class_": "where"} if problems and not any_read else {})),
             *(el("p", problem, class_="where") for problem in problems), verdict(groups, job, any_read)]
    body = [hatch(), el("header", *begin)]
    if any_read:
        body += [head(groups, gone, job), heat_map(job), matrix(groups), over_time(job), by_site(job)]
    body += [*(section(n, group, count, with_source) for n, group in enumerate(groups, 1)),
             el("section", el("h2", "Processes"), processes_table(processes), *notes_list(notes))]
    return page(title, *body, searched=any_read and is_listed(groups, gone))
