"""numbers.py PAGE HOSTS RANKS FINDINGS FOLDER: the numbers of a made-up job are found again in its page, in each picture.

They are counted here from the log's lines, and read from the page as a program reads HTML. Raises where one is lost.
"""
import base64
import collections
import hashlib
import re
import sys
from html.parser import HTMLParser

import made_up


class Element:
    def __init__(self, tag, attributes, above):
        self.tag, self.attributes, self.above, self.inside, self.words = tag, attributes, above, [], ""

    def __getitem__(self, name):
        return self.attributes[name]

    def has(self, name, value):
        return name in self.attributes and (value is None or value in (self.attributes[name], *self.attributes[name].split()))

    def all(self, **wanted):
        """The elements below whose attributes are these; class: one of its words; None: the attribute is there."""
        for one in self.inside:
            if all(one.has(name.rstrip("_").replace("_", "-"), value) for name, value in wanted.items()):
                yield one
            yield from one.all(**wanted)

    def the(self, **wanted):
        found, = self.all(**wanted)
        return found

    def text(self):
        return self.words + "".join(one.text() for one in self.inside)


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.at = self.root = Element("", {}, None)
        self.scripts = []
        self.feed(text)
        self.close()
        assert self.at is self.root, "an element is open"

    def handle_starttag(self, tag, attributes):
        self.at.inside.append(Element(tag, dict(attributes), self.at))
        self.at = self.at.inside[-1]

    def handle_endtag(self, tag):
        assert self.at.tag == tag, tag
        self.at = self.at.above

    def handle_startendtag(self, tag, attributes):
        self.at.inside.append(Element(tag, dict(attributes), self.at))

    def handle_data(self, data):
        self.at.words += data
        if self.at.tag == "script":
            self.scripts.append(data)


def numbers(elements, name):
    return [int(one["data-" + name]) for one in elements]


def begin(rect):
    return float(rect["x"].rstrip("%"))


def end(rect):
    return begin(rect) + float(rect["width"].rstrip("%"))


def clock(stamp):
    return 3600 * int(stamp[11:13]) + 60 * int(stamp[14:16]) + float(stamp[17:29])


def coverage(root, summaries):
    sums = collections.Counter()
    for s in summaries:
        sums.update({name: value for name, value in s.items() if name.startswith(("bytes_", "buffers_"))})
    shown = numbers(root.the(class_="coverage").all(data_bytes=None), "bytes")
    asked = sums["bytes_guarded"] + sums["bytes_unguarded"] + sums["bytes_ordered_guarded"] + sums["bytes_uncovered"]
    assert sum(shown) == asked, (shown, asked)
    assert shown[0] == sums["bytes_fenced"] and shown[3] == sums["bytes_unguarded"] and shown[5] == sums["bytes_mappings"], shown
    assert f"{sums['buffers_capped']} buffers left native" in root.the(class_="coverage").text()


def heat(root, findings, hosts):
    rows = list(root.the(class_="heat").all(data_row=None))
    by_rank = collections.Counter(f["rank"] for f in findings)
    for row in rows:
        assert int(row["data-n"]) == sum(numbers((e for e in row.all(data_n=None) if e.tag == "rect"), "n")), row["data-row"]
    assert sum(numbers(rows, "n")) == len(findings)
    if hosts == 1:
        shown = {int(re.match(r"rank (\d+)", row["data-row"])[1]): int(row["data-n"]) for row in rows}
        assert shown == {rank: by_rank[rank] for rank in range(len(rows))}, shown
    else:
        assert len(rows) <= 17, len(rows)


def kernels(root, sites):
    count = {(name, int(column)): int(cell["data-count"]) for name, column, cell in cells(root)}
    expected = collections.Counter((s["kernel"], n) for n, those in enumerate(sites, 1) for f in those for s in f["suspects"])
    assert {key: value for key, value in count.items() if value} == expected, (count, expected)


def cells(root):
    head, *rows = (e for e in root.the(class_="matrix").inside if e.tag == "tr")
    columns = [e.text() for e in head.inside[1:]]
    for row in rows:
        yield from ((row.inside[0].text(), column, cell) for column, cell in zip(columns, row.inside[1:]))


def memory(root, events):
    rows = list(root.the(class_="uses").all(data_peak=None))
    highest = sorted((e["peak"]["bytes"] for e in events), reverse=True)[:8]
    assert sorted(numbers(rows, "peak"), reverse=True) == highest, (numbers(rows, "peak"), highest)
    drawn = sorted(numbers(row.all(data_bytes=None), "bytes") for row in rows)
    assert all(one in [[s["bytes"] for s in e["samples"]] for e in events] for one in drawn)
    tall = max((float(box["height"]), int(box["data-bytes"])) for row in rows for box in row.all(data_bytes=None))
    assert tall[1] == max(s["bytes"] for e in events for s in e["samples"]), tall


def flames(root, events):
    sites = collections.Counter()
    for e in events:
        sites.update({s["site"]: s["bytes"] for s in e["peak"]["sites"]})
        sites["elsewhere"] += e["peak"]["elsewhere_bytes"]
    boxes = {box.text().split(": ")[0]: box for box in root.the(id="sites").all(data_bytes=None)}
    shown = {name: int(box["data-bytes"]) for name, box in boxes.items()}
    for site, words in (("step", "step train.py:5"), ("release_cache", "release_cache libtrain.so+0x1534"),
                        ("elsewhere", "at sites that the log does not name")):
        assert shown[words] == sites[site], (words, shown[words], sites[site])
        share = 100 * sites[site] / sum(sites.values())
        assert abs(end(boxes[words]) - begin(boxes[words]) - share) < 0.3, (words, share)


def lanes(section, finding):
    c, drawn = finding["corruption"], section.the(class_="lanes")
    assert (drawn["data-intact"], drawn["data-seen"]) == (c["intact"], c["seen"])
    boxes = list(drawn.all(data_launches=None))
    assert sorted(numbers(boxes, "launches")) == sorted(s["launches"] for s in finding["suspects"])
    window = next(drawn.all(class_="window"))
    length = clock(c["seen"]) - clock(c["intact"])
    for box in boxes:
        for stamp, x in ((box["data-first"], begin(box)), (box["data-launched"], end(box))):
            at = (x - begin(window)) / (end(window) - begin(window))
            assert abs(at - (clock(stamp) - clock(c["intact"])) / length) < 0.02, (stamp, at)
    looks = sorted({float(line["x1"].rstrip("%")) for line in drawn.all(class_="edge")})
    assert len(looks) == 2 and abs(looks[0] - begin(window)) < 0.02 and abs(looks[1] - end(window)) < 0.02, looks


def strip(section, finding):
    c, drawn = finding["corruption"], section.the(class_="strip")
    assert [int(drawn["data-" + name]) for name in ("size", "offset", "changed")] == [finding["size"], c["offset"], c["changed"]]
    observed = [e.words for e in section.the(class_="bytes").all(class_="bad")]
    assert "".join(observed) == c["observed"], observed
    hit = drawn.the(class_="hit")
    side = {"heap-buffer-overflow": "behind the end", "heap-buffer-underflow": "before the start"}.get(finding["class"], "freed")
    assert side in hit.text() and f"{c['changed']} bytes changed at {c['offset']:+d}" in hit.text(), hit.text()
    assert "past_front" not in c or f"{c['front_size'] >> 10}.0 KiB" in drawn.text()


def main(path, hosts, ranks, count, folder):
    text = open(path, encoding="utf-8").read()
    page = Page(text)
    root = page.root
    events = [event for lines in made_up.events(hosts, ranks, count, folder).values() for event in lines]
    findings = [e for e in events if e["event"] == "finding"]
    by_site = collections.defaultdict(list)
    for f in findings:
        by_site[f["site_hash"]].append(f)
    def came(f):
        return (f["corruption"] or {}).get("seen") or f["time"]
    sites = sorted(by_site.values(), key=lambda those: min(map(came, those)))
    uses = [e for e in events if e["event"] == "memory"]
    summaries = [e for e in events if e["event"] == "summary"]
    coverage(root, summaries)
    heat(root, findings, hosts)
    kernels(root, sites)
    memory(root, uses)
    flames(root, uses)
    links = []
    for n, those in enumerate(sites, 1):
        section, first = root.the(id=f"g{n}"), min(those, key=came)
        assert first["message"] in section.text(), first["message"]
        if first["corruption"]:
            lanes(section, first)
            strip(section, first)
        links += [row for i in range(1, len(those) + 1) for row in section.all(id=f"g{n}f{i}")]
    assert len(links) == len(findings), "a link for each finding"
    head = root.the(class_="columns").text()
    spent = sum(s["own_cpu_ms"] for s in summaries)
    assert f"{spent / 1000:.1f} s" in head and f"{len(summaries)} of {len(uses)} processes got to their end" in head, head
    first = min(findings, key=came)
    lead = root.the(class_="lead").text()
    assert first["class"] in lead and "train.py:5" in lead, lead
    assert "rows = torch.empty" in root.the(id="g1").text(), "the source"
    assert any(f["fault"] for f in findings) == ("out[index[i]] = in[i];" in root.text()), "the source of a fault"
    assert all(len(e.words) < 400 for e in root.all() if e.tag not in ("style", "script")), "a wall of text"
    script, = page.scripts
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = next(e["content"] for e in root.all(http_equiv=None))
    assert policy == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'", policy


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5])
